//! Flow and heat on unstructured meshes, on the CPU or the GPU.
pub mod backend;
pub mod bench;
pub mod case;
pub mod expression;
pub mod functions;
pub mod mesh;
pub mod real;
