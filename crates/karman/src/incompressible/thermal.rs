//! A temperature that the flow carries, and the buoyancy it exerts (Boussinesq):
//! ∂T/∂t + u·∇T = ∇·(κ ∇T) + s, and −β (T − T₀) g in the momentum.

use super::component::{Carrying, Component};
use super::faces::Faces;
use super::kernels::{add_buoyancy, advance_scalar};
use super::scheme::Formula;
use super::transport::{Posed, Transport, held_faces};
use super::{IncompressibleError, Numerics};
use crate::backend::{Backend, Buffer, Partials};
use crate::diffusion::cell_centred::CellScheme;
use crate::diffusion::{Condition, Functional, Functionals, Prescribed, narrow};
use crate::linear::SolveOutcome;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;

/// A temperature as posed.
pub struct ThermalProblem {
    /// κ > 0.
    pub diffusivity: f64,
    /// Expansion β.
    pub expansion: f64,
    /// Gravity g.
    pub gravity: [f64; 3],
    /// T₀, at which there is no buoyancy.
    pub reference: f64,
    /// What is released in a unit of volume and time, over ρc.
    pub source: Arc<dyn Prescribed>,
    /// One condition a patch; a flux is one over ρc.
    pub conditions: Vec<Condition>,
    /// T at the start.
    pub initial: Arc<dyn Prescribed>,
}

/// A temperature on a backend.
pub(super) struct Thermal<F: Real> {
    pub transport: Transport<F>,
    pub field: Component<F>,
    held: Buffer<u32>,
    /// 1 for each boundary face: what flows back in has the temperature of the cell, whatever its momentum.
    entering: Buffer<F>,
    /// −β g.
    buoyancy: [f64; 3],
    reference: f64,
    diffusivity: f64,
    has_gradient: bool,
}

impl<F: Real> Thermal<F> {
    /// κ.
    pub(super) fn diffusivity(&self) -> f64 {
        self.diffusivity
    }

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
        let held = held_faces(mesh, conditions);
        let posed = Posed {
            what: "a temperature at the boundary",
            conditions: conditions.clone(),
            source: problem.source.clone(),
        };
        let params = numerics.momentum.clone();
        let transport = Transport::new(
            backend,
            mesh,
            geometry,
            faces,
            (*diffusivity, numerics.convection),
            vec![posed],
            params,
        )?;
        let start = (&problem.initial, "the initial temperature");
        Ok(Thermal {
            transport,
            field: Component::new(backend, mesh, geometry, start)?,
            entering: narrow(backend, vec![1.0; held.len()]),
            held: backend.upload(held),
            buoyancy: problem.gravity.map(|g| -problem.expansion * g),
            reference: problem.reference,
            diffusivity: *diffusivity,
            has_gradient: numerics.convection.reads_gradients() || !faces.is_straight,
        })
    }

    /// T at the new level, from what the flow carried at the last two.
    pub(super) fn advance(
        &mut self,
        backend: &Backend,
        volume: &Buffer<F>,
        (formula, [old, new]): (&Formula, [f64; 2]),
        residual: &mut Buffer<F>,
        partials: &mut Partials,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.transport.set_mean_time([if formula.theta < 1.0 { old } else { new }, new])?;
        self.transport.prepare(formula)?;
        self.leave_residual(backend, volume, formula, residual);
        let Thermal { transport, field, .. } = self;
        let outcome = transport.solve(residual, &mut field.increment)?;
        let (now, before) = (&mut field.now, &mut field.before);
        advance_scalar(backend, volume.len(), &field.increment, now, before, partials);
        transport.set_mean_time([new, new])?;
        Ok(outcome)
    }

    /// r becomes what is left of the temperature's equation.
    pub(super) fn leave_residual(
        &mut self,
        backend: &Backend,
        volume: &Buffer<F>,
        formula: &Formula,
        r: &mut Buffer<F>,
    ) {
        let Thermal { transport, field, .. } = self;
        transport.multiply(&field.now, r);
        let source = transport.quantities[0].source.value();
        field.leave_residual(backend, volume, formula, source, None, r);
        transport.add_boundary(0, &field.now, r);
    }

    /// What the next step wants of the present level.
    pub(super) fn refresh(
        &mut self,
        backend: &Backend,
        carrying: &Carrying<'_, F>,
        through: &mut Buffer<F>,
    ) {
        let of = (&self.transport, 0, &self.held);
        let straight = carrying.faces.is_straight;
        self.field.take(backend, carrying.faces, of, (self.has_gradient, straight));
        let carrying = Carrying { entering: &self.entering, ..*carrying };
        self.field.carry(backend, &carrying, (&mut self.transport, 0), through);
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

    /// The heat over ρc that enters through each of some boundary faces.
    pub(super) fn heat_through(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &[u32],
    ) -> Vec<Functional> {
        let even = vec![self.diffusivity; mesh.n_cells()];
        let scheme = CellScheme::new(mesh, geometry, &even, &self.transport.boundary, true);
        faces.iter().map(|face| scheme.heat_through(*face as usize)).collect()
    }

    /// Evaluates functionals of the temperature.
    pub(super) fn evaluate<'a>(
        &self,
        backend: &Backend,
        functionals: &'a mut Functionals<F>,
    ) -> &'a Buffer<F> {
        let (now, prescribed) = (&self.field.now, self.transport.quantities[0].prescribed.value());
        // No functional of a flow has to do with held nodes.
        functionals.evaluate(backend, now, prescribed, now)
    }
}
