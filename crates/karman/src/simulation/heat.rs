//! A heat case on the run loop.

mod computation;
mod ranks;

use super::averages::{Averages, Sampling, TimeAverages};
use super::equation::{Advance, Equation, EquationSetup, FreeLevel, Monitored, Unknown};
use super::initial::InitialFields;
use super::interpolations;
use super::linear::{self, Systems};
use super::location::Location;
use super::partition::ArrayPlace;
use super::points::PointSampler;
use super::prescribed::shared;
use super::sampled::Sampled;
use super::surface::{SurfaceSamples, faces_of, patch_indices};
use super::warning::SetupWarning;
use super::{SimulationError, Transfer, state_error};
use crate::backend::{Backend, Buffer};
use crate::case::{
    Case, Equation as EquationCase, HeatCase, HeatCondition, PatchCondition, Precision, Surface,
    TimeCase, TimeStep,
};
use crate::descriptor::{AREA, Descriptor, FieldData, HEAT_FLUX};
use crate::finite_volume::{
    Condition, Functional, Functionals, Material, Prescribed, component_major,
};
use crate::heat::descriptor::TEMPERATURE;
use crate::heat::{DESCRIPTOR, Discretization, HeatError, HeatScheme, Problem, Source, TimeScheme};
use crate::io::checkpoint::{Checkpoint, CheckpointError, Checkpointed, NamedArray};
use crate::linear::StopTest;
use crate::mesh::{Geometry, Mesh};
use crate::monitor::{FaceGroup, Located, Sampler, line_points, locate};
use crate::real::Real;
use crate::summary::{LinearSummary, NamedList};
use computation::{Computation, HeatState, MarchState, OneRank, Settings};
use ranks::Ranks;
use std::sync::Arc;

impl EquationSetup for HeatCase {
    fn start(
        &self,
        case: &Case,
        backend: &Backend,
        place: (&Mesh, &Geometry),
        initial: &InitialFields,
    ) -> Result<Box<dyn Equation>, SimulationError> {
        let initial = initial.field(TEMPERATURE, &self.initial_temperature);
        let set_up = || -> Result<Box<dyn Equation>, SimulationError> {
            Ok(match case.run.precision {
                Precision::F64 => {
                    Box::new(HeatRun::<f64>::start(case, self, backend, place, initial)?)
                }
                Precision::F32 => {
                    Box::new(HeatRun::<f32>::start(case, self, backend, place, initial)?)
                }
            })
        };
        backend.install(set_up)
    }

    fn location(&self) -> Location {
        match self.discretization {
            Discretization::Cell { .. } => Location::Cells,
            Discretization::Node => Location::Nodes,
        }
    }

    fn third_components(&self) -> Vec<(String, f64)> {
        vec![]
    }

    fn free_level(&self, case: &Case) -> Option<FreeLevel<'_>> {
        case.is_steady().then(|| FreeLevel {
            quantity: TEMPERATURE,
            remedy: "a patch with a temperature or convection, or [time]",
            is_fixed_by: Box::new(|name| {
                let condition = self.boundary.iter().find(|patch| patch.patch == name);
                condition.is_some_and(|patch| patch.condition.fixes_the_constant())
            }),
        })
    }

    fn check_mesh(
        &self,
        _mesh: &Mesh,
        _geometry: &Geometry,
    ) -> Result<Vec<SetupWarning>, SimulationError> {
        Ok(vec![])
    }
}

impl From<HeatError> for SimulationError {
    fn from(error: HeatError) -> Self {
        SimulationError::Equation(Box::new(error))
    }
}

struct HeatRun<F: Real> {
    backend: Backend,
    computation: Box<dyn Computation<F>>,
    settings: Settings,
    location: Location,
    /// 1 / Δt of unit cell Fourier number at the initial time, where the case has `cfl`.
    rate: f64,
    monitors: Monitors<F>,
    averages: Averages<F>,
    /// Ends a steady solve.
    should_stop: Option<StopTest>,
}

