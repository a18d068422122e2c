//! Discrete calculus on unstructured meshes: incidence operators (exact in integers), reconstructions
//! between faces and cells, gradients. Every operator is one entity function per result, by gather.

pub mod gradient;
pub mod incidence;
pub mod interpolate;
pub mod laplacian;
pub mod least_squares;
pub mod neighbours;
mod topology;

pub use laplacian::{ComposedLaplacian, Laplacian};
pub use least_squares::LeastSquares;
pub use topology::{EdgeIncidence, FaceCells, Incidence, MeshGeometry};

#[cfg(test)]
mod tests;
