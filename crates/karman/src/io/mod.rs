//! Files that a simulation reads and writes.
pub mod checkpoint;
pub mod csv;
pub mod picture;
