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

use super::SinglePrecision;
use super::cg::{Scalars, beta_general, start, start_dot};
use super::convergence_state::{ConvergenceState, is_stepping, step_length};
use super::krylov::{Krylov, System, fill_ghosts, vector};
use super::recurrence::{NextStep, store_state};
use super::residual_update::ResidualUpdate;
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Backend, Buffer, Segment, View};

/// Reduction of the squared residual of the recurrence before the true residual replaces it.
const REDUCTION: f64 = 1e-8;

/// r, p, q = A p and z = M⁻¹ r over ‖b‖: each `[n]`. On one of several ranks z and p have ghosts: those of z travel with the sums of a
/// step, and each rank computes those of p.
pub(super) struct MixedPrecision {
    residual: Buffer<f32>,
    direction: Buffer<f32>,
    product: Buffer<f32>,
    preconditioned: Buffer<f32>,
    /// Entries of ghosts.
    ghosts: Buffer<u32>,
    scalars: Scalars,
    /// Bytes of a product: its matrix and vectors.
    product_bytes: usize,
}

impl MixedPrecision {
    pub(super) fn new(backend: &Backend, n: usize, single: &dyn SinglePrecision) -> Self {
        MixedPrecision {
            product_bytes: single.matrix_bytes() + 2 * n * size_of::<f32>(),
            residual: backend.zeros(n),
            direction: vector(backend, single.halo(), n),
            product: backend.zeros(n),
            preconditioned: vector(backend, single.halo(), n),
            ghosts: backend
                .upload(single.halo().map_or(vec![], |halo| halo.ghost_entries().collect())),
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
        let System { preconditioner, convergence, partials, .. } = system;
        let Some(single) = preconditioner.single() else { return };
        single.precondition(&self.residual, &mut self.direction);
        fill_ghosts(single.halo(), &mut self.direction);
        let n = self.residual.len();
        start(backend, n, (&self.residual, &self.direction), partials, convergence);
    }

    /// Keeps the direction; α = r·p / p·q with the new residual.
    fn resume(&mut self, backend: &Backend, system: &mut System<T>) {
        self.load_residual(backend, system);
        let (r, p) = (&self.residual, &self.direction);
        start_dot(backend, r.len(), r, p, &mut system.partials);
        resume_product(backend, &system.partials, &mut system.convergence);
    }

    fn step(&mut self, _: usize, backend: &Backend, system: &mut System<T>) {
        let System { preconditioner, convergence, partials, iterate, .. } = system;
        let MixedPrecision {
            residual,
            direction: p,
            product: q,
            preconditioned: z,
            ghosts,
            scalars,
            ..
        } = self;
        let Scalars { midway, sums } = scalars;
        let Some(single) = preconditioner.single() else { return };
        let n = residual.len();
        single.multiply_dot(p, q, partials);
        let (product, r) = (partials, residual);
        let halo = single.halo().cloned();
        single.update_residual(ResidualUpdate {
            product,
            convergence,
            q,
            midway,
            r,
            z,
            sums,
            halo,
        });
        advance_mixed(backend, n, sums, midway, z, convergence, iterate, p);
        if !ghosts.is_empty() {
            advance_ghosts(backend, ghosts.len(), ghosts, sums, midway, z, p);
        }
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
#[kernel(out(scaled), unroll(4))]
pub(super) fn scale_residual<F: Real>(i: usize, r: &View<F>, convergence: &View<f64>) -> f32 {
    let reference = convergence[5];
    let mut own = f64::literal(0.0);
    if reference > f64::literal(0.0) {
        own = r[i].to_f64() / reference.sqrt();
    }
    f32::from_f64(own)
}

/// The residual of the next replacement: after a reduction by [`REDUCTION`] or halfway to the target in
/// orders of magnitude, whichever comes first; none where the target is nearer. Runs over one entity.
#[kernel(update(convergence))]
pub(super) fn plan_replacement(
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

/// ρ = r·p of a residual that replaces that of the recurrence.
#[kernel(combine(sum), update(convergence))]
pub(super) fn resume_product(
    sum: f64,
    convergence: ConvergenceState<f64>,
) -> ConvergenceState<f64> {
    let mut next = convergence;
    next.rho = sum;
    next
}

/// The state after a step, with r divided by ‖b‖. β = −z·q / p·q holds also after a replacement of r.
#[device]
fn beta_mixed(rz: f64, rr: f64, zq: f64, midway: &View<f64>) -> NextStep {
    beta_general(rz, rr * midway[5], zq, midway, true)
}

/// z + β p.
#[device]
fn next_direction(z: f32, beta: f64, p: f32) -> f32 {
    z + f32::from_f64(beta) * p
}

/// x ← x + α ‖b‖ p, p ← z + β p. Traffic 16 + 12.
#[kernel(scalar(next = beta_mixed(3, midway)), update(x, p), unroll(2))]
pub(super) fn advance_mixed<F: Real>(
    i: usize,
    next: NextStep,
    midway: &View<f64>,
    z: &View<f32>,
    convergence: &mut Segment<f64>,
    x: F,
    p: f32,
) -> (F, f32) {
    store_state(i, next.state, convergence);
    let mut new_x = x;
    let mut new_p = p;
    if is_stepping(midway) {
        new_x = x + F::from_f64(step_length(midway) * midway[5].sqrt()) * convert::<f32, F>(p);
        // Also in the last step before a replacement.
        new_p = next_direction(z[i], next.beta, p);
    }
    (new_x, new_p)
}

/// p ← z + β p of ghosts, as of own entries. Traffic 4 + 12.
#[kernel(scalar(next = beta_mixed(3, midway)), update(p), indexed)]
pub(super) fn advance_ghosts(
    _i: usize,
    ghost: usize,
    next: NextStep,
    midway: &View<f64>,
    z: &View<f32>,
    p: f32,
) -> f32 {
    let mut new_p = p;
    if is_stepping(midway) {
        new_p = next_direction(z[ghost], next.beta, p);
    }
    new_p
}
