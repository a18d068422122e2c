//! Quadrature over faces and cells, and the moments of cells.
//!
//! A quadrilateral face is the bilinear surface of its nodes here, which a product rule integrates exactly; cells are the
//! sums of pyramids (triangles in 2D) between their faces and a point inside, so that cell and face integrals belong to the
//! same volume: Σ_f ∫ n dA = 0 and Σ_f ∫ x ⊗ n dA = V I to round-off. The volume of [`Geometry`] replaces a face that is
//! not planar by four triangles; it differs by terms of third order in the warp of the face.
//!
//! Sources: rules of the triangle of degree 2 and 4 from Strang & Fix, An Analysis of the Finite Element Method (1973),
//! and Dunavant, Int. J. Numer. Meth. Eng. 21 (1985) 1129.

use super::adjacency::{CHUNK, index_of, sign_of};
use super::geometry::{add_scaled, cross, dot, subtract};
use super::{Geometry, Mesh};
use rayon::prelude::*;

type Vector = [f64; 3];

/// A point of a rule on a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePoint {
    /// Its place.
    pub at: Vector,
    /// Its share of ∫ n dA, from the left to the right cell.
    pub area: Vector,
}

/// Degree of the polynomials that a rule integrates exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degree {
    /// 1: the centroid.
    One,
    /// At least 2: three points on a triangle, two in each direction of a quadrilateral or a segment.
    Two,
    /// At least 4: six points on a triangle, three in each direction.
    Four,
}

const GAUSS_2: [(f64, f64); 2] = [(-0.577_350_269_189_625_8, 1.0), (0.577_350_269_189_625_8, 1.0)];
const GAUSS_3: [(f64, f64); 3] =
    [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];
const GAUSS_4: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
    (-0.339_981_043_584_856_26, 0.652_145_154_862_546_2),
    (0.339_981_043_584_856_26, 0.652_145_154_862_546_2),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];
/// Barycentric coordinates of one corner (the others equal) and weight, three points each.
const TRIANGLE_4: [(f64, f64); 2] = [
    (0.108_103_018_168_070_23, 0.223_381_589_678_011_47),
    (0.816_847_572_980_458_5, 0.109_951_743_655_321_87),
];

impl Degree {
    fn on_line(self) -> &'static [(f64, f64)] {
        match self {
            Degree::One => &[(0.0, 2.0)],
            Degree::Two => &GAUSS_2,
            Degree::Four => &GAUSS_3,
        }
    }
}

/// Number of points of a rule on a face of `nodes` nodes.
pub fn points_of_face(nodes: usize, degree: Degree) -> usize {
    match (nodes, degree) {
        (_, Degree::One) => 1,
        (2, _) => degree.on_line().len(),
        (3, Degree::Two) => 3,
        (3, _) => 6,
        (_, _) => degree.on_line().len().pow(2),
    }
}

/// Calls `add` for each point of a rule on a face.
pub fn for_each_point(
    mesh: &Mesh,
    geometry: &Geometry,
    face: usize,
    degree: Degree,
    mut add: impl FnMut(FacePoint),
) {
    let nodes = mesh.face_to_nodes.of(face);
    let node = |k: usize| mesh.points[nodes[k] as usize];
    if degree == Degree::One {
        let (at, area) = (geometry.face_centre_of(face), geometry.area_vector_of(face));
        return add(FacePoint { at, area });
    }
    match nodes.len() {
        2 => {
            let area = geometry.area_vector_of(face);
            for (s, weight) in degree.on_line() {
                let at = add_scaled(node(0), 0.5 * (1.0 + s), subtract(node(1), node(0)));
                add(FacePoint { at, area: area.map(|x| 0.5 * weight * x) });
            }
        }
        3 => {
            let area = geometry.area_vector_of(face);
            let sets: &[(f64, f64)] = match degree {
                Degree::Four => &TRIANGLE_4,
                _ => &[(2.0 / 3.0, 1.0 / 3.0)],
            };
            for (own, weight) in sets {
                let rest = 0.5 * (1.0 - own);
                for corner in 0..3 {
                    let share = |k: usize| if k == corner { *own } else { rest };
                    let at = (0..3).fold([0.0; 3], |at, k| add_scaled(at, share(k), node(k)));
                    add(FacePoint { at, area: area.map(|x| weight * x) });
                }
            }
        }
        _ => {
            for (s, along_s) in degree.on_line() {
                for (t, along_t) in degree.on_line() {
                    add(on_bilinear(
                        [node(0), node(1), node(2), node(3)],
                        [*s, *t],
                        along_s * along_t,
                    ));
                }
            }
        }
    }
}

