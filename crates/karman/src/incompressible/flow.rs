//! The fields of a flow and its equations, as all arrangements of the unknowns share them.

use super::boundary::FlowBoundary;
use super::implicit_diffusion::ImplicitDiffusion;
use super::kernels::{advance_velocity, convective_rate};
use super::monitors::Monitors;
use super::pressure::Pressure;
use super::residuals::Of;
use super::scheme::Scheme;
use super::stepper::{Step, Stepper};
use super::thermal::Thermal;
use super::transported_field::{ConvectionInput, TransportedField, velocity_view};
use super::{Arrangement, IncompressibleError, Numerics, PressureCorrection};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{Faces, VelocityField};
use crate::linear::SolveOutcome;
use crate::real::Real;
use crate::time::TimeCoefficients;

/// Time and steps of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// Time reached.
    pub time: f64,
    /// Steps taken.
    pub steps: usize,
    /// Length of the previous step.
    pub step_before: Option<f64>,
}

impl Clock {
    /// Advances to the time `new` by a step.
    pub(super) fn advance(&mut self, new: f64, step: f64) {
        *self = Clock { time: new, steps: self.steps + 1, step_before: Some(step) };
    }
}

/// Arrays that a function may overwrite.
pub(super) struct Scratch<F: Real> {
    /// The residual of a transport equation: `[n_cells]`.
    pub residual: Buffer<F>,
    /// The convective flux of a quantity: `[n_faces]`.
    pub face_flux: Buffer<F>,
}

/// Velocity, fluxes, temperature and pressure of a flow with their equations and boundary data.
pub(super) struct Flow<F: Real> {
    pub backend: Backend,
    pub faces: Faces<F>,
    pub momentum: ImplicitDiffusion<F>,
    /// The components of the velocity, two or three.
    pub components: Vec<TransportedField<F>>,
    /// F, from left to right: `[n_faces]`.
    pub flux: Buffer<F>,
    pub thermal: Option<Thermal<F>>,
    pub pressure: Pressure<F>,
    pub boundary: FlowBoundary<F>,
    pub monitors: Monitors<F>,
    pub scratch: Scratch<F>,
    pub numerics: Numerics,
    pub clock: Clock,
}

impl<F: Real> Flow<F> {
    /// Number of cells.
    pub(super) fn n_cells(&self) -> usize {
        self.faces.cells.n_cells()
    }

    /// Number of faces.
    pub(super) fn n_faces(&self) -> usize {
        self.faces.cells.n_faces()
    }

    /// ν.
    pub(super) fn viscosity(&self) -> f64 {
        self.momentum.diffusivity()
    }

