//! A stable sort of integers by digits, least significant first: how a device groups entries by
//! column without atomics. Each thread counts the digits of a run of keys, a scan gives every run its
//! places, and the same thread moves its run there: one writer a place, the same bits every time.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::scan::exclusive_scan;
use super::{Backend, Buffer, Local, Segment, View};
use cubecl::prelude::*;
use karman_macros::kernel;

/// Bits of a digit.
const BITS: u32 = 4;
/// Values of a digit.
const DIGITS: usize = 1 << BITS;
/// Keys one thread counts and moves.
const RUN: usize = 32;

/// `keys`, all below `end`, in ascending order, and `items` in the order of their keys; items of equal
/// keys keep their order. Both: `[n]`. Traffic: 20 bytes a key and 4 bits of `end`, and 8 a digit of
/// each run.
pub fn sort_by_key(
    backend: &Backend,
    mut keys: Buffer<u32>,
    mut items: Buffer<u32>,
    end: u32,
) -> (Buffer<u32>, Buffer<u32>) {
    let n = keys.len();
    let runs = n.div_ceil(RUN);
    let bits = u32::BITS - end.saturating_sub(1).leading_zeros();
    if n == 0 || bits == 0 {
        return (keys, items);
    }
    let mut new_keys = backend.zeros(n);
    let mut new_items = backend.zeros(n);
    let mut counts = backend.zeros(DIGITS * runs);
    let mut places = backend.zeros(DIGITS * runs + 1);
    for pass in 0..bits.div_ceil(BITS) {
        let shift = pass * BITS;
        count_digits(backend, runs, &keys, n, shift, &mut counts);
        exclusive_scan(backend, &counts, &mut places);
        let (k, i) = (&mut new_keys, &mut new_items);
        move_by_digit(backend, runs, &keys, &items, &places, n, runs, shift, k, i);
        std::mem::swap(&mut keys, &mut new_keys);
        std::mem::swap(&mut items, &mut new_items);
    }
    (keys, items)
}

/// How many keys of a run have each digit: `[digit][run]`, the order their places follow. Traffic 4
/// bytes a key and 4 a digit of each run.
#[kernel(count_digits, out(counts))]
pub fn digits_of_run(run: usize, keys: &View<u32>, n: usize, shift: u32) -> Local<u32, 16> {
    let mut counts = Local::<u32, 16>::zeros();
    let first = run * comptime!(RUN);
    let mut end = first + comptime!(RUN);
    if end > n {
        end = n;
    }
    for k in first..end {
        let digit = ((keys[k] >> shift) & comptime!(DIGITS as u32 - 1)) as usize;
        counts[digit] += 1u32;
    }
    counts
}

/// Moves the keys of a run to their places. Traffic 16 bytes a key and 4 a digit of each run.
#[kernel(move_by_digit)]
pub fn run_moved(
    run: usize,
    keys: &View<u32>,
    items: &View<u32>,
    places: &View<u32>,
    n: usize,
    runs: usize,
    shift: u32,
    new_keys: &mut Segment<u32>,
    new_items: &mut Segment<u32>,
) {
    let mut next = Local::<u32, 16>::uninitialised();
    for digit in 0..comptime!(DIGITS) {
        next[digit] = places[digit * runs + run];
    }
    let first = run * comptime!(RUN);
    let mut end = first + comptime!(RUN);
    if end > n {
        end = n;
    }
    for k in first..end {
        let key = keys[k];
        let digit = ((key >> shift) & comptime!(DIGITS as u32 - 1)) as usize;
        let place = next[digit] as usize;
        new_keys[place] = key;
        new_items[place] = items[k];
        next[digit] += 1u32;
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
    use crate::backend::testing::{SIZES, everywhere};

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
