//! `[[output.patch]]`: groups of patches with integrals in the history.

use super::boundary::PatchCondition;
use super::error::Problem;
use super::flow_boundary::FlowBoundary;
use super::flow_reference::FlowReference;
use super::names::Names;
use super::output_parts::{patch_names, unique_name};
use super::value::{Maybe, Sign, number, point, refuse};
use crate::descriptor::Need;
use crate::incompressible::FlowBoundaryCondition;
use serde::Deserialize;
use toml::Spanned;

/// Patches that are integrated together.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchGroup {
    /// Letters, digits, `_` and `-`; no other group has it.
    pub name: String,
    /// Names of patches of the mesh.
    pub patches: Vec<String>,
    /// Reference quantities; `Some` for a flow.
    pub flow: Option<FlowReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchGroupFile {
    name: Maybe<String>,
    pub(crate) patches: Maybe<Vec<Spanned<String>>>,
    reference: Maybe<ReferenceFile>,
    drag_direction: Maybe<Vec<f64>>,
    lift_direction: Maybe<Vec<f64>>,
    moment_centre: Maybe<Vec<f64>>,
}

impl PatchGroupFile {
    /// Its directions, each with its key.
    pub(super) fn directions(&self) -> impl Iterator<Item = (&'static str, &Spanned<Vec<f64>>)> {
        let drag = self.drag_direction.iter().map(|file| ("drag_direction", file));
        drag.chain(self.lift_direction.iter().map(|file| ("lift_direction", file)))
    }
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

pub(crate) fn check(
    files: &[Spanned<PatchGroupFile>],
    names: Names,
) -> Result<Vec<PatchGroup>, Problem> {
    let no_coefficients = names.refusal(|equation| equation.has_quantity_with(Need::Reference));
    let no_moments = names.refusal(|equation| equation.has_quantity_with(Need::MomentCentre));
    let mut groups: Vec<PatchGroup> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        if let Some(why) = &no_coefficients {
            refuse(&keys.reference, "reference", why)?;
            refuse(&keys.drag_direction, "drag_direction", why)?;
            refuse(&keys.lift_direction, "lift_direction", why)?;
        }
        if let Some(why) = &no_moments {
            refuse(&keys.moment_centre, "moment_centre", why)?;
        }
        let used = groups.iter().map(|group| group.name.as_str());
        let name = unique_name(&keys.name, "patch group", &span, used)?;
        let patches = patch_names(&keys.patches, &span)?;
        let flow = no_coefficients.is_none().then(|| check_reference(keys)).transpose()?;
        groups.push(PatchGroup { name, patches, flow });
    }
    Ok(groups)
}

fn check_reference(keys: &PatchGroupFile) -> Result<FlowReference, Problem> {
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
pub(crate) fn check_moments(
    files: &[Spanned<PatchGroupFile>],
    boundary: &[PatchCondition<FlowBoundary>],
) -> Result<(), Problem> {
    for group in files.iter().map(Spanned::get_ref) {
        if group.moment_centre.is_none() {
            continue;
        }
        for patch in group.patches.iter().flat_map(Spanned::get_ref) {
            let given = boundary.iter().find(|given| given.patch == *patch.get_ref());
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