impl<F: Real> Sampled<F> for Box<dyn Computation<F>> {
    fn components(&mut self, _field: &str) -> Result<Vec<&Buffer<F>>, SimulationError> {
        Ok(vec![self.on_backend()?])
    }
}

/// Functionals of the probes, then of the patches in rows; and for each line.
struct Monitors<F: Real> {
    probes: Vec<String>,
    patches: Vec<PatchRows>,
    functionals: Functionals<F>,
    lines: Vec<(Functionals<F>, Vec<bool>)>,
}

struct PatchRows {
    name: String,
    area: f64,
    rows: usize,
}

impl<F: Real> HeatRun<F> {
    /// The equation at time 0 with a temperature.
    fn start(
        case: &Case,
        heat_case: &HeatCase,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        initial: Arc<dyn Prescribed>,
    ) -> Result<Self, SimulationError> {
        let discretization = heat_case.discretization;
        let problem = Problem {
            discretization,
            material: material(heat_case, mesh, geometry),
            sources: sources(heat_case, mesh),
            conditions: conditions(&heat_case.boundary, mesh),
            initial,
        };
        let corrected = discretization == Discretization::Cell { corrected: true };
        let is_2d = mesh.dimension == 2;
        let systems = Systems { corrected, steady: case.is_steady(), is_2d };
        let params = linear::params(&heat_case.linear_solver, systems);
        let scheme = case.time.is_some().then_some(heat_case.time_scheme);
        let settings = Settings { scheme, params };
        let place = (mesh, geometry);
        let computation: Box<dyn Computation<F>> = match case.run.ranks {
            1 => Box::new(OneRank::new(backend, place, problem, &settings)?),
            ranks => Box::new(Ranks::new(ranks, backend, place, problem, &settings)?),
        };
        if let (true, Some([entering, leaving])) = (case.is_steady(), computation.imbalance()?) {
            return Err(SimulationError::NoSteadySolution { entering, leaving });
        }
        let location = heat_case.location();
        let scheme = computation.scheme();
        let monitors = Monitors::new(case, backend, scheme, mesh, (geometry, location))?;
        let has_cfl = |time: &TimeCase| matches!(time.step, TimeStep::Cfl(_));
        let rate = match case.time.as_ref().is_some_and(has_cfl) {
            true => computation.largest_rate()?,
            false => 0.0,
        };
        let backend = backend.clone();
        let lengths = vec![computation.unknowns()];
        let scalar = |field: &str| Sampling {
            names: vec![field.to_owned()],
            lengths: lengths.clone(),
            is_direct: true,
        };
        let mut averages = Averages::new(&backend, case, &[TEMPERATURE], scalar);
        computation.leave_averages_to_ranks(&mut averages)?;
        Ok(HeatRun {
            backend,
            computation,
            settings,
            location,
            rate,
            monitors,
            averages,
            should_stop: None,
        })
    }
}

fn material(case: &HeatCase, mesh: &Mesh, geometry: &Geometry) -> Material {
    let property = |quantity: &crate::case::ByRegion| {
        let mut values = vec![0.0; mesh.n_cells()];
        for (group, region) in mesh.regions.iter().enumerate() {
            let Some(value) = quantity.of(region) else { continue };
            let mut sampled = vec![0.0; mesh.n_cells()];
            value.evaluate_many(&geometry.cell_centre, 0.0, &mut sampled);
            for (cell, sample) in sampled.into_iter().enumerate() {
                if mesh.cells.groups[cell] as usize == group {
                    values[cell] = sample;
                }
            }
        }
        values
    };
    Material {
        conductivity: property(&case.conductivity),
        volumetric_heat_capacity: property(&case.volumetric_heat_capacity),
    }
}

fn sources(case: &HeatCase, mesh: &Mesh) -> Vec<Source> {
    if case.source.regions.is_empty() {
        let everywhere = case.source.everywhere.iter().filter(|v| v.constant() != Some(0.0));
        return everywhere.map(|v| Source { value: Arc::new(v.clone()), region: None }).collect();
    }
    let regions = mesh.regions.iter().enumerate();
    regions
        .filter_map(|(group, region)| {
            let value = case.source.of(region).filter(|v| v.constant() != Some(0.0))?;
            Some(Source { value: Arc::new(value.clone()), region: Some(group as u32) })
        })
        .collect()
}

