//! The finite-volume library: interpolation to faces, gradients and convection of fields of cells, for any equation.
//!
//! Kernels take a mesh and its fields as groups of views ([`mesh_view`]); an entity function reads like its formula.

pub mod convection;
pub mod gradient;
pub mod interpolation;
pub mod mesh_view;

pub use convection::Convection;
pub use mesh_view::{
    CellFaces, CellField, DiffusiveFaces, FaceView, VectorField, Vectors, VelocityField,
};
