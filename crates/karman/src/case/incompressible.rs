//! `[incompressible]`: ∂u/∂t + u·∇u = −∇p + ∇·(ν∇u) + s, ∇·u = 0.

use super::boundary::{HeatBoundary, PatchCondition};
use super::error::Problem;
use super::flow_boundary::{FlowBoundary, FlowConditions};
use super::initial::FlowInitial;
use super::linear_solver::{self, LinearSolverCase, LinearSolverFile};
use super::time::{FlowTimeMethod, TimeMethod};
use super::value::{
    Maybe, Reader, Rule, ScalarFile, Sign, Value, VectorFile, number, point, required,
};
use karman_macros::Keyword;
use serde::Deserialize;
use toml::Spanned;

/// A checked incompressible flow.
#[derive(Clone, Debug, PartialEq)]
pub struct IncompressibleCase {
    /// Where the unknowns are and how the pressure is coupled; default `collocated`.
    pub scheme: FlowScheme,
    /// Kinematic viscosity ν > 0, or 0 with the method `rk3`.
    pub viscosity: f64,
    /// How velocity is interpolated to the faces; default `linear_upwind`.
    pub convection: ConvectionScheme,
    /// What a projection adds to the pressure; default `incremental_rotational`.
    pub pressure_correction: PressureCorrectionCase,
    /// Acceleration by a body force s, of place and time; default zeros.
    pub source: [Value; 3],
    /// How often the pressure is solved again with the correction of its own fluxes; default 0.
    pub nonorthogonal_correctors: usize,
    /// Velocity at t = 0, of place; default zeros.
    pub initial_velocity: [Value; 3],
    /// Pressure at t = 0, of place; default 0.
    pub initial_pressure: Value,
    /// The condition of each patch, in the order of the case file.
    pub boundary: Vec<PatchCondition<FlowBoundary>>,
    /// The solver of the pressure; tolerance 1e-6 by default.
    pub pressure: LinearSolverCase,
    /// The solver of each component of the velocity; tolerance 1e-6 by default.
    pub momentum: LinearSolverCase,
    /// A temperature that the flow carries.
    pub thermal: Option<ThermalCase>,
}

/// Discretizations of flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum FlowScheme {
    /// Velocity and pressure in the cells, fluxes by momentum interpolation.
    Collocated,
    /// Normal velocities at the faces.
    Staggered,
    /// A vector potential on the edges: free of divergence without a pressure.
    ExactFractionalStep,
}

/// How the convected velocity is interpolated to the faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ConvectionScheme {
    /// The upstream cell and its gradient: second order.
    LinearUpwind,
    /// Linear between cells: second order, conserves energy on regular meshes.
    Central,
    /// The cubic through the values and gradients of both cells: second order with smaller errors.
    Cubic,
    /// The upstream cell: first order.
    Upwind,
}

/// What a projection adds to the pressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum PressureCorrectionCase {
    /// The predictor sees no pressure: the classical fractional step.
    None,
    /// The predictor sees the pressure of the level before.
    Incremental,
    /// The same without the divergence of the predictor.
    IncrementalRotational,
}

