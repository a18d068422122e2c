//! Boundary conditions of a flow: their keys in a case, and their data.
//!
//! A new condition is a variant with its line in [`FlowBoundaryCondition::KEYS`], [`FlowBoundaryCondition::map`] and
//! [`FlowBoundaryCondition::data`]. Where its values depend on the flow, a kind of [`FaceVelocity`] says so, and
//! `FlowBoundary::update` (`boundary.rs`) sets them at each step.

use crate::finite_volume::{Condition, Prescribed};
use crate::mesh::geometry::norm;
use crate::mesh::{Geometry, Mesh};
use std::sync::Arc;

/// A prescribed vector field of space and time.
pub type PrescribedVector = [Arc<dyn Prescribed>; 3];

/// The condition of one patch; `V` is a prescribed value, as a case or as a solver has it.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowBoundaryCondition<V> {
    /// Dirichlet velocity: a wall at rest or in motion, an inlet.
    Velocity([V; 3]),
    /// Dirichlet velocity along the inward normal of each face, of this flow rate into the domain through the patch:
    /// u = −Q n / A with A the area of the patch. Negative: out of the domain.
    FlowRateInlet(V),
    /// No normal velocity, no shear stress: a slip wall, a plane of symmetry.
    Slip,
    /// Prescribed total pressure p + |u|²/2 of inflow along the normal; prescribed pressure of outflow, ∂u/∂n = 0.
    TotalPressureInlet(V),
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
    /// It is along the inward normal, equal at all faces of the patch, with this flow rate.
    Normal(&'c V),
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
    /// Whether that pressure is the total one of inflow, whose velocity is along the normal.
    pub is_total: bool,
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
    /// A number of a whole patch: it may depend on time, not on place.
    Uniform(&'static str, fn(V) -> FlowBoundaryCondition<V>),
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
            name: "flow_rate_inlet",
            value: KeyValue::Uniform("flow rate", FlowBoundaryCondition::FlowRateInlet),
            units: "m³/s",
            meaning: "An inlet of this flow rate, in 2D in m²/s; it may depend on t, not on x, y, z. The velocity is along \
                      the inward normal of each face, of equal magnitude at all faces of the patch. A negative flow rate \
                      leaves the domain.",
            example: "in.flow_rate_inlet = \"0.2*tanh(t)\"",
        },
        ConditionKey {
            name: "total_pressure_inlet",
            value: KeyValue::Scalar("total pressure", FlowBoundaryCondition::TotalPressureInlet),
            units: "m²/s²",
            meaning: "An inlet of this total pressure p + |u|²/2 over the density: inflow is along the inward normal of \
                      each face and has the pressure value − |u|²/2. Where fluid leaves, the pressure is the value.",
            example: "in.total_pressure_inlet = 0.5",
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
            FlowBoundaryCondition::FlowRateInlet(value) => {
                FlowBoundaryCondition::FlowRateInlet(f(value))
            }
            FlowBoundaryCondition::Slip => FlowBoundaryCondition::Slip,
            FlowBoundaryCondition::TotalPressureInlet(value) => {
                FlowBoundaryCondition::TotalPressureInlet(f(value))
            }
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
            is_total: false,
            backflow_factor: 1.0,
            is_outlet: false,
        };
        let open = |pressure| ConditionData {
            pressure: Some(pressure),
            ..closed(FaceVelocity::ZeroGradient)
        };
        match self {
            FlowBoundaryCondition::Velocity(value) => closed(FaceVelocity::Prescribed(value)),
            FlowBoundaryCondition::FlowRateInlet(value) => closed(FaceVelocity::Normal(value)),
            FlowBoundaryCondition::Slip => closed(FaceVelocity::Tangential),
            FlowBoundaryCondition::TotalPressureInlet(value) => {
                ConditionData { is_total: true, backflow_factor: 0.0, ..open(value) }
            }
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

    /// Whether the velocity at the face is prescribed, as a vector or by a flow rate.
    pub fn prescribes_velocity(&self) -> bool {
        matches!(self.data().velocity, FaceVelocity::Prescribed(_) | FaceVelocity::Normal(_))
    }

    /// The total pressure of inflow, if it is prescribed.
    pub(super) fn total_pressure(&self) -> Option<&V> {
        self.data().pressure.filter(|_| self.data().is_total)
    }

    /// The flow rate, if it is prescribed.
    pub(super) fn flow_rate(&self) -> Option<&V> {
        match self.data().velocity {
            FaceVelocity::Normal(value) => Some(value),
            _ => None,
        }
    }

    /// The prescribed velocity vector, if there is one.
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
        match self.data().velocity {
            FaceVelocity::Prescribed(value) => value.iter().any(|v| v.depends_on_time()),
            FaceVelocity::Normal(flow_rate) => flow_rate.depends_on_time(),
            _ => false,
        }
    }

    /// The condition on component `k` of the velocity; values that depend on the flow are 0 here, and a flow rate is without
    /// its [`normal_factors`].
    pub(super) fn velocity_condition(&self, k: usize) -> Condition {
        match self.data().velocity {
            FaceVelocity::Prescribed(value) => Condition::Dirichlet(value[k].clone()),
            FaceVelocity::Normal(flow_rate) => Condition::Dirichlet(flow_rate.clone()),
            FaceVelocity::Tangential | FaceVelocity::Convected => {
                Condition::Dirichlet(Arc::new(0.0))
            }
            FaceVelocity::ZeroGradient => Condition::ZeroGradient,
        }
    }

    /// The condition on the pressure; values that depend on the flow are 0 here.
    pub(super) fn pressure_condition(&self) -> Condition {
        match self.data().pressure {
            Some(_) if self.data().is_total => Condition::Dirichlet(Arc::new(0.0)),
            Some(value) => Condition::Dirichlet(value.clone()),
            None => Condition::Extrapolated,
        }
    }
}

/// Area Σ|S| of a patch of the mesh.
pub(super) fn patch_area(geometry: &Geometry, faces: std::ops::Range<usize>) -> f64 {
    faces.map(|face| norm(geometry.area_vector_of(face))).fold(0.0, |sum, area| sum + area)
}

/// Factors −n_k / A of the flow rates in component `k` of the velocity, each with the index of its prescribed value.
pub(super) fn normal_factors(
    (mesh, geometry): (&Mesh, &Geometry),
    conditions: &[FlowCondition],
    dirichlet_index: &[u32],
    k: usize,
) -> Vec<(u32, f64)> {
    let inner = mesh.n_interior_faces();
    let patches = mesh.patches.iter().zip(conditions);
    let prescribed = patches.filter(|(_, condition)| condition.flow_rate().is_some());
    let of_patch = |faces: std::ops::Range<usize>| {
        let area = patch_area(geometry, faces.clone());
        faces.map(move |face| {
            let vector = geometry.area_vector_of(face);
            (dirichlet_index[face - inner] - 1, -vector[k] / (norm(vector) * area))
        })
    };
    prescribed.flat_map(|(patch, _)| of_patch(patch.faces.clone())).collect()
}
