//! Small flat cells between larger ones.

use super::super::adjacency::CHUNK;
use super::super::error::MeshWarning;
use super::super::gradient_stencil::face_neighbours;
use super::super::{Geometry, Mesh, cell_name};
use super::faults::nonorthogonality_deg;
use rayon::prelude::*;

/// Non-orthogonality of a face above which its cells are flat, degrees.
const FLAT_ANGLE_DEG: f64 = 75.0;
/// Least volume of the largest face neighbour of a flat cell over its own. Tetrahedra of boundary layers are as flat, between
/// others like them.
const LARGER: f64 = 3.0;

/// Small flat cells in 3D, ascending: a line between the centroid and that of a face neighbour is more than 75° off the normal of their face, and
/// a face neighbour has more than three times the volume. Mesh generators leave them beside the edges of thin plates.
pub fn flat_cells(mesh: &Mesh, geometry: &Geometry) -> Vec<usize> {
    if mesh.dimension < 3 {
        return vec![];
    }
    let is_oblique = |face: &usize| nonorthogonality_deg(mesh, geometry, *face) > FLAT_ANGLE_DEG;
    let faces = (0..mesh.n_interior_faces()).into_par_iter().with_min_len(CHUNK);
    let oblique: Vec<usize> = faces.filter(is_oblique).collect();
    let of_face = |face: &usize| [mesh.face_left[*face], mesh.face_right[*face]];
    let mut cells: Vec<usize> = oblique.iter().flat_map(of_face).map(|c| c as usize).collect();
    cells.sort_unstable();
    cells.dedup();
    let volume = |cell: usize| geometry.cell_volume[cell];
    let is_smaller = |cell: &usize| {
        face_neighbours(mesh, geometry, *cell)
            .any(|other| volume(other.cell as usize) > LARGER * volume(*cell))
    };
    cells.retain(is_smaller);
    cells
}

/// Warns of [`flat_cells`].
pub fn warn_of_flat(mesh: &Mesh, geometry: &Geometry) -> Option<MeshWarning> {
    let flat = flat_cells(mesh, geometry);
    let first = flat.iter().min_by_key(|cell| mesh.original_cell[**cell])?;
    Some(MeshWarning::FlatCells { count: flat.len(), cell: cell_name(mesh, *first) })
}
