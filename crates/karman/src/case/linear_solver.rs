//! `[linear_solver]`, and sections with its keys: solution of linear systems.

use super::amg::{self, AmgFile, AmgParameters};
use super::error::Problem;
use super::value::{Maybe, Sign, number};
use karman_macros::Keyword;
use serde::Deserialize;
use toml::Spanned;

/// A linear solver and its stopping criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSolverCase {
    /// The iterative method; default `auto`.
    pub method: SolverMethod,
    /// Its preconditioner; default `auto`.
    pub preconditioner: Preconditioner,
    /// Stop once ‖b − Ax‖ ≤ tolerance ‖b‖, with 0 after `max_iterations`; default 1e-8, in a
    /// flow 1e-6.
    pub relative_tolerance: f64,
    /// Maximum number of iterations of a solve; default 500.
    pub max_iterations: usize,
    /// Parameters of algebraic multigrid.
    pub amg: AmgParameters,
}

/// Iterative methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum SolverMethod {
    /// CG where the matrix is symmetric, BiCGStab where it is not.
    Auto,
    /// Conjugate gradients.
    Cg,
    /// Conjugate gradients with one reduction an iteration.
    SingleReductionCg,
    /// Conjugate gradients for a variable preconditioner.
    FlexibleCg,
    /// Stabilised biconjugate gradients.
    #[word = "bicgstab"]
    BiCgStab,
    /// Flexible GMRES.
    Fgmres,
    /// Multigrid cycles alone.
    Multigrid,
}

/// Preconditioners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Preconditioner {
    /// The best known for the method and the backend.
    Auto,
    /// None.
    None,
    /// Division by the diagonal.
    Jacobi,
    /// Multicolour symmetric Gauss–Seidel.
    GaussSeidel,
    /// Chebyshev polynomial.
    Chebyshev,
    /// A cycle of algebraic multigrid.
    Amg,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinearSolverFile {
    method: Maybe<SolverMethod>,
    preconditioner: Maybe<Preconditioner>,
    relative_tolerance: Maybe<f64>,
    max_iterations: Maybe<usize>,
    pub(crate) amg: Maybe<AmgFile>,
}

/// The warning for parameters of multigrid with another preconditioner.
pub(crate) fn amg_without_effect(keys: &LinearSolverFile, section: &str) -> Option<Problem> {
    let amg = keys.amg.as_ref()?;
    let preconditioner = *keys.preconditioner.as_ref()?.get_ref();
    if matches!(preconditioner, Preconditioner::Auto | Preconditioner::Amg) {
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
    let Some(file) = file else {
        return Ok(LinearSolverCase {
            method: SolverMethod::Auto,
            preconditioner: Preconditioner::Auto,
            relative_tolerance: tolerance,
            max_iterations: 500,
            amg: AmgParameters::default(),
        });
    };
    let keys = file.get_ref();
    let method = keys.method.as_ref().map_or(SolverMethod::Auto, |file| *file.get_ref());
    let preconditioner =
        keys.preconditioner.as_ref().map_or(Preconditioner::Auto, |file| *file.get_ref());
    let is_amg = matches!(preconditioner, Preconditioner::Auto | Preconditioner::Amg);
    if let Some(file) = keys.preconditioner.as_ref()
        && method == SolverMethod::Multigrid
        && !is_amg
    {
        let message = "`method = \"multigrid\"` iterates with cycles of algebraic multigrid alone";
        return Err(Problem::at(file.span(), message).note("leave `preconditioner` out"));
    }
    let relative_tolerance =
        number(&keys.relative_tolerance, tolerance, "relative_tolerance", Sign::NotNegative)?;
    if let Some(file) = keys.relative_tolerance.as_ref().filter(|_| relative_tolerance >= 1.0) {
        let message = format!("`relative_tolerance` must be below 1, not {relative_tolerance}");
        return Err(Problem::at(file.span(), message));
    }
    let max_iterations = match &keys.max_iterations {
        None => 500,
        Some(file) if *file.get_ref() > 0 => *file.get_ref(),
        Some(file) => return Err(Problem::at(file.span(), "`max_iterations` must be 1 or more")),
    };
    let amg = amg::check(keys.amg.as_ref())?;
    Ok(LinearSolverCase { method, preconditioner, relative_tolerance, max_iterations, amg })
}
