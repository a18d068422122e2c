//! `[steady]`: the iteration of a flow without `[time]` towards its steady state.

use super::error::Problem;
use super::value::{Maybe, Sign, number, refuse};
use serde::Deserialize;
use toml::Spanned;

/// The iteration towards a steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyCase {
    /// Stop once the scaled residuals of momentum, mass and temperature are below this; default 1e-6.
    pub tolerance: f64,
    /// Maximum number of iterations; default 1000.
    pub max_iterations: usize,
    /// Courant number of the first pseudo-time steps; default 5, incompressible 10.
    pub pseudo_cfl: f64,
}

impl Default for SteadyCase {
    fn default() -> Self {
        SteadyCase { tolerance: 1e-6, max_iterations: 1000, pseudo_cfl: 5.0 }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SteadyFile {
    tolerance: Maybe<f64>,
    max_iterations: Maybe<usize>,
    pseudo_cfl: Maybe<f64>,
}

impl SteadyFile {
    /// Refuses `pseudo_cfl` where something else sets the steps.
    pub(crate) fn refuse_pseudo_cfl(&self, why: &str) -> Result<(), Problem> {
        refuse(&self.pseudo_cfl, "pseudo_cfl", &format!("has no effect: {why}"))
    }
}

/// Checks the section of a steady flow with its default of `pseudo_cfl`.
pub(crate) fn check(
    file: Option<&Spanned<SteadyFile>>,
    pseudo_cfl: f64,
) -> Result<SteadyCase, Problem> {
    let default = SteadyCase { pseudo_cfl, ..SteadyCase::default() };
    let Some(keys) = file.map(Spanned::get_ref) else { return Ok(default) };
    let max_iterations = match &keys.max_iterations {
        None => default.max_iterations,
        Some(file) if *file.get_ref() > 0 => *file.get_ref(),
        Some(file) => return Err(Problem::at(file.span(), "`max_iterations` must be 1 or more")),
    };
    Ok(SteadyCase {
        tolerance: number(&keys.tolerance, default.tolerance, "tolerance", Sign::Positive)?,
        max_iterations,
        pseudo_cfl: number(&keys.pseudo_cfl, default.pseudo_cfl, "pseudo_cfl", Sign::Positive)?,
    })
}
