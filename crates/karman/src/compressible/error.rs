//! Errors of compressible flow.

use crate::backend::BackendError;
use crate::finite_volume::DiffusionError;
use crate::linear::LinearError;
use thiserror::Error;

/// A compressible flow that cannot be set up or advanced.
#[derive(Debug, Error)]
pub enum CompressibleError {
    /// The number of conditions differs from that of the patches.
    #[error("{found} conditions for {patches} patches")]
    Conditions {
        /// Number of conditions.
        found: usize,
        /// Number of patches.
        patches: usize,
    },
    /// A ratio of specific heats that no gas has.
    #[error("gamma is {value}; it must be above 1 and finite")]
    Gamma {
        /// Its value.
        value: f64,
    },
    /// An initial state without a positive density and pressure.
    #[error(
        "the initial {quantity} is {value:.6e} in the cell at ({:.6}, {:.6}, {:.6}); it must be positive",
        place[0], place[1], place[2]
    )]
    NotPositive {
        /// `density` or `pressure`.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// The centroid of the cell.
        place: [f64; 3],
    },
    /// No step towards the steady state keeps density and pressure positive and the residual bounded.
    #[error(
        "no step towards the steady state keeps density and pressure positive, down to a Courant number of {courant:.1e}: use \
         a `limiter` where there are shocks, begin with `reconstruction = \"constant\"` or initial fields nearer to the flow, or \
         compute in time with [time]"
    )]
    NoStep {
        /// The least Courant number tried.
        courant: f64,
    },
    /// The linear solver of a step towards the steady state failed.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// A prescribed value that is not a number.
    #[error(transparent)]
    Prescribed(#[from] DiffusionError),
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}
