//! Products of sparse matrices and what follows them, row by row. The rows of B that a row of A names
//! are merged: each step takes the smallest of their next columns, adds up what falls on it in the order
//! of A's entries, and moves on those that stood there. One writer a row, and the same bits every time.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::coarsening::scanned;
use crate::backend::{BackendError, Local, Segment, View};
use crate::linear::matrix::row_places;
use crate::linear::{Layout, Matrix};
use crate::real::Real;
use cubecl::prelude::*;
use karman_macros::kernel;

/// No column.
const NONE: u32 = u32::MAX;
/// Rows of B that are merged at once.
const MERGED: usize = 96;

/// Number of rows of B that row `row` of A names, and where the first stands in A.
#[cube]
fn rows_named(row: usize, a_offsets: &View<u32>, #[comptime] layout: Layout) -> (usize, usize) {
    let (first, end) = row_places(row, a_offsets, layout);
    (first, (end - first + comptime!(layout.spacing() - 1)) / comptime!(layout.spacing()))
}

/// The first column of a row of A B. Of rows of B that are few enough to be merged, the first columns
/// and their places are kept.
#[cube]
fn first_column(
    heads: &mut Local<u32, MERGED>,
    places: &mut Local<u32, MERGED>,
    first: usize,
    length: usize,
    a_columns: &View<u32>,
    b_offsets: &View<u32>,
    b_columns: &View<u32>,
    #[comptime] layout: Layout,
) -> u32 {
    let mut least = comptime!(NONE).runtime();
    for l in 0..length {
        let j = a_columns[first + l * comptime!(layout.spacing())] as usize;
        let place = b_offsets[j];
        let mut head = comptime!(NONE).runtime();
        if place < b_offsets[j + 1] {
            head = b_columns[place as usize];
        }
        if length <= comptime!(MERGED) {
            heads[l] = head;
            places[l] = place;
        }
        if head < least {
            least = head;
        }
    }
    least
}

/// The column after `column`, and what falls on `column`, summed in the order of A's entries. Rows of B
/// that are merged move on from it; of more than that, all entries are looked at.
#[cube]
fn next_column<S: Real>(
    column: u32,
    heads: &mut Local<u32, MERGED>,
    places: &mut Local<u32, MERGED>,
    first: usize,
    length: usize,
    a_columns: &View<u32>,
    a_values: &View<S>,
    b_offsets: &View<u32>,
    b_columns: &View<u32>,
    b_values: &View<f64>,
    #[comptime] layout: Layout,
) -> (u32, f64) {
    let mut next = comptime!(NONE).runtime();
    let mut sum = f64::literal(0.0);
    if length <= comptime!(MERGED) {
        for l in 0..length {
            let mut head = heads[l];
            if head == column {
                let k = first + l * comptime!(layout.spacing());
                let end = b_offsets[a_columns[k] as usize + 1];
                let place = places[l];
                sum += S::widen(a_values[k]) * b_values[place as usize];
                head = comptime!(NONE).runtime();
                if place + 1u32 < end {
                    head = b_columns[place as usize + 1];
                }
                heads[l] = head;
                places[l] = place + 1u32;
            }
            if head < next {
                next = head;
            }
        }
    } else {
        for l in 0..length {
            let k = first + l * comptime!(layout.spacing());
            let j = a_columns[k] as usize;
            for m in b_offsets[j] as usize..b_offsets[j + 1] as usize {
                let other = b_columns[m];
                if other == column {
                    sum += S::widen(a_values[k]) * b_values[m];
                } else if other > column && other < next {
                    next = other;
                }
            }
        }
    }
    (next, sum)
}

/// Number of entries in a row of A B. Traffic at least: A and B once, and 4.
#[kernel(count_product, out(counts))]
pub(super) fn product_length<S: Real>(
    row: usize,
    a_offsets: &View<u32>,
    a_columns: &View<u32>,
    a_values: &View<S>,
    b_offsets: &View<u32>,
    b_columns: &View<u32>,
    b_values: &View<f64>,
    #[comptime] layout: Layout,
) -> u32 {
    let (first, length) = rows_named(row, a_offsets, layout);
    let mut heads = Local::<u32, MERGED>::uninitialised();
    let mut places = Local::<u32, MERGED>::uninitialised();
    let mut count = 0u32;
    let mut column = first_column(
        &mut heads,
        &mut places,
        first,
        length,
        a_columns,
        b_offsets,
        b_columns,
        layout,
    );
    while column != comptime!(NONE) {
        let (next, _sum) = next_column::<S>(
            column,
            &mut heads,
            &mut places,
            first,
            length,
            a_columns,
            a_values,
            b_offsets,
            b_columns,
            b_values,
            layout,
        );
        count += 1u32;
        column = next;
    }
    count
}

/// A row of `factor` A B, columns ascending. Traffic at least: A, B and the product once.
#[kernel(multiply_rows)]
pub(super) fn product_row<S: Real>(
    row: usize,
    a_offsets: &View<u32>,
    a_columns: &View<u32>,
    a_values: &View<S>,
    b_offsets: &View<u32>,
    b_columns: &View<u32>,
    b_values: &View<f64>,
    factor: f64,
    offsets: &View<u32>,
    #[comptime] layout: Layout,
    columns: &mut Segment<u32>,
    values: &mut Segment<f64>,
) {
    let (first, length) = rows_named(row, a_offsets, layout);
    let mut heads = Local::<u32, MERGED>::uninitialised();
    let mut places = Local::<u32, MERGED>::uninitialised();
    let mut column = first_column(
        &mut heads,
        &mut places,
        first,
        length,
        a_columns,
        b_offsets,
        b_columns,
        layout,
    );
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        let (next, sum) = next_column::<S>(
            column,
            &mut heads,
            &mut places,
            first,
            length,
            a_columns,
            a_values,
            b_offsets,
            b_columns,
            b_values,
            layout,
        );
        columns[k] = column;
        values[k] = factor * sum;
        column = next;
    }
}

