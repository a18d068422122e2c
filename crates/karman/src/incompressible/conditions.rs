//! Boundary conditions of a flow: their keys in a case, and their data.
//!
//! A new condition is a variant with its line in [`FlowBoundaryCondition::KEYS`], [`FlowBoundaryCondition::map`] and
//! [`FlowBoundaryCondition::data`]. Where its values depend on the flow, a kind of [`FaceVelocity`] says so, and
//! `FlowBoundary::update` (`boundary.rs`) sets them at each step.

use crate::finite_volume::{Condition, Prescribed};
use std::sync::Arc;

/// A prescribed vector field of space and time.
pub type PrescribedVector = [Arc<dyn Prescribed>; 3];

/// The condition of one patch; `V` is a prescribed value, as a case or as a solver has it.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowBoundaryCondition<V> {
    /// Dirichlet velocity: a wall at rest or in motion, an inlet.
    Velocity([V; 3]),
    /// No normal velocity, no shear stress: a slip wall, a plane of symmetry.
    Slip,
    /// Prescribed pressure, ∂u/∂n = 0. Backflow brings no momentum.
    PressureOutlet(V),
    /// Prescribed pressure, ∂u/∂n = 0. Backflow brings the momentum of the cell it enters.
    Opening(V),
    /// ∂u/∂t + U ∂u/∂n = 0, U the mean speed through the patch.
    ConvectiveOutlet,
}

/// The condition of one patch of a solver.
pub type FlowCondition = FlowBoundaryCondition<Arc<dyn Prescribed>>;

/// What a condition says of the velocity at its faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaceVelocity<'c, V> {
    /// It is prescribed.
    Prescribed(&'c [V; 3]),
    /// That of the cell without its normal component, extrapolated in time.
    Tangential,
    /// Convected out of the domain at the mean speed through the patch.
    Convected,
    /// ∂u/∂n = 0.
    ZeroGradient,
}

/// The data of a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionData<'c, V> {
    /// The velocity at the faces.
    pub velocity: FaceVelocity<'c, V>,
    /// The prescribed pressure; without one the pressure is extrapolated.
    pub pressure: Option<&'c V>,
    /// Factor of the cell's momentum in backflow.
    pub backflow_factor: f64,
    /// Whether a run warns of backflow.
    pub is_outlet: bool,
}

/// A key of `[boundary]` with a condition.
#[derive(Debug)]
pub struct ConditionKey<V> {
    /// The key.
    pub name: &'static str,
    /// The value of the key, and the condition of a value.
    pub value: KeyValue<V>,
    /// SI unit of the value.
    pub units: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
}

/// The value of a key with a condition; names stand for it in messages.
#[derive(Debug)]
pub enum KeyValue<V> {
    /// `true`, or the key as a word; the condition is made with the value 0.
    Flag(fn(V) -> FlowBoundaryCondition<V>),
    /// A number.
    Scalar(&'static str, fn(V) -> FlowBoundaryCondition<V>),
    /// A vector.
    Vector(&'static str, fn([V; 3]) -> FlowBoundaryCondition<V>),
}

impl<V: Clone + 'static> FlowBoundaryCondition<V> {
    /// The keys of all conditions.
    pub const KEYS: &'static [ConditionKey<V>] = &[
        ConditionKey {
            name: "no_slip",
            value: KeyValue::Flag(|zero| {
                FlowBoundaryCondition::Velocity([zero.clone(), zero.clone(), zero])
            }),
            units: "",
            meaning: "A wall at rest.",
            example: "floor.no_slip = true",
        },
        ConditionKey {
            name: "slip",
            value: KeyValue::Flag(|_| FlowBoundaryCondition::Slip),
            units: "",
            meaning: "A wall without friction.",
            example: "top.slip = true",
        },
        ConditionKey {
            name: "symmetry",
            value: KeyValue::Flag(|_| FlowBoundaryCondition::Slip),
            units: "",
            meaning: "A plane of symmetry.",
            example: "zmax.symmetry = true",
        },
        ConditionKey {
            name: "convective_outlet",
            value: KeyValue::Flag(|_| FlowBoundaryCondition::ConvectiveOutlet),
            units: "",
            meaning: "∂u/∂t + u_m ∂u/∂n = 0 with the mean normal velocity u_m of the patch: vortices leave the domain.",
            example: "out.convective_outlet = true",
        },
        ConditionKey {
            name: "moving_wall",
            value: KeyValue::Vector("[u, v, w]", FlowBoundaryCondition::Velocity),
            units: "m/s",
            meaning: "A wall that moves with this velocity.",
            example: "lid.moving_wall = [1.0, 0.0, 0.0]",
        },
        ConditionKey {
            name: "velocity_inlet",
            value: KeyValue::Vector("[u, v, w]", FlowBoundaryCondition::Velocity),
            units: "m/s",
            meaning: "An inlet with this velocity.",
            example: "in.velocity_inlet = [\"6*y*(1 - y)\", 0.0, 0.0]",
        },
        ConditionKey {
            name: "pressure_outlet",
            value: KeyValue::Scalar("pressure", FlowBoundaryCondition::PressureOutlet),
            units: "m²/s²",
            meaning: "An outlet with this pressure over the density; backflow has zero velocity.",
            example: "out.pressure_outlet = 0.0",
        },
        ConditionKey {
            name: "opening",
            value: KeyValue::Scalar("pressure", FlowBoundaryCondition::Opening),
            units: "m²/s²",
            meaning: "An opening with this pressure over the density, where fluid leaves or enters; backflow has \
                      the velocity of the cell.",
            example: "top.opening = 0.0",
        },
    ];
}

