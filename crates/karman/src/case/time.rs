//! `[time]`: absent for a steady heat case.

use super::error::Problem;
use super::keyword::keyword;
use super::value::{Maybe, Sign, number, refuse, required};
use serde::Deserialize;
use toml::Spanned;

/// A run in time from t = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeCase {
    /// The scheme; default `crank_nicolson`.
    pub method: HeatTimeMethod,
    /// How long a step is.
    pub step: TimeStep,
    /// Time at the end, > 0; the last step is shortened to meet it.
    pub end: f64,
    /// Stop earlier once max |∂T/∂t| falls below this.
    pub steady_tolerance: Option<f64>,
}

keyword! {
    /// Schemes for heat conduction.
    pub enum HeatTimeMethod {
        /// First order, damps everything.
        BackwardEuler = "backward_euler",
        /// Second order, keeps high frequencies.
        CrankNicolson = "crank_nicolson",
        /// Second order, damps high frequencies.
        Bdf2 = "bdf2",
    }
}

/// Length of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// Always the same.
    Fixed(f64),
    /// For heat the largest cell Fourier number, Δt Σ_f a_f / (ρc V) with a_f the two-point
    /// conductance of face f.
    Cfl(f64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeFile {
    method: Option<HeatTimeMethod>,
    step: Maybe<f64>,
    cfl: Maybe<f64>,
    end: Maybe<f64>,
    steady_tolerance: Maybe<f64>,
    local_step: Maybe<bool>,
}

pub(crate) fn check(file: &Spanned<TimeFile>) -> Result<TimeCase, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    refuse(&keys.local_step, "local_step", "is for [euler] alone")?;
    let step = match (&keys.step, &keys.cfl) {
        (Some(_), None) => TimeStep::Fixed(number(&keys.step, 0.0, "step", Sign::Positive)?),
        (None, Some(_)) => TimeStep::Cfl(number(&keys.cfl, 0.0, "cfl", Sign::Positive)?),
        (Some(_), Some(cfl)) => {
            let message = "`step` and `cfl` both set the length of a step: keep one";
            return Err(Problem::at(cfl.span(), message));
        }
        (None, None) => return Err(Problem::at(span, "`step` or `cfl` is missing")),
    };
    required(&keys.end, "end", &span)?;
    let tolerance = keys.steady_tolerance.as_ref();
    Ok(TimeCase {
        method: keys.method.unwrap_or(HeatTimeMethod::CrankNicolson),
        step,
        end: number(&keys.end, 0.0, "end", Sign::Positive)?,
        steady_tolerance: tolerance
            .map(|_| number(&keys.steady_tolerance, 0.0, "steady_tolerance", Sign::Positive))
            .transpose()?,
    })
}
