//! Three explicit stages of third order, each with a projection, for both arrangements:
//!
//! u₁ = P(uⁿ + Δt f(uⁿ)),  u₂ = P(¾ uⁿ + ¼ (u₁ + Δt f(u₁))),  uⁿ⁺¹ = P(⅓ uⁿ + ⅔ (u₂ + Δt f(u₂))),
//!
//! f convection, viscous terms, sources and the gradient of a known pressure, P the projection with the
//! boundary data at the time of the stage, t + Δt, t + Δt/2, t + Δt. With this projection the velocity has
//! the order of the method for ordinary differential equations. The pressure is that of the second stage, of
//! second order where the boundary fluxes are steady, else of first.
//!
//! Collocated, E in F = u_i·S + E is an unknown, dE/dt = R + (K − E)/τ as in
//! [`momentum_interpolation`](crate::finite_volume::rhie_chow::momentum_interpolation), and is advanced by the same stages.
//! On non-orthogonal meshes the two-point projection of F differs from that of u, an error of order Δt h;
//! where a flux changes its sign 1/τ has a kink (measured order 2.6). Elsewhere the order is three.
//!
//! Stable for central convection while Δt Σ|F| / 2V ≤ √3, for viscous terms alone while Δt ν Σ a / V ≤ 1.25.
//!
//! Sources: Shu & Osher, J. Comput. Phys. 77 (1988) 439, eq. 2.18, for the method; Le & Moin, J. Comput.
//! Phys. 92 (1991) 369, and Sanderse & Koren, J. Comput. Phys. 231 (2012) 3041, for the projection.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::flow::Flow;
use super::kernels::advance_scalar;
use super::stepper::{StepSolves, Stepper};
use super::thermal::Thermal;
use super::transport_equation::DiffusiveTerms;
use super::{IncompressibleError, StepReport};
use crate::backend::{Backend, Buffer, View, blas};
use crate::finite_volume::rhie_chow::{RhieChow, rhie_chow_terms};
use crate::finite_volume::{CellField, FaceView};
use crate::linear::{SolveOutcome, Status};
use crate::real::Real;
use crate::time::TimeCoefficients;
use crate::time::runge_kutta::{SSP_RK3, Stage};
use karman_backend::prelude::*;

/// A stage of a step.
pub(super) struct StageOfStep {
    pub stage: Stage,
    /// Δt.
    pub step: f64,
    /// The time at its end.
    pub time: f64,
    is_last: bool,
}

impl StageOfStep {
    /// 1 / ((1 − α) Δt), the factor of ψ in the pressure.
    pub(super) fn shift(&self) -> f64 {
        1.0 / ((1.0 - self.stage.alpha) * self.step)
    }

    /// The coefficients of u + Δt f(u).
    pub(super) fn coefficients(&self) -> TimeCoefficients {
        TimeCoefficients::first_order(self.step)
    }
}

/// The unknowns at tⁿ.
pub(super) struct OldLevel<F: Real> {
    /// By component: `[n_cells]` each.
    pub velocity: Vec<Buffer<F>>,
    /// U staggered, E collocated: `[n_faces]`.
    pub at_faces: Buffer<F>,
    temperature: Option<Buffer<F>>,
    /// The velocity at convective outlets, by component.
    outflow: Vec<Buffer<F>>,
}

fn copy<F: Real>(backend: &Backend, from: &Buffer<F>, to: &mut Buffer<F>) {
    blas::copy(backend, from.len(), from, to);
}

impl<F: Real> OldLevel<F> {
    pub(super) fn new(flow: &Flow<F>) -> Self {
        let like = |buffer: &Buffer<F>| flow.backend.zeros(buffer.len());
        OldLevel {
            velocity: flow.components.iter().map(|c| like(&c.now)).collect(),
            at_faces: like(&flow.flux),
            temperature: flow.thermal.as_ref().map(|thermal| like(&thermal.field.now)),
            outflow: flow.boundary.outflow.value.iter().map(like).collect(),
        }
    }

