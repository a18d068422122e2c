//! Names that the sections of a case may use, by the descriptor of its equation.

use super::EQUATIONS;
use super::flow_reference::FlowReference;
use crate::descriptor::{Descriptor, Field, Need, PatchQuantity, TimeSchemes};

/// Names that sections of a case may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    equation: &'static Descriptor,
    has_temperature: bool,
}

impl Names {
    /// The names of an equation, of a case with or without a temperature.
    pub(crate) fn new(equation: &'static Descriptor, has_temperature: bool) -> Self {
        Names { equation, has_temperature }
    }

    /// The word for the equation in messages.
    pub(crate) fn label(self) -> &'static str {
        self.equation.label
    }

    /// A case of the equation, for messages.
    pub(crate) fn case(self) -> String {
        self.equation.case()
    }

    /// Its time schemes.
    pub(crate) fn time_schemes(self) -> &'static TimeSchemes {
        &self.equation.time_schemes
    }

    /// Why a key is refused that only equations with `has` have; none where this one has it.
    pub(crate) fn refusal(self, has: impl Fn(&Descriptor) -> bool) -> Option<String> {
        let owner = EQUATIONS.into_iter().find(|equation| has(equation));
        let owner = owner.filter(|_| !has(self.equation))?;
        let (owner, own) = (owner.label, self.equation.label);
        Some(format!("belongs to a {owner} case, this one is of {own}"))
    }

    pub(crate) fn is_thermal(self) -> bool {
        self.has_temperature
    }

    /// Paths of the summary that this equation alone has.
    pub(crate) fn summary(self) -> &'static [&'static str] {
        self.equation.summary
    }

    fn has(self, needs: &[Need], of_group: Option<&FlowReference>) -> bool {
        needs.iter().all(|need| match need {
            Need::Temperature => self.has_temperature,
            Need::Reference => of_group.is_some_and(|flow| flow.has_reference),
            Need::MomentCentre => of_group.is_some_and(|flow| flow.moment_centre.is_some()),
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

    /// Quantities of a group of patches with the reference `flow`, if it has one.
    pub(crate) fn patch_quantities(self, flow: Option<&FlowReference>) -> Vec<&'static str> {
        let quantities = self.equation.patch_quantities.iter();
        let provided = quantities.filter(|quantity| self.has(quantity.needs, flow));
        provided.map(|quantity| quantity.name).collect()
    }

    /// Fields of surfaces, with what each needs.
    pub(crate) fn surface_fields(self) -> &'static [PatchQuantity] {
        self.equation.surface_fields
    }

    /// Whether the case provides all of `needs`, without those of a group of patches.
    pub(crate) fn provides(self, needs: &[Need]) -> bool {
        self.has(needs, None)
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
