//! Conjugate gradients, preconditioned (Hestenes & Stiefel 1952), for symmetric positive definite
//! operators; flexible with the Polak–Ribière β (Notay 2000, eq. 2.3 and §2), which bears a
//! preconditioner that changes from step to step.
//!
//! A step with a diagonal preconditioner is three vector kernels and two combinations of one block;
//! in f64 with five entries a row it moves about 164 bytes a row (76 of them the product's).
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::Diagonal;
use super::progress::{
    Krylov, Progress, System, is_active, is_finite, is_set, is_stepping, status, stepped, stopped,
};
use crate::backend::{Backend, Buffer, Components, View};
use crate::real::{Real, convert};
use cubecl::prelude::*;
use karman_macros::{Components, kernel};

/// The scalars of the recurrence.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq, Components)]
#[expand(derive(Clone, Copy))]
pub(super) struct CgScalars<F: Real> {
    /// r·z.
    pub rz: F,
    /// Step length.
    pub alpha: F,
    /// Weight of the old direction.
    pub beta: F,
}

/// Conjugate gradients: p, q = A p and, where M is not diagonal, z = M⁻¹ r; each [n].
pub(super) struct ConjugateGradient<T> {
    flexible: bool,
    direction: Buffer<T>,
    product: Buffer<T>,
    preconditioned: Option<Buffer<T>>,
    scalars: Buffer<f64>,
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
            scalars: backend.zeros(<CgScalars<f64> as Components>::COUNT),
        }
    }

    /// Residual, β, iterate and direction with M⁻¹ inside the kernels.
    fn step_diagonal(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, residual, progress, partials, iterate, .. } = system;
        let n = self.product.len();
        let (p, q, scalars) = (&mut self.direction, &self.product, &mut self.scalars);
        match preconditioner.diagonal().unwrap_or(Diagonal::Identity) {
            Diagonal::Identity => {
                reduce_residual(backend, n, progress, scalars, q, q, true, residual, partials);
                weigh(backend, partials, progress, scalars);
                advance(backend, n, progress, scalars, residual, q, true, iterate, p);
            }
            Diagonal::Same(d) => {
                reduce_residual(backend, n, progress, scalars, q, d, false, residual, partials);
                weigh(backend, partials, progress, scalars);
                advance(backend, n, progress, scalars, residual, d, false, iterate, p);
            }
            Diagonal::Single(d) => {
                reduce_residual(backend, n, progress, scalars, q, d, false, residual, partials);
                weigh(backend, partials, progress, scalars);
                advance(backend, n, progress, scalars, residual, d, false, iterate, p);
            }
        }
    }

    /// The same with M⁻¹ applied on its own.
    fn step_general(&mut self, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, residual, progress, partials, iterate, .. } = system;
        let n = self.product.len();
        let (p, q, scalars) = (&mut self.direction, &self.product, &mut self.scalars);
        let Some(z) = &mut self.preconditioned else { return };
        subtract_product(backend, n, progress, scalars, q, residual);
        preconditioner.apply(backend, residual, z);
        cg_dots(backend, n, residual, z, q, partials);
        weigh_general(backend, partials, self.flexible, progress, scalars);
        advance(backend, n, progress, scalars, z, q, true, iterate, p);
    }
}

impl<T: Real> Krylov<T> for ConjugateGradient<T> {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        let n = self.product.len();
        system.preconditioner.apply(backend, &system.residual, &mut self.direction);
        let (r, z) = (&system.residual, &self.direction);
        start_dot(backend, n, r, z, &mut system.partials);
        cg_start(backend, &system.partials, &mut system.progress, &mut self.scalars);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let System { operator, progress, partials, .. } = system;
        operator.apply_dot(backend, &self.direction, &mut self.product, partials);
        measure_step(backend, partials, progress, &mut self.scalars);
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
    F::widen(r[i]) * F::widen(z[i])
}

/// Before the first step: r·z, which M's definiteness makes positive.
#[kernel(cg_start, combine(sum), update(progress, scalars))]
pub(super) fn cg_started(
    rz: f64,
    progress: Progress<f64>,
    scalars: CgScalars<f64>,
) -> (Progress<f64>, CgScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    weights.rz = rz;
    let positive = rz > f64::literal(0.0);
    if is_set(progress.active) && !positive {
        next = stopped(progress, f64::literal(status::PRECONDITIONER), rz);
    }
    (next, weights)
}

