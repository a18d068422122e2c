//! Mesh files: Gmsh, SU2, VTU (also in pieces, PVTU) and legacy VTK; series of them (PVD); Matrix Market.
//!
//! A reader converts the bytes of a file to a [`RawMesh`]. It allocates no memory from a count that
//! exceeds the file, and no content makes it panic. An error is a [`MeshFileError`] with the line or
//! the byte.

mod builder;
mod cursor;
mod element_types;
mod error;
mod fields;
pub mod gmsh;
pub mod matrix_market;
mod number;
pub mod pvd;
pub mod pvtu;
pub mod su2;
#[cfg(test)]
mod test_meshes;
#[cfg(test)]
mod tests;
pub mod vtk;
mod vtk_grid;
pub mod vtu;

use std::io::Write;
use std::path::Path;

use crate::RawMesh;
pub use error::{MeshFileError, MeshFileProblem, Place};
use error::{Parsed, file_error};
pub use fields::{FieldArray, FieldLocation, FieldValues, MeshWithFields};

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileFormat {
    Gmsh,
    Su2,
    Vtu,
    LegacyVtk,
}

impl FileFormat {
    /// The format of a file by its first bytes, or else by its extension.
    fn of(file: &Path, bytes: &[u8]) -> Result<Self, MeshFileError> {
        let signatures = [
            (gmsh::recognises(bytes), FileFormat::Gmsh),
            (vtk::recognises(bytes), FileFormat::LegacyVtk),
            (vtu::recognises(bytes), FileFormat::Vtu),
            (su2::recognises(bytes), FileFormat::Su2),
        ];
        if let Some((_, format)) = signatures.into_iter().find(|&(recognised, _)| recognised) {
            return Ok(format);
        }
        match extension(file).as_str() {
            "msh" => Ok(FileFormat::Gmsh),
            "su2" => Ok(FileFormat::Su2),
            "vtu" => Ok(FileFormat::Vtu),
            "vtk" => Ok(FileFormat::LegacyVtk),
            _ => {
                let extension = extension(file);
                Err(file_error(file, MeshFileProblem::UnknownFormat { extension }))
            }
        }
    }
}

/// The file's extension in lower case.
fn extension(file: &Path) -> String {
    file.extension().map(|text| text.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Reads a mesh from a Gmsh (2.2 or 4.1), SU2, VTU, PVTU or legacy VTK file, recognised by its content
/// or else by its extension.
///
/// # Errors
/// The file cannot be read, or its content is wrong: see [`MeshFileProblem`].
pub fn read_mesh(path: &Path) -> Result<RawMesh, MeshFileError> {
    let bytes = load(path)?;
    match pvtu::recognises(&bytes) {
        true => Ok(pvtu::read(path, &bytes)?.mesh),
        false => parse_mesh(path, &bytes),
    }
}

/// The mesh in the content of a file; `file` is the path in messages, and gives the format where the
/// content does not.
///
/// # Errors
/// As [`read_mesh`].
pub fn parse_mesh(file: &Path, bytes: &[u8]) -> Result<RawMesh, MeshFileError> {
    let parsed: Parsed<RawMesh> = match FileFormat::of(file, bytes)? {
        FileFormat::Gmsh => gmsh::parse(bytes),
        FileFormat::Su2 => su2::parse(bytes),
        FileFormat::Vtu => vtu::parse(bytes).map(|read| read.mesh),
        FileFormat::LegacyVtk => vtk::parse(bytes).map(|read| read.mesh),
    };
    parsed.map_err(|fault| fault.locate(file, bytes))
}

/// Reads a mesh and the fields on it from any format; only VTU, PVTU and legacy VTK have fields.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_mesh_with_fields(path: &Path) -> Result<MeshWithFields, MeshFileError> {
    let bytes = load(path)?;
    if pvtu::recognises(&bytes) {
        return pvtu::read(path, &bytes);
    }
    let parsed = match FileFormat::of(path, &bytes)? {
        FileFormat::Vtu => vtu::parse(&bytes),
        FileFormat::LegacyVtk => vtk::parse(&bytes),
        _ => return parse_mesh(path, &bytes).map(MeshWithFields::without_fields),
    };
    parsed.map_err(|fault| fault.locate(path, &bytes))
}

/// Writes a mesh by its extension: `.msh` (Gmsh 2.2 ASCII; [`gmsh::write`] has the other forms),
/// `.su2` or `.vtu`. The file appears under its name only when it is complete.
///
/// # Errors
/// Another extension; a group name that the format cannot represent; the file cannot be written.
pub fn write_mesh(path: &Path, mesh: &RawMesh) -> Result<(), MeshFileError> {
    match extension(path).as_str() {
        "msh" => gmsh::write(path, mesh, gmsh::GmshFormat::Ascii22),
        "su2" => su2::write(path, mesh),
        "vtu" => vtu::write(path, &vtu::VtuData::of_mesh(mesh)),
        _ => {
            let extension = extension(path);
            Err(file_error(path, MeshFileProblem::UnwritableFormat { extension }))
        }
    }
}

/// The content of a file.
fn load(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    std::fs::read(path).map_err(|error| file_error(path, error))
}

/// Writes a file under a temporary name beside it, then renames it: it appears under its name when complete. `write`
/// writes the file of a path.
///
/// # Errors
/// Those of `write` and of the system.
pub fn write_complete(
    path: &Path,
    write: impl FnOnce(&Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    write(Path::new(&partial))?;
    std::fs::rename(&partial, path)
}

/// Writes a file of these bytes.
fn save(path: &Path, bytes: &[u8]) -> Result<(), MeshFileError> {
    save_parts(path, [bytes].into_iter())
}

/// Writes a file of these pieces.
fn save_parts<'a>(
    path: &Path,
    mut parts: impl Iterator<Item = &'a [u8]>,
) -> Result<(), MeshFileError> {
    let write = |partial: &Path| {
        let mut file = std::fs::File::create(partial)?;
        parts.try_for_each(|part| file.write_all(part))
    };
    write_complete(path, write).map_err(|error| file_error(path, error))
}
