//! Interpolation row by row: extended+i with the result of the host's, constants on pairs, and the
//! transpose of either by sorting columns.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::coarsening::{Numbered, scanned};
use crate::backend::{Backend, BackendError, Buffer, Local, Segment, View, blas, sort};
use crate::linear::amg::interpolation::CANDIDATES;
use crate::linear::amg::strength::FINE;
use crate::linear::matrix::row_places;
use crate::linear::{Layout, Matrix};
use crate::real::Real;
use cubecl::prelude::*;
use karman_macros::kernel;

/// Places of a table of candidates: twice as many, so that an empty one is always near.
const PLACES: usize = 2 * CANDIDATES;

/// The place of a coarse unknown in the table, or the empty place where it would stand. Neighbours have
/// close numbers, so their low bits are hash enough.
#[cube]
fn place_of(table: &Local<u32, PLACES>, column: u32) -> usize {
    let mut place = ((column ^ (column >> 7u32)) & comptime!(PLACES as u32 - 1)) as usize;
    while table[place] != column && table[place] != comptime!(FINE) {
        place = (place + 1) & comptime!(PLACES - 1);
    }
    place
}

/// The row of extended+i interpolation of one unknown, truncated; its entry k at `rows` k + row of
/// `loose_columns` and `loose_values`, columns ascending. Formula and sources:
/// [`crate::linear::amg::interpolation::extended_i`].
///
/// Traffic: the matrix once for the row and once for each fine neighbour's, from the cache mostly; 12
/// an entry kept.
#[kernel(extend, out(counts))]
pub(super) fn extended<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    thresholds: &View<f64>,
    coarse: &View<u32>,
    rows: usize,
    keep: usize,
    #[comptime] layout: Layout,
    loose_columns: &mut Segment<u32>,
    loose_values: &mut Segment<f64>,
) -> u32 {
    let mut kept = 0usize;
    let zero = f64::literal(0.0);
    if coarse[row] != comptime!(FINE) {
        loose_columns[row] = coarse[row];
        loose_values[row] = f64::literal(1.0);
        kept = 1usize;
    } else {
        let mut table = Local::<u32, PLACES>::uninitialised();
        for place in 0..comptime!(PLACES) {
            table[place] = comptime!(FINE).runtime();
        }
        let mut weights = Local::<f64, PLACES>::uninitialised();
        // The places of candidates in the order they were met.
        let mut met = Local::<u32, CANDIDATES>::uninitialised();
        let mut size = 0usize;
        let threshold = thresholds[row];
        let (first, end) = row_places(row, offsets, layout);
        let mut k = first;
        while k < end {
            let j = columns[k] as usize;
            if j != row && -S::widen(values[k]) >= threshold {
                if coarse[j] != comptime!(FINE) {
                    let place = place_of(&table, coarse[j]);
                    if table[place] == comptime!(FINE) && size < comptime!(CANDIDATES) {
                        table[place] = coarse[j];
                        weights[place] = zero;
                        met[size] = place as u32;
                        size += 1;
                    }
                } else {
                    let beyond = thresholds[j];
                    let (first, end) = row_places(j, offsets, layout);
                    let mut m = first;
                    while m < end {
                        let l = coarse[columns[m] as usize];
                        if l != comptime!(FINE) && -S::widen(values[m]) >= beyond {
                            let place = place_of(&table, l);
                            if table[place] == comptime!(FINE) && size < comptime!(CANDIDATES) {
                                table[place] = l;
                                weights[place] = zero;
                                met[size] = place as u32;
                                size += 1;
                            }
                        }
                        m += comptime!(layout.spacing());
                    }
                }
            }
            k += comptime!(layout.spacing());
        }
        let mut diagonal = zero;
        k = first;
        while k < end {
            let j = columns[k] as usize;
            let value = S::widen(values[k]);
            let mut to_diagonal = true;
            if j != row {
                if coarse[j] != comptime!(FINE) {
                    let place = place_of(&table, coarse[j]);
                    if table[place] != comptime!(FINE) {
                        weights[place] += value;
                        to_diagonal = false;
                    }
                } else if -value >= threshold {
                    // a_ij spread over the couplings of j to candidates and to the row.
                    let (first, end) = row_places(j, offsets, layout);
                    let mut sum = zero;
                    let mut m = first;
                    while m < end {
                        let coupling = S::widen(values[m]);
                        let l = columns[m] as usize;
                        if coupling < zero {
                            if l == row {
                                sum += coupling;
                            } else if coarse[l] != comptime!(FINE) {
                                if table[place_of(&table, coarse[l])] != comptime!(FINE) {
                                    sum += coupling;
                                }
                            }
                        }
                        m += comptime!(layout.spacing());
                    }
                    if sum != zero {
                        to_diagonal = false;
                        let share = value / sum;
                        m = first;
                        while m < end {
                            let coupling = S::widen(values[m]);
                            let l = columns[m] as usize;
                            if coupling < zero {
                                if l == row {
                                    diagonal += share * coupling;
                                } else if coarse[l] != comptime!(FINE) {
                                    let place = place_of(&table, coarse[l]);
                                    if table[place] != comptime!(FINE) {
                                        weights[place] += share * coupling;
                                    }
                                }
                            }
                            m += comptime!(layout.spacing());
                        }
                    }
                }
            }
            if to_diagonal {
                diagonal += value;
            }
            k += comptime!(layout.spacing());
        }
        if diagonal > zero {
            kept = size;
            if keep < size {
                kept = keep;
            }
            let mut total = zero;
            for c in 0..size {
                let place = met[c] as usize;
                weights[place] = weights[place] / -diagonal;
                total += weights[place];
            }
            // The largest to the front, ties to the smaller column.
            let mut sum = zero;
            for c in 0..kept {
                let mut best = c;
                for other in c + 1..size {
                    let x = f64::absolute(weights[met[other] as usize]);
                    let y = f64::absolute(weights[met[best] as usize]);
                    let is_before = table[met[other] as usize] < table[met[best] as usize];
                    if x > y || (x == y && is_before) {
                        best = other;
                    }
                }
                let place = met[best];
                met[best] = met[c];
                met[c] = place;
                sum += weights[place as usize];
            }
            let mut factor = f64::literal(1.0);
            if kept < size && sum != zero {
                factor = total / sum;
            }
            for c in 0..kept {
                // Its place in the row is the number of kept columns below.
                let column = table[met[c] as usize];
                let mut below = 0usize;
                for other in 0..kept {
                    if table[met[other] as usize] < column {
                        below += 1;
                    }
                }
                loose_columns[below * rows + row] = column;
                loose_values[below * rows + row] = factor * weights[met[c] as usize];
            }
        }
    }
    kept as u32
}