impl<V> FlowBoundaryCondition<V> {
    /// The condition with each of its values as `f` gives it.
    pub fn map<W>(&self, f: impl Fn(&V) -> W) -> FlowBoundaryCondition<W> {
        match self {
            FlowBoundaryCondition::Velocity(value) => {
                FlowBoundaryCondition::Velocity(value.each_ref().map(f))
            }
            FlowBoundaryCondition::Slip => FlowBoundaryCondition::Slip,
            FlowBoundaryCondition::PressureOutlet(value) => {
                FlowBoundaryCondition::PressureOutlet(f(value))
            }
            FlowBoundaryCondition::Opening(value) => FlowBoundaryCondition::Opening(f(value)),
            FlowBoundaryCondition::ConvectiveOutlet => FlowBoundaryCondition::ConvectiveOutlet,
        }
    }

    /// The data of the condition, from which all equations and monitors follow.
    pub fn data(&self) -> ConditionData<'_, V> {
        let closed = |velocity| ConditionData {
            velocity,
            pressure: None,
            backflow_factor: 1.0,
            is_outlet: false,
        };
        let open = |pressure| ConditionData {
            pressure: Some(pressure),
            ..closed(FaceVelocity::ZeroGradient)
        };
        match self {
            FlowBoundaryCondition::Velocity(value) => closed(FaceVelocity::Prescribed(value)),
            FlowBoundaryCondition::Slip => closed(FaceVelocity::Tangential),
            FlowBoundaryCondition::PressureOutlet(value) => {
                ConditionData { backflow_factor: 0.0, is_outlet: true, ..open(value) }
            }
            FlowBoundaryCondition::Opening(value) => open(value),
            FlowBoundaryCondition::ConvectiveOutlet => {
                ConditionData { is_outlet: true, ..closed(FaceVelocity::Convected) }
            }
        }
    }

    /// Whether the pressure at the face is prescribed.
    pub fn prescribes_pressure(&self) -> bool {
        self.data().pressure.is_some()
    }

    /// The prescribed velocity, if there is one.
    pub fn velocity(&self) -> Option<&[V; 3]> {
        match self.data().velocity {
            FaceVelocity::Prescribed(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn is_slip(&self) -> bool {
        matches!(self.data().velocity, FaceVelocity::Tangential)
    }

    pub(super) fn is_convective(&self) -> bool {
        matches!(self.data().velocity, FaceVelocity::Convected)
    }
}

impl FlowCondition {
    /// Whether a prescribed velocity depends on time.
    pub(super) fn has_velocity_in_time(&self) -> bool {
        self.velocity().is_some_and(|value| value.iter().any(|v| v.depends_on_time()))
    }

    /// The condition on component `k` of the velocity; values that depend on the flow are 0 here.
    pub(super) fn velocity_condition(&self, k: usize) -> Condition {
        match self.data().velocity {
            FaceVelocity::Prescribed(value) => Condition::Dirichlet(value[k].clone()),
            FaceVelocity::Tangential | FaceVelocity::Convected => {
                Condition::Dirichlet(Arc::new(0.0))
            }
            FaceVelocity::ZeroGradient => Condition::ZeroGradient,
        }
    }

    /// The condition on the pressure.
    pub(super) fn pressure_condition(&self) -> Condition {
        match self.data().pressure {
            Some(value) => Condition::Dirichlet(value.clone()),
            None => Condition::Extrapolated,
        }
    }
}
