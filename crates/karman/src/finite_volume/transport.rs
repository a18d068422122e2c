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
use crate::backend::{Backend, Buffer, View};
use crate::linear::Operator;
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
