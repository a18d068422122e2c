//! Transported temperature with Boussinesq buoyancy:
//! ∂T/∂t + u·∇T = ∇·(κ ∇T) + s, and −β (T − T₀) g in the momentum.

use super::implicit_diffusion::{EquationSpec, ImplicitDiffusion, dirichlet_indices};
use super::kernels::{add_buoyancy, advance_scalar};
use super::stepper::Step;
use super::transported_field::{ConvectionInput, TransportedField};
use super::{IncompressibleError, Numerics};
use crate::backend::{Backend, Buffer, Partials};
use crate::finite_volume::diffusion::CellScheme;
use crate::finite_volume::{Condition, Faces, Functional, Functionals, Prescribed, narrow};
use crate::linear::SolveOutcome;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use crate::time::TimeCoefficients;
use std::sync::Arc;

/// A temperature problem.
pub struct ThermalProblem {
    /// κ > 0.
    pub diffusivity: f64,
    /// β, the coefficient of thermal expansion.
    pub expansion: f64,
    /// Gravity g.
    pub gravity: [f64; 3],
    /// T₀, at which there is no buoyancy.
    pub reference: f64,
    /// Heat source per unit of volume and time over ρc.
    pub source: Arc<dyn Prescribed>,
    /// One condition per patch; heat fluxes are divided by ρc.
    pub conditions: Vec<Condition>,
    /// The initial T.
    pub initial: Arc<dyn Prescribed>,
}

/// A temperature on a backend.
pub(super) struct Thermal<F: Real> {
    pub diffusion: ImplicitDiffusion<F>,
    pub field: TransportedField<F>,
    dirichlet_index: Buffer<u32>,
    /// 1 for each boundary face: backflow has the temperature of the cell.
    backflow_factor: Buffer<F>,
    /// −β g.
    buoyancy: [f64; 3],
    reference: f64,
    has_gradient: bool,
}

impl<F: Real> Thermal<F> {
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        problem: &ThermalProblem,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let ThermalProblem { diffusivity, conditions, .. } = problem;
        let (found, patches) = (conditions.len(), mesh.patches.len());
        if found != patches {
            return Err(IncompressibleError::Conditions { found, patches });
        }
        if !(*diffusivity > 0.0 && diffusivity.is_finite()) {
            return Err(IncompressibleError::Diffusivity { value: *diffusivity });
        }
        let dirichlet_index = dirichlet_indices(mesh, conditions);
        let spec = EquationSpec {
            what: "a temperature at the boundary",
            conditions: conditions.clone(),
            source: problem.source.clone(),
        };
        let params = numerics.momentum.clone();
        let diffusion = ImplicitDiffusion::new(
            backend,
            mesh,
            geometry,
            faces,
            (*diffusivity, numerics.convection, numerics.convection_treatment),
            vec![spec],
            params,
        )?;
        let start = (&problem.initial, "the initial temperature");
        Ok(Thermal {
            diffusion,
            field: TransportedField::new(backend, mesh, geometry, start)?,
            backflow_factor: narrow(backend, vec![1.0; dirichlet_index.len()]),
            dirichlet_index: backend.upload(dirichlet_index),
            buoyancy: problem.gravity.map(|g| -problem.expansion * g),
            reference: problem.reference,
            has_gradient: numerics.convection.reads_gradients() || !faces.is_unskewed,
        })
    }

    /// T₀, at which there is no buoyancy.
    pub(super) fn reference(&self) -> f64 {
        self.reference
    }

    /// Sets up the step and computes the residual of its equation, for volumes, inertia and fluxes.
    pub(super) fn prepare(
        &mut self,
        backend: &Backend,
        (volume, inertia, flux): (&Buffer<F>, &Buffer<F>, &Buffer<F>),
        step: &Step,
        residual: &mut Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        let (coefficients, [old, new]) = (&step.coefficients, step.times);
        self.diffusion.set_mean_time(coefficients.mean_of(old, new))?;
        self.diffusion.prepare(coefficients, flux, inertia)?;
        self.transport_residual(backend, volume, coefficients, residual);
        Ok(())
    }

    /// T at the new level from the residual, from the convection of the last two.
    pub(super) fn advance(
        &mut self,
        backend: &Backend,
        step: &Step,
        residual: &mut Buffer<F>,
        partials: &mut Partials,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let [_, new] = step.times;
        let Thermal { diffusion, field, .. } = self;
        diffusion.add_extrapolation(0, &field.now, &field.before, residual);
        let outcome = diffusion.solve(residual, &mut field.increment)?;
        let (now, before) = (&mut field.now, &mut field.before);
        advance_scalar(backend, residual.len(), &field.increment, now, before, partials);
        diffusion.set_mean_time([new, new])?;
        Ok(outcome)
    }

    /// r ← the residual of the temperature equation.
    pub(super) fn transport_residual(
        &mut self,
        backend: &Backend,
        volume: &Buffer<F>,
        coefficients: &TimeCoefficients,
        r: &mut Buffer<F>,
    ) {
        let Thermal { diffusion, field, .. } = self;
        diffusion.multiply(&field.now, r);
        let source = diffusion.quantities[0].source.value();
        field.interior_residual(backend, volume, coefficients, source, None, r);
        diffusion.add_boundary(0, &field.now, r);
    }

    /// Updates gradient and convection of the current level.
    pub(super) fn refresh(
        &mut self,
        backend: &Backend,
        input: &ConvectionInput<'_, F>,
        face_flux: &mut Buffer<F>,
    ) {
        let of = (&self.diffusion, 0, &self.dirichlet_index);
        let is_unskewed = input.faces.is_unskewed;
        self.field.update_gradient(backend, input.faces, of, (self.has_gradient, is_unskewed));
        let input = ConvectionInput { backflow_factor: &self.backflow_factor, ..*input };
        self.field.update_convection(backend, &input, (&mut self.diffusion, 0), face_flux);
    }

    /// r ← r + V b (θ T + (1 − θ) T_before − T₀) for component `k` of the momentum.
    pub(super) fn add_buoyancy(
        &self,
        backend: &Backend,
        volume: &Buffer<F>,
        k: usize,
        theta: f64,
        residual: &mut Buffer<F>,
    ) {
        if self.buoyancy[k] == 0.0 {
            return;
        }
        add_buoyancy(
            backend,
            volume.len(),
            volume,
            &self.field.now,
            &self.field.before,
            F::from_f64(theta),
            F::from_f64(self.reference),
            F::from_f64(self.buoyancy[k]),
            residual,
        );
    }

    /// The heat over ρc that enters through each of `faces`.
    pub(super) fn heat_through(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &[u32],
    ) -> Vec<Functional> {
        let even = vec![self.diffusion.diffusivity(); mesh.n_cells()];
        let scheme = CellScheme::new(mesh, geometry, &even, &self.diffusion.boundary, true);
        faces.iter().map(|face| scheme.heat_through(*face as usize)).collect()
    }

    /// Evaluates functionals of the temperature.
    pub(super) fn evaluate<'a>(
        &self,
        backend: &Backend,
        functionals: &'a mut Functionals<F>,
    ) -> &'a Buffer<F> {
        let (now, prescribed) = (&self.field.now, self.diffusion.quantities[0].prescribed.value());
        // Functionals of a flow involve no Dirichlet nodes.
        functionals.evaluate(backend, now, prescribed, now)
    }
}