/// `factor` A B, by compressed rows.
pub(super) fn product<S: Real>(
    a: &Matrix<S>,
    b: &Matrix<f64>,
    factor: f64,
) -> Result<Matrix<f64>, BackendError> {
    let (backend, n, layout) = (a.backend(), a.rows(), a.layout());
    let ((ao, ac, av), (bo, bc, bv)) = (a.arrays(), b.arrays());
    let mut counts = backend.zeros(n);
    count_product(backend, n, ao, ac, av, bo, bc, bv, layout, &mut counts);
    let (offsets, entries) = scanned(backend, &counts)?;
    let (mut columns, mut values) = (backend.zeros(entries), backend.zeros(entries));
    let (c, v) = (&mut columns, &mut values);
    multiply_rows(backend, n, ao, ac, av, bo, bc, bv, factor, &offsets, layout, c, v);
    Ok(Matrix::compressed(backend, b.columns(), [offsets, columns], values))
}

/// `tolerance` times the largest negative coupling of a row. Traffic of the matrix and 8.
#[kernel(find_least, out(least))]
pub(super) fn least_kept(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<f64>,
    tolerance: f64,
) -> f64 {
    let mut largest = f64::literal(0.0);
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        if columns[k] as usize != row {
            largest = f64::larger(largest, -values[k]);
        }
    }
    tolerance * largest
}

#[cube]
fn is_weak(row: usize, column: u32, value: f64, own: f64, least: &View<f64>) -> bool {
    let mut weak = false;
    if column as usize != row {
        weak = value > f64::literal(0.0);
        if -value < own && !weak {
            weak = -value < least[column as usize];
        }
    }
    weak
}

/// Entries of a row without its weak couplings. Traffic of the matrix, and 8 a weak entry.
#[kernel(count_kept, out(counts))]
pub(super) fn kept_length(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<f64>,
    least: &View<f64>,
) -> u32 {
    let mut count = 0u32;
    let own = least[row];
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        if !is_weak(row, columns[k], values[k], own, least) {
            count += 1u32;
        }
    }
    count
}

/// A row without its weak couplings, which go to the diagonal. Traffic of both matrices, and 8 a weak
/// entry.
#[kernel(keep_strong)]
pub(super) fn kept_row(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<f64>,
    least: &View<f64>,
    new_offsets: &View<u32>,
    new_columns: &mut Segment<u32>,
    new_values: &mut Segment<f64>,
) {
    let own = least[row];
    let start = new_offsets[row] as usize;
    let mut to = start;
    let mut diagonal = start;
    let mut has_diagonal = false;
    let mut dropped = f64::literal(0.0);
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        let column = columns[k];
        if is_weak(row, column, values[k], own, least) {
            dropped += values[k];
        } else {
            if column as usize == row {
                diagonal = to;
                has_diagonal = true;
            }
            new_columns[to] = column;
            new_values[to] = values[k];
            to += 1;
        }
    }
    if has_diagonal {
        new_values[diagonal] += dropped;
    }
}

/// `a` without the couplings that are weak from both ends, as
/// [`crate::linear::amg::sparsify::without_weak_couplings`].
pub(super) fn without_weak_couplings(
    a: &Matrix<f64>,
    tolerance: f64,
) -> Result<Matrix<f64>, BackendError> {
    let (backend, n) = (a.backend(), a.rows());
    let (offsets, columns, values) = a.arrays();
    let mut least = backend.zeros(n);
    find_least(backend, n, offsets, columns, values, tolerance, &mut least);
    let mut counts = backend.zeros(n);
    count_kept(backend, n, offsets, columns, values, &least, &mut counts);
    let (new_offsets, entries) = scanned(backend, &counts)?;
    let (mut new_columns, mut new_values) = (backend.zeros(entries), backend.zeros(entries));
    let (c, v) = (&mut new_columns, &mut new_values);
    keep_strong(backend, n, offsets, columns, values, &least, &new_offsets, c, v);
    Ok(Matrix::compressed(backend, a.columns(), [new_offsets, new_columns], new_values))
}

/// Σ_i p_ic² s_i over the fine rows of a coarse unknown, times `factor`. Traffic of R and 8 an entry.
#[kernel(scale_rows, out(scale))]
pub(super) fn scale_of(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<f64>,
    fine_scale: &View<f64>,
    factor: f64,
) -> f64 {
    let mut sum = f64::literal(0.0);
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        sum += values[k] * values[k] * fine_scale[columns[k] as usize];
    }
    factor * sum
}

/// The diagonal, and the row where it is not positive. Traffic of the matrix and 8.
#[kernel(find_diagonal, out(diagonal), reduce(min))]
pub(super) fn diagonal_of<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    #[comptime] layout: Layout,
) -> (f64, f64) {
    let (first, end) = row_places(row, offsets, layout);
    let mut diagonal = f64::literal(0.0);
    let mut k = first;
    while k < end {
        if columns[k] as usize == row {
            diagonal += S::widen(values[k]);
        }
        k += comptime!(layout.spacing());
    }
    let mut wrong = row as f64;
    if diagonal > f64::literal(0.0) {
        wrong = f64::literal(f64::MAX);
    }
    (diagonal, wrong)
}
