//! Time integration of unsteady heat conduction.

use super::kernels::{add_history, advance, largest_change};
use super::system::Reuse;
use super::{Heat, HeatError};
use crate::backend::{Buffer, Partials, blas};
use crate::linear::amg::HierarchySource;
use crate::linear::{Params, SavedInterpolations, SolveOutcome, Solver};
use crate::real::Real;
use crate::time::{Bdf, ImplicitOperator, TimeCoefficients};
use karman_macros::Keyword;
use std::sync::Arc;

/// The multigrid interpolations are reused as long as the inertia of the matrix, shift / θ, is at least this
/// fraction of the inertia of their set-up: larger inertia makes weaker interpolations.
const LEAST_INERTIA: f64 = 0.5;

/// First steps of Crank–Nicolson that are two half-steps of backward Euler. Each multiplies the oscillations
/// of an initial discontinuity by a half-step's amplification factor squared (Giles & Carter, J. Comput.
/// Finance 9 (2006) 89).
const DAMPED_STEPS: usize = 2;

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum TimeScheme {
    /// First order; damps all frequencies.
    BackwardEuler,
    /// Second order; does not damp high frequencies.
    ///
    /// The first steps are each two half-steps of backward Euler, which damp the high frequencies of the initial
    /// temperature (Rannacher, Numer. Math. 43 (1984) 309) with the matrix of Crank–Nicolson.
    CrankNicolson,
    /// Second order; damps high frequencies, also after a discontinuity in the data. The first step is backward Euler.
    Bdf2,
}

/// The state of a time integration besides the temperature.
pub struct March<F: Real> {
    scheme: TimeScheme,
    params: Params,
    /// Time reached.
    pub time: f64,
    /// Steps taken.
    pub steps: usize,
    previous_step: Option<f64>,
    solver: ImplicitOperator<PreparedSolver<F>>,
    /// Interpolations of an earlier run, until a solver is set up.
    saved: Option<(SavedInterpolations, f64)>,
    increment: Buffer<F>,
    /// The temperature of the previous level.
    previous: Buffer<F>,
    rhs: Buffer<F>,
    partials: Partials,
    change: Buffer<f64>,
}

/// A solver of shift M + θ A − θ K.
struct PreparedSolver<F: Real> {
    /// shift / θ of the matrix from which the reused part of the set-up was computed.
    inertia: f64,
    solver: Solver<F>,
}

impl<F: Real> PreparedSolver<F> {
    /// Sets up the solver for shift M + θ A, reusing the last one or saved interpolations where possible.
    fn new(
        heat: &mut Heat<F>,
        (shift, theta): (f64, f64),
        params: &Params,
        earlier: (Option<Self>, Option<(SavedInterpolations, f64)>),
    ) -> Result<Self, HeatError> {
        let current = shift / theta;
        let is_reusable = |inertia: f64| current >= LEAST_INERTIA * inertia;
        let (reuse, inertia) = match earlier {
            (Some(prepared), _) if is_reusable(prepared.inertia) => {
                (Reuse::Solver(Box::new(prepared.solver)), prepared.inertia)
            }
            (None, Some((saved, inertia))) if is_reusable(inertia) => {
                (Reuse::Interpolations(saved), inertia)
            }
            (None, Some(_)) => {
                tracing::info!("the interpolations saved are for shorter time steps: not used");
                (Reuse::Nothing, current)
            }
            _ => (Reuse::Nothing, current),
        };
        let matrix = Arc::new(heat.implicit_matrix(shift, theta)?);
        let solver = heat.solver(matrix, theta, params, reuse)?;
        let is_new =
            solver.hierarchy().is_none_or(|report| report.source == HierarchySource::Computed);
        let inertia = if is_new { current } else { inertia };
        Ok(PreparedSolver { inertia, solver })
    }
}

impl<F: Real> March<F> {
    /// The time scheme.
    pub fn scheme(&self) -> TimeScheme {
        self.scheme
    }

    /// Starts at time 0 from the temperature of `heat`.
    pub fn new(heat: &Heat<F>, scheme: TimeScheme, params: &Params) -> March<F> {
        let (backend, n) = (&heat.backend, heat.unknowns());
        March {
            scheme,
            params: params.clone(),
            time: 0.0,
            steps: 0,
            previous_step: None,
            solver: ImplicitOperator::default(),
            saved: None,
            increment: backend.zeros(n),
            previous: backend.zeros(n),
            rhs: backend.zeros(n),
            partials: Partials::new(backend, n, 1),
            change: backend.zeros(1),
        }
    }

