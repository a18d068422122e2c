//! The divergence of the velocity along the boundary where it is prescribed, tr H, and the normal stress error that follows from it:
//! [`wall_pressure`](super::wall_pressure) has the formulas.
#![allow(missing_docs)] // on the modules that the attributes make

use super::staggered::least_squares;
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::{FaceView, Vectors, VelocityField, component_major, narrow};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use rayon::prelude::*;

type Vector = [f64; 3];

/// Faces whose normals form an angle of a smaller cosine belong to different walls.
const ONE_WALL: f64 = 0.8;

/// tr H = Σ_k w_k·u_k over boundary faces k around each boundary face of prescribed velocity whose cell has no opposite face.
pub(super) struct SurfaceDivergence<F: Real> {
    /// Start of the items of each row; rows of other faces are empty.
    offsets: Buffer<u32>,
    /// Boundary faces, counted from the first.
    items: Buffer<u32>,
    /// w: `[3][items]`.
    weights: Buffer<F>,
}

/// The surface divergence and the viscosity as kernels read them.
#[derive(Group, Clone, Copy)]
pub struct SurfaceDivergenceView<'a, F: Real> {
    /// Start of the items of each row.
    pub offsets: View<'a, u32>,
    /// Boundary faces.
    pub items: View<'a, u32>,
    /// w.
    pub weights: Vectors<'a, F>,
    /// ν.
    pub viscosity: F,
}

impl<F: Real> SurfaceDivergence<F> {
    /// Among the boundary faces where `is_prescribed`; the rows are least-squares fits to the faces that share a node.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        is_prescribed: &[bool],
    ) -> Self {
        let inner = mesh.n_interior_faces();
        let around = wall_neighbours((mesh, geometry), is_prescribed);
        let row = |b: usize| {
            let face = (inner + b) as u32;
            if !is_prescribed[b] || has_opposite_face(mesh, face) {
                return vec![];
            }
            weights_of_face((mesh, geometry), face, &around(face))
        };
        let rows: Vec<Vec<(u32, [f64; 3])>> =
            (0..is_prescribed.len()).into_par_iter().map(row).collect();
        let (mut offsets, mut items, mut weights) = (vec![0], vec![], vec![]);
        for row in rows {
            for (face, weight) in row {
                items.push(face - inner as u32);
                weights.push(weight);
            }
            offsets.push(items.len() as u32);
        }
        SurfaceDivergence {
            offsets: backend.upload(offsets),
            items: backend.upload(items),
            weights: narrow(backend, component_major(&weights)),
        }
    }

    /// Without rows: of one of several ranks, which computes no loads.
    pub(super) fn absent(backend: &Backend) -> Self {
        SurfaceDivergence {
            offsets: backend.zeros(0),
            items: backend.zeros(0),
            weights: backend.zeros(0),
        }
    }

    /// The boundary faces of the row of boundary face `b`; the rows are on the host.
    pub(super) fn faces_of(&self, b: u32) -> impl Iterator<Item = u32> {
        let offsets = self.offsets.as_host().unwrap_or_default();
        let items = self.items.as_host().unwrap_or_default();
        let row = offsets[b as usize] as usize..offsets[b as usize + 1] as usize;
        items[row].iter().copied()
    }

    /// The rows with ν.
    pub(super) fn view(&self, viscosity: f64) -> SurfaceDivergenceView<'_, F> {
        SurfaceDivergenceView {
            offsets: self.offsets.view(),
            items: self.items.view(),
            weights: Vectors::of(&self.weights),
            viscosity: F::from_f64(viscosity),
        }
    }
}

/// Whether the cell of a boundary face has a face that shares no node with it, as quadrilaterals and hexahedra do. The
/// interpolated fluxes between such cells compensate ε, so that their pressure is not off by it.
pub(super) fn has_opposite_face(mesh: &Mesh, face: u32) -> bool {
    let nodes = mesh.face_to_nodes.of(face as usize);
    let cell = mesh.face_left[face as usize] as usize;
    let is_apart = |item: &u32| {
        mesh.face_to_nodes.of(index_of(*item)).iter().all(|node| !nodes.contains(node))
    };
    mesh.cell_to_faces.of(cell).iter().any(is_apart)
}

/// The weights of the trace of the linear fit to faces around `face`.
fn weights_of_face(
    (mesh, geometry): (&Mesh, &Geometry),
    face: u32,
    around: &[u32],
) -> Vec<(u32, [f64; 3])> {
    let n = normal(geometry, face);
    let centre = geometry.face_centre_of(face as usize);
    let size = norm(geometry.area_vector_of(face as usize)).powf(1.0 / (mesh.dimension - 1) as f64);
    let places: Vec<[f64; 4]> = around
        .iter()
        .map(|other| {
            let r = subtract(geometry.face_centre_of(*other as usize), centre);
            let along = dot(r, n);
            let [x, y, z] = [0, 1, 2].map(|k| (r[k] - along * n[k]) / size);
            [1.0, x, y, z]
        })
        .collect();
    let weight = |k: usize| {
        let unit = |(i, place): (usize, &[f64; 4])| (*place, [f64::from(u8::from(i == k))]);
        let rows: Vec<([f64; 4], [f64; 1])> = places.iter().enumerate().map(unit).collect();
        let [_, [x], [y], [z]] = least_squares(&rows);
        [x, y, z].map(|w| w / size)
    };
    around.iter().enumerate().map(|(k, other)| (*other, weight(k))).collect()
}

