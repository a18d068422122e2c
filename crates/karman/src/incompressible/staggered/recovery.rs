//! Velocity gradient and vorticity recovered from the fluxes through faces, for output.
//!
//! The velocity of a cell, (1/V) Σ σ U (x_f − x_c), has an error of order h that varies from cell to cell;
//! its differences do not converge. The vorticity is that of the scheme, circulation over area: of nodes by
//! [`super::rotation::NodalVorticity`], of a cell the mean of its nodes. At walls, where the circulation
//! around half a cell converges in the mean only, it is a fit to surrounding nodes. The gradient G of a cell
//! is a least-squares fit of the velocity u + G (x − x_c) to the fluxes through the faces of the cell and of
//! two layers of neighbours, three in 3D; it is exact for linear velocities.
//!
//! Sources: decision 10; the fit is polynomial-preserving recovery (Zhang & Naga, SIAM J. Sci. Comput. 26
//! (2005) 1192) of the streamfunction in 2D.

use super::inner_product::Vector;
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of, sign_of};
use rayon::prelude::*;

/// ∂u_i/∂x_j.
pub(in crate::incompressible) type Gradient = [Vector; 3];

/// Fluxes and face geometry, on the host.
pub(in crate::incompressible) struct Fluxes<'a> {
    pub mesh: &'a Mesh,
    /// x_f − x_c of the left cells and of the right ones: `[3][n_faces]` each.
    pub cell_to_face: [Vec<f64>; 2],
    /// S: `[3][n_faces]`.
    pub area: Vec<f64>,
    /// U: `[n_faces]`.
    pub flux: Vec<f64>,
    /// The velocity at boundary faces where it is prescribed: `[n_boundary]`.
    pub prescribed: Vec<Option<Vector>>,
}

/// Layers of cells around a face whose nodes enter the fit of the vorticity.
const LAYERS: usize = 2;

impl Fluxes<'_> {
    fn vector(values: &[f64], face: usize) -> Vector {
        let n = values.len() / 3;
        [0, 1, 2].map(|k| values[k * n + face])
    }

    /// From the centroid of a cell to that of its face.
    fn to_face(&self, item: u32) -> Vector {
        Self::vector(&self.cell_to_face[usize::from(sign_of(item) < 0)], index_of(item))
    }

    /// The cell across a face and the vector to its centroid.
    fn across(&self, item: u32) -> Option<(usize, Vector)> {
        let face = index_of(item);
        let right = *self.mesh.face_right.get(face)? as usize;
        let left = self.mesh.face_left[face] as usize;
        let (own, others) = match sign_of(item) < 0 {
            true => (1, 0),
            false => (0, 1),
        };
        let [own, other] =
            [own, others].map(|side: usize| Self::vector(&self.cell_to_face[side], face));
        Some((if others == 0 { left } else { right }, subtract(own, other)))
    }

    /// Faces of a cell and of its neighbours, each once, and the vectors to them from the centroid of the
    /// cell.
    fn patch(&self, cell: usize) -> Vec<(usize, Vector)> {
        let mut cells: Vec<(usize, Vector)> = vec![(cell, [0.0; 3])];
        let mut first = 0;
        // Two layers of tetrahedra do not determine a gradient everywhere.
        for _ in 0..self.mesh.dimension {
            let layer = first..cells.len();
            first = cells.len();
            for k in layer {
                let (neighbour, place) = cells[k];
                for item in self.mesh.cell_to_faces.of(neighbour) {
                    let Some((other, between)) = self.across(*item) else { continue };
                    if cells.iter().all(|(known, _)| *known != other) {
                        cells.push((other, [0, 1, 2].map(|i| place[i] + between[i])));
                    }
                }
            }
        }
        let mut faces: Vec<(usize, Vector)> = vec![];
        for (neighbour, place) in cells {
            for item in self.mesh.cell_to_faces.of(neighbour) {
                let to_face = self.to_face(*item);
                faces.push((index_of(*item), [0, 1, 2].map(|i| place[i] + to_face[i])));
            }
        }
        faces.sort_by_key(|(face, _)| *face);
        faces.dedup_by_key(|(face, _)| *face);
        faces
    }

    /// The gradient of the linear velocity fitted to the fluxes around a cell, made divergence-free.
    pub(in crate::incompressible) fn gradient(&self, cell: usize) -> Gradient {
        let faces = self.patch(cell);
        let size = faces.iter().map(|(_, r)| norm(*r)).fold(0.0, f64::max);
        let inner = self.mesh.n_interior_faces();
        let mut rows = vec![];
        for (face, r) in faces {
            let s = Self::vector(&self.area, face);
            let area = norm(s);
            let weight = size / norm(r);
            let place = r.map(|x| x / size);
            let row = |along: Vector, value: f64| {
                let mut row = [0.0; 12];
                for (i, a) in along.into_iter().enumerate() {
                    row[i] = weight * a;
                    (0..3).for_each(|j| row[3 + 3 * i + j] = weight * a * place[j]);
                }
                (row, [weight * value])
            };
            rows.push(row(s.map(|x| x / area), self.flux[face] / area));
            let known = face.checked_sub(inner).and_then(|b| self.prescribed[b]);
            if let Some(velocity) = known {
                const AXES: Gradient = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                let axes = AXES.into_iter().zip(velocity).take(self.mesh.dimension);
                rows.extend(axes.map(|(axis, value)| row(axis, value)));
            }
        }
        let solved = least_squares(&rows);
        let mut g = [0, 1, 2].map(|i| [0, 1, 2].map(|j| solved[3 + 3 * i + j][0] / size));
        let divergence = (g[0][0] + g[1][1] + g[2][2]) / self.mesh.dimension as f64;
        (0..self.mesh.dimension).for_each(|k| g[k][k] -= divergence);
        g
    }

    /// The gradient of each cell.
    pub(in crate::incompressible) fn gradients(&self) -> Vec<Gradient> {
        (0..self.mesh.n_cells()).into_par_iter().map(|cell| self.gradient(cell)).collect()
    }
}

