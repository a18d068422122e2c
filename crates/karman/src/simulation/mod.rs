//! The run of a case: set-up, time steps, monitors, output. `run` calls `Simulation::{new, step, field}`,
//! which other programs can use to drive a case.

mod adaptation;
mod averages;
mod compressible;
mod equation;
mod error;
mod folder;
mod heat;
mod incompressible;
mod initial;
mod initial_error;
mod interpolations;
mod linear;
mod location;
mod mesh_checks;
mod metric;
mod outcome;
mod output;
mod partition;
mod pieces;
mod points;
mod prescribed;
mod rank_averages;
mod ranks;
mod sampled;
mod start;
mod stored_mesh;
mod surface;
mod transfer;
mod warning;

pub use equation::{Advance, Monitored, SteadyProgress};
pub use error::SimulationError;
pub use initial_error::InitialError;
pub use outcome::{Outcome, OutcomeKind, Progress};
pub use transfer::{FieldTransfer, IsAdmissible, Transfer};

use crate::backend::{Backend, BackendKind, Processes};
use crate::case::{Case, Equation as EquationCase, OutputInterval, Precision, TimeStep};
use crate::io::checkpoint::{Checkpoint, CheckpointError};
use crate::io::csv::short_number;
use crate::linear::{SolveOutcome, Status, StopTest};
use crate::mesh::{Geometry, Mesh};
use crate::mesh_source::MeshSourceError;
use crate::summary::{LinearSummary, NamedList, TimeSummary};
use adaptation::Adaptation;
use averages::AverageResult;
use equation::{Equation, EquationSetup, Unknown};
use folder::OutputFolder;
use mesh_checks::check_mesh;
use output::Output;
use partition::{Numbering, in_parts, log_parts};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The case of the equation of a case.
fn setup_of(case: &Case) -> &dyn EquationSetup {
    match &case.equation {
        EquationCase::Heat(heat) => heat,
        EquationCase::Incompressible(flow) => flow.as_ref(),
        EquationCase::Compressible(flow) => flow.as_ref(),
    }
}

/// Options of a run besides the case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// The backend, in place of that of the case.
    pub backend: Option<BackendKind>,
    /// A checkpoint to continue from.
    pub restart: Option<PathBuf>,
}

/// A case with its mesh, its equations on a backend and its clock.
pub struct Simulation {
    case: Case,
    backend: Backend,
    mesh: Mesh,
    /// Of a mesh in the order of its parts.
    numbering: Option<Numbering>,
    equation: Box<dyn Equation>,
    phases: NamedList<f64>,
    linear: Option<LinearSummary>,
    time_step: f64,
    restarted: bool,
    adaptation: Adaptation,
    folder: Option<OutputFolder>,
    warnings: Vec<String>,
    should_stop: Option<StopTest>,
}

/// Round-off of the time, as a fraction of a time step.
const TIME_ROUND_OFF: f64 = 1e-6;

/// A time step below `CFL_LOWER` of that of the CFL number grows to `CFL_TARGET` of it, by a factor of
/// `GROWTH` at most.
const CFL_LOWER: f64 = 0.85;
const CFL_TARGET: f64 = 0.95;
const GROWTH: f64 = 1.2;

/// Absolute value above which a field has diverged.
const DIVERGED: f64 = 1e30;

/// Relative residual below which a stagnating linear solve has reached round-off, in double and in single
/// precision.
const ROUND_OFF_RESIDUAL: [f64; 2] = [1e-10, 1e-4];

