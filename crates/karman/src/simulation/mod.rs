//! The run of a case: set-up, steps, monitors, output. `Simulation::{new, step, field}` is what `run`
//! itself uses, so a program of your own can drive a case the same way.

mod equation;
mod error;
mod folder;
mod heat;
mod incompressible;
mod interpolations;
mod linear;
mod mesh_checks;
mod outcome;
mod output;
mod points;
mod prescribed;

pub use equation::{Advance, Monitored};
pub use error::SimulationError;
pub use outcome::{Outcome, OutcomeKind, Progress};

use crate::backend::{Backend, BackendKind};
use crate::case::{Case, Equation as EquationCase, OutputInterval, Precision, TimeStep};
use crate::io::checkpoint::{Checkpoint, CheckpointError};
use crate::io::csv::short_number;
use crate::linear::Status;
use crate::mesh::quality::mean_ratio;
use crate::mesh::{Geometry, Mesh};
use crate::mesh_source::MeshSourceError;
use crate::summary::{LinearSummary, NamedList, TimeSummary};
use equation::Equation;
use folder::OutputFolder;
use mesh_checks::check_mesh;
use output::Output;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What the command line may change about a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// The backend, in place of the case's own.
    pub backend: Option<BackendKind>,
    /// A checkpoint to continue from.
    pub restart: Option<PathBuf>,
}

/// A case that is set up: its mesh, its equation on a backend, its clock.
pub struct Simulation {
    case: Case,
    backend: Backend,
    mesh: Mesh,
    equation: Box<dyn Equation>,
    phases: NamedList<f64>,
    linear: LinearSummary,
    step_length: f64,
    restarted: bool,
    folder: Option<OutputFolder>,
    warnings: Vec<String>,
    should_stop: Option<Box<dyn Fn() -> bool + Send>>,
}

/// Fraction of a step that is rounding of the time and not a step of its own.
const SAME_STEP: f64 = 1e-6;

/// A step shorter than this part of what the CFL number allows is made longer, to `MARGIN` of it and by no
/// more than `GROWTH` at once.
const LEAST_SHARE: f64 = 0.85;
const MARGIN: f64 = 0.95;
const GROWTH: f64 = 1.2;

/// What no field of a solution exceeds.
const BEYOND: f64 = 1e30;

/// A linear solve that stagnates short of its tolerance at this relative residual has met round-off, in double
/// and in single precision.
const ROUND_OFF_RESIDUAL: [f64; 2] = [1e-10, 1e-4];

impl Simulation {
    /// Opens the backend, reads or makes the mesh, checks it and the names the case gives, and puts
    /// the equation on the backend: all that can go wrong before the first step goes wrong here, which is
    /// also what `karman check` asks. No file is written.
    ///
    /// # Errors
    /// [`SimulationError`] says what does not fit.
    pub fn new(case: Case, options: RunOptions) -> Result<Simulation, SimulationError> {
        folder::check_writable(&case.output.directory)?;
        let kind = options.backend.unwrap_or(case.run.backend);
        let backend = Backend::new(kind, case.run.threads)?;
        let mut phases = NamedList::new();
        let mesh = timed(&mut phases, "mesh", || {
            backend.install(|| crate::mesh_source::mesh(&case.mesh))
        })?;
        for warning in &mesh.warnings {
            tracing::warn!("{warning}");
        }
        case.check_patches(&mesh.patches.iter().map(|p| p.name.clone()).collect::<Vec<_>>())?;
        case.check_regions(&mesh.regions)?;
        let known = mesh.warnings.len();
        let pairs = case.periodic_pairs();
        let mut mesh = timed(&mut phases, "mesh", || {
            backend.install(|| mesh.join_periodic(&pairs)).map_err(MeshSourceError::from)
        })?;
        for warning in &mesh.warnings[known..] {
            tracing::warn!("{warning}");
        }
        let geometry = timed(&mut phases, "geometry", || backend.install(|| Geometry::new(&mesh)))?;
        let found =
            timed(&mut phases, "mesh", || backend.install(|| check_mesh(&case, &mesh, &geometry)))?;
        for warning in &found {
            tracing::warn!("{warning}");
        }
        mesh.warnings.extend(found);
        let equation = timed(&mut phases, "discretization", || match &case.equation {
            EquationCase::Heat(own) => heat::equation(&case, own, &backend, &mesh, &geometry),
            EquationCase::Incompressible(own) => {
                incompressible::equation(&case, own, &backend, &mesh, &geometry)
            }
        })?;
        // Whatever is asked of the geometry from here on is few numbers, or volumes at the end.
        drop(geometry);
        let step_length = match case.time.as_ref().map(|t| t.step) {
            None => 0.0,
            Some(TimeStep::Fixed(step)) => step,
            Some(TimeStep::Cfl(number)) => {
                let end = case.time.as_ref().map_or(f64::INFINITY, |time| time.end);
                equation.longest_step(number, end)?
            }
        };
        let linear = equation.linear_summary();
        let of_case = case.warnings.iter().map(|warning| warning.message.clone());
        let warnings = of_case.chain(mesh.warnings.iter().map(ToString::to_string)).collect();
        let mut simulation = Simulation {
            case,
            backend,
            mesh,
            equation,
            phases,
            linear,
            step_length,
            restarted: false,
            folder: None,
            warnings,
            should_stop: None,
        };
        if let Some(path) = &options.restart {
            simulation.restore(path)?;
        }
        Ok(simulation)
    }

