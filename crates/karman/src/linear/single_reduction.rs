//! Conjugate gradients with one reduction a step (Chronopoulos & Gear, J. Comput. Appl. Math. 25
//! (1989) 153, algorithm 4): all three scalar products are taken with the product w = A M⁻¹ r. Two
//! vector kernels and one combination where M is diagonal, for more vector traffic: faster where
//! launches or the network cost more than memory.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::Diagonal;
use super::progress::{Krylov, Progress, System, is_finite, is_set, is_stepping, status};
use super::progress::{stepped, stopped};
use crate::backend::{Backend, Buffer, Components, View};
use crate::real::{Real, convert};
use cubecl::prelude::*;
use karman_macros::{Components, kernel};

/// The scalars of the recurrence.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq, Components)]
#[expand(derive(Clone, Copy))]
pub(super) struct SingleScalars<F: Real> {
    /// r·u.
    pub gamma: F,
    /// Step length.
    pub alpha: F,
    /// Weight of the old direction.
    pub beta: F,
}

/// u = M⁻¹ r, w = A u, directions p and s = A p; each [n].
pub(super) struct SingleReduction<T> {
    preconditioned: Buffer<T>,
    product: Buffer<T>,
    direction: Buffer<T>,
    direction_product: Buffer<T>,
    scalars: Buffer<f64>,
}

impl<T: Real> SingleReduction<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>) -> Self {
        let n = system.rows();
        SingleReduction {
            preconditioned: backend.zeros(n),
            product: backend.zeros(n),
            direction: backend.zeros(n),
            direction_product: backend.zeros(n),
            scalars: backend.zeros(<SingleScalars<f64> as Components>::COUNT),
        }
    }

    /// w = A u with the scalar products.
    fn product(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { operator, residual, partials, .. } = system;
        operator.apply_dots(backend, &self.preconditioned, residual, &mut self.product, partials);
    }
}

impl<T: Real> Krylov<T> for SingleReduction<T> {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        system.preconditioner.apply(backend, &system.residual, &mut self.preconditioned);
        self.product(backend, system);
        single_start(backend, &system.partials, &mut system.progress, &mut self.scalars);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = self.product.len();
        let System { preconditioner, residual: r, progress, iterate: x, .. } = system;
        let SingleReduction { preconditioned: u, product: w, .. } = self;
        let (p, s, scalars) = (&mut self.direction, &mut self.direction_product, &self.scalars);
        match preconditioner.diagonal() {
            Some(Diagonal::Identity) => {
                single_advance_diagonal(backend, n, progress, scalars, w, w, true, p, s, x, r, u);
            }
            Some(Diagonal::Same(d)) => {
                single_advance_diagonal(backend, n, progress, scalars, w, d, false, p, s, x, r, u);
            }
            Some(Diagonal::Single(d)) => {
                single_advance_diagonal(backend, n, progress, scalars, w, d, false, p, s, x, r, u);
            }
            None => {
                single_advance(backend, n, progress, scalars, u, w, p, s, x, r);
                preconditioner.apply(backend, r, u);
            }
        }
        self.product(backend, system);
        single_weigh(backend, &system.partials, &mut system.progress, &mut self.scalars);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        15 * size_of::<T>()
    }
}

/// Before the first step: α = r·u / u·w.
#[kernel(single_start, combine(sum, sum, sum, sum, sum), update(progress, scalars))]
pub(super) fn single_started(
    uw: f64,
    ur: f64,
    _rr: f64,
    _rw: f64,
    _ww: f64,
    progress: Progress<f64>,
    scalars: SingleScalars<f64>,
) -> (Progress<f64>, SingleScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    weights.beta = f64::literal(0.0);
    weights.gamma = ur;
    if is_set(progress.active) {
        if uw > f64::literal(0.0) && is_finite(uw) {
            weights.alpha = ur / uw;
        } else {
            next = stopped(progress, f64::literal(status::OPERATOR), uw);
        }
        let positive = ur > f64::literal(0.0);
        if !positive {
            next = stopped(progress, f64::literal(status::PRECONDITIONER), ur);
        }
    }
    (next, weights)
}

/// β = γ'/γ and α = γ' / (u·w − β γ'/α), the denominator being p·Ap of the next direction.
#[kernel(single_weigh, combine(sum, sum, sum, sum, sum), update(progress, scalars))]
pub(super) fn single_weighed(
    uw: f64,
    ur: f64,
    rr: f64,
    _rw: f64,
    _ww: f64,
    progress: Progress<f64>,
    scalars: SingleScalars<f64>,
) -> (Progress<f64>, SingleScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    if is_set(progress.stepping) {
        next = stepped(progress, rr);
        let beta = ur / scalars.gamma;
        let curvature = uw - beta * ur / scalars.alpha;
        weights.beta = beta;
        weights.gamma = ur;
        weights.alpha = ur / curvature;
        if is_set(next.active) {
            let rising = curvature > f64::literal(0.0) && is_finite(curvature);
            if !rising {
                next = stopped(next, f64::literal(status::OPERATOR), curvature);
            }
            let positive = ur > f64::literal(0.0);
            if !positive {
                next = stopped(next, f64::literal(status::PRECONDITIONER), ur);
            }
        }
        next.stepping = next.active;
    }
    (next, weights)
}

/// a + β b, b being undefined where β = 0.
#[cube]
fn renewed<F: Real>(a: F, beta: F, b: F) -> F {
    let mut v = a;
    if beta != F::literal(0.0) {
        v = a + beta * b;
    }
    v
}

/// p ← u + β p, s ← w + β s, x ← x + α p, r ← r − α s, u ← d r. Traffic 11s and that of d; u is
/// recomputed from the old r, so it is not read.
#[kernel(single_advance_diagonal, update(p, s, x, r), out(u))]
pub(super) fn single_advanced_diagonal<F: Real, S: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    w: &View<F>,
    d: &View<S>,
    #[comptime] plain: bool,
    p: F,
    s: F,
    x: F,
    r: F,
) -> (F, F, F, F, F) {
    let mut inverse = F::literal(1.0);
    if comptime!(!plain) {
        inverse = convert::<S, F>(d[i]);
    }
    let mut new_p = p;
    let mut new_s = s;
    let mut new_x = x;
    let mut new_r = r;
    if is_stepping(progress) {
        let alpha = F::narrow(scalars[1]);
        let beta = F::narrow(scalars[2]);
        new_p = renewed::<F>(inverse * r, beta, p);
        new_s = renewed::<F>(w[i], beta, s);
        new_x = x + alpha * new_p;
        new_r = r - alpha * new_s;
    }
    (new_p, new_s, new_x, new_r, inverse * new_r)
}

/// p ← u + β p, s ← w + β s, x ← x + α p, r ← r − α s. Traffic 10s.
#[kernel(single_advance, update(p, s, x, r))]
pub(super) fn single_advanced<F: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    u: &View<F>,
    w: &View<F>,
    p: F,
    s: F,
    x: F,
    r: F,
) -> (F, F, F, F) {
    let mut new_p = p;
    let mut new_s = s;
    let mut new_x = x;
    let mut new_r = r;
    if is_stepping(progress) {
        let alpha = F::narrow(scalars[1]);
        let beta = F::narrow(scalars[2]);
        new_p = renewed::<F>(u[i], beta, p);
        new_s = renewed::<F>(w[i], beta, s);
        new_x = x + alpha * new_p;
        new_r = r - alpha * new_s;
    }
    (new_p, new_s, new_x, new_r)
}
