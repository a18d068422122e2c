//! Conjugate gradients, preconditioned (Hestenes & Stiefel 1952), for symmetric positive definite
//! operators; flexible with the Polak–Ribière β (Notay 2000, eq. 2.3 and §2), which admits a
//! preconditioner that changes from step to step.
//!
//! A step with a diagonal preconditioner is three kernels; in f64 with five entries a row it moves
//! about 164 bytes a row (76 of them the product's). Each kernel computes its scalars from the results of
//! earlier kernels: the state goes from `convergence` and `rz` to `midway` and `weights` and back, so that
//! no kernel reads what it writes.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::Diagonal;
use super::convergence_state::{ConvergenceState, Krylov, System, is_finite, is_set, is_stepping};
use super::convergence_state::{status, stepped, stopped};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Components, Partials, Segment, View};

/// Conjugate gradients: p, q = A p and, where M is not diagonal, z = M⁻¹ r; each [n].
pub(super) struct ConjugateGradient<T> {
    flexible: bool,
    direction: Buffer<T>,
    product: Buffer<T>,
    preconditioned: Option<Buffer<T>>,
    scalars: Scalars,
}

/// The scalars of the recurrence.
pub(super) struct Scalars {
    /// r·z: [1].
    pub rz: Buffer<f64>,
    /// The state between the two halves of a step.
    pub midway: Buffer<f64>,
    /// r·z before the step, and its length α: [2].
    pub weights: Buffer<f64>,
    /// r·z, r·r and, where M is not diagonal, z·q.
    pub sums: Partials,
}

impl<T: Real> ConjugateGradient<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>, flexible: bool) -> Self {
        let n = system.rows();
        let fused = !flexible && system.preconditioner.diagonal().is_some();
        ConjugateGradient {
            flexible,
            direction: backend.zeros(n),
            product: backend.zeros(n),
            preconditioned: (!fused).then(|| backend.zeros(n)),
            scalars: Scalars::new(backend, n),
        }
    }

    /// Residual, iterate and direction with M⁻¹ inside the kernels.
    fn step_diagonal(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, residual: r, convergence, partials, iterate: x, .. } = system;
        let (p, q, s) = (&mut self.direction, &self.product, &mut self.scalars);
        let vectors = (q, r, x, p);
        match preconditioner.diagonal().unwrap_or(Diagonal::Identity) {
            Diagonal::Identity => s.advance(backend, convergence, partials, (q, true), vectors),
            Diagonal::Inverse(d) => s.advance(backend, convergence, partials, (d, false), vectors),
        }
    }

    /// Residual, iterate and direction with M⁻¹ applied separately.
    fn step_general(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, residual, convergence, partials, iterate, .. } = system;
        let n = self.product.len();
        let (p, q) = (&mut self.direction, &self.product);
        let Scalars { rz, midway, weights, sums } = &mut self.scalars;
        let Some(z) = &mut self.preconditioned else { return };
        subtract_product(backend, n, partials, convergence, rz, q, midway, weights, residual);
        preconditioner.apply(backend, residual, z);
        cg_dots(backend, n, residual, z, q, sums);
        let flexible = self.flexible;
        advance(backend, n, sums, midway, weights, flexible, z, convergence, rz, iterate, p);
    }
}

impl Scalars {
    /// For vectors of length `n`.
    pub(super) fn new(backend: &Backend, n: usize) -> Self {
        Scalars {
            rz: backend.zeros(1),
            midway: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
            weights: backend.zeros(2),
            sums: Partials::new(backend, n, 3),
        }
    }

    /// The vector kernels of a step with the diagonal inverse `d`, ignored where `plain`, on the vectors
    /// q, r, x and p.
    fn advance<T: Real>(
        &mut self,
        backend: &Backend,
        convergence: &mut Buffer<f64>,
        product: &mut Partials,
        (d, plain): (&Buffer<T>, bool),
        (q, r, x, p): (&Buffer<T>, &mut Buffer<T>, &mut Buffer<T>, &mut Buffer<T>),
    ) {
        let Scalars { rz, midway, weights, sums } = self;
        let n = q.len();
        reduce_residual(
            backend,
            n,
            product,
            convergence,
            rz,
            q,
            d,
            plain,
            midway,
            weights,
            r,
            sums,
        );
        advance_diagonal(backend, n, sums, midway, weights, r, d, plain, convergence, rz, x, p);
    }
}

