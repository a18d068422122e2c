//! Which cases run on several ranks.

use super::location::Location;
use super::warning::{FEWEST_CELLS, SetupWarning};
use super::{SimulationError, setup_of};
use crate::backend::{Backend, BackendKind, HOST_CHUNK, Processes};
use crate::case::{Case, Equation as EquationCase, HeatCase, IncompressibleCase, LinearSolverCase};
use crate::incompressible::Arrangement;
use crate::io::checkpoint::Checkpoint;
use crate::linear::PreconditionerKind;
use crate::linear::amg::Smoother;
use crate::mesh::Mesh;
use crate::mesh::partition::Partition;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The case with a rank for each process, of several processes.
///
/// # Errors
/// [`SimulationError::Ranks`] where the case asks for another number of ranks.
pub(super) fn of_processes(mut case: Case, processes: &Processes) -> Result<Case, SimulationError> {
    let (ranks, count) = (case.run.ranks, processes.count());
    if count == 1 {
        return Ok(case);
    }
    if ranks != 1 && ranks != count {
        let reason =
            format!("{count} processes were started, each of which is a rank; leave `ranks` out");
        return Err(SimulationError::Ranks { ranks, reason });
    }
    case.run.ranks = count;
    Ok(case)
}

/// Refuses processes with different cases, meshes or checkpoints, as of files that differ between machines. All processes call it.
///
/// # Errors
/// [`SimulationError::Ranks`].
pub(super) fn check_equal(
    processes: &Processes,
    (case, mesh): (&Case, &Mesh),
    checkpoint: Option<&Checkpoint>,
) -> Result<(), SimulationError> {
    if processes.count() == 1 {
        return Ok(());
    }
    let mut of_any_machine = case.clone();
    of_any_machine.run.threads = 0;
    let of_case = hash(&|hasher| format!("{of_any_machine:?}").hash(hasher));
    let of_checkpoint = hash(&|hasher| checkpoint.map(Checkpoint::checksum).hash(hasher));
    for (name, own) in
        [("case", of_case), ("mesh", hash_of_mesh(mesh)), ("checkpoint", of_checkpoint)]
    {
        if let Some(other) = processes.first_other(own)? {
            let ranks = processes.count();
            let reason = format!(
                "the {name} of process {other} is not that of process 0; start all with the same arguments, and with the same files \
                 on each machine"
            );
            return Err(SimulationError::Ranks { ranks, reason });
        }
    }
    Ok(())
}

/// A hash of what `content` writes to a hasher.
fn hash(content: &dyn Fn(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    content(&mut hasher);
    hasher.finish()
}

fn hash_of_mesh(mesh: &Mesh) -> u64 {
    hash(&|hasher| {
        mesh.points.iter().flatten().for_each(|x| x.to_bits().hash(hasher));
        (&mesh.cells.nodes, &mesh.cells.groups, &mesh.face_left, &mesh.face_right).hash(hasher);
    })
}

/// Refuses processes that go on with different meshes, each of which has adapted its own. All processes call it.
///
/// # Errors
/// [`SimulationError::Ranks`].
pub(super) fn check_equal_meshes(
    processes: &Processes,
    mesh: &Mesh,
) -> Result<(), SimulationError> {
    if processes.count() > 1
        && let Some(other) = processes.first_other(hash_of_mesh(mesh))?
    {
        let ranks = processes.count();
        let reason = format!(
            "the new mesh of process {other} is not that of process 0; start all on processors of one kind, or adapt the mesh before"
        );
        return Err(SimulationError::Ranks { ranks, reason });
    }
    Ok(())
}

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
    if backend.device().is_some() && backend.processes().count() > 1 {
        return refused(
            "several processes compute on the CPU; set backend = \"cpu\", or ranks = 1",
        );
    }
    if case.adapt.is_some() && case.run.partition == Partition::Metis {
        return refused(
            "partition = \"metis\" and [adapt] exclude each other, as an adaptation depends on the order of the cells; set \
             partition = \"hilbert\"",
        );
    }
    if has_unknown_fluxes(case) && case.run.partition == Partition::Metis {
        return refused(
            "partition = \"metis\" is not for fluxes as unknowns; set partition = \"hilbert\", or scheme = \"collocated\"",
        );
    }
    let reason = match &case.equation {
        EquationCase::Heat(heat) => refused_heat(heat),
        EquationCase::Incompressible(flow) => refused_flow(flow),
        EquationCase::Compressible(_) => None,
    };
    reason.map_or(Ok(()), |reason| refused(&reason))
}

