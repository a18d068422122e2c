//! What can be wrong with a flow problem.

use crate::backend::BackendError;
use crate::diffusion::DiffusionError;
use crate::linear::LinearError;
use thiserror::Error;

/// A flow problem that cannot be set up or advanced.
#[derive(Debug, Error)]
pub enum IncompressibleError {
    /// One condition a patch is wanted.
    #[error("{found} conditions for {patches} patches")]
    Conditions {
        /// Number of conditions.
        found: usize,
        /// Number of patches.
        patches: usize,
    },
    /// The viscosity is not positive.
    #[error("the viscosity is {value}; it must be positive and finite, or 0 with `rk3`")]
    Viscosity {
        /// Its value.
        value: f64,
    },
    /// The diffusivity of the temperature is not positive.
    #[error("the diffusivity is {value}; it must be positive and finite")]
    Diffusivity {
        /// Its value.
        value: f64,
    },
    /// A mesh that the staggered schemes do not suit.
    #[error(
        "the centroids of the two cells at the face at ({:.6}, {:.6}, {:.6}) lie the wrong way round it, \
         {along:.3e} apart along its normal; fluxes at faces need a mesh without such cells, and \
         scheme = \"collocated\" does not", place[0], place[1], place[2]
    )]
    WrongSide {
        /// The centroid of the face.
        place: [f64; 3],
        /// Distance of the centroids along the normal.
        along: f64,
    },
    /// A cell whose faces do not span the space.
    #[error(
        "the faces of the cell at ({:.6}, {:.6}, {:.6}) lie so that no velocity can be made of their \
         fluxes; use scheme = \"collocated\" for this mesh", place[0], place[1], place[2]
    )]
    Flat {
        /// The centroid of the cell.
        place: [f64; 3],
    },
    /// A flow that goes around in every direction.
    #[error(
        "scheme = \"exact_fractional_step\" needs a direction that is not periodic: its potential has no \
         mean flow; use scheme = \"staggered\""
    )]
    NoBoundary,
    /// Explicit steps on a mesh where fluxes of neighbouring faces are coupled.
    #[error(
        "method = \"rk3\" with fluxes at faces is for scheme = \"staggered\" on rectangles or bricks; \
         here use method = \"bdf2\" or scheme = \"collocated\""
    )]
    ExplicitMass,
    /// The stress on a wall is asked for where there is none.
    #[error(
        "no velocity is prescribed at the boundary face at ({:.6}, {:.6}, {:.6}); only walls and inlets have \
         a viscous stress", place[0], place[1], place[2]
    )]
    NoWall {
        /// The centroid of the face.
        place: [f64; 3],
    },
    /// What flows in has no way out, or what flows out no way in.
    #[error("{}", unbalanced(*net, *dimension, *time))]
    Unbalanced {
        /// Flow into the domain less flow out of it.
        net: f64,
        /// 2 or 3: of a plane flow it is one by unit of depth.
        dimension: usize,
        /// When.
        time: f64,
    },
    /// A prescribed value makes no sense.
    #[error(transparent)]
    Diffusion(#[from] DiffusionError),
    /// The linear solver refused.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

fn unbalanced(net: f64, dimension: usize, time: f64) -> String {
    let begin = match (net > 0.0, time == 0.0) {
        (true, true) => "Inflow exceeds outflow".to_owned(),
        (true, false) => format!("At t = {time:.2e} inflow exceeds outflow"),
        (false, true) => "Outflow exceeds inflow".to_owned(),
        (false, false) => format!("At t = {time:.2e} outflow exceeds inflow"),
    };
    // Three digits are enough to find the patch by.
    let net: f64 = format!("{:.2e}", net.abs()).parse().unwrap_or(net.abs());
    let unit = if dimension == 2 { "m²/s" } else { "m³/s" };
    format!("{begin} by {net:?} {unit} and there is no outlet.")
}
