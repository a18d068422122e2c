//! A step of the classical fractional step with fluxes at the faces.

use super::faces::Faces;
use super::flow::{Flow, three};
use super::kernels::{advance_velocity, transport_residual};
use super::scheme::Formula;
use super::staggered::{StaggeredFaces, StaggeredOperator, hold_flux};
use super::{IncompressibleError, PressureCorrection};
use crate::backend::{Backend, Buffer, blas};
use crate::linear::{Method, Params, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;

/// What a staggered flow has besides the common fields.
pub(super) struct Staggered<F: Real> {
    pub faces: Arc<StaggeredFaces<F>>,
    /// U at the level before: `[n_faces]`.
    pub before: Buffer<F>,
    /// δU, the first guess of the next predictor: `[n_faces]`.
    pub increment: Buffer<F>,
    /// ½ for each interior face.
    pub half: Buffer<F>,
    boundary: Buffer<u32>,
    /// What is left of the momentum, by component: `[n_cells]` each.
    residuals: Vec<Buffer<F>>,
    at_faces: Buffer<F>,
    change: Buffer<F>,
    solver: Option<(f64, f64, Solver<F>)>,
}

impl<F: Real> Staggered<F> {
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        held: &[u32],
    ) -> Result<Self, IncompressibleError> {
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        if !(faces.is_orthogonal && faces.is_straight) {
            return Err(IncompressibleError::NotRectangular);
        }
        let own = StaggeredFaces::new(backend, (mesh, geometry), faces, held);
        let mut half = backend.zeros(inner);
        blas::fill(backend, inner, F::literal(0.5), &mut half);
        Ok(Staggered {
            before: backend.zeros(n_faces),
            increment: backend.zeros(n_faces),
            half,
            boundary: backend.upload((inner as u32..n_faces as u32).collect()),
            residuals: (0..mesh.dimension).map(|_| backend.zeros(n)).collect(),
            at_faces: backend.zeros(n_faces),
            change: backend.zeros(n_faces),
            solver: None,
            faces: Arc::new(own),
        })
    }

    /// dU/dt = M⁻¹ (N V⁻¹ r − G p) of what was left of the momentum, for explicit stages.
    pub(super) fn make_rate(&mut self, pressure: Option<(&Buffer<F>, &Buffer<F>)>) {
        let backend = self.faces.backend().clone();
        let last = self.residuals.len() - 1;
        let r = [0, 1, 2].map(|k| &self.residuals[if k <= last { k } else { 0 }]);
        blas::fill(&backend, self.at_faces.len(), F::literal(0.0), &mut self.at_faces);
        self.faces.add_to_faces(r, pressure, &mut self.at_faces);
        self.faces.divide_by_mass(&self.at_faces, &mut self.change);
    }

    /// What [`Staggered::make_rate`] made: `[n_faces]`.
    pub(super) fn rate(&self) -> &Buffer<F> {
        &self.change
    }

    /// Takes the fluxes at the start.
    pub(super) fn start(&mut self, flux: &Buffer<F>) {
        blas::copy(self.faces.backend(), flux.len(), flux, &mut self.before);
    }
}

