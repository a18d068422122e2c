//! Location of points in cells.

use super::interpolation::{CellCoordinates, cell_coordinates};
use super::point_tree::PointTree;
use crate::mesh::Mesh;
use crate::mesh::geometry::norm;
use rayon::prelude::*;

/// Cells per parallel task.
const CHUNK: usize = 4096;

/// Largest distance of a point outside its cell, over the distance from the cell centre to its surface: a
/// point on a curved boundary lies outside the flat faces of the mesh. One of n facets around a circle lies
/// π²/(2n²) of the radius inside, about 4/n of the distance from a tetrahedron's centre.
const REACH: f64 = 0.4;

/// Largest distance of a point from the point of its cell whose values it gets, over the size of the cell. The
/// centre of a facet of edges h lies h²/6R inside a sphere of radius R.
const MAX_DISTANCE: f64 = 0.15;

/// Tolerance within which a point on a face belongs to both cells.
const ROUND_OFF: f64 = 1e-10;

/// The cell of a point and its interpolation weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The cell.
    pub cell: usize,
    /// Weight of each node of the cell, in the order of `mesh.cells.nodes_of`, with sum 1. A point outside
    /// the mesh has the weights of a point on its surface.
    pub weights: Vec<f64>,
    /// Distance of the point outside the mesh, over that from the cell centre to its surface; 0 inside.
    pub outside: f64,
}

/// The cell of each point: `[n_points]`; none for a point outside the mesh by more than two fifths of the
/// distance from the nearest cell's centre to its surface, or by more than 0.15 of the cell. A point between cells
/// belongs to the first of them in the mesh file, whatever the numbering. In 2D the third coordinate is
/// ignored.
///
/// One pass over the cells serves all points: each cell searches the points near it.
pub fn locate(mesh: &Mesh, points: &[[f64; 3]]) -> Vec<Option<Located>> {
    if points.is_empty() {
        return vec![];
    }
    let tree = PointTree::new(points, mesh.dimension);
    let chunks: Vec<usize> = (0..mesh.n_cells()).step_by(CHUNK).collect();
    let found: Vec<Vec<(usize, usize, CellCoordinates)>> = chunks
        .into_par_iter()
        .map(|first| {
            let cells = first..(first + CHUNK).min(mesh.n_cells());
            cells.flat_map(|cell| candidates(mesh, cell, points, &tree)).collect()
        })
        .collect();
    let mut best: Vec<Option<(usize, CellCoordinates)>> = vec![None; points.len()];
    for (point, cell, position) in found.into_iter().flatten() {
        let better = match &best[point] {
            None => true,
            Some((known, known_position)) => {
                rank(mesh, cell, &position) < rank(mesh, *known, known_position)
            }
        };
        if better {
            best[point] = Some((cell, position));
        }
    }
    let located = |(cell, position): (usize, CellCoordinates)| {
        let nodes = mesh.cells.nodes_of(cell).len();
        let (outside, _) = rank(mesh, cell, &position);
        let weights = match outside > 0.0 {
            true => weights_on_surface(&position.weights[..nodes]),
            false => position.weights[..nodes].to_vec(),
        };
        Located { cell, weights, outside }
    };
    best.into_iter().map(|found| found.map(located)).collect()
}

/// The weights of a point of the surface of a cell, for those of a point outside.
fn weights_on_surface(weights: &[f64]) -> Vec<f64> {
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight.max(0.0));
    weights.iter().map(|weight| weight.max(0.0) / sum).collect()
}

/// The order of candidate cells: by distance outside, then by number in the mesh file.
fn rank(mesh: &Mesh, cell: usize, position: &CellCoordinates) -> (f64, u32) {
    let outside = if position.outside <= ROUND_OFF { 0.0 } else { position.outside };
    (outside, mesh.original_cell[cell])
}

