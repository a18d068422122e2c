//! The set-up of Rokos and Gorman: smoothing of the unit square in an analytic anisotropic metric, at any number of vertices.
//!
//! Their slides do not state the metric. That of [`square_metric`] prescribes cells eight times as long as wide along a wave.

use super::smoother::{MeshQuality, SmoothOptions, VertexSmoother};
use crate::error::AdaptError;
use crate::field::{AnalyticMetric, MetricField};
use crate::metric::{Eigen, Metric};
use karman_backend::Backend;
use karman_mesh::generate::{BoxParams, Element};
use karman_mesh::{Mesh, MeshOptions, RawMesh};
use std::f64::consts::TAU;
use std::time::Instant;

/// Largest ratio of sizes.
const ANISOTROPY: f64 = 8.0;
/// Rate at which the sizes become equal away from the wave.
const RATE: f64 = 4.0;
/// Intervals along each side of the quadrature of the complexity.
const QUADRATURE: usize = 400;

/// Triangles on the unit square with about so many vertices: squares cut along a diagonal.
///
/// # Errors
/// [`AdaptError::Generate`] where there are too many vertices for their numbers.
pub fn square_mesh(vertices: usize) -> Result<RawMesh, AdaptError> {
    let cells = ((vertices as f64).sqrt().round() as usize).max(3) - 1;
    let params = BoxParams {
        size: vec![1.0; 2],
        cells: vec![cells; 2],
        element: Some(Element::Triangle),
        ..BoxParams::default()
    };
    Ok(params.generate()?)
}

/// The metric of the square: with s = y − ½ − 0.15 sin 2πx the size along ∇s is (1 + 7 tanh² 4s)/8 of that across it. The sizes
/// are scaled so that the complexity ∫ √det M is that of `vertices` vertices of unit equilateral triangles, √3/2 each.
pub fn square_metric(vertices: usize) -> impl MetricField + std::fmt::Debug {
    let mut area = 0.0;
    for j in 0..QUADRATURE {
        for i in 0..QUADRATURE {
            let at = |k: usize| (k as f64 + 0.5) / QUADRATURE as f64;
            area += relative_metric([at(i), at(j), 0.0]).determinant().sqrt();
        }
    }
    area /= (QUADRATURE * QUADRATURE) as f64;
    let factor = vertices as f64 * 3.0_f64.sqrt() / 2.0 / area;
    AnalyticMetric(move |point| {
        let metric = relative_metric(point).scale(factor);
        Metric { zz: 1.0, ..metric }
    })
}

/// The metric for a size of 1 along the wave.
fn relative_metric([x, y, _]: [f64; 3]) -> Metric {
    let s = y - 0.5 - 0.15 * (TAU * x).sin();
    let gradient = [-0.15 * TAU * (TAU * x).cos(), 1.0];
    let size = gradient[0].hypot(gradient[1]);
    let [nx, ny] = gradient.map(|component| component / size);
    let across = (1.0 + (ANISOTROPY - 1.0) * (RATE * s).tanh().powi(2)) / ANISOTROPY;
    let vectors = [[nx, ny, 0.0], [-ny, nx, 0.0], [0.0, 0.0, 1.0]];
    Metric::from_eigen(&Eigen { values: [1.0 / (across * across), 1.0, 1.0], vectors })
}

/// Times and qualities of a run of the set-up.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothingTimes {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of colours.
    pub colours: usize,
    /// Number of sweeps timed.
    pub sweeps: usize,
    /// Seconds of the set-up: topology, colouring, metric, transfer to the backend.
    pub setup_seconds: f64,
    /// Seconds of a sweep, the mean over all but the first.
    pub sweep_seconds: f64,
    /// Seconds of the first sweep, with the compilation of kernels on a device.
    pub first_seconds: f64,
    /// Least bytes of a sweep: see [`VertexSmoother::sweep_bytes`].
    pub sweep_bytes: f64,
    /// Qualities before.
    pub before: MeshQuality,
    /// Qualities after.
    pub after: MeshQuality,
}

/// Smooths the square with about so many vertices by `sweeps` sweeps, at least 2, on `backend` and times them.
///
/// # Errors
/// [`AdaptError`]: as [`VertexSmoother::new`], and where the device failed.
pub fn time_smoothing(
    backend: &Backend,
    vertices: usize,
    sweeps: usize,
    options: &SmoothOptions,
) -> Result<SmoothingTimes, AdaptError> {
    let mesh = backend.install(|| -> Result<Mesh, AdaptError> {
        Ok(Mesh::new(square_mesh(vertices)?, &MeshOptions::default())?)
    })?;
    let field = square_metric(mesh.n_nodes());
    let start = Instant::now();
    let mut smoother = VertexSmoother::new(backend, &mesh, &field, options)?;
    backend.synchronize()?;
    let setup_seconds = start.elapsed().as_secs_f64();
    let before = smoother.quality()?;
    let start = Instant::now();
    smoother.submit_sweep();
    backend.synchronize()?;
    let first_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for _ in 1..sweeps.max(2) {
        smoother.submit_sweep();
    }
    backend.synchronize()?;
    let sweep_seconds = start.elapsed().as_secs_f64() / (sweeps.max(2) - 1) as f64;
    Ok(SmoothingTimes {
        vertices: mesh.n_nodes(),
        colours: smoother.colours(),
        sweeps: sweeps.max(2),
        setup_seconds,
        sweep_seconds,
        first_seconds,
        sweep_bytes: smoother.sweep_bytes(),
        before,
        after: smoother.quality()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complexity_is_that_of_the_vertices() {
        let field = square_metric(5000);
        let n = 300;
        let mut complexity = 0.0;
        for k in 0..n * n {
            let at = |i: usize| (i as f64 + 0.5) / n as f64;
            let (metric, _) = field.at([at(k % n), at(k / n), 0.0], 0);
            assert!(metric.is_positive_definite() && metric.zz == 1.0);
            complexity += metric.determinant().sqrt() / (n * n) as f64;
        }
        let expected = 5000.0 * 3.0_f64.sqrt() / 2.0;
        assert!((complexity / expected - 1.0).abs() < 1e-3, "{complexity} {expected}");
        let sizes = field.at([0.25, 0.65, 0.0], 0).0.sizes();
        assert!((sizes[1] / sizes[0] - ANISOTROPY).abs() < 1e-9, "{sizes:?}");
    }

    #[test]
    fn a_run_is_timed_and_improves_the_mesh() {
        let backend = Backend::host(1).unwrap();
        let times = time_smoothing(&backend, 1000, 5, &SmoothOptions::default()).unwrap();
        assert_eq!((times.vertices, times.sweeps), (1024, 5));
        assert!(times.sweep_seconds > 0.0 && times.setup_seconds > 0.0 && times.sweep_bytes > 0.0);
        assert!(times.after.lowest > times.before.lowest && times.after.mean > 0.5, "{times:?}");
    }
}
