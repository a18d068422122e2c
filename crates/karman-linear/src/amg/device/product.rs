//! Sparse matrix products and sparsification, row by row. A row of A B is computed column by column: each
//! step takes the next smallest column of the rows of B that the row of A selects and sums its terms in the
//! order of A's entries. One writer a row: reproducible bits. Where a row has many terms on a device, a
//! block of threads sorts them instead ([`karman_backend::merge`]).
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use super::share::{RowRanges, Share};
use crate::Matrix;
use crate::amg::sparsify::BRIDGE;
use crate::amg::views::CsrView;
use crate::matrix::MatrixView;
use karman_backend::merge::{Block, Rows};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::scan::{exclusive_scan, offsets_of};
use karman_backend::{Backend, BackendError, Buffer, Device, Local, Partials, Segment, View, blas};

/// No column.
const NONE: u32 = u32::MAX;
/// Products a row from which merging rows of B is faster than scanning all their entries repeatedly.
const MANY_PRODUCTS: usize = 32;

/// Fewer rows do not fill a device, which then waits for the threads of the longest rows.
const FEW_ROWS: usize = 1 << 17;

/// The search for the next column of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Search {
    /// Among all entries of the rows of B.
    All,
    /// Among the next columns of these rows, stored with their positions for each entry of A.
    Merge,
}

/// The factors of a product A B.
#[derive(Group, Clone, Copy)]
pub(super) struct Factors<'a, S: Real> {
    /// A.
    pub left: MatrixView<'a, S>,
    /// B.
    pub right: CsrView<'a, f64>,
    /// How the next column of a row is found.
    #[comptime]
    pub search: Search,
}

/// The first column of a row of A B, whose entries of A lie from `first` to `end`.
#[device]
fn first_column<S: Real>(
    first: usize,
    end: usize,
    factors: &Factors<S>,
    heads: &mut Segment<u32>,
    places: &mut Segment<u32>,
) -> u32 {
    let mut least = comptime!(NONE).runtime();
    let mut k = first;
    while k < end {
        let j = factors.left.columns[k] as usize;
        let place = factors.right.offsets[j];
        let mut head = comptime!(NONE).runtime();
        if place < factors.right.offsets[j + 1] {
            head = factors.right.columns[place as usize];
        }
        if comptime!(factors.search == Search::Merge) {
            heads[k] = head;
            places[k] = place;
        }
        if head < least {
            least = head;
        }
        k += comptime!(factors.left.layout.spacing());
    }
    least
}

/// The column after `column`, and the sum of the terms of `column` in the order of A's entries.
#[device]
fn next_column<S: Real>(
    column: u32,
    first: usize,
    end: usize,
    factors: &Factors<S>,
    heads: &mut Segment<u32>,
    places: &mut Segment<u32>,
) -> (u32, f64) {
    let mut next = comptime!(NONE).runtime();
    let mut sum = f64::literal(0.0);
    let mut k = first;
    while k < end {
        if comptime!(factors.search == Search::Merge) {
            let mut head = heads[k];
            if head == column {
                let place = places[k];
                sum += factors.left.values[k].to_f64() * factors.right.values[place as usize];
                head = comptime!(NONE).runtime();
                let j = factors.left.columns[k] as usize;
                if place + 1u32 < factors.right.offsets[j + 1] {
                    head = factors.right.columns[place as usize + 1];
                }
                heads[k] = head;
                places[k] = place + 1u32;
            }
            if head < next {
                next = head;
            }
        } else {
            let j = factors.left.columns[k] as usize;
            for m in factors.right.offsets[j] as usize..factors.right.offsets[j + 1] as usize {
                let other = factors.right.columns[m];
                if other == column {
                    sum += factors.left.values[k].to_f64() * factors.right.values[m];
                } else if other > column && other < next {
                    next = other;
                }
            }
        }
        k += comptime!(factors.left.layout.spacing());
    }
    (next, sum)
}

/// Number of entries in a row of A B. Traffic at least: A and B once, and 4.
#[kernel(out(counts))]
pub(super) fn count_product<S: Real>(
    row: usize,
    factors: &Factors<S>,
    heads: &mut Segment<u32>,
    places: &mut Segment<u32>,
) -> u32 {
    let (first, end) = factors.left.row(row);
    let mut count = 0u32;
    let mut column = first_column::<S>(first, end, factors, heads, places);
    while column != comptime!(NONE) {
        let (next, _sum) = next_column::<S>(column, first, end, factors, heads, places);
        count += 1u32;
        column = next;
    }
    count
}

