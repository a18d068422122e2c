//! Boundary conditions of compressible flow, patch by patch.

use super::boundary::ExteriorState;
use crate::finite_volume::Prescribed;
use std::sync::Arc;

/// Density, velocity and pressure.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedState<V> {
    /// ρ, kg/m³.
    pub density: V,
    /// u, m/s.
    pub velocity: [V; 3],
    /// p, Pa.
    pub pressure: V,
}

impl<V> PrescribedState<V> {
    /// The state with each of its values as `f` gives it.
    pub fn map<W>(&self, f: impl Fn(&V) -> W) -> PrescribedState<W> {
        PrescribedState {
            density: f(&self.density),
            velocity: self.velocity.each_ref().map(&f),
            pressure: f(&self.pressure),
        }
    }

    /// ρ, u_x, u_y, u_z, p.
    pub fn variables(&self) -> [&V; 5] {
        let [x, y, z] = &self.velocity;
        [&self.density, x, y, z, &self.pressure]
    }
}

/// The condition of one patch; `V` is a prescribed value, as a case or as a solver has it.
#[derive(Clone, Debug, PartialEq)]
pub enum CompressibleBoundaryCondition<V> {
    /// No flow through the wall, no friction: a slip wall, a plane of symmetry.
    Slip,
    /// A wall at rest with friction and without heat flux: viscous flow.
    NoSlip,
    /// A wall at rest of a prescribed temperature, K: viscous flow.
    Isothermal(V),
    /// A prescribed state outside, through the numerical flux: far field, inflow, exact solution.
    State(PrescribedState<V>),
    /// Outflow faster than sound.
    SupersonicOutlet,
    /// A prescribed pressure of outflow below the speed of sound.
    PressureOutlet(V),
}

/// The condition of one patch of a solver.
pub type CompressibleCondition = CompressibleBoundaryCondition<Arc<dyn Prescribed>>;

impl<V> CompressibleBoundaryCondition<V> {
    /// The condition with each of its values as `f` gives it.
    pub fn map<W>(&self, f: impl Fn(&V) -> W) -> CompressibleBoundaryCondition<W> {
        use CompressibleBoundaryCondition as Condition;
        match self {
            Condition::Slip => Condition::Slip,
            Condition::NoSlip => Condition::NoSlip,
            Condition::Isothermal(temperature) => Condition::Isothermal(f(temperature)),
            Condition::State(state) => Condition::State(state.map(f)),
            Condition::SupersonicOutlet => Condition::SupersonicOutlet,
            Condition::PressureOutlet(pressure) => Condition::PressureOutlet(f(pressure)),
        }
    }

    /// What lies outside the faces.
    pub fn exterior(&self) -> ExteriorState {
        match self {
            CompressibleBoundaryCondition::Slip => ExteriorState::Reflected,
            CompressibleBoundaryCondition::NoSlip => ExteriorState::NoSlip,
            CompressibleBoundaryCondition::Isothermal(_) => ExteriorState::Isothermal,
            CompressibleBoundaryCondition::State(_) => ExteriorState::Prescribed,
            CompressibleBoundaryCondition::SupersonicOutlet => ExteriorState::Extrapolated,
            CompressibleBoundaryCondition::PressureOutlet(_) => ExteriorState::Pressure,
        }
    }

    /// The prescribed variables among ρ, u_x, u_y, u_z, p, with their numbers.
    pub fn prescribed(&self) -> Vec<(usize, &V)> {
        match self {
            CompressibleBoundaryCondition::State(state) => {
                state.variables().into_iter().enumerate().collect()
            }
            CompressibleBoundaryCondition::PressureOutlet(pressure) => vec![(4, pressure)],
            // The temperature of the wall in place of its density.
            CompressibleBoundaryCondition::Isothermal(temperature) => vec![(0, temperature)],
            CompressibleBoundaryCondition::Slip
            | CompressibleBoundaryCondition::NoSlip
            | CompressibleBoundaryCondition::SupersonicOutlet => vec![],
        }
    }
}
