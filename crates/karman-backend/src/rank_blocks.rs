//! The blocks of reductions over the entities of several ranks: those of one rank with all entities.

use super::entry_order::EntryOrder;
use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::reduce::AddRange;
use super::{Buffer, HOST_CHUNK, Writer};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The blocks of all ranks, each of which has whole chunks.
pub(super) struct RankBlocks {
    group: Arc<dyn Group>,
    /// First block of each rank, and the number of blocks.
    starts: Vec<usize>,
    /// The own blocks, `[reduction][block]`.
    own: Vec<f64>,
    /// Those of all ranks, `[rank][reduction][block]`.
    all: Vec<f64>,
    /// First byte of each rank in `all`.
    places: Vec<usize>,
    /// Of a device: the own blocks among zeros, `[reduction][block]`.
    padded: Option<Buffer<f64>>,
}

/// First place of each of some lists that follow each other, then the number of entries of all.
fn starts_of(lengths: &[u32]) -> Vec<usize> {
    let mut starts = vec![0];
    for length in lengths {
        starts.push(starts[starts.len() - 1] + *length as usize);
    }
    starts
}

impl RankBlocks {
    /// None where a rank failed, which the next read reports.
    pub(super) fn new(group: &Arc<dyn Group>, own_blocks: usize) -> Option<RankBlocks> {
        let (counts, _) = gather_lists(&**group, &[own_blocks as u32]).ok()?;
        let starts = starts_of(&counts);
        let places = vec![0; starts.len()];
        let group = group.clone();
        Some(RankBlocks { group, starts, own: vec![], all: vec![], places, padded: None })
    }

    pub(super) fn total(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// First block of each rank, and the number of blocks.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// First own block.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) fn first(&self) -> usize {
        self.starts[self.group.rank()]
    }

    /// The own blocks on a device, among zeros.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) fn padded(&self) -> Option<&Buffer<f64>> {
        self.padded.as_ref()
    }

    /// Gives zeros as long as the blocks of all ranks, for the own blocks of a device.
    pub(super) fn set_padded(&mut self, zeros: Buffer<f64>) {
        self.padded = Some(zeros);
    }

    pub(super) fn own_blocks(&self) -> usize {
        let rank = self.group.rank();
        self.starts[rank + 1] - self.starts[rank]
    }

    /// The own blocks of reductions, to be written.
    pub(super) fn begin(&mut self, identities: &[f64]) -> Writer<f64> {
        let blocks = self.own_blocks();
        self.own.clear();
        identities.iter().for_each(|identity| self.own.extend((0..blocks).map(|_| *identity)));
        Writer::of(&mut self.own)
    }

    /// Gathers the blocks of `reductions` reductions into `values`, `[reduction][block]`.
    pub(super) fn gather(&mut self, reductions: usize, values: &mut Writer<f64>) {
        let total = self.total();
        let RankBlocks { group, starts, own, all, places, .. } = self;
        all.resize(reductions * total, 0.0);
        for (place, start) in places.iter_mut().zip(&*starts) {
            *place = reductions * start * size_of::<f64>();
        }
        // A failure ends the group; the next read reports it.
        if group.gather_all(bytes_of(own), bytes_of_mut(all), places).is_err() {
            return;
        }
        for range in starts.windows(2) {
            let (first, blocks) = (range[0], range[1] - range[0]);
            for k in 0..reductions {
                for b in 0..blocks {
                    let value = all[reductions * first + k * blocks + b];
                    values.set(k * total + first + b, value);
                }
            }
        }
    }
}

/// Adds the contributions of some own entries of a component to totals.
type AddEntries<'a> = dyn Fn(usize, Range<usize>, &mut [f64]) + 'a;

/// The blocks of vectors of several components, `[component][entity]`, of which each rank has some entities of all
/// components, or of vectors of an [`EntryOrder`]. They are the chunks of the vector of all ranks, where the end of one component
/// and the begin of the next share a chunk. A chunk that begins on one rank and ends on another is continued there from its
/// results so far.
pub(super) struct VectorBlocks {
    group: Arc<dyn Group>,
    components: usize,
    /// First entity of each rank, and the number of entities.
    starts: Vec<usize>,
    /// That of the entries behind consecutive ones.
    order: Option<Arc<EntryOrder>>,
}

