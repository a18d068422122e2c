//! `karman mesh parts`

use super::load;
use crate::console;
use crate::failure::Failure;
use karman::backend::HOST_CHUNK;
use karman::mesh::graph_partition::metis_parts;
use karman::mesh::partition::{Partition, Ranges};
use karman::mesh::{EntityCount, Mesh, MeshOptions};
use serde::Serialize;
use std::path::Path;

/// The parts of a partition.
#[derive(Serialize)]
struct Parts {
    partition: &'static str,
    /// Interior faces between parts.
    faces_between_parts: usize,
    /// Cells of each part.
    cells: Vec<usize>,
    /// Cells of other parts across the faces of each part.
    ghosts: Vec<usize>,
}

/// Prints the parts of a mesh by each partition.
pub(super) fn print(path: &Path, count: usize, json: bool) -> Result<(), Failure> {
    let (raw, options) = load(path)?;
    let is_case = path.extension().is_some_and(|extension| extension == "toml");
    let options = if is_case { options } else { MeshOptions::default() };
    let mesh = Mesh::new(raw, &options).map_err(Failure::input)?;
    if mesh.n_cells() < count {
        let message = format!("{count} parts: the mesh has only {} cells", mesh.n_cells());
        return Err(Failure::Input(message));
    }
    let parts = metis_parts(&mesh.cell_to_cells(), count).map_err(Failure::input)?;
    let all = [
        counted(Partition::Hilbert, &mesh, count),
        counted(Partition::Metis, &mesh.in_parts(&parts).0, count),
    ];
    if json {
        return console::print_json(&all);
    }
    console::print(&table(&all))
}

fn counted(partition: Partition, mesh: &Mesh, count: usize) -> Parts {
    let ranges = Ranges::new(mesh, count, HOST_CHUNK);
    let counts = ranges.counts();
    let each = |of: fn(&EntityCount) -> usize| counts.iter().map(of).collect();
    Parts {
        partition: partition.word(),
        faces_between_parts: ranges.cut_faces(),
        cells: each(|count| count.owned),
        ghosts: each(|count| count.ghost),
    }
}

fn table(all: &[Parts]) -> String {
    let range = |list: &[usize]| {
        let [least, most] = [list.iter().min(), list.iter().max()].map(|n| n.map_or(0, |n| *n));
        format!("{least} to {most}")
    };
    let line = |[name, faces, cells, ghosts]: [&str; 4]| {
        format!("{name:<11}{faces:<22}{cells:<22}{ghosts}")
    };
    let of_parts = |parts: &Parts| {
        let faces = parts.faces_between_parts.to_string();
        line([parts.partition, &faces, &range(&parts.cells), &range(&parts.ghosts)])
    };
    let header = line(["partition", "faces between parts", "cells of a part", "ghosts of a part"]);
    let lines: Vec<String> = std::iter::once(header).chain(all.iter().map(of_parts)).collect();
    lines.join("\n")
}
