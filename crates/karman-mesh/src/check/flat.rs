//! Flat cells among cells of other sizes.

use super::super::adjacency::CHUNK;
use super::super::error::MeshWarning;
use super::super::gradient_stencil::face_neighbours;
use super::super::{Geometry, Mesh, cell_name};
use super::FaultyCells;
use super::faults::nonorthogonality_deg;
use rayon::prelude::*;

/// Non-orthogonality of a face above which its cells are flat, degrees.
const FLAT_ANGLE_DEG: f64 = 75.0;
/// Least ratio of volumes between a flat cell and one of its face neighbours. Tetrahedra of boundary layers are as flat, between
/// others like them.
const VOLUME_RATIO: f64 = 2.0;

/// Flat cells among cells of other sizes, in 3D, ascending: the line between the centroid and that of a face neighbour is more than 75° off
/// the normal of their face, and the volume of either cell differs by more than a factor of two from that of one of its face
/// neighbours. Mesh generators leave such cells beside the edges of thin plates.
pub fn flat_cells(mesh: &Mesh, geometry: &Geometry) -> Vec<usize> {
    if mesh.dimension < 3 {
        return vec![];
    }
    let is_oblique = |face: &usize| nonorthogonality_deg(mesh, geometry, *face) > FLAT_ANGLE_DEG;
    let volume = |cell: usize| geometry.cell_volume[cell];
    let has_other_size = |cell: usize| {
        face_neighbours(mesh, geometry, cell).any(|other| {
            let ratio = volume(other.cell as usize) / volume(cell);
            ratio.max(1.0 / ratio) > VOLUME_RATIO
        })
    };
    let faces = (0..mesh.n_interior_faces()).into_par_iter().with_min_len(CHUNK);
    let pairs = faces
        .filter(is_oblique)
        .map(|face| [mesh.face_left[face], mesh.face_right[face]].map(|cell| cell as usize))
        .filter(|pair| pair.iter().any(|cell| has_other_size(*cell)));
    let mut cells: Vec<usize> = pairs.collect::<Vec<_>>().concat();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The names of [`flat_cells`].
pub(super) fn named(mesh: &Mesh, geometry: &Geometry) -> FaultyCells {
    FaultyCells::of_cells(mesh, &flat_cells(mesh, geometry))
}

/// Warns of [`flat_cells`].
pub fn warn_of_flat(mesh: &Mesh, geometry: &Geometry) -> Option<MeshWarning> {
    let flat = flat_cells(mesh, geometry);
    let first = flat.iter().min_by_key(|cell| mesh.original_cell[**cell])?;
    Some(MeshWarning::FlatCells { count: flat.len(), cell: cell_name(mesh, *first) })
}
