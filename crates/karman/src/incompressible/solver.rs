//! The solver of a flow: data common to all arrangements of unknowns, and the sequence of a step.

use super::implicit_diffusion::{EquationSpec, ImplicitDiffusion, dirichlet_indices, faces_where};
use super::kernels::{advance_velocity, convective_rate, slip_velocity};
use super::mass_correction::MassCorrection;
use super::outflow::Outflow;
use super::pressure::Pressure;
use super::rk3::OldLevel;
use super::scheme::{Scheme, TimeCoefficients};
use super::staggered::{Exact, Staggered};
use super::statistics::Statistics;
use super::step_bounds::StepBounds;
use super::thermal::Thermal;
use super::transported_field::{ConvectionInput, TransportedField, velocity_view};
use super::{
    Arrangement, Convection, FlowCondition, IncompressibleError, Numerics, PrescribedVector,
    PressureCorrection, Problem,
};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::{CellField, Faces, narrow};
use crate::linear::{SolveOutcome, SolverSetup};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// Report of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The solves of the predictor: the sum of their iterations, their worst status.
    pub momentum: SolveOutcome,
    /// The solve of the projection.
    pub pressure: SolveOutcome,
    /// The solve of the temperature.
    pub energy: Option<SolveOutcome>,
    /// max |∂u/∂t| and max |∂T/∂t| over the step.
    pub rate: f64,
    /// Σ V u²/2.
    pub kinetic_energy: f64,
    /// Δt max Σ|F| / 2V.
    pub courant: f64,
    /// max |D F| / V over max Σ|F| / 2V.
    pub divergence: f64,
    /// Number of non-finite values.
    pub non_finite: usize,
}

/// √3 / 1.25, so that a Courant number of √3 corresponds to Δt ν Σ a / V = 1.25, the viscous limit.
const EXPLICIT_VISCOUS: f64 = 1.4;

/// Solver of an incompressible flow on a backend.
pub struct IncompressibleSolver<F: Real> {
    pub(super) backend: Backend,
    pub(super) dimension: usize,
    pub(super) faces: Faces<F>,
    pub(super) volume: Buffer<F>,
    /// ν Σ a / V: `[n_cells]`.
    pub(super) viscous_rate: Buffer<F>,
    /// 1/τ = ν Σ a / V + Σ|F| / 2V: `[n_cells]`.
    pub(super) decay_rate: Buffer<F>,
    pub(super) momentum: ImplicitDiffusion<F>,
    pub(super) thermal: Option<Thermal<F>>,
    pub(super) pressure: Pressure<F>,
    /// Two or three; kernels of three components read the first in place of a missing third.
    pub(super) components: Vec<TransportedField<F>>,
    /// F: `[n_faces]`.
    pub(super) flux: Buffer<F>,
    /// E = F − u_i·S at both levels, collocated.
    pub(super) rhie_chow_correction: Buffer<F>,
    pub(super) rhie_chow_correction_before: Buffer<F>,
    /// K, the skewness correction of u_i·S: `[n_faces]`.
    pub(super) skewness_flux: Buffer<F>,
    /// Data of both staggered arrangements.
    pub(super) staggered: Option<Staggered<F>>,
    /// Data of the exact fractional step.
    pub(super) exact: Option<Exact<F>>,
    /// 1 + the index of the prescribed velocity, 0 where none is: `[n_boundary]`.
    pub(super) dirichlet_index: Buffer<u32>,
    /// Factor of the cell's momentum in backflow: `[n_boundary]`.
    backflow_factor: Buffer<F>,
    pub(super) slip: SlipFaces,
    pub(super) outflow: Outflow<F>,
    pub(super) mass_correction: MassCorrection,
    pub(super) statistics: Statistics,
    pub(super) residual: Buffer<F>,
    face_flux: Buffer<F>,
    pub(super) numerics: Numerics,
    pub(super) viscosity: f64,
    /// Time reached.
    pub(super) time: f64,
    pub(super) steps: usize,
    pub(super) step_before: Option<f64>,
    /// Factor of the last pressure increment in the extrapolation to the end of the step.
    pub(super) pressure_extrapolation: f64,
    /// max Σ|F| / 2V of the current level.
    pub(super) convective_rate: f64,
    /// max |D F| / V over it.
    pub(super) divergence: f64,
    /// max |u_b| |S| / V of walls and inlets at time 0.
    boundary_rate: f64,
    /// Time-step bounds of a flow at rest.
    pub(super) step_bounds: StepBounds,
    /// Contribution of explicit diffusion of momentum and heat to the rate that bounds the step.
    viscous_bound: f64,
    /// The unknowns at tⁿ, for explicit stages.
    pub(super) old_level: Option<OldLevel<F>>,
}

