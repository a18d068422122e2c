//! A step of a multistep scheme, its solves and its linear systems.

use crate::backend::Buffer;
use crate::linear::{Matrix, Operator, SolveOutcome};
use crate::real::Real;
use crate::time::TimeCoefficients;
use std::sync::Arc;

/// A step of a multistep scheme.
pub(super) struct Step {
    pub coefficients: TimeCoefficients,
    /// Begin and end.
    pub times: [f64; 2],
    /// Velocities are extrapolated to the end of the step by u + extrapolation (u − u_before).
    pub extrapolation: f64,
}

/// The solves of a step.
pub(super) struct StepSolves {
    /// The predictor: the sum of iterations over the components, the worst status.
    pub momentum: SolveOutcome,
    /// The projection, or the recovery of the pressure.
    pub pressure: SolveOutcome,
}

/// A linear system of the last step.
pub struct StepSystem<'a, F: Real> {
    /// The operator: `[n]` squared, symmetric.
    pub operator: Box<dyn Operator<F>>,
    /// The preconditioning matrix; for the pressure the operator itself.
    pub preconditioning_matrix: Arc<Matrix<F>>,
    /// `[n]`.
    pub right_hand_side: &'a Buffer<F>,
    /// Whether constants are the nullspace.
    pub is_singular: bool,
}
