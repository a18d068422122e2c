//! Conjugate gradients, preconditioned (Hestenes & Stiefel 1952), for symmetric positive definite
//! operators; flexible with the Polak–Ribière β (Notay 2000, eq. 2.3 and §2), which admits a
//! preconditioner that changes from step to step.
//!
//! A step with a diagonal preconditioner is three kernels; in f64 with five entries a row it moves
//! about 164 bytes a row (76 of them the product's).
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::Diagonal;
use super::convergence_state::{
    ConvergenceState, is_set, is_stepping, status, step_length, stepped, stopped,
};
use super::krylov::{Krylov, System, fill_ghosts};
use super::recurrence::{DiagonalView, NextStep, residual_after, store_state};
use super::residual_update::{ResidualUpdate, alpha, reduce_and_fill};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Components, Partials, Segment, View};

/// Conjugate gradients: p, q = A p and, where M is not diagonal, z = M⁻¹ r; each [n].
pub(super) struct ConjugateGradient<T> {
    flexible: bool,
    direction: Buffer<T>,
    product: Buffer<T>,
    preconditioned: Option<Buffer<T>>,
    /// On one of several ranks, where M is diagonal, M⁻¹ with its ghosts, for which a rank computes p.
    inverse: Option<Buffer<T>>,
    scalars: Scalars,
}

/// The results of the two halves of a step.
pub(super) struct Scalars {
    /// The state between the two halves.
    pub midway: Buffer<f64>,
    /// r·z, r·r and, where M is not diagonal, z·q.
    pub sums: Partials,
}

impl<T: Real> ConjugateGradient<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>, flexible: bool) -> Self {
        let n = system.rows();
        let diagonal = system.preconditioner.diagonal().filter(|_| !flexible);
        let is_scaled = system.halo.is_some() && matches!(diagonal, Some(Diagonal::Inverse(_)));
        ConjugateGradient {
            flexible,
            direction: system.vector(backend),
            product: backend.zeros(n),
            preconditioned: diagonal.is_none().then(|| system.vector(backend)),
            inverse: is_scaled.then(|| system.vector(backend)),
            scalars: Scalars::new(backend, n),
        }
    }

    /// Residual, iterate and direction with M⁻¹ inside the kernels. On several ranks the ghosts of r are fetched with the
    /// results of its products, and each rank computes those of p.
    fn step_diagonal(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, residual: r, convergence, partials, iterate: x, halo, .. } =
            system;
        let (p, q, n) = (&mut self.direction, &self.product, self.product.len());
        let Scalars { midway, sums } = &mut self.scalars;
        let own = preconditioner.diagonal().unwrap_or(Diagonal::Identity);
        let update = |r: &mut Buffer<T>, sums: &mut Partials| {
            update_residual(backend, n, partials, convergence, q, &own.view(), midway, r, sums);
        };
        reduce_and_fill(halo.as_deref(), r, sums, update);
        let entries = n + halo.as_ref().map_or(0, |halo| halo.ghosts());
        let m = self.inverse.as_ref().map_or(own, Diagonal::Inverse).view();
        advance_diagonal(backend, entries, sums, midway, r, &m, convergence, x, p);
    }

    /// Residual, iterate and direction with M⁻¹ applied separately.
    fn step_general(&mut self, backend: &Backend, system: &mut System<T>) {
        let System {
            preconditioner, residual: r, convergence, partials: product, iterate: x, ..
        } = system;
        let (p, q, n) = (&mut self.direction, &self.product, self.product.len());
        let Scalars { midway, sums } = &mut self.scalars;
        let Some(z) = &mut self.preconditioned else { return };
        ResidualUpdate { product, convergence, q, midway, r, z, sums, halo: None }
            .run(backend, |r, z| preconditioner.apply(backend, r, z));
        advance(backend, n, sums, midway, self.flexible, z, convergence, x, p);
    }
}

impl Scalars {
    /// For vectors of length `n`.
    pub(super) fn new(backend: &Backend, n: usize) -> Self {
        Scalars {
            midway: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
            sums: Partials::new(backend, n, 3),
        }
    }
}

/// Before the first step: ρ = r·z of the residual r and z = M⁻¹ r.
pub(super) fn start<T: Real>(
    backend: &Backend,
    n: usize,
    (r, z): (&Buffer<T>, &Buffer<T>),
    partials: &mut Partials,
    convergence: &mut Buffer<f64>,
) {
    start_dot(backend, n, r, z, partials);
    cg_start(backend, partials, convergence);
}

