//! Conjugate gradients in mixed precision: direction, product, residual and preconditioner in single, the
//! iterate and the convergence test in double. The true residual replaces that of the recurrence at times;
//! the recurrence keeps its direction and thus its rate of convergence.
//!
//! x is updated in double precision: rounding it to single would leave a residual larger by the condition
//! number. The rounding errors of the product remain, relative to differences of neighbours
//! ([`SinglePrecision`](super::SinglePrecision) applies A in difference form).
//!
//! Source: van der Vorst & Ye, SIAM J. Sci. Comput. 22 (2000) 835, for residual replacement; Clark et al.,
//! Comput. Phys. Commun. 181 (2010) 1517, §3, for its use with a recurrence in single precision.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::cg::{CgState, Scalars, beta_general, cg_dots, cg_start, start_dot, subtract_product};
use super::convergence_state::{ConvergenceState, Krylov, System, is_stepping};
use karman_backend::blas::finish_sum;
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Backend, Buffer, Partials, Segment, View};

/// Reduction of the squared residual of the recurrence before the true residual replaces it.
const REDUCTION: f64 = 1e-8;

/// r, p, q = A p and z = M⁻¹ r over ‖b‖: each `[n]`.
pub(super) struct MixedPrecision {
    residual: Buffer<f32>,
    direction: Buffer<f32>,
    product: Buffer<f32>,
    preconditioned: Buffer<f32>,
    scalars: Scalars,
    /// Bytes of a product: its matrix and vectors.
    product_bytes: usize,
}

/// The data of the second half of a step.
pub struct HalfStep<'a> {
    /// p·q.
    pub(super) product: &'a mut Partials,
    pub(super) convergence: &'a Buffer<f64>,
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
    /// The half step with a separate function for M⁻¹.
    pub(super) fn run(
        self,
        backend: &Backend,
        precondition: impl FnOnce(&Buffer<f32>, &mut Buffer<f32>),
    ) {
        let HalfStep { product, convergence, rz, q, midway, weights, r, z, sums } = self;
        let n = r.len();
        subtract_product(backend, n, product, convergence, rz, q, midway, weights, r);
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

    fn load_residual<T: Real>(&mut self, backend: &Backend, system: &mut System<T>) {
        let n = self.residual.len();
        scale_residual(backend, n, &system.residual, &system.convergence, &mut self.residual);
        plan_replacement(backend, 1, &mut system.convergence);
    }
}

impl<T: Real> Krylov<T> for MixedPrecision {
    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        self.load_residual(backend, system);
        let Some(single) = system.preconditioner.single() else { return };
        single.precondition(&self.residual, &mut self.direction);
        let MixedPrecision { residual, direction, scalars, .. } = self;
        start_dot(backend, residual.len(), residual, direction, &mut system.partials);
        cg_start(backend, &system.partials, &mut system.convergence, &mut scalars.rz);
    }

    /// Keeps the direction; α = r·p / p·q with the new residual.
    fn resume(&mut self, backend: &Backend, system: &mut System<T>) {
        self.load_residual(backend, system);
        let MixedPrecision { residual, direction, scalars, .. } = self;
        start_dot(backend, residual.len(), residual, direction, &mut system.partials);
        finish_sum(backend, &system.partials, &mut scalars.rz);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, convergence, partials, iterate, .. } = system;
        let MixedPrecision {
            residual, direction: p, product: q, preconditioned: z, scalars, ..
        } = self;
        let Scalars { rz, midway, weights, sums } = scalars;
        let Some(single) = preconditioner.single() else { return };
        let n = residual.len();
        single.multiply_dot(p, q, partials);
        let (product, r) = (partials, residual);
        single.reduce(HalfStep { product, convergence, rz, q, midway, weights, r, z, sums });
        advance_mixed(backend, n, sums, midway, weights, z, convergence, rz, iterate, p);
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
pub(super) fn residual_scaled<F: Real>(i: usize, r: &View<F>, convergence: &View<f64>) -> f32 {
    let reference = convergence[5];
    let mut own = f64::literal(0.0);
    if reference > f64::literal(0.0) {
        own = r[i].to_f64() / reference.sqrt();
    }
    f32::from_f64(own)
}

/// The residual of the next replacement: after a reduction by [`REDUCTION`] or halfway to the target in
/// orders of magnitude, whichever comes first; none where the target is nearer. Runs over one entity.
#[kernel(plan_replacement, update(convergence))]
pub(super) fn replacement_planned(
    _i: usize,
    convergence: ConvergenceState<f64>,
) -> ConvergenceState<f64> {
    let mut next = convergence;
    let left = convergence.tolerance * convergence.reference / convergence.residual;
    next.replacement = f64::literal(0.0);
    if left < f64::literal(REDUCTION) {
        next.replacement = convergence.residual * left.sqrt().max(f64::literal(REDUCTION));
    }
    next
}

/// The state after a step, with r divided by ‖b‖. β = −z·q / p·q holds also after a replacement of r.
#[device]
fn beta_mixed(rz: f64, rr: f64, zq: f64, midway: &View<f64>, weights: &View<f64>) -> CgState {
    beta_general(rz, rr * midway[5], zq, midway, weights, true)
}

/// x ← x + α ‖b‖ p, p ← z + β p. Traffic 16 + 12.
#[kernel(
    advance_mixed,
    scalar(next = beta_mixed(3, midway, weights)),
    update(x, p),
    unroll(2)
)]
pub(super) fn advanced_mixed<F: Real>(
    i: usize,
    next: CgState,
    midway: &View<f64>,
    weights: &View<f64>,
    z: &View<f32>,
    convergence: &mut Segment<f64>,
    rz: &mut Segment<f64>,
    x: F,
    p: f32,
) -> (F, f32) {
    if i == 0 {
        ConvergenceState::<f64>::put(next.convergence, convergence, 0, 1);
        rz[0] = next.rz;
    }
    let mut new_x = x;
    let mut new_p = p;
    if is_stepping(midway) {
        new_x = x + F::from_f64(weights[1] * midway[5].sqrt()) * convert::<f32, F>(p);
        // Also in the last step before a replacement.
        new_p = z[i] + f32::from_f64(next.weight) * p;
    }
    (new_x, new_p)
}
