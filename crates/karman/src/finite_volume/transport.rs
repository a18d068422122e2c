//! The implicit operator of a transport equation, without an assembled matrix: inertia, two-point diffusion and upwind
//! convection,
//!
//! (W x)_c = I_c x_c + Σ_f (α a_f + β max(−σF_f, 0)) (x_c − x_n),
//!
//! n the cell across face f and x_n = 0 at the boundary, I the inertia, a the conductances, σF the flux out of the cell.
//! Row sums are those of an M-matrix for any flux and any positive inertia. It approximates the full spatial operator in
//! increments, whose exact terms are on the right-hand side (deferred correction; Ferziger & Perić, §5.6).
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::mesh_view::CellFaces;
use crate::backend::{Backend, Buffer, View, blas};
use crate::linear::{Operator, Preconditioner};
use crate::operators::FaceCells;
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::neighbours::is_cell;
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// The coefficients of W.
#[derive(Group, Clone, Copy)]
pub struct TransportView<'a, F: Real> {
    /// The neighbour of a cell across each of its faces, in their order.
    pub neighbours: View<'a, u32>,
    /// I: `[n_cells]`.
    pub inertia: View<'a, F>,
    /// a: `[n_faces]`.
    pub conductance: View<'a, F>,
    /// F, from left to right: `[n_faces]`.
    pub flux: View<'a, F>,
}

/// The coefficient of a face: α a + β max(−σF, 0).
#[device]
#[inline(always)]
fn coefficient<F: Real>(item: u32, of: &TransportView<'_, F>, alpha: F, beta: F) -> F {
    let f = without_sign(item);
    let inflow = (-with_sign::<F>(item, of.flux[f])).max(F::literal(0.0));
    alpha * of.conductance[f] + beta * inflow
}

/// `start` + ((W − I) x)_c.
#[device]
#[inline(always)]
fn add_face_terms<F: Real>(
    c: usize,
    cells: &CellFaces<'_, F>,
    of: &TransportView<'_, F>,
    alpha: F,
    beta: F,
    x: &View<'_, F>,
    start: F,
) -> F {
    let own = x[c];
    let mut sum = start;
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let mut difference = own;
        let j = of.neighbours[k];
        if is_cell(j) {
            difference -= x[j as usize];
        }
        sum += coefficient::<F>(cells.items[k], of, alpha, beta) * difference;
    }
    sum
}

/// y ← W x. Traffic a cell: 4 + 3s, an item 8, a face 2s.
#[kernel(out(y))]
pub fn transport_product<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    alpha: F,
    beta: F,
    x: &View<F>,
) -> F {
    add_face_terms::<F>(c, cells, of, alpha, beta, x, of.inertia[c] * x[c])
}

/// r ← r + s (W − I) x. Traffic as [`transport_product()`].
#[kernel(update(r))]
pub fn add_transport<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    alpha: F,
    beta: F,
    scale: F,
    x: &View<F>,
    r: F,
) -> F {
    r + scale * add_face_terms::<F>(c, cells, of, alpha, beta, x, F::literal(0.0))
}

/// The inverse of the diagonal of W. Traffic a cell: 4 + 2s, an item 4, a face 2s.
#[kernel(out(inverse))]
pub fn transport_inverse_diagonal<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    alpha: F,
    beta: F,
) -> F {
    let mut sum = of.inertia[c];
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        sum += coefficient::<F>(cells.items[k], of, alpha, beta);
    }
    F::literal(1.0) / sum
}

/// z ← D⁻¹ (b − (W − D) y), D the diagonal of W: a Jacobi sweep. Traffic as [`transport_product()`], a cell s more.
#[kernel(out(z))]
pub fn transport_sweep<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    alpha: F,
    beta: F,
    b: &View<F>,
    y: &View<F>,
) -> F {
    let mut sum = b[c];
    let mut diagonal = of.inertia[c];
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let own = coefficient::<F>(cells.items[k], of, alpha, beta);
        diagonal += own;
        let j = of.neighbours[k];
        if is_cell(j) {
            sum += own * y[j as usize];
        }
    }
    sum / diagonal
}

/// W on a backend.
pub struct TransportOperator<F: Real> {
    cells: Arc<FaceCells>,
    conductance: Arc<Buffer<F>>,
    /// I: `[n_cells]`.
    pub inertia: Buffer<F>,
    /// F: `[n_faces]`.
    pub flux: Buffer<F>,
    alpha: F,
    beta: F,
}

