//! The matrix-free Laplacian against the assembled matrix.

use crate::backend::testing::{everywhere, values};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::CellScheme;
use crate::finite_volume::diffusion::discretize;
use crate::finite_volume::{Condition, Laplacian, Material};
use crate::linear::{CsrMatrix, Matrix, Operator, Params, Solver};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{Geometry, Mesh, MeshOptions};
use crate::operators::FaceCells;
use crate::operators::incidence::{divergence, gradient};
use crate::operators::tests::ALL;
use std::sync::Arc;

/// −D a G x, each operator on its own.
fn composed(
    backend: &Backend,
    cells: &FaceCells,
    conductance: &Buffer<f64>,
    x: &Buffer<f64>,
    y: &mut Buffer<f64>,
) {
    let (n, n_faces) = (cells.n_cells(), cells.n_faces());
    let [mut difference, mut flux] = [0; 2].map(|_| backend.zeros(n_faces));
    let FaceCells { left, right, offsets, faces, rows, .. } = cells;
    gradient(backend, n_faces, left, right, x, cells.n_interior(), &mut difference);
    blas::multiply(backend, n_faces, conductance, &difference, &mut flux);
    let mut d = backend.zeros(n);
    divergence(backend, n, offsets, faces, &flux, *rows, &mut d);
    blas::axpby(backend, n, -1.0, &d, 0.0, y);
}

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
    let (heat, boundary) = discretize(&mesh, &geometry, &material, &conditions, corrected).unwrap();
    let scheme = CellScheme::new(&mesh, &geometry, &material.conductivity, &boundary, corrected);
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
            let conductance = backend.upload_slice(&conductances);
            composed(&backend, &cells, &conductance, &x, &mut z);
            Laplacian::new(&backend, cells, conductance).apply(&backend, &x, &mut y);
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
        let conductance = backend.upload_slice(&conductances);
        let free = Box::new(Laplacian::new(&backend, cells, conductance));
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
