//! Flexible GMRES with restarts (Saad, SIAM J. Sci. Comput. 14 (1993) 461, algorithm 2.2): any
//! system, any preconditioner, which may change from step to step.
//!
//! Modified Gram–Schmidt in blocks of four vectors orthogonalises the basis, so that w is read once a
//! block. The Hessenberg matrix, its Givens rotations and their residual are stored where the vectors
//! are, so the iteration detects convergence without the host. The host solves the triangular system at
//! the end of a cycle: at most m² / 2 dependent operations, cheaper than a kernel launch.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::convergence_state::{ConvergenceState, is_set, stepped};
use super::krylov::{Krylov, System, fill_ghosts};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, BackendError, Buffer, Segment, View};

/// Basis vectors per kernel.
const BLOCK: usize = 4;

/// Vectors of a block.
#[derive(Group, Clone, Copy)]
pub(super) struct BasisBlock<'a, F: Real> {
    /// The first: `[n]`.
    v0: View<'a, F>,
    /// The second: `[n]`.
    v1: View<'a, F>,
    /// The third: `[n]`.
    v2: View<'a, F>,
    /// The fourth: `[n]`.
    v3: View<'a, F>,
    /// Number of vectors; the others repeat the last.
    count: usize,
}

impl<'a, F: Real> BasisBlock<'a, F> {
    /// At most [`BLOCK`] vectors.
    fn of(vectors: &'a [Buffer<F>]) -> Self {
        let count = vectors.len();
        let v = |k: usize| vectors[k.min(count - 1)].view();
        BasisBlock { v0: v(0), v1: v(1), v2: v(2), v3: v(3), count }
    }
}

#[device]
impl<F: Real> BasisBlock<'_, F> {
    /// Entry i of Σ_j c_j v_j, the coefficients from `first` on.
    #[inline(always)]
    fn combination(&self, i: usize, coefficients: &View<f64>, first: usize) -> F {
        let mut sum = F::from_f64(coefficients[first]) * self.v0[i];
        if self.count > 1 {
            sum += F::from_f64(coefficients[first + 1]) * self.v1[i];
        }
        if self.count > 2 {
            sum += F::from_f64(coefficients[first + 2]) * self.v2[i];
        }
        if self.count > 3 {
            sum += F::from_f64(coefficients[first + 3]) * self.v3[i];
        }
        sum
    }
}

/// Vectors v_0 … v_m of the basis and z_k = M⁻¹ v_k, each [n], and the projected problem.
pub(super) struct Fgmres<T> {
    basis: Vec<Buffer<T>>,
    preconditioned: Vec<Buffer<T>>,
    /// `[m][m + 1]` columns of the Hessenberg matrix, made triangular by the rotations; `[m][2]`
    /// cosines and sines; `[m + 1]` the rotated right-hand side; the number of steps made.
    projected: Buffer<f64>,
    /// The solution of the projected problem, padded to whole blocks.
    weights: Buffer<f64>,
}

impl<T: Real> Fgmres<T> {
    pub(super) fn new(backend: &Backend, system: &System<T>, restart: usize) -> Self {
        let n = system.rows();
        let m = restart.min(system.total_rows().max(1));
        Fgmres {
            basis: (0..m + 1).map(|_| backend.zeros(n)).collect(),
            preconditioned: (0..m).map(|_| system.vector(backend)).collect(),
            projected: backend.zeros(m * (m + 1) + 2 * m + m + 1 + 1),
            weights: backend.zeros(m.next_multiple_of(BLOCK)),
        }
    }

    fn length(&self) -> usize {
        self.preconditioned.len()
    }

