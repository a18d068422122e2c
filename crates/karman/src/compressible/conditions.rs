//! Boundary conditions of compressible flow, patch by patch: their keys in a case, and their data.

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
    /// A wall that moves along itself with friction: viscous flow.
    MovingWall {
        /// Its velocity, m/s; the part along the wall counts.
        velocity: [V; 3],
        /// Its temperature, K; `None`: there is no heat flux.
        temperature: Option<V>,
    },
    /// A prescribed state outside, through the numerical flux: far field, inflow, exact solution.
    State(PrescribedState<V>),
    /// Outflow faster than sound.
    SupersonicOutlet,
    /// A prescribed pressure of outflow below the speed of sound.
    PressureOutlet(V),
}

/// A key of `[boundary]` with a condition.
#[derive(Debug)]
pub struct CompressibleKey<V> {
    /// The key.
    pub name: &'static str,
    /// The value of the key, and the condition of a value.
    pub value: CompressibleKeyValue<V>,
    /// SI unit of the value.
    pub units: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
}

/// The value of a key with a condition; texts stand for it in messages.
#[derive(Debug)]
pub enum CompressibleKeyValue<V> {
    /// `true`, or the key as a word.
    Flag(fn() -> CompressibleBoundaryCondition<V>),
    /// A positive number.
    Scalar(&'static str, fn(V) -> CompressibleBoundaryCondition<V>),
    /// A vector.
    Vector(&'static str, fn([V; 3]) -> CompressibleBoundaryCondition<V>),
    /// A state: `{ density, velocity, pressure }`.
    State,
    /// A state, also by its Mach number and the angles of its velocity.
    FarField,
}

impl<V: 'static> CompressibleBoundaryCondition<V> {
    /// The keys of all conditions.
    pub const KEYS: &'static [CompressibleKey<V>] = &[
        CompressibleKey {
            name: "slip_wall",
            value: CompressibleKeyValue::Flag(|| CompressibleBoundaryCondition::Slip),
            units: "",
            meaning: "A wall without friction.",
            example: "body.slip_wall = true",
        },
        CompressibleKey {
            name: "no_slip",
            value: CompressibleKeyValue::Flag(|| CompressibleBoundaryCondition::NoSlip),
            units: "",
            meaning: "A wall at rest with friction, without heat flux.",
            example: "body.no_slip = true",
        },
        CompressibleKey {
            name: "isothermal",
            value: CompressibleKeyValue::Scalar(
                "temperature",
                CompressibleBoundaryCondition::Isothermal,
            ),
            units: "K",
            meaning: "A wall at rest with friction, of this temperature; beside `moving_wall` the temperature of that wall.",
            example: "body.isothermal = 300.0",
        },
        CompressibleKey {
            name: "moving_wall",
            value: CompressibleKeyValue::Vector("[u, v, w]", |velocity| {
                CompressibleBoundaryCondition::MovingWall { velocity, temperature: None }
            }),
            units: "m/s",
            meaning: "A wall with friction that moves along itself with this velocity, whose part normal to the wall is dropped; \
                      without heat flux, or with `isothermal` beside it.",
            example: "lid = { moving_wall = [1.0, 0.0, 0.0], isothermal = 300.0 }",
        },
        CompressibleKey {
            name: "symmetry",
            value: CompressibleKeyValue::Flag(|| CompressibleBoundaryCondition::Slip),
            units: "",
            meaning: "A plane of symmetry.",
            example: "zmax.symmetry = true",
        },
        CompressibleKey {
            name: "supersonic_outlet",
            value: CompressibleKeyValue::Flag(|| CompressibleBoundaryCondition::SupersonicOutlet),
            units: "",
            meaning: "An outlet where the flow is faster than sound: the state inside.",
            example: "xmax.supersonic_outlet = true",
        },
        CompressibleKey {
            name: "pressure_outlet",
            value: CompressibleKeyValue::Scalar(
                "pressure",
                CompressibleBoundaryCondition::PressureOutlet,
            ),
            units: "Pa",
            meaning: "An outlet of this pressure where the flow leaves below the speed of sound, behind an isentropic wave; \
                      the state inside where it leaves faster.",
            example: "xmax.pressure_outlet = 1e5",
        },
        CompressibleKey {
            name: "inflow",
            value: CompressibleKeyValue::State,
            units: "",
            meaning: "An inlet of this state, through the numerical flux: waves leave upstream.",
            example: "xmin.inflow = { density = 1.4, velocity = [3.0, 0.0], pressure = 1.0 }",
        },
        CompressibleKey {
            name: "exact",
            value: CompressibleKeyValue::State,
            units: "",
            meaning: "This state outside, as of an exact solution, through the numerical flux.",
            example: "xmin.exact = { density = \"2 + sin(x - t)\", velocity = [1.0, 0.0], pressure = 1.0 }",
        },
        CompressibleKey {
            name: "farfield",
            value: CompressibleKeyValue::FarField,
            units: "",
            meaning: "The state far from a body, through the numerical flux.",
            example: "far.farfield = { mach = 0.1, angle_of_attack_deg = 2.0, pressure = 1.0, density = 1.4 }",
        },
    ];
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
            Condition::MovingWall { velocity, temperature } => Condition::MovingWall {
                velocity: velocity.each_ref().map(&f),
                temperature: temperature.as_ref().map(&f),
            },
            Condition::State(state) => Condition::State(state.map(f)),
            Condition::SupersonicOutlet => Condition::SupersonicOutlet,
            Condition::PressureOutlet(pressure) => Condition::PressureOutlet(f(pressure)),
        }
    }

    /// The state outside the faces.
    pub fn exterior(&self) -> ExteriorState {
        match self {
            CompressibleBoundaryCondition::Slip => ExteriorState::Reflected,
            CompressibleBoundaryCondition::NoSlip
            | CompressibleBoundaryCondition::MovingWall { temperature: None, .. } => {
                ExteriorState::NoSlip
            }
            CompressibleBoundaryCondition::Isothermal(_)
            | CompressibleBoundaryCondition::MovingWall { temperature: Some(_), .. } => {
                ExteriorState::Isothermal
            }
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
            CompressibleBoundaryCondition::MovingWall { velocity, temperature } => {
                let temperature = temperature.iter().map(|value| (0, value));
                temperature.chain((1..).zip(velocity)).collect()
            }
            CompressibleBoundaryCondition::Slip
            | CompressibleBoundaryCondition::NoSlip
            | CompressibleBoundaryCondition::SupersonicOutlet => vec![],
        }
    }

    /// Whether it is a wall with friction.
    pub fn has_friction(&self) -> bool {
        matches!(self.exterior(), ExteriorState::NoSlip | ExteriorState::Isothermal)
    }
}
