//! Probes, lines and forces of a flow.

use super::super::SimulationError;
use super::super::equation::Monitored;
use super::super::points::PointSampler;
use super::shedding::Shedding;
use crate::backend::Backend;
use crate::case::{Case, FlowReference, PatchGroup};
use crate::descriptor::{AREA, HEAT_FLUX};
use crate::finite_volume::{Functional, Functionals};
use crate::incompressible::descriptor::{
    DRAG_COEFFICIENT, FLOW_RATE, FORCE, LIFT_COEFFICIENT, MOMENT, MOMENT_COEFFICIENT, NUSSELT,
    PRESSURE, PRESSURE_FORCE, TEMPERATURE, VELOCITY, VISCOUS_FORCE,
};
use crate::incompressible::{Entries, Field, IncompressibleSolver, Load, LoadedFaces, MomentFaces};
use crate::mesh::geometry::dot;
use crate::mesh::{Geometry, Mesh};
use crate::monitor::{FaceGroup, Sampler, line_points, recirculation_zone};
use crate::real::Real;
use crate::summary::NamedList;

/// The monitors of a flow.
pub(super) struct Monitors<F: Real> {
    dimension: usize,
    probes: Vec<String>,
    at_probes: Points<F>,
    lines: Vec<Points<F>>,
    recirculations: Vec<RecirculationLine<F>>,
    patches: Vec<MonitoredPatch<F>>,
    heat: Option<PatchHeat<F>>,
}

/// Points at which the fields are sampled.
struct Points<F: Real> {
    /// For the velocity (a list for all components), the pressure and the temperature, if any.
    functionals: Vec<(Field, Functionals<F>)>,
    is_inside: Vec<bool>,
}

/// A line along which separation and reattachment are found.
struct RecirculationLine<F: Real> {
    name: String,
    points: Points<F>,
    distances: Vec<f64>,
    direction: [f64; 3],
}

struct MonitoredPatch<F: Real> {
    name: String,
    area: f64,
    faces: LoadedFaces,
    /// With the centre of the moment, where the group has one.
    moment: Option<MomentFaces<F>>,
    /// Σ S, the force of a unit pressure level.
    area_vector: [f64; 3],
    reference: Option<FlowReference>,
    shedding: Shedding,
}

/// Heat flux over ρc through the patches.
struct PatchHeat<F: Real> {
    functionals: Functionals<F>,
    /// Number of rows of each patch.
    rows: Vec<usize>,
    diffusivity: f64,
}

impl<F: Real> Points<F> {
    fn new(
        backend: &Backend,
        flow: &IncompressibleSolver<F>,
        (mesh, geometry): (&Mesh, &Geometry),
        points: &[[f64; 3]],
    ) -> Self {
        let sampler = PointSampler::new(mesh, geometry, points);
        let is_inside = sampler.is_inside();
        let list = |field: Field| -> (Field, Functionals<F>) {
            let dirichlet = |face: usize| flow.dirichlet_value(field, face);
            let at_points = |places: &_| flow.at_points(field, mesh, geometry, places);
            (field, Functionals::new(backend, &sampler.functionals(dirichlet, at_points)))
        };
        let mut functionals = vec![list(Field::Velocity(0)), list(Field::Pressure)];
        if flow.temperature().is_some() {
            functionals.push(list(Field::Temperature));
        }
        Points { functionals, is_inside }
    }

    /// Adds the entries from which the values are computed.
    fn add_entries(&self, flow: &IncompressibleSolver<F>, entries: &mut Entries) {
        for (field, functionals) in &self.functionals {
            flow.add_functionals(*field, functionals, entries);
        }
    }

    /// Names and values at all points; NaN outside the mesh.
    fn values(
        &mut self,
        backend: &Backend,
        flow: &IncompressibleSolver<F>,
        level: f64,
    ) -> Result<Vec<(&'static str, Vec<f64>)>, SimulationError> {
        let mut columns = vec![];
        for (field, functionals) in &mut self.functionals {
            let named: Vec<(&'static str, Field, f64)> = match field {
                Field::Velocity(_) => {
                    (0..flow.dimension()).map(|k| (VELOCITY[k], Field::Velocity(k), 0.0)).collect()
                }
                Field::Pressure => vec![(PRESSURE, Field::Pressure, level)],
                Field::Temperature => vec![(TEMPERATURE, Field::Temperature, 0.0)],
            };
            for (name, field, shift) in named {
                let results = flow.evaluate(field, functionals);
                let values = backend.read(results)?.into_iter().map(Into::<f64>::into);
                let inside = values.zip(&self.is_inside);
                let values = inside.map(|(v, inside)| if *inside { v - shift } else { f64::NAN });
                columns.push((name, values.collect()));
            }
        }
        Ok(columns)
    }
}

