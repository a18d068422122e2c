//! The least-squares gradient with precomputed weights, for a mesh that does not move.
//!
//! [`super::gradient::least_squares_gradient`] recomputes the weights each time, which needs no memory
//! but a division an item and the solution of a 3 × 3 system a cell.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::incidence::{periodic_offset, without_sign};
use super::neighbours::is_cell;
use super::topology::{FaceCells, MeshGeometry};
use crate::backend::{Backend, Buffer, Segment, View};
use crate::real::{Real, Sym3, Vec3};
use karman_backend::prelude::*;
use std::sync::Arc;

/// ∇p_c = Σ_k W_k (p_k − p_c), W_k = (Σ w d dᵀ)⁻¹ w_k d_k with w = 1/|d|², as
/// [`super::gradient::least_squares_gradient`] defines it.
#[derive(Debug)]
pub struct LeastSquares<F: Real> {
    cells: Arc<FaceCells>,
    /// `[3][items]`
    weights: Buffer<F>,
}

impl<F: Real> LeastSquares<F> {
    /// The weights of a mesh of `dimension`. `boundary_weight`: `[n_faces − n_interior]`, 1, or 0 where
    /// the value at the face is unknown.
    pub fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        geometry: &MeshGeometry<F>,
        boundary_weight: &Buffer<F>,
        dimension: usize,
    ) -> Self {
        let neighbours = cells.neighbours(backend);
        let n_items = neighbours.len();
        let mut weights = backend.zeros(3 * n_items);
        least_squares_weights(
            backend,
            cells.n_cells(),
            &cells.offsets,
            &cells.faces,
            neighbours,
            boundary_weight,
            &geometry.face_centre,
            &geometry.cell_centre,
            &geometry.shift,
            cells.n_interior(),
            cells.n_faces(),
            cells.n_cells(),
            n_items,
            dimension,
            geometry.is_periodic,
            &mut weights,
        );
        LeastSquares { cells, weights }
    }

    /// The gradient, `[3][n_cells]`, of `p: [n_cells]` with `boundary_value: [n_faces − n_interior]`.
    pub fn apply(
        &self,
        backend: &Backend,
        p: &Buffer<F>,
        boundary_value: &Buffer<F>,
        gradient: &mut Buffer<F>,
    ) {
        let LeastSquares { cells, weights } = self;
        let other = cells.neighbours(backend);
        let (n, offsets, items) = (cells.n_cells(), &cells.offsets, other.len());
        weighted_gradient(backend, n, offsets, other, weights, p, boundary_value, items, gradient);
    }
}

/// From the centre `x` of a cell to its neighbour's centre, or to the centroid of a boundary face.
#[device]
fn delta<F: Real>(
    x: Vec3<F>,
    item: u32,
    neighbour: u32,
    face_centre: &View<F>,
    cell_centre: &View<F>,
    shift: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] periodic: bool,
) -> Vec3<F> {
    let mut end = Vec3::<F>::zero();
    if is_cell(neighbour) {
        end = Vec3::<F>::at(cell_centre, neighbour as usize, n_cells);
        if comptime!(periodic) {
            end += periodic_offset::<F>(item, shift, n_interior);
        }
    } else {
        end = Vec3::<F>::at(face_centre, n_interior + without_sign(neighbour), n_faces);
    }
    end - x
}

/// The weights of a cell's items.
///
/// Traffic a cell: 4 + 3s, an item 8 + 3s, a boundary face 4s.
#[kernel(least_squares_weights)]
pub fn least_squares_weights_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    neighbours: &View<u32>,
    boundary_weight: &View<F>,
    face_centre: &View<F>,
    cell_centre: &View<F>,
    shift: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    n_items: usize,
    #[comptime] dimension: usize,
    #[comptime] periodic: bool,
    weights: &mut Segment<F>,
) {
    let mut a = Sym3::<F>::zero();
    let centre = Vec3::<F>::at(cell_centre, c, n_cells);
    let first = offsets[c] as usize;
    let end = offsets[c + 1] as usize;
    for k in first..end {
        let j = neighbours[k];
        let d = delta::<F>(
            centre,
            faces[k],
            j,
            face_centre,
            cell_centre,
            shift,
            n_interior,
            n_faces,
            n_cells,
            periodic,
        );
        let w = weight_of::<F>(j, d, boundary_weight);
        a += Sym3::<F>::outer(d, w);
        weights[k] = d.x * w;
        weights[n_items + k] = d.y * w;
        weights[2 * n_items + k] = d.z * w;
    }
    if comptime!(dimension == 2) {
        a.zz = a.xx + a.yy;
    }
    for k in first..end {
        let weighted =
            Vec3::<F> { x: weights[k], y: weights[n_items + k], z: weights[2 * n_items + k] };
        let solved = a.solve(weighted);
        weights[k] = solved.x;
        weights[n_items + k] = solved.y;
        weights[2 * n_items + k] = solved.z;
    }
}

/// 1/|d|², or 0 for a boundary face of unknown value.
#[device]
fn weight_of<F: Real>(neighbour: u32, d: Vec3<F>, boundary_weight: &View<F>) -> F {
    let mut weight = F::literal(1.0);
    if !is_cell(neighbour) {
        weight = boundary_weight[without_sign(neighbour)];
    }
    weight / d.dot(d)
}

/// Σ_k W_k (p_k − p_c).
///
/// Traffic a cell: 4 + 4s, an item 4 + 3s, a boundary face s.
#[kernel(weighted_gradient, out(g))]
pub fn weighted_gradient_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    neighbours: &View<u32>,
    weights: &View<F>,
    p: &View<F>,
    boundary_value: &View<F>,
    n_items: usize,
) -> Vec3<F> {
    let own = p[c];
    let mut g = Vec3::<F>::zero();
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let j = neighbours[k];
        let value = if is_cell(j) { p[j as usize] } else { boundary_value[without_sign(j)] };
        let difference = value - own;
        g.x += weights[k] * difference;
        g.y += weights[n_items + k] * difference;
        g.z += weights[2 * n_items + k] * difference;
    }
    g
}
