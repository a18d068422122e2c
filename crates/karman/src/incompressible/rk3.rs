//! Three explicit stages of third order, each with a projection, for both arrangements:
//!
//! u₁ = P(uⁿ + Δt f(uⁿ)),  u₂ = P(¾ uⁿ + ¼ (u₁ + Δt f(u₁))),  uⁿ⁺¹ = P(⅓ uⁿ + ⅔ (u₂ + Δt f(u₂))),
//!
//! f convection, viscous terms, sources and the gradient of a pressure known before, P the projection onto
//! what the boundary asks for at the time of the stage, t + Δt, t + Δt/2, t + Δt. Projected so, an explicit
//! method keeps the order it has for ordinary differential equations in the velocity. The pressure is that of
//! the second stage, of second order where the boundary's flow does not change in time, else of first.
//!
//! Collocated the fluxes are unknowns of their own, F = u_i·S + E with dE/dt = R + (K − E)/τ as in
//! [`momentum_interpolation`](super::rhie_chow::momentum_interpolation), and E goes through the same stages. Where
//! lines between centroids are not normal to faces the two-point projection of F is not that of u, which
//! leaves an error of the order of Δt h; and 1/τ has a kink where a flux changes its sign (measured there: 2.6).
//! Elsewhere the order is three.
//!
//! Stable for central convection while Δt Σ|F| / 2V ≤ √3, for viscous terms alone while Δt ν Σ a / V ≤ 1.25.
//!
//! Sources: Shu & Osher, J. Comput. Phys. 77 (1988) 439, eq. 2.18, for the method; Le & Moin, J. Comput.
//! Phys. 92 (1991) 369, and Sanderse & Koren, J. Comput. Phys. 231 (2012) 3041, for the projection.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::flow::{Flow, three};
use super::kernels::advance_scalar;
use super::rhie_chow::departure;
use super::scheme::{Formula, Scheme};
use super::staggered::Staggered;
use super::{IncompressibleError, StepReport};
use crate::backend::{Backend, Buffer, View, blas};
use crate::linear::{SolveOutcome, Status};
use crate::real::Real;
use karman_backend::prelude::*;

/// A stage: u ← start uⁿ + (1 − start) (u + Δt f(u)) at the time t + `end` Δt.
struct Stage {
    start: f64,
    end: f64,
}

const STAGES: [Stage; 3] = [
    Stage { start: 0.0, end: 1.0 },
    Stage { start: 0.75, end: 0.5 },
    Stage { start: 1.0 / 3.0, end: 1.0 },
];

/// A flow at the start of a step.
pub(super) struct Start<F: Real> {
    /// By component: `[n_cells]` each.
    velocity: Vec<Buffer<F>>,
    /// U where the fluxes are the unknowns, else E: `[n_faces]`.
    at_faces: Buffer<F>,
    temperature: Option<Buffer<F>>,
    /// The velocity at convective outlets, by component.
    outflow: Vec<Buffer<F>>,
}

fn like<F: Real>(backend: &Backend, buffer: &Buffer<F>) -> Buffer<F> {
    backend.zeros(buffer.len())
}

fn keep<F: Real>(backend: &Backend, from: &Buffer<F>, to: &mut Buffer<F>) {
    blas::copy(backend, from.len(), from, to);
}

impl<F: Real> Start<F> {
    pub(super) fn new(flow: &Flow<F>) -> Self {
        let backend = &flow.backend;
        Start {
            velocity: flow.components.iter().map(|c| like(backend, &c.now)).collect(),
            at_faces: like(backend, &flow.flux),
            temperature: flow.thermal.as_ref().map(|t| like(backend, &t.field.now)),
            outflow: flow.outflow.value.iter().map(|value| like(backend, value)).collect(),
        }
    }

    fn take(&mut self, flow: &Flow<F>) {
        let backend = &flow.backend;
        for (kept, component) in self.velocity.iter_mut().zip(&flow.components) {
            keep(backend, &component.now, kept);
        }
        let unknown = if flow.staggered.is_some() { &flow.flux } else { &flow.excess };
        keep(backend, unknown, &mut self.at_faces);
        if let (Some(kept), Some(thermal)) = (&mut self.temperature, &flow.thermal) {
            keep(backend, &thermal.field.now, kept);
        }
        for (kept, value) in self.outflow.iter_mut().zip(&flow.outflow.value) {
            keep(backend, value, kept);
        }
    }
}

/// Nothing is solved for.
fn nothing_solved() -> SolveOutcome {
    SolveOutcome {
        status: Status::Converged,
        iterations: 0,
        relative_residual: 0.0,
        reference: 0.0,
        restarts: 0,
        incompatibility: 0.0,
        history: vec![],
        seconds: 0.0,
    }
}