impl<T: Real> Krylov<T> for ConjugateGradient<T> {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        let n = self.product.len();
        system.preconditioner.apply(backend, &system.residual, &mut self.direction);
        let (r, z) = (&system.residual, &self.direction);
        start_dot(backend, n, r, z, &mut system.partials);
        cg_start(backend, &system.partials, &mut system.convergence, &mut self.scalars.rz);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let System { operator, partials, .. } = system;
        operator.apply_dot(backend, &self.direction, &mut self.product, partials);
        match self.preconditioned {
            None => self.step_diagonal(backend, system),
            Some(_) => self.step_general(backend, system),
        }
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        let s = size_of::<T>();
        if self.preconditioned.is_some() { 11 * s } else { 9 * s }
    }
}

/// r·z. Traffic 2s.
#[kernel(start_dot, reduce(sum))]
pub(super) fn product_of<F: Real>(i: usize, r: &View<F>, z: &View<F>) -> f64 {
    r[i].to_f64() * z[i].to_f64()
}

/// Before the first step: r·z, positive for a positive definite M.
#[kernel(cg_start, combine(sum), update(convergence), out(rz))]
pub(super) fn cg_started(
    sum: f64,
    convergence: ConvergenceState<f64>,
) -> (ConvergenceState<f64>, f64) {
    let mut next = convergence;
    let positive = sum > f64::literal(0.0);
    if is_set(convergence.active) && !positive {
        next = stopped(convergence, f64::literal(status::PRECONDITIONER), sum);
    }
    (next, sum)
}

/// The state of the recurrence in the middle of a step, or after it.
#[device]
#[derive(Clone, Copy)]
pub(super) struct CgState {
    /// The convergence state.
    pub convergence: ConvergenceState<f64>,
    /// r·z.
    pub rz: f64,
    /// The length α of the step, or the weight β of the old direction.
    pub weight: f64,
}

/// α = r·z / p·q, after the product.
#[device]
fn alpha(pq: f64, convergence: &View<f64>, rz: &View<f64>) -> CgState {
    let before = ConvergenceState::<f64>::at(convergence, 0, 1);
    let mut next = before;
    let rz = rz[0];
    let mut alpha = f64::literal(0.0);
    next.stepping = before.active;
    if is_set(before.active) {
        if pq > f64::literal(0.0) && is_finite(pq) {
            alpha = rz / pq;
        } else {
            next = stopped(before, f64::literal(status::OPERATOR), pq);
        }
    }
    CgState { convergence: next, rz, weight: alpha }
}

/// β = `numerator` / (r·z)_old from the middle of the step; counts the step and tests for convergence.
#[device]
fn beta(rz: f64, rr: f64, numerator: f64, midway: &View<f64>, weights: &View<f64>) -> CgState {
    let before = ConvergenceState::<f64>::at(midway, 0, 1);
    let mut next = before;
    let mut next_rz = weights[0];
    let mut beta = f64::literal(0.0);
    if is_set(before.stepping) {
        next = stepped(before, rr);
        beta = numerator / weights[0];
        next_rz = rz;
        let positive = rz > f64::literal(0.0);
        if is_set(next.active) && !positive {
            next.active = f64::literal(0.0);
            next.status = f64::literal(status::PRECONDITIONER);
            next.detail = rz;
        }
    }
    CgState { convergence: next, rz: next_rz, weight: beta }
}

/// The state after a step: β = r·z / (r·z)_old.
#[device]
fn beta_diagonal(rz: f64, rr: f64, midway: &View<f64>, weights: &View<f64>) -> CgState {
    beta(rz, rr, rz, midway, weights)
}

/// The state after a step; flexible: β = z·(r − r_old) / (r·z)_old with r − r_old = −α q.
#[device]
pub(super) fn beta_general(
    rz: f64,
    rr: f64,
    zq: f64,
    midway: &View<f64>,
    weights: &View<f64>,
    #[comptime] flexible: bool,
) -> CgState {
    let mut numerator = rz;
    if comptime!(flexible) {
        numerator = -weights[1] * zq;
    }
    beta(rz, rr, numerator, midway, weights)
}

/// r − α q where the step is active; the first entity stores the state.
#[device]
fn residual_after<F: Real>(
    i: usize,
    step: CgState,
    q: &View<F>,
    midway: &mut Segment<f64>,
    weights: &mut Segment<f64>,
    r: F,
) -> F {
    if i == 0 {
        ConvergenceState::<f64>::put(step.convergence, midway, 0, 1);
        weights[0] = step.rz;
        weights[1] = step.weight;
    }
    let mut own = r;
    if is_set(step.convergence.stepping) {
        own = r - F::from_f64(step.weight) * q[i];
    }
    own
}