    /// Orthogonalises v_{k+1} against v_0 … v_k.
    fn orthogonalise(&mut self, k: usize, backend: &Backend, system: &mut System<T>) {
        let (older, newer) = self.basis.split_at_mut(k + 1);
        let w = &mut newer[0];
        let n = w.len();
        let column = k * (self.preconditioned.len() + 1);
        for first in (0..=k).step_by(BLOCK) {
            let count = (k + 1 - first).min(BLOCK);
            let block = BasisBlock::of(&older[first..first + count]);
            let (h, partials) = (&mut self.projected, &mut system.partials);
            project_block(backend, n, &block, w, partials);
            store_block(backend, partials, column + first, count, h);
            subtract_block(backend, n, &block, h, column + first, w, partials);
        }
    }
}

/// The solution y of the triangular system of `steps` columns.
fn back_substituted(projected: &[f64], m: usize, steps: usize) -> Vec<f64> {
    let right_hand_side = m * (m + 1) + 2 * m;
    let mut y = vec![0.0; m.next_multiple_of(BLOCK)];
    for i in (0..steps).rev() {
        let mut value = projected[right_hand_side + i];
        for k in i + 1..steps {
            value -= projected[k * (m + 1) + i] * y[k];
        }
        let pivot = projected[i * (m + 1) + i];
        y[i] = if pivot == 0.0 { 0.0 } else { value / pivot };
    }
    y
}

impl<T: Real> Krylov<T> for Fgmres<T> {
    fn cycle(&self) -> Option<usize> {
        Some(self.length())
    }

    fn start(&mut self, backend: &Backend, system: &mut System<T>) {
        let (n, m) = (system.rows(), self.length());
        start_basis(backend, n, &system.convergence, &system.residual, &mut self.basis[0]);
        start_projected(backend, 1, &system.convergence, m, &mut self.projected);
    }

    fn step(&mut self, k: usize, backend: &Backend, system: &mut System<T>) {
        let m = self.length();
        let z = &mut self.preconditioned[k];
        system.preconditioner.apply(backend, &self.basis[k], z);
        fill_ghosts(system.halo.as_ref(), z);
        system.operator.apply(backend, z, &mut self.basis[k + 1]);
        self.orthogonalise(k, backend, system);
        let (convergence, partials) = (&mut system.convergence, &system.partials);
        rotate(backend, partials, k, m, &mut self.projected, convergence);
        let w = &mut self.basis[k + 1];
        normalise(backend, w.len(), &self.projected, k * (m + 1) + k + 1, w);
        system.record(backend);
    }

    fn finish(&mut self, backend: &Backend, system: &mut System<T>) -> Result<(), BackendError> {
        let (n, m) = (system.rows(), self.length());
        let projected = backend.read(&self.projected)?;
        let steps = projected[projected.len() - 1] as usize;
        backend.write(&mut self.weights, &back_substituted(&projected, m, steps));
        for first in (0..steps).step_by(BLOCK) {
            let count = (steps - first).min(BLOCK);
            let block = BasisBlock::of(&self.preconditioned[first..first + count]);
            add_block(backend, n, &block, &self.weights, first, &mut system.iterate);
        }
        Ok(())
    }

    fn vectors_moved(&self) -> usize {
        // Half the basis on average, read twice, w read and written by each block.
        (self.length() + 3 * self.length().div_ceil(2 * BLOCK) + 4) * size_of::<T>()
    }
}

/// v_0 ← r / ‖r‖. Traffic 2s.
#[kernel(out(v), unroll(4))]
pub(super) fn start_basis<F: Real>(i: usize, convergence: &View<f64>, r: &View<F>) -> F {
    let mut v = F::literal(0.0);
    if convergence[4] > f64::literal(0.0) {
        v = F::from_f64(r[i].to_f64() / convergence[4].sqrt());
    }
    v
}

/// The right-hand side ‖r‖ e_0 and zero steps. Runs over one entity.
#[kernel]
pub(super) fn start_projected(
    i: usize,
    convergence: &View<f64>,
    m: usize,
    projected: &mut Segment<f64>,
) {
    let right_hand_side = i + m * (m + 1) + 2 * m;
    projected[right_hand_side] = convergence[4].sqrt();
    projected[right_hand_side + m + 1] = f64::literal(0.0);
}

