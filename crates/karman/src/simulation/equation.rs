//! The interface between the run loop and a system of equations.

use super::averages::TimeAverages;
use super::initial::InitialFields;
use super::location::Location;
use super::partition::ArrayPlace;
use super::surface::SurfaceSamples;
use super::warning::SetupWarning;
use super::{OutcomeKind, SimulationError, Transfer};
use crate::backend::Backend;
use crate::case::{Case, ExactField, Surface};
use crate::descriptor::{Descriptor, FieldData};
use crate::heat::node_centred::node_volumes;
use crate::io::checkpoint::Checkpointed;
use crate::linear::{SolveOutcome, StopTest};
use crate::mesh::geometry::{cell_centre, cell_volumes};
use crate::mesh::quality::mean_ratio;
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
    /// New warnings about the solution, each once in a run.
    pub warnings: Vec<String>,
    /// Why a solution of finite values has diverged; none otherwise.
    pub divergence: Option<String>,
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
    /// The report of a single solution, with the largest rate of change of a time step.
    pub(super) fn of_solve(name: &'static str, outcome: SolveOutcome, rate: f64) -> Advance {
        Advance {
            solves: vec![(name, outcome)],
            rate,
            columns: NamedList::new(),
            steady: None,
            warnings: vec![],
            divergence: None,
        }
    }

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

/// A cell in messages: its number in the mesh file, centre, shape and quality.
pub(super) fn named_cell(mesh: &Mesh, cell: usize) -> String {
    let [x, y, z] = cell_centre(mesh, cell);
    let (shape, nodes) = (mesh.cells.shapes[cell], mesh.cells.nodes_of(cell));
    let ratio = mean_ratio(shape, nodes, &mesh.points);
    let (number, name) = (mesh.original_cell[cell], shape.name());
    format!("cell {number} at ({x:.2e}, {y:.2e}, {z:.2e}), a {name} of mean ratio {ratio:.3}")
}

/// A scalar field solved for, or a component of a vector field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// Its name: `pressure`, `velocity_x`.
    pub name: &'static str,
    /// Whether it is determined up to a constant. Its mean is then zero, and that of an exact solution is subtracted.
    pub has_mean_zero: bool,
}

/// The case of an equation: the questions of set-up, and the equation it sets up.
pub(super) trait EquationSetup {
    /// Sets up the equation in the precision of the case.
    fn start(
        &self,
        case: &Case,
        backend: &Backend,
        place: (&Mesh, &Geometry),
        initial: &InitialFields,
    ) -> Result<Box<dyn Equation>, SimulationError>;
    /// Location of the unknowns.
    fn location(&self) -> Location;
    /// Third components of its vectors, which a 2D mesh does not have, each with the vector's name in messages.
    fn third_components(&self) -> Vec<(String, f64)>;
    /// The field that is determined up to a constant where no boundary condition fixes it; none where every problem
    /// determines all fields.
    fn free_level(&self, case: &Case) -> Option<FreeLevel<'_>>;
    /// Iterations after which a steady solution ends; none for other cases.
    fn max_iterations(&self) -> Option<usize> {
        None
    }
    /// Checks of the mesh for this equation alone.
    fn check_mesh(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
    ) -> Result<Vec<SetupWarning>, SimulationError>;
}

/// A field that is determined up to a constant where no boundary condition fixes it.
pub(super) struct FreeLevel<'c> {
    /// The field.
    pub quantity: &'static str,
    /// The conditions that fix it, for messages.
    pub remedy: &'static str,
    /// Whether the condition of a patch fixes it.
    pub is_fixed_by: Box<dyn Fn(&str) -> bool + 'c>,
}

