//! The matrix-free two-point Laplacian, A = −D a G with the conductances a of the faces; A is positive
//! semidefinite.
//!
//! [`Laplacian`] gathers in one kernel; [`ComposedLaplacian`] applies gradient, conductance and
//! divergence one after the other. Both equal the assembled matrix to round-off. Source: Menon's thesis,
//! ch. 6–7.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::incidence::{divergence, gradient, without_sign};
use super::neighbours::is_cell;
use super::topology::FaceCells;
use crate::backend::{Backend, Buffer, Partials, View, blas};
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// Σ_f a_f (x_c − x_other), with x_other = 0 beyond the boundary.
#[device]
#[inline(always)]
fn two_point_sum<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    x: &View<F>,
) -> F {
    let own = x[c];
    let mut sum = F::literal(0.0);
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let other = neighbours[k];
        let difference = if is_cell(other) { own - x[other as usize] } else { own };
        sum += conductance[without_sign(faces[k])] * difference;
    }
    sum
}

/// (A x)_c = Σ_f a_f (x_c − x_other); `conductance`: `[n_faces]`, 0 at a boundary face without flux.
///
/// Traffic a cell: 4 + 2s, an item 8, a face s.
#[kernel(laplacian, out(y))]
pub fn laplacian_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    x: &View<F>,
) -> F {
    two_point_sum::<F>(c, offsets, faces, neighbours, conductance, x)
}

/// [`laplacian`] with the block results of x·A x. Traffic of the Laplacian alone.
#[kernel(laplacian_dot, out(y), reduce(sum))]
pub fn laplacian_of_cell_dot<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    x: &View<F>,
) -> (F, f64) {
    let y = two_point_sum::<F>(c, offsets, faces, neighbours, conductance, x);
    (y, x[c].to_f64() * y.to_f64())
}

/// A in one gather.
#[derive(Debug)]
pub struct Laplacian<F: Real> {
    cells: Arc<FaceCells>,
    conductance: Buffer<F>,
}

impl<F: Real> Laplacian<F> {
    /// The Laplacian with a conductance for each face, `[n_faces]`.
    pub fn new(backend: &Backend, cells: Arc<FaceCells>, conductance: Buffer<F>) -> Self {
        cells.neighbours(backend);
        Laplacian { cells, conductance }
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.cells.n_cells()
    }

    /// y ← A x. `x`, `y`: `[n_cells]`.
    pub fn apply(&self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let Laplacian { cells, conductance: a } = self;
        let FaceCells { offsets, faces, .. } = &**cells;
        let neighbours = cells.neighbours(backend);
        laplacian(backend, cells.n_cells(), offsets, faces, neighbours, a, x, y);
    }

    /// y ← A x with the partials of x·y.
    pub fn apply_dot(
        &self,
        backend: &Backend,
        x: &Buffer<F>,
        y: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        let Laplacian { cells, conductance: a } = self;
        let FaceCells { offsets, faces, .. } = &**cells;
        let neighbours = cells.neighbours(backend);
        laplacian_dot(backend, cells.n_cells(), offsets, faces, neighbours, a, x, y, partials);
    }
}

/// A as −D a G, each operator on its own.
#[derive(Debug)]
pub struct ComposedLaplacian<F: Real> {
    cells: Arc<FaceCells>,
    negative_conductance: Buffer<F>,
    difference: Buffer<F>,
    flux: Buffer<F>,
}

impl<F: Real> ComposedLaplacian<F> {
    /// The Laplacian with a conductance for each face, `[n_faces]`.
    pub fn new(backend: &Backend, cells: Arc<FaceCells>, conductance: &[F]) -> Self {
        let n = cells.n_faces();
        ComposedLaplacian {
            negative_conductance: backend.upload(conductance.iter().map(|a| -*a).collect()),
            difference: backend.zeros(n),
            flux: backend.zeros(n),
            cells,
        }
    }

    /// y ← −D a G x. `x`, `y`: `[n_cells]`.
    pub fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let FaceCells { left, right, offsets, faces, .. } = &*self.cells;
        let (n_faces, inner) = (self.cells.n_faces(), self.cells.n_interior());
        gradient(backend, n_faces, left, right, x, inner, &mut self.difference);
        let a = &self.negative_conductance;
        blas::multiply(backend, n_faces, a, &self.difference, &mut self.flux);
        divergence(backend, self.cells.n_cells(), offsets, faces, &self.flux, self.cells.rows, y);
    }
}
