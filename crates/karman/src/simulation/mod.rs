//! The run of a case: set-up, steps, monitors, output. `Simulation::{new, step, field}` is what `run`
//! itself uses, so a program of your own can drive a case the same way.

mod equation;
mod error;
mod heat;
mod incompressible;
mod interpolations;
mod linear;
mod outcome;
mod output;
mod prescribed;

pub use equation::{Advance, Monitored};
pub use error::SimulationError;
pub use outcome::{Outcome, OutcomeKind, Progress};

use crate::backend::{Backend, BackendKind};
use crate::case::{Case, Equation as EquationCase, OutputInterval, TimeStep};
use crate::io::checkpoint::{Checkpoint, CheckpointError};
use crate::linear::Status;
use crate::mesh::quality::mean_ratio;
use crate::mesh::{Geometry, Mesh};
use crate::mesh_source::MeshSourceError;
use crate::summary::{LinearSummary, NamedList, TimeSummary};
use equation::Equation;
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

/// A linear solve that stops short of its tolerance at this residual has met round-off.
const ROUND_OFF_RESIDUAL: f64 = 1e-10;

impl Simulation {
    /// Opens the backend, reads or makes the mesh, checks it and the names the case gives, and puts
    /// the equation on the backend.
    ///
    /// # Errors
    /// [`SimulationError`] says what does not fit.
    pub fn new(case: Case, options: RunOptions) -> Result<Simulation, SimulationError> {
        let asked = options.backend.or(BackendKind::from_name(case.run.backend.word()));
        let backend = Backend::new(asked.unwrap_or_default(), case.run.threads)?;
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
        let mesh = timed(&mut phases, "mesh", || {
            backend.install(|| mesh.join_periodic(&pairs)).map_err(MeshSourceError::from)
        })?;
        for warning in &mesh.warnings[known..] {
            tracing::warn!("{warning}");
        }
        let geometry = timed(&mut phases, "geometry", || backend.install(|| Geometry::new(&mesh)))?;
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
            Some(TimeStep::Cfl(number)) => number / equation.largest_rate()?,
        };
        let linear = equation.linear_summary();
        let mut simulation = Simulation {
            case,
            backend,
            mesh,
            equation,
            phases,
            linear,
            step_length,
            restarted: false,
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

    /// Time reached.
    pub fn time(&self) -> f64 {
        self.equation.clock().0
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
        let allowed = number / self.equation.largest_rate()?;
        if self.step_length > allowed || self.step_length < LEAST_SHARE * allowed {
            let growth = if self.steps() == 0 { f64::INFINITY } else { GROWTH };
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
        let mut output =
            Output::open(&self.case, self.restarted, (self.time(), self.steps() as u64))?;
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
        loop {
            if end.is_some_and(|end| self.is_at_end(end)) {
                let message = format!("reached t = {}", self.time());
                return Ok(Outcome { kind: OutcomeKind::Finished, message });
            }
            let advance = self.step()?;
            let monitored = self.equation.monitor()?;
            output.history(self, &advance, &monitored)?;
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
                let message = format!("steady at t = {}: rate {:.3e}", self.time(), advance.rate);
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
        let met = outcome.is_converged() || outcome.relative_residual <= ROUND_OFF_RESIDUAL;
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
            return Ok(format!(
                "the {name} is {} after step {step}, t = {time}; first in {entity} {number} at \
                 ({x:.6}, {y:.6}, {z:.6}){quality}; {}{advice}",
                if field[i].is_nan() { "not a number" } else { "beyond all bounds" },
                advance.outcome
            ));
        }
        Ok(format!(
            "the solution is lost after step {step}, t = {time}; {}{advice}",
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
        Ok(())
    }

    fn time_summary(&self) -> TimeSummary {
        TimeSummary { steps: self.steps() as u64, end: self.time() }
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