/// x + α p and z + β p where the iteration is active; the first entity stores the state.
#[device]
fn direction_after<F: Real>(
    i: usize,
    next: CgState,
    midway: &View<f64>,
    weights: &View<f64>,
    z: F,
    convergence: &mut Segment<f64>,
    rz: &mut Segment<f64>,
    x: F,
    p: F,
) -> (F, F) {
    if i == 0 {
        ConvergenceState::<f64>::put(next.convergence, convergence, 0, 1);
        rz[0] = next.rz;
    }
    let mut new_x = x;
    let mut new_p = p;
    if is_stepping(midway) {
        new_x = x + F::from_f64(weights[1]) * p;
    }
    if is_set(next.convergence.active) {
        new_p = z + F::from_f64(next.weight) * p;
    }
    (new_x, new_p)
}

/// r ← r − α q with r·z and r·r, z = d r. Traffic 4s (3s where `plain`: d = 1).
#[kernel(
    reduce_residual,
    scalar(step = alpha(1, convergence, rz)),
    update(r),
    reduce(sum, sum),
    unroll(2)
)]
pub(super) fn reduced_residual<F: Real>(
    i: usize,
    step: CgState,
    convergence: &View<f64>,
    rz: &View<f64>,
    q: &View<F>,
    d: &View<F>,
    #[comptime] plain: bool,
    midway: &mut Segment<f64>,
    weights: &mut Segment<f64>,
    r: F,
) -> (F, f64, f64) {
    let own = residual_after::<F>(i, step, q, midway, weights, r);
    let square = own.to_f64() * own.to_f64();
    let mut rz = square;
    if comptime!(!plain) {
        rz = d[i].to_f64() * square;
    }
    (own, rz, square)
}

/// x ← x + α p, p ← z + β p with z = d r. Traffic 6s (5s where `plain`: d = 1).
#[kernel(
    advance_diagonal,
    scalar(next = beta_diagonal(2, midway, weights)),
    update(x, p),
    unroll(2)
)]
pub(super) fn advanced_diagonal<F: Real>(
    i: usize,
    next: CgState,
    midway: &View<f64>,
    weights: &View<f64>,
    r: &View<F>,
    d: &View<F>,
    #[comptime] plain: bool,
    convergence: &mut Segment<f64>,
    rz: &mut Segment<f64>,
    x: F,
    p: F,
) -> (F, F) {
    let mut z = r[i];
    if comptime!(!plain) {
        z = d[i] * z;
    }
    direction_after::<F>(i, next, midway, weights, z, convergence, rz, x, p)
}

/// x ← x + α p, p ← z + β p. Traffic 5s.
#[kernel(
    advance,
    scalar(next = beta_general(3, midway, weights, flexible)),
    update(x, p),
    unroll(2)
)]
pub(super) fn advanced<F: Real>(
    i: usize,
    next: CgState,
    midway: &View<f64>,
    weights: &View<f64>,
    #[comptime] flexible: bool,
    z: &View<F>,
    convergence: &mut Segment<f64>,
    rz: &mut Segment<f64>,
    x: F,
    p: F,
) -> (F, F) {
    direction_after::<F>(i, next, midway, weights, z[i], convergence, rz, x, p)
}

/// r ← r − α q. Traffic 3s.
#[kernel(subtract_product, scalar(step = alpha(1, convergence, rz)), update(r), unroll(4))]
pub(super) fn product_subtracted<F: Real>(
    i: usize,
    step: CgState,
    convergence: &View<f64>,
    rz: &View<f64>,
    q: &View<F>,
    midway: &mut Segment<f64>,
    weights: &mut Segment<f64>,
    r: F,
) -> F {
    residual_after::<F>(i, step, q, midway, weights, r)
}

/// r ← r − α q, x ← w r. Traffic 5s.
#[kernel(subtract_and_sweep, scalar(step = alpha(1, convergence, rz)), update(r), out(x), unroll(4))]
pub(super) fn subtracted_and_swept<F: Real>(
    i: usize,
    step: CgState,
    convergence: &View<f64>,
    rz: &View<f64>,
    q: &View<F>,
    w: &View<F>,
    midway: &mut Segment<f64>,
    weights: &mut Segment<f64>,
    r: F,
) -> (F, F) {
    let own = residual_after::<F>(i, step, q, midway, weights, r);
    (own, w[i] * own)
}

/// r·z, r·r and z·q. Traffic 3s.
#[kernel(cg_dots, reduce(sum, sum, sum), unroll(2))]
pub(super) fn cg_products<F: Real>(
    i: usize,
    r: &View<F>,
    z: &View<F>,
    q: &View<F>,
) -> (f64, f64, f64) {
    let r = r[i].to_f64();
    let z = z[i].to_f64();
    (r * z, r * r, z * q[i].to_f64())
}