/// The vorticity of each cell, the mean of its nodes.
pub(in crate::incompressible) fn vorticity_in_cells(mesh: &Mesh, nodal: &[Vector]) -> Vec<Vector> {
    (0..mesh.n_cells()).into_par_iter().map(|cell| mean(mesh.cells.nodes_of(cell), nodal)).collect()
}

/// The mean over some nodes.
fn mean(nodes: &[u32], values: &[Vector]) -> Vector {
    let share = 1.0 / nodes.len() as f64;
    nodes.iter().fold([0.0; 3], |sum, node| {
        let value = values[*node as usize];
        [0, 1, 2].map(|k| sum[k] + share * value[k])
    })
}

/// The vorticity at boundary faces by a least-squares fit to the nodes of two layers of cells at r from the
/// face: in 2D linear in r, to interior nodes; in 3D, where two layers reach far, linear in r and quadratic
/// along the normal, to all nodes. The mean of the face's own nodes if no node is interior. Undetermined
/// coefficients are 0.
pub(in crate::incompressible) fn vorticity_at_walls(
    (mesh, geometry): (&Mesh, &Geometry),
    nodal: &[Vector],
    faces: &[u32],
) -> Vec<Vector> {
    let mut is_inside = vec![true; mesh.n_nodes()];
    for face in mesh.n_interior_faces()..mesh.n_faces() {
        mesh.face_to_nodes.of(face).iter().for_each(|node| is_inside[*node as usize] = false);
    }
    let around = mesh.node_to_cells();
    let at = |face: &u32| {
        let own = mesh.face_to_nodes.of(*face as usize);
        let mut nodes = own.to_vec();
        for _ in 0..LAYERS {
            let cells = nodes.iter().flat_map(|node| around.of(*node as usize));
            let mut reached: Vec<u32> =
                cells.flat_map(|cell| mesh.cells.nodes_of(*cell as usize)).copied().collect();
            reached.sort_unstable();
            reached.dedup();
            nodes = reached;
        }
        if !nodes.iter().any(|node| is_inside[*node as usize]) {
            return mean(own, nodal);
        }
        let is_2d = mesh.dimension == 2;
        nodes.retain(|node| !is_2d || is_inside[*node as usize]);
        let centre = geometry.face_centre_of(*face as usize);
        let area = geometry.area_vector_of(*face as usize);
        let places: Vec<Vector> =
            nodes.iter().map(|node| subtract(mesh.points[*node as usize], centre)).collect();
        let size = places.iter().map(|r| norm(*r)).fold(0.0, f64::max);
        let row = |(place, node): (&Vector, &u32)| {
            let [x, y, z] = place.map(|x| x / size);
            let height = dot([x, y, z], area) / norm(area);
            let curved = if is_2d { 0.0 } else { height * height };
            ([1.0, x, y, z, curved], nodal[*node as usize])
        };
        let rows: Vec<([f64; 5], Vector)> = places.iter().zip(&nodes).map(row).collect();
        least_squares(&rows)[0]
    };
    faces.par_iter().map(at).collect()
}

/// Regularisation of the normal equations over their trace: undetermined coefficients become 0.
const RIDGE: f64 = 1e-11;

