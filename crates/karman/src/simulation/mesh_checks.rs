//! Checks of a mesh for a case: warnings and refusals.

use super::SimulationError;
use super::equation::FreeLevel;
use super::location::Location;
use super::ranks;
use super::setup_of;
use super::warning::SetupWarning;
use crate::case::{Case, Line, Slice};
use crate::mesh::check::inspect;
use crate::mesh::{ConnectedComponents, Geometry, Mesh};
use crate::monitor::{line_points, locate};
use std::borrow::Cow;

/// Singular components that a message names.
const NAMED: usize = 3;

/// Warnings about a mesh, with connected periodic patches, for a case.
///
/// # Errors
/// [`SimulationError::SingularComponents`], [`SimulationError::ThirdComponent`], [`SimulationError::Plane`],
/// [`SimulationError::Ranks`], and those of
/// [`EquationSetup::check_mesh`](super::equation::EquationSetup::check_mesh).
pub(super) fn check_mesh(
    case: &Case,
    mesh: &Mesh,
    geometry: &Geometry,
) -> Result<Vec<SetupWarning>, SimulationError> {
    match mesh.dimension {
        2 => require_two_components(case)?,
        _ => require_intersection(case, mesh)?,
    }
    let by_faces = ConnectedComponents::by_faces(mesh);
    require_level(case, mesh, &by_faces)?;
    let found = inspect(mesh, geometry, by_faces);
    let mut warnings: Vec<SetupWarning> = found.into_iter().map(SetupWarning::from).collect();
    warnings.extend(setup_of(case).check_mesh(mesh, geometry)?);
    warnings.extend(ranks::check_mesh(case, mesh)?);
    warnings.extend(case.output.lines.iter().filter_map(|line| points_outside(line, mesh)));
    Ok(warnings)
}

/// The warning of points of a line outside the mesh.
fn points_outside(line: &Line, mesh: &Mesh) -> Option<SetupWarning> {
    let (_, points) = line_points(line.from, line.to, line.points);
    let outside = locate(mesh, &points).iter().filter(|found| found.is_none()).count();
    let (name, points) = (line.name.clone(), points.len());
    (outside > 0).then_some(SetupWarning::PointsOutside { name, outside, points })
}

/// Refuses the plane of a picture that intersects no cell.
fn require_intersection(case: &Case, mesh: &Mesh) -> Result<(), SimulationError> {
    let picture = case.output.picture.as_ref();
    let Some(Slice { axis, at }) = picture.and_then(|picture| picture.slice) else { return Ok(()) };
    let coordinate = |node: &u32| mesh.points[*node as usize][axis as usize];
    let intersects = |cell: usize| {
        let coordinates = || mesh.cells.nodes_of(cell).iter().map(coordinate);
        coordinates().any(|x| x <= at) && coordinates().any(|x| x >= at)
    };
    if (0..mesh.n_cells()).any(intersects) {
        return Ok(());
    }
    let box_of_mesh = mesh.bounding_box().unwrap_or_default();
    let bounds = box_of_mesh.map(|corner| corner[axis as usize]);
    Err(SimulationError::Plane { axis: axis.word(), at, bounds })
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
    third.extend(setup_of(case).third_components());
    match third.into_iter().find(|(_, value)| *value != 0.0) {
        None => Ok(()),
        Some((what, value)) => Err(SimulationError::ThirdComponent { what, value }),
    }
}

/// Refuses a mesh of several connected components if no condition fixes the level of a field on one of them: a
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
    let setup = setup_of(case);
    let Some(FreeLevel { quantity, remedy, is_fixed_by }) = setup.free_level(case) else {
        return Ok(());
    };
    let is_by_faces = setup.location() == Location::Cells;
    let components = match is_by_faces {
        true => Cow::Borrowed(by_faces),
        false => Cow::Owned(ConnectedComponents::by_nodes(mesh)),
    };
    let fixed = components.touch_patches(mesh, |patch| is_fixed_by(&mesh.patches[patch].name));
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
