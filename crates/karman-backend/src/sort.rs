//! A stable sort of integers by digits, least significant first: how a device groups entries by
//! column without atomics. The threads of a block count the digits of a tile of keys, a scan gives
//! every tile its places, and the tile, sorted by the digit in shared memory, goes there in order: one
//! writer a place, the same bits every time.
//!
//! These kernels share memory within a block, which an entity function cannot, so the sort has a host body
//! of its own.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::scan::exclusive_scan;
use super::{Backend, Buffer, THREADS_PER_BLOCK, View};
use crate::prelude::*;

/// Bits of a digit.
pub(super) const BITS: u32 = 4;
/// Values of a digit.
pub(super) const DIGITS: usize = 1 << BITS;
/// Keys each thread of a block takes.
pub(super) const KEYS: usize = 4;
/// Keys of a block.
pub(super) const TILE: usize = THREADS_PER_BLOCK * KEYS;

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
        device.count_digits(&keys, tiles, shift, &mut counts);
        exclusive_scan(backend, &counts, &mut places);
        let to = [&mut new_keys, &mut new_items];
        device.move_by_digit([&keys, &items], &places, tiles, shift, to);
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
    let sorted = |list: View<u32>| backend.upload(order.iter().map(|i| list[*i]).collect());
    (sorted(keys), sorted(items))
}

/// The number of keys below `value`, of ascending `keys`. Traffic: 4 bytes a value, and the keys where
/// all values are asked for.
#[kernel(out(place))]
pub fn count_below(value: usize, keys: &View<u32>, n: usize) -> u32 {
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
#[kernel(out(list))]
pub fn enumerate(i: usize) -> u32 {
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
