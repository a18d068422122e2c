//! The data of a level for cycles, from its matrix row by row: slices in the hierarchy's precision, row
//! sums, smoother weights, the dense inverse.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`
#![allow(clippy::manual_div_ceil)] // which kernels do not know

use super::rank_rows::{Numbers, RankNumbers, Rows, ghosts_of};
use crate::amg::coarse;
use crate::amg::difference_form::DifferenceForm;
use crate::amg::hierarchy::VANISHING;
use crate::matrix::{MatrixView, row_places};
use crate::{Layout, LinearError, Matrix, SLICE};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::scan::offsets_of;
use karman_backend::{Backend, BackendError, Buffer, Halo, Segment, View};
use std::ops::Range;
use std::sync::Arc;

/// Mean number of entries from which rows are long, where padding matters little.
const LONG_ROWS: usize = 12;

/// Number of entries of a row, without the diagonal unless `with_diagonal`. A repeated column is padding.
/// Traffic: offsets and columns of the matrix, and 4.
#[kernel(out(counts))]
pub(super) fn count_entries<T: Real>(
    i: usize,
    a: &MatrixView<T>,
    rows: &RankNumbers,
    #[comptime] with_diagonal: bool,
) -> u32 {
    let row = rows.global(i as u32) as usize;
    let (start, end) = a.row(row);
    let mut count = 0u32;
    let mut before = u32::MAX.runtime();
    let mut k = start;
    while k < end {
        let column = a.columns[k];
        let mut is_counted = column != before;
        if comptime!(!with_diagonal) {
            if column as usize == row {
                is_counted = false;
            }
        }
        if is_counted {
            count += 1u32;
        }
        before = column;
        k += comptime!(a.layout.spacing());
    }
    count
}

/// Size of a slice: its rows times the longest row, rounded up to a multiple of `step`. Traffic 4 a row
/// and 4.
#[kernel(out(sizes))]
pub(super) fn size_slices(slice: usize, counts: &View<u32>, rows: usize, step: u32) -> u32 {
    let first = slice * comptime!(SLICE);
    let mut end = first + comptime!(SLICE);
    if end > rows {
        end = rows;
    }
    let mut longest = 0u32;
    for row in first..end {
        if counts[row] > longest {
            longest = counts[row];
        }
    }
    (longest + step - 1) / step * step * comptime!(SLICE as u32)
}

/// Slices that some rows of a matrix become.
#[derive(Group, Clone, Copy)]
pub(super) struct Slices<'a> {
    /// Where they begin: `[slices + 1]`.
    offsets: View<'a, u32>,
    /// The last column.
    last_column: u32,
    /// Whether they have the diagonal.
    #[comptime]
    with_diagonal: bool,
    /// The numbers of their columns.
    #[comptime]
    numbers: Numbers,
}

/// A row in its slice, padded with its last column. Traffic of both matrices, and a search for each ghost.
#[kernel]
pub(super) fn fill_slices<T: Real, S: Real>(
    i: usize,
    a: &MatrixView<T>,
    slices: &Slices,
    rows: &RankNumbers,
    of_rank: &RankNumbers,
    new_columns: &mut Segment<u32>,
    new_values: &mut Segment<S>,
) {
    let row = rows.global(i as u32) as usize;
    let (begin, end) = a.row(row);
    let (start, stop) = row_places(i, &slices.offsets, Layout::SlicedEll);
    let mut to = start;
    let mut before = u32::MAX.runtime();
    let mut padding = i as u32;
    if padding > slices.last_column {
        padding = slices.last_column;
    }
    let mut k = begin;
    while k < end {
        let column = a.columns[k];
        let mut is_kept = column != before;
        if comptime!(!slices.with_diagonal) {
            if column as usize == row {
                is_kept = false;
            }
        }
        if is_kept {
            let mut number = column;
            if comptime!(slices.numbers == Numbers::Local) {
                number = of_rank.local(column);
            }
            new_columns[to] = number;
            new_values[to] = S::from_f64(a.values[k].to_f64());
            padding = number;
            to += comptime!(SLICE);
        }
        before = column;
        k += comptime!(a.layout.spacing());
    }
    while to < stop {
        new_columns[to] = padding;
        new_values[to] = S::literal(0.0);
        to += comptime!(SLICE);
    }
}

