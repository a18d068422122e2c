//! Flow and heat on unstructured meshes, on the CPU or the GPU.

pub use karman_backend::real;
pub use {karman_backend as backend, karman_linear as linear, karman_mesh as mesh};

pub mod case;
pub mod compressible;
pub mod descriptor;
pub mod expected;
pub mod expression;
pub mod finite_volume;
pub mod heat;
pub mod incompressible;
pub mod io;
pub mod mesh_source;
pub mod monitor;
pub mod operators;
pub mod simulation;
pub mod summary;
pub mod time;
pub mod validate;
