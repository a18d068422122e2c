//! The methods that the tables compare, as parameters of solvers.

use crate::backend::Backend;
use crate::linear::amg::{Coarsening, HierarchyPrecision, Smoother, Sparsification};
use crate::linear::{
    Amg, AmgParams, LinearError, Matrix, Method, Params, PreconditionerKind, Solver,
};
use std::sync::Arc;

/// Iterations allowed of conjugate gradients and of sweeps of Gauss–Seidel.
const MOST_ITERATIONS: usize = 1_000_000;
/// Cycles allowed of multigrid.
const MOST_CYCLES: usize = 2000;
/// α of the improved coarsening.
const BOUNDARY_WEIGHT: f64 = 5.0;

/// One method.
#[derive(Clone, Copy, Debug)]
pub(super) enum PaperMethod {
    /// Gauss–Seidel by colours, always forwards; the residual is looked at after each `sweeps`.
    GaussSeidel { sweeps: usize },
    /// V-cycles of the source's multigrid: two sweeps of Gauss–Seidel before and after each
    /// correction, four on the coarsest level; `beta` on the first coarse level and one more on each
    /// further one, none where A_c is not transformed.
    Source { strength: f64, levels: usize, is_improved: bool, beta: Option<f64> },
    /// Conjugate gradients with Jacobi.
    Jacobi,
    /// Conjugate gradients with the default multigrid.
    Default,
}

impl PaperMethod {
    /// The solver of `matrix`, whose unknowns next to the boundary are flagged: [rows]. Stationary
    /// methods keep the history of residuals where it is asked for.
    pub(super) fn solver(
        self,
        backend: &Backend,
        matrix: &Arc<Matrix<f64>>,
        boundary: &[bool],
        tolerance: f64,
        record_history: bool,
    ) -> Result<Solver<f64>, LinearError> {
        let params = Params {
            relative_tolerance: tolerance,
            max_iterations: MOST_ITERATIONS,
            ..Params::default()
        };
        let by_colour = AmgParams {
            coarsening: Coarsening::RugeStuben,
            smoother: Smoother::GaussSeidel,
            precision: HierarchyPrecision::Same,
            drop_tolerance: 0.0,
            coarse_rows: 1,
            ..AmgParams::default()
        };
        match self {
            PaperMethod::Jacobi => Solver::new(backend, Arc::clone(matrix), &params),
            PaperMethod::Default => {
                let preconditioner = PreconditionerKind::Amg(AmgParams::default());
                let params = Params { preconditioner, max_iterations: MOST_CYCLES, ..params };
                Solver::new(backend, Arc::clone(matrix), &params)
            }
            PaperMethod::GaussSeidel { sweeps } => {
                let amg = AmgParams { max_levels: 1, sweeps: [sweeps, 0], ..by_colour };
                let max_iterations = MOST_ITERATIONS / sweeps.max(1);
                let params = Params { max_iterations, record_history, ..params };
                stationary(backend, matrix, boundary, &amg, &params)
            }
            PaperMethod::Source { strength, levels, is_improved, beta } => {
                let transformation =
                    |beta| Sparsification { beta, increment: 1.0, symmetric: false };
                let amg = AmgParams {
                    strength,
                    boundary_weight: if is_improved { BOUNDARY_WEIGHT } else { 1.0 },
                    sparsification: beta.map(transformation),
                    sweeps: [2, 2],
                    max_levels: levels,
                    ..by_colour
                };
                let params = Params { max_iterations: MOST_CYCLES, record_history, ..params };
                stationary(backend, matrix, boundary, &amg, &params)
            }
        }
    }
}

/// Cycles alone, on a hierarchy that knows the boundary.
fn stationary(
    backend: &Backend,
    matrix: &Arc<Matrix<f64>>,
    boundary: &[bool],
    amg: &AmgParams,
    params: &Params,
) -> Result<Solver<f64>, LinearError> {
    let hierarchy = Amg::<f64>::with_boundary(matrix, amg, Some(boundary.to_vec()))?;
    let params = Params {
        method: Method::Stationary,
        preconditioner: PreconditionerKind::Amg(*amg),
        ..params.clone()
    };
    let operator = Box::new(Arc::clone(matrix));
    Solver::with_preconditioner(backend, operator, Box::new(hierarchy), &params)
}
