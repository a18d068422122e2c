//! Linear functions in cells from cell means.

use crate::simplices::simplex_of;
use crate::vector::{Point, dot, subtract};
use karman_mesh::geometry::cell_measure;
use karman_mesh::{Adjacency, Mesh};
use rayon::prelude::*;
use std::fmt;

/// Reductions of a slope to one half before it is set to zero.
const HALVINGS: usize = 20;
/// Smallest ratio of the eigenvalues of a least-squares matrix that determines a gradient, about.
const SINGULAR: f64 = 1e-13;

/// How the linear functions in the cells are limited.
#[derive(Clone, Copy)]
pub enum Limiter<'a> {
    /// Not at all: exact for linear fields.
    None,
    /// Values at the corners of a cell lie between the means of the cells around it (Barth & Jespersen, AIAA 89-0366, 1989).
    Bounds,
    /// As `Bounds`; and the state, all fields of a cell together, satisfies the function at the corners, or all slopes are reduced by one
    /// factor until it does. The states for which it is true are a convex set that contains the means: new means are then in it too
    /// (Zhang & Shu, *Journal of Computational Physics* 229, 2010).
    Admissible(&'a (dyn Fn(&[f64]) -> bool + Sync)),
}

impl fmt::Debug for Limiter<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Limiter::None => "None",
            Limiter::Bounds => "Bounds",
            Limiter::Admissible(_) => "Admissible",
        })
    }
}

/// The cells of a mesh with their centroids and with the cells of the same region around each.
#[derive(Clone, Debug)]
pub(crate) struct Stencils {
    dimension: usize,
    pub(crate) points: Vec<Point>,
    cells: Vec<Vec<u32>>,
    /// The cells around each: offsets and items.
    around: (Vec<usize>, Vec<u32>),
    pub(crate) centroids: Vec<Point>,
}

