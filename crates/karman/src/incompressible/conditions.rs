//! What a patch does to a flow.

use crate::diffusion::{Condition, Prescribed};
use std::sync::Arc;

/// A vector given at any place and time.
pub type PrescribedVector = [Arc<dyn Prescribed>; 3];

/// The condition of one patch.
#[derive(Clone)]
pub enum FlowCondition {
    /// The velocity is given: a wall at rest or in motion, an inlet.
    Velocity(PrescribedVector),
    /// Nothing crosses and nothing drags: a slip wall, a plane of symmetry.
    Slip,
    /// The pressure is given and the velocity has no gradient along the normal. What flows back in
    /// brings no momentum with it.
    Outlet(Arc<dyn Prescribed>),
    /// The same where flow may enter: it brings the momentum of the cell it enters.
    Open(Arc<dyn Prescribed>),
    /// ∂u/∂t + U ∂u/∂n = 0, U the mean speed through the patch.
    ConvectiveOutlet,
}

impl FlowCondition {
    /// Whether the pressure at the face is given.
    pub fn holds_pressure(&self) -> bool {
        matches!(self, FlowCondition::Outlet(_) | FlowCondition::Open(_))
    }

    /// What it does to component `k` of the velocity. Where the value follows from the flow it is 0 here.
    pub(super) fn of_velocity(&self, k: usize) -> Condition {
        match self {
            FlowCondition::Velocity(value) => Condition::Temperature(value[k].clone()),
            FlowCondition::Slip | FlowCondition::ConvectiveOutlet => {
                Condition::Temperature(Arc::new(0.0))
            }
            FlowCondition::Outlet(_) | FlowCondition::Open(_) => Condition::Insulated,
        }
    }

    /// What it does to the pressure.
    pub(super) fn of_pressure(&self) -> Condition {
        match self {
            FlowCondition::Outlet(value) | FlowCondition::Open(value) => {
                Condition::Temperature(value.clone())
            }
            _ => Condition::Extrapolated,
        }
    }
}
