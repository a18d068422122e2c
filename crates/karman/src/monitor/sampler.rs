//! Values at points as weighted sums over cells or nodes.

use super::MonitorError;
use super::locate::{Located, locate};
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;

/// Rows of weights, one per point: value_i = Σ_k weights_k `field[items_k]`, k from `offsets[i]` to
/// `offsets[i + 1]`. A point outside the mesh has an empty row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampler {
    /// Start of each row: `[n_points + 1]`.
    pub offsets: Vec<u32>,
    /// Cells or nodes, in the solver's numbering: `[offsets[n_points]]`.
    pub items: Vec<u32>,
    /// Weights: `[offsets[n_points]]`.
    pub weights: Vec<f64>,
}

impl Sampler {
    /// Samples of a cell field: the value of the least-squares plane through the point's cell and the cells
    /// of its region that share a node with it, weighted by the inverse square of their distance from the
    /// point. Exact for linear fields. Along a direction in which these cells have no extent, the field is
    /// constant.
    pub fn of_cells(mesh: &Mesh, geometry: &Geometry, points: &[[f64; 3]]) -> Sampler {
        Self::of_located(mesh, geometry, points, &locate(mesh, points))
    }

    /// As [`Sampler::of_cells`], of points that [`locate`] has found.
    pub fn of_located(
        mesh: &Mesh,
        geometry: &Geometry,
        points: &[[f64; 3]],
        located: &[Option<Located>],
    ) -> Sampler {
        let around =
            NodeAdjacency::of_cells(mesh, located.iter().flatten().map(|found| found.cell));
        Sampler::from_rows(points.iter().zip(located).map(|(point, located)| match located {
            None => vec![],
            Some(located) => least_squares_row(
                geometry,
                located.cell,
                &around.of_cell(mesh, located.cell),
                point,
            ),
        }))
    }

    /// Samples of a nodal field by linear interpolation. Exact for linear fields.
    pub fn of_nodes(mesh: &Mesh, points: &[[f64; 3]]) -> Sampler {
        Sampler::from_rows(locate(mesh, points).iter().map(|located| match located {
            None => vec![],
            Some(Located { cell, weights, .. }) => {
                let nodes = mesh.cells.nodes_of(*cell).iter().copied();
                nodes.zip(weights.iter().copied()).collect()
            }
        }))
    }

