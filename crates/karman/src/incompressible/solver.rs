//! The solver of an incompressible flow: the flow, the arrangement of its unknowns, and the sequence of a step.

use super::acceleration::Acceleration;
use super::boundary::FlowBoundary;
use super::collocated::Collocated;
use super::conditions::component_terms;
use super::flow::{Clock, Flow};
use super::monitors::Monitors;
use super::pressure::Pressure;
use super::report::StepReport;
use super::rk3;
use super::scheme::TimeScheme;
use super::stage::OldLevel;
use super::staggered::{ExactStepper, Staggered, StaggeredStepper};
use super::step::Step;
use super::step_bounds::StepBounds;
use super::stepper::{Stepper, refresh};
use super::thermal::Thermal;
use super::transport_equation::{TransportEquation, dirichlet_indices};
use super::transport_setup::EquationSpec;
use super::transported_field::TransportedField;
use super::{
    Arrangement, Convection, Extent, FlowCondition, IncompressibleError, Numerics,
    PrescribedVector, Problem,
};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::{Faces, narrow, narrow_slice};
use crate::linear::SolverSetup;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// Solver of an incompressible flow on a backend.
pub struct IncompressibleSolver<F: Real> {
    pub(super) flow: Flow<F>,
    pub(super) stepper: Box<dyn Stepper<F>>,
    /// The unknowns at tⁿ, for explicit stages.
    pub(super) old_level: Option<OldLevel<F>>,
    /// Of a steady flow.
    pub(super) acceleration: Option<Acceleration<F>>,
}

/// A flow with the stepper of its arrangement.
type FlowAndStepper<F> = (Flow<F>, Box<dyn Stepper<F>>);

/// Refuses a viscosity that the scheme does not admit and a number of conditions other than that of the patches.
fn check(mesh: &Mesh, problem: &Problem, numerics: &Numerics) -> Result<(), IncompressibleError> {
    let (found, patches) = (problem.conditions.len(), mesh.patches.len());
    if found != patches {
        return Err(IncompressibleError::Conditions { found, patches });
    }
    let viscosity = problem.viscosity;
    let is_inviscid = viscosity == 0.0 && numerics.time_scheme == TimeScheme::Rk3;
    if !(viscosity > 0.0 && viscosity.is_finite() || is_inviscid) {
        return Err(IncompressibleError::Viscosity { value: viscosity });
    }
    Ok(())
}

