//! BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631), preconditioned from the right, for
//! unsymmetric systems. After a breakdown or on a plateau the solver restarts it from the true residual as
//! long as that reduces it.
//!
//! Each kernel computes its scalars from the results of earlier kernels: the state goes from `convergence`
//! and `rho` to `midway`, `weights` and `omega` and back, so that no kernel reads what it writes.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::convergence_state::{
    ConvergenceState, Krylov, System, is_finite, is_set, is_stepping, status,
};
use super::convergence_state::{stepped, stopped};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Components, Partials, Segment, View};

/// The iteration stagnates after this many steps without a smaller residual.
const PATIENCE: f64 = 300.0;

/// Square of the cosine below which two vectors count as orthogonal.
const ORTHOGONAL: f64 = 1e-30;

/// The shadow residual r̂, the direction p and its v = A p̂, t = A ŝ, p̂ = M⁻¹ p, ŝ = M⁻¹ s; each [n].
/// s takes the place of r.
pub(super) struct BiCgStab<T> {
    shadow: Buffer<T>,
    direction: Buffer<T>,
    direction_product: Buffer<T>,
    product: Buffer<T>,
    first: Buffer<T>,
    second: Buffer<T>,
    scalars: Scalars,
}

/// The scalars of the recurrence.
struct Scalars {
    /// r̂·r: [1].
    rho: Buffer<f64>,
    /// r̂·r̂: [1].
    size: Buffer<f64>,
    /// The state between the two halves of a step.
    midway: Buffer<f64>,
    /// r̂·r before the step, and the length α along p̂: [2].
    weights: Buffer<f64>,
    /// The length ω along ŝ: [1].
    omega: Buffer<f64>,
    /// r̂·r and r·r after the step.
    sums: Partials,
}

impl<T: Real> BiCgStab<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>) -> Self {
        let n = system.rows();
        BiCgStab {
            shadow: backend.zeros(n),
            direction: backend.zeros(n),
            direction_product: backend.zeros(n),
            product: backend.zeros(n),
            first: backend.zeros(n),
            second: backend.zeros(n),
            scalars: Scalars {
                rho: backend.zeros(1),
                size: backend.zeros(1),
                midway: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
                weights: backend.zeros(2),
                omega: backend.zeros(1),
                sums: Partials::new(backend, n, 2),
            },
        }
    }
}

impl<T: Real> Krylov<T> for BiCgStab<T> {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        let n = self.shadow.len();
        let BiCgStab { shadow, direction: p, scalars, .. } = self;
        let Scalars { rho, size, .. } = scalars;
        stab_start(backend, n, &system.convergence, &system.residual, rho, size, shadow, p);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = self.shadow.len();
        let System {
            operator, preconditioner, residual: r, convergence, partials, iterate: x, ..
        } = system;
        let BiCgStab { shadow, direction: p, direction_product: v, product: t, .. } = self;
        let (first, second) = (&mut self.first, &mut self.second);
        let Scalars { rho, size, midway, weights, omega, sums } = &mut self.scalars;
        preconditioner.apply(backend, p, first);
        operator.apply_dots(backend, first, shadow, v, partials);
        stab_half(backend, n, partials, convergence, rho, v, midway, weights, r);
        preconditioner.apply(backend, r, second);
        operator.apply_dots(backend, second, r, t, partials);
        stab_advance(
            backend, n, partials, midway, weights, shadow, first, second, t, omega, x, r, sums,
        );
        stab_direction(backend, n, sums, midway, weights, omega, size, r, v, convergence, rho, p);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        21 * size_of::<T>()
    }
}

/// The state of the recurrence in the middle of a step, or after it.
#[device]
#[derive(Clone, Copy)]
pub(super) struct StabState {
    /// The convergence state.
    convergence: ConvergenceState<f64>,
    /// r̂·r.
    rho: f64,
    /// The length α of the step along p̂, or the weight β of the old direction.
    weight: f64,
}

/// r̂ ← r, so r̂·r = ‖r‖², and p ← r: the first direction. Traffic 3s.
#[kernel(stab_start, out(shadow, p))]
pub(super) fn stab_started<F: Real>(
    i: usize,
    convergence: &View<f64>,
    r: &View<F>,
    rho: &mut Segment<f64>,
    size: &mut Segment<f64>,
) -> (F, F) {
    if i == 0 {
        rho[0] = convergence[4];
        size[0] = convergence[4];
    }
    (r[i], r[i])
}

/// α = r̂·r / r̂·v, after the first product.
#[device]
fn alpha(
    _pv: f64,
    _pr: f64,
    rr: f64,
    rv: f64,
    vv: f64,
    convergence: &View<f64>,
    rho: &View<f64>,
) -> StabState {
    let before = ConvergenceState::<f64>::at(convergence, 0, 1);
    let mut next = before;
    let rho = rho[0];
    let mut alpha = f64::literal(0.0);
    next.stepping = before.active;
    if is_set(before.active) {
        if rv * rv > f64::literal(ORTHOGONAL) * rr * vv && is_finite(vv) {
            alpha = rho / rv;
        } else {
            next = stopped(before, f64::literal(status::SHADOW), rv);
        }
    }
    StabState { convergence: next, rho, weight: alpha }
}

