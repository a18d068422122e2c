//! Probes, lines and forces of a compressible flow: values of the polynomials of cells.

use super::super::SimulationError;
use super::super::equation::Monitored;
use crate::backend::Backend;
use crate::case::{Case, FlowReference, PatchGroup};
use crate::compressible::descriptor::{
    DENSITY, DRAG_COEFFICIENT, FORCE, LIFT_COEFFICIENT, MASS_FLOW, MOMENT, MOMENT_COEFFICIENT,
    PRESSURE, PRESSURE_FORCE, VELOCITY, VISCOUS_FORCE,
};
use crate::compressible::{BoundaryLoad, CellPoints, CompressibleSolver, LoadedFaces};
use crate::descriptor::{AREA, HEAT_FLUX};
use crate::mesh::geometry::dot;
use crate::mesh::{Geometry, Mesh};
use crate::monitor::{FaceGroup, Sampler, line_points, locate};
use crate::real::Real;
use crate::summary::NamedList;

/// The monitors of a compressible flow.
pub(super) struct Monitors<F: Real> {
    dimension: usize,
    probes: Vec<String>,
    at_probes: Points<F>,
    lines: Vec<Points<F>>,
    patches: Vec<MonitoredPatch<F>>,
}

/// Points at which the fields are sampled.
struct Points<F: Real> {
    /// Those in the mesh.
    located: CellPoints<F>,
    is_inside: Vec<bool>,
}

struct MonitoredPatch<F: Real> {
    name: String,
    area: f64,
    faces: LoadedFaces<F>,
    reference: Option<FlowReference>,
}

impl<F: Real> Points<F> {
    fn new(backend: &Backend, place: (&Mesh, &Geometry), points: &[[f64; 3]]) -> Self {
        let found = locate(place.0, points);
        let located = found.iter().zip(points);
        let located: Vec<(usize, [f64; 3])> =
            located.filter_map(|(found, x)| Some((found.as_ref()?.cell, *x))).collect();
        Points {
            located: CellPoints::new(backend, place, &located),
            is_inside: found.iter().map(Option::is_some).collect(),
        }
    }

    /// Names and values at all points; NaN outside the mesh.
    fn values(
        &mut self,
        flow: &CompressibleSolver<F>,
        dimension: usize,
    ) -> Result<Vec<(&'static str, Vec<f64>)>, SimulationError> {
        let [density, x, y, z, pressure] = flow.at_points(&mut self.located)?;
        let velocity = VELOCITY.into_iter().zip([x, y, z]).take(dimension);
        let named = [(DENSITY, density)].into_iter().chain(velocity).chain([(PRESSURE, pressure)]);
        let at_all = |values: Vec<f64>| {
            let mut values = values.into_iter();
            let value = |inside: &bool| inside.then(|| values.next()).flatten();
            self.is_inside.iter().map(value).map(|value| value.unwrap_or(f64::NAN)).collect()
        };
        Ok(named.map(|(name, values)| (name, at_all(values))).collect())
    }
}

impl<F: Real> Monitors<F> {
    pub(super) fn new(
        case: &Case,
        backend: &Backend,
        place: (&Mesh, &Geometry),
    ) -> Result<Self, SimulationError> {
        let (mesh, output) = (place.0, &case.output);
        let points: Vec<[f64; 3]> = output.probes.iter().map(|p| p.at).collect();
        let names: Vec<&str> = output.probes.iter().map(|p| p.name.as_str()).collect();
        Sampler::of_nodes(mesh, &points).require_inside(mesh, &names, &points)?;
        let lines = output.lines.iter().map(|line| {
            let (_, points) = line_points(line.from, line.to, line.points);
            Points::new(backend, place, &points)
        });
        let patches = output.patches.iter().map(|group| monitored_patch(backend, group, place));
        Ok(Monitors {
            dimension: mesh.dimension,
            probes: output.probes.iter().map(|p| p.name.clone()).collect(),
            at_probes: Points::new(backend, place, &points),
            lines: lines.collect(),
            patches: patches.collect::<Result<_, _>>()?,
        })
    }

    /// Whether there are neither probes nor patches.
    pub(super) fn are_none(&self) -> bool {
        self.probes.is_empty() && self.patches.is_empty()
    }

