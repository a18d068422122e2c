//! The equation of a case at its start on a mesh.

use super::adaptation::Adaptation;
use super::equation::Equation;
use super::initial::InitialFields;
use super::mesh_checks::check_mesh;
use super::{Simulation, SimulationError, ranks, setup_of, timed};
use crate::backend::Backend;
use crate::case::{Case, TimeStep};
use crate::mesh::{Geometry, Mesh};
use crate::summary::NamedList;

/// The equation of a case at t = 0 on a mesh, and the warnings of the checks of this mesh. A restart replaces the initial fields.
///
/// # Errors
/// As [`Simulation::new`] after the mesh.
pub(super) fn start(
    case: &Case,
    backend: &Backend,
    mesh: &Mesh,
    is_restart: bool,
    phases: &mut NamedList<f64>,
) -> Result<(Box<dyn Equation>, Vec<String>), SimulationError> {
    let geometry = timed(phases, "geometry", || backend.install(|| Geometry::new(mesh)))?;
    let found =
        timed(phases, "mesh_checks", || backend.install(|| check_mesh(case, mesh, &geometry)))?;
    for warning in &found {
        tracing::warn!("{warning}");
    }
    let initial = match &case.initial_result {
        Some(result) if !is_restart => timed(phases, "initial", || {
            backend.install(|| InitialFields::read(case, result, mesh, &geometry))
        })?,
        _ => InitialFields::default(),
    };
    let equation = timed(phases, "discretization", || {
        setup_of(case).start(case, backend, (mesh, &geometry), &initial)
    })?;
    Ok((equation, found.iter().map(ToString::to_string).collect()))
}

/// The first time step, 0 of a steady case.
///
/// # Errors
/// The backend failed.
pub(super) fn first_time_step(
    case: &Case,
    equation: &dyn Equation,
) -> Result<f64, SimulationError> {
    match case.time.as_ref().map(|time| time.step) {
        None => Ok(0.0),
        Some(TimeStep::Fixed(step)) => Ok(step),
        Some(TimeStep::Cfl(number)) => {
            let end = case.time.as_ref().map_or(f64::INFINITY, |time| time.end);
            equation.longest_step(number, end)
        }
    }
}

impl Simulation {
    /// Begins again on a mesh without periodic patches, from the initial fields.
    ///
    /// # Errors
    /// As [`Simulation::new`] after the mesh.
    pub(super) fn start_again(&mut self, mesh: Mesh) -> Result<(), SimulationError> {
        let Simulation { case, backend, phases, .. } = self;
        ranks::check_equal_meshes(backend.processes(), &mesh)?;
        let (equation, found) = start(case, backend, &mesh, false, phases)?;
        self.time_step = first_time_step(case, equation.as_ref())?;
        self.linear = equation.linear_summary();
        self.equation = equation;
        self.change_mesh(mesh, found);
        Ok(())
    }

    /// Takes a mesh and the warnings of its checks. Of many meshes the summary has the warnings of the last.
    pub(super) fn change_mesh(&mut self, mesh: Mesh, found: Vec<String>) {
        let Adaptation { warnings: of_adapted, .. } = &mut self.adaptation;
        let of_earlier = std::mem::take(of_adapted);
        self.warnings.retain(|message| !of_earlier.contains(message));
        let of_mesh = mesh.warnings.iter().map(ToString::to_string).chain(found);
        *of_adapted = of_mesh.filter(|new| !self.warnings.contains(new)).collect();
        let of_averages = self.equation.averages().warnings_of_start();
        for message in of_adapted.iter().chain(of_averages) {
            if !self.warnings.contains(message) {
                if !of_earlier.contains(message) {
                    tracing::warn!("{message}");
                }
                self.warnings.push(message.clone());
            }
        }
        self.mesh = mesh;
    }
}
