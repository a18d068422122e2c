//! Linear interpolation within a cell of any shape.
//!
//! A cell is cut into simplices about the mean of its nodes and the means of its faces, where a field has the
//! mean of the nodal values. The interpolation is exact for linear fields and continuous across faces; a
//! non-planar face has the surface of the mesh's geometry.

use crate::mesh::CellShape;

/// Most nodes of a cell.
const MAX_NODES: usize = 8;

/// Interpolation weights of a point in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellCoordinates {
    /// Distance outside the cell: ≤ 0 inside, 1 at the mirror image of the cell centre.
    pub(super) outside: f64,
    /// Weight of each node of the cell, with sum 1; further entries are 0.
    pub(super) weights: [f64; MAX_NODES],
}

/// The interpolation weights of point `x` in a cell; `corner` gives the coordinates of its nodes, by number
/// in the cell. In 2D the third coordinate is ignored.
pub(super) fn cell_coordinates(
    shape: CellShape,
    corner: impl Fn(usize) -> [f64; 3],
    x: [f64; 3],
) -> CellCoordinates {
    let n = shape.node_count();
    let all: [usize; MAX_NODES] = std::array::from_fn(|node| node);
    let centre = mean(&all[..n], &corner);
    let mut best = CellCoordinates { outside: f64::INFINITY, weights: [0.0; MAX_NODES] };
    for face in shape.faces() {
        let nodes: Vec<usize> = face.iter().map(|node| *node as usize).collect();
        let face_centre = mean(&nodes, &corner);
        let sides = if nodes.len() == 2 { 1 } else { nodes.len() };
        for side in 0..sides {
            let (a, b) = (nodes[side], nodes[(side + 1) % nodes.len()]);
            // Barycentric coordinates of the cell centre, a, b and the face centre.
            let barycentric = if shape.dimension() == 2 {
                triangle_coordinates(centre, corner(a), corner(b), x)
                    .map(|[c, a, b]| [c, a, b, 0.0])
            } else {
                tetrahedron_coordinates([centre, corner(a), corner(b), face_centre], x)
            };
            let Some(barycentric) = barycentric else { continue };
            let outside = -barycentric.into_iter().fold(f64::INFINITY, f64::min);
            if outside < best.outside {
                let mut weights = [0.0; MAX_NODES];
                weights[..n].fill(barycentric[0] / n as f64);
                weights[a] += barycentric[1];
                weights[b] += barycentric[2];
                nodes.iter().for_each(|node| weights[*node] += barycentric[3] / nodes.len() as f64);
                best = CellCoordinates { outside, weights };
            }
        }
    }
    best
}

fn mean(nodes: &[usize], corner: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for &node in nodes {
        let point = corner(node);
        sum = [0, 1, 2].map(|axis| sum[axis] + point[axis]);
    }
    sum.map(|total| total / nodes.len() as f64)
}

/// Barycentric coordinates in a triangle; none if it has no area.
fn triangle_coordinates(p: [f64; 3], q: [f64; 3], r: [f64; 3], x: [f64; 3]) -> Option<[f64; 3]> {
    let area = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let whole = area(p, q, r);
    (whole != 0.0).then(|| {
        let (second, third) = (area(p, x, r) / whole, area(p, q, x) / whole);
        [1.0 - second - third, second, third]
    })
}

/// Barycentric coordinates in a tetrahedron; none if it has no volume.
fn tetrahedron_coordinates(corners: [[f64; 3]; 4], x: [f64; 3]) -> Option<[f64; 4]> {
    let from = |point: [f64; 3]| [0, 1, 2].map(|axis| point[axis] - corners[0][axis]);
    let [a, b, c] = [from(corners[1]), from(corners[2]), from(corners[3])];
    let x = from(x);
    let volume = triple(a, b, c);
    (volume != 0.0).then(|| {
        let [p, q, r] = [triple(x, b, c), triple(a, x, c), triple(a, b, x)].map(|v| v / volume);
        [1.0 - p - q - r, p, q, r]
    })
}

/// a · (b × c)
fn triple(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell of each shape with slightly non-planar faces.
    fn corners(shape: CellShape) -> Vec<[f64; 3]> {
        let unit: &[[f64; 3]] = match shape {
            CellShape::Triangle => &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            CellShape::Quadrilateral => {
                &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.2, 1.1, 0.0], [0.0, 1.0, 0.0]]
            }
            CellShape::Tetrahedron => {
                &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            }
            CellShape::Pyramid => &[
                [0.0, 0.0, 0.1],
                [1.0, 0.0, 0.0],
                [1.0, 1.0, 0.1],
                [0.0, 1.0, 0.0],
                [0.5, 0.5, 1.0],
            ],
            CellShape::Prism => &[
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.1],
                [0.0, 1.0, 0.0],
                [0.1, 0.0, 1.0],
                [1.0, 0.1, 1.0],
                [0.0, 1.0, 1.0],
            ],
            _ => &[
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.1],
                [1.0, 1.0, 0.0],
                [0.0, 1.0, 0.1],
                [0.0, 0.1, 1.0],
                [1.0, 0.0, 1.0],
                [1.1, 1.0, 1.0],
                [0.0, 1.0, 1.0],
            ],
        };
        unit.to_vec()
    }

    fn shapes() -> impl Iterator<Item = CellShape> {
        CellShape::ALL.into_iter().filter(|shape| *shape != CellShape::Segment)
    }

    #[test]
    fn linear_fields_are_exact_in_and_near_every_shape() {
        for shape in shapes() {
            let corners = corners(shape);
            let field = |p: [f64; 3]| 2.0 + 3.0 * p[0] - 5.0 * p[1] + 7.0 * p[2];
            let z = if shape.dimension() == 2 { 0.0 } else { 0.21 };
            for x in [[0.3, 0.2, z], [0.3, 0.4, z], [1.4, -0.3, z]] {
                let found = cell_coordinates(shape, |node| corners[node], x);
                let value: f64 =
                    corners.iter().zip(found.weights).map(|(p, weight)| weight * field(*p)).sum();
                assert!((value - field(x)).abs() < 1e-13, "{shape:?} {x:?}: {value}");
                assert_eq!(found.outside > 0.0, x[0] > 1.0, "{shape:?} {x:?}: {}", found.outside);
            }
        }
    }

    #[test]
    fn nodes_and_centres_of_faces_are_on_the_surface() {
        for shape in shapes() {
            let corners = corners(shape);
            for (node, point) in corners.iter().enumerate() {
                let found = cell_coordinates(shape, |node| corners[node], *point);
                assert!(found.outside.abs() < 1e-14, "{shape:?} node {node}");
                assert!((found.weights[node] - 1.0).abs() < 1e-14);
            }
            for face in shape.faces() {
                let nodes: Vec<usize> = face.iter().map(|node| *node as usize).collect();
                let point = mean(&nodes, |node| corners[node]);
                let found = cell_coordinates(shape, |node| corners[node], point);
                assert!(found.outside.abs() < 1e-14, "{shape:?} face {face:?}");
            }
            let everything: Vec<usize> = (0..corners.len()).collect();
            let centre = mean(&everything, |node| corners[node]);
            let found = cell_coordinates(shape, |node| corners[node], centre);
            assert!(found.outside < 1e-14);
        }
    }

    #[test]
    fn a_cell_without_volume_contains_no_point() {
        let corner = |_| [1.0, 2.0, 3.0];
        let found = cell_coordinates(CellShape::Tetrahedron, corner, [1.0, 2.0, 3.0]);
        assert_eq!(found.outside, f64::INFINITY);
    }
}
