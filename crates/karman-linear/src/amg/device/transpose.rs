//! The transpose of an interpolation, by sorting the columns of its entries.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::share::{RowRanges, Share};
use crate::Matrix;
use karman_backend::prelude::*;
use karman_backend::scan::compact;
use karman_backend::{Backend, BackendError, Buffer, Segment, View, sort};

/// The row of each entry of compressed rows. Traffic 4 an entry and 8.
#[kernel]
pub(super) fn name_rows(row: usize, offsets: &View<u32>, row_of: &mut Segment<u32>) {
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        row_of[k] = row as u32;
    }
}

/// 1 for a column from `first` to `end`. Traffic 8.
#[kernel(out(flags))]
pub(super) fn flag_columns(entry: usize, columns: &View<u32>, first: u32, end: u32) -> u32 {
    let column = columns[entry];
    let mut flag = 0u32;
    if column >= first && column < end {
        flag = 1u32;
    }
    flag
}

/// An entry of the transpose: the row and the value of the entry sorted to its position. Traffic 28.
#[kernel(out(columns, values))]
pub(super) fn pick(
    k: usize,
    order: &View<u32>,
    row_of: &View<u32>,
    from: &View<f64>,
) -> (u32, f64) {
    let entry = order[k] as usize;
    (row_of[entry], from[entry])
}

/// The columns of the listed entries. Traffic 12.
#[kernel(out(keys))]
pub(super) fn columns_of(i: usize, entries: &View<u32>, columns: &View<u32>) -> u32 {
    columns[entries[i] as usize]
}

/// The operators between a level and the next one, and the rows of the level that ranks give each other for products with them.
pub(super) struct Transfer {
    /// P, with rows of other ranks, and Pᵀ.
    pub matrices: [Matrix<f64>; 2],
    pub share: Share,
}

/// The operators between a level of `share` and one of which this rank has the rows of `coarse`, of the own rows of P.
pub(super) fn with_transpose(
    p: Matrix<f64>,
    share: &Share,
    coarse: &RowRanges,
) -> Result<Transfer, BackendError> {
    let backend = p.backend().clone();
    let share = share.with_rows_beyond(&p, &coarse.own())?;
    let p = share.extended(p)?;
    let (rows, coarse_rows) = (p.rows(), p.columns());
    let (offsets, columns, values) = p.arrays();
    let mut row_of = backend.scratch(columns.len());
    name_rows(&backend, rows, offsets, &mut row_of);
    let entries = own_entries(&backend, columns, coarse)?;
    let count = entries.len();
    let mut keys = backend.scratch(count);
    columns_of(&backend, count, &entries, columns, &mut keys);
    let (keys, order) = sort::sort_by_key(&backend, keys, entries, coarse_rows as u32);
    let mut begins = backend.scratch(coarse_rows + 1);
    sort::count_below(&backend, coarse_rows + 1, &keys, count, &mut begins);
    let (mut fine, mut weights) = (keys, backend.scratch(count));
    pick(&backend, count, &order, &row_of, values, &mut fine, &mut weights);
    let r = Matrix::compressed(&backend, rows, [begins, fine], weights);
    debug_assert_eq!((p.rows(), r.rows()), (rows, coarse_rows));
    let r = r.with_entries_of_all(p.entries());
    Ok(Transfer { matrices: [p, r], share })
}

/// The entries whose columns are own ones, ascending.
fn own_entries(
    backend: &Backend,
    columns: &Buffer<u32>,
    coarse: &RowRanges,
) -> Result<Buffer<u32>, BackendError> {
    if !coarse.is_shared() {
        let mut entries = backend.scratch(columns.len());
        sort::enumerate(backend, columns.len(), &mut entries);
        return Ok(entries);
    }
    let (own, mut flags) = (coarse.own(), backend.scratch(columns.len()));
    let (first, end) = (own.start as u32, own.end as u32);
    flag_columns(backend, columns.len(), columns, first, end, &mut flags);
    compact(backend, &flags)
}
