//! Errors of a heat problem.

use crate::backend::BackendError;
use crate::finite_volume::DiffusionError;
use crate::linear::LinearError;
use thiserror::Error;

/// A heat problem that cannot be set up or solved.
#[derive(Debug, Error)]
pub enum HeatError {
    /// The number of conditions is not that of patches.
    #[error("{found} conditions for {patches} patches")]
    Conditions {
        /// Number of conditions.
        found: usize,
        /// Number of patches.
        patches: usize,
    },
    /// A property, a coefficient or a prescribed value is invalid.
    #[error(transparent)]
    Diffusion(#[from] DiffusionError),
    /// The linear solver refused.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}
