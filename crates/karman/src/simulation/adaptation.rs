//! Adaptation of the mesh during a run.

use super::location::Location;
use super::metric::metric_of_entries;
use super::transfer::MeshTransfer;
use super::{Simulation, SimulationError, Transfer};
use crate::case::{AdaptInterval, Case, MetricCase, TransferKind};
use crate::io::csv::short_number;
use crate::mesh::{Mesh, MeshOptions};
use crate::mesh_source::{MeshSourceError, options};
use crate::summary::AdaptationSummary;
use karman_adapt::{
    AdaptOptions, ConservativeTransfer, FieldSampler, KeptParts, LengthPenalty, Metric,
    NodalMetric, adapt_around_frozen, check_mesh, metrics_of_file,
};
use std::sync::Arc;
use std::time::Instant;

/// Passes and rounds of an adaptation; the mesh is near its metric from the second one on.
const OPTIONS: AdaptOptions = AdaptOptions {
    passes: 15,
    rounds: 2,
    ridge_angle_deg: 40.0,
    // The given surface is that of the mesh before: a larger distance would add up over many adaptations.
    surface_tolerance: 1e-6,
    smooth_only: false,
    lengths: LengthPenalty::Steep,
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
    /// The metric of a file.
    pub(super) of_file: Option<NodalMetric>,
    /// Intersection of |H| of the field at the nodes, `[n_nodes]`, at times since the last adaptation; empty before the first of these.
    pub(super) hessians: Vec<Metric>,
}

impl Adaptation {
    /// Reads the metric of a file. Refuses a mesh that cannot be adapted, and entries of a metric that are not those of its dimension or not
    /// positive definite.
    ///
    /// # Errors
    /// [`SimulationError::Adapt`], [`SimulationError::MetricEntries`].
    pub(super) fn new(case: &Case, mesh: &Mesh) -> Result<Adaptation, SimulationError> {
        let mut adaptation = Adaptation::default();
        let Some(adapt) = &case.adapt else { return Ok(adaptation) };
        check_mesh(mesh)?;
        match &adapt.metric {
            MetricCase::Entries(entries) => {
                let expected = if mesh.dimension == 2 { 3 } else { 6 };
                if entries.len() != expected {
                    let (found, dimension) = (entries.len(), mesh.dimension);
                    return Err(SimulationError::MetricEntries { found, expected, dimension });
                }
                metric_of_entries(mesh, entries, 0.0)?;
            }
            MetricCase::File { path, name } => {
                let (of_file, metrics) = metrics_of_file(path, name, mesh.dimension)?;
                adaptation.of_file = Some(NodalMetric::new(&of_file, &metrics));
            }
            MetricCase::Field(_) => {}
        }
        Ok(adaptation)
    }
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
        let Simulation { case, mesh: old, .. } = &*self;
        let (mesh, kept) = backend.install(|| adapted_mesh(case, old, &metrics))?;
        let mesh_seconds = start.elapsed().as_secs_f64() - metric_seconds;
        let location = self.equation.location();
        let transfer = backend
            .install(|| transfer_between([old, &mesh], kept, adapt_case.transfer, location))?;
        let transfer_seconds = start.elapsed().as_secs_f64() - metric_seconds - mesh_seconds;
        let before = self.mesh.n_cells();
        self.rebuild(mesh, &transfer)?;
        self.count_adaptation(start, [metric_seconds, mesh_seconds, transfer_seconds]);
        let summary = &mut self.adaptation.summary;
        summary.step_seconds += self.adaptation.step_seconds;
        let between = std::mem::take(&mut self.adaptation.step_seconds);
        let place = match self.case.is_steady() {
            true => format!("cycle {}", self.adaptation.count),
            false => format!("t = {}, step {}", short_number(self.time()), self.steps()),
        };
        let scheme = match self.equation.is_multistep() {
            true => "; the time scheme begins anew with a step of first order",
            false => "",
        };
        let seconds = start.elapsed().as_secs_f64();
        tracing::info!(
            "{place}: mesh adapted, {before} to {} cells in {seconds:.2} s, {between:.2} s of steps before it{scheme}",
            self.mesh.n_cells(),
        );
        Ok(())
    }

    /// Adapts the mesh to the initial fields `initial_cycles` times, with these fields evaluated on each mesh.
    ///
    /// # Errors
    /// As [`Simulation::adapt`].
    pub(super) fn adapt_to_initial_fields(&mut self) -> Result<(), SimulationError> {
        let Some(adapt_case) = self.case.adapt.clone() else { return Ok(()) };
        let backend = self.backend.clone();
        for cycle in 1..=adapt_case.initial_cycles {
            let start = Instant::now();
            let metrics = backend.install(|| self.metric(&adapt_case))?;
            let metric_seconds = start.elapsed().as_secs_f64();
            let Simulation { case, mesh: old, .. } = &*self;
            let (mesh, _) = backend.install(|| adapted_mesh(case, old, &metrics))?;
            let mesh_seconds = start.elapsed().as_secs_f64() - metric_seconds;
            let before = self.mesh.n_cells();
            self.start_again(mesh)?;
            self.count_adaptation(start, [metric_seconds, mesh_seconds, 0.0]);
            tracing::info!(
                "initial cycle {cycle}: mesh adapted, {before} to {} cells in {:.2} s",
                self.mesh.n_cells(),
                start.elapsed().as_secs_f64(),
            );
        }
        Ok(())
    }

    /// Adds an adaptation since `start` to the summary: the seconds of its metric, its mesh and its transfer, and the rest as set-up.
    fn count_adaptation(&mut self, start: Instant, parts: [f64; 3]) {
        let [metric_seconds, mesh_seconds, transfer_seconds] = parts;
        let seconds = start.elapsed().as_secs_f64();
        let Adaptation { summary, count, hessians, .. } = &mut self.adaptation;
        summary.count += 1;
        summary.metric_seconds += metric_seconds;
        summary.mesh_seconds += mesh_seconds;
        summary.transfer_seconds += transfer_seconds;
        summary.setup_seconds += seconds - metric_seconds - mesh_seconds - transfer_seconds;
        *count += 1;
        hessians.clear();
        self.phases.add("adaptation", seconds);
    }
}

