//! Cells and faces that degrade a solution or prevent a correct one.

use super::super::adjacency::CHUNK;
use super::super::error::{MeshError, MeshWarning, Place};
use super::super::geometry::{dot, norm, subtract};
use super::super::gradient_stencil::{
    Frame, LeastSquaresFit, Purpose, face_neighbours, fit_of_cell,
};
use super::super::quality::mean_ratio;
use super::super::{CellName, CellShape, Geometry, Mesh, cell_name};
use super::FaultyCells;
use rayon::prelude::*;

/// Mean ratio below which cells are named.
pub(super) const POOR_QUALITY: f64 = 0.05;
/// Non-orthogonality above which faces are named, degrees.
pub(super) const POOR_ANGLE_DEG: f64 = 80.0;
/// Largest non-orthogonality of a flow, degrees: beyond it the difference of two cell values does not
/// determine the flux between the cells.
pub(super) const MAX_ANGLE_DEG: f64 = 89.0;
/// Largest mean non-orthogonality of cell-centred flow in 3D, degrees.
const MAX_MEAN_ANGLE_DEG: f64 = 45.0;
/// Non-orthogonality up to which the correction of a flux is not limited, degrees.
const CORRECTED_ANGLE_DEG: f64 = 70.0;
/// Least mean ratio of a tetrahedron of a flow. Slivers of 0.002 are stable by small steps; cells stretched a thousandfold have 0.015.
const MIN_QUALITY: f64 = 1e-3;
/// Cosine below which the outward normals of two faces are opposite.
const OPPOSITE: f64 = -0.7;
/// Number of cells or faces that are named.
pub(super) const NAMED: usize = 10;

/// Angle between the normal of an interior face and its cells' line of centres, degrees.
pub(super) fn nonorthogonality_deg(mesh: &Mesh, geometry: &Geometry, face: usize) -> f64 {
    let left = geometry.cell_centre_of(mesh.face_left[face] as usize);
    let line = subtract(geometry.right_centre_of(mesh, face), left);
    let area = geometry.area_vector_of(face);
    (dot(line, area) / (norm(line) * norm(area))).clamp(-1.0, 1.0).acos().to_degrees()
}

/// Cells of poor quality, the worst first; `quality: [n_cells]`.
pub(super) fn poor_cells(mesh: &Mesh, quality: &[f64]) -> FaultyCells {
    let mut poor: Vec<usize> = (0..mesh.n_cells()).filter(|&c| quality[c] < POOR_QUALITY).collect();
    poor.sort_by(|&a, &b| {
        quality[a].total_cmp(&quality[b]).then(mesh.original_cell[a].cmp(&mesh.original_cell[b]))
    });
    let named = poor.iter().take(NAMED);
    let first = named.map(|&c| format!("{}: quality {:.4}", cell_name(mesh, c), quality[c]));
    FaultyCells { count: poor.len(), first: first.collect() }
}

/// An angle as a sort key, without round-off: equal angles are in the order of the file.
fn rounded(angle_deg: f64) -> f64 {
    (1e6 * angle_deg).round()
}

/// Interior faces of large non-orthogonality, the worst first; `angle: [n_interior_faces]`.
pub(super) fn nonorthogonal_faces(mesh: &Mesh, geometry: &Geometry, angle: &[f64]) -> FaultyCells {
    let mut poor: Vec<usize> = (0..angle.len()).filter(|&f| angle[f] > POOR_ANGLE_DEG).collect();
    poor.sort_by(|&a, &b| {
        let order = rounded(angle[b]).total_cmp(&rounded(angle[a]));
        order.then(cells_of(mesh, a).cmp(&cells_of(mesh, b)))
    });
    let first = poor.iter().take(NAMED).map(|&face| {
        let [low, high] = cells_of(mesh, face);
        let (place, angle) = (Place(geometry.face_centre_of(face)), angle[face]);
        format!("face at {place} between cells {low} and {high}: {angle:.2}°")
    });
    FaultyCells { count: poor.len(), first: first.collect() }
}

/// The file's numbers of the cells of an interior face, ascending.
fn cells_of(mesh: &Mesh, face: usize) -> [u32; 2] {
    let mut cells =
        [mesh.face_left[face], mesh.face_right[face]].map(|cell| mesh.original_cell[cell as usize]);
    cells.sort_unstable();
    cells
}