/// Faces of slip walls.
pub(super) struct SlipFaces {
    pub(super) faces: Buffer<u32>,
    /// Indices of their values among those prescribed.
    pub(super) indices: Buffer<u32>,
}

impl SlipFaces {
    fn new(
        backend: &Backend,
        mesh: &Mesh,
        conditions: &[FlowCondition],
        dirichlet_index: &[u32],
    ) -> Self {
        let is_slip = |c: &FlowCondition| matches!(c, FlowCondition::Slip);
        let (faces, indices) = faces_where(mesh, conditions, dirichlet_index, is_slip);
        SlipFaces { faces: backend.upload(faces), indices: backend.upload(indices) }
    }
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
        let spec = |k: usize| EquationSpec {
            what: "a velocity at the boundary",
            conditions: conditions.iter().map(|c| c.velocity_condition(k)).collect(),
            source: problem.source[k].clone(),
        };
        let velocity_conditions = spec(0).conditions;
        let momentum = ImplicitDiffusion::new(
            backend,
            mesh,
            geometry,
            &faces,
            (*viscosity, numerics.convection),
            (0..mesh.dimension).map(spec).collect(),
            numerics.momentum.clone(),
        )?;
        let thermal = problem
            .thermal
            .as_ref()
            .map(|thermal| Thermal::new(backend, (mesh, geometry), &faces, thermal, numerics));
        let pressure = Pressure::new(backend, mesh, geometry, &faces, problem, numerics)?;
        let (n, n_faces) = (mesh.n_cells(), mesh.n_faces());
        let n_boundary = n_faces - mesh.n_interior_faces();
        let dirichlet_index = dirichlet_indices(mesh, &velocity_conditions);
        let mut backflow_factor = vec![1.0; n_boundary];
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            if let FlowCondition::PressureOutlet(_) = condition {
                let first = mesh.n_interior_faces();
                backflow_factor[patch.faces.start - first..patch.faces.end - first].fill(0.0);
            }
        }
        let mut components = vec![];
        for k in 0..mesh.dimension {
            let start = (&problem.velocity[k], "the initial velocity");
            components.push(TransportedField::new(backend, mesh, geometry, start)?);
        }
        let place = (mesh, geometry);
        let staggered = match numerics.arrangement {
            Arrangement::Collocated => None,
            Arrangement::Staggered | Arrangement::Exact => {
                Some(Staggered::new(backend, place, &faces, (conditions, &dirichlet_index))?)
            }
        };
        let coupled = staggered.as_ref().is_some_and(|staggered| !staggered.faces.is_diagonal);
        if is_explicit && (coupled || numerics.arrangement == Arrangement::Exact) {
            return Err(IncompressibleError::ExplicitMass);
        }
        let exact = match (numerics.arrangement, &staggered) {
            (Arrangement::Exact, Some(staggered)) => Some(Exact::new(
                mesh,
                staggered,
                (conditions, &dirichlet_index),
                &numerics.momentum,
            )?),
            _ => None,
        };
        let outflow = Outflow::new(backend, place, conditions, &dirichlet_index, &components);
        let viscous_rate = momentum.diffusive_rates()?;
        let mut diffusion = blas::range(backend, n, &viscous_rate)?.map_or(0.0, |r| r.1);
        let thermal = thermal.transpose()?;
        if let Some(thermal) = &thermal {
            let rates = thermal.diffusion.diffusive_rates()?;
            diffusion = blas::range(backend, n, &rates)?.map_or(diffusion, |r| diffusion.max(r.1));
        }
        let viscous_bound = if is_explicit { EXPLICIT_VISCOUS * diffusion } else { 0.0 };
        let step_bounds = StepBounds::new(mesh, geometry, problem, diffusion);
        let mut solver = IncompressibleSolver {
            backend: backend.clone(),
            dimension: mesh.dimension,
            volume: narrow(backend, geometry.cell_volume.clone()),
            viscous_rate,
            viscous_bound,
            old_level: None,
            decay_rate: backend.zeros(n),
            momentum,
            thermal,
            components,
            flux: match staggered {
                None => backend.zeros(n_faces),
                Some(_) => narrow(backend, initial_flux(geometry, &problem.velocity)),
            },
            rhie_chow_correction: backend.zeros(n_faces),
            rhie_chow_correction_before: backend.zeros(n_faces),
            skewness_flux: backend.zeros(n_faces),
            staggered,
            exact,
            slip: SlipFaces::new(backend, mesh, conditions, &dirichlet_index),
            mass_correction: MassCorrection::new(backend, mesh, conditions, pressure.is_singular),
            outflow,
            statistics: Statistics::new(backend, n),
            pressure,
            dirichlet_index: backend.upload(dirichlet_index),
            backflow_factor: narrow(backend, backflow_factor),
            residual: backend.zeros(n),
            face_flux: backend.zeros(n_faces),
            numerics: numerics.clone(),
            viscosity: *viscosity,
            time: 0.0,
            steps: 0,
            step_before: None,
            pressure_extrapolation: 0.0,
            convective_rate: 0.0,
            divergence: 0.0,
            boundary_rate: step_bounds.wall_rate(0.0),
            step_bounds,
            faces,
        };
        solver.project_initial_velocity()?;
        Ok(solver)
    }

    /// Projects the initial velocity.
    fn project_initial_velocity(&mut self) -> Result<(), IncompressibleError> {
        let n = self.volume.len();
        self.update_dependent_boundaries(0.0);
        self.mass_correction.schedule_check(0.0);
        self.update_gradients();
        let backend = self.backend.clone();
        match self.staggered.take() {
            None => {
                self.interpolate_flux();
                let (outflow, area) = (&self.outflow, &self.faces.area);
                self.mass_correction.apply(&backend, outflow, area, &mut self.flux)?;
            }
            Some(staggered) => {
                let prescribed = self.prescribe_flux(&staggered);
                self.staggered = Some(staggered);
                prescribed?;
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
        // ψ of this projection is no guess of a pressure increment.
        self.pressure.reset_guess();
        self.initialize_levels()
    }

    /// Initializes the levels of the multistep scheme with the current fields.
    fn initialize_levels(&mut self) -> Result<(), IncompressibleError> {
        if let Some(staggered) = &mut self.staggered {
            staggered.initialize(&self.flux);
        }
        self.refresh()?;
        blas::copy(
            &self.backend,
            self.rhie_chow_correction.len(),
            &self.rhie_chow_correction,
            &mut self.rhie_chow_correction_before,
        );
        Ok(())
    }

    /// Advances by `step`. The first step is computed twice: the initial pressure follows from the initial
    /// velocity, and the pressure after the first pass approximates it.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a prescribed value is not finite, inflow and outflow do not balance, or
    /// the backend fails.
    pub fn step(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        if self.numerics.scheme == Scheme::Rk3 {
            return self.step_explicit(step);
        }
        if self.steps == 0 && self.is_incremental() {
            self.estimate_pressure(step)?;
        }
        self.advance(step)
    }

    /// Whether the predictor contains ∇p of the previous step.
    pub(super) fn is_incremental(&self) -> bool {
        self.numerics.pressure_correction != PressureCorrection::None
            && self.numerics.arrangement != Arrangement::Exact
    }

    /// Estimates the initial pressure by that after one step.
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
            thermal.diffusion.set_mean_time([0.0; 2])?;
        }
        self.pressure.set_mean_time([0.0; 2])?;
        // The pressure is close to its new value: its last increment is no guess of the next.
        self.pressure.reset_guess();
        self.update_dependent_boundaries(0.0);
        self.initialize_levels()
    }

    fn advance(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        let coefficients = TimeCoefficients::new(self.numerics.scheme, step, self.step_before);
        let (old, new) = (self.time, self.time + step);
        self.momentum.set_mean_time([if coefficients.theta < 1.0 { old } else { new }, new])?;
        let extrapolation = self.step_before.map_or(0.0, |before| step / before);
        let (backend, components) = (&self.backend, &self.components);
        self.outflow.advance(backend, &self.faces, &self.flux, components, (step, extrapolation));
        self.update_dependent_boundaries(if coefficients.theta < 1.0 {
            0.5 * extrapolation
        } else {
            extrapolation
        });
        self.statistics.clear(&self.backend);
        let energy = self.advance_temperature(&coefficients, [old, new])?;
        let (momentum, pressure) = match self.staggered.take() {
            None => self.step_collocated(&coefficients, (new, extrapolation))?,
            Some(mut staggered) => {
                let solved = match self.exact.take() {
                    None => self.step_staggered(
                        &mut staggered,
                        &coefficients,
                        [old, new],
                        extrapolation,
                    ),
                    Some(mut exact) => {
                        let both = (&mut staggered, &mut exact);
                        let solved =
                            self.step_exact(both, &coefficients, [old, new], extrapolation);
                        self.exact = Some(exact);
                        solved
                    }
                };
                self.staggered = Some(staggered);
                solved?
            }
        };
        (self.time, self.steps, self.step_before) = (new, self.steps + 1, Some(step));
        self.update_dependent_boundaries(0.0);
        let divergence = self.refresh()?;
        self.report(step, [momentum, pressure], energy, divergence)
    }

    /// The report of a step from its accumulated norms.
    pub(super) fn report(
        &self,
        step: f64,
        [momentum, pressure]: [SolveOutcome; 2],
        energy: Option<SolveOutcome>,
        divergence: f64,
    ) -> Result<StepReport, IncompressibleError> {
        let norms = self.statistics.read(&self.backend)?;
        Ok(StepReport {
            momentum,
            pressure,
            energy,
            rate: norms.change / step,
            kinetic_energy: norms.energy,
            courant: self.convective_rate * step,
            divergence,
            non_finite: norms.non_finite as usize,
        })
    }

    /// Evaluates the boundary data at the end of the step.
    pub(super) fn set_time(
        &mut self,
        new: f64,
        extrapolation: f64,
    ) -> Result<(), IncompressibleError> {
        self.momentum.set_mean_time([new, new])?;
        self.update_dependent_boundaries(extrapolation);
        let is_midpoint = self.numerics.scheme == Scheme::Ab2Cn;
        self.pressure.set_mean_time([if is_midpoint { self.time } else { new }, new])?;
        self.mass_correction.schedule_check(new);
        Ok(())
    }

    /// Updates the velocities at slip walls, extrapolated in time, and at convective outlets.
    pub(super) fn update_dependent_boundaries(&mut self, extrapolation: f64) {
        self.outflow.prescribe(&self.backend, &mut self.momentum);
        let count = self.slip.indices.len();
        if count == 0 {
            return;
        }
        for k in 0..self.dimension {
            slip_velocity(
                &self.backend,
                count,
                &self.slip.indices,
                &self.slip.faces,
                &self.faces.view(),
                &velocity_view(&self.components, TransportedField::view),
                &velocity_view(&self.components, |c| CellField::of_values(&c.before)),
                F::from_f64(extrapolation),
                k,
                self.momentum.quantities[k].prescribed.value_mut(),
            );
        }
    }

    /// The temperature at the new level.
    fn advance_temperature(
        &mut self,
        coefficients: &TimeCoefficients,
        times: [f64; 2],
    ) -> Result<Option<SolveOutcome>, IncompressibleError> {
        let Some(thermal) = &mut self.thermal else { return Ok(None) };
        let (backend, volume) = (self.backend.clone(), &self.volume);
        let outcome = thermal.advance(
            &backend,
            volume,
            (coefficients, times),
            &mut self.residual,
            &mut self.statistics.partials,
        )?;
        self.statistics.gather(&backend);
        Ok(Some(outcome))
    }

    /// u ← u* + ∇ψ collocated, u* otherwise; `gathered`: with its norms in the report.
    pub(super) fn advance_velocity(&mut self, gathered: bool) {
        let n = self.volume.len();
        let projected = self.numerics.arrangement == Arrangement::Collocated;
        for (k, component) in self.components.iter_mut().enumerate() {
            advance_velocity(
                &self.backend,
                n,
                &component.predicted,
                &self.pressure.grad_psi,
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

    /// Updates gradients and boundary values of the components from `now`.
    pub(super) fn update_gradients(&mut self) {
        let (has_gradients, is_unskewed) = (self.has_gradients(), self.faces.is_unskewed);
        self.update_gradients_with(has_gradients, is_unskewed);
    }

    pub(super) fn update_gradients_with(&mut self, has_gradients: bool, is_unskewed: bool) {
        for (k, component) in self.components.iter_mut().enumerate() {
            let of = (&self.momentum, k, &self.dirichlet_index);
            component.update_gradient(&self.backend, &self.faces, of, (has_gradients, is_unskewed));
        }
    }

    /// Whether the scheme reads gradients of the components on this mesh.
    pub(super) fn has_gradients(&self) -> bool {
        let Faces { is_unskewed, is_orthogonal, .. } = self.faces;
        self.numerics.convection.reads_gradients() || !is_unskewed || !is_orthogonal
    }

    /// Updates the explicit terms of the current level: gradients, E, convection, rates, ∇p. Returns
    /// max |D F| / V over max Σ|F| / 2V.
    pub(super) fn refresh(&mut self) -> Result<f64, IncompressibleError> {
        self.update_gradients();
        let backend = self.backend.clone();
        let n = self.volume.len();
        if self.staggered.is_none() {
            self.update_rhie_chow_correction();
        }
        let input = ConvectionInput {
            faces: &self.faces,
            flux: &self.flux,
            backflow_factor: &self.backflow_factor,
            // Unweighted means conserve the kinetic energy of the fluxes.
            weight: self.staggered.as_ref().map_or(&self.faces.weight, |s| &s.half),
            is_unskewed: self.staggered.is_some() || self.faces.is_unskewed,
            convection: self.numerics.convection,
        };
        for (k, component) in self.components.iter_mut().enumerate() {
            component.update_convection(
                &backend,
                &input,
                (&mut self.momentum, k),
                &mut self.face_flux,
            );
        }
        if let Some(thermal) = &mut self.thermal {
            thermal.refresh(&backend, &input, &mut self.face_flux);
        }
        let cells = &self.faces.cells;
        convective_rate(
            &backend,
            n,
            &cells.offsets,
            &cells.faces,
            &self.flux,
            &self.volume,
            &self.viscous_rate,
            &mut self.decay_rate,
            &mut self.statistics.rates,
        );
        self.pressure.differentiate(&self.faces, &self.volume);
        self.pressure.extrapolate_to_end(self.pressure_extrapolation);
        let (convective_rate, divergence) = self.statistics.read_rates(&backend)?;
        self.convective_rate = convective_rate;
        self.divergence =
            if convective_rate > 0.0 { divergence / convective_rate } else { divergence };
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
        let [pressure, _] = self.pressure.at_end();
        pressure
    }

    /// The transported temperature: `[n_cells]`.
    pub fn temperature(&self) -> Option<&Buffer<F>> {
        self.thermal.as_ref().map(|thermal| &thermal.field.now)
    }

    /// Σ V p / Σ V, reduced on the backend.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn mean_pressure(&self) -> Result<f64, IncompressibleError> {
        let (n, volume) = (self.volume.len(), &self.volume);
        let integral = blas::dot(&self.backend, n, volume, self.pressure())?;
        Ok(integral / blas::sum(&self.backend, n, volume)?)
    }

    /// Whether the pressure is determined up to a constant only.
    pub fn pressure_is_singular(&self) -> bool {
        self.pressure.is_singular
    }

    /// The fluxes through the faces, from left to right: `[n_faces]`.
    pub fn flux(&self) -> &Buffer<F> {
        &self.flux
    }

    /// Bytes moved by an iteration of the pressure solver, for reports.
    pub fn pressure_bytes_per_iteration(&self) -> usize {
        self.pressure.bytes_per_iteration()
    }

    /// Setup of the pressure solver.
    pub fn pressure_setup(&self) -> &SolverSetup {
        &self.pressure.setup
    }

    /// max(max Σ|F| / 2V, max |u_b| |S| / V), the inverse of the step of Courant number 1; the second term,
    /// over faces of prescribed velocity, bounds the first steps from rest. An explicit scheme adds the
    /// bound of its diffusive terms, so that it is stable up to a Courant number of √3.
    pub fn largest_rate(&self) -> f64 {
        self.convective_rate.max(self.boundary_rate) + self.viscous_bound
    }
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

/// One buffer of each component; in 2D the first stands in place of the third, which is not read.
pub(super) fn three<'a, F: Real>(
    components: &'a [TransportedField<F>],
    of: impl Fn(&'a TransportedField<F>) -> &'a Buffer<F>,
) -> [&'a Buffer<F>; 3] {
    [0, 1, 2].map(|k| of(&components[if k < components.len() { k } else { 0 }]))
}
