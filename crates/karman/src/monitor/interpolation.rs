//! Linear interpolation within a cell of any shape.
//!
//! A cell is cut into simplices about the mean of its nodes and the means of its faces, at which a
//! field has the mean of its values: exact for linear fields, continuous from cell to cell, and for
//! faces that are not planar the same surface as the mesh's geometry has.

use crate::mesh::CellShape;

/// Most nodes of a cell.
const MOST_NODES: usize = 8;

/// A point in the coordinates of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Within {
    /// How far outside the point is: ≤ 0 inside, 1 at the mirror image of the cell's centre.
    pub(super) outside: f64,
    /// Weight of each node of the cell, the sum of all 1; further entries 0.
    pub(super) weights: [f64; MOST_NODES],
}

/// Where a point is in a cell; `corner` gives the coordinates of its nodes, by number in the cell.
/// In 2D the third coordinate is not looked at.
pub(super) fn within(shape: CellShape, corner: impl Fn(usize) -> [f64; 3], x: [f64; 3]) -> Within {
    let n = shape.node_count();
    let all: [usize; MOST_NODES] = std::array::from_fn(|node| node);
    let centre = mean(&all[..n], &corner);
    let mut best = Within { outside: f64::INFINITY, weights: [0.0; MOST_NODES] };
    for face in shape.faces() {
        let nodes: Vec<usize> = face.iter().map(|node| *node as usize).collect();
        let face_centre = mean(&nodes, &corner);
        let sides = if nodes.len() == 2 { 1 } else { nodes.len() };
        for side in 0..sides {
            let (a, b) = (nodes[side], nodes[(side + 1) % nodes.len()]);
            // Shares of the centre, of a, of b and of the face's centre.
            let shares = if shape.dimension() == 2 {
                triangle_shares(centre, corner(a), corner(b), x).map(|[c, a, b]| [c, a, b, 0.0])
            } else {
                tetrahedron_shares([centre, corner(a), corner(b), face_centre], x)
            };
            let Some(shares) = shares else { continue };
            let outside = -shares.into_iter().fold(f64::INFINITY, f64::min);
            if outside < best.outside {
                let mut weights = [0.0; MOST_NODES];
                weights[..n].fill(shares[0] / n as f64);
                weights[a] += shares[1];
                weights[b] += shares[2];
                nodes.iter().for_each(|node| weights[*node] += shares[3] / nodes.len() as f64);
                best = Within { outside, weights };
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

/// Barycentric coordinates in the plane; none of a triangle without area.
fn triangle_shares(p: [f64; 3], q: [f64; 3], r: [f64; 3], x: [f64; 3]) -> Option<[f64; 3]> {
    let area = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let whole = area(p, q, r);
    (whole != 0.0).then(|| {
        let (second, third) = (area(p, x, r) / whole, area(p, q, x) / whole);
        [1.0 - second - third, second, third]
    })
}

/// Barycentric coordinates in space; none of a tetrahedron without volume.
fn tetrahedron_shares(corners: [[f64; 3]; 4], x: [f64; 3]) -> Option<[f64; 4]> {
    let from = |point: [f64; 3]| [0, 1, 2].map(|axis| point[axis] - corners[0][axis]);
    let [a, b, c] = [from(corners[1]), from(corners[2]), from(corners[3])];
    let x = from(x);
    let volume = triple(a, b, c);
    (volume != 0.0).then(|| {
        let shares = [triple(x, b, c), triple(a, x, c), triple(a, b, x)].map(|v| v / volume);
        [1.0 - shares[0] - shares[1] - shares[2], shares[0], shares[1], shares[2]]
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

    /// A cell of each shape with its faces bent a little.
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
                let found = within(shape, |node| corners[node], x);
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
                let found = within(shape, |node| corners[node], *point);
                assert!(found.outside.abs() < 1e-14, "{shape:?} node {node}");
                assert!((found.weights[node] - 1.0).abs() < 1e-14);
            }
            for face in shape.faces() {
                let nodes: Vec<usize> = face.iter().map(|node| *node as usize).collect();
                let point = mean(&nodes, |node| corners[node]);
                let found = within(shape, |node| corners[node], point);
                assert!(found.outside.abs() < 1e-14, "{shape:?} face {face:?}");
            }
            let everything: Vec<usize> = (0..corners.len()).collect();
            let centre = mean(&everything, |node| corners[node]);
            assert!(within(shape, |node| corners[node], centre).outside < 1e-14);
        }
    }

    #[test]
    fn a_cell_without_volume_holds_nothing() {
        let found = within(CellShape::Tetrahedron, |_| [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]);
        assert_eq!(found.outside, f64::INFINITY);
    }
}
