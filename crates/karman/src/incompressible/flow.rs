//! The fields of a flow and its equations, as all arrangements of the unknowns share them.

use super::boundary::FlowBoundary;
use super::kernels::advance_velocity;
use super::mean_velocity::MeanVelocity;
use super::monitors::Monitors;
use super::pressure::Pressure;
use super::residuals::Of;
use super::scheme::TimeScheme;
use super::step::Step;
use super::thermal::Thermal;
use super::transport_equation::{DiffusiveTerms, TransportEquation};
use super::transported_field::{TransportedField, vector_field, velocity_view};
use super::{Arrangement, IncompressibleError, Numerics, PressureCorrection};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{Faces, VectorField, VelocityField};
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

/// Velocity, fluxes, temperature and pressure of a flow with their equations and boundary data.
pub(super) struct Flow<F: Real> {
    pub backend: Backend,
    pub faces: Faces<F>,
    pub momentum: TransportEquation<F>,
    /// The components of the velocity, two or three.
    pub components: Vec<TransportedField<F>>,
    /// F, from left to right: `[n_faces]`.
    pub flux: Buffer<F>,
    pub thermal: Option<Thermal<F>>,
    pub pressure: Pressure<F>,
    pub boundary: FlowBoundary<F>,
    /// The control of the mean velocity, where it is prescribed.
    pub mean_velocity: Option<MeanVelocity<F>>,
    pub monitors: Monitors<F>,
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
        self.momentum.set_trapezoidal_mean([new, new])?;
        self.update_dependent_boundaries(extrapolation);
        let is_midpoint = self.numerics.time_scheme == TimeScheme::Ab2Cn;
        self.set_pressure_time([if is_midpoint { self.clock.time } else { new }, new])?;
        self.boundary.mass_correction.schedule_check(new);
        Ok(())
    }

    /// Sets prescribed velocities and temperatures and the sources to a time.
    pub(super) fn set_transport_time(&mut self, time: f64) -> Result<(), IncompressibleError> {
        self.momentum.set_trapezoidal_mean([time; 2])?;
        self.thermal
            .as_mut()
            .map_or(Ok(()), |thermal| thermal.equation.set_trapezoidal_mean([time; 2]))
    }

    /// Sets the prescribed pressures to their mean at two times, those that depend on the flow with the current fluxes.
    pub(super) fn set_pressure_time(&mut self, times: [f64; 2]) -> Result<(), IncompressibleError> {
        self.pressure.set_trapezoidal_mean(times)?;
        self.pressure.prescribe_of_flow(&self.faces, &self.flux);
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
        if has_gradients {
            self.momentum.update_gradients(&mut self.components);
            let gradients = self.components.iter_mut().map(|component| &mut component.gradient);
            self.faces.cells.fetch(&mut gradients.collect::<Vec<_>>());
        }
        for (k, component) in self.components.iter_mut().enumerate() {
            let prescribed = self.momentum.quantities[k].prescribed.value();
            let of = (prescribed, &self.boundary.dirichlet_index);
            component.update_boundary_values(&self.backend, &self.faces, of, is_unskewed);
        }
    }

    /// `momentum.residual` ← the residual of the momentum equation; its pressure gradient only where the arrangement has
    /// diffusive terms in the cells.
    pub(super) fn momentum_residual(
        &mut self,
        coefficients: &TimeCoefficients,
        terms: DiffusiveTerms,
    ) {
        let is_collocated = terms != DiffusiveTerms::Absent;
        let with_pressure = is_collocated && self.is_incremental();
        let pressure_gradient = with_pressure.then_some(&self.pressure.gradient);
        let (volume, momentum) = (&self.faces.volume, &mut self.momentum);
        let components = &self.components;
        momentum.compute_residual(components, volume, coefficients, pressure_gradient, terms);
        let r = &mut momentum.residual;
        if let Some(mean) = &self.mean_velocity {
            mean.add_force(&self.backend, volume, components.len(), r);
        }
        if let Some(thermal) = &self.thermal {
            thermal.add_buoyancy(&self.backend, volume, coefficients.theta, components.len(), r);
        }
    }

    /// Adds `momentum.residual` to the residuals of a steady flow.
    pub(super) fn add_momentum_residual(&mut self) {
        let Flow { backend, faces, components, momentum, monitors, .. } = self;
        if let Some(residuals) = &mut monitors.residuals {
            let scale = (&monitors.momentum_diagonal, &faces.volume);
            let velocity = vector_field(components, |component| &component.now);
            residuals.add(backend, Of::Momentum, &momentum.residual, scale, (&velocity, 0.0));
        }
    }

    /// Adds D F* of the projection to the residuals of a steady flow.
    pub(super) fn add_mass_residual(&mut self) {
        let Flow { backend, faces, flux, pressure, monitors, .. } = self;
        if let Some(residuals) = &mut monitors.residuals {
            let imbalance = &pressure.increment.divergence;
            let cells = (faces.cells.n_cells(), &faces.of_cells());
            residuals.add_imbalance(backend, cells, flux, imbalance);
        }
    }

    /// The temperature at the new level.
    pub(super) fn advance_temperature(
        &mut self,
        step: &Step,
    ) -> Result<Option<SolveOutcome>, IncompressibleError> {
        let Flow { backend, faces, flux, monitors, pressure, .. } = self;
        let Some(thermal) = &mut self.thermal else { return Ok(None) };
        let inertia = pressure.inertia(&faces.volume);
        thermal.prepare((&faces.volume, inertia, &*flux), step)?;
        if let Some(residuals) = &mut monitors.residuals {
            let scale = (&monitors.momentum_diagonal, &faces.volume);
            let temperature = VectorField::of(&[&thermal.field.now]);
            let (r, phi) = (&thermal.equation.residual, (&temperature, thermal.reference()));
            residuals.add(backend, Of::Energy, r, scale, phi);
        }
        let outcome = thermal.advance(backend, step, &mut monitors.statistics.partials)?;
        monitors.statistics.gather(backend);
        Ok(Some(outcome))
    }

    /// u ← u* + ∇ψ collocated, u* otherwise, after the correction of its mean with the factor `shift` of the force;
    /// `gathered`: with its norms in the report.
    pub(super) fn advance_velocity(&mut self, gathered: bool, shift: Option<f64>) {
        self.correct_mean_velocity(shift);
        let n = self.n_cells();
        let projected = self.numerics.arrangement == Arrangement::Collocated;
        let statistics = &mut self.monitors.statistics;
        let stride = self.pressure.increment.gradient.len() / 3;
        for (k, component) in self.components.iter_mut().enumerate() {
            self.faces.cells.copy_ghosts(&component.now, &mut component.before);
            advance_velocity(
                &self.backend,
                n,
                &component.predicted,
                &self.pressure.increment.gradient,
                &self.faces.volume,
                k,
                stride,
                projected,
                &mut component.now,
                &mut component.before,
                &mut statistics.partials,
            );
            if gathered {
                statistics.gather(&self.backend);
            }
        }
        self.fetch_velocity();
    }

    /// Fetches the velocity of ghosts.
    pub(super) fn fetch_velocity(&mut self) {
        let velocity = self.components.iter_mut().map(|component| &mut component.now);
        self.faces.cells.fetch(&mut velocity.collect::<Vec<_>>());
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
        self.pressure.advance(&self.faces, shift, viscosity, previous_weight);
        self.add_mean_pressure();
    }

    /// Corrects u*, of which ∇ψ is no part, and the fluxes to the mean velocity, where it is prescribed; the force
    /// changes with the factor `shift` of the step, else it does not.
    pub(super) fn correct_mean_velocity(&mut self, shift: Option<f64>) {
        let Flow { backend, faces, components, flux, pressure, mean_velocity, numerics, .. } = self;
        let Some(mean) = mean_velocity else { return };
        let is_collocated = numerics.arrangement == Arrangement::Collocated;
        let grad_psi = is_collocated.then_some(&pressure.increment.gradient);
        mean.correct(backend, (components, grad_psi), &faces.volume, flux, shift);
    }

    /// Adds the pressure of the change of the force that keeps the mean velocity, and fetches the pressure of ghosts.
    pub(super) fn add_mean_pressure(&mut self) {
        if let Some(mean) = &self.mean_velocity {
            mean.add_pressure(&self.backend, &mut self.pressure.value);
        }
        self.faces.cells.fetch(&mut [&mut self.pressure.value]);
    }

    /// Swaps u and u*, for functions that read `now`.
    pub(super) fn swap_predicted(&mut self) {
        for component in &mut self.components {
            std::mem::swap(&mut component.now, &mut component.predicted);
        }
    }
}
