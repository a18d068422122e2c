//! Flow and heat on unstructured meshes, on the CPU or the GPU.

pub mod backend;
pub mod bench;
pub mod case;
pub mod diffusion;
pub mod expected;
pub mod expression;
pub mod functions;
pub mod heat;
pub mod incompressible;
pub mod io;
pub mod linear;
pub mod mesh;
pub mod mesh_source;
pub mod monitor;
pub mod operators;
pub mod real;
pub mod simulation;
pub mod summary;
pub mod time;
pub mod validate;