impl<F: Real> TransportOperator<F> {
    /// The operator of a mesh with factors α and β, without inertia and flux.
    pub fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        conductance: Arc<Buffer<F>>,
        [alpha, beta]: [f64; 2],
    ) -> Self {
        cells.neighbours(backend);
        TransportOperator {
            inertia: backend.zeros(cells.n_cells()),
            flux: backend.zeros(cells.n_faces()),
            cells,
            conductance,
            alpha: F::from_f64(alpha),
            beta: F::from_f64(beta),
        }
    }

    /// Sets inertia, `shift` times that given, and flux.
    pub fn set(&mut self, backend: &Backend, shift: f64, inertia: &Buffer<F>, flux: &Buffer<F>) {
        let (shift, zero, n) = (F::from_f64(shift), F::literal(0.0), inertia.len());
        blas::axpby(backend, n, shift, inertia, zero, &mut self.inertia);
        blas::copy(backend, flux.len(), flux, &mut self.flux);
    }

    /// The coefficients as kernels read them.
    fn view<'a>(&'a self, backend: &Backend) -> TransportView<'a, F> {
        TransportView {
            neighbours: self.cells.neighbours(backend).view(),
            inertia: self.inertia.view(),
            conductance: self.conductance.view(),
            flux: self.flux.view(),
        }
    }

    /// `inverse` ← the inverse of the diagonal of W: `[n_cells]`.
    pub fn inverse_diagonal(&self, backend: &Backend, inverse: &mut Buffer<F>) {
        let cells = CellFaces::of(&self.cells, View::absent());
        let n = self.cells.n_cells();
        let of = self.view(backend);
        transport_inverse_diagonal(backend, n, &cells, &of, self.alpha, self.beta, inverse);
    }

    /// r ← r + s (W' − I) x, W' with factors α and β of its own.
    pub fn add(
        &self,
        backend: &Backend,
        [alpha, beta]: [f64; 2],
        scale: f64,
        x: &Buffer<F>,
        r: &mut Buffer<F>,
    ) {
        add_transport(
            backend,
            self.cells.n_cells(),
            &CellFaces::of(&self.cells, View::absent()),
            &self.view(backend),
            F::from_f64(alpha),
            F::from_f64(beta),
            F::from_f64(scale),
            x,
            r,
        );
    }
}

impl<F: Real> Operator<F> for TransportOperator<F> {
    fn unknowns(&self) -> usize {
        self.cells.n_cells()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let cells = CellFaces::of(&self.cells, View::absent());
        let of = self.view(backend);
        transport_product(backend, self.cells.n_cells(), &cells, &of, self.alpha, self.beta, x, y);
    }
}

/// Jacobi sweeps from 0 with W. An odd number, so that modes of D⁻¹W near 2 are not lost; W is diagonally dominant, so that
/// sweeps converge.
pub struct TransportSweeps<F: Real> {
    /// W.
    pub operator: TransportOperator<F>,
    /// D⁻¹: `[n_cells]`.
    inverse: Buffer<F>,
    /// Scratch: `[n_cells]`.
    other: Buffer<F>,
}

/// Pairs of sweeps after the first.
const SWEEP_PAIRS: usize = 2;

impl<F: Real> TransportSweeps<F> {
    /// The sweeps of an operator.
    pub fn new(backend: &Backend, operator: TransportOperator<F>) -> Self {
        let n = operator.cells.n_cells();
        TransportSweeps { operator, inverse: backend.zeros(n), other: backend.zeros(n) }
    }

    /// Updates the diagonal after a change of the operator.
    pub fn update(&mut self, backend: &Backend) {
        self.operator.inverse_diagonal(backend, &mut self.inverse);
    }
}

impl<F: Real> Preconditioner<F> for TransportSweeps<F> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let TransportSweeps { operator, inverse, other } = self;
        let n = operator.cells.n_cells();
        let cells = CellFaces::of(&operator.cells, View::absent());
        let (of, alpha, beta) = (operator.view(backend), operator.alpha, operator.beta);
        blas::multiply(backend, n, inverse, r, z);
        for _ in 0..SWEEP_PAIRS {
            transport_sweep(backend, n, &cells, &of, alpha, beta, r, z, other);
            transport_sweep(backend, n, &cells, &of, alpha, beta, r, other, z);
        }
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize {
        let TransportSweeps { operator, inverse, .. } = self;
        let own = operator.inertia.bytes() + operator.flux.bytes() + operator.conductance.bytes();
        3 * inverse.bytes() + 2 * SWEEP_PAIRS * (own + 4 * inverse.bytes())
    }
}