/// The adapted mesh and the parts of it that were kept.
fn adapted_mesh(
    case: &Case,
    mesh: &Mesh,
    metrics: &[Metric],
) -> Result<(Mesh, KeptParts), SimulationError> {
    let names = case.adapt.iter().flat_map(|adapt| &adapt.freeze);
    let is_frozen: Vec<bool> =
        mesh.regions.iter().map(|region| names.clone().any(|name| name == region)).collect();
    let frozen: Vec<bool> =
        mesh.cells.groups.iter().map(|group| is_frozen[*group as usize]).collect();
    let field = NodalMetric::new(mesh, metrics);
    let adapted = adapt_around_frozen(mesh, &field, &OPTIONS, &frozen)?;
    let options = MeshOptions { scale: 1.0, ..options(&case.mesh) };
    let new = Mesh::new(adapted.mesh, &options).map_err(MeshSourceError::from)?;
    let kept = adapted.kept.numbered_as(&new);
    Ok((new, kept))
}

/// The transfer of unknowns at `location` from a mesh to another, of which parts were kept.
fn transfer_between(
    [old, new]: [&Mesh; 2],
    kept: KeptParts,
    kind: TransferKind,
    location: Location,
) -> Result<Transfer, SimulationError> {
    let sampler = Arc::new(FieldSampler::new(old)?);
    let conservative = match kind {
        TransferKind::Interpolate => None,
        TransferKind::Conservative => {
            let transfer =
                ConservativeTransfer::new(sampler.clone(), Arc::new(new.clone()), kept.clone())?;
            transfer.prepare();
            Some(transfer)
        }
    };
    let has_nodes = location == Location::Nodes;
    Ok(Transfer::of(MeshTransfer { sampler, conservative, kept, has_nodes }))
}
