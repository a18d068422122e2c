//! A stage of an explicit step: the level it starts from, its boundary data, its projection, the values it advances.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::IncompressibleError;
use super::flow::Flow;
use crate::backend::{Backend, Buffer, View, blas};
use crate::finite_volume::rhie_chow::{RhieChow, rhie_chow_terms};
use crate::finite_volume::{CellField, FaceView};
use crate::linear::SolveOutcome;
use crate::real::Real;
use crate::time::TimeCoefficients;
use crate::time::runge_kutta::Stage;
use karman_backend::prelude::*;

/// A stage of a step.
pub(super) struct StageOfStep {
    pub stage: Stage,
    /// Δt.
    pub step: f64,
    /// The time at its end.
    pub time: f64,
    /// Whether the step ends with it.
    pub is_last: bool,
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
    pub temperature: Option<Buffer<F>>,
    /// The velocity at convective outlets, by component.
    outflow: Vec<Buffer<F>>,
}

/// `to` ← `from`.
pub(super) fn copy<F: Real>(backend: &Backend, from: &Buffer<F>, to: &mut Buffer<F>) {
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

    /// Stores the current level; `at_faces` is the unknown at the faces.
    pub(super) fn store(&mut self, flow: &Flow<F>, at_faces: &Buffer<F>) {
        let backend = &flow.backend;
        for (old, component) in self.velocity.iter_mut().zip(&flow.components) {
            copy(backend, &component.now, old);
        }
        copy(backend, at_faces, &mut self.at_faces);
        if let (Some(old), Some(thermal)) = (&mut self.temperature, &flow.thermal) {
            copy(backend, &thermal.field.now, old);
        }
        for (old, value) in self.outflow.iter_mut().zip(&flow.boundary.outflow.value) {
            copy(backend, value, old);
        }
    }
}

impl<F: Real> Flow<F> {
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
