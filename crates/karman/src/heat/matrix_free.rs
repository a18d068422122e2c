//! Matrix-free two-point conduction from one conductance a face: about a third of the traffic of the
//! assembled matrix, at the price of a second level of indices.

use crate::backend::{Backend, Buffer, Partials};
use crate::linear::Operator;
use crate::operators::{FaceCells, Laplacian};
use crate::real::Real;
use std::sync::Arc;

/// The steady cell-centred operator A.
#[derive(Debug)]
pub struct MatrixFree<F: Real>(Laplacian<F>);

impl<F: Real> MatrixFree<F> {
    /// From the conductances of [`crate::diffusion::cell_centred::CellScheme::conductances`].
    pub fn new(backend: &Backend, cells: Arc<FaceCells>, conductances: &[f64]) -> Self {
        let conductance = conductances.iter().map(|a| F::from_f64(*a)).collect();
        MatrixFree(Laplacian::new(backend, cells, backend.upload(conductance)))
    }
}

impl<F: Real> Operator<F> for MatrixFree<F> {
    fn unknowns(&self) -> usize {
        self.0.n_cells()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.0.apply(backend, x, y);
    }

    fn apply_dot(
        &mut self,
        backend: &Backend,
        x: &Buffer<F>,
        y: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        self.0.apply_dot(backend, x, y, partials);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::{everywhere, values};
    use crate::diffusion::cell_centred::{CellScheme, discretize};
    use crate::diffusion::{Condition, Material};
    use crate::linear::{CsrMatrix, Matrix, Params, Solver};
    use crate::mesh::generate::{BoxParams, Element};
    use crate::mesh::{Geometry, Mesh, MeshOptions};
    use crate::operators::ComposedLaplacian;

    const ALL: [(Element, usize); 8] = [
        (Element::Triangle, 2),
        (Element::Quadrilateral, 2),
        (Element::Mixed, 2),
        (Element::Tetrahedron, 3),
        (Element::Hexahedron, 3),
        (Element::Prism, 3),
        (Element::Pyramid, 3),
        (Element::Mixed, 3),
    ];

    /// A jittered box with every boundary condition and variable conductivity.
    fn problem(
        (element, dimension): (Element, usize),
        n: usize,
        corrected: bool,
    ) -> (Mesh, CsrMatrix<f64>, Vec<f64>) {
        let params = BoxParams {
            size: vec![1.0; dimension],
            cells: vec![n; dimension],
            element: Some(element),
            jitter: 0.2,
            ..BoxParams::default()
        };
        let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let mut material = Material::uniform(mesh.n_cells(), 1.0, 1.0);
        let variation = values(mesh.n_cells(), 1);
        material.conductivity.iter_mut().zip(variation).for_each(|(k, v)| *k += 0.5 * v);
        let condition = |name: &str| match name {
            "xmin" => Condition::Dirichlet(Arc::new(300.0)),
            "xmax" => Condition::Neumann(Arc::new(2.0)),
            "ymin" => Condition::ZeroGradient,
            _ => Condition::Robin { coefficient: Arc::new(3.0), ambient: Arc::new(250.0) },
        };
        let conditions: Vec<Condition> = mesh.patches.iter().map(|p| condition(&p.name)).collect();
        let (heat, boundary) =
            discretize(&mesh, &geometry, &material, &conditions, corrected).unwrap();
        let scheme =
            CellScheme::new(&mesh, &geometry, &material.conductivity, &boundary, corrected);
        let conductances = scheme.conductances();
        (mesh, heat.matrix, conductances)
    }

    #[test]
    fn gathered_and_composed_laplacians_are_the_matrix_to_round_off() {
        for (kind, corrected) in ALL.iter().flat_map(|k| [(k, false), (k, true)]) {
            let (mesh, matrix, conductances) = problem(*kind, 3, corrected);
            let n = mesh.n_cells();
            let x = values(n, 2);
            let want = matrix.times(&x);
            let scale = matrix.diagonal().into_iter().fold(0.0, f64::max);
            for backend in everywhere() {
                let cells = Arc::new(FaceCells::new(&backend, &mesh));
                let x = backend.upload_slice(&x);
                let (mut y, mut z) = (backend.zeros(n), backend.zeros(n));
                MatrixFree::new(&backend, cells.clone(), &conductances).apply(&backend, &x, &mut y);
                ComposedLaplacian::new(&backend, cells, &conductances).apply(&backend, &x, &mut z);
                for found in [y, z].map(|y| backend.read(&y).unwrap()) {
                    for (found, want) in found.iter().zip(&want) {
                        let error = (found - want).abs() / scale;
                        assert!(error < 1e-14, "{kind:?}, {backend:?}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn conjugate_gradients_take_the_same_iterations_without_a_matrix() {
        let (mesh, matrix, conductances) = problem((Element::Tetrahedron, 3), 6, false);
        let n = mesh.n_cells();
        let params = Params { relative_tolerance: 1e-10, ..Params::default() };
        for backend in everywhere() {
            let assembled = Arc::new(Matrix::new(&backend, matrix.clone()).unwrap());
            let cells = Arc::new(FaceCells::new(&backend, &mesh));
            let free = Box::new(MatrixFree::new(&backend, cells, &conductances));
            let mut solvers = [
                Solver::new(&backend, assembled.clone(), &params).unwrap(),
                Solver::with_operator(&backend, free, Some(assembled), &params).unwrap(),
            ];
            let b = backend.upload(values(n, 3));
            let [assembled, free] = solvers.each_mut().map(|solver| {
                let mut x = backend.zeros(n);
                let outcome = solver.solve(&b, &mut x).unwrap();
                assert!(outcome.is_converged(), "{backend:?}: {outcome}");
                (outcome.iterations, backend.read(&x).unwrap())
            });
            assert!(assembled.0.abs_diff(free.0) <= 1, "{} and {}", assembled.0, free.0);
            let size = assembled.1.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (a, f) in assembled.1.iter().zip(&free.1) {
                assert!((a - f).abs() < 1e-8 * size, "{backend:?}: {a} {f}");
            }
        }
    }
}
