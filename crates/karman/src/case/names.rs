//! Names of the results of an equation.

use super::file::EquationFile;
use super::output::PatchGroup;
use std::iter::once;

/// Fields of a heat case that can be written, probed and drawn.
pub const HEAT_FIELDS: &[&str] = &["temperature"];
/// Quantities of a patch of a heat case.
pub const HEAT_PATCH_QUANTITIES: &[&str] = &["area", "heat_flux"];

/// Fields of a flow that are written unless the case names others.
pub const FLOW_FIELDS: &[&str] = &["velocity", "pressure"];
/// Fields that follow from the velocity, written and drawn where the case names them.
pub const FLOW_DERIVED_FIELDS: &[&str] = &["vorticity", "q_criterion", "streamfunction"];
/// Numbers of a flow at a point: the components of the velocity and the pressure.
pub const FLOW_COMPONENTS: &[&str] = &["velocity_x", "velocity_y", "velocity_z", "pressure"];
/// Quantities of a patch of a flow.
pub const FLOW_PATCH_QUANTITIES: &[&str] = &[
    "area",
    "flow_rate",
    "force_x",
    "force_y",
    "force_z",
    "pressure_force_x",
    "pressure_force_y",
    "pressure_force_z",
    "viscous_force_x",
    "viscous_force_y",
    "viscous_force_z",
];
/// Quantities of a patch of a flow that need `reference`.
pub const FLOW_COEFFICIENTS: &[&str] = &[
    "drag_coefficient",
    "lift_coefficient",
    "drag_coefficient_mean",
    "drag_coefficient_max",
    "lift_coefficient_max",
    "strouhal",
];
/// The field of a flow with [`ThermalCase`](super::ThermalCase).
const TEMPERATURE: &str = "temperature";

/// The quantities of a group of patches of a flow, `thermal` where it has a temperature.
pub fn flow_patch_quantities(group: &PatchGroup, thermal: bool) -> Vec<&'static str> {
    let has_reference = group.flow.as_ref().is_some_and(|flow| flow.has_reference);
    let coefficients = if has_reference { FLOW_COEFFICIENTS } else { &[] };
    let heat_flux = thermal.then_some("heat_flux");
    let nusselt = (thermal && has_reference).then_some("nusselt");
    let all = FLOW_PATCH_QUANTITIES.iter().chain(coefficients).copied();
    all.chain(heat_flux).chain(nusselt).collect()
}

/// Names that sections of a case may use, by its equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Heat,
    Flow { thermal: bool },
}

impl Names {
    pub(crate) fn of(equation: &EquationFile<'_>) -> Self {
        match equation {
            EquationFile::Heat(_) => Names::Heat,
            EquationFile::Incompressible(file) => {
                Names::Flow { thermal: file.get_ref().thermal.is_some() }
            }
        }
    }

    /// A case of the equation, for messages.
    pub(crate) fn case(self) -> &'static str {
        match self {
            Names::Heat => "a heat case",
            Names::Flow { .. } => "a flow case",
        }
    }

    pub(crate) fn is_flow(self) -> bool {
        self != Names::Heat
    }

    pub(crate) fn is_thermal(self) -> bool {
        self != Names::Flow { thermal: false }
    }

    /// Fields written unless the case names others.
    pub(crate) fn default_fields(self) -> Vec<&'static str> {
        match self {
            Names::Heat => HEAT_FIELDS.to_vec(),
            Names::Flow { thermal } => {
                FLOW_FIELDS.iter().copied().chain(thermal.then_some(TEMPERATURE)).collect()
            }
        }
    }

    /// Fields that can be written and drawn.
    pub(crate) fn fields(self) -> Vec<&'static str> {
        let derived = if self.is_flow() { FLOW_DERIVED_FIELDS } else { &[] };
        self.default_fields().into_iter().chain(derived.iter().copied()).collect()
    }

    /// Numbers at a point.
    pub(crate) fn components(self) -> Vec<&'static str> {
        match self {
            Names::Heat => HEAT_FIELDS.to_vec(),
            Names::Flow { thermal } => {
                FLOW_COMPONENTS.iter().copied().chain(thermal.then_some(TEMPERATURE)).collect()
            }
        }
    }

    /// Quantities of a group of patches.
    pub(crate) fn patch_quantities(self, group: &PatchGroup) -> Vec<&'static str> {
        match self {
            Names::Heat => HEAT_PATCH_QUANTITIES.to_vec(),
            Names::Flow { thermal } => flow_patch_quantities(group, thermal),
        }
    }

    /// The setting that provides `name`, if one does.
    pub(crate) fn remedy(self, name: &str) -> Option<&'static str> {
        let needs_temperature = [TEMPERATURE, "heat_flux", "nusselt"].contains(&name);
        if needs_temperature && !self.is_thermal() {
            return Some("a flow has a temperature with [incompressible.thermal]");
        }
        let needs_reference = FLOW_COEFFICIENTS.iter().copied().chain(once("nusselt"));
        let needs_reference = needs_reference.into_iter().any(|known| known == name);
        (needs_reference && self.is_flow())
            .then_some("coefficients need `reference` in their [[output.patch]]")
    }
}
