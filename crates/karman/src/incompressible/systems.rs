//! The linear systems of a step, for whoever wants to solve them in another way: benchmarks do.

use super::{Flow, IncompressibleError};
use crate::backend::Buffer;
use crate::linear::{Matrix, Operator};
use crate::real::Real;
use std::sync::Arc;

/// A linear system as the last step left it.
pub struct StepSystem<'a, F: Real> {
    /// The operator: `[n]` squared, symmetric.
    pub operator: Box<dyn Operator<F>>,
    /// A matrix near it, for preconditioners; of the pressure the operator itself.
    pub near: Arc<Matrix<F>>,
    /// `[n]`.
    pub right_hand_side: &'a Buffer<F>,
    /// Whether constants are mapped to zero.
    pub is_singular: bool,
}

impl<F: Real> Flow<F> {
    /// A ψ = D F* + what the boundary gives, the last one solved: that of the initial projection before the
    /// first step. Unknowns are cells.
    pub fn pressure_system(&self) -> StepSystem<'_, F> {
        let near = Arc::clone(&self.pressure.matrix);
        StepSystem {
            operator: Box::new(Arc::clone(&near)),
            near,
            right_hand_side: &self.pressure.right_hand_side,
            is_singular: self.pressure.is_singular,
        }
    }

    /// The predictor's system where fluxes are unknowns: of the fluxes through the faces, or of the potential
    /// they have (in a plane a streamfunction at the nodes). None before the first step, nor where velocities
    /// are in the cells.
    ///
    /// # Errors
    /// [`IncompressibleError`] where the backend fails.
    pub fn predictor_system(&self) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        match (&self.exact, &self.staggered) {
            (Some(exact), _) => exact.system(self.viscosity),
            (None, Some(staggered)) => staggered.system(self.viscosity),
            (None, None) => Ok(None),
        }
    }
}