    fn from_rows(rows: impl Iterator<Item = Vec<(u32, f64)>>) -> Sampler {
        let mut sampler = Sampler { offsets: vec![0], ..Sampler::default() };
        for row in rows {
            for (item, weight) in row {
                sampler.items.push(item);
                sampler.weights.push(weight);
            }
            sampler.offsets.push(sampler.items.len() as u32);
        }
        sampler
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items and weights of a point.
    pub fn row(&self, point: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.offsets[point] as usize..self.offsets[point + 1] as usize;
        range.map(|k| (self.items[k], self.weights[k]))
    }

    /// Whether the cell of a point, the first in a row of [`Sampler::of_cells`], has a boundary or periodic
    /// face. Cells then do not surround the point, and boundary values or gradients give a better value.
    pub fn is_at_boundary(&self, mesh: &Mesh, point: usize) -> bool {
        self.row(point).take(1).any(|(cell, _)| {
            let mut faces = mesh.cell_to_faces.of(cell as usize).iter();
            faces.any(|&item| {
                index_of(item) >= mesh.n_interior_faces() || mesh.is_periodic(index_of(item))
            })
        })
    }

    /// Whether a point is outside the mesh.
    pub fn is_outside(&self, point: usize) -> bool {
        self.offsets[point] == self.offsets[point + 1]
    }

    /// Requires that every point, named by `names`, is in the mesh.
    ///
    /// # Errors
    /// [`MonitorError::Outside`] for the first point that is not.
    pub fn require_inside(
        &self,
        mesh: &Mesh,
        names: &[&str],
        points: &[[f64; 3]],
    ) -> Result<(), MonitorError> {
        let Some(point) = (0..self.len()).find(|&point| self.is_outside(point)) else {
            return Ok(());
        };
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for x in &mesh.points {
            low = [0, 1, 2].map(|axis| low[axis].min(x[axis]));
            high = [0, 1, 2].map(|axis| high[axis].max(x[axis]));
        }
        Err(MonitorError::Outside { name: names[point].to_owned(), at: points[point], low, high })
    }
}

/// Distances and points along a line, ends included: `[count]` each; `count ≥ 2`.
pub fn line_points(from: [f64; 3], to: [f64; 3], count: usize) -> (Vec<f64>, Vec<[f64; 3]>) {
    let length = [0, 1, 2].map(|axis| (to[axis] - from[axis]).powi(2)).iter().sum::<f64>().sqrt();
    let last = count.max(2) - 1;
    let share = |point: usize| point as f64 / last as f64;
    // The last point is exactly `to`.
    let at = |share: f64| [0, 1, 2].map(|axis| from[axis] * (1.0 - share) + to[axis] * share);
    (
        (0..=last).map(|point| length * share(point)).collect(),
        (0..=last).map(|point| at(share(point))).collect(),
    )
}

/// The cells or faces at each node.
pub(super) struct NodeAdjacency {
    /// Node and adjacent entity, sorted.
    pairs: Vec<(u32, u32)>,
}

impl NodeAdjacency {
    /// The adjacency of some entities with their nodes.
    pub(super) fn new<'a>(entities: impl Iterator<Item = (u32, &'a [u32])>) -> NodeAdjacency {
        let at_nodes = |(entity, nodes): (u32, &'a [u32])| nodes.iter().map(move |&n| (n, entity));
        let mut pairs: Vec<(u32, u32)> = entities.flat_map(at_nodes).collect();
        pairs.sort_unstable();
        NodeAdjacency { pairs }
    }

    /// The adjacency of all cells that share a node with `cells`.
    pub(super) fn of_cells(mesh: &Mesh, cells: impl Iterator<Item = usize>) -> NodeAdjacency {
        let mut nodes = cells.flat_map(|cell| mesh.cells.nodes_of(cell)).peekable();
        if nodes.peek().is_none() {
            return NodeAdjacency { pairs: vec![] };
        }
        let mut is_marked = vec![false; mesh.n_nodes()];
        nodes.for_each(|node| is_marked[*node as usize] = true);
        let at_marked = |cell: usize| {
            let nodes = mesh.cells.nodes_of(cell).iter().copied();
            let marked = nodes.filter(|node| is_marked[*node as usize]);
            marked.map(move |node| (node, cell as u32))
        };
        let cells = (0..mesh.n_cells()).into_par_iter();
        let mut pairs: Vec<(u32, u32)> = cells.flat_map_iter(at_marked).collect();
        pairs.sort_unstable();
        NodeAdjacency { pairs }
    }

    /// The entities at some nodes, each once, in ascending order.
    pub(super) fn at(&self, nodes: &[u32]) -> Vec<usize> {
        let at_node = |node: &u32| {
            let first = self.pairs.partition_point(|pair| pair.0 < *node);
            let node = *node;
            self.pairs[first..].iter().take_while(move |pair| pair.0 == node)
        };
        let mut found: Vec<usize> =
            nodes.iter().flat_map(at_node).map(|pair| pair.1 as usize).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Cells that share region and a node with `cell`, in the order of the mesh file.
    pub(super) fn of_cell(&self, mesh: &Mesh, cell: usize) -> Vec<usize> {
        let region = mesh.cells.groups[cell];
        let mut found = self.at(mesh.cells.nodes_of(cell));
        found.retain(|&other| other != cell && mesh.cells.groups[other] == region);
        found.sort_unstable_by_key(|&other| mesh.original_cell[other]);
        found
    }
}

/// Weights of the value at x of the least-squares plane through a cell and the cells around it.
pub(super) fn least_squares_row(
    geometry: &Geometry,
    cell: usize,
    around: &[usize],
    x: &[f64; 3],
) -> Vec<(u32, f64)> {
    let cells = || std::iter::once(cell).chain(around.iter().copied());
    let centres: Vec<[f64; 3]> = cells().map(|cell| geometry.cell_centre_of(cell)).collect();
    cells().map(|cell| cell as u32).zip(least_squares_weights(&centres, *x)).collect()
}

/// Weights of the value at x of the least-squares plane through values φ_j at points x_j: φ̄ + g · (x − x̄)
/// with Σ w (x_j − x̄)(x_j − x̄)ᵀ g = Σ w (x_j − x̄) φ_j, where w = 1 / |x_j − x|², and x̄ and φ̄ are means
/// weighted by w. With weights about x, and not about the cell centre, the curvature of the field cancels
/// where the points surround x.
pub(super) fn least_squares_weights(points: &[[f64; 3]], x: [f64; 3]) -> Vec<f64> {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let minus = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let squares = points.iter().map(|point| minus(*point, x)).map(|d| dot(d, d));
    let squares: Vec<f64> = squares.collect();
    let largest = squares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // A point at x has a dominant but finite weight.
    let weights: Vec<f64> = squares.iter().map(|square| 1.0 / (square / largest + 1e-6)).collect();
    let total: f64 = weights.iter().sum();
    let mean = [0, 1, 2].map(|axis| {
        let weighted = points.iter().zip(&weights).map(|(point, weight)| weight * point[axis]);
        weighted.sum::<f64>() / total
    });
    let deltas: Vec<[f64; 3]> = points.iter().map(|point| minus(*point, mean)).collect();
    let mut moments = [[0.0; 3]; 3];
    for (delta, weight) in deltas.iter().zip(&weights) {
        for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
            moments[row][column] += weight * delta[row] * delta[column];
        }
    }
    let direction = pseudo_inverse_times(moments, minus(x, mean));
    let pairs = deltas.iter().zip(&weights);
    pairs.map(|(delta, w)| w * (1.0 / total + dot(*delta, direction))).collect()
}

/// A⁺ b, the pseudo-inverse of a symmetric A ≥ 0 times b, without negligible eigenvalues; these are found by
/// Jacobi rotations (Golub and Van Loan, Matrix Computations, §8.5).
fn pseudo_inverse_times(mut a: [[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for (p, q) in [(0, 1), (0, 2), (1, 2)].into_iter().cycle().take(36) {
        if a[p][q] == 0.0 {
            continue;
        }
        let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let s = t * c;
        for row in &mut a {
            (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
        }
        let (row_p, row_q) = (a[p], a[q]);
        a[p] = [0, 1, 2].map(|k| c * row_p[k] - s * row_q[k]);
        a[q] = [0, 1, 2].map(|k| s * row_p[k] + c * row_q[k]);
        for row in &mut vectors {
            (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
        }
    }
    let largest = (0..3).map(|k| a[k][k]).fold(0.0, f64::max);
    let mut x = [0.0; 3];
    for k in (0..3).filter(|&k| a[k][k] > 1e-8 * largest) {
        let coefficient = (0..3).map(|i| vectors[i][k] * b[i]).sum::<f64>() / a[k][k];
        (0..3).for_each(|i| x[i] += coefficient * vectors[i][k]);
    }
    x
}

#[cfg(test)]
mod tests;
