//! `karman bench thesis stages`: the stages of a residual of compressible flow, tables 1 to 4 of Bogdanov, Gorobets & Sukov (Comput.
//! Math. Math. Phys. 53 (2013) 1183).
//!
//! Their mesh has 679 339 cells of four shapes, fluxes through interior faces alone, one point a face and double precision. Here it is
//! a cube of jittered tetrahedra, since the mesh is not published; boundary faces have a flux too. Stages are those of the source,
//! with values on faces and fluxes in one kernel, and the fused ones.

mod report;

pub use report::StagesReport;

use super::compressible::{Prepared, numerics, parts};
use super::mesh::TetrahedronMesh;
use super::published::rows;
use super::{Bench, BenchError, Row};
use karman::backend::Backend;
use karman::backend::test_kernels::{MULTIPLY_ADD_OPERATIONS, multiply_add};
use karman::compressible::{CompressibleNumerics, ResidualForm, StagePart, WeightPrecision};

/// Bytes of memory of the reference copy.
const COPY_BYTES: usize = 1 << 30;

/// Entities of the measurement of the peak.
const PEAK_ENTITIES: usize = 1 << 20;

/// A device of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Its name.
    pub device: &'static str,
    /// Seconds, GFLOP/s and percent of the peak of coefficients.
    pub coefficients: [f64; 3],
    /// As of all flux stages.
    pub fluxes: [f64; 3],
    /// Seconds of values on faces, fluxes and sums; NaN where the source has none.
    pub stages: [f64; 3],
}

/// The tables of the source.
pub fn published() -> Vec<Published> {
    let devices = ["Xeon X5670, 1 core", "Xeon X5670, 6 cores", "NVIDIA C2050", "AMD HD 7970"];
    let rows = rows::<9>(include_str!("../../data/bogdanov_stages.csv"));
    let table = devices.into_iter().zip(rows);
    table
        .map(|(device, [a, b, c, d, e, f, g, h, i])| Published {
            device,
            coefficients: [a, b, c],
            fluxes: [d, e, f],
            stages: [g, h, i],
        })
        .collect()
}

/// The parts of one form on one backend.
#[derive(Clone, Debug, serde::Serialize)]
pub struct StagesPoint {
    /// Kind of backend.
    pub backend: &'static str,
    /// Name of the device, or the number of host threads.
    pub device: String,
    /// Host threads.
    pub threads: usize,
    /// Cells.
    pub cells: usize,
    /// The form of the residual.
    pub form: &'static str,
    /// Whether faces have one point.
    pub one_point: bool,
    /// Precision of the weights.
    pub weights: &'static str,
    /// Bytes a second of the copy.
    pub copy: f64,
    /// Operations a second of independent multiplications and additions.
    pub peak: f64,
    /// The parts, then the stage.
    pub parts: Vec<Row>,
}

/// Measures all forms on the tetrahedra nearest to `cells`, `budget` seconds a part.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be generated or the device failed.
pub fn measure_stages(
    backend: &Backend,
    cells: usize,
    budget: f64,
) -> Result<Vec<StagesPoint>, BenchError> {
    if !(budget > 0.0 && budget.is_finite()) {
        let rule = "it must be positive and finite";
        return Err(BenchError::Plan { name: "seconds", value: budget, rule });
    }
    let mut bench = Bench::new(backend, budget);
    bench.copy(COPY_BYTES.min(cells * 4096))?;
    let copy = bench.copy_bandwidth("f64").unwrap_or(f64::NAN);
    let peak = peak(&mut bench)?;
    let tetrahedra = TetrahedronMesh::new(backend, cells)?;
    let place = (&tetrahedra.mesh, &tetrahedra.geometry);
    let prepared = Prepared::new(&mut bench, "tet", place.0, place.1);
    let mut points = vec![];
    for one_point in [true, false] {
        for residual in [ResidualForm::Stages, ResidualForm::Fused] {
            for weights in WeightPrecision::ALL {
                let numerics = CompressibleNumerics { weights, ..numerics(one_point, residual) };
                let mut solver = prepared.solver(&bench, &numerics)?;
                let first = bench.rows.len();
                parts(&mut bench, "", &mut solver, StagePart::of(residual))?;
                points.push(StagesPoint {
                    backend: backend.kind().word(),
                    device: backend.device_name(),
                    threads: backend.threads(),
                    cells: tetrahedra.mesh.n_cells(),
                    form: residual.word(),
                    one_point,
                    weights: if weights == WeightPrecision::Single { "f32" } else { "f64" },
                    copy,
                    peak,
                    parts: bench.rows[first..].to_vec(),
                });
            }
        }
    }
    Ok(points)
}

/// Operations a second of independent multiplications and additions in double precision, as this program is compiled.
fn peak(bench: &mut Bench) -> Result<f64, BenchError> {
    let backend = bench.backend;
    let x = backend.upload(super::values::<f64>(PEAK_ENTITIES));
    let mut y = backend.zeros(PEAK_ENTITIES);
    bench.time("peak", "f64", PEAK_ENTITIES, 0.0, |k| {
        multiply_add(k, PEAK_ENTITIES, &x, 0.999, 0.001, &mut y);
    })?;
    let seconds = bench.rows.last().map_or(f64::NAN, |row| row.seconds);
    Ok((MULTIPLY_ADD_OPERATIONS * PEAK_ENTITIES) as f64 / seconds)
}

#[cfg(test)]
mod tests;