impl<F: Real> IncompressibleSolver<F> {
    /// The solver at time 0, with the initial velocity projected onto divergence-free fields.
    ///
    /// # Errors
    /// [`IncompressibleError`] for an invalid problem or a failure of the backend.
    pub fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        problem: &Problem,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let place = (mesh, geometry);
        let mut solver = Self::unprojected(backend, place, problem, numerics, (0.0, 0))?;
        solver.project()?;
        Ok(solver)
    }

    /// The solver of a flow that begins or goes on at a time, after a number of steps, from the fields of `problem`: velocity as given,
    /// pressure and temperature. [`IncompressibleSolver::project`], with the boundary data of this time, has to follow. The multistep scheme
    /// begins anew, with a step of first order.
    ///
    /// # Errors
    /// As [`IncompressibleSolver::new`].
    pub fn unprojected(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: &Problem,
        numerics: &Numerics,
        (time, steps): (f64, usize),
    ) -> Result<Self, IncompressibleError> {
        let of_steps = (mesh, geometry, Extent::Cells);
        let (mut flow, stepper) = Self::set_up(backend, of_steps, problem, numerics)?;
        flow.continue_at(time, steps)?;
        Self::with_memory(flow, stepper)
    }

    /// The solver of a flow, with the memory that its steps need.
    pub(super) fn with_memory(
        flow: Flow<F>,
        stepper: Box<dyn Stepper<F>>,
    ) -> Result<Self, IncompressibleError> {
        let Numerics { time_scheme, is_steady, .. } = flow.numerics;
        let old_level = (time_scheme == TimeScheme::Rk3).then(|| OldLevel::new(&flow));
        let acceleration = is_steady.then(|| Acceleration::new(&flow)).transpose()?;
        Ok(IncompressibleSolver { flow, stepper, old_level, acceleration })
    }

    /// The flow on the whole mesh that several ranks compute, each by [`IncompressibleSolver::of_rank`] and
    /// [`IncompressibleSolver::project`]: conditions, bounds of steps, and what outputs read at the boundary. `backend` is on the host. With
    /// fluxes as unknowns it has the equations of all cells too. Start and time are as of [`IncompressibleSolver::unprojected`].
    ///
    /// # Errors
    /// As [`IncompressibleSolver::new`].
    pub fn of_ranks(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: &Problem,
        numerics: &Numerics,
        (time, steps): (f64, usize),
    ) -> Result<Self, IncompressibleError> {
        let extent = match numerics.arrangement {
            Arrangement::Collocated => Extent::Boundary,
            Arrangement::Staggered | Arrangement::Exact => Extent::Cells,
        };
        let (mut flow, stepper) =
            Self::set_up(backend, (mesh, geometry, extent), problem, numerics)?;
        flow.continue_at(time, steps)?;
        Ok(IncompressibleSolver { flow, stepper, old_level: None, acceleration: None })
    }

    /// The flow at time 0 with the stepper of its arrangement.
    fn set_up(
        backend: &Backend,
        (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
        problem: &Problem,
        numerics: &Numerics,
    ) -> Result<FlowAndStepper<F>, IncompressibleError> {
        check(mesh, problem, numerics)?;
        let dirichlet_index = velocity_indices(mesh, problem);
        let place = (mesh, geometry, extent);
        let flow = Flow::new(backend, place, problem, numerics, &dirichlet_index)?;
        let conditions = (&problem.conditions[..], &dirichlet_index[..]);
        let stepper = stepper(&flow, place, conditions)?;
        Ok((flow, stepper))
    }

    /// Projects the initial velocity of [`IncompressibleSolver::unprojected`].
    ///
    /// # Errors
    /// [`IncompressibleError`] for a failure of the backend, or where the solve fails.
    pub fn project(&mut self) -> Result<(), IncompressibleError> {
        self.flow.pressure.prepare_solver()?;
        self.project_initial_velocity()?;
        if self.flow.clock.steps > 0 {
            self.flow.pressure.start_midpoint();
        }
        Ok(())
    }

    /// Projects the initial velocity.
    fn project_initial_velocity(&mut self) -> Result<(), IncompressibleError> {
        let IncompressibleSolver { flow, stepper, .. } = self;
        let n = flow.n_cells();
        flow.update_dependent_boundaries(0.0);
        flow.boundary.mass_correction.schedule_check(flow.clock.time);
        flow.update_gradients();
        stepper.set_initial_flux(flow)?;
        flow.pressure.project_start(&flow.faces, &mut flow.flux)?;
        for component in &mut flow.components {
            blas::copy(&flow.backend, n, &component.now, &mut component.predicted);
        }
        stepper.finish_initial_flux(flow);
        flow.advance_velocity(false, None);
        for component in &mut flow.components {
            blas::copy(&flow.backend, n, &component.now, &mut component.before);
        }
        // ψ of this projection is no guess of a pressure increment.
        flow.pressure.reset_guess();
        flow.pressure.prescribe_of_flow(&flow.faces, &flow.flux);
        self.initialize_levels()
    }

    /// Initializes the levels of the multistep scheme with the current fields.
    pub(super) fn initialize_levels(&mut self) -> Result<(), IncompressibleError> {
        self.refresh()?;
        self.stepper.copy_to_previous_level(&self.flow);
        Ok(())
    }

    /// See [`Flow::refresh`].
    pub(super) fn refresh(&mut self) -> Result<f64, IncompressibleError> {
        refresh(&mut self.flow, &mut *self.stepper)
    }

    /// Advances by `step`. The first step is computed twice: the initial pressure follows from the initial
    /// velocity, and the pressure after the first pass approximates it.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a prescribed value is not finite, inflow and outflow do not balance, or
    /// the backend fails.
    pub fn step(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        if let Some(old_level) = &mut self.old_level {
            return rk3::advance(&mut self.flow, &mut *self.stepper, old_level, step);
        }
        let is_steady = self.flow.numerics.is_steady;
        if self.flow.clock.steps == 0 && self.flow.is_incremental() && !is_steady {
            self.estimate_pressure(step)?;
        }
        self.advance(step)
    }

    /// Estimates the initial pressure by that after one step.
    fn estimate_pressure(&mut self, step: f64) -> Result<(), IncompressibleError> {
        let backend = self.flow.backend.clone();
        let copied = |from: &Buffer<F>| {
            let mut copy = backend.scratch(from.len());
            blas::copy(&backend, from.len(), from, &mut copy);
            copy
        };
        let flux = copied(&self.flow.flux);
        let outflow: Vec<Buffer<F>> = self.flow.boundary.outflow.value.iter().map(copied).collect();
        self.advance(step)?;
        let flow = &mut self.flow;
        let fields = flow.components.iter_mut().chain(flow.thermal.as_mut().map(|t| &mut t.field));
        for field in fields {
            blas::copy(&backend, field.now.len(), &field.before, &mut field.now);
        }
        blas::copy(&backend, flux.len(), &flux, &mut flow.flux);
        for (value, start) in flow.boundary.outflow.value.iter_mut().zip(&outflow) {
            blas::copy(&backend, start.len(), start, value);
        }
        flow.clock = Clock::default();
        flow.set_transport_time(0.0)?;
        flow.set_pressure_time([0.0; 2])?;
        // The pressure is close to its new value: its last increment is no guess of the next.
        flow.pressure.reset_guess();
        flow.update_dependent_boundaries(0.0);
        self.initialize_levels()
    }

    fn advance(&mut self, length: f64) -> Result<StepReport, IncompressibleError> {
        let IncompressibleSolver { flow, stepper, acceleration, .. } = self;
        let step = flow.begin_step(length)?;
        if let Some(acceleration) = acceleration {
            acceleration.begin(flow);
        }
        let energy = flow.advance_temperature(&step)?;
        let solves = stepper.step(flow, &step)?;
        if let Some(acceleration) = acceleration {
            acceleration.combine(flow)?;
            flow.pressure.prescribe_of_flow(&flow.faces, &flow.flux);
        }
        flow.clock.advance(step.times[1], length);
        flow.update_dependent_boundaries(0.0);
        let divergence = refresh(flow, &mut **stepper)?;
        let Flow { faces, pressure, monitors, .. } = flow;
        let rates = [&monitors.momentum_diagonal, &monitors.viscous_rate];
        if pressure.update_steps(faces, rates)? {
            flow.update_mean_velocity(&mut **stepper)?;
            if let Some(acceleration) = acceleration {
                acceleration.restart();
            }
        }
        StepReport::new(flow, length, solves, energy, divergence)
    }

    /// Whether a step in time uses levels before the last.
    pub fn is_multistep(&self) -> bool {
        let Numerics { is_steady, time_scheme, .. } = self.flow.numerics;
        !is_steady && time_scheme != TimeScheme::Rk3
    }

    /// Time reached and steps taken.
    pub fn clock(&self) -> (f64, usize) {
        (self.flow.clock.time, self.flow.clock.steps)
    }

    /// 2 or 3: the number of components.
    pub fn dimension(&self) -> usize {
        self.flow.components.len()
    }

    /// Component `k` of the velocity: `[n_cells]`.
    pub fn velocity(&self, k: usize) -> &Buffer<F> {
        &self.flow.components[k].now
    }

    /// The pressure over the density: `[n_cells]`.
    pub fn pressure(&self) -> &Buffer<F> {
        let [pressure, _] = self.flow.pressure.at_end();
        pressure
    }

    /// The transported temperature: `[n_cells]`.
    pub fn temperature(&self) -> Option<&Buffer<F>> {
        self.flow.thermal.as_ref().map(|thermal| &thermal.field.now)
    }

    /// Σ V p / Σ V, reduced on the backend.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn mean_pressure(&self) -> Result<f64, IncompressibleError> {
        let (backend, volume, n) =
            (&self.flow.backend, &self.flow.faces.volume, self.flow.n_cells());
        let integral = blas::dot(backend, n, volume, self.pressure())?;
        Ok(integral / blas::sum(backend, n, volume)?)
    }

    /// Whether the pressure is determined up to a constant only.
    pub fn pressure_is_singular(&self) -> bool {
        self.flow.pressure.conditions.is_singular
    }

    /// The fluxes through the faces, from left to right: `[n_faces]`.
    pub fn flux(&self) -> &Buffer<F> {
        &self.flow.flux
    }

    /// Bytes moved by an iteration of the pressure solver, for reports.
    pub fn pressure_bytes_per_iteration(&self) -> usize {
        let pressure = &self.flow.pressure;
        pressure.poisson.bytes_per_iteration(pressure.value.bytes())
    }

    /// Set-up of the pressure solver; none before the first projection.
    pub fn pressure_setup(&self) -> Option<&SolverSetup> {
        self.flow.pressure.poisson.setup.as_ref()
    }

    /// Takes over the set-up of the pressure solver from its parts.
    pub fn set_pressure_setup(&mut self, setup: SolverSetup) {
        self.flow.pressure.poisson.setup = Some(setup);
    }

    /// max(max Σ|F| / 2V, max |u_b| |S| / V), the inverse of the step of Courant number 1; the second term,
    /// over faces of prescribed velocity at time 0, bounds the first steps from rest. An explicit scheme adds the
    /// rate of its diffusive terms, scaled so that both limits of central convection coincide at √3; other
    /// convection schemes have lower limits.
    pub fn largest_rate(&self) -> f64 {
        self.flow.monitors.largest_rate()
    }
}

