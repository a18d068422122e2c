//! A flow on a backend: what its arrangements of unknowns have in common, and the frame of a step.

use super::at_rest::Driving;
use super::balance::Balance;
use super::component::{Carrying, Component};
use super::faces::Faces;
use super::kernels::{advance_velocity, exchange_rate, slip_velocity};
use super::outflow::Outflow;
use super::pressure::Pressure;
use super::rk3::Start;
use super::scheme::{Formula, Scheme};
use super::staggered::{Exact, Staggered};
use super::statistics::Statistics;
use super::thermal::Thermal;
use super::transport::{Posed, Transport, faces_where, held_faces};
use super::{
    Arrangement, Convection, FlowCondition, IncompressibleError, Numerics, PrescribedVector,
    PressureCorrection, Problem,
};
use crate::backend::{Backend, Buffer, blas};
use crate::diffusion::narrow;
use crate::linear::{SolveOutcome, SolverSetup};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// What a step did.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The solves of the predictor: iterations together, the worst ending.
    pub momentum: SolveOutcome,
    /// The solve of the projection.
    pub pressure: SolveOutcome,
    /// The solve of the temperature, where there is one.
    pub energy: Option<SolveOutcome>,
    /// max |∂u/∂t| over the step, and of the temperature.
    pub rate: f64,
    /// Σ V u²/2.
    pub kinetic_energy: f64,
    /// Largest Σ|F| / 2V times the step.
    pub courant: f64,
    /// Largest |D F| / V over the largest Σ|F| / 2V.
    pub divergence: f64,
    /// Number of values that are not finite.
    pub faults: usize,
}

/// What Δt ν Σ a / V ≤ 1.25 of explicit viscous terms is in Courant numbers up to √3.
const EXPLICIT_VISCOUS: f64 = 1.4;

/// A flow on a backend.
pub struct Flow<F: Real> {
    pub(super) backend: Backend,
    pub(super) dimension: usize,
    pub(super) faces: Faces<F>,
    pub(super) volume: Buffer<F>,
    pub(super) viscous_rate: Buffer<F>,
    pub(super) rate: Buffer<F>,
    pub(super) momentum: Transport<F>,
    pub(super) thermal: Option<Thermal<F>>,
    pub(super) pressure: Pressure<F>,
    /// Two or three; the kernels that take three are given the first again.
    pub(super) components: Vec<Component<F>>,
    /// F: `[n_faces]`.
    pub(super) flux: Buffer<F>,
    /// E = F − u_i·S at both levels, where velocities are in the cells.
    pub(super) excess: Buffer<F>,
    pub(super) excess_before: Buffer<F>,
    /// K, the skewness correction of u_i·S: `[n_faces]`.
    pub(super) skewness: Buffer<F>,
    /// What there is more where velocities are at the faces.
    pub(super) staggered: Option<Staggered<F>>,
    /// What there is more where they have a potential.
    pub(super) exact: Option<Exact<F>>,
    pub(super) held: Buffer<u32>,
    entering: Buffer<F>,
    pub(super) slip: SlipFaces,
    pub(super) outflow: Outflow<F>,
    pub(super) balance: Balance,
    pub(super) statistics: Statistics,
    pub(super) residual: Buffer<F>,
    through: Buffer<F>,
    pub(super) numerics: Numerics,
    pub(super) viscosity: f64,
    /// Time reached.
    pub(super) time: f64,
    pub(super) steps: usize,
    pub(super) step_before: Option<f64>,
    /// By what part of its last change the pressure goes on to the end of the step.
    pub(super) pressure_ahead: f64,
    /// The largest Σ|F| / 2V of the present level.
    pub(super) exchange: f64,
    /// The largest |D F| / V over that of the present level.
    pub(super) divergence: f64,
    /// The largest |u_b| |S| / V of walls and inlets at the start.
    boundary_rate: f64,
    /// What sets a flow at rest in motion.
    pub(super) driving: Driving,
    /// What viscous terms add to the rate that bounds the step of an explicit scheme.
    viscous_bound: f64,
    /// The level that explicit stages start from, once there is one.
    pub(super) start: Option<Start<F>>,
}

