//! Transported temperature with Boussinesq buoyancy:
//! ∂T/∂t + u·∇T = ∇·(κ ∇T) + s, and −β (T − T₀) g in the momentum.

use super::kernels::advance_scalar;
use super::step::Step;
use super::transport_equation::{DiffusiveTerms, TransportEquation};
use super::transport_residual::{Buoyancy, add_buoyancy};
use super::transport_setup::{EquationSpec, EquationStencils};
use super::transported_field::{ConvectionInput, TransportedField};
use super::{Extent, IncompressibleError, Numerics};
use crate::backend::{Backend, Buffer, Partials};
use crate::finite_volume::CellScheme;
use crate::finite_volume::convection::HYBRID_UPWIND;
use crate::finite_volume::{
    Condition, Faces, Functional, Functionals, PartMesh, PartValues, Prescribed, narrow,
};
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
    pub equation: TransportEquation<F>,
    pub field: TransportedField<F>,
    dirichlet_index: Buffer<u32>,
    /// 1 for each boundary face: backflow has the temperature of the cell.
    backflow_factor: Buffer<F>,
    /// Hybrid differencing of outflow, 1 where T is prescribed: `[n_boundary]`.
    hybrid_outflow: Buffer<u32>,
    /// −β g.
    buoyancy: [f64; 3],
    reference: f64,
    has_gradient: bool,
}

