//! Flow and heat on unstructured meshes, on the CPU or the GPU.
pub mod case;
pub mod expression;
pub mod mesh;
