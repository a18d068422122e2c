//! VTU files, VTK's XML format of an unstructured grid (VTK documentation, "VTK XML file formats").
//!
//! Read: ASCII, base64 and appended data (raw or base64), zlib-compressed or not, `UInt32` and
//! `UInt64` headers, either byte order, one `Piece`. Written: `Float64` values in compressed
//! appended raw blocks.
//!
//! Regions and patches are stored by karman's convention: boundary elements are additional cells of
//! one dimension less, after the cells of the mesh; the integer cell array `region` numbers the
//! regions (−1 on boundary elements), the array `patch` the patches (−1 on cells); the field data are
//! an integer array of one value for each name, `region:steel` = 0 or `patch:wall` = 2. In files of
//! other programs the cell arrays `gmsh:physical` or `CellEntityIds` are read as groups
//! `group_<number>`.
//!
//! A prism of negative volume is renumbered: VTK's documentation draws the element against its own
//! parametric coordinates, and files of both orientations exist.

mod data_array;
mod document;
mod encoding;
#[cfg(test)]
pub(super) mod tests;
mod write;

use super::error::{Fault, MeshFileProblem as Problem, Parsed};
use super::fields::MeshWithFields;
use super::vtk_grid::{NamedArray, Numbers, VtkGrid};
use document::{ArrayElement, Document, Section};
use memchr::memmem::find;
pub(super) use write::arrays_of;
#[cfg(test)]
#[cfg(test)]
pub(super) use write::to_bytes;
pub use write::{CELL_NUMBER, CompressedGrid, NODE_NUMBER, VtuData, write, write_on};

/// Whether the content can only be a VTU file.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start.starts_with(b"<VTKFile")
        || (start.starts_with(b"<?xml")
            && find(&start[..start.len().min(1024)], b"<VTKFile").is_some())
}

/// Reads a mesh and its fields from a file's content.
pub(super) fn parse(bytes: &[u8]) -> Parsed<MeshWithFields> {
    let document = Document::parse(bytes)?;
    let array = |section, name: &str| {
        document.arrays.iter().find(|a| a.section == section && a.name.eq_ignore_ascii_case(name))
    };
    let missing = |section| Fault::whole(Problem::MissingSection { section });
    let points = document
        .arrays
        .iter()
        .find(|a| a.section == Section::Points)
        .ok_or_else(|| missing("Points"))?;
    let connectivity =
        array(Section::Cells, "connectivity").ok_or_else(|| missing("DataArray connectivity"))?;
    let offsets = array(Section::Cells, "offsets").ok_or_else(|| missing("DataArray offsets"))?;
    let types = array(Section::Cells, "types").ok_or_else(|| missing("DataArray types"))?;
    let decoded = |element: &ArrayElement| document.decode(element);
    let all = |section| -> Parsed<Vec<NamedArray>> {
        document.arrays.iter().filter(|a| a.section == section).map(decoded).collect()
    };
    let points = decoded(points)?;
    check_count(&points, document.n_points, 3)?;
    let types = decoded(types)?;
    check_count(&types, document.n_cells, 1)?;
    let ends = decoded(offsets)?;
    check_count(&ends, document.n_cells, 1)?;
    let mut offsets = vec![0];
    offsets.extend(integers(ends)?.0);
    VtkGrid {
        points,
        offsets,
        connectivity: integers(decoded(connectivity)?)?,
        types: integers(types)?,
        cell_arrays: all(Section::CellData)?,
        point_arrays: all(Section::PointData)?,
        field_arrays: all(Section::FieldData)?,
    }
    .into_mesh()
}

/// Refuses an array whose length differs from the announced number.
fn check_count(array: &NamedArray, entities: u64, components: u64) -> Parsed<()> {
    let expected = usize::try_from(entities.saturating_mul(components)).unwrap_or(usize::MAX);
    let found = array.values.len();
    if found == expected {
        return Ok(());
    }
    let array_name = array.name.clone();
    Err(Fault::new(array.at, Problem::WrongLength { array: array_name, found, expected }))
}

/// The values of an array that must be integers.
fn integers(array: NamedArray) -> Parsed<(Vec<i64>, super::error::At)> {
    match array.values {
        Numbers::Integer(values) => Ok((values, array.at)),
        Numbers::Real(_) => {
            let found = format!("floating-point {}", array.name);
            Err(Fault::new(array.at, Problem::Unexpected { expected: "integers", found }))
        }
    }
}