/// ε |S| of boundary face `f` with the viscous flux `viscous` = ν ∂u/∂n |S|; 0 where its row is empty.
#[device]
pub(super) fn normal_stress_error<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    velocity: &VelocityField<F>,
    divergence: &SurfaceDivergenceView<F>,
    viscous: Vec3<F>,
) -> F {
    let b = f - faces.n_interior;
    let s = faces.area.at(f);
    let area = s.dot(s).sqrt();
    let (first, end) = (divergence.offsets[b] as usize, divergence.offsets[b + 1] as usize);
    let mut error = F::literal(0.0);
    if end > first {
        error = viscous.dot(s) / area;
    }
    for k in first..end {
        let u = velocity.at_boundary(divergence.items[k] as usize);
        error += divergence.viscosity * area * u.dot(divergence.weights.at(k));
    }
    error
}

/// n of a face.
pub(super) fn normal(geometry: &Geometry, face: u32) -> Vector {
    let area = geometry.area_vector_of(face as usize);
    let size = norm(area);
    area.map(|x| x / size)
}

/// The boundary faces of the wall of a face that share a node with it, itself included, among those where
/// `is_prescribed`: `[n_boundary]`.
pub(super) fn wall_neighbours<'a>(
    (mesh, geometry): (&'a Mesh, &'a Geometry),
    is_prescribed: &[bool],
) -> impl Fn(u32) -> Vec<u32> + 'a {
    let inner = mesh.n_interior_faces();
    let mut at_nodes: Vec<(u32, u32)> = vec![];
    for face in inner..mesh.n_faces() {
        if is_prescribed[face - inner] {
            let nodes = mesh.face_to_nodes.of(face).iter();
            at_nodes.extend(nodes.map(|node| (*node, face as u32)));
        }
    }
    at_nodes.sort_unstable();
    move |face| {
        let n = normal(geometry, face);
        let around = |node: &u32| {
            let node = *node;
            let first = at_nodes.partition_point(|(other, _)| *other < node);
            at_nodes[first..].iter().take_while(move |(other, _)| *other == node).map(|(_, f)| *f)
        };
        let mut neighbours: Vec<u32> =
            mesh.face_to_nodes.of(face as usize).iter().flat_map(around).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        neighbours.retain(|other| dot(n, normal(geometry, *other)) > ONE_WALL);
        neighbours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incompressible::tests::box_mesh;
    use crate::mesh::generate::Element;

    /// Of u = G x with div u = 0 the divergence along a side is −n·G n.
    #[test]
    fn the_divergence_along_the_boundary_of_a_linear_velocity_is_exact() {
        let g = [[0.3, -1.2, 0.4], [0.7, 0.5, -0.9], [1.1, 0.2, -0.8]];
        let (mesh, geometry) = box_mesh(Element::Tetrahedron, 3, 4, 0.1);
        let backend = Backend::host(1).unwrap();
        let inner = mesh.n_interior_faces();
        let all = vec![true; mesh.n_faces() - inner];
        let rows = SurfaceDivergence::<f64>::new(&backend, (&mesh, &geometry), &all);
        let [offsets, items] = [&rows.offsets, &rows.items].map(|b| backend.read(b).unwrap());
        let weights = backend.read(&rows.weights).unwrap();
        for b in 0..all.len() {
            let row = offsets[b] as usize..offsets[b + 1] as usize;
            assert!(row.len() > 3);
            let term = |k: usize| {
                let x = geometry.face_centre_of(inner + items[k] as usize);
                (0..3).map(|i| weights[i * items.len() + k] * dot(g[i], x)).sum::<f64>()
            };
            let n = normal(&geometry, (inner + b) as u32);
            let want = -(0..3).map(|i| n[i] * dot(g[i], n)).sum::<f64>();
            let got: f64 = row.map(term).sum();
            assert!((got - want).abs() < 1e-6, "face {b}: {got} {want}");
        }
    }

    #[test]
    fn quadrilaterals_and_hexahedra_have_opposite_faces() {
        for (element, dimension, has) in [
            (Element::Triangle, 2, false),
            (Element::Quadrilateral, 2, true),
            (Element::Tetrahedron, 3, false),
            (Element::Hexahedron, 3, true),
        ] {
            let (mesh, _) = box_mesh(element, dimension, 3, 0.0);
            for face in mesh.n_interior_faces()..mesh.n_faces() {
                assert_eq!(has_opposite_face(&mesh, face as u32), has, "{element:?}");
            }
        }
    }
}
