//! Incidence operators, and reconstructions and gradients of the finite-volume library, on jittered, renumbered tetrahedra.

use super::mesh::TetrahedronMesh;
use super::{Bench, BenchError, precision, values};
use karman::finite_volume::diffusion::discretize;
use karman::finite_volume::gradient::pressure_gradient;
use karman::finite_volume::interpolation::interpolated_flux;
use karman::finite_volume::reconstruction::{Centroids, integrate, interpolate};
use karman::finite_volume::{
    CellField, Condition, FaceView, Faces, Laplacian, Material, NonOrthogonalCorrectionOnBackend,
    Vectors, VelocityField,
};
use karman::linear::Operator;
use karman::mesh::{EdgeTopology, Mesh};
use karman::operators::incidence::{divergence, gradient, nodal_gradient};
use karman::operators::{EdgeIncidence, FaceCells};
use karman::real::Real;
use std::sync::Arc;

/// Numbers of entities and of incidence items, from which bytes are counted.
struct Counts {
    cells: f64,
    faces: f64,
    interior: f64,
    boundary: f64,
    cell_faces: f64,
    scalar: f64,
}

impl Counts {
    fn new<F: Real>(mesh: &Mesh) -> Counts {
        let (faces, interior) = (mesh.n_faces() as f64, mesh.n_interior_faces() as f64);
        Counts {
            cells: mesh.n_cells() as f64,
            faces,
            interior,
            boundary: faces - interior,
            cell_faces: mesh.cell_to_faces.items.len() as f64,
            scalar: size_of::<F>() as f64,
        }
    }
}

/// Times the operators of the mesh; bytes are those that the kernels document.
///
/// # Errors
/// [`BenchError::Backend`] where the device failed.
pub fn operators<F: Real>(
    bench: &mut Bench,
    m: &TetrahedronMesh,
    topology: &EdgeTopology,
) -> Result<(), BenchError> {
    let faces = Faces::<F>::new(bench.backend, &m.mesh, &m.geometry, false);
    let counts = Counts::new::<F>(&m.mesh);
    incidence::<F>(bench, &m.mesh, &faces.cells, &counts)?;
    edges::<F>(bench, &m.mesh, topology, &counts)?;
    let centroids = Centroids::new(bench.backend, &m.mesh, &m.geometry);
    reconstructions(bench, &faces, &centroids, &counts)?;
    gauss(bench, &faces, &counts)?;
    least_squares(bench, m, &faces, &counts)
}

fn incidence<F: Real>(
    bench: &mut Bench,
    mesh: &Mesh,
    c: &Arc<FaceCells>,
    counts: &Counts,
) -> Result<(), BenchError> {
    let backend = bench.backend;
    let (n, n_faces, inner, real) =
        (mesh.n_cells(), mesh.n_faces(), c.n_interior(), precision::<F>());
    let Counts { cells, faces, interior, cell_faces, scalar: s, .. } = *counts;
    let p = backend.upload(values::<F>(n));
    let u = backend.upload(values::<F>(n_faces));
    let mut of_cells = backend.zeros::<F>(n);
    let mut of_faces = backend.zeros::<F>(n_faces);
    let bytes = faces * (4.0 + s) + 4.0 * interior + s * cells;
    bench.time("gradient", real, n_faces, bytes, |k| {
        gradient(k, n_faces, &c.left, &c.right, &p, inner, &mut of_faces);
    })?;
    // Tetrahedra have rows of equal length: no offsets.
    let bytes = cells * s + 4.0 * cell_faces + s * faces;
    bench.time("divergence", real, n, bytes, |k| {
        divergence(k, n, &c.offsets, &c.faces, &u, c.rows, &mut of_cells);
    })?;
    let bytes = cells * (4.0 + 2.0 * s) + 8.0 * cell_faces + s * faces;
    let mut laplacian = Laplacian::new(backend, Arc::clone(c), u);
    bench.time("Laplacian, matrix-free", real, n, bytes, |k| {
        laplacian.apply(k, &p, &mut of_cells);
    })?;
    Ok(())
}

fn edges<F: Real>(
    bench: &mut Bench,
    mesh: &Mesh,
    topology: &EdgeTopology,
    counts: &Counts,
) -> Result<(), BenchError> {
    let backend = bench.backend;
    let (n_faces, n_nodes, real) = (mesh.n_faces(), mesh.n_nodes(), precision::<F>());
    let n = topology.n_edges;
    let (n_edges, items) = (n as f64, topology.face_to_edges.items.len() as f64);
    let e = EdgeIncidence::new(backend, topology);
    let Counts { faces, scalar: s, .. } = *counts;
    let a = backend.upload(values::<F>(n));
    let v = backend.upload(values::<F>(n_faces));
    let phi = backend.upload(values::<F>(n_nodes));
    let mut of_faces = backend.zeros::<F>(n_faces);
    let mut of_edges = backend.zeros::<F>(n);
    let bytes = faces * s + 4.0 * items + s * n_edges;
    bench.time("curl", real, n_faces, bytes, |k| {
        e.curl(k, &a, &mut of_faces);
    })?;
    let bytes = n_edges * s + 4.0 * items + s * faces;
    bench.time("rotation", real, n, bytes, |k| {
        e.rotation(k, &v, &mut of_edges);
    })?;
    let bytes = n_edges * (8.0 + s) + s * n_nodes as f64;
    bench.time("nodal gradient", real, n, bytes, |k| {
        nodal_gradient(k, n, &e.edge_nodes, &phi, &mut of_edges);
    })?;
    Ok(())
}

