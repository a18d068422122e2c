//! The names of an equation in a case: fields, quantities of patches, entries of the summary, templates. Checks,
//! messages, `[initial]`, `[exact]`, `[expected]`, the summary and the case reference follow from the [`Descriptor`] of
//! each equation.

mod condition_key;

pub use condition_key::{ConditionKey, Entry, Form, KeyValue, Quantity, Sign, ValueTable};

/// Names of the components of a velocity.
pub type VectorNames = [&'static str; 3];

/// An equation, as a case sees it.
#[derive(Debug, PartialEq)]
pub struct Descriptor {
    /// Its section of the case.
    pub section: &'static str,
    /// Its name: "heat conduction".
    pub name: &'static str,
    /// Its word in messages, as in "a heat case".
    pub label: &'static str,
    /// Advice for a solution that diverged.
    pub advice: Advice,
    /// Fields solved for, written unless the case names others.
    pub unknowns: &'static [Field],
    /// Fields that follow from them, written on request.
    pub derived: &'static [Field],
    /// Quantities of a group of patches, in the order of the summary.
    pub patch_quantities: &'static [PatchQuantity],
    /// Fields of surfaces.
    pub surface_fields: &'static [PatchQuantity],
    /// A boundary condition that any patch may have.
    pub any_condition: &'static str,
    /// Its time schemes.
    pub time_schemes: TimeSchemes,
    /// Entries that its summary has besides those of each run, as paths; `NAME` stands for a name of the case.
    pub summary: &'static [&'static str],
    /// Cases to start from.
    pub templates: &'static [Template],
}

/// Advice for a solution that diverged.
#[derive(Debug, PartialEq)]
pub struct Advice {
    /// For a solution in time, after a colon and the advice for the step.
    pub in_time: &'static str,
    /// The `cfl` of that advice.
    pub cfl: Option<f64>,
    /// For an iteration to a steady state, after a colon.
    pub steady: &'static str,
}

/// A field of an equation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Its name in `[output]`.
    pub name: &'static str,
    /// Its components.
    pub rank: Rank,
    /// SI unit.
    pub units: &'static str,
    /// Its definition, as the end of a sentence; empty for a field solved for.
    pub meaning: &'static str,
    /// Settings of the case that it requires.
    pub needs: &'static [Need],
    /// Whether 3D has no such field.
    pub only_2d: bool,
    /// Its key in `[initial]`, if it has one.
    pub initial: Option<FieldKey>,
    /// Its key in `[exact]`, if it has one.
    pub exact: Option<FieldKey>,
}

/// The components of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rank {
    /// One.
    Scalar,
    /// As many as the mesh has dimensions, with their names.
    Vector(VectorNames),
    /// The component normal to a 2D mesh, three in 3D.
    Axial,
}

/// The key of a field in `[initial]` or `[exact]`, for the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldKey {
    /// The default in words.
    pub default: &'static str,
    /// The meaning of the key.
    pub meaning: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
}

/// The time schemes of an equation: words, their meanings, the default.
#[derive(Debug, PartialEq)]
pub struct TimeSchemes {
    /// The words.
    pub words: &'static [&'static str],
    /// The meaning of each.
    pub meanings: &'static [&'static str],
    /// The word of the default.
    pub default: &'static str,
    /// Whether the key `local_step` gives each cell its own step.
    pub has_local_steps: bool,
}

/// Name of the area of a group of patches.
pub const AREA: &str = "area";
/// Name of the heat flux into the domain through a group of patches.
pub const HEAT_FLUX: &str = "heat_flux";
/// Name of the heat flux density into the domain on a surface.
pub const WALL_HEAT_FLUX: &str = "wall_heat_flux";
/// Name of the velocity of a flow, which a picture may show as arrows.
pub const VELOCITY: &str = "velocity";

/// A quantity of a group of patches, or a field on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchQuantity {
    /// Its name in the history and the summary.
    pub name: &'static str,
    /// Settings of the case that it requires.
    pub needs: &'static [Need],
}

/// An optional setting of a case that a field or a quantity requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A temperature of a flow.
    Temperature,
    /// Reference quantities of a group of patches.
    Reference,
    /// The point about which the moment of a group of patches is taken.
    MomentCentre,
}

impl Need {
    /// The setting that provides it.
    pub const fn setting(self) -> &'static str {
        match self {
            Need::Temperature => "[incompressible.thermal]",
            Need::Reference => "reference",
            Need::MomentCentre => "moment_centre",
        }
    }

    /// How to provide it, for messages.
    pub const fn remedy(self) -> &'static str {
        match self {
            Need::Temperature => "a flow has a temperature with [incompressible.thermal]",
            Need::Reference => "coefficients need `reference` in their [[output.patch]]",
            Need::MomentCentre => "moments need `moment_centre` in their [[output.patch]]",
        }
    }
}

/// A case to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name for `--template`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The case file.
    pub text: &'static str,
    /// Files the case reads, by name.
    pub companions: &'static [(&'static str, &'static str)],
}

impl Descriptor {
    /// A case of it: "a heat case".
    pub fn case(&self) -> String {
        format!("a {} case", self.label)
    }

    /// Whether a quantity of patches requires a setting.
    pub fn has_quantity_with(&self, need: Need) -> bool {
        self.patch_quantities.iter().any(|quantity| quantity.needs.contains(&need))
    }

    /// Whether it has a field.
    pub fn has_field(&self, name: &str) -> bool {
        self.fields().any(|field| field.name == name)
    }

    /// Whether surfaces have a field.
    pub fn has_surface_field(&self, name: &str) -> bool {
        self.surface_fields.iter().any(|field| field.name == name)
    }

    /// Whether its summary has entries of a section.
    pub fn has_summary_of(&self, section: &str) -> bool {
        self.summary.iter().any(|path| path.split('.').next() == Some(section))
    }

    /// All fields, those solved for first.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.unknowns.iter().chain(self.derived)
    }
}

impl Field {
    /// Names of its numbers at a point.
    pub fn components(&self) -> &[&'static str] {
        match &self.rank {
            Rank::Vector(names) => names,
            Rank::Scalar | Rank::Axial => std::slice::from_ref(&self.name),
        }
    }
}

/// Values of a field in the form of a field file.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldData {
    /// One component.
    Scalar(Vec<f64>),
    /// Three components.
    Vector([Vec<f64>; 3]),
}

impl FieldData {
    /// An axial vector: in 2D its component z.
    pub fn of_axial(dimension: usize, values: &[[f64; 3]]) -> Self {
        let component = |k: usize| -> Vec<f64> { values.iter().map(|w| w[k]).collect() };
        match dimension {
            2 => FieldData::Scalar(component(2)),
            _ => FieldData::Vector([0, 1, 2].map(component)),
        }
    }

    /// The scalar of a picture: a scalar field or the magnitude of a vector field.
    pub fn into_scalar(self) -> Vec<f64> {
        match self {
            FieldData::Scalar(values) => values,
            FieldData::Vector([x, y, z]) => {
                let square = |i: usize| x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
                (0..x.len()).map(|i| square(i).sqrt()).collect()
            }
        }
    }
}
