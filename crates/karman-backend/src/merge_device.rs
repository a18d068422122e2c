//! Rows of a product of sparse matrices by blocks of a device.
#![allow(missing_docs, unsafe_code)]
#![allow(clippy::disallowed_methods)] // `Array` in a kernel that never runs on the host
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use super::block::{item_of_block, sum_before};
use super::merge::{Block, ENTRIES, Rows};
use super::{Buffer, Device};
use crate::real::Real;
use crate::real_device::RealExpand;
use cubecl::prelude::*;

/// Above all columns.
const NONE: u32 = u32::MAX;
impl Device {
    /// Number of entries in each of `n` rows of A B, B by compressed rows; and the terms of each row sorted by
    /// column, those of one column in their order, from `terms` of the row on: a key is a column with the
    /// number of its term below. Traffic at least: the pattern of A and B once, 4 a term, 8 a row.
    #[allow(clippy::too_many_arguments)]
    pub fn sort_terms<S: Real>(
        &self,
        block: Block,
        n: usize,
        a: &Rows<S>,
        b: &Rows<f64>,
        terms: &Buffer<u32>,
        sorted: &mut Buffer<u32>,
        counts: &mut Buffer<u32>,
    ) {
        // SAFETY: columns of A are rows of B, checked when the matrices were built; `terms` are sums of the
        // terms of each row, and a block was chosen that holds them.
        unsafe {
            sort_rows::launch_unchecked(
                self.client(),
                self.blocks_of(n, block.threads),
                CubeDim::new_1d(block.threads as u32),
                a.offsets.arg(),
                a.columns.arg(),
                b.offsets.arg(),
                b.columns.arg(),
                terms.arg(),
                sorted.arg(),
                counts.arg(),
                n,
                a.slice,
                block.threads,
                block.bits,
            );
        }
    }

    /// `n` rows of `factor` A B at `offsets` of `columns` and `values`, columns ascending, of what
    /// [`Device::sort_terms`] left. Traffic at least: A, B and the product once, 4 a term.
    #[allow(clippy::too_many_arguments)]
    pub fn merge<S: Real>(
        &self,
        block: Block,
        n: usize,
        a: &Rows<S>,
        b: &Rows<f64>,
        factor: f64,
        [terms, sorted]: [&Buffer<u32>; 2],
        offsets: &Buffer<u32>,
        columns: &mut Buffer<u32>,
        values: &mut Buffer<f64>,
    ) {
        // SAFETY: as above; `offsets` are sums of what `sort_terms` counted.
        unsafe {
            merge_rows::launch_unchecked::<S>(
                self.client(),
                self.blocks_of(n, block.threads),
                CubeDim::new_1d(block.threads as u32),
                a.offsets.arg(),
                a.columns.arg(),
                a.values.arg(),
                b.offsets.arg(),
                b.values.arg(),
                terms.arg(),
                sorted.arg(),
                offsets.arg(),
                columns.arg(),
                values.arg(),
                n,
                factor,
                a.slice,
                block.threads,
                block.bits,
            );
        }
    }
}

#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn sort_rows(
    a_offsets: &[u32],
    a_columns: &[u32],
    b_offsets: &[u32],
    b_columns: &[u32],
    terms: &[u32],
    sorted: &mut [u32],
    counts: &mut [u32],
    n: usize,
    #[comptime] slice: usize,
    #[comptime] threads: usize,
    #[comptime] bits: u32,
) {
    let mut sums = Shared::<[u32]>::new_slice(threads);
    let mut begins = Shared::<[u32]>::new_slice(comptime!(ENTRIES * threads));
    let mut starts = Shared::<[u32]>::new_slice(comptime!(ENTRIES * threads));
    let mut keys = Shared::<[u32]>::new_slice(comptime!(1usize << bits));
    let row = item_of_block(n);
    let (_first, entries) = find_entries(
        row,
        a_offsets,
        a_columns,
        b_offsets,
        &mut sums,
        &mut begins,
        &mut starts,
        slice,
        threads,
    );
    let (first_term, count) = terms_of(row, terms);
    let mut padded = 1usize;
    while padded < count {
        padded += padded;
    }
    let mut t = UNIT_POS as usize;
    while t < padded {
        let mut key = comptime!(NONE).runtime();
        if t < count {
            let k = entry_of(&begins, entries, t as u32);
            key = b_columns[(starts[k] + t as u32) as usize] << bits | t as u32;
        }
        keys[t] = key;
        t += threads;
    }
    sort(&mut keys, padded, threads);
    let (from, to) = own_terms(count, threads);
    let heads = heads_between(&keys, 0usize, from, to, bits);
    sum_before(&mut sums, heads, threads);
    if CUBE_POS < n {
        if UNIT_POS == 0 {
            counts[row] = sums[threads - 1];
        }
        let mut t = UNIT_POS as usize;
        while t < count {
            sorted[first_term + t] = keys[t];
            t += threads;
        }
    }
}