/// ω = t·s / t·t, which minimises the residual; 0 where t = 0.
#[device]
fn omega(_st: f64, _sr: f64, _rr: f64, rt: f64, tt: f64) -> f64 {
    let mut omega = f64::literal(0.0);
    if tt > f64::literal(0.0) {
        omega = rt / tt;
    }
    omega
}

/// β = (r̂·r / (r̂·r)_old) (α / ω); counts the step and tests for convergence.
#[device]
fn beta(
    rho: f64,
    rr: f64,
    midway: &View<f64>,
    weights: &View<f64>,
    omega: &View<f64>,
    size: &View<f64>,
) -> StabState {
    let before = ConvergenceState::<f64>::at(midway, 0, 1);
    let mut next = before;
    let mut next_rho = weights[0];
    let mut beta = f64::literal(0.0);
    if is_set(before.stepping) {
        next = stepped(before, rr);
        next_rho = rho;
        if is_set(next.active) {
            if next.iterations - next.least_at > f64::literal(PATIENCE) {
                next = stopped(next, f64::literal(status::PLATEAU), rr);
            }
            let is_oblique = rho * rho > f64::literal(ORTHOGONAL) * rr * size[0];
            if !is_oblique {
                next = stopped(next, f64::literal(status::SHADOW), rho);
            }
            if omega[0] == f64::literal(0.0) {
                next = stopped(next, f64::literal(status::OMEGA), omega[0]);
            }
        }
        if is_set(next.active) {
            beta = rho / weights[0] * (weights[1] / omega[0]);
        }
        next.stepping = next.active;
    }
    StabState { convergence: next, rho: next_rho, weight: beta }
}

/// r ← r − α v. Traffic 3s.
#[kernel(stab_half, scalar(step = alpha(5, convergence, rho)), update(r), unroll(4))]
pub(super) fn stab_halved<F: Real>(
    i: usize,
    step: StabState,
    convergence: &View<f64>,
    rho: &View<f64>,
    v: &View<F>,
    midway: &mut Segment<f64>,
    weights: &mut Segment<f64>,
    r: F,
) -> F {
    if i == 0 {
        ConvergenceState::<f64>::put(step.convergence, midway, 0, 1);
        weights[0] = step.rho;
        weights[1] = step.weight;
    }
    let mut own = r;
    if is_set(step.convergence.stepping) {
        own = r - F::from_f64(step.weight) * v[i];
    }
    own
}

/// x ← x + α p̂ + ω ŝ, r ← r − ω t, with r̂·r and r·r. Traffic 8s.
#[kernel(
    stab_advance,
    scalar(length = omega(5)),
    update(x, r),
    reduce(sum, sum),
    unroll(2)
)]
pub(super) fn stab_advanced<F: Real>(
    i: usize,
    length: f64,
    midway: &View<f64>,
    weights: &View<f64>,
    shadow: &View<F>,
    first: &View<F>,
    second: &View<F>,
    t: &View<F>,
    omega_out: &mut Segment<f64>,
    x: F,
    r: F,
) -> (F, F, f64, f64) {
    if i == 0 {
        omega_out[0] = length;
    }
    let mut new_x = x;
    let mut new_r = r;
    if is_stepping(midway) {
        let omega = F::from_f64(length);
        new_x = x + F::from_f64(weights[1]) * first[i] + omega * second[i];
        new_r = r - omega * t[i];
    }
    let wide = new_r.to_f64();
    (new_x, new_r, shadow[i].to_f64() * wide, wide * wide)
}

/// p ← r + β (p − ω v), or r where β = 0. Traffic 4s.
#[kernel(
    stab_direction,
    scalar(next = beta(2, midway, weights, omega, size)),
    update(p),
    unroll(2)
)]
pub(super) fn stab_directed<F: Real>(
    i: usize,
    next: StabState,
    midway: &View<f64>,
    weights: &View<f64>,
    omega: &View<f64>,
    size: &View<f64>,
    r: &View<F>,
    v: &View<F>,
    convergence: &mut Segment<f64>,
    rho: &mut Segment<f64>,
    p: F,
) -> F {
    if i == 0 {
        ConvergenceState::<f64>::put(next.convergence, convergence, 0, 1);
        rho[0] = next.rho;
    }
    let mut new_p = p;
    if is_set(next.convergence.active) {
        let beta = F::from_f64(next.weight);
        new_p = r[i];
        if beta != F::literal(0.0) {
            new_p = r[i] + beta * (p - F::from_f64(omega[0]) * v[i]);
        }
    }
    new_p
}
