//! Kernels of finite volumes on every element, on every backend, on parts of meshes and in arrays longer than their counts.

mod backends;
mod exactness;
mod laplacian;
mod parts;
mod periodic;
mod real_meshes;
mod transport;

use super::diffusion::discretize;
use super::gradient::pressure_gradient;
use super::interpolation::interpolated_flux;
use super::reconstruction::{Centroids, integrate, interpolate};
use super::transport::{TransportOperator, TransportSweeps};
use super::{
    CellFaces, CellField, Condition, FaceView, Faces, Laplacian, Material,
    NonOrthogonalCorrectionOnBackend, Vectors, VelocityField,
};
use crate::backend::blas::finish_sum;
use crate::backend::{Backend, Buffer, Partials};
use crate::linear::{Operator, Preconditioner};
use crate::mesh::Mesh;
use crate::operators::tests::Sample;
use crate::real::Real;
use std::sync::Arc;

/// Entries of arrays beyond the count of entities, NaN in operands.
const TAIL: usize = 5;

/// A scalar in the cells with its gradient, `[3][n_cells]`, and its values at the boundary.
struct Field<'a>(&'a [f64], &'a [f64], &'a [f64]);

/// The kernels of a sample on one backend in one precision; fields go in and out as f64.
struct On<'a, F: Real> {
    backend: &'a Backend,
    sample: &'a Sample,
    centroids: Centroids<F>,
    faces: Faces<F>,
    /// Entries of each component beyond the count.
    tail: usize,
}

impl<'a, F: Real> On<'a, F> {
    fn new(backend: &'a Backend, sample: &'a Sample) -> Self {
        let (mesh, geometry) = (&sample.mesh, &sample.geometry);
        On {
            backend,
            sample,
            centroids: Centroids::new(backend, mesh, geometry),
            faces: Faces::new(backend, mesh, geometry, false),
            tail: TAIL,
        }
    }

