//! The part of a mesh that one of several ranks has, with data for its discretisation.

use super::DiffusionError;
use super::boundary::{BoundaryFaces, Condition};
use super::cell_scheme::CellScheme;
use super::diffusion::{Material, discretize_with};
use super::discrete::Discrete;
use super::least_squares::{GradientStencils, Use};
use crate::mesh::partition::{Ranges, SubMesh};
use crate::mesh::{Geometry, Mesh, SIGN_BIT};
use rayon::prelude::*;
use std::ops::Range;

/// Consecutive cells of a mesh with ghosts: the cells across their faces and the further cells of their gradient
/// stencils. A discretisation of the part has the bits of the whole mesh.
pub struct MeshPart {
    /// Its cells, ghosts and faces.
    pub sub: SubMesh,
    /// Their geometry.
    pub geometry: Geometry,
    /// The gradients of its own cells; none without non-orthogonal correction.
    stencils: Option<GradientStencils>,
}

impl MeshPart {
    /// Part `part` of `ranges`, parts of the mesh of `scheme`.
    pub fn new(scheme: &CellScheme<'_>, ranges: &Ranges<'_>, part: usize) -> MeshPart {
        let own = ranges.cells(part);
        let stencils = scheme.corrected.then(|| scheme.stencils_of(own.clone(), Use::Derivative));
        let further = stencils.as_ref().map_or(vec![], |stencils| stencils.cells_beyond(&own));
        let sub = ranges.extract(part, &further);
        let geometry = sub.geometry(scheme.geometry);
        let stencils = stencils.map(|stencils| stencils.renumbered(&sub, scheme.mesh));
        MeshPart { sub, geometry, stencils }
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

impl GradientStencils {
    /// The cells of stencils that are not in `own`.
    pub fn cells_beyond(&self, own: &Range<usize>) -> Vec<u32> {
        let Some(rows) = &self.rows else { return vec![] };
        let is_beyond = |item: &u32| *item < SIGN_BIT && !own.contains(&(*item as usize));
        rows.items.par_iter().copied().filter(is_beyond).collect()
    }

    /// Stencils of the own cells of a part with its numbers in place of those of the whole mesh.
    pub fn renumbered(mut self, sub: &SubMesh, whole: &Mesh) -> GradientStencils {
        let owned = sub.mesh.cell_count.owned;
        let (own, ghosts) = sub.global_cell.split_at(owned);
        let inner = sub.mesh.n_interior_faces();
        let place = |list: &[u32], item: u32| list.partition_point(|global| *global < item);
        let number = |item: u32| -> u32 {
            if item >= SIGN_BIT {
                let face = (item & !SIGN_BIT) + whole.n_interior_faces() as u32;
                return place(&sub.global_face[inner..], face) as u32 | SIGN_BIT;
            }
            match own.first() {
                Some(first) if (*first..*first + owned as u32).contains(&item) => item - first,
                _ => (owned + place(ghosts, item)) as u32,
            }
        };
        if let Some(rows) = &mut self.rows {
            rows.items.par_iter_mut().for_each(|item| *item = number(*item));
        }
        self
    }
}
