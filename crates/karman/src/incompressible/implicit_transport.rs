//! The implicit operator of a step of transport equations.
//!
//! Explicit terms N, of convection and of the non-orthogonal correction K, are extrapolated in time. The two-point diffusion A
//! is extrapolated too, with an operator W at the new level on the second difference in time, A uⁿ⁺¹ ≈ A uⁿ + e A δ_before +
//! W (δ − e δ_before). W has two-point fluxes with positive conductances, so that it is an M-matrix on every mesh and needs no
//! gradients. Where lines between centroids are normal to their faces W = A, and diffusion is that of the time scheme.
//! Otherwise its conductances are such that xᵀ (A − K) x ≤ xᵀ W x ([`crate::finite_volume::majorant`]), and its error is of second
//! order in time: for a mode with A − K = q W a step of BDF2 of infinite length multiplies it by s ± √(s² − s), s = 1 − q, bounded
//! for q between 0 and 4/3; Crank–Nicolson needs q ≤ 1. Implicit convection adds to W twice the upwind convection, for the sake
//! of the same bound with linear upwinding. Steady flows have e = 0, are stable up to q = 2, and have 1.5 times it (decisions
//! 14 and 15).
//!
//! The solver has all quantities as unknowns: conjugate gradients with Jacobi where W is symmetric, otherwise FGMRES with
//! Jacobi sweeps. Data of a
//! step are W's inertia and fluxes, so that a new step length visits no matrix. Where diffusion dominates in many cells and
//! the equations are large, or another preconditioner than Jacobi's is asked for, W is assembled for each step length, and the
//! quantities are solved for one by one.

use super::IncompressibleError;
use crate::backend::{Backend, Buffer, Partials, blas};
use crate::finite_volume::transport::{TransportOperator, TransportSweeps, TransportView};
use crate::finite_volume::widen;
use crate::linear::{
    CsrMatrix, Jacobi, LEAST_WEAKLY_DOMINANT, Matrix, Method, Params, Preconditioner,
    PreconditionerKind, SolveOutcome, Solver, SolverSetup, WEAKLY_DOMINANT, least_multigrid_rows,
};
use crate::operators::FaceCells;
use crate::operators::incidence::without_sign;
use crate::operators::neighbours::is_cell;
use crate::real::Real;
use crate::time::{ImplicitOperator, TimeCoefficients};
use std::sync::Arc;
use std::time::Instant;

/// β: implicit convection in W over upwind convection.
const CONVECTION: f64 = 2.0;

/// β of a steady flow, whose steps are stable up to eigenvalues of twice the operator's: linear upwinding has 4/3 of them. A
/// larger one slows the iteration down.
const STEADY_CONVECTION: f64 = 1.5;

/// Mesh, conductances and form of W.
pub(super) struct ImplicitForm<F: Real> {
    /// Faces of the cells.
    pub cells: Arc<FaceCells>,
    /// a of W, D included: `[n_faces]`.
    pub conductance: Arc<Buffer<F>>,
    /// Whether lines between centroids are normal to their faces.
    pub is_orthogonal: bool,
    /// Whether W contains convection.
    pub convects: bool,
    /// Whether steps are pseudo-time steps of a steady flow.
    pub is_steady: bool,
    /// Number of quantities.
    pub dimension: usize,
}

/// W with its solver.
pub(super) struct ImplicitTransport<F: Real> {
    backend: Backend,
    form: ImplicitForm<F>,
    params: Params,
    /// The solver of θ; its shift is data of the operator.
    solver: ImplicitOperator<Solver<F>>,
    /// The solver of a quantity by an assembled matrix; none while `solver` is in use.
    assembled: Option<Assembled<F>>,
    /// θ e of the step.
    extrapolation: f64,
    /// The number of weakly dominant rows.
    weak_rows: Partials,
}

/// The solver of one quantity, of an assembled W.
struct Assembled<F: Real> {
    solver: ImplicitOperator<Solver<F>>,
    /// Right-hand side and increment of a quantity: `[n_cells]` each.
    residual: Buffer<F>,
    increment: Buffer<F>,
}

