//! Why fields cannot be taken from a result on another mesh.

use crate::io::csv::short_number;
use crate::mesh::MeshError;
use crate::mesh::files::MeshFileError;
use std::path::PathBuf;
use thiserror::Error;

/// Why fields cannot be taken from a result.
#[derive(Debug, Error)]
pub enum InitialError {
    /// The file.
    #[error("[initial] from: {0}")]
    File(#[from] MeshFileError),
    /// A series without an entry.
    #[error("[initial] from: {} is a series without a file", path.display())]
    Empty {
        /// The series.
        path: PathBuf,
    },
    /// The mesh of the result.
    #[error("[initial] from: the mesh of {}: {reason}", path.display())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: Box<MeshError>,
    },
    /// A result of another dimension.
    #[error("[initial] from: {} is a result in {found}D, the mesh of the case is {expected}D", path.display())]
    Dimension {
        /// The file.
        path: PathBuf,
        /// Its dimension.
        found: usize,
        /// That of the case.
        expected: usize,
    },
    /// Fields that neither the result nor `[initial]` has.
    #[error(
        "[initial] from: {} has no `{}`; it has {}. Give the missing fields in [initial], or write them with `fields` of \
         [output]", path.display(), missing.join("`, `"), listed(known)
    )]
    NoFields {
        /// The file.
        path: PathBuf,
        /// The missing fields.
        missing: Vec<&'static str>,
        /// The fields of the file.
        known: Vec<String>,
    },
    /// A field with too few components.
    #[error("[initial] from: `{name}` of {} has {found} components, the case needs {expected}", path.display())]
    Components {
        /// The file.
        path: PathBuf,
        /// The field.
        name: &'static str,
        /// Its components.
        found: usize,
        /// Components of the field in the case.
        expected: usize,
    },
    /// A value that is not a number.
    #[error("[initial] from: `{name}` of {} is {value} in {entity} {number}", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The field.
        name: &'static str,
        /// The value.
        value: f64,
        /// "cell" or "node".
        entity: &'static str,
        /// Its number in the file.
        number: usize,
    },
    /// Points of the mesh beyond the result.
    #[error(
        "[initial] from: {count} of {total} {what} lie beyond the mesh of {} by more than the diameter of its nearest cell, \
         the farthest at ({}, {}, {}), {} m from the centre of that cell; the result must cover the mesh of the case",
        path.display(), short_number(point[0]), short_number(point[1]), short_number(point[2]),
        short_number(*distance)
    )]
    Beyond {
        /// The file.
        path: PathBuf,
        /// Their number.
        count: usize,
        /// Number of all points.
        total: usize,
        /// "cell centres" or "nodes".
        what: &'static str,
        /// The farthest.
        point: [f64; 3],
        /// Its distance from the centre of the nearest cell.
        distance: f64,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "no field".to_owned() } else { format!("`{}`", names.join("`, `")) }
}
