//! Incidence operators on every element, on every backend; the meshes serve the tests of finite volumes too.

mod identities;
pub(crate) mod parts;

use super::incidence::{divergence, gradient, nodal_gradient};
use super::{EdgeIncidence, FaceCells};
use crate::backend::testing::values;
use crate::backend::{Backend, Buffer};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{EdgeTopology, Geometry, Mesh, MeshOptions};
use crate::real::Real;
use std::marker::PhantomData;

/// A mesh with its geometry and edges.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) mesh: Mesh,
    pub(crate) geometry: Geometry,
    pub(crate) edges: EdgeTopology,
}

pub(crate) const ALL: [(Element, usize); 8] = [
    (Element::Triangle, 2),
    (Element::Quadrilateral, 2),
    (Element::Mixed, 2),
    (Element::Tetrahedron, 3),
    (Element::Hexahedron, 3),
    (Element::Prism, 3),
    (Element::Pyramid, 3),
    (Element::Mixed, 3),
];

/// Small meshes of every element, for tests that compare kernels.
pub(crate) fn samples_of_elements() -> [Sample; 5] {
    [
        sample(Element::Mixed, 2, 2, 0.2),
        sample(Element::Triangle, 2, 40, 0.2),
        sample(Element::Mixed, 3, 2, 0.2),
        sample(Element::Pyramid, 3, 4, 0.2),
        sample(Element::Tetrahedron, 3, 9, 0.2),
    ]
}

pub(crate) fn sample(element: Element, dimension: usize, n: usize, jitter: f64) -> Sample {
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
pub(crate) fn jittered(n: usize) -> Vec<Sample> {
    ALL.map(|(element, dimension)| sample(element, dimension, n, 0.2)).into()
}

/// Every element with planar faces: nodes displaced where faces stay planar.
pub(crate) fn planar(n: usize) -> Vec<Sample> {
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

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn largest(a: &[f64]) -> f64 {
    // Values that are not finite count as infinite.
    a.iter().map(|v| if v.is_finite() { v.abs() } else { f64::INFINITY }).fold(0.0, f64::max)
}

pub(crate) fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// A linear field at component-major points, `[3][n]`.
pub(crate) fn linear(points: &[f64], gradient: [f64; 3]) -> Vec<f64> {
    let n = points.len() / 3;
    let at = |i: usize| (0..3).map(|k| gradient[k] * points[k * n + i]).sum::<f64>() + 0.3;
    (0..n).map(at).collect()
}

/// Entries of arrays beyond the count of entities, NaN in operands.
const TAIL: usize = 5;

/// The operators of a sample on one backend in one precision; fields go in and out as f64.
pub(super) struct On<'a, F: Real> {
    backend: &'a Backend,
    mesh: &'a Mesh,
    cells: FaceCells,
    edges: EdgeIncidence,
    precision: PhantomData<F>,
}

impl<'a, F: Real> On<'a, F> {
    pub(super) fn new(backend: &'a Backend, sample: &'a Sample) -> Self {
        On {
            backend,
            mesh: &sample.mesh,
            cells: FaceCells::new(backend, &sample.mesh),
            edges: EdgeIncidence::new(backend, &sample.edges),
            precision: PhantomData,
        }
    }

    fn up(&self, field: &[f64]) -> Buffer<F> {
        let tail = [f64::NAN; TAIL];
        self.backend.upload(field.iter().chain(&tail).map(|v| F::from_f64(*v)).collect())
    }

    /// The first `n` results.
    fn run(&self, n: usize, work: impl FnOnce(&Backend, &mut Buffer<F>) + Send) -> Vec<f64> {
        let mut out = self.backend.zeros(n + TAIL);
        match self.backend.device() {
            None => self.backend.install(|| work(self.backend, &mut out)),
            Some(_) => work(self.backend, &mut out),
        }
        let results = self.backend.read(&out).unwrap();
        assert!(results[n..].iter().all(|v| v.to_f64() == 0.0), "the tail is written");
        results[..n].iter().map(|v| v.to_f64()).collect()
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
}
