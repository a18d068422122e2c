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

use super::kernels::advance_scalar;
use super::scheme::{Scheme, TimeCoefficients};
use super::solver::{IncompressibleSolver, three};
use super::staggered::Staggered;
use super::{IncompressibleError, StepReport};
use crate::backend::{Backend, Buffer, View, blas};
use crate::finite_volume::rhie_chow::{RhieChow, rhie_chow_terms};
use crate::finite_volume::{CellField, FaceView};
use crate::linear::{SolveOutcome, Status};
use crate::real::Real;
use karman_backend::prelude::*;

/// A stage: u ← α uⁿ + (1 − α) (u + Δt f(u)) at the time t + c Δt.
struct Stage {
    alpha: f64,
    c: f64,
}

const STAGES: [Stage; 3] = [
    Stage { alpha: 0.0, c: 1.0 },
    Stage { alpha: 0.75, c: 0.5 },
    Stage { alpha: 1.0 / 3.0, c: 1.0 },
];

/// The unknowns at tⁿ.
pub(super) struct OldLevel<F: Real> {
    /// By component: `[n_cells]` each.
    velocity: Vec<Buffer<F>>,
    /// U staggered, E collocated: `[n_faces]`.
    at_faces: Buffer<F>,
    temperature: Option<Buffer<F>>,
    /// The velocity at convective outlets, by component.
    outflow: Vec<Buffer<F>>,
}

fn like<F: Real>(backend: &Backend, buffer: &Buffer<F>) -> Buffer<F> {
    backend.zeros(buffer.len())
}

fn copy<F: Real>(backend: &Backend, from: &Buffer<F>, to: &mut Buffer<F>) {
    blas::copy(backend, from.len(), from, to);
}

impl<F: Real> OldLevel<F> {
    pub(super) fn new(solver: &IncompressibleSolver<F>) -> Self {
        let backend = &solver.backend;
        OldLevel {
            velocity: solver.components.iter().map(|c| like(backend, &c.now)).collect(),
            at_faces: like(backend, &solver.flux),
            temperature: solver.thermal.as_ref().map(|t| like(backend, &t.field.now)),
            outflow: solver.outflow.value.iter().map(|value| like(backend, value)).collect(),
        }
    }