/// A temperature carried by a flow, which it drives where `expansion` is not 0 (Boussinesq):
/// ∂T/∂t + u·∇T = ∇·(α∇T) + S, with −β (T − T₀) g added to the momentum.
#[derive(Clone, Debug, PartialEq)]
pub struct ThermalCase {
    /// Thermal diffusivity α > 0.
    pub diffusivity: f64,
    /// Coefficient of thermal expansion β; default 0: the temperature does not act on the flow.
    pub expansion: f64,
    /// Acceleration of gravity g; default zeros.
    pub gravity: [f64; 3],
    /// Temperature T₀ without buoyancy; default 0.
    pub reference_temperature: f64,
    /// Rate of heating S, of place and time; default 0.
    pub source: Value,
    /// Temperature at t = 0, of place.
    pub initial_temperature: Value,
    /// The thermal condition of each patch, in the order of the case file. One that the case leaves
    /// out is [`HeatBoundary::Insulated`]; that of a periodic patch means nothing.
    pub boundary: Vec<PatchCondition<HeatBoundary>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncompressibleFile {
    scheme: Option<FlowScheme>,
    viscosity: Maybe<f64>,
    convection: Option<ConvectionScheme>,
    pressure_correction: Option<PressureCorrectionCase>,
    source: Maybe<VectorFile<ScalarFile>>,
    nonorthogonal_correctors: Option<usize>,
    pub(crate) pressure: Maybe<LinearSolverFile>,
    pub(crate) momentum: Maybe<LinearSolverFile>,
    pub(crate) thermal: Maybe<ThermalFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThermalFile {
    diffusivity: Maybe<f64>,
    expansion: Maybe<f64>,
    gravity: Maybe<Vec<f64>>,
    reference_temperature: Maybe<f64>,
    source: Maybe<ScalarFile>,
}

/// A flow needs less of a solve than a steady case: the next step goes on from its error.
const TOLERANCE: f64 = 1e-6;

/// Everything but `[initial]` and the boundary, which are checked on their own.
pub(crate) fn check(
    file: &Spanned<IncompressibleFile>,
    initial: FlowInitial,
    boundary: FlowConditions,
    reader: Reader<'_>,
) -> Result<IncompressibleCase, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    required(&keys.viscosity, "viscosity", &span)?;
    let FlowConditions { flow, thermal } = boundary;
    let of_thermal = |file| check_thermal(file, initial.temperature, thermal, reader);
    Ok(IncompressibleCase {
        scheme: keys.scheme.unwrap_or(FlowScheme::Collocated),
        viscosity: number(&keys.viscosity, 0.0, "viscosity", Sign::NotNegative)?,
        convection: keys.convection.unwrap_or(ConvectionScheme::LinearUpwind),
        pressure_correction: keys
            .pressure_correction
            .unwrap_or(PressureCorrectionCase::IncrementalRotational),
        source: reader.vector_of_scalars(&keys.source, SOURCE)?,
        nonorthogonal_correctors: keys.nonorthogonal_correctors.unwrap_or(0),
        initial_velocity: initial.velocity,
        initial_pressure: initial.pressure,
        boundary: flow,
        pressure: linear_solver::check(keys.pressure.as_ref(), TOLERANCE)?,
        momentum: linear_solver::check(keys.momentum.as_ref(), TOLERANCE)?,
        thermal: keys.thermal.as_ref().map(of_thermal).transpose()?,
    })
}

/// That a flow without viscosity has an explicit method.
pub(crate) fn check_viscosity(
    file: &Spanned<IncompressibleFile>,
    method: TimeMethod,
) -> Result<(), Problem> {
    match &file.get_ref().viscosity {
        Some(value)
            if *value.get_ref() == 0.0 && method != TimeMethod::Flow(FlowTimeMethod::Rk3) =>
        {
            let problem = Problem::at(value.span(), "`viscosity` must be positive, not 0");
            Err(problem.note("a flow without viscosity needs `method = \"rk3\"` in [time]"))
        }
        _ => Ok(()),
    }
}

const SOURCE: Rule = Rule { name: "source", sign: Sign::Any, time: true };

fn check_thermal(
    file: &Spanned<ThermalFile>,
    initial_temperature: Value,
    boundary: Vec<PatchCondition<HeatBoundary>>,
    reader: Reader<'_>,
) -> Result<ThermalCase, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    required(&keys.diffusivity, "diffusivity", &span)?;
    let gravity = keys.gravity.as_ref().map(|file| point(file, "gravity")).transpose()?;
    let temperature = &keys.reference_temperature;
    Ok(ThermalCase {
        diffusivity: number(&keys.diffusivity, 0.0, "diffusivity", Sign::Positive)?,
        expansion: number(&keys.expansion, 0.0, "expansion", Sign::Any)?,
        gravity: gravity.unwrap_or_default(),
        reference_temperature: number(temperature, 0.0, "reference_temperature", Sign::Any)?,
        source: match &keys.source {
            None => Value::Constant(0.0),
            Some(source) => reader.scalar(source.get_ref(), source.span(), SOURCE)?,
        },
        initial_temperature,
        boundary,
    })
}
