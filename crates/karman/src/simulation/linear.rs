//! Parameters of a solver from `[linear_solver]` of a case, and the summary of a solver.

use crate::case::LinearSolverCase;
use crate::linear::{
    HierarchyReport, Method, Params, PreconditionerKind, SolveOutcome, SolverSetup,
};
use crate::summary::LinearSummary;

/// Properties of the linear systems of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Systems {
    /// Whether a non-orthogonal correction makes them unsymmetric.
    pub corrected: bool,
    /// Whether the case is steady, with a single system.
    pub steady: bool,
    /// Whether the mesh is 2D.
    pub is_2d: bool,
}

/// Parameters of a solver. `auto` is conjugate gradients for symmetric systems, BiCGStab for corrected
/// systems, FGMRES for unsymmetric cycles; multigrid for large systems on the host, else a Chebyshev
/// polynomial for steady corrected systems and Jacobi for the others. The products of the polynomial leave
/// out the correction (on 100 k tetrahedra it took half the time). In 2D rows are short on all levels without
/// pairwise passes, which would cost iterations and save nothing.
pub(super) fn params(case: &LinearSolverCase, systems: Systems) -> Params {
    let Systems { corrected, steady, is_2d } = systems;
    let mut preconditioner = case.preconditioner;
    let mut is_symmetric = true;
    if let Some(amg) = preconditioner.amg_mut() {
        if is_2d && case.passes_by_dimension {
            amg.pairwise_passes = 0;
        }
        is_symmetric = amg.is_symmetric();
    }
    let method = case.method.unwrap_or(match (corrected, is_symmetric) {
        (true, _) => Method::BiCgStab,
        (false, true) => Method::ConjugateGradient,
        (false, false) => Method::Fgmres,
    });
    if let PreconditionerKind::Auto { amg, .. } = preconditioner {
        preconditioner = match method {
            Method::Stationary => PreconditionerKind::Amg(amg),
            _ => PreconditionerKind::Auto { amg, polynomial: corrected && steady },
        };
    }
    Params {
        method,
        preconditioner,
        relative_tolerance: case.relative_tolerance,
        max_iterations: case.max_iterations,
        ..Params::default()
    }
}

/// A solver and the cost of its set-up; `work_units` are those of an iteration.
pub(super) fn summary_of(setup: &SolverSetup) -> LinearSummary {
    let hierarchy = setup.hierarchy.as_ref();
    LinearSummary {
        method: setup.method.word().to_owned(),
        preconditioner: setup.preconditioner.to_owned(),
        levels: hierarchy.map(|h| h.levels.len() as u64),
        operator_complexity: hierarchy.map(HierarchyReport::operator_complexity),
        grid_complexity: hierarchy.map(HierarchyReport::grid_complexity),
        // Those of a cycle, plus the product of an iteration.
        work_units: hierarchy.map(|h| h.work_units + 1.0),
        setup_seconds: setup.seconds,
        ..LinearSummary::default()
    }
}

/// The summary of all solves of a run: `before`, and a further one that took `seconds`.
pub(super) fn after_solve(
    solver: LinearSummary,
    before: &LinearSummary,
    outcome: &SolveOutcome,
    seconds: f64,
) -> LinearSummary {
    let factor = outcome.relative_residual.powf(1.0 / outcome.iterations.max(1) as f64);
    let orders = -factor.log10();
    LinearSummary {
        solves: before.solves + 1,
        iterations: before.iterations + outcome.iterations as u64,
        last_iterations: outcome.iterations as u64,
        relative_residual: outcome.relative_residual,
        convergence_factor: factor,
        work_units: solver.work_units.filter(|_| orders > 0.0).map(|units| units / orders),
        solve_seconds: before.solve_seconds + seconds,
        ..solver
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Equation};
    use crate::linear::AmgParams;
    use crate::linear::amg::{Coarsening, Smoother};
    use std::path::Path;

    /// A solver with these keys.
    fn solver(keys: &str) -> LinearSolverCase {
        let text = format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [2, 2]\n[heat]\n[linear_solver]\n{keys}"
        );
        let case = Case::parse(&text, Path::new(""), "a.toml").unwrap();
        let Equation::Heat(heat) = case.equation else { unreachable!("[heat]") };
        heat.linear_solver
    }

    #[test]
    fn solver_parameters_follow_the_case() {
        let plain = Systems { corrected: false, steady: true, is_2d: false };
        let of = |keys: &str| params(&solver(keys), plain);
        let default = PreconditionerKind::Amg(AmgParams::default());
        let got = of("preconditioner = \"amg\"");
        assert_eq!((got.method, got.preconditioner), (Method::ConjugateGradient, default));
        assert_eq!(of("preconditioner = \"amg\"\namg.cycle = \"k\"").method, Method::Fgmres);
        let got = of("method = \"multigrid\"\n[linear_solver.amg]\ncoarsening = \"ruge_stuben\"\n\
                      smoother = \"gauss_seidel\"\nboundary_weight = 5.0\nsweeps = [2, 2]");
        assert_eq!(got.method, Method::Stationary);
        let PreconditionerKind::Amg(amg) = got.preconditioner else { panic!() };
        assert_eq!(amg.coarsening, Coarsening::RugeStuben);
        assert_eq!((amg.cycling.smoother, amg.cycling.sweeps), (Smoother::GaussSeidel, [2, 2]));
        assert_eq!(amg.boundary_weight, 5.0);
        let case = solver("");
        let amg = AmgParams::default();
        let auto = |polynomial| PreconditionerKind::Auto { amg, polynomial };
        assert_eq!(params(&case, plain).preconditioner, auto(false));
        let corrected = |steady| Systems { corrected: true, steady, is_2d: false };
        assert_eq!(params(&case, corrected(true)).preconditioner, auto(true));
        assert_eq!(params(&case, corrected(false)).preconditioner, auto(false));
        let passes = |keys: &str| {
            [false, true].map(|is_2d| {
                let mut got = params(&solver(keys), Systems { is_2d, ..plain }).preconditioner;
                got.amg_mut().unwrap().pairwise_passes
            })
        };
        assert_eq!(passes(""), [1, 0]);
        assert_eq!(passes("amg.pairwise_passes = 2"), [2, 2]);
        assert_eq!(passes("amg.coarsening = \"aggregation\""), [3, 3]);
    }
}
