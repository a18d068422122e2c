//! Why a run cannot begin or go on.

use crate::backend::BackendError;
use crate::case::CaseError;
use crate::heat::HeatError;
use crate::incompressible::IncompressibleError;
use crate::io::checkpoint::CheckpointError;
use crate::io::csv::{CsvError, short_number};
use crate::io::picture::PictureError;
use crate::linear::LinearError;
use crate::mesh::files::MeshFileError;
use crate::mesh::{CellName, MeshError};
use crate::mesh_source::MeshSourceError;
use crate::monitor::MonitorError;
use std::path::PathBuf;
use thiserror::Error;

fn listed(pieces: &[(usize, CellName)]) -> String {
    let name = |(cells, first): &(usize, CellName)| match cells {
        1 => format!("1 cell, {first}"),
        cells => format!("{cells} cells, the first {first}"),
    };
    pieces.iter().map(name).collect::<Vec<_>>().join("; ")
}

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
    /// The flow.
    #[error(transparent)]
    Incompressible(#[from] IncompressibleError),
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
    /// Something the case may ask for that this version lacks.
    #[error("{what} is not available in this version")]
    NotAvailable {
        /// What.
        what: String,
    },
    /// A field that only plane meshes have.
    #[error("the field `{name}` is for plane meshes alone, this one is in space")]
    PlaneOnly {
        /// Its name.
        name: String,
    },
    /// A third coordinate or component in a case of a 2D mesh.
    #[error(
        "{what}: the third number is {value}, but the mesh is 2D; x and y of the case are the coordinates \
         in the plane of the mesh, and the third number is 0 or left out"
    )]
    ThirdComponent {
        /// Whose.
        what: String,
        /// The number.
        value: f64,
    },
    /// Pieces of a mesh on which nothing fixes the level of the solution.
    #[error(
        "{}: {}{}. It needs {remedy}{}", match pieces {
            1 => format!("the mesh is a single cell, and nothing fixes its {quantity}"),
            _ => format!(
                "the mesh is in {pieces} pieces that share no face, and nothing fixes the {quantity} of \
                 {count} of them"
            ),
        },
        listed(loose),
        if *count > loose.len() { "; and others" } else { "" },
        if *pieces > 1 { ", or to share nodes with the rest, or to be left out of the mesh" } else { "" }
    )]
    LoosePieces {
        /// How many pieces the mesh has.
        pieces: usize,
        /// How many are loose.
        count: usize,
        /// Cells of the smallest of these, and the first cell of each.
        loose: Vec<(usize, CellName)>,
        /// What has no level.
        quantity: &'static str,
        /// What would fix it.
        remedy: &'static str,
    },
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
    /// The output directory belongs to a run that goes on.
    #[error(
        "another run{} writes to {}: wait for its end, or choose another [output] directory",
        if process.is_empty() { String::new() } else { format!(", process {process},") },
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The number of its process, as far as it is known.
        process: String,
    },
    /// A steady case of heat that has no solution.
    #[error(
        "No steady solution exists: {}, {} and no temperature is fixed. Add a temperature or convection, \
         or [time].", power(*entering, "enters"), power(*leaving, "leaves")
    )]
    NoSteadySolution {
        /// The heat that the boundary and sources let in, in W.
        entering: f64,
        /// The heat that they take out.
        leaving: f64,
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

/// A power in words: `1 W enters`, `nothing leaves`.
fn power(value: f64, verb: &str) -> String {
    if value == 0.0 {
        format!("nothing {verb}")
    } else {
        format!("{} W {verb}", short_number(value))
    }
}