impl<F: Real> ImplicitForm<F> {
    /// β.
    fn convection(&self) -> f64 {
        match (self.convects, self.is_steady) {
            (false, _) => 0.0,
            (true, false) => CONVECTION,
            (true, true) => STEADY_CONVECTION,
        }
    }
}

impl<F: Real> ImplicitTransport<F> {
    /// W without coefficients.
    pub(super) fn new(backend: &Backend, form: ImplicitForm<F>, mut params: Params) -> Self {
        if form.convects && params.method != Method::BiCgStab {
            // BiCGStab breaks down where convection dominates and the initial guess is far off.
            params.method = Method::Fgmres;
        }
        ImplicitTransport {
            backend: backend.clone(),
            weak_rows: Partials::new(backend, form.cells.n_cells(), 1),
            form,
            params,
            solver: ImplicitOperator::default(),
            assembled: None,
            extrapolation: 0.0,
        }
    }

    /// The cells with their faces.
    pub(super) fn cells(&self) -> &Arc<FaceCells> {
        &self.form.cells
    }

    /// Sets the operator shift I + θ W for the fluxes F; the inertia I is V, or that of local steps.
    pub(super) fn prepare(
        &mut self,
        coefficients: &TimeCoefficients,
        flux: &Buffer<F>,
        inertia: &Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        let TimeCoefficients { theta, b1, bdf, .. } = *coefficients;
        // b₁ = −θ e.
        self.extrapolation = -b1;
        let ImplicitTransport { backend, form, params, solver, weak_rows, .. } = self;
        let solver = solver.prepare(0.0, theta, |_| {
            let factors = [theta, theta * form.convection()];
            let (cells, conductance) = (form.cells.clone(), form.conductance.clone());
            let operator =
                TransportOperator::new(backend, cells, conductance, factors, form.dimension);
            let preconditioner: Box<dyn Preconditioner<F>> = match form.convects {
                true => Box::new(TransportSweeps::new(backend, form.cells.clone(), form.dimension)),
                false => {
                    let unknowns = form.dimension * form.cells.n_cells();
                    Box::new(Jacobi { inverse: backend.zeros::<F>(unknowns) })
                }
            };
            let backend = backend.of_vectors(form.dimension);
            Solver::with_preconditioner(&backend, Box::new(operator), preconditioner, params)
        })?;
        if form.convects {
            let (operator, sweeps): (_, &mut TransportSweeps<F>) = parts(solver);
            operator.set(backend, bdf.shift, inertia, flux);
            sweeps.update(backend, operator);
            return Ok(());
        }
        let (operator, jacobi): (_, &mut Jacobi<F>) = parts(solver);
        operator.set(backend, bdf.shift, inertia, flux);
        let share = (WEAKLY_DOMINANT, form.dimension);
        operator.inverse_diagonal(backend, share, &mut jacobi.inverse, weak_rows);
        if params.preconditioner == PreconditionerKind::None {
            blas::fill(backend, jacobi.inverse.len(), F::literal(1.0), &mut jacobi.inverse);
        }
        self.select(bdf.shift, theta, inertia)
    }

    /// Assembles W where multigrid is faster or another preconditioner than Jacobi's is asked for.
    fn select(
        &mut self,
        shift: f64,
        theta: f64,
        volume: &Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        let ImplicitTransport { backend, form, params, assembled, weak_rows, .. } = self;
        let n = form.cells.n_total();
        let is_assembled = match params.preconditioner {
            _ if params.method == Method::Stationary => true,
            PreconditionerKind::None | PreconditionerKind::Jacobi => false,
            PreconditionerKind::Auto { .. } if n < least_multigrid_rows(backend, false) => false,
            PreconditionerKind::Auto { .. } => {
                let mut sum = backend.zeros(1);
                blas::finish_sum(backend, weak_rows, &mut sum);
                backend.read(&sum)?[0] >= LEAST_WEAKLY_DOMINANT * n as f64
            }
            _ => true,
        };
        if !is_assembled {
            *assembled = None;
            return Ok(());
        }
        let n = form.cells.n_cells();
        let assembled = assembled.get_or_insert_with(|| Assembled {
            solver: ImplicitOperator::default(),
            residual: backend.zeros(n),
            increment: backend.zeros(n),
        });
        assembled.solver.prepare(shift, theta, |last| {
            // Set up from scratch: a restarted run has no previous solver to reuse.
            drop(last);
            let start = Instant::now();
            let matrix = form.matrix(backend, (shift, theta), volume)?;
            let solver = Solver::new(backend, Arc::new(matrix), params)?;
            let setup = SolverSetup::of(&solver, start.elapsed().as_secs_f64());
            tracing::debug!("implicit diffusion: {setup}");
            Ok::<_, IncompressibleError>(solver)
        })?;
        Ok(())
    }