/// The points that may be in a cell, with their weights there.
fn candidates(
    mesh: &Mesh,
    cell: usize,
    points: &[[f64; 3]],
    tree: &PointTree,
) -> Vec<(usize, usize, CellCoordinates)> {
    let nodes = mesh.cells.nodes_of(cell);
    let corner = |node: usize| mesh.points[nodes[node] as usize];
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in (0..nodes.len()).map(corner) {
        low = [0, 1, 2].map(|i| low[i].min(point[i]));
        high = [0, 1, 2].map(|i| high[i].max(point[i]));
    }
    let extent = [0, 1, 2].map(|i| high[i] - low[i]).into_iter().fold(0.0, f64::max);
    let margin = REACH * extent;
    let mut found = vec![];
    tree.in_box(low.map(|x| x - margin), high.map(|x| x + margin), &mut |point| {
        let position = cell_coordinates(mesh.cells.shapes[cell], corner, points[point]);
        let is_near = || {
            let mut gap = points[point];
            for (node, weight) in
                weights_on_surface(&position.weights[..nodes.len()]).iter().enumerate()
            {
                let x = corner(node);
                (0..mesh.dimension).for_each(|axis| gap[axis] -= weight * x[axis]);
            }
            norm(std::array::from_fn(|axis| if axis < mesh.dimension { gap[axis] } else { 0.0 }))
                <= MAX_DISTANCE * extent
        };
        if position.outside <= ROUND_OFF || position.outside <= REACH && is_near() {
            found.push((point, cell, position));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing;
    use crate::mesh::{CellShape, MeshOptions, RawMesh, Renumbering};

    /// The unit square in n × n squares, each cut into two triangles.
    fn square(n: u32, renumber: Renumbering) -> Mesh {
        let mut raw = RawMesh { dimension: 2, ..RawMesh::default() };
        raw.regions = vec!["default".into()];
        raw.cells.offsets = vec![0];
        raw.boundary.offsets = vec![0];
        for (j, i) in (0..=n).flat_map(|j| (0..=n).map(move |i| (j, i))) {
            raw.points.push([f64::from(i) / f64::from(n), f64::from(j) / f64::from(n), 0.0]);
        }
        let at = |i: u32, j: u32| i + (n + 1) * j;
        for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (j, i))) {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            raw.cells.push(CellShape::Triangle, &[a, b, c], 0);
            raw.cells.push(CellShape::Triangle, &[a, c, d], 0);
        }
        raw.patches = vec!["side".into()];
        for k in 0..n {
            for pair in [
                [at(k, 0), at(k + 1, 0)],
                [at(n, k), at(n, k + 1)],
                [at(k + 1, n), at(k, n)],
                [at(0, k + 1), at(0, k)],
            ] {
                raw.boundary.push(CellShape::Segment, &pair, 0);
            }
        }
        Mesh::new(raw, &MeshOptions { renumber, ..MeshOptions::default() }).unwrap()
    }

    /// A pipe of radius ½ of Gmsh tetrahedra: points of the circle have the values of the facets, others none.
    #[test]
    fn points_beside_a_curved_wall_are_outside() {
        let mesh = testing::built(testing::gmsh("pipe_medium")).0;
        for (radius, is_found) in [(0.45, true), (0.4999, true), (0.55, false), (0.583, false)] {
            for k in 0..200 {
                let (sin, cos) = (0.0314 * f64::from(k)).sin_cos();
                let point = [radius * cos, radius * sin, 0.005 * f64::from(k)];
                let found = locate(&mesh, &[point]);
                assert_eq!(found[0].is_some(), is_found, "{point:?}");
            }
        }
    }

    #[test]
    fn points_are_found_wherever_they_are_and_whatever_the_numbering() {
        let points: Vec<[f64; 3]> = vec![
            [0.501, 0.23, 0.0],
            [0.0, 0.0, 5.0],
            [1.0, 1.0, 0.0],
            [0.5, 0.5, 0.0],
            [0.31, 1.001, 0.0],
            [0.3, 1.2, 0.0],
            [f64::NAN, 0.5, 0.0],
        ];
        let file_cells = |renumber| -> Vec<Option<u32>> {
            let mesh = square(10, renumber);
            let found = locate(&mesh, &points);
            for (point, located) in points.iter().zip(&found) {
                let Some(located) = located else { continue };
                let nodes = mesh.cells.nodes_of(located.cell);
                assert_eq!(located.outside > 0.0, point[1] > 1.0);
                // A point beyond a side is projected onto it.
                for (axis, expected) in point.map(|x| x.min(1.0)).iter().enumerate().take(2) {
                    let weighted = nodes.iter().zip(&located.weights);
                    let x: f64 = weighted.map(|(n, w)| w * mesh.points[*n as usize][axis]).sum();
                    let tolerance = if located.outside > 0.0 { 1e-3 } else { 1e-13 };
                    assert!((x - expected).abs() < tolerance, "{x} {expected}");
                }
            }
            found.iter().map(|l| l.as_ref().map(|l| mesh.original_cell[l.cell])).collect()
        };
        let cells = file_cells(Renumbering::None);
        assert_eq!(
            cells,
            [Some(2 * 25 + 1), Some(0), Some(198), Some(2 * 44), Some(2 * 93 + 1), None, None],
            "in a cell, in a corner, at a node, slightly and far beyond a side"
        );
        assert_eq!(file_cells(Renumbering::Hilbert), cells);
        assert_eq!(file_cells(Renumbering::Rcm), cells);
        assert!(locate(&square(2, Renumbering::None), &[]).is_empty());
    }
}
