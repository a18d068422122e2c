//! The matrix-free two-point Laplacian A = −D a G with the conductances a of the faces: about a third of the traffic of the
//! assembled matrix, at the price of a second level of indices. A is positive semidefinite. Source: Menon's thesis, ch. 6–7.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::mesh_view::CellFaces;
use crate::backend::{Backend, Buffer, Partials, View};
use crate::linear::Operator;
use crate::operators::FaceCells;
use crate::operators::incidence::without_sign;
use crate::operators::neighbours::is_cell;
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// Σ_f a_f (x_c − x_other), with x_other = 0 beyond the boundary.
#[device]
#[inline(always)]
fn two_point_sum<F: Real>(
    c: usize,
    cells: &CellFaces<'_, F>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    x: &View<F>,
) -> F {
    let own = x[c];
    let mut sum = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let other = neighbours[k];
        let difference = if is_cell(other) { own - x[other as usize] } else { own };
        sum += conductance[without_sign(cells.items[k])] * difference;
    }
    sum
}

/// (A x)_c = Σ_f a_f (x_c − x_other); `conductance`: `[n_faces]`, 0 at a boundary face without flux.
///
/// Traffic a cell: 4 + 2s, an item 8, a face s.
#[kernel(out(y))]
pub fn two_point_laplacian<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    x: &View<F>,
) -> F {
    two_point_sum::<F>(c, cells, neighbours, conductance, x)
}

/// [`two_point_laplacian()`] with the block results of x·A x. Traffic of the Laplacian alone.
#[kernel(out(y), reduce(sum))]
pub fn two_point_laplacian_dot<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    x: &View<F>,
) -> (F, f64) {
    let y = two_point_sum::<F>(c, cells, neighbours, conductance, x);
    (y, x[c].to_f64() * y.to_f64())
}

/// A in one gather.
#[derive(Debug)]
pub struct Laplacian<F: Real> {
    cells: Arc<FaceCells>,
    conductance: Buffer<F>,
}

impl<F: Real> Laplacian<F> {
    /// The Laplacian with a conductance for each face, `[n_faces]`, those of
    /// [`CellScheme::conductances`](super::cell_scheme::CellScheme::conductances).
    pub fn new(backend: &Backend, cells: Arc<FaceCells>, conductance: Buffer<F>) -> Self {
        cells.neighbours(backend);
        Laplacian { cells, conductance }
    }
}

impl<F: Real> Operator<F> for Laplacian<F> {
    fn unknowns(&self) -> usize {
        self.cells.n_cells()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let Laplacian { cells, conductance } = self;
        let of_cells = CellFaces::of(cells, View::absent());
        let neighbours = cells.neighbours(backend);
        two_point_laplacian(backend, cells.n_cells(), &of_cells, neighbours, conductance, x, y);
    }

    fn apply_dot(
        &mut self,
        backend: &Backend,
        x: &Buffer<F>,
        y: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        let Laplacian { cells, conductance: a } = self;
        let (n, of_cells) = (cells.n_cells(), CellFaces::of(cells, View::absent()));
        let neighbours = cells.neighbours(backend);
        two_point_laplacian_dot(backend, n, &of_cells, neighbours, a, x, y, partials);
    }
}