    fn store(&mut self, flow: &Flow<F>, stepper: &dyn Stepper<F>) {
        let backend = &flow.backend;
        for (old, component) in self.velocity.iter_mut().zip(&flow.components) {
            copy(backend, &component.now, old);
        }
        copy(backend, stepper.unknown_at_faces(flow), &mut self.at_faces);
        if let (Some(old), Some(thermal)) = (&mut self.temperature, &flow.thermal) {
            copy(backend, &thermal.field.now, old);
        }
        for (old, value) in self.outflow.iter_mut().zip(&flow.boundary.outflow.value) {
            copy(backend, value, old);
        }
    }
}

/// The outcome of an explicit predictor.
fn explicit_outcome() -> SolveOutcome {
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

/// Advances by `step` in three stages.
pub(super) fn advance<F: Real>(
    flow: &mut Flow<F>,
    stepper: &mut dyn Stepper<F>,
    old: &mut OldLevel<F>,
    step: f64,
) -> Result<StepReport, IncompressibleError> {
    let (begin, end) = (flow.clock.time, flow.clock.time + step);
    old.store(flow, stepper);
    flow.monitors.statistics.clear(&flow.backend);
    let mut pressure: Option<SolveOutcome> = None;
    let mut divergence = 0.0;
    for (k, stage) in SSP_RK3.into_iter().enumerate() {
        let time = if stage.c == 1.0 { end } else { begin + stage.c * step };
        let stage = StageOfStep { stage, step, time, is_last: k + 1 == SSP_RK3.len() };
        let outcome = flow.advance_stage(stepper, old, &stage)?;
        pressure = Some(outcome.after(pressure));
        divergence = flow.refresh(stepper)?;
    }
    flow.clock.advance(end, step);
    let Some(pressure) = pressure else { unreachable!("there are three stages") };
    let energy = flow.thermal.is_some().then(explicit_outcome);
    let solves = StepSolves { momentum: explicit_outcome(), pressure };
    StepReport::new(flow, step, solves, energy, divergence)
}

impl<F: Real> Flow<F> {
    fn advance_stage(
        &mut self,
        stepper: &mut dyn Stepper<F>,
        old: &OldLevel<F>,
        stage: &StageOfStep,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.stage_of_temperature(old, stage);
        let outcome = stepper.stage(self, old, stage)?;
        for (component, old) in self.components.iter_mut().zip(&old.velocity) {
            copy(&self.backend, old, &mut component.now);
        }
        self.advance_velocity(stage.is_last, (!stage.is_last).then(|| stage.shift()));
        if !stage.is_last {
            let previous_weight = if self.is_incremental() { 1.0 } else { 0.0 };
            self.pressure.advance(&self.faces, stage.shift(), 0.0, previous_weight);
            self.add_mean_pressure();
        }
        self.pressure.prescribe_of_flow(&self.faces, &self.flux);
        self.end_stage_of_temperature(old, stage)?;
        self.update_dependent_boundaries(0.0);
        Ok(outcome)
    }

    /// Evaluates the boundary data at the end of a stage. The next stage reads this prescribed pressure, so
    /// that ψ vanishes there.
    pub(super) fn set_stage_time(
        &mut self,
        old: &OldLevel<F>,
        stage: &StageOfStep,
    ) -> Result<(), IncompressibleError> {
        let weights = (stage.stage.alpha, stage.step);
        let Flow { backend, flux, components, boundary, .. } = self;
        boundary.outflow.advance_stage(backend, flux, components, &old.outflow, weights);
        self.set_time(stage.time, 0.0)?;
        self.set_pressure_time([stage.time; 2])
    }

    /// Projects the fluxes of a stage.
    pub(super) fn project_stage(
        &mut self,
        stage: &StageOfStep,
    ) -> Result<SolveOutcome, IncompressibleError> {
        // ψ of the previous stage belongs to another stage length and pressure.
        self.pressure.reset_guess();
        self.pressure.project(&self.faces, stage.shift(), &mut self.flux)
    }

    /// T at the end of the stage, stored apart from the current T, which the momentum equation reads.
    fn stage_of_temperature(&mut self, old: &OldLevel<F>, stage: &StageOfStep) {
        let (Some(thermal), Some(old)) = (&mut self.thermal, &old.temperature) else { return };
        let (backend, volume) = (&self.backend, &self.faces.volume);
        thermal.compute_residual(volume, &stage.coefficients(), DiffusiveTerms::Current);
        let Thermal { equation, field, .. } = thermal;
        stage_value(
            backend,
            volume.len(),
            old,
            &field.now,
            &equation.residual,
            0,
            volume,
            F::from_f64(stage.stage.alpha),
            F::from_f64(stage.step),
            &mut field.predicted,
        );
    }

    fn end_stage_of_temperature(
        &mut self,
        old: &OldLevel<F>,
        stage: &StageOfStep,
    ) -> Result<(), IncompressibleError> {
        let (Some(thermal), Some(old)) = (&mut self.thermal, &old.temperature) else {
            return Ok(());
        };
        let (backend, statistics) = (&self.backend, &mut self.monitors.statistics);
        let (n, one) = (old.len(), F::literal(1.0));
        let Thermal { equation, field, .. } = thermal;
        let increment = &mut equation.increment;
        copy(backend, old, &mut field.now);
        copy(backend, &field.predicted, increment);
        blas::axpy(backend, n, -one, old, increment);
        let (now, before) = (&mut field.now, &mut field.before);
        advance_scalar(backend, n, increment, now, before, &mut statistics.partials);
        if stage.is_last {
            statistics.gather(backend);
        }
        thermal.equation.set_trapezoidal_mean([stage.time; 2])
    }
}

/// α uⁿ + (1 − α) (u + Δt r / V) of a quantity whose residuals begin at `first`. Traffic 5s.
#[kernel(out(next))]
pub(super) fn stage_value<F: Real>(
    c: usize,
    old: &View<F>,
    u: &View<F>,
    r: &View<F>,
    first: usize,
    volume: &View<F>,
    alpha: F,
    step: F,
) -> F {
    alpha * old[c] + (1.0 - alpha) * (u[c] + step * r[first + c] / volume[c])
}

/// U ← α Uⁿ + (1 − α) (U + Δt dU/dt) where the flux is an unknown. Traffic 4 + 4s.
#[kernel(update(flux))]
pub(super) fn stage_flux<F: Real>(
    f: usize,
    is_unknown: &View<u32>,
    old: &View<F>,
    rate: &View<F>,
    alpha: F,
    step: F,
    flux: F,
) -> F {
    let next = alpha * old[f] + (1.0 - alpha) * (flux + step * rate[f]);
    if is_unknown[f] == 0 { flux } else { next }
}

/// F* ← F* + α Eⁿ + (1 − α) (E + Δt (R + (K − E)/τ)), on entry u*_i·S; R, K and τ of momentum interpolation,
/// R = 0 unless `with_pressure`. Fluxes of prescribed velocities are unchanged.
///
/// Traffic a face: 8 + 11s, a cell 5s.
#[kernel(update(flux))]
pub(super) fn stage_rhie_chow<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    p: &CellField<F>,
    state: &RhieChow<F>,
    alpha: F,
    step: F,
    flux: F,
) -> F {
    let terms = rhie_chow_terms::<F>(f, faces, p, state);
    let correction = state.correction[f];
    let mut deviation = correction;
    if comptime!(!faces.is_unskewed) {
        deviation -= state.skewness_flux[f];
    }
    let change = terms.source - terms.momentum_diagonal * deviation;
    let next = alpha * state.before[f] + (1.0 - alpha) * (correction + step * change);
    flux + terms.applies * next
}
