//! Velocity and pressure in the cells, fluxes at the faces: a step of the projection method.
//!
//! 1. Predictor: (shift V + θ W) δ = V (s − ∇p + history δ_before) − N − A u with the terms of `transport_equation.rs`.
//! 2. Flux F*: momentum interpolation of u* = u + δ.
//! 3. Projection: A_p ψ = D F*; F = F* + a G ψ, u = u* + ∇ψ, p ← p − shift ψ − θ ν ∇·u*, the last term smoothed (decision 18).
//!
//! Sources: Menon's thesis, ch. 7, for the fractional step; Guermond, Minev & Shen, Comput. Methods Appl.
//! Mech. Engrg. 195 (2006) 6011, §3, for the incremental rotational form; Rhie & Chow, AIAA J. 21 (1983)
//! 1525, and Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507, for momentum interpolation.

use super::IncompressibleError;
use super::flow::Flow;
use super::monitors::Monitors;
use super::places::{Place, UnknownPlaces};
use super::pressure::Pressure;
use super::stage::{OldLevel, StageOfStep, stage_rhie_chow, stage_value};
use super::step::{Step, StepSolves};
use super::stepper::Stepper;
use super::transport_equation::DiffusiveTerms;
use super::transport_residual::add_increment;
use super::transported_field::{TransportedField, velocity_view};
use crate::backend::{Backend, Buffer, View, blas};
use crate::finite_volume::interpolation::interpolated_flux;
use crate::finite_volume::rhie_chow::{RhieChow, momentum_interpolation, rhie_chow_correction};
use crate::finite_volume::{FaceView, Faces};
use crate::linear::SolveOutcome;
use crate::operators::Part;
use crate::real::Real;
use crate::time::TimeCoefficients;

/// Least shift of E in a steady flow over 1/τ. With steps Δτ ≫ τ, E equals K of the last velocity, which viscosity has
/// reduced since, and modes alternate and grow (decision 14).
const LEAST_SHIFT: f64 = 0.5;

/// Data of momentum interpolation: `[n_faces]` each.
pub(super) struct Collocated<F: Real> {
    /// E = F − u_i·S.
    correction: Buffer<F>,
    /// E of the previous level.
    correction_before: Buffer<F>,
    /// K, the skewness correction of u_i·S.
    skewness_flux: Buffer<F>,
}

impl<F: Real> Collocated<F> {
    pub(super) fn new(backend: &Backend, n_faces: usize) -> Self {
        Collocated {
            correction: backend.zeros(n_faces),
            correction_before: backend.zeros(n_faces),
            skewness_flux: backend.zeros(n_faces),
        }
    }

    /// The data as kernels read them; `before` is E of the previous level, or at the start of an explicit step.
    fn view<'a>(
        &'a self,
        pressure: &'a Pressure<F>,
        monitors: &'a Monitors<F>,
        before: &'a Buffer<F>,
        with_pressure: bool,
    ) -> RhieChow<'a, F> {
        let local = pressure.poisson.local.as_ref();
        RhieChow {
            correction: self.correction.view(),
            before: before.view(),
            skewness_flux: self.skewness_flux.view(),
            conductance: pressure.interpolation_conductance().view(),
            momentum_diagonal: monitors.momentum_diagonal.view(),
            is_dirichlet: pressure.conditions.is_dirichlet.view(),
            relative_step: local.map_or(View::absent(), |local| local.relative.view()),
            least_shift: F::from_f64(LEAST_SHIFT),
            with_pressure,
            is_steady: local.is_some(),
        }
    }

    /// Solves for u*.
    fn predict(
        flow: &mut Flow<F>,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let inertia = flow.pressure.inertia(&flow.faces.volume);
        flow.momentum.prepare(coefficients, &flow.flux, inertia)?;
        flow.momentum_residual(coefficients, DiffusiveTerms::Extrapolated);
        flow.add_momentum_residual();
        let outcome = flow.momentum.solve()?;
        let (n, increments) = (flow.n_cells(), &flow.momentum.increment);
        for (k, TransportedField { now, predicted, .. }) in flow.components.iter_mut().enumerate() {
            add_increment(&flow.backend, n, now, increments, k * n, predicted);
        }
        Ok(outcome)
    }

    /// flow.flux ← u_i·S of u*, interpolated without the skewness correction.
    fn interpolate_predicted(flow: &mut Flow<F>, update_boundaries: bool) {
        flow.swap_predicted();
        flow.fetch_velocity();
        if update_boundaries {
            flow.update_dependent_boundaries(0.0);
        }
        // Slip walls extrapolate by the latest gradients.
        let has_gradients = flow.faces.is_cubic || flow.boundary.slip.is_present;
        flow.update_gradients_with(has_gradients && flow.has_gradients(), true);
        let Flow { backend, faces, components, flux, .. } = flow;
        interpolate(backend, faces, components, true, flux);
        flow.swap_predicted();
    }

    /// Computes F* and projects it.
    fn project(
        &self,
        flow: &mut Flow<F>,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        Self::interpolate_predicted(flow, false);
        let (shift, history) = (coefficients.bdf.shift, coefficients.bdf.history);
        let with_pressure = flow.is_incremental();
        let Flow { backend, faces, pressure, monitors, flux, .. } = flow;
        momentum_interpolation(
            backend,
            faces.cells.n_faces(),
            &faces.momentum_view(),
            &pressure.view(),
            &self.view(pressure, monitors, &self.correction_before, with_pressure),
            F::from_f64(shift),
            F::from_f64(history),
            flux,
        );
        flow.balance_boundary_flux()?;
        let factors = (shift, coefficients.theta);
        let outcome = flow.pressure.project_step(&flow.faces, factors, &mut flow.flux)?;
        flow.add_mass_residual();
        Ok(outcome)
    }
}

