//! Incompressible flow: ∂u/∂t + ∇·(u u) = −∇p + ∇·(ν ∇u) + s − β (T − T₀) g, ∇·u = 0, p the pressure over the density.
//!
//! Three arrangements of unknowns. Collocated: velocity and pressure in the cells, fluxes at the faces by momentum
//! interpolation, the pressure by incremental projection; second order on any mesh. Staggered and exact: the unknowns
//! are the fluxes at the faces, and their potential; second order on rectangular meshes, first order on
//! others. Sources: Menon's thesis, ch. 7;
//! Kamakolanu's thesis, §6.3; Dalal, Eswaran & Biswas, Numer. Heat Transfer B 54 (2008) 238.

pub mod acceleration;
mod boundary;
mod collocated;
mod conditions;
mod derived;
pub mod descriptor;
mod entries;
mod error;
mod flow;
mod flow_dependent_pressure;
pub mod forces;
mod gathered_flux;
mod implicit_transport;
pub mod kernels;
pub mod limits;
pub mod local_steps;
mod mass_correction;
mod mean_velocity;
mod mean_velocity_control;
pub mod moments;
mod monitors;
mod outflow;
mod outflow_stencil;
mod part;
mod places;
mod poisson_system;
mod pressure;
mod pressure_conditions;
mod pressure_setup;
mod probing;
mod projection;
mod quantity;
mod reference_speed;
mod report;
mod residuals;
mod rk3;
pub mod scheme;
pub mod solver;
mod stage;
mod staggered;
mod state;
mod statistics;
mod step;
mod step_bounds;
mod stepper;
mod surface;
mod surface_divergence;
mod systems;
pub mod thermal;
mod time_step;
mod traction;
mod transport_equation;
mod transport_residual;
mod transport_setup;
mod transported_field;
mod upwind_gradient;
pub mod wall_pressure;

pub use crate::finite_volume::Convection;
pub use conditions::{
    Direction, FaceVelocity, FlowBoundaryCondition, FlowCondition, PrescribedVector,
};
pub use derived::{DerivedBuffers, DerivedField};
pub use descriptor::DESCRIPTOR;
pub use entries::{Entries, PackedEntries, PartEntries};
pub use error::IncompressibleError;
pub use forces::{Load, LoadedFaces};
pub use moments::MomentFaces;
pub use part::{FieldArray, Progress};
pub use places::{PartPlaces, Place};
pub use probing::Field;
pub use reference_speed::ReferenceSpeed;
pub use report::StepReport;
pub use residuals::ScaledResiduals;
pub use scheme::{ConvectionTreatment, PressureCorrection, TimeScheme};
pub use solver::IncompressibleSolver;
pub use state::State;
pub use step::StepSystem;
pub use thermal::ThermalProblem;

use crate::finite_volume::Prescribed;
use crate::linear::Params;
use karman_macros::Keyword;
use std::sync::Arc;

/// A flow problem.
pub struct Problem {
    /// Kinematic viscosity ν > 0; 0 is allowed with an explicit time scheme.
    pub viscosity: f64,
    /// Body force per unit of mass.
    pub source: PrescribedVector,
    /// One condition per patch, in the order of the mesh's patches.
    pub conditions: Vec<FlowCondition>,
    /// The initial velocity; it is projected onto divergence-free fields.
    pub velocity: PrescribedVector,
    /// The initial pressure.
    pub pressure: Arc<dyn Prescribed>,
    /// A temperature transported by the flow.
    pub thermal: Option<ThermalProblem>,
}

/// Location of the unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Arrangement {
    /// Velocity and pressure in the cells.
    Collocated,
    /// Normal fluxes at the faces, pressure in the cells.
    Staggered,
    /// Fluxes from a vector potential on the edges, divergence-free without a pressure.
    #[word = "exact_fractional_step"]
    Exact,
}

/// The purpose of a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Its steps.
    Cells,
    /// Its conditions, and what outputs read at the boundary: ranks compute its cells.
    Boundary,
}

/// Numerical method and linear solvers.
#[derive(Clone, Debug)]
pub struct Numerics {
    /// Location of the unknowns.
    pub arrangement: Arrangement,
    /// Interpolation of the convected velocity.
    pub convection: Convection,
    /// Level of the convected quantities.
    pub convection_treatment: ConvectionTreatment,
    /// Time scheme.
    pub time_scheme: TimeScheme,
    /// Whether steps are pseudo-time steps towards a steady state: first order, without extrapolation in time.
    pub is_steady: bool,
    /// Update of the pressure by the projection.
    pub pressure_correction: PressureCorrection,
    /// Number of repeated pressure solves with the non-orthogonal correction.
    pub nonorthogonal_correctors: usize,
    /// Linear solver of the pressure.
    pub pressure: Params,
    /// Linear solver of each velocity component and of the temperature.
    pub momentum: Params,
}

#[cfg(test)]
mod tests;