/// A system of equations set up on a backend, in either precision.
pub(super) trait Equation: Checkpointed + Send {
    /// Its names in a case.
    fn descriptor(&self) -> &'static Descriptor;
    /// Its fields, vectors by component.
    fn unknowns(&self) -> &[Unknown];
    /// Location of its unknowns.
    fn location(&self) -> Location;
    /// Ends a steady solve that takes a single step once `should_stop` is true; steps in time and iterations end themselves.
    fn stop_when(&mut self, _should_stop: StopTest) {}
    /// The places of the arrays of its state, of those that are at entities of the mesh.
    fn array_places(&self) -> Vec<(String, ArrayPlace)>;
    /// Time and steps.
    fn clock(&self) -> (f64, usize);
    /// Advances one time step, or solves for the steady state.
    fn advance(&mut self, mesh: &Mesh, step: Option<f64>) -> Result<Advance, SimulationError>;
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
    /// The averages over time.
    fn averages(&self) -> &dyn TimeAverages;
    /// Warnings about the solution at the end of a run that neither failed nor was interrupted.
    fn warnings_at_end(&mut self, _end: OutcomeKind) -> Result<Vec<String>, SimulationError> {
        Ok(vec![])
    }
    /// The components of an averaged field from the means of the arrays that its average samples; by default they are
    /// these means.
    fn averaged_field(
        &self,
        _mesh: &Mesh,
        _field: &str,
        means: Vec<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>, SimulationError> {
        Ok(means)
    }
    /// Adds to the summary of the run the entries that this equation alone has.
    fn summarize(&mut self, _summary: &mut Summary) -> Result<(), SimulationError> {
        Ok(())
    }
    /// The time step, at most `longest`, at which `cfl` of the case is `number`: the largest Courant number, in heat
    /// conduction the largest cell Fourier number.
    fn longest_step(&self, number: f64, longest: f64) -> Result<f64, SimulationError>;
    /// The linear solver and the cost of its set-up, that of the last solve of a step; `work_units` are those of
    /// an iteration. None of an explicit method.
    fn linear_summary(&self) -> Option<LinearSummary>;
    /// Number of set-ups of the linear solver within the steps so far.
    fn solver_setups(&self) -> u64 {
        0
    }

    /// Whether steps use levels before the last, which a new mesh does not have.
    fn is_multistep(&self) -> bool {
        false
    }

    /// Sets the equation up again on another mesh, with its fields by a transfer; time and steps are kept, and a
    /// multistep scheme begins anew.
    fn rebuild(
        &mut self,
        case: &Case,
        place: (&Mesh, &Geometry),
        transfer: &Transfer,
    ) -> Result<(), SimulationError>;

    /// Why a finite value of a field is invalid; `None` where it is valid.
    fn fault(&self, _name: &str, _value: f64) -> Option<&'static str> {
        None
    }

    /// The exact solution of fields at the current time where these are means over cells; other fields are compared at
    /// the positions of the unknowns.
    fn exact_means(
        &self,
        _mesh: &Mesh,
        _exact: &[ExactField],
    ) -> Result<NamedList<Vec<f64>>, SimulationError> {
        Ok(NamedList::new())
    }

    /// Volume of each unknown.
    fn volumes(&self, mesh: &Mesh) -> Vec<f64> {
        match self.location() {
            Location::Cells => cell_volumes(mesh),
            Location::Nodes => node_volumes(mesh),
        }
    }

    /// Position of unknown `i`.
    fn position_of(&self, mesh: &Mesh, i: usize) -> [f64; 3] {
        match self.location() {
            Location::Cells => cell_centre(mesh, i),
            Location::Nodes => mesh.points[i],
        }
    }

    /// The cell or node of unknown `i` in messages.
    fn named_place(&self, mesh: &Mesh, i: usize) -> String {
        match self.location() {
            Location::Cells => named_cell(mesh, i),
            Location::Nodes => {
                let ([x, y, z], number) = (mesh.points[i], mesh.original_node[i]);
                format!("node {number} at ({x:.2e}, {y:.2e}, {z:.2e})")
            }
        }
    }
}
