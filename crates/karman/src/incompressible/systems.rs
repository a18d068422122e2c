//! The linear systems of a step, for benchmarks of other solvers.

use super::step::StepSystem;
use super::{IncompressibleError, IncompressibleSolver};
use crate::real::Real;
use std::sync::Arc;

impl<F: Real> IncompressibleSolver<F> {
    /// The last system A ψ = D F* + boundary contribution, before the first step that of the initial
    /// projection: `[n_cells]`.
    pub fn pressure_system(&self) -> StepSystem<'_, F> {
        let preconditioning_matrix = Arc::clone(&self.flow.pressure.poisson.matrix);
        StepSystem {
            operator: Box::new(Arc::clone(&preconditioning_matrix)),
            preconditioning_matrix,
            right_hand_side: &self.flow.pressure.increment.right_hand_side,
            is_singular: self.flow.pressure.conditions.is_singular,
        }
    }

    /// The predictor's system of the staggered arrangements: for the fluxes through the faces or for their
    /// potential (in 2D the streamfunction at the nodes). None before the first step, nor collocated.
    ///
    /// # Errors
    /// [`IncompressibleError`] where the backend fails.
    pub fn predictor_system(&self) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        self.stepper.predictor_system(self.flow.viscosity())
    }
}
