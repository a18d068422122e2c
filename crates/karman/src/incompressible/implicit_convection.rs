//! Implicit convection of quantities that share their coefficients, at any Courant number.
//!
//! The spatial operator L of a quantity, convection of higher order and diffusion with its non-orthogonal correction, is
//! extrapolated to the implicit level from two levels, and an operator W that bounds it acts on the second difference in time:
//!
//! L uⁿ⁺¹ ≈ L uⁿ + e L δ_before + W (δ − e δ_before),  e = Δt / Δt_before, 0 in the first step and towards a steady state.
//!
//! The error is of second order in time. For a mode with L = q W a step of BDF2 with an infinite step length multiplies by
//! s ± √(s² − s), s = 1 − q, whose modulus is below 1 for −⅓ < s < 1. W has α times the two-point diffusion and β times the
//! upwind convection: q of linear upwinding over upwind convection lies between 1 and 2 in one dimension.

use super::IncompressibleError;
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::transport::{TransportOperator, TransportSweeps};
use crate::linear::{Params, SolveOutcome, Solver};
use crate::operators::FaceCells;
use crate::real::Real;
use crate::time::{ImplicitOperator, TimeCoefficients};
use std::sync::Arc;

/// β: convection in W over upwind convection.
const CONVECTION: f64 = 2.0;

/// α where fluxes have a non-orthogonal correction, which multiplies the two-point diffusion by up to 2; else 1.
const CORRECTED_DIFFUSION: f64 = 1.5;

/// The operator W with its solver.
pub(super) struct ImplicitConvection<F: Real> {
    backend: Backend,
    cells: Arc<FaceCells>,
    conductance: Arc<Buffer<F>>,
    params: Params,
    /// α.
    diffusion: f64,
    /// The solver of θ; its shift is data of the operator.
    solver: ImplicitOperator<Solver<F>>,
    /// θ e of the step.
    extrapolation: f64,
    /// δ_before: `[n_cells]`.
    difference: Buffer<F>,
}

impl<F: Real> ImplicitConvection<F> {
    /// The operator over faces of `conductance`, D a, whose fluxes are corrected unless the mesh `is_orthogonal`.
    pub(super) fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        conductance: Arc<Buffer<F>>,
        is_orthogonal: bool,
        params: Params,
    ) -> Self {
        ImplicitConvection {
            backend: backend.clone(),
            difference: backend.zeros(cells.n_cells()),
            cells,
            conductance,
            params,
            diffusion: if is_orthogonal { 1.0 } else { CORRECTED_DIFFUSION },
            solver: ImplicitOperator::default(),
            extrapolation: 0.0,
        }
    }

    /// Sets the operator shift I + θ W for the flux F; the inertia I is V, or that of local steps.
    pub(super) fn prepare(
        &mut self,
        coefficients: &TimeCoefficients,
        flux: &Buffer<F>,
        inertia: &Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        let TimeCoefficients { theta, b1, bdf, .. } = *coefficients;
        // b₁ = −θ e.
        self.extrapolation = -b1;
        let ImplicitConvection { backend, cells, conductance, params, diffusion, solver, .. } =
            self;
        let factors = [theta * *diffusion, theta * CONVECTION];
        let solver = solver.prepare(0.0, theta, |_| {
            let operator =
                || TransportOperator::new(backend, cells.clone(), conductance.clone(), factors);
            let sweeps = TransportSweeps::new(backend, operator());
            Solver::with_preconditioner(backend, Box::new(operator()), Box::new(sweeps), params)
        })?;
        let (operator, sweeps) = parts(solver);
        operator.set(backend, bdf.shift, inertia, flux);
        sweeps.operator.set(backend, bdf.shift, inertia, flux);
        sweeps.update(backend);
        Ok(())
    }

    /// r ← r + θ e (W − A) δ_before, A the two-point diffusion, which r has without extrapolation; returns δ_before and
    /// θ e where the step extrapolates.
    pub(super) fn add_extrapolation(
        &mut self,
        now: &Buffer<F>,
        before: &Buffer<F>,
        r: &mut Buffer<F>,
    ) -> Option<(&Buffer<F>, f64)> {
        if self.extrapolation == 0.0 {
            return None;
        }
        let (one, zero, n) = (F::literal(1.0), F::literal(0.0), now.len());
        blas::axpbypcz(&self.backend, n, one, now, -one, before, zero, &mut self.difference);
        let Some(solver) = self.solver.last_mut() else { unreachable!("prepared before") };
        let (operator, _) = parts(solver);
        let factors = [self.diffusion - 1.0, CONVECTION];
        operator.add(&self.backend, factors, self.extrapolation, &self.difference, r);
        Some((&self.difference, self.extrapolation))
    }

    /// Solves (shift V + θ W) δ = r from the initial guess δ.
    pub(super) fn solve(
        &mut self,
        r: &Buffer<F>,
        increment: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let Some(solver) = self.solver.last_mut() else { unreachable!("prepared before") };
        Ok(solver.solve(r, increment)?)
    }
}

/// W and its sweeps in a solver of [`ImplicitConvection`].
fn parts<F: Real>(solver: &mut Solver<F>) -> (&mut TransportOperator<F>, &mut TransportSweeps<F>) {
    let Some(parts) = solver.parts_mut() else { unreachable!("made of these parts") };
    parts
}
