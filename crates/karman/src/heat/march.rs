//! Unsteady heat conduction, step by step.

use super::kernels::{add_memory, advance, largest_change};
use super::system::Earlier;
use super::{Heat, HeatError};
use crate::backend::{Buffer, Partials, blas};
use crate::linear::amg::Origin;
use crate::linear::{Params, SavedInterpolations, SolveOutcome, Solver};
use crate::real::Real;
use crate::time::bdf::Bdf;
use std::sync::Arc;

/// Interpolations of multigrid serve as long as the share of inertia in the matrix, shift / θ, is at
/// least this part of that they were made with: they are weaker where it was larger.
const LEAST_INERTIA: f64 = 0.5;

/// First steps of Crank–Nicolson that are two halves of backward Euler: what a jump excites is then less
/// by the square of each (Giles & Carter, J. Comput. Finance 9 (2006) 89).
const DAMPED_STEPS: usize = 2;

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// First order, damps everything.
    BackwardEuler,
    /// Second order, keeps high frequencies; the first steps are each two halves of backward Euler,
    /// which takes out what the initial temperature has in high frequencies (Rannacher, Numer. Math. 43
    /// (1984) 309) and uses the same matrix.
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

/// How the rate of change over a step is formed.
#[derive(Clone, Copy)]
struct Formula {
    bdf: Bdf,
    /// Factor of the whole equation: half steps of backward Euler by the matrix of Crank–Nicolson.
    scale: f64,
    /// Whether the residual is that of the middle of the step.
    is_middle: bool,
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

    /// Advances by `step`.
    ///
    /// # Errors
    /// [`HeatError`] where a prescribed value is not a number or the backend fails.
    pub fn step(&mut self, heat: &mut Heat<F>, step: f64) -> Result<StepReport, HeatError> {
        let report = if self.scheme == Scheme::CrankNicolson && self.steps < DAMPED_STEPS {
            let half = Formula { bdf: Bdf::first(0.5 * step), scale: 0.5, is_middle: false };
            let first = self.advance(heat, 0.5 * step, half)?;
            let second = self.advance(heat, 0.5 * step, half)?;
            StepReport { outcome: second.outcome.after(Some(first.outcome)), rate: second.rate }
        } else {
            let bdf = match (self.scheme, self.step_before) {
                (Scheme::Bdf2, Some(before)) => Bdf::second(step, before),
                _ => Bdf::first(step),
            };
            let is_middle = self.scheme == Scheme::CrankNicolson;
            self.advance(heat, step, Formula { bdf, scale: 1.0, is_middle })?
        };
        self.steps += 1;
        Ok(report)
    }

    /// Solves (shift M + θ A − θ K) δ = r(T_n), scaled as the formula says, the residual taken with the
    /// prescribed values and sources of the new level, or of the middle (their mean).
    fn advance(
        &mut self,
        heat: &mut Heat<F>,
        step: f64,
        formula: Formula,
    ) -> Result<StepReport, HeatError> {
        let backend = heat.backend.clone();
        let n = heat.unknowns();
        let new_time = self.time + step;
        let Formula { bdf, scale, is_middle } = formula;
        let (shift, theta) = (scale * bdf.shift, if is_middle { 0.5 } else { scale });
        match is_middle {
            true => heat.set_mean_time(self.time, new_time)?,
            false => heat.set_time(new_time)?,
        }
        heat.residual(&mut self.rhs);
        if bdf.memory != 0.0 {
            let memory = F::from_f64(bdf.memory);
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
        if scale != 1.0 {
            blas::scale(&backend, n, F::from_f64(scale), &mut self.rhs);
        }
        let current = self.solver.as_ref().is_some_and(|s| s.shift == shift && s.theta == theta);
        if !current {
            self.prepare(heat, shift, theta)?;
        }
        let Some(prepared) = &mut self.solver else { unreachable!("prepared just above") };
        let outcome = prepared.solver.solve(&self.rhs, &mut self.increment)?;
        // Crank–Nicolson's own rate is that of the middle of the step.
        let at_end = match self.step_before {
            Some(before) if is_middle => Bdf::second(step, before),
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
