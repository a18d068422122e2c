//! `[incompressible]`: ∂u/∂t + u·∇u = −∇p + ∇·(ν∇u) + s, ∇·u = 0.

use super::CaseFile;
use super::Equation;
use super::boundary::HeatCondition;
use super::boundary::PatchCondition;
use super::equation::{EquationSection, Sections};
use super::error::Problem;
use super::expected::ExpectedFile;
use super::flow_boundary::{self, FlowBoundary, FlowConditions};
use super::initial::FlowInitial;
use super::linear_solver::{self, LinearSolverCase, LinearSolverFile};
use super::problems::Problems;
use super::steady::{self, SteadyCase};
use super::value::{
    Maybe, Reader, Rule, ScalarFile, Sign, Value, VectorFile, number, point, required,
};
use super::{average, initial, patch_group, surface, time};
use crate::descriptor::Descriptor;
use crate::incompressible::{
    Arrangement, Convection, ConvectionTreatment, DESCRIPTOR, PressureCorrection, TimeScheme,
};
use crate::linear::{Method, PreconditionerKind};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// The default of `pseudo_cfl`.
const PSEUDO_CFL: f64 = 10.0;

/// A checked incompressible flow.
#[derive(Clone, Debug, PartialEq)]
pub struct IncompressibleCase {
    /// Kinematic viscosity ν > 0, or 0 with the method `rk3`.
    pub kinematic_viscosity: f64,
    /// The discretisation in space and time.
    pub numerics: FlowNumericsCase,
    /// Acceleration s(x, t) by a body force; default zeros.
    pub source: [Value; 3],
    /// Mean velocity over the volume, which a uniform force keeps; `None`: there is no force.
    pub mean_velocity: Option<[f64; 3]>,
    /// Velocity at t = 0; default zeros.
    pub initial_velocity: [Value; 3],
    /// Pressure at t = 0; default 0.
    pub initial_pressure: Value,
    /// The condition of each patch, in the order of the case file.
    pub boundary: Vec<PatchCondition<FlowBoundary>>,
    /// The solver of the pressure; tolerance 1e-6 by default.
    pub pressure: LinearSolverCase,
    /// The solver of each component of the velocity; tolerance 1e-6 by default.
    pub momentum: LinearSolverCase,
    /// The temperature equation, if any.
    pub thermal: Option<ThermalCase>,
    /// The iteration towards a steady state; `None` for an unsteady flow.
    pub steady: Option<SteadyCase>,
}

/// The discretisation of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowNumericsCase {
    /// Variable arrangement and pressure coupling, the key `scheme`; default `collocated`.
    pub arrangement: Arrangement,
    /// Interpolation of the convected velocity to the faces; default `linear_upwind`.
    pub convection: Convection,
    /// Level of the convected quantities; default `explicit`, of a steady flow `implicit`.
    pub convection_treatment: ConvectionTreatment,
    /// Pressure update of a projection; default `incremental_rotational`.
    pub pressure_correction: PressureCorrection,
    /// Further projections with non-orthogonal correction; default 0.
    pub nonorthogonal_correctors: usize,
    /// Time scheme, the key `method` of `[time]`; default `bdf2`.
    pub time_scheme: TimeScheme,
}