impl<T: Real> Krylov<T> for ConjugateGradient<T> {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        let n = system.rows();
        let System { preconditioner, residual: r, convergence, partials, halo, .. } = system;
        preconditioner.apply(backend, r, &mut self.direction);
        start(backend, n, (r, &self.direction), partials, convergence);
        if self.preconditioned.is_none() {
            fill_ghosts(halo.as_ref(), &mut self.direction);
        }
        if let (Some(Diagonal::Inverse(own)), Some(inverse), Some(halo)) =
            (preconditioner.diagonal(), &mut self.inverse, halo)
        {
            halo.extend(own, inverse);
        }
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let System { operator, partials, halo, .. } = system;
        if self.preconditioned.is_some() {
            fill_ghosts(halo.as_ref(), &mut self.direction);
        }
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
#[kernel(reduce(sum))]
pub(super) fn start_dot<F: Real>(i: usize, r: &View<F>, z: &View<F>) -> f64 {
    r[i].to_f64() * z[i].to_f64()
}

/// Before the first step: ρ = r·z, positive for a positive definite M.
#[kernel(combine(sum), update(convergence))]
pub(super) fn cg_start(sum: f64, convergence: ConvergenceState<f64>) -> ConvergenceState<f64> {
    let mut next = convergence;
    let positive = sum > f64::literal(0.0);
    if is_set(convergence.active) && !positive {
        next = stopped(convergence, f64::literal(status::PRECONDITIONER), sum);
    }
    next.rho = sum;
    next
}

/// β = `numerator` / (r·z)_old from the middle of the step; counts the step and tests for convergence.
#[device]
fn beta(rz: f64, rr: f64, numerator: f64, midway: &View<f64>) -> NextStep {
    let before = ConvergenceState::<f64>::at(midway, 0, 1);
    let mut next = before;
    let mut beta = f64::literal(0.0);
    if is_set(before.stepping) {
        next = stepped(before, rr);
        beta = numerator / before.rho;
        next.rho = rz;
        let positive = rz > f64::literal(0.0);
        if is_set(next.active) && !positive {
            next.active = f64::literal(0.0);
            next.status = f64::literal(status::PRECONDITIONER);
            next.detail = rz;
        }
    }
    NextStep { state: next, beta }
}

/// The state after a step: β = r·z / (r·z)_old.
#[device]
fn beta_diagonal(rz: f64, rr: f64, midway: &View<f64>) -> NextStep {
    beta(rz, rr, rz, midway)
}

/// The state after a step; flexible: β = z·(r − r_old) / (r·z)_old with r − r_old = −α q.
#[device]
pub(super) fn beta_general(
    rz: f64,
    rr: f64,
    zq: f64,
    midway: &View<f64>,
    #[comptime] flexible: bool,
) -> NextStep {
    let mut numerator = rz;
    if comptime!(flexible) {
        numerator = -step_length(midway) * zq;
    }
    beta(rz, rr, numerator, midway)
}

/// x + α p and z + β p where the iteration is active; stores the state after the step.
#[device]
#[inline(always)]
fn direction_after<F: Real>(
    i: usize,
    next: NextStep,
    midway: &View<f64>,
    z: F,
    convergence: &mut Segment<f64>,
    x: F,
    p: F,
) -> (F, F) {
    store_state(i, next.state, convergence);
    let mut new_x = x;
    let mut new_p = p;
    if is_stepping(midway) {
        new_x = x + F::from_f64(step_length(midway)) * p;
    }
    if is_set(next.state.active) {
        new_p = z + F::from_f64(next.beta) * p;
    }
    (new_x, new_p)
}

/// r ← r − α q with r·z and r·r, z = M⁻¹ r. Traffic 4s (3s where M = I).
#[kernel(scalar(state = alpha(1, convergence)), update(r), reduce(sum, sum), unroll(2))]
pub(super) fn update_residual<F: Real>(
    i: usize,
    state: ConvergenceState<f64>,
    convergence: &View<f64>,
    q: &View<F>,
    m: &DiagonalView<F>,
    midway: &mut Segment<f64>,
    r: F,
) -> (F, f64, f64) {
    let own = residual_after::<F>(i, state, q, midway, r);
    let square = own.to_f64() * own.to_f64();
    let mut rz = square;
    if comptime!(!m.is_identity) {
        rz = m.inverse[i].to_f64() * square;
    }
    (own, rz, square)
}

/// x ← x + α p, p ← z + β p with z = M⁻¹ r. Traffic 6s (5s where M = I).
#[kernel(scalar(next = beta_diagonal(2, midway)), update(x, p), unroll(2))]
pub(super) fn advance_diagonal<F: Real>(
    i: usize,
    next: NextStep,
    midway: &View<f64>,
    r: &View<F>,
    m: &DiagonalView<F>,
    convergence: &mut Segment<f64>,
    x: F,
    p: F,
) -> (F, F) {
    direction_after::<F>(i, next, midway, m.times(i, r[i]), convergence, x, p)
}

/// x ← x + α p, p ← z + β p. Traffic 5s.
#[kernel(scalar(next = beta_general(3, midway, flexible)), update(x, p), unroll(2))]
pub(super) fn advance<F: Real>(
    i: usize,
    next: NextStep,
    midway: &View<f64>,
    #[comptime] flexible: bool,
    z: &View<F>,
    convergence: &mut Segment<f64>,
    x: F,
    p: F,
) -> (F, F) {
    direction_after::<F>(i, next, midway, z[i], convergence, x, p)
}