/// The point (s, t) ∈ [−1, 1]² of a bilinear surface and ∂x/∂s × ∂x/∂t times a weight.
fn on_bilinear(nodes: [Vector; 4], [s, t]: [f64; 2], weight: f64) -> FacePoint {
    let shape = [
        0.25 * (1.0 - s) * (1.0 - t),
        0.25 * (1.0 + s) * (1.0 - t),
        0.25 * (1.0 + s) * (1.0 + t),
        0.25 * (1.0 - s) * (1.0 + t),
    ];
    let along_s = [-0.25 * (1.0 - t), 0.25 * (1.0 - t), 0.25 * (1.0 + t), -0.25 * (1.0 + t)];
    let along_t = [-0.25 * (1.0 - s), -0.25 * (1.0 + s), 0.25 * (1.0 + s), 0.25 * (1.0 - s)];
    let sum = |weights: [f64; 4]| {
        weights.iter().zip(nodes).fold([0.0; 3], |sum, (w, node)| add_scaled(sum, *w, node))
    };
    FacePoint { at: sum(shape), area: cross(sum(along_s), sum(along_t)).map(|x| weight * x) }
}

/// Volume, centroid and second moment of each cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellMoments {
    /// V: `[n_cells]`.
    pub volume: Vec<f64>,
    /// x_c, the mean of x: `[n_cells]`.
    pub centre: Vec<Vector>,
    /// g, the mean of (x − x_c)(x − x_c)ᵀ by xx, xy, xz, yy, yz, zz: `[n_cells]`.
    pub second: Vec<[f64; 6]>,
}

/// Indices of a symmetric tensor's entries.
pub const SYMMETRIC: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

impl CellMoments {
    /// The moments of the cells of a mesh.
    pub fn new(mesh: &Mesh, geometry: &Geometry) -> CellMoments {
        let cells = (0..mesh.n_cells()).into_par_iter().with_min_len(CHUNK);
        let all: Vec<(f64, Vector, [f64; 6])> =
            cells.map(|cell| moments_of_cell(mesh, geometry, cell)).collect();
        CellMoments {
            volume: all.iter().map(|(v, _, _)| *v).collect(),
            centre: all.iter().map(|(_, x, _)| *x).collect(),
            second: all.iter().map(|(_, _, g)| *g).collect(),
        }
    }
}

/// Vector from a cell's point `from` to a place on one of its faces, periodic offset included, and the outward sign.
fn outward(mesh: &Mesh, item: u32) -> (usize, f64, Vector) {
    let (face, sign) = (index_of(item), f64::from(sign_of(item)));
    let is_right_of_pair = sign < 0.0 && !mesh.periodic_pairs.is_empty();
    let offset = if is_right_of_pair { mesh.periodic_offset(face) } else { [0.0; 3] };
    (face, sign, offset)
}

/// x_c, the mean of x over a cell.
pub fn centroid_of_cell(mesh: &Mesh, geometry: &Geometry, cell: usize) -> Vector {
    moments_of_cell(mesh, geometry, cell).1
}

fn moments_of_cell(mesh: &Mesh, geometry: &Geometry, cell: usize) -> (f64, Vector, [f64; 6]) {
    let d = mesh.dimension as f64;
    let origin = geometry.cell_centre_of(cell);
    let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [0.0; 6]);
    for item in mesh.cell_to_faces.of(cell) {
        let (face, sign, offset) = outward(mesh, *item);
        for_each_point(mesh, geometry, face, Degree::Four, |point| {
            // A pyramid of apex x_o over dA: x = x_o + t s, dV = t^(d−1) s·n dt dA.
            let s = subtract(subtract(point.at, offset), origin);
            let height = sign * dot(s, point.area);
            volume += height / d;
            first = add_scaled(first, height / (d + 1.0), s);
            for (entry, [i, j]) in second.iter_mut().zip(SYMMETRIC) {
                *entry += height / (d + 2.0) * s[i] * s[j];
            }
        });
    }
    let shift = first.map(|x| x / volume);
    for (entry, [i, j]) in second.iter_mut().zip(SYMMETRIC) {
        *entry = *entry / volume - shift[i] * shift[j];
    }
    (volume, add_scaled(origin, 1.0, shift), second)
}

/// Points and weights of a rule over a cell that is exact for polynomials of degree 4; the weights add up to its volume.
pub fn cell_rule(mesh: &Mesh, geometry: &Geometry, cell: usize) -> Vec<(Vector, f64)> {
    let origin = geometry.cell_centre_of(cell);
    let mut rule = vec![];
    for item in mesh.cell_to_faces.of(cell) {
        let (face, sign, offset) = outward(mesh, *item);
        for_each_point(mesh, geometry, face, Degree::Four, |point| {
            let s = subtract(subtract(point.at, offset), origin);
            let height = sign * dot(s, point.area);
            for (t, weight) in GAUSS_4 {
                let t = 0.5 * (1.0 + t);
                let share = 0.5 * weight * t.powi(mesh.dimension as i32 - 1);
                rule.push((add_scaled(origin, t, s), share * height));
            }
        });
    }
    rule
}

