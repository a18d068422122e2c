//! Interpolation row by row: extended+i with the result of the host's, constants on pairs, and the
//! transpose of either by sorting columns.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use super::coarsening::Numbered;
use crate::backend::scan::offsets_of;
use crate::backend::{Backend, BackendError, Buffer, Segment, View, blas, sort};
use crate::linear::amg::strength::FINE;
use crate::linear::matrix::row_places;
use crate::linear::{CsrMatrix, Layout, Matrix};
use crate::real::Real;
use cubecl::prelude::*;
use karman_macros::kernel;

/// The coarse number of each entry's column. Traffic 12 a place.
#[kernel(find_targets, out(targets))]
pub(super) fn target_of(k: usize, columns: &View<u32>, coarse: &View<u32>) -> u32 {
    coarse[columns[k] as usize]
}

/// At most so many coarse unknowns are strong for a row or for a fine unknown that is. Traffic: the
/// matrix and its targets once for the row and once for each fine neighbour's, from the cache mostly.
#[kernel(bound_candidates, out(bounds))]
pub(super) fn candidate_bound<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    targets: &View<u32>,
    thresholds: &View<f64>,
    coarse: &View<u32>,
    #[comptime] layout: Layout,
) -> u32 {
    let mut bound = 0u32;
    if coarse[row] == comptime!(FINE) {
        let threshold = thresholds[row];
        let (first, end) = row_places(row, offsets, layout);
        let mut k = first;
        while k < end {
            let j = columns[k] as usize;
            if j != row && -S::widen(values[k]) >= threshold {
                if targets[k] != comptime!(FINE) {
                    bound += 1u32;
                } else {
                    let beyond = thresholds[j];
                    let (first, end) = row_places(j, offsets, layout);
                    let mut m = first;
                    while m < end {
                        if targets[m] != comptime!(FINE) && -S::widen(values[m]) >= beyond {
                            bound += 1u32;
                        }
                        m += comptime!(layout.spacing());
                    }
                }
            }
            k += comptime!(layout.spacing());
        }
    }
    bound
}