/// `a` by slices in another precision, with or without its diagonal.
pub(in crate::amg) fn sliced<T: Real, S: Real>(
    a: &Matrix<T>,
    with_diagonal: bool,
) -> Result<Matrix<S>, BackendError> {
    sliced_rows(a.backend(), a, 0..a.rows(), None, with_diagonal)
}

/// Some rows of `a` as [`sliced`], for vectors of `backend`, with the local numbers of `halo` if there is one.
pub(in crate::amg) fn sliced_rows<'a, T: Real, S: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    rows: impl Into<Rows<'a>>,
    halo: Option<&Halo>,
    with_diagonal: bool,
) -> Result<Matrix<S>, BackendError> {
    let rows = rows.into();
    let n = rows.len();
    let columns = halo.map_or(a.columns(), |halo| halo.owned() + halo.ghosts());
    if n == 0 {
        let pattern = [backend.zeros(1), backend.upload(vec![])];
        return Ok(Matrix::sliced(backend, 0, [columns, 0], pattern, backend.upload(vec![])));
    }
    let ghost_rows = rows.upload_ghosts(backend);
    let rows = rows.numbers(&ghost_rows);
    let mut counts = backend.scratch(n);
    count_entries(backend, n, &a.pattern_view(), &rows, with_diagonal, &mut counts);
    let slices = n.div_ceil(SLICE);
    let mut sizes = backend.scratch(slices);
    // Kernels process four entries of a long row at a time.
    let step = if a.entries() >= LONG_ROWS * a.rows() { 4 } else { 1 };
    size_slices(backend, slices, &counts, n, step, &mut sizes);
    let (new_offsets, places) = offsets_of(backend, &sizes)?;
    let (mut new_columns, mut new_values) = (backend.scratch(places), backend.scratch(places));
    let last_column = columns.saturating_sub(1) as u32;
    let ghosts = ghosts_of(backend, halo);
    let (of_rank, numbers) = match halo {
        None => (RankNumbers::of_all(columns, &ghosts), Numbers::Global),
        Some(halo) => (RankNumbers::of(halo, &ghosts), Numbers::Local),
    };
    let offsets = new_offsets.view();
    let filled = Slices { offsets, last_column, with_diagonal, numbers };
    let (columns_of_slices, values_of_slices) = (&mut new_columns, &mut new_values);
    fill_slices(
        backend,
        n,
        &a.view(),
        &filled,
        &rows,
        &of_rank,
        columns_of_slices,
        values_of_slices,
    );
    let entries = if with_diagonal { a.entries() } else { a.entries().saturating_sub(a.rows()) };
    Ok(Matrix::sliced(backend, n, [columns, entries], [new_offsets, new_columns], new_values))
}

/// Σ_j a_ij, and `relaxation` over Σ_j |a_ij|, 0 where that is zero up to round-off, of row `first` + i. Does not read
/// columns. Traffic of the matrix, and 8 + 2s.
#[kernel(out(sums, weights))]
pub(super) fn sum_rows<T: Real, S: Real>(
    i: usize,
    a: &MatrixView<T>,
    first: usize,
    scale: &View<f64>,
    relaxation: f64,
) -> (S, S) {
    let (start, end) = a.row(first + i);
    let mut sum = f64::literal(0.0);
    let mut size = f64::literal(0.0);
    let mut k = start;
    while k < end {
        let value = a.values[k].to_f64();
        sum += value;
        size += value.abs();
        k += comptime!(a.layout.spacing());
    }
    let mut weight = f64::literal(0.0);
    if size > f64::literal(VANISHING) * scale[first + i] {
        weight = relaxation / size;
    }
    (S::from_f64(sum), S::from_f64(weight))
}