/// Rows one after another, and the row of each entry. Traffic 28 an entry and 8.
#[kernel(pack)]
pub(super) fn packed(
    row: usize,
    offsets: &View<u32>,
    loose_columns: &View<u32>,
    loose_values: &View<f64>,
    rows: usize,
    columns: &mut Segment<u32>,
    values: &mut Segment<f64>,
    row_of: &mut Segment<u32>,
) {
    let first = offsets[row] as usize;
    for k in first..offsets[row + 1] as usize {
        let from = (k - first) * rows + row;
        columns[k] = loose_columns[from];
        values[k] = loose_values[from];
        row_of[k] = row as u32;
    }
}

/// An entry of the transpose: the row and the value of the entry that is sorted to its place. Traffic
/// 28.
#[kernel(pick, out(columns, values))]
pub(super) fn picked(
    k: usize,
    order: &View<u32>,
    row_of: &View<u32>,
    from: &View<f64>,
) -> (u32, f64) {
    let entry = order[k] as usize;
    (row_of[entry], from[entry])
}

/// Extended+i interpolation from the coarse unknowns of `set`, and its transpose.
pub(super) fn extended_i<S: Real>(
    a: &Matrix<S>,
    thresholds: &Buffer<f64>,
    set: &Numbered,
    keep: usize,
) -> Result<[Matrix<f64>; 2], BackendError> {
    let (backend, n, layout) = (a.backend(), a.rows(), a.layout());
    let (offsets, columns, values) = a.arrays();
    let keep = keep.min(CANDIDATES);
    let (mut loose_columns, mut loose_values) = (backend.zeros(n * keep), backend.zeros(n * keep));
    let mut counts = backend.zeros(n);
    extend(
        backend,
        n,
        offsets,
        columns,
        values,
        thresholds,
        &set.of,
        n,
        keep,
        layout,
        &mut loose_columns,
        &mut loose_values,
        &mut counts,
    );
    let (offsets, entries) = scanned(backend, &counts)?;
    let (mut columns, mut row_of) = (backend.zeros(entries), backend.zeros(entries));
    let mut values = backend.zeros(entries);
    let (c, v) = (&loose_columns, &loose_values);
    pack(backend, n, &offsets, c, v, n, &mut columns, &mut values, &mut row_of);
    with_transpose(backend, n, set.count, offsets, columns, values, &row_of)
}

/// Interpolation that is constant on groups, and its transpose.
pub(super) fn constant_on(
    backend: &Backend,
    groups: Numbered,
) -> Result<[Matrix<f64>; 2], BackendError> {
    let n = groups.of.len();
    let (mut offsets, mut row_of, mut values) =
        (backend.zeros(n + 1), backend.zeros(n), backend.zeros(n));
    sort::enumerate(backend, n + 1, &mut offsets);
    sort::enumerate(backend, n, &mut row_of);
    blas::fill(backend, n, 1.0, &mut values);
    with_transpose(backend, n, groups.count, offsets, groups.of, values, &row_of)
}

fn with_transpose(
    backend: &Backend,
    rows: usize,
    coarse_rows: usize,
    offsets: Buffer<u32>,
    columns: Buffer<u32>,
    values: Buffer<f64>,
    row_of: &Buffer<u32>,
) -> Result<[Matrix<f64>; 2], BackendError> {
    let entries = columns.len();
    let (mut keys, mut order) = (backend.zeros(entries), backend.zeros(entries));
    super::copy_numbers(backend, entries, &columns, &mut keys);
    sort::enumerate(backend, entries, &mut order);
    let (keys, order) = sort::sort_by_key(backend, keys, order, coarse_rows as u32);
    let mut begins = backend.zeros(coarse_rows + 1);
    sort::count_below(backend, coarse_rows + 1, &keys, entries, &mut begins);
    let (mut fine, mut weights) = (keys, backend.zeros(entries));
    pick(backend, entries, &order, row_of, &values, &mut fine, &mut weights);
    let p = Matrix::compressed(backend, coarse_rows, [offsets, columns], values);
    let r = Matrix::compressed(backend, rows, [begins, fine], weights);
    debug_assert_eq!((p.rows(), r.rows()), (rows, coarse_rows));
    Ok([p, r])
}
