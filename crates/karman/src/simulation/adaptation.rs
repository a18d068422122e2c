//! Adaptation of the mesh during a run.

use super::location::Location;
use super::transfer::MeshTransfer;
use super::{Simulation, SimulationError, Transfer};
use crate::case::{AdaptCase, AdaptInterval, Case, FieldMetric, MetricCase, TransferKind, Value};
use crate::io::csv::short_number;
use crate::mesh::{Mesh, MeshOptions};
use crate::mesh_source::{MeshSourceError, options};
use crate::summary::AdaptationSummary;
use karman_adapt::{
    AdaptError, AdaptOptions, ConservativeTransfer, FieldSampler, FieldSamples, HessianOptions,
    Metric, NodalMetric, adapt, check_mesh, limit_gradation, metric_of_field,
};
use std::sync::Arc;
use std::time::Instant;

/// Passes and rounds of an adaptation; the mesh is near its metric from the second one on.
const OPTIONS: AdaptOptions = AdaptOptions {
    passes: 15,
    rounds: 1,
    ridge_angle_deg: 40.0,
    // The given surface is that of the mesh before: a larger distance would add up over many adaptations.
    surface_tolerance: 1e-6,
    smooth_only: false,
};

/// The adaptations of a run.
#[derive(Debug, Default)]
pub(super) struct Adaptation {
    /// Their number and cost in this run.
    pub(super) summary: AdaptationSummary,
    /// Adaptations of the run and of those that it continues.
    pub(super) count: usize,
    /// Seconds of the steps since the last one.
    pub(super) step_seconds: f64,
    /// Warnings about the present mesh.
    pub(super) warnings: Vec<String>,
}

/// Refuses a mesh that cannot be adapted, and entries of a metric that are not those of its dimension or not positive definite.
///
/// # Errors
/// [`SimulationError::Adapt`], [`SimulationError::MetricEntries`].
pub(super) fn check(case: &Case, mesh: &Mesh) -> Result<(), SimulationError> {
    let Some(adapt) = &case.adapt else { return Ok(()) };
    check_mesh(mesh)?;
    if let MetricCase::Entries(entries) = &adapt.metric {
        let expected = if mesh.dimension == 2 { 3 } else { 6 };
        if entries.len() != expected {
            let (found, dimension) = (entries.len(), mesh.dimension);
            return Err(SimulationError::MetricEntries { found, expected, dimension });
        }
        metric_of_entries(mesh, entries, 0.0)?;
    }
    Ok(())
}

/// The metric of expressions at the nodes.
fn metric_of_entries(mesh: &Mesh, entries: &[Value], time: f64) -> Result<Vec<Metric>, AdaptError> {
    let metric = |point: &[f64; 3]| {
        let entry = |entry: usize| entries[entry].at(point, time);
        let metric = Metric::of_upper_triangle(mesh.dimension, entry);
        if metric.is_positive_definite() {
            return Ok(metric);
        }
        let (place, eigenvalues) = (crate::mesh::Place(*point), metric.eigen().values);
        Err(AdaptError::NotPositive { place, eigenvalues })
    };
    mesh.points.iter().map(metric).collect()
}

impl Simulation {
    /// The adaptations of the run; none of a case without `[adapt]`.
    pub(super) fn adaptation_summary(&self) -> Option<AdaptationSummary> {
        let Adaptation { summary, step_seconds, .. } = &self.adaptation;
        let step_seconds = summary.step_seconds + step_seconds;
        self.case.adapt.as_ref().map(|_| AdaptationSummary { step_seconds, ..summary.clone() })
    }

    /// Whether the mesh is adapted after the step that ended now.
    pub(super) fn adaptation_is_due(&self) -> bool {
        match self.case.adapt.as_ref().map(|adapt| adapt.interval) {
            Some(AdaptInterval::Time(every)) => {
                let time = self.time();
                super::output::crosses(time - self.time_step, time, every)
            }
            Some(AdaptInterval::Cycles(cycles)) => self.adaptation.count < cycles,
            None => false,
        }
    }