/// Cells in a single layer between opposite boundaries: all their nodes lie on faces of the selected
/// patches, and two of these faces, at nodes that they do not share, have opposite normals.
pub fn cells_between_walls(
    mesh: &Mesh,
    geometry: &Geometry,
    is_selected: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut at_node: Vec<(u32, u32)> = vec![];
    for (_, patch) in mesh.patches.iter().enumerate().filter(|(patch, _)| is_selected(*patch)) {
        for face in patch.faces.clone() {
            let nodes = mesh.face_to_nodes.of(face).iter();
            at_node.extend(nodes.map(|&node| (node, face as u32)));
        }
    }
    at_node.par_sort_unstable();
    let mut is_outer = vec![false; mesh.n_nodes()];
    at_node.iter().for_each(|&(node, _)| is_outer[node as usize] = true);
    let faces_at = |node: u32| {
        let first = at_node.partition_point(|entry| entry.0 < node);
        at_node[first..].iter().take_while(move |e| e.0 == node).map(|e| e.1 as usize)
    };
    let is_thin = |&cell: &usize| {
        let nodes = mesh.cells.nodes_of(cell);
        if !nodes.iter().all(|&node| is_outer[node as usize]) {
            return false;
        }
        let has = |face: usize, node: u32| mesh.face_to_nodes.of(face).contains(&node);
        let are_opposite = |f: usize, g: usize| {
            let (a, b) = (geometry.area_vector_of(f), geometry.area_vector_of(g));
            dot(a, b) < OPPOSITE * norm(a) * norm(b)
        };
        nodes.iter().enumerate().any(|(i, &a)| {
            nodes[..i].iter().any(|&b| {
                faces_at(a)
                    .filter(|&f| !has(f, b))
                    .any(|f| faces_at(b).any(|g| !has(g, a) && are_opposite(f, g)))
            })
        })
    };
    let mut thin: Vec<usize> =
        (0..mesh.n_cells()).into_par_iter().with_min_len(CHUNK).filter(is_thin).collect();
    thin.sort_unstable_by_key(|&cell| mesh.original_cell[cell]);
    thin
}

/// The names of [`cells_between_walls`] of all patches.
pub(super) fn thin_cells(mesh: &Mesh, geometry: &Geometry) -> FaultyCells {
    FaultyCells::of_cells(mesh, &cells_between_walls(mesh, geometry, |_| true))
}

/// Warns of cells in a single layer between walls; `is_wall` selects the patches.
pub fn warn_of_one_layer(
    mesh: &Mesh,
    geometry: &Geometry,
    is_wall: impl Fn(usize) -> bool,
) -> Option<MeshWarning> {
    let thin = cells_between_walls(mesh, geometry, is_wall);
    let cell = cell_name(mesh, *thin.first()?);
    Some(MeshWarning::OneLayer { count: thin.len(), cell })
}

/// The interior face of the largest non-orthogonality, in degrees.
fn worst_face(mesh: &Mesh, geometry: &Geometry) -> Option<(usize, f64)> {
    let worst = |a: &(usize, f64), b: &(usize, f64)| {
        rounded(a.1).total_cmp(&rounded(b.1)).then(cells_of(mesh, b.0).cmp(&cells_of(mesh, a.0)))
    };
    let angles = (0..mesh.n_interior_faces()).into_par_iter().with_min_len(CHUNK);
    angles.map(|face| (face, nonorthogonality_deg(mesh, geometry, face))).max_by(worst)
}

/// The cells of an interior face, the first in the order of the file by its name, and the centre of the face.
fn cells_at(mesh: &Mesh, geometry: &Geometry, face: usize) -> (CellName, u32, Place) {
    let [low, other] = cells_of(mesh, face);
    let of_face = [mesh.face_left[face], mesh.face_right[face]].map(|cell| cell as usize);
    let own = of_face.into_iter().find(|&cell| mesh.original_cell[cell] == low);
    let cell = cell_name(mesh, own.unwrap_or(of_face[0]));
    (cell, other, Place(geometry.face_centre_of(face)))
}

/// Refuses a mesh of a mean non-orthogonality above 45° with faces above 70°, on which cell-centred flow in 3D diverges: tetrahedra squeezed to 46° or more
/// after meshing diverge with any viscosity, convection scheme and pressure correction, those at 42° do not.
///
/// # Errors
/// [`MeshError::Distorted`].
pub fn refuse_distorted(mesh: &Mesh, geometry: &Geometry) -> Result<(), MeshError> {
    let Some((face, angle_deg)) = worst_face(mesh, geometry) else { return Ok(()) };
    if angle_deg <= CORRECTED_ANGLE_DEG {
        return Ok(());
    }
    let angles: Vec<f64> = (0..mesh.n_interior_faces())
        .into_par_iter()
        .with_min_len(CHUNK)
        .map(|face| nonorthogonality_deg(mesh, geometry, face))
        .collect();
    let mean_deg = angles.iter().fold(0.0, |sum, angle| sum + angle) / angles.len() as f64;
    if mean_deg <= MAX_MEAN_ANGLE_DEG {
        return Ok(());
    }
    let (cell, other, face) = cells_at(mesh, geometry, face);
    Err(MeshError::Distorted { mean_deg, angle_deg, cell, other, face })
}

