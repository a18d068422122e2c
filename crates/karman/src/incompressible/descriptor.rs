//! Incompressible flow, as a case sees it.

use super::derived::DerivedField;
use super::scheme::TimeScheme;
use crate::descriptor::{self, AREA, HEAT_FLUX, TimeSchemes, VectorNames, WALL_HEAT_FLUX};
use crate::descriptor::{Advice, Descriptor, Field, FieldKey, Need, PatchQuantity, Rank, Template};

/// Names of the components of the velocity.
pub const VELOCITY: VectorNames = ["velocity_x", "velocity_y", "velocity_z"];
/// Name of the pressure.
pub const PRESSURE: &str = "pressure";
/// Name of the temperature.
pub const TEMPERATURE: &str = "temperature";

/// Names of the force on a group of patches, of its parts and of its moment.
pub const FORCE: VectorNames = ["force_x", "force_y", "force_z"];
/// The force of the pressure.
pub const PRESSURE_FORCE: VectorNames =
    ["pressure_force_x", "pressure_force_y", "pressure_force_z"];
/// The force of the viscous stress.
pub const VISCOUS_FORCE: VectorNames = ["viscous_force_x", "viscous_force_y", "viscous_force_z"];
/// The moment of the force.
pub const MOMENT: VectorNames = ["moment_x", "moment_y", "moment_z"];
/// Name of the flow rate into the domain through a group of patches.
pub const FLOW_RATE: &str = "flow_rate";
/// Name of the drag coefficient.
pub const DRAG_COEFFICIENT: &str = "drag_coefficient";
/// Name of the lift coefficient.
pub const LIFT_COEFFICIENT: &str = "lift_coefficient";
/// Name of the moment coefficient.
pub const MOMENT_COEFFICIENT: &str = "moment_coefficient";
/// Name of the mean drag coefficient over whole periods.
pub const DRAG_COEFFICIENT_MEAN: &str = "drag_coefficient_mean";
/// Name of the largest drag coefficient over whole periods.
pub const DRAG_COEFFICIENT_MAX: &str = "drag_coefficient_max";
/// Name of the largest lift coefficient over whole periods.
pub const LIFT_COEFFICIENT_MAX: &str = "lift_coefficient_max";
/// Name of the Strouhal number.
pub const STROUHAL: &str = "strouhal";
/// Name of the Nusselt number.
pub const NUSSELT: &str = "nusselt";

/// Name of the pressure coefficient on a surface.
pub const PRESSURE_COEFFICIENT: &str = "pressure_coefficient";
/// Name of the viscous stress on a wall.
pub const WALL_SHEAR_STRESS: &str = "wall_shear_stress";
/// Name of the wall distance of cell centres in viscous units.
pub const Y_PLUS: &str = "y_plus";

const fn quantity(name: &'static str, needs: &'static [Need]) -> PatchQuantity {
    PatchQuantity { name, needs }
}

/// Incompressible flow.
pub static DESCRIPTOR: Descriptor = Descriptor {
    section: "incompressible",
    name: "incompressible flow",
    label: "flow",
    advice: Advice {
        in_time: "look at the mesh with `karman mesh check`, or begin with \
             `convection = \"upwind\"`",
        cfl: Some(0.4),
        steady: "set a smaller `pseudo_cfl` of [steady], look at the mesh with `karman mesh check`, begin with \
                    `convection = \"upwind\"`, or march in time with [time], if there is no steady flow",
    },
    unknowns: &[
        Field {
            name: descriptor::VELOCITY,
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
        quantity(AREA, &[]),
        quantity(FLOW_RATE, &[]),
        quantity(FORCE[0], &[]),
        quantity(FORCE[1], &[]),
        quantity(FORCE[2], &[]),
        quantity(PRESSURE_FORCE[0], &[]),
        quantity(PRESSURE_FORCE[1], &[]),
        quantity(PRESSURE_FORCE[2], &[]),
        quantity(VISCOUS_FORCE[0], &[]),
        quantity(VISCOUS_FORCE[1], &[]),
        quantity(VISCOUS_FORCE[2], &[]),
        quantity(MOMENT[0], &[Need::MomentCentre]),
        quantity(MOMENT[1], &[Need::MomentCentre]),
        quantity(MOMENT[2], &[Need::MomentCentre]),
        quantity(DRAG_COEFFICIENT, &[Need::Reference]),
        quantity(LIFT_COEFFICIENT, &[Need::Reference]),
        quantity(MOMENT_COEFFICIENT, &[Need::MomentCentre, Need::Reference]),
        quantity(DRAG_COEFFICIENT_MEAN, &[Need::Reference]),
        quantity(DRAG_COEFFICIENT_MAX, &[Need::Reference]),
        quantity(LIFT_COEFFICIENT_MAX, &[Need::Reference]),
        quantity(STROUHAL, &[Need::Reference]),
        quantity(HEAT_FLUX, &[Need::Temperature]),
        quantity(NUSSELT, &[Need::Temperature, Need::Reference]),
    ],
    surface_fields: &[
        quantity(PRESSURE, &[]),
        quantity(PRESSURE_COEFFICIENT, &[]),
        quantity(WALL_SHEAR_STRESS, &[]),
        quantity(Y_PLUS, &[]),
        quantity(TEMPERATURE, &[Need::Temperature]),
        quantity(WALL_HEAT_FLUX, &[Need::Temperature]),
    ],
    any_condition: "no_slip",
    time_schemes: TimeSchemes {
        words: TimeScheme::WORDS,
        meanings: TimeScheme::MEANINGS,
        default: TimeScheme::Bdf2.word(),
        has_local_steps: false,
    },
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
