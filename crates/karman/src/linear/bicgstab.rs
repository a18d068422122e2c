//! BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631), preconditioned from the
//! right, for unsymmetric systems. Where it breaks down or stays on a plateau, the solver starts it
//! anew from the true residual as long as that helps.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::progress::{Krylov, Progress, System, is_finite, is_set, is_stepping, status};
use super::progress::{stepped, stopped};
use crate::backend::{Backend, Buffer, Components, View, blas};
use crate::real::Real;
use cubecl::prelude::*;
use karman_macros::{Components, kernel};

/// Steps without a smaller residual before the iteration counts as stalled.
const PATIENCE: f64 = 300.0;

/// Square of the cosine below which two vectors count as orthogonal.
const ORTHOGONAL: f64 = 1e-30;

/// The scalars of the recurrence.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq, Components)]
#[expand(derive(Clone, Copy))]
pub(super) struct StabScalars<F: Real> {
    /// r̂·r.
    pub rho: F,
    /// Step along p̂.
    pub alpha: F,
    /// Weight of the old direction.
    pub beta: F,
    /// Step along ŝ.
    pub omega: F,
    /// r̂·r̂.
    pub shadow: F,
}

/// The shadow residual r̂, the direction p and its v = A p̂, t = A ŝ, p̂ = M⁻¹ p, ŝ = M⁻¹ s; each [n].
/// s takes the place of r.
pub(super) struct BiCgStab<T> {
    shadow: Buffer<T>,
    direction: Buffer<T>,
    direction_product: Buffer<T>,
    product: Buffer<T>,
    first: Buffer<T>,
    second: Buffer<T>,
    scalars: Buffer<f64>,
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
            scalars: backend.zeros(<StabScalars<f64> as Components>::COUNT),
        }
    }
}

impl<T: Real> Krylov<T> for BiCgStab<T> {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        blas::copy(backend, self.shadow.len(), &system.residual, &mut self.shadow);
        stab_start(backend, 1, &system.progress, &mut self.scalars);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let n = self.shadow.len();
        let System { operator, preconditioner, residual: r, progress, partials, iterate, .. } =
            system;
        let BiCgStab { shadow, direction: p, direction_product: v, product: t, .. } = self;
        let (first, second, scalars) = (&mut self.first, &mut self.second, &mut self.scalars);
        stab_direction(backend, n, progress, scalars, r, v, p);
        preconditioner.apply(backend, p, first);
        operator.apply_dots(backend, first, shadow, v, partials);
        stab_length(backend, partials, progress, scalars);
        stab_half(backend, n, progress, scalars, v, r);
        preconditioner.apply(backend, r, second);
        operator.apply_dots(backend, second, r, t, partials);
        stab_stabilise(backend, partials, progress, scalars);
        stab_advance(backend, n, progress, scalars, shadow, first, second, t, iterate, r, partials);
        stab_weigh(backend, partials, progress, scalars);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        21 * size_of::<T>()
    }
}

/// Before the first step: r̂ = r, so r̂·r = ‖r‖². Runs over one entity.
#[kernel(stab_start, update(scalars))]
pub(super) fn stab_started(
    _i: usize,
    progress: &View<f64>,
    scalars: StabScalars<f64>,
) -> StabScalars<f64> {
    let mut weights = scalars;
    weights.rho = progress[4];
    weights.shadow = progress[4];
    weights.alpha = f64::literal(0.0);
    weights.beta = f64::literal(0.0);
    weights.omega = f64::literal(0.0);
    weights
}

/// p ← r + β (p − ω v), or r at the start. Traffic 4s.
#[kernel(stab_direction, update(p))]
pub(super) fn stab_directed<F: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    r: &View<F>,
    v: &View<F>,
    p: F,
) -> F {
    let mut new_p = p;
    if is_stepping(progress) {
        let beta = F::narrow(scalars[2]);
        new_p = r[i];
        if beta != F::literal(0.0) {
            new_p = r[i] + beta * (p - F::narrow(scalars[3]) * v[i]);
        }
    }
    new_p
}