    fn store(&mut self, solver: &IncompressibleSolver<F>) {
        let backend = &solver.backend;
        for (old, component) in self.velocity.iter_mut().zip(&solver.components) {
            copy(backend, &component.now, old);
        }
        let unknown =
            if solver.staggered.is_some() { &solver.flux } else { &solver.rhie_chow_correction };
        copy(backend, unknown, &mut self.at_faces);
        if let (Some(old), Some(thermal)) = (&mut self.temperature, &solver.thermal) {
            copy(backend, &thermal.field.now, old);
        }
        for (old, value) in self.outflow.iter_mut().zip(&solver.outflow.value) {
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

impl<F: Real> IncompressibleSolver<F> {
    /// Advances by `step` in three stages.
    pub(super) fn step_explicit(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        let (old, new) = (self.time, self.time + step);
        let coefficients = TimeCoefficients::new(Scheme::Rk3, step, None);
        let mut level = match self.old_level.take() {
            Some(level) => level,
            None => OldLevel::new(self),
        };
        level.store(self);
        self.statistics.clear(&self.backend);
        let mut pressure: Option<SolveOutcome> = None;
        let mut divergence = 0.0;
        for (k, stage) in STAGES.iter().enumerate() {
            let time = if stage.c == 1.0 { new } else { old + stage.c * step };
            let outcome = self.stage(&level, stage, (&coefficients, time), k)?;
            pressure = Some(outcome.after(pressure));
            divergence = self.refresh()?;
        }
        self.old_level = Some(level);
        (self.time, self.steps, self.step_before) = (new, self.steps + 1, Some(step));
        let Some(pressure) = pressure else { unreachable!("there are three stages") };
        let energy = self.thermal.is_some().then(explicit_outcome);
        self.report(step, [explicit_outcome(), pressure], energy, divergence)
    }

    /// Stage `k`, which ends at `time`.
    fn stage(
        &mut self,
        level: &OldLevel<F>,
        stage: &Stage,
        (coefficients, time): (&TimeCoefficients, f64),
        k: usize,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let beta = 1.0 - stage.alpha;
        let shift = 1.0 / (beta * coefficients.step);
        let last = k + 1 == STAGES.len();
        self.stage_of_temperature(level, stage, coefficients);
        let staggered = self.staggered.take();
        let outcome = match staggered {
            None => self.project_cells(level, stage, (coefficients, time), shift),
            Some(mut staggered) => {
                let done =
                    self.project_faces(&mut staggered, level, stage, (coefficients, time), shift);
                self.staggered = Some(staggered);
                done
            }
        }?;
        for (component, old) in self.components.iter_mut().zip(&level.velocity) {
            copy(&self.backend, old, &mut component.now);
        }
        self.advance_velocity(last);
        if !last {
            let previous_weight = if self.is_incremental() { 1.0 } else { 0.0 };
            self.pressure.advance(&self.volume, shift, 0.0, previous_weight);
        }
        self.end_stage_of_temperature(level, time, last)?;
        self.update_dependent_boundaries(0.0);
        Ok(outcome)
    }

    /// Evaluates the boundary data at the end of a stage. The next stage reads this prescribed pressure, so
    /// that ψ vanishes there.
    fn set_stage_time(
        &mut self,
        level: &OldLevel<F>,
        stage: &Stage,
        (step, time): (f64, f64),
    ) -> Result<(), IncompressibleError> {
        let weights = (stage.alpha, step);
        let (faces, flux, components) = (&self.faces, &self.flux, &self.components);
        self.outflow.advance_stage(&self.backend, faces, flux, components, &level.outflow, weights);
        self.set_time(time, 0.0)?;
        self.pressure.set_mean_time([time; 2])
    }

    /// Collocated: u*, F* and the projection of F*.
    fn project_cells(
        &mut self,
        level: &OldLevel<F>,
        stage: &Stage,
        (coefficients, time): (&TimeCoefficients, f64),
        shift: f64,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        let (n, n_faces) = (self.volume.len(), self.flux.len());
        for k in 0..self.dimension {
            self.momentum_residual(k, coefficients);
            let component = &mut self.components[k];
            stage_value(
                &backend,
                n,
                &level.velocity[k],
                &component.now,
                &self.residual,
                &self.volume,
                F::from_f64(stage.alpha),
                F::from_f64(coefficients.step),
                &mut component.predicted,
            );
        }
        self.set_stage_time(level, stage, (coefficients.step, time))?;
        self.swap_predicted();
        self.update_dependent_boundaries(0.0);
        self.interpolate_unskewed();
        self.swap_predicted();
        let state = RhieChow {
            correction: self.rhie_chow_correction.view(),
            before: level.at_faces.view(),
            skewness_flux: self.skewness_flux.view(),
            conductance: self.pressure.conductance.view(),
            decay_rate: self.decay_rate.view(),
            is_dirichlet: self.pressure.is_dirichlet.view(),
            with_pressure: self.is_incremental(),
        };
        stage_rhie_chow(
            &backend,
            n_faces,
            &self.faces.momentum_view(),
            &self.pressure.view(),
            &state,
            F::from_f64(stage.alpha),
            F::from_f64(coefficients.step),
            &mut self.flux,
        );
        self.mass_correction.apply(&backend, &self.outflow, &self.faces.area, &mut self.flux)?;
        self.solve_stage(shift)
    }

    fn solve_stage(&mut self, shift: f64) -> Result<SolveOutcome, IncompressibleError> {
        // ψ of the previous stage belongs to another stage length and pressure.
        self.pressure.reset_guess();
        self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)
    }

    /// Staggered: U*, its projection and the velocities of cells.
    fn project_faces(
        &mut self,
        staggered: &mut Staggered<F>,
        level: &OldLevel<F>,
        stage: &Stage,
        (coefficients, time): (&TimeCoefficients, f64),
        shift: f64,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let n_faces = self.flux.len();
        self.cell_residuals(staggered, coefficients);
        let with_pressure = self.is_incremental();
        let pressure = (&self.pressure.value, &self.pressure.at_boundary);
        let at_boundary = three(&self.components, |c| &c.at_boundary);
        let pressure = with_pressure.then_some(pressure);
        staggered.compute_rate((&self.flux, at_boundary), self.viscosity, pressure);
        stage_flux(
            &self.backend,
            n_faces,
            &staggered.faces.is_unknown,
            &level.at_faces,
            staggered.rate(),
            F::from_f64(stage.alpha),
            F::from_f64(coefficients.step),
            &mut self.flux,
        );
        self.set_stage_time(level, stage, (coefficients.step, time))?;
        self.update_gradients();
        self.prescribe_flux(staggered)?;
        let outcome = self.solve_stage(shift)?;
        staggered.to_cells(&self.flux, &mut self.components);
        Ok(outcome)
    }

    /// T at the end of the stage, stored apart from the current T, which the momentum equation reads.
    fn stage_of_temperature(
        &mut self,
        level: &OldLevel<F>,
        stage: &Stage,
        coefficients: &TimeCoefficients,
    ) {
        let (Some(thermal), Some(old)) = (&mut self.thermal, &level.temperature) else { return };
        let (backend, volume) = (&self.backend, &self.volume);
        thermal.transport_residual(backend, volume, coefficients, &mut self.residual);
        let field = &mut thermal.field;
        stage_value(
            backend,
            volume.len(),
            old,
            &field.now,
            &self.residual,
            volume,
            F::from_f64(stage.alpha),
            F::from_f64(coefficients.step),
            &mut field.predicted,
        );
    }

    fn end_stage_of_temperature(
        &mut self,
        level: &OldLevel<F>,
        time: f64,
        last: bool,
    ) -> Result<(), IncompressibleError> {
        let (Some(thermal), Some(old)) = (&mut self.thermal, &level.temperature) else {
            return Ok(());
        };
        let (backend, n, one) = (&self.backend, self.volume.len(), F::literal(1.0));
        let field = &mut thermal.field;
        copy(backend, old, &mut field.now);
        copy(backend, &field.predicted, &mut field.increment);
        blas::axpy(backend, n, -one, old, &mut field.increment);
        let (now, before) = (&mut field.now, &mut field.before);
        advance_scalar(backend, n, &field.increment, now, before, &mut self.statistics.partials);
        if last {
            self.statistics.gather(backend);
        }
        thermal.diffusion.set_mean_time([time, time])
    }
}

/// α uⁿ + (1 − α) (u + Δt r / V). Traffic 5s.
#[kernel(stage_value, out(next))]
pub(super) fn value_of_stage<F: Real>(
    c: usize,
    old: &View<F>,
    u: &View<F>,
    r: &View<F>,
    volume: &View<F>,
    alpha: F,
    step: F,
) -> F {
    alpha * old[c] + (F::literal(1.0) - alpha) * (u[c] + step * r[c] / volume[c])
}

/// U ← α Uⁿ + (1 − α) (U + Δt dU/dt) where the flux is an unknown. Traffic 4 + 4s.
#[kernel(stage_flux, update(flux))]
pub(super) fn flux_of_stage<F: Real>(
    f: usize,
    is_unknown: &View<u32>,
    old: &View<F>,
    rate: &View<F>,
    alpha: F,
    step: F,
    flux: F,
) -> F {
    let next = alpha * old[f] + (F::literal(1.0) - alpha) * (flux + step * rate[f]);
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
    let change = terms.source - terms.decay_rate * deviation;
    let next = alpha * state.before[f] + (1.0 - alpha) * (correction + step * change);
    flux + terms.applies * next
}