impl VectorBlocks {
    /// For `own` entities of `components` components on this rank. None where a rank failed.
    pub(super) fn new(
        group: &Arc<dyn Group>,
        own: usize,
        components: usize,
    ) -> Option<VectorBlocks> {
        let (counts, _) = gather_lists(&**group, &[own as u32]).ok()?;
        let starts = starts_of(&counts);
        Some(VectorBlocks { group: group.clone(), components, starts, order: None })
    }

    /// For vectors with this order of entries. None where a rank failed.
    pub(super) fn in_order(
        group: &Arc<dyn Group>,
        order: &Arc<EntryOrder>,
    ) -> Option<VectorBlocks> {
        let blocks = Self::new(group, order.consecutive, 1)?;
        Some(VectorBlocks { order: Some(order.clone()), ..blocks })
    }

    /// Number of own entities, without single entries.
    pub(super) fn own_entities(&self) -> usize {
        let rank = self.group.rank();
        self.starts[rank + 1] - self.starts[rank]
    }

    /// Number of own entries of a vector.
    pub(super) fn own_entries(&self) -> usize {
        match &self.order {
            None => self.components * self.own_entities(),
            Some(order) => order.own,
        }
    }

    /// Number of blocks.
    pub(super) fn total(&self) -> usize {
        self.order.as_ref().map_or(self.entries(), |order| order.total).div_ceil(HOST_CHUNK)
    }

    /// Number of entries of a vector of all ranks, without single ones.
    fn entries(&self) -> usize {
        self.components * self.starts[self.group.size()]
    }

    /// The entries of a component on a rank, in the vector of all ranks.
    fn segment(&self, component: usize, rank: usize) -> Range<usize> {
        let first = component * self.starts[self.group.size()];
        first + self.starts[rank]..first + self.starts[rank + 1]
    }

    /// The chunks that end in the segment of a component on a rank; the last one ends on the last rank.
    fn ended(&self, component: usize, rank: usize) -> Range<usize> {
        let segment = self.segment(component, rank);
        let end = match component + 1 == self.components && rank + 1 == self.group.size() {
            true => segment.end.div_ceil(HOST_CHUNK),
            false => segment.end / HOST_CHUNK,
        };
        segment.start / HOST_CHUNK..end
    }

    /// For each segment, by component, then by rank, the number of segments before it from which its first chunk is continued.
    fn depths(&self) -> Vec<usize> {
        let size = self.group.size();
        let mut depths: Vec<usize> = vec![];
        let mut before = 0;
        for place in 0..self.components * size {
            let start = self.segment(place / size, place % size).start;
            let begin = start / HOST_CHUNK * HOST_CHUNK;
            let is_begun_before = place > 0 && before > begin;
            depths.push(match start == begin {
                true => 0,
                false if is_begun_before => 1 + depths[place - 1],
                false => 1,
            });
            before = start;
        }
        depths
    }

