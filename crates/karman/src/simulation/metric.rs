//! The metric of a run: of a field, of expressions or of a file.

use super::location::Location;
use super::{Simulation, SimulationError};
use crate::case::{AdaptCase, AdaptInterval, MetricCase, Value};
use crate::io::checkpoint::{Checkpoint, CheckpointError, NamedArray};
use crate::mesh::Mesh;
use karman_adapt::{
    AdaptError, FieldSamples, HessianOptions, Metric, MetricField, NodalMetric, absolute_hessians,
    intersect_hessians, limit_gradation, metric_of_hessians,
};
use std::time::Instant;

/// The array of the intersected Hessians in checkpoints.
const HESSIANS: &str = "adaptation.hessians";

/// Adds the intersected Hessians to a checkpoint, `[n_nodes][6]`; none where the list is empty.
pub(super) fn insert_hessians(checkpoint: &mut Checkpoint, hessians: &[Metric]) {
    if !hessians.is_empty() {
        let entries = hessians.iter().flat_map(Metric::entries).collect();
        checkpoint.insert(NamedArray::reals(HESSIANS, entries));
    }
}

/// The intersected Hessians of a checkpoint, empty where it has none.
///
/// # Errors
/// [`CheckpointError`] of an array of another length.
pub(super) fn hessians_of(
    checkpoint: &Checkpoint,
    nodes: usize,
) -> Result<Vec<Metric>, CheckpointError> {
    if !checkpoint.has_array(HESSIANS) {
        return Ok(vec![]);
    }
    let entries = checkpoint.reals(HESSIANS, &[6 * nodes])?;
    let of_node = |e: &[f64]| Metric::from_entries([e[0], e[1], e[2], e[3], e[4], e[5]]);
    Ok(entries.chunks_exact(6).map(of_node).collect())
}

/// The metric of a field of the place at the nodes.
fn metric_at_nodes(mesh: &Mesh, field: &NodalMetric) -> Vec<Metric> {
    let mut hint = 0;
    let mut at = |point: &[f64; 3]| {
        let (metric, next) = field.at(*point, hint);
        hint = next;
        metric
    };
    mesh.points.iter().map(&mut at).collect()
}

/// The metric of expressions at the nodes.
pub(super) fn metric_of_entries(
    mesh: &Mesh,
    entries: &[Value],
    time: f64,
) -> Result<Vec<Metric>, AdaptError> {
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
    /// Whether the metric is sampled after the step that ended now, which an adaptation does not follow.
    fn sample_is_due(&self) -> bool {
        let Some(AdaptCase {
            metric: MetricCase::Field(_),
            interval: AdaptInterval::Time(every),
            samples: samples @ 2..,
            ..
        }) = &self.case.adapt
        else {
            return false;
        };
        let (time, interval) = (self.time(), every / *samples as f64);
        super::output::crosses(time - self.time_step, time, interval) && !self.adaptation_is_due()
    }

    /// Intersects the Hessians of the field of `[adapt]` with those of the present time, at the times of its `samples`.
    ///
    /// # Errors
    /// The field cannot be evaluated.
    pub(super) fn sample_metric(&mut self) -> Result<(), SimulationError> {
        if self.sample_is_due() {
            let start = Instant::now();
            let backend = self.backend.clone();
            let hessians = backend.install(|| self.intersected_hessians())?;
            self.adaptation.hessians = hessians;
            let seconds = start.elapsed().as_secs_f64();
            self.adaptation.summary.metric_seconds += seconds;
            self.phases.add("adaptation", seconds);
        }
        Ok(())
    }

    /// |H| of the field of `[adapt]` at the nodes, intersected with those since the last adaptation.
    fn intersected_hessians(&mut self) -> Result<Vec<Metric>, SimulationError> {
        let field = self.case.adapt.as_ref().and_then(AdaptCase::field);
        let Some(field) = field else { return Ok(vec![]) };
        let values = self.equation.output_field(&self.mesh, field)?.into_scalar();
        let samples = match self.equation.location() {
            Location::Cells => FieldSamples::Cells(&values),
            Location::Nodes => FieldSamples::Nodes(&values),
        };
        let mut hessians = absolute_hessians(&self.mesh, samples);
        if !self.adaptation.hessians.is_empty() {
            intersect_hessians(self.mesh.dimension, &mut hessians, &self.adaptation.hessians);
        }
        Ok(hessians)
    }

    /// The metric of the case at the nodes.
    pub(super) fn metric(&mut self, case: &AdaptCase) -> Result<Vec<Metric>, SimulationError> {
        let mut metrics = match &case.metric {
            MetricCase::Entries(entries) => self.metric_of_interval(case, entries)?,
            MetricCase::File { .. } => match &self.adaptation.of_file {
                Some(field) => metric_at_nodes(&self.mesh, field),
                None => vec![],
            },
            MetricCase::Field(of_field) => {
                let hessians = self.intersected_hessians()?;
                let [h_min, h_max] =
                    HessianOptions::size_bounds(&self.mesh, of_field.h_min, of_field.h_max);
                let options = HessianOptions {
                    norm: of_field.norm,
                    complexity: of_field.complexity,
                    h_min,
                    h_max,
                    anisotropy: of_field.anisotropy,
                };
                metric_of_hessians(&self.mesh, &hessians, &options)?
            }
        };
        limit_gradation(&self.mesh, &mut metrics, case.gradation)?;
        Ok(metrics)
    }

    /// The intersection of the metrics of expressions at the `samples` times from now to the end of the next interval.
    fn metric_of_interval(
        &self,
        case: &AdaptCase,
        entries: &[Value],
    ) -> Result<Vec<Metric>, SimulationError> {
        let (mesh, time) = (&self.mesh, self.time());
        let mut metrics = metric_of_entries(mesh, entries, time)?;
        let AdaptInterval::Time(every) = case.interval else { return Ok(metrics) };
        let end = self.case.time.as_ref().map_or(f64::INFINITY, |time| time.end);
        for sample in 1..case.samples {
            let later = time + every * sample as f64 / (case.samples - 1) as f64;
            let others = metric_of_entries(mesh, entries, later.min(end))?;
            metrics.iter_mut().zip(others).for_each(|(own, other)| *own = own.intersection(&other));
        }
        Ok(metrics)
    }
}