impl<F: Real> Monitors<F> {
    pub(super) fn new(
        case: &Case,
        backend: &Backend,
        flow: &IncompressibleSolver<F>,
        (mesh, geometry): (&Mesh, &Geometry),
        diffusivity: Option<f64>,
    ) -> Result<Self, SimulationError> {
        let output = &case.output;
        let points: Vec<[f64; 3]> = output.probes.iter().map(|p| p.at).collect();
        let names: Vec<&str> = output.probes.iter().map(|p| p.name.as_str()).collect();
        Sampler::of_nodes(mesh, &points).require_inside(mesh, &names, &points)?;
        let place = (mesh, geometry);
        let monitored = |group: &PatchGroup| monitored_patch(backend, group, mesh, geometry);
        let found = output.patches.iter().map(monitored).collect::<Result<Vec<_>, _>>()?;
        let (patches, faces): (Vec<MonitoredPatch<F>>, Vec<Vec<u32>>) = found.into_iter().unzip();
        let heat = diffusivity.map(|diffusivity| {
            let rows: Vec<Vec<Functional>> =
                faces.iter().map(|faces| flow.heat_through(mesh, geometry, faces)).collect();
            let all: Vec<Functional> = rows.iter().flatten().cloned().collect();
            PatchHeat {
                functionals: Functionals::new(backend, &all),
                rows: rows.iter().map(Vec::len).collect(),
                diffusivity,
            }
        });
        let recirculations = output.recirculations.iter().map(|line| {
            let (distances, points) = line_points(line.from, line.to, line.points);
            let along = [0, 1, 2].map(|k| line.to[k] - line.from[k]);
            let length = along.iter().map(|x| x * x).fold(0.0, |a, b| a + b).sqrt();
            RecirculationLine {
                name: line.name.clone(),
                points: Points::new(backend, flow, place, &points),
                distances,
                direction: along.map(|x| x / length),
            }
        });
        let lines = output.lines.iter().map(|line| {
            let (_, points) = line_points(line.from, line.to, line.points);
            Points::new(backend, flow, place, &points)
        });
        Ok(Monitors {
            dimension: mesh.dimension,
            probes: output.probes.iter().map(|p| p.name.clone()).collect(),
            at_probes: Points::new(backend, flow, place, &points),
            lines: lines.collect(),
            recirculations: recirculations.collect(),
            patches,
            heat,
        })
    }

    /// The entries of the arrays of `flow`, on the host, that [`Monitors::evaluate`] reads; none where it reads whole arrays, as for the
    /// loads of fluxes as unknowns.
    pub(super) fn entries(&self, flow: &IncompressibleSolver<F>) -> Option<Entries> {
        if !self.patches.is_empty() && !flow.has_velocity_gradients() {
            return None;
        }
        let mut entries = Entries::default();
        self.at_probes.add_entries(flow, &mut entries);
        if let Some(heat) = &self.heat {
            flow.add_functionals(Field::Temperature, &heat.functionals, &mut entries);
        }
        self.patches.iter().for_each(|patch| flow.add_loads(&patch.faces, &mut entries));
        Some(entries)
    }

    /// As [`Monitors::entries`] for the values along each line.
    pub(super) fn line_entries(&self, flow: &IncompressibleSolver<F>) -> Vec<Entries> {
        let of_line = |points: &Points<F>| {
            let mut entries = Entries::default();
            points.add_entries(flow, &mut entries);
            entries
        };
        self.lines.iter().map(of_line).collect()
    }

    /// As [`Monitors::entries`] for separation and reattachment along lines.
    pub(super) fn recirculation_entries(&self, flow: &IncompressibleSolver<F>) -> Entries {
        let mut entries = Entries::default();
        self.recirculations.iter().for_each(|line| line.points.add_entries(flow, &mut entries));
        entries
    }

