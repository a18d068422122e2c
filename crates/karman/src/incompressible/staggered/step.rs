//! Common parts of both staggered steps, and the classical fractional step.

use super::rotation::{FaceDualSegments, Rotation, Vorticity};
use super::{StaggeredFaces, StaggeredOperator, prescribe_flux};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::Faces;
use crate::incompressible::scheme::TimeCoefficients;
use crate::incompressible::solver::{IncompressibleSolver, three};
use crate::incompressible::transported_field::TransportedField;
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{Method, Params, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;

/// Data of both staggered arrangements.
pub(in crate::incompressible) struct Staggered<F: Real> {
    pub faces: Arc<StaggeredFaces<F>>,
    pub(super) rotation: Arc<Rotation<F>>,
    /// U at the previous level: `[n_faces]`.
    pub before: Buffer<F>,
    /// δU, the initial guess of the next predictor: `[n_faces]`.
    pub increment: Buffer<F>,
    /// ½ for each interior face.
    pub half: Buffer<F>,
    boundary: Buffer<u32>,
    /// Momentum residuals by component: `[n_cells]` each.
    residuals: Vec<Buffer<F>>,
    pub(super) at_faces: Buffer<F>,
    pub(super) change: Buffer<F>,
    curl: Buffer<F>,
    scratch: Vorticity<F>,
    solver: Option<(f64, f64, Solver<F>)>,
    /// The vorticity of a level, identified by its time and step.
    cached: Option<((f64, usize), Vorticity<F>)>,
}

impl<F: Real> Staggered<F> {
    pub(in crate::incompressible) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        (conditions, dirichlet_index): (&[FlowCondition], &[u32]),
    ) -> Result<Self, IncompressibleError> {
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        let own = StaggeredFaces::new(backend, (mesh, geometry), faces, dirichlet_index)?;
        let rotation = Rotation::new(backend, (mesh, geometry), conditions)?;
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
            curl: backend.zeros(n_faces),
            scratch: rotation.scratch(backend),
            solver: None,
            cached: None,
            faces: Arc::new(own),
            rotation: Arc::new(rotation),
        })
    }

    /// dU/dt = M⁻¹ (N V⁻¹ r − G p) − ν C W (Cᵀ M U + boundary), r sources minus convection, for explicit
    /// stages.
    pub(in crate::incompressible) fn compute_rate(
        &mut self,
        (flux, at_boundary): (&Buffer<F>, [&Buffer<F>; 3]),
        viscosity: f64,
        pressure: Option<(&Buffer<F>, &Buffer<F>)>,
    ) {
        let backend = self.faces.backend().clone();
        let last = self.residuals.len() - 1;
        let r = [0, 1, 2].map(|k| &self.residuals[if k <= last { k } else { 0 }]);
        blas::fill(&backend, self.at_faces.len(), F::literal(0.0), &mut self.at_faces);
        self.faces.add_to_faces(r, pressure, &mut self.at_faces);
        self.faces.divide_by_mass(&self.at_faces, &mut self.change);
        let Staggered { faces, rotation, scratch, curl, change, .. } = self;
        rotation.curl_of_vorticity(faces, flux, Some(at_boundary), scratch, curl);
        blas::axpy(&backend, curl.len(), F::from_f64(-viscosity), curl, change);
    }

    /// dU/dt of [`Staggered::compute_rate`]: `[n_faces]`.
    pub(in crate::incompressible) fn rate(&self) -> &Buffer<F> {
        &self.change
    }

    /// u* of the cells from the fluxes through their faces.
    pub(in crate::incompressible) fn to_cells(
        &self,
        flux: &Buffer<F>,
        components: &mut [TransportedField<F>],
    ) {
        for (k, component) in components.iter_mut().enumerate() {
            self.faces.to_cells(k, flux, &mut component.predicted);
        }
    }

    /// Initializes the fluxes of the previous level.
    pub(in crate::incompressible) fn initialize(&mut self, flux: &Buffer<F>) {
        blas::copy(self.faces.backend(), flux.len(), flux, &mut self.before);
    }

    /// The vorticity of a level with time and step `clock`, from its fluxes and boundary velocities, and the
    /// boundary dual segments by faces.
    pub(in crate::incompressible) fn vorticity(
        &mut self,
        clock: (f64, usize),
        flux: &Buffer<F>,
        at_boundary: [&Buffer<F>; 3],
    ) -> (&Vorticity<F>, &FaceDualSegments<F>) {
        let Staggered { faces, rotation, cached, .. } = self;
        let is_current = cached.as_ref().is_some_and(|(known, _)| *known == clock);
        let scratch = cached.take().map(|(_, scratch)| scratch);
        let mut scratch = scratch.unwrap_or_else(|| rotation.scratch(faces.backend()));
        if !is_current {
            rotation.vorticity(faces, flux, Some(at_boundary), &mut scratch);
        }
        (&cached.insert((clock, scratch)).1, &rotation.face_segments)
    }

    /// The vorticity at each node of the mesh.
    pub(in crate::incompressible) fn nodal_vorticity(
        &self,
        flux: &Buffer<F>,
        at_boundary: [&Buffer<F>; 3],
    ) -> Result<Vec<[f64; 3]>, IncompressibleError> {
        let backend = self.faces.backend();
        let mut scratch = self.rotation.scratch(backend);
        self.rotation.vorticity(&self.faces, flux, Some(at_boundary), &mut scratch);
        let circulation = backend.read(&scratch.circulation)?;
        let circulation: Vec<f64> = circulation.into_iter().map(Into::into).collect();
        Ok(self.rotation.nodes.of(&circulation))
    }

    /// The predictor's system of the last step.
    pub(in crate::incompressible) fn system(
        &self,
        viscosity: f64,
    ) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        let Some((shift, theta, _)) = &self.solver else { return Ok(None) };
        let (faces, rotation) = (self.faces.clone(), self.rotation.clone());
        let factors = (*shift, theta * viscosity);
        Ok(Some(StepSystem {
            operator: Box::new(StaggeredOperator::new(faces, rotation, factors)),
            preconditioning_matrix: Arc::new(self.faces.diagonal(*shift)?),
            right_hand_side: &self.at_faces,
            is_singular: false,
        }))
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// A step between two times; velocities are extrapolated to its end by u + extrapolation (u − u_before).
    /// Returns the solves of the predictor and of the pressure.
    pub(in crate::incompressible) fn step_staggered(
        &mut self,
        staggered: &mut Staggered<F>,
        coefficients: &TimeCoefficients,
        times: [f64; 2],
        extrapolation: f64,
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        self.prescribe_boundary_fluxes(staggered, coefficients, times[1], extrapolation)?;
        self.flux_residual(staggered, coefficients, times, extrapolation)?;
        let momentum = self.predict_flux(staggered, coefficients)?;
        blas::axpy(&backend, n_faces, F::literal(1.0), &staggered.increment, &mut self.flux);
        let shift = coefficients.bdf.shift;
        let pressure = self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)?;
        self.momentum.set_mean_time([times[1], times[1]])?;
        self.update_velocities(staggered);
        self.advance_pressure(coefficients);
        Ok((momentum, pressure))
    }

    /// Sets the boundary fluxes at time `new`; `change` ← history (U − U_before).
    pub(super) fn prescribe_boundary_fluxes(
        &mut self,
        staggered: &mut Staggered<F>,
        coefficients: &TimeCoefficients,
        new: f64,
        extrapolation: f64,
    ) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        let history = F::from_f64(coefficients.bdf.history);
        let (zero, change) = (F::literal(0.0), &mut staggered.change);
        let (flux, before) = (&self.flux, &staggered.before);
        blas::axpbypcz(&backend, n_faces, history, flux, -history, before, zero, change);
        blas::copy(&backend, n_faces, &self.flux, &mut staggered.before);
        self.set_time(new, extrapolation)?;
        self.update_gradients();
        self.prescribe_flux(staggered)
    }

    /// `at_faces` ← M (change − shift (U − U_old) − ν C W (Cᵀ M U + boundary)) + N V⁻¹ r − G p, where U has
    /// the new boundary fluxes.
    pub(super) fn flux_residual(
        &mut self,
        staggered: &mut Staggered<F>,
        coefficients: &TimeCoefficients,
        [old, new]: [f64; 2],
        extrapolation: f64,
    ) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        if coefficients.theta < 1.0 {
            self.momentum.set_mean_time([old, new])?;
            self.update_dependent_boundaries(0.5 * extrapolation);
            self.update_gradients();
        }
        let (shift, one) = (F::from_f64(coefficients.bdf.shift), F::literal(1.0));
        let Staggered { faces, rotation, change, curl, scratch, before, at_faces, .. } = staggered;
        blas::axpbypcz(&backend, n_faces, -shift, &self.flux, shift, before, one, change);
        // Changes of the boundary fluxes are weighted by θ, as δU is.
        let (theta, zero) = (F::from_f64(coefficients.theta), F::literal(0.0));
        let mean = if coefficients.theta < 1.0 {
            let flux = &self.flux;
            blas::axpbypcz(&backend, n_faces, theta, flux, one - theta, before, zero, at_faces);
            &*at_faces
        } else {
            &self.flux
        };
        let at_boundary = three(&self.components, |c| &c.at_boundary);
        rotation.curl_of_vorticity(faces, mean, Some(at_boundary), scratch, curl);
        blas::axpy(&backend, n_faces, F::from_f64(-self.viscosity), curl, change);
        faces.mass.multiply(change, at_faces);
        self.cell_residuals(staggered, coefficients);
        let with_pressure = self.is_incremental();
        let pressure = (&self.pressure.value, &self.pressure.at_boundary);
        let last = staggered.residuals.len() - 1;
        let r = [0, 1, 2].map(|k| &staggered.residuals[if k <= last { k } else { 0 }]);
        let pressure = with_pressure.then_some(pressure);
        staggered.faces.add_to_faces(r, pressure, &mut staggered.at_faces);
        Ok(())
    }

    /// F ← u_b·S where the velocity is prescribed.
    pub(in crate::incompressible) fn prescribe_flux(
        &mut self,
        staggered: &Staggered<F>,
    ) -> Result<(), IncompressibleError> {
        let [x, y, z] = three(&self.components, |c| &c.at_boundary);
        prescribe_flux(
            &self.backend,
            staggered.boundary.len(),
            &staggered.boundary,
            &staggered.faces.is_unknown,
            x,
            y,
            z,
            &self.faces.area,
            self.faces.cells.n_faces(),
            self.dimension,
            &mut self.flux,
        );
        self.mass_correction.apply(&self.backend, &self.outflow, &self.faces.area, &mut self.flux)
    }

    /// Sources minus convection of each cell.
    pub(in crate::incompressible) fn cell_residuals(
        &mut self,
        staggered: &mut Staggered<F>,
        coefficients: &TimeCoefficients,
    ) {
        let (backend, volume) = (&self.backend, &self.volume);
        // The history term is one of fluxes.
        let mut of_cells = *coefficients;
        of_cells.bdf.history = 0.0;
        for (k, component) in self.components.iter().enumerate() {
            let r = &mut staggered.residuals[k];
            blas::fill(backend, volume.len(), F::literal(0.0), r);
            let source = self.momentum.quantities[k].source.value();
            component.interior_residual(backend, volume, &of_cells, source, None, r);
            if let Some(thermal) = &self.thermal {
                thermal.add_buoyancy(backend, volume, k, coefficients.theta, r);
            }
        }
    }

    /// Solves for δU.
    fn predict_flux(
        &mut self,
        staggered: &mut Staggered<F>,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let (shift, theta) = (coefficients.bdf.shift, coefficients.theta);
        let current = staggered.solver.as_ref().is_some_and(|(s, t, _)| (*s, *t) == (shift, theta));
        if !current {
            let (faces, rotation) = (staggered.faces.clone(), staggered.rotation.clone());
            let factors = (shift, theta * self.viscosity);
            let operator = Box::new(StaggeredOperator::new(faces, rotation, factors));
            let matrix = Arc::new(staggered.faces.diagonal(shift)?);
            let params = jacobi_cg(&self.numerics.momentum);
            let solver = Solver::with_operator(&self.backend, operator, Some(matrix), &params)?;
            staggered.solver = Some((shift, theta, solver));
        }
        let Some((_, _, solver)) = &mut staggered.solver else { unreachable!("made just above") };
        Ok(solver.solve(&staggered.at_faces, &mut staggered.increment)?)
    }

    /// The velocities of cells at the new level.
    pub(super) fn update_velocities(&mut self, staggered: &Staggered<F>) {
        staggered.to_cells(&self.flux, &mut self.components);
        self.advance_velocity(true);
    }
}

/// Conjugate gradients with Jacobi: only the diagonal of these operators is assembled.
pub(super) fn jacobi_cg(params: &Params) -> Params {
    Params {
        method: match params.method {
            Method::SingleReduction => Method::SingleReduction,
            _ => Method::ConjugateGradient,
        },
        preconditioner: PreconditionerKind::Jacobi,
        ..params.clone()
    }
}
