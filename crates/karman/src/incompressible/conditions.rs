//! Boundary conditions of a flow: their keys in a case, and their data.
//!
//! A new condition is a variant with its line in [`FlowBoundaryCondition::KEYS`], [`FlowBoundaryCondition::map`] and
//! [`FlowBoundaryCondition::data`]. A prescribed velocity is a sum of values with directions; a direction that follows from
//! the shape of the patch is a variant of [`Direction`]. A prescribed pressure is a value and terms in the normal velocity,
//! [`DynamicPressure`]. Where the velocity depends on the flow, a kind of [`FaceVelocity`] says so, and `FlowBoundary::update`
//! (`boundary.rs`) sets it at each step.

use crate::descriptor::{ConditionKey, Entry, KeyValue, Quantity, Sign, ValueTable};
use crate::finite_volume::boundary::WeightedValue;
use crate::finite_volume::{Condition, Prescribed};
use crate::mesh::geometry::norm;
use crate::mesh::{Geometry, Mesh};
use std::ops::Range;
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
    /// Pressure outside and loss coefficient K of a screen, grille or valve: p + K |u|²/2 at outflow, ∂u/∂n = 0;
    /// p − (1 + K) |u|²/2 at inflow from rest, along the normal.
    PressureLossOutlet([V; 2]),
    /// Prescribed pressure, ∂u/∂n = 0. Backflow brings the momentum of the cell it enters.
    Opening(V),
    /// ∂u/∂t + U ∂u/∂n = 0, U the mean speed through the patch.
    ConvectiveOutlet,
}

/// The condition of one patch of a solver.
pub type FlowCondition = FlowBoundaryCondition<Arc<dyn Prescribed>>;

/// What a condition says of the velocity at its faces.
#[derive(Clone, Debug, PartialEq)]
pub enum FaceVelocity<'c, V> {
    /// Σ v d: prescribed values v, each with its direction d.
    Prescribed(Vec<(&'c V, Direction)>),
    /// That of the cell without its normal component, extrapolated in time.
    Tangential,
    /// Convected out of the domain at the mean speed through the patch.
    Convected,
    /// ∂u/∂n = 0.
    ZeroGradient,
}

/// The direction of a prescribed value, with its magnitude, at each face of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The unit vector of an axis.
    Axis(usize),
    /// The inward unit normal of the face over the area of the patch, −n / A.
    InwardOverArea,
}

/// A value of a prescribed velocity with its direction at each face of a patch: `[3][faces]`.
pub(super) type VelocityTerm<'c, V> = (&'c V, [Vec<f64>; 3]);

/// A term k ½ u² of a prescribed pressure where fluid enters or leaves, u the normal velocity of the face. With k ≤ 0 for inflow
/// and k ≥ 0 for outflow the pressure grows with the outflow, and the condition is stable.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicPressure<'c, V> {
    /// Where the term acts.
    pub through: Through,
    /// k is this number,
    pub factor: f64,
    /// times this value.
    pub value: Option<&'c V>,
}

/// Whether fluid enters or leaves the domain through a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// It enters.
    Inflow,
    /// It leaves.
    Outflow,
}

/// The data of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionData<'c, V> {
    /// The velocity at the faces.
    pub velocity: FaceVelocity<'c, V>,
    /// Whether the flow rate through the patch is exact: the global mass correction leaves it.
    pub keeps_flow_rate: bool,
    /// The prescribed pressure; without one the pressure is extrapolated.
    pub pressure: Option<&'c V>,
    /// Terms of the pressure in the normal velocity. With one, the velocity of inflow is along the normal.
    pub dynamic_pressure: Vec<DynamicPressure<'c, V>>,
    /// Factor of the cell's momentum in backflow.
    pub backflow_factor: f64,
    /// Whether a run warns of backflow.
    pub is_outlet: bool,
}