/// Faces where the velocity is tangential.
pub(super) struct SlipFaces {
    pub(super) faces: Buffer<u32>,
    /// Their places among the prescribed values.
    pub(super) places: Buffer<u32>,
}

impl SlipFaces {
    fn new(backend: &Backend, mesh: &Mesh, conditions: &[FlowCondition], held: &[u32]) -> Self {
        let is_slip = |c: &FlowCondition| matches!(c, FlowCondition::Slip);
        let (faces, places) = faces_where(mesh, conditions, held, is_slip);
        SlipFaces { faces: backend.upload(faces), places: backend.upload(places) }
    }
}

impl<F: Real> Flow<F> {
    /// Puts a flow on a backend at time 0: its velocity is made free of divergence.
    ///
    /// # Errors
    /// [`IncompressibleError`] where the problem makes no sense or the backend fails.
    pub fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        problem: &Problem,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let Problem { viscosity, conditions, .. } = problem;
        if conditions.len() != mesh.patches.len() {
            let (found, patches) = (conditions.len(), mesh.patches.len());
            return Err(IncompressibleError::Conditions { found, patches });
        }
        let is_explicit = numerics.scheme == Scheme::Rk3;
        let is_inviscid = *viscosity == 0.0 && is_explicit;
        if !(*viscosity > 0.0 && viscosity.is_finite() || is_inviscid) {
            return Err(IncompressibleError::Viscosity { value: *viscosity });
        }
        let is_cubic = numerics.convection == Convection::Cubic;
        let faces = Faces::new(backend, mesh, geometry, is_cubic);
        let posed = |k: usize| Posed {
            what: "a velocity at the boundary",
            conditions: conditions.iter().map(|c| c.of_velocity(k)).collect(),
            source: problem.source[k].clone(),
        };
        let of_velocity = posed(0).conditions;
        let momentum = Transport::new(
            backend,
            mesh,
            geometry,
            &faces,
            (*viscosity, numerics.convection),
            (0..mesh.dimension).map(posed).collect(),
            numerics.momentum.clone(),
        )?;
        let thermal = problem
            .thermal
            .as_ref()
            .map(|thermal| Thermal::new(backend, (mesh, geometry), &faces, thermal, numerics));
        let pressure = Pressure::new(backend, mesh, geometry, &faces, problem, numerics)?;
        let (n, n_faces) = (mesh.n_cells(), mesh.n_faces());
        let n_boundary = n_faces - mesh.n_interior_faces();
        let held = held_faces(mesh, &of_velocity);
        let mut entering = vec![1.0; n_boundary];
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            if let FlowCondition::Outlet(_) = condition {
                let first = mesh.n_interior_faces();
                entering[patch.faces.start - first..patch.faces.end - first].fill(0.0);
            }
        }
        let mut components = vec![];
        for k in 0..mesh.dimension {
            let start = (&problem.velocity[k], "the initial velocity");
            components.push(Component::new(backend, mesh, geometry, start)?);
        }
        let place = (mesh, geometry);
        let staggered = match numerics.arrangement {
            Arrangement::Collocated => None,
            Arrangement::Staggered | Arrangement::Exact => {
                Some(Staggered::new(backend, place, &faces, (conditions, &held))?)
            }
        };
        let coupled = staggered.as_ref().is_some_and(|staggered| !staggered.faces.is_diagonal);
        if is_explicit && (coupled || numerics.arrangement == Arrangement::Exact) {
            return Err(IncompressibleError::ExplicitMass);
        }
        let exact = match (numerics.arrangement, &staggered) {
            (Arrangement::Exact, Some(staggered)) => {
                Some(Exact::new(mesh, staggered, (conditions, &held), &numerics.momentum)?)
            }
            _ => None,
        };
        let outflow = Outflow::new(backend, place, conditions, &held, &components);
        let viscous_rate = momentum.diffusive_rates()?;
        let viscous_bound = match is_explicit {
            true => EXPLICIT_VISCOUS * blas::range(backend, n, &viscous_rate)?.map_or(0.0, |r| r.1),
            false => 0.0,
        };
        let mut diffusion = blas::range(backend, n, &viscous_rate)?.map_or(0.0, |r| r.1);
        let thermal = thermal.transpose()?;
        if let Some(thermal) = &thermal {
            let rates = thermal.transport.diffusive_rates()?;
            diffusion = blas::range(backend, n, &rates)?.map_or(diffusion, |r| diffusion.max(r.1));
        }
        let driving = Driving::new(mesh, geometry, problem, diffusion);
        let mut flow = Flow {
            backend: backend.clone(),
            dimension: mesh.dimension,
            volume: narrow(backend, geometry.cell_volume.clone()),
            viscous_rate,
            viscous_bound,
            start: None,
            rate: backend.zeros(n),
            momentum,
            thermal,
            components,
            flux: match staggered {
                None => backend.zeros(n_faces),
                Some(_) => narrow(backend, initial_flux(geometry, &problem.velocity)),
            },
            excess: backend.zeros(n_faces),
            excess_before: backend.zeros(n_faces),
            skewness: backend.zeros(n_faces),
            staggered,
            exact,
            slip: SlipFaces::new(backend, mesh, conditions, &held),
            balance: Balance::new(backend, mesh, conditions, pressure.is_singular),
            outflow,
            statistics: Statistics::new(backend, n),
            pressure,
            held: backend.upload(held),
            entering: narrow(backend, entering),
            residual: backend.zeros(n),
            through: backend.zeros(n_faces),
            numerics: numerics.clone(),
            viscosity: *viscosity,
            time: 0.0,
            steps: 0,
            step_before: None,
            pressure_ahead: 0.0,
            exchange: 0.0,
            divergence: 0.0,
            boundary_rate: driving.wall_rate(0.0),
            driving,
            faces,
        };
        flow.start()?;
        Ok(flow)
    }

    /// Projects the initial velocity.
    fn start(&mut self) -> Result<(), IncompressibleError> {
        let n = self.volume.len();
        self.prescribe_dependent(0.0);
        self.balance.check(0.0);
        self.take_values();
        let backend = self.backend.clone();
        match self.staggered.take() {
            None => {
                self.interpolate_flux();
                let (outflow, area) = (&self.outflow, &self.faces.area);
                self.balance.apply(&backend, outflow, area, &mut self.flux)?;
            }
            Some(staggered) => {
                let held = self.hold_flux(&staggered);
                self.staggered = Some(staggered);
                held?;
            }
        }
        self.pressure.project_start(&self.faces, &self.volume, &mut self.flux)?;
        if let (Some(staggered), Some(exact)) = (&self.staggered, &mut self.exact) {
            exact.rebase(staggered, &mut self.flux);
        }
        for component in &mut self.components {
            blas::copy(&backend, n, &component.now, &mut component.predicted);
        }
        if let Some(staggered) = &self.staggered {
            staggered.to_cells(&self.flux, &mut self.components);
        }
        self.advance_velocity(false);
        for component in &mut self.components {
            blas::copy(&backend, n, &component.now, &mut component.before);
        }
        // ψ of this projection is no pressure.
        self.pressure.forget();
        self.begin()
    }

    /// Takes velocities and fluxes for those of the first level.
    fn begin(&mut self) -> Result<(), IncompressibleError> {
        if let Some(staggered) = &mut self.staggered {
            staggered.start(&self.flux);
        }
        self.refresh()?;
        blas::copy(&self.backend, self.excess.len(), &self.excess, &mut self.excess_before);
        Ok(())
    }

    /// Advances by `step`. The first step is taken twice: the pressure that it ends with is the one it
    /// should have begun with, as only that follows from the velocity at the start.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a prescribed value is not a number, what flows in finds no way out,
    /// or the backend fails.
    pub fn step(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        if self.numerics.scheme == Scheme::Rk3 {
            return self.step_explicit(step);
        }
        if self.steps == 0 && self.sees_pressure() {
            self.estimate_pressure(step)?;
        }
        self.advance(step)
    }

    /// Whether a step begins with the pressure of the one before.
    pub(super) fn sees_pressure(&self) -> bool {
        self.numerics.pressure_correction != PressureCorrection::None
            && self.numerics.arrangement != Arrangement::Exact
    }

    /// Takes the pressure after a step for the one at the start.
    fn estimate_pressure(&mut self, step: f64) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let copied = |from: &Buffer<F>| {
            let mut copy = backend.scratch(from.len());
            blas::copy(&backend, from.len(), from, &mut copy);
            copy
        };
        let flux = copied(&self.flux);
        let outflow: Vec<Buffer<F>> = self.outflow.value.iter().map(copied).collect();
        self.advance(step)?;
        let fields = self.components.iter_mut().chain(self.thermal.as_mut().map(|t| &mut t.field));
        for field in fields {
            blas::copy(&backend, field.now.len(), &field.before, &mut field.now);
        }
        blas::copy(&backend, flux.len(), &flux, &mut self.flux);
        for (value, start) in self.outflow.value.iter_mut().zip(&outflow) {
            blas::copy(&backend, start.len(), start, value);
        }
        (self.time, self.steps, self.step_before) = (0.0, 0, None);
        self.momentum.set_mean_time([0.0; 2])?;
        if let Some(thermal) = &mut self.thermal {
            thermal.transport.set_mean_time([0.0; 2])?;
        }
        self.pressure.set_mean_time([0.0; 2])?;
        // The pressure is near its new value now: its last increment is no guess of the next one.
        self.pressure.forget();
        self.prescribe_dependent(0.0);
        self.begin()
    }

    fn advance(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        let formula = Formula::new(self.numerics.scheme, step, self.step_before);
        let (old, new) = (self.time, self.time + step);
        self.momentum.set_mean_time([if formula.theta < 1.0 { old } else { new }, new])?;
        let ahead = self.step_before.map_or(0.0, |before| step / before);
        let (backend, components) = (&self.backend, &self.components);
        self.outflow.advance(backend, &self.faces, &self.flux, components, (step, ahead));
        self.prescribe_dependent(if formula.theta < 1.0 { 0.5 * ahead } else { ahead });
        self.statistics.clear(&self.backend);
        let energy = self.advance_temperature(&formula, [old, new])?;
        let (momentum, pressure) = match self.staggered.take() {
            None => self.step_collocated(&formula, (new, ahead))?,
            Some(mut staggered) => {
                let solved = match self.exact.take() {
                    None => self.step_staggered(&mut staggered, &formula, [old, new], ahead),
                    Some(mut exact) => {
                        let both = (&mut staggered, &mut exact);
                        let solved = self.step_exact(both, &formula, [old, new], ahead);
                        self.exact = Some(exact);
                        solved
                    }
                };
                self.staggered = Some(staggered);
                solved?
            }
        };
        (self.time, self.steps, self.step_before) = (new, self.steps + 1, Some(step));
        self.prescribe_dependent(0.0);
        let divergence = self.refresh()?;
        self.report(step, [momentum, pressure], energy, divergence)
    }

    /// What a step did, from what was gathered in it.
    pub(super) fn report(
        &self,
        step: f64,
        [momentum, pressure]: [SolveOutcome; 2],
        energy: Option<SolveOutcome>,
        divergence: f64,
    ) -> Result<StepReport, IncompressibleError> {
        let taken = self.statistics.read(&self.backend)?;
        Ok(StepReport {
            momentum,
            pressure,
            energy,
            rate: taken.change / step,
            kinetic_energy: taken.energy,
            courant: self.exchange * step,
            divergence,
            faults: taken.faults as usize,
        })
    }

    /// Takes what is prescribed at the end of the step.
    pub(super) fn take_time(&mut self, new: f64, ahead: f64) -> Result<(), IncompressibleError> {
        self.momentum.set_mean_time([new, new])?;
        self.prescribe_dependent(ahead);
        let halfway = self.numerics.scheme == Scheme::Ab2Cn;
        self.pressure.set_mean_time([if halfway { self.time } else { new }, new])?;
        self.balance.check(new);
        Ok(())
    }

    /// The components' values on the faces of slip walls, extrapolated in time, and of convective outlets.
    pub(super) fn prescribe_dependent(&mut self, ahead: f64) {
        self.outflow.prescribe(&self.backend, &mut self.momentum);
        let count = self.slip.places.len();
        if count == 0 {
            return;
        }
        let [u, v, w] = three(&self.components, |c| &c.now);
        let [u0, v0, w0] = three(&self.components, |c| &c.before);
        let [du, dv, dw] = three(&self.components, |c| &c.gradient);
        for k in 0..self.dimension {
            slip_velocity(
                &self.backend,
                count,
                &self.slip.places,
                &self.slip.faces,
                &self.faces.cells.left,
                &self.faces.area,
                &self.faces.offset,
                u,
                v,
                w,
                u0,
                v0,
                w0,
                du,
                dv,
                dw,
                F::from_f64(ahead),
                k,
                self.faces.cells.n_faces(),
                u.len(),
                self.dimension,
                self.faces.is_straight,
                self.momentum.quantities[k].prescribed.value_mut(),
            );
        }
    }

    /// The temperature at the new level.
    fn advance_temperature(
        &mut self,
        formula: &Formula,
        times: [f64; 2],
    ) -> Result<Option<SolveOutcome>, IncompressibleError> {
        let Some(thermal) = &mut self.thermal else { return Ok(None) };
        let (backend, volume) = (self.backend.clone(), &self.volume);
        let outcome = thermal.advance(
            &backend,
            volume,
            (formula, times),
            &mut self.residual,
            &mut self.statistics.partials,
        )?;
        self.statistics.gather(&backend);
        Ok(Some(outcome))
    }

    /// The components at the new level: what was predicted, as the projection left it. Only what is `gathered`
    /// counts in the report.
    pub(super) fn advance_velocity(&mut self, gathered: bool) {
        let n = self.volume.len();
        let projected = self.numerics.arrangement == Arrangement::Collocated;
        for (k, component) in self.components.iter_mut().enumerate() {
            advance_velocity(
                &self.backend,
                n,
                &component.predicted,
                &self.pressure.psi_slope,
                &self.volume,
                k,
                n,
                projected,
                &mut component.now,
                &mut component.before,
                &mut self.statistics.partials,
            );
            if gathered {
                self.statistics.gather(&self.backend);
            }
        }
    }

    /// Gradients of the components and their values at the boundary, of `now`.
    pub(super) fn take_values(&mut self) {
        let (has_gradients, is_straight) = (self.has_gradients(), self.faces.is_straight);
        self.take(has_gradients, is_straight);
    }

    pub(super) fn take(&mut self, has_gradients: bool, is_straight: bool) {
        for (k, component) in self.components.iter_mut().enumerate() {
            let of = (&self.momentum, k, &self.held);
            component.take(&self.backend, &self.faces, of, (has_gradients, is_straight));
        }
    }

    /// Whether gradients of the components are kept: not where the mesh needs none.
    pub(super) fn has_gradients(&self) -> bool {
        let Faces { is_straight, is_orthogonal, .. } = self.faces;
        self.numerics.convection.reads_gradients() || !is_straight || !is_orthogonal
    }

    /// What the next step wants of the present level: gradients, E, what is carried, rates, ∇p. The
    /// largest |D F| / V over the largest Σ|F| / 2V.
    pub(super) fn refresh(&mut self) -> Result<f64, IncompressibleError> {
        self.take_values();
        let backend = self.backend.clone();
        let n = self.volume.len();
        if self.staggered.is_none() {
            self.take_excess();
        }
        let carrying = Carrying {
            faces: &self.faces,
            flux: &self.flux,
            entering: &self.entering,
            // Means without weights keep the kinetic energy of fluxes.
            weight: self.staggered.as_ref().map_or(&self.faces.weight, |s| &s.half),
            is_straight: self.staggered.is_some() || self.faces.is_straight,
            convection: self.numerics.convection,
        };
        for (k, component) in self.components.iter_mut().enumerate() {
            component.carry(&backend, &carrying, (&mut self.momentum, k), &mut self.through);
        }
        if let Some(thermal) = &mut self.thermal {
            thermal.refresh(&backend, &carrying, &mut self.through);
        }
        let cells = &self.faces.cells;
        exchange_rate(
            &backend,
            n,
            &cells.offsets,
            &cells.faces,
            &self.flux,
            &self.volume,
            &self.viscous_rate,
            &mut self.rate,
            &mut self.statistics.rates,
        );
        self.pressure.differentiate(&self.faces, &self.volume);
        self.pressure.show(self.pressure_ahead);
        let (exchange, divergence) = self.statistics.read_rates(&backend)?;
        self.exchange = exchange;
        self.divergence = if exchange > 0.0 { divergence / exchange } else { divergence };
        Ok(self.divergence)
    }

    /// Time reached and steps taken.
    pub fn clock(&self) -> (f64, usize) {
        (self.time, self.steps)
    }

    /// 2 or 3: the number of components.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Component `k` of the velocity: `[n_cells]`.
    pub fn velocity(&self, k: usize) -> &Buffer<F> {
        &self.components[k].now
    }

    /// The pressure over the density: `[n_cells]`.
    pub fn pressure(&self) -> &Buffer<F> {
        let [pressure, _] = self.pressure.shown();
        pressure
    }

    /// The temperature the flow carries, where it does: `[n_cells]`.
    pub fn temperature(&self) -> Option<&Buffer<F>> {
        self.thermal.as_ref().map(|thermal| &thermal.field.now)
    }

    /// Σ V p / Σ V, a reduction where the pressure lives.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn mean_pressure(&self) -> Result<f64, IncompressibleError> {
        let (n, volume) = (self.volume.len(), &self.volume);
        let integral = blas::dot(&self.backend, n, volume, self.pressure())?;
        Ok(integral / blas::sum(&self.backend, n, volume)?)
    }

    /// Whether the pressure is known up to a constant only.
    pub fn pressure_is_free(&self) -> bool {
        self.pressure.is_singular
    }

    /// The fluxes through the faces, from left to right: `[n_faces]`.
    pub fn flux(&self) -> &Buffer<F> {
        &self.flux
    }

    /// Bytes an iteration of the pressure's solver moves, for reports.
    pub fn pressure_bytes_per_iteration(&self) -> usize {
        self.pressure.bytes_per_iteration()
    }

    /// What the solver of the pressure is.
    pub fn pressure_setup(&self) -> &SolverSetup {
        &self.pressure.setup
    }

    /// The largest Σ|F| / 2V, 1 / the step of Courant number 1; not less than the largest |u_b| |S| / V of
    /// the faces where a velocity is held, which a flow at rest is about to take up. An explicit scheme adds
    /// what its viscous terms allow, so that it is stable up to a Courant number of √3.
    pub fn largest_rate(&self) -> f64 {
        self.exchange.max(self.boundary_rate) + self.viscous_bound
    }
}

/// u·S at the centroids of all faces, of the velocity at the start.
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

/// The three views kernels take; a plane flow's third is not read.
pub(super) fn three<'a, F: Real>(
    components: &'a [Component<F>],
    of: impl Fn(&'a Component<F>) -> &'a Buffer<F>,
) -> [&'a Buffer<F>; 3] {
    [0, 1, 2].map(|k| of(&components[if k < components.len() { k } else { 0 }]))
}
