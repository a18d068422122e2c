//! The conservative transfer of fields to another mesh.

use super::overlap::{Overlaps, centroid, corners_of};
use super::project::project;
use super::reconstruct::Limiter;
use super::sampler::FieldSampler;
use super::volumes::{volumes, weighted_sum};
use crate::error::AdaptError;
use crate::kept_parts::KeptParts;
use crate::mesh::check_periodic;
use crate::simplices::simplex_of;
use crate::vector::{Point, dot, subtract};
use karman_mesh::Mesh;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Fields on the new mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Conserved {
    /// The fields, one after the other.
    pub fields: Vec<Vec<f64>>,
    /// The constant added to every value of each field: it restores the integral where curved boundaries make the domains differ.
    /// For equal domains it is a rounding error.
    pub correction: Vec<f64>,
}

/// A transfer from a mesh to another that keeps the integrals of fields to round-off.
///
/// The linear function in each old cell is integrated over its intersections with the new cells. A part of a new cell outside of the
/// old mesh takes the function of the old cell with the largest share of the new one, with a limiter its mean. The integral then differs
/// by the volumes outside of the other mesh: this difference, over the volume of the new mesh, is added to every value. Cells that were kept
/// have their old values, and so have their nodes.
#[derive(Debug)]
pub struct ConservativeTransfer {
    old: Arc<FieldSampler>,
    new: Arc<Mesh>,
    kept: KeptParts,
    /// Whether each old cell was kept.
    is_kept: Vec<bool>,
    overlaps: OnceLock<Overlaps>,
    old_volumes: Vec<f64>,
    new_volumes: Vec<f64>,
}

impl ConservativeTransfer {
    /// The transfer from the mesh that `old` samples to `new`, whose cells are those of `kept` or simplices.
    ///
    /// # Errors
    /// [`AdaptError::Periodic`]; [`AdaptError::Shapes`] of other cells that were not kept.
    pub fn new(
        old: Arc<FieldSampler>,
        new: Arc<Mesh>,
        kept: KeptParts,
    ) -> Result<Self, AdaptError> {
        check_periodic(&new)?;
        let (shape, simplices) = simplex_of(new.dimension);
        let is_other =
            |cell: &usize| new.cells.shapes[*cell] != shape && kept.cell(*cell).is_none();
        let count = (0..new.n_cells()).filter(is_other).count();
        if count > 0 {
            return Err(AdaptError::Shapes { count, simplices });
        }
        let is_kept = kept.cells_before(old.n_cells());
        let (old_volumes, new_volumes) = (old.volumes(&is_kept), volumes(&new, &kept));
        let overlaps = OnceLock::new();
        Ok(ConservativeTransfer { old, new, kept, is_kept, overlaps, old_volumes, new_volumes })
    }

    /// Finds the intersections of the cells, which the first transfer of cell means otherwise does.
    pub fn prepare(&self) {
        self.overlaps();
    }

    fn overlaps(&self) -> &Overlaps {
        let find = || {
            let old = (&self.old.walk, &self.old.tree, &self.is_kept[..]);
            let nearest = |point: Point| self.old.locate(point, &mut vec![]).0;
            Overlaps::new(&self.new, &self.kept, old, nearest)
        };
        self.overlaps.get_or_init(find)
    }

