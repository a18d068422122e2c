//! The partition of the mesh for ranks by `[run] partition`, and the numbering of checkpoints.
//!
//! Of a graph partition the cells are renumbered before everything else, so that each part has consecutive cells. Checkpoints have the
//! numbering without a partition: any partition and number of ranks continues with them.

use super::location::Location;
use super::{SimulationError, setup_of};
use crate::backend::HOST_CHUNK;
use crate::case::Case;
use crate::io::checkpoint::Checkpoint;
use crate::mesh::graph_partition::metis_parts;
use crate::mesh::partition::{Partition, Ranges, node_starts};
use crate::mesh::{EntityCount, Mesh, Permutation, SIGN_BIT, index_of};

/// The mesh of a case in the order of the parts of its ranks, and the numbers of its entities without a partition; none where these
/// are its numbers.
///
/// # Errors
/// [`SimulationError::Ranks`] where the mesh has no partition, or a rank would have no unknown.
pub(super) fn in_parts(
    case: &Case,
    mesh: Mesh,
) -> Result<(Mesh, Option<Numbering>), SimulationError> {
    let ranks = case.run.ranks;
    // A mesh with fewer cells is refused with others.
    if ranks == 1 || case.run.partition == Partition::Hilbert || mesh.n_cells() < ranks {
        return Ok((mesh, None));
    }
    let refused = |reason: String| SimulationError::Ranks {
        ranks,
        reason: format!("{reason}; set partition = \"hilbert\""),
    };
    let parts = metis_parts(&mesh.cell_to_cells(), ranks).map_err(|e| refused(e.to_string()))?;
    let (mesh, permutation) = mesh.in_parts(&parts);
    let starts = node_starts(&mesh, ranks, HOST_CHUNK);
    let is_empty = |rank: &usize| starts[*rank] == starts[rank + 1];
    if setup_of(case).location() == Location::Nodes
        && let Some(rank) = (0..ranks).find(is_empty)
    {
        return Err(refused(format!("METIS gives rank {rank} no node of its own")));
    }
    let numbering = Numbering { permutation, n_interior: mesh.n_interior_faces() };
    Ok((mesh, Some(numbering)))
}

/// Logs the cells and ghosts of each rank of a case on several ranks.
pub(super) fn log_parts(case: &Case, mesh: &Mesh) {
    let (ranks, partition) = (case.run.ranks, case.run.partition.word());
    if ranks == 1 || mesh.n_cells() < ranks {
        return;
    }
    let ranges = Ranges::new(mesh, ranks, HOST_CHUNK);
    let list = |(rank, EntityCount { owned, ghost }): (usize, &EntityCount)| {
        format!("rank {rank}: {owned} and {ghost}")
    };
    let counts = ranges.counts();
    let listed: Vec<String> = counts.iter().enumerate().map(list).collect();
    tracing::info!(
        "partition = \"{partition}\": {} of {} interior faces lie between parts; cells and ghosts of {}",
        ranges.cut_faces(),
        mesh.n_interior_faces(),
        listed.join(", ")
    );
}

/// Where the values of an array of a state are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArrayPlace {
    /// At the unknowns, `[components][n]`.
    Unknowns(Location),
    /// Fluxes through faces, `[n_faces]`; further components have no direction.
    Fluxes,
    /// At faces of the boundary, `[n_boundary]`.
    Boundary,
    /// At some faces of the boundary.
    Faces(Vec<u32>),
}

/// The numbers of the entities of a mesh without a partition.
pub(super) struct Numbering {
    permutation: Permutation,
    n_interior: usize,
}

impl Numbering {
    /// Entry without a partition of each entry of an array, with [`SIGN_BIT`] where its sign is opposite.
    fn entries(&self, place: &ArrayPlace) -> Vec<u32> {
        let Permutation { cells, faces, nodes } = &self.permutation;
        match place {
            ArrayPlace::Unknowns(Location::Cells) => cells.clone(),
            ArrayPlace::Unknowns(Location::Nodes) => nodes.clone(),
            ArrayPlace::Fluxes => faces.clone(),
            ArrayPlace::Boundary => {
                let outer = faces[self.n_interior..].iter();
                outer.map(|face| face - self.n_interior as u32).collect()
            }
            ArrayPlace::Faces(list) => {
                // Without a partition such a list ascends too.
                let old: Vec<u32> = list.iter().map(|face| faces[*face as usize]).collect();
                let mut ascending = old.clone();
                ascending.sort_unstable();
                let place = |face: &u32| ascending.partition_point(|other| other < face) as u32;
                old.iter().map(place).collect()
            }
        }
    }

    /// Gives the arrays of a checkpoint, which have the numbering of this mesh, that without a partition.
    pub(super) fn without_parts(
        &self,
        checkpoint: &mut Checkpoint,
        places: &[(String, ArrayPlace)],
    ) {
        self.reorder(checkpoint, places, |values, entries| {
            let mut reordered = vec![0.0; values.len()];
            for (entry, value) in entries.iter().zip(values) {
                reordered[index_of(*entry)] = signed(*value, *entry);
            }
            reordered
        });
    }

    /// Gives the arrays of a checkpoint, which have the numbering without a partition, that of this mesh.
    pub(super) fn with_parts(&self, checkpoint: &mut Checkpoint, places: &[(String, ArrayPlace)]) {
        self.reorder(checkpoint, places, |values, entries| {
            entries.iter().map(|entry| signed(values[index_of(*entry)], *entry)).collect()
        });
    }

    /// Replaces each component of the arrays of these places. One of another length stays: the restart refuses it.
    fn reorder(
        &self,
        checkpoint: &mut Checkpoint,
        places: &[(String, ArrayPlace)],
        reordered: impl Fn(&[f64], &[u32]) -> Vec<f64>,
    ) {
        for (name, place) in places {
            let Some(values) = checkpoint.reals_mut(name) else { continue };
            let mut entries = self.entries(place);
            let n = entries.len();
            if n == 0 || !values.len().is_multiple_of(n) {
                continue;
            }
            for component in values.chunks_exact_mut(n) {
                component.copy_from_slice(&reordered(component, &entries));
                // A mean flux has a direction, its variance has none.
                entries.iter_mut().for_each(|entry| *entry &= !SIGN_BIT);
            }
        }
    }
}

/// A value at an entry, with its sign.
fn signed(value: f64, entry: u32) -> f64 {
    if entry & SIGN_BIT == 0 { value } else { -value }
}
