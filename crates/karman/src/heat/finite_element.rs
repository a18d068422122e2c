//! Integrals of linear isoparametric elements: stiffness ∫ ∇N_i·∇N_j dV and shares ∫ N_i dV.
//!
//! Simplices are integrated exactly (one point); the others by Gauss rules that keep second order on
//! jittered meshes: 2 points a direction. A pyramid has the rational basis that conforms with
//! bilinear quadrilaterals and linear triangles (Bedrosian, Int. J. Numer. Meth. Eng. 35 (1992) 95),
//! integrated in the collapsed coordinates of the cube. Reference elements follow the node order of
//! [`crate::mesh::cell_shape`].

use crate::mesh::CellShape;

type Vector = [f64; 3];

/// A point of a rule: reference coordinates and weight.
type Point = (Vector, f64);

/// ±1/√3.
const G: f64 = 0.577_350_269_189_625_8;

fn rule(shape: CellShape) -> Vec<Point> {
    let line = [(0.5 - 0.5 * G, 0.5), (0.5 + 0.5 * G, 0.5)];
    let triangle = [([1.0, 1.0], 1.0), ([4.0, 1.0], 1.0), ([1.0, 4.0], 1.0)]
        .map(|(p, w): ([f64; 2], f64)| ([p[0] / 6.0, p[1] / 6.0], w / 6.0));
    let mut points = vec![];
    match shape {
        CellShape::Segment => points.push(([0.5, 0.0, 0.0], 1.0)),
        CellShape::Triangle => points.push(([1.0 / 3.0, 1.0 / 3.0, 0.0], 0.5)),
        CellShape::Tetrahedron => points.push(([0.25; 3], 1.0 / 6.0)),
        CellShape::Quadrilateral => {
            for (y, wy) in line {
                points.extend(line.map(|(x, wx)| ([x, y, 0.0], wx * wy)));
            }
        }
        CellShape::Prism => {
            for (z, wz) in line {
                points.extend(triangle.map(|(p, w)| ([p[0], p[1], z], w * wz)));
            }
        }
        CellShape::Hexahedron => {
            for (z, wz) in line {
                for (y, wy) in line {
                    points.extend(line.map(|(x, wx)| ([x, y, z], wx * wy * wz)));
                }
            }
        }
        CellShape::Pyramid => {
            // Collapsed cube: (x, y, z) = (a (1 − z), b (1 − z), z), Jacobian (1 − z)². The two
            // points and weights in z integrate (1 − z)² times a cubic (Gauss–Jacobi, α = 2).
            let jacobi = [
                (0.122_514_822_655_441_4, 0.232_547_451_253_508),
                (0.544_151_844_011_225_3, 0.100_785_882_079_825_3),
            ];
            for (z, wz) in jacobi {
                for (b, wb) in line {
                    points.extend(
                        line.map(|(a, wa)| ([a * (1.0 - z), b * (1.0 - z), z], wa * wb * wz)),
                    );
                }
            }
        }
    }
    points
}

/// Values and reference gradients of the basis at `p`.
fn basis(shape: CellShape, p: Vector) -> Vec<(f64, Vector)> {
    let [x, y, z] = p;
    let triangle = [(1.0 - x - y, [-1.0, -1.0, 0.0]), (x, [1.0, 0.0, 0.0]), (y, [0.0, 1.0, 0.0])];
    let quadrilateral = [
        ((1.0 - x) * (1.0 - y), [-(1.0 - y), -(1.0 - x), 0.0]),
        (x * (1.0 - y), [1.0 - y, -x, 0.0]),
        (x * y, [y, x, 0.0]),
        ((1.0 - x) * y, [-y, 1.0 - x, 0.0]),
    ];
    let extruded = |list: &[(f64, Vector)]| {
        let layer = |value: f64, derivative: f64| {
            list.iter().map(move |(n, g)| (n * value, [g[0] * value, g[1] * value, n * derivative]))
        };
        layer(1.0 - z, -1.0).chain(layer(z, 1.0)).collect()
    };
    match shape {
        CellShape::Segment => vec![(1.0 - x, [-1.0, 0.0, 0.0]), (x, [1.0, 0.0, 0.0])],
        CellShape::Triangle => triangle.to_vec(),
        CellShape::Quadrilateral => quadrilateral.to_vec(),
        CellShape::Tetrahedron => vec![
            (1.0 - x - y - z, [-1.0; 3]),
            (x, [1.0, 0.0, 0.0]),
            (y, [0.0, 1.0, 0.0]),
            (z, [0.0, 0.0, 1.0]),
        ],
        CellShape::Prism => extruded(&triangle),
        CellShape::Hexahedron => extruded(&quadrilateral),
        CellShape::Pyramid => {
            // With h = 1 − z; dh/dz = −1.
            let h = 1.0 - z;
            let xy = x * y / (h * h);
            vec![
                ((h - x) * (h - y) / h, [-(h - y) / h, -(h - x) / h, xy - 1.0]),
                (x * (h - y) / h, [(h - y) / h, -x / h, -xy]),
                (x * y / h, [y / h, x / h, xy]),
                ((h - x) * y / h, [-y / h, (h - x) / h, -xy]),
                (z, [0.0, 0.0, 1.0]),
            ]
        }
    }
}

