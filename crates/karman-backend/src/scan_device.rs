//! The prefix sum of a device, by tiles whose threads share memory.
#![allow(missing_docs)] // on the modules CubeCL generates
#![allow(unsafe_code)]
#![allow(clippy::disallowed_methods)] // `Array` in a kernel that never runs on the host

use super::block::sum_before;
use super::scan::{ITEMS, TILE, add_tile_offset};
use super::{Backend, Buffer, Device, THREADS_PER_BLOCK};
use cubecl::prelude::*;

impl Device {
    /// Exclusive sums of the first `n` of `counts`, taken as 0 beyond its end.
    pub(super) fn scan(
        &self,
        backend: &Backend,
        counts: &Buffer<u32>,
        n: usize,
        sums: &mut Buffer<u32>,
    ) {
        let tiles = n.div_ceil(TILE);
        let totals = backend.scratch::<u32>(tiles);
        // SAFETY: every index is tested against the lengths passed.
        unsafe {
            scan_tiles::launch_unchecked(
                self.client(),
                super::blocks(tiles),
                super::block_size(),
                counts.arg(),
                sums.arg(),
                totals.arg(),
                counts.len(),
                n,
            );
        }
        if tiles > 1 {
            let mut before = backend.scratch::<u32>(tiles);
            self.scan(backend, &totals, tiles, &mut before);
            add_tile_offset(backend, n, &before, sums);
        }
    }
}

#[cube(launch_unchecked)]
fn scan_tiles(counts: &[u32], sums: &mut [u32], totals: &mut [u32], n_counts: usize, n: usize) {
    let mut shared = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK);
    let thread = UNIT_POS as usize;
    let first = CUBE_POS * TILE + thread * ITEMS;
    let mut own = Array::<u32>::new(ITEMS);
    let mut total = 0u32;
    #[unroll]
    for k in 0..ITEMS {
        own[k] = total;
        if first + k < n_counts {
            total += counts[first + k];
        }
    }
    let before = sum_before(&mut shared, total, THREADS_PER_BLOCK);
    #[unroll]
    for k in 0..ITEMS {
        if first + k < n {
            sums[first + k] = before + own[k];
        }
    }
    if thread == THREADS_PER_BLOCK - 1 {
        totals[CUBE_POS] = shared[thread];
    }
}
