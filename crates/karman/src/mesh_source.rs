//! The mesh of a case from its `[mesh]` section: read from a file or generated.

use crate::case::{MeshCase, MeshSource};
use crate::mesh::files::{MeshFileError, read_mesh};
use crate::mesh::generate::GenerateError;
use crate::mesh::{Mesh, MeshError, MeshOptions, RawMesh};
use thiserror::Error;

/// Errors of the mesh of a case.
#[derive(Debug, Error)]
pub enum MeshSourceError {
    /// The file.
    #[error(transparent)]
    File(#[from] MeshFileError),
    /// The generator.
    #[error("cannot generate the mesh: {0}")]
    Generate(#[from] GenerateError),
    /// The mesh itself.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// The mesh of a case as read or generated: not yet scaled or checked.
///
/// # Errors
/// [`MeshSourceError::File`], [`MeshSourceError::Generate`].
pub fn raw_mesh(case: &MeshCase) -> Result<RawMesh, MeshSourceError> {
    Ok(match &case.source {
        MeshSource::File(path) => read_mesh(path)?,
        MeshSource::Generate(generator) => generator.generate()?,
    })
}

/// The mesh of a case, scaled, numbered and connected.
///
/// # Errors
/// [`MeshSourceError`].
pub fn mesh(case: &MeshCase) -> Result<Mesh, MeshSourceError> {
    Ok(Mesh::new(raw_mesh(case)?, &options(case))?)
}

/// Options of the mesh of a case.
pub fn options(case: &MeshCase) -> MeshOptions {
    MeshOptions { scale: case.scale, renumber: case.renumber }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Renumbering;
    use std::path::Path;

    fn parsed(text: &str) -> MeshCase {
        MeshCase::parse(text, Path::new(""), "mesh.toml").unwrap()
    }

    #[test]
    fn every_generator_of_a_case_generates_its_mesh() {
        for (text, dimension, patches) in [
            ("box]\nsize = [2.0, 1.0]\ncells = [4, 3]", 2, 4),
            ("box]\nsize = [1.0, 1.0, 1.0]\ncells = [3, 3, 3]\nelement = \"pyramid\"", 3, 6),
            (
                "box_with_obstacle]\nsize = [1.0, 1.0]\ncells = [10, 10]\nobstacle_min = [0.4, 0.4]\n\
                 obstacle_max = [0.6, 0.6]",
                2,
                5,
            ),
            (
                "cylinder_in_channel]\nlength = 2.2\nheight = 0.41\ncentre = [0.2, 0.2]\n\
                 diameter = 0.1\ncells_around = 24\ncells_radial = 6\ncells_wake = 12",
                2,
                5,
            ),
            (
                "sphere_in_box]\nsize = [8.0, 8.0, 8.0]\ncentre = [4.0, 4.0, 4.0]\ndiameter = 1.0\n\
                 surface_size = 0.3\nfar_size = 2.0",
                3,
                2,
            ),
            ("annulus]\ninner = 1.0\nouter = 2.0\ncells = [3, 12]", 2, 2),
        ] {
            let case = parsed(&format!("[mesh.generate.{text}\n"));
            let mesh = mesh(&case).unwrap();
            assert_eq!((mesh.dimension, mesh.patches.len()), (dimension, patches), "{text}");
        }
    }

    #[test]
    fn scale_and_numbering_are_those_of_the_case() {
        let generate = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [2, 2]\n";
        for (word, renumber) in [
            ("auto", Renumbering::Auto),
            ("none", Renumbering::None),
            ("rcm", Renumbering::Rcm),
            ("hilbert", Renumbering::Hilbert),
        ] {
            let case = parsed(&format!("[mesh]\nscale = 3.0\nrenumber = \"{word}\"\n{generate}"));
            assert_eq!(options(&case), MeshOptions { scale: 3.0, renumber });
            let mesh = mesh(&case).unwrap();
            let x = mesh.points.iter().map(|point| point[0]).fold(0.0, f64::max);
            assert_eq!(x, 3.0);
        }
    }

    #[test]
    fn errors_of_file_generator_and_mesh_are_passed_on() {
        let refused = |text: &str| mesh(&parsed(text)).unwrap_err().to_string();
        let ring = "[mesh.generate.annulus]\ninner = 1.0\nouter = 2.0\ncells = [3, 2]\n";
        insta::assert_snapshot!(
            refused(ring),
            @"cannot generate the mesh: cells = 2: from 3 to 2097151 cells are needed"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.msh");
        std::fs::write(&path, "not a mesh").unwrap();
        let message = refused(&format!("[mesh]\nfile = {path:?}\n"));
        assert!(message.starts_with(&path.display().to_string()), "{message}");
    }
}
