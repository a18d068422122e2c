//! The gradient stencils of a part of a mesh: found on the whole mesh, read with the numbers of the part.

use super::least_squares::GradientStencils;
use crate::mesh::partition::SubMesh;
use crate::mesh::{Mesh, SIGN_BIT};
use rayon::prelude::*;
use std::ops::Range;

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
        let place = |list: &[u32], item: u32| match list.binary_search(&item) {
            Ok(place) => place,
            Err(_) => unreachable!("cell or boundary face {item} is not of the part"),
        };
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
