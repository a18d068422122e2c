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

use super::IncompressibleError;
use super::flow::Flow;
use super::kernels::advance_scalar;
use super::report::StepReport;
use super::stage::{OldLevel, StageOfStep, copy, stage_value};
use super::step::StepSolves;
use super::stepper::{Stepper, refresh};
use super::thermal::Thermal;
use super::transport_equation::DiffusiveTerms;
use super::transported_field::TransportedField;
use crate::backend::blas;
use crate::linear::{SolveOutcome, Status};
use crate::real::Real;
use crate::time::runge_kutta::SSP_RK3;

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
    old.store(flow, stepper.unknown_at_faces(flow));
    flow.monitors.statistics.clear(&flow.backend);
    let mut pressure: Option<SolveOutcome> = None;
    let mut divergence = 0.0;
    for (k, stage) in SSP_RK3.into_iter().enumerate() {
        let time = if stage.c == 1.0 { end } else { begin + stage.c * step };
        let stage = StageOfStep { stage, step, time, is_last: k + 1 == SSP_RK3.len() };
        let outcome = flow.advance_stage(stepper, old, &stage)?;
        pressure = Some(outcome.after(pressure));
        divergence = refresh(flow, stepper)?;
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

    /// T at the end of the stage, stored apart from the current T, which the momentum equation reads.
    fn stage_of_temperature(&mut self, old: &OldLevel<F>, stage: &StageOfStep) {
        let (Some(thermal), Some(old)) = (&mut self.thermal, &old.temperature) else { return };
        let (backend, volume, n) = (&self.backend, &self.faces.volume, self.faces.cells.n_cells());
        thermal.compute_residual(volume, &stage.coefficients(), DiffusiveTerms::Current);
        let Thermal { equation, field, .. } = thermal;
        stage_value(
            backend,
            n,
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
        let Thermal { equation, field, .. } = thermal;
        let increment = &mut equation.increment;
        let (n, one) = (increment.len(), F::literal(1.0));
        copy(backend, old, &mut field.now);
        blas::copy(backend, n, &field.predicted, increment);
        blas::axpy(backend, n, -one, old, increment);
        let TransportedField { now, before, .. } = field;
        self.faces.cells.copy_ghosts(now, before);
        advance_scalar(backend, n, increment, now, before, &mut statistics.partials);
        self.faces.cells.fetch(&mut [now]);
        if stage.is_last {
            statistics.gather(backend);
        }
        thermal.equation.set_trapezoidal_mean([stage.time; 2])
    }
}
