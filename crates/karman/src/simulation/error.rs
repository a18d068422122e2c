//! Why a run cannot begin or go on.

use crate::backend::BackendError;
use crate::case::CaseError;
use crate::heat::HeatError;
use crate::io::MeshFileError;
use crate::io::checkpoint::CheckpointError;
use crate::io::csv::CsvError;
use crate::io::picture::PictureError;
use crate::linear::LinearError;
use crate::mesh::MeshError;
use crate::mesh_source::MeshSourceError;
use crate::monitor::MonitorError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a run cannot begin or go on.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The case does not fit its mesh.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The mesh, its file or its generator.
    #[error(transparent)]
    MeshSource(#[from] MeshSourceError),
    /// The geometry of the mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A file of fields.
    #[error(transparent)]
    Fields(#[from] MeshFileError),
    /// The equation.
    #[error(transparent)]
    Heat(#[from] HeatError),
    /// The linear solver.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A probe or a group of patches.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// A table of results.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A picture.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A section whose equation cannot be run.
    #[error("[{0}] cannot be run by this version")]
    Unavailable(&'static str),
    /// A field the equation lacks.
    #[error("there is no field `{name}`; there is {known}")]
    NoField {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// The series of fields that a restart is to continue was not left by a run.
    #[error(
        "{}: entry {number} is `{found}`, not `{expected}`, so a restart cannot continue the \
         series; move it away or choose another output directory", path.display()
    )]
    Series {
        /// The PVD file.
        path: PathBuf,
        /// The entry, from 0.
        number: usize,
        /// The file it names.
        found: String,
        /// The file it should name.
        expected: String,
    },
    /// A file of results.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}