impl<F: Real> Thermal<F> {
    /// The temperature of a mesh; of [`Extent::Boundary`] without the equations of cells.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
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
        let spec = EquationSpec {
            what: "a temperature at the boundary",
            conditions: conditions.clone(),
            prescribed: vec![],
            source: problem.source.clone(),
        };
        let equation = TransportEquation::new(
            backend,
            (mesh, geometry, extent),
            faces,
            (*diffusivity, numerics),
            vec![spec],
        )?;
        let start = (&problem.initial, "the initial temperature");
        let field = TransportedField::new(backend, (mesh, geometry, extent), start)?;
        let has_gradient =
            numerics.convection.reads_gradients() || !faces.is_unskewed || !faces.is_orthogonal;
        Ok(Self::of(backend, (equation, field), problem, has_gradient))
    }

    /// The temperature on a part with the values that are prescribed there. `stencils` are those of its own cells. All ranks call it.
    pub(super) fn of_part(
        &self,
        part: &PartMesh<'_>,
        faces: &Faces<F>,
        stencils: EquationStencils,
        (numerics, problem): (&Numerics, &ThermalProblem),
    ) -> Result<(Self, PartValues), IncompressibleError> {
        let sources = [problem.source.clone()];
        let (equation, values) =
            self.equation.of_part(part, faces, stencils, (numerics, &sources))?;
        let field = self.field.of_part(&part.numbers);
        let thermal =
            Self::of(&part.numbers.backend, (equation, field), problem, self.has_gradient);
        Ok((thermal, values))
    }

    fn of(
        backend: &Backend,
        (equation, field): (TransportEquation<F>, TransportedField<F>),
        problem: &ThermalProblem,
        has_gradient: bool,
    ) -> Self {
        let dirichlet_index = equation.boundary.dirichlet_indices();
        let hybrid = |index: &u32| if *index > 0 { HYBRID_UPWIND } else { 0 };
        Thermal {
            equation,
            field,
            backflow_factor: narrow(backend, vec![1.0; dirichlet_index.len()]),
            hybrid_outflow: backend.upload(dirichlet_index.iter().map(hybrid).collect()),
            dirichlet_index: backend.upload(dirichlet_index),
            buoyancy: problem.gravity.map(|g| -problem.expansion * g),
            reference: problem.reference,
            has_gradient,
        }
    }

    /// T₀, at which there is no buoyancy.
    pub(super) fn reference(&self) -> f64 {
        self.reference
    }

    /// Sets up the step and computes the residual of its equation, for volumes, inertia and fluxes.
    pub(super) fn prepare(
        &mut self,
        (volume, inertia, flux): (&Buffer<F>, &Buffer<F>, &Buffer<F>),
        step: &Step,
    ) -> Result<(), IncompressibleError> {
        let (coefficients, [old, new]) = (&step.coefficients, step.times);
        self.equation.set_trapezoidal_mean(coefficients.mean_of(old, new))?;
        self.equation.prepare(coefficients, flux, inertia)?;
        self.compute_residual(volume, coefficients, DiffusiveTerms::Extrapolated);
        Ok(())
    }

    /// T at the new level from the residual, from the convection of the last two.
    pub(super) fn advance(
        &mut self,
        backend: &Backend,
        step: &Step,
        partials: &mut Partials,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let [_, new] = step.times;
        let Thermal { equation, field, .. } = self;
        let outcome = equation.solve()?;
        let (n, cells) = (equation.increment.len(), equation.cells().clone());
        let TransportedField { now, before, .. } = field;
        cells.copy_ghosts(now, before);
        advance_scalar(backend, n, &equation.increment, now, before, partials);
        cells.fetch(&mut [now]);
        equation.set_trapezoidal_mean([new, new])?;
        Ok(outcome)
    }

    /// `equation.residual` ← the residual of the temperature equation.
    pub(super) fn compute_residual(
        &mut self,
        volume: &Buffer<F>,
        coefficients: &TimeCoefficients,
        terms: DiffusiveTerms,
    ) {
        let Thermal { equation, field, .. } = self;
        equation.compute_residual(std::slice::from_ref(field), volume, coefficients, None, terms);
    }

    /// Updates gradient and convection of the current level.
    pub(super) fn refresh(&mut self, backend: &Backend, input: &ConvectionInput<'_, F>) {
        let Thermal { equation, field, backflow_factor, hybrid_outflow, dirichlet_index, .. } =
            self;
        if self.has_gradient {
            equation.update_gradients(std::slice::from_mut(field));
            input.faces.cells.fetch(&mut [&mut field.gradient]);
        }
        let of = (equation.quantities[0].prescribed.value(), &*dirichlet_index);
        field.update_boundary_values(backend, input.faces, of, input.faces.is_unskewed);
        let input =
            ConvectionInput { backflow_factor, hybrid_outflow, normal_inflow: None, ..*input };
        equation.update_explicit_flux(std::slice::from_ref(field), &input, true);
    }

    /// r ← r + V b (θ T + (1 − θ) T_before − T₀) of the components of the momentum: `[dimension][n_cells]`.
    pub(super) fn add_buoyancy(
        &self,
        backend: &Backend,
        volume: &Buffer<F>,
        theta: f64,
        dimension: usize,
        residual: &mut Buffer<F>,
    ) {
        let [x, y, z] = self.buoyancy.map(F::from_f64);
        let buoyancy = Buoyancy {
            temperature: self.field.now.view(),
            before: self.field.before.view(),
            theta: F::from_f64(theta),
            reference: F::from_f64(self.reference),
            x,
            y,
            z,
        };
        let stride = residual.len() / dimension;
        add_buoyancy(backend, stride, volume, &buoyancy, stride, dimension, residual);
    }

    /// The heat over ρc that enters through each of `faces`.
    pub(super) fn heat_through(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &[u32],
    ) -> Vec<Functional> {
        let TransportEquation { boundary, .. } = &self.equation;
        let diffusivity = self.equation.diffusivity();
        let scheme = CellScheme::new(mesh, geometry, diffusivity, boundary, true);
        faces.iter().map(|face| scheme.heat_through(*face as usize)).collect()
    }

    /// Evaluates functionals of the temperature.
    pub(super) fn evaluate<'a>(
        &self,
        backend: &Backend,
        functionals: &'a mut Functionals<F>,
    ) -> &'a Buffer<F> {
        let (now, prescribed) = (&self.field.now, self.equation.quantities[0].prescribed.value());
        // Functionals of a flow involve no Dirichlet nodes.
        functionals.evaluate(backend, now, prescribed, now)
    }
}
