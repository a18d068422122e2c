//! `[compressible]`: ∂q/∂t + ∇·F(q) = S for q = (ρ, ρu, ρE) of a perfect gas.

use super::CaseFile;
use super::Equation;
use super::boundary::PatchCondition;
use super::compressible_boundary::{self, CompressibleBoundary};
use super::equation::{EquationSection, Sections};
use super::error::Problem;
use super::initial;
use super::output::OutputFile;
use super::problems::Problems;
use super::run;
use super::steady::{self, SteadyCase};
use super::surface;
use super::time;
use super::value::{Maybe, Reader, Rule, ScalarFile, Sign, Value, number, required};
use crate::compressible::descriptor::{DENSITY, PRESSURE, SCHLIEREN, VORTICITY};
use crate::compressible::viscous::{Viscosity, ViscousGas};
use crate::compressible::{
    CompressibleNumerics, DESCRIPTOR, FluxForm, Limiter, NumericalFlux, PrescribedState,
    Reconstruction, ResidualForm, WeightPrecision,
};
use crate::descriptor::{Descriptor, VELOCITY};
use crate::time::RungeKutta;
use karman_macros::Keyword;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// A checked compressible flow.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressibleCase {
    /// γ > 1, the ratio of specific heats; default 1.4.
    pub gamma: f64,
    /// R > 0 in p = ρRT; default 287.
    pub gas_constant: f64,
    /// The discretisation in space and time.
    pub numerics: CompressibleNumerics,
    /// The viscous terms; `None`: the Euler equations.
    pub viscous: Option<ViscousGas>,
    /// Sources of ρ, ρu_x, ρu_y, ρu_z and ρE; `None`: there is none.
    pub source: Option<[Value; 5]>,
    /// The march to a steady state; `None`: the flow is computed in time.
    pub steady: Option<CompressibleSteady>,
    /// The state at t = 0.
    pub initial: PrescribedState<Value>,
    /// The condition of each patch, in the order of the case file.
    pub boundary: Vec<PatchCondition<CompressibleBoundary>>,
}

/// How a steady state is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SteadyMarch {
    /// By Newton–Krylov steps, without `[time]`.
    Implicit,
    /// By explicit stages with local steps.
    LocalSteps {
        /// The Courant number of each cell, > 0.
        cfl: f64,
    },
}

/// The iteration towards a steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressibleSteady {
    /// Its end, and the first Courant number of the implicit march.
    pub settings: SteadyCase,
    /// How.
    pub march: SteadyMarch,
}

/// Number of points of a face, the key `face_points`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum FacePointsCase {
    /// As many as the order of the reconstruction requires.
    DesignOrder,
    /// One: cheaper, of second order.
    One,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompressibleFile {
    gamma: Maybe<f64>,
    gas_constant: Maybe<f64>,
    flux: Option<NumericalFlux>,
    reconstruction: Option<Reconstruction>,
    low_mach: Maybe<bool>,
    limiter: Maybe<Limiter>,
    face_points: Maybe<FacePointsCase>,
    residual: Maybe<ResidualForm>,
    weights: Maybe<WeightPrecision>,
    source: Maybe<Vec<Spanned<ScalarFile>>>,
    viscous: Maybe<ViscousFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ViscousFile {
    viscosity: Maybe<f64>,
    sutherland: Maybe<SutherlandFile>,
    prandtl: Maybe<f64>,
}

/// `sutherland = { reference, temperature, constant }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SutherlandFile {
    reference: Maybe<f64>,
    temperature: Maybe<f64>,
    constant: Maybe<f64>,
}

const DEFAULT_GAMMA: f64 = 1.4;
const DEFAULT_GAS_CONSTANT: f64 = 287.0;
const DEFAULT_PRANDTL: f64 = 0.72;

impl CompressibleFile {
    fn reconstruction(&self) -> Reconstruction {
        self.reconstruction.unwrap_or(Reconstruction::Quadratic)
    }
}

impl EquationSection for Spanned<CompressibleFile> {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn place(&self) -> Range<usize> {
        self.span()
    }

    fn has_temperature(&self) -> bool {
        false
    }

