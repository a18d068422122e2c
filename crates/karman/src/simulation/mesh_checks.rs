//! Checks of a mesh for a case: warnings and refusals.

use super::SimulationError;
use crate::case::{Case, Equation, Value};
use crate::heat::Discretization;
use crate::incompressible::FlowBoundaryCondition;
use crate::mesh::check::{inspect, require_regular, warn_of_one_layer};
use crate::mesh::{ConnectedComponents, Geometry, Mesh, MeshWarning};
use std::borrow::Cow;

/// Singular components that a message names.
const NAMED: usize = 3;

/// Warnings about a mesh, with connected periodic patches, for a case.
///
/// # Errors
/// [`SimulationError::SingularComponents`], [`SimulationError::ThirdComponent`], and for a flow those of
/// [`require_regular`].
pub(super) fn check_mesh(
    case: &Case,
    mesh: &Mesh,
    geometry: &Geometry,
) -> Result<Vec<MeshWarning>, SimulationError> {
    if mesh.dimension == 2 {
        require_two_components(case)?;
    }
    let by_faces = ConnectedComponents::by_faces(mesh);
    require_level(case, mesh, &by_faces)?;
    let mut warnings = inspect(mesh, geometry, by_faces);
    if let Equation::Incompressible(flow) = &case.equation {
        require_regular(mesh, geometry)?;
        let is_wall = |patch: usize| {
            let condition = flow.boundary.iter().find(|p| p.patch == mesh.patches[patch].name);
            let velocity = condition.and_then(|p| p.condition.condition()?.velocity());
            velocity.is_some_and(|velocity| velocity.iter().all(|u| u.constant() == Some(0.0)))
        };
        warnings.extend(warn_of_one_layer(mesh, geometry, is_wall));
    }
    Ok(warnings)
}

/// Refuses third coordinates and components in a case of a 2D mesh, in whatever plane the file has it: x and
/// y of the case are the coordinates in that plane.
fn require_two_components(case: &Case) -> Result<(), SimulationError> {
    let output = &case.output;
    let probes = output.probes.iter().map(|probe| (format!("probe \"{}\"", probe.name), probe.at));
    let ends = |what: &str, name: &str, from, to| {
        [(format!("{what} \"{name}\""), from), (format!("{what} \"{name}\""), to)]
    };
    let lines = output.lines.iter().flat_map(|l| ends("line", &l.name, l.from, l.to));
    let places = probes.chain(lines).map(|(what, place)| (what, place[2]));
    let mut third: Vec<(String, f64)> = places.collect();
    for group in &output.patches {
        if let Some(centre) = group.flow.as_ref().and_then(|flow| flow.moment_centre) {
            third.push((format!("the moment centre of patch group \"{}\"", group.name), centre[2]));
        }
    }
    if let Equation::Incompressible(flow) = &case.equation {
        let of = |values: &[Value; 3]| values[2].constant().unwrap_or(0.0);
        third.push(("the source".to_owned(), of(&flow.source)));
        third.push(("the initial velocity".to_owned(), of(&flow.initial_velocity)));
        third
            .push(("the mean velocity".to_owned(), flow.mean_velocity.map_or(0.0, |mean| mean[2])));
        for patch in &flow.boundary {
            if let Some(velocity) = patch.condition.condition().and_then(|c| c.velocity()) {
                third.push((format!("the velocity of patch \"{}\"", patch.patch), of(velocity)));
            }
        }
        if let Some(thermal) = &flow.thermal {
            third.push(("gravity".to_owned(), thermal.gravity[2]));
        }
    }
    match third.into_iter().find(|(_, value)| *value != 0.0) {
        None => Ok(()),
        Some((what, value)) => Err(SimulationError::ThirdComponent { what, value }),
    }
}

/// Refuses a mesh of several connected components if no condition fixes the level on one of them: a
/// temperature or convection in steady conduction, an outlet in a flow. A connected mesh of more than one
/// cell needs none, since its solution is determined up to one constant; of several components each has a
/// constant of its own.
///
/// # Errors
/// [`SimulationError::SingularComponents`].
fn require_level(
    case: &Case,
    mesh: &Mesh,
    by_faces: &ConnectedComponents,
) -> Result<(), SimulationError> {
    let is = |patch: usize, fixes: &dyn Fn(&str) -> bool| fixes(&mesh.patches[patch].name);
    let (components, is_by_faces, fixed, quantity, remedy) = match &case.equation {
        Equation::Heat(_) if !case.is_steady() => return Ok(()),
        Equation::Heat(heat) => {
            let is_by_faces = matches!(heat.discretization, Discretization::Cell { .. });
            let components = if is_by_faces {
                Cow::Borrowed(by_faces)
            } else {
                Cow::Owned(ConnectedComponents::by_nodes(mesh))
            };
            let fixes = |name: &str| {
                let condition = heat.boundary.iter().find(|patch| patch.patch == name);
                condition.is_some_and(|patch| patch.condition.fixes_the_constant())
            };
            let fixed = components.touch_patches(mesh, |patch| is(patch, &fixes));
            let remedy = "a patch with a temperature or convection, or [time]";
            (components, is_by_faces, fixed, "temperature", remedy)
        }
        Equation::Incompressible(flow) => {
            let components = Cow::Borrowed(by_faces);
            let fixes = |name: &str| {
                let condition = flow.boundary.iter().find(|patch| patch.patch == name);
                let condition = condition.and_then(|patch| patch.condition.condition());
                condition.is_some_and(FlowBoundaryCondition::prescribes_pressure)
            };
            let fixed = components.touch_patches(mesh, |patch| is(patch, &fixes));
            (components, true, fixed, "pressure", "an outlet")
        }
    };
    let order = components.smallest_first(mesh).into_iter();
    let singular: Vec<usize> = order.filter(|&component| !fixed[component]).collect();
    // The equation of a cell without a neighbour has boundary contributions only.
    let is_alone = |&component: &usize| is_by_faces && components.cells[component] == 1;
    if singular.is_empty() || components.len() < 2 && !singular.iter().any(is_alone) {
        return Ok(());
    }
    let named =
        |&component: &usize| (components.cells[component], components.name_of(mesh, component));
    Err(SimulationError::SingularComponents {
        components: components.len(),
        count: singular.len(),
        singular: singular.iter().take(NAMED).map(named).collect(),
        quantity,
        remedy,
    })
}

#[cfg(test)]
mod tests;
