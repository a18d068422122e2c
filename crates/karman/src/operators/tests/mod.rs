//! Operators on every element, on every backend.

mod identities;
mod parts;
mod periodic;
mod reconstructions;

use super::gradient::{corrected_face_value, gauss_gradient, least_squares_gradient};
use super::incidence::{divergence, gradient, nodal_gradient};
use super::interpolate::{integrate, interpolate};
use super::{EdgeIncidence, FaceCells, LeastSquares, MeshGeometry};
use crate::backend::testing::values;
use crate::backend::{Backend, Buffer};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{EdgeTopology, Geometry, Mesh, MeshOptions};
use crate::real::Real;
use std::sync::Arc;

/// A mesh with its geometry and edges.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) mesh: Mesh,
    pub(super) geometry: Geometry,
    pub(super) edges: EdgeTopology,
}

pub(super) const ALL: [(Element, usize); 8] = [
    (Element::Triangle, 2),
    (Element::Quadrilateral, 2),
    (Element::Mixed, 2),
    (Element::Tetrahedron, 3),
    (Element::Hexahedron, 3),
    (Element::Prism, 3),
    (Element::Pyramid, 3),
    (Element::Mixed, 3),
];

pub(super) fn sample(element: Element, dimension: usize, n: usize, jitter: f64) -> Sample {
    let params = BoxParams {
        size: vec![1.0; dimension],
        cells: vec![n; dimension],
        element: Some(element),
        grading: [2.0, 1.0, 3.0][..dimension].to_vec(),
        jitter,
        ..BoxParams::default()
    };
    let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let edges = EdgeTopology::new(&mesh);
    let name = format!("{} in {dimension}D, {n} blocks, jitter {jitter}", element.word());
    Sample { name, mesh, geometry, edges }
}

/// Every element with displaced nodes: quadrilateral faces in 3D are not planar.
pub(super) fn jittered(n: usize) -> Vec<Sample> {
    ALL.map(|(element, dimension)| sample(element, dimension, n, 0.2)).into()
}

/// Every element with planar faces: nodes displaced where faces stay planar.
pub(super) fn planar(n: usize) -> Vec<Sample> {
    ALL.map(|(element, dimension)| {
        let jitter = if dimension == 2 || element == Element::Tetrahedron { 0.2 } else { 0.0 };
        sample(element, dimension, n, jitter)
    })
    .into()
}

/// Integers between −1000 and 1000, whose sums and differences are exact.
pub(super) fn integers(n: usize, seed: u64) -> Vec<f64> {
    values(n, seed).iter().map(|v| (1000.0 * v).round()).collect()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn largest(a: &[f64]) -> f64 {
    // Values that are not finite count as infinite.
    a.iter().map(|v| if v.is_finite() { v.abs() } else { f64::INFINITY }).fold(0.0, f64::max)
}

pub(super) fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// A linear field at component-major points, `[3][n]`.
pub(super) fn linear(points: &[f64], gradient: [f64; 3]) -> Vec<f64> {
    let n = points.len() / 3;
    let at = |i: usize| (0..3).map(|k| gradient[k] * points[k * n + i]).sum::<f64>() + 0.3;
    (0..n).map(at).collect()
}

/// The operators of a sample on one backend in one precision; fields go in and out as f64.
pub(super) struct On<'a, F: Real> {
    backend: &'a Backend,
    mesh: &'a Mesh,
    cells: FaceCells,
    edges: EdgeIncidence,
    geometry: MeshGeometry<F>,
}

impl<'a, F: Real> On<'a, F> {
    pub(super) fn new(backend: &'a Backend, sample: &'a Sample) -> Self {
        On {
            backend,
            mesh: &sample.mesh,
            cells: FaceCells::new(backend, &sample.mesh),
            edges: EdgeIncidence::new(backend, &sample.edges),
            geometry: MeshGeometry::new(backend, &sample.mesh, &sample.geometry),
        }
    }

    fn up(&self, field: &[f64]) -> Buffer<F> {
        self.backend.upload(field.iter().map(|v| F::from_f64(*v)).collect())
    }

    fn run(&self, n: usize, work: impl FnOnce(&Backend, &mut Buffer<F>) + Send) -> Vec<f64> {
        let mut out = self.backend.zeros(n);
        match self.backend.device() {
            None => self.backend.install(|| work(self.backend, &mut out)),
            Some(_) => work(self.backend, &mut out),
        }
        self.backend.read(&out).unwrap().into_iter().map(F::to_f64).collect()
    }

    pub(super) fn gradient(&self, p: &[f64]) -> Vec<f64> {
        let (p, c) = (self.up(p), &self.cells);
        self.run(c.n_faces(), |k, out| {
            gradient(k, c.n_faces(), &c.left, &c.right, &p, c.n_interior(), out);
        })
    }

