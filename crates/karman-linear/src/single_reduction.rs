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

use super::Diagonal;
use super::convergence_state::{ConvergenceState, Krylov, System, is_finite, is_set, status};
use super::convergence_state::{stepped, stopped};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Components, Partials, Segment, View, blas};

/// u = M⁻¹ r, w = A u, directions p and s = A p; each [n].
pub(super) struct SingleReduction<T> {
    preconditioned: Buffer<T>,
    product: Buffer<T>,
    direction: Buffer<T>,
    direction_product: Buffer<T>,
    state: State,
}

/// The scalars of the recurrence, and scalars and convergence state of the next step.
struct State {
    /// r·u, 0 before the first step, and the length α of the step: [2].
    scalars: Buffer<f64>,
    next_scalars: Buffer<f64>,
    next_convergence: Buffer<f64>,
}

impl<T: Real> SingleReduction<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>) -> Self {
        let n = system.rows();
        SingleReduction {
            preconditioned: backend.zeros(n),
            product: backend.zeros(n),
            direction: backend.zeros(n),
            direction_product: backend.zeros(n),
            state: State {
                scalars: backend.zeros(2),
                next_scalars: backend.zeros(2),
                next_convergence: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
            },
        }
    }

    /// w = A u with the scalar products.
    fn product(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { operator, residual, partials, .. } = system;
        operator.apply_dots(backend, &self.preconditioned, residual, &mut self.product, partials);
    }

    /// The vector kernel of a step with the diagonal inverse `d`, ignored where `plain`.
    fn advance_diagonal(
        backend: &Backend,
        state: &mut State,
        (convergence, sums): (&Buffer<f64>, &mut Partials),
        (d, plain): (&Buffer<T>, bool),
        w: &Buffer<T>,
        [p, s, x, r, u]: [&mut Buffer<T>; 5],
    ) {
        let State { scalars: old, next_scalars, next_convergence } = state;
        let (n, to, next) = (w.len(), next_convergence, next_scalars);
        single_advance_diagonal(
            backend,
            n,
            sums,
            convergence,
            old,
            w,
            d,
            plain,
            to,
            next,
            p,
            s,
            x,
            r,
            u,
        );
    }
}

impl<T: Real> Krylov<T> for SingleReduction<T> {
    fn period(&self) -> usize {
        2
    }

    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        system.preconditioner.apply(backend, &system.residual, &mut self.preconditioned);
        self.product(backend, system);
        blas::fill(backend, 2, 0.0, &mut self.state.scalars);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = self.product.len();
        let System { preconditioner, residual: r, convergence, partials, iterate: x, .. } = system;
        let SingleReduction { preconditioned: u, product: w, state, .. } = self;
        let (p, s, w) = (&mut self.direction, &mut self.direction_product, &*w);
        let state_and_sums = (&*convergence, &mut *partials);
        match preconditioner.diagonal() {
            Some(Diagonal::Identity) => {
                Self::advance_diagonal(
                    backend,
                    state,
                    state_and_sums,
                    (w, true),
                    w,
                    [p, s, x, r, u],
                );
            }
            Some(Diagonal::Inverse(d)) => {
                Self::advance_diagonal(
                    backend,
                    state,
                    state_and_sums,
                    (d, false),
                    w,
                    [p, s, x, r, u],
                );
            }
            None => {
                let State { scalars: old, next_scalars, next_convergence } = state;
                let (to, next) = (next_convergence, next_scalars);
                single_advance(backend, n, partials, convergence, old, u, w, to, next, p, s, x, r);
                preconditioner.apply(backend, r, u);
            }
        }
        std::mem::swap(convergence, &mut self.state.next_convergence);
        std::mem::swap(&mut self.state.scalars, &mut self.state.next_scalars);
        self.product(backend, system);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        15 * size_of::<T>()
    }
}

/// The scalars of a step.
#[device]
#[derive(Clone, Copy)]
pub(super) struct SingleStep {
    /// The state after the previous step.
    convergence: ConvergenceState<f64>,
    /// r·u.
    gamma: f64,
    /// Step length.
    alpha: f64,
    /// Weight of the old direction.
    beta: f64,
}