impl Simulation {
    /// Opens the backend, reads or generates the mesh, checks mesh and case, and sets up the equations on the
    /// backend. All errors before the first step occur here, so `karman check` calls this function. No file
    /// is written.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn new(case: Case, options: RunOptions) -> Result<Simulation, SimulationError> {
        Self::of_processes(case, options, &Processes::default())
    }

    /// As [`Simulation::new`], of a case that several processes run together, each as a rank with a simulation of its own. All call the
    /// same functions; the first writes the files.
    ///
    /// # Errors
    /// As [`Simulation::new`]; [`SimulationError::Ranks`] also where processes differ in case, mesh or checkpoint.
    pub fn of_processes(
        case: Case,
        options: RunOptions,
        processes: &Processes,
    ) -> Result<Simulation, SimulationError> {
        let case = ranks::of_processes(case, processes)?;
        if processes.is_first() {
            folder::check_writable(&case.output.directory)?;
        }
        folder::check_inputs(&case, options.restart.is_some())?;
        let kind = options.backend.unwrap_or(case.run.backend);
        let backend = Backend::new(kind, case.run.threads)?.of_process(processes.clone());
        ranks::check(&case, &backend)?;
        let mut phases = NamedList::new();
        let checkpoint = options.restart.as_ref().map(|path| Checkpoint::read(path)).transpose()?;
        let mesh = timed(&mut phases, "mesh", || {
            backend.install(|| stored_mesh::mesh_of(&case, checkpoint.as_ref()))
        })?;
        for warning in &mesh.warnings {
            tracing::warn!("{warning}");
        }
        case.check_patches(&mesh.patches.iter().map(|p| p.name.clone()).collect::<Vec<_>>())?;
        case.check_regions(&mesh.regions)?;
        case.check_dimension(mesh.dimension)?;
        let known = mesh.warnings.len();
        let pairs = case.periodic_pairs();
        let mesh = timed(&mut phases, "mesh", || {
            backend.install(|| mesh.connect_periodic(&pairs)).map_err(MeshSourceError::from)
        })?;
        for warning in &mesh.warnings[known..] {
            tracing::warn!("{warning}");
        }
        let (mesh, numbering) =
            timed(&mut phases, "mesh", || backend.install(|| in_parts(&case, mesh)))?;
        log_parts(&case, &mesh);
        ranks::check_equal(processes, (&case, &mesh), checkpoint.as_ref())?;
        let adaptation = backend.install(|| Adaptation::new(&case, &mesh))?;
        let (equation, found) =
            start::start(&case, &backend, &mesh, checkpoint.is_some(), &mut phases)?;
        let time_step = start::first_time_step(&case, equation.as_ref())?;
        let linear = equation.linear_summary();
        let of_case = case.warnings.iter().map(|warning| warning.message.clone());
        let of_mesh = mesh.warnings.iter().map(ToString::to_string);
        let of_devices = ranks::check_devices(case.run.ranks, backend.kind(), mesh.n_cells());
        if let Some(warning) = &of_devices {
            tracing::warn!("{warning}");
        }
        let of_devices = of_devices.iter().map(ToString::to_string);
        let warnings = of_case.chain(of_mesh).chain(found).chain(of_devices).collect();
        let mut simulation = Simulation {
            case,
            backend,
            mesh,
            numbering,
            equation,
            phases,
            linear,
            time_step,
            restarted: false,
            adaptation,
            folder: None,
            warnings,
            should_stop: None,
        };
        match (&options.restart, &checkpoint) {
            (Some(path), Some(checkpoint)) => simulation.restore(path, checkpoint)?,
            _ => simulation.adapt_to_initial_fields()?,
        }
        Ok(simulation)
    }

    /// Goes on with another mesh of the same patches and regions, at the same time and number of steps: sets the
    /// equation up again and takes its fields by a transfer. A flow projects its velocity. With `partition = "metis"` and several ranks
    /// the cells are renumbered first.
    ///
    /// # Errors
    /// As [`Simulation::new`] for the mesh; [`SimulationError`] where a transferred value is not finite.
    pub fn rebuild(&mut self, mesh: Mesh, transfer: &Transfer) -> Result<(), SimulationError> {
        let Simulation { case, backend, equation, .. } = self;
        case.check_patches(&mesh.patches.iter().map(|p| p.name.clone()).collect::<Vec<_>>())?;
        case.check_regions(&mesh.regions)?;
        let pairs = case.periodic_pairs();
        let mesh =
            backend.install(|| mesh.connect_periodic(&pairs)).map_err(MeshSourceError::from)?;
        let (mesh, numbering) = backend.install(|| in_parts(case, mesh))?;
        log_parts(case, &mesh);
        ranks::check_equal_meshes(backend.processes(), &mesh)?;
        let geometry = backend.install(|| Geometry::new(&mesh))?;
        let found = backend.install(|| check_mesh(case, &mesh, &geometry))?;
        backend.install(|| equation.rebuild(case, (&mesh, &geometry), transfer))?;
        self.numbering = numbering;
        self.change_mesh(mesh, found.iter().map(ToString::to_string).collect());
        Ok(())
    }

    /// The case.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// The backend that computes.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The warnings so far: of the case, of the mesh, then of the run.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Current time, 0 of a steady case, to twelve digits: the sum of many steps is 200 and not 199.99999999999292.
    pub fn time(&self) -> f64 {
        if self.case.is_steady() {
            return 0.0;
        }
        let (time, _) = self.equation.clock();
        format!("{time:.11e}").parse().unwrap_or(time)
    }

    /// Ends the run after the step or the iteration in which `should_stop` becomes true, with all output and a checkpoint
    /// written. A steady solution of a single linear system ends within its solve, without a checkpoint.
    pub fn stop_when(&mut self, should_stop: impl Fn() -> bool + Send + Sync + 'static) {
        let should_stop: StopTest = Arc::new(should_stop);
        self.equation.stop_when(should_stop.clone());
        self.should_stop = Some(should_stop);
    }

    /// Locks the output directory for this run and removes the results of an earlier run; a restart keeps
    /// them. Of several processes the first does. [`Simulation::run`] calls this function if the caller did not.
    ///
    /// # Errors
    /// [`SimulationError::Write`], or [`SimulationError::InUse`] where another run has locked the directory.
    pub fn claim_output(&mut self) -> Result<(), SimulationError> {
        if self.folder.is_none() && self.backend.processes().is_first() {
            let folder = OutputFolder::claim(&self.case.output.directory)?;
            if !self.restarted {
                folder.remove_results(&self.case.name)?;
            }
            self.folder = Some(folder);
        }
        Ok(())
    }

    /// Number of time steps.
    pub fn steps(&self) -> usize {
        self.equation.clock().1
    }

    /// A field, one value per unknown in the solver's numbering.
    ///
    /// # Errors
    /// [`SimulationError::NoField`], or the device failed.
    pub fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError> {
        self.equation.field(name)
    }

    /// Advances one time step (shortened to end at the final time), or solves a steady case.
    ///
    /// # Errors
    /// [`SimulationError`] where an expression cannot be evaluated or the backend fails. A solver that does
    /// not converge is no error but part of the report.
    pub fn step(&mut self) -> Result<Advance, SimulationError> {
        self.adapt_time_step()?;
        let length = self.case.time.as_ref().map(|time| {
            let left = time.end - self.time();
            // A last step that differs by round-off only keeps Δt, and with it the matrix.
            if (left - self.time_step).abs() < TIME_ROUND_OFF * self.time_step {
                self.time_step
            } else {
                self.time_step.min(left)
            }
        });
        let setups = self.equation.solver_setups();
        let start = Instant::now();
        let Simulation { backend, mesh, equation, .. } = &mut *self;
        let advance = backend.install(|| {
            let (before, _) = equation.clock();
            let advance = equation.advance(mesh, length)?;
            equation.accumulate(before)?;
            Ok::<Advance, SimulationError>(advance)
        })?;
        let seconds = start.elapsed().as_secs_f64();
        self.adaptation.step_seconds += seconds;
        if let [] | [_] = advance.solves[..] {
            self.phases.add("solve", seconds);
        } else {
            let mut rest = seconds;
            for (phase, outcome) in &advance.solves {
                self.phases.add(phase, outcome.seconds);
                rest -= outcome.seconds;
            }
            self.phases.add("other", rest.max(0.0));
        }
        let is_new = self.equation.solver_setups() > setups;
        if let (Some(outcome), Some(solver)) = (advance.outcome(), self.equation.linear_summary()) {
            let setting_up = if is_new { solver.setup_seconds } else { 0.0 };
            let before = self.linear.take().unwrap_or_default();
            let solving = (seconds - setting_up).max(0.0);
            self.linear = Some(linear::after_solve(solver, &before, outcome, solving));
        }
        self.sample_metric()?;
        Ok(advance)
    }

    /// Adapts the time step to the CFL number. A step between `CFL_LOWER` and 1 of that of the CFL number is
    /// kept: each change of Δt costs a set-up of the solvers.
    fn adapt_time_step(&mut self) -> Result<(), SimulationError> {
        let Some(TimeStep::Cfl(number)) = self.case.time.as_ref().map(|time| time.step) else {
            return Ok(());
        };
        let left = self.case.time.as_ref().map_or(f64::INFINITY, |time| time.end) - self.time();
        let allowed = self.equation.longest_step(number, left)?;
        let growth = if self.steps() == 0 { f64::INFINITY } else { GROWTH };
        if allowed >= left {
            // The final time bounds the step, not the flow; `step` shortens it.
            self.time_step = self.time_step.max(left.min(growth * self.time_step));
        } else if self.time_step > allowed || self.time_step < CFL_LOWER * allowed {
            self.time_step = (CFL_TARGET * allowed).min(growth * self.time_step);
        }
        Ok(())
    }

    /// Runs the case to its end and writes its output; `observer` is called after every step.
    ///
    /// # Errors
    /// [`SimulationError`]; files written before stay readable.
    pub fn run(&mut self, observer: &mut dyn FnMut(&Progress)) -> Result<Outcome, SimulationError> {
        self.claim_output()?;
        let at = (self.time(), self.steps() as u64);
        let mut output = Output::open(&self.case, self.backend.processes(), self.restarted, at)?;
        if let (Some(folder), true) = (&self.folder, self.restarted) {
            folder.remove_fields_from(output.fields_written())?;
        }
        let start = Instant::now();
        let result = self.march(&mut output, start, observer);
        let outcome = match &result {
            Ok(outcome) => outcome.clone(),
            Err(error) => Outcome { kind: OutcomeKind::Failed, message: error.to_string() },
        };
        let mut warnings = self.equation.averages().warnings_at_end(self.time());
        if !matches!(outcome.kind, OutcomeKind::Failed | OutcomeKind::Interrupted) {
            warnings.extend(self.equation.warnings_at_end(outcome.kind)?);
        }
        self.warn(&warnings);
        let written = output.finish(self, &outcome, start);
        result.and_then(|outcome| written.map(|()| outcome))
    }

    /// The averages over time that have begun.
    fn averages(&self) -> Result<Vec<AverageResult>, SimulationError> {
        let linear = |field: &str, means| self.equation.averaged_field(&self.mesh, field, means);
        self.equation.averages().results(&linear)
    }

    /// Logs warnings and keeps them for the summary.
    fn warn(&mut self, warnings: &[String]) {
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        self.warnings.extend_from_slice(warnings);
    }

    fn march(
        &mut self,
        output: &mut Output,
        start: Instant,
        observer: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, SimulationError> {
        let end = self.case.time.as_ref().map(|t| t.end);
        let tolerance = self.case.time.as_ref().and_then(|t| t.steady_tolerance);
        if end.is_some() && !self.restarted && self.case.output.every != OutputInterval::End {
            output.fields(self)?;
        }
        if end.is_some_and(|end| self.is_at_end(end)) {
            return self.nothing_left(output);
        }
        loop {
            if end.is_some_and(|end| self.is_at_end(end)) {
                let message = format!("reached t = {}", short_number(self.time()));
                return Ok(Outcome { kind: OutcomeKind::Finished, message });
            }
            if self.is_to_stop()? {
                return self.interrupted(output);
            }
            let advance = self.step()?;
            let monitored = self.equation.monitor()?;
            output.history(self, &advance, &monitored)?;
            self.warn(&advance.warnings);
            let solve = advance.outcome();
            observer(&Progress {
                step: self.steps() as u64,
                time: self.time(),
                end: end.unwrap_or(0.0),
                rate: advance.rate,
                scaled_residual: advance.steady.map(|progress| progress.residual),
                courant: advance.columns.get("cfl").copied(),
                residual: solve.map_or(0.0, |solve| solve.relative_residual),
                iterations: solve.map_or(0, |solve| solve.iterations as u64),
                seconds: start.elapsed().as_secs_f64(),
            });
            if let Some(outcome) = self.check_outcome(&advance)? {
                return Ok(outcome);
            }
            if end.is_none()
                && let Some(outcome) = steady_outcome(&advance, self.steps())
            {
                if outcome.kind != OutcomeKind::Converged || !self.adaptation_is_due() {
                    return Ok(outcome);
                }
                self.adapt()?;
                output.change_mesh();
                continue;
            }
            if tolerance.is_some_and(|tolerance| advance.rate < tolerance) {
                let time = short_number(self.time());
                let message = format!("steady at t = {time}: rate {:.2e}", advance.rate);
                return Ok(Outcome { kind: OutcomeKind::Converged, message });
            }
            if output.fields_are_due(self) && end.is_none_or(|end| !self.is_at_end(end)) {
                output.fields(self)?;
            }
            if end.is_some_and(|end| !self.is_at_end(end)) && self.adaptation_is_due() {
                self.adapt()?;
                output.change_mesh();
            }
            if output.checkpoint_is_due(self) {
                self.checkpoint(&output.checkpoint_path(self.steps()))?;
            }
        }
    }

    /// Whether the caller of this process, or of another, ends the run.
    fn is_to_stop(&self) -> Result<bool, SimulationError> {
        let own = self.should_stop.as_ref().is_some_and(|should_stop| should_stop());
        Ok(self.backend.processes().any(own)?)
    }

    /// The outcome of a restart from a checkpoint at the final time.
    fn nothing_left(&mut self, output: &mut Output) -> Result<Outcome, SimulationError> {
        let time = short_number(self.time());
        let mut message = format!("nothing left to do: the checkpoint is at t = {time}, the end");
        if output.keep_summary(self)? {
            message += "; summary.json stays as the earlier run left it";
        } else {
            output.set_monitored(self.equation.monitor()?);
        }
        tracing::info!("{message}");
        Ok(Outcome { kind: OutcomeKind::Finished, message })
    }

    /// The outcome of a run interrupted before its first step or after one, whose checkpoint is written.
    fn interrupted(&mut self, output: &Output) -> Result<Outcome, SimulationError> {
        let steps = self.steps();
        let mut message = match self.case.is_steady() {
            true if steps == 1 => "stopped after 1 iteration".to_owned(),
            true => format!("stopped after {steps} iterations"),
            false => format!("stopped at t = {}, step {steps}", short_number(self.time())),
        };
        if steps > 0 {
            let path = output.checkpoint_path(steps);
            self.checkpoint(&path)?;
            message += &format!("; go on with --restart {}", path.display());
        }
        Ok(Outcome { kind: OutcomeKind::Interrupted, message })
    }

    fn is_at_end(&self, end: f64) -> bool {
        end - self.time() <= TIME_ROUND_OFF * self.time_step
    }

    /// The outcome of a run that diverged or did not converge in its last step; none otherwise.
    fn check_outcome(&self, advance: &Advance) -> Result<Option<Outcome>, SimulationError> {
        let mut solves = advance.solves.iter().map(|(_, outcome)| outcome);
        let is_stopped = |outcome: &&SolveOutcome| outcome.status == Status::Interrupted;
        if let Some(outcome) = solves.clone().find(is_stopped) {
            let message = format!("the linear solve was {outcome}; the fields have not converged");
            return Ok(Some(Outcome { kind: OutcomeKind::Interrupted, message }));
        }
        let is_nan = solves.clone().any(|outcome| outcome.status == Status::NotANumber);
        if is_nan || is_diverged(advance.rate) || advance.divergence.is_some() {
            let message = self.divergence_message(advance)?;
            return Ok(Some(Outcome { kind: OutcomeKind::Diverged, message }));
        }
        let round_off = ROUND_OFF_RESIDUAL[usize::from(self.case.run.precision == Precision::F32)];
        let is_met = |outcome: &SolveOutcome| {
            (outcome.is_converged() || outcome.relative_residual <= round_off)
                && outcome.is_compatible()
        };
        Ok(solves.find(|outcome| !is_met(outcome)).map(|outcome| {
            let step = self.steps();
            let advice = "allow more iterations, loosen relative_tolerance, or look at the mesh with \
                          `karman mesh check`";
            let message = format!("step {step}: {outcome}; {advice}");
            Outcome { kind: OutcomeKind::NotConverged, message }
        }))
    }

    /// The field that diverged, where, and advice.
    fn divergence_message(&self, advance: &Advance) -> Result<String, SimulationError> {
        let is_steady = self.case.is_steady();
        let place = match is_steady {
            true => format!("iteration {}", self.steps()),
            false => format!("step {}, t = {:.2e}", self.steps(), self.time()),
        };
        let solve = advance.outcome().map(|outcome| format!("; last solve: {outcome}"));
        let courant = advance.columns.get("cfl");
        let courant =
            courant.map(|courant| format!("; the Courant number of the step was {courant:.2e}"));
        let descriptor = self.equation.descriptor();
        let advice = match is_steady {
            true => descriptor.advice.steady.to_owned(),
            false => self.advice_for_step() + descriptor.advice.in_time,
        };
        let ending =
            format!("{}{}: {advice}", solve.unwrap_or_default(), courant.unwrap_or_default());
        if let Some(divergence) = &advance.divergence {
            return Ok(format!("{divergence}, after {place}{ending}"));
        }
        for Unknown { name, .. } in self.equation.unknowns() {
            let field = self.equation.field(name)?;
            let fault = |value: f64| match value {
                value if value.is_nan() => Some("is not a number"),
                value if is_diverged(value) => Some("has blown up"),
                value => self.equation.fault(name, value),
            };
            let mut faults = field.iter().map(|value| fault(*value)).enumerate();
            let Some((i, what)) = faults.find_map(|(i, what)| Some((i, what?))) else { continue };
            let (name, where_first) =
                (display_name(name), self.equation.named_place(&self.mesh, i));
            return Ok(format!("the {name} {what} after {place}; first in {where_first}{ending}"));
        }
        Ok(format!("the solution has blown up after {place}{ending}"))
    }

    /// Advice for the time step of a solution that diverged; none where the step is within it.
    fn advice_for_step(&self) -> String {
        let step = self.case.time.as_ref().map(|time| time.step);
        match (step, self.equation.descriptor().advice.cfl) {
            (Some(TimeStep::Fixed(_)), Some(advised)) => {
                format!("shorten the step or set `cfl = {advised}`, ")
            }
            (Some(TimeStep::Cfl(number)), Some(advised)) if number > advised => {
                format!("set `cfl = {advised}`, ")
            }
            _ => String::new(),
        }
    }

    fn checkpoint(&mut self, path: &Path) -> Result<(), SimulationError> {
        let start = Instant::now();
        let mut checkpoint = Checkpoint::new();
        let (time, steps) = self.equation.clock();
        checkpoint.set("case", &self.case.name);
        checkpoint.set("equation", self.equation.descriptor().section);
        checkpoint.set("precision", self.case.run.precision.word());
        checkpoint.set("steps", steps);
        checkpoint.set("time", format!("{:016x}", time.to_bits()));
        checkpoint.set("time_step", format!("{:016x}", self.time_step.to_bits()));
        if self.adaptation.count > 0 {
            stored_mesh::insert(&mut checkpoint, &self.mesh)?;
            checkpoint.set("adaptations", self.adaptation.count);
        }
        metric::insert_hessians(&mut checkpoint, &self.adaptation.hessians);
        checkpoint.insert_state(self.equation.as_ref())?;
        if let Some(numbering) = &self.numbering {
            numbering.without_parts(&mut checkpoint, &self.equation.array_places());
        }
        if self.backend.processes().is_first() {
            self.backend.install(|| checkpoint.write(path))?;
        }
        self.phases.add("checkpoint", start.elapsed().as_secs_f64());
        Ok(())
    }

    fn restore(&mut self, path: &Path, checkpoint: &Checkpoint) -> Result<(), SimulationError> {
        checkpoint.require("equation", self.equation.descriptor().section)?;
        checkpoint.require("precision", self.case.run.precision.word())?;
        match &self.numbering {
            None => self.equation.restore(checkpoint)?,
            Some(numbering) => {
                let mut of_parts = checkpoint.clone();
                numbering.with_parts(&mut of_parts, &self.equation.array_places());
                self.equation.restore(&of_parts)?;
            }
        }
        if stored_mesh::is_in(checkpoint) {
            self.adaptation.count =
                checkpoint.entry("adaptations")?.parse().map_err(state_error)?;
        }
        self.adaptation.hessians = metric::hessians_of(checkpoint, self.mesh.n_nodes())?;
        // Later results would be removed.
        if let Some(end) = self.case.time.as_ref().map(|time| time.end)
            && self.time() > end * (1.0 + TIME_ROUND_OFF)
        {
            let (path, time) = (path.to_owned(), self.time());
            return Err(SimulationError::AfterEnd { path, time, end });
        }
        let most = setup_of(&self.case).max_iterations();
        if let Some(max_iterations) = most.filter(|&most| self.steps() >= most) {
            let (path, iterations) = (path.to_owned(), self.steps());
            return Err(SimulationError::AfterLastIteration { path, iterations, max_iterations });
        }
        let warnings = self.equation.averages().warnings_of_start().to_vec();
        self.warn(&warnings);
        self.restarted = true;
        if let Some(TimeStep::Cfl(_)) = self.case.time.as_ref().map(|time| time.step) {
            let bits = u64::from_str_radix(checkpoint.entry("time_step")?, 16);
            self.time_step = f64::from_bits(bits.map_err(state_error)?);
        }
        Ok(())
    }

    fn time_summary(&self) -> TimeSummary {
        TimeSummary { steps: self.steps() as u64, end: self.time() }
    }
}

