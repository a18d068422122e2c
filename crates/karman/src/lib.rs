//! Flow and heat on unstructured meshes, on the CPU or the GPU.
pub mod backend;
pub mod linear;
pub mod mesh;
pub mod real;