/// β = γ'/γ, α' = γ' / (u·w − β γ'/α) with p·Ap of the new direction as denominator; β = 0 at the start.
#[device]
fn alpha_and_beta(
    uw: f64,
    ur: f64,
    rr: f64,
    convergence: &View<f64>,
    scalars: &View<f64>,
) -> SingleStep {
    let before = ConvergenceState::<f64>::at(convergence, 0, 1);
    let mut next = before;
    let mut beta = f64::literal(0.0);
    let mut alpha = f64::literal(0.0);
    if is_set(before.active) {
        let mut curvature = uw;
        if scalars[0] > f64::literal(0.0) {
            next = stepped(before, rr);
            beta = ur / scalars[0];
            curvature = uw - beta * ur / scalars[1];
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
    SingleStep { convergence: next, gamma: ur, alpha, beta }
}

/// a + β b; b is undefined where β = 0.
#[device]
fn next_direction<F: Real>(a: F, beta: F, b: F) -> F {
    let mut v = a;
    if beta != F::literal(0.0) {
        v = a + beta * b;
    }
    v
}

/// p ← u + β p, s ← w + β s, x ← x + α p, r ← r − α s where the iteration is active; the first entity
/// stores the state.
#[device]
fn stepped_vectors<F: Real>(
    i: usize,
    step: SingleStep,
    u: F,
    w: F,
    next_convergence: &mut Segment<f64>,
    next_scalars: &mut Segment<f64>,
    p: F,
    s: F,
    x: F,
    r: F,
) -> (F, F, F, F) {
    if i == 0 {
        ConvergenceState::<f64>::put(step.convergence, next_convergence, 0, 1);
        next_scalars[0] = step.gamma;
        next_scalars[1] = step.alpha;
    }
    let mut new_p = p;
    let mut new_s = s;
    let mut new_x = x;
    let mut new_r = r;
    if is_set(step.convergence.stepping) {
        let alpha = F::from_f64(step.alpha);
        let beta = F::from_f64(step.beta);
        new_p = next_direction::<F>(u, beta, p);
        new_s = next_direction::<F>(w, beta, s);
        new_x = x + alpha * new_p;
        new_r = r - alpha * new_s;
    }
    (new_p, new_s, new_x, new_r)
}

/// The step, and u ← d r. Traffic 11s and that of d; u is recomputed from the old r, so it is not read.
#[kernel(
    single_advance_diagonal,
    scalar(step = alpha_and_beta(3, convergence, scalars)),
    update(p, s, x, r),
    out(u),
    unroll(2)
)]
pub(super) fn single_advanced_diagonal<F: Real>(
    i: usize,
    step: SingleStep,
    convergence: &View<f64>,
    scalars: &View<f64>,
    w: &View<F>,
    d: &View<F>,
    #[comptime] plain: bool,
    next_convergence: &mut Segment<f64>,
    next_scalars: &mut Segment<f64>,
    p: F,
    s: F,
    x: F,
    r: F,
) -> (F, F, F, F, F) {
    let mut inverse = F::literal(1.0);
    if comptime!(!plain) {
        inverse = d[i];
    }
    let (new_p, new_s, new_x, new_r) = stepped_vectors::<F>(
        i,
        step,
        inverse * r,
        w[i],
        next_convergence,
        next_scalars,
        p,
        s,
        x,
        r,
    );
    (new_p, new_s, new_x, new_r, inverse * new_r)
}

/// The step. Traffic 10s.
#[kernel(
    single_advance,
    scalar(step = alpha_and_beta(3, convergence, scalars)),
    update(p, s, x, r),
    unroll(2)
)]
pub(super) fn single_advanced<F: Real>(
    i: usize,
    step: SingleStep,
    convergence: &View<f64>,
    scalars: &View<f64>,
    u: &View<F>,
    w: &View<F>,
    next_convergence: &mut Segment<f64>,
    next_scalars: &mut Segment<f64>,
    p: F,
    s: F,
    x: F,
    r: F,
) -> (F, F, F, F) {
    stepped_vectors::<F>(i, step, u[i], w[i], next_convergence, next_scalars, p, s, x, r)
}