/// The conditions of the patches of a mesh.
pub(super) fn conditions(
    boundary: &[PatchCondition<HeatCondition>],
    mesh: &Mesh,
) -> Vec<Condition> {
    let condition = |patch: &crate::mesh::Patch| {
        let given = boundary.iter().find(|p| p.patch == patch.name);
        given.map_or(Condition::ZeroGradient, |given| given.condition.map(shared))
    };
    mesh.patches.iter().map(condition).collect()
}

impl<F: Real> Monitors<F> {
    fn new(
        case: &Case,
        backend: &Backend,
        scheme: &HeatScheme,
        mesh: &Mesh,
        (geometry, location): (&Geometry, Location),
    ) -> Result<Self, SimulationError> {
        let output = &case.output;
        let at_points = |points: &[[f64; 3]]| -> Vec<Option<Functional>> {
            if location == Location::Nodes {
                let at_point = |(point, found): (&[f64; 3], Option<Located>)| {
                    let found = found?;
                    Some(scheme.at_point(mesh, geometry, (found.cell, &found.weights[..]), *point))
                };
                return points.iter().zip(locate(mesh, points)).map(at_point).collect();
            }
            let sampler = PointSampler::new(mesh, geometry, points);
            let at_places = |places: &[(usize, [f64; 3])]| {
                let at_point =
                    |(cell, point): &_| scheme.at_point(mesh, geometry, (*cell, &[][..]), *point);
                places.iter().map(at_point).collect()
            };
            let functionals = sampler.functionals(|face| scheme.dirichlet_value(face), at_places);
            let inside = sampler.is_inside().into_iter().zip(functionals);
            inside.map(|(inside, functional)| inside.then_some(functional)).collect()
        };
        let points: Vec<[f64; 3]> = output.probes.iter().map(|p| p.at).collect();
        let names: Vec<&str> = output.probes.iter().map(|p| p.name.as_str()).collect();
        Sampler::of_nodes(mesh, &points).require_inside(mesh, &names, &points)?;
        let mut functionals: Vec<Functional> = at_points(&points).into_iter().flatten().collect();
        let mut patches = vec![];
        for group in &output.patches {
            let faces = FaceGroup::new(mesh, geometry, &group.name, &group.patches)?;
            let first = functionals.len();
            for (k, patch) in mesh.patches.iter().enumerate() {
                if faces.faces.contains(&patch.faces) {
                    functionals.extend(scheme.heat_through(mesh, geometry, k));
                }
            }
            let rows = functionals.len() - first;
            patches.push(PatchRows { name: group.name.clone(), area: faces.area, rows });
        }
        let lines = output.lines.iter().map(|line| {
            let (_, points) = line_points(line.from, line.to, line.points);
            let found = at_points(&points);
            let inside = found.iter().map(Option::is_some).collect();
            let list: Vec<Functional> = found.into_iter().map(Option::unwrap_or_default).collect();
            (Functionals::new(backend, &list), inside)
        });
        Ok(Monitors {
            probes: output.probes.iter().map(|p| p.name.clone()).collect(),
            patches,
            functionals: Functionals::new(backend, &functionals),
            lines: lines.collect(),
        })
    }
}

fn to_f64<F: Real>(values: Vec<F>) -> Vec<f64> {
    values.into_iter().map(Into::into).collect()
}

impl<F: Real> Equation for HeatRun<F> {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn unknowns(&self) -> &[Unknown] {
        &[Unknown { name: TEMPERATURE, has_mean_zero: false }]
    }

    fn location(&self) -> Location {
        self.location
    }

    fn stop_when(&mut self, should_stop: StopTest) {
        self.computation.stop_when(should_stop.clone());
        self.should_stop = Some(should_stop);
    }

