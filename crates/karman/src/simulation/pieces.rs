//! Files of fields in pieces, one for each rank, `[output] format = "pvtu"`.
//!
//! A piece has the cells of a rank with their nodes, no ghosts, both in the order of the mesh file. Each process writes the pieces of its
//! own ranks.

use super::location::Location;
use super::surface::values_of;
use super::{Simulation, SimulationError};
use crate::backend::{HOST_CHUNK, Processes};
use crate::descriptor::FieldData;
use crate::mesh::files::pvtu;
use crate::mesh::files::vtu::{self, CompressedGrid, VtuData};
use crate::mesh::partition::Ranges;
use crate::mesh::{Elements, Mesh};
use std::ops::Range;
use std::path::Path;

/// The cells of a rank with their nodes.
pub(super) struct Piece {
    rank: usize,
    points: Vec<[f64; 3]>,
    cells: Elements,
    /// Its cells and nodes in the mesh, in the order of the file.
    entities: [Vec<u32>; 2],
    /// Their numbers in the file of the whole mesh.
    numbers: [Vec<u32>; 2],
    grid: Option<CompressedGrid>,
}

/// The place of each entity in an order.
fn places(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(entity, place)| places[*entity as usize] = place);
    places
}

impl Piece {
    /// The piece of consecutive cells of a mesh; `places` are those of its cells and nodes in the order of the file.
    fn new(mesh: &Mesh, rank: usize, own: Range<usize>, places: &[Vec<u32>; 2]) -> Piece {
        let of = |list: &[u32], kind: usize| -> Vec<u32> {
            list.iter().map(|entity| places[kind][*entity as usize]).collect()
        };
        let mut own: Vec<u32> = own.map(|cell| cell as u32).collect();
        own.sort_unstable_by_key(|cell| places[0][*cell as usize]);
        let corners = own.iter().flat_map(|cell| mesh.cells.nodes_of(*cell as usize)).copied();
        let mut nodes: Vec<u32> = corners.collect();
        nodes.sort_unstable_by_key(|node| places[1][*node as usize]);
        nodes.dedup();
        let numbers = [of(&own, 0), of(&nodes, 1)];
        let mut cells = Elements::new();
        for cell in own.iter().map(|cell| *cell as usize) {
            let local = of(mesh.cells.nodes_of(cell), 1).into_iter();
            let local = local.map(|number| numbers[1].partition_point(|n| *n < number) as u32);
            let local: Vec<u32> = local.collect();
            cells.push(mesh.cells.shapes[cell], &local, mesh.cells.groups[cell]);
        }
        Piece {
            rank,
            points: nodes.iter().map(|node| mesh.points[*node as usize]).collect(),
            cells,
            entities: [own, nodes],
            numbers,
            grid: None,
        }
    }

    /// The pieces of the ranks of this process, of `ranks` in all.
    pub(super) fn of_process(mesh: &Mesh, ranks: usize, processes: &Processes) -> Vec<Piece> {
        let ranges = Ranges::new(mesh, ranks, HOST_CHUNK);
        let places = [mesh.cells_in_file_order(), mesh.nodes_in_file_order()].map(|o| places(&o));
        let own = match processes.count() {
            1 => 0..ranks,
            _ => processes.number()..processes.number() + 1,
        };
        own.map(|rank| Piece::new(mesh, rank, ranges.cells(rank), &places)).collect()
    }

    /// The values of a field at its cells or nodes.
    fn restricted(&self, field: &FieldData, location: Location) -> FieldData {
        let entities = &self.entities[usize::from(location == Location::Nodes)];
        let of = |values: &[f64]| entities.iter().map(|entity| values[*entity as usize]).collect();
        match field {
            FieldData::Scalar(values) => FieldData::Scalar(of(values)),
            FieldData::Vector(components) => {
                FieldData::Vector(components.each_ref().map(|values| of(values)))
            }
        }
    }