    /// Adapts the mesh to the metric of `[adapt]` and goes on with the new mesh; a case without this section stays as it is.
    ///
    /// # Errors
    /// As [`Simulation::rebuild`]; [`SimulationError::Adapt`] where the metric of the case is not positive definite.
    pub fn adapt(&mut self) -> Result<(), SimulationError> {
        let Some(adapt_case) = self.case.adapt.clone() else { return Ok(()) };
        let start = Instant::now();
        let backend = self.backend.clone();
        let metrics = backend.install(|| self.metric(&adapt_case))?;
        let metric_seconds = start.elapsed().as_secs_f64();
        let (mesh, transfer, [mesh_seconds, transfer_seconds]) =
            backend.install(|| self.adapted(&metrics, adapt_case.transfer))?;
        let before = self.mesh.n_cells();
        self.rebuild(mesh, &transfer)?;
        let seconds = start.elapsed().as_secs_f64();
        let adaptation = &mut self.adaptation;
        let summary = &mut adaptation.summary;
        summary.count += 1;
        summary.metric_seconds += metric_seconds;
        summary.mesh_seconds += mesh_seconds;
        summary.transfer_seconds += transfer_seconds;
        summary.setup_seconds += seconds - metric_seconds - mesh_seconds - transfer_seconds;
        summary.step_seconds += adaptation.step_seconds;
        let between = std::mem::take(&mut adaptation.step_seconds);
        adaptation.count += 1;
        self.phases.add("adaptation", seconds);
        let place = match self.case.is_steady() {
            true => format!("cycle {}", self.adaptation.count),
            false => format!("t = {}, step {}", short_number(self.time()), self.steps()),
        };
        let scheme = match self.equation.is_multistep() {
            true => "; the time scheme begins anew with a step of first order",
            false => "",
        };
        tracing::info!(
            "{place}: mesh adapted, {before} to {} cells in {seconds:.2} s, {between:.2} s of steps before it{scheme}",
            self.mesh.n_cells(),
        );
        Ok(())
    }

    /// The metric of the case at the nodes.
    fn metric(&mut self, case: &AdaptCase) -> Result<Vec<Metric>, SimulationError> {
        let mesh = &self.mesh;
        let mut metrics = match &case.metric {
            MetricCase::Entries(entries) => metric_of_entries(mesh, entries, self.time())?,
            MetricCase::Field(FieldMetric {
                field,
                norm,
                complexity,
                h_min,
                h_max,
                anisotropy,
            }) => {
                let values = self.equation.output_field(mesh, field)?.into_scalar();
                let samples = match self.equation.location() {
                    Location::Cells => FieldSamples::Cells(&values),
                    Location::Nodes => FieldSamples::Nodes(&values),
                };
                let [h_min, h_max] = HessianOptions::size_bounds(mesh, *h_min, *h_max);
                let options = HessianOptions {
                    norm: *norm,
                    complexity: *complexity,
                    h_min,
                    h_max,
                    anisotropy: *anisotropy,
                };
                metric_of_field(mesh, samples, &options)?
            }
        };
        limit_gradation(mesh, &mut metrics, case.gradation)?;
        Ok(metrics)
    }

    /// The adapted mesh, the transfer to it, and the seconds of both.
    fn adapted(
        &mut self,
        metrics: &[Metric],
        kind: TransferKind,
    ) -> Result<(Mesh, Transfer, [f64; 2]), SimulationError> {
        let start = Instant::now();
        let metric = NodalMetric::new(&self.mesh, metrics);
        let adapted = adapt(&self.mesh, &metric, &OPTIONS)?;
        let options = MeshOptions { scale: 1.0, ..options(&self.case.mesh) };
        let mesh = Mesh::new(adapted.mesh, &options).map_err(MeshSourceError::from)?;
        let mesh_seconds = start.elapsed().as_secs_f64();
        let sampler = Arc::new(FieldSampler::new(&self.mesh)?);
        let conservative = match kind {
            TransferKind::Interpolate => None,
            TransferKind::Conservative => {
                let transfer = ConservativeTransfer::new(sampler.clone(), Arc::new(mesh.clone()))?;
                transfer.prepare();
                Some(transfer)
            }
        };
        let has_nodes = self.equation.location() == Location::Nodes;
        let transfer = Transfer::of(MeshTransfer { sampler, conservative, has_nodes });
        let transfer_seconds = start.elapsed().as_secs_f64() - mesh_seconds;
        Ok((mesh, transfer, [mesh_seconds, transfer_seconds]))
    }
}
