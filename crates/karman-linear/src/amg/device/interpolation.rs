//! Interpolation row by row: extended+i with the result of the host, piecewise constant on aggregates.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use super::coarsening::Numbering;
use super::product::{product, row_of};
use super::rank_rows::rows_of_rank;
use super::share::{RowRanges, Share};
use crate::amg::strength::FINE;
use crate::amg::views::{CsrView, PatternView, Splitting, StrengthGraph};
use crate::matrix::MatrixView;
use crate::{CsrMatrix, Layout, LinearError, Matrix};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::scan::{offsets_of, offsets_of_each};
use karman_backend::{Backend, BackendError, Buffer, Segment, View, blas, sort};
use std::ops::Range;

/// Numbers of a row's couplings for interpolation: strong, to coarse unknowns, and both; a coarse unknown is
/// strongly coupled to itself. None of the rows that are not interpolated. Traffic of the matrix, 4 an entry,
/// and 24.
#[kernel(out(strong, coarse_couplings, strong_coarse))]
pub(super) fn count_kinds<S: Real>(row: usize, splitting: &Splitting<S>) -> (u32, u32, u32) {
    let a = &splitting.graph.matrix;
    let coarse = &splitting.coarse;
    let mut strong = 0u32;
    let mut coarse_couplings = 0u32;
    let mut strong_coarse = 0u32;
    if coarse[row] != comptime!(FINE) {
        if row >= splitting.first && row < splitting.end {
            strong = 1u32;
            strong_coarse = 1u32;
        }
    } else {
        let threshold = splitting.graph.thresholds[row];
        let (first, end) = a.row(row);
        let mut k = first;
        while k < end {
            let column = a.columns[k] as usize;
            let is_coarse = coarse[column] != comptime!(FINE);
            let is_strong = column != row && -a.values[k].to_f64() >= threshold;
            if is_strong {
                strong += 1u32;
            }
            if is_coarse {
                coarse_couplings += 1u32;
            }
            if is_strong && is_coarse {
                strong_coarse += 1u32;
            }
            k += comptime!(a.layout.spacing());
        }
    }
    (strong, coarse_couplings, strong_coarse)
}

/// Positions of the rows of the matrices of couplings for interpolation.
#[derive(Group, Clone, Copy)]
pub(super) struct CouplingOffsets<'a> {
    /// Of strong couplings: `[rows + 1]`.
    pub strong: View<'a, u32>,
    /// Of couplings to coarse unknowns: `[rows + 1]`.
    pub coarse: View<'a, u32>,
    /// Of strong couplings to coarse unknowns: `[rows + 1]`.
    pub strong_coarse: View<'a, u32>,
}

/// The couplings that [`count_kinds`] counts, columns of strong ones by unknowns, of the others by coarse
/// numbers; of strong couplings to coarse unknowns the columns alone. Traffic of the matrix, 4 an entry, 12 for
/// each kind an entry is of, and 24.
#[kernel]
pub(super) fn split_by_kind<S: Real>(
    row: usize,
    splitting: &Splitting<S>,
    offsets: &CouplingOffsets,
    strong_columns: &mut Segment<u32>,
    strong_values: &mut Segment<f64>,
    coarse_columns: &mut Segment<u32>,
    coarse_values: &mut Segment<f64>,
    strong_coarse_columns: &mut Segment<u32>,
) {
    let a = &splitting.graph.matrix;
    let coarse = &splitting.coarse;
    let mut to_strong = offsets.strong[row] as usize;
    let mut to_coarse = offsets.coarse[row] as usize;
    let mut to_strong_coarse = offsets.strong_coarse[row] as usize;
    if coarse[row] == comptime!(FINE) {
        let threshold = splitting.graph.thresholds[row];
        let (first, end) = a.row(row);
        let mut k = first;
        while k < end {
            let column = a.columns[k] as usize;
            let target = coarse[column];
            let value = a.values[k].to_f64();
            let is_strong = column != row && -value >= threshold;
            if is_strong {
                strong_columns[to_strong] = column as u32;
                strong_values[to_strong] = value;
                to_strong += 1;
            }
            if target != comptime!(FINE) {
                coarse_columns[to_coarse] = target;
                coarse_values[to_coarse] = value;
                to_coarse += 1;
                if is_strong {
                    strong_coarse_columns[to_strong_coarse] = target;
                    to_strong_coarse += 1;
                }
            }
            k += comptime!(a.layout.spacing());
        }
    } else if row >= splitting.first && row < splitting.end {
        strong_columns[to_strong] = row as u32;
        strong_values[to_strong] = f64::literal(1.0);
        strong_coarse_columns[to_strong_coarse] = coarse[row];
    }
}

