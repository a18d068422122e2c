//! A case of incompressible flow on the run loop.

mod averaged;
mod computation;
mod growth;
mod monitors;
mod pseudo_time;
mod ranks;
mod setup;
mod shedding;
mod surface;
mod warnings;

use super::averages::{Averages, TimeAverages};
use super::equation::{Advance, Equation, Monitored, Unknown};
use super::heat::conditions;
use super::linear::{self, Systems};
use super::location::Location;
use super::partition::ArrayPlace;
use super::prescribed::shared;
use super::surface::SurfaceSamples;
use super::{OutcomeKind, SimulationError, Transfer};
use crate::backend::{Backend, Buffer, converted};
use crate::case::{
    AdaptCase, Case, Equation as EquationCase, FlowNumericsCase, IncompressibleCase, Surface,
    ThermalCase, Value,
};
use crate::descriptor::{Descriptor, FieldData, Rank};
use crate::finite_volume::{Prescribed, widen};
use crate::incompressible::descriptor::{PRESSURE, TEMPERATURE, VELOCITY};
use crate::incompressible::{
    Arrangement, Convection, DESCRIPTOR, DerivedBuffers, DerivedField, Entries, Field,
    FlowCondition, IncompressibleSolver, Numerics, Place, PrescribedVector, Problem,
    ReferenceSpeed, StepReport, ThermalProblem,
};
use crate::io::checkpoint::{Checkpoint, CheckpointError, Checkpointed, NamedArray};
use crate::linear::{Params, PreconditionerKind};
use crate::mesh::{Geometry, Mesh, Patch};
use crate::real::Real;
use crate::summary::{
    FlowSummary, IncompressibleSummary, LinearSummary, MEAN_FORCE, MeanForce, Summary,
};
use computation::{Computation, Reader};
use growth::GROWTH_ARRAY;
use monitors::Monitors;
use pseudo_time::PseudoTime;
use std::sync::Arc;
use warnings::{FlowWarnings, overshoot, temperature_bounds};

/// A flow with its monitors and warnings.
struct FlowRun<F: Real> {
    /// That of the flow on the whole mesh.
    backend: Backend,
    flow: Computation<F>,
    unknowns: Vec<Unknown>,
    monitors: Monitors<F>,
    volumes: Vec<f64>,
    last: Option<StepReport>,
    /// The iteration of a steady flow.
    pseudo_time: Option<PseudoTime>,
    warnings: FlowWarnings,
    /// The convection of the temperature, with its least and largest possible value where they are known.
    bounds: Option<(Convection, [f64; 2])>,
    /// Largest Σ|F| / 2V at the start of the last step.
    rate_before: Option<f64>,
    averages: Averages<F>,
    derived: DerivedBuffers<F>,
}

/// The fields and the clock from which a flow starts.
struct Start {
    velocity: PrescribedVector,
    pressure: Arc<dyn Prescribed>,
    temperature: Option<Arc<dyn Prescribed>>,
    /// Time and steps.
    clock: (f64, usize),
}