impl<F: Real> Flow<F> {
    /// Sets the clock and the boundary data of its time where steps were taken; no step is before the next.
    fn continue_at(&mut self, time: f64, steps: usize) -> Result<(), IncompressibleError> {
        if steps == 0 {
            return Ok(());
        }
        self.clock = Clock { time, steps, step_before: None };
        self.set_transport_time(time)?;
        self.set_pressure_time([time; 2])
    }

    /// The flow at time 0 with its initial velocity as given.
    fn new(
        backend: &Backend,
        (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
        problem: &Problem,
        numerics: &Numerics,
        dirichlet_index: &[u32],
    ) -> Result<Self, IncompressibleError> {
        let place = (mesh, geometry, extent);
        let Problem { viscosity, conditions, .. } = problem;
        let is_cubic = numerics.convection == Convection::Cubic;
        let faces = match extent {
            Extent::Cells => Faces::new(backend, mesh, geometry, is_cubic),
            Extent::Boundary => Faces::at_boundary(backend, mesh, geometry, is_cubic),
        };
        let spec = |k: usize| EquationSpec {
            what: "a velocity at the boundary",
            conditions: conditions.iter().map(FlowCondition::velocity_condition).collect(),
            prescribed: component_terms((mesh, geometry), conditions, dirichlet_index, k),
            source: problem.source[k].clone(),
        };
        let momentum = TransportEquation::new(
            backend,
            place,
            &faces,
            (*viscosity, numerics),
            (0..mesh.dimension).map(spec).collect(),
        )?;
        let thermal = problem
            .thermal
            .as_ref()
            .map(|thermal| Thermal::new(backend, place, &faces, thermal, numerics));
        let pressure = Pressure::new(backend, place, &faces, problem, numerics)?;
        let mut components = vec![];
        for k in 0..mesh.dimension {
            let start = (&problem.velocity[k], "the initial velocity");
            components.push(TransportedField::new(backend, place, start)?);
        }
        let n_faces = mesh.n_faces();
        let thermal = thermal.transpose()?;
        let diffusion = largest_diffusive_rate(&momentum, thermal.as_ref());
        let step_bounds = StepBounds::new(mesh, geometry, problem, diffusion);
        Ok(Flow {
            backend: backend.clone(),
            boundary: FlowBoundary::new(
                backend,
                (mesh, geometry),
                conditions,
                dirichlet_index,
                &components,
                pressure.conditions.is_singular,
            ),
            monitors: Monitors::new(
                backend,
                narrow_slice(backend, momentum.diffusive_rates()),
                step_bounds,
                numerics,
            ),
            mean_velocity: None,
            flux: match numerics.arrangement {
                Arrangement::Collocated => backend.zeros(n_faces),
                Arrangement::Staggered | Arrangement::Exact => {
                    narrow(backend, initial_flux(geometry, &problem.velocity))
                }
            },
            faces,
            momentum,
            components,
            thermal,
            pressure,
            numerics: numerics.clone(),
            clock: Clock::default(),
        })
    }

    /// Prepares boundary data and norms for a step.
    fn begin_step(&mut self, length: f64) -> Result<Step, IncompressibleError> {
        let Clock { time: old, step_before, .. } = self.clock;
        let step_before = step_before.filter(|_| !self.numerics.is_steady);
        let coefficients = self.numerics.time_scheme.coefficients(length, step_before);
        let new = old + length;
        self.momentum.set_trapezoidal_mean(coefficients.mean_of(old, new))?;
        let extrapolation = step_before.map_or(0.0, |before| length / before);
        let Flow { backend, flux, components, boundary, .. } = self;
        boundary.outflow.advance(backend, flux, components, (length, extrapolation));
        let is_midpoint = coefficients.is_midpoint();
        let to_implicit_time = if is_midpoint { 0.5 * extrapolation } else { extrapolation };
        self.update_dependent_boundaries(to_implicit_time);
        self.monitors.statistics.clear(&self.backend);
        if let Some(residuals) = &mut self.monitors.residuals {
            residuals.clear(&self.backend);
        }
        Ok(Step { coefficients, times: [old, new], extrapolation })
    }
}

/// The largest diffusive rate of momentum and temperature in the cells of these equations.
pub(super) fn largest_diffusive_rate<F: Real>(
    momentum: &TransportEquation<F>,
    thermal: Option<&Thermal<F>>,
) -> f64 {
    let of_thermal = thermal.into_iter().flat_map(|thermal| thermal.equation.diffusive_rates());
    momentum.diffusive_rates().iter().chain(of_thermal).copied().fold(0.0, f64::max)
}

/// 1 + the index of the prescribed velocity at each boundary face, 0 where none is.
fn velocity_indices(mesh: &Mesh, problem: &Problem) -> Vec<u32> {
    let conditions: Vec<_> =
        problem.conditions.iter().map(FlowCondition::velocity_condition).collect();
    dirichlet_indices(mesh, &conditions)
}

/// The stepper of the arrangement of a flow; `conditions` with the indices of their prescribed velocities.
fn stepper<F: Real>(
    flow: &Flow<F>,
    (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
    conditions: (&[FlowCondition], &[u32]),
) -> Result<Box<dyn Stepper<F>>, IncompressibleError> {
    let Numerics { arrangement, time_scheme, momentum, .. } = &flow.numerics;
    if *arrangement == Arrangement::Collocated {
        let n_faces = if extent == Extent::Cells { flow.n_faces() } else { 0 };
        return Ok(Box::new(Collocated::new(&flow.backend, n_faces)));
    }
    let place = (mesh, geometry);
    let staggered = Staggered::new(&flow.backend, place, &flow.faces, conditions)?;
    let is_exact = *arrangement == Arrangement::Exact;
    if *time_scheme == TimeScheme::Rk3 && (is_exact || !staggered.faces.is_diagonal) {
        return Err(IncompressibleError::ExplicitMass);
    }
    Ok(match is_exact {
        false => Box::new(StaggeredStepper { staggered }),
        true => Box::new(ExactStepper::new(mesh, staggered, conditions, momentum)?),
    })
}

/// u·S of the initial velocity at the centroids of all faces.
fn initial_flux(geometry: &Geometry, velocity: &PrescribedVector) -> Vec<f64> {
    let n = geometry.face_centre.len() / 3;
    let (mut flux, mut component) = (vec![0.0; n], vec![0.0; n]);
    for (k, value) in velocity.iter().enumerate() {
        value.sample(&geometry.face_centre, 0.0, &mut component);
        let areas = &geometry.face_area_vector[k * n..(k + 1) * n];
        flux.iter_mut().zip(areas).zip(&component).for_each(|((f, s), u)| *f += s * u);
    }
    flux
}
