//! Boundary conditions of a flow.

use crate::finite_volume::{Condition, Prescribed};
use std::sync::Arc;

/// A prescribed vector field of space and time.
pub type PrescribedVector = [Arc<dyn Prescribed>; 3];

/// The condition of one patch.
#[derive(Clone)]
pub enum FlowCondition {
    /// Dirichlet velocity: a wall at rest or in motion, an inlet.
    Velocity(PrescribedVector),
    /// No normal velocity, no shear stress: a slip wall, a plane of symmetry.
    Slip,
    /// Prescribed pressure, ∂u/∂n = 0. Backflow brings no momentum.
    PressureOutlet(Arc<dyn Prescribed>),
    /// Prescribed pressure, ∂u/∂n = 0. Backflow brings the momentum of the cell it enters.
    Opening(Arc<dyn Prescribed>),
    /// ∂u/∂t + U ∂u/∂n = 0, U the mean speed through the patch.
    ConvectiveOutlet,
}

impl FlowCondition {
    /// Whether the pressure at the face is prescribed.
    pub fn prescribes_pressure(&self) -> bool {
        matches!(self, FlowCondition::PressureOutlet(_) | FlowCondition::Opening(_))
    }

    /// The condition on component `k` of the velocity; values that depend on the flow are 0 here.
    pub(super) fn velocity_condition(&self, k: usize) -> Condition {
        match self {
            FlowCondition::Velocity(value) => Condition::Dirichlet(value[k].clone()),
            FlowCondition::Slip | FlowCondition::ConvectiveOutlet => {
                Condition::Dirichlet(Arc::new(0.0))
            }
            FlowCondition::PressureOutlet(_) | FlowCondition::Opening(_) => Condition::ZeroGradient,
        }
    }

    /// The condition on the pressure.
    pub(super) fn pressure_condition(&self) -> Condition {
        match self {
            FlowCondition::PressureOutlet(value) | FlowCondition::Opening(value) => {
                Condition::Dirichlet(value.clone())
            }
            _ => Condition::Extrapolated,
        }
    }
}
