//! Reductions whose order is fixed: block results on the way, finished by a `combine` kernel, so
//! that a reduced value may stay on the device.
//!
//! Values are accumulated in `f64` whatever the fields' precision. On the host a block is a chunk of
//! [`HOST_CHUNK`] entities; on a device a block of threads has a chunk too, whose size depends on the number of entities alone,
//! and sums by a tree.
//!
//! Of several ranks each reduces its own entities, then all ranks gather the blocks of all in the order of ranks. Where each
//! rank owns whole chunks, these are the blocks of one rank with all entities. Of vectors of several components
//! ([`Backend::of_vectors`]) and of those with an order of their own ([`Backend::in_order`]) they are the blocks of the vector of one
//! rank too; on a device each component has its own, or each segment of such an order.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::device_exchange::{Exchanged, list_of_ranks};
use super::rank_blocks::{RankBlocks, VectorBlocks};
use super::{Backend, Buffer, HOST_CHUNK, THREADS_PER_BLOCK, Writer};
use crate::prelude::*;
use std::ops::Range;

/// The operation of a reduction on two values. `Min` and `Max` ignore values that are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// a + b
    Sum,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

impl Reduction {
    /// The operation that this value does not change, see [`identity`].
    pub(super) fn of_identity(value: f64) -> Reduction {
        match value {
            f64::MAX => Reduction::Min,
            f64::MIN => Reduction::Max,
            _ => Reduction::Sum,
        }
    }
}

/// The value that changes nothing.
#[device]
pub fn identity(#[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        f64::literal(0.0)
    } else if comptime!(operation == Reduction::Min) {
        f64::literal(comptime!(f64::MAX))
    } else {
        f64::literal(comptime!(f64::MIN))
    }
}

/// One step of a reduction.
#[device]
#[inline(always)]
pub fn accumulate(a: f64, b: f64, #[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        a + b
    } else if comptime!(operation == Reduction::Min) {
        a.min(b)
    } else {
        a.max(b)
    }
}

/// Most reductions of a kernel.
pub(super) const MOST_REDUCTIONS: usize = 16;

/// Adds the contributions of some entities to totals, one for each reduction.
pub(super) type AddRange<'a> = dyn Fn(Range<usize>, &mut [f64]) + Sync + Send + 'a;

/// Blocks of a device below which its chunks are no larger than a block of threads.
const MOST_BLOCKS: usize = 4096;

/// Entities of the chunks of a device, for so many entities of all ranks. Ranges that begin at multiples of [`HOST_CHUNK`] have
/// whole chunks.
fn device_chunk(entities: usize) -> usize {
    entities.div_ceil(MOST_BLOCKS).next_power_of_two().clamp(THREADS_PER_BLOCK, HOST_CHUNK)
}

/// The blocks of vectors of `entities` own entries on the device of `backend`, see [`EntryOrder::device_blocks`].
///
/// [`EntryOrder::device_blocks`]: super::EntryOrder::device_blocks
fn device_blocks(backend: &Backend, entities: usize, chunk: usize) -> Vec<u32> {
    let order = backend.order().filter(|_| backend.device().is_some());
    order.map_or(vec![], |order| order.device_blocks(entities, chunk))
}

/// Number of blocks of a vector of `entities` entries: those of `ranges`, see [`device_blocks`], or consecutive chunks.
fn block_count(ranges: &[u32], entities: usize, chunk: usize) -> usize {
    match ranges.len() / 2 {
        0 => entities.div_ceil(chunk).max(1),
        blocks => blocks,
    }
}

/// Block results of a kernel's reductions, `[reduction][block]`.
pub struct Partials {
    pub(super) values: Buffer<f64>,
    pub(super) blocks: usize,
    /// The most entities, and the components of which each has so many blocks of its own on a device.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) entities: usize,
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) components: usize,
    /// The most blocks.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) most_blocks: usize,
    /// Entities of a block.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) chunk: usize,
    /// The entries of each block of a device where these are not consecutive chunks, see [`EntryOrder::device_blocks`].
    ///
    /// [`EntryOrder::device_blocks`]: super::EntryOrder::device_blocks
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) ranges: Buffer<u32>,
    /// Sums of many blocks.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) sums: Buffer<f64>,
    /// The blocks of other ranks.
    pub(super) ranks: Option<RankBlocks>,
    /// Those of vectors of several components or with an order of their own.
    vectors: Option<VectorBlocks>,
    /// Whether the next reduction on a device leaves the blocks of other ranks, and its number of reductions.
    pub(super) keeps_own_blocks: bool,
    pub(super) reductions: usize,
}

