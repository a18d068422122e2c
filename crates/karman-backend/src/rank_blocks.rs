//! The blocks of reductions over the entities of several ranks: those of one rank with all entities.

use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::{Buffer, HOST_CHUNK, Writer, host};
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

    /// The own blocks of `K` reductions, to be written.
    pub(super) fn begin<const K: usize>(&mut self, identities: [f64; K]) -> Writer<f64> {
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

/// The blocks of vectors of several components, `[component][entity]`, of which each rank has some entities of all
/// components. They are the chunks of the vector of all ranks, where the end of one component and the begin of the next share a
/// chunk. A chunk that begins on one rank and ends on the next is continued there from its results so far.
pub(super) struct VectorBlocks {
    group: Arc<dyn Group>,
    components: usize,
    /// First entity of each rank, and the number of entities.
    starts: Vec<usize>,
}

impl VectorBlocks {
    /// For `own` entities of `components` components on this rank. None where a rank but the last has fewer entities than a chunk,
    /// and where a rank failed.
    pub(super) fn new(
        group: &Arc<dyn Group>,
        own: usize,
        components: usize,
    ) -> Option<VectorBlocks> {
        let (counts, _) = gather_lists(&**group, &[own as u32]).ok()?;
        let (last, others) = counts.split_last()?;
        let is_large = *last > 0 && others.iter().all(|count| *count as usize >= HOST_CHUNK);
        let starts = starts_of(&counts);
        is_large.then(|| VectorBlocks { group: group.clone(), components, starts })
    }

    /// Number of own entities.
    pub(super) fn own_entities(&self) -> usize {
        let rank = self.group.rank();
        self.starts[rank + 1] - self.starts[rank]
    }

    /// Number of own entries of a vector.
    pub(super) fn own_entries(&self) -> usize {
        self.components * self.own_entities()
    }

    /// Number of blocks.
    pub(super) fn total(&self) -> usize {
        self.entries().div_ceil(HOST_CHUNK)
    }

    /// Number of entries of a vector of all ranks.
    fn entries(&self) -> usize {
        self.components * self.starts[self.group.size()]
    }

    /// The entries of a component on a rank, in the vector of all ranks.
    fn segment(&self, component: usize, rank: usize) -> Range<usize> {
        let first = component * self.starts[self.group.size()];
        first + self.starts[rank]..first + self.starts[rank + 1]
    }

    /// The chunks that end in a segment.
    fn ended(&self, segment: &Range<usize>) -> Range<usize> {
        let end = match segment.end == self.entries() {
            true => self.total(),
            false => segment.end / HOST_CHUNK,
        };
        segment.start / HOST_CHUNK..end
    }

    /// Reduces the own entries and gathers the blocks of all ranks into `values`, `[reduction][block]`; arguments as in
    /// [`Partials::reduce_on_host`](super::Partials::reduce_on_host).
    pub(super) fn reduce<const K: usize>(
        &self,
        identities: [f64; K],
        entity: &(impl Fn(usize, &mut [f64; K]) + Sync + Send),
        values: &mut Writer<f64>,
    ) {
        let (rank, own) = (self.group.rank(), self.own_entities());
        let segments: Vec<Range<usize>> =
            (0..self.components).map(|component| self.segment(component, rank)).collect();
        // The own entries of some entries of a component.
        let add = |component: usize, range: Range<usize>, totals: &mut [f64; K]| {
            let first = component * own + range.start - segments[component].start;
            (first..first + range.len()).for_each(|i| entity(i, totals));
        };
        let mut begun: Vec<(usize, Range<usize>)> = vec![];
        for (component, Range { start, end }) in segments.iter().cloned().enumerate() {
            let chunks = start.div_ceil(HOST_CHUNK)..end.div_ceil(HOST_CHUNK);
            let entries =
                chunks.map(|chunk| chunk * HOST_CHUNK..((chunk + 1) * HOST_CHUNK).min(end));
            begun.extend(entries.map(|entries| (component, entries)));
        }
        let mut results = vec![0.0; K * begun.len()];
        let writer: Writer<f64> = Writer::of(&mut results);
        host::for_each_chunk(begun.len(), &|place| {
            let (component, entries) = begun[place].clone();
            let mut totals = identities;
            add(component, entries, &mut totals);
            (0..K).for_each(|k| writer.set(K * place + k, totals[k]));
        });
        // The results of the last chunk of each component so far, for the next rank.
        let mut open = vec![identities; self.components];
        for ((component, _), totals) in begun.iter().zip(results.chunks_exact(K)) {
            open[*component].copy_from_slice(totals);
        }
        let ends = self.continued(&segments, &mut open, add);
        let mut begun = begun.iter().zip(results.chunks_exact(K)).peekable();
        let mut own_blocks = vec![];
        for (component, segment) in segments.iter().enumerate() {
            for chunk in self.ended(segment) {
                match chunk * HOST_CHUNK < segment.start {
                    true => own_blocks.extend_from_slice(&ends[component]),
                    false => own_blocks.extend(begun.next().iter().flat_map(|(_, totals)| *totals)),
                }
            }
            // A chunk that ends elsewhere.
            while begun.next_if(|((of, _), _)| *of == component).is_some() {}
        }
        self.gather::<K>(&own_blocks, values);
    }

    /// Continues the chunks that began before each segment from the results of the rank before, and returns their results;
    /// `open` are those of the chunks that go on after each segment.
    fn continued<const K: usize>(
        &self,
        segments: &[Range<usize>],
        open: &mut [[f64; K]],
        add: impl Fn(usize, Range<usize>, &mut [f64; K]),
    ) -> Vec<[f64; K]> {
        let (rank, size) = (self.group.rank(), self.group.size());
        let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
        // A last rank of less than a chunk first continues what it passes on.
        let is_short = self.starts[size] - self.starts[size - 1] < HOST_CHUNK;
        let own_round = usize::from(is_short && rank == 0);
        let mut ends = open.to_vec();
        for round in 0..=usize::from(is_short) {
            let mut arrived = vec![[0.0; K]; open.len()];
            let sent = [(next, bytes_of(open.as_flattened()))];
            let mut received = [(before, bytes_of_mut(arrived.as_flattened_mut()))];
            // A failure ends the group; the next read reports it.
            if self.group.exchange(&sent, &mut received).is_err() {
                return ends;
            }
            if round != own_round {
                continue;
            }
            for (component, Range { start, end }) in segments.iter().cloned().enumerate() {
                let boundary = start.next_multiple_of(HOST_CHUNK);
                if boundary == start {
                    continue;
                }
                // Before the first rank comes the last rank with the component before.
                let mut totals = arrived[component - usize::from(rank == 0)];
                add(component, start..boundary.min(end), &mut totals);
                ends[component] = totals;
                if boundary > end {
                    open[component] = totals;
                }
            }
        }
        ends
    }

    /// Gathers the blocks that end on each rank, `[block][reduction]`.
    fn gather<const K: usize>(&self, own: &[f64], values: &mut Writer<f64>) {
        let (size, total) = (self.group.size(), self.total());
        let chunks_of = |rank: usize| {
            (0..self.components).flat_map(move |component| {
                self.ended(&self.segment(component, rank)).collect::<Vec<_>>()
            })
        };
        let mut places = vec![0];
        for rank in 0..size {
            let bytes = chunks_of(rank).count() * K * size_of::<f64>();
            places.push(places[rank] + bytes);
        }
        let mut all = vec![0.0; K * total];
        if self.group.gather_all(bytes_of(own), bytes_of_mut(&mut all), &places).is_err() {
            return;
        }
        let chunks = (0..size).flat_map(chunks_of);
        for (chunk, totals) in chunks.zip(all.chunks_exact(K)) {
            (0..K).for_each(|k| values.set(k * total + chunk, totals[k]));
        }
    }
}
