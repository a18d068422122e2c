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
    /// A mesh that the staggered scheme does not suit.
    #[error(
        "scheme = \"staggered\" is for meshes of rectangles or bricks, whose centroids are joined by \
         normals of their faces; for this mesh use scheme = \"collocated\""
    )]
    NotRectangular,
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