impl Partials {
    /// Room for `reductions` reductions over at most `entities` entities, on each of several ranks over its own.
    pub fn new(backend: &Backend, entities: usize, reductions: usize) -> Partials {
        let mut partials = Self::of_own(backend, entities, reductions);
        let Some(group) = backend.ranks() else { return partials };
        if backend.device().is_some() {
            partials.join_on_device(backend, entities, reductions);
            return partials;
        }
        let components = backend.components();
        partials.vectors = match backend.order() {
            // Without a result where a rank failed, which the next read reports.
            Some(order) => match backend.total(entities) {
                Ok(total) if total == order.of_ranks => VectorBlocks::in_order(group, order),
                _ => None,
            },
            None if components > 1 => VectorBlocks::new(group, entities / components, components),
            None => None,
        };
        let own_blocks = match &partials.vectors {
            None => partials.blocks,
            Some(vectors) => vectors.own_entities().div_ceil(HOST_CHUNK).max(1),
        };
        partials.ranks = RankBlocks::new(group, own_blocks);
        if let Some(ranks) = &partials.ranks {
            let of_vectors = partials.vectors.as_ref().map_or(0, VectorBlocks::total);
            partials.values = backend.zeros(ranks.total().max(of_vectors) * reductions);
            partials.blocks = ranks.total();
        }
        partials.most_blocks = partials.blocks;
        partials
    }

    /// As [`Partials::new`], for reductions over the entities of this rank alone.
    pub fn of_own(backend: &Backend, entities: usize, reductions: usize) -> Partials {
        let (chunk, components) = match backend.device() {
            None => (HOST_CHUNK, 1),
            Some(_) if entities.is_multiple_of(backend.components()) => {
                (device_chunk(entities), backend.components())
            }
            Some(_) => (device_chunk(entities), 1),
        };
        let ranges = device_blocks(backend, entities, chunk);
        let blocks = components * block_count(&ranges, entities / components, chunk);
        Partials {
            values: backend.zeros(blocks * reductions),
            blocks,
            entities,
            components,
            most_blocks: blocks,
            chunk,
            ranges: backend.upload(ranges),
            sums: backend.zeros(reductions),
            ranks: None,
            vectors: None,
            keeps_own_blocks: false,
            reductions: 0,
        }
    }

    /// Has the next reduction on a device leave the blocks of other ranks to [`Partials::blocks_to_gather`].
    pub(super) fn keep_own_blocks(&mut self) {
        self.keeps_own_blocks = true;
    }

    /// The exchange of the blocks of the last reduction on a device, if it kept them.
    pub(super) fn blocks_to_gather(&mut self, rank: usize) -> Option<Exchanged<'_>> {
        if !std::mem::take(&mut self.keeps_own_blocks) {
            return None;
        }
        let ranks = self.ranks.as_ref()?;
        let lists = self.reductions * (self.blocks / ranks.total());
        Some(list_of_ranks((ranks.padded()?, &self.values), lists, ranks.starts(), rank))
    }

    /// Room for the blocks of all ranks, whose devices have them of one size.
    fn join_on_device(&mut self, backend: &Backend, entities: usize, reductions: usize) {
        let Some(group) = backend.ranks() else { return };
        // Without a result where a rank failed, which the next read reports.
        let Ok(total) = backend.total(entities) else { return };
        self.chunk = device_chunk(total);
        let ranges = device_blocks(backend, entities, self.chunk);
        let own_blocks = block_count(&ranges, entities / self.components, self.chunk);
        self.ranges = backend.upload(ranges);
        self.ranks = RankBlocks::new(group, own_blocks);
        if let Some(ranks) = &mut self.ranks {
            self.most_blocks = self.components * ranks.total();
            self.values = backend.zeros(self.most_blocks * reductions);
            ranks.set_padded(backend.zeros(self.most_blocks * reductions));
        }
    }

    /// Results of the blocks, `[reduction][block]`.
    pub fn values(&self) -> &Buffer<f64> {
        &self.values
    }

    /// Number of blocks of the last reduction.
    pub fn block_count(&self) -> usize {
        self.blocks
    }

    /// Says how many blocks a reduction is about to fill.
    pub fn set_block_count(&mut self, blocks: usize, reductions: usize) {
        assert!(blocks * reductions <= self.values.len(), "Partials made for fewer entities");
        self.blocks = blocks;
    }

    /// Runs `entity` for each index, which adds its contribution to the `K` totals of its chunk; these
    /// begin with `identities`.
    pub fn reduce_on_host<const K: usize>(
        &mut self,
        count: usize,
        identities: [f64; K],
        entity: impl Fn(usize, &mut [f64; K]) + Sync + Send,
    ) {
        const { assert!(K <= MOST_REDUCTIONS) }
        self.reduce_ranges(count, &identities, &|range, totals| {
            let mut of_range = identities;
            of_range.copy_from_slice(totals);
            range.for_each(|i| entity(i, &mut of_range));
            totals.copy_from_slice(&of_range);
        });
    }

    /// As [`Partials::reduce_on_host`], compiled once for all reductions.
    #[inline(never)]
    fn reduce_ranges(&mut self, count: usize, identities: &[f64], add: &AddRange<'_>) {
        if let Some(vectors) = self.vectors.as_ref().filter(|of| of.own_entries() == count) {
            self.blocks = vectors.total();
            return vectors.reduce(identities, add, &mut self.values.writer());
        }
        let reductions = identities.len();
        let mut blocks = count.div_ceil(HOST_CHUNK).max(1);
        let results: Writer<f64> = match &mut self.ranks {
            None => {
                self.set_block_count(blocks, reductions);
                self.values.writer()
            }
            Some(ranks) => {
                let filled = blocks;
                blocks = ranks.own_blocks();
                assert!(filled <= blocks, "Partials made for fewer entities");
                ranks.begin(identities)
            }
        };
        let chunk = move |c: usize| {
            let mut totals = [0.0; MOST_REDUCTIONS];
            let totals = &mut totals[..reductions];
            totals.copy_from_slice(identities);
            add(c * HOST_CHUNK..((c + 1) * HOST_CHUNK).min(count), totals);
            for (k, total) in totals.iter().enumerate() {
                results.set(k * blocks + c, *total);
            }
        };
        match count.div_ceil(HOST_CHUNK).max(1) {
            1 => chunk(0),
            chunks => super::host::for_each_chunk(chunks, &chunk),
        }
        if let Some(ranks) = &mut self.ranks {
            self.blocks = ranks.total();
            ranks.gather(reductions, &mut self.values.writer());
        }
    }

    /// The reductions themselves, combined in block order.
    pub fn combine_on_host<const K: usize>(&self, operations: [Reduction; K]) -> [f64; K] {
        let values = self.values.view();
        let mut totals = operations.map(identity);
        for k in 0..K {
            for b in 0..self.blocks {
                totals[k] = accumulate(totals[k], values[k * self.blocks + b], operations[k]);
            }
        }
        totals
    }
}