/// Reference coordinates of the nodes.
fn reference_nodes(shape: CellShape) -> &'static [Vector] {
    const QUADRILATERAL: [Vector; 8] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0],
    ];
    const TRIANGLE: [Vector; 6] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 1.0],
    ];
    match shape {
        CellShape::Segment => &QUADRILATERAL[..2],
        CellShape::Triangle => &TRIANGLE[..3],
        CellShape::Tetrahedron => &TRIANGLE[..4],
        CellShape::Prism => &TRIANGLE,
        CellShape::Quadrilateral => &QUADRILATERAL[..4],
        CellShape::Pyramid => &QUADRILATERAL[..5],
        CellShape::Hexahedron => &QUADRILATERAL,
    }
}

/// ∇N_i at the centre of an element's face, whose local nodes are `face`.
pub fn gradients_on_face(shape: CellShape, corners: &[Vector], face: &[usize]) -> Vec<Vector> {
    let nodes = reference_nodes(shape);
    let count = face.len() as f64;
    let centre = [0, 1, 2].map(|k| face.iter().map(|i| nodes[*i][k]).sum::<f64>() / count);
    physical_gradients(shape, corners, &basis(shape, centre)).0
}

/// ∫ N_i over an element with these corners, of any dimension: parts of a volume, an area or a length.
pub fn shares(shape: CellShape, corners: &[Vector]) -> Vec<f64> {
    let mut shares = vec![0.0; corners.len()];
    for (p, weight) in rule(shape) {
        let functions = basis(shape, p);
        let j = tangents(&functions, corners);
        let measure = match shape.dimension() {
            1 => norm(j[0]),
            2 => norm(cross(j[0], j[1])),
            _ => cross(j[0], j[1]).iter().zip(j[2]).map(|(a, b)| a * b).sum::<f64>().abs(),
        };
        for (share, (value, _)) in shares.iter_mut().zip(&functions) {
            *share += weight * measure * value;
        }
    }
    shares
}

/// ∫ N_i n dS over a face with these corners, the normal n by the right-hand rule about its nodes; over
/// a segment a→b in 2D n is (dy, −dx), with length for area.
pub fn vector_shares(shape: CellShape, corners: &[Vector]) -> Vec<Vector> {
    let mut shares = vec![[0.0; 3]; corners.len()];
    for (p, weight) in rule(shape) {
        let functions = basis(shape, p);
        let j = tangents(&functions, corners);
        let normal = match shape.dimension() {
            1 => [j[0][1], -j[0][0], 0.0],
            _ => cross(j[0], j[1]),
        };
        for (share, (value, _)) in shares.iter_mut().zip(&functions) {
            share.iter_mut().zip(normal).for_each(|(s, n)| *s += weight * value * n);
        }
    }
    shares
}

fn norm(a: Vector) -> f64 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// J_ab = ∂x_b/∂ξ_a = Σ_i ∂̂_a N_i x_b.
fn tangents(functions: &[(f64, Vector)], corners: &[Vector]) -> [Vector; 3] {
    let mut j = [[0.0; 3]; 3];
    for ((_, g), x) in functions.iter().zip(corners) {
        for a in 0..3 {
            for b in 0..3 {
                j[a][b] += g[a] * x[b];
            }
        }
    }
    j
}

/// ∫ ∇N_i·∇N_j dV over an element with these corners: `[n][n]` row by row, n ≤ 8.
/// In 2D the integral is over the area.
pub fn stiffness(shape: CellShape, corners: &[Vector]) -> Vec<f64> {
    let n = corners.len();
    let mut matrix = vec![0.0; n * n];
    for (p, weight) in rule(shape) {
        let (gradients, jacobian) = physical_gradients(shape, corners, &basis(shape, p));
        let w = weight * jacobian.abs();
        for i in 0..n {
            for j in 0..n {
                let [a, b] = [gradients[i], gradients[j]];
                matrix[i * n + j] += w * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            }
        }
    }
    matrix
}

