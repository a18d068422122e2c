//! Values at points on and near boundary faces with a prescribed value.

use super::locate::Located;
use super::sampler::{NodeAdjacency, least_squares_weights};
use crate::mesh::geometry::{add_scaled, cross, dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};

type Vector = [f64; 3];

/// Largest distance of a point on a face, over the distance of the cell centre from the face.
const ON_FACE: f64 = 1e-4;
/// Largest distance of a point outside the mesh beyond the edges of its face, over the size of the face: for
/// points between the facets of a curved wall.
const BESIDE: f64 = 0.1;
/// Least cosine between the normals of faces of a smooth surface.
const SMOOTH: f64 = 0.7;

/// Weights of cells and boundary faces for the value at a point; their sum is 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryRow {
    /// Cells and their weights.
    pub cells: Vec<(u32, f64)>,
    /// Boundary faces, in the numbering of the mesh, and the weights of the values there.
    pub faces: Vec<(u32, f64)>,
}

/// The rows of points on or near boundary faces with a prescribed value, those of `is_known`: `[n_points]`,
/// none for other points. For a point on a prescribed face, or beyond a facet of a curved wall, the row is a
/// least-squares plane through the values of the face and of its neighbours in the patch. For a point nearby
/// it is a least-squares plane through the cells and prescribed faces around the point's cell. Exact for
/// linear fields, except for the distance between facets and curved walls.
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
    let faces = NodeAdjacency::new(faces.map(|face| (face as u32, mesh.face_to_nodes.of(face))));
    let located_cells = located.iter().flatten().map(|found| found.cell);
    let cells = NodeAdjacency::of_cells(mesh, located_cells);
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
        if near.is_empty() || own.any(|face| mesh.is_periodic(face)) {
            return None;
        }
        let around = cells.of_cell(mesh, *cell);
        let cells: Vec<usize> = std::iter::once(*cell).chain(around).collect();
        let centres = cells.iter().map(|&cell| geometry.cell_centre_of(cell));
        let centres = centres.chain(near.iter().map(|&face| geometry.face_centre_of(face)));
        let weights = least_squares_weights(&centres.collect::<Vec<_>>(), *point);
        let named = |list: &[usize], weights: &[f64]| {
            list.iter().map(|&item| item as u32).zip(weights.iter().copied()).collect()
        };
        let (of_cells, of_faces) = weights.split_at(cells.len());
        Some(BoundaryRow { cells: named(&cells, of_cells), faces: named(&near, of_faces) })
    };
    points.iter().zip(located).map(row).collect()
}

/// A face on which a point lies, or beyond which it lies outside the mesh.
struct Touch {
    face: usize,
    /// Distance of the point from the plane of the face, over that of the cell centre.
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
        let from_centre = subtract(x, centre);
        let height = dot(from_centre, normal) / depth;
        let is_touched = depth > 0.0
            && height >= -ON_FACE
            && (height <= ON_FACE || outside)
            && projects_into(mesh, face, normal, x, if outside { BESIDE } else { ON_FACE });
        is_touched.then(|| Touch { face, height: height.abs(), distance: norm(from_centre) })
    }

    /// Orders by the distance from the plane, and by the distance from the centre on several faces.
    fn order(a: &Touch, b: &Touch) -> std::cmp::Ordering {
        let height = |touch: &Touch| if touch.height <= ON_FACE { 0.0 } else { touch.height };
        height(a).total_cmp(&height(b)).then(a.distance.total_cmp(&b.distance))
    }
}

/// Whether the projection of a point lies in a convex face, enlarged by a fraction `slack` of its edges.
fn projects_into(mesh: &Mesh, face: usize, normal: Vector, x: Vector, slack: f64) -> bool {
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

/// The value on a face: the least-squares plane, in the plane of the face, through the values of the known
/// faces around it that continue it smoothly.
fn on_face(
    mesh: &Mesh,
    geometry: &Geometry,
    known: &NodeAdjacency,
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
    let tangential = |point: Vector| {
        let from_centre = subtract(point, geometry.face_centre_of(face));
        add_scaled(from_centre, -dot(from_centre, normal), normal)
    };
    let centres = faces.iter().map(|&f| tangential(geometry.face_centre_of(f)));
    let weights = least_squares_weights(&centres.collect::<Vec<Vector>>(), tangential(x));
    let faces = faces.into_iter().map(|face| face as u32).zip(weights).collect();
    BoundaryRow { cells: vec![], faces }
}

#[cfg(test)]
mod tests;