impl Stencils {
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let (simplex, _) = simplex_of(mesh.dimension);
        let centroid = |cell: usize| match mesh.cells.shapes[cell] {
            shape if shape == simplex => {
                super::overlap::centroid(mesh.dimension, &super::overlap::corners_of(mesh, cell))
            }
            shape => cell_measure(shape, mesh.cells.nodes_of(cell), &mesh.points).1,
        };
        let at_node = mesh.node_to_cells();
        let neighbours = |cell: usize| neighbours(mesh, &at_node, cell);
        let lists: Vec<Vec<u32>> = (0..mesh.n_cells()).into_par_iter().map(neighbours).collect();
        let mut offsets = vec![0];
        for list in &lists {
            offsets.push(offsets[offsets.len() - 1] + list.len());
        }
        Stencils {
            dimension: mesh.dimension,
            points: mesh.points.clone(),
            cells: (0..mesh.n_cells()).map(|cell| mesh.cells.nodes_of(cell).to_vec()).collect(),
            around: (offsets, lists.concat()),
            centroids: (0..mesh.n_cells()).map(centroid).collect(),
        }
    }

    /// Gradients of fields of cell means, `fields: [k][n]`, as `[n][k]`: least squares with weights 1/r² over the cells around each.
    pub(crate) fn gradients(&self, fields: &[&[f64]], limiter: Limiter<'_>) -> Vec<Point> {
        let k = fields.len();
        let mut gradients = vec![[0.0; 3]; k * self.cells.len()];
        let of_cell = |(cell, gradients): (usize, &mut [Point])| {
            let (offsets, items) = &self.around;
            let list = &items[offsets[cell]..offsets[cell + 1]];
            self.fit(cell, list, fields, gradients);
            if !matches!(limiter, Limiter::None) {
                self.bound(cell, list, fields, gradients);
            }
            if let Limiter::Admissible(is_admissible) = limiter {
                self.admit(cell, fields, gradients, is_admissible);
            }
        };
        gradients.par_chunks_mut(k.max(1)).enumerate().for_each(of_cell);
        gradients
    }

    /// Gradients by least squares; zero where the cells do not determine one.
    fn fit(&self, cell: usize, list: &[u32], fields: &[&[f64]], gradients: &mut [Point]) {
        let centre = self.centroids[cell];
        let mut matrix = [[0.0; 3]; 3];
        let weighted = |other: &u32| {
            let delta = subtract(self.centroids[*other as usize], centre);
            (delta, 1.0 / dot(delta, delta))
        };
        for (delta, weight) in list.iter().map(weighted) {
            for i in 0..3 {
                (0..3).for_each(|j| matrix[i][j] += weight * delta[i] * delta[j]);
            }
        }
        if self.dimension == 2 {
            matrix[2] = [0.0, 0.0, 1.0];
        }
        let Some(inverse) = inverse(&matrix) else { return };
        for (field, gradient) in fields.iter().zip(gradients) {
            let mut sum = [0.0; 3];
            for (other, (delta, weight)) in list.iter().zip(list.iter().map(weighted)) {
                let change = weight * (field[*other as usize] - field[cell]);
                (0..3).for_each(|axis| sum[axis] += change * delta[axis]);
            }
            *gradient = inverse.map(|row| dot(row, sum));
        }
    }

    /// Reduces gradients until corner values lie within the means around.
    fn bound(&self, cell: usize, list: &[u32], fields: &[&[f64]], gradients: &mut [Point]) {
        for (field, gradient) in fields.iter().zip(gradients) {
            let own = field[cell];
            let range = list.iter().map(|&other| field[other as usize]);
            let (low, high) = range.fold((own, own), |(low, high), v| (low.min(v), high.max(v)));
            let mut share = 1.0_f64;
            for &node in &self.cells[cell] {
                let change =
                    dot(*gradient, subtract(self.points[node as usize], self.centroids[cell]));
                let room = if change > 0.0 { high - own } else { low - own };
                if change.abs() > room.abs() {
                    share = share.min(room / change);
                }
            }
            *gradient = gradient.map(|x| share * x);
        }
    }

    /// Halves all gradients of a cell until its corner states are admissible.
    fn admit(
        &self,
        cell: usize,
        fields: &[&[f64]],
        gradients: &mut [Point],
        is_admissible: &(dyn Fn(&[f64]) -> bool + Sync),
    ) {
        let mut state = vec![0.0; fields.len()];
        let mut are_admissible = |gradients: &[Point]| {
            self.cells[cell].iter().all(|&node| {
                let delta = subtract(self.points[node as usize], self.centroids[cell]);
                for ((value, field), gradient) in state.iter_mut().zip(fields).zip(gradients) {
                    *value = field[cell] + dot(*gradient, delta);
                }
                is_admissible(&state)
            })
        };
        for _ in 0..HALVINGS {
            if are_admissible(gradients) {
                return;
            }
            gradients.iter_mut().for_each(|gradient| *gradient = gradient.map(|x| 0.5 * x));
        }
        gradients.fill([0.0; 3]);
    }
}

/// Cells of the region of a cell that have a node in common with it, ascending, without the cell.
fn neighbours(mesh: &Mesh, at_node: &Adjacency, cell: usize) -> Vec<u32> {
    let cells = mesh.cells.nodes_of(cell).iter().flat_map(|&node| at_node.of(node as usize));
    let groups = &mesh.cells.groups;
    let is_other = |other: &u32| *other as usize != cell && groups[*other as usize] == groups[cell];
    let mut list: Vec<u32> = cells.copied().filter(is_other).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// The inverse of a symmetric matrix, none where it is singular.
fn inverse(m: &[[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let cofactors = [
        crate::vector::cross(m[1], m[2]),
        crate::vector::cross(m[2], m[0]),
        crate::vector::cross(m[0], m[1]),
    ];
    let determinant = dot(m[0], cofactors[0]);
    let trace = (m[0][0] + m[1][1] + m[2][2]) / 3.0;
    // Rows of the inverse are columns of cofactors; both are symmetric.
    (determinant > SINGULAR * trace * trace * trace)
        .then(|| cofactors.map(|row| row.map(|x| x / determinant)))
}