    /// Reduces the own entries and gathers the blocks of all ranks into `values`, `[reduction][block]`; `add` takes a range of own
    /// entries.
    pub(super) fn reduce(&self, identities: &[f64], add: &AddRange<'_>, values: &mut Writer<f64>) {
        let (rank, own, reductions) = (self.group.rank(), self.own_entities(), identities.len());
        let segments: Vec<Range<usize>> =
            (0..self.components).map(|component| self.segment(component, rank)).collect();
        // The own entries of some entries of a component.
        let add_entries = |component: usize, range: Range<usize>, totals: &mut [f64]| {
            let first = component * own + range.start - segments[component].start;
            add(first..first + range.len(), totals);
        };
        let mut begun: Vec<(usize, Range<usize>)> = vec![];
        for (component, Range { start, end }) in segments.iter().cloned().enumerate() {
            let chunks = start.div_ceil(HOST_CHUNK)..end.div_ceil(HOST_CHUNK);
            let entries =
                chunks.map(|chunk| chunk * HOST_CHUNK..((chunk + 1) * HOST_CHUNK).min(end));
            begun.extend(entries.map(|entries| (component, entries)));
        }
        let mut results = identities.repeat(begun.len());
        let chunks = results.par_chunks_mut(reductions).zip(&begun);
        chunks.for_each(|(totals, (component, entries))| {
            add_entries(*component, entries.clone(), totals);
        });
        // The results of the last chunk of each component so far, for the next rank.
        let mut open = identities.repeat(self.components);
        for ((component, _), totals) in begun.iter().zip(results.chunks_exact(reductions)) {
            open[component * reductions..][..reductions].copy_from_slice(totals);
        }
        let ends = self.continued(&segments, &mut open, reductions, &add_entries);
        let mut begun = begun.iter().zip(results.chunks_exact(reductions)).peekable();
        let mut own_blocks = vec![];
        for (component, segment) in segments.iter().enumerate() {
            for chunk in self.ended(component, rank) {
                match chunk * HOST_CHUNK < segment.start {
                    true => {
                        own_blocks.extend_from_slice(&ends[component * reductions..][..reductions])
                    }
                    false => begun.next().iter().for_each(|(_, totals)| own_blocks.extend(*totals)),
                }
            }
            // A chunk that ends elsewhere.
            while begun.next_if(|((of, _), _)| *of == component).is_some() {}
        }
        let mut blocks = identities.repeat(self.total());
        self.gather(&own_blocks, reductions, &mut blocks);
        if let Some(order) = &self.order {
            order.add_singles(&*self.group, identities, add, &mut blocks);
        }
        let total = self.total();
        for (block, totals) in blocks.chunks_exact(reductions).enumerate() {
            totals.iter().enumerate().for_each(|(k, value)| values.set(k * total + block, *value));
        }
    }

    /// Continues the chunks that began before each segment from their results so far, and returns their results; `open` are
    /// those of the chunks that go on after each segment. Results are `[component][reduction]`.
    fn continued(
        &self,
        segments: &[Range<usize>],
        open: &mut [f64],
        reductions: usize,
        add: &AddEntries<'_>,
    ) -> Vec<f64> {
        let (rank, size) = (self.group.rank(), self.group.size());
        let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
        let depths = self.depths();
        let mut ends = open.to_vec();
        for round in 1..=depths.iter().copied().max().unwrap_or(0) {
            let mut arrived = vec![0.0; open.len()];
            let sent = [(next, bytes_of(open))];
            let mut received = [(before, bytes_of_mut(&mut arrived))];
            // A failure ends the group; the next read reports it.
            if self.group.exchange(&sent, &mut received).is_err() {
                return ends;
            }
            for (component, Range { start, end }) in segments.iter().cloned().enumerate() {
                if depths[component * size + rank] != round {
                    continue;
                }
                let boundary = start.next_multiple_of(HOST_CHUNK);
                // Before the first rank comes the last rank with the component before.
                let arrived_for = component - usize::from(rank == 0);
                let totals = &mut arrived[arrived_for * reductions..][..reductions];
                add(component, start..boundary.min(end), totals);
                ends[component * reductions..][..reductions].copy_from_slice(totals);
                if boundary > end {
                    open[component * reductions..][..reductions].copy_from_slice(totals);
                }
            }
        }
        ends
    }

    /// Gathers the blocks that end on each rank, `[block][reduction]`.
    fn gather(&self, own: &[f64], reductions: usize, blocks: &mut [f64]) {
        let size = self.group.size();
        let chunks_of = |rank: usize| {
            (0..self.components).flat_map(move |component| self.ended(component, rank))
        };
        let mut places = vec![0];
        for rank in 0..size {
            let bytes = chunks_of(rank).count() * reductions * size_of::<f64>();
            places.push(places[rank] + bytes);
        }
        let mut all = vec![0.0; reductions * self.entries().div_ceil(HOST_CHUNK)];
        if self.group.gather_all(bytes_of(own), bytes_of_mut(&mut all), &places).is_err() {
            return;
        }
        let chunks = (0..size).flat_map(chunks_of);
        for (chunk, totals) in chunks.zip(all.chunks_exact(reductions)) {
            blocks[chunk * reductions..][..reductions].copy_from_slice(totals);
        }
    }
}