impl<V: Clone + 'static> FlowBoundaryCondition<V> {
    /// The keys of all conditions.
    pub const KEYS: &'static [ConditionKey<V, Self>] = &[
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
            value: KeyValue::Vector(Quantity::new("[u, v, w]"), FlowBoundaryCondition::Velocity),
            units: "m/s",
            meaning: "A wall that moves with this velocity.",
            example: "lid.moving_wall = [1.0, 0.0, 0.0]",
        },
        ConditionKey {
            name: "velocity_inlet",
            value: KeyValue::Vector(Quantity::new("[u, v, w]"), FlowBoundaryCondition::Velocity),
            units: "m/s",
            meaning: "An inlet with this velocity.",
            example: "in.velocity_inlet = [\"6*y*(1 - y)\", 0.0, 0.0]",
        },
        ConditionKey {
            name: "flow_rate_inlet",
            value: KeyValue::Scalar(
                Quantity::new("flow rate").uniform(),
                FlowBoundaryCondition::FlowRateInlet,
            ),
            units: "m³/s",
            meaning: "An inlet of this flow rate, in 2D in m²/s; it may depend on t, not on x, y, z. The velocity is along \
                      the inward normal of each face, of equal magnitude at all faces of the patch. A negative flow rate \
                      leaves the domain.",
            example: "in.flow_rate_inlet = \"0.2*tanh(t)\"",
        },
        ConditionKey {
            name: "total_pressure_inlet",
            value: KeyValue::Scalar(
                Quantity::new("total pressure"),
                FlowBoundaryCondition::TotalPressureInlet,
            ),
            units: "m²/s²",
            meaning: "An inlet of this total pressure p + |u|²/2 over the density: inflow is along the inward normal of \
                      each face and has the pressure value − |u|²/2. Where fluid leaves, the pressure is the value.",
            example: "in.total_pressure_inlet = 0.5",
        },
        ConditionKey {
            name: "pressure_outlet",
            value: KeyValue::Scalar(
                Quantity::new("pressure"),
                FlowBoundaryCondition::PressureOutlet,
            ),
            units: "m²/s²",
            meaning: "An outlet with this pressure over the density; backflow has zero velocity.",
            example: "out.pressure_outlet = 0.0",
        },
        ConditionKey {
            name: "pressure_loss_outlet",
            value: KeyValue::Table(
                ValueTable {
                    section: "boundary.PATCH.pressure_loss_outlet",
                    meaning: "An outlet through a screen, a grille or a valve into surroundings at rest.",
                    entries: &[
                        Entry {
                            name: "pressure",
                            quantity: Quantity::new("pressure"),
                            units: "m²/s²",
                            meaning: "Pressure of the surroundings over the density.",
                            example: "pressure = 0.0",
                        },
                        Entry {
                            name: "coefficient",
                            quantity: Quantity::new("loss coefficient")
                                .with_sign(Sign::NotNegative),
                            units: "",
                            meaning: "Loss coefficient K, at least 0: fluid that leaves with the normal velocity u has \
                                      the pressure of the surroundings + K u²/2, backflow that − (1 + K) u²/2.",
                            example: "coefficient = 1.5",
                        },
                    ],
                },
                |values| {
                    FlowBoundaryCondition::PressureLossOutlet([
                        values[0].clone(),
                        values[1].clone(),
                    ])
                },
            ),
            units: "m²/s² and 1",
            meaning: "An outlet with a loss of pressure that grows with the square of the velocity.",
            example: "out.pressure_loss_outlet = { pressure = 0.0, coefficient = 1.5 }",
        },
        ConditionKey {
            name: "opening",
            value: KeyValue::Scalar(Quantity::new("pressure"), FlowBoundaryCondition::Opening),
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
            FlowBoundaryCondition::PressureLossOutlet(values) => {
                FlowBoundaryCondition::PressureLossOutlet(values.each_ref().map(f))
            }
            FlowBoundaryCondition::Opening(value) => FlowBoundaryCondition::Opening(f(value)),
            FlowBoundaryCondition::ConvectiveOutlet => FlowBoundaryCondition::ConvectiveOutlet,
        }
    }

    /// The data of the condition, from which all equations and monitors follow.
    pub fn data(&self) -> ConditionData<'_, V> {
        let closed = |velocity| ConditionData {
            velocity,
            keeps_flow_rate: false,
            pressure: None,
            dynamic_pressure: vec![],
            backflow_factor: 1.0,
            is_outlet: false,
        };
        let open = |pressure| ConditionData {
            pressure: Some(pressure),
            ..closed(FaceVelocity::ZeroGradient)
        };
        match self {
            FlowBoundaryCondition::Velocity(value) => {
                let terms = value.iter().enumerate().map(|(k, u)| (u, Direction::Axis(k)));
                closed(FaceVelocity::Prescribed(terms.collect()))
            }
            FlowBoundaryCondition::FlowRateInlet(value) => {
                let terms = vec![(value, Direction::InwardOverArea)];
                ConditionData { keeps_flow_rate: true, ..closed(FaceVelocity::Prescribed(terms)) }
            }
            FlowBoundaryCondition::Slip => closed(FaceVelocity::Tangential),
            FlowBoundaryCondition::TotalPressureInlet(value) => {
                let inflow =
                    DynamicPressure { through: Through::Inflow, factor: -1.0, value: None };
                ConditionData {
                    dynamic_pressure: vec![inflow],
                    backflow_factor: 0.0,
                    ..open(value)
                }
            }
            FlowBoundaryCondition::PressureOutlet(value) => {
                ConditionData { backflow_factor: 0.0, is_outlet: true, ..open(value) }
            }
            FlowBoundaryCondition::PressureLossOutlet([pressure, coefficient]) => {
                let term = |through, factor, value| DynamicPressure { through, factor, value };
                ConditionData {
                    dynamic_pressure: vec![
                        term(Through::Outflow, 1.0, Some(coefficient)),
                        term(Through::Inflow, -1.0, Some(coefficient)),
                        term(Through::Inflow, -1.0, None),
                    ],
                    backflow_factor: 0.0,
                    is_outlet: true,
                    ..open(pressure)
                }
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

    /// Whether the velocity at the face is prescribed.
    pub fn prescribes_velocity(&self) -> bool {
        matches!(self.data().velocity, FaceVelocity::Prescribed(_))
    }

    /// The pressure without flow, if the prescribed pressure depends on the flow.
    pub(super) fn pressure_at_rest(&self) -> Option<&V> {
        let data = self.data();
        data.pressure.filter(|_| !data.dynamic_pressure.is_empty())
    }

    /// The components of a prescribed velocity that is given by them.
    pub fn velocity(&self) -> Option<[&V; 3]> {
        let FaceVelocity::Prescribed(terms) = self.data().velocity else { return None };
        match terms[..] {
            [(u, Direction::Axis(0)), (v, Direction::Axis(1)), (w, Direction::Axis(2))] => {
                Some([u, v, w])
            }
            _ => None,
        }
    }

    /// The terms of a prescribed velocity at the faces of the patch.
    pub(super) fn velocity_terms(
        &self,
        geometry: &Geometry,
        faces: Range<usize>,
    ) -> Option<Vec<VelocityTerm<'_, V>>> {
        let FaceVelocity::Prescribed(terms) = self.data().velocity else { return None };
        let term = |(value, direction): (_, Direction)| (value, direction.at(geometry, &faces));
        Some(terms.into_iter().map(term).collect())
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
            FaceVelocity::Prescribed(terms) => terms.iter().any(|(v, _)| v.depends_on_time()),
            _ => false,
        }
    }

    /// The terms of k at `faces` faces where fluid enters or leaves.
    pub(super) fn dynamic_pressure(&self, through: Through, faces: usize) -> Vec<WeightedValue> {
        let terms = self.data().dynamic_pressure.into_iter();
        let of_side = terms.filter(|term| term.through == through);
        let weighted = of_side.map(|term| WeightedValue {
            value: term.value.map_or_else(|| Arc::new(1.0) as Arc<dyn Prescribed>, Arc::clone),
            factors: vec![term.factor; faces],
        });
        weighted.collect()
    }

    /// The condition on a component of the velocity, without values: prescribed ones are those of [`component_terms`].
    pub(super) fn velocity_condition(&self) -> Condition {
        match self.data().velocity {
            FaceVelocity::Prescribed(_) | FaceVelocity::Tangential | FaceVelocity::Convected => {
                Condition::Dirichlet(Arc::new(0.0))
            }
            FaceVelocity::ZeroGradient => Condition::ZeroGradient,
        }
    }

    /// The condition on the pressure; values that depend on the flow are 0 here.
    pub(super) fn pressure_condition(&self) -> Condition {
        match self.data().pressure {
            Some(_) if self.pressure_at_rest().is_some() => Condition::Dirichlet(Arc::new(0.0)),
            Some(value) => Condition::Dirichlet(value.clone()),
            None => Condition::Extrapolated,
        }
    }
}

