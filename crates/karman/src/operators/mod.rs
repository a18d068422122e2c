//! Discrete calculus on unstructured meshes: incidence operators, exact in integers, and the connectivity they read. Every
//! operator is one entity function per result, by gather.

pub mod incidence;
pub mod neighbours;
mod part;
mod topology;

pub use part::Part;
pub use topology::{EdgeIncidence, FaceCells, Incidence};

#[cfg(test)]
pub(crate) mod tests;