    /// The velocity as kernels read it.
    pub(super) fn velocity(&self) -> VelocityField<'_, F> {
        velocity_view(&self.components, TransportedField::view)
    }

    /// Whether the predictor contains ∇p of the previous step.
    pub(super) fn is_incremental(&self) -> bool {
        self.numerics.pressure_correction != PressureCorrection::None
            && self.numerics.arrangement != Arrangement::Exact
    }

    /// Whether the scheme reads gradients of the components on this mesh.
    pub(super) fn has_gradients(&self) -> bool {
        let Faces { is_unskewed, is_orthogonal, .. } = self.faces;
        self.numerics.convection.reads_gradients() || !is_unskewed || !is_orthogonal
    }

    /// Evaluates the boundary data at the end of the step.
    pub(super) fn set_time(
        &mut self,
        new: f64,
        extrapolation: f64,
    ) -> Result<(), IncompressibleError> {
        self.momentum.set_mean_time([new, new])?;
        self.update_dependent_boundaries(extrapolation);
        let is_midpoint = self.numerics.scheme == Scheme::Ab2Cn;
        self.pressure.set_mean_time([if is_midpoint { self.clock.time } else { new }, new])?;
        self.boundary.mass_correction.schedule_check(new);
        Ok(())
    }

    /// Updates the velocities at slip walls, extrapolated in time, and at convective outlets.
    pub(super) fn update_dependent_boundaries(&mut self, extrapolation: f64) {
        let (backend, faces, components) = (&self.backend, &self.faces, &self.components);
        self.boundary.update(backend, faces, components, extrapolation, &mut self.momentum);
    }

    /// Corrects the boundary fluxes so that they balance.
    pub(super) fn balance_boundary_flux(&mut self) -> Result<(), IncompressibleError> {
        self.boundary.balance(&self.backend, &self.faces, &mut self.flux)
    }

    /// Updates gradients and boundary values of the components from `now`.
    pub(super) fn update_gradients(&mut self) {
        let (has_gradients, is_unskewed) = (self.has_gradients(), self.faces.is_unskewed);
        self.update_gradients_with(has_gradients, is_unskewed);
    }

    pub(super) fn update_gradients_with(&mut self, has_gradients: bool, is_unskewed: bool) {
        for (k, component) in self.components.iter_mut().enumerate() {
            let of = (&self.momentum, k, &self.boundary.dirichlet_index);
            component.update_gradient(&self.backend, &self.faces, of, (has_gradients, is_unskewed));
        }
    }

    /// `scratch.residual` ← the residual of the momentum equation of component `k`.
    pub(super) fn momentum_residual(&mut self, k: usize, coefficients: &TimeCoefficients) {
        let grad_p = self.is_incremental().then_some((&self.pressure.gradient, k));
        let (backend, volume, component) = (&self.backend, &self.faces.volume, &self.components[k]);
        let r = &mut self.scratch.residual;
        self.momentum.multiply(&component.now, r);
        let source = self.momentum.quantities[k].source.value();
        component.interior_residual(backend, volume, coefficients, source, grad_p, r);
        if let Some(thermal) = &self.thermal {
            thermal.add_buoyancy(backend, volume, k, coefficients.theta, r);
        }
        self.momentum.add_boundary(k, &component.now, r);
    }

    /// Adds `scratch.residual` to the residuals of a steady flow.
    pub(super) fn add_momentum_residual(&mut self, k: usize) {
        let Flow { backend, faces, components, monitors, scratch, .. } = self;
        if let Some(residuals) = &mut monitors.residuals {
            let (scale, phi) = ((&monitors.decay_rate, &faces.volume), (&components[k].now, 0.0));
            residuals.add(backend, Of::Momentum, &scratch.residual, scale, phi);
        }
    }

    /// Adds D F* of the projection to the residuals of a steady flow.
    pub(super) fn add_mass_residual(&mut self) {
        let Flow { backend, faces, flux, pressure, monitors, .. } = self;
        if let Some(residuals) = &mut monitors.residuals {
            let imbalance = &pressure.increment.divergence;
            residuals.add_imbalance(backend, &faces.of_cells(), flux, imbalance);
        }
    }

    /// The temperature at the new level.
    pub(super) fn advance_temperature(
        &mut self,
        step: &Step,
    ) -> Result<Option<SolveOutcome>, IncompressibleError> {
        let Flow { backend, faces, flux, scratch, monitors, pressure, .. } = self;
        let Some(thermal) = &mut self.thermal else { return Ok(None) };
        let residual = &mut scratch.residual;
        let at = (&faces.volume, pressure.inertia(&faces.volume), &*flux);
        thermal.prepare(backend, at, step, residual)?;
        if let Some(residuals) = &mut monitors.residuals {
            let scale = (&monitors.decay_rate, &faces.volume);
            let phi = (&thermal.field.now, thermal.reference());
            residuals.add(backend, Of::Energy, residual, scale, phi);
        }
        let partials = &mut monitors.statistics.partials;
        let outcome = thermal.advance(backend, step, residual, partials)?;
        monitors.statistics.gather(backend);
        Ok(Some(outcome))
    }

    /// u ← u* + ∇ψ collocated, u* otherwise; `gathered`: with its norms in the report.
    pub(super) fn advance_velocity(&mut self, gathered: bool) {
        let n = self.n_cells();
        let projected = self.numerics.arrangement == Arrangement::Collocated;
        let statistics = &mut self.monitors.statistics;
        for (k, component) in self.components.iter_mut().enumerate() {
            advance_velocity(
                &self.backend,
                n,
                &component.predicted,
                &self.pressure.increment.gradient,
                &self.faces.volume,
                k,
                n,
                projected,
                &mut component.now,
                &mut component.before,
                &mut statistics.partials,
            );
            if gathered {
                statistics.gather(&self.backend);
            }
        }
    }

    /// The pressure at the new level.
    pub(super) fn advance_pressure(&mut self, coefficients: &TimeCoefficients) {
        // Viscous terms in rotational form do not depend on ∇·u*.
        let rotational = match self.numerics.arrangement {
            Arrangement::Collocated => coefficients.theta * self.viscosity(),
            Arrangement::Staggered | Arrangement::Exact => 0.0,
        };
        let (previous_weight, viscosity) = match self.numerics.pressure_correction {
            _ if !self.is_incremental() => (0.0, 0.0),
            PressureCorrection::IncrementalRotational => (1.0, rotational),
            _ => (1.0, 0.0),
        };
        let step = coefficients.step;
        let extrapolation = self.clock.step_before.map_or(0.0, |before| step / (step + before));
        self.pressure.store_midpoint(extrapolation);
        let shift = coefficients.bdf.shift;
        self.pressure.advance(&self.faces.volume, shift, viscosity, previous_weight);
    }

    /// Swaps u and u*, for functions that read `now`.
    pub(super) fn swap_predicted(&mut self) {
        for component in &mut self.components {
            std::mem::swap(&mut component.now, &mut component.predicted);
        }
    }

    /// Updates the explicit terms of the current level: gradients, data of the stepper, convection, rates, ∇p.
    /// Returns max |D F| / V over max Σ|F| / 2V.
    pub(super) fn refresh(
        &mut self,
        stepper: &mut dyn Stepper<F>,
    ) -> Result<f64, IncompressibleError> {
        self.update_gradients();
        stepper.refresh(self);
        let (backend, faces) = (&self.backend, &self.faces);
        let weight = stepper.convection_weight();
        let input = ConvectionInput {
            faces,
            flux: &self.flux,
            backflow_factor: &self.boundary.backflow_factor,
            is_unskewed: weight.is_some() || faces.is_unskewed,
            weight: weight.unwrap_or(&faces.weight),
            convection: self.numerics.convection,
        };
        let face_flux = &mut self.scratch.face_flux;
        for (k, component) in self.components.iter_mut().enumerate() {
            component.update_convection(backend, &input, (&mut self.momentum, k), face_flux);
        }
        if let Some(thermal) = &mut self.thermal {
            thermal.refresh(backend, &input, face_flux);
        }
        let monitors = &mut self.monitors;
        convective_rate(
            backend,
            faces.cells.n_cells(),
            &faces.of_cells(),
            &self.flux,
            &monitors.viscous_rate,
            &mut monitors.decay_rate,
            &mut monitors.statistics.rates,
        );
        self.pressure.differentiate(faces);
        self.pressure.extrapolate_to_end();
        monitors.read_rates(backend)
    }
}
