//! Reductions by the blocks of a device.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::rank_blocks::RankBlocks;
use super::reduce::{Partials, Reduction, accumulate, identity};
use super::{Backend, Buffer, Device, THREADS_PER_BLOCK, block_size};
use cubecl::prelude::*;

#[cube]
fn plane_reduce(v: f64, #[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        plane_sum(v)
    } else if comptime!(operation == Reduction::Min) {
        plane_min(v)
    } else {
        plane_max(v)
    }
}

/// The reduction of one value a thread over a block; valid in thread 0.
#[cube]
pub fn reduce_block(
    v: f64,
    #[comptime] operation: Reduction,
    #[comptime] threads: usize,
    #[comptime] planes: bool,
) -> f64 {
    if comptime!(planes) {
        let mut shared = Shared::<[f64]>::new_slice(32usize);
        let of_plane = plane_reduce(v, operation);
        if UNIT_POS_PLANE == 0 {
            shared[(UNIT_POS / PLANE_DIM) as usize] = of_plane;
        }
        sync_cube();
        let planes_in_block = threads as u32 / PLANE_DIM;
        let mut mine = identity(operation);
        if UNIT_POS < planes_in_block {
            mine = shared[UNIT_POS as usize];
        }
        plane_reduce(mine, operation)
    } else {
        let mut shared = Shared::<[f64]>::new_slice(threads);
        shared[UNIT_POS as usize] = v;
        sync_cube();
        let mut half = comptime!(threads as u32 / 2).runtime();
        while half > 0 {
            if UNIT_POS < half {
                shared[UNIT_POS as usize] = accumulate(
                    shared[UNIT_POS as usize],
                    shared[(UNIT_POS + half) as usize],
                    operation,
                );
            }
            sync_cube();
            half /= 2;
        }
        shared[0]
    }
}

/// The reduction of `count` block results that start at `first`, by one block.
#[cube]
pub fn combine_block(
    partials: &[f64],
    first: usize,
    count: usize,
    #[comptime] operation: Reduction,
    #[comptime] threads: usize,
    #[comptime] planes: bool,
) -> f64 {
    let mut mine = identity(operation);
    let mut i = UNIT_POS as usize;
    while i < count {
        mine = accumulate(mine, partials[first + i], operation);
        i += threads;
    }
    reduce_block(mine, operation, threads, planes)
}

/// The sum of a few block results that start at `first`, by every plane (or thread) for itself.
#[cube]
pub fn sum_of_blocks(
    partials: &[f64],
    first: usize,
    count: usize,
    #[comptime] planes: bool,
) -> f64 {
    let mut sum = 0.0f64.runtime();
    if comptime!(planes) {
        let mut i = UNIT_POS_PLANE as usize;
        while i < count {
            sum += partials[first + i];
            i += PLANE_DIM as usize;
        }
        plane_sum(sum)
    } else {
        for i in 0..count {
            sum += partials[first + i];
        }
        sum
    }
}

/// The sums of many block results, one a block.
#[cube(launch_unchecked)]
#[allow(unsafe_code)]
pub(super) fn finish_sums(
    partials: &[f64],
    sums: &mut [f64],
    count: usize,
    #[comptime] threads: usize,
    #[comptime] planes: bool,
) {
    let sum = combine_block(partials, CUBE_POS * count, count, Reduction::Sum, threads, planes);
    if UNIT_POS == 0 {
        sums[CUBE_POS] = sum;
    }
}

/// Block results that a kernel which needs their sum adds for itself; more are added before.
const FEW_BLOCKS: usize = 96;

/// The blocks of a reduction on a device, and where it puts their results: that of block b of component c of reduction k at
/// `k * block_stride + c * component_stride + first_block + b`.
pub struct BlockPlaces {
    /// Number of blocks of all components.
    pub blocks: usize,
    /// Entities of a block.
    pub chunk: usize,
    pub first_block: usize,
    pub block_stride: usize,
    /// Blocks and entities of a component.
    pub component_blocks: usize,
    pub component_entities: usize,
    pub component_stride: usize,
    /// Whether the blocks have the entries of [`Partials::ranges`].
    pub in_ranges: bool,
}

impl Partials {
    /// The blocks of a reduction over `entities` entities that is about to be launched.
    pub fn begin_on_device(&mut self, entities: usize, reductions: usize) -> BlockPlaces {
        let chunk = self.chunk;
        let components = if entities == self.entities { self.components } else { 1 };
        let component_entities = entities / components;
        let in_ranges = entities == self.entities && !self.ranges.is_empty();
        let filled = match in_ranges {
            true => self.ranges.len() / 2,
            false => component_entities.div_ceil(chunk).max(1),
        };
        let (component_blocks, first_block, component_stride) = match &self.ranks {
            None => (filled, 0, filled),
            Some(ranks) => {
                assert!(filled <= ranks.own_blocks(), "Partials made for fewer entities");
                (ranks.own_blocks(), ranks.first(), ranks.total())
            }
        };
        let (blocks, block_stride) = (components * component_blocks, components * component_stride);
        self.set_block_count(block_stride, reductions);
        BlockPlaces {
            blocks,
            chunk,
            first_block,
            block_stride,
            component_blocks,
            component_entities,
            component_stride,
            in_ranges,
        }
    }

    /// The first entry of each block and the first behind it, `[blocks][2]`; empty where blocks are consecutive chunks.
    pub fn ranges(&self) -> &Buffer<u32> {
        &self.ranges
    }

    /// The buffer that a reduction of this rank fills.
    pub fn own_values(&self) -> &Buffer<f64> {
        self.ranks.as_ref().and_then(RankBlocks::padded).unwrap_or(&self.values)
    }

    /// Gathers the blocks of all ranks after the launch of a reduction, unless something else gathers them.
    pub fn gather_on_device(&mut self, backend: &Backend, reductions: usize) {
        if self.keeps_own_blocks {
            self.reductions = reductions;
            return;
        }
        if let Some(ranks) = &self.ranks
            && let Some(padded) = ranks.padded()
        {
            let lists = reductions * (self.blocks / ranks.total());
            backend.gather_on_devices(padded, &mut self.values, lists, ranks.starts());
        }
    }

    /// Block results of the first `sums` reductions, or their sums where there are many, and how many
    /// results each has.
    #[allow(unsafe_code)]
    pub fn few(&mut self, device: &Device, sums: usize) -> (&Buffer<f64>, usize) {
        if self.most_blocks <= FEW_BLOCKS {
            return (&self.values, self.blocks);
        }
        // SAFETY: `values` holds `blocks` results of each sum, `sums` one place for each.
        unsafe {
            finish_sums::launch_unchecked(
                device.client(),
                CubeCount::Static(sums as u32, 1, 1),
                block_size(),
                self.values.arg(),
                self.sums.arg(),
                self.blocks,
                THREADS_PER_BLOCK,
                device.has_planes(),
            );
        }
        (&self.sums, 1)
    }
}