/// The matrix in difference form and the weights of its smoother.
pub(in crate::amg) fn difference_form<T: Real, S: Real>(
    a: &Matrix<T>,
    scale: &Buffer<f64>,
    relaxation: f64,
) -> Result<(DifferenceForm<S>, Buffer<S>), BackendError> {
    let [row_sums, weights] = sums_and_weights(a.backend(), a, 0..a.rows(), scale, relaxation);
    Ok((DifferenceForm { couplings: sliced(a, false)?, row_sums }, weights))
}

/// As [`difference_form`] the rows of `halo`, for vectors of `backend`.
pub(in crate::amg) fn difference_form_of_rank<T: Real, S: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    halo: &Arc<Halo>,
    scale: &Buffer<f64>,
    relaxation: f64,
) -> Result<(DifferenceForm<S>, Buffer<S>), BackendError> {
    let rows = halo.first()..halo.first() + halo.owned();
    let [row_sums, weights] = sums_and_weights(backend, a, rows.clone(), scale, relaxation);
    let couplings = sliced_rows(backend, a, rows, Some(halo), false)?;
    let form = DifferenceForm { couplings, row_sums };
    Ok((form.with_halo(halo, [a.rows(), a.entries()]), weights))
}

/// The weights of the smoother of some rows of a matrix.
pub(in crate::amg) fn smoother_weights<T: Real, S: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    rows: Range<usize>,
    scale: &Buffer<f64>,
    relaxation: f64,
) -> Buffer<S> {
    let [_, weights] = sums_and_weights(backend, a, rows, scale, relaxation);
    weights
}

fn sums_and_weights<T: Real, S: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    rows: Range<usize>,
    scale: &Buffer<f64>,
    relaxation: f64,
) -> [Buffer<S>; 2] {
    let n = rows.len();
    let (mut row_sums, mut weights) = (backend.scratch(n), backend.scratch(n));
    let matrix = MatrixView { columns: View::absent(), ..a.view() };
    let (s, w) = (&mut row_sums, &mut weights);
    sum_rows(backend, n, &matrix, rows.start, scale, relaxation, s, w);
    [row_sums, weights]
}

/// The entries of a row in a dense matrix of zeros, by rows. Traffic of the matrix and 8 an entry.
#[kernel]
pub(super) fn spread<T: Real>(row: usize, a: &MatrixView<T>, n: usize, dense: &mut Segment<f64>) {
    let (first, end) = a.row(row);
    let mut k = first;
    while k < end {
        dense[row * n + a.columns[k] as usize] += a.values[k].to_f64();
        k += comptime!(a.layout.spacing());
    }
}

/// Entry (i, j) at i + n j, zero where a pivot was skipped. Traffic 8 + s.
#[kernel(out(inverse))]
pub(super) fn finish_inverse<S: Real>(
    entry: usize,
    dense: &View<f64>,
    left_out: &View<u32>,
    n: usize,
) -> S {
    let i = entry % n;
    let j = entry / n;
    let mut value = f64::literal(0.0);
    if left_out[i] == 0u32 && left_out[j] == 0u32 {
        value = dense[i * n + j];
    }
    S::from_f64(value)
}

/// A⁻¹ as by [`crate::amg::coarse::dense_inverse`], by columns; computed there where a matrix of more than
/// a thousand unknowns does not fit into a block's memory.
pub(in crate::amg) fn dense_inverse<T: Real, S: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    scale: &Buffer<f64>,
    null_share: f64,
) -> Result<Buffer<S>, LinearError> {
    let n = a.rows();
    let Some(device) = backend.device().filter(|device| device.can_invert(n)) else {
        let a = a.to_csr()?.into_converted();
        let inverse = coarse::dense_inverse(&a, &backend.read(scale)?, null_share);
        let by_columns = (0..n * n).map(|k| S::from_f64(inverse[k % n * n + k / n]));
        return Ok(backend.upload(by_columns.collect()));
    };
    let (mut matrix, mut left_out) = (backend.zeros(n * n), backend.zeros(n));
    spread(backend, n, &a.view(), n, &mut matrix);
    device.invert(n, scale, null_share, &mut matrix, &mut left_out);
    let mut inverse = backend.scratch(n * n);
    finish_inverse(backend, n * n, &matrix, &left_out, n, &mut inverse);
    Ok(inverse)
}
