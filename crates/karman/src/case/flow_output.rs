//! Output of a flow: force coefficients, separation and reattachment.

use super::IncompressibleCase;
use super::error::Problem;
use super::output::{OutputFile, PatchGroupFile, ends, points, unique_name};
use super::value::{Maybe, Sign, number, point};
use crate::incompressible::FlowBoundaryCondition;
use crate::mesh::geometry::{cross, norm};
use serde::Deserialize;
use toml::Spanned;

/// Reference quantities for the forces and the heat of a group of patches.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReference {
    /// Whether the case gives a reference; without it there are no coefficients.
    pub has_reference: bool,
    /// Speed U > 0; default 1.
    pub velocity: f64,
    /// Area A > 0, in 2D per unit width; default 1.
    pub area: f64,
    /// Length L > 0, of the Strouhal and the Nusselt number; default 1.
    pub length: f64,
    /// Density ρ > 0; default 1.
    pub density: f64,
    /// Pressure that exerts no force; default 0.
    pub pressure: f64,
    /// Temperature difference > 0 of the Nusselt number; default 1.
    pub temperature_difference: f64,
    /// Unit vector along the drag; default x.
    pub drag_direction: [f64; 3],
    /// Unit vector along the lift; default y.
    pub lift_direction: [f64; 3],
    /// The point about which the moment is taken; without it there is none.
    pub moment_centre: Option<[f64; 3]>,
}

impl FlowReference {
    /// The axis of the moment coefficient: the unit vector along drag × lift direction, z by default; zero
    /// where these are parallel.
    pub fn moment_axis(&self) -> [f64; 3] {
        let axis = cross(self.drag_direction, self.lift_direction);
        let length = norm(axis);
        if length > 1e-9 { axis.map(|x| x / length) } else { [0.0; 3] }
    }
}

/// A line along which separation and reattachment of reversed flow are found.
#[derive(Clone, Debug, PartialEq)]
pub struct Recirculation {
    /// Letters, digits, `_` and `-`; no other recirculation has it.
    pub name: String,
    /// First point, at the body.
    pub from: [f64; 3],
    /// Last point, downstream.
    pub to: [f64; 3],
    /// Number of points, ends included; default 1001.
    pub points: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReferenceFile {
    velocity: Maybe<f64>,
    area: Maybe<f64>,
    length: Maybe<f64>,
    density: Maybe<f64>,
    pressure: Maybe<f64>,
    temperature_difference: Maybe<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecirculationFile {
    name: Maybe<String>,
    from: Maybe<Vec<f64>>,
    to: Maybe<Vec<f64>>,
    points: Maybe<usize>,
}

pub(crate) fn check_reference(keys: &PatchGroupFile) -> Result<FlowReference, Problem> {
    let mut flow = FlowReference {
        has_reference: keys.reference.is_some(),
        velocity: 1.0,
        area: 1.0,
        length: 1.0,
        density: 1.0,
        pressure: 0.0,
        temperature_difference: 1.0,
        drag_direction: direction(&keys.drag_direction, "drag_direction", [1.0, 0.0, 0.0])?,
        lift_direction: direction(&keys.lift_direction, "lift_direction", [0.0, 1.0, 0.0])?,
        moment_centre: None,
    };
    flow.moment_centre =
        keys.moment_centre.as_ref().map(|file| point(file, "moment_centre")).transpose()?;
    let Some(reference) = keys.reference.as_ref().map(Spanned::get_ref) else { return Ok(flow) };
    if let (Some(file), [0.0, 0.0, 0.0]) = (&keys.moment_centre, flow.moment_axis()) {
        let message = "the moment coefficient has no axis: `drag_direction` and `lift_direction` are parallel";
        return Err(Problem::at(file.span(), message));
    }
    flow.velocity = number(&reference.velocity, 1.0, "velocity", Sign::Positive)?;
    flow.area = number(&reference.area, 1.0, "area", Sign::Positive)?;
    flow.length = number(&reference.length, 1.0, "length", Sign::Positive)?;
    flow.density = number(&reference.density, 1.0, "density", Sign::Positive)?;
    flow.pressure = number(&reference.pressure, 0.0, "pressure", Sign::Any)?;
    let difference = &reference.temperature_difference;
    flow.temperature_difference =
        number(difference, 1.0, "temperature_difference", Sign::Positive)?;
    Ok(flow)
}

/// A direction of any length but 0, as a unit vector.
fn direction(
    file: &Maybe<Vec<f64>>,
    name: &'static str,
    default: [f64; 3],
) -> Result<[f64; 3], Problem> {
    let Some(file) = file else { return Ok(default) };
    let direction = point(file, name)?;
    // Scaled by the largest first, so that no square overflows or vanishes.
    let largest = direction.iter().fold(0.0_f64, |largest, c| largest.max(c.abs()));
    if largest == 0.0 {
        return Err(Problem::at(file.span(), format!("`{name}` is zero: it has no direction")));
    }
    let [x, y, z] = direction.map(|c| c / largest);
    let length = (x * x + y * y + z * z).sqrt();
    Ok([x / length, y / length, z / length])
}

/// Checks that moments are of walls at rest or in uniform motion. There the viscous stress is −ν ∂u/∂n; where the
/// velocity of a wall varies along it, (∇u)ᵀ n adds to it, which leaves no force but a moment on a closed surface.
pub(crate) fn check_moments(file: &OutputFile, flow: &IncompressibleCase) -> Result<(), Problem> {
    for group in file.patch.iter().flatten().map(Spanned::get_ref) {
        if group.moment_centre.is_none() {
            continue;
        }
        for patch in group.patches.iter().flat_map(Spanned::get_ref) {
            let given = flow.boundary.iter().find(|given| given.patch == *patch.get_ref());
            // A patch without a condition is reported with the mesh.
            let Some(given) = given else { continue };
            let condition = given.condition.condition();
            let reason = match condition.and_then(FlowBoundaryCondition::velocity) {
                Some(velocity) if !velocity.iter().any(|u| u.depends_on_place()) => continue,
                Some(_) => "has a velocity that varies along it",
                None if condition.is_some_and(FlowBoundaryCondition::prescribes_velocity) => {
                    "has a velocity that depends on its shape"
                }
                None => "has no prescribed velocity",
            };
            let message = format!("patch \"{}\" {reason}", patch.get_ref());
            let note = "`moment_centre` is for walls at rest or in uniform motion";
            return Err(Problem::at(patch.span(), message).note(note));
        }
    }
    Ok(())
}

pub(crate) fn check_recirculations(
    files: &[Spanned<RecirculationFile>],
) -> Result<Vec<Recirculation>, Problem> {
    let mut recirculations: Vec<Recirculation> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        let used = recirculations.iter().map(|known| known.name.as_str());
        let name = unique_name(&keys.name, "recirculation", &span, used)?;
        let (from, to) = ends(&keys.from, &keys.to, &format!("recirculation `{name}`"), &span)?;
        let points = points(&keys.points, 1001)?;
        recirculations.push(Recirculation { name, from, to, points });
    }
    Ok(recirculations)
}

/// Settings of a group without effect.
pub(crate) fn without_effect(keys: &PatchGroupFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    let directions =
        [(&keys.drag_direction, "drag_direction"), (&keys.lift_direction, "lift_direction")];
    for (file, name) in directions {
        if let (Some(file), None) = (file, &keys.reference) {
            let message = format!("`{name}` has no effect without `reference`");
            problems.push(Problem::at(file.span(), message));
        }
    }
    problems
}
