//! The interface between the run loop and a system of equations.

use super::averages::AverageResult;
use super::surface::SurfaceSamples;
use super::{SimulationError, Transfer};
use crate::case::{Case, Surface};
use crate::descriptor::{Descriptor, FieldData};
use crate::io::checkpoint::Checkpointed;
use crate::linear::SolveOutcome;
use crate::mesh::geometry::cell_centre;
use crate::mesh::{Geometry, Mesh};
use crate::summary::{LinearSummary, NamedList, Summary};

/// The report of a time step, or of the solution of a steady case.
#[derive(Clone, Debug)]
pub struct Advance {
    /// The linear solves, each with its name, in the order of the step; none of an explicit step. Several solves
    /// are each a phase of the summary.
    pub solves: Vec<(&'static str, SolveOutcome)>,
    /// Largest rate of change of the fields.
    pub rate: f64,
    /// Further columns of the history.
    pub columns: NamedList<f64>,
    /// The progress of an iteration towards a steady state; none of a time step or of a single solution.
    pub steady: Option<SteadyProgress>,
}

/// An iteration towards a steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyProgress {
    /// The largest scaled residual.
    pub residual: f64,
    /// Whether it met the tolerance.
    pub is_converged: bool,
    /// Whether this was the last iteration allowed.
    pub is_last: bool,
}

impl Advance {
    /// The first solve that did not converge, else the last solve.
    pub fn outcome(&self) -> Option<&SolveOutcome> {
        let failed = self.solves.iter().find(|(_, outcome)| !outcome.is_converged());
        failed.or(self.solves.last()).map(|(_, outcome)| outcome)
    }
}

/// Monitored values after a step.
#[derive(Clone, Debug, Default)]
pub struct Monitored {
    /// Fields at each probe.
    pub probes: NamedList<NamedList<f64>>,
    /// Quantities of each group of patches.
    pub patches: NamedList<NamedList<f64>>,
}

/// Location of the unknowns of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Cells,
    Nodes,
}

/// A system of equations set up on a backend, in either precision.
pub(super) trait Equation: Checkpointed + Send {
    /// Its names in a case.
    fn descriptor(&self) -> &'static Descriptor;
    /// Names of its fields; a vector has the names of its components.
    fn fields(&self) -> &[&'static str];
    /// Location of its unknowns.
    fn location(&self) -> Location;
    /// Time and steps.
    fn clock(&self) -> (f64, usize);
    /// Advances one time step, or solves for the steady state.
    fn advance(&mut self, step: Option<f64>) -> Result<Advance, SimulationError>;
    /// Values of probes and patches at the current time.
    fn monitor(&mut self) -> Result<Monitored, SimulationError>;
    /// The fields at the points of line `line` of the case; NaN outside the mesh.
    fn line(&mut self, line: usize) -> Result<Vec<(String, Vec<f64>)>, SimulationError>;
    /// The fields of a surface at the current time.
    fn surface(
        &mut self,
        place: (&Mesh, &Geometry),
        surface: &Surface,
    ) -> Result<SurfaceSamples, SimulationError>;
    /// A field in the solver's numbering.
    fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError>;
    /// A field by its name in `[output]`: a field of unknowns, a vector of them, or a derived field.
    fn output_field(&self, _mesh: &Mesh, name: &str) -> Result<FieldData, SimulationError> {
        Ok(FieldData::Scalar(self.field(name)?))
    }
    /// Adds the fields at the end of a step that began at time `before` to the averages.
    fn accumulate(&mut self, before: f64) -> Result<(), SimulationError>;
    /// The averages over time that have begun.
    fn averages(&self, mesh: &Mesh) -> Result<Vec<AverageResult>, SimulationError>;
    /// The averages at each probe: names and values.
    fn averages_at_probes(&self) -> Vec<Vec<(String, f64)>>;
    /// Warnings about averages; `end` is the time at the end of a run.
    fn warnings_of_averages(&mut self, end: Option<f64>) -> Vec<String>;
    /// Whether a field is determined up to a constant, and its mean is subtracted.
    fn has_mean_zero(&self, _name: &str) -> bool {
        false
    }
    /// Advice for a solution that diverged, after a semicolon.
    fn advice(&self) -> String {
        String::new()
    }
    /// Warnings of the last step; each is given once.
    fn warnings(&mut self, _mesh: &Mesh) -> Result<Vec<String>, SimulationError> {
        Ok(vec![])
    }
    /// Adds to the summary of the run the entries that this equation alone has.
    fn summarize(&mut self, _summary: &mut Summary) -> Result<(), SimulationError> {
        Ok(())
    }
    /// Volume of each unknown.
    fn volumes(&self, mesh: &Mesh) -> Vec<f64>;
    /// The time step of CFL number `number`, at most `longest`.
    fn longest_step(&self, number: f64, longest: f64) -> Result<f64, SimulationError>;
    /// The previous time step, where the next depends on it.
    fn step_before(&self) -> Option<f64> {
        None
    }
    /// The linear solver and the cost of its set-up, that of the last solve of a step; `work_units` are those of
    /// an iteration. None of an explicit method.
    fn linear_summary(&self) -> Option<LinearSummary>;
    /// Number of set-ups of the linear solver within the steps so far.
    fn solver_setups(&self) -> u64 {
        0
    }

    /// Sets the equation up again on another mesh, with its fields by a transfer; time and steps are kept, and a
    /// multistep scheme begins anew.
    fn rebuild(
        &mut self,
        case: &Case,
        place: (&Mesh, &Geometry),
        transfer: &Transfer,
    ) -> Result<(), SimulationError>;

    /// Position, entity and number in the mesh file of unknown `i`.
    fn position_of(&self, mesh: &Mesh, i: usize) -> ([f64; 3], &'static str, u32) {
        match self.location() {
            Location::Cells => (cell_centre(mesh, i), "cell", mesh.original_cell[i]),
            Location::Nodes => (mesh.points[i], "node", mesh.original_node[i]),
        }
    }
}
