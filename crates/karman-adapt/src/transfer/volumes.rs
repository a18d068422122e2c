//! Volumes of cells, and sums with them.

use super::clip::measure;
use super::overlap::corners_of;
use crate::kept_parts::KeptParts;
use karman_mesh::Mesh;
use rayon::prelude::*;

/// Σ v w in the order of the entries.
pub(super) fn weighted_sum(weights: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    weights.iter().zip(values).fold(0.0, |sum, (weight, value)| sum + weight * value)
}

/// Volumes (areas) of the cells that were not kept, 0 of the others.
pub(super) fn volumes(mesh: &Mesh, kept: &KeptParts) -> Vec<f64> {
    let of_cell = |cell| match kept.cell(cell) {
        Some(_) => 0.0,
        None => measure(mesh.dimension, &corners_of(mesh, cell)),
    };
    (0..mesh.n_cells()).into_par_iter().map(of_cell).collect()
}
