//! Heat conduction, as a case sees it.

use crate::descriptor::{Descriptor, Field, FieldKey, PatchQuantity, Rank, Template};

/// Heat conduction.
pub static DESCRIPTOR: Descriptor = Descriptor {
    section: "heat",
    case: "a heat case",
    unknowns: &[Field {
        name: "temperature",
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
        PatchQuantity { name: "area", needs: &[] },
        PatchQuantity { name: "heat_flux", needs: &[] },
    ],
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
