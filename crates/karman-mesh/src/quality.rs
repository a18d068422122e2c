//! Quality of a cell's shape.

use super::cell_shape::CellShape;
use super::geometry::{add_scaled, cross, dot, subtract};

/// An upper triangular matrix whose columns are the edges at a corner of the ideal element, the
/// first being (1, 0, 0): entries (1,2), (2,2), (1,3), (2,3), (3,3).
type Ideal = [f64; 5];

const SQUARE: Ideal = [0.0, 1.0, 0.0, 0.0, 1.0];
/// √3 / 2.
const HALF_ROOT_THREE: f64 = 0.866_025_403_784_438_6;
const EQUILATERAL: Ideal = [0.5, HALF_ROOT_THREE, 0.0, 0.0, 1.0];
/// √3 / 6 and √(2/3) place the fourth corner of the regular tetrahedron.
const REGULAR: Ideal = [0.5, HALF_ROOT_THREE, 0.5, HALF_ROOT_THREE / 3.0, 0.816_496_580_927_726_1];
/// The apex over the middle of a unit square, all edges of length 1.
const EQUAL_EDGES: Ideal = [0.0, 1.0, 0.5, 0.5, std::f64::consts::FRAC_1_SQRT_2];

/// Corners at which a shape is evaluated, each a node and the end nodes of its edges, and the ideal.
fn corners(shape: CellShape) -> (&'static [[u8; 4]], Ideal) {
    match shape {
        CellShape::Segment => (&[], SQUARE),
        CellShape::Triangle => (&[[0, 1, 2, 0]], EQUILATERAL),
        CellShape::Quadrilateral => {
            (&[[0, 1, 3, 0], [1, 2, 0, 0], [2, 3, 1, 0], [3, 0, 2, 0]], SQUARE)
        }
        CellShape::Tetrahedron => (&[[0, 1, 2, 3]], REGULAR),
        CellShape::Pyramid => {
            (&[[0, 1, 3, 4], [1, 2, 0, 4], [2, 3, 1, 4], [3, 0, 2, 4]], EQUAL_EDGES)
        }
        CellShape::Prism => (
            &[[0, 1, 2, 3], [1, 2, 0, 4], [2, 0, 1, 5], [3, 5, 4, 0], [4, 3, 5, 1], [5, 4, 3, 2]],
            EQUILATERAL,
        ),
        CellShape::Hexahedron => (
            &[
                [0, 1, 3, 4],
                [1, 2, 0, 5],
                [2, 3, 1, 6],
                [3, 0, 2, 7],
                [4, 7, 5, 0],
                [5, 4, 6, 1],
                [6, 5, 7, 2],
                [7, 6, 4, 3],
            ],
            SQUARE,
        ),
    }
}

/// Mean ratio of a cell: 3 det(T)^⅔ / |T|² (2D: 2 det(T) / |T|²), T the map from the edges at a
/// corner of the ideal element to those of the cell, the smallest over its corners (Liu & Joe 1994,
/// doi:10.1007/BF01955874; Knupp 2001, doi:10.1137/S1064827500371499). 1 for the ideal element, 0
/// for a flat corner, negative for an inverted one. All corners of a triangle
/// or a tetrahedron give the same value.
pub fn mean_ratio(shape: CellShape, nodes: &[u32], points: &[[f64; 3]]) -> f64 {
    let flat = shape.dimension() == 2;
    let (corners, ideal) = corners(shape);
    corners
        .iter()
        .map(|corner| corner_ratio(*corner, ideal, flat, nodes, points))
        .fold(1.0, f64::min)
}

fn corner_ratio(
    corner: [u8; 4],
    [w12, w22, w13, w23, w33]: Ideal,
    flat: bool,
    nodes: &[u32],
    points: &[[f64; 3]],
) -> f64 {
    let [origin, a, b, c] = corner.map(|local| points[nodes[local as usize] as usize]);
    let first = subtract(a, origin);
    let second = add_scaled(subtract(b, origin), -w12, first).map(|value| value / w22);
    if flat {
        let determinant = first[0] * second[1] - first[1] * second[0];
        let squares = dot(first, first) + dot(second, second);
        return if squares > 0.0 { 2.0 * determinant / squares } else { 0.0 };
    }
    let third = add_scaled(add_scaled(subtract(c, origin), -w13, first), -w23, second)
        .map(|value| value / w33);
    let determinant = dot(first, cross(second, third));
    let squares = dot(first, first) + dot(second, second) + dot(third, third);
    if squares > 0.0 {
        3.0 * determinant.cbrt().powi(2).copysign(determinant) / squares
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = HALF_ROOT_THREE;

    fn ideal_points(shape: CellShape) -> Vec<[f64; 3]> {
        let (up, apex) = (REGULAR[4], EQUAL_EDGES[4]);
        match shape {
            CellShape::Segment => vec![[0.0; 3], [1.0, 0.0, 0.0]],
            CellShape::Triangle => vec![[0.0; 3], [1.0, 0.0, 0.0], [0.5, H, 0.0]],
            CellShape::Tetrahedron => {
                vec![[0.0; 3], [1.0, 0.0, 0.0], [0.5, H, 0.0], [0.5, H / 3.0, up]]
            }
            CellShape::Prism => {
                let base = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, H, 0.0]];
                [base, base.map(|p| [p[0], p[1], 1.0])].concat()
            }
            _ => {
                let base = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
                match shape {
                    CellShape::Quadrilateral => base.to_vec(),
                    CellShape::Pyramid => [&base[..], &[[0.5, 0.5, apex]]].concat(),
                    _ => [base, base.map(|p| [p[0], p[1], 1.0])].concat(),
                }
            }
        }
    }

    #[test]
    fn ideal_elements_have_quality_one_and_their_mirror_images_minus_one() {
        for shape in CellShape::ALL.into_iter().filter(|shape| shape.dimension() > 1) {
            let mut points = ideal_points(shape);
            let nodes: Vec<u32> = (0..shape.node_count() as u32).collect();
            assert!((mean_ratio(shape, &nodes, &points) - 1.0).abs() < 1e-14, "{}", shape.name());
            points.iter_mut().for_each(|point| point[0] = -point[0]);
            let mirrored = mean_ratio(shape, &nodes, &points);
            assert!((mirrored + 1.0).abs() < 1e-14, "{} {mirrored}", shape.name());
        }
    }

    #[test]
    fn a_tetrahedron_has_the_same_quality_from_every_corner() {
        let points = [[0.0, 0.0, 0.0], [2.0, 0.1, 0.0], [0.3, 1.0, 0.2], [0.1, 0.4, 0.7]];
        let expected = mean_ratio(CellShape::Tetrahedron, &[0, 1, 2, 3], &points);
        // 12 (3V)^(2/3) / Σ l², the closed form.
        let edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let squares: f64 = edges
            .map(|(i, j): (usize, usize)| {
                let along = subtract(points[i], points[j]);
                dot(along, along)
            })
            .into_iter()
            .sum();
        let (volume, _) =
            crate::geometry::cell_measure(CellShape::Tetrahedron, &[0, 1, 2, 3], &points);
        assert!((expected - 12.0 * (3.0 * volume).powf(2.0 / 3.0) / squares).abs() < 1e-14);
        for nodes in [[1, 2, 0, 3], [3, 2, 1, 0], [2, 0, 1, 3]] {
            assert!((mean_ratio(CellShape::Tetrahedron, &nodes, &points) - expected).abs() < 1e-14);
        }
    }
}
