//! The fields that averages over time sample.

use super::SimulationError;
use crate::backend::Buffer;
use crate::real::Real;

/// The fields of an equation as averages sample them.
pub(super) trait Sampled<F: Real> {
    /// The sampled arrays of a field at the current level, on the backend, as long as the samples of the average.
    fn components(&mut self, field: &str) -> Result<Vec<&Buffer<F>>, SimulationError>;
}
