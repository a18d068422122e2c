//! Reductions whose order is fixed: block results on the way, finished by a `combine` kernel, so
//! that a reduced value may stay on the device.
//!
//! Values are accumulated in `f64` whatever the fields' precision. On the host a block is a chunk of
//! [`HOST_CHUNK`] entities; on a device a block strides over the entities with all the others, sums
//! by a tree, and the number of blocks depends on the entity count and the device alone.
//!
//! Of several ranks each reduces its own entities, then all ranks gather the blocks of all in the order of ranks. Where each
//! rank owns whole chunks, these are the blocks of one rank with all entities.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::{Backend, Buffer, HOST_CHUNK, Writer};
use crate::prelude::*;
use std::sync::Arc;

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

/// Block results of a kernel's reductions, `[reduction][block]`.
pub struct Partials {
    pub(super) values: Buffer<f64>,
    pub(super) blocks: usize,
    /// Sums of many blocks.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) sums: Buffer<f64>,
    /// The blocks of other ranks.
    ranks: Option<RankBlocks>,
}

impl Partials {
    /// Room for `reductions` reductions over at most `entities` entities, on each of several ranks over its own.
    pub fn new(backend: &Backend, entities: usize, reductions: usize) -> Partials {
        let mut partials = Self::of_own(backend, entities, reductions);
        partials.ranks = backend.ranks().and_then(|group| RankBlocks::new(group, partials.blocks));
        if let Some(ranks) = &partials.ranks {
            partials.values = backend.zeros(ranks.total() * reductions);
            partials.blocks = ranks.total();
        }
        partials
    }

    /// As [`Partials::new`], for reductions over the entities of this rank alone.
    pub fn of_own(backend: &Backend, entities: usize, reductions: usize) -> Partials {
        let blocks = match backend.device() {
            None => entities.div_ceil(HOST_CHUNK).max(1),
            Some(device) => device.reduction_blocks(entities),
        };
        let values = backend.zeros(blocks * reductions);
        Partials { values, blocks, sums: backend.zeros(reductions), ranks: None }
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
        let mut blocks = count.div_ceil(HOST_CHUNK).max(1);
        let results: Writer<f64> = match &mut self.ranks {
            None => {
                self.set_block_count(blocks, K);
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
            let mut totals = identities;
            for i in c * HOST_CHUNK..((c + 1) * HOST_CHUNK).min(count) {
                entity(i, &mut totals);
            }
            for (k, total) in totals.into_iter().enumerate() {
                results.set(k * blocks + c, total);
            }
        };
        match count.div_ceil(HOST_CHUNK).max(1) {
            1 => chunk(0),
            chunks => super::host::for_each_chunk(chunks, &chunk),
        }
        if let Some(ranks) = &mut self.ranks {
            self.blocks = ranks.total();
            ranks.gather(K, &mut self.values.writer());
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

/// The blocks of all ranks.
struct RankBlocks {
    group: Arc<dyn Group>,
    /// First block of each rank, and the number of blocks.
    starts: Vec<usize>,
    /// The own blocks, `[reduction][block]`.
    own: Vec<f64>,
    /// Those of all ranks, `[rank][reduction][block]`.
    all: Vec<f64>,
    /// First byte of each rank in `all`.
    places: Vec<usize>,
}

impl RankBlocks {
    /// None where a rank failed, which the next read reports.
    fn new(group: &Arc<dyn Group>, own_blocks: usize) -> Option<RankBlocks> {
        let (counts, _) = gather_lists(&**group, &[own_blocks as u32]).ok()?;
        let mut starts = vec![0];
        for count in counts {
            starts.push(starts[starts.len() - 1] + count as usize);
        }
        let places = vec![0; starts.len()];
        Some(RankBlocks { group: group.clone(), starts, own: vec![], all: vec![], places })
    }

    fn total(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    fn own_blocks(&self) -> usize {
        let rank = self.group.rank();
        self.starts[rank + 1] - self.starts[rank]
    }

    /// The own blocks of `K` reductions, to be written.
    fn begin<const K: usize>(&mut self, identities: [f64; K]) -> Writer<f64> {
        let blocks = self.own_blocks();
        self.own.clear();
        identities.iter().for_each(|identity| self.own.extend((0..blocks).map(|_| *identity)));
        Writer::of(&mut self.own)
    }

    /// Gathers the blocks of `reductions` reductions into `values`, `[reduction][block]`.
    fn gather(&mut self, reductions: usize, values: &mut Writer<f64>) {
        let total = self.total();
        let RankBlocks { group, starts, own, all, places } = self;
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

#[cfg(test)]
#[allow(missing_docs)]
mod tests {
    use super::*;
    use crate::View;
    use crate::real::Real;
    use crate::testing::{SIZES, everywhere, round_off, values};

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