    fn clock(&self) -> (f64, usize) {
        self.computation.clock()
    }

    fn advance(&mut self, _mesh: &Mesh, step: Option<f64>) -> Result<Advance, SimulationError> {
        let (outcome, rate) = self.computation.advance(step)?;
        Ok(Advance::of_solve(TEMPERATURE, outcome, rate))
    }

    fn monitor(&mut self) -> Result<Monitored, SimulationError> {
        let HeatRun { monitors, averages, .. } = self;
        if monitors.functionals.is_empty() {
            return Ok(Monitored::default());
        }
        let results = self.computation.evaluate(&mut monitors.functionals)?;
        let values = to_f64(self.backend.read(results)?);
        let (probes, mut rest) = values.split_at(monitors.probes.len());
        let mut monitored = Monitored::default();
        for (name, value) in monitors.probes.iter().zip(probes) {
            monitored.probes.set(name.clone(), [(TEMPERATURE, *value)].into_iter().collect());
        }
        for patch in &monitors.patches {
            let (rows, after) = rest.split_at(patch.rows);
            rest = after;
            let mut quantities: NamedList<f64> = [(AREA, patch.area)].into_iter().collect();
            quantities.set(HEAT_FLUX, rows.iter().sum::<f64>());
            monitored.patches.set(patch.name.clone(), quantities);
        }
        averages.add_probes(&monitored.probes);
        Ok(monitored)
    }

    fn accumulate(&mut self, before: f64) -> Result<(), SimulationError> {
        let (after, _) = self.clock();
        let source = if self.averages.are_on_ranks() { None } else { Some(&mut self.computation) };
        self.averages.add([before, after], |_| 0.0, source)
    }

    fn averages(&self) -> &dyn TimeAverages {
        &self.averages
    }

    fn line(&mut self, line: usize) -> Result<Vec<(String, Vec<f64>)>, SimulationError> {
        let (functionals, inside) = &mut self.monitors.lines[line];
        let results = self.computation.evaluate(functionals)?;
        let mut values = to_f64(self.backend.read(results)?);
        for (value, inside) in values.iter_mut().zip(inside) {
            if !*inside {
                *value = f64::NAN;
            }
        }
        Ok(vec![(TEMPERATURE.to_owned(), values)])
    }

    fn surface(
        &mut self,
        (mesh, geometry): (&Mesh, &Geometry),
        surface: &Surface,
    ) -> Result<SurfaceSamples, SimulationError> {
        let faces = faces_of(mesh, &surface.patches);
        let listed: Vec<usize> = faces.iter().map(|face| *face as usize).collect();
        let patches = patch_indices(mesh, &surface.patches);
        let scheme = self.computation.scheme();
        let (mut samples, [temperature, heat]) = match scheme.at_faces(mesh, geometry, &listed) {
            Some(functionals) => (SurfaceSamples::of_faces(geometry, &faces), functionals),
            None => {
                let nodes = scheme.surface_nodes(mesh, &patches).unwrap_or_default();
                SurfaceSamples::of_nodes(mesh, &nodes)
            }
        };
        for name in &surface.fields {
            let is_temperature = name == TEMPERATURE;
            let list = if is_temperature { &temperature } else { &heat };
            let mut functionals = Functionals::new(&self.backend, list);
            let results = self.computation.evaluate(&mut functionals)?;
            let mut values = to_f64(self.backend.read(results)?);
            if !is_temperature {
                values.iter_mut().zip(&samples.areas).for_each(|(heat, area)| *heat /= area);
            }
            samples.fields.push((name.clone(), FieldData::Scalar(values)));
        }
        Ok(samples)
    }

    fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError> {
        if name != TEMPERATURE {
            let (name, known) = (name.to_owned(), format!("`{TEMPERATURE}`"));
            return Err(SimulationError::NoField { name, known });
        }
        Ok(to_f64(self.computation.temperature()?))
    }

