//! Boundary faces that coincide with a boundary face of another cell: interfaces between bodies whose
//! meshes do not share their nodes.

use super::super::error::{MeshWarning, Place};
use super::super::geometry::{add_scaled, cross, dot, norm, subtract};
use super::super::{Geometry, Mesh, cell_name};
use rayon::prelude::*;

/// Largest distance between coincident faces over their size.
const GAP: f64 = 1e-3;
/// Cosine below which two outward normals are opposite.
const FACING: f64 = -0.9;
/// Largest average number of boxes of the search grid for a face.
const BOXES_A_FACE: usize = 16;
/// Boundary faces of a task.
const CHUNK: usize = 1024;

/// A boundary face and another boundary face, of opposite normal, on which its centre lies.
pub(super) type CoincidentPair = [usize; 2];

/// All boundary faces whose centre lies on another boundary face with the opposite normal. Two faces
/// that coincide give two entries.
pub(super) fn coincident_faces(mesh: &Mesh, geometry: &Geometry) -> Vec<CoincidentPair> {
    let grid = Grid::new(mesh);
    let boundary: Vec<usize> = (mesh.n_interior_faces()..mesh.n_faces()).collect();
    let on_another = |&face: &usize| {
        let centre = geometry.face_centre_of(face);
        let candidates = grid.faces_at(centre);
        let found =
            candidates.filter(|&other| other != face && lies_on(mesh, geometry, face, other)).min();
        found.map(|other| [face, other])
    };
    let chunks: Vec<Vec<CoincidentPair>> = boundary
        .par_chunks(CHUNK)
        .map(|faces| faces.iter().filter_map(on_another).collect())
        .collect();
    chunks.concat()
}

/// The warning about coincident faces, if there are any.
pub(super) fn warning(mesh: &Mesh, coincident_faces: &[CoincidentPair]) -> Option<MeshWarning> {
    let name = |face: usize| {
        let patch = mesh.patch_of(face).map(|patch| mesh.patches[patch].name.clone());
        (cell_name(mesh, mesh.face_left[face] as usize), patch.unwrap_or_default())
    };
    let in_file = |face: usize| mesh.original_cell[mesh.face_left[face] as usize];
    let first = coincident_faces.iter().min_by_key(|[a, b]| (in_file(*a), in_file(*b)))?;
    let [(cell, patch), (other, other_patch)] = first.map(name);
    let nodes = mesh.face_to_nodes.of(first[0]);
    let place = Place(super::super::geometry::mean_point(nodes, &mesh.points));
    let (count, other) = (coincident_faces.len(), other.index);
    Some(MeshWarning::CoincidentFaces { count, place, cell, patch, other, other_patch })
}

/// Whether the centre of `face` lies on `other`, whose normal is opposite.
fn lies_on(mesh: &Mesh, geometry: &Geometry, face: usize, other: usize) -> bool {
    let (own, area) = (geometry.area_vector_of(face), geometry.area_vector_of(other));
    let size = norm(area);
    if dot(own, area) > FACING * norm(own) * size {
        return false;
    }
    let normal = area.map(|component| component / size);
    let centre = geometry.face_centre_of(face);
    let height = dot(subtract(centre, geometry.face_centre_of(other)), normal);
    let length = if mesh.dimension == 2 { size } else { size.sqrt() };
    height.abs() <= GAP * length && is_within(mesh, other, normal, centre)
}

/// Whether a point in the plane of a convex face lies between its sides.
fn is_within(mesh: &Mesh, face: usize, normal: [f64; 3], x: [f64; 3]) -> bool {
    let nodes = mesh.face_to_nodes.of(face);
    let corner = |i: usize| mesh.points[nodes[i % nodes.len()] as usize];
    if let [_, _] = nodes {
        let along = subtract(corner(1), corner(0));
        let share = dot(subtract(x, corner(0)), along) / dot(along, along);
        return (-GAP..=1.0 + GAP).contains(&share);
    }
    (0..nodes.len()).all(|i| {
        let side = subtract(corner(i + 1), corner(i));
        let to_point = subtract(x, corner(i));
        dot(cross(side, to_point), normal) >= -GAP * dot(side, side)
    })
}

/// Boundary faces sorted into the boxes of a uniform grid that they intersect.
struct Grid {
    low: [f64; 3],
    size: f64,
    /// Box and face, sorted.
    entries: Vec<(u64, u32)>,
}

impl Grid {
    fn new(mesh: &Mesh) -> Grid {
        let faces = mesh.n_interior_faces()..mesh.n_faces();
        let boxes: Vec<[[f64; 3]; 2]> = faces.clone().map(|face| box_of(mesh, face)).collect();
        let extent = |[low, high]: &[[f64; 3]; 2]| norm(subtract(*high, *low));
        let sum = boxes.iter().map(extent).fold(0.0, |sum, e| sum + e);
        let mean = sum / boxes.len().max(1) as f64;
        let low = boxes.iter().fold([f64::INFINITY; 3], |low, [from, _]| {
            std::array::from_fn(|k| low[k].min(from[k]))
        });
        let mut grid = Grid { low, size: mean.max(f64::MIN_POSITIVE), entries: vec![] };
        // Coarsen the grid where faces of very different sizes intersect too many boxes.
        while boxes.iter().map(|ends| grid.boxes(ends)).fold(0.0, |sum, n| sum + n)
            > (BOXES_A_FACE * boxes.len()) as f64
        {
            grid.size *= 2.0;
        }
        for (face, ends) in faces.zip(&boxes) {
            let [from, to] = ends.map(|end| grid.box_at(end));
            for (i, j, k) in (from[0]..=to[0])
                .flat_map(|i| (from[1]..=to[1]).map(move |j| (i, j)))
                .flat_map(|(i, j)| (from[2]..=to[2]).map(move |k| (i, j, k)))
            {
                grid.entries.push((key([i, j, k]), face as u32));
            }
        }
        grid.entries.par_sort_unstable();
        grid
    }

    fn box_at(&self, x: [f64; 3]) -> [u64; 3] {
        // At most 2^21 boxes a direction; the last box has all faces beyond.
        std::array::from_fn(|k| ((x[k] - self.low[k]) / self.size).clamp(0.0, 2_097_151.0) as u64)
    }

    fn boxes(&self, ends: &[[f64; 3]; 2]) -> f64 {
        let [from, to] = ends.map(|end| self.box_at(end));
        (0..3).map(|k| (to[k] - from[k] + 1) as f64).fold(1.0, |product, n| product * n)
    }

    fn faces_at(&self, x: [f64; 3]) -> impl Iterator<Item = usize> {
        let searched = key(self.box_at(x));
        let first = self.entries.partition_point(|(key, _)| *key < searched);
        let here = self.entries[first..].iter().take_while(move |(key, _)| *key == searched);
        here.map(|(_, face)| *face as usize)
    }
}

fn key([i, j, k]: [u64; 3]) -> u64 {
    i << 42 | j << 21 | k
}

/// The bounding box of a face, enlarged by [`GAP`] times its diagonal.
fn box_of(mesh: &Mesh, face: usize) -> [[f64; 3]; 2] {
    let nodes = mesh.face_to_nodes.of(face);
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in nodes.iter().map(|&node| mesh.points[node as usize]) {
        low = std::array::from_fn(|k| low[k].min(point[k]));
        high = std::array::from_fn(|k| high[k].max(point[k]));
    }
    let margin = GAP * norm(subtract(high, low));
    [add_scaled(low, -margin, [1.0; 3]), add_scaled(high, margin, [1.0; 3])]
}