impl<F: Real> Flow<F> {
    /// Advances by `step` in three stages.
    pub(super) fn step_explicit(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        let (old, new) = (self.time, self.time + step);
        let formula = Formula::new(Scheme::Rk3, step, None);
        let mut start = match self.start.take() {
            Some(start) => start,
            None => Start::new(self),
        };
        start.take(self);
        self.statistics.clear(&self.backend);
        let mut pressure: Option<SolveOutcome> = None;
        let mut divergence = 0.0;
        for (k, stage) in STAGES.iter().enumerate() {
            let time = if stage.end == 1.0 { new } else { old + stage.end * step };
            let outcome = self.stage(&start, stage, (&formula, time), k)?;
            pressure = Some(outcome.after(pressure));
            divergence = self.refresh()?;
        }
        self.start = Some(start);
        (self.time, self.steps, self.step_before) = (new, self.steps + 1, Some(step));
        let Some(pressure) = pressure else { unreachable!("there are three stages") };
        let energy = self.thermal.is_some().then(nothing_solved);
        self.report(step, [nothing_solved(), pressure], energy, divergence)
    }

    /// Stage `k`, which ends at `time`.
    fn stage(
        &mut self,
        start: &Start<F>,
        stage: &Stage,
        (formula, time): (&Formula, f64),
        k: usize,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let share = 1.0 - stage.start;
        let shift = 1.0 / (share * formula.step);
        let last = k + 1 == STAGES.len();
        self.stage_of_temperature(start, stage, formula);
        let staggered = self.staggered.take();
        let outcome = match staggered {
            None => self.project_cells(start, stage, (formula, time), shift),
            Some(mut staggered) => {
                let done = self.project_faces(&mut staggered, start, stage, (formula, time), shift);
                self.staggered = Some(staggered);
                done
            }
        }?;
        for (component, kept) in self.components.iter_mut().zip(&start.velocity) {
            keep(&self.backend, kept, &mut component.now);
        }
        self.advance_velocity(last);
        if !last {
            let keep = if self.sees_pressure() { 1.0 } else { 0.0 };
            self.pressure.advance(&self.volume, shift, 0.0, keep);
        }
        self.end_stage_of_temperature(start, time, last)?;
        self.prescribe_dependent(0.0);
        Ok(outcome)
    }

    /// What the boundary asks for at the end of a stage. The pressure held there is the one the next stage
    /// sees, so that no increment is due to it.
    fn take_stage_time(
        &mut self,
        start: &Start<F>,
        stage: &Stage,
        (step, time): (f64, f64),
    ) -> Result<(), IncompressibleError> {
        let weights = (stage.start, step);
        let (faces, flux, components) = (&self.faces, &self.flux, &self.components);
        self.outflow.advance_stage(&self.backend, faces, flux, components, &start.outflow, weights);
        self.take_time(time, 0.0)?;
        self.pressure.set_mean_time([time; 2])
    }

    /// u* and F* with velocities in the cells, and the projection of F*.
    fn project_cells(
        &mut self,
        start: &Start<F>,
        stage: &Stage,
        (formula, time): (&Formula, f64),
        shift: f64,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        let (n, n_faces) = (self.volume.len(), self.flux.len());
        for k in 0..self.dimension {
            self.leave_momentum_of(k, formula);
            let component = &mut self.components[k];
            stage_value(
                &backend,
                n,
                &start.velocity[k],
                &component.now,
                &self.residual,
                &self.volume,
                F::from_f64(stage.start),
                F::from_f64(formula.step),
                &mut component.predicted,
            );
        }
        self.take_stage_time(start, stage, (formula.step, time))?;
        self.exchange_predicted();
        self.prescribe_dependent(0.0);
        self.interpolate_straight();
        self.exchange_predicted();
        let driven = self.sees_pressure();
        let (cells, pressure) = (&self.faces.cells, &self.pressure);
        stage_excess(
            &backend,
            n_faces,
            &cells.left,
            &cells.right,
            &start.at_faces,
            &self.excess,
            &self.skewness,
            &pressure.value,
            &pressure.slope,
            &pressure.at_boundary,
            &pressure.is_free,
            &pressure.conductance,
            &self.faces.weight,
            self.faces.momentum_span(),
            &self.rate,
            F::from_f64(stage.start),
            F::from_f64(formula.step),
            cells.n_interior(),
            n_faces,
            n,
            driven,
            self.faces.is_straight,
            &mut self.flux,
        );
        self.balance.apply(&backend, &self.outflow, &self.faces.area, &mut self.flux)?;
        self.solve_stage(shift)
    }

