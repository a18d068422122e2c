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
    /// What flows in has no way out.
    #[error(
        "at t = {time} the boundary lets {net:.6e} more in than out, {percent:.3} % of all that \
         crosses it, and no patch is free to let it out; make one an outlet"
    )]
    Unbalanced {
        /// Flow into the domain less flow out of it.
        net: f64,
        /// |net| over the flow through the boundary, in percent.
        percent: f64,
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
