//! Boundary values and source of a transported quantity.

use crate::finite_volume::{BoundaryContributionOnBackend, TimeDependentData};
use crate::real::Real;

/// Boundary values and source of a quantity.
pub(super) struct Quantity<F: Real> {
    /// C, whose unknowns count from the first quantity.
    pub contribution: BoundaryContributionOnBackend<F>,
    /// Values at the boundary.
    pub prescribed: TimeDependentData<F>,
    /// V s.
    pub source: TimeDependentData<F>,
}