    fn check(&self, case: Sections<'_>, problems: &mut Problems) -> Option<Equation> {
        let Sections { file, names, reader } = case;
        let keys = self.get_ref();
        let gamma = problems.record(gamma(keys));
        let initial = problems.record(initial::check_compressible(case));
        let viscous = problems.record(viscous(keys));
        let is_viscous = keys.viscous.is_some();
        let boundary = compressible_boundary::check(
            file.boundary.as_ref(),
            (gamma.unwrap_or(DEFAULT_GAMMA), is_viscous),
            reader,
        );
        let boundary = problems.record_all(boundary);
        let scheme = time::scheme(file.time.as_ref(), names, RungeKutta::from_word);
        let scheme = problems.record(scheme);
        let steady = problems.record(steady(keys, file));
        problems.record(no_linear_solver(file));
        problems.record(check_exact(file));
        if let Some(output) = file.output.as_ref().map(Spanned::get_ref) {
            problems.record(check_gradients(output, keys.reconstruction()));
        }
        let is_implicit = steady.flatten().is_some_and(|s| s.march == SteadyMarch::Implicit);
        let method = scheme.unwrap_or(RungeKutta::SspRk3);
        let numerics = problems.record(numerics(keys, method, is_implicit));
        let source = problems.record(source(keys, reader));
        let gas_constant = gas_constant(keys);
        let gas_constant = problems.record(gas_constant)?;
        scheme?;
        let flow = CompressibleCase {
            gamma: gamma?,
            gas_constant,
            numerics: numerics?,
            viscous: viscous?,
            source: source?,
            steady: steady?,
            initial: initial?,
            boundary: boundary?,
        };
        if let Some(output) = file.output.as_ref().map(Spanned::get_ref) {
            problems.record(surface::check_walls_of_gas(
                output.surfaces(),
                &flow.boundary,
                flow.viscous.is_some(),
            ));
        }
        Some(Equation::Compressible(Box::new(flow)))
    }

    fn warnings(&self, case: &CaseFile) -> Vec<Problem> {
        let method = case.time.as_ref().and_then(|time| time.get_ref().method());
        let is_euler = method.is_some_and(|word| word.get_ref() == RungeKutta::Euler.word());
        let reconstruction = self.get_ref().reconstruction();
        match method {
            Some(place) if is_euler && reconstruction != Reconstruction::Constant => {
                let message = format!(
                    "`euler` with the reconstruction `{}` is unstable at any Courant number that stays fixed under refinement",
                    reconstruction.word()
                );
                let note = "use `method = \"ssp_rk3\"`, or `reconstruction = \"constant\"`";
                vec![Problem::at(place.span(), message).note(note)]
            }
            _ => vec![],
        }
    }
}

fn gamma(keys: &CompressibleFile) -> Result<f64, Problem> {
    let gamma = number(&keys.gamma, DEFAULT_GAMMA, "gamma", Sign::Any)?;
    match &keys.gamma {
        Some(file) if gamma <= 1.0 => {
            let message = format!("`gamma` must be above 1, not {gamma}");
            Err(Problem::at(file.span(), message))
        }
        _ => Ok(gamma),
    }
}

fn gas_constant(keys: &CompressibleFile) -> Result<f64, Problem> {
    number(&keys.gas_constant, DEFAULT_GAS_CONSTANT, "gas_constant", Sign::Positive)
}