    /// The cells from which probes are computed, on the host, ascending.
    pub(super) fn cells(&self) -> Vec<u32> {
        let mut cells = self.at_probes.located.cells().to_vec();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The faces of each patch.
    pub(super) fn groups(&mut self) -> impl Iterator<Item = &mut LoadedFaces<F>> {
        self.patches.iter_mut().map(|patch| &mut patch.faces)
    }

    /// Values of probes and patches of a flow with the polynomials of the current time, and the loads on the patches.
    pub(super) fn evaluate(
        &mut self,
        flow: &CompressibleSolver<F>,
        loads: &[[BoundaryLoad<f64>; 2]],
    ) -> Result<Monitored, SimulationError> {
        let mut monitored = Monitored::default();
        if !self.probes.is_empty() {
            let columns = self.at_probes.values(flow, self.dimension)?;
            for (i, probe) in self.probes.iter().enumerate() {
                let fields = columns.iter().map(|(name, values)| (*name, values[i])).collect();
                monitored.probes.set(probe.clone(), fields);
            }
        }
        for (patch, loads) in self.patches.iter().zip(loads) {
            let quantities = patch.quantities(loads, self.dimension);
            monitored.patches.set(patch.name.clone(), quantities);
        }
        Ok(monitored)
    }

    pub(super) fn line(
        &mut self,
        flow: &mut CompressibleSolver<F>,
        line: usize,
    ) -> Result<Vec<(String, Vec<f64>)>, SimulationError> {
        flow.refresh()?;
        let columns = self.lines[line].values(flow, self.dimension)?;
        Ok(columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect())
    }
}

/// A monitored group of patches and its boundary faces.
fn monitored_patch<F: Real>(
    backend: &Backend,
    group: &PatchGroup,
    place: (&Mesh, &Geometry),
) -> Result<MonitoredPatch<F>, SimulationError> {
    let faces = FaceGroup::new(place.0, place.1, &group.name, &group.patches)?;
    let all: Vec<u32> = faces.faces.iter().flat_map(|r| r.clone().map(|f| f as u32)).collect();
    let centre = group.flow.as_ref().and_then(|flow| flow.moment_centre);
    Ok(MonitoredPatch {
        name: group.name.clone(),
        area: faces.area,
        faces: LoadedFaces::new(backend, place, &all, centre.unwrap_or_default()),
        reference: group.flow.clone(),
    })
}

impl<F: Real> MonitoredPatch<F> {
    fn quantities(
        &self,
        [of_pressure, of_stress]: &[BoundaryLoad<f64>; 2],
        dimension: usize,
    ) -> NamedList<f64> {
        let reference = self.reference.as_ref();
        let level = reference.map_or(0.0, |reference| reference.pressure);
        let force = |load: &BoundaryLoad<f64>| [load.force_x, load.force_y, load.force_z];
        let moment = |load: &BoundaryLoad<f64>| [load.moment_x, load.moment_y, load.moment_z];
        let (pressure, viscous) = (force(of_pressure), force(of_stress));
        let pressure = [0, 1, 2].map(|k| pressure[k] - level * self.faces.area_vector[k]);
        let total = [0, 1, 2].map(|k| pressure[k] + viscous[k]);
        let mut quantities: NamedList<f64> =
            [(AREA, self.area), (MASS_FLOW, of_pressure.entering)].into_iter().collect();
        for (names, parts) in [(FORCE, total), (PRESSURE_FORCE, pressure), (VISCOUS_FORCE, viscous)]
        {
            (0..dimension).for_each(|k| quantities.set(names[k], parts[k]));
        }
        let heat = of_stress.entering;
        let (of_pressure, of_stress) = (moment(of_pressure), moment(of_stress));
        let unit = self.faces.of_unit_pressure;
        let moment = [0, 1, 2].map(|k| of_pressure[k] - level * unit[k] + of_stress[k]);
        let has_moment = reference.is_some_and(|reference| reference.moment_centre.is_some());
        if has_moment {
            let first = if dimension == 3 { 0 } else { 2 };
            (first..3).for_each(|k| quantities.set(MOMENT[k], moment[k]));
        }
        if let Some(reference) = reference.filter(|r| r.has_reference) {
            let dynamic = 0.5 * reference.density * reference.velocity.powi(2) * reference.area;
            quantities.set(DRAG_COEFFICIENT, dot(total, reference.drag_direction) / dynamic);
            quantities.set(LIFT_COEFFICIENT, dot(total, reference.lift_direction) / dynamic);
            if has_moment {
                let about = dot(moment, reference.moment_axis());
                quantities.set(MOMENT_COEFFICIENT, about / (dynamic * reference.length));
            }
        }
        quantities.set(HEAT_FLUX, heat);
        quantities
    }
}