#[cfg(test)]
#[allow(missing_docs)]
pub(crate) mod tests {
    use super::*;
    use crate::real::Real;
    use crate::testing::{SIZES, everywhere, round_off, values};
    use crate::{EntryOrder, View};
    use std::sync::Arc;

    /// x ← x + 1, and Σ x².
    #[kernel(update(x), reduce(sum))]
    pub(crate) fn add_one(_i: usize, x: f64) -> (f64, f64) {
        (x + 1.0, x * x)
    }

    #[kernel(reduce(sum, sum))]
    fn square_and_one(i: usize, x: &View<f64>) -> (f64, f64) {
        (x[i] * x[i], f64::literal(1.0))
    }

    /// The mean square plus a shift.
    #[device]
    fn mean_and_shift(sum: f64, count: f64, shift: &View<f64>) -> f64 {
        sum / count + shift[0]
    }

    #[kernel(scalar(mean = mean_and_shift(2, shift)), out(y), unroll(2))]
    fn divide_by_mean(i: usize, mean: f64, shift: &View<f64>, x: &View<f64>) -> f64 {
        (x[i] + shift[0]) / mean
    }

    /// Segments in another order than that of the entries; on the host they make no difference.
    #[test]
    fn blocks_of_segments_have_all_entries() {
        for n in SIZES.into_iter().filter(|n| *n >= 4) {
            let x = values(n, 5);
            let want = x.iter().map(|v| v * v).sum::<f64>();
            let (first, second) = (n / 4, n / 3);
            let segments = vec![second..n, 0..first, first..second];
            let order = Arc::new(EntryOrder::of_one_rank(n).in_segments(segments));
            for backend in everywhere() {
                let backend = backend.in_order(order.clone());
                let mut partials = Partials::new(&backend, n, 1);
                let mut y = backend.upload_slice(&x);
                add_one(&backend, n, &mut y, &mut partials);
                let blocks = backend.read(partials.values()).unwrap();
                let sum: f64 = blocks[..partials.block_count()].iter().sum();
                assert!((sum - want).abs() <= round_off(n, want), "{backend:?} {sum} {want}");
                for (y, x) in backend.read(&y).unwrap().iter().zip(&x) {
                    assert_eq!(*y, x + 1.0, "{backend:?}");
                }
            }
        }
    }

    #[test]
    fn kernels_compute_with_finished_sums_of_few_and_of_many_blocks() {
        for n in SIZES {
            let x = values(n, 9);
            let mean = x.iter().map(|v| v * v).sum::<f64>() / n as f64 + 0.5;
            for backend in everywhere() {
                let (bx, shift) = (backend.upload_slice(&x), backend.upload(vec![0.5]));
                let mut y = backend.zeros(n);
                let mut partials = Partials::new(&backend, n, 2);
                square_and_one(&backend, n, &bx, &mut partials);
                divide_by_mean(&backend, n, &mut partials, &shift, &bx, &mut y);
                for (got, x) in backend.read(&y).unwrap().iter().zip(&x) {
                    let want = (x + 0.5) / mean;
                    assert!((got - want).abs() <= round_off(n, 4.0), "{backend:?} {got} {want}");
                }
            }
        }
    }
}
