//! Unsteady heat conduction, step by step.

use super::kernels::{add_memory, advance, largest_change};
use super::system::Earlier;
use super::{Heat, HeatError};
use crate::backend::{Buffer, Partials};
use crate::linear::amg::Origin;
use crate::linear::{Params, SavedInterpolations, SolveOutcome, Solver};
use crate::real::Real;
use crate::time::bdf::Bdf;
use std::sync::Arc;

/// Interpolations of multigrid serve as long as the share of inertia in the matrix, shift / θ, is at
/// least this part of that they were made with: they are weaker where it was larger.
const LEAST_INERTIA: f64 = 0.5;

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// First order, damps everything.
    BackwardEuler,
    /// Second order, keeps high frequencies.
    CrankNicolson,
    /// Second order, damps high frequencies; the first step is backward Euler.
    Bdf2,
}

/// What a step did.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The solve for the increment.
    pub outcome: SolveOutcome,
    /// max |∂T/∂t| over the step.
    pub rate: f64,
}

/// The state of a march in time besides the temperature.
pub struct March<F: Real> {
    scheme: Scheme,
    params: Params,
    /// Time reached.
    pub time: f64,
    /// Steps taken.
    pub steps: usize,
    step_before: Option<f64>,
    solver: Option<Prepared<F>>,
    /// Interpolations of an earlier run, until a solver is set up.
    saved: Option<(SavedInterpolations, f64)>,
    increment: Buffer<F>,
    before: Buffer<F>,
    rhs: Buffer<F>,
    partials: Partials,
    change: Buffer<f64>,
}

/// A solver with the coefficients it was made for.
struct Prepared<F: Real> {
    shift: f64,
    theta: f64,
    /// shift / θ of the matrix that what does not depend on values was made from.
    inertia: f64,
    solver: Solver<F>,
}

impl<F: Real> March<F> {
    /// A march that starts at time 0 from the temperature of `heat`.
    pub fn new(heat: &Heat<F>, scheme: Scheme, params: &Params) -> March<F> {
        let (backend, n) = (&heat.backend, heat.unknowns());
        March {
            scheme,
            params: params.clone(),
            time: 0.0,
            steps: 0,
            step_before: None,
            solver: None,
            saved: None,
            increment: backend.zeros(n),
            before: backend.zeros(n),
            rhs: backend.zeros(n),
            partials: Partials::new(backend, n, 1),
            change: backend.zeros(1),
        }
    }

    /// Advances by `step`: (shift M + θ A − θ K) δ = r(T_n), the residual taken with the prescribed
    /// values and sources of the new level, or of the middle for Crank–Nicolson (their mean).
    ///
    /// # Errors
    /// [`HeatError`] where a prescribed value is not a number or the backend fails.
    pub fn step(&mut self, heat: &mut Heat<F>, step: f64) -> Result<StepReport, HeatError> {
        let backend = heat.backend.clone();
        let n = heat.unknowns();
        let new_time = self.time + step;
        let (bdf, theta) = match (self.scheme, self.step_before) {
            (Scheme::CrankNicolson, _) => (Bdf::first(step), 0.5),
            (Scheme::Bdf2, Some(before)) => (Bdf::second(step, before), 1.0),
            _ => (Bdf::first(step), 1.0),
        };
        match self.scheme {
            Scheme::CrankNicolson => heat.set_mean_time(self.time, new_time)?,
            _ => heat.set_time(new_time)?,
        }
        heat.residual(&mut self.rhs);
        if bdf.memory != 0.0 {
            let memory = F::narrow(bdf.memory);
            add_memory(
                &backend,
                n,
                &heat.mass,
                memory,
                &heat.temperature,
                &self.before,
                &mut self.rhs,
            );
        }
        let current =
            self.solver.as_ref().is_some_and(|s| s.shift == bdf.shift && s.theta == theta);
        if !current {
            self.prepare(heat, bdf.shift, theta)?;
        }
        let Some(prepared) = &mut self.solver else { unreachable!("prepared just above") };
        let outcome = prepared.solver.solve(&self.rhs, &mut self.increment)?;
        // Crank–Nicolson's own rate is that of the middle of the step.
        let at_end = match (self.scheme, self.step_before) {
            (Scheme::CrankNicolson, Some(before)) => Bdf::second(step, before),
            _ => bdf,
        };
        let temperatures = (&heat.temperature, &self.before);
        heat.held.set_rate(&backend, at_end, &self.increment, temperatures);
        advance(
            &backend,
            n,
            &self.increment,
            &mut heat.temperature,
            &mut self.before,
            &mut self.partials,
        );
        largest_change(&backend, &self.partials, &mut self.change);
        let rate = backend.read(&self.change)?[0] / step;
        self.time = new_time;
        self.steps += 1;
        self.step_before = Some(step);
        Ok(StepReport { outcome, rate })
    }

