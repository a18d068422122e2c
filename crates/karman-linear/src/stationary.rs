//! The stationary iteration x ← x + M⁻¹ (b − A x): multigrid cycles as a stand-alone solver. The residual
//! follows by recurrence and is recomputed at the end.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::convergence_state::{ConvergenceState, is_set, is_stepping, status, stepped};
use super::krylov::{Krylov, System, fill_ghosts};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, View};

/// The iteration stops after this many steps without a smaller residual.
const PATIENCE: f64 = 20.0;

/// The correction and its product: each [n].
pub(super) struct Stationary<T> {
    correction: Buffer<T>,
    product: Buffer<T>,
}

impl<T: Real> Stationary<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>) -> Self {
        let n = system.rows();
        Stationary { correction: system.vector(backend), product: backend.zeros(n) }
    }
}

impl<T: Real> Krylov<T> for Stationary<T> {
    fn start(&mut self, _: &Backend, _: &mut System<T>) {}

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = system.rows();
        let System {
            operator, preconditioner, residual, convergence, partials, iterate, halo, ..
        } = system;
        let (z, q) = (&mut self.correction, &mut self.product);
        preconditioner.apply(backend, residual, z);
        fill_ghosts(halo.as_ref(), z);
        operator.apply(backend, z, q);
        correct(backend, n, convergence, z, q, iterate, residual, partials);
        judge_correction(backend, partials, convergence);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        8 * size_of::<T>()
    }
}

/// x ← x + z, r ← r − q with r·r. Traffic 6s.
#[kernel(update(x, r), reduce(sum))]
pub(super) fn correct<F: Real>(
    i: usize,
    convergence: &View<f64>,
    z: &View<F>,
    q: &View<F>,
    x: F,
    r: F,
) -> (F, F, f64) {
    let mut next = x;
    let mut rest = r;
    if is_stepping(convergence) {
        next = x + z[i];
        rest = r - q[i];
    }
    (next, rest, rest.to_f64() * rest.to_f64())
}

/// Counts the step and tests for convergence.
#[kernel(combine(sum), update(convergence))]
pub(super) fn judge_correction(
    rr: f64,
    convergence: ConvergenceState<f64>,
) -> ConvergenceState<f64> {
    let mut next = convergence;
    if is_set(convergence.stepping) {
        next = stepped(convergence, rr);
        if is_set(next.active) && next.iterations - next.least_at > f64::literal(PATIENCE) {
            next.active = f64::literal(0.0);
            next.status = f64::literal(status::PLATEAU);
            next.detail = rr;
        }
        next.stepping = next.active;
    }
    next
}
