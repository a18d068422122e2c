//! Smoothing of a square of triangles in an anisotropic metric: the set-up of Rokos and Gorman.

use super::{Bench, BenchError};
use karman::backend::Backend;
use karman::mesh::{Mesh, MeshOptions};
use karman_adapt::smoothing::benchmark::{square_mesh, square_metric};
use karman_adapt::{MetricLookup, SmoothOptions, Smoother, VertexSmoother};

/// The grid of the metric: lengths within 2 %.
const GRID: MetricLookup = MetricLookup::Grid { tolerance: 0.02, most_nodes: 1 << 22 };

/// Times sweeps over a square of about `cells` triangles, in double precision: with each smoother and each lookup of the metric on
/// the backend, with the grid also on one thread of the host and, where the backend is a device, on all its threads.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be made or the device failed.
pub fn adapt(bench: &mut Bench, cells: usize) -> Result<(), BenchError> {
    let vertices = (cells / 2).max(9);
    let raw = square_mesh(vertices)?;
    let mesh = bench.backend.install(|| Mesh::new(raw, &MeshOptions::default()))?;
    let mut reference = vec![(Backend::host(1)?, "one thread")];
    if bench.backend.device().is_some() {
        reference.push((Backend::host(0)?, "all threads"));
    }
    for (smoother, name) in
        [(Smoother::EdgeLengths, "edge lengths"), (Smoother::WorstQuality, "worst quality")]
    {
        for (backend, threads) in &reference {
            let mut on_host = Bench::new(backend, bench.budget);
            (on_host.group, on_host.cells) = (bench.group, bench.cells);
            sweeps(&mut on_host, &format!("{name}, grid, {threads}"), &mesh, smoother, GRID)?;
            bench.rows.append(&mut on_host.rows);
        }
        sweeps(bench, &format!("{name}, grid"), &mesh, smoother, GRID)?;
        sweeps(bench, &format!("{name}, walk"), &mesh, smoother, MetricLookup::Walk)?;
    }
    Ok(())
}

/// Times sweeps from the given mesh on: their work changes little before the equilibrium.
fn sweeps(
    bench: &mut Bench,
    name: &str,
    mesh: &Mesh,
    smoother: Smoother,
    lookup: MetricLookup,
) -> Result<(), BenchError> {
    let options = SmoothOptions { smoother, lookup, ..SmoothOptions::default() };
    let field = square_metric(mesh.n_nodes());
    let mut run = VertexSmoother::new(bench.backend, mesh, &field, &options)?;
    let bytes = run.sweep_bytes();
    bench.time(name, "f64", mesh.n_nodes(), bytes, |_| run.submit_sweep())?;
    Ok(())
}
