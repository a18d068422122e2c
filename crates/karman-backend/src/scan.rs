//! Prefix sums and compaction of integers: how a device makes CSR offsets and index lists without
//! asking the host. Integers only, so the result does not depend on the order of summation.
//!
//! These kernels share memory within a block, which an entity function cannot, so the prefix sum has
//! a host body of its own (one pass); the compaction is an ordinary pair.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::{Backend, BackendError, Buffer, Segment, THREADS_PER_BLOCK, View};
use crate::prelude::*;

/// Items each thread of the scan adds up by itself.
pub(super) const ITEMS: usize = 4;
/// Items of one block.
pub(super) const TILE: usize = THREADS_PER_BLOCK * ITEMS;

/// offsets_i = Σ_{j<i} counts_j for i = 0 … n, so that `offsets` has n + 1 elements and the last is
/// the total. Traffic 4 + 4 bytes an item at least; a device reads `counts` once more for the block
/// totals.
///
/// The total must stay below 2³².
pub fn exclusive_scan(backend: &Backend, counts: &Buffer<u32>, offsets: &mut Buffer<u32>) {
    assert_eq!(offsets.len(), counts.len() + 1, "a scan of n items has n + 1 offsets");
    match backend.device() {
        None => {
            let (counts, offsets) = (counts.view(), offsets.writer());
            let mut total = 0;
            for i in 0..counts.len() {
                offsets.set(i, total);
                total += counts[i];
            }
            offsets.set(counts.len(), total);
        }
        Some(device) => device.scan(backend, counts, counts.len() + 1, offsets),
    }
}

/// Adds the sum of the tiles before an item. Traffic 8 bytes an item.
#[kernel(update(sums))]
pub fn add_tile_offset(i: usize, before: &View<u32>, sums: u32) -> u32 {
    sums + before[i / comptime!(TILE)]
}

/// Puts the index of each item whose flag is 1 at the place the scan of the flags gives it. Traffic
/// 8 bytes an item and 4 a kept one.
#[kernel]
pub fn place_flagged(i: usize, flags: &View<u32>, places: &View<u32>, list: &mut Segment<u32>) {
    if flags[i] == 1 {
        list[places[i] as usize] = i as u32;
    }
}

/// The indices whose flag is 1 (the others are 0), in ascending order.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn compact(backend: &Backend, flags: &Buffer<u32>) -> Result<Buffer<u32>, BackendError> {
    let (places, kept) = offsets_of(backend, flags)?;
    let mut list = backend.scratch(kept);
    place_flagged(backend, flags.len(), flags, &places, &mut list);
    Ok(list)
}

/// offsets_i = Σ_{j<i} counts_j for i = 0 … n, and the last of them, which the host reads.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn offsets_of(
    backend: &Backend,
    counts: &Buffer<u32>,
) -> Result<(Buffer<u32>, usize), BackendError> {
    let ([offsets], [total]) = offsets_of_each(backend, [counts])?;
    Ok((offsets, total))
}

/// [`offsets_of`] several lists; the host waits once.
///
/// # Errors
/// As there.
pub fn offsets_of_each<const N: usize>(
    backend: &Backend,
    counts: [&Buffer<u32>; N],
) -> Result<([Buffer<u32>; N], [usize; N]), BackendError> {
    let offsets = counts.map(|counts| {
        let mut offsets = backend.scratch(counts.len() + 1);
        exclusive_scan(backend, counts, &mut offsets);
        offsets
    });
    let totals = backend.read_last(offsets.each_ref())?;
    Ok((offsets, totals.map(|total| total as usize)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SIZES, everywhere};

    #[test]
    fn scans_and_compactions_equal_the_plain_loop() {
        for n in SIZES.into_iter().chain([1023, 1024, 1025]) {
            let counts: Vec<u32> = (0..n as u32).map(|i| (i * 7919 % 13) * (i % 3)).collect();
            let flags: Vec<u32> = counts.iter().map(|c| u32::from(*c > 4)).collect();
            let mut want = vec![0];
            for c in &counts {
                want.push(want[want.len() - 1] + c);
            }
            let kept: Vec<u32> = (0..n as u32).filter(|i| flags[*i as usize] == 1).collect();
            for backend in everywhere() {
                let mut offsets = backend.zeros(n + 1);
                exclusive_scan(&backend, &backend.upload_slice(&counts), &mut offsets);
                assert_eq!(backend.read(&offsets).unwrap(), want, "{backend:?} n = {n}");
                let list = compact(&backend, &backend.upload_slice(&flags)).unwrap();
                assert_eq!(backend.read(&list).unwrap(), kept, "{backend:?} n = {n}");
            }
        }
    }
}