/// A row of `factor` A B, columns ascending. Traffic at least: A, B and the product once.
#[kernel]
pub(super) fn multiply_rows<S: Real>(
    row: usize,
    factors: &Factors<S>,
    factor: f64,
    offsets: &View<u32>,
    heads: &mut Segment<u32>,
    places: &mut Segment<u32>,
    columns: &mut Segment<u32>,
    values: &mut Segment<f64>,
) {
    let (first, end) = factors.left.row(row);
    let mut column = first_column::<S>(first, end, factors, heads, places);
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        let (next, sum) = next_column::<S>(column, first, end, factors, heads, places);
        columns[k] = column;
        values[k] = factor * sum;
        column = next;
    }
}

/// The first factor of a product, of which a rank multiplies its own rows.
struct LeftRows<'a, S> {
    matrix: &'a Matrix<S>,
    /// Where the own rows begin, or their slices; none where they are all.
    offsets: Option<Buffer<u32>>,
    rows: usize,
}

impl<'a, S: Real> LeftRows<'a, S> {
    fn new(matrix: &'a Matrix<S>, ranges: &RowRanges) -> Self {
        let own = ranges.own();
        let rows = own.len();
        if !ranges.is_shared() {
            return LeftRows { matrix, offsets: None, rows };
        }
        let (backend, slice) = (matrix.backend(), matrix.layout().spacing());
        debug_assert!(own.start.is_multiple_of(slice), "ranks have whole slices");
        let count = rows.div_ceil(slice) + 1;
        let mut offsets = backend.scratch(count);
        let first = own.start / slice;
        blas::copy_from_range(backend, count, matrix.arrays().0, first, &mut offsets);
        LeftRows { matrix, offsets: Some(offsets), rows }
    }

    /// As kernels read them.
    fn view(&self) -> MatrixView<'_, S> {
        MatrixView { offsets: self.offsets().view(), ..self.matrix.view() }
    }

    /// As kernels of blocks read them.
    fn arrays(&self) -> Rows<'_, S> {
        let (_, columns, values) = self.matrix.arrays();
        Rows { offsets: self.offsets(), columns, values, slice: self.matrix.layout().spacing() }
    }

    fn offsets(&self) -> &Buffer<u32> {
        self.offsets.as_ref().unwrap_or(self.matrix.arrays().0)
    }

    fn backend(&self) -> &'a Backend {
        self.matrix.backend()
    }
}

/// The own rows of `factor` A B, by compressed rows. B has the rows that own rows of A refer to. All ranks of `ranges` call it, and
/// multiply in the same way.
pub(super) fn product<S: Real>(
    a: &Matrix<S>,
    b: &Matrix<f64>,
    factor: f64,
    ranges: &RowRanges,
) -> Result<Matrix<f64>, BackendError> {
    let terms = a.entries() / a.rows().max(1) * b.entries() / b.rows().max(1);
    let search = if terms >= MANY_PRODUCTS { Search::Merge } else { Search::All };
    let suits_blocks = search == Search::Merge || a.rows() <= FEW_ROWS;
    let left = LeftRows::new(a, ranges);
    let own = match if suits_blocks { terms_for_blocks(&left, b, ranges)? } else { None } {
        Some(terms) => product_by_blocks(&terms, &left, b, factor)?,
        None => product_by_threads(&left, b, factor, search)?,
    };
    ranges.widened(own)
}

fn product_by_threads<S: Real>(
    a: &LeftRows<'_, S>,
    b: &Matrix<f64>,
    factor: f64,
    search: Search,
) -> Result<Matrix<f64>, BackendError> {
    let (backend, n) = (a.backend(), a.rows);
    let factors = Factors { left: a.view(), right: CsrView::of(b), search };
    let length = if search == Search::Merge { a.matrix.arrays().1.len() } else { 1 };
    let (mut heads, mut places) = (backend.scratch(length), backend.scratch(length));
    let (h, p) = (&mut heads, &mut places);
    let mut counts = backend.scratch(n);
    count_product(backend, n, &factors, h, p, &mut counts);
    let (offsets, entries) = offsets_of(backend, &counts)?;
    let (mut columns, mut values) = (backend.scratch(entries), backend.scratch(entries));
    let (c, v) = (&mut columns, &mut values);
    multiply_rows(backend, n, &factors, factor, &offsets, h, p, c, v);
    Ok(Matrix::compressed(backend, b.columns(), [offsets, columns], values))
}

