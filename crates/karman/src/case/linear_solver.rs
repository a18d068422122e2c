//! `[linear_solver]`, and sections with its keys: solution of linear systems.

use super::amg::{self, AmgFile};
use super::error::Problem;
use super::value::{Maybe, Sign, number};
use super::word::choice_or_word;
use crate::linear::{AmgParams, Method, PreconditionerKind};
use serde::Deserialize;
use toml::Spanned;

/// A linear solver and its stopping criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSolverCase {
    /// The iterative method; default `None`, `auto`: conjugate gradients where the matrix is symmetric, BiCGStab
    /// where it is not.
    pub method: Option<Method>,
    /// Its preconditioner with the parameters of multigrid; default `auto`.
    pub preconditioner: PreconditionerKind,
    /// Whether the passes of pairwise matching of multigrid depend on the dimension of the mesh: 1 in 3D, 0 in 2D;
    /// otherwise they are those of the parameters.
    pub passes_by_dimension: bool,
    /// Stop once ‖b − Ax‖ ≤ tolerance ‖b‖, with 0 after `max_iterations`; default 1e-8, in a
    /// flow 1e-6.
    pub relative_tolerance: f64,
    /// Maximum number of iterations of a solve; default 500.
    pub max_iterations: usize,
}

choice_or_word! {
    /// `method`; `None`: `auto`.
    MethodFile(Method), &["auto"], Method::WORDS
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinearSolverFile {
    method: Option<MethodFile>,
    preconditioner: Maybe<PreconditionerKind>,
    relative_tolerance: Maybe<f64>,
    max_iterations: Maybe<usize>,
    pub(crate) amg: Maybe<AmgFile>,
}

/// The warning for parameters of multigrid with another preconditioner.
pub(crate) fn amg_without_effect(keys: &LinearSolverFile, section: &str) -> Option<Problem> {
    let amg = keys.amg.as_ref()?;
    let mut preconditioner = *keys.preconditioner.as_ref()?.get_ref();
    if preconditioner.amg_mut().is_some() {
        return None;
    }
    let word = preconditioner.word();
    let message = format!("[{section}.amg] has no effect: the preconditioner is \"{word}\"");
    Some(Problem::at(amg.span(), message))
}

/// Checks a section with these keys; `tolerance` is the default of `relative_tolerance`.
pub(crate) fn check(
    file: Option<&Spanned<LinearSolverFile>>,
    tolerance: f64,
) -> Result<LinearSolverCase, Problem> {
    let mut case = LinearSolverCase {
        method: None,
        preconditioner: PreconditionerKind::Auto { amg: AmgParams::DEFAULT, polynomial: false },
        passes_by_dimension: true,
        relative_tolerance: tolerance,
        max_iterations: 500,
    };
    let Some(file) = file else { return Ok(case) };
    let keys = file.get_ref();
    if let Some(MethodFile(method)) = keys.method {
        case.method = method;
    }
    if let Some(file) = &keys.preconditioner {
        case.preconditioner = *file.get_ref();
        if case.method == Some(Method::Stationary) && case.preconditioner.amg_mut().is_none() {
            let message =
                "`method = \"multigrid\"` iterates with cycles of algebraic multigrid alone";
            return Err(Problem::at(file.span(), message).note("leave `preconditioner` out"));
        }
    }
    case.relative_tolerance =
        number(&keys.relative_tolerance, tolerance, "relative_tolerance", Sign::NotNegative)?;
    let tolerance = case.relative_tolerance;
    if let Some(file) = keys.relative_tolerance.as_ref().filter(|_| tolerance >= 1.0) {
        let message = format!("`relative_tolerance` must be below 1, not {tolerance}");
        return Err(Problem::at(file.span(), message));
    }
    match &keys.max_iterations {
        None => {}
        Some(file) if *file.get_ref() > 0 => case.max_iterations = *file.get_ref(),
        Some(file) => return Err(Problem::at(file.span(), "`max_iterations` must be 1 or more")),
    }
    let (params, passes_by_dimension) = amg::check(keys.amg.as_ref())?;
    case.passes_by_dimension = passes_by_dimension;
    if let Some(amg) = case.preconditioner.amg_mut() {
        *amg = params;
    }
    Ok(case)
}