/// The first of the ascending candidates from `base` to `base` + `size` that is not below `column`.
#[cube]
fn place_of(candidates: &mut Segment<u32>, base: usize, size: usize, column: u32) -> usize {
    let mut low = base;
    let mut high = base + size;
    while low < high {
        let middle = (low + high) / 2;
        if candidates[middle] < column {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The candidates with `column` among them, and how many they are then.
#[cube]
fn with_candidate(
    candidates: &mut Segment<u32>,
    weights: &mut Segment<f64>,
    base: usize,
    size: usize,
    column: u32,
) -> usize {
    let place = place_of(candidates, base, size, column);
    let end = base + size;
    let mut is_new = place == end;
    if !is_new {
        is_new = candidates[place] != column;
    }
    let mut count = size;
    if is_new {
        let mut k = end;
        while k > place {
            candidates[k] = candidates[k - 1];
            k -= 1;
        }
        candidates[place] = column;
        weights[end] = f64::literal(0.0);
        count += 1;
    }
    count
}

/// Adds `value` to the weight of `column` where that is a candidate, and returns what found no place.
#[cube]
fn given_to(
    candidates: &mut Segment<u32>,
    weights: &mut Segment<f64>,
    base: usize,
    size: usize,
    column: u32,
    value: f64,
) -> f64 {
    let mut left = value;
    let place = place_of(candidates, base, size, column);
    if place < base + size {
        if candidates[place] == column {
            weights[place] += value;
            left = f64::literal(0.0);
        }
    }
    left
}

/// The row of extended+i interpolation of one unknown, truncated; its entry k at `rows` k + row of
/// `loose_columns` and `loose_values`, columns ascending. Formula and sources:
/// [`crate::linear::amg::interpolation::extended_i`]. `bounds` says where the row's scratch begins in
/// `candidates` and `weights`.
///
/// Traffic: the matrix and its targets once for the row and three times for each fine neighbour's, from
/// the cache mostly; 12 a candidate and 12 an entry kept.
#[kernel(extend, out(counts))]
pub(super) fn extended<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    targets: &View<u32>,
    thresholds: &View<f64>,
    coarse: &View<u32>,
    bounds: &View<u32>,
    rows: usize,
    keep: usize,
    #[comptime] layout: Layout,
    candidates: &mut Segment<u32>,
    weights: &mut Segment<f64>,
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
        let base = bounds[row] as usize;
        let mut size = 0usize;
        let threshold = thresholds[row];
        let (first, end) = row_places(row, offsets, layout);
        let mut k = first;
        while k < end {
            let j = columns[k] as usize;
            if j != row && -S::widen(values[k]) >= threshold {
                if targets[k] != comptime!(FINE) {
                    size = with_candidate(candidates, weights, base, size, targets[k]);
                } else {
                    let beyond = thresholds[j];
                    let (first, end) = row_places(j, offsets, layout);
                    let mut m = first;
                    while m < end {
                        let l = targets[m];
                        if l != comptime!(FINE) && -S::widen(values[m]) >= beyond {
                            size = with_candidate(candidates, weights, base, size, l);
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
            let mut left = value;
            if j != row {
                if targets[k] != comptime!(FINE) {
                    left = given_to(candidates, weights, base, size, targets[k], value);
                } else if -value >= threshold {
                    // a_ij spread over the couplings of j to candidates and to the row.
                    let (first, end) = row_places(j, offsets, layout);
                    let mut sum = zero;
                    let mut m = first;
                    while m < end {
                        let coupling = S::widen(values[m]);
                        if coupling < zero {
                            if targets[m] != comptime!(FINE) {
                                let place = place_of(candidates, base, size, targets[m]);
                                if place < base + size {
                                    if candidates[place] == targets[m] {
                                        sum += coupling;
                                    }
                                }
                            } else if columns[m] as usize == row {
                                sum += coupling;
                            }
                        }
                        m += comptime!(layout.spacing());
                    }
                    if sum != zero {
                        left = zero;
                        let share = value / sum;
                        m = first;
                        while m < end {
                            let coupling = S::widen(values[m]);
                            if coupling < zero {
                                let part = share * coupling;
                                if targets[m] != comptime!(FINE) {
                                    given_to(candidates, weights, base, size, targets[m], part);
                                } else if columns[m] as usize == row {
                                    diagonal += part;
                                }
                            }
                            m += comptime!(layout.spacing());
                        }
                    }
                }
            }
            diagonal += left;
            k += comptime!(layout.spacing());
        }
        if diagonal > zero {
            kept = size;
            if keep < size {
                kept = keep;
            }
            let stop = base + size;
            let mut total = zero;
            for c in base..stop {
                weights[c] /= -diagonal;
                total += weights[c];
            }
            // The largest to the front, ties to the smaller column.
            let mut sum = zero;
            let last = base + kept;
            for c in base..last {
                let mut best = c;
                for other in c + 1..stop {
                    let x = f64::absolute(weights[other]);
                    let y = f64::absolute(weights[best]);
                    if x > y || (x == y && candidates[other] < candidates[best]) {
                        best = other;
                    }
                }
                let column = candidates[best];
                let weight = weights[best];
                candidates[best] = candidates[c];
                weights[best] = weights[c];
                candidates[c] = column;
                weights[c] = weight;
                sum += weight;
            }
            let mut factor = f64::literal(1.0);
            if kept < size && sum != zero {
                factor = total / sum;
            }
            for c in base..last {
                // Its place in the row is the number of kept columns below.
                let mut below = 0usize;
                for other in base..last {
                    if candidates[other] < candidates[c] {
                        below += 1;
                    }
                }
                loose_columns[below * rows + row] = candidates[c];
                loose_values[below * rows + row] = factor * weights[c];
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
    let coarse = &set.of;
    let mut targets = backend.zeros(columns.len());
    find_targets(backend, columns.len(), columns, coarse, &mut targets);
    let mut counts = backend.zeros(n);
    let (t, c) = (&targets, &mut counts);
    bound_candidates(backend, n, offsets, columns, values, t, thresholds, coarse, layout, c);
    let (bounds, places) = offsets_of(backend, &counts)?;
    let (mut candidates, mut weights) = (backend.zeros(places), backend.zeros(places));
    let (mut loose_columns, mut loose_values) = (backend.zeros(n * keep), backend.zeros(n * keep));
    extend(
        backend,
        n,
        offsets,
        columns,
        values,
        &targets,
        thresholds,
        coarse,
        &bounds,
        n,
        keep,
        layout,
        &mut candidates,
        &mut weights,
        &mut loose_columns,
        &mut loose_values,
        &mut counts,
    );
    let (offsets, entries) = offsets_of(backend, &counts)?;
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

/// An interpolation of the host's, and its transpose.
pub(super) fn on_backend(
    backend: &Backend,
    p: CsrMatrix<f64>,
) -> Result<[Matrix<f64>; 2], BackendError> {
    let (rows, coarse_rows) = (p.rows(), p.columns());
    let mut row_of = Vec::with_capacity(p.entries());
    (0..rows).for_each(|r| row_of.extend(std::iter::repeat_n(r as u32, p.row_length(r))));
    let row_of = backend.upload(row_of);
    let (offsets, columns, values) = p.into_parts();
    let [offsets, columns] = [offsets, columns].map(|list| backend.upload(list));
    with_transpose(backend, rows, coarse_rows, offsets, columns, backend.upload(values), &row_of)
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
    blas::copy(backend, entries, &columns, &mut keys);
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
