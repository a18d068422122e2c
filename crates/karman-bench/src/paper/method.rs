//! The methods that the tables compare, as parameters of solvers.

use karman::backend::Backend;
use karman::linear::amg::{Coarsening, HierarchyPrecision, Smoother, Sparsification};
use karman::linear::{
    Amg, AmgParams, LinearError, Matrix, Method, Params, PreconditionerKind, Solver,
};
use std::sync::Arc;

/// Iterations allowed of conjugate gradients and of sweeps of Gauss–Seidel.
const MOST_ITERATIONS: usize = 1_000_000;
/// Iterations allowed of conjugate gradients with the default multigrid.
const MOST_CYCLES: usize = 2000;

/// One method.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PaperMethod {
    /// Gauss–Seidel by colours, always forwards; the residual is looked at after each `sweeps`.
    GaussSeidel { sweeps: usize },
    /// V-cycles of the source's multigrid.
    Source(SourceMultigrid),
    /// Conjugate gradients with Jacobi.
    Jacobi,
    /// Conjugate gradients with the default multigrid.
    Default,
}

/// The source's multigrid: two sweeps of Gauss–Seidel before and after each correction, four on the
/// coarsest level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceMultigrid {
    /// θ.
    pub strength: f64,
    /// Most levels.
    pub levels: usize,
    /// α: above 1 the improved coarsening.
    pub boundary_weight: f64,
    /// β on the first coarse level and by how much it grows; none where A_c is not transformed.
    pub beta: Option<[f64; 2]>,
    /// Cycles allowed.
    pub cycles: usize,
}

impl PaperMethod {
    /// The solver of `matrix`, whose unknowns next to the boundary are flagged: [rows]. Of `params` the
    /// tolerance and the null space count; stationary methods keep the history of residuals where that
    /// asks for it.
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
            PaperMethod::Source(source) => {
                let transformation = |[beta, increment]: [f64; 2]| Sparsification {
                    beta,
                    increment,
                    symmetric: false,
                };
                let amg = AmgParams {
                    strength: source.strength,
                    boundary_weight: source.boundary_weight,
                    sparsification: source.beta.map(transformation),
                    sweeps: [2, 2],
                    max_levels: source.levels,
                    ..by_colour
                };
                let params = Params { max_iterations: source.cycles, record_history, ..params };
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