    /// W − I as kernels read it and θ e where the step extrapolates with it; W = A needs no extrapolation.
    pub(super) fn extrapolation(&mut self) -> Option<(TransportView<'_, F>, f64)> {
        let is_plain = self.form.is_orthogonal && !self.form.convects;
        if is_plain || self.extrapolation == 0.0 {
            return None;
        }
        let factors = [1.0, self.form.convection()].map(F::from_f64);
        let operator = self.solver.last_mut().and_then(Solver::operator_mut);
        let Some(operator): Option<&mut TransportOperator<F>> = operator else {
            unreachable!("prepared before")
        };
        Some((operator.view_with(&self.backend, factors), self.extrapolation))
    }

    /// Solves (shift V + θ W) δ = r for all quantities from the initial guess δ: `[dimension][n_cells]` each.
    pub(super) fn solve(
        &mut self,
        r: &Buffer<F>,
        increment: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let Some(Assembled { solver, residual, increment: of_quantity }) = &mut self.assembled
        else {
            let Some(solver) = self.solver.last_mut() else { unreachable!("prepared before") };
            return Ok(solver.solve(r, increment)?);
        };
        let Some(solver) = solver.last_mut() else { unreachable!("prepared before") };
        let (backend, n) = (&self.backend, residual.len());
        let mut total: Option<SolveOutcome> = None;
        for k in 0..self.form.dimension {
            blas::copy_from_range(backend, n, r, k * n, residual);
            blas::copy_from_range(backend, n, increment, k * n, of_quantity);
            total = Some(solver.solve(residual, of_quantity)?.after(total));
            blas::copy_to_range(backend, n, of_quantity, k * n, increment);
        }
        let Some(total) = total else { unreachable!("there is a quantity at least") };
        Ok(total)
    }
}

impl<F: Real> ImplicitForm<F> {
    /// shift V + θ W without convection.
    fn matrix(
        &self,
        backend: &Backend,
        (shift, theta): (f64, f64),
        volume: &Buffer<F>,
    ) -> Result<Matrix<F>, IncompressibleError> {
        let cells = &self.cells;
        let (n, halo) = (cells.n_cells(), cells.halo());
        // Columns in the numbers of the whole mesh have its order.
        let number = |cell: u32| halo.map_or(cell, |halo| halo.global(cell as usize) as u32);
        let (offsets, items) = (backend.read(&cells.offsets)?, backend.read(&cells.faces)?);
        let neighbours = backend.read(cells.neighbours(backend))?;
        let (a, volume) = (widen(backend, &self.conductance)?, widen(backend, volume)?);
        let mut entries = Vec::with_capacity(items.len() + n);
        for c in 0..n {
            let mut diagonal = shift * volume[c];
            for k in offsets[c] as usize..offsets[c + 1] as usize {
                let coefficient = theta * a[without_sign(items[k])];
                diagonal += coefficient;
                if is_cell(neighbours[k]) {
                    entries.push((c as u32, number(neighbours[k]), F::from_f64(-coefficient)));
                }
            }
            entries.push((c as u32, number(c as u32), F::from_f64(diagonal)));
        }
        let matrix = CsrMatrix::from_entries(n, cells.n_total(), entries)?;
        Ok(match halo {
            None => Matrix::new(backend, matrix)?,
            Some(halo) => Matrix::of_rank(backend, matrix, halo.clone())?,
        })
    }
}

/// W and its preconditioner in a solver of [`ImplicitTransport`].
fn parts<F: Real, P: Preconditioner<F>>(
    solver: &mut Solver<F>,
) -> (&mut TransportOperator<F>, &mut P) {
    let Some(parts) = solver.parts_mut() else { unreachable!("made of these parts") };
    parts
}
