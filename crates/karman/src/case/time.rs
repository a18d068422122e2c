//! `[time]`: absent for a steady case.

use super::EQUATIONS;
use super::error::Problem;
use super::names::Names;
use super::value::{Maybe, Sign, number, refuse, required};
use serde::Deserialize;
use toml::Spanned;

/// Time integration from t = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeCase {
    /// The time step.
    pub step: TimeStep,
    /// End time > 0; the last step is shortened to meet it.
    pub end: f64,
    /// Stop earlier once max |∂T/∂t|, for flow max |∂u/∂t|, falls below this.
    pub steady_tolerance: Option<f64>,
}

/// The time step, or the rule that sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// A constant step.
    Fixed(f64),
    /// The key `cfl`, one for all equations: for flow the largest Courant number; for heat the largest cell Fourier
    /// number, Δt Σ_f a_f / (ρc V) with a_f the two-point conductance of face f.
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

impl TimeFile {
    /// Whether steps are local: iterations to a steady state.
    pub(crate) fn has_local_steps(&self) -> bool {
        self.local_step.as_ref().is_some_and(|file| *file.get_ref())
    }

    /// The word of the time scheme, if it is given.
    pub(crate) fn method(&self) -> Option<&Spanned<String>> {
        self.method.as_ref()
    }
}

/// The Courant number of local steps, which end by `[steady]`.
pub(crate) fn local_courant_number(file: &Spanned<TimeFile>) -> Result<f64, Problem> {
    let keys = file.get_ref();
    refuse(&keys.step, "step", "is one for all cells: local steps follow from `cfl`")?;
    refuse(&keys.end, "end", "has no meaning with local steps: `[steady]` ends the iterations")?;
    let why = "has no meaning with local steps: use `tolerance` of `[steady]`";
    refuse(&keys.steady_tolerance, "steady_tolerance", why)?;
    required(&keys.cfl, "cfl", &file.span())?;
    number(&keys.cfl, 0.0, "cfl", Sign::Positive)
}

/// Checks the section without its time scheme; none of local steps, which the equation checks.
pub(crate) fn check(file: &Spanned<TimeFile>, names: Names) -> Result<Option<TimeCase>, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    if let Some(local) = &keys.local_step
        && !names.time_schemes().has_local_steps
    {
        let message = format!("`local_step` is for compressible flow, not for {}", names.label());
        return Err(Problem::at(local.span(), message));
    }
    if keys.has_local_steps() {
        return Ok(None);
    }
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
    Ok(Some(TimeCase {
        step,
        end: number(&keys.end, 0.0, "end", Sign::Positive)?,
        steady_tolerance: tolerance
            .map(|_| number(&keys.steady_tolerance, 0.0, "steady_tolerance", Sign::Positive))
            .transpose()?,
    }))
}

/// The time scheme, read by `from_word` of the equation; its default without `[time]` or `method`.
pub(crate) fn scheme<S>(
    file: Option<&Spanned<TimeFile>>,
    names: Names,
    from_word: fn(&str) -> Option<S>,
) -> Result<S, Problem> {
    let schemes = names.time_schemes();
    let given = file.and_then(|file| file.get_ref().method.as_ref());
    let word = given.map_or(schemes.default, |given| given.get_ref());
    from_word(word).ok_or_else(|| {
        let owner = EQUATIONS.iter().find(|equation| equation.time_schemes.words.contains(&word));
        let message = match owner {
            Some(owner) => {
                format!("`{word}` is a method for {}, not for {}", owner.label, names.label())
            }
            None => format!("unknown value `{word}`"),
        };
        let place = given.map_or(0..0, Spanned::span);
        Problem::at(place, message).among(word, "valid values", schemes.words.iter().copied())
    })
}
