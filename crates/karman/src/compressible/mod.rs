//! Compressible flow: the Euler equations of a perfect gas on meshes of any elements.
//!
//! ∂q/∂t + ∇·F(q) = 0 for the means q of ρ, ρu and ρE in cells: polynomials of means ([`reconstruction`]), a numerical flux
//! between the states on both sides of each point of a face ([`flux`]), states outside the boundary ([`boundary`]), and
//! Runge–Kutta stages in time.

mod access;
pub mod boundary;
mod boundary_data;
pub mod cell_means;
pub mod conditions;
mod construction;
mod derived;
pub mod descriptor;
mod detection;
pub mod error;
pub mod face_points;
pub mod flux;
mod fused;
mod limiter;
mod loads;
mod node_limiter;
mod on_backend;
mod part;
mod problem;
pub mod reconstruction;
mod residual;
mod share;
mod smooth_facets;
mod solver;
pub mod stage_parts;
mod stages;
pub mod state;
mod statistics;
pub mod steady;
mod traces;
pub mod viscous;
mod wall_normals;
mod whole_mesh;

pub use conditions::{
    CompressibleBoundaryCondition, CompressibleCondition, CompressibleKey, CompressibleKeyValue,
    PrescribedState,
};
pub use derived::CellQuantity;
pub use descriptor::DESCRIPTOR;
pub use error::CompressibleError;
pub use flux::{FluxForm, NumericalFlux};
pub use limiter::Limiter;
pub use loads::{BoundaryLoad, FaceLoads, GatheredLoads, LoadedFaces, PartLoads, of_unit_pressure};
pub use part::Progress;
pub use problem::{CompressibleNumerics, CompressibleProblem, PrescribedFields, ResidualForm};
pub use reconstruction::Reconstruction;
pub use reconstruction::polynomial::WeightPrecision;
pub use solver::{CompressibleSolver, CompressibleStep};
pub use stage_parts::{StagePart, Work};
pub use traces::CellPoints;
pub use whole_mesh::{PartNumbers, WholeMesh};

#[cfg(test)]
mod tests;
