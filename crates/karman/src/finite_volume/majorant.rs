//! Conductances whose two-point operator bounds the corrected diffusion from above.

use super::cell_scheme::{BoundaryFlux, CellScheme, FaceFlux};
use super::least_squares::Use;
use super::{LocalMesh, NonOrthogonalCorrection};
use crate::mesh::geometry::dot;
use crate::mesh::gradient_stencil::Rows;
use crate::mesh::index_of;
use rayon::prelude::*;

/// Conductances m_f ≥ a_f with xᵀ (A − K) x ≤ Σ_f m_f Δ_f² for every field x, Δ_f its difference across face f (the value
/// of the cell at a boundary face): `[n_faces]`.
///
/// K adds the fluxes t_f·∇x_f to those of A, and the gradient of a cell is Σ_k W_k Δ_k over its faces k, so that a face and a
/// cell contribute terms w |t_f·W_k| |Δ_f Δ_k| at most, w the weight of the cell at the face. By |Δ_f Δ_k| ≤ (Δ_f² + Δ_k²)/2 a half
/// of each factor is added to either face. Differences to further cells of a widened stencil are counted at all faces of
/// its cell.
///
/// A part passes itself as `place`, and the scheme of the whole mesh, by which it computes the additions of ghosts.
pub fn majorant_conductances(
    place: LocalMesh<'_>,
    correction: &NonOrthogonalCorrection,
    conductances: &[f64],
    whole_scheme: &CellScheme<'_>,
) -> Vec<f64> {
    let mesh = place.mesh;
    let NonOrthogonalCorrection { stencils, tangential, left_weight, row_cell, .. } = correction;
    let (n_faces, inner) = (mesh.n_faces(), mesh.n_interior_faces());
    let rows = stencils.rows.as_ref();
    let n_items = stencils.weights.len() / 3;
    let first_item = |cell: usize| {
        rows.map_or(mesh.cell_to_faces.offsets[cell], |rows| rows.offsets[cell]) as usize
    };
    // The additions of each cell to each of its faces.
    let of_cell = |cell: usize, additions: &mut [f64]| {
        let faces = mesh.cell_to_faces.of(cell);
        if cell >= mesh.cell_count.owned {
            if !faces.is_empty() {
                let of_faces = whole_scheme.additions(place.global_cell(cell));
                place.restrict_to_faces(cell, &of_faces, additions);
            }
            return;
        }
        let face = |item: &u32| {
            let f = index_of(*item);
            let is_left = mesh.face_left[f] as usize == cell;
            CellFace {
                share: match (f < inner, is_left) {
                    (false, _) => 1.0,
                    (true, true) => left_weight[f],
                    (true, false) => 1.0 - left_weight[f],
                },
                tangential: [0, 1, 2].map(|k| tangential[k * n_faces + f]),
                row_cell: if f < inner { 1.0 } else { row_cell[f - inner].abs() },
            }
        };
        let faces: Rows<CellFace> = faces.iter().map(face).collect();
        let weights = (first_item(cell)..first_item(cell + 1))
            .map(|item| [0, 1, 2].map(|axis| stencils.weights[axis * n_items + item]));
        add_of_cell(&faces, weights, additions);
    };
    let offsets = &mesh.cell_to_faces.offsets;
    let mut additions = vec![0.0; mesh.cell_to_faces.items.len()];
    let mut rest = &mut additions[..];
    let mut tasks = Vec::with_capacity(mesh.n_cells() / CELLS_A_TASK + 1);
    for first in (0..mesh.n_cells()).step_by(CELLS_A_TASK) {
        let end = (first + CELLS_A_TASK).min(mesh.n_cells());
        let (own, after) = rest.split_at_mut((offsets[end] - offsets[first]) as usize);
        tasks.push((first..end, own));
        rest = after;
    }
    tasks.into_par_iter().for_each(|(cells, own)| {
        let start = offsets[cells.start] as usize;
        for cell in cells {
            let range = offsets[cell] as usize - start..offsets[cell + 1] as usize - start;
            of_cell(cell, &mut own[range]);
        }
    });
    // The additions of both cells, of the one with the lower number in the whole mesh first.
    let of_face = |face: usize| {
        let left = mesh.face_left[face];
        let right = if face < inner { mesh.face_right[face] } else { left };
        let mut cells = [left, right];
        cells.sort_unstable_by_key(|cell| place.global_cell(*cell as usize));
        let cells = if left == right { &cells[..1] } else { &cells[..] };
        let mut majorant = conductances[face];
        for cell in cells.iter().map(|cell| *cell as usize) {
            let places = mesh.cell_to_faces.of(cell).iter().zip(offsets[cell] as usize..);
            let of_cell = places.filter(|(item, _)| index_of(**item) == face);
            of_cell.for_each(|(_, place)| majorant += additions[place]);
        }
        majorant
    };
    (0..n_faces).into_par_iter().with_min_len(CELLS_A_TASK).map(of_face).collect()
}

/// A face of a cell.
struct CellFace {
    /// Weight of the cell at the face.
    share: f64,
    /// t of the face.
    tangential: [f64; 3],
    /// Factor of the value of the cell in the difference across the face, not negative.
    row_cell: f64,
}

/// The additions of a cell to its faces, from the weights of its gradient, of which the first are those of its faces.
fn add_of_cell(
    faces: &[CellFace],
    weights: impl Iterator<Item = [f64; 3]> + Clone,
    additions: &mut [f64],
) {
    additions.fill(0.0);
    for (place, CellFace { share, tangential, .. }) in faces.iter().enumerate() {
        for (k, weight) in weights.clone().enumerate() {
            let half = 0.5 * share * dot(*tangential, weight).abs();
            match faces.get(k) {
                Some(other) => {
                    let addition = half * other.row_cell;
                    additions[place] += addition;
                    additions[k] += addition;
                }
                None => additions.iter_mut().for_each(|addition| *addition += half),
            }
        }
    }
}

impl CellScheme<'_> {
    /// The additions of a cell to its faces in [`majorant_conductances`].
    fn additions(&self, cell: usize) -> Vec<f64> {
        let (faces, inner) = (self.mesh.cell_to_faces.of(cell), self.mesh.n_interior_faces());
        let face = |item: &u32| {
            let f = index_of(*item);
            if f >= inner {
                let BoundaryFlux { tangential, row_cell, .. } = self.boundary_flux(f, true);
                return CellFace { share: 1.0, tangential, row_cell: row_cell.abs() };
            }
            let FaceFlux { tangential, left_weight, .. } = self.interior_flux(f, true);
            let is_left = self.mesh.face_left[f] as usize == cell;
            let share = if is_left { left_weight } else { 1.0 - left_weight };
            CellFace { share, tangential, row_cell: 1.0 }
        };
        let faces: Rows<CellFace> = faces.iter().map(face).collect();
        let weights = self.weights(cell, Use::Derivative);
        let mut additions = vec![0.0; faces.len()];
        add_of_cell(&faces, weights.into_iter(), &mut additions);
        additions
    }
}

/// Cells of a task.
const CELLS_A_TASK: usize = 1024;