/// Terms of a row of A B; the most entries of A's rows, the most terms, and all terms. Traffic of A's
/// pattern, 8 an entry and 4 a row.
#[kernel(out(terms), reduce(max, max, sum))]
pub(super) fn count_terms<S: Real>(
    row: usize,
    a: &MatrixView<S>,
    b_offsets: &View<u32>,
) -> (u32, f64, f64, f64) {
    let (first, end) = a.row(row);
    let mut entries = 0u32;
    let mut terms = 0u32;
    let mut k = first;
    while k < end {
        let j = a.columns[k] as usize;
        terms += b_offsets[j + 1] - b_offsets[j];
        entries += 1u32;
        k += comptime!(a.layout.spacing());
    }
    let of_row = f64::from_u32(terms);
    (terms, f64::from_u32(entries), of_row, of_row)
}

/// The three totals in one buffer.
#[kernel(combine(max, max, sum), out(totals))]
pub(super) fn finish_terms(entries: f64, terms: f64, all: f64) -> Local<f64, 3> {
    let mut totals = Local::<f64, 3>::zeros();
    totals[0] = entries;
    totals[1] = terms;
    totals[2] = all;
    totals
}

/// The terms of a product by blocks.
struct Terms<'a> {
    device: &'a Device,
    block: Block,
    /// Of each row: `[rows]`.
    counts: Buffer<u32>,
    /// Of all rows.
    total: usize,
}

/// The terms of A B, where there is a device whose blocks hold each row of all ranks.
fn terms_for_blocks<'a, S: Real>(
    a: &LeftRows<'a, S>,
    b: &Matrix<f64>,
    ranges: &RowRanges,
) -> Result<Option<Terms<'a>>, BackendError> {
    let (backend, n) = (a.backend(), a.rows);
    let Some(device) = backend.device() else { return Ok(None) };
    let mut counts = backend.scratch(n);
    let mut own = [0.0; 3];
    if n > 0 {
        let (mut partials, mut totals) = (Partials::new(backend, n, 3), backend.scratch(3));
        let pattern = MatrixView { values: View::absent(), ..a.view() };
        count_terms(backend, n, &pattern, b.arrays().0, &mut counts, &mut partials);
        finish_terms(backend, &partials, &mut totals);
        own.copy_from_slice(&backend.read(&totals)?);
    }
    let of_all = ranges.of_all(own)?;
    let most = |k: usize| of_all.iter().map(|of| of[k]).fold(0.0, f64::max) as usize;
    let block = Block::for_rows(device, most(0), most(1), b.columns());
    let fits = |_: &Block| of_all.iter().map(|of| of[2]).sum::<f64>() <= f64::from(u32::MAX);
    let total = own[2] as usize;
    Ok(block.filter(fits).map(|block| Terms { device, block, counts, total }))
}

fn product_by_blocks<S: Real>(
    terms: &Terms,
    a: &LeftRows<'_, S>,
    b: &Matrix<f64>,
    factor: f64,
) -> Result<Matrix<f64>, BackendError> {
    let (backend, n) = (a.backend(), a.rows);
    let (rows, of_b) = (a.arrays(), rows_of(b));
    let Terms { device, block, .. } = *terms;
    let mut begins = backend.scratch(n + 1);
    exclusive_scan(backend, &terms.counts, &mut begins);
    let (mut sorted, mut counts) = (backend.scratch(terms.total), backend.scratch(n));
    device.sort_terms(block, n, &rows, &of_b, &begins, &mut sorted, &mut counts);
    let (offsets, entries) = offsets_of(backend, &counts)?;
    let (mut columns, mut values) = (backend.scratch(entries), backend.scratch(entries));
    let (c, v) = (&mut columns, &mut values);
    device.merge(block, n, &rows, &of_b, factor, [&begins, &sorted], &offsets, c, v);
    Ok(Matrix::compressed(backend, b.columns(), [offsets, columns], values))
}

/// The arrays of a matrix for kernels of blocks.
fn rows_of<S: Real>(a: &Matrix<S>) -> Rows<'_, S> {
    let (offsets, columns, values) = a.arrays();
    Rows { offsets, columns, values, slice: a.layout().spacing() }
}

/// `tolerance` times the largest negative coupling of a row. Traffic of the matrix and 8.
#[kernel(out(least))]
pub(super) fn find_least(row: usize, a: &CsrView<f64>, tolerance: f64) -> f64 {
    let mut largest = f64::literal(0.0);
    for k in a.offsets[row] as usize..a.offsets[row + 1] as usize {
        if a.columns[k] as usize != row {
            largest = largest.max(-a.values[k]);
        }
    }
    tolerance * largest
}