impl Direction {
    /// The direction at each face of a patch: `[3][faces]`.
    fn at(self, geometry: &Geometry, faces: &Range<usize>) -> [Vec<f64>; 3] {
        let of_face: Box<dyn Fn(usize) -> [f64; 3]> = match self {
            Direction::Axis(axis) => {
                Box::new(move |_| std::array::from_fn(|k| f64::from(k == axis)))
            }
            Direction::InwardOverArea => {
                let sizes = faces.clone().map(|face| norm(geometry.area_vector_of(face)));
                let area = sizes.fold(0.0, |sum, size| sum + size);
                Box::new(move |face| {
                    let vector = geometry.area_vector_of(face);
                    vector.map(|component| -component / (norm(vector) * area))
                })
            }
        };
        let directions: Vec<[f64; 3]> = faces.clone().map(of_face).collect();
        std::array::from_fn(|k| directions.iter().map(|direction| direction[k]).collect())
    }
}

/// The prescribed values of component `k` of the velocity: of each patch with such values the index of the first, and
/// the terms.
pub(super) fn component_terms(
    (mesh, geometry): (&Mesh, &Geometry),
    conditions: &[FlowCondition],
    dirichlet_index: &[u32],
    k: usize,
) -> Vec<(usize, Vec<WeightedValue>)> {
    let inner = mesh.n_interior_faces();
    let mut of_patches = vec![];
    for (patch, condition) in mesh.patches.iter().zip(conditions) {
        let Some(terms) = condition.velocity_terms(geometry, patch.faces.clone()) else { continue };
        if patch.faces.is_empty() {
            continue;
        }
        let of_component = terms.into_iter().map(|(value, [x, y, z])| {
            let factors = match k {
                0 => x,
                1 => y,
                _ => z,
            };
            WeightedValue { value: value.clone(), factors }
        });
        let acts = |term: &WeightedValue| term.factors.iter().any(|factor| *factor != 0.0);
        let first = dirichlet_index[patch.faces.start - inner] as usize - 1;
        of_patches.push((first, of_component.filter(acts).collect()));
    }
    of_patches
}
