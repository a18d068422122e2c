//! Parts of a step that conjugate gradients and BiCGStab have in common: the state in the middle of a step and
//! after it, and diagonal preconditioners inside kernels.
//!
//! Each kernel computes its scalars from the results of earlier kernels: the state goes from `convergence` to
//! `midway` and back, so that no kernel reads what it writes.
#![allow(missing_docs)] // on the modules that the attributes make

use super::convergence_state::{ConvergenceState, is_set};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Segment, View};

/// The state after a step, and the weight of the old direction in the next one.
#[device]
#[derive(Clone, Copy)]
pub(super) struct NextStep {
    /// The state of the iteration.
    pub state: ConvergenceState<f64>,
    /// Weight β of the old direction.
    pub beta: f64,
}

/// M⁻¹ of a diagonal preconditioner M.
#[derive(Group, Clone, Copy)]
pub(super) struct DiagonalView<'a, F: Real> {
    /// Diagonal of M⁻¹: `[n]`; not read where M = I.
    pub inverse: View<'a, F>,
    /// Whether M = I.
    #[comptime]
    pub is_identity: bool,
}

#[device]
impl<F: Real> DiagonalView<'_, F> {
    /// Entry i of M⁻¹ r, from entry i of r.
    #[inline(always)]
    pub(super) fn times(&self, i: usize, r: F) -> F {
        let mut z = r;
        if comptime!(!self.is_identity) {
            z = self.inverse[i] * r;
        }
        z
    }
}

/// Stores `state`: called for each entity i, the first of which stores it.
#[device]
#[inline(always)]
pub(super) fn store_state(i: usize, state: ConvergenceState<f64>, to: &mut Segment<f64>) {
    if i == 0 {
        ConvergenceState::<f64>::put(state, to, 0, 1);
    }
}

/// r − α q where the step is active; stores `state`, which has α.
#[device]
#[inline(always)]
pub(super) fn residual_after<F: Real>(
    i: usize,
    state: ConvergenceState<f64>,
    q: &View<F>,
    midway: &mut Segment<f64>,
    r: F,
) -> F {
    store_state(i, state, midway);
    let mut own = r;
    if is_set(state.stepping) {
        own = r - F::from_f64(state.alpha) * q[i];
    }
    own
}