    fn longest_step(&self, number: f64, longest: f64) -> Result<f64, SimulationError> {
        Ok(if self.rate > 0.0 { longest.min(number / self.rate) } else { longest })
    }

    fn rebuild(
        &mut self,
        case: &Case,
        place: (&Mesh, &Geometry),
        transfer: &Transfer,
    ) -> Result<(), SimulationError> {
        let EquationCase::Heat(own) = &case.equation else { unreachable!("a case of heat") };
        let points = match self.location {
            Location::Cells => place.1.cell_centre.clone(),
            Location::Nodes => component_major(&place.0.points),
        };
        let temperature = transfer.field_with_unknowns(self.field(TEMPERATURE)?, &points);
        let mut rebuilt = HeatRun::start(case, own, &self.backend, place, temperature)?;
        if let Some(should_stop) = &self.should_stop {
            rebuilt.stop_when(should_stop.clone());
        }
        let (time, steps) = self.clock();
        rebuilt.computation.set_clock(time, steps)?;
        let transferred = |values: Vec<f64>| transfer.values(&values, &points);
        rebuilt.averages.go_on_after(&self.averages, transferred)?;
        *self = rebuilt;
        Ok(())
    }

    fn array_places(&self) -> Vec<(String, ArrayPlace)> {
        let location = self.location();
        let of_unknowns = |name: &str| (name.to_owned(), ArrayPlace::Unknowns(location));
        let mut places: Vec<(String, ArrayPlace)> =
            [TEMPERATURE, "increment", "temperature_before"].map(of_unknowns).into();
        places.extend(self.averages.array_places(location));
        places
    }

    fn is_multistep(&self) -> bool {
        self.settings.scheme == Some(TimeScheme::Bdf2)
    }

    fn linear_summary(&self) -> Option<LinearSummary> {
        let before_setup = || LinearSummary {
            method: self.settings.params.method.word().to_owned(),
            preconditioner: self.settings.params.preconditioner.word().to_owned(),
            ..LinearSummary::default()
        };
        Some(self.computation.solver_setup().map_or_else(before_setup, linear::summary_of))
    }

    fn solver_setups(&self) -> u64 {
        self.computation.solver_setups()
    }
}

/// Values are stored as `f64`, which represents every `f32` exactly.
impl<F: Real> Checkpointed for HeatRun<F> {
    fn arrays(&self) -> Result<Vec<NamedArray>, CheckpointError> {
        let HeatState { temperature, march, interpolations: saved } =
            self.computation.state().map_err(state_error)?;
        let mut arrays = vec![NamedArray::reals(TEMPERATURE, to_f64(temperature))];
        if let Some(MarchState { increment, before, time, steps, step }) = march {
            arrays.push(NamedArray::reals("increment", to_f64(increment)));
            arrays.push(NamedArray::reals("temperature_before", to_f64(before)));
            arrays.push(NamedArray::reals("clock", vec![time, steps as f64, step]));
        }
        if let Some((saved, inertia)) = saved {
            arrays.extend(interpolations::arrays(&saved, inertia));
        }
        arrays.extend(self.averages.arrays()?);
        Ok(arrays)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let n = self.computation.unknowns();
        let narrow = |name: &str| -> Result<Vec<F>, CheckpointError> {
            Ok(checkpoint.reals(name, &[n])?.iter().map(|v| F::from_f64(*v)).collect())
        };
        let mut state =
            HeatState { temperature: narrow(TEMPERATURE)?, march: None, interpolations: None };
        if self.settings.scheme.is_some() {
            let clock = checkpoint.reals("clock", &[3])?;
            state.march = Some(MarchState {
                increment: narrow("increment")?,
                before: narrow("temperature_before")?,
                time: clock[0],
                steps: clock[1] as usize,
                step: clock[2],
            });
            state.interpolations = self.backend.install(|| interpolations::read(checkpoint))?;
        }
        self.computation.restore(state).map_err(state_error)?;
        let (time, _) = self.clock();
        self.averages.restore(checkpoint, time)
    }
}

#[cfg(test)]
mod tests;
