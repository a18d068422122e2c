//! Files of results: checkpoints, columns, CSV and pictures. Meshes and fields are [`crate::mesh::files`].

pub mod checkpoint;
pub mod columns;
pub mod csv;
pub mod picture;
