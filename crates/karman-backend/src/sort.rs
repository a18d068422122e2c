//! A stable sort of integers by digits, least significant first: how a device groups entries by
//! column without atomics. The threads of a block count the digits of a tile of keys, a scan gives
//! every tile its places, and the tile, sorted by the digit in shared memory, goes there in order: one
//! writer a place, the same bits every time.
//!
//! These kernels share memory within a block, which an entity function cannot, so the sort has a host body
//! of its own.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unsafe_code)]
#![allow(clippy::disallowed_methods)] // `Array` in a kernel that never runs on the host

use super::block::{item_of_block, sum_before};
use super::scan::exclusive_scan;
use super::{Backend, Buffer, Device, THREADS_PER_BLOCK, View};
use cubecl::prelude::*;
use karman_macros::kernel;

/// Bits of a digit.
const BITS: u32 = 4;
/// Values of a digit.
const DIGITS: usize = 1 << BITS;
/// Keys each thread of a block takes.
const KEYS: usize = 4;
/// Keys of a block.
const TILE: usize = THREADS_PER_BLOCK * KEYS;

/// `keys`, all below `end`, in ascending order, and `items` in the order of their keys; items of equal
/// keys keep their order. Both: `[n]`. Traffic: 20 bytes a key and 4 bits of `end`.
pub fn sort_by_key(
    backend: &Backend,
    mut keys: Buffer<u32>,
    mut items: Buffer<u32>,
    end: u32,
) -> (Buffer<u32>, Buffer<u32>) {
    let n = keys.len();
    let bits = u32::BITS - end.saturating_sub(1).leading_zeros();
    if n == 0 || bits == 0 {
        return (keys, items);
    }
    let Some(device) = backend.device() else { return sorted_on_host(backend, &keys, &items) };
    let tiles = n.div_ceil(TILE);
    let (mut new_keys, mut new_items) = (backend.scratch(n), backend.scratch(n));
    let mut counts = backend.scratch(DIGITS * tiles);
    let mut places = backend.scratch(DIGITS * tiles + 1);
    for pass in 0..bits.div_ceil(BITS) {
        let shift = pass * BITS;
        count_digits(device, &keys, tiles, shift, &mut counts);
        exclusive_scan(backend, &counts, &mut places);
        let to = [&mut new_keys, &mut new_items];
        move_by_digit(device, [&keys, &items], &places, tiles, shift, to);
        std::mem::swap(&mut keys, &mut new_keys);
        std::mem::swap(&mut items, &mut new_items);
    }
    (keys, items)
}

fn sorted_on_host(
    backend: &Backend,
    keys: &Buffer<u32>,
    items: &Buffer<u32>,
) -> (Buffer<u32>, Buffer<u32>) {
    let (keys, items) = (keys.view(), items.view());
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|i| keys[*i]);
    let sorted = |list: &View<u32>| backend.upload(order.iter().map(|i| list[*i]).collect());
    (sorted(keys), sorted(items))
}

/// How many keys of a tile have each digit: `[digit][tile]`. Traffic 4 bytes a key.
fn count_digits(
    device: &Device,
    keys: &Buffer<u32>,
    tiles: usize,
    shift: u32,
    counts: &mut Buffer<u32>,
) {
    // SAFETY: keys are tested against their number, tiles against theirs.
    unsafe {
        count_in_tiles::launch_unchecked(
            device.client(),
            device.blocks_of(tiles, THREADS_PER_BLOCK),
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
fn move_by_digit(
    device: &Device,
    [keys, items]: [&Buffer<u32>; 2],
    places: &Buffer<u32>,
    tiles: usize,
    shift: u32,
    [new_keys, new_items]: [&mut Buffer<u32>; 2],
) {
    // SAFETY: as above; places are sums of the counts, so below the number of keys.
    unsafe {
        move_tiles::launch_unchecked(
            device.client(),
            device.blocks_of(tiles, THREADS_PER_BLOCK),
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

/// The number of keys below `value`, of ascending `keys`. Traffic: 4 bytes a value, and the keys where
/// all values are asked for.
#[kernel(count_below, out(place))]
pub fn first_at_least(value: usize, keys: &View<u32>, n: usize) -> u32 {
    let mut low = 0usize;
    let mut high = n;
    while low < high {
        let middle = (low + high) / 2;
        if (keys[middle] as usize) < value {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low as u32
}

/// 0, 1, 2, … Traffic 4 bytes.
#[kernel(enumerate, out(list))]
pub fn own_index(i: usize) -> u32 {
    i as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SIZES, everywhere};

    #[test]
    fn sorts_are_stable_and_equal_the_standard_one() {
        for n in SIZES {
            for end in [1u32, 7, 300, 1 << 20] {
                let keys: Vec<u32> =
                    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) % end).collect();
                let mut want: Vec<u32> = (0..n as u32).collect();
                want.sort_by_key(|i| keys[*i as usize]);
                for backend in everywhere() {
                    let mut items = backend.zeros(n);
                    enumerate(&backend, n, &mut items);
                    let put = backend.upload_slice(&keys);
                    let (sorted, order) = sort_by_key(&backend, put, items, end);
                    assert_eq!(backend.read(&order).unwrap(), want, "{backend:?} {n} {end}");
                    let values = (end as usize).min(1000) + 1;
                    let mut begins = backend.zeros(values);
                    count_below(&backend, values, &sorted, n, &mut begins);
                    for (value, begin) in backend.read(&begins).unwrap().iter().enumerate() {
                        let below = keys.iter().filter(|k| (**k as usize) < value).count();
                        assert_eq!(*begin as usize, below, "{backend:?} {n} {end}");
                    }
                }
            }
        }
    }
}
