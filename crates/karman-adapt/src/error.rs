//! Errors of adaptation.

use karman_backend::BackendError;
use karman_mesh::{MeshError, Place};

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
    /// Fields are transferred between meshes of simplices.
    #[error(
        "{count} cells are no {simplices}; fields are transferred between meshes of {simplices} alone"
    )]
    Shapes {
        /// Number of cells of other shapes.
        count: usize,
        /// The shape of such meshes.
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
