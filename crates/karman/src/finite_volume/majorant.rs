//! Conductances whose two-point operator bounds the corrected diffusion from above.

use super::NonOrthogonalCorrection;
use crate::mesh::geometry::dot;
use crate::mesh::{Mesh, index_of};
use rayon::prelude::*;

/// Conductances m_f ≥ a_f with xᵀ (A − K) x ≤ Σ_f m_f Δ_f² for every field x, Δ_f its difference across face f (the value
/// of the cell at a boundary face): `[n_faces]`.
///
/// K adds the fluxes t_f·∇x_f to those of A, and the gradient of a cell is Σ_k W_k Δ_k over its faces k, so that a face and a
/// cell contribute terms w |t_f·W_k| |Δ_f Δ_k| at most, w the weight of the cell at the face. By |Δ_f Δ_k| ≤ (Δ_f² + Δ_k²)/2 a half
/// of each factor is added to either face. Differences to further cells of a widened stencil are counted at all faces of
/// its cell.
pub fn majorant_conductances(
    mesh: &Mesh,
    correction: &NonOrthogonalCorrection,
    conductances: &[f64],
) -> Vec<f64> {
    let NonOrthogonalCorrection { stencils, tangential, left_weight, row_cell, .. } = correction;
    let (n_faces, inner) = (mesh.n_faces(), mesh.n_interior_faces());
    let rows = stencils.rows.as_ref();
    let n_items = stencils.weights.len() / 3;
    let first_item = |cell: usize| {
        rows.map_or(mesh.cell_to_faces.offsets[cell], |rows| rows.offsets[cell]) as usize
    };
    let tangent = |face: usize| [0, 1, 2].map(|k| tangential[k * n_faces + face]);
    // The additions of each cell to each of its faces.
    let of_cell = |cell: usize, additions: &mut [f64]| {
        let faces = mesh.cell_to_faces.of(cell);
        let items = first_item(cell)..first_item(cell + 1);
        additions.fill(0.0);
        for (place, item) in faces.iter().enumerate() {
            let f = index_of(*item);
            let is_left = mesh.face_left[f] as usize == cell;
            let share = match (f < inner, is_left) {
                (false, _) => 1.0,
                (true, true) => left_weight[f],
                (true, false) => 1.0 - left_weight[f],
            };
            let t = tangent(f);
            for (k, item) in items.clone().enumerate() {
                let weight = [0, 1, 2].map(|axis| stencils.weights[axis * n_items + item]);
                let half = 0.5 * share * dot(t, weight).abs();
                match faces.get(k).map(|other| index_of(*other)) {
                    Some(other) if other >= inner => {
                        let factor = row_cell[other - inner].abs();
                        additions[place] += half * factor;
                        additions[k] += half * factor;
                    }
                    Some(_) => {
                        additions[place] += half;
                        additions[k] += half;
                    }
                    None => additions.iter_mut().for_each(|addition| *addition += half),
                }
            }
        }
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
    // The additions of both cells, of the one with the lower number first.
    let of_face = |face: usize| {
        let left = mesh.face_left[face];
        let right = if face < inner { mesh.face_right[face] } else { left };
        let cells = [left.min(right), left.max(right)];
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

/// Cells of a task.
const CELLS_A_TASK: usize = 1024;
