//! Heat conduction, as a case sees it.

use super::march::TimeScheme;
use crate::descriptor::{AREA, HEAT_FLUX, TimeSchemes, WALL_HEAT_FLUX};
use crate::descriptor::{Advice, Descriptor, Field, FieldKey, PatchQuantity, Rank, Template};

/// Name of the temperature.
pub const TEMPERATURE: &str = "temperature";

/// Heat conduction.
pub static DESCRIPTOR: Descriptor = Descriptor {
    section: "heat",
    name: "heat conduction",
    label: "heat",
    advice: Advice {
        in_time: "look at the values of [heat] and [boundary], and at the mesh with `karman mesh check`",
        cfl: None,
        steady: "look at the values of [heat] and [boundary], and at the mesh with `karman mesh check`",
    },
    unknowns: &[Field {
        name: TEMPERATURE,
        rank: Rank::Scalar,
        units: "K",
        meaning: "",
        needs: &[],
        only_2d: false,
        initial: Some(FieldKey {
            default: "0 for a steady case, else required",
            meaning: "Temperature.",
            example: "temperature = 300.0",
        }),
        exact: Some(FieldKey {
            default: "none",
            meaning: "The exact temperature.",
            example: "temperature = \"sin(pi*x)\"",
        }),
    }],
    derived: &[],
    patch_quantities: &[
        PatchQuantity { name: AREA, needs: &[] },
        PatchQuantity { name: HEAT_FLUX, needs: &[] },
    ],
    surface_fields: &[
        PatchQuantity { name: TEMPERATURE, needs: &[] },
        PatchQuantity { name: WALL_HEAT_FLUX, needs: &[] },
    ],
    any_condition: "insulated",
    time_schemes: TimeSchemes {
        words: TimeScheme::WORDS,
        meanings: TimeScheme::MEANINGS,
        default: TimeScheme::CrankNicolson.word(),
        has_local_steps: false,
    },
    summary: &[],
    templates: &[
        Template {
            name: "heat",
            about: "steady conduction in a cube, one face hot",
            text: include_str!("templates/heat.toml"),
            companions: &[],
        },
        Template {
            name: "heat_unsteady",
            about: "conduction in time with a source and a cooled side",
            text: include_str!("templates/heat_unsteady.toml"),
            companions: &[],
        },
        Template {
            name: "heat_regions",
            about: "two materials, from a mesh file with named regions",
            text: include_str!("templates/heat_regions.toml"),
            companions: &[("two_regions.msh", include_str!("templates/two_regions.msh"))],
        },
        Template {
            name: "heat_exact",
            about: "comparison with an exact solution in an annulus",
            text: include_str!("templates/heat_exact.toml"),
            companions: &[],
        },
    ],
};
