//! The second half of a step of conjugate gradients whose preconditioner has kernels of its own.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::convergence_state::{ConvergenceState, is_finite, is_set, status, stopped};
use super::recurrence::residual_after;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Halo, Partials, Segment, View};
use std::sync::Arc;

/// The second half of a step with a separate M⁻¹: r ← r − α q, z ← M⁻¹ r, and the partials of r·z, r·r and z·q. On one of several
/// ranks it fetches the ghosts of z where there is a halo.
pub struct ResidualUpdate<'a, T = f32> {
    /// p·q.
    pub(super) product: &'a mut Partials,
    pub(super) convergence: &'a Buffer<f64>,
    pub(super) q: &'a Buffer<T>,
    pub(super) midway: &'a mut Buffer<f64>,
    pub(super) r: &'a mut Buffer<T>,
    pub(super) z: &'a mut Buffer<T>,
    /// Of r·z, r·r and z·q.
    pub(super) sums: &'a mut Partials,
    pub(super) halo: Option<Arc<Halo>>,
}

impl<T: Real> ResidualUpdate<'_, T> {
    /// Computes it with a function z ← M⁻¹ r.
    pub(super) fn run(
        self,
        backend: &Backend,
        precondition: impl FnOnce(&Buffer<T>, &mut Buffer<T>),
    ) {
        let ResidualUpdate { product, convergence, q, midway, r, z, sums, halo } = self;
        let n = q.len();
        subtract_product(backend, n, product, convergence, q, midway, r);
        precondition(r, z);
        reduce_and_fill(halo.as_deref(), z, sums, |z, sums| cg_dots(backend, n, r, z, q, sums));
    }
}

/// Runs a reduction after which the ghosts of z are fetched on one of several ranks.
pub(super) fn reduce_and_fill<T: Real>(
    halo: Option<&Halo>,
    z: &mut Buffer<T>,
    sums: &mut Partials,
    reduce: impl FnOnce(&mut Buffer<T>, &mut Partials),
) {
    match halo {
        None => reduce(z, sums),
        Some(halo) => halo.fill_after(z, sums, reduce),
    }
}

/// The state in the middle of a step: α = r·z / p·q, after the product.
#[device]
pub(super) fn alpha(pq: f64, convergence: &View<f64>) -> ConvergenceState<f64> {
    let before = ConvergenceState::<f64>::at(convergence, 0, 1);
    let mut next = before;
    let mut alpha = f64::literal(0.0);
    next.stepping = before.active;
    if is_set(before.active) {
        if pq > f64::literal(0.0) && is_finite(pq) {
            alpha = before.rho / pq;
        } else {
            next = stopped(before, f64::literal(status::OPERATOR), pq);
        }
    }
    next.alpha = alpha;
    next
}

/// r ← r − α q. Traffic 3s.
#[kernel(scalar(state = alpha(1, convergence)), update(r), unroll(4))]
pub(super) fn subtract_product<F: Real>(
    i: usize,
    state: ConvergenceState<f64>,
    convergence: &View<f64>,
    q: &View<F>,
    midway: &mut Segment<f64>,
    r: F,
) -> F {
    residual_after::<F>(i, state, q, midway, r)
}

/// r ← r − α q, x ← w r. Traffic 5s.
#[kernel(scalar(state = alpha(1, convergence)), update(r), out(x), unroll(4))]
pub(super) fn subtract_and_sweep<F: Real>(
    i: usize,
    state: ConvergenceState<f64>,
    convergence: &View<f64>,
    q: &View<F>,
    w: &View<F>,
    midway: &mut Segment<f64>,
    r: F,
) -> (F, F) {
    let own = residual_after::<F>(i, state, q, midway, r);
    (own, w[i] * own)
}

/// r·z, r·r and z·q. Traffic 3s.
#[kernel(reduce(sum, sum, sum), unroll(2))]
pub(super) fn cg_dots<F: Real>(i: usize, r: &View<F>, z: &View<F>, q: &View<F>) -> (f64, f64, f64) {
    let r = r[i].to_f64();
    let z = z[i].to_f64();
    (r * z, r * r, z * q[i].to_f64())
}
