//! Fluxes through faces of the boundary of which each of several ranks has some, in the order of one rank: sums over them
//! have its bits.

use super::IncompressibleError;
use crate::backend::{Backend, Buffer, RankedList};
use crate::operators::Part;
use crate::real::Real;

/// A list of boundary faces of the whole mesh.
pub(super) struct GatheredFlux {
    list: RankedList,
    /// The places of the list: `[faces]`.
    pub places: Buffer<u32>,
}

impl GatheredFlux {
    /// The list of which a part has `faces`, at these places. All ranks call it.
    pub(super) fn new(
        part: &Part,
        faces: &[u32],
        places: &[u32],
    ) -> Result<Self, IncompressibleError> {
        let (backend, group) = (&part.backend, part.halo.group().clone());
        let list = RankedList::new(backend, group, places, faces.to_vec())?;
        let places = backend.upload((0..list.len() as u32).collect());
        Ok(GatheredFlux { list, places })
    }

    /// The fluxes through all faces of the list; `flux`, `[n_faces]`, has those of this rank.
    pub(super) fn gather<F: Real>(&self, backend: &Backend, flux: &Buffer<F>) -> Buffer<F> {
        self.list.gather(backend, flux)
    }
}