    /// The case.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The backend.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Time reached, to twelve digits: the sum of many steps is 200 and not 199.99999999999292.
    pub fn time(&self) -> f64 {
        let (time, _) = self.equation.clock();
        format!("{time:.11e}").parse().unwrap_or(time)
    }

    /// Has the run end after the step in which `should_stop` is true, with everything written and a
    /// checkpoint to go on from.
    pub fn stop_when(&mut self, should_stop: impl Fn() -> bool + Send + 'static) {
        self.should_stop = Some(Box::new(should_stop));
    }

    /// Takes the output directory for this run and removes from it what an earlier run left and this one
    /// replaces; a restart goes on with it. [`Simulation::run`] does so where it was not done before.
    ///
    /// # Errors
    /// [`SimulationError::Write`], or [`SimulationError::InUse`] where another run has the directory.
    pub fn claim_output(&mut self) -> Result<(), SimulationError> {
        if self.folder.is_none() {
            let folder = OutputFolder::claim(&self.case.output.directory)?;
            if !self.restarted {
                folder.remove_results(&self.case.name)?;
            }
            self.folder = Some(folder);
        }
        Ok(())
    }

    /// Steps taken.
    pub fn steps(&self) -> usize {
        self.equation.clock().1
    }

    /// A field, one value an unknown in the solver's numbering.
    ///
    /// # Errors
    /// [`SimulationError::NoField`], or the device failed.
    pub fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError> {
        self.equation.field(name)
    }

    /// Takes one step of the case's length (shortened to land on the end), or solves a steady case.
    ///
    /// # Errors
    /// [`SimulationError`] where something cannot be evaluated or the backend fails; that a solver
    /// does not converge is part of the report.
    pub fn step(&mut self) -> Result<Advance, SimulationError> {
        self.follow_the_rate()?;
        let length = self.case.time.as_ref().map(|time| {
            let left = time.end - self.time();
            // A last step that differs by rounding alone keeps its length, and with it its matrix.
            if (left - self.step_length).abs() < SAME_STEP * self.step_length {
                self.step_length
            } else {
                self.step_length.min(left)
            }
        });
        let setups = self.equation.solver_setups();
        let start = Instant::now();
        let (backend, equation) = (&self.backend, &mut self.equation);
        let advance = backend.install(|| equation.advance(length))?;
        let seconds = start.elapsed().as_secs_f64();
        if advance.solves.is_empty() {
            self.phases.add("solve", seconds);
        } else {
            let mut rest = seconds;
            for (phase, solving) in advance.solves.iter() {
                self.phases.add(phase, *solving);
                rest -= solving;
            }
            self.phases.add("transport", rest.max(0.0));
        }
        let outcome = &advance.outcome;
        let solver = self.equation.linear_summary();
        let factor = outcome.relative_residual.powf(1.0 / outcome.iterations.max(1) as f64);
        let orders = -factor.log10();
        let setting_up =
            if self.equation.solver_setups() > setups { solver.setup_seconds } else { 0.0 };
        self.linear = LinearSummary {
            solves: self.linear.solves + 1,
            iterations: self.linear.iterations + outcome.iterations as u64,
            last_iterations: outcome.iterations as u64,
            relative_residual: outcome.relative_residual,
            convergence_factor: factor,
            work_units: solver.work_units.filter(|_| orders > 0.0).map(|units| units / orders),
            solve_seconds: self.linear.solve_seconds + (seconds - setting_up).max(0.0),
            ..solver
        };
        Ok(advance)
    }

