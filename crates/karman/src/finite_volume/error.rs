//! Errors of a diffusion problem.

use crate::backend::BackendError;
use crate::linear::LinearError;
use thiserror::Error;

/// A diffusion problem that cannot be discretised or evaluated.
#[derive(Debug, Error)]
pub enum DiffusionError {
    /// A material property that is not positive.
    #[error("{name} is {value} in cell {cell}; it must be positive and finite")]
    Property {
        /// Name of the property.
        name: &'static str,
        /// Cell in the solver's numbering.
        cell: usize,
        /// Its value there.
        value: f64,
    },
    /// A heat transfer coefficient that is negative or not a number.
    #[error("the heat transfer coefficient of patch \"{patch}\" is {value}; it must be 0 or more")]
    Coefficient {
        /// The patch.
        patch: String,
        /// The value.
        value: f64,
    },
    /// A prescribed or initial value that is not a number.
    #[error("{what} is {value} at t = {time}")]
    NotFinite {
        /// Name of the quantity.
        what: &'static str,
        /// The value.
        value: f64,
        /// Time of the value.
        time: f64,
    },
    /// The linear solver refused.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}
