//! Probes, lines and forces of a compressible flow: values of the polynomials of cells.

use super::super::SimulationError;
use super::super::equation::Monitored;
use crate::case::{Case, FlowReference, PatchGroup};
use crate::compressible::descriptor::{
    DENSITY, DRAG_COEFFICIENT, FORCE, LIFT_COEFFICIENT, MASS_FLOW, MOMENT, MOMENT_COEFFICIENT,
    PRESSURE, PRESSURE_FORCE, VELOCITY, VISCOUS_FORCE,
};
use crate::compressible::state::VARIABLES;
use crate::compressible::{BoundaryLoad, of_unit_pressure};
use crate::descriptor::{AREA, HEAT_FLUX};
use crate::mesh::geometry::dot;
use crate::mesh::{Geometry, Mesh};
use crate::monitor::{FaceGroup, Sampler, line_points, locate};
use crate::summary::NamedList;

/// The monitors of a compressible flow.
pub(super) struct Monitors {
    dimension: usize,
    probes: Vec<String>,
    at_probes: Points,
    lines: Vec<Points>,
    patches: Vec<MonitoredPatch>,
}

/// Points at which the fields are sampled.
struct Points {
    /// Those in the mesh.
    located: Vec<CellPoint>,
    is_inside: Vec<bool>,
}

/// A point with its cell.
pub(super) type CellPoint = (usize, [f64; 3]);

/// Boundary faces with loads.
#[derive(Clone)]
pub(super) struct LoadGroup {
    pub(super) faces: Vec<u32>,
    /// The centre of moments.
    pub(super) centre: [f64; 3],
}

/// Where a flow is monitored.
pub(super) struct Places {
    /// Points of the probes, then of each line.
    pub(super) points: Vec<Vec<CellPoint>>,
    /// Of each group of patches.
    pub(super) groups: Vec<LoadGroup>,
}

/// The loads of the pressure and of the viscous stress on a group of faces.
pub(super) type Loads = [BoundaryLoad<f64>; 2];

/// ρ, u_x, u_y, u_z and p at points.
pub(super) type PointStates = [Vec<f64>; VARIABLES];

struct MonitoredPatch {
    name: String,
    area: f64,
    group: LoadGroup,
    /// Force and moment of a unit pressure.
    of_unit_pressure: [[f64; 3]; 2],
    reference: Option<FlowReference>,
}

impl Points {
    fn new(mesh: &Mesh, points: &[[f64; 3]]) -> Self {
        let found = locate(mesh, points);
        let located = found.iter().zip(points);
        Points {
            located: located.filter_map(|(found, x)| Some((found.as_ref()?.cell, *x))).collect(),
            is_inside: found.iter().map(Option::is_some).collect(),
        }
    }

    /// Names and values at all points of those in the mesh; NaN outside.
    fn named(
        &self,
        [density, x, y, z, pressure]: PointStates,
        dimension: usize,
    ) -> Vec<(&'static str, Vec<f64>)> {
        let velocity = VELOCITY.into_iter().zip([x, y, z]).take(dimension);
        let named = [(DENSITY, density)].into_iter().chain(velocity).chain([(PRESSURE, pressure)]);
        let at_all = |values: Vec<f64>| {
            let mut values = values.into_iter();
            let value = |inside: &bool| inside.then(|| values.next()).flatten();
            self.is_inside.iter().map(value).map(|value| value.unwrap_or(f64::NAN)).collect()
        };
        named.map(|(name, values)| (name, at_all(values))).collect()
    }
}

impl Monitors {
    pub(super) fn new(case: &Case, place: (&Mesh, &Geometry)) -> Result<Self, SimulationError> {
        let (mesh, output) = (place.0, &case.output);
        let points: Vec<[f64; 3]> = output.probes.iter().map(|p| p.at).collect();
        let names: Vec<&str> = output.probes.iter().map(|p| p.name.as_str()).collect();
        Sampler::of_nodes(mesh, &points).require_inside(mesh, &names, &points)?;
        let lines = output.lines.iter().map(|line| {
            let (_, points) = line_points(line.from, line.to, line.points);
            Points::new(mesh, &points)
        });
        let patches = output.patches.iter().map(|group| monitored_patch(group, place));
        Ok(Monitors {
            dimension: mesh.dimension,
            probes: output.probes.iter().map(|p| p.name.clone()).collect(),
            at_probes: Points::new(mesh, &points),
            lines: lines.collect(),
            patches: patches.collect::<Result<_, _>>()?,
        })
    }

