//! Monitors of a run: values at points and along lines, integrals over patches, means and differences from
//! exact solutions.
//!
//! A value at a point is a short weighted sum over cells or nodes ([`Sampler`]), built once. A probe of a
//! field on a device costs a small matrix product and copies no field to the host.

mod boundary;
mod integrals;
mod interpolation;
mod locate;
mod mesh_interpolation;
mod point_tree;
mod recirculation;
mod sampler;

pub use boundary::{BoundaryRow, rows_at_boundary};
pub use integrals::{FaceGroup, error_norms, field_summary};
pub use locate::{Located, locate};
pub use mesh_interpolation::{FarPoints, MeshInterpolation};
pub use recirculation::{RecirculationZone, recirculation_zone};
pub use sampler::{Sampler, line_points};

use thiserror::Error;

/// Why a monitor cannot be set up.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MonitorError {
    /// A probe outside the mesh.
    #[error("probe \"{name}\" at ({}, {}, {}) is outside the mesh, which spans ({}, {}, {}) to \
             ({}, {}, {})", at[0], at[1], at[2], low[0], low[1], low[2], high[0], high[1], high[2])]
    Outside {
        /// Name of the probe.
        name: String,
        /// Its position.
        at: [f64; 3],
        /// Lowest coordinates of the mesh.
        low: [f64; 3],
        /// Highest coordinates of the mesh.
        high: [f64; 3],
    },
    /// A group names a patch that the mesh lacks.
    #[error(
        "group \"{group}\" names the patch \"{patch}\", which the mesh does not have; it has {known}"
    )]
    NoPatch {
        /// Name of the group.
        group: String,
        /// The patch.
        patch: String,
        /// The patches of the mesh.
        known: String,
    },
}