/// The least squares solution of rows Σ_k a_k x_k = b, for each component of b.
pub(in crate::incompressible) fn least_squares<const N: usize, const M: usize>(
    rows: &[([f64; N], [f64; M])],
) -> [[f64; M]; N] {
    let (mut a, mut b) = ([[0.0; N]; N], [[0.0; M]; N]);
    for (row, values) in rows {
        for (i, x) in row.iter().enumerate() {
            (0..=i).for_each(|j| a[i][j] += x * row[j]);
            (0..M).for_each(|m| b[i][m] += x * values[m]);
        }
    }
    let trace: f64 = (0..N).map(|i| a[i][i]).fold(0.0, |x, y| x + y);
    // The Cholesky factor replaces the lower triangle.
    for j in 0..N {
        let before: f64 = (0..j).map(|k| a[j][k] * a[j][k]).fold(0.0, |x, y| x + y);
        a[j][j] = (a[j][j] + RIDGE * trace - before).max(RIDGE * trace).sqrt();
        for i in j + 1..N {
            let before: f64 = (0..j).map(|k| a[i][k] * a[j][k]).fold(0.0, |x, y| x + y);
            a[i][j] = (a[i][j] - before) / a[j][j];
        }
    }
    for (i, row) in a.iter().enumerate() {
        b[i] = std::array::from_fn(|m| {
            let before = (0..i).map(|k| row[k] * b[k][m]).fold(0.0, |x, y| x + y);
            (b[i][m] - before) / row[i]
        });
    }
    for i in (0..N).rev() {
        b[i] = std::array::from_fn(|m| {
            let after = (i + 1..N).map(|k| a[k][i] * b[k][m]).fold(0.0, |x, y| x + y);
            (b[i][m] - after) / a[i][i]
        });
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::MeshOptions;
    use crate::mesh::generate::{BoxParams, Element};

    #[test]
    fn a_fit_is_exact_where_it_is_determined_and_zero_where_it_is_not() {
        // y = 2 − 3 x; the third coefficient is undetermined.
        let rows: Vec<([f64; 3], [f64; 1])> =
            [0.0, 0.5, 1.0].map(|x| ([1.0, x, 0.0], [2.0 - 3.0 * x])).into();
        let [[constant], [slope], [nothing]] = least_squares(&rows);
        assert!((constant - 2.0).abs() < 1e-9 && (slope + 3.0).abs() < 1e-9, "{constant} {slope}");
        assert_eq!(nothing, 0.0);
    }

    /// A linear divergence-free velocity on all elements.
    #[test]
    fn the_gradient_of_a_linear_velocity_is_exact() {
        let g_2d = [[0.3, -1.2, 0.0], [0.7, -0.3, 0.0], [0.0; 3]];
        let g_3d = [[0.3, -1.2, 0.4], [0.7, 0.5, -0.9], [1.1, 0.2, -0.8]];
        for (element, dimension, g) in [
            (Element::Triangle, 2, g_2d),
            (Element::Quadrilateral, 2, g_2d),
            (Element::Tetrahedron, 3, g_3d),
            (Element::Prism, 3, g_3d),
            (Element::Hexahedron, 3, g_3d),
        ] {
            let params = BoxParams {
                size: vec![1.0; dimension],
                cells: vec![4; dimension],
                element: Some(element),
                jitter: if dimension == 2 { 0.2 } else { 0.0 },
                ..BoxParams::default()
            };
            let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
            let geometry = Geometry::new(&mesh).unwrap();
            let n = mesh.n_faces();
            let velocity =
                |x: Vector| [0, 1, 2].map(|i| 0.1 + (0..3).map(|j| g[i][j] * x[j]).sum::<f64>());
            let mut cell_to_face = [vec![0.0; 3 * n], vec![0.0; 3 * n]];
            let mut flux = vec![];
            for face in 0..n {
                let (x, s) = (geometry.face_centre_of(face), geometry.area_vector_of(face));
                let u = velocity(x);
                flux.push((0..3).map(|k| u[k] * s[k]).sum());
                let right =
                    (face < mesh.n_interior_faces()).then(|| geometry.right_centre_of(&mesh, face));
                let left = geometry.cell_centre_of(mesh.face_left[face] as usize);
                for (cell_to_face, centre) in cell_to_face.iter_mut().zip([Some(left), right]) {
                    let to_face = centre.map_or([0.0; 3], |centre| subtract(x, centre));
                    (0..3).for_each(|k| cell_to_face[k * n + face] = to_face[k]);
                }
            }
            let none = vec![None; n - mesh.n_interior_faces()];
            let area = geometry.face_area_vector.clone();
            let fluxes = Fluxes { mesh: &mesh, cell_to_face, area, flux, prescribed: none };
            for got in fluxes.gradients() {
                for (got, want) in got.as_flattened().iter().zip(g.as_flattened()) {
                    // The error of the regularisation in weakly determined directions.
                    assert!((got - want).abs() < 1e-6, "{element:?}: {got} {want}");
                }
            }
        }
    }
}
