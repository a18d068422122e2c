//! The Poisson equation of ψ, the potential of the velocity correction, and the data of ψ that change.

use super::local_steps::LocalSteps;
use super::pressure_conditions::PressureConditions;
use super::{Arrangement, IncompressibleError, Numerics, TimeScheme};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{
    BoundaryContributionOnBackend, Faces, NonOrthogonalCorrectionOnBackend,
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
    /// None before [`PoissonSystem::prepare`], and of a flow that several ranks compute.
    pub solver: Option<Solver<F>>,
    pub params: Params,
    /// Whether prescribed pressures that depend on the flow are linearized in the operator of the solver.
    is_linearized: bool,
    /// Pseudo-time steps of a steady flow; none of an unsteady one.
    pub local: Option<LocalSteps<F>>,
    /// Set-up of the solver.
    pub setup: Option<SolverSetup>,
}

impl<F: Real> PressureIncrement<F> {
    /// 0 on `owned` cells, `n` with ghosts, `n_boundary` faces of the boundary and `values` prescribed values.
    pub(super) fn new(
        backend: &Backend,
        [owned, n, n_boundary, values]: [usize; 4],
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
            right_hand_side: backend.zeros(owned),
            correction_gradient: backend
                .zeros(correction_gradient_length(n, numerics.nonorthogonal_correctors)),
            guess: has_guess.then(|| InitialGuess::new(backend, owned, tolerance)),
        }
    }
}

impl<F: Real> PoissonSystem<F> {
    /// The system of a matrix, C and K. A part has the rows of its own cells, with ghosts behind these.
    pub(super) fn new(
        backend: &Backend,
        faces: &Faces<F>,
        (matrix, coupling, correction): (
            CsrMatrix<f64>,
            BoundaryContributionOnBackend<F>,
            NonOrthogonalCorrectionOnBackend<F>,
        ),
        conductance: Buffer<F>,
        (is_singular, numerics): (bool, &Numerics),
    ) -> Result<Self, IncompressibleError> {
        let halo = faces.cells.halo();
        let matrix = match halo {
            None => matrix,
            Some(halo) => matrix.in_global_columns(halo)?,
        };
        let local = numerics
            .is_steady
            .then(|| LocalSteps::new(backend, faces, matrix.clone(), &conductance));
        let matrix = matrix.into_converted();
        let matrix = Arc::new(match halo {
            None => Matrix::new(backend, matrix)?,
            Some(halo) => Matrix::of_rank(backend, matrix, halo.clone())?,
        });
        let nullspace = if is_singular { Nullspace::Constant } else { Nullspace::None };
        let params = Params { nullspace, ..numerics.pressure.clone() };
        let is_linearized =
            numerics.arrangement != Arrangement::Exact && numerics.time_scheme != TimeScheme::Rk3;
        Ok(PoissonSystem {
            matrix,
            conductance,
            coupling,
            correction,
            correctors: numerics.nonorthogonal_correctors,
            solver: None,
            params,
            is_linearized,
            local,
            setup: None,
        })
    }

    /// Sets the solver up, where it is not yet.
    pub(super) fn prepare(
        &mut self,
        backend: &Backend,
        conditions: &PressureConditions<F>,
    ) -> Result<(), IncompressibleError> {
        if self.solver.is_some() {
            return Ok(());
        }
        let (begun, matrix) = (Instant::now(), self.matrix.clone());
        let solver = match &conditions.of_flow {
            Some(of_flow) if self.is_linearized => {
                let operator = Box::new(of_flow.operator(backend, matrix.clone()));
                Solver::with_operator(backend, operator, Some(matrix), &self.params)?
            }
            _ => Solver::new(backend, matrix, &self.params)?,
        };
        let setup = SolverSetup::of(&solver, begun.elapsed().as_secs_f64());
        tracing::debug!("pressure: {setup}");
        (self.solver, self.setup) = (Some(solver), Some(setup));
        Ok(())
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
        self.matrix = Arc::new(self.matrix.similar(matrix.into_converted())?);
        if let Some(solver) = &mut self.solver {
            *solver = Solver::new(backend, Arc::clone(&self.matrix), &self.params)?;
        }
        Ok(true)
    }

    /// Bytes moved by an iteration.
    pub(super) fn bytes_per_iteration(&self, vector: usize) -> usize {
        let product = self.matrix.bytes() + 2 * vector;
        self.solver.as_ref().map_or(product, |solver| solver.bytes_per_iteration(product))
    }
}

/// Length of the gradient of the non-orthogonal correction.
pub(super) fn correction_gradient_length(n_cells: usize, correctors: usize) -> usize {
    if correctors > 0 { 3 * n_cells } else { 1 }
}
