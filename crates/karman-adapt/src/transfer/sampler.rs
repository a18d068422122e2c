//! Fields of a mesh at any places.

use super::boxes::{Bounds, BoxTree};
use super::clip::measure;
use super::overlap::tree_of;
use super::reconstruct::{Limiter, Stencils};
use crate::error::AdaptError;
use crate::mesh::check_periodic;
use crate::vector::{Point, dot, norm, subtract};
use crate::walk::CellWalk;
use karman_mesh::Mesh;
use rayon::prelude::*;

/// Least barycentric coordinate of a place in a cell.
const INSIDE: f64 = -1e-12;
/// First distance from a place outside in which cells are sought, as a share of the diagonal; it grows by [`GROWTH`].
const NEAR: f64 = 1e-6;
/// See [`NEAR`].
const GROWTH: f64 = 4.0;

/// Interpolation of the fields of a mesh, linear in each cell, fields of nodes in each of the simplices into which its cells are divided.
/// A place outside takes the function of the nearest cell.
#[derive(Debug)]
pub struct FieldSampler {
    pub(super) walk: CellWalk,
    pub(super) tree: BoxTree,
    pub(super) stencils: Stencils,
}

impl FieldSampler {
    /// The sampler of the fields of `mesh`.
    ///
    /// # Errors
    /// [`AdaptError::Periodic`] where the mesh has periodic patches.
    pub fn new(mesh: &Mesh) -> Result<Self, AdaptError> {
        check_periodic(mesh)?;
        let walk = CellWalk::new(mesh);
        Ok(FieldSampler { tree: tree_of(&walk), walk, stencils: Stencils::new(mesh) })
    }

    /// Values at points, `points: [3][n]` component-major, of fields of cell means, each `[n_cells]`: the mean of the cell with its
    /// least-squares gradient. Exact for linear fields without a limiter; with one, a place outside takes the value of a place in the cell.
    pub fn cells(&self, fields: &[&[f64]], points: &[f64], limiter: Limiter<'_>) -> Vec<Vec<f64>> {
        let gradients = self.stencils.gradients(fields, limiter);
        let is_linear = matches!(limiter, Limiter::None);
        let places = self.at_points(points, |simplex, shares, point| {
            let place = if is_linear { point } else { self.inside(simplex, shares) };
            let cell = self.walk.owners[simplex as usize] as usize;
            (cell, subtract(place, self.stencils.centroids[cell]))
        });
        let of_field = |(k, field): (usize, &&[f64])| {
            let value = |(cell, delta): &(usize, Point)| {
                field[*cell] + dot(gradients[cell * fields.len() + k], *delta)
            };
            places.par_iter().map(value).collect()
        };
        fields.iter().enumerate().map(of_field).collect()
    }

    /// Values at points, `points: [3][n]` component-major, of a field of nodes `[n_nodes]`, linear in each cell.
    pub fn nodes(&self, values: &[f64], points: &[f64]) -> Vec<f64> {
        self.at_points(points, |cell, shares, _| {
            let nodes = &self.walk.cells[cell as usize][..=self.walk.dimension];
            let terms =
                nodes.iter().zip(shares).map(|(&node, share)| share * values[node as usize]);
            terms.fold(0.0, |sum, term| sum + term)
        })
    }

    fn at_points<T: Send>(
        &self,
        points: &[f64],
        evaluate: impl Fn(u32, [f64; 4], Point) -> T + Sync,
    ) -> Vec<T> {
        let n = points.len() / 3;
        let at = |found: &mut Vec<u32>, i: usize| {
            let point = [points[i], points[n + i], points[2 * n + i]];
            let (cell, shares) = self.locate(point, found);
            evaluate(cell, shares, point)
        };
        (0..n).into_par_iter().map_init(Vec::new, at).collect()
    }

    /// The simplex that contains a place, or the nearest, and the barycentric coordinates in it.
    pub(super) fn locate(&self, point: Point, found: &mut Vec<u32>) -> (u32, [f64; 4]) {
        let corners = ..=self.walk.dimension;
        let at = Bounds { low: point, high: point };
        self.tree.find(&at, found);
        for &cell in found.iter() {
            let shares = self.walk.barycentric(cell, point);
            if shares[corners].iter().all(|&share| share >= INSIDE) {
                return (cell, shares);
            }
        }
        let mut margin = NEAR * self.tree.diagonal();
        loop {
            self.tree.find(&at.grown(margin), found);
            let distances = found.iter().map(|&cell| (self.distance(cell, point), cell));
            let nearest = distances.min_by(|a, b| a.0.total_cmp(&b.0));
            match nearest {
                Some((distance, cell)) if distance <= margin => {
                    return (cell, self.walk.barycentric(cell, point));
                }
                _ if !margin.is_finite() => return (0, self.walk.barycentric(0, point)),
                _ => margin *= GROWTH,
            }
        }
    }

    /// The place in a cell with the positive ones of the barycentric coordinates, scaled to the sum 1.
    fn inside(&self, cell: u32, shares: [f64; 4]) -> Point {
        let shares = shares.map(|share| share.max(0.0));
        let total = shares.iter().fold(0.0, |sum, share| sum + share);
        let mut inside = [0.0; 3];
        for (node, share) in self.walk.cells[cell as usize].into_iter().zip(shares) {
            let corner = self.walk.points[node as usize];
            (0..3).for_each(|axis| inside[axis] += share / total * corner[axis]);
        }
        inside
    }

    /// Distance of a place from a point of the cell near it.
    fn distance(&self, cell: u32, point: Point) -> f64 {
        norm(subtract(point, self.inside(cell, self.walk.barycentric(cell, point))))
    }

    /// Number of cells of the mesh.
    pub(super) fn n_cells(&self) -> usize {
        self.stencils.centroids.len()
    }

    /// Volumes (areas) of the cells that were not kept, 0 of the others.
    pub(super) fn volumes(&self, is_kept: &[bool]) -> Vec<f64> {
        let mut volumes = vec![0.0; self.n_cells()];
        for (simplex, &cell) in self.walk.cells.iter().zip(&self.walk.owners) {
            if !is_kept[cell as usize] {
                let corners = simplex.map(|node| self.walk.points[node as usize]);
                volumes[cell as usize] += measure(self.walk.dimension, &corners);
            }
        }
        volumes
    }
}