/// Whether the case is a flow whose unknowns are fluxes.
fn has_unknown_fluxes(case: &Case) -> bool {
    let EquationCase::Incompressible(flow) = &case.equation else { return false };
    flow.numerics.arrangement != Arrangement::Collocated
}

/// Why several ranks do not compute a case of heat; none where they do.
fn refused_heat(heat: &HeatCase) -> Option<String> {
    refused_solver("[linear_solver]", &heat.linear_solver)
}

/// Why several ranks do not compute a flow; none where they do.
fn refused_flow(flow: &IncompressibleCase) -> Option<String> {
    refused_solver("[incompressible.pressure]", &flow.pressure)
        .or_else(|| refused_solver("[incompressible.momentum]", &flow.momentum))
}

/// Why several ranks do not solve with a solver; none where they do.
fn refused_solver(section: &str, solver: &LinearSolverCase) -> Option<String> {
    let mut preconditioner = solver.preconditioner;
    if preconditioner == PreconditionerKind::GaussSeidel {
        return Some(format!(
            "{section} preconditioner = \"gauss_seidel\" runs on one rank; set preconditioner = \"amg\", \"chebyshev\" \
             or \"jacobi\", or ranks = 1"
        ));
    }
    let smoother = preconditioner.amg_mut().map(|amg| amg.cycling.smoother);
    (smoother == Some(Smoother::GaussSeidel)).then(|| {
        format!(
            "{section} amg.smoother = \"gauss_seidel\" runs on one rank; set amg.smoother = \"l1_jacobi\" or \
             \"chebyshev\", or ranks = 1"
        )
    })
}

/// Refuses a mesh with fewer cells than ranks; warns of parts that are no whole chunks of reductions.
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
    match (case.run.partition, ranks) {
        (Partition::Hilbert, _) => {}
        (Partition::Metis, 1) => return Ok(Some(SetupWarning::OnePart)),
        (Partition::Metis, _) => {
            let has_ordered_stencils = matches!(case.equation, EquationCase::Compressible(_));
            return Ok(Some(SetupWarning::GraphParts { has_ordered_stencils }));
        }
    }
    let (unknowns, what) = match setup_of(case).location() {
        Location::Cells => (cells, "cells"),
        Location::Nodes => (mesh.n_nodes(), "nodes"),
    };
    let chunks = unknowns.div_ceil(HOST_CHUNK);
    Ok((ranks > chunks).then_some(SetupWarning::SmallParts { ranks, unknowns, what, chunks }))
}

/// Warns of GPUs with few cells each, which are slower than one.
pub(super) fn check_devices(ranks: usize, kind: BackendKind, cells: usize) -> Option<SetupWarning> {
    let is_gpu = matches!(kind, BackendKind::Cuda | BackendKind::Hip);
    let cells = cells / ranks;
    (is_gpu && ranks > 1 && cells < FEWEST_CELLS).then_some(SetupWarning::FewCells { ranks, cells })
}

/// Arrays of all unknowns, one after another, from those of the own unknowns of each rank.
pub(super) fn joined_arrays<T: Copy>(of_ranks: &[Vec<T>], arrays: usize) -> Vec<T> {
    let of_array = |k: usize| {
        let part = move |values: &'_ Vec<T>| {
            let n = values.len() / arrays;
            values[k * n..(k + 1) * n].to_vec()
        };
        of_ranks.iter().flat_map(part)
    };
    (0..arrays).flat_map(of_array).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_with_few_cells_are_warned_of() {
        let said = check_devices(4, BackendKind::Cuda, 1_200_000).unwrap().to_string();
        assert_eq!(
            said,
            "ranks = 4: each device has about 300000 cells; with fewer than 500000 exchanges take longer than the devices spare: set \
             ranks = 1"
        );
        for (ranks, kind, cells) in [
            (1, BackendKind::Cuda, 1000),
            (2, BackendKind::Cuda, 1_000_000),
            (2, BackendKind::Cpu, 1000),
            (2, BackendKind::Wgpu, 1000),
        ] {
            assert_eq!(check_devices(ranks, kind, cells), None);
        }
    }
}