impl<F: Real> FlowRun<F> {
    fn start(
        case: &Case,
        flow_case: &IncompressibleCase,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        start: Start,
    ) -> Result<Self, SimulationError> {
        if mesh.dimension == 3 {
            refuse_fields_of_2d(case)?;
        }
        let problem = Problem {
            viscosity: flow_case.kinematic_viscosity,
            source: vector(&flow_case.source),
            conditions: mesh.patches.iter().map(|p| condition(flow_case, p)).collect(),
            velocity: start.velocity,
            pressure: start.pressure,
            thermal: flow_case
                .thermal
                .as_ref()
                .zip(start.temperature)
                .map(|(thermal, initial)| self::thermal(thermal, mesh, initial)),
        };
        let numerics = numerics(flow_case, mesh.dimension == 2);
        let place = (mesh, geometry);
        let (run_backend, ranks) = (backend, case.run.ranks);
        let backend = if ranks == 1 { run_backend.clone() } else { run_backend.on_host() };
        let set_up = match ranks {
            1 => IncompressibleSolver::unprojected,
            _ => IncompressibleSolver::of_ranks,
        };
        let mut flow = set_up(&backend, place, &problem, &numerics, start.clock)?;
        if let Some(target) = flow_case.mean_velocity {
            flow.prescribe_mean_velocity(place, target)?;
        }
        // Several ranks project the velocity of their parts.
        if ranks == 1 {
            flow.project()?;
            flow.keep_mean_velocity()?;
        }
        let diffusivity = flow_case.thermal.as_ref().map(|thermal| thermal.diffusivity);
        let monitors = Monitors::new(case, &backend, &flow, place, diffusivity)?;
        let mut names = VELOCITY[..mesh.dimension].to_vec();
        names.push(PRESSURE);
        names.extend(flow_case.thermal.is_some().then_some(TEMPERATURE));
        let is_singular = flow.pressure_is_singular();
        let unknown =
            |name: &&'static str| Unknown { name, has_mean_zero: *name == PRESSURE && is_singular };
        let reference = ReferenceSpeed::new(place, &problem, flow_case.mean_velocity);
        let warnings = FlowWarnings::new(&numerics, &problem, reference);
        let bounds = problem
            .thermal
            .as_ref()
            .and_then(|thermal| temperature_bounds(thermal, place, numerics.is_steady))
            .map(|bounds| (numerics.convection, bounds));
        let mut averages = averaged::averages(&flow, (&backend, case, mesh), &names);
        let derived = averaged::buffers(&backend, case, mesh);
        let entries = match ranks {
            1 => vec![],
            _ => entries(case, &monitors, (&backend, &flow), place),
        };
        let flow = Computation::new(ranks, run_backend, place, (flow, &problem), entries)?;
        flow.leave_averages_to_ranks(&mut averages)?;
        Ok(FlowRun {
            averages,
            derived,
            flow,
            backend,
            unknowns: names.iter().map(unknown).collect(),
            monitors,
            volumes: geometry.cell_volume.clone(),
            last: None,
            pseudo_time: flow_case.steady.map(PseudoTime::new),
            warnings,
            bounds,
            rate_before: None,
        })
    }

    fn read(&self, buffer: &Buffer<F>) -> Result<Vec<f64>, SimulationError> {
        Ok(widen(&self.backend, buffer)?)
    }
}

/// The entries of the flow on the whole mesh that monitors and output read, where they do not read whole fields.
fn entries<F: Real>(
    case: &Case,
    monitors: &Monitors<F>,
    (backend, flow): (&Backend, &IncompressibleSolver<F>),
    place: (&Mesh, &Geometry),
) -> Vec<(Reader, Entries)> {
    let mut entries = vec![(Reader::Recirculations, monitors.recirculation_entries(flow))];
    let of_steps = monitors.entries(flow).map(|of_steps| (Reader::Monitors, of_steps));
    entries.extend(of_steps);
    let of_lines = monitors.line_entries(flow).into_iter().enumerate();
    entries.extend(of_lines.map(|(line, entries)| (Reader::Line(line), entries)));
    for surface in &case.output.surfaces {
        let found = surface::entries(backend, flow, place, surface);
        entries.extend(found.map(|found| (Reader::Surface(surface.name.clone()), found)));
    }
    entries
}

/// Refuses fields that a 3D flow does not have, and exact solutions that it cannot be compared with.
fn refuse_fields_of_2d(case: &Case) -> Result<(), SimulationError> {
    let of_picture = case.output.picture.iter().map(|picture| &picture.field);
    let of_averages = case.output.averages.iter().flat_map(|average| &average.fields);
    let of_metric = case.adapt.iter().filter_map(AdaptCase::field);
    let requested = case.output.fields.iter().chain(of_picture).chain(of_averages);
    let requested: Vec<&String> = requested.chain(of_metric).collect();
    for field in DESCRIPTOR.fields() {
        if field.only_2d && requested.iter().any(|name| *name == field.name) {
            return Err(SimulationError::Only2d { name: field.name.to_owned() });
        }
        let is_exact = case.exact.iter().any(|exact| exact.field == field.name);
        if is_exact && field.rank == Rank::Axial {
            return Err(SimulationError::Only2d { name: format!("{}` of `[exact]", field.name) });
        }
    }
    Ok(())
}