/// Number of points of [`cell_rule`].
pub fn points_of_cell(mesh: &Mesh, cell: usize) -> usize {
    let faces = mesh.cell_to_faces.of(cell).iter().map(|item| index_of(*item));
    let of_face = |face| points_of_face(mesh.face_to_nodes.of(face).len(), Degree::Four);
    GAUSS_4.len() * faces.map(of_face).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{BoxParams, Element};
    use crate::testing::{built, gmsh};

    fn jittered(element: Element, dimension: usize) -> (Mesh, Geometry) {
        let params = BoxParams {
            size: vec![1.0; dimension],
            cells: vec![4; dimension],
            element: Some(element),
            jitter: 0.2,
            ..BoxParams::default()
        };
        built(params.generate().unwrap())
    }

    fn meshes() -> Vec<(&'static str, (Mesh, Geometry))> {
        use Element::{Hexahedron, Mixed, Prism, Pyramid, Quadrilateral, Tetrahedron, Triangle};
        let boxes = [
            (Triangle, 2),
            (Quadrilateral, 2),
            (Tetrahedron, 3),
            (Hexahedron, 3),
            (Prism, 3),
            (Pyramid, 3),
            (Mixed, 3),
        ];
        let mut list: Vec<_> = boxes.map(|(e, d)| (e.word(), jittered(e, d))).into();
        list.push(("pipe", built(gmsh("pipe_coarse"))));
        list
    }

    fn sum(values: impl Iterator<Item = f64>) -> f64 {
        values.fold(0.0, |a, b| a + b)
    }

    #[test]
    fn cells_are_closed_and_fill_the_box() {
        for (name, (mesh, geometry)) in meshes() {
            let moments = CellMoments::new(&mesh, &geometry);
            for cell in 0..mesh.n_cells() {
                for degree in [Degree::Two, Degree::Four] {
                    let (mut closure, mut tensor) = ([0.0; 3], [[0.0; 3]; 3]);
                    for item in mesh.cell_to_faces.of(cell) {
                        let sign = f64::from(sign_of(*item));
                        for_each_point(&mesh, &geometry, index_of(*item), degree, |point| {
                            closure = add_scaled(closure, sign, point.area);
                            for (row, x) in tensor.iter_mut().zip(point.at) {
                                *row = add_scaled(*row, sign * x, point.area);
                            }
                        });
                    }
                    let volume = moments.volume[cell];
                    let size = volume.powf(1.0 / mesh.dimension as f64);
                    for i in 0..mesh.dimension {
                        assert!(closure[i].abs() < 1e-13 * volume / size, "{name} {closure:?}");
                        for j in 0..mesh.dimension {
                            let expected = if i == j { volume } else { 0.0 };
                            let error = (tensor[i][j] - expected).abs();
                            assert!(error < 1e-13 * volume / size, "{name} {tensor:?}");
                        }
                    }
                }
            }
            if name != "pipe" {
                assert!((sum(moments.volume.iter().copied()) - 1.0).abs() < 1e-12, "{name}");
                // ∫ x² over the unit box.
                let second = |c: usize| {
                    moments.volume[c] * (moments.second[c][0] + moments.centre[c][0].powi(2))
                };
                let total = sum((0..mesh.n_cells()).map(second));
                assert!((total - 1.0 / 3.0).abs() < 1e-12, "{name}: {total}");
            }
        }
    }

    #[test]
    fn the_rule_of_a_cell_is_exact_for_degree_four() {
        for (name, (mesh, geometry)) in meshes() {
            if name == "pipe" {
                continue;
            }
            let moments = CellMoments::new(&mesh, &geometry);
            let integral = |f: &dyn Fn(Vector) -> f64| {
                let of_cell =
                    |c: usize| sum(cell_rule(&mesh, &geometry, c).iter().map(|(x, w)| w * f(*x)));
                sum((0..mesh.n_cells()).map(of_cell))
            };
            assert!((integral(&|x| x[0].powi(4)) - 0.2).abs() < 1e-12, "{name}");
            assert!((integral(&|x| (x[0] * x[1]).powi(2)) - 1.0 / 9.0).abs() < 1e-12, "{name}");
            for c in 0..mesh.n_cells() {
                let rule = cell_rule(&mesh, &geometry, c);
                assert_eq!(rule.len(), points_of_cell(&mesh, c), "{name}");
                let (v, x) = (moments.volume[c], moments.centre[c]);
                assert!((sum(rule.iter().map(|(_, w)| *w)) / v - 1.0).abs() < 1e-12, "{name}");
                let xy = sum(rule.iter().map(|(p, w)| w * (p[0] - x[0]) * (p[1] - x[1]))) / v;
                assert!((xy - moments.second[c][1]).abs() < 1e-13, "{name}");
            }
        }
    }
}