/// The first position in `from .. to` where ascending `columns` are not below `column`; else `to`.
#[device]
fn place_of(columns: &View<u32>, from: usize, to: usize, column: u32) -> usize {
    let mut low = from;
    let mut high = to;
    while low < high {
        let middle = (low + high) / 2;
        if columns[middle] < column {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Whether ascending `columns` have `column` in `from .. to`.
#[device]
fn has(columns: &View<u32>, from: usize, to: usize, column: u32) -> bool {
    let place = place_of(columns, from, to, column);
    let mut found = false;
    if place < to {
        found = columns[place] == column;
    }
    found
}

/// The value of `column` in row `row`, 0 where it has none, columns ascending.
#[device]
fn value_of(matrix: &CsrView<f64>, row: usize, column: u32) -> f64 {
    let end = matrix.offsets[row + 1] as usize;
    let place = place_of(&matrix.columns, matrix.offsets[row] as usize, end, column);
    let mut value = f64::literal(0.0);
    if place < end {
        if matrix.columns[place] == column {
            value = matrix.values[place];
        }
    }
    value
}

/// For each strong coupling a_ik between fine unknowns: a_ik / b_ik with b_ik the sum of k's couplings to
/// the candidates of i and to i, and the part of a_ik for the diagonal of i: all of it where b_ik = 0.
/// Traffic 32 a strong coupling and the lists of both unknowns, from the cache mostly.
#[kernel(out(shares, backs))]
pub(super) fn share_out<S: Real>(
    entry: usize,
    rows: usize,
    a: &MatrixView<S>,
    coarse: &View<u32>,
    strong: &CsrView<f64>,
    coarse_couplings: &CsrView<f64>,
    candidates: &PatternView,
) -> (f64, f64) {
    let zero = f64::literal(0.0);
    let mut share = zero;
    let mut back = zero;
    let k = strong.columns[entry] as usize;
    if coarse[k] == comptime!(FINE) {
        let row = row_of(entry, rows, &strong.offsets);
        let from = candidates.offsets[row] as usize;
        let to = candidates.offsets[row + 1] as usize;
        let to_row = a.value(k, row).min(zero);
        let mut sum = to_row;
        for m in coarse_couplings.offsets[k] as usize..coarse_couplings.offsets[k + 1] as usize {
            if coarse_couplings.values[m] < zero {
                if has(&candidates.columns, from, to, coarse_couplings.columns[m]) {
                    sum += coarse_couplings.values[m];
                }
            }
        }
        back = strong.values[entry];
        if sum != zero {
            share = back / sum;
            back = share * to_row;
        }
    }
    (share, back)
}

/// The weight of a candidate before the division by the diagonal: its own coupling and those through strong
/// fine neighbours, whose `shares` have the pattern of the strong couplings. Traffic 12 a candidate, and the
/// lists of its row, from the cache mostly.
#[kernel(out(weights))]
pub(super) fn weigh_candidates(
    place: usize,
    rows: usize,
    shares: &CsrView<f64>,
    coarse_couplings: &CsrView<f64>,
    candidates: &PatternView,
) -> f64 {
    let zero = f64::literal(0.0);
    let row = row_of(place, rows, &candidates.offsets);
    let column = candidates.columns[place];
    let mut weight = value_of(coarse_couplings, row, column);
    for entry in shares.offsets[row] as usize..shares.offsets[row + 1] as usize {
        let share = shares.values[entry];
        if share != zero {
            let value = value_of(coarse_couplings, shares.columns[entry] as usize, column);
            weight += share * value.min(zero);
        }
    }
    weight
}

/// A row of extended+i interpolation, truncated to the `max_entries` largest `weights` of the candidates, ties
/// to the smaller column; its entry k at place k n + i of `loose_columns` and `loose_values`, columns ascending,
/// of row i of the n that are interpolated.
/// `backs`, the parts of strong couplings for the diagonal, has no columns. Formula and sources:
/// [`crate::amg::interpolation::extended_i`]. Traffic: the matrix, 4 an entry, 12 a candidate, 8 a strong
/// coupling, and 12 an entry of the result.
#[kernel(out(counts))]
pub(super) fn truncate<S: Real>(
    row: usize,
    splitting: &Splitting<S>,
    backs: &CsrView<f64>,
    weights: &CsrView<f64>,
    max_entries: usize,
    loose_columns: &mut Segment<u32>,
    loose_values: &mut Segment<f64>,
) -> u32 {
    let zero = f64::literal(0.0);
    let mut count = 0usize;
    let mut own = 0usize;
    if row >= splitting.first {
        own = row - splitting.first;
    }
    let rows = splitting.end - splitting.first;
    if splitting.coarse[row] != comptime!(FINE) {
        if row >= splitting.first && row < splitting.end {
            loose_columns[own] = splitting.coarse[row];
            loose_values[own] = f64::literal(1.0);
            count = 1usize;
        }
    } else {
        let from = weights.offsets[row] as usize;
        let to = weights.offsets[row + 1] as usize;
        let threshold = splitting.graph.thresholds[row];
        let mut strong = backs.offsets[row] as usize;
        let mut diagonal = zero;
        let a = &splitting.graph.matrix;
        let (first, end) = a.row(row);
        let mut k = first;
        while k < end {
            let column = a.columns[k] as usize;
            let mut left = a.values[k].to_f64();
            let is_strong = column != row && -left >= threshold;
            let target = splitting.coarse[column];
            if target != comptime!(FINE) {
                if has(&weights.columns, from, to, target) {
                    left = zero;
                }
            } else if is_strong {
                left = backs.values[strong];
            }
            if is_strong {
                strong += 1;
            }
            diagonal += left;
            k += comptime!(a.layout.spacing());
        }
        if diagonal > zero {
            let mut total = zero;
            for c in from..to {
                total += weights.values[c];
            }
            // The size and the column of the smallest weight of the result.
            let mut least = f64::literal(f64::MAX);
            let mut last = 0u32;
            let mut sum = zero;
            let mut more = to > from;
            while more {
                let mut size = -f64::literal(1.0);
                let mut at = from;
                for c in from..to {
                    let other = weights.values[c].abs();
                    let is_left = other < least || (other == least && weights.columns[c] > last);
                    if is_left && other > size {
                        size = other;
                        at = c;
                    }
                }
                least = size;
                last = weights.columns[at];
                sum += weights.values[at];
                count += 1;
                more = count < max_entries && count < to - from;
            }
            let mut factor = -f64::literal(1.0) / diagonal;
            if count < to - from && sum != zero {
                factor *= total / sum;
            }
            let mut place = 0usize;
            for c in from..to {
                let size = weights.values[c].abs();
                if size > least || (size == least && weights.columns[c] <= last) {
                    loose_columns[place * rows + own] = weights.columns[c];
                    loose_values[place * rows + own] = factor * weights.values[c];
                    place += 1;
                }
            }
        }
    }
    count as u32
}

/// Compresses the rows from `first` on, `rows` of which are in the loose lists. Traffic 24 an entry and 8.
#[kernel]
pub(super) fn pack(
    row: usize,
    offsets: &View<u32>,
    loose_columns: &View<u32>,
    loose_values: &View<f64>,
    first: usize,
    rows: usize,
    columns: &mut Segment<u32>,
    values: &mut Segment<f64>,
) {
    let begin = offsets[row] as usize;
    for k in begin..offsets[row + 1] as usize {
        let from = (k - begin) * rows + row - first;
        columns[k] = loose_columns[from];
        values[k] = loose_values[from];
    }
}

/// Extended+i interpolation from the coarse unknowns of `set`, by compressed rows.
pub(super) fn extended_i<S: Real>(
    a: &Matrix<S>,
    share: &Share,
    thresholds: &Buffer<f64>,
    set: &Numbering,
    max_entries: usize,
) -> Result<Matrix<f64>, BackendError> {
    let (backend, n) = (a.backend(), a.rows());
    let Range { start: first, end } = share.ranges().own();
    let graph = StrengthGraph::of(a, thresholds);
    let splitting = Splitting { graph, coarse: set.of.view(), first, end };
    let Kinds { strong, coarse_couplings, strong_coarse } =
        kinds(a, share, &splitting, set.count())?;
    let candidates = product(&strong, &strong_coarse, 1.0, share.ranges())?;
    let couplings = CsrView::of(&coarse_couplings);
    let pattern = PatternView::of(&candidates);

    let with_others = share.extension(a)?;
    let matrix = with_others.as_ref().unwrap_or(a).view();
    let count = strong.arrays().1.len();
    let (mut shares, mut backs) = (backend.scratch(count), backend.scratch(count));
    let (s, b) = (&mut shares, &mut backs);
    share_out(
        backend,
        count,
        n,
        &matrix,
        &set.of,
        &CsrView::of(&strong),
        &couplings,
        &pattern,
        s,
        b,
    );
    let count = candidates.arrays().1.len();
    let mut weights = backend.scratch(count);
    let shares = CsrView::with_values(&strong, &shares);
    weigh_candidates(backend, count, n, &shares, &couplings, &pattern, &mut weights);

    let loose = (end - first) * max_entries;
    let (mut loose_columns, mut loose_values) = (backend.scratch(loose), backend.scratch(loose));
    let mut counts = backend.scratch(n);
    let backs = CsrView { columns: View::absent(), ..CsrView::with_values(&strong, &backs) };
    let weights = CsrView::with_values(&candidates, &weights);
    let (c, v) = (&mut loose_columns, &mut loose_values);
    truncate(backend, n, &splitting, &backs, &weights, max_entries, c, v, &mut counts);
    let (offsets, entries) = offsets_of(backend, &counts)?;
    let (mut columns, mut values) = (backend.scratch(entries), backend.scratch(entries));
    let (c, v) = (&loose_columns, &loose_values);
    pack(backend, n, &offsets, c, v, first, end - first, &mut columns, &mut values);
    let own = Matrix::compressed(backend, set.count(), [offsets, columns], values);
    let [p] = share.ranges().counted([own])?;
    Ok(p)
}

/// The couplings for interpolation, by compressed rows.
struct Kinds {
    /// Strong couplings of fine unknowns, and coarse unknowns with themselves: `[rows × rows]`.
    strong: Matrix<f64>,
    /// Couplings of fine unknowns to coarse ones, with rows of other ranks: `[rows × coarse]`.
    coarse_couplings: Matrix<f64>,
    /// The strong ones of these, and coarse unknowns with themselves, with rows of other ranks: `[rows × coarse]`, all 1.
    strong_coarse: Matrix<f64>,
}

fn kinds<S: Real>(
    a: &Matrix<S>,
    share: &Share,
    splitting: &Splitting<S>,
    coarse_count: usize,
) -> Result<Kinds, BackendError> {
    let (backend, n) = (a.backend(), a.rows());
    let [mut strong, mut coarse_couplings, mut strong_coarse] =
        [(); 3].map(|()| backend.scratch(n));
    let (s, f, m) = (&mut strong, &mut coarse_couplings, &mut strong_coarse);
    count_kinds(backend, n, splitting, s, f, m);
    let ([so, co, no], all) =
        offsets_of_each(backend, [&strong, &coarse_couplings, &strong_coarse])?;
    let [mut sc, mut cc, mut nc] = all.map(|entries| backend.scratch(entries));
    let [mut sv, mut cv, mut nv] = all.map(|entries| backend.scratch(entries));
    let offsets =
        CouplingOffsets { strong: so.view(), coarse: co.view(), strong_coarse: no.view() };
    split_by_kind(backend, n, splitting, &offsets, &mut sc, &mut sv, &mut cc, &mut cv, &mut nc);
    blas::fill(backend, all[2], 1.0, &mut nv);
    let [strong, coarse_couplings, strong_coarse] = share.ranges().counted([
        Matrix::compressed(backend, n, [so, sc], sv),
        Matrix::compressed(backend, coarse_count, [co, cc], cv),
        Matrix::compressed(backend, coarse_count, [no, nc], nv),
    ])?;
    Ok(Kinds {
        strong,
        coarse_couplings: share.extended(coarse_couplings)?,
        strong_coarse: share.extended(strong_coarse)?,
    })
}

/// Piecewise constant interpolation from so many aggregates, of which `of` has the number of each unknown, by compressed rows.
pub(super) fn piecewise_constant(
    backend: &Backend,
    ranges: &RowRanges,
    of: Buffer<u32>,
    count: usize,
) -> Result<Matrix<f64>, BackendError> {
    let own = ranges.own();
    let n = own.len();
    let (mut offsets, mut values) = (backend.scratch(n + 1), backend.scratch(n));
    sort::enumerate(backend, n + 1, &mut offsets);
    blas::fill(backend, n, 1.0, &mut values);
    if !ranges.is_shared() {
        return Ok(Matrix::compressed(backend, count, [offsets, of], values));
    }
    let mut columns = backend.scratch(n);
    blas::copy_from_range(backend, n, &of, own.start, &mut columns);
    ranges.widened(Matrix::compressed(backend, count, [offsets, columns], values))
}

/// The own rows of an interpolation on the host that all ranks have as a whole.
pub(super) fn on_backend(
    backend: &Backend,
    ranges: &RowRanges,
    p: CsrMatrix<f64>,
) -> Result<Matrix<f64>, LinearError> {
    let p = Matrix::with_layout(backend, p, Layout::Csr)?;
    if !ranges.is_shared() {
        return Ok(p);
    }
    Ok(ranges.widened(rows_of_rank(backend, &p, ranges.own(), None)?)?)
}
