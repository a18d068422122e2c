//! The methods of the tables, as parameters of solvers.

use karman::backend::Backend;
use karman::linear::amg::{Coarsening, CycleParams, HierarchyPrecision, Smoother, Sparsification};
use karman::linear::{
    Amg, AmgParams, LinearError, Matrix, Method, Params, PreconditionerKind, Solver,
};
use std::sync::Arc;

/// Iterations allowed of conjugate gradients and of sweeps of Gauss–Seidel.
const MOST_ITERATIONS: usize = 1_000_000;
/// Iterations allowed of conjugate gradients with the default multigrid.
const MOST_CYCLES: usize = 2000;

/// A method of the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ThesisMethod {
    /// Multicolour Gauss–Seidel, forward sweeps; the residual is evaluated after each `sweeps` of them.
    GaussSeidel { sweeps: usize },
    /// V-cycles of Kamakolanu's AMG.
    Kamakolanu(KamakolanuAmg),
    /// Conjugate gradients with Jacobi.
    Jacobi,
    /// Conjugate gradients with the default multigrid.
    Default,
}

/// Kamakolanu's AMG: two sweeps of Gauss–Seidel before and after each coarse-grid correction, four on
/// the coarsest level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KamakolanuAmg {
    /// θ.
    pub strength: f64,
    /// Most levels.
    pub levels: usize,
    /// α; above 1 it gives the improved coarsening.
    pub boundary_weight: f64,
    /// β on the first coarse level and its increment per level; none where A_c is not transformed.
    pub beta: Option<[f64; 2]>,
    /// Cycles allowed.
    pub cycles: usize,
}

impl ThesisMethod {
    /// The solver of `matrix`; `boundary` flags unknowns next to the boundary: [rows]. It takes tolerance
    /// and null space from `params`, and for stationary methods whether to record the residual history.
    pub(crate) fn solver(
        self,
        backend: &Backend,
        matrix: &Arc<Matrix<f64>>,
        boundary: &[bool],
        params: &Params,
    ) -> Result<Solver<f64>, LinearError> {
        let record_history = params.record_history;
        let params =
            Params { max_iterations: MOST_ITERATIONS, record_history: false, ..params.clone() };
        let multicolour = AmgParams {
            coarsening: Coarsening::RugeStuben,
            precision: HierarchyPrecision::Same,
            drop_tolerance: 0.0,
            coarse_rows: 1,
            cycling: CycleParams { smoother: Smoother::GaussSeidel, ..CycleParams::DEFAULT },
            ..AmgParams::default()
        };
        match self {
            ThesisMethod::Jacobi => Solver::new(backend, Arc::clone(matrix), &params),
            ThesisMethod::Default => {
                let preconditioner = PreconditionerKind::Amg(AmgParams::default());
                let params = Params { preconditioner, max_iterations: MOST_CYCLES, ..params };
                Solver::new(backend, Arc::clone(matrix), &params)
            }
            ThesisMethod::GaussSeidel { sweeps } => {
                let amg = AmgParams {
                    max_levels: 1,
                    cycling: CycleParams { sweeps: [sweeps, 0], ..multicolour.cycling },
                    ..multicolour
                };
                let max_iterations = MOST_ITERATIONS / sweeps.max(1);
                let params = Params { max_iterations, record_history, ..params };
                stationary(backend, matrix, boundary, &amg, &params)
            }
            ThesisMethod::Kamakolanu(kamakolanu) => {
                let transformation = |[beta, increment]: [f64; 2]| Sparsification {
                    beta,
                    increment,
                    symmetric: false,
                };
                let amg = AmgParams {
                    strength: kamakolanu.strength,
                    boundary_weight: kamakolanu.boundary_weight,
                    sparsification: kamakolanu.beta.map(transformation),
                    max_levels: kamakolanu.levels,
                    cycling: CycleParams { sweeps: [2, 2], ..multicolour.cycling },
                    ..multicolour
                };
                let params = Params { max_iterations: kamakolanu.cycles, record_history, ..params };
                stationary(backend, matrix, boundary, &amg, &params)
            }
        }
    }
}

/// Stationary cycles on a hierarchy whose coarsening weights the boundary.
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
