//! Data and parts of a step that both staggered arrangements share.

use super::rank_faces::{RankFaces, RankSetUp};
use super::rotation::{BoundarySegments, Rotation, Vorticity};
use super::{StaggeredFaces, StaggeredOperator, prescribe_flux};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::{Faces, Quantities, Vectors};
use crate::incompressible::flow::Flow;
use crate::incompressible::places::{OwnFirst, Place};
use crate::incompressible::step::Step;
use crate::incompressible::transport_equation::DiffusiveTerms;
use crate::incompressible::transported_field::{TransportedField, boundary_values, vector_field};
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{Matrix, Method, Params, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::partition::range_starts;
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::real::Real;
use crate::time::{ImplicitOperator, TimeCoefficients};
use std::sync::Arc;

/// The vorticity of a level.
struct CachedVorticity<F: Real> {
    /// Time and step of the level, once it is computed.
    clock: Option<(f64, usize)>,
    vorticity: Vorticity<F>,
}

/// Data of both staggered arrangements.
pub(in crate::incompressible) struct Staggered<F: Real> {
    pub faces: Arc<StaggeredFaces<F>>,
    pub(super) rotation: Arc<Rotation<F>>,
    /// U at the previous level: `[n_faces]`.
    pub before: Buffer<F>,
    /// δU, the initial guess of the next predictor: `[n_faces]`.
    pub increment: Buffer<F>,
    /// The faces of the boundary.
    boundary: Buffer<u32>,
    /// Fluxes through the own faces, or through those of the part, of one of several ranks.
    pub(super) rooms: [Option<Buffer<F>>; 2],
    /// r of the cells with ghosts on one of several ranks.
    residual: Option<Buffer<F>>,
    pub(super) at_faces: Buffer<F>,
    pub(super) change: Buffer<F>,
    pub(super) curl: Buffer<F>,
    scratch: Vorticity<F>,
    solver: ImplicitOperator<Solver<F>>,
    /// The vorticity of the last output.
    cached: Option<CachedVorticity<F>>,
}

impl<F: Real> Staggered<F> {
    pub(in crate::incompressible) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        (conditions, dirichlet_index): (&[FlowCondition], &[u32]),
    ) -> Result<Self, IncompressibleError> {
        let own = StaggeredFaces::new(backend, (mesh, geometry), faces, dirichlet_index)?;
        let rotation = Rotation::new(backend, (mesh, geometry), conditions)?;
        Ok(Self::of(backend, own, rotation))
    }

    /// Of these faces, with fluxes of 0.
    fn of(backend: &Backend, faces: StaggeredFaces<F>, rotation: Rotation<F>) -> Self {
        let cells = &faces.cells;
        let residual = cells.halo().map(|halo| halo.zeros(backend, faces.dimension));
        Staggered {
            before: faces.fluxes(),
            increment: faces.fluxes(),
            boundary: backend.upload((cells.n_interior() as u32..cells.n_faces() as u32).collect()),
            rooms: [faces.exchange().map(|_| faces.fluxes()), faces.room()],
            residual,
            at_faces: faces.fluxes(),
            change: faces.fluxes(),
            curl: faces.fluxes(),
            scratch: rotation.scratch(&faces),
            solver: ImplicitOperator::default(),
            cached: None,
            faces: Arc::new(faces),
            rotation: Arc::new(rotation),
        }
    }

    /// The first edge of each rank, then their number, where these are shared out in equal parts.
    pub(super) fn equal_edges(&self, part: &Part) -> Vec<usize> {
        range_starts(self.rotation.host.topology.n_edges, part.halo.group().size(), 1)
    }

    /// The fluxes of the part of one of several ranks, the exchanges of its set-up, and the faces of its unknowns. `starts` and `edges`
    /// have the first cell and the first edge of each rank; `stiffness` is a matrix that maps edges to edges. All ranks call it.
    pub(super) fn of_part(
        &self,
        part: &Part,
        starts: &[usize],
        edges: Vec<usize>,
        stiffness: Option<&Matrix<F>>,
    ) -> Result<(Self, RankSetUp, OwnFirst), IncompressibleError> {
        let whole = (&*self.rotation, stiffness);
        let (faces, set_up) = self.faces.of_part(part, (starts, edges), whole)?;
        let backend = &part.backend;
        let rotation = self.rotation.of_rank(backend, &set_up)?;
        let RankFaces { fluxes, entries, .. } = &*set_up.faces;
        let n = self.before.len();
        let staggered = Staggered {
            before: part.of_list(&self.before, entries, n),
            increment: part.of_list(&self.increment, entries, n),
            ..Self::of(backend, faces, rotation)
        };
        let places = OwnFirst { own: fluxes.owned(), entries: entries.clone() };
        Ok((staggered, set_up, places))
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

    /// Stores `flux` as that of the previous level.
    pub(super) fn copy_to_previous_level(&mut self, flux: &Buffer<F>) {
        let Staggered { faces, rooms: [room, _], before, .. } = self;
        let fluxes = faces.fluxes_of(flux, room);
        blas::copy(faces.backend(), faces.n_fluxes(), fluxes, before);
    }

    /// The vorticity of a level with time and step `clock`, from its fluxes and boundary velocities by component, and the
    /// boundary dual segments by faces, of the whole mesh.
    pub(in crate::incompressible) fn vorticity(
        &mut self,
        clock: (f64, usize),
        flux: &Buffer<F>,
        at_boundary: &[&Buffer<F>],
    ) -> (&Vorticity<F>, &BoundarySegments<F>) {
        let Staggered { faces, rotation, cached, .. } = self;
        let cached = cached.get_or_insert_with(|| CachedVorticity {
            clock: None,
            vorticity: rotation.scratch(faces),
        });
        if cached.clock != Some(clock) {
            rotation.vorticity(faces, flux, Some(at_boundary), &mut cached.vorticity);
            cached.clock = Some(clock);
        }
        (&cached.vorticity, &rotation.face_segments)
    }

    /// The vorticity at each node of the whole mesh.
    pub(in crate::incompressible) fn nodal_vorticity(
        &self,
        flux: &Buffer<F>,
        at_boundary: &[&Buffer<F>],
    ) -> Result<Vec<[f64; 3]>, IncompressibleError> {
        let backend = self.faces.backend();
        let mut scratch = self.rotation.scratch(&self.faces);
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
        let Some((shift, theta, _)) = self.solver.last() else { return Ok(None) };
        let (faces, rotation) = (self.faces.clone(), self.rotation.clone());
        let factors = (shift, theta * viscosity);
        Ok(Some(StepSystem {
            operator: Box::new(StaggeredOperator::new(faces, rotation, factors)),
            preconditioning_matrix: Arc::new(self.faces.diagonal(shift)?),
            right_hand_side: &self.at_faces,
            is_singular: false,
        }))
    }
}

/// Steps common to both staggered arrangements.
impl<F: Real> Staggered<F> {
    /// Sets the boundary fluxes at the end of the step; `change` ← history (U − U_before).
    pub(super) fn prescribe_boundary_fluxes(
        &mut self,
        flow: &mut Flow<F>,
        step: &Step,
    ) -> Result<(), IncompressibleError> {
        let history = F::from_f64(step.coefficients.bdf.history);
        let Staggered { faces, before, change, rooms: [room, _], .. } = self;
        let (zero, flux) = (F::literal(0.0), faces.fluxes_of(&flow.flux, room));
        let n_fluxes = faces.n_fluxes();
        blas::axpbypcz(&flow.backend, n_fluxes, history, flux, -history, before, zero, change);
        blas::copy(&flow.backend, n_fluxes, flux, before);
        flow.set_time(step.times[1], step.extrapolation)?;
        flow.update_gradients();
        self.prescribe_flux(flow)
    }

    /// `at_faces` ← M (change − shift (U − U_old) − ν C W (Cᵀ M U + boundary)) + N V⁻¹ r − G p, where U has
    /// the new boundary fluxes.
    pub(super) fn flux_residual(
        &mut self,
        flow: &mut Flow<F>,
        step: &Step,
    ) -> Result<(), IncompressibleError> {
        let Step { coefficients, times, extrapolation } = step;
        let is_midpoint = coefficients.is_midpoint();
        if is_midpoint {
            flow.momentum.set_trapezoidal_mean(*times)?;
            flow.update_dependent_boundaries(0.5 * extrapolation);
            flow.update_gradients();
        }
        let backend = &flow.backend;
        let (shift, one) = (F::from_f64(coefficients.bdf.shift), F::literal(1.0));
        let Staggered { faces, rotation, change, curl, scratch, before, at_faces, rooms, .. } =
            self;
        let n_fluxes = faces.n_fluxes();
        let flux = faces.fluxes_of(&flow.flux, &mut rooms[0]);
        blas::axpbypcz(backend, n_fluxes, -shift, flux, shift, before, one, change);
        // Changes of the boundary fluxes are weighted by θ, as δU is.
        let (theta, zero) = (F::from_f64(coefficients.theta), F::literal(0.0));
        let mean = if is_midpoint {
            blas::axpbypcz(backend, n_fluxes, theta, flux, one - theta, before, zero, at_faces);
            faces.fetch(at_faces);
            &*at_faces
        } else {
            flux
        };
        let at_boundary = boundary_values(&flow.components);
        rotation.curl_of_vorticity(faces, mean, Some(&at_boundary), scratch, curl);
        blas::axpy(backend, n_fluxes, F::from_f64(-flow.viscosity()), curl, change);
        faces.fetch(change);
        faces.mass.multiply(change, at_faces);
        cell_residuals(flow, coefficients);
        self.add_cell_residuals(flow);
        Ok(())
    }

    /// `at_faces` ← `at_faces` + N V⁻¹ r − G p.
    fn add_cell_residuals(&mut self, flow: &Flow<F>) {
        let pressure = flow.is_incremental().then(|| flow.pressure.view());
        let of_cells = &flow.momentum.residual;
        let with_ghosts = match (&flow.faces.cells.halo(), &mut self.residual) {
            (Some(halo), Some(residual)) => {
                halo.extend(of_cells, residual);
                &*residual
            }
            _ => of_cells,
        };
        let r = Quantities::of(with_ghosts, flow.components.len());
        self.faces.add_to_faces(&r, pressure, &mut self.at_faces);
    }

    /// `change` ← dU/dt = M⁻¹ (N V⁻¹ r − G p) − ν C W (Cᵀ M U + boundary), for explicit stages.
    pub(super) fn compute_rate(&mut self, flow: &Flow<F>) {
        let backend = &flow.backend;
        blas::fill(backend, self.at_faces.len(), F::literal(0.0), &mut self.at_faces);
        self.add_cell_residuals(flow);
        self.faces.divide_by_mass(&self.at_faces, &mut self.change);
        let Staggered { faces, rotation, scratch, curl, change, rooms, .. } = self;
        let flux = faces.fluxes_of(&flow.flux, &mut rooms[0]);
        let at_boundary = boundary_values(&flow.components);
        rotation.curl_of_vorticity(faces, flux, Some(&at_boundary), scratch, curl);
        blas::axpy(backend, faces.n_fluxes(), F::from_f64(-flow.viscosity()), curl, change);
    }

    /// F ← u_b·S where the velocity is prescribed.
    pub(super) fn prescribe_flux(&self, flow: &mut Flow<F>) -> Result<(), IncompressibleError> {
        let Flow { backend, faces, components, flux, .. } = flow;
        prescribe_flux(
            backend,
            self.boundary.len(),
            &self.boundary,
            &self.faces.is_unknown,
            &vector_field(components, |c| &c.at_boundary),
            &Vectors::of(&faces.area),
            flux,
        );
        flow.balance_boundary_flux()
    }

    /// Solves for δU.
    pub(super) fn predict_flux(
        &mut self,
        flow: &Flow<F>,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let (shift, theta) = (coefficients.bdf.shift, coefficients.theta);
        let Staggered { faces, rotation, solver, .. } = self;
        let solver = solver.prepare(shift, theta, |_| -> Result<_, IncompressibleError> {
            let factors = (shift, theta * flow.viscosity());
            let operator = StaggeredOperator::new(faces.clone(), rotation.clone(), factors);
            let matrix = Arc::new(faces.diagonal(shift)?);
            let params = jacobi_cg(&flow.numerics.momentum);
            Ok(Solver::with_operator(faces.of_fluxes(), Box::new(operator), Some(matrix), &params)?)
        })?;
        Ok(solver.solve(&self.at_faces, &mut self.increment)?)
    }

    /// Changes `at_faces` as a flux through the faces of the flow, on one of several ranks those of its part.
    pub(super) fn change_at_faces(&mut self, change: impl FnOnce(&mut Buffer<F>)) {
        let Staggered { faces, at_faces, rooms: [_, room], .. } = self;
        match (faces.exchange(), room) {
            (Some(exchange), Some(room)) => {
                exchange.give(faces.backend(), at_faces, room);
                change(room);
                exchange.take(faces.backend(), room, at_faces);
            }
            _ => change(at_faces),
        }
    }

    /// F ← F + δU.
    pub(super) fn add_increment(&mut self, flow: &mut Flow<F>) {
        let (n_faces, one) = (flow.n_faces(), F::literal(1.0));
        let Staggered { faces, increment, rooms, .. } = self;
        let increment = faces.through_faces(increment, &mut rooms[1]);
        blas::axpy(&flow.backend, n_faces, one, increment, &mut flow.flux);
    }

    /// dU/dt through the faces, see [`Staggered::compute_rate`].
    pub(super) fn rate(&mut self) -> &Buffer<F> {
        self.faces.through_faces(&mut self.change, &mut self.rooms[1])
    }

    /// The velocities of cells at the new level.
    pub(super) fn update_velocities(&self, flow: &mut Flow<F>, shift: f64) {
        self.to_cells(&flow.flux, &mut flow.components);
        flow.advance_velocity(true, Some(shift));
    }

    /// The arrays of a checkpoint.
    pub(super) fn arrays(&self) -> Vec<(&'static str, Place, &Buffer<F>)> {
        let place = Place::Fluxes;
        vec![("flux_before", place, &self.before), ("flux_increment", place, &self.increment)]
    }

    /// The arrays of a checkpoint, to be restored.
    pub(super) fn arrays_mut(&mut self) -> Vec<(&'static str, &mut Buffer<F>)> {
        vec![("flux_before", &mut self.before), ("flux_increment", &mut self.increment)]
    }
}

/// `flow.momentum.residual` ← sources minus convection of each cell.
pub(super) fn cell_residuals<F: Real>(flow: &mut Flow<F>, coefficients: &TimeCoefficients) {
    // The history term is one of fluxes.
    let mut of_cells = *coefficients;
    of_cells.bdf.history = 0.0;
    flow.momentum_residual(&of_cells, DiffusiveTerms::Absent);
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