    /// Sets up the solver for shift M + θ A from what is there of an earlier one.
    fn prepare(&mut self, heat: &mut Heat<F>, shift: f64, theta: f64) -> Result<(), HeatError> {
        let now = shift / theta;
        let serves = |inertia: f64| now >= LEAST_INERTIA * inertia;
        let (earlier, inertia) = match (self.solver.take(), self.saved.take()) {
            (Some(prepared), _) if serves(prepared.inertia) => {
                (Earlier::Solver(Box::new(prepared.solver)), prepared.inertia)
            }
            (None, Some((saved, inertia))) if serves(inertia) => {
                (Earlier::Interpolations(saved), inertia)
            }
            (None, Some(_)) => {
                tracing::info!("the interpolations saved are for shorter time steps: not used");
                (Earlier::Nothing, now)
            }
            _ => (Earlier::Nothing, now),
        };
        let matrix = Arc::new(heat.implicit_matrix(shift, theta)?);
        let solver = heat.solver(matrix, theta, &self.params, earlier)?;
        let is_new = solver.hierarchy().is_none_or(|report| report.origin == Origin::Made);
        let inertia = if is_new { now } else { inertia };
        self.solver = Some(Prepared { shift, theta, inertia, solver });
        Ok(())
    }

    /// The interpolations of the multigrid in use, if there is one, and the share of inertia in the
    /// matrix they were made from: what a restart needs to go on with the same ones.
    ///
    /// # Errors
    /// [`HeatError`] where the device failed.
    pub fn interpolations(
        &self,
        heat: &Heat<F>,
    ) -> Result<Option<(SavedInterpolations, f64)>, HeatError> {
        let Some(Prepared { solver, inertia, .. }) = &self.solver else { return Ok(None) };
        // The matrix of a step has the pattern of A.
        let saved = solver.interpolations(&heat.matrix)?;
        Ok(saved.map(|saved| (saved, *inertia)))
    }

    /// Goes on with what [`March::interpolations`] gave, where it serves the next step.
    pub fn restore_interpolations(&mut self, saved: SavedInterpolations, inertia: f64) {
        self.saved = Some((saved, inertia));
    }

    /// Everything a restart needs besides the temperature: the increment (first guess of the next
    /// solve), the temperature before, the step before (0: none).
    ///
    /// # Errors
    /// [`HeatError::Backend`] where the device failed.
    pub fn history(&self, heat: &Heat<F>) -> Result<(Vec<F>, Vec<F>, f64), HeatError> {
        let increment = heat.backend.read(&self.increment)?;
        let before = heat.backend.read(&self.before)?;
        Ok((increment, before, self.step_before.unwrap_or(0.0)))
    }

    /// Goes on from what [`March::history`] gave.
    pub fn restore(
        &mut self,
        heat: &Heat<F>,
        (time, steps): (f64, usize),
        (increment, before, step_before): (&[F], &[F], f64),
    ) {
        heat.backend.write(&mut self.increment, increment);
        heat.backend.write(&mut self.before, before);
        (self.time, self.steps) = (time, steps);
        self.step_before = (step_before > 0.0).then_some(step_before);
    }
}
