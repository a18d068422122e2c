//! Parameters of a solver from `[linear_solver]` of a case, and the summary of a solver.

use crate::case::{
    AmgParameters, Coarsening as CoarseningCase, Cycle as CycleCase,
    HierarchyPrecision as HierarchyPrecisionCase, LinearSolverCase, Preconditioner,
    Smoother as SmootherCase, SolverMethod,
};
use crate::linear::amg::{Coarsening, Cycle, HierarchyPrecision, Smoother, Sparsification};
use crate::linear::{AmgParams, HierarchyReport, Method, Params, PreconditionerKind, SolverSetup};
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
/// out the correction (on 100 k tetrahedra it took half the time).
pub(super) fn params(case: &LinearSolverCase, systems: Systems) -> Params {
    let Systems { corrected, steady, is_2d } = systems;
    let amg = amg_params(&case.amg, is_2d);
    let uses_amg = matches!(case.preconditioner, Preconditioner::Auto | Preconditioner::Amg);
    let method = match case.method {
        SolverMethod::Auto if corrected => Method::BiCgStab,
        SolverMethod::Auto if uses_amg && !amg.is_symmetric() => Method::Fgmres,
        SolverMethod::Auto | SolverMethod::Cg => Method::ConjugateGradient,
        SolverMethod::SingleReductionCg => Method::SingleReduction,
        SolverMethod::FlexibleCg => Method::FlexibleConjugateGradient,
        SolverMethod::BiCgStab => Method::BiCgStab,
        SolverMethod::Fgmres => Method::Fgmres,
        SolverMethod::Multigrid => Method::Stationary,
    };
    let chebyshev = PreconditionerKind::Chebyshev { degree: 4, ratio: 30.0 };
    let preconditioner = match case.preconditioner {
        Preconditioner::Auto if method == Method::Stationary => PreconditionerKind::Amg(amg),
        Preconditioner::Auto => PreconditionerKind::Auto { amg, polynomial: corrected && steady },
        Preconditioner::Jacobi => PreconditionerKind::Jacobi,
        Preconditioner::None => PreconditionerKind::None,
        Preconditioner::GaussSeidel => PreconditionerKind::GaussSeidel,
        Preconditioner::Chebyshev => chebyshev,
        Preconditioner::Amg => PreconditionerKind::Amg(amg),
    };
    Params {
        method,
        preconditioner,
        relative_tolerance: case.relative_tolerance,
        max_iterations: case.max_iterations,
        ..Params::default()
    }
}

/// Parameters of AMG. In 2D rows are short on all levels without pairwise passes, which would cost iterations
/// and save nothing.
fn amg_params(case: &AmgParameters, is_2d: bool) -> AmgParams {
    let sparsification = |s: crate::case::Sparsification| Sparsification {
        beta: s.beta,
        increment: s.increment,
        symmetric: s.symmetric,
    };
    let coarsening = match case.coarsening {
        CoarseningCase::Pmis => Coarsening::Pmis,
        CoarseningCase::RugeStuben => Coarsening::RugeStuben,
        CoarseningCase::Aggregation => Coarsening::Aggregation,
    };
    AmgParams {
        coarsening,
        pairwise_passes: case.pairwise_passes.unwrap_or(match coarsening {
            Coarsening::Aggregation => 3,
            _ if is_2d => 0,
            _ => AmgParams::default().pairwise_passes,
        }),
        interpolation_entries: if coarsening == Coarsening::Aggregation { 4 } else { 3 },
        strength: case.strength,
        drop_tolerance: case.drop_tolerance,
        max_levels: case.max_levels,
        boundary_weight: case.boundary_weight,
        sparsification: case.sparsification.map(sparsification),
        smoother: match case.smoother {
            SmootherCase::L1Jacobi => Smoother::L1Jacobi,
            SmootherCase::Chebyshev => Smoother::Chebyshev { degree: 2 },
            SmootherCase::GaussSeidel => Smoother::GaussSeidel,
        },
        sweeps: case.sweeps,
        cycle: match case.cycle {
            CycleCase::V => Cycle::V,
            CycleCase::W => Cycle::W,
            CycleCase::F => Cycle::F,
            CycleCase::K => Cycle::K,
        },
        precision: match case.hierarchy_precision {
            HierarchyPrecisionCase::F64 => HierarchyPrecision::Same,
            HierarchyPrecisionCase::F32 | HierarchyPrecisionCase::F16 => HierarchyPrecision::Single,
        },
        ..AmgParams::default()
    }
}

/// A solver and the cost of its set-up; `work_units` are those of an iteration.
pub(super) fn summary_of(setup: &SolverSetup) -> LinearSummary {
    let hierarchy = setup.hierarchy.as_ref();
    LinearSummary {
        method: setup.method.name().to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn solver(method: SolverMethod, preconditioner: Preconditioner) -> LinearSolverCase {
        LinearSolverCase {
            method,
            preconditioner,
            relative_tolerance: 1e-8,
            max_iterations: 500,
            amg: AmgParameters::default(),
        }
    }

    #[test]
    fn solver_parameters_follow_the_case() {
        let plain = Systems { corrected: false, steady: true, is_2d: false };
        let of = |case: &LinearSolverCase| params(case, plain);
        let mut case = solver(SolverMethod::Auto, Preconditioner::Amg);
        let default = PreconditionerKind::Amg(AmgParams::default());
        let got = of(&case);
        assert_eq!((got.method, got.preconditioner), (Method::ConjugateGradient, default));
        case.amg.cycle = CycleCase::K;
        assert_eq!(of(&case).method, Method::Fgmres);
        case = solver(SolverMethod::Multigrid, Preconditioner::Auto);
        case.amg.coarsening = CoarseningCase::RugeStuben;
        case.amg.smoother = SmootherCase::GaussSeidel;
        case.amg.boundary_weight = 5.0;
        case.amg.sweeps = [2, 2];
        let got = of(&case);
        assert_eq!(got.method, Method::Stationary);
        let PreconditionerKind::Amg(amg) = got.preconditioner else { panic!() };
        assert_eq!(amg.coarsening, Coarsening::RugeStuben);
        assert_eq!((amg.smoother, amg.sweeps), (Smoother::GaussSeidel, [2, 2]));
        assert_eq!(amg.boundary_weight, 5.0);
        case = solver(SolverMethod::Auto, Preconditioner::Auto);
        let amg = AmgParams::default();
        let auto = |polynomial| PreconditionerKind::Auto { amg, polynomial };
        assert_eq!(of(&case).preconditioner, auto(false));
        let corrected = |steady| Systems { corrected: true, steady, is_2d: false };
        assert_eq!(params(&case, corrected(true)).preconditioner, auto(true));
        assert_eq!(params(&case, corrected(false)).preconditioner, auto(false));
        let passes = |case: &LinearSolverCase, is_2d| amg_params(&case.amg, is_2d).pairwise_passes;
        assert_eq!([false, true].map(|is_2d| passes(&case, is_2d)), [1, 0]);
        case.amg.pairwise_passes = Some(2);
        assert_eq!(passes(&case, true), 2);
        case.amg.pairwise_passes = None;
        case.amg.coarsening = CoarseningCase::Aggregation;
        assert_eq!(passes(&case, true), 3);
    }
}