/// ∇N_i = J⁻¹ ∇̂N_i with J_ab = ∂x_b/∂ξ_a, and det J.
fn physical_gradients(
    shape: CellShape,
    corners: &[Vector],
    functions: &[(f64, Vector)],
) -> (Vec<Vector>, f64) {
    let mut j = tangents(functions, corners);
    if shape.dimension() == 2 {
        j[2] = [0.0, 0.0, 1.0];
    }
    let cofactor = |a: usize, b: usize| {
        let (p, q, r, s) = ((a + 1) % 3, (a + 2) % 3, (b + 1) % 3, (b + 2) % 3);
        j[p][r] * j[q][s] - j[p][s] * j[q][r]
    };
    let determinant = (0..3).map(|b| j[0][b] * cofactor(0, b)).sum::<f64>();
    let gradients = functions
        .iter()
        .map(|(_, g)| {
            [0, 1, 2].map(|b| (0..3).map(|a| cofactor(a, b) * g[a]).sum::<f64>() / determinant)
        })
        .collect();
    (gradients, determinant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_measure() {
        let quadrilateral = [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [2.0, 3.0, 1.0], [0.0, 3.0, 1.0]];
        let total: f64 = shares(CellShape::Quadrilateral, &quadrilateral).iter().sum();
        assert!((total - 6.0).abs() < 1e-14);
        let segment = shares(CellShape::Segment, &[[0.0; 3], [3.0, 4.0, 0.0]]);
        assert_eq!(segment, [2.5, 2.5]);
        for (shape, corners) in CORNERS.into_iter().filter(|c| c.0.dimension() == 3) {
            // Σ_i x_i ∫ N_i = ∫ x dV, and the stiffness of x is the volume.
            let n = corners.len();
            let k = stiffness(shape, corners);
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let volume: f64 =
                pairs.map(|(i, j)| corners[i][0] * k[i * n + j] * corners[j][0]).sum();
            let total: f64 = shares(shape, corners).iter().sum();
            assert!((total - volume).abs() < 1e-13, "{shape:?} {total} {volume}");
        }
    }

    const CORNERS: [(CellShape, &[Vector]); 6] = [
        (CellShape::Triangle, &[[0.1, 0.0, 0.0], [1.2, 0.1, 0.0], [0.0, 0.9, 0.0]]),
        (
            CellShape::Quadrilateral,
            &[[0.0, 0.1, 0.0], [1.0, 0.0, 0.0], [1.1, 1.2, 0.0], [-0.1, 1.0, 0.0]],
        ),
        (
            CellShape::Tetrahedron,
            &[[0.0, 0.0, 0.1], [1.0, 0.0, 0.0], [0.1, 1.1, 0.0], [0.0, 0.2, 0.9]],
        ),
        (
            CellShape::Pyramid,
            &[[0.0, 0.0, 0.0], [1.1, 0.0, 0.1], [1.0, 1.0, 0.0], [0.0, 0.9, 0.0], [0.4, 0.6, 0.8]],
        ),
        (
            CellShape::Prism,
            &[
                [0.0, 0.0, 0.0],
                [1.0, 0.1, 0.0],
                [0.0, 1.0, 0.1],
                [0.1, 0.0, 1.0],
                [1.0, 0.0, 0.9],
                [0.0, 1.2, 1.0],
            ],
        ),
        (
            CellShape::Hexahedron,
            &[
                [0.0, 0.0, 0.0],
                [1.0, 0.1, 0.0],
                [1.1, 1.0, 0.1],
                [0.0, 0.9, 0.0],
                [0.1, 0.0, 1.0],
                [1.0, 0.0, 0.9],
                [0.9, 1.0, 1.1],
                [0.0, 1.1, 1.0],
            ],
        ),
    ];

    #[test]
    fn a_linear_field_has_its_energy_and_no_other_mode_has_none() {
        for (shape, corners) in CORNERS {
            let n = corners.len();
            let k = stiffness(shape, corners);
            let energy = |f: &dyn Fn(Vector) -> f64, g: &dyn Fn(Vector) -> f64| -> f64 {
                let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                pairs.map(|(i, j)| f(corners[i]) * k[i * n + j] * g(corners[j])).sum()
            };
            let (one, x, y) = (|_| 1.0, |p: Vector| p[0], |p: Vector| p[1]);
            assert!(energy(&one, &x).abs() < 1e-14, "{shape:?}: a constant has energy");
            // ∇x·∇y = 0, and the energies of x and y are both the volume.
            assert!(energy(&x, &y).abs() < 1e-13, "{shape:?}");
            assert!((energy(&x, &x) - energy(&y, &y)).abs() < 1e-13, "{shape:?}");
            assert!(energy(&x, &x) > 0.0);
            assert_eq!(rank(&k, n), n - 1, "{shape:?}: an hourglass mode has no stiffness");
        }
    }

    fn rank(matrix: &[f64], n: usize) -> usize {
        let mut a = matrix.to_vec();
        let mut rank = 0;
        for column in 0..n {
            let pivot = (rank..n)
                .max_by(|i, j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()));
            let Some(p) = pivot.filter(|p| a[p * n + column].abs() > 1e-10) else { continue };
            for c in 0..n {
                a.swap(rank * n + c, p * n + c);
            }
            for row in rank + 1..n {
                let factor = a[row * n + column] / a[rank * n + column];
                for c in 0..n {
                    a[row * n + c] -= factor * a[rank * n + c];
                }
            }
            rank += 1;
        }
        rank
    }
}
