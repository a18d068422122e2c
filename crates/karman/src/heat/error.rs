//! What can be wrong with a heat problem.

use crate::backend::BackendError;
use crate::diffusion::DiffusionError;
use crate::linear::LinearError;
use thiserror::Error;

/// A heat problem that cannot be set up or solved.
#[derive(Debug, Error)]
pub enum HeatError {
    /// One condition a patch is wanted.
    #[error("{found} conditions for {patches} patches")]
    Conditions {
        /// Number of conditions.
        found: usize,
        /// Number of patches.
        patches: usize,
    },
    /// A property, a coefficient or a prescribed value makes no sense.
    #[error(transparent)]
    Diffusion(#[from] DiffusionError),
    /// The linear solver refused.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}