    /// Where these are.
    pub(super) fn places(&self) -> Places {
        let all = [&self.at_probes].into_iter().chain(&self.lines);
        Places {
            points: all.map(|points| points.located.clone()).collect(),
            groups: self.patches.iter().map(|patch| patch.group.clone()).collect(),
        }
    }

    /// Whether there are neither probes nor patches.
    pub(super) fn are_none(&self) -> bool {
        self.probes.is_empty() && self.patches.is_empty()
    }

    /// Values of probes and patches, from the states at the points of the probes and the loads on the patches.
    pub(super) fn evaluate(&self, states: PointStates, loads: &[Loads]) -> Monitored {
        let mut monitored = Monitored::default();
        let columns = self.at_probes.named(states, self.dimension);
        for (i, probe) in self.probes.iter().enumerate() {
            let fields = columns.iter().map(|(name, values)| (*name, values[i])).collect();
            monitored.probes.set(probe.clone(), fields);
        }
        for (patch, loads) in self.patches.iter().zip(loads) {
            let quantities = patch.quantities(loads, self.dimension);
            monitored.patches.set(patch.name.clone(), quantities);
        }
        monitored
    }

    /// Names and values along a line, from the states at those of its points that are in the mesh.
    pub(super) fn line(&self, line: usize, states: PointStates) -> Vec<(String, Vec<f64>)> {
        let columns = self.lines[line].named(states, self.dimension);
        columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()
    }
}

/// A monitored group of patches and its boundary faces.
fn monitored_patch(
    group: &PatchGroup,
    (mesh, geometry): (&Mesh, &Geometry),
) -> Result<MonitoredPatch, SimulationError> {
    let found = FaceGroup::new(mesh, geometry, &group.name, &group.patches)?;
    let faces: Vec<u32> = found.faces.iter().flat_map(|r| r.clone().map(|f| f as u32)).collect();
    let centre = group.flow.as_ref().and_then(|flow| flow.moment_centre).unwrap_or_default();
    Ok(MonitoredPatch {
        name: group.name.clone(),
        area: found.area,
        of_unit_pressure: of_unit_pressure(geometry, &faces, centre),
        group: LoadGroup { faces, centre },
        reference: group.flow.clone(),
    })
}

impl MonitoredPatch {
    fn quantities(&self, [of_pressure, of_stress]: &Loads, dimension: usize) -> NamedList<f64> {
        let reference = self.reference.as_ref();
        let level = reference.map_or(0.0, |reference| reference.pressure);
        let force = |load: &BoundaryLoad<f64>| [load.force_x, load.force_y, load.force_z];
        let moment = |load: &BoundaryLoad<f64>| [load.moment_x, load.moment_y, load.moment_z];
        let (pressure, viscous) = (force(of_pressure), force(of_stress));
        let pressure = [0, 1, 2].map(|k| pressure[k] - level * self.of_unit_pressure[0][k]);
        let total = [0, 1, 2].map(|k| pressure[k] + viscous[k]);
        let mut quantities: NamedList<f64> =
            [(AREA, self.area), (MASS_FLOW, of_pressure.entering)].into_iter().collect();
        for (names, parts) in [(FORCE, total), (PRESSURE_FORCE, pressure), (VISCOUS_FORCE, viscous)]
        {
            (0..dimension).for_each(|k| quantities.set(names[k], parts[k]));
        }
        let heat = of_stress.entering;
        let (of_pressure, of_stress) = (moment(of_pressure), moment(of_stress));
        let [_, unit] = self.of_unit_pressure;
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
