//! Incompressible flow: ∂u/∂t + u·∇u = −∇p + ∇·(ν ∇u) + s, ∇·u = 0, p the pressure over the density.
//!
//! Two arrangements. Collocated: velocity and pressure in the cells, fluxes at the faces by momentum
//! interpolation, the pressure by incremental projection; second order on any mesh. Staggered: fluxes at the
//! faces are the unknowns, or the potential they derive from; second order on rectangular meshes, first on
//! others. Sources: Menon's thesis, ch. 7;
//! Kamakolanu's thesis, §6.3; Dalal, Eswaran & Biswas, Numer. Heat Transfer B 54 (2008) 238.

mod at_rest;
mod balance;
mod collocated;
mod component;
mod conditions;
mod error;
mod faces;
pub mod flow;
pub mod forces;
pub mod kernels;
pub mod limits;
mod outflow;
mod pressure;
mod probing;
mod rhie_chow;
mod rk3;
pub mod scheme;
mod staggered;
mod state;
mod statistics;
mod systems;
pub mod thermal;
mod traction;
mod transport;

pub use conditions::{FlowCondition, PrescribedVector};
pub use error::IncompressibleError;
pub use flow::{Flow, StepReport};
pub use forces::{Load, LoadedFaces};
pub use kernels::Convection;
pub use probing::Field;
pub use scheme::{PressureCorrection, Scheme};
pub use state::State;
pub use systems::StepSystem;
pub use thermal::ThermalProblem;

use crate::diffusion::Prescribed;
use crate::linear::Params;
use std::sync::Arc;

/// A flow as posed.
pub struct Problem {
    /// Kinematic viscosity ν > 0; 0 where the scheme in time is explicit.
    pub viscosity: f64,
    /// Acceleration by a body force, in each cell.
    pub source: PrescribedVector,
    /// One condition a patch, in the order of the mesh's patches.
    pub conditions: Vec<FlowCondition>,
    /// The velocity at the start; it is made free of divergence.
    pub velocity: PrescribedVector,
    /// The pressure at the start.
    pub pressure: Arc<dyn Prescribed>,
    /// A temperature that the flow carries.
    pub thermal: Option<ThermalProblem>,
}

/// Where the unknowns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Velocity and pressure in the cells.
    Collocated,
    /// Fluxes at the faces, pressure in the cells: the classical fractional step.
    Staggered,
    /// Fluxes at the faces that have a potential on the edges: the exact fractional step.
    Exact,
}

/// How a flow is computed.
#[derive(Clone, Debug)]
pub struct Numerics {
    /// Where the unknowns are.
    pub arrangement: Arrangement,
    /// How velocity is carried.
    pub convection: Convection,
    /// How time advances.
    pub scheme: Scheme,
    /// What the projection adds to the pressure.
    pub pressure_correction: PressureCorrection,
    /// How often the pressure is solved again with the correction of its own fluxes.
    pub nonorthogonal_correctors: usize,
    /// The solver of the pressure.
    pub pressure: Params,
    /// The solver of each component of the velocity.
    pub momentum: Params,
}

#[cfg(test)]
mod tests;