fn reconstructions<F: Real>(
    bench: &mut Bench,
    f: &Faces<F>,
    g: &Centroids<F>,
    counts: &Counts,
) -> Result<(), BenchError> {
    let (backend, c) = (bench.backend, &f.cells);
    let (n, n_faces, real) = (c.n_cells(), c.n_faces(), precision::<F>());
    let Counts { cells, faces, interior, cell_faces, scalar: s, .. } = *counts;
    let flux = backend.upload(values::<F>(n_faces));
    let mut of_cells = backend.zeros::<F>(3 * n);
    let bytes = 7.0 * cells * s + 4.0 * cell_faces + 4.0 * s * faces;
    bench.time("interpolation", real, n, bytes, |k| {
        interpolate(k, n, &f.of_cells(), &g.view(), &flux, c.rows, &mut of_cells);
    })?;
    let v = backend.upload(values::<F>(3 * n));
    let mut of_faces = backend.zeros::<F>(n_faces);
    let bytes = faces * (4.0 + 4.0 * s) + 4.0 * interior + 6.0 * s * cells;
    bench.time("integration", real, n_faces, bytes, |k| {
        let (of_faces, of_cells) = (&mut of_faces, FaceView::of_cells(c));
        integrate(k, n_faces, &of_cells, &g.view(), &Vectors::of(&v), of_faces);
    })?;
    Ok(())
}

/// Gauss gradients and interpolated fluxes, with skewness correction.
fn gauss<F: Real>(bench: &mut Bench, f: &Faces<F>, counts: &Counts) -> Result<(), BenchError> {
    let (backend, c) = (bench.backend, &f.cells);
    let (n, n_faces, real) = (c.n_cells(), c.n_faces(), precision::<F>());
    let Counts { cells, interior, boundary, cell_faces, scalar: s, .. } = *counts;
    let p = backend.upload(values::<F>(n));
    let grad_p = backend.upload(values::<F>(3 * n));
    let at_boundary = backend.upload(values::<F>(n_faces - c.n_interior()));
    let field = || CellField {
        value: p.view(),
        gradient: Vectors::of(&grad_p),
        at_boundary: at_boundary.view(),
    };
    let mut of_faces = backend.zeros::<F>(n_faces);
    // The components of the velocity share their arrays.
    let bytes = (8.0 + 8.0 * s) * interior + 5.0 * s * boundary + 4.0 * s * cells;
    bench.time("interpolated flux", real, n_faces, bytes, |k| {
        let velocity = VelocityField { x: field(), y: field(), z: field(), dimension: 3 };
        interpolated_flux(k, n_faces, &f.view(), &velocity, &mut of_faces);
    })?;
    let mut grad = backend.zeros::<F>(3 * n);
    let of_faces = (8.0 + 7.0 * s) * interior + 4.0 * s * boundary;
    let bytes = cells * (4.0 + 8.0 * s) + 4.0 * cell_faces + of_faces;
    bench.time("Gauss gradient", real, n, bytes, |k| {
        pressure_gradient(k, n, &f.of_cells(), &f.view(), &field(), &mut grad);
    })?;
    Ok(())
}

/// Least-squares gradients with stored weights and prescribed boundary values.
fn least_squares<F: Real>(
    bench: &mut Bench,
    m: &TetrahedronMesh,
    f: &Faces<F>,
    counts: &Counts,
) -> Result<(), BenchError> {
    let (backend, n) = (bench.backend, f.cells.n_cells());
    let Counts { cells, boundary, scalar: s, .. } = *counts;
    let material = Material::uniform(n, 1.0, 1.0);
    let conditions = vec![Condition::Dirichlet(Arc::new(0.0)); m.mesh.patches.len()];
    let (discrete, _) = discretize(&m.mesh, &m.geometry, &material, &conditions, true)?;
    let Some(correction) = discrete.correction else { return Ok(()) };
    let items = correction.stencils.weights.len() as f64 / 3.0;
    let cells_of_faces = Arc::clone(&f.cells);
    let correction = NonOrthogonalCorrectionOnBackend::new(backend, cells_of_faces, correction);
    let p = backend.upload(values::<F>(n));
    let at_boundary = backend.upload(values::<F>(m.mesh.n_faces() - m.mesh.n_interior_faces()));
    let mut grad = backend.zeros::<F>(3 * n);
    let bytes = cells * (4.0 + 4.0 * s) + (4.0 + 3.0 * s) * items + (4.0 + 3.0 * s) * boundary;
    bench.time("least-squares gradient", precision::<F>(), n, bytes, |k| {
        correction.compute_gradient(k, &p, (&at_boundary, F::from_f64(1.0)), &mut grad);
    })?;
    Ok(())
}