    pub(super) fn divergence(&self, flux: &[f64]) -> Vec<f64> {
        let (flux, c) = (self.up(flux), &self.cells);
        self.run(c.n_cells(), |k, out| {
            divergence(k, c.n_cells(), &c.offsets, &c.faces, &flux, c.rows, out);
        })
    }

    pub(super) fn curl(&self, circulation: &[f64]) -> Vec<f64> {
        let a = self.up(circulation);
        self.run(self.mesh.n_faces(), |k, out| self.edges.curl(k, &a, out))
    }

    pub(super) fn rotation(&self, v: &[f64]) -> Vec<f64> {
        let v = self.up(v);
        self.run(self.edges.n_edges(), |k, out| self.edges.rotation(k, &v, out))
    }

    pub(super) fn nodal_gradient(&self, phi: &[f64]) -> Vec<f64> {
        let (phi, e, n) = (self.up(phi), &self.edges, self.edges.n_edges());
        self.run(n, |k, out| nodal_gradient(k, n, &e.edge_nodes, &phi, out))
    }

    pub(super) fn interpolate(&self, flux: &[f64]) -> Vec<f64> {
        let (flux, c, g) = (self.up(flux), &self.cells, &self.geometry);
        let (n, n_faces) = (c.n_cells(), c.n_faces());
        self.run(3 * n, |k, out| {
            interpolate(
                k,
                n,
                &c.offsets,
                &c.faces,
                &flux,
                &g.face_centre,
                &g.cell_centre,
                &g.volume,
                &g.shift,
                c.n_interior(),
                n_faces,
                n,
                c.rows,
                g.is_periodic,
                out,
            );
        })
    }

    pub(super) fn integrate(&self, u: &[f64]) -> Vec<f64> {
        let (u, c, g) = (self.up(u), &self.cells, &self.geometry);
        let (n, n_faces, inner) = (c.n_cells(), c.n_faces(), c.n_interior());
        self.run(n_faces, |k, out| {
            integrate(
                k,
                n_faces,
                &c.left,
                &c.right,
                &u,
                &g.face_centre,
                &g.cell_centre,
                &g.shift,
                inner,
                n_faces,
                n,
                g.is_periodic,
                out,
            );
        })
    }

    pub(super) fn gauss(&self, face_value: &[f64]) -> Vec<f64> {
        let (p, c, g) = (self.up(face_value), &self.cells, &self.geometry);
        let (n, n_faces) = (c.n_cells(), c.n_faces());
        self.run(3 * n, |k, out| {
            gauss_gradient(k, n, &c.offsets, &c.faces, &p, &g.area, &g.volume, n_faces, out);
        })
    }

    pub(super) fn least_squares(&self, p: &[f64], boundary: &[f64], weight: &[f64]) -> Vec<f64> {
        let (p, value, weight) = (self.up(p), self.up(boundary), self.up(weight));
        let (c, g, dimension) = (&self.cells, &self.geometry, self.mesh.dimension);
        let (n, n_faces, inner) = (c.n_cells(), c.n_faces(), c.n_interior());
        self.run(3 * n, |k, out| {
            least_squares_gradient(
                k,
                n,
                &c.offsets,
                &c.faces,
                &c.left,
                &c.right,
                &p,
                &value,
                &weight,
                &g.face_centre,
                &g.cell_centre,
                &g.shift,
                inner,
                n_faces,
                n,
                dimension,
                g.is_periodic,
                out,
            );
        })
    }

    /// The least-squares gradient by precomputed weights.
    pub(super) fn precomputed_least_squares(
        &self,
        p: &[f64],
        boundary: &[f64],
        weight: &[f64],
    ) -> Vec<f64> {
        let (p, value, weight) = (self.up(p), self.up(boundary), self.up(weight));
        let (n, dimension) = (self.cells.n_cells(), self.mesh.dimension);
        self.run(3 * n, |k, out| {
            let cells = Arc::new(FaceCells::new(k, self.mesh));
            let gradient = LeastSquares::new(k, cells, &self.geometry, &weight, dimension);
            gradient.apply(k, &p, &value, out);
        })
    }

    /// Face values corrected by the gradient `grad_p`, `[3][n_cells]`.
    pub(super) fn face_values(
        &self,
        p: &[f64],
        grad_p: &[f64],
        boundary: &[f64],
        weight: &[f64],
    ) -> Vec<f64> {
        let (p, grad_p) = (self.up(p), self.up(grad_p));
        let (value, weight) = (self.up(boundary), self.up(weight));
        let (c, g) = (&self.cells, &self.geometry);
        let (n, n_faces, inner) = (c.n_cells(), c.n_faces(), c.n_interior());
        self.run(n_faces, |k, out| {
            corrected_face_value(
                k,
                n_faces,
                &c.left,
                &c.right,
                &p,
                &grad_p,
                &value,
                &weight,
                &g.face_centre,
                &g.area,
                &g.cell_centre,
                &g.shift,
                inner,
                n_faces,
                n,
                g.is_periodic,
                out,
            );
        })
    }
}