    /// Advances by `step`: the solve for the increment, and max |∂T/∂t| over the step.
    ///
    /// # Errors
    /// [`HeatError`] where a prescribed value is not a number or the backend fails.
    pub fn step(
        &mut self,
        heat: &mut Heat<F>,
        step: f64,
    ) -> Result<(SolveOutcome, f64), HeatError> {
        let solved = if self.scheme == TimeScheme::CrankNicolson && self.steps < DAMPED_STEPS {
            // Scaled, half-steps of backward Euler have the matrix of Crank–Nicolson.
            let half = TimeCoefficients::first_order(0.5 * step);
            let (first, _) = self.advance(heat, half, 0.5)?;
            let (second, rate) = self.advance(heat, half, 0.5)?;
            (second.after(Some(first)), rate)
        } else {
            let coefficients = match self.scheme {
                TimeScheme::BackwardEuler => TimeCoefficients::first_order(step),
                TimeScheme::CrankNicolson => TimeCoefficients::ab2_cn(step, None),
                TimeScheme::Bdf2 => TimeCoefficients::bdf2(step, self.previous_step),
            };
            self.advance(heat, coefficients, 1.0)?
        };
        self.steps += 1;
        Ok(solved)
    }

    /// Solves (shift M + θ A − θ K) δ = r(T_n), both sides times `scale`, the residual with the prescribed
    /// values and sources of the new level or of the midpoint (their mean).
    fn advance(
        &mut self,
        heat: &mut Heat<F>,
        coefficients: TimeCoefficients,
        scale: f64,
    ) -> Result<(SolveOutcome, f64), HeatError> {
        let backend = heat.backend.clone();
        let n = heat.unknowns();
        let TimeCoefficients { step, bdf, theta, .. } = coefficients;
        let (new_time, is_midpoint) = (self.time + step, coefficients.is_midpoint());
        let (shift, theta) = (scale * bdf.shift, scale * theta);
        match is_midpoint {
            true => heat.set_trapezoidal_mean(self.time, new_time)?,
            false => heat.set_time(new_time)?,
        }
        heat.residual(&mut self.rhs);
        if bdf.history != 0.0 {
            let history = F::from_f64(bdf.history);
            add_history(
                &backend,
                n,
                &heat.system.mass,
                history,
                &heat.temperature,
                &self.previous,
                &mut self.rhs,
            );
        }
        if scale != 1.0 {
            blas::scale(&backend, n, F::from_f64(scale), &mut self.rhs);
        }
        let March { solver, saved, params, .. } = self;
        let prepared = solver.prepare(shift, theta, |last| {
            PreparedSolver::new(heat, (shift, theta), params, (last, saved.take()))
        })?;
        let outcome = prepared.solver.solve(&self.rhs, &mut self.increment)?;
        // The rate of Crank–Nicolson is that of the midpoint in time.
        let at_end = match self.previous_step {
            Some(previous) if is_midpoint => Bdf::second(step, previous),
            _ => bdf,
        };
        let temperatures = (&heat.temperature, &self.previous);
        heat.boundary.dirichlet_nodes.set_rate(&backend, at_end, &self.increment, temperatures);
        advance(
            &backend,
            n,
            &self.increment,
            &mut heat.temperature,
            &mut self.previous,
            &mut self.partials,
        );
        largest_change(&backend, &self.partials, &mut self.change);
        let rate = backend.read(&self.change)?[0] / step;
        self.time = new_time;
        self.previous_step = Some(step);
        Ok((outcome, rate))
    }

    /// The interpolations of the multigrid in use, if any, and the inertia of the matrix of their set-up: a
    /// restart continues with these interpolations.
    ///
    /// # Errors
    /// [`HeatError`] where the device failed.
    pub fn interpolations(
        &self,
        heat: &Heat<F>,
    ) -> Result<Option<(SavedInterpolations, f64)>, HeatError> {
        let Some((_, _, PreparedSolver { solver, inertia })) = self.solver.last() else {
            return Ok(None);
        };
        // The matrix of a step has the pattern of A.
        let saved = solver.interpolations(&heat.system.matrix)?;
        Ok(saved.map(|saved| (saved, *inertia)))
    }

    /// Continues with the result of [`March::interpolations`], if the next step can reuse it.
    pub fn restore_interpolations(&mut self, saved: SavedInterpolations, inertia: f64) {
        self.saved = Some((saved, inertia));
    }

    /// The state for a restart besides the temperature: the increment (initial guess of the next solve), the
    /// temperature of the previous level, the previous step (0: none).
    ///
    /// # Errors
    /// [`HeatError::Backend`] where the device failed.
    pub fn history(&self, heat: &Heat<F>) -> Result<(Vec<F>, Vec<F>, f64), HeatError> {
        let increment = heat.backend.read(&self.increment)?;
        let previous = heat.backend.read(&self.previous)?;
        Ok((increment, previous, self.previous_step.unwrap_or(0.0)))
    }

    /// Continues from the result of [`March::history`].
    pub fn restore(
        &mut self,
        heat: &Heat<F>,
        (time, steps): (f64, usize),
        (increment, previous, previous_step): (&[F], &[F], f64),
    ) {
        heat.backend.write(&mut self.increment, increment);
        heat.backend.write(&mut self.previous, previous);
        (self.time, self.steps) = (time, steps);
        self.previous_step = (previous_step > 0.0).then_some(previous_step);
    }
}
