//! Incompressible flow, as a case sees it.

use super::derived::DerivedField;
use crate::descriptor::VectorNames;
use crate::descriptor::{Descriptor, Field, FieldKey, Need, PatchQuantity, Rank, Template};

/// Names of the components of the velocity.
pub const VELOCITY: VectorNames = ["velocity_x", "velocity_y", "velocity_z"];
/// Name of the pressure.
pub const PRESSURE: &str = "pressure";
/// Name of the temperature.
pub const TEMPERATURE: &str = "temperature";

const fn quantity(name: &'static str, needs: &'static [Need]) -> PatchQuantity {
    PatchQuantity { name, needs }
}

/// Incompressible flow.
pub static DESCRIPTOR: Descriptor = Descriptor {
    section: "incompressible",
    case: "a flow case",
    unknowns: &[
        Field {
            name: "velocity",
            rank: Rank::Vector(VELOCITY),
            units: "m/s",
            meaning: "",
            needs: &[],
            only_2d: false,
            initial: Some(FieldKey {
                default: "zeros",
                meaning: "Velocity of a flow; it is made divergence-free.",
                example: "velocity = [\"y*(1 - y)\", 0.0, 0.0]",
            }),
            exact: Some(FieldKey {
                default: "none",
                meaning: "The exact velocity of a flow, with errors of its components `velocity_x`, `velocity_y`, \
                          `velocity_z` and of the vector, `velocity`.",
                example: "velocity = [\"y\", 0.0, 0.0]",
            }),
        },
        Field {
            name: PRESSURE,
            rank: Rank::Scalar,
            units: "m²/s²",
            meaning: "",
            needs: &[],
            only_2d: false,
            initial: Some(FieldKey {
                default: "zero",
                meaning: "Pressure of a flow over the density.",
                example: "pressure = 0.0",
            }),
            exact: Some(FieldKey {
                default: "none",
                meaning: "The exact pressure of a flow, compared without the mean where no patch prescribes the \
                          pressure.",
                example: "pressure = \"-x\"",
            }),
        },
        Field {
            name: TEMPERATURE,
            rank: Rank::Scalar,
            units: "K",
            meaning: "",
            needs: &[Need::Temperature],
            only_2d: false,
            initial: Some(FieldKey {
                default: "required",
                meaning: "Temperature.",
                example: "temperature = 300.0",
            }),
            exact: Some(FieldKey {
                default: "none",
                meaning: "The exact temperature.",
                example: "temperature = \"sin(pi*x)\"",
            }),
        },
    ],
    derived: &DerivedField::FIELDS,
    patch_quantities: &[
        quantity("area", &[]),
        quantity("flow_rate", &[]),
        quantity("force_x", &[]),
        quantity("force_y", &[]),
        quantity("force_z", &[]),
        quantity("pressure_force_x", &[]),
        quantity("pressure_force_y", &[]),
        quantity("pressure_force_z", &[]),
        quantity("viscous_force_x", &[]),
        quantity("viscous_force_y", &[]),
        quantity("viscous_force_z", &[]),
        quantity("moment_x", &[Need::MomentCentre]),
        quantity("moment_y", &[Need::MomentCentre]),
        quantity("moment_z", &[Need::MomentCentre]),
        quantity("drag_coefficient", &[Need::Reference]),
        quantity("lift_coefficient", &[Need::Reference]),
        quantity("moment_coefficient", &[Need::MomentCentre, Need::Reference]),
        quantity("drag_coefficient_mean", &[Need::Reference]),
        quantity("drag_coefficient_max", &[Need::Reference]),
        quantity("lift_coefficient_max", &[Need::Reference]),
        quantity("strouhal", &[Need::Reference]),
        quantity("heat_flux", &[Need::Temperature]),
        quantity("nusselt", &[Need::Temperature, Need::Reference]),
    ],
    summary: &[
        "flow.kinetic_energy",
        "flow.divergence_max",
        "flow.courant",
        "flow.mean_force_x",
        "flow.mean_force_y",
        "flow.mean_force_z",
        "recirculation.NAME.separation",
        "recirculation.NAME.reattachment",
    ],
    templates: &[
        Template {
            name: "cavity",
            about: "flow in a square driven by its lid",
            text: include_str!("templates/cavity.toml"),
            companions: &[],
        },
        Template {
            name: "channel",
            about: "flow between plates with inlet and outlet",
            text: include_str!("templates/channel.toml"),
            companions: &[],
        },
        Template {
            name: "step",
            about: "flow over a backward-facing step, from a mesh file of Gmsh",
            text: include_str!("templates/step.toml"),
            companions: &[("step.msh", include_str!("templates/step.msh"))],
        },
    ],
};
