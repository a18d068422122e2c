//! Smoothing of a mesh to an equilibrium, with its report.

use super::smoother::{MeshQuality, SmoothOptions, VertexSmoother, check};
use crate::error::AdaptError;
use crate::field::MetricField;
use crate::mesh::AdaptiveMesh;
use crate::quality::Vertex;
use crate::report::FitReport;
use karman_backend::Backend;
use karman_mesh::{Mesh, Place, RawMesh};
use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// A mesh whose vertices were moved.
#[derive(Clone, Debug)]
pub struct Smoothed {
    /// The mesh, with the cells, patches and regions of the mesh given.
    pub mesh: RawMesh,
    /// How well the mesh given fits the metric.
    pub before: FitReport,
    /// How well the smoothed mesh fits it.
    pub after: FitReport,
    /// The sweeps.
    pub report: SmoothReport,
}

/// The sweeps of a smoothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SmoothReport {
    /// Name of the device, or of the host.
    pub device: String,
    /// Number of colours: kernels of a sweep.
    pub colours: usize,
    /// Number of vertices that may move.
    pub moving: usize,
    /// Number of sweeps.
    pub sweeps: usize,
    /// Whether the sweeps ended at an equilibrium, and not at their largest number.
    pub equilibrium: bool,
    /// Estimate of the largest deviation of lengths in the metric of the grid; none with a walk.
    pub grid_error: Option<f64>,
    /// Qualities of Vasilevskii and Lipnikov before, in the metric of the lookup.
    pub before: MeshQuality,
    /// Those after.
    pub after: MeshQuality,
    /// Seconds of the set-up: topology, colouring, metric, transfer to the backend.
    pub setup_seconds: f64,
    /// Seconds of all sweeps, with the compilation of kernels on a device.
    pub sweep_seconds: f64,
}

impl fmt::Display for SmoothReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.equilibrium { "to an equilibrium" } else { "without an equilibrium" };
        write!(
            formatter,
            "{} sweeps {end}, {} vertices of {} colours on {}, set-up {:.3} s, sweeps {:.3} s\n\
             quality of size and shape: lowest {:.3e} to {:.3e}, mean {:.3} to {:.3}",
            self.sweeps,
            self.moving,
            self.colours,
            self.device,
            self.setup_seconds,
            self.sweep_seconds,
            self.before.lowest,
            self.after.lowest,
            self.before.mean,
            self.after.mean
        )?;
        match self.grid_error {
            Some(error) => {
                write!(formatter, "\nmetric on a grid: lengths deviate by a share of {error:.1e}")
            }
            None => Ok(()),
        }
    }
}

/// Moves the vertices of a mesh, and nothing else, to an equilibrium.
///
/// # Errors
/// [`AdaptError`]: as [`VertexSmoother::new`], and where the device failed.
pub fn smooth_by_colours(
    backend: &Backend,
    mesh: &Mesh,
    field: &dyn MetricField,
    options: &SmoothOptions,
) -> Result<Smoothed, AdaptError> {
    check(options)?;
    let start = Instant::now();
    let mut adaptive = AdaptiveMesh::new(mesh, field, options.ridge_angle_deg)?;
    let before = FitReport::of(&adaptive);
    let mut smoother = backend.install(|| VertexSmoother::of(backend, mesh, &adaptive, options))?;
    let quality_before = smoother.quality()?;
    let setup_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let (sweeps, equilibrium) = smoother.to_equilibrium()?;
    let report = SmoothReport {
        device: backend.device_name(),
        colours: smoother.colours(),
        moving: smoother.moving(),
        sweeps,
        equilibrium,
        grid_error: smoother.grid_error(),
        before: quality_before,
        sweep_seconds: start.elapsed().as_secs_f64(),
        after: smoother.quality()?,
        setup_seconds,
    };
    for (vertex, point) in smoother.points()?.into_iter().enumerate() {
        let own = adaptive.vertices[vertex].point;
        // The plane of a 2D mesh may lie anywhere.
        let point = if mesh.dimension == 2 { [point[0], point[1], own[2]] } else { point };
        let (metric, hint) = field.at(point, adaptive.hints[vertex]);
        if !metric.is_positive_definite() {
            let eigenvalues = metric.eigen().values;
            return Err(AdaptError::NotPositive { place: Place(point), eigenvalues });
        }
        adaptive.vertices[vertex] = Vertex::new(point, metric);
        adaptive.hints[vertex] = hint;
    }
    let after = FitReport::of(&adaptive);
    Ok(Smoothed { mesh: adaptive.to_raw(), before, after, report })
}
