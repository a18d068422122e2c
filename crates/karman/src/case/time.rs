//! `[time]`: absent for a steady heat case.

use super::error::Problem;
use super::names::Names;
use super::value::{Maybe, Sign, number, refuse, required};
use crate::{heat, incompressible};
use serde::Deserialize;
use toml::Spanned;

/// Time integration from t = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeCase {
    /// The scheme, one of the equation; default `crank_nicolson` for heat, `bdf2` for flow.
    pub method: TimeMethod,
    /// The time step.
    pub step: TimeStep,
    /// End time > 0; the last step is shortened to meet it.
    pub end: f64,
    /// Stop earlier once max |∂T/∂t|, for flow max |∂u/∂t|, falls below this.
    pub steady_tolerance: Option<f64>,
}

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeMethod {
    /// Of a heat case.
    Heat(heat::Scheme),
    /// Of an incompressible flow.
    Flow(incompressible::Scheme),
}

/// The time step, or the rule that sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// A constant step.
    Fixed(f64),
    /// For heat the largest cell Fourier number, Δt Σ_f a_f / (ρc V) with a_f the two-point
    /// conductance of face f; for flow the largest Courant number.
    Cfl(f64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeFile {
    method: Maybe<String>,
    step: Maybe<f64>,
    cfl: Maybe<f64>,
    end: Maybe<f64>,
    steady_tolerance: Maybe<f64>,
    local_step: Maybe<bool>,
}

pub(crate) fn check(file: &Spanned<TimeFile>, names: Names) -> Result<TimeCase, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    let method = method(&keys.method, names)?;
    refuse(&keys.local_step, "local_step", "is for [euler] alone")?;
    let step = match (&keys.step, &keys.cfl) {
        (Some(_), None) => TimeStep::Fixed(number(&keys.step, 0.0, "step", Sign::Positive)?),
        (None, Some(_)) => TimeStep::Cfl(number(&keys.cfl, 0.0, "cfl", Sign::Positive)?),
        (Some(_), Some(cfl)) => {
            let message = "`step` and `cfl` both set the time step: keep one";
            return Err(Problem::at(cfl.span(), message));
        }
        (None, None) => return Err(Problem::at(span, "`step` or `cfl` is missing")),
    };
    required(&keys.end, "end", &span)?;
    let tolerance = keys.steady_tolerance.as_ref();
    Ok(TimeCase {
        method,
        step,
        end: number(&keys.end, 0.0, "end", Sign::Positive)?,
        steady_tolerance: tolerance
            .map(|_| number(&keys.steady_tolerance, 0.0, "steady_tolerance", Sign::Positive))
            .transpose()?,
    })
}

fn method(file: &Maybe<String>, names: Names) -> Result<TimeMethod, Problem> {
    let Some(file) = file else {
        return Ok(match names.is_flow() {
            true => TimeMethod::Flow(incompressible::Scheme::Bdf2),
            false => TimeMethod::Heat(heat::Scheme::CrankNicolson),
        });
    };
    let word = file.get_ref().as_str();
    let heat = heat::Scheme::from_word(word).map(TimeMethod::Heat);
    let flow = incompressible::Scheme::from_word(word).map(TimeMethod::Flow);
    let (known, valid, other, place) = match names.is_flow() {
        true => (flow, incompressible::Scheme::WORDS, heat, "heat, not for flow"),
        false => (heat, heat::Scheme::WORDS, flow, "flow, not for heat"),
    };
    known.ok_or_else(|| {
        let message = match other {
            Some(_) => format!("`{word}` is a method for {place}"),
            None => format!("unknown value `{word}`"),
        };
        Problem::at(file.span(), message).among(word, "valid values", valid.iter().copied())
    })
}
