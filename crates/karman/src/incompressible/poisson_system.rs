//! The Poisson equation of ψ, the potential of the velocity correction, and the data of ψ that change.

use super::local_steps::LocalSteps;
use super::pressure_conditions::PressureConditions;
use super::{Arrangement, IncompressibleError, Numerics, TimeScheme};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{
    BoundaryContribution, BoundaryContributionOnBackend, Faces, NonOrthogonalCorrection,
    NonOrthogonalCorrectionOnBackend,
};
use crate::linear::{CsrMatrix, InitialGuess, Matrix, Nullspace, Params, Solver, SolverSetup};
use crate::real::Real;
use std::sync::Arc;
use std::time::Instant;

/// ψ, minus the increment of the pressure over the shift (m²/s), and the data of its equation that change.
pub(super) struct PressureIncrement<F: Real> {
    /// ψ: `[n_cells]`.
    pub value: Buffer<F>,
    /// ∇ψ, of a steady flow s ∇ψ with the local steps s: `[3][n_cells]`.
    pub gradient: Buffer<F>,
    pub at_boundary: Buffer<F>,
    /// Dirichlet values of ψ.
    pub prescribed: Buffer<F>,
    /// D F*: `[n_cells]`.
    pub divergence: Buffer<F>,
    /// Right-hand side of the last solve: `[n_cells]`.
    pub right_hand_side: Buffer<F>,
    /// ∇ψ of the non-orthogonal correction in the last right-hand side; of length 1 without correction.
    pub correction_gradient: Buffer<F>,
    /// Initial guess of ψ from the last projections; none if each begins from 0 or another guess.
    pub guess: Option<InitialGuess<F>>,
}

/// The Poisson equation of ψ.
pub(super) struct PoissonSystem<F: Real> {
    /// A: `[n_cells]` squared.
    pub matrix: Arc<Matrix<F>>,
    /// a, of a steady flow times the mean s of both cells: `[n_faces]`, 0 where the flux is prescribed.
    pub conductance: Buffer<F>,
    pub coupling: BoundaryContributionOnBackend<F>,
    pub correction: NonOrthogonalCorrectionOnBackend<F>,
    pub correctors: usize,
    pub solver: Solver<F>,
    pub params: Params,
    /// Pseudo-time steps of a steady flow; none of an unsteady one.
    pub local: Option<LocalSteps<F>>,
    /// Setup of the solver.
    pub setup: SolverSetup,
}

impl<F: Real> PressureIncrement<F> {
    /// 0 on `n` cells, `n_boundary` faces of the boundary and `values` prescribed values.
    pub(super) fn new(
        backend: &Backend,
        (n, n_boundary, values): (usize, usize, usize),
        numerics: &Numerics,
    ) -> Self {
        let tolerance = numerics.pressure.relative_tolerance;
        let has_guess =
            numerics.arrangement != Arrangement::Exact && numerics.time_scheme != TimeScheme::Rk3;
        PressureIncrement {
            value: backend.zeros(n),
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(n_boundary),
            prescribed: backend.zeros(values),
            divergence: backend.zeros(n),
            right_hand_side: backend.zeros(n),
            correction_gradient: backend
                .zeros(correction_gradient_length(n, numerics.nonorthogonal_correctors)),
            guess: has_guess.then(|| InitialGuess::new(backend, n, tolerance)),
        }
    }
}

impl<F: Real> PoissonSystem<F> {
    pub(super) fn new(
        backend: &Backend,
        faces: &Faces<F>,
        (matrix, boundary_contribution, correction): (
            CsrMatrix<f64>,
            BoundaryContribution,
            NonOrthogonalCorrection,
        ),
        conductance: Buffer<F>,
        conditions: &PressureConditions<F>,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let local = numerics
            .is_steady
            .then(|| LocalSteps::new(backend, faces, matrix.clone(), &conductance));
        let matrix = Arc::new(Matrix::new(backend, matrix.into_converted())?);
        let nullspace = if conditions.is_singular { Nullspace::Constant } else { Nullspace::None };
        let params = Params { nullspace, ..numerics.pressure.clone() };
        let begun = Instant::now();
        let is_linearized =
            numerics.arrangement != Arrangement::Exact && numerics.time_scheme != TimeScheme::Rk3;
        let solver = match &conditions.of_flow {
            Some(of_flow) if is_linearized => {
                let operator = Box::new(of_flow.operator(backend, matrix.clone()));
                Solver::with_operator(backend, operator, Some(matrix.clone()), &params)?
            }
            _ => Solver::new(backend, Arc::clone(&matrix), &params)?,
        };
        let setup = SolverSetup::of(&solver, begun.elapsed().as_secs_f64());
        tracing::debug!("pressure: {setup}");
        let cells = faces.cells.clone();
        Ok(PoissonSystem {
            matrix,
            conductance,
            coupling: BoundaryContributionOnBackend::new(backend, boundary_contribution),
            correction: NonOrthogonalCorrectionOnBackend::new(backend, cells, correction),
            correctors: numerics.nonorthogonal_correctors,
            solver,
            params,
            local,
            setup,
        })
    }

    /// Updates the local steps where they are due; whether the matrix changed. With non-orthogonal corrections, whose
    /// fluxes have the conductances of uniform steps, they stay uniform.
    pub(super) fn update_steps(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        rates: [&Buffer<F>; 2],
    ) -> Result<bool, IncompressibleError> {
        let Some(local) = &mut self.local else { return Ok(false) };
        if self.correctors > 0 || !local.is_due() {
            return Ok(false);
        }
        let conductance = &mut self.conductance;
        let Some(matrix) = local.update(backend, faces, rates, conductance)? else {
            return Ok(false);
        };
        self.matrix = Arc::new(Matrix::new(backend, matrix.into_converted())?);
        self.solver = Solver::new(backend, Arc::clone(&self.matrix), &self.params)?;
        Ok(true)
    }

    /// Bytes moved by an iteration.
    pub(super) fn bytes_per_iteration(&self, vector: usize) -> usize {
        self.solver.bytes_per_iteration(self.matrix.bytes() + 2 * vector)
    }
}

/// Length of the gradient of the non-orthogonal correction.
pub(super) fn correction_gradient_length(n_cells: usize, correctors: usize) -> usize {
    if correctors > 0 { 3 * n_cells } else { 1 }
}
