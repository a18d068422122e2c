//! BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631), preconditioned from the right, for
//! unsymmetric systems. After a breakdown or on a plateau the solver restarts it from the true residual as
//! long as that reduces it.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::convergence_state::{
    ConvergenceState, is_finite, is_set, is_stepping, status, step_length, stepped, stopped,
};
use super::krylov::{Krylov, System, fill_ghosts};
use super::recurrence::{NextStep, residual_after, store_state};
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
    /// r̂·r̂: [1].
    size: Buffer<f64>,
    /// The state between the two halves of a step.
    midway: Buffer<f64>,
    /// The length ω along ŝ: [1].
    omega: Buffer<f64>,
    /// r̂·r and r·r after the step.
    sums: Partials,
}

/// The vectors of the second half of a step.
#[derive(Group, Clone, Copy)]
pub(super) struct StabVectors<'a, F: Real> {
    /// r̂: `[n]`.
    shadow: View<'a, F>,
    /// p̂: `[n]`.
    first: View<'a, F>,
    /// ŝ: `[n]`.
    second: View<'a, F>,
    /// t = A ŝ: `[n]`.
    product: View<'a, F>,
}

/// The scalars of β.
#[derive(Group, Clone, Copy)]
pub(super) struct StabScalars<'a> {
    /// The state between the two halves of the step.
    midway: View<'a, f64>,
    /// ω: `[1]`.
    omega: View<'a, f64>,
    /// r̂·r̂: `[1]`.
    size: View<'a, f64>,
}

impl<T: Real> BiCgStab<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>) -> Self {
        let n = system.rows();
        BiCgStab {
            shadow: backend.zeros(n),
            direction: backend.zeros(n),
            direction_product: backend.zeros(n),
            product: backend.zeros(n),
            first: system.vector(backend),
            second: system.vector(backend),
            scalars: Scalars {
                size: backend.zeros(1),
                midway: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
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
        let System { residual: r, convergence, .. } = system;
        stab_start(backend, n, r, convergence, &mut scalars.size, shadow, p);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = self.shadow.len();
        let System {
            operator,
            preconditioner,
            residual: r,
            convergence,
            partials,
            iterate: x,
            halo,
            ..
        } = system;
        let BiCgStab { shadow, direction: p, direction_product: v, product: t, .. } = self;
        let (first, second) = (&mut self.first, &mut self.second);
        let Scalars { size, midway, omega, sums } = &mut self.scalars;
        preconditioner.apply(backend, p, first);
        fill_ghosts(halo.as_ref(), first);
        operator.apply_dots(backend, first, shadow, v, partials);
        stab_half(backend, n, partials, convergence, v, midway, r);
        preconditioner.apply(backend, r, second);
        fill_ghosts(halo.as_ref(), second);
        operator.apply_dots(backend, second, r, t, partials);
        let vectors = StabVectors {
            shadow: shadow.view(),
            first: first.view(),
            second: second.view(),
            product: t.view(),
        };
        stab_advance(backend, n, partials, midway, &vectors, omega, x, r, sums);
        let scalars = StabScalars { midway: midway.view(), omega: omega.view(), size: size.view() };
        stab_direction(backend, n, sums, &scalars, r, v, convergence, p);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        21 * size_of::<T>()
    }
}

/// r̂ ← r, so ρ = r̂·r = ‖r‖², and p ← r: the first direction. Traffic 3s.
#[kernel(out(shadow, p))]
pub(super) fn stab_start<F: Real>(
    i: usize,
    r: &View<F>,
    convergence: &mut Segment<f64>,
    size: &mut Segment<f64>,
) -> (F, F) {
    if i == 0 {
        let square = convergence[4];
        convergence[12] = square;
        size[0] = square;
    }
    (r[i], r[i])
}

/// The state in the middle of a step: α = r̂·r / r̂·v, after the first product.
#[device]
fn alpha(
    _pv: f64,
    _pr: f64,
    rr: f64,
    rv: f64,
    vv: f64,
    convergence: &View<f64>,
) -> ConvergenceState<f64> {
    let before = ConvergenceState::<f64>::at(convergence, 0, 1);
    let mut next = before;
    let mut alpha = f64::literal(0.0);
    next.stepping = before.active;
    if is_set(before.active) {
        if rv * rv > f64::literal(ORTHOGONAL) * rr * vv && is_finite(vv) {
            alpha = before.rho / rv;
        } else {
            next = stopped(before, f64::literal(status::SHADOW), rv);
        }
    }
    next.alpha = alpha;
    next
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
fn beta(rho: f64, rr: f64, scalars: &StabScalars) -> NextStep {
    let before = ConvergenceState::<f64>::at(&scalars.midway, 0, 1);
    let mut next = before;
    let mut beta = f64::literal(0.0);
    if is_set(before.stepping) {
        next = stepped(before, rr);
        next.rho = rho;
        let omega = scalars.omega[0];
        if is_set(next.active) {
            if next.iterations - next.least_at > f64::literal(PATIENCE) {
                next = stopped(next, f64::literal(status::PLATEAU), rr);
            }
            let is_oblique = rho * rho > f64::literal(ORTHOGONAL) * rr * scalars.size[0];
            if !is_oblique {
                next = stopped(next, f64::literal(status::SHADOW), rho);
            }
            if omega == f64::literal(0.0) {
                next = stopped(next, f64::literal(status::OMEGA), omega);
            }
        }
        if is_set(next.active) {
            beta = rho / before.rho * (before.alpha / omega);
        }
        next.stepping = next.active;
    }
    NextStep { state: next, beta }
}

/// r ← r − α v. Traffic 3s.
#[kernel(scalar(state = alpha(5, convergence)), update(r), unroll(4))]
pub(super) fn stab_half<F: Real>(
    i: usize,
    state: ConvergenceState<f64>,
    convergence: &View<f64>,
    v: &View<F>,
    midway: &mut Segment<f64>,
    r: F,
) -> F {
    residual_after::<F>(i, state, v, midway, r)
}

/// x ← x + α p̂ + ω ŝ, r ← r − ω t, with r̂·r and r·r. Traffic 8s.
#[kernel(scalar(length = omega(5)), update(x, r), reduce(sum, sum), unroll(2))]
pub(super) fn stab_advance<F: Real>(
    i: usize,
    length: f64,
    midway: &View<f64>,
    vectors: &StabVectors<F>,
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
        let (alpha, omega) = (F::from_f64(step_length(midway)), F::from_f64(length));
        new_x = x + alpha * vectors.first[i] + omega * vectors.second[i];
        new_r = r - omega * vectors.product[i];
    }
    let wide = new_r.to_f64();
    (new_x, new_r, vectors.shadow[i].to_f64() * wide, wide * wide)
}

/// p ← r + β (p − ω v), or r where β = 0. Traffic 4s.
#[kernel(scalar(next = beta(2, scalars)), update(p), unroll(2))]
pub(super) fn stab_direction<F: Real>(
    i: usize,
    next: NextStep,
    scalars: &StabScalars,
    r: &View<F>,
    v: &View<F>,
    convergence: &mut Segment<f64>,
    p: F,
) -> F {
    store_state(i, next.state, convergence);
    let mut new_p = p;
    if is_set(next.state.active) {
        let beta = F::from_f64(next.beta);
        new_p = r[i];
        if beta != F::literal(0.0) {
            new_p = r[i] + beta * (p - F::from_f64(scalars.omega[0]) * v[i]);
        }
    }
    new_p
}
