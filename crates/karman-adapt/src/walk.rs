//! The cell of a mesh that contains a place, by a walk from simplex to simplex.

use crate::complex::NONE;
use crate::simplices::{behind_facets, split_cells};
use crate::vector::{Point, cross, dot, subtract};
use karman_mesh::{Mesh, index_of};

/// Steps of a walk before another start is tried.
const LONGEST_WALK: usize = 400;
/// Least barycentric coordinate of a place that a cell contains.
const INSIDE: f64 = -1e-9;

/// A mesh of simplices in which cells are found by walks.
#[derive(Debug)]
pub(crate) struct CellWalk {
    pub(crate) dimension: usize,
    pub(crate) points: Vec<Point>,
    /// Corners of the cells; a triangle has its first corner again as the last.
    pub(crate) cells: Vec<[u32; 4]>,
    /// Cell behind the facet opposite to each corner, [`NONE`] at the boundary.
    pub(crate) behind: Vec<[u32; 4]>,
    /// The cell of the mesh that each of `cells` is a part of.
    pub(crate) owners: Vec<u32>,
    starts: Starts,
}

/// A cell for each box of a regular grid, where a walk begins that has no hint or fails.
#[derive(Debug)]
struct Starts {
    low: Point,
    per_length: Point,
    boxes: [usize; 3],
    cells: Vec<u32>,
}

impl CellWalk {
    /// The cells of a mesh of simplices, or the simplices into which the cells of another mesh are divided.
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let corners = mesh.dimension + 1;
        if mesh.cells.shapes.iter().any(|shape| shape.node_count() != corners) {
            let (cells, owners) = split_cells(mesh);
            let behind = behind_facets(mesh.dimension, &cells);
            return CellWalk::of(mesh, cells, behind, owners);
        }
        let mut cells = Vec::with_capacity(mesh.n_cells());
        let mut all_behind = vec![[NONE; 4]; mesh.n_cells()];
        for (cell, behind) in all_behind.iter_mut().enumerate() {
            let nodes = mesh.cells.nodes_of(cell);
            let mut all = [nodes[0]; 4];
            all[..corners].copy_from_slice(nodes);
            cells.push(all);
            for &item in mesh.cell_to_faces.of(cell) {
                let face = index_of(item);
                if face < mesh.n_interior_faces() {
                    let other = mesh.face_left[face] ^ mesh.face_right[face] ^ cell as u32;
                    let of_face = mesh.face_to_nodes.of(face);
                    if let Some(apex) = nodes.iter().position(|node| !of_face.contains(node)) {
                        behind[apex] = other;
                    }
                }
            }
        }
        let owners = (0..mesh.n_cells() as u32).collect();
        CellWalk::of(mesh, cells, all_behind, owners)
    }

    fn of(mesh: &Mesh, cells: Vec<[u32; 4]>, behind: Vec<[u32; 4]>, owners: Vec<u32>) -> Self {
        let starts = Starts::new(&mesh.points, &cells, mesh.dimension);
        let (dimension, points) = (mesh.dimension, mesh.points.clone());
        CellWalk { dimension, points, cells, behind, owners, starts }
    }

    /// Barycentric coordinates of `point` in a cell; the last of a triangle is 0.
    pub(crate) fn barycentric(&self, cell: u32, point: Point) -> [f64; 4] {
        let [a, b, c, d] = self.cells[cell as usize].map(|node| self.points[node as usize]);
        let (u, v, p) = (subtract(b, a), subtract(c, a), subtract(point, a));
        if self.dimension == 2 {
            let area = u[0] * v[1] - u[1] * v[0];
            let (second, third) =
                ((p[0] * v[1] - p[1] * v[0]) / area, (u[0] * p[1] - u[1] * p[0]) / area);
            return [1.0 - second - third, second, third, 0.0];
        }
        let w = subtract(d, a);
        let volume = dot(cross(u, v), w);
        let second = dot(cross(p, v), w) / volume;
        let third = dot(cross(u, p), w) / volume;
        let fourth = dot(cross(u, v), p) / volume;
        [1.0 - second - third - fourth, second, third, fourth]
    }

    /// Walks from `start` towards `point`: the cell that contains it or the last one before the boundary, and its coordinates.
    fn walk(&self, start: u32, point: Point) -> (u32, [f64; 4]) {
        let mut cell = start;
        let mut from = NONE;
        for _ in 0..LONGEST_WALK {
            let shares = self.barycentric(cell, point);
            let mut order = [0, 1, 2, 3];
            order.sort_unstable_by(|&i, &j| shares[i].total_cmp(&shares[j]));
            let next =
                order.iter().filter(|&&corner| shares[corner] < 0.0 && corner <= self.dimension);
            let mut next = next.map(|&corner| self.behind[cell as usize][corner]);
            match next.find(|&other| other != NONE && other != from) {
                Some(other) => (from, cell) = (cell, other),
                None => return (cell, shares),
            }
        }
        (cell, self.barycentric(cell, point))
    }

    /// The cell that contains `point`, or the nearest that was found.
    pub(crate) fn locate(&self, point: Point, hint: u32) -> (u32, [f64; 4]) {
        let lowest = |shares: &[f64; 4]| {
            shares[..=self.dimension].iter().copied().fold(f64::INFINITY, f64::min)
        };
        let mut best = self.walk(hint.min(self.cells.len() as u32 - 1), point);
        if lowest(&best.1) < INSIDE {
            let second = self.walk(self.starts.of(point), point);
            if lowest(&second.1) > lowest(&best.1) {
                best = second;
            }
        }
        best
    }
}

impl Starts {
    fn new(points: &[Point], cells: &[[u32; 4]], dimension: usize) -> Self {
        let bound = |axis: usize, pick: fn(f64, f64) -> f64, first: f64| {
            points.iter().map(|point| point[axis]).fold(first, pick)
        };
        let low = [0, 1, 2].map(|axis| bound(axis, f64::min, f64::INFINITY));
        let high = [0, 1, 2].map(|axis| bound(axis, f64::max, f64::NEG_INFINITY));
        let per_axis =
            (cells.len() as f64 / 2.0).powf(1.0 / dimension as f64).ceil().clamp(1.0, 128.0);
        let mut boxes = [per_axis as usize; 3];
        boxes[dimension..].fill(1);
        let per_length = [0, 1, 2]
            .map(|axis| boxes[axis] as f64 / (high[axis] - low[axis]).max(f64::MIN_POSITIVE));
        let count = boxes[0] * boxes[1] * boxes[2];
        let mut starts = Starts { low, per_length, boxes, cells: vec![NONE; count] };
        for (cell, nodes) in cells.iter().enumerate() {
            for &node in &nodes[..=dimension] {
                let at = starts.index(points[node as usize]);
                if starts.cells[at] == NONE {
                    starts.cells[at] = cell as u32;
                }
            }
        }
        // An empty box takes the cell of the one before it.
        let mut last = 0;
        for cell in &mut starts.cells {
            if *cell == NONE {
                *cell = last;
            }
            last = *cell;
        }
        starts
    }

    fn index(&self, point: Point) -> usize {
        let [i, j, k] = [0, 1, 2].map(|axis| {
            let at = (point[axis] - self.low[axis]) * self.per_length[axis];
            (at.max(0.0) as usize).min(self.boxes[axis] - 1)
        });
        (k * self.boxes[1] + j) * self.boxes[0] + i
    }

    fn of(&self, point: Point) -> u32 {
        self.cells[self.index(point)]
    }
}