fn numerics(
    keys: &CompressibleFile,
    method: RungeKutta,
    is_implicit: bool,
) -> Result<CompressibleNumerics, Problem> {
    let flux = keys.flux.unwrap_or(NumericalFlux::Roe);
    let low_mach = keys.low_mach.as_ref().is_some_and(|file| *file.get_ref());
    if let (Some(file), true, false) = (&keys.low_mach, low_mach, flux.has_low_mach_form()) {
        let message = format!("the flux `{}` has no form for low Mach numbers", flux.word());
        let fluxes = NumericalFlux::ALL.iter().filter(|flux| flux.has_low_mach_form());
        let problem = Problem::at(file.span(), message);
        return Err(problem.among("", "fluxes with one", fluxes.map(|flux| flux.word())));
    }
    let reconstruction = keys.reconstruction();
    let limiter = keys.limiter.as_ref().map_or(Limiter::None, |file| *file.get_ref());
    if let (Some(file), Reconstruction::Constant) = (&keys.limiter, reconstruction)
        && limiter != Limiter::None
    {
        let message = "a `limiter` has nothing to limit with `reconstruction = \"constant\"`";
        return Err(Problem::at(file.span(), message).note("leave out `limiter`"));
    }
    let points = keys.face_points.as_ref();
    let one_point = points.is_some_and(|file| *file.get_ref() == FacePointsCase::One);
    if let (Some(file), true) = (points, one_point && reconstruction != Reconstruction::Quadratic) {
        let message = format!(
            "`face_points = \"one\"` has no effect: faces have one point with `reconstruction = \"{}\"`",
            reconstruction.word()
        );
        return Err(Problem::at(file.span(), message));
    }
    let residual = keys.residual.as_ref().map_or(ResidualForm::Auto, |file| *file.get_ref());
    if let Some(file) = &keys.residual
        && matches!(residual, ResidualForm::Fused | ResidualForm::FusedRows)
    {
        let hindrance = match (keys.viscous.is_some(), limiter, reconstruction) {
            (true, ..) => Some("`[compressible.viscous]`"),
            (_, Limiter::Mood, _) => Some("`limiter = \"mood\"`"),
            (_, Limiter::Mlp, _) => Some("`limiter = \"mlp\"`"),
            (.., Reconstruction::Constant) => Some("`reconstruction = \"constant\"`"),
            _ => None,
        };
        if let Some(hindrance) = hindrance {
            let message = format!("no fused residual exists with {hindrance}");
            return Err(Problem::at(file.span(), message).note("leave out `residual`"));
        }
    }
    let weights = keys.weights.as_ref().map_or(WeightPrecision::Same, |file| *file.get_ref());
    if let (Some(file), Reconstruction::Constant) = (&keys.weights, reconstruction) {
        let message = "`weights` has no effect with `reconstruction = \"constant\"`";
        return Err(Problem::at(file.span(), message).note("leave out `weights`"));
    }
    let form = FluxForm { flux, low_mach };
    let bounds_traces = is_implicit;
    Ok(CompressibleNumerics {
        form,
        reconstruction,
        limiter,
        one_point,
        bounds_traces,
        method,
        residual,
        weights,
    })
}

/// Sources of the five conserved variables.
fn source(keys: &CompressibleFile, reader: Reader<'_>) -> Result<Option<[Value; 5]>, Problem> {
    let Some(file) = &keys.source else { return Ok(None) };
    let entries = file.get_ref();
    if entries.len() != 5 {
        let message = format!("`source` takes 5 components, {} given", entries.len());
        let note = "of density, momentum along x, y, z and energy; in 2D that along z is 0";
        return Err(Problem::at(file.span(), message).note(note));
    }
    let rule = Rule { name: "source", sign: Sign::Any, time: true };
    let mut values = [0.0; 5].map(Value::Constant);
    for (value, entry) in values.iter_mut().zip(entries) {
        *value = reader.scalar(entry.get_ref(), entry.span(), rule)?;
    }
    Ok(Some(values))
}

/// The viscous terms of the case.
fn viscous(keys: &CompressibleFile) -> Result<Option<ViscousGas>, Problem> {
    let Some(file) = &keys.viscous else { return Ok(None) };
    let (entries, span) = (file.get_ref(), file.span());
    let positive = |file: &Maybe<f64>, name| number(file, 0.0, name, Sign::Positive);
    let viscosity = match (&entries.viscosity, &entries.sutherland) {
        (Some(_), None) => Viscosity::Constant(positive(&entries.viscosity, "viscosity")?),
        (None, Some(law)) => {
            let (law, span) = (law.get_ref(), law.span());
            required(&law.reference, "reference", &span)?;
            required(&law.temperature, "temperature", &span)?;
            required(&law.constant, "constant", &span)?;
            Viscosity::Sutherland {
                reference: positive(&law.reference, "reference")?,
                temperature: positive(&law.temperature, "temperature")?,
                constant: positive(&law.constant, "constant")?,
            }
        }
        (Some(_), Some(law)) => {
            let message = "the viscosity is given by `viscosity` or by `sutherland`, not both";
            return Err(Problem::at(law.span(), message));
        }
        (None, None) => {
            let message = "`viscosity` or `sutherland` is missing";
            return Err(Problem::at(span, message));
        }
    };
    let prandtl = number(&entries.prandtl, DEFAULT_PRANDTL, "prandtl", Sign::Positive)?;
    Ok(Some(ViscousGas { viscosity, prandtl, gas_constant: gas_constant(keys)? }))
}