    fn mesh(&self) -> &'a Mesh {
        &self.sample.mesh
    }

    /// A field `[components][n]` as `[components][n + tail]`.
    fn up(&self, field: &[f64], components: usize) -> Buffer<F> {
        let n = field.len() / components;
        let with_tail = |k: usize| {
            let values = field[k * n..(k + 1) * n].iter().copied();
            values.chain(std::iter::repeat_n(f64::NAN, self.tail))
        };
        self.backend.upload((0..components).flat_map(with_tail).map(F::from_f64).collect())
    }

    /// Results `[components][n]`.
    fn run(
        &self,
        (n, components): (usize, usize),
        work: impl FnOnce(&Backend, &mut Buffer<F>) + Send,
    ) -> Vec<f64> {
        let stride = n + self.tail;
        let mut out = self.backend.zeros(components * stride);
        match self.backend.device() {
            None => self.backend.install(|| work(self.backend, &mut out)),
            Some(_) => work(self.backend, &mut out),
        }
        let results = self.backend.read(&out).unwrap();
        let component = |k: usize| {
            let (values, tail) = results[k * stride..(k + 1) * stride].split_at(n);
            assert!(tail.iter().all(|v| v.to_f64() == 0.0), "the tail is written");
            values.iter().map(|v| v.to_f64())
        };
        (0..components).flat_map(component).collect()
    }

    /// Cell vectors from fluxes through faces.
    fn interpolate(&self, flux: &[f64]) -> Vec<f64> {
        let (flux, c) = (self.up(flux, 1), &self.faces.cells);
        self.run((c.n_cells(), 3), |k, out| {
            let cells = CellFaces::of(&self.faces.cells, self.centroids.volume.view());
            interpolate(k, c.n_cells(), &cells, &self.centroids.view(), &flux, c.rows, out);
        })
    }

    /// The transpose of interpolation.
    fn integrate(&self, u: &[f64]) -> Vec<f64> {
        let (u, c) = (self.up(u, 3), &self.faces.cells);
        self.run((c.n_faces(), 1), |k, out| {
            let faces = FaceView::of_cells(c);
            integrate(k, c.n_faces(), &faces, &self.centroids.view(), &Vectors::of(&u), out);
        })
    }

    /// W p of quantities, p·W p, the inverse of the diagonal of W for each quantity, and
    /// Jacobi sweeps for p. Without `flux` W has no convection.
    fn transport(&self, flux: Option<&[f64]>, conductance: &[f64], p: &[f64]) -> Vec<f64> {
        let c = &self.faces.cells;
        let n = c.n_cells();
        let dimension = p.len().checked_div(n).unwrap_or(1);
        let positive: Vec<f64> = conductance.iter().map(|a| a.abs()).collect();
        let beta = if flux.is_some() { 2.0 } else { 0.0 };
        let conductance = Arc::new(self.up(&positive, 1));
        let factors = [1.5, beta];
        let mut operator =
            TransportOperator::new(self.backend, c.clone(), conductance, factors, dimension);
        let inertia = self.up(&vec![0.35; n], 1);
        let flux = self.up(flux.unwrap_or_default(), 1);
        operator.set(self.backend, 2.0, &inertia, &flux);
        let p = self.up(p, dimension);
        let mut partials = Partials::new(self.backend, n, 1);
        let shape = (n, dimension);
        let product = self.run(shape, |k, out| operator.apply(k, &p, out));
        let again = self.run(shape, |k, out| operator.apply_dot(k, &p, out, &mut partials));
        assert_eq!(product, again, "both products");
        let mut dot = self.backend.zeros(1);
        finish_sum(self.backend, &partials, &mut dot);
        let dot = self.backend.read(&dot).unwrap();
        let inverse = self.run(shape, |k, out| {
            operator.inverse_diagonal(k, (0.5, dimension), out, &mut partials);
        });
        let mut sweeps = TransportSweeps::new(self.backend, c.clone(), dimension);
        let swept = self.run(shape, |k, out| {
            sweeps.update(k, &operator);
            sweeps.apply(k, &p, out);
        });
        if n == 0 { vec![] } else { [product, inverse, swept, dot].concat() }
    }

    /// The Gauss gradient of p.
    fn gauss_gradient(&self, Field(p, grad_p, at_boundary): Field<'_>) -> Vec<f64> {
        let (p, grad_p, at_boundary) = (self.up(p, 1), self.up(grad_p, 3), self.up(at_boundary, 1));
        let n = self.faces.cells.n_cells();
        self.run((n, 3), |k, out| {
            let p = CellField {
                value: p.view(),
                gradient: Vectors::of(&grad_p),
                at_boundary: at_boundary.view(),
            };
            let cells = CellFaces::of(&self.faces.cells, self.centroids.volume.view());
            pressure_gradient(k, n, &cells, &self.faces.view(), &p, out);
        })
    }

    /// The flux u_f·S of an interpolated velocity with one component that is not zero.
    fn flux_of_component(&self, axis: usize, field: Field<'_>) -> Vec<f64> {
        let Field(u, grad_u, at_boundary) = field;
        let component = |k: usize| {
            let factor = if k == axis { 1.0 } else { 0.0 };
            [(u, 1), (grad_u, 3), (at_boundary, 1)].map(|(values, components)| {
                let values: Vec<f64> = values.iter().map(|v| factor * v).collect();
                self.up(&values, components)
            })
        };
        let components = [0, 1, 2].map(component);
        let n = self.faces.cells.n_faces();
        self.run((n, 1), |k, out| {
            let [x, y, z] = components.each_ref().map(|[u, grad_u, at_boundary]| CellField {
                value: u.view(),
                gradient: Vectors::of(grad_u),
                at_boundary: at_boundary.view(),
            });
            let velocity = VelocityField { x, y, z, dimension: self.mesh().dimension };
            interpolated_flux(k, n, &self.faces.view(), &velocity, out);
        })
    }

    /// The non-orthogonal correction with unit conductivity and prescribed values at the boundary.
    fn correction(&self) -> NonOrthogonalCorrectionOnBackend<F> {
        let (mesh, geometry) = (self.mesh(), &self.sample.geometry);
        let material = Material::uniform(mesh.n_cells(), 1.0, 1.0);
        let conditions = vec![Condition::Dirichlet(Arc::new(0.0)); mesh.patches.len()];
        let (discrete, _) = discretize(mesh, geometry, &material, &conditions, true).unwrap();
        let correction = discrete.correction.unwrap();
        NonOrthogonalCorrectionOnBackend::new(self.backend, self.faces.cells.clone(), correction)
    }

    /// The least-squares gradient of p with prescribed values at the boundary.
    fn least_squares_gradient(&self, p: &[f64], at_boundary: &[f64]) -> Vec<f64> {
        let (p, at_boundary) = (self.up(p, 1), self.up(at_boundary, 1));
        let correction = self.correction();
        self.run((self.faces.cells.n_cells(), 3), |k, out| {
            correction.compute_gradient(k, &p, (&at_boundary, F::literal(1.0)), out);
        })
    }

    /// The non-orthogonal fluxes of a gradient into each cell.
    fn nonorthogonal_fluxes(&self, gradient: &[f64]) -> Vec<f64> {
        let (gradient, correction) = (self.up(gradient, 3), self.correction());
        self.run((self.faces.cells.n_cells(), 1), |k, out| {
            correction.add_fluxes(k, &gradient, F::literal(0.5), out);
        })
    }

    /// The two-point Laplacian of x.
    fn laplacian(&self, conductance: &[f64], x: &[f64]) -> Vec<f64> {
        let (conductance, x) = (self.up(conductance, 1), self.up(x, 1));
        let cells = self.faces.cells.clone();
        let mut laplacian = Laplacian::new(self.backend, cells, conductance);
        self.run((self.faces.cells.n_cells(), 1), |k, out| laplacian.apply(k, &x, out))
    }
}
