//! Conjugate gradients in two precisions: direction, product, residual and preconditioner in single, the iterate
//! and what decides in double. The residual is computed anew from the iterate now and then, and the
//! recurrence goes on from it with the direction it has, so that nothing of its convergence is lost.
//!
//! x takes each step in double precision: rounding it to single would leave a residual larger by the
//! condition number. What is left are the roundings of the product, relative to differences of neighbours
//! ([`SinglePrecision`](super::SinglePrecision) holds rows as such).
//!
//! Source: van der Vorst & Ye, SIAM J. Sci. Comput. 22 (2000) 835, for residual replacement; Clark et al., Comput.
//! Phys. Commun. 181 (2010) 1517, §3, for its use with a recurrence in single precision.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::cg::{
    CgState, Scalars, cg_dots, cg_start, start_dot, subtract_product, weighed_general,
};
use super::progress::{Krylov, Progress, System, is_stepping};
use karman_backend::blas::finish_sum;
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Backend, Buffer, Partials, Segment, View};

/// The recurrence's residual falls by this much, squared, before it is computed anew.
const FALL: f64 = 1e-8;

/// r, p, q = A p and z = M⁻¹ r over ‖b‖: each `[n]`.
pub(super) struct MixedPrecision {
    residual: Buffer<f32>,
    direction: Buffer<f32>,
    product: Buffer<f32>,
    preconditioned: Buffer<f32>,
    scalars: Scalars,
    /// Of a product: its matrix and vectors.
    product_bytes: usize,
}

/// What the second half of a step works on.
pub struct HalfStep<'a> {
    /// p·q.
    pub(super) product: &'a mut Partials,
    pub(super) progress: &'a Buffer<f64>,
    pub(super) rz: &'a Buffer<f64>,
    pub(super) q: &'a Buffer<f32>,
    pub(super) midway: &'a mut Buffer<f64>,
    pub(super) weights: &'a mut Buffer<f64>,
    pub(super) r: &'a mut Buffer<f32>,
    pub(super) z: &'a mut Buffer<f32>,
    /// Of r·z, r·r and z·q.
    pub(super) sums: &'a mut Partials,
}

impl HalfStep<'_> {
    /// The half with M⁻¹ as a whole.
    pub(super) fn take(
        self,
        backend: &Backend,
        precondition: impl FnOnce(&Buffer<f32>, &mut Buffer<f32>),
    ) {
        let HalfStep { product, progress, rz, q, midway, weights, r, z, sums } = self;
        let n = r.len();
        subtract_product(backend, n, product, progress, rz, q, midway, weights, r);
        precondition(r, z);
        cg_dots(backend, n, r, z, q, sums);
    }
}

impl MixedPrecision {
    pub(super) fn new(backend: &Backend, n: usize, matrix_bytes: usize) -> Self {
        MixedPrecision {
            product_bytes: matrix_bytes + 2 * n * size_of::<f32>(),
            residual: backend.zeros(n),
            direction: backend.zeros(n),
            product: backend.zeros(n),
            preconditioned: backend.zeros(n),
            scalars: Scalars::new(backend, n),
        }
    }

    fn take_residual<T: Real>(&mut self, backend: &Backend, system: &mut System<T>) {
        let n = self.residual.len();
        scale_residual(backend, n, &system.residual, &system.progress, &mut self.residual);
        plan_renewal(backend, 1, &mut system.progress);
    }
}

impl<T: Real> Krylov<T> for MixedPrecision {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        self.take_residual(backend, system);
        let Some(single) = system.preconditioner.single() else { return };
        single.precondition(&self.residual, &mut self.direction);
        let MixedPrecision { residual, direction, scalars, .. } = self;
        start_dot(backend, residual.len(), residual, direction, &mut system.partials);
        cg_start(backend, &system.partials, &mut system.progress, &mut scalars.rz);
    }

    /// The direction stays; a step along it is as long as the new residual asks for, r·p / p·q.
    fn resume(&mut self, backend: &Backend, system: &mut System<T>) {
        self.take_residual(backend, system);
        let MixedPrecision { residual, direction, scalars, .. } = self;
        start_dot(backend, residual.len(), residual, direction, &mut system.partials);
        finish_sum(backend, &system.partials, &mut scalars.rz);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, progress, partials, iterate, .. } = system;
        let MixedPrecision {
            residual, direction: p, product: q, preconditioned: z, scalars, ..
        } = self;
        let Scalars { rz, midway, weights, sums } = scalars;
        let Some(single) = preconditioner.single() else { return };
        let n = residual.len();
        single.multiply_dot(p, q, partials);
        let (product, r) = (partials, residual);
        single.reduce(HalfStep { product, progress, rz, q, midway, weights, r, z, sums });
        advance_mixed(backend, n, sums, midway, weights, z, progress, rz, iterate, p);
        system.record(backend);
    }

    fn vectors_moved(&self) -> usize {
        7 * size_of::<f32>() + 2 * size_of::<T>()
    }

    fn product_bytes(&self) -> Option<usize> {
        Some(self.product_bytes)
    }
}

/// r / ‖b‖. Traffic 8 + 4.
#[kernel(scale_residual, out(scaled), unroll(4))]
pub(super) fn residual_scaled<F: Real>(i: usize, r: &View<F>, progress: &View<f64>) -> f32 {
    let reference = progress[5];
    let mut own = f64::literal(0.0);
    if reference > f64::literal(0.0) {
        own = r[i].to_f64() / reference.sqrt();
    }
    f32::from_f64(own)
}

/// Where the residual is to be computed anew: half way to the target, measured in orders, or where it has fallen by
/// [`FALL`]; not before the end where that is nearer. Run over one entity.
#[kernel(plan_renewal, update(progress))]
pub(super) fn renewal_planned(_i: usize, progress: Progress<f64>) -> Progress<f64> {
    let mut next = progress;
    let left = progress.tolerance * progress.reference / progress.residual;
    next.renewal = f64::literal(0.0);
    if left < f64::literal(FALL) {
        next.renewal = progress.residual * left.sqrt().max(f64::literal(FALL));
    }
    next
}

/// The state after a step, r being over ‖b‖; β = −z·q / p·q bears that r was replaced.
#[device]
fn weighed_mixed(rz: f64, rr: f64, zq: f64, midway: &View<f64>, weights: &View<f64>) -> CgState {
    weighed_general(rz, rr * midway[5], zq, midway, weights, true)
}

/// x ← x + α ‖b‖ p, p ← z + β p. Traffic 16 + 12.
#[kernel(
    advance_mixed,
    given(next = weighed_mixed(3, midway, weights)),
    update(x, p),
    unroll(2)
)]
pub(super) fn advanced_mixed<F: Real>(
    i: usize,
    next: CgState,
    midway: &View<f64>,
    weights: &View<f64>,
    z: &View<f32>,
    progress: &mut Segment<f64>,
    rz: &mut Segment<f64>,
    x: F,
    p: f32,
) -> (F, f32) {
    if i == 0 {
        Progress::<f64>::put(next.progress, progress, 0, 1);
        rz[0] = next.rz;
    }
    let mut new_x = x;
    let mut new_p = p;
    if is_stepping(midway) {
        new_x = x + F::from_f64(weights[1] * midway[5].sqrt()) * convert::<f32, F>(p);
        // Also where the step is the last before a renewal.
        new_p = z[i] + f32::from_f64(next.weight) * p;
    }
    (new_x, new_p)
}
