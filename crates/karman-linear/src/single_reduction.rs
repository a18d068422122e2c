//! Conjugate gradients with one reduction a step (Chronopoulos & Gear, J. Comput. Appl. Math. 25
//! (1989) 153, algorithm 4): all three scalar products are computed with the product w = A M⁻¹ r. A step
//! with a diagonal M is two kernels, for the vectors and for the product, with more vector traffic: faster
//! where launches or the network cost more than memory traffic.
//!
//! The kernel of the next step completes the scalar products of a step, counts that step and tests for
//! convergence: the state lags one step, and the last step changes nothing. No kernel writes the state it
//! reads, so there are two states, swapped at each step.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::convergence_state::{ConvergenceState, is_finite, is_set, status, stepped, stopped};
use super::krylov::{Krylov, System, fill_ghosts};
use super::recurrence::{DiagonalView, NextStep, store_state};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Components, Segment, View};

/// u = M⁻¹ r, w = A u: each [n]; directions p and s = A p.
pub(super) struct SingleReduction<T> {
    preconditioned: Buffer<T>,
    product: Buffer<T>,
    /// p and s: [2][n].
    directions: Buffer<T>,
    /// The state of the next step.
    next_convergence: Buffer<f64>,
}

/// Entries of a direction p and of its product s = A p.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Directions<F: Real> {
    /// p.
    pub direction: F,
    /// s.
    pub product: F,
}

/// w = A M⁻¹ r with a diagonal M.
#[derive(Group, Clone, Copy)]
pub(super) struct DiagonalProduct<'a, F: Real> {
    /// M⁻¹.
    m: DiagonalView<'a, F>,
    /// w: `[n]`.
    w: View<'a, F>,
}

/// w = A u with u = M⁻¹ r.
#[derive(Group, Clone, Copy)]
pub(super) struct PreconditionedProduct<'a, F: Real> {
    /// u: `[n]`.
    u: View<'a, F>,
    /// w: `[n]`.
    w: View<'a, F>,
}

impl<T: Real> SingleReduction<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>) -> Self {
        let n = system.rows();
        SingleReduction {
            preconditioned: system.vector(backend),
            product: backend.zeros(n),
            directions: backend.zeros(<Directions<T> as Components>::COUNT * n),
            next_convergence: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
        }
    }

    /// w = A u with the scalar products.
    fn product(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { operator, residual, partials, halo, .. } = system;
        fill_ghosts(halo.as_ref(), &mut self.preconditioned);
        operator.apply_dots(backend, &self.preconditioned, residual, &mut self.product, partials);
    }
}

impl<T: Real> Krylov<T> for SingleReduction<T> {
    fn period(&self) -> usize {
        2
    }

    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        system.preconditioner.apply(backend, &system.residual, &mut self.preconditioned);
        self.product(backend, system);
        single_start(backend, 1, &mut system.convergence);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = self.product.len();
        let System { preconditioner, residual: r, convergence, partials, iterate: x, .. } = system;
        let SingleReduction { preconditioned: u, product: w, directions, next_convergence } = self;
        match preconditioner.diagonal() {
            Some(m) => {
                let product = DiagonalProduct { m: m.view(), w: w.view() };
                let next = &mut *next_convergence;
                single_advance_diagonal(
                    backend,
                    n,
                    partials,
                    convergence,
                    &product,
                    next,
                    directions,
                    x,
                    r,
                    u,
                );
            }
            None => {
                let product = PreconditionedProduct { u: u.view(), w: w.view() };
                let next = &mut *next_convergence;
                single_advance(backend, n, partials, convergence, &product, next, directions, x, r);
                preconditioner.apply(backend, r, u);
            }
        }
        std::mem::swap(convergence, next_convergence);
        self.product(backend, system);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        15 * size_of::<T>()
    }
}

/// No step before the first: ρ = 0. Runs over one entity.
#[kernel(update(convergence))]
pub(super) fn single_start(_i: usize, convergence: ConvergenceState<f64>) -> ConvergenceState<f64> {
    let mut next = convergence;
    next.rho = f64::literal(0.0);
    next
}

/// The state after the previous step with α and β of this one, ρ = γ = r·u: β = γ'/γ,
/// α' = γ' / (u·w − β γ'/α) with p·Ap of the new direction as denominator; β = 0 at the start.
#[device]
fn alpha_and_beta(uw: f64, ur: f64, rr: f64, convergence: &View<f64>) -> NextStep {
    let before = ConvergenceState::<f64>::at(convergence, 0, 1);
    let mut next = before;
    let mut beta = f64::literal(0.0);
    let mut alpha = f64::literal(0.0);
    if is_set(before.active) {
        let mut curvature = uw;
        if before.rho > f64::literal(0.0) {
            next = stepped(before, rr);
            beta = ur / before.rho;
            curvature = uw - beta * ur / before.alpha;
        }
        alpha = ur / curvature;
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
    }
    next.stepping = next.active;
    next.rho = ur;
    next.alpha = alpha;
    NextStep { state: next, beta }
}

/// a + β b; b is undefined where β = 0.
#[device]
#[inline(always)]
fn next_direction<F: Real>(a: F, beta: F, b: F) -> F {
    let mut v = a;
    if beta != F::literal(0.0) {
        v = a + beta * b;
    }
    v
}

/// p ← u + β p, s ← w + β s, x ← x + α p, r ← r − α s where the iteration is active.
#[device]
#[inline(always)]
fn stepped_vectors<F: Real>(
    step: NextStep,
    u: F,
    w: F,
    directions: Directions<F>,
    x: F,
    r: F,
) -> (Directions<F>, F, F) {
    let mut new = directions;
    let mut new_x = x;
    let mut new_r = r;
    if is_set(step.state.stepping) {
        let alpha = F::from_f64(step.state.alpha);
        let beta = F::from_f64(step.beta);
        new.direction = next_direction::<F>(u, beta, directions.direction);
        new.product = next_direction::<F>(w, beta, directions.product);
        new_x = x + alpha * new.direction;
        new_r = r - alpha * new.product;
    }
    (new, new_x, new_r)
}

/// The step, and u ← M⁻¹ r. Traffic 11s and that of M⁻¹; u is recomputed from the old r, so it is not read.
#[kernel(
    scalar(step = alpha_and_beta(3, convergence)),
    update(directions, x, r),
    out(u),
    unroll(2)
)]
pub(super) fn single_advance_diagonal<F: Real>(
    i: usize,
    step: NextStep,
    convergence: &View<f64>,
    product: &DiagonalProduct<F>,
    next_convergence: &mut Segment<f64>,
    directions: Directions<F>,
    x: F,
    r: F,
) -> (Directions<F>, F, F, F) {
    store_state(i, step.state, next_convergence);
    let u = product.m.times(i, r);
    let (new, new_x, new_r) = stepped_vectors::<F>(step, u, product.w[i], directions, x, r);
    (new, new_x, new_r, product.m.times(i, new_r))
}

/// The step. Traffic 10s.
#[kernel(scalar(step = alpha_and_beta(3, convergence)), update(directions, x, r), unroll(2))]
pub(super) fn single_advance<F: Real>(
    i: usize,
    step: NextStep,
    convergence: &View<f64>,
    product: &PreconditionedProduct<F>,
    next_convergence: &mut Segment<f64>,
    directions: Directions<F>,
    x: F,
    r: F,
) -> (Directions<F>, F, F) {
    store_state(i, step.state, next_convergence);
    stepped_vectors::<F>(step, product.u[i], product.w[i], directions, x, r)
}
