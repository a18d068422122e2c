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
    /// A cell is neither a triangle nor a tetrahedron.
    #[error("{count} cells are no {simplices}; only meshes of {simplices} can be adapted")]
    Elements {
        /// Number of such cells.
        count: usize,
        /// The shape required.
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