    fn solve_stage(&mut self, shift: f64) -> Result<SolveOutcome, IncompressibleError> {
        // ψ of the stage before was of another length and another pressure.
        self.pressure.forget();
        self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)
    }

    /// U* with fluxes as unknowns, its projection, and the velocities of cells.
    fn project_faces(
        &mut self,
        staggered: &mut Staggered<F>,
        start: &Start<F>,
        stage: &Stage,
        (formula, time): (&Formula, f64),
        shift: f64,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let n_faces = self.flux.len();
        self.leave_residuals(staggered, formula);
        let driven = self.sees_pressure();
        let pressure = (&self.pressure.value, &self.pressure.at_boundary);
        let at_boundary = three(&self.components, |c| &c.at_boundary);
        let pressure = driven.then_some(pressure);
        staggered.make_rate((&self.flux, at_boundary), self.viscosity, pressure);
        stage_flux(
            &self.backend,
            n_faces,
            &staggered.faces.is_free,
            &start.at_faces,
            staggered.rate(),
            F::from_f64(stage.start),
            F::from_f64(formula.step),
            &mut self.flux,
        );
        self.take_stage_time(start, stage, (formula.step, time))?;
        self.take_values();
        self.hold_flux(staggered)?;
        let outcome = self.solve_stage(shift)?;
        staggered.to_cells(&self.flux, &mut self.components);
        Ok(outcome)
    }

    /// T at the end of the stage, beside the present one, which the momentum still wants.
    fn stage_of_temperature(&mut self, start: &Start<F>, stage: &Stage, formula: &Formula) {
        let (Some(thermal), Some(kept)) = (&mut self.thermal, &start.temperature) else { return };
        let (backend, volume) = (&self.backend, &self.volume);
        thermal.leave_residual(backend, volume, formula, &mut self.residual);
        let field = &mut thermal.field;
        stage_value(
            backend,
            volume.len(),
            kept,
            &field.now,
            &self.residual,
            volume,
            F::from_f64(stage.start),
            F::from_f64(formula.step),
            &mut field.predicted,
        );
    }

    fn end_stage_of_temperature(
        &mut self,
        start: &Start<F>,
        time: f64,
        last: bool,
    ) -> Result<(), IncompressibleError> {
        let (Some(thermal), Some(kept)) = (&mut self.thermal, &start.temperature) else {
            return Ok(());
        };
        let (backend, n, one) = (&self.backend, self.volume.len(), F::literal(1.0));
        let field = &mut thermal.field;
        keep(backend, kept, &mut field.now);
        keep(backend, &field.predicted, &mut field.increment);
        blas::axpy(backend, n, -one, kept, &mut field.increment);
        let (now, before) = (&mut field.now, &mut field.before);
        advance_scalar(backend, n, &field.increment, now, before, &mut self.statistics.partials);
        if last {
            self.statistics.gather(backend);
        }
        thermal.transport.set_mean_time([time, time])
    }
}

/// a uⁿ + (1 − a) (u + Δt r / V). Traffic 5s.
#[kernel(stage_value, out(next))]
pub(super) fn value_of_stage<F: Real>(
    c: usize,
    start: &View<F>,
    u: &View<F>,
    r: &View<F>,
    volume: &View<F>,
    share: F,
    step: F,
) -> F {
    share * start[c] + (F::literal(1.0) - share) * (u[c] + step * r[c] / volume[c])
}

/// U ← a Uⁿ + (1 − a) (U + Δt dU/dt) where the flux is an unknown. Traffic 4 + 4s.
#[kernel(stage_flux, update(flux))]
pub(super) fn flux_of_stage<F: Real>(
    f: usize,
    is_free: &View<u32>,
    start: &View<F>,
    rate: &View<F>,
    share: F,
    step: F,
    flux: F,
) -> F {
    let next = share * start[f] + (F::literal(1.0) - share) * (flux + step * rate[f]);
    if is_free[f] == 0 { flux } else { next }
}

/// F* ← F* + a Eⁿ + (1 − a) (E + Δt (R + (K − E)/τ)), on entry the flux of the interpolated velocity; R, K and τ as
/// momentum interpolation has them, R left out where no pressure drives. Where the velocity is held at the
/// boundary the flux is left alone.
///
/// Traffic a face: 8 + 11s, a cell 5s.
#[kernel(stage_excess, update(flux))]
pub(super) fn flux_with_excess<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    start: &View<F>,
    excess: &View<F>,
    skewness: &View<F>,
    pressure: &View<F>,
    slope: &View<F>,
    pressure_at_boundary: &View<F>,
    is_free: &View<u32>,
    conductance: &View<F>,
    weight: &View<F>,
    span: &View<F>,
    rate: &View<F>,
    share: F,
    step: F,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] driven: bool,
    #[comptime] straight: bool,
    flux: F,
) -> F {
    let law = departure::<F>(
        f,
        left,
        right,
        pressure,
        slope,
        pressure_at_boundary,
        is_free,
        conductance,
        weight,
        span,
        rate,
        n_interior,
        n_faces,
        n_cells,
        driven,
    );
    let mut departed = excess[f];
    if comptime!(!straight) {
        departed -= skewness[f];
    }
    let change = law.drive - law.forgotten * departed;
    let next = share * start[f] + (F::literal(1.0) - share) * (excess[f] + step * change);
    flux + law.applies * next
}