    /// Takes the records of coefficients in time of monitors of the same case.
    pub(super) fn go_on_after(&mut self, earlier: &mut Monitors<F>) {
        for (patch, before) in self.patches.iter_mut().zip(&mut earlier.patches) {
            patch.shedding = std::mem::take(&mut before.shedding);
        }
    }

    /// Whether nothing is monitored at each step.
    pub(super) fn are_absent(&self) -> bool {
        self.probes.is_empty() && self.patches.is_empty()
    }

    /// Values of probes and patches; `level` is subtracted from the pressure.
    pub(super) fn evaluate(
        &mut self,
        backend: &Backend,
        flow: &mut IncompressibleSolver<F>,
        level: f64,
    ) -> Result<Monitored, SimulationError> {
        let mut monitored = Monitored::default();
        if !self.probes.is_empty() {
            let columns = self.at_probes.values(backend, flow, level)?;
            for (i, probe) in self.probes.iter().enumerate() {
                let fields = columns.iter().map(|(name, values)| (*name, values[i])).collect();
                monitored.probes.set(probe.clone(), fields);
            }
        }
        let (time, _) = flow.clock();
        let mut heat_fluxes = self.heat_fluxes(backend, flow)?.into_iter();
        for patch in &mut self.patches {
            let load = flow.load(&mut patch.faces)?;
            let moment = match &mut patch.moment {
                Some(moment) => Some(flow.moment(&patch.faces, moment)?),
                None => None,
            };
            let mut quantities = patch.quantities(&load, moment, level, self.dimension);
            if let Some((heat, diffusivity)) = heat_fluxes.next() {
                quantities.set(HEAT_FLUX, heat);
                if let Some(reference) = patch.reference.as_ref().filter(|r| r.has_reference) {
                    let unit = diffusivity * reference.temperature_difference / reference.length;
                    quantities.set(NUSSELT, heat / (patch.area * unit));
                }
            }
            let coefficient = |name: &str| quantities.get(name).copied();
            if let (Some(lift), Some(drag)) =
                (coefficient(LIFT_COEFFICIENT), coefficient(DRAG_COEFFICIENT))
            {
                patch.shedding.record(time, lift, drag);
            }
            monitored.patches.set(patch.name.clone(), quantities);
        }
        Ok(monitored)
    }

    /// Heat flux over ρc into the fluid through each patch, with the diffusivity; none without temperature.
    fn heat_fluxes(
        &mut self,
        backend: &Backend,
        flow: &IncompressibleSolver<F>,
    ) -> Result<Vec<(f64, f64)>, SimulationError> {
        let Some(heat) = &mut self.heat else { return Ok(vec![]) };
        let results = flow.evaluate(Field::Temperature, &mut heat.functionals);
        let values = backend.read(results)?;
        let mut rest = &values[..];
        let of_patch = |rows: &usize| {
            let (own, after) = rest.split_at(*rows);
            rest = after;
            let sum = own.iter().fold(0.0, |sum, v| sum + Into::<f64>::into(*v));
            (sum, heat.diffusivity)
        };
        Ok(heat.rows.iter().map(of_patch).collect())
    }

    pub(super) fn line(
        &mut self,
        backend: &Backend,
        flow: &IncompressibleSolver<F>,
        line: usize,
        level: f64,
    ) -> Result<Vec<(String, Vec<f64>)>, SimulationError> {
        let columns = self.lines[line].values(backend, flow, level)?;
        Ok(columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect())
    }

    /// Whether separation and reattachment are searched.
    pub(super) fn have_recirculations(&self) -> bool {
        !self.recirculations.is_empty()
    }

    /// Separation and reattachment along each line.
    pub(super) fn recirculations(
        &mut self,
        backend: &Backend,
        flow: &IncompressibleSolver<F>,
    ) -> Result<NamedList<NamedList<f64>>, SimulationError> {
        let mut zones = NamedList::new();
        for line in &mut self.recirculations {
            let columns = line.points.values(backend, flow, 0.0)?;
            let along = |i: usize| {
                let components = columns.iter().zip(line.direction);
                components.take(self.dimension).fold(0.0, |sum, ((_, u), d)| sum + u[i] * d)
            };
            let speeds: Vec<f64> = (0..line.distances.len()).map(along).collect();
            let found = recirculation_zone(&line.distances, &speeds);
            let zone = [("separation", found.separation), ("reattachment", found.reattachment)];
            zones.set(line.name.clone(), zone.into_iter().collect());
        }
        Ok(zones)
    }