/// Refuses a mesh that cannot give a correct flow: tetrahedra of a mean ratio below 0.001, neighbours with a non-orthogonality above
/// 89°, and a cell whose centre lies outside one of its boundary faces.
///
/// # Errors
/// [`MeshError::Flat`], the worst cell of the mesh; [`MeshError::NotOrthogonal`], [`MeshError::CentreOutside`], the worst face.
pub fn require_regular(mesh: &Mesh, geometry: &Geometry) -> Result<(), MeshError> {
    refuse_flat(mesh)?;
    let inner = mesh.n_interior_faces();
    if let Some((face, angle_deg)) = worst_face(mesh, geometry)
        && angle_deg > MAX_ANGLE_DEG
    {
        let (cell, other, face) = cells_at(mesh, geometry, face);
        return Err(MeshError::NotOrthogonal { cell, other, face, angle_deg });
    }
    let outside = |face: usize| {
        let centre = geometry.cell_centre_of(mesh.face_left[face] as usize);
        dot(subtract(geometry.face_centre_of(face), centre), geometry.area_vector_of(face)) <= 0.0
    };
    match (inner..mesh.n_faces()).find(|&face| outside(face)) {
        None => Ok(()),
        Some(face) => {
            let patch = mesh.patch_of(face).map(|patch| mesh.patches[patch].name.clone());
            Err(MeshError::CentreOutside {
                cell: cell_name(mesh, mesh.face_left[face] as usize),
                patch: patch.unwrap_or_default(),
                face: Place(geometry.face_centre_of(face)),
            })
        }
    }
}

/// Refuses the worst tetrahedron of a mean ratio below [`MIN_QUALITY`].
fn refuse_flat(mesh: &Mesh) -> Result<(), MeshError> {
    let tetrahedra = (0..mesh.n_cells()).into_par_iter().with_min_len(CHUNK);
    let quality = |cell: usize| {
        (mesh.cells.shapes[cell] == CellShape::Tetrahedron)
            .then(|| mean_ratio(CellShape::Tetrahedron, mesh.cells.nodes_of(cell), &mesh.points))
    };
    let flat = tetrahedra.filter_map(|cell| quality(cell).map(|quality| (quality, cell)));
    let worst = flat.filter(|(quality, _)| *quality < MIN_QUALITY).min_by(|a, b| {
        a.0.total_cmp(&b.0).then(mesh.original_cell[a.1].cmp(&mesh.original_cell[b.1]))
    });
    match worst {
        None => Ok(()),
        Some((quality, cell)) => {
            Err(MeshError::Flat { cell: cell_name(mesh, cell), quality, least: MIN_QUALITY })
        }
    }
}

/// Mean ratio of every cell: `[n_cells]`.
pub(super) fn qualities(mesh: &Mesh) -> Vec<f64> {
    (0..mesh.n_cells())
        .into_par_iter()
        .with_min_len(CHUNK)
        .map(|cell| mean_ratio(mesh.cells.shapes[cell], mesh.cells.nodes_of(cell), &mesh.points))
        .collect()
}

/// Number of cells whose face neighbours do not determine all directions of their gradient, and those
/// whose extended stencil does not either.
pub(super) fn gradient_stencils(mesh: &Mesh, geometry: &Geometry) -> (usize, FaultyCells) {
    let is_undetermined = |&cell: &usize| {
        let rows = face_neighbours(mesh, geometry, cell).map(|neighbour| neighbour.offset);
        !LeastSquaresFit::new(rows, Frame::IDENTITY, mesh.dimension).is_well_determined()
    };
    let cells = (0..mesh.n_cells()).into_par_iter().with_min_len(CHUNK);
    let undetermined: Vec<usize> = cells.filter(is_undetermined).collect();
    let drops = |&cell: &usize| {
        let rows = face_neighbours(mesh, geometry, cell).map(|neighbour| neighbour.offset);
        let rows: Vec<[f64; 3]> = rows.collect();
        fit_of_cell(mesh, geometry, cell, &rows, Purpose::Derivative, |_| true).dropped > 0
    };
    let mut dropped: Vec<usize> = undetermined.par_iter().copied().filter(drops).collect();
    dropped.sort_unstable_by_key(|&cell| mesh.original_cell[cell]);
    (undetermined.len(), FaultyCells::of_cells(mesh, &dropped))
}