    /// The step that a CFL number allows now, where that changes from step to step. A step within a tenth of
    /// it stays: each new length costs the solvers a set-up.
    fn follow_the_rate(&mut self) -> Result<(), SimulationError> {
        let Some(TimeStep::Cfl(number)) = self.case.time.as_ref().map(|time| time.step) else {
            return Ok(());
        };
        if !self.equation.rate_varies() {
            return Ok(());
        }
        let left = self.case.time.as_ref().map_or(f64::INFINITY, |time| time.end) - self.time();
        let allowed = self.equation.longest_step(number, left)?;
        let growth = if self.steps() == 0 { f64::INFINITY } else { GROWTH };
        if allowed >= left {
            // The end bounds the step, not the flow: the step is cut there as it is taken.
            self.step_length = self.step_length.max(left.min(growth * self.step_length));
        } else if self.step_length > allowed || self.step_length < LEAST_SHARE * allowed {
            self.step_length = (MARGIN * allowed).min(growth * self.step_length);
        }
        Ok(())
    }

    /// Runs the case to its end and writes everything it asks for; `observer` is told after every
    /// step.
    ///
    /// # Errors
    /// [`SimulationError`]; what was written until then stays readable.
    pub fn run(&mut self, observer: &mut dyn FnMut(&Progress)) -> Result<Outcome, SimulationError> {
        self.claim_output()?;
        let mut output =
            Output::open(&self.case, self.restarted, (self.time(), self.steps() as u64))?;
        if let (Some(folder), true) = (&self.folder, self.restarted) {
            folder.remove_fields_from(output.fields_written())?;
        }
        let start = Instant::now();
        let result = self.march(&mut output, start, observer);
        let outcome = match &result {
            Ok(outcome) => outcome.clone(),
            Err(error) => Outcome { kind: OutcomeKind::Failed, message: error.to_string() },
        };
        let written = output.finish(self, &outcome, start);
        result.and_then(|outcome| written.map(|()| outcome))
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
            if self.should_stop.as_ref().is_some_and(|should_stop| should_stop()) {
                return self.interrupted(output);
            }
            let advance = self.step()?;
            let monitored = self.equation.monitor()?;
            output.history(self, &advance, &monitored)?;
            for warning in self.equation.warnings(&self.mesh)? {
                tracing::warn!("{warning}");
                self.warnings.push(warning);
            }
            observer(&Progress {
                step: self.steps() as u64,
                time: self.time(),
                end: end.unwrap_or(0.0),
                residual: advance.outcome.relative_residual,
                iterations: advance.outcome.iterations as u64,
                seconds: start.elapsed().as_secs_f64(),
            });
            if let Some(outcome) = self.judged(&advance)? {
                return Ok(outcome);
            }
            let Some(_) = end else {
                let message = advance.outcome.to_string();
                return Ok(Outcome { kind: OutcomeKind::Converged, message });
            };
            if tolerance.is_some_and(|tolerance| advance.rate < tolerance) {
                let time = short_number(self.time());
                let message = format!("steady at t = {time}: rate {:.2e}", advance.rate);
                return Ok(Outcome { kind: OutcomeKind::Converged, message });
            }
            if output.fields_are_due(self) && !self.is_at_end(end.unwrap_or(0.0)) {
                output.fields(self)?;
            }
            if output.checkpoint_is_due(self) {
                self.checkpoint(&output.checkpoint_path(self.steps()))?;
            }
        }
    }

    /// The end of a run that is there before its first step: a restart from the last checkpoint.
    fn nothing_left(&mut self, output: &mut Output) -> Result<Outcome, SimulationError> {
        let time = short_number(self.time());
        let mut message = format!("nothing left to do: the checkpoint is at t = {time}, the end");
        if output.keep_summary(self) {
            message += "; summary.json stays as the earlier run left it";
        } else {
            output.look(self.equation.monitor()?);
        }
        tracing::info!("{message}");
        Ok(Outcome { kind: OutcomeKind::Finished, message })
    }

    /// The end of a run that is stopped from outside.
    fn interrupted(&mut self, output: &Output) -> Result<Outcome, SimulationError> {
        let time = short_number(self.time());
        let mut message = format!("stopped at t = {time}, step {}", self.steps());
        if self.case.time.is_some() && self.steps() > 0 {
            let path = output.checkpoint_path(self.steps());
            self.checkpoint(&path)?;
            message += &format!("; go on with --restart {}", path.display());
        }
        Ok(Outcome { kind: OutcomeKind::Interrupted, message })
    }

    fn is_at_end(&self, end: f64) -> bool {
        end - self.time() <= SAME_STEP * self.step_length
    }

    /// The end of a run that has failed, if it has.
    fn judged(&self, advance: &Advance) -> Result<Option<Outcome>, SimulationError> {
        let outcome = &advance.outcome;
        let failed = |kind, message| Ok(Some(Outcome { kind, message }));
        if outcome.status == Status::NotANumber || is_lost(advance.rate) {
            return failed(OutcomeKind::Diverged, self.diverged(advance)?);
        }
        let round_off = ROUND_OFF_RESIDUAL[usize::from(self.case.run.precision == Precision::F32)];
        let met = outcome.is_converged() || outcome.relative_residual <= round_off;
        if met && outcome.is_compatible() {
            return Ok(None);
        }
        let step = self.steps();
        let advice = "allow more iterations, loosen relative_tolerance, or look at the mesh with \
                      `karman mesh check`";
        failed(OutcomeKind::NotConverged, format!("step {step}: {outcome}; {advice}"))
    }

    /// Which field went, where, and what to try.
    fn diverged(&self, advance: &Advance) -> Result<String, SimulationError> {
        let (step, time) = (self.steps(), self.time());
        let advice = self.equation.advice();
        for name in self.equation.fields() {
            let field = self.equation.field(name)?;
            let Some(i) = field.iter().position(|v| is_lost(*v)) else { continue };
            let ([x, y, z], entity, number) = self.equation.place(&self.mesh, i);
            let quality = match self.equation.location() {
                equation::Location::Nodes => String::new(),
                equation::Location::Cells => {
                    let (shape, nodes) = (self.mesh.cells.shapes[i], self.mesh.cells.nodes_of(i));
                    let ratio = mean_ratio(shape, nodes, &self.mesh.points);
                    format!(", a {} of mean ratio {ratio:.3}", shape.name())
                }
            };
            let name = spoken(name);
            let what = if field[i].is_nan() { "is not a number" } else { "has blown up" };
            return Ok(format!(
                "the {name} {what} after step {step}, t = {time:.2e}; first in {entity} {number} at \
                 ({x:.2e}, {y:.2e}, {z:.2e}){quality}; last solve: {}{advice}",
                advance.outcome
            ));
        }
        Ok(format!(
            "the solution has blown up after step {step}, t = {time:.2e}; last solve: {}{advice}",
            advance.outcome
        ))
    }

    fn checkpoint(&self, path: &Path) -> Result<(), SimulationError> {
        let mut checkpoint = Checkpoint::new();
        let (time, steps) = self.equation.clock();
        checkpoint.set("case", &self.case.name);
        checkpoint.set("equation", self.equation.name());
        checkpoint.set("precision", self.case.run.precision.word());
        checkpoint.set("steps", steps);
        checkpoint.set("time", format!("{:016x}", time.to_bits()));
        checkpoint.insert_state(self.equation.as_checkpointed())?;
        Ok(checkpoint.write(path)?)
    }

    fn restore(&mut self, path: &Path) -> Result<(), SimulationError> {
        let checkpoint = Checkpoint::read(path)?;
        checkpoint.require("equation", self.equation.name())?;
        checkpoint.require("precision", self.case.run.precision.word())?;
        self.equation.as_checkpointed_mut().restore(&checkpoint)?;
        self.restarted = true;
        if let (Some(TimeStep::Cfl(_)), Some(step)) =
            (self.case.time.as_ref().map(|time| time.step), self.equation.step_before())
        {
            self.step_length = step;
        }
        Ok(())
    }

    fn time_summary(&self) -> TimeSummary {
        TimeSummary { steps: self.steps() as u64, end: self.time() }
    }
}

/// The name of a field in a sentence.
fn spoken(name: &str) -> String {
    match name.strip_prefix("velocity_") {
        Some(axis) => format!("{axis} velocity"),
        None => name.to_owned(),
    }
}

fn is_lost(value: f64) -> bool {
    value.is_nan() || value.abs() > BEYOND
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
