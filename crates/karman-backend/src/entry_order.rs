//! The order of the entries of vectors of which a rank has a range of the entries of one rank and single ones.

use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::reduce::{AddRange, Reduction, accumulate};
use super::{BackendError, HOST_CHUNK};
use std::ops::Range;
use std::sync::Arc;

/// The order in which one rank has the entries of a vector of which each of several ranks has consecutive ones, rank after rank, and
/// behind those of all ranks single ones in any order: fluxes through interior faces, then through the faces of the boundary.
pub struct EntryOrder {
    /// Number of own entries.
    pub(super) own: usize,
    /// Number of the entries of all ranks.
    pub(super) of_ranks: usize,
    /// Those that are consecutive, the first ones.
    pub(super) consecutive: usize,
    /// The own single entries.
    singles: Vec<u32>,
    /// Place in the vector of one rank of the single entries of all ranks, by rank.
    places: Vec<u32>,
    /// First of each rank in `places`, and their number.
    starts: Vec<usize>,
    /// Their order in the vector of one rank.
    ascending: Vec<u32>,
    /// Number of entries of the vector of one rank.
    pub(super) total: usize,
    /// Ranges of own entries that blocks of a device do not cross.
    segments: Vec<Range<usize>>,
}

impl EntryOrder {
    /// The order of `own` entries of this rank, of which the first `consecutive` are consecutive; `singles` are pairs of an own entry
    /// and its place in the vector of one rank, which has `total` entries. Entries that are neither are 0 in all vectors that
    /// are reduced. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub fn new(
        group: &Arc<dyn Group>,
        (own, consecutive): (usize, usize),
        singles: &[(u32, u32)],
        total: usize,
    ) -> Result<EntryOrder, BackendError> {
        let (entries, own_places): (Vec<u32>, Vec<u32>) = singles.iter().copied().unzip();
        let (places, starts) = gather_lists(&**group, &own_places)?;
        let (counts, _) = gather_lists(&**group, &[own as u32])?;
        let of_ranks = counts.into_iter().map(|count| count as usize).sum();
        let mut ascending: Vec<u32> = (0..places.len() as u32).collect();
        ascending.sort_unstable_by_key(|single| places[*single as usize]);
        let (singles, segments) = (entries, vec![]);
        Ok(EntryOrder {
            own,
            of_ranks,
            consecutive,
            singles,
            places,
            starts,
            ascending,
            total,
            segments,
        })
    }

    /// That of the vectors of one rank with `total` entries.
    pub fn of_one_rank(total: usize) -> EntryOrder {
        EntryOrder {
            own: total,
            of_ranks: total,
            consecutive: total,
            singles: vec![],
            places: vec![],
            starts: vec![0, 0],
            ascending: vec![],
            total,
            segments: vec![],
        }
    }

    /// With these ranges of own entries, all of them, in the order in which a device adds their blocks. The ranges of all ranks, rank
    /// after rank, are those of one rank.
    #[must_use]
    pub fn in_segments(self, segments: Vec<Range<usize>>) -> EntryOrder {
        EntryOrder { segments, ..self }
    }

    /// The first own entry of each block of a device and the first behind it, of at most `chunk` entries: `[blocks][2]`. Empty where
    /// the blocks of the `entities` entries of a vector are consecutive chunks.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) fn device_blocks(&self, entities: usize, chunk: usize) -> Vec<u32> {
        if entities != self.own {
            return vec![];
        }
        let starts = |segment: &Range<usize>| segment.clone().step_by(chunk);
        let bounds = |segment: &Range<usize>, start: usize| {
            [start as u32, (start + chunk).min(segment.end) as u32]
        };
        let blocks = self
            .segments
            .iter()
            .flat_map(|segment| starts(segment).map(move |start| bounds(segment, start)));
        blocks.flatten().collect()
    }

    /// Adds the contributions of the single entries of all ranks to the blocks of the consecutive ones, `[block][reduction]`.
    pub(super) fn add_singles(
        &self,
        group: &dyn Group,
        identities: &[f64],
        add: &AddRange<'_>,
        blocks: &mut [f64],
    ) {
        if self.places.is_empty() {
            return;
        }
        let reductions = identities.len();
        let mut own = identities.repeat(self.singles.len());
        for (entry, contribution) in self.singles.iter().zip(own.chunks_exact_mut(reductions)) {
            add(*entry as usize..*entry as usize + 1, contribution);
        }
        let mut all = identities.repeat(self.places.len());
        let bytes: Vec<usize> =
            self.starts.iter().map(|start| start * reductions * size_of::<f64>()).collect();
        // A failure ends the group; the next read reports it.
        if group.gather_all(bytes_of(&own), bytes_of_mut(&mut all), &bytes).is_err() {
            return;
        }
        for single in &self.ascending {
            let single = *single as usize;
            let block = self.places[single] as usize / HOST_CHUNK;
            let totals = &mut blocks[block * reductions..][..reductions];
            for (k, total) in totals.iter_mut().enumerate() {
                let contribution = all[single * reductions + k];
                *total = accumulate(*total, contribution, Reduction::of_identity(identities[k]));
            }
        }
    }
}
