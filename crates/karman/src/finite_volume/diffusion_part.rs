//! The discretisation of diffusion on the part of a mesh that one of several ranks has.

use super::DiffusionError;
use super::boundary::{BoundaryFaces, Condition};
use super::cell_scheme::CellScheme;
use super::diffusion::{Material, discretize_with};
use super::discrete::Discrete;
use super::least_squares::{GradientStencils, Use};
use crate::mesh::Geometry;
use crate::mesh::partition::{Ranges, SubMesh};
use rayon::prelude::*;

/// Consecutive cells of a mesh with ghosts: the cells across their faces and the further cells of their gradient
/// stencils. A discretisation of the part has the bits of the whole mesh.
pub struct DiffusionPart {
    /// Its cells, ghosts and faces.
    pub sub: SubMesh,
    /// Their geometry.
    pub geometry: Geometry,
    /// The gradients of its own cells; none without non-orthogonal correction.
    stencils: Option<GradientStencils>,
}

impl DiffusionPart {
    /// Part `part` of `ranges`, parts of the mesh of `scheme`.
    pub fn new(scheme: &CellScheme<'_>, ranges: &Ranges<'_>, part: usize) -> DiffusionPart {
        let own = ranges.cells(part);
        let stencils = scheme.corrected.then(|| scheme.stencils_of(own.clone(), Use::Derivative));
        let further = stencils.as_ref().map_or(vec![], |stencils| stencils.cells_beyond(&own));
        let sub = ranges.extract(part, &further);
        let geometry = sub.geometry(scheme.geometry);
        let stencils = stencils.map(|stencils| stencils.renumbered(&sub, scheme.mesh));
        DiffusionPart { sub, geometry, stencils }
    }

    /// Global numbers of the ghost cells, ascending.
    pub fn ghosts(&self) -> &[u32] {
        &self.sub.global_cell[self.sub.mesh.cell_count.owned..]
    }

    /// Values of cells of the whole mesh at the cells and ghosts of the part.
    pub fn restricted(&self, values: &[f64]) -> Vec<f64> {
        self.sub.global_cell.par_iter().map(|cell| values[*cell as usize]).collect()
    }

    /// [`discretize`](super::diffusion::discretize) for the own cells; columns of the matrix are local numbers.
    ///
    /// # Errors
    /// As there.
    pub fn discretize(
        &mut self,
        material: &Material,
        conditions: &[Condition],
    ) -> Result<(Discrete, BoundaryFaces), DiffusionError> {
        let stencils = self.stencils.take();
        let corrected = (stencils.is_some(), |_: &CellScheme<'_>| stencils);
        discretize_with(&self.sub.mesh, &self.geometry, material, conditions, corrected)
    }
}
