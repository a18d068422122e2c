//! Errors of adaptation.

use karman_backend::BackendError;
use karman_mesh::files::MeshFileError;
use karman_mesh::{MeshError, Place};
use std::path::PathBuf;

/// A mesh or metric that cannot be adapted.
#[derive(Debug, thiserror::Error)]
pub enum AdaptError {
    /// The mesh is invalid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A mesh that cannot be generated.
    #[error(transparent)]
    Generate(#[from] karman_mesh::generate::GenerateError),
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// No cell is left to adapt.
    #[error("{count} cells are no {simplices} and {frozen} are frozen: none is left to adapt")]
    Elements {
        /// Number of cells of other shapes.
        count: usize,
        /// Number of further cells that are frozen.
        frozen: usize,
        /// The shape that is adapted.
        simplices: &'static str,
    },
    /// A mesh with other cells than simplices that are not those of the mesh before.
    #[error(
        "{count} cells are no {simplices} and were not kept: fields cannot be transferred to them"
    )]
    Shapes {
        /// Number of such cells.
        count: usize,
        /// The shape of the others.
        simplices: &'static str,
    },
    /// A periodic pair of patches.
    #[error("the mesh has periodic patches, which adaptation does not keep")]
    Periodic,
    /// The metric at a vertex is not positive definite.
    #[error("the metric at {place} is not positive definite: its eigenvalues are {}, {} and {}", .eigenvalues[0], .eigenvalues[1], .eigenvalues[2])]
    NotPositive {
        /// The place.
        place: Place,
        /// Eigenvalues of the tensor.
        eigenvalues: [f64; 3],
    },
    /// A field of tensors with a number of components that no metric has.
    #[error(
        "a metric of {dimension}D has {}, {found} given",
        if *dimension == 2 {
            "3 components (xx, xy, yy), 4 or 9 (row by row) or 6 (xx, yy, zz, xy, yz, xz)"
        } else {
            "6 components (xx, yy, zz, xy, yz, xz) or 9 (row by row)"
        }
    )]
    Components {
        /// Their number.
        found: usize,
        /// 2 or 3.
        dimension: usize,
    },
    /// A tensor that is not symmetric.
    #[error("the metric at {place} is not symmetric: {} and {} in its places (i, j) and (j, i)", .entries[0], .entries[1])]
    NotSymmetric {
        /// The place.
        place: Place,
        /// The two entries.
        entries: [f64; 2],
    },
    /// A file of results.
    #[error(transparent)]
    File(#[from] MeshFileError),
    /// A result on a mesh of another dimension.
    #[error("the mesh of {} is {found}D, the mesh to adapt {dimension}D", path.display())]
    OtherDimension {
        /// The file.
        path: PathBuf,
        /// Its dimension.
        found: usize,
        /// That of the mesh to adapt.
        dimension: usize,
    },
    /// A metric in cells.
    #[error("{}: `{name}` has values in cells; a metric has values at nodes", path.display())]
    InCells {
        /// The file.
        path: PathBuf,
        /// The field.
        name: String,
    },
    /// Tensors of a file that are no metrics.
    #[error("{}, `{name}`: {reason}", path.display())]
    Tensors {
        /// The file.
        path: PathBuf,
        /// The field.
        name: String,
        /// The first fault.
        reason: Box<AdaptError>,
    },
    /// A parameter out of its range.
    #[error("{key} = {value}: {reason}")]
    Value {
        /// The parameter.
        key: &'static str,
        /// Its value.
        value: f64,
        /// The values required.
        reason: &'static str,
    },
}