impl<F: Real> Stepper<F> for Collocated<F> {
    /// flow.flux ← u_f·S.
    fn set_initial_flux(&mut self, flow: &mut Flow<F>) -> Result<(), IncompressibleError> {
        let Flow { backend, faces, components, flux, .. } = flow;
        interpolate(backend, faces, components, faces.is_unskewed, flux);
        flow.balance_boundary_flux()
    }

    fn copy_to_previous_level(&mut self, flow: &Flow<F>) {
        let Collocated { correction, correction_before, .. } = self;
        blas::copy(&flow.backend, correction.len(), correction, correction_before);
    }

    fn step(&mut self, flow: &mut Flow<F>, step: &Step) -> Result<StepSolves, IncompressibleError> {
        let momentum = Self::predict(flow, &step.coefficients)?;
        flow.set_time(step.times[1], step.extrapolation)?;
        let pressure = self.project(flow, &step.coefficients)?;
        flow.advance_velocity(true, Some(step.coefficients.bdf.shift));
        flow.advance_pressure(&step.coefficients);
        Ok(StepSolves { momentum, pressure })
    }

    fn stage(
        &mut self,
        flow: &mut Flow<F>,
        old: &OldLevel<F>,
        stage: &StageOfStep,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let (alpha, step) = (F::from_f64(stage.stage.alpha), F::from_f64(stage.step));
        flow.momentum_residual(&stage.coefficients(), DiffusiveTerms::Current);
        let n = flow.n_cells();
        for (k, TransportedField { now, predicted, .. }) in flow.components.iter_mut().enumerate() {
            let (old, r, volume) = (&old.velocity[k], &flow.momentum.residual, &flow.faces.volume);
            stage_value(&flow.backend, n, old, now, r, k * n, volume, alpha, step, predicted);
        }
        flow.set_stage_time(old, stage)?;
        Self::interpolate_predicted(flow, true);
        let with_pressure = flow.is_incremental();
        let Flow { backend, faces, pressure, monitors, flux, .. } = flow;
        stage_rhie_chow(
            backend,
            faces.cells.n_faces(),
            &faces.momentum_view(),
            &pressure.view(),
            &self.view(pressure, monitors, &old.at_faces, with_pressure),
            alpha,
            step,
            flux,
        );
        flow.balance_boundary_flux()?;
        flow.project_stage(stage)
    }

    /// Updates E and K; the old E becomes that of the previous level.
    fn refresh(&mut self, flow: &mut Flow<F>) {
        let Collocated { correction, correction_before, skewness_flux } = self;
        let (backend, faces) = (&flow.backend, &flow.faces);
        std::mem::swap(correction, correction_before);
        interpolate(backend, faces, &flow.components, true, correction);
        rhie_chow_correction(
            backend,
            faces.cells.n_faces(),
            &faces.velocity_view(),
            &flow.flux,
            &flow.velocity(),
            &flow.boundary.dirichlet_index,
            correction,
            skewness_flux,
        );
    }

    fn unknown_at_faces<'a>(&'a self, _flow: &'a Flow<F>) -> &'a Buffer<F> {
        &self.correction
    }

    fn of_part(
        &self,
        part: &Part,
        _starts: &[usize],
    ) -> Result<(Box<dyn Stepper<F>>, UnknownPlaces), IncompressibleError> {
        let stepper = Collocated::new(&part.backend, part.n_faces());
        Ok((Box::new(stepper), UnknownPlaces::default()))
    }

    fn arrays(&self) -> Vec<(&'static str, Place, &Buffer<F>)> {
        vec![("rhie_chow_correction_before", Place::Faces, &self.correction_before)]
    }

    fn arrays_mut(&mut self) -> Vec<(&'static str, &mut Buffer<F>)> {
        vec![("rhie_chow_correction_before", &mut self.correction_before)]
    }
}

/// flux ← u_f·S of `now`, without the skewness correction if `is_unskewed`.
fn interpolate<F: Real>(
    backend: &Backend,
    faces: &Faces<F>,
    components: &[TransportedField<F>],
    is_unskewed: bool,
    flux: &mut Buffer<F>,
) {
    interpolated_flux(
        backend,
        faces.cells.n_faces(),
        &FaceView { is_unskewed, ..faces.view() },
        &velocity_view(components, TransportedField::view),
        flux,
    );
}
