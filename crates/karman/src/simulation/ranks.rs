//! Which cases run on several ranks.

use super::SimulationError;
use super::warning::SetupWarning;
use crate::backend::{Backend, HOST_CHUNK};
use crate::case::{Case, Equation as EquationCase};
use crate::heat::Discretization;
use crate::linear::{Method, PreconditionerKind};
use crate::mesh::Mesh;

/// Refuses a case that several ranks do not compute.
///
/// # Errors
/// [`SimulationError::Ranks`].
pub(super) fn check(case: &Case, backend: &Backend) -> Result<(), SimulationError> {
    let ranks = case.run.ranks;
    if ranks == 1 {
        return Ok(());
    }
    let refused = |reason: &str| Err(SimulationError::Ranks { ranks, reason: reason.to_owned() });
    if backend.device().is_some() {
        return refused("several ranks compute on the CPU; set backend = \"cpu\", or ranks = 1");
    }
    let heat = match &case.equation {
        EquationCase::Heat(heat) => heat,
        EquationCase::Incompressible(_) => {
            return refused("[incompressible] runs on one rank; set ranks = 1");
        }
        EquationCase::Compressible(_) => {
            return refused("[compressible] runs on one rank; set ranks = 1");
        }
    };
    if case.adapt.is_some() {
        return refused("[adapt] runs on one rank; set ranks = 1, or adapt the mesh before");
    }
    if heat.discretization == Discretization::Node {
        return refused(
            "the node-centred discretization runs on one rank; set discretization = \"cell\", or ranks = 1",
        );
    }
    let solver = &heat.linear_solver;
    let needs_all_rows = match solver.preconditioner {
        PreconditionerKind::Amg(_) => Some("preconditioner = \"amg\""),
        PreconditionerKind::GaussSeidel => Some("preconditioner = \"gauss_seidel\""),
        PreconditionerKind::Auto { .. } if solver.method == Some(Method::Stationary) => {
            Some("method = \"multigrid\"")
        }
        _ => None,
    };
    match needs_all_rows {
        None => Ok(()),
        Some(key) => refused(&format!(
            "[linear_solver] {key} runs on one rank; set preconditioner = \"chebyshev\" or \"jacobi\" with a Krylov method, or \
             ranks = 1"
        )),
    }
}

/// Refuses a mesh with fewer cells than ranks; warns where parts are smaller than a chunk of reductions.
///
/// # Errors
/// [`SimulationError::Ranks`].
pub(super) fn check_mesh(
    case: &Case,
    mesh: &Mesh,
) -> Result<Option<SetupWarning>, SimulationError> {
    let (ranks, cells) = (case.run.ranks, mesh.n_cells());
    if ranks > cells {
        let reason = format!("the mesh has only {cells} cells; set ranks = 1");
        return Err(SimulationError::Ranks { ranks, reason });
    }
    let chunks = cells.div_ceil(HOST_CHUNK);
    Ok((ranks > chunks).then_some(SetupWarning::SmallParts { ranks, cells, chunks }))
}
