//! What the run loop asks of a system of equations.

use super::SimulationError;
use crate::io::checkpoint::Checkpointed;
use crate::linear::SolveOutcome;
use crate::mesh::Mesh;
use crate::mesh::geometry::cell_centre;
use crate::summary::{FlowSummary, LinearSummary, NamedList};

/// What one step did.
#[derive(Clone, Debug)]
pub struct Advance {
    /// The linear solve.
    pub outcome: SolveOutcome,
    /// Largest rate of change of the fields.
    pub rate: f64,
    /// Further columns of the history.
    pub columns: NamedList<f64>,
    /// Seconds of its solves by phase, where they are told apart; the rest of the step is `transport`.
    pub solves: NamedList<f64>,
}

/// What the monitors saw after a step.
#[derive(Clone, Debug, Default)]
pub struct Monitored {
    /// Of each probe, its fields.
    pub probes: NamedList<NamedList<f64>>,
    /// Of each group of patches, its quantities.
    pub patches: NamedList<NamedList<f64>>,
}

/// A field as a file of fields has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Written {
    /// One number an unknown.
    Scalar(Vec<f64>),
    /// Three.
    Vector([Vec<f64>; 3]),
}

impl Written {
    /// The field for a picture: the magnitude of a vector.
    pub(super) fn into_scalar(self) -> Vec<f64> {
        match self {
            Written::Scalar(values) => values,
            Written::Vector([x, y, z]) => {
                let square = |i: usize| x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
                (0..x.len()).map(|i| square(i).sqrt()).collect()
            }
        }
    }
}

/// Where the unknowns of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Cells,
    Nodes,
}

/// A system of equations set up on a backend, in either precision.
pub(super) trait Equation: Checkpointed + Send {
    /// Its section in the case.
    fn name(&self) -> &'static str;
    /// Names of its fields, of vectors the components'.
    fn fields(&self) -> &[&'static str];
    /// Where its fields live.
    fn location(&self) -> Location;
    /// Time and steps.
    fn clock(&self) -> (f64, usize);
    /// One step of this length, or the steady state.
    fn advance(&mut self, step: Option<f64>) -> Result<Advance, SimulationError>;
    /// Values of probes and patches now.
    fn monitor(&mut self) -> Result<Monitored, SimulationError>;
    /// The points of line `line` of the case, those in the mesh, and its fields there.
    fn line(&mut self, line: usize) -> Result<Vec<(String, Vec<f64>)>, SimulationError>;
    /// A field in the solver's numbering.
    fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError>;
    /// A field as `[output]` names it: a vector whole, or one that follows from the unknowns.
    fn written(&self, _mesh: &Mesh, name: &str) -> Result<Written, SimulationError> {
        Ok(Written::Scalar(self.field(name)?))
    }
    /// Whether the level of a field is free, and its mean taken off.
    fn has_mean_zero(&self, _name: &str) -> bool {
        false
    }
    /// What to try where the solution is lost, after a semicolon.
    fn advice(&self) -> String {
        String::new()
    }
    /// What the last step gives reason to warn of; each warning is told once.
    fn warnings(&mut self, _mesh: &Mesh) -> Result<Vec<String>, SimulationError> {
        Ok(vec![])
    }
    /// What is told of a flow as a whole.
    fn flow_summary(&self) -> Option<FlowSummary> {
        None
    }
    /// What the end tells of each group of patches that no step does.
    fn patches_over_time(&self) -> NamedList<NamedList<f64>> {
        NamedList::new()
    }
    /// Of each line of reversed flow, its length.
    fn recirculations(&mut self) -> Result<NamedList<NamedList<f64>>, SimulationError> {
        Ok(NamedList::new())
    }
    /// Volume of each unknown.
    fn volumes(&self, mesh: &Mesh) -> Vec<f64>;
    /// 1 / the step of unit CFL number.
    fn largest_rate(&self) -> Result<f64, SimulationError>;
    /// The longest step up to `longest` whose CFL number is `number`.
    fn longest_step(&self, number: f64, longest: f64) -> Result<f64, SimulationError> {
        let rate = self.largest_rate()?;
        Ok(if rate > 0.0 { longest.min(number / rate) } else { longest })
    }
    /// The length of the step before, where a step follows from it.
    fn step_before(&self) -> Option<f64> {
        None
    }
    /// Whether the longest step changes from step to step.
    fn rate_varies(&self) -> bool {
        false
    }
    /// What the linear solver is and the cost of its set-up; `work_units` are those of an iteration.
    fn linear_summary(&self) -> LinearSummary;
    /// How many times the linear solver was set up.
    fn solver_setups(&self) -> u64;
    /// For the checkpoint.
    fn as_checkpointed(&self) -> &dyn Checkpointed;
    /// For a restart.
    fn as_checkpointed_mut(&mut self) -> &mut dyn Checkpointed;

    /// Place of unknown `i`, what it is and its number in the file.
    fn place(&self, mesh: &Mesh, i: usize) -> ([f64; 3], &'static str, u32) {
        match self.location() {
            Location::Cells => (cell_centre(mesh, i), "cell", mesh.original_cell[i]),
            Location::Nodes => (mesh.points[i], "node", mesh.original_node[i]),
        }
    }
}