fn vector(values: &[Value; 3]) -> PrescribedVector {
    [0, 1, 2].map(|k| shared(&values[k]))
}

fn condition(case: &IncompressibleCase, patch: &Patch) -> FlowCondition {
    let given = case.boundary.iter().find(|p| p.patch == patch.name);
    // Patches without a condition were refused; periodic patches no longer exist.
    let condition = given.and_then(|given| given.condition.condition());
    condition.map_or(FlowCondition::Slip, |condition| condition.map(shared))
}

fn thermal(case: &ThermalCase, mesh: &Mesh, initial: Arc<dyn Prescribed>) -> ThermalProblem {
    ThermalProblem {
        diffusivity: case.diffusivity,
        expansion: case.expansion,
        gravity: case.gravity,
        reference: case.reference_temperature,
        source: shared(&case.source),
        conditions: conditions(&case.boundary, mesh),
        initial,
    }
}

fn numerics(flow: &IncompressibleCase, is_2d: bool) -> Numerics {
    let systems = Systems { corrected: false, steady: false, is_2d };
    let momentum = linear::params(&flow.momentum, systems);
    let FlowNumericsCase {
        arrangement,
        convection,
        convection_treatment,
        pressure_correction,
        nonorthogonal_correctors,
        time_scheme,
    } = flow.numerics;
    Numerics {
        arrangement,
        convection,
        convection_treatment,
        time_scheme,
        is_steady: flow.steady.is_some(),
        pressure_correction,
        nonorthogonal_correctors,
        pressure: with_multigrid(linear::params(&flow.pressure, systems)),
        momentum: match arrangement {
            Arrangement::Exact => with_multigrid(momentum),
            _ => momentum,
        },
    }
}

/// `auto` is multigrid for a pressure or a potential of any size: a single set-up serves all steps.
fn with_multigrid(params: Params) -> Params {
    match params.preconditioner {
        PreconditionerKind::Auto { amg, .. } => {
            Params { preconditioner: PreconditionerKind::Amg(amg), ..params }
        }
        _ => params,
    }
}

impl<F: Real> Equation for FlowRun<F> {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    fn location(&self) -> Location {
        Location::Cells
    }

    fn clock(&self) -> (f64, usize) {
        self.flow.data().clock()
    }

