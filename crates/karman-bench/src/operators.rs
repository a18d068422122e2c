//! Discrete operators, reconstructions and gradients on jittered, renumbered tetrahedra.

use super::mesh::TetrahedronMesh;
use super::{Bench, BenchError, precision, values};
use karman::mesh::{EdgeTopology, Mesh};
use karman::operators::gradient::{corrected_face_value, gauss_gradient, least_squares_gradient};
use karman::operators::incidence::{divergence, gradient, nodal_gradient};
use karman::operators::interpolate::{integrate, interpolate};
use karman::operators::{EdgeIncidence, FaceCells, Laplacian, LeastSquares, MeshGeometry};
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
    let cells = Arc::new(FaceCells::new(bench.backend, &m.mesh));
    let counts = Counts::new::<F>(&m.mesh);
    incidence::<F>(bench, &m.mesh, &cells, &counts)?;
    edges::<F>(bench, &m.mesh, topology, &counts)?;
    let geometry = MeshGeometry::<F>::new(bench.backend, &m.mesh, &m.geometry);
    reconstructions(bench, &cells, &geometry, &counts)?;
    gradients(bench, &cells, &geometry, &counts)
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
    let laplacian = Laplacian::new(backend, Arc::clone(c), u);
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
    c: &FaceCells,
    g: &MeshGeometry<F>,
    counts: &Counts,
) -> Result<(), BenchError> {
    let backend = bench.backend;
    let (n, n_faces, inner, real) = (c.n_cells(), c.n_faces(), c.n_interior(), precision::<F>());
    let Counts { cells, faces, interior, cell_faces, scalar: s, .. } = *counts;
    let flux = backend.upload(values::<F>(n_faces));
    let mut of_cells = backend.zeros::<F>(3 * n);
    let bytes = 7.0 * cells * s + 4.0 * cell_faces + 4.0 * s * faces;
    bench.time("interpolation", real, n, bytes, |k| {
        let (x_f, x_c) = (&g.face_centre, &g.cell_centre);
        let out = &mut of_cells;
        interpolate(
            k,
            n,
            &c.offsets,
            &c.faces,
            &flux,
            x_f,
            x_c,
            &g.volume,
            &g.shift,
            inner,
            n_faces,
            n,
            c.rows,
            g.is_periodic,
            out,
        );
    })?;
    let v = backend.upload(values::<F>(3 * n));
    let mut of_faces = backend.zeros::<F>(n_faces);
    let bytes = faces * (4.0 + 4.0 * s) + 4.0 * interior + 6.0 * s * cells;
    bench.time("integration", real, n_faces, bytes, |k| {
        let (x_f, x_c) = (&g.face_centre, &g.cell_centre);
        let out = &mut of_faces;
        let (left, right, periodic) = (&c.left, &c.right, g.is_periodic);
        integrate(
            k, n_faces, left, right, &v, x_f, x_c, &g.shift, inner, n_faces, n, periodic, out,
        );
    })?;
    Ok(())
}

fn gradients<F: Real>(
    bench: &mut Bench,
    c: &Arc<FaceCells>,
    g: &MeshGeometry<F>,
    counts: &Counts,
) -> Result<(), BenchError> {
    let backend = bench.backend;
    let (n, n_faces, inner, real) = (c.n_cells(), c.n_faces(), c.n_interior(), precision::<F>());
    let Counts { cells, faces, interior, boundary, cell_faces, scalar: s } = *counts;
    let p = backend.upload(values::<F>(n));
    let known = backend.upload(values::<F>(n_faces - inner));
    let weight = backend.upload(vec![F::from_f64(1.0); n_faces - inner]);
    let mut grad = backend.zeros::<F>(3 * n);
    let bytes = cells * (4.0 + 7.0 * s) + 4.0 * cell_faces + 8.0 * interior + 5.0 * s * boundary;
    bench.time("least-squares gradient", real, n, bytes, |k| {
        let (x_f, x_c) = (&g.face_centre, &g.cell_centre);
        let (offsets, items, left, right) = (&c.offsets, &c.faces, &c.left, &c.right);
        least_squares_gradient(
            k,
            n,
            offsets,
            items,
            left,
            right,
            &p,
            &known,
            &weight,
            x_f,
            x_c,
            &g.shift,
            inner,
            n_faces,
            n,
            3,
            g.is_periodic,
            &mut grad,
        );
    })?;
    let bytes = cells * (4.0 + 4.0 * s) + (4.0 + 3.0 * s) * cell_faces + s * boundary;
    let stored = LeastSquares::new(backend, Arc::clone(c), g, &weight, 3);
    bench.time("least-squares, stored weights", real, n, bytes, |k| {
        stored.apply(k, &p, &known, &mut grad);
    })?;
    let mut at_faces = backend.zeros::<F>(n_faces);
    let bytes = faces * (4.0 + 7.0 * s) + 4.0 * interior + 2.0 * s * boundary + 7.0 * s * cells;
    bench.time("corrected face value", real, n_faces, bytes, |k| {
        let (x_f, x_c) = (&g.face_centre, &g.cell_centre);
        let (left, right, area) = (&c.left, &c.right, &g.area);
        corrected_face_value(
            k,
            n_faces,
            left,
            right,
            &p,
            &grad,
            &known,
            &weight,
            x_f,
            area,
            x_c,
            &g.shift,
            inner,
            n_faces,
            n,
            g.is_periodic,
            &mut at_faces,
        );
    })?;
    let bytes = cells * (4.0 + 4.0 * s) + 4.0 * cell_faces + 4.0 * s * faces;
    bench.time("Gauss gradient", real, n, bytes, |k| {
        let out = &mut grad;
        gauss_gradient(k, n, &c.offsets, &c.faces, &at_faces, &g.area, &g.volume, n_faces, out);
    })?;
    Ok(())
}