/// α = r·z / p·q, after the product.
#[kernel(measure_step, combine(sum), update(progress, scalars))]
pub(super) fn step_measured(
    pq: f64,
    progress: Progress<f64>,
    scalars: CgScalars<f64>,
) -> (Progress<f64>, CgScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    next.stepping = progress.active;
    if is_set(progress.active) {
        if pq > f64::literal(0.0) && is_finite(pq) {
            weights.alpha = scalars.rz / pq;
        } else {
            next = stopped(progress, f64::literal(status::OPERATOR), pq);
        }
    }
    (next, weights)
}

/// The state after the residual has been reduced.
#[cube]
fn weighed(
    rz: f64,
    rr: f64,
    beta: f64,
    progress: Progress<f64>,
    scalars: CgScalars<f64>,
) -> (Progress<f64>, CgScalars<f64>) {
    let mut next = progress;
    let mut weights = scalars;
    if is_set(progress.stepping) {
        next = stepped(progress, rr);
        weights.rz = rz;
        weights.beta = beta;
        let positive = rz > f64::literal(0.0);
        if is_set(next.active) && !positive {
            next.active = f64::literal(0.0);
            next.status = f64::literal(status::PRECONDITIONER);
            next.detail = rz;
        }
    }
    (next, weights)
}

/// β = r·z / (r·z before), with the iteration counted and judged.
#[kernel(weigh, combine(sum, sum), update(progress, scalars))]
pub(super) fn weighed_diagonal(
    rz: f64,
    rr: f64,
    progress: Progress<f64>,
    scalars: CgScalars<f64>,
) -> (Progress<f64>, CgScalars<f64>) {
    weighed(rz, rr, rz / scalars.rz, progress, scalars)
}

/// As [`weigh`]; flexible: β = z·(r − r before) / (r·z before), r − r before being −α q.
#[kernel(weigh_general, combine(sum, sum, sum), update(progress, scalars))]
pub(super) fn weighed_general(
    rz: f64,
    rr: f64,
    zq: f64,
    #[comptime] flexible: bool,
    progress: Progress<f64>,
    scalars: CgScalars<f64>,
) -> (Progress<f64>, CgScalars<f64>) {
    let mut numerator = rz;
    if comptime!(flexible) {
        numerator = -scalars.alpha * zq;
    }
    weighed(rz, rr, numerator / scalars.rz, progress, scalars)
}

/// r ← r − α q with r·z and r·r, z = d r. Traffic 4s (3s where `plain`: d = 1).
#[kernel(reduce_residual, update(r), reduce(sum, sum), unroll(2))]
pub(super) fn reduced_residual<F: Real, S: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    q: &View<F>,
    d: &View<S>,
    #[comptime] plain: bool,
    r: F,
) -> (F, f64, f64) {
    let mut own = r;
    if is_stepping(progress) {
        own = r - F::narrow(scalars[1]) * q[i];
    }
    let square = F::widen(own) * F::widen(own);
    let mut rz = square;
    if comptime!(!plain) {
        rz = S::widen(d[i]) * square;
    }
    (own, rz, square)
}

/// x ← x + α p, p ← z + β p with z = d r. Traffic 6s (5s where `plain`: d = 1).
#[kernel(advance, update(x, p), unroll(2))]
pub(super) fn advanced<F: Real, S: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    r: &View<F>,
    d: &View<S>,
    #[comptime] plain: bool,
    x: F,
    p: F,
) -> (F, F) {
    let mut new_x = x;
    let mut new_p = p;
    if is_stepping(progress) {
        new_x = x + F::narrow(scalars[1]) * p;
    }
    if is_active(progress) {
        let mut z = r[i];
        if comptime!(!plain) {
            z = convert::<S, F>(d[i]) * z;
        }
        new_p = z + F::narrow(scalars[2]) * p;
    }
    (new_x, new_p)
}

/// r ← r − α q. Traffic 3s.
#[kernel(subtract_product, update(r), unroll(4))]
pub(super) fn product_subtracted<F: Real>(
    i: usize,
    progress: &View<f64>,
    scalars: &View<f64>,
    q: &View<F>,
    r: F,
) -> F {
    let mut own = r;
    if is_stepping(progress) {
        own = r - F::narrow(scalars[1]) * q[i];
    }
    own
}

/// r·z, r·r and z·q. Traffic 3s.
#[kernel(cg_dots, reduce(sum, sum, sum), unroll(2))]
pub(super) fn cg_products<F: Real>(
    i: usize,
    r: &View<F>,
    z: &View<F>,
    q: &View<F>,
) -> (f64, f64, f64) {
    let r = F::widen(r[i]);
    let z = F::widen(z[i]);
    (r * z, r * r, z * F::widen(q[i]))
}