    /// Adds statistics over time of the force coefficients to the quantities of each patch.
    pub(super) fn add_statistics(&self, quantities: &mut NamedList<NamedList<f64>>) {
        for patch in &self.patches {
            let Some(reference) = patch.reference.as_ref().filter(|r| r.has_reference) else {
                continue;
            };
            let scale = reference.length / reference.velocity;
            let mut of_patch = quantities.get(&patch.name).cloned().unwrap_or_default();
            let statistics = patch.shedding.quantities(scale);
            statistics.iter().for_each(|(name, value)| of_patch.set(name, *value));
            quantities.set(patch.name.clone(), of_patch);
        }
    }
}

/// A monitored group of patches and its boundary faces.
fn monitored_patch<F: Real>(
    backend: &Backend,
    group: &PatchGroup,
    mesh: &Mesh,
    geometry: &Geometry,
) -> Result<(MonitoredPatch<F>, Vec<u32>), SimulationError> {
    let faces = FaceGroup::new(mesh, geometry, &group.name, &group.patches)?;
    let all: Vec<u32> = faces.faces.iter().flat_map(|r| r.clone().map(|f| f as u32)).collect();
    let mut area_vector = [0.0; 3];
    for face in &all {
        let area = geometry.area_vector_of(*face as usize);
        (0..3).for_each(|k| area_vector[k] += area[k]);
    }
    let centre = group.flow.as_ref().and_then(|flow| flow.moment_centre);
    let monitored = MonitoredPatch {
        name: group.name.clone(),
        area: faces.area,
        faces: LoadedFaces::new(backend, all.clone()),
        moment: centre.map(|centre| MomentFaces::new(backend, geometry, &all, centre)),
        area_vector,
        reference: group.flow.clone(),
        shedding: Shedding::default(),
    };
    Ok((monitored, all))
}

impl<F: Real> MonitoredPatch<F> {
    fn quantities(
        &self,
        load: &Load<f64>,
        moment: Option<[f64; 3]>,
        level: f64,
        dimension: usize,
    ) -> NamedList<f64> {
        let reference = self.reference.as_ref();
        let density = reference.map_or(1.0, |r| r.density);
        let level = level + reference.map_or(0.0, |r| r.pressure / r.density);
        let pressure = [load.pressure_x, load.pressure_y, load.pressure_z];
        let viscous = [load.viscous_x, load.viscous_y, load.viscous_z];
        let pressure = [0, 1, 2].map(|k| density * (pressure[k] - level * self.area_vector[k]));
        let viscous = viscous.map(|v| density * v);
        let mut quantities: NamedList<f64> =
            [(AREA, self.area), (FLOW_RATE, 0.0 - load.flow)].into_iter().collect();
        for k in 0..dimension {
            quantities.set(FORCE[k], pressure[k] + viscous[k]);
            quantities.set(PRESSURE_FORCE[k], pressure[k]);
            quantities.set(VISCOUS_FORCE[k], viscous[k]);
        }
        let moment = moment.zip(self.moment.as_ref()).map(|(moment, faces)| {
            [0, 1, 2].map(|k| density * (moment[k] - level * faces.of_unit_pressure[k]))
        });
        if let Some(moment) = moment {
            let first = if dimension == 3 { 0 } else { 2 };
            (first..3).for_each(|k| quantities.set(MOMENT[k], moment[k]));
        }
        if let Some(reference) = reference.filter(|r| r.has_reference) {
            let dynamic = 0.5 * density * reference.velocity.powi(2) * reference.area;
            let along = |d: [f64; 3]| {
                (0..3).map(|k| (pressure[k] + viscous[k]) * d[k]).fold(0.0, |a, b| a + b) / dynamic
            };
            quantities.set(DRAG_COEFFICIENT, along(reference.drag_direction));
            quantities.set(LIFT_COEFFICIENT, along(reference.lift_direction));
            if let Some(moment) = moment {
                let about = dot(moment, reference.moment_axis());
                quantities.set(MOMENT_COEFFICIENT, about / (dynamic * reference.length));
            }
        }
        quantities
    }
}