/// ∂T/∂t + u·∇T = ∇·(α∇T) + S, with the Boussinesq term −β (T − T₀) g in the momentum equation.
#[derive(Clone, Debug, PartialEq)]
pub struct ThermalCase {
    /// Thermal diffusivity α > 0.
    pub diffusivity: f64,
    /// Coefficient of thermal expansion β; default 0: no buoyancy.
    pub expansion: f64,
    /// Acceleration of gravity g; default zeros.
    pub gravity: [f64; 3],
    /// Temperature T₀ without buoyancy; default 0.
    pub reference_temperature: f64,
    /// Rate of heating S(x, t); default 0.
    pub source: Value,
    /// Temperature at t = 0.
    pub initial_temperature: Value,
    /// The thermal condition of each patch, in the order of the case file;
    /// no heat flux where the case gives none, unused on a periodic patch.
    pub boundary: Vec<PatchCondition<HeatCondition>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncompressibleFile {
    scheme: Maybe<Arrangement>,
    kinematic_viscosity: Maybe<f64>,
    convection: Option<Convection>,
    convection_treatment: Maybe<ConvectionTreatment>,
    pressure_correction: Option<PressureCorrection>,
    source: Maybe<VectorFile<ScalarFile>>,
    mean_velocity: Maybe<Vec<f64>>,
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

/// Looser than for a steady case: the next time step reduces the error further.
const TOLERANCE: f64 = 1e-6;

/// Of a steady flow, each iteration of which corrects the errors of the last.
const STEADY_TOLERANCE: f64 = 0.01;

impl EquationSection for Spanned<IncompressibleFile> {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn place(&self) -> Range<usize> {
        self.span()
    }

    fn has_temperature(&self) -> bool {
        self.get_ref().thermal.is_some()
    }

    fn check(&self, case: Sections<'_>, problems: &mut Problems) -> Option<Equation> {
        let Sections { file, names, reader } = case;
        let initial = problems.record(initial::check_flow(case)).unwrap_or_default();
        let boundary = flow_boundary::check(file.boundary.as_ref(), names, reader);
        let boundary = problems.record_all(boundary).unwrap_or_default();
        let scheme = time::scheme(file.time.as_ref(), names, TimeScheme::from_word);
        let scheme = problems.record(scheme);
        if let Some(scheme) = scheme {
            problems.record(check_viscosity(self, scheme));
        }
        let steady = problems.record(steady(file));
        problems.record(no_linear_solver(file));
        let numerics = numerics(self.get_ref(), scheme.unwrap_or(TimeScheme::Bdf2), reader);
        let mut flow = problems.record(flow(self, numerics, (initial, boundary), reader))?;
        if scheme.is_some() {
            problems.record(check_treatment(self, &flow, reader.steady));
        }
        problems.record(check_mean_force(file.expected.as_ref(), &flow));
        if let Some(output) = file.output.as_ref().map(Spanned::get_ref) {
            problems.record(average::check_scheme(output.averages(), numerics.arrangement));
            problems.record(surface::check_walls(
                output.surfaces(),
                &flow.boundary,
                flow.kinematic_viscosity,
            ));
            problems.record(patch_group::check_moments(output.groups(), &flow.boundary));
        }
        flow.steady = steady?;
        Some(Equation::Incompressible(Box::new(flow)))
    }

    fn linear_solvers(&self) -> Vec<(&'static str, &LinearSolverFile)> {
        let IncompressibleFile { pressure, momentum, .. } = self.get_ref();
        let solvers =
            [("incompressible.pressure", pressure), ("incompressible.momentum", momentum)];
        let given = solvers.into_iter().filter_map(|(path, keys)| Some((path, keys.as_ref()?)));
        given.map(|(path, keys)| (path, keys.get_ref())).collect()
    }
}

/// The iteration of a flow without `[time]`.
fn steady(file: &CaseFile) -> Result<Option<SteadyCase>, Problem> {
    match (&file.steady, &file.time) {
        (keys, None) => steady::check(keys.as_ref(), PSEUDO_CFL).map(Some),
        (None, Some(_)) => Ok(None),
        (Some(section), Some(_)) => {
            let message = "[steady] and [time] exclude each other: keep one";
            Err(Problem::at(section.span(), message))
        }
    }
}

fn no_linear_solver(file: &CaseFile) -> Result<(), Problem> {
    let Some(section) = &file.linear_solver else { return Ok(()) };
    let message = "[linear_solver] is for heat: a flow has two linear solvers";
    let note = "use [incompressible.pressure] and [incompressible.momentum], with the same keys";
    Err(Problem::at(section.span(), message).note(note))
}

fn numerics(
    keys: &IncompressibleFile,
    time_scheme: TimeScheme,
    reader: Reader<'_>,
) -> FlowNumericsCase {
    let treatment = keys.convection_treatment.as_ref().map(|file| *file.get_ref());
    let default = match reader.steady {
        true => ConvectionTreatment::Implicit,
        false => ConvectionTreatment::Explicit,
    };
    FlowNumericsCase {
        arrangement: keys.scheme.as_ref().map_or(Arrangement::Collocated, |file| *file.get_ref()),
        convection: keys.convection.unwrap_or(Convection::LinearUpwind),
        convection_treatment: treatment.unwrap_or(default),
        pressure_correction: keys
            .pressure_correction
            .unwrap_or(PressureCorrection::IncrementalRotational),
        nonorthogonal_correctors: keys.nonorthogonal_correctors.unwrap_or(0),
        time_scheme,
    }
}

/// The flow with checked `[initial]` and `[boundary]`; its `steady` is set later.
fn flow(
    file: &Spanned<IncompressibleFile>,
    numerics: FlowNumericsCase,
    (initial, boundary): (FlowInitial, FlowConditions),
    reader: Reader<'_>,
) -> Result<IncompressibleCase, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    required(&keys.kinematic_viscosity, "kinematic_viscosity", &span)?;
    let FlowConditions { flow, thermal } = boundary;
    let tolerance = if reader.steady { STEADY_TOLERANCE } else { TOLERANCE };
    let mean_velocity = mean_velocity(&keys.mean_velocity, &flow)?;
    let check_thermal = |file| thermal_case(file, initial.temperature, thermal, reader);
    Ok(IncompressibleCase {
        kinematic_viscosity: number(
            &keys.kinematic_viscosity,
            0.0,
            "kinematic_viscosity",
            Sign::NotNegative,
        )?,
        numerics,
        source: reader.vector_of_scalars(&keys.source, SOURCE)?,
        mean_velocity,
        initial_velocity: initial.velocity,
        initial_pressure: initial.pressure,
        boundary: flow,
        pressure: linear_solver::check(keys.pressure.as_ref(), tolerance)?,
        momentum: linear_solver::check(keys.momentum.as_ref(), tolerance)?,
        thermal: keys.thermal.as_ref().map(check_thermal).transpose()?,
        steady: None,
    })
}

/// The mean velocity of a flow through periodic patches.
fn mean_velocity(
    file: &Maybe<Vec<f64>>,
    boundary: &[PatchCondition<FlowBoundary>],
) -> Result<Option<[f64; 3]>, Problem> {
    let Some(file) = file else { return Ok(None) };
    let is_periodic = |patch: &PatchCondition<FlowBoundary>| patch.condition.condition().is_none();
    if !boundary.iter().any(is_periodic) {
        let message = "`mean_velocity` needs periodic patches, through which the flow returns";
        return Err(Problem::at(file.span(), message));
    }
    point(file, "mean_velocity").map(Some)
}

/// Refuses expected forces that keep a mean velocity where none is given.
fn check_mean_force(
    expected: Option<&Spanned<ExpectedFile>>,
    case: &IncompressibleCase,
) -> Result<(), Problem> {
    let of_force = |path: &str| path.starts_with("flow.mean_force_");
    let entries = expected.iter().flat_map(|file| &file.get_ref().0);
    match entries.map(|(path, _)| path).find(|path| of_force(path.get_ref())) {
        Some(path) if case.mean_velocity.is_none() => {
            let message = format!("`{}` needs `mean_velocity` in [incompressible]", path.get_ref());
            Err(Problem::at(path.span(), message))
        }
        _ => Ok(()),
    }
}

/// Checks that the arrangement and the solver of the momentum admit implicit convection.
fn check_treatment(
    file: &Spanned<IncompressibleFile>,
    case: &IncompressibleCase,
    is_steady: bool,
) -> Result<(), Problem> {
    let (keys, numerics) = (file.get_ref(), case.numerics);
    let what = if is_steady { "a steady flow" } else { "implicit convection" };
    if is_steady && numerics.convection_treatment == ConvectionTreatment::Explicit {
        let place = keys.convection_treatment.as_ref().map_or(file.span(), Spanned::span);
        let message = "a steady flow has implicit convection: this case has no [time]";
        return Err(Problem::at(place, message).note("leave out `convection_treatment`"));
    }
    if numerics.convection_treatment == ConvectionTreatment::Explicit {
        return Ok(());
    }
    if numerics.arrangement != Arrangement::Collocated {
        let place = keys.scheme.as_ref().map_or(file.span(), Spanned::span);
        return Err(Problem::at(place, format!("{what} needs `scheme = \"collocated\"`")));
    }
    if !is_steady && numerics.time_scheme == TimeScheme::Rk3 {
        let place = keys.convection_treatment.as_ref().map_or(file.span(), Spanned::span);
        let message = "`rk3` has explicit stages: `convection_treatment` must be \"explicit\"";
        return Err(Problem::at(place, message));
    }
    let Some(section) = &keys.momentum else { return Ok(()) };
    let method = case.momentum.method;
    if !matches!(method, None | Some(Method::BiCgStab | Method::Fgmres)) {
        let message = format!("{what} has an unsymmetric matrix: use \"bicgstab\" or \"fgmres\"");
        return Err(Problem::at(section.span(), message));
    }
    let preconditioner = case.momentum.preconditioner;
    let admitted = [PreconditionerKind::Jacobi.word(), "auto"];
    if !admitted.contains(&preconditioner.word()) {
        let message = format!("{what} solves for the momentum without a matrix: use \"jacobi\"");
        return Err(Problem::at(section.span(), message));
    }
    Ok(())
}

/// Checks that an inviscid flow has an explicit method; none for a steady flow.
fn check_viscosity(file: &Spanned<IncompressibleFile>, scheme: TimeScheme) -> Result<(), Problem> {
    match &file.get_ref().kinematic_viscosity {
        Some(value) if *value.get_ref() == 0.0 && scheme != TimeScheme::Rk3 => {
            let problem =
                Problem::at(value.span(), "`kinematic_viscosity` must be positive, not 0");
            Err(problem.note("an inviscid flow needs `method = \"rk3\"` in [time]"))
        }
        _ => Ok(()),
    }
}

const SOURCE: Rule = Rule { name: "source", sign: Sign::Any, time: true };

fn thermal_case(
    file: &Spanned<ThermalFile>,
    initial_temperature: Value,
    boundary: Vec<PatchCondition<HeatCondition>>,
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
