//! Whether a mesh can carry a case: what a run warns of, and what it refuses.

use super::SimulationError;
use crate::case::{Case, Discretization, Equation, FlowBoundary, HeatBoundary, Value};
use crate::mesh::check::{inspect, require_regular, warn_of_one_layer};
use crate::mesh::{Geometry, Mesh, MeshWarning, Pieces};

/// Loose pieces that a message names.
const NAMED: usize = 3;

/// Looks at a mesh, its periodic patches joined, with the eyes of a case: what may be wrong with it.
///
/// # Errors
/// [`SimulationError::LoosePieces`], [`SimulationError::ThirdComponent`], and for a flow what
/// [`require_regular`] refuses.
pub(super) fn check_mesh(
    case: &Case,
    mesh: &Mesh,
    geometry: &Geometry,
) -> Result<Vec<MeshWarning>, SimulationError> {
    if mesh.dimension == 2 {
        require_two_components(case)?;
    }
    require_level(case, mesh)?;
    let mut warnings = inspect(mesh, geometry);
    if let Equation::Incompressible(flow) = &case.equation {
        require_regular(mesh, geometry)?;
        let is_wall = |patch: usize| {
            let given = flow.boundary.iter().find(|p| p.patch == mesh.patches[patch].name);
            given.is_some_and(|patch| match &patch.condition {
                FlowBoundary::Velocity(velocity) => {
                    velocity.iter().all(|component| component.constant() == Some(0.0))
                }
                _ => false,
            })
        };
        warnings.extend(warn_of_one_layer(mesh, geometry, is_wall));
    }
    Ok(warnings)
}

/// Refuses third coordinates and components in a case of a 2D mesh, whatever plane that was read from:
/// x and y of the case are the coordinates in it.
fn require_two_components(case: &Case) -> Result<(), SimulationError> {
    let output = &case.output;
    let probes = output.probes.iter().map(|probe| (format!("probe \"{}\"", probe.name), probe.at));
    let ends = |what: &str, name: &str, from, to| {
        [(format!("{what} \"{name}\""), from), (format!("{what} \"{name}\""), to)]
    };
    let lines = output.lines.iter().flat_map(|l| ends("line", &l.name, l.from, l.to));
    let places = probes.chain(lines).map(|(what, place)| (what, place[2]));
    let mut third: Vec<(String, f64)> = places.collect();
    if let Equation::Incompressible(flow) = &case.equation {
        let of = |values: &[Value; 3]| values[2].constant().unwrap_or(0.0);
        third.push(("the source".to_owned(), of(&flow.source)));
        third.push(("the initial velocity".to_owned(), of(&flow.initial_velocity)));
        for patch in &flow.boundary {
            if let FlowBoundary::Velocity(velocity) = &patch.condition {
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

/// Refuses a mesh in several pieces where one lacks what fixes its level: a temperature or convection
/// in steady conduction, an outlet in a flow. A mesh in one piece of more than one cell may do without,
/// a constant being left out of its solution; of several pieces that constant is another in each.
///
/// # Errors
/// [`SimulationError::LoosePieces`].
fn require_level(case: &Case, mesh: &Mesh) -> Result<(), SimulationError> {
    let is = |patch: usize, fixes: &dyn Fn(&str) -> bool| fixes(&mesh.patches[patch].name);
    let (pieces, is_by_faces, fixed, quantity, remedy) = match &case.equation {
        Equation::Heat(_) if !case.is_steady() => return Ok(()),
        Equation::Heat(heat) => {
            let is_by_faces = heat.discretization == Discretization::Cell;
            let pieces = if is_by_faces { Pieces::by_faces(mesh) } else { Pieces::by_nodes(mesh) };
            let fixes = |name: &str| {
                let given = heat.boundary.iter().find(|patch| patch.patch == name);
                given.is_some_and(|patch| {
                    let kind = &patch.condition;
                    matches!(kind, HeatBoundary::Temperature(_) | HeatBoundary::Convection { .. })
                })
            };
            let fixed = pieces.touch(mesh, |patch| is(patch, &fixes));
            let remedy = "a patch with a temperature or convection, or [time]";
            (pieces, is_by_faces, fixed, "temperature", remedy)
        }
        Equation::Incompressible(flow) => {
            let pieces = Pieces::by_faces(mesh);
            let fixes = |name: &str| {
                let given = flow.boundary.iter().find(|patch| patch.patch == name);
                given.is_some_and(|patch| {
                    matches!(patch.condition, FlowBoundary::Outlet(_) | FlowBoundary::Open(_))
                })
            };
            let fixed = pieces.touch(mesh, |patch| is(patch, &fixes));
            (pieces, true, fixed, "pressure", "an outlet")
        }
    };
    let order = pieces.smallest_first(mesh).into_iter();
    let loose: Vec<usize> = order.filter(|&piece| !fixed[piece]).collect();
    // A cell without a neighbour has no equation left but what the boundary gives it.
    let is_alone = |&piece: &usize| is_by_faces && pieces.cells[piece] == 1;
    if loose.is_empty() || pieces.len() < 2 && !loose.iter().any(is_alone) {
        return Ok(());
    }
    let named = |&piece: &usize| (pieces.cells[piece], pieces.name_of(mesh, piece));
    Err(SimulationError::LoosePieces {
        pieces: pieces.len(),
        count: loose.len(),
        loose: loose.iter().take(NAMED).map(named).collect(),
        quantity,
        remedy,
    })
}

#[cfg(test)]
mod tests;
