//! The passes of a sort by digits on a device.
#![allow(missing_docs)] // on the modules CubeCL generates
#![allow(unsafe_code)]
#![allow(clippy::disallowed_methods)] // `Array` in a kernel that never runs on the host

use super::block::{item_of_block, sum_before};
use super::sort::{DIGITS, KEYS, TILE};
use super::{Buffer, Device, THREADS_PER_BLOCK};
use cubecl::prelude::*;

impl Device {
    /// How many keys of a tile have each digit: `[digit][tile]`. Traffic 4 bytes a key.
    pub(super) fn count_digits(
        &self,
        keys: &Buffer<u32>,
        tiles: usize,
        shift: u32,
        counts: &mut Buffer<u32>,
    ) {
        // SAFETY: keys are tested against their number, tiles against theirs.
        unsafe {
            count_in_tiles::launch_unchecked(
                self.client(),
                self.blocks_of(tiles, THREADS_PER_BLOCK),
                super::block_size(),
                keys.arg(),
                counts.arg(),
                keys.len(),
                tiles,
                shift,
            );
        }
    }

    /// Moves keys and items of each tile to the places of their digits. Traffic 16 bytes a key.
    pub(super) fn move_by_digit(
        &self,
        [keys, items]: [&Buffer<u32>; 2],
        places: &Buffer<u32>,
        tiles: usize,
        shift: u32,
        [new_keys, new_items]: [&mut Buffer<u32>; 2],
    ) {
        // SAFETY: as above; places are sums of the counts, so below the number of keys.
        unsafe {
            move_tiles::launch_unchecked(
                self.client(),
                self.blocks_of(tiles, THREADS_PER_BLOCK),
                super::block_size(),
                keys.arg(),
                items.arg(),
                places.arg(),
                new_keys.arg(),
                new_items.arg(),
                keys.len(),
                tiles,
                shift,
            );
        }
    }
}

#[cube]
fn digit_of(key: u32, shift: u32) -> usize {
    ((key >> shift) & comptime!(DIGITS as u32 - 1)) as usize
}

/// Where the keys of each digit and thread begin in a tile sorted by the digit: `[digit][thread]`.
#[cube]
fn places_in_tile(
    tile: usize,
    keys: &[u32],
    n: usize,
    shift: u32,
    places: &mut [u32],
    sums: &mut [u32],
) {
    let thread = UNIT_POS as usize;
    #[unroll]
    for digit in 0..DIGITS {
        places[digit * THREADS_PER_BLOCK + thread] = 0u32;
    }
    #[unroll]
    for k in 0..KEYS {
        let at = tile * TILE + thread * KEYS + k;
        if at < n {
            places[digit_of(keys[at], shift) * THREADS_PER_BLOCK + thread] += 1u32;
        }
    }
    sync_cube();
    // Each thread adds up as many consecutive counts as there are digits.
    let mut own = Array::<u32>::new(DIGITS);
    let mut total = 0u32;
    #[unroll]
    for k in 0..DIGITS {
        own[k] = total;
        total += places[thread * DIGITS + k];
    }
    let before = sum_before(sums, total, THREADS_PER_BLOCK);
    #[unroll]
    for k in 0..DIGITS {
        places[thread * DIGITS + k] = before + own[k];
    }
    sync_cube();
}

#[cube(launch_unchecked)]
fn count_in_tiles(keys: &[u32], counts: &mut [u32], n: usize, tiles: usize, shift: u32) {
    let mut places = Shared::<[u32]>::new_slice(comptime!(DIGITS * THREADS_PER_BLOCK));
    let mut sums = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK);
    let tile = item_of_block(tiles);
    places_in_tile(tile, keys, n, shift, &mut places, &mut sums);
    let digit = UNIT_POS as usize;
    if digit < DIGITS && CUBE_POS < tiles {
        let mut end = sums[THREADS_PER_BLOCK - 1];
        if digit + 1 < DIGITS {
            end = places[(digit + 1) * THREADS_PER_BLOCK];
        }
        counts[digit * tiles + tile] = end - places[digit * THREADS_PER_BLOCK];
    }
}

#[cube(launch_unchecked)]
fn move_tiles(
    keys: &[u32],
    items: &[u32],
    places: &[u32],
    new_keys: &mut [u32],
    new_items: &mut [u32],
    n: usize,
    tiles: usize,
    shift: u32,
) {
    let mut in_tile = Shared::<[u32]>::new_slice(comptime!(DIGITS * THREADS_PER_BLOCK));
    let mut sums = Shared::<[u32]>::new_slice(THREADS_PER_BLOCK);
    let mut begins = Shared::<[u32]>::new_slice(DIGITS);
    let mut tile_keys = Shared::<[u32]>::new_slice(TILE);
    let mut tile_items = Shared::<[u32]>::new_slice(TILE);
    let tile = item_of_block(tiles);
    let thread = UNIT_POS as usize;
    places_in_tile(tile, keys, n, shift, &mut in_tile, &mut sums);
    if thread < DIGITS {
        // Wraps around where a digit's place in the tile is beyond its place in all.
        begins[thread] = places[thread * tiles + tile] - in_tile[thread * THREADS_PER_BLOCK];
    }
    sync_cube();
    #[unroll]
    for k in 0..KEYS {
        let at = tile * TILE + thread * KEYS + k;
        if at < n {
            let key = keys[at];
            let own = digit_of(key, shift) * THREADS_PER_BLOCK + thread;
            let place = in_tile[own] as usize;
            in_tile[own] += 1u32;
            tile_keys[place] = key;
            tile_items[place] = items[at];
        }
    }
    sync_cube();
    if CUBE_POS < tiles {
        #[unroll]
        for k in 0..KEYS {
            let place = k * THREADS_PER_BLOCK + thread;
            if tile * TILE + place < n {
                let key = tile_keys[place];
                let to = (begins[digit_of(key, shift)] + place as u32) as usize;
                new_keys[to] = key;
                new_items[to] = tile_items[place];
            }
        }
    }
}
