//! Values at points at and near boundary faces on which a field is prescribed.

use super::locate::Located;
use super::sampler::{Around, fitted_weights};
use crate::mesh::geometry::{add_scaled, cross, dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};

type Vector = [f64; 3];

/// A point this near to a face lies on it, as a part of the distance of its cell's centre.
const ON_FACE: f64 = 1e-4;
/// How far beyond the sides of its face a point outside the mesh may be, as a part of the face:
/// between the facets of a curved wall.
const BESIDE: f64 = 0.1;
/// Normals of faces that continue each other differ by less than this cosine tells.
const SMOOTH: f64 = 0.7;

/// A value as a weighted sum over cells and boundary faces, all weights summing to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryRow {
    /// Cells and their weights.
    pub cells: Vec<(u32, f64)>,
    /// Boundary faces, in the numbering of the mesh, and the weights of the values there.
    pub faces: Vec<(u32, f64)>,
}

/// The rows of points at or near boundary faces on which `is_known` tells that the field has a known
/// value: `[n_points]`, none for other points. A point on such a face, or beyond it where the facets of
/// a mesh cut a curved wall short, has the value of the boundary: a plane fitted to the values on the
/// face and on those of its patch around it. Near them the plane is fitted to the cells and the known
/// faces around the point's cell. Exact for linear fields but, on
/// curved walls, for how far the facets lie inside.
pub fn rows_at_boundary(
    mesh: &Mesh,
    geometry: &Geometry,
    points: &[Vector],
    located: &[Option<Located>],
    is_known: impl Fn(usize) -> bool,
) -> Vec<Option<BoundaryRow>> {
    if located.iter().all(Option::is_none) {
        return vec![None; points.len()];
    }
    let first = mesh.n_interior_faces();
    let faces = (first..mesh.n_faces()).filter(|&face| is_known(face));
    let faces = Around::new(faces.map(|face| (face as u32, mesh.face_to_nodes.of(face))));
    let wanted = located.iter().flatten().map(|found| found.cell);
    let cells = Around::of_cells(mesh, wanted);
    let row = |(point, located): (&Vector, &Option<Located>)| {
        let Located { cell, outside, .. } = located.as_ref()?;
        let region = mesh.cells.groups[*cell];
        let mut near = faces.at(mesh.cells.nodes_of(*cell));
        near.retain(|&face| mesh.cells.groups[mesh.face_left[face] as usize] == region);
        let touched = |face: &usize| Touch::of(mesh, geometry, *face, *point, *outside > 0.0);
        let nearest = near.iter().filter_map(touched).min_by(Touch::order);
        if let Some(touch) = nearest {
            return Some(on_face(mesh, geometry, &faces, touch.face, *point));
        }
        let mut own = mesh.cell_to_faces.of(*cell).iter().map(|&item| index_of(item));
        if near.is_empty() || own.any(|face| mesh.is_joined(face)) {
            return None;
        }
        let around = cells.of_cell(mesh, *cell);
        let cells: Vec<usize> = std::iter::once(*cell).chain(around).collect();
        let centres = cells.iter().map(|&cell| geometry.cell_centre_of(cell));
        let centres = centres.chain(near.iter().map(|&face| geometry.face_centre_of(face)));
        let weights = fitted_weights(&centres.collect::<Vec<_>>(), *point);
        let named = |list: &[usize], weights: &[f64]| {
            list.iter().map(|&item| item as u32).zip(weights.iter().copied()).collect()
        };
        let (of_cells, of_faces) = weights.split_at(cells.len());
        Some(BoundaryRow { cells: named(&cells, of_cells), faces: named(&near, of_faces) })
    };
    points.iter().zip(located).map(row).collect()
}

/// A face that a point lies on, or beyond.
struct Touch {
    face: usize,
    /// Distance from the plane of the face over that of the cell's centre.
    height: f64,
    /// Distance from the face's centre.
    distance: f64,
}

impl Touch {
    fn of(
        mesh: &Mesh,
        geometry: &Geometry,
        face: usize,
        x: Vector,
        outside: bool,
    ) -> Option<Touch> {
        let area = geometry.area_vector_of(face);
        let normal = area.map(|component| component / norm(area));
        let centre = geometry.face_centre_of(face);
        let cell = geometry.cell_centre_of(mesh.face_left[face] as usize);
        let depth = dot(subtract(centre, cell), normal);
        let arm = subtract(x, centre);
        let height = dot(arm, normal) / depth;
        let is_touched = depth > 0.0
            && height >= -ON_FACE
            && (height <= ON_FACE || outside)
            && is_beside(mesh, face, normal, x, if outside { BESIDE } else { ON_FACE });
        is_touched.then(|| Touch { face, height: height.abs(), distance: norm(arm) })
    }

    /// The nearest plane first, the nearest centre where several are met.
    fn order(a: &Touch, b: &Touch) -> std::cmp::Ordering {
        let coarse = |touch: &Touch| if touch.height <= ON_FACE { 0.0 } else { touch.height };
        coarse(a).total_cmp(&coarse(b)).then(a.distance.total_cmp(&b.distance))
    }
}

/// Whether a point is above or below a convex face, or beyond its sides by no more than a part of them.
fn is_beside(mesh: &Mesh, face: usize, normal: Vector, x: Vector, slack: f64) -> bool {
    let nodes = mesh.face_to_nodes.of(face);
    let corner = |i: usize| mesh.points[nodes[i % nodes.len()] as usize];
    if nodes.len() == 2 {
        let along = subtract(corner(1), corner(0));
        let share = dot(subtract(x, corner(0)), along) / dot(along, along);
        return (-slack..=1.0 + slack).contains(&share);
    }
    (0..nodes.len()).all(|i| {
        let side = subtract(corner(i + 1), corner(i));
        dot(cross(side, subtract(x, corner(i))), normal) >= -slack * dot(side, side)
    })
}

/// The value on a face: the plane through the values of the known faces around it that continue it,
/// taken along the face.
fn on_face(
    mesh: &Mesh,
    geometry: &Geometry,
    known: &Around,
    face: usize,
    x: Vector,
) -> BoundaryRow {
    let unit = |face: usize| {
        let area = geometry.area_vector_of(face);
        area.map(|component| component / norm(area))
    };
    let (normal, patch) = (unit(face), mesh.patch_of(face));
    let mut faces = known.at(mesh.face_to_nodes.of(face));
    faces.retain(|&other| mesh.patch_of(other) == patch && dot(unit(other), normal) > SMOOTH);
    let along = |point: Vector| {
        let arm = subtract(point, geometry.face_centre_of(face));
        add_scaled(arm, -dot(arm, normal), normal)
    };
    let places: Vec<Vector> = faces.iter().map(|&f| along(geometry.face_centre_of(f))).collect();
    let weights = fitted_weights(&places, along(x));
    let faces = faces.into_iter().map(|face| face as u32).zip(weights).collect();
    BoundaryRow { cells: vec![], faces }
}

#[cfg(test)]
mod tests;
