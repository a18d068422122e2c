//! Why a run cannot begin or go on.

use super::initial_error::InitialError;
use crate::backend::BackendError;
use crate::case::CaseError;
use crate::io::checkpoint::CheckpointError;
use crate::io::csv::{CsvError, short_number};
use crate::io::picture::PictureError;
use crate::linear::LinearError;
use crate::mesh::files::MeshFileError;
use crate::mesh::{CellName, MeshError};
use crate::mesh_source::MeshSourceError;
use crate::monitor::MonitorError;
use karman_adapt::AdaptError;
use std::path::PathBuf;
use thiserror::Error;

fn listed(components: &[(usize, CellName)]) -> String {
    let name = |(cells, first): &(usize, CellName)| match cells {
        1 => format!("1 cell, {first}"),
        cells => format!("{cells} cells, the first {first}"),
    };
    components.iter().map(name).collect::<Vec<_>>().join("; ")
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
    Equation(Box<dyn std::error::Error + Send + Sync>),
    /// The adaptation of the mesh.
    #[error("[adapt]: {0}")]
    Adapt(#[from] AdaptError),
    /// A metric of another dimension.
    #[error("[adapt]: `metric` has {found} entries; a {dimension}D mesh needs {expected}")]
    MetricEntries {
        /// Entries of the case.
        found: usize,
        /// Entries needed.
        expected: usize,
        /// 2 or 3.
        dimension: usize,
    },
    /// The linear solver.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The backend.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The result that `[initial] from` names.
    #[error(transparent)]
    Initial(#[from] InitialError),
    /// A probe or a group of patches.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// A table of results.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A picture.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A field that only 2D meshes have.
    #[error("the field `{name}` exists on 2D meshes only, this mesh is 3D")]
    Only2d {
        /// Its name.
        name: String,
    },
    /// A third coordinate or component in a case of a 2D mesh.
    #[error(
        "{what}: the third number is {value}, but the mesh is 2D; x and y of the case are the coordinates \
         in the plane of the mesh, and the third number is 0 or left out"
    )]
    ThirdComponent {
        /// The owner of the number.
        what: String,
        /// The number.
        value: f64,
    },
    /// Connected components of a mesh on which no condition fixes the level of the solution.
    #[error(
        "{}: {}{}. It needs {remedy}{}", match components {
            1 => format!("the mesh is a single cell, and nothing fixes its {quantity}"),
            _ => format!(
                "the mesh has {components} connected components that share no face, and nothing fixes the \
                 {quantity} of {count} of them"
            ),
        },
        listed(singular),
        if *count > singular.len() { "; and others" } else { "" },
        if *components > 1 { ", or to share nodes with the rest, or to be left out of the mesh" } else { "" }
    )]
    SingularComponents {
        /// Number of components of the mesh.
        components: usize,
        /// Number of singular components.
        count: usize,
        /// Number of cells and first cell of the smallest of these.
        singular: Vec<(usize, CellName)>,
        /// The quantity without a level.
        quantity: &'static str,
        /// The condition that would fix it.
        remedy: &'static str,
    },
    /// A case that several ranks do not compute.
    #[error("ranks = {ranks}: {reason}")]
    Ranks {
        /// Number of ranks.
        ranks: usize,
        /// The reason, and what to choose.
        reason: String,
    },
    /// A field the equation lacks.
    #[error("there is no field `{name}`; there is {known}")]
    NoField {
        /// The name.
        name: String,
        /// The fields of the equation.
        known: String,
    },
    /// The series of fields to be continued by a restart is not of a run of karman.
    #[error(
        "{}: entry {number} is `{found}`, not `{expected}`, so a restart cannot continue the \
         series; move it away or choose another output directory", path.display()
    )]
    Series {
        /// The PVD file.
        path: PathBuf,
        /// The entry, from 0.
        number: usize,
        /// The file of the entry.
        found: String,
        /// The expected file.
        expected: String,
    },
    /// Another run in progress has locked the output directory.
    #[error(
        "another run{} writes to {}: wait for its end, or choose another [output] directory",
        if process.is_empty() { String::new() } else { format!(", process {process},") },
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process id of that run, if known.
        process: String,
    },
    /// A file that the run reads would be removed or replaced by its results.
    #[error(
        "`{key}` reads {}, which lies in the output directory {} under the name of a result: the run would remove it. Move \
         or rename the file, or choose another [output] directory", path.display(), directory.display()
    )]
    InputAmongResults {
        /// The key of the case.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The output directory.
        directory: PathBuf,
    },
    /// A checkpoint at or after the last iteration of a steady case.
    #[error(
        "the checkpoint {} is of iteration {iterations}, and [steady] max_iterations = {max_iterations} counts from the start: \
         allow more, or choose an earlier checkpoint", path.display()
    )]
    AfterLastIteration {
        /// The checkpoint.
        path: PathBuf,
        /// Its iteration.
        iterations: usize,
        /// The bound of the case.
        max_iterations: usize,
    },
    /// A checkpoint after the final time of the case.
    #[error(
        "the checkpoint {} is at t = {}, after the end t = {} of the case: choose a later end, or an earlier checkpoint",
        path.display(), short_number(*time), short_number(*end)
    )]
    AfterEnd {
        /// The checkpoint.
        path: PathBuf,
        /// Its time.
        time: f64,
        /// The final time.
        end: f64,
    },
    /// The plane of a picture does not intersect the mesh.
    #[error(
        "[output] picture: the plane {axis} = {at} does not intersect the mesh, which spans {axis} from {} to {}",
        short_number(bounds[0]), short_number(bounds[1])
    )]
    Plane {
        /// The axis normal to it.
        axis: &'static str,
        /// Its coordinate.
        at: f64,
        /// Lowest and highest coordinate of the mesh.
        bounds: [f64; 2],
    },
    /// A steady heat case without a solution.
    #[error(
        "No steady solution exists: {}, {} and no temperature is fixed. Add a temperature or convection, \
         or [time].", power(*entering, "enters"), power(*leaving, "leaves")
    )]
    NoSteadySolution {
        /// Heat added through boundary and sources, in W.
        entering: f64,
        /// Heat removed.
        leaving: f64,
    },
    /// A file of results.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
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