/// Whether a third unknown is coupled to `row` and `column` by `bar` or more.
#[device]
fn is_bridged(row: usize, column: usize, bar: f64, a: &CsrView<f64>) -> bool {
    let mut k = a.offsets[row] as usize;
    let mut l = a.offsets[column] as usize;
    let end = a.offsets[row + 1] as usize;
    let other_end = a.offsets[column + 1] as usize;
    let mut bridged = false;
    while k < end && l < other_end {
        let one = a.columns[k];
        let other = a.columns[l];
        if one == other && -a.values[k] >= bar && -a.values[l] >= bar {
            bridged = true;
            k = end;
        }
        if one <= other {
            k += 1;
        }
        if other <= one {
            l += 1;
        }
    }
    bridged
}

/// 1 where the coupling at a position is added to the diagonal; `others` has the rows of all columns. Traffic 16
/// an entry, and for a weak one the rows of both unknowns, from the cache mostly.
#[kernel(out(flags))]
pub(super) fn flag_weak(
    place: usize,
    rows: usize,
    a: &CsrView<f64>,
    others: &CsrView<f64>,
    least: &View<f64>,
) -> u32 {
    let row = row_of(place, rows, &a.offsets);
    let column = a.columns[place] as usize;
    let value = a.values[place];
    let mut weak = false;
    if column != row {
        weak = value > f64::literal(0.0);
        if -value < least[row] && !weak {
            if -value < least[column] {
                let bar = f64::literal(BRIDGE) * -value;
                weak = is_bridged(row, column, bar, others);
            }
        }
    }
    let mut flag = 0u32;
    if weak {
        flag = 1u32;
    }
    flag
}