/// α = r̂·r / r̂·v.
#[kernel(stab_length, combine(sum, sum, sum, sum, sum), update(progress, scalars))]
pub(super) fn stab_measured(
    _pv: f64,
    _pr: f64,
    rr: f64,
    rv: f64,
    vv: f64,
    progress: Progress<f64>,
    scalars: StabScalars<f64>,
) -> (Progress<f64>, StabScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    next.stepping = progress.active;
    if is_set(progress.active) {
        if rv * rv > f64::literal(ORTHOGONAL) * rr * vv && is_finite(vv) {
            weights.alpha = scalars.rho / rv;
        } else {
            next = stopped(progress, f64::literal(status::SHADOW), rv);
        }
    }
    (next, weights)
}

/// r ← r − α v. Traffic 3s.
#[kernel(stab_half, update(r), unroll(4))]
pub(super) fn stab_halved<F: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    v: &View<F>,
    r: F,
) -> F {
    let mut own = r;
    if is_stepping(progress) {
        own = r - F::narrow(scalars[1]) * v[i];
    }
    own
}

/// ω = t·s / t·t, which makes the residual shortest; 0 where t = 0.
#[kernel(stab_stabilise, combine(sum, sum, sum, sum, sum), update(progress, scalars))]
pub(super) fn stabilised(
    _st: f64,
    _sr: f64,
    _rr: f64,
    rt: f64,
    tt: f64,
    progress: Progress<f64>,
    scalars: StabScalars<f64>,
) -> (Progress<f64>, StabScalars<f64>) {
    let mut weights = scalars;
    let mut omega = f64::literal(0.0);
    if tt > f64::literal(0.0) {
        omega = rt / tt;
    }
    if is_set(progress.stepping) {
        weights.omega = omega;
    }
    (progress, weights)
}

/// x ← x + α p̂ + ω ŝ, r ← r − ω t, with r̂·r and r·r. Traffic 8s.
#[kernel(stab_advance, update(x, r), reduce(sum, sum))]
pub(super) fn stab_advanced<F: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    shadow: &View<F>,
    first: &View<F>,
    second: &View<F>,
    t: &View<F>,
    x: F,
    r: F,
) -> (F, F, f64, f64) {
    let mut new_x = x;
    let mut new_r = r;
    if is_stepping(progress) {
        let omega = F::narrow(scalars[3]);
        new_x = x + F::narrow(scalars[1]) * first[i] + omega * second[i];
        new_r = r - omega * t[i];
    }
    let wide = F::widen(new_r);
    (new_x, new_r, F::widen(shadow[i]) * wide, wide * wide)
}

/// β = (r̂·r / r̂·r before) (α / ω), with the iteration counted and judged.
#[kernel(stab_weigh, combine(sum, sum), update(progress, scalars))]
pub(super) fn stab_weighed(
    rho: f64,
    rr: f64,
    progress: Progress<f64>,
    scalars: StabScalars<f64>,
) -> (Progress<f64>, StabScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    if is_set(progress.stepping) {
        next = stepped(progress, rr);
        weights.rho = rho;
        if is_set(next.active) {
            if next.iterations - next.least_at > f64::literal(PATIENCE) {
                next = stopped(next, f64::literal(status::PLATEAU), rr);
            }
            let turned = rho * rho > f64::literal(ORTHOGONAL) * rr * scalars.shadow;
            if !turned {
                next = stopped(next, f64::literal(status::SHADOW), rho);
            }
            if scalars.omega == f64::literal(0.0) {
                next = stopped(next, f64::literal(status::STABILISER), scalars.omega);
            }
        }
        if is_set(next.active) {
            weights.beta = rho / scalars.rho * (scalars.alpha / scalars.omega);
        }
        next.stepping = next.active;
    }
    (next, weights)
}