    /// Does `work` with the content of the file of the piece.
    fn with_data<R>(
        &mut self,
        simulation: &Simulation,
        fields: &[(String, FieldData)],
        work: impl FnOnce(&CompressedGrid, &VtuData<'_>) -> R,
    ) -> R {
        let location = simulation.equation.location();
        let values: Vec<FieldData> =
            fields.iter().map(|(_, field)| self.restricted(field, location)).collect();
        let mut data = VtuData::new(&self.points, &self.cells);
        data.regions = &simulation.mesh.regions;
        data.time = Some(simulation.time());
        data.numbers = Some([&self.numbers[0], &self.numbers[1]]);
        let names = fields.iter().map(|(name, _)| name.as_str());
        let list = names.zip(values.iter().map(values_of)).collect();
        match location {
            Location::Cells => data.cell_fields = list,
            Location::Nodes => data.node_fields = list,
        }
        let grid = self.grid.get_or_insert_with(|| CompressedGrid::new(&data));
        work(grid, &data)
    }
}

/// The name of a piece of file `number` of the series.
fn file_of_piece(number: usize, rank: usize) -> String {
    format!("fields_{number:04}_{rank}.vtu")
}

/// The name of file `number` of the series, which names the pieces.
pub(super) fn file_of_pieces(number: usize) -> String {
    format!("fields_{number:04}.pvtu")
}

/// Writes file `number` of a series in pieces: each process those of its ranks, then the first the file that names all. All processes
/// call it.
///
/// # Errors
/// [`SimulationError`] where a process cannot write, or does not write into the folder of the first.
pub(super) fn write(
    pieces: &mut [Piece],
    (simulation, directory): (&Simulation, &Path),
    number: usize,
    fields: &[(String, FieldData)],
) -> Result<(), SimulationError> {
    let processes = simulation.backend.processes();
    let written = write_own(pieces, (simulation, directory), number, fields);
    let failed = processes.joined(vec![vec![u32::from(written.is_err())]])?;
    written?;
    let directory_of = || directory.to_owned();
    if let Some(process) = failed.iter().position(|failed| *failed == 1) {
        let reason = format!("process {process} cannot write its piece");
        return Err(SimulationError::Write { path: directory_of(), reason });
    }
    if !processes.is_first() {
        return Ok(());
    }
    let names: Vec<String> =
        (0..simulation.case.run.ranks).map(|rank| file_of_piece(number, rank)).collect();
    require_all(directory, &names)?;
    let path = directory.join(file_of_pieces(number));
    let Some(first) = pieces.first_mut() else { return Ok(()) };
    Ok(first.with_data(simulation, fields, |_, data| pvtu::write(&path, data, &names))?)
}

/// Writes the pieces of this process.
fn write_own(
    pieces: &mut [Piece],
    (simulation, directory): (&Simulation, &Path),
    number: usize,
    fields: &[(String, FieldData)],
) -> Result<(), SimulationError> {
    std::fs::create_dir_all(directory).map_err(|error| SimulationError::Write {
        path: directory.to_owned(),
        reason: error.to_string(),
    })?;
    for piece in pieces {
        let path = directory.join(file_of_piece(number, piece.rank));
        piece.with_data(simulation, fields, |grid, data| vtu::write_on(&path, grid, data))?;
    }
    Ok(())
}

/// Refuses pieces that are not in the folder of the first process.
fn require_all(directory: &Path, names: &[String]) -> Result<(), SimulationError> {
    match names.iter().find(|name| !directory.join(name).is_file()) {
        None => Ok(()),
        Some(name) => Err(SimulationError::Write {
            path: directory.join(name),
            reason: "its process has written to another folder of this name; give an output directory that all machines share, \
                     or format = \"vtu\""
                .to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_another_machine_has_are_missed() {
        let folder = tempfile::tempdir().unwrap();
        let names = [file_of_piece(3, 0), file_of_piece(3, 1)];
        assert_eq!(names[1], "fields_0003_1.vtu");
        std::fs::write(folder.path().join(&names[0]), "").unwrap();
        let said = require_all(folder.path(), &names).unwrap_err().to_string();
        let path = folder.path().join(&names[1]);
        assert_eq!(
            said,
            format!(
                "cannot write {}: its process has written to another folder of this name; give an output directory that all \
                 machines share, or format = \"vtu\"",
                path.display()
            )
        );
        std::fs::write(path, "").unwrap();
        require_all(folder.path(), &names).unwrap();
    }
}