/// The row of the entry at a position of compressed rows.
#[device]
pub(super) fn row_of(place: usize, rows: usize, offsets: &View<u32>) -> usize {
    let mut low = 0usize;
    let mut high = rows;
    while low + 1 < high {
        let middle = (low + high) / 2;
        if offsets[middle] as usize <= place {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Entries of a row that are not flagged. Traffic 8, and 4 an entry.
#[kernel(out(counts))]
pub(super) fn count_kept(row: usize, offsets: &View<u32>, flags: &View<u32>) -> u32 {
    let mut count = 0u32;
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        count += 1u32 - flags[k];
    }
    count
}

/// A row without its flagged entries, which are added to the diagonal. Traffic of both matrices and 4 an
/// entry.
#[kernel]
pub(super) fn keep_strong(
    row: usize,
    a: &CsrView<f64>,
    flags: &View<u32>,
    new_offsets: &View<u32>,
    new_columns: &mut Segment<u32>,
    new_values: &mut Segment<f64>,
) {
    let start = new_offsets[row] as usize;
    let mut to = start;
    let mut diagonal = start;
    let mut has_diagonal = false;
    let mut dropped = f64::literal(0.0);
    for k in a.offsets[row] as usize..a.offsets[row + 1] as usize {
        let column = a.columns[k];
        if flags[k] == 1u32 {
            dropped += a.values[k];
        } else {
            if column as usize == row {
                diagonal = to;
                has_diagonal = true;
            }
            new_columns[to] = column;
            new_values[to] = a.values[k];
            to += 1;
        }
    }
    if has_diagonal {
        new_values[diagonal] += dropped;
    }
}

/// `a` without the couplings that are weak for both rows and bridged, as by
/// [`crate::amg::sparsify::without_weak_couplings`].
pub(super) fn without_weak_couplings(
    a: &Matrix<f64>,
    share: &Share,
    tolerance: f64,
) -> Result<Matrix<f64>, BackendError> {
    let (backend, n) = (a.backend(), a.rows());
    let (matrix, entries) = (CsrView::of(a), a.arrays().1.len());
    let mut least = backend.scratch(n);
    find_least(backend, n, &matrix, tolerance, &mut least);
    share.fill(&mut least);
    let with_others = share.extension(a)?;
    let others = CsrView::of(with_others.as_ref().unwrap_or(a));
    let (mut flags, mut counts) = (backend.scratch(entries), backend.scratch(n));
    flag_weak(backend, entries, n, &matrix, &others, &least, &mut flags);
    count_kept(backend, n, a.arrays().0, &flags, &mut counts);
    let (new_offsets, entries) = offsets_of(backend, &counts)?;
    let (mut new_columns, mut new_values) = (backend.scratch(entries), backend.scratch(entries));
    let (c, v) = (&mut new_columns, &mut new_values);
    keep_strong(backend, n, &matrix, &flags, &new_offsets, c, v);
    let own = Matrix::compressed(backend, a.columns(), [new_offsets, new_columns], new_values);
    let [matrix] = share.ranges().counted([own])?;
    Ok(matrix)
}

/// Σ_i p_ic² s_i over the fine rows of a coarse unknown, times `factor`. Traffic of R and 8 an entry.
#[kernel(out(scale))]
pub(super) fn scale_rows(
    row: usize,
    restriction: &CsrView<f64>,
    fine_scale: &View<f64>,
    factor: f64,
) -> f64 {
    let mut sum = f64::literal(0.0);
    for k in restriction.offsets[row] as usize..restriction.offsets[row + 1] as usize {
        let weight = restriction.values[k];
        sum += weight * weight * fine_scale[restriction.columns[k] as usize];
    }
    factor * sum
}

/// The diagonal, and the row from `begin` to `end` where it is not positive. Traffic of the matrix and 8.
#[kernel(out(diagonal), reduce(min))]
pub(super) fn find_diagonal<S: Real>(
    row: usize,
    a: &MatrixView<S>,
    begin: usize,
    end: usize,
) -> (f64, f64) {
    let diagonal = a.value(row, row);
    let mut wrong = row as f64;
    if diagonal > f64::literal(0.0) || row < begin || row >= end {
        wrong = f64::literal(f64::MAX);
    }
    (diagonal, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CsrMatrix, Layout};
    use karman_backend::testing::everywhere;

    /// Rows of very different lengths, from `shortest` on; columns repeat from row to row.
    fn ragged(
        rows: usize,
        columns: usize,
        [shortest, longest]: [usize; 2],
        seed: usize,
    ) -> CsrMatrix<f64> {
        let mut entries = vec![];
        for row in 0..rows {
            let length = (row * 31 + seed) * 7919 % (longest + 1) * usize::from(row % 5 != 3);
            for k in 0..length.max(shortest) {
                let column = (row * 3 + k * (1 + row % 3)) % columns;
                let value = ((row * 17 + k * 29 + seed) % 101) as f64 / 50.0 - 1.0;
                entries.push((row as u32, column as u32, value));
            }
        }
        CsrMatrix::from_entries(rows, columns, entries).unwrap()
    }

    fn plain(a: &CsrMatrix<f64>, b: &CsrMatrix<f64>, factor: f64) -> CsrMatrix<f64> {
        let mut entries = vec![];
        for row in 0..a.rows() {
            for (j, of_a) in a.row(row) {
                let terms = b.row(j).map(|(c, of_b)| (row as u32, c as u32, factor * of_a * of_b));
                entries.extend(terms);
            }
        }
        CsrMatrix::from_entries(a.rows(), b.columns(), entries).unwrap()
    }

    #[test]
    fn every_way_to_multiply_gives_the_product_everywhere() {
        // Rows, and the most entries a row of A and of B. The rows of the last product fit only the largest
        // block; those of the one before need more than the smallest.
        for (rows, of_a, of_b) in [(40, 5, 3), (300, 40, 20), (90, 100, 17), (50, 120, 33)] {
            let (a, b) = (ragged(rows, 150, [1, of_a], 1), ragged(150, 200, [0, of_b], 2));
            let want = plain(&a, &b, 0.5);
            for backend in everywhere() {
                for layout in [Layout::Csr, Layout::SlicedEll] {
                    let put = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                    let right = Matrix::with_layout(&backend, b.clone(), Layout::Csr).unwrap();
                    let check = |got: Matrix<f64>, what: &str| {
                        let what = format!("{backend:?} {layout:?} {rows} {what}");
                        let got = got.to_csr().unwrap();
                        assert_eq!(got.offsets(), want.offsets(), "{what}");
                        assert_eq!(got.column_indices(), want.column_indices(), "{what}");
                        for (got, want) in got.values().iter().zip(want.values()) {
                            assert!((got - want).abs() <= 1e-13, "{what} {got} {want}");
                        }
                    };
                    backend.install(|| {
                        let whole = RowRanges::whole(rows);
                        check(product(&put, &right, 0.5, &whole).unwrap(), "chosen");
                        let left = LeftRows::new(&put, &whole);
                        let got = product_by_threads(&left, &right, 0.5, Search::Merge).unwrap();
                        check(got, "merged");
                        // Software Vulkan ends loops after 65535 rounds.
                        if of_a * of_b < 100 {
                            let got = product_by_threads(&left, &right, 0.5, Search::All).unwrap();
                            check(got, "looked for");
                        }
                    });
                    let whole = RowRanges::whole(rows);
                    let left = LeftRows::new(&put, &whole);
                    if let Some(terms) = terms_for_blocks(&left, &right, &whole).unwrap() {
                        let got = product_by_blocks(&terms, &left, &right, 0.5).unwrap();
                        check(got, &format!("{:?}", terms.block));
                    }
                }
            }
        }
    }
}
