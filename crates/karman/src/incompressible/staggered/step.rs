//! A step with fluxes at the faces: what both arrangements do, and the classical fractional step.

use super::rotation::{FaceLegs, Rotation, Vorticity};
use super::{StaggeredFaces, StaggeredOperator, hold_flux};
use crate::backend::{Backend, Buffer, blas};
use crate::incompressible::component::Component;
use crate::incompressible::faces::Faces;
use crate::incompressible::flow::{Flow, three};
use crate::incompressible::scheme::Formula;
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{Method, Params, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;

/// What a staggered flow has besides the common fields.
pub(in crate::incompressible) struct Staggered<F: Real> {
    pub faces: Arc<StaggeredFaces<F>>,
    pub(super) rotation: Arc<Rotation<F>>,
    /// U at the level before: `[n_faces]`.
    pub before: Buffer<F>,
    /// δU, the first guess of the next predictor: `[n_faces]`.
    pub increment: Buffer<F>,
    /// ½ for each interior face.
    pub half: Buffer<F>,
    boundary: Buffer<u32>,
    /// What is left of the momentum, by component: `[n_cells]` each.
    residuals: Vec<Buffer<F>>,
    pub(super) at_faces: Buffer<F>,
    pub(super) change: Buffer<F>,
    curl: Buffer<F>,
    room: Vorticity<F>,
    solver: Option<(f64, f64, Solver<F>)>,
    /// The vorticity at a level, named by its time and step.
    level: Option<((f64, usize), Vorticity<F>)>,
}

impl<F: Real> Staggered<F> {
    pub(in crate::incompressible) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        (conditions, held): (&[FlowCondition], &[u32]),
    ) -> Result<Self, IncompressibleError> {
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        let own = StaggeredFaces::new(backend, (mesh, geometry), faces, held)?;
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
            room: rotation.room(backend),
            solver: None,
            level: None,
            faces: Arc::new(own),
            rotation: Arc::new(rotation),
        })
    }

    /// dU/dt = M⁻¹ (N V⁻¹ r − G p) − ν C W (Cᵀ M U + legs) of sources less convection r, for explicit stages.
    pub(in crate::incompressible) fn make_rate(
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
        let Staggered { faces, rotation, room, curl, change, .. } = self;
        rotation.curl_of_vorticity(faces, flux, Some(at_boundary), room, curl);
        blas::axpy(&backend, curl.len(), F::from_f64(-viscosity), curl, change);
    }

    /// What [`Staggered::make_rate`] made: `[n_faces]`.
    pub(in crate::incompressible) fn rate(&self) -> &Buffer<F> {
        &self.change
    }

    /// u* of the cells from the fluxes through their faces.
    pub(in crate::incompressible) fn to_cells(
        &self,
        flux: &Buffer<F>,
        components: &mut [Component<F>],
    ) {
        for (k, component) in components.iter_mut().enumerate() {
            self.faces.to_cells(k, flux, &mut component.predicted);
        }
    }

    /// Takes the fluxes at the start.
    pub(in crate::incompressible) fn start(&mut self, flux: &Buffer<F>) {
        blas::copy(self.faces.backend(), flux.len(), flux, &mut self.before);
    }

    /// The vorticity of the fluxes and of the velocity at the boundary at a level, `clock` its time and step, and
    /// the legs of boundary faces.
    pub(in crate::incompressible) fn vorticity(
        &mut self,
        clock: (f64, usize),
        flux: &Buffer<F>,
        at_boundary: [&Buffer<F>; 3],
    ) -> (&Vorticity<F>, &FaceLegs<F>) {
        let Staggered { faces, rotation, level, .. } = self;
        let is_current = level.as_ref().is_some_and(|(known, _)| *known == clock);
        let room = level.take().map(|(_, room)| room);
        let mut room = room.unwrap_or_else(|| rotation.room(faces.backend()));
        if !is_current {
            rotation.vorticity(faces, flux, Some(at_boundary), &mut room);
        }
        (&level.insert((clock, room)).1, &rotation.face_legs)
    }

    /// The vorticity at each node of the mesh.
    pub(in crate::incompressible) fn nodal_vorticity(
        &self,
        flux: &Buffer<F>,
        at_boundary: [&Buffer<F>; 3],
    ) -> Result<Vec<[f64; 3]>, IncompressibleError> {
        let backend = self.faces.backend();
        let mut room = self.rotation.room(backend);
        self.rotation.vorticity(&self.faces, flux, Some(at_boundary), &mut room);
        let circulation = backend.read(&room.circulation)?;
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
            near: Arc::new(self.faces.diagonal(*shift)?),
            right_hand_side: &self.at_faces,
            is_singular: false,
        }))
    }
}

