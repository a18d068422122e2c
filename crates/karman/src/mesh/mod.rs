//! Unstructured meshes: connectivity, geometry, numbering, generators and checks.
pub mod cell_shape;
pub mod raw;
pub use cell_shape::CellShape;
pub use raw::{Elements, RawMesh};