    fn advance(&mut self, mesh: &Mesh, step: Option<f64>) -> Result<Advance, SimulationError> {
        let step = match (step, &self.pseudo_time) {
            (Some(step), _) => step,
            (None, Some(iteration)) => {
                self.flow.data().pseudo_time_step(iteration.courant_number())
            }
            (None, None) => unreachable!("a flow without [time] is steady"),
        };
        let rate = self.flow.data().convective_rate();
        let report = self.flow.step(step)?;
        self.rate_before = Some(rate);
        let (mean_force, steps, dimension) = {
            let flow = self.flow.data();
            (flow.mean_force()?, flow.clock().1, flow.dimension())
        };
        let columns = [
            ("cfl", report.courant),
            ("pressure_iterations", report.pressure.iterations as f64),
            ("momentum_iterations", report.momentum.iterations as f64),
            ("kinetic_energy", report.kinetic_energy),
            ("divergence_max", report.divergence),
        ];
        let found = self.pseudo_time.as_mut().zip(report.residuals.as_ref());
        let steady = found.map(|(iteration, residuals)| iteration.record(residuals, steps));
        let has_energy = report.energy.is_some();
        let residuals = report.residuals.iter().flat_map(|found| {
            let energy = has_energy.then_some(("energy_residual", found.energy));
            let flow = [("momentum_residual", found.momentum), ("mass_residual", found.mass)];
            flow.into_iter().chain(energy)
        });
        let force = mean_force.iter().flatten().zip(MEAN_FORCE);
        let force = force.take(dimension).map(|(force, name)| (name, *force));
        let energy = report.energy.iter().map(|energy| ("energy", energy));
        let flow = [("momentum", &report.momentum), ("pressure", &report.pressure)];
        let solves = energy.chain(flow).map(|(phase, outcome)| (phase, outcome.clone()));
        let growth = self.warnings.check_growth(&self.flow, mesh)?;
        let mut warnings = self.warnings.check(&self.flow, mesh)?;
        warnings.extend(growth.warning);
        let advance = Advance {
            solves: solves.collect(),
            rate: if report.non_finite > 0 { f64::NAN } else { report.rate },
            columns: columns.into_iter().chain(residuals).chain(force).collect(),
            steady,
            warnings,
            divergence: growth.divergence,
        };
        self.last = Some(report);
        Ok(advance)
    }

    fn monitor(&mut self) -> Result<Monitored, SimulationError> {
        // No fields are handed over for nothing.
        if self.monitors.are_absent() {
            let nothing = Monitored::default();
            self.averages.add_probes(&nothing.probes);
            return Ok(nothing);
        }
        let level = self.flow.level()?;
        let mut flow = self.flow.fields_for(&Reader::Monitors)?;
        let monitored = self.monitors.evaluate(&self.backend, &mut flow, level)?;
        self.averages.add_probes(&monitored.probes);
        Ok(monitored)
    }