impl<F: Real> Flow<F> {
    /// A step from `old` to `new`; `ahead` extrapolates to its end. The solves of the predictor and of the
    /// pressure.
    pub(super) fn step_staggered(
        &mut self,
        staggered: &mut Staggered<F>,
        formula: &Formula,
        [old, new]: [f64; 2],
        ahead: f64,
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        let one = F::literal(1.0);
        let zero = F::literal(0.0);
        // memory M (U − U_before), of fluxes before the boundary takes its new ones.
        let (flux, before) = (&self.flux, &staggered.before);
        blas::axpbypcz(&backend, n_faces, one, flux, -one, before, zero, &mut staggered.change);
        blas::copy(&backend, n_faces, &self.flux, &mut staggered.before);
        let memory = F::narrow(formula.bdf.memory);
        let (change, at_faces) = (&staggered.change, &mut staggered.at_faces);
        staggered.faces.multiply_mass(memory, change, at_faces);

        self.take_time(new, ahead)?;
        self.take_values();
        self.hold_flux(staggered)?;
        if formula.theta < 1.0 {
            self.momentum.set_mean_time([old, new])?;
            self.prescribe_dependent(0.5 * ahead);
        }
        self.leave_residuals(staggered, formula);
        let sees_pressure = self.numerics.pressure_correction != PressureCorrection::None;
        let pressure = (&self.pressure.value, &self.pressure.at_boundary);
        let last = staggered.residuals.len() - 1;
        let r = [0, 1, 2].map(|k| &staggered.residuals[if k <= last { k } else { 0 }]);
        let pressure = sees_pressure.then_some(pressure);
        staggered.faces.add_to_faces(r, pressure, &mut staggered.at_faces);
        let momentum = self.predict_flux(staggered, formula)?;
        blas::axpy(&backend, n_faces, one, &staggered.increment, &mut self.flux);

        let shift = formula.bdf.shift;
        let pressure = self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)?;
        self.momentum.set_mean_time([new, new])?;
        let n = self.volume.len();
        for (k, component) in self.components.iter_mut().enumerate() {
            staggered.faces.to_cells(k, &self.flux, &mut component.predicted);
            advance_velocity(
                &backend,
                n,
                &component.predicted,
                &self.pressure.psi_slope,
                &self.volume,
                k,
                n,
                false,
                &mut component.now,
                &mut component.before,
                &mut self.statistics.partials,
            );
            self.statistics.gather(&backend);
        }
        self.advance_pressure(formula);
        Ok((momentum, pressure))
    }

    /// F ← u_b·S where the velocity is held.
    pub(super) fn hold_flux(
        &mut self,
        staggered: &Staggered<F>,
    ) -> Result<(), IncompressibleError> {
        let [x, y, z] = three(&self.components, |c| &c.at_boundary);
        hold_flux(
            &self.backend,
            staggered.boundary.len(),
            &staggered.boundary,
            &staggered.faces.is_free,
            x,
            y,
            z,
            &self.faces.area,
            self.faces.cells.n_faces(),
            self.dimension,
            &mut self.flux,
        );
        self.balance.apply(&self.backend, &self.outflow, &self.faces.area, &mut self.flux)
    }

    /// What is left of the momentum of each cell, without the pressure.
    pub(super) fn leave_residuals(&mut self, staggered: &mut Staggered<F>, formula: &Formula) {
        let backend = self.backend.clone();
        let n = self.volume.len();
        for (k, component) in self.components.iter_mut().enumerate() {
            staggered.faces.to_cells(k, &self.flux, &mut component.predicted);
            let (u, r) = (&component.predicted, &mut staggered.residuals[k]);
            self.momentum.multiply(u, r);
            transport_residual(
                &backend,
                n,
                &self.volume,
                self.momentum.quantities[k].source.value(),
                &self.pressure.slope,
                F::literal(0.0),
                u,
                u,
                &component.carried,
                &component.carried_before,
                F::narrow(formula.now),
                F::narrow(formula.then),
                k,
                n,
                false,
                r,
            );
            if let Some(thermal) = &self.thermal {
                thermal.add_buoyancy(&backend, &self.volume, k, formula.theta, r);
            }
            self.momentum.add_boundary(k, u, r);
        }
    }

    /// Solves for δU.
    fn predict_flux(
        &mut self,
        staggered: &mut Staggered<F>,
        formula: &Formula,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let (shift, theta) = (formula.bdf.shift, formula.theta);
        let current = staggered.solver.as_ref().is_some_and(|(s, t, _)| (*s, *t) == (shift, theta));
        if !current {
            let faces = staggered.faces.clone();
            let operator = StaggeredOperator::new(faces, self.momentum.matrix(), (shift, theta));
            let near = Arc::new(staggered.faces.diagonal(shift)?);
            let params = Params {
                method: match self.numerics.momentum.method {
                    Method::SingleReduction => Method::SingleReduction,
                    _ => Method::ConjugateGradient,
                },
                preconditioner: PreconditionerKind::Jacobi,
                ..self.numerics.momentum.clone()
            };
            let operator = Box::new(operator);
            let solver = Solver::with_operator(&self.backend, operator, Some(near), &params)?;
            staggered.solver = Some((shift, theta, solver));
        }
        let Some((_, _, solver)) = &mut staggered.solver else { unreachable!("made just above") };
        Ok(solver.solve(&staggered.at_faces, &mut staggered.increment)?)
    }
}