    /// Fields of cell means, each `[n_cells]` of the old mesh: the means over the new cells. Exact for linear fields without a
    /// limiter. With [`Limiter::Admissible`] the new states are admissible where the old ones are.
    pub fn cells(&self, fields: &[&[f64]], limiter: Limiter<'_>) -> Conserved {
        let k = fields.len();
        let gradients = self.old.stencils.gradients(fields, limiter);
        let overlaps = self.overlaps();
        let owner = |simplex: u32| self.old.walk.owners[simplex as usize] as usize;
        let at = |cell: usize, field: usize, point: Point| {
            let delta = subtract(point, self.old.stencils.centroids[cell]);
            fields[field][cell] + dot(gradients[cell * k + field], delta)
        };
        let is_linear = matches!(limiter, Limiter::None);
        let mut states = vec![0.0; k * self.new.n_cells()];
        states.par_chunks_mut(k.max(1)).enumerate().for_each(|(cell, state)| {
            if let Some(before) = self.kept.cell(cell) {
                state.iter_mut().zip(fields).for_each(|(value, field)| *value = field[before]);
                return;
            }
            let own = owner(overlaps.largest[cell]);
            let outside = |field: usize, point: Point| match is_linear {
                true => at(own, field, point),
                false => fields[field][own],
            };
            let middle = centroid(self.new.dimension, &corners_of(&self.new, cell));
            let volume = self.new_volumes[cell];
            for (field, value) in state.iter_mut().enumerate() {
                let mut change = 0.0;
                for part in overlaps.of(cell) {
                    let inside = at(owner(part.cell), field, part.centroid);
                    change += part.volume * (inside - outside(field, part.centroid));
                }
                *value = outside(field, middle) + change / volume;
            }
        });
        let integral = |field: usize| {
            let old = weighted_sum(&self.old_volumes, fields[field].iter().copied());
            let new =
                weighted_sum(&self.new_volumes, states.iter().skip(field).step_by(k).copied());
            old - new
        };
        let missing: Vec<f64> = (0..k).map(integral).collect();
        let is_admissible = |state: &[f64]| match limiter {
            Limiter::Admissible(is_admissible) => is_admissible(state),
            _ => true,
        };
        let correction = distribute(&mut states, &self.new_volumes, missing, &is_admissible);
        let fields =
            (0..k).map(|field| states.iter().skip(field).step_by(k).copied().collect()).collect();
        Conserved { fields, correction }
    }

    /// A field of nodes, linear in each cell, `[n_nodes]` of the old mesh: its projection in L² onto the fields of the new mesh. Exact for
    /// linear fields; at a discontinuity it over- and undershoots.
    pub fn nodes(&self, values: &[f64]) -> Conserved {
        let (field, integral) =
            project((&self.old, &self.is_kept), (&self.new, &self.kept), values);
        let corners = (self.new.dimension + 1) as f64;
        let mean = |of_node: &dyn Fn(usize) -> f64, cell: usize| {
            let nodes = self.new.cells.nodes_of(cell).iter();
            nodes.fold(0.0, |sum, &node| sum + of_node(node as usize)) / corners
        };
        let integral_of = |of_node: &dyn Fn(usize) -> f64| {
            let means = (0..self.new.n_cells()).map(|cell| mean(of_node, cell));
            weighted_sum(&self.new_volumes, means)
        };
        let found = integral_of(&|node| field[node]);
        // Nodes of kept cells have their values.
        let is_free = |node: usize| self.kept.node(node).is_none();
        let volume = integral_of(&|node| if is_free(node) { 1.0 } else { 0.0 });
        let shift = if volume > 0.0 { (integral - found) / volume } else { 0.0 };
        let shifted =
            |(node, value): (usize, &f64)| if is_free(node) { value + shift } else { *value };
        let field = field.iter().enumerate().map(shifted).collect();
        Conserved { fields: vec![field], correction: vec![shift] }
    }
}

/// Adds the missing integrals, over the volume, to the states of the cells that stay admissible. Returns what was added to each field:
/// zero where no cell stays admissible.
fn distribute(
    states: &mut [f64],
    volumes: &[f64],
    missing: Vec<f64>,
    is_admissible: &(dyn Fn(&[f64]) -> bool + Sync),
) -> Vec<f64> {
    let k = missing.len();
    // Kept cells have the volume 0.
    let mut takes: Vec<bool> = volumes.iter().map(|volume| *volume > 0.0).collect();
    // Each pass but the last leaves out cells.
    loop {
        let volume = volumes.iter().zip(&takes).filter(|(_, takes)| **takes);
        let volume = volume.fold(0.0, |sum, (volume, _)| sum + volume);
        let shift: Vec<f64> = missing.iter().map(|missing| missing / volume).collect();
        let shifted = |state: &[f64]| -> Vec<f64> {
            state.iter().zip(&shift).map(|(value, shift)| value + shift).collect()
        };
        let refused: Vec<usize> = states
            .par_chunks(k.max(1))
            .enumerate()
            .filter(|(cell, state)| takes[*cell] && !is_admissible(&shifted(state)))
            .map(|(cell, _)| cell)
            .collect();
        if refused.is_empty() {
            for (state, _) in states.chunks_mut(k.max(1)).zip(&takes).filter(|(_, takes)| **takes) {
                state.copy_from_slice(&shifted(state));
            }
            return shift;
        }
        refused.into_iter().for_each(|cell| takes[cell] = false);
        if !takes.contains(&true) {
            return vec![0.0; k];
        }
    }
}