    fn accumulate(&mut self, before: f64) -> Result<(), SimulationError> {
        let FlowRun { flow, averages, derived, .. } = self;
        if averages.is_empty() {
            return Ok(());
        }
        let of_pressure = if averages.have(PRESSURE) { flow.level()? } else { 0.0 };
        let level = |field: &str| if field == PRESSURE { of_pressure } else { 0.0 };
        let (after, _) = flow.data().clock();
        if averages.are_on_ranks() {
            return averages.add([before, after], level, None::<&mut averaged::Fields<'_, F>>);
        }
        let flow = &*flow.fields()?;
        averages.add([before, after], level, Some(&mut averaged::Fields { flow, derived }))
    }

    fn averages(&self) -> &dyn TimeAverages {
        &self.averages
    }

    fn warnings_at_end(&mut self, end: OutcomeKind) -> Result<Vec<String>, SimulationError> {
        let bounds = self.bounds.filter(|_| end.is_success());
        let Some((convection, bounds)) = bounds else { return Ok(vec![]) };
        let found = self.flow.temperature_range()?;
        Ok(found.and_then(|found| overshoot(convection, bounds, found)).into_iter().collect())
    }

    fn averaged_field(
        &self,
        mesh: &Mesh,
        field: &str,
        means: Vec<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>, SimulationError> {
        averaged::linear(&*self.flow.fields()?, mesh, field, means)
    }

    fn line(&mut self, line: usize) -> Result<Vec<(String, Vec<f64>)>, SimulationError> {
        let level = self.flow.level()?;
        let flow = self.flow.fields_for(&Reader::Line(line))?;
        self.monitors.line(&self.backend, &flow, line, level)
    }

    fn surface(
        &mut self,
        place: (&Mesh, &Geometry),
        surface: &Surface,
    ) -> Result<SurfaceSamples, SimulationError> {
        let level = self.flow.level()?;
        let flow = self.flow.fields_for(&Reader::Surface(surface.name.clone()))?;
        surface::sample(&self.backend, &flow, place, surface, level)
    }

    fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError> {
        let Some(k) = self.unknowns.iter().position(|unknown| unknown.name == name) else {
            let known: Vec<&str> = self.unknowns.iter().map(|unknown| unknown.name).collect();
            let (name, known) = (name.to_owned(), known.join("`, `"));
            return Err(SimulationError::NoField { name, known: format!("`{known}`") });
        };
        match name {
            PRESSURE => {
                let (pressure, level) = (self.flow.values(Field::Pressure)?, self.flow.level()?);
                Ok(pressure.into_iter().map(|p| p - level).collect())
            }
            TEMPERATURE => Ok(self.flow.values(Field::Temperature)?),
            _ => Ok(self.flow.values(Field::Velocity(k))?),
        }
    }

    fn output_field(&self, mesh: &Mesh, name: &str) -> Result<FieldData, SimulationError> {
        if let Some(derived) = DerivedField::from_word(name) {
            return Ok(match self.flow.local_field_of_ranks(derived)? {
                Some((1, values)) => FieldData::Scalar(values),
                Some((_, values)) => {
                    let n = self.volumes.len();
                    FieldData::Vector([0, 1, 2].map(|k| values[k * n..(k + 1) * n].to_vec()))
                }
                None => derived.evaluate(&*self.flow.fields()?, mesh)?,
            });
        }
        if name != "velocity" {
            return Ok(FieldData::Scalar(self.field(name)?));
        }
        let n = self.volumes.len();
        let mut components = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        for (k, component) in components.iter_mut().enumerate().take(mesh.dimension) {
            *component = self.flow.values(Field::Velocity(k))?;
        }
        Ok(FieldData::Vector(components))
    }

    fn longest_step(&self, number: f64, longest: f64) -> Result<f64, SimulationError> {
        Ok(self.flow.data().longest_step(number, longest, self.rate_before))
    }

    fn rebuild(
        &mut self,
        case: &Case,
        place: (&Mesh, &Geometry),
        transfer: &Transfer,
    ) -> Result<(), SimulationError> {
        let EquationCase::Incompressible(own) = &case.equation else {
            unreachable!("a case of flow")
        };
        let field = |buffer: &Buffer<F>| -> Result<Arc<dyn Prescribed>, SimulationError> {
            Ok(transfer.field_with_unknowns(self.read(buffer)?, &place.1.cell_centre))
        };
        let zero: Arc<dyn Prescribed> = Arc::new(0.0);
        let mut velocity = [zero.clone(), zero.clone(), zero];
        let flow = self.flow.fields()?;
        for (k, component) in velocity.iter_mut().enumerate().take(flow.dimension()) {
            *component = field(flow.velocity(k))?;
        }
        let temperature = flow.temperature().map(field).transpose()?;
        let pressure = field(flow.pressure())?;
        let (force, clock) = (flow.mean_force()?, flow.clock());
        drop(flow);
        let start = Start { velocity, pressure, temperature, clock };
        let mut rebuilt = FlowRun::start(case, own, self.flow.backend(), place, start)?;
        if let Some(force) = force {
            rebuilt.flow.set_mean_force(force)?;
        }
        rebuilt.last = self.last.take();
        rebuilt.warnings.go_on_after(&self.warnings);
        rebuilt.monitors.go_on_after(&mut self.monitors);
        let transferred = |values: Vec<f64>| transfer.values(&values, &place.1.cell_centre);
        rebuilt.averages.go_on_after(&self.averages, transferred)?;
        *self = rebuilt;
        Ok(())
    }

    fn array_places(&self) -> Vec<(String, ArrayPlace)> {
        let flow = self.flow.data();
        let place_of = |(name, place, _): (String, Place, &Buffer<F>)| {
            let of_array = match place {
                Place::Cells | Place::OwnCells => ArrayPlace::Unknowns(Location::Cells),
                Place::Faces => ArrayPlace::Fluxes,
                Place::Boundary => ArrayPlace::Boundary,
                _ => ArrayPlace::Faces(flow.listed_faces(place)?),
            };
            Some((name, of_array))
        };
        let mut places: Vec<(String, ArrayPlace)> =
            flow.stored().into_iter().filter_map(place_of).collect();
        places.extend(self.averages.array_places(Location::Cells));
        places
    }

    fn is_multistep(&self) -> bool {
        self.flow.data().is_multistep()
    }

    fn linear_summary(&self) -> Option<LinearSummary> {
        self.flow.data().pressure_setup().map(linear::summary_of)
    }

    fn summarize(&mut self, summary: &mut Summary) -> Result<(), SimulationError> {
        let flow = match self.last.is_none() {
            true => self.flow.fields()?,
            false if self.monitors.have_recirculations() => {
                self.flow.fields_for(&Reader::Recirculations)?
            }
            false => self.flow.data(),
        };
        let diagnostics = match &self.last {
            Some(last) => Some([last.kinetic_energy, last.courant, last.divergence]),
            // A restart at the final time takes no step.
            None => flow.diagnostics().ok(),
        };
        let mean_force = MeanForce { components: flow.mean_force()?, dimension: flow.dimension() };
        summary.flow = diagnostics.map(|[kinetic_energy, courant, divergence_max]| {
            FlowSummary::Incompressible(IncompressibleSummary {
                kinetic_energy,
                divergence_max,
                courant,
                mean_force,
            })
        });
        self.monitors.add_statistics(&mut summary.patch);
        summary.recirculation = self.monitors.recirculations(&self.backend, &flow)?;
        Ok(())
    }
}

/// Values are stored as `f64`, which represents every `f32` exactly.
impl<F: Real> Checkpointed for FlowRun<F> {
    fn arrays(&self) -> Result<Vec<NamedArray>, CheckpointError> {
        let state = self.flow.state().map_err(super::state_error)?;
        let mut arrays: Vec<NamedArray> = state
            .arrays
            .into_iter()
            .map(|(name, values)| NamedArray::reals(&name, converted(values)))
            .collect();
        arrays.push(NamedArray::reals("clock", state.clock.to_vec()));
        if let Some(rate) = self.rate_before {
            arrays.push(NamedArray::reals("rate_before", vec![rate]));
        }
        if let Some(growth) = self.warnings.growth() {
            arrays.push(NamedArray::reals(GROWTH_ARRAY.0, growth.values()));
        }
        if let Some(force) = self.flow.data().mean_force().map_err(super::state_error)? {
            arrays.push(NamedArray::reals("mean_force", force.to_vec()));
        }
        arrays.extend(self.averages.arrays()?);
        Ok(arrays)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let clock = checkpoint.reals("clock", &[3])?;
        let mut failed = None;
        let read = |name: &str, len: usize| match checkpoint.reals(name, &[len]) {
            Ok(values) => values.iter().map(|v| F::from_f64(*v)).collect(),
            Err(error) => {
                failed.get_or_insert(error);
                vec![F::from_f64(0.0); len]
            }
        };
        let restored = self.flow.restore(read, [clock[0], clock[1], clock[2]]);
        failed.map_or(Ok(()), Err)?;
        // Checkpoints of earlier versions lack it: the time step then depends on the current rate alone.
        self.rate_before = checkpoint.reals("rate_before", &[1]).ok().map(|rate| rate[0]);
        restored.map_err(super::state_error)?;
        // They lack this too: the speed after the next step is then the expected one.
        if let (Some(growth), Ok(values)) =
            (self.warnings.growth_mut(), checkpoint.reals(GROWTH_ARRAY.0, &[GROWTH_ARRAY.1]))
        {
            growth.restore(values);
        }
        if self.flow.data().has_mean_force() {
            let force = checkpoint.reals("mean_force", &[3])?;
            let force = [force[0], force[1], force[2]];
            self.flow.set_mean_force(force).map_err(super::state_error)?;
        }
        self.averages.restore(checkpoint, clock[0])
    }
}

#[cfg(test)]
mod tests;