/// The march of a case without `[time]`, or with local steps.
fn steady(keys: &CompressibleFile, file: &CaseFile) -> Result<Option<CompressibleSteady>, Problem> {
    let local = file.time.as_ref().filter(|time| time.get_ref().has_local_steps());
    let march = match (&file.time, local) {
        (None, _) => SteadyMarch::Implicit,
        (Some(_), Some(time)) => SteadyMarch::LocalSteps { cfl: time::local_courant_number(time)? },
        (Some(_), None) => {
            let Some(section) = &file.steady else { return Ok(None) };
            let message = "[steady] and [time] exclude each other: keep one";
            let note = "or add `local_step = true` and leave out `end`";
            return Err(Problem::at(section.span(), message).note(note));
        }
    };
    if let (SteadyMarch::LocalSteps { .. }, Some(section)) = (march, &file.steady) {
        section.get_ref().refuse_pseudo_cfl("`cfl` of [time] sets local steps")?;
    }
    if let Some(limiter) = keys.limiter.as_ref().filter(|file| *file.get_ref() == Limiter::Mood) {
        let message = "`limiter = \"mood\"` repeats time steps: it has no steady state";
        let note = "use \"venkatakrishnan\" or \"minmod\", or a [time] with `end`";
        return Err(Problem::at(limiter.span(), message).note(note));
    }
    if let (SteadyMarch::Implicit, Some(place)) = (march, run::single_precision(file.run.as_ref()))
    {
        let message = "a steady compressible flow needs `precision = \"f64\"`: its Jacobian is a difference of residuals";
        let note = "or add [time] with `local_step = true`";
        return Err(Problem::at(place, message).note(note));
    }
    let settings = steady::check(file.steady.as_ref(), SteadyCase::default().pseudo_cfl)?;
    Ok(Some(CompressibleSteady { settings, march }))
}

fn no_linear_solver(file: &CaseFile) -> Result<(), Problem> {
    let Some(section) = &file.linear_solver else { return Ok(()) };
    let message = "[linear_solver] is for heat: a compressible flow has no such section";
    Err(Problem::at(section.span(), message))
}

/// Velocity and pressure of the means of an exact solution follow from all three fields.
fn check_exact(file: &CaseFile) -> Result<(), Problem> {
    let Some(section) = &file.exact else { return Ok(()) };
    let keys = section.get_ref();
    let fields = [DENSITY, VELOCITY, PRESSURE];
    let missing = fields.iter().find(|field| !keys.has(field));
    let given = [VELOCITY, PRESSURE].into_iter().find(|field| keys.has(field));
    let (Some(missing), Some(given)) = (missing, given) else { return Ok(()) };
    let message =
        format!("`{given}` needs `{missing}`: means of density, momentum and energy are compared");
    Err(Problem::at(section.span(), message).note("give `density` alone, or all three fields"))
}

/// Refuses fields of gradients where cells have none.
fn check_gradients(output: &OutputFile, reconstruction: Reconstruction) -> Result<(), Problem> {
    if reconstruction != Reconstruction::Constant {
        return Ok(());
    }
    match output
        .requested_fields()
        .find(|name| [SCHLIEREN, VORTICITY].contains(&name.get_ref().as_str()))
    {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("`{}` needs gradients: `reconstruction` is \"constant\"", name.get_ref());
            Err(Problem::at(name.span(), message))
        }
    }
}