#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn merge_rows<S: Real>(
    a_offsets: &[u32],
    a_columns: &[u32],
    a_values: &[S],
    b_offsets: &[u32],
    b_values: &[f64],
    terms: &[u32],
    sorted: &[u32],
    offsets: &[u32],
    columns: &mut [u32],
    values: &mut [f64],
    n: usize,
    factor: f64,
    #[comptime] slice: usize,
    #[comptime] threads: usize,
    #[comptime] bits: u32,
) {
    let mut sums = Shared::<[u32]>::new_slice(threads);
    let mut begins = Shared::<[u32]>::new_slice(comptime!(ENTRIES * threads));
    let mut starts = Shared::<[u32]>::new_slice(comptime!(ENTRIES * threads));
    let row = item_of_block(n);
    let (first, entries) = find_entries(
        row,
        a_offsets,
        a_columns,
        b_offsets,
        &mut sums,
        &mut begins,
        &mut starts,
        slice,
        threads,
    );
    let (first_term, count) = terms_of(row, terms);
    let (from, to) = own_terms(count, threads);
    let heads = heads_between(sorted, first_term, from, to, bits);
    let mut place = (offsets[row] + sum_before(&mut sums, heads, threads)) as usize;
    if CUBE_POS < n {
        for t in from..to {
            if head_at(sorted, first_term, t, bits) == 1 {
                let column = sorted[first_term + t] >> bits;
                let mut sum = 0.0f64;
                let mut s = t;
                while s < count {
                    let key = sorted[first_term + s];
                    if key >> bits == column {
                        let term = key & comptime!((1u32 << bits) - 1);
                        let k = entry_of(&begins, entries, term);
                        let a = a_values[first + k * slice].to_f64();
                        sum += a * b_values[(starts[k] + term) as usize];
                        s += 1;
                    } else {
                        s = count;
                    }
                }
                columns[place] = column;
                values[place] = factor * sum;
                place += 1;
            }
        }
    }
}

/// Where the terms of a row begin, and how many it has.
#[cube]
fn terms_of(row: usize, terms: &[u32]) -> (usize, usize) {
    let first = terms[row] as usize;
    (first, terms[row + 1] as usize - first)
}

/// Where the entries of a row of A begin, and how many it has, padding included. Entry k has the terms from
/// `begins[k]` on, term t being entry `starts[k]` + t of B.
#[cube]
#[allow(clippy::too_many_arguments)]
fn find_entries(
    row: usize,
    a_offsets: &[u32],
    a_columns: &[u32],
    b_offsets: &[u32],
    sums: &mut [u32],
    begins: &mut [u32],
    starts: &mut [u32],
    #[comptime] slice: usize,
    #[comptime] threads: usize,
) -> (usize, usize) {
    let group = row / slice;
    let first = a_offsets[group] as usize + row % slice;
    let entries = (a_offsets[group + 1] - a_offsets[group]) as usize / slice;
    let mut own = Array::<u32>::new(ENTRIES);
    let mut total = 0u32;
    #[unroll]
    for m in 0..ENTRIES {
        let k = UNIT_POS as usize * ENTRIES + m;
        own[m] = total;
        if k < entries {
            let j = a_columns[first + k * slice] as usize;
            total += b_offsets[j + 1] - b_offsets[j];
        }
    }
    let before = sum_before(sums, total, threads);
    #[unroll]
    for m in 0..ENTRIES {
        let k = UNIT_POS as usize * ENTRIES + m;
        if k < entries {
            let j = a_columns[first + k * slice] as usize;
            begins[k] = before + own[m];
            // Wraps around where the terms of earlier entries are more than B's rows before.
            starts[k] = b_offsets[j] - (before + own[m]);
        }
    }
    sync_cube();
    (first, entries)
}

/// The last of the ascending `begins` that is not beyond `term`.
#[cube]
fn entry_of(begins: &[u32], entries: usize, term: u32) -> usize {
    let mut low = 0u32;
    let mut high = entries as u32;
    while low + 1 < high {
        let middle = (low + high) / 2;
        if begins[middle as usize] <= term {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as usize
}

/// Sorts keys with Batcher's bitonic network. `n` is a power of two.
#[cube]
fn sort(keys: &mut [u32], n: usize, #[comptime] threads: usize) {
    // No division: half of a device's time would go there.
    let n = n as u32;
    let mut size = 2u32;
    while size <= n {
        let mut stride = size / 2;
        while stride > 0 {
            sync_cube();
            let mut pair = UNIT_POS;
            while pair < n / 2 {
                let low = pair & (stride - 1);
                let first = 2 * (pair - low) + low;
                let i = first as usize;
                let j = (first + stride) as usize;
                let one = keys[i];
                let other = keys[j];
                let mut smaller = one;
                let mut larger = other;
                if one > other {
                    smaller = other;
                    larger = one;
                }
                if first & size == 0 {
                    keys[i] = smaller;
                    keys[j] = larger;
                } else {
                    keys[i] = larger;
                    keys[j] = smaller;
                }
                pair += comptime!(threads as u32);
            }
            stride /= 2;
        }
        size *= 2;
    }
    sync_cube();
}

/// The terms whose columns this thread counts and adds up: from, to.
#[cube]
fn own_terms(terms: usize, #[comptime] threads: usize) -> (usize, usize) {
    let each = terms.div_ceil(threads);
    let from = UNIT_POS as usize * each;
    let mut to = from + each;
    if to > terms {
        to = terms;
    }
    (from, to)
}

/// 1 where a column begins among the sorted terms of a row.
#[cube]
fn head_at(sorted: &[u32], first: usize, t: usize, #[comptime] bits: u32) -> u32 {
    let mut head = 1u32;
    if t > 0 {
        if sorted[first + t] >> bits == sorted[first + t - 1] >> bits {
            head = 0u32;
        }
    }
    head
}

/// How many columns begin among them.
#[cube]
fn heads_between(
    sorted: &[u32],
    first: usize,
    from: usize,
    to: usize,
    #[comptime] bits: u32,
) -> u32 {
    let mut heads = 0u32;
    for t in from..to {
        heads += head_at(sorted, first, t, bits);
    }
    heads
}