/// The outcome of a steady case after a single solution or an iteration; none where iterations go on.
fn steady_outcome(advance: &Advance, iterations: usize) -> Option<Outcome> {
    let Some(progress) = advance.steady else {
        let message = advance.outcome().map(ToString::to_string).unwrap_or_default();
        return Some(Outcome { kind: OutcomeKind::Converged, message });
    };
    let reached = format!("{iterations} iterations, scaled residual {:.2e}", progress.residual);
    match progress {
        SteadyProgress { is_converged: true, .. } => {
            let message = format!("steady after {reached}");
            Some(Outcome { kind: OutcomeKind::Converged, message })
        }
        SteadyProgress { is_last: true, .. } => {
            let message = format!(
                "not steady after {reached}: allow more `max_iterations` in [steady], lower `pseudo_cfl`, or compute the \
                 flow in time, which may have no steady state"
            );
            Some(Outcome { kind: OutcomeKind::NotConverged, message })
        }
        _ => None,
    }
}

/// The name of a field in messages.
fn display_name(name: &str) -> String {
    match name.strip_prefix("velocity_") {
        Some(axis) => format!("{axis} velocity"),
        None => name.to_owned(),
    }
}

fn is_diverged(value: f64) -> bool {
    value.is_nan() || value.abs() > DIVERGED
}

fn state_error(error: impl std::fmt::Display) -> CheckpointError {
    CheckpointError::State(error.to_string())
}

fn timed<R>(phases: &mut NamedList<f64>, name: &str, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    phases.add(name, start.elapsed().as_secs_f64());
    result
}

#[cfg(test)]
mod tests;
