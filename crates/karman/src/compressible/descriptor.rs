//! Compressible flow, as a case sees it.

use crate::descriptor::{
    self, AREA, Advice, Descriptor, Field, FieldKey, HEAT_FLUX, Need, PatchQuantity, Rank,
    Template, TimeSchemes, VectorNames, WALL_HEAT_FLUX,
};
use crate::time::RungeKutta;

/// Name of the density.
pub const DENSITY: &str = "density";
/// Names of the components of the velocity.
pub const VELOCITY: VectorNames = ["velocity_x", "velocity_y", "velocity_z"];
/// Name of the pressure.
pub const PRESSURE: &str = "pressure";
/// Name of the temperature.
pub const TEMPERATURE: &str = "temperature";
/// Name of the Mach number.
pub const MACH: &str = "mach";
/// Name of the entropy function p/ρ^γ.
pub const ENTROPY: &str = "entropy";
/// Name of the magnitude of the density gradient.
pub const SCHLIEREN: &str = "schlieren";
/// Name of the vorticity.
pub const VORTICITY: &str = "vorticity";

/// Names of the force on a group of patches.
pub const FORCE: VectorNames = ["force_x", "force_y", "force_z"];
/// The force of the pressure.
pub const PRESSURE_FORCE: VectorNames =
    ["pressure_force_x", "pressure_force_y", "pressure_force_z"];
/// The force of the viscous stress.
pub const VISCOUS_FORCE: VectorNames = ["viscous_force_x", "viscous_force_y", "viscous_force_z"];
/// Names of the moment of the force.
pub const MOMENT: VectorNames = ["moment_x", "moment_y", "moment_z"];
/// Name of the mass flow into the domain through a group of patches.
pub const MASS_FLOW: &str = "mass_flow";
/// Name of the drag coefficient.
pub const DRAG_COEFFICIENT: &str = "drag_coefficient";
/// Name of the lift coefficient.
pub const LIFT_COEFFICIENT: &str = "lift_coefficient";
/// Name of the moment coefficient.
pub const MOMENT_COEFFICIENT: &str = "moment_coefficient";
/// Name of the pressure coefficient on a surface.
pub const PRESSURE_COEFFICIENT: &str = "pressure_coefficient";
/// Name of the viscous stress on a wall.
pub const WALL_SHEAR_STRESS: &str = "wall_shear_stress";
/// Name of the magnitude of its tangential part over the dynamic pressure.
pub const SKIN_FRICTION_COEFFICIENT: &str = "skin_friction_coefficient";
/// Name of the distance of the first cells from the wall in viscous lengths.
pub const Y_PLUS: &str = "y_plus";

const fn quantity(name: &'static str, needs: &'static [Need]) -> PatchQuantity {
    PatchQuantity { name, needs }
}

const fn derived(name: &'static str, units: &'static str, meaning: &'static str) -> Field {
    Field {
        name,
        rank: Rank::Scalar,
        units,
        meaning,
        needs: &[],
        only_2d: false,
        initial: None,
        exact: None,
    }
}

const fn exact(meaning: &'static str, example: &'static str) -> Option<FieldKey> {
    Some(FieldKey { default: "none", meaning, example })
}

const fn initial(
    default: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> Option<FieldKey> {
    Some(FieldKey { default, meaning, example })
}

/// Compressible flow.
pub static DESCRIPTOR: Descriptor = Descriptor {
    section: "compressible",
    name: "compressible flow",
    label: "compressible flow",
    advice: Advice {
        in_time: "look at the mesh with `karman mesh check`, use `limiter = \"minmod\"` or \"mood\" where \
             there are shocks, or begin with `reconstruction = \"constant\"`",
        cfl: Some(0.5),
        steady: "set a smaller `pseudo_cfl` of [steady], look at the mesh with `karman mesh check`, or begin with \
                    `reconstruction = \"constant\"`",
    },
    unknowns: &[
        Field {
            initial: initial("required", "Density of a compressible flow.", "density = 1.4"),
            exact: exact(
                "The exact density of a compressible flow.",
                "density = \"1 + 0.2*sin(pi*(x - t))\"",
            ),
            ..derived(DENSITY, "kg/m³", "")
        },
        Field {
            rank: Rank::Vector(VELOCITY),
            initial: initial("zeros", "Velocity.", "velocity = [1.0, 0.0, 0.0]"),
            exact: exact("The exact velocity.", "velocity = [1.0, 0.0, 0.0]"),
            ..derived(descriptor::VELOCITY, "m/s", "")
        },
        Field {
            initial: initial("required", "Pressure.", "pressure = 1.0"),
            exact: exact("The exact pressure.", "pressure = 1.0"),
            ..derived(PRESSURE, "Pa", "")
        },
    ],
    derived: &[
        derived(TEMPERATURE, "K", "the temperature p/(ρR)"),
        derived(MACH, "", "the Mach number"),
        derived(ENTROPY, "", "the entropy function p/ρ^γ, constant in isentropic flow"),
        derived(SCHLIEREN, "kg/m⁴", "the magnitude of the density gradient"),
        Field { rank: Rank::Axial, ..derived(VORTICITY, "1/s", "the vorticity") },
    ],
    patch_quantities: &[
        quantity(AREA, &[]),
        quantity(MASS_FLOW, &[]),
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
        quantity(HEAT_FLUX, &[]),
    ],
    surface_fields: &[
        quantity(PRESSURE, &[]),
        quantity(PRESSURE_COEFFICIENT, &[]),
        quantity(TEMPERATURE, &[]),
        quantity(MACH, &[]),
        quantity(ENTROPY, &[]),
        quantity(WALL_SHEAR_STRESS, &[]),
        quantity(SKIN_FRICTION_COEFFICIENT, &[]),
        quantity(Y_PLUS, &[]),
        quantity(WALL_HEAT_FLUX, &[]),
    ],
    any_condition: "slip_wall",
    time_schemes: TimeSchemes {
        words: RungeKutta::WORDS,
        meanings: RungeKutta::MEANINGS,
        default: RungeKutta::SspRk3.word(),
        has_local_steps: true,
    },
    summary: &["flow.mass", "flow.energy", "flow.kinetic_energy", "flow.courant"],
    templates: &[
        Template {
            name: "vortex",
            about: "an isentropic vortex in a periodic square, compressible",
            text: include_str!("templates/vortex.toml"),
            companions: &[],
        },
        Template {
            name: "shock_tube",
            about: "Sod's shock tube, compressible",
            text: include_str!("templates/shock_tube.toml"),
            companions: &[],
        },
    ],
};
