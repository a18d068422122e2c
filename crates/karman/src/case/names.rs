//! Names that the sections of a case may use, by the descriptor of its equation.

use super::file::EquationFile;
use super::output::PatchGroup;
use crate::descriptor::{Descriptor, Field, Need};
use crate::{heat, incompressible};

/// The equations that a case may have.
pub static EQUATIONS: [&Descriptor; 2] = [&heat::DESCRIPTOR, &incompressible::DESCRIPTOR];

/// Names that sections of a case may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    equation: &'static Descriptor,
    has_temperature: bool,
}

impl Names {
    pub(crate) fn of(equation: &EquationFile<'_>) -> Self {
        match equation {
            EquationFile::Heat(_) => Names { equation: &heat::DESCRIPTOR, has_temperature: true },
            EquationFile::Incompressible(file) => Names {
                equation: &incompressible::DESCRIPTOR,
                has_temperature: file.get_ref().thermal.is_some(),
            },
        }
    }

    /// A case of the equation, for messages.
    pub(crate) fn case(self) -> &'static str {
        self.equation.case
    }

    pub(crate) fn is_flow(self) -> bool {
        self.equation.section == incompressible::DESCRIPTOR.section
    }

    pub(crate) fn is_thermal(self) -> bool {
        self.has_temperature
    }

    /// Paths of the summary that this equation alone has.
    pub(crate) fn summary(self) -> &'static [&'static str] {
        self.equation.summary
    }

    fn has(self, needs: &[Need], group: Option<&PatchGroup>) -> bool {
        needs.iter().all(|need| match need {
            Need::Temperature => self.has_temperature,
            Need::Reference => {
                let reference = group.and_then(|group| group.flow.as_ref());
                reference.is_some_and(|flow| flow.has_reference)
            }
            Need::MomentCentre => {
                let flow = group.and_then(|group| group.flow.as_ref());
                flow.is_some_and(|flow| flow.moment_centre.is_some())
            }
        })
    }

    /// Fields solved for.
    fn unknowns(self) -> impl Iterator<Item = &'static Field> {
        self.equation.unknowns.iter().filter(move |field| self.has(field.needs, None))
    }

    /// Fields written unless the case names others.
    pub(crate) fn default_fields(self) -> Vec<&'static str> {
        self.unknowns().map(|field| field.name).collect()
    }

    /// Fields that can be written and drawn.
    pub(crate) fn fields(self) -> Vec<&'static str> {
        let fields = self.equation.fields().filter(|field| self.has(field.needs, None));
        fields.map(|field| field.name).collect()
    }

    /// The fields of the equation, whether this case has what they need or not.
    pub(crate) fn all_fields(self) -> impl Iterator<Item = &'static Field> {
        self.equation.fields()
    }

    /// Numbers at a point.
    pub(crate) fn components(self) -> Vec<&'static str> {
        self.unknowns().flat_map(|field| field.components()).copied().collect()
    }

    /// Quantities of a group of patches.
    pub(crate) fn patch_quantities(self, group: &PatchGroup) -> Vec<&'static str> {
        let quantities = self.equation.patch_quantities.iter();
        let provided = quantities.filter(|quantity| self.has(quantity.needs, Some(group)));
        provided.map(|quantity| quantity.name).collect()
    }

    /// The setting that provides `name`, if one does.
    pub(crate) fn remedy(self, name: &str) -> Option<&'static str> {
        let quantities = self.equation.patch_quantities.iter();
        let quantities = quantities.map(|quantity| (quantity.name, quantity.needs));
        let mut all = self.all_fields().map(|field| (field.name, field.needs)).chain(quantities);
        let (_, needs) = all.find(|(known, needs)| *known == name && !needs.is_empty())?;
        needs.iter().find(|need| !self.has(&[**need], None)).map(|need| need.remedy())
    }
}