impl<F: Real> Flow<F> {
    /// A step from `old` to `new`; `ahead` extrapolates to its end. The solves of the predictor and of the
    /// pressure.
    pub(in crate::incompressible) fn step_staggered(
        &mut self,
        staggered: &mut Staggered<F>,
        formula: &Formula,
        times: [f64; 2],
        ahead: f64,
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        self.begin_staggered(staggered, formula, times[1], ahead)?;
        self.leave_momentum(staggered, formula, times, ahead)?;
        let momentum = self.predict_flux(staggered, formula)?;
        blas::axpy(&backend, n_faces, F::literal(1.0), &staggered.increment, &mut self.flux);
        let shift = formula.bdf.shift;
        let pressure = self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)?;
        self.momentum.set_mean_time([times[1], times[1]])?;
        self.take_velocities(staggered);
        self.advance_pressure(formula);
        Ok((momentum, pressure))
    }

    /// Takes the boundary's fluxes at time `new`. `change` becomes memory (U − U_before).
    pub(super) fn begin_staggered(
        &mut self,
        staggered: &mut Staggered<F>,
        formula: &Formula,
        new: f64,
        ahead: f64,
    ) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        let memory = F::from_f64(formula.bdf.memory);
        let (zero, change) = (F::literal(0.0), &mut staggered.change);
        let (flux, before) = (&self.flux, &staggered.before);
        blas::axpbypcz(&backend, n_faces, memory, flux, -memory, before, zero, change);
        blas::copy(&backend, n_faces, &self.flux, &mut staggered.before);
        self.take_time(new, ahead)?;
        self.take_values();
        self.hold_flux(staggered)
    }

    /// `at_faces` becomes M (change − shift (U − U_old) − ν C W (Cᵀ M U + legs)) + N V⁻¹ r − G p, where U has the
    /// boundary's new fluxes already.
    pub(super) fn leave_momentum(
        &mut self,
        staggered: &mut Staggered<F>,
        formula: &Formula,
        [old, new]: [f64; 2],
        ahead: f64,
    ) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        if formula.theta < 1.0 {
            self.momentum.set_mean_time([old, new])?;
            self.prescribe_dependent(0.5 * ahead);
            self.take_values();
        }
        let (shift, one) = (F::from_f64(formula.bdf.shift), F::literal(1.0));
        let Staggered { faces, rotation, change, curl, room, before, at_faces, .. } = staggered;
        blas::axpbypcz(&backend, n_faces, -shift, &self.flux, shift, before, one, change);
        // What the boundary changes counts by its share, as what is solved for does.
        let (theta, zero) = (F::from_f64(formula.theta), F::literal(0.0));
        let mean = if formula.theta < 1.0 {
            let flux = &self.flux;
            blas::axpbypcz(&backend, n_faces, theta, flux, one - theta, before, zero, at_faces);
            &*at_faces
        } else {
            &self.flux
        };
        let at_boundary = three(&self.components, |c| &c.at_boundary);
        rotation.curl_of_vorticity(faces, mean, Some(at_boundary), room, curl);
        blas::axpy(&backend, n_faces, F::from_f64(-self.viscosity), curl, change);
        faces.mass.multiply(change, at_faces);
        self.leave_residuals(staggered, formula);
        let sees_pressure = self.sees_pressure();
        let pressure = (&self.pressure.value, &self.pressure.at_boundary);
        let last = staggered.residuals.len() - 1;
        let r = [0, 1, 2].map(|k| &staggered.residuals[if k <= last { k } else { 0 }]);
        let pressure = sees_pressure.then_some(pressure);
        staggered.faces.add_to_faces(r, pressure, &mut staggered.at_faces);
        Ok(())
    }

    /// F ← u_b·S where the velocity is held.
    pub(in crate::incompressible) fn hold_flux(
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

    /// Sources less convection of each cell.
    pub(in crate::incompressible) fn leave_residuals(
        &mut self,
        staggered: &mut Staggered<F>,
        formula: &Formula,
    ) {
        let (backend, volume) = (&self.backend, &self.volume);
        // Memory is one of fluxes.
        let mut of_cells = *formula;
        of_cells.bdf.memory = 0.0;
        for (k, component) in self.components.iter().enumerate() {
            let r = &mut staggered.residuals[k];
            blas::fill(backend, volume.len(), F::literal(0.0), r);
            let source = self.momentum.quantities[k].source.value();
            component.leave_residual(backend, volume, &of_cells, source, None, r);
            if let Some(thermal) = &self.thermal {
                thermal.add_buoyancy(backend, volume, k, formula.theta, r);
            }
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
            let (faces, rotation) = (staggered.faces.clone(), staggered.rotation.clone());
            let factors = (shift, theta * self.viscosity);
            let operator = Box::new(StaggeredOperator::new(faces, rotation, factors));
            let near = Arc::new(staggered.faces.diagonal(shift)?);
            let params = by_jacobi(&self.numerics.momentum);
            let solver = Solver::with_operator(&self.backend, operator, Some(near), &params)?;
            staggered.solver = Some((shift, theta, solver));
        }
        let Some((_, _, solver)) = &mut staggered.solver else { unreachable!("made just above") };
        Ok(solver.solve(&staggered.at_faces, &mut staggered.increment)?)
    }

    /// The velocities of cells at the new level.
    pub(super) fn take_velocities(&mut self, staggered: &Staggered<F>) {
        staggered.to_cells(&self.flux, &mut self.components);
        self.advance_velocity(true);
    }
}

/// Conjugate gradients with the diagonal: of these operators only that is known.
pub(super) fn by_jacobi(params: &Params) -> Params {
    Params {
        method: match params.method {
            Method::SingleReduction => Method::SingleReduction,
            _ => Method::ConjugateGradient,
        },
        preconditioner: PreconditionerKind::Jacobi,
        ..params.clone()
    }
}