/// w·v of four vectors. Traffic 5s.
#[kernel(reduce(sum, sum, sum, sum), unroll(2))]
pub(super) fn project_block<F: Real>(
    i: usize,
    block: &BasisBlock<F>,
    w: &View<F>,
) -> (f64, f64, f64, f64) {
    let w = w[i].to_f64();
    (
        w * block.v0[i].to_f64(),
        w * block.v1[i].to_f64(),
        w * block.v2[i].to_f64(),
        w * block.v3[i].to_f64(),
    )
}

/// Stores the first `count` components of a block in the column.
#[kernel(combine(sum, sum, sum, sum))]
pub(super) fn store_block(
    h0: f64,
    h1: f64,
    h2: f64,
    h3: f64,
    first: usize,
    count: usize,
    projected: &mut Segment<f64>,
) {
    projected[first] = h0;
    if count > 1 {
        projected[first + 1] = h1;
    }
    if count > 2 {
        projected[first + 2] = h2;
    }
    if count > 3 {
        projected[first + 3] = h3;
    }
}

/// w ← w − Σ h v, with w·w. Traffic 6s.
#[kernel(update(w), reduce(sum), unroll(2))]
pub(super) fn subtract_block<F: Real>(
    i: usize,
    block: &BasisBlock<F>,
    projected: &View<f64>,
    first: usize,
    w: F,
) -> (F, f64) {
    let own = w - block.combination(i, projected, first);
    (own, own.to_f64() * own.to_f64())
}

/// x ← x + Σ y z. Traffic 6s.
#[kernel(update(x))]
pub(super) fn add_block<F: Real>(
    i: usize,
    block: &BasisBlock<F>,
    weights: &View<f64>,
    first: usize,
    x: F,
) -> F {
    x + block.combination(i, weights, first)
}

/// Completes column `k` from ‖w‖²: the earlier rotations, then the one that eliminates its subdiagonal
/// entry. The last entry of the rotated right-hand side is the residual.
#[kernel(combine(sum), update(convergence))]
pub(super) fn rotate(
    ww: f64,
    k: usize,
    m: usize,
    projected: &mut Segment<f64>,
    convergence: ConvergenceState<f64>,
) -> ConvergenceState<f64> {
    let mut next = convergence;
    if is_set(convergence.active) {
        let column = k * (m + 1);
        let rotations = m * (m + 1);
        let right_hand_side = rotations + 2 * m;
        for i in 0..k {
            let c = projected[rotations + 2 * i];
            let s = projected[rotations + 2 * i + 1];
            let upper = projected[column + i];
            let lower = projected[column + i + 1];
            projected[column + i] = c * upper + s * lower;
            projected[column + i + 1] = c * lower - s * upper;
        }
        let own = projected[column + k];
        let below = ww.sqrt();
        let length = (own * own + ww).sqrt();
        let mut c = f64::literal(1.0);
        let mut s = f64::literal(0.0);
        if length > f64::literal(0.0) {
            c = own / length;
            s = below / length;
        }
        projected[rotations + 2 * k] = c;
        projected[rotations + 2 * k + 1] = s;
        projected[column + k] = length;
        // The place of the eliminated entry stores the norm for `normalise`.
        projected[column + k + 1] = below;
        let g = projected[right_hand_side + k];
        let rest = f64::literal(0.0) - s * g;
        projected[right_hand_side + k] = c * g;
        projected[right_hand_side + k + 1] = rest;
        projected[right_hand_side + m + 1] = (k + 1) as f64;
        next = stepped(convergence, rest * rest);
    }
    next
}

/// v_{k+1} ← w / ‖w‖, 0 where the Krylov space is exhausted. Traffic 2s.
#[kernel(update(w), unroll(4))]
pub(super) fn normalise<F: Real>(_i: usize, projected: &View<f64>, place: usize, w: F) -> F {
    let mut own = F::literal(0.0);
    if projected[place] > f64::literal(0.0) {
        own = F::from_f64(w.to_f64() / projected[place]);
    }
    own
}
