//! Sparse matrices in compressed rows (CSR) on the host: assembly, checks, transposition.

use super::LinearError;
use karman_backend::group::gather_lists;
use karman_backend::real::Real;
use karman_backend::{HOST_CHUNK, RankGroup, converted, converted_slice};
use rayon::prelude::*;
use std::ops::Range;

/// A sparse matrix in compressed rows: row r has the entries `offsets[r] .. offsets[r + 1]` of
/// `columns` (ascending, no repetition) and `values` (finite). `offsets`: [rows + 1].
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix<T> {
    column_count: usize,
    offsets: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> CsrMatrix<T> {
    /// The matrix of these arrays, checked.
    ///
    /// # Errors
    /// [`LinearError`] naming the first row whose offsets, columns or values are wrong.
    pub fn new(
        column_count: usize,
        offsets: Vec<u32>,
        columns: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self, LinearError> {
        let Some(entries) = offsets.last().map(|e| *e as usize) else {
            return Err(LinearError::Length { what: "offsets", expected: 1, found: 0 });
        };
        for (what, found) in [("columns", columns.len()), ("values", values.len())] {
            if found != entries {
                return Err(LinearError::Length { what, expected: entries, found });
            }
        }
        if offsets[0] != 0 {
            let (first, end) = (offsets[0] as usize, entries);
            return Err(LinearError::Offsets { row: 0, first, end });
        }
        let matrix = CsrMatrix { column_count, offsets, columns, values };
        let chunks = matrix.rows().div_ceil(HOST_CHUNK);
        let wrong = (0..chunks).into_par_iter().find_map_first(|c| {
            (c * HOST_CHUNK..((c + 1) * HOST_CHUNK).min(matrix.rows()))
                .find_map(|row| matrix.check_row(row).err())
        });
        wrong.map_or(Ok(matrix), Err)
    }

    /// The matrix of valid arrays, not checked again.
    pub(super) fn trusted(
        column_count: usize,
        offsets: Vec<u32>,
        columns: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        let matrix = CsrMatrix { column_count, offsets, columns, values };
        debug_assert!((0..matrix.rows()).all(|row| {
            let range = matrix.offsets[row] as usize..matrix.offsets[row + 1] as usize;
            let columns = &matrix.columns[range];
            columns.is_sorted_by(|a, b| a < b)
                && columns.last().is_none_or(|c| (*c as usize) < column_count)
        }));
        matrix
    }

    fn check_row(&self, row: usize) -> Result<(), LinearError> {
        let (first, end) = (self.offsets[row] as usize, self.offsets[row + 1] as usize);
        if end < first || end > self.columns.len() {
            return Err(LinearError::Offsets { row, first, end });
        }
        let mut before = None;
        for k in first..end {
            let column = self.columns[k] as usize;
            let value: f64 = self.values[k].into();
            if column >= self.column_count {
                return Err(LinearError::ColumnOutOfRange {
                    row,
                    column,
                    columns: self.column_count,
                });
            }
            match before {
                Some(b) if b == column => return Err(LinearError::Duplicate { row, column }),
                Some(before) if before > column => {
                    return Err(LinearError::Unsorted { row, before, column });
                }
                _ => before = Some(column),
            }
            if !value.is_finite() {
                return Err(LinearError::NotFinite { row, column, value });
            }
        }
        Ok(())
    }

    /// Assembles `entries` (row, column, value) in any order; entries at the same position are added in
    /// the given order.
    ///
    /// # Errors
    /// [`LinearError`] where an entry is out of range or not finite.
    pub fn from_entries(
        row_count: usize,
        column_count: usize,
        mut entries: Vec<(u32, u32, T)>,
    ) -> Result<Self, LinearError> {
        entries.par_sort_by_key(|(row, column, _)| (*row, *column));
        if let Some((row, ..)) = entries.last()
            && *row as usize >= row_count
        {
            return Err(LinearError::RowOutOfRange { row: *row as usize, rows: row_count });
        }
        let mut offsets = vec![0u32; row_count + 1];
        let (mut columns, mut values): (Vec<u32>, Vec<T>) = (vec![], vec![]);
        let mut last = None;
        for (row, column, value) in entries {
            match values.last_mut() {
                Some(sum) if last == Some((row, column)) => *sum += value,
                _ => {
                    columns.push(column);
                    values.push(value);
                    offsets[row as usize + 1] += 1;
                }
            }
            last = Some((row, column));
        }
        for row in 0..row_count {
            offsets[row + 1] += offsets[row];
        }
        Self::new(column_count, offsets, columns, values)
    }

    /// Assembles all rows in parallel: row r has `length(r)` entries, which `fill(r, columns,
    /// values)` writes in any order, each column once.
    ///
    /// # Errors
    /// [`LinearError`] where a row is wrong or the entries are too many for 32-bit offsets.
    pub fn from_rows(
        row_count: usize,
        column_count: usize,
        length: impl Fn(usize) -> usize + Sync + Send,
        fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync + Send,
    ) -> Result<Self, LinearError> {
        let mut offsets = vec![0u32; row_count + 1];
        let of_chunk = |(chunk, ends): (usize, &mut [u32])| {
            let mut sum = 0;
            for (k, end) in ends.iter_mut().enumerate() {
                sum += length(chunk * HOST_CHUNK + k);
                *end = sum as u32;
            }
            sum
        };
        let ends = offsets[1..].par_chunks_mut(HOST_CHUNK);
        let mut starts: Vec<usize> = ends.enumerate().map(of_chunk).collect();
        let mut entries = 0;
        for start in &mut starts {
            entries += std::mem::replace(start, entries);
        }
        if entries > u32::MAX as usize {
            return Err(LinearError::TooLarge { entries });
        }
        let ends = offsets[1..].par_chunks_mut(HOST_CHUNK).zip(starts);
        ends.for_each(|(ends, start)| ends.iter_mut().for_each(|end| *end += start as u32));
        let sorted = |row: usize, columns: &mut [u32], values: &mut [T]| {
            fill(row, columns, values);
            sort_row(columns, values);
        };
        let (columns, values) = filled(&offsets, sorted);
        Self::new(column_count, offsets, columns, values)
    }

    /// The matrix whose row r begins at `offsets[r]` and is written by `fill(r, columns, values)`, columns
    /// ascending; not checked.
    pub(super) fn trusted_rows(
        column_count: usize,
        offsets: Vec<u32>,
        fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync + Send,
    ) -> Self {
        let (columns, values) = filled(&offsets, fill);
        Self::trusted(column_count, offsets, columns, values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.column_count
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Where rows begin: [rows + 1].
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Columns of the entries: `[entries]`.
    pub fn column_indices(&self) -> &[u32] {
        &self.columns
    }

    /// Values of the entries: `[entries]`.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Offsets, columns and values.
    pub fn into_parts(self) -> (Vec<u32>, Vec<u32>, Vec<T>) {
        (self.offsets, self.columns, self.values)
    }

    /// The entries of row `row` in ascending columns.
    #[inline]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        let columns = self.columns[range.clone()].iter().map(|c| *c as usize);
        columns.zip(self.values[range].iter().copied())
    }

    /// Number of entries of row `row`.
    pub fn row_length(&self, row: usize) -> usize {
        (self.offsets[row + 1] - self.offsets[row]) as usize
    }

    /// The first row without entries.
    pub fn empty_row(&self) -> Option<usize> {
        (0..self.rows()).find(|r| self.offsets[*r] == self.offsets[r + 1])
    }

    /// A copy of the rows in `range`, with all columns.
    pub fn rows_of(&self, range: Range<usize>) -> CsrMatrix<T> {
        let first = self.offsets[range.start];
        let offsets: Vec<u32> =
            self.offsets[range.start..=range.end].iter().map(|offset| offset - first).collect();
        let entries = first as usize..self.offsets[range.end] as usize;
        CsrMatrix {
            column_count: self.column_count,
            offsets,
            columns: self.columns[entries.clone()].to_vec(),
            values: self.values[entries].to_vec(),
        }
    }

    /// These rows, then the listed ones of `other`, which has the same columns.
    pub(super) fn followed_by(mut self, other: &CsrMatrix<T>, list: &[u32]) -> CsrMatrix<T> {
        for row in list {
            let row = *row as usize;
            let entries = other.offsets[row] as usize..other.offsets[row + 1] as usize;
            self.columns.extend_from_slice(&other.columns[entries.clone()]);
            self.values.extend_from_slice(&other.values[entries]);
            self.offsets.push(self.columns.len() as u32);
        }
        self
    }

    /// The rows of all ranks, of which each has consecutive ones, with all columns. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] where the entries are too many for 32-bit offsets; [`LinearError::Backend`] where a rank
    /// failed.
    pub(super) fn of_all_ranks(self, group: &dyn RankGroup) -> Result<CsrMatrix<T>, LinearError> {
        let lengths: Vec<u32> = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (lengths, _) = gather_lists(group, &lengths)?;
        let mut entries = 0;
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        offsets.push(0);
        for length in lengths {
            entries += length as usize;
            offsets.push(entries as u32);
        }
        if entries > u32::MAX as usize {
            return Err(LinearError::TooLarge { entries });
        }
        let (columns, _) = gather_lists(group, &self.columns)?;
        let (values, _) = gather_lists(group, &self.values)?;
        Ok(CsrMatrix::trusted(self.column_count, offsets, columns, values))
    }

    /// Diagonal entries, 0 where one is absent: `[rows]`.
    pub fn diagonal(&self) -> Vec<T> {
        let of_row = |r| self.row(r).find(|(c, _)| *c == r).map_or(T::from_f64(0.0), |(_, v)| v);
        (0..self.rows()).into_par_iter().with_min_len(HOST_CHUNK).map(of_row).collect()
    }

    /// Aᵀ.
    pub fn transposed(&self) -> CsrMatrix<T> {
        let mut offsets = vec![0u32; self.column_count + 1];
        for c in &self.columns {
            offsets[*c as usize + 1] += 1;
        }
        for c in 0..self.column_count {
            offsets[c + 1] += offsets[c];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; self.entries()];
        let mut values = self.values.clone();
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                let place = next[column] as usize;
                next[column] += 1;
                columns[place] = row as u32;
                values[place] = value;
            }
        }
        CsrMatrix { column_count: self.rows(), offsets, columns, values }
    }

    /// The same matrix in another precision.
    pub fn converted<S: Real>(&self) -> CsrMatrix<S> {
        CsrMatrix {
            column_count: self.column_count,
            offsets: self.offsets.clone(),
            columns: self.columns.clone(),
            values: converted_slice(&self.values),
        }
    }

    /// The matrix in another precision, in place where both have the same size.
    pub fn into_converted<S: Real>(self) -> CsrMatrix<S> {
        CsrMatrix {
            column_count: self.column_count,
            offsets: self.offsets,
            columns: self.columns,
            values: converted(self.values),
        }
    }

    /// Checks that another matrix has the same sparsity pattern.
    ///
    /// # Errors
    /// [`LinearError::Length`] where the numbers of rows or columns differ, [`LinearError::Pattern`]
    /// for the first row that differs.
    pub fn check_pattern<S: Real>(&self, other: &CsrMatrix<S>) -> Result<(), LinearError> {
        let pairs =
            [("rows", self.rows(), other.rows()), ("columns", self.columns(), other.columns())];
        for (what, expected, found) in pairs {
            if found != expected {
                return Err(LinearError::Length { what, expected, found });
            }
        }
        if self.offsets == other.offsets && self.columns == other.columns {
            return Ok(());
        }
        let differs = |r: &usize| !self.row(*r).map(|e| e.0).eq(other.row(*r).map(|e| e.0));
        (0..self.rows()).find(differs).map_or(Ok(()), |row| Err(LinearError::Pattern { row }))
    }

    /// The rows of `list` in that order with the entries that `keep(row, column)` selects, column c
    /// renumbered to `new_number[c]`.
    pub(super) fn selected(
        &self,
        list: &[u32],
        new_number: &[u32],
        keep: impl Fn(usize, usize) -> bool,
    ) -> CsrMatrix<T> {
        let mut offsets = vec![0u32];
        let (mut columns, mut values) = (vec![], vec![]);
        let mut selected: Vec<(u32, T)> = vec![];
        for row in list.iter().map(|r| *r as usize) {
            selected.clear();
            let entries = self.row(row).filter(|(c, _)| keep(row, *c));
            selected.extend(entries.map(|(c, v)| (new_number[c], v)));
            selected.sort_by_key(|(c, _)| *c);
            for (column, value) in &selected {
                columns.push(*column);
                values.push(*value);
            }
            offsets.push(columns.len() as u32);
        }
        CsrMatrix { column_count: self.column_count, offsets, columns, values }
    }

    /// A x on the calling thread. `x`: `[columns]`, the result: `[rows]`.
    pub fn times(&self, x: &[T]) -> Vec<T> {
        (0..self.rows())
            .map(|r| {
                let mut sum = T::from_f64(0.0);
                for (c, v) in self.row(r) {
                    sum += v * x[c];
                }
                sum
            })
            .collect()
    }
}

/// Columns and values of rows that begin at `offsets`, each written by `fill(row, columns, values)`.
fn filled<T: Real>(
    offsets: &[u32],
    fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync + Send,
) -> (Vec<u32>, Vec<T>) {
    let row_count = offsets.len() - 1;
    let entries = offsets[row_count] as usize;
    let (mut columns, mut values) = (vec![0; entries], vec![T::from_f64(0.0); entries]);
    let mut pieces = vec![];
    let (mut rest_columns, mut rest_values) = (&mut columns[..], &mut values[..]);
    for first in (0..row_count).step_by(HOST_CHUNK) {
        let end = (first + HOST_CHUNK).min(row_count);
        let size = (offsets[end] - offsets[first]) as usize;
        let (c, more_columns) = rest_columns.split_at_mut(size);
        let (v, more_values) = rest_values.split_at_mut(size);
        pieces.push((first..end, c, v));
        (rest_columns, rest_values) = (more_columns, more_values);
    }
    pieces.into_par_iter().for_each(|(rows, columns, values)| {
        let base = offsets[rows.start];
        for row in rows {
            let range = (offsets[row] - base) as usize..(offsets[row + 1] - base) as usize;
            fill(row, &mut columns[range.clone()], &mut values[range]);
        }
    });
    (columns, values)
}

/// Sorts a short row by column.
fn sort_row<T: Copy>(columns: &mut [u32], values: &mut [T]) {
    for k in 1..columns.len() {
        let mut at = k;
        while at > 0 && columns[at - 1] > columns[at] {
            columns.swap(at - 1, at);
            values.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arrays_are_named() {
        let check = |columns: usize, offsets: &[u32], indices: &[u32], values: &[f64]| {
            CsrMatrix::new(columns, offsets.to_vec(), indices.to_vec(), values.to_vec())
                .unwrap_err()
                .to_string()
        };
        let ones = [1.0; 4];
        assert_eq!(check(3, &[], &[], &[]), "the matrix has 0 offsets, but 1 are expected");
        assert_eq!(
            check(3, &[0, 2, 4], &[0, 1, 0], &ones),
            "the matrix has 3 columns, but 4 are expected"
        );
        assert_eq!(
            check(3, &[0, 2, 4], &[0, 1, 0, 2], &ones[1..]),
            "the matrix has 3 values, but 4 are expected"
        );
        assert_eq!(
            check(3, &[1, 2, 4], &[0, 1, 0, 2], &ones),
            "row 0 of the matrix begins at entry 1 and ends at entry 4"
        );
        assert_eq!(
            check(3, &[0, 5, 4], &[0, 1, 2, 2], &ones),
            "row 0 of the matrix begins at entry 0 and ends at entry 5"
        );
        assert_eq!(
            check(3, &[0, 3, 2, 4], &[0, 1, 2, 2], &ones),
            "row 1 of the matrix begins at entry 3 and ends at entry 2"
        );
        assert_eq!(
            check(3, &[0, 2, 4], &[0, 1, 0, 3], &ones),
            "row 1 has an entry in column 3, but the matrix has 3 columns"
        );
        assert_eq!(
            check(3, &[0, 2, 4], &[0, 1, 2, 1], &ones),
            "row 1 has column 1 after column 2: columns must ascend"
        );
        assert_eq!(check(3, &[0, 2, 4], &[1, 1, 0, 1], &ones), "row 0 has column 1 twice");
        assert_eq!(
            check(3, &[0, 2, 4], &[0, 1, 0, 1], &[1.0, f64::NAN, 1.0, 1.0]),
            "the entry in row 0, column 1 is NaN"
        );
        let error = CsrMatrix::from_entries(2, 2, vec![(2, 0, 1.0)]).unwrap_err();
        assert_eq!(error.to_string(), "an entry is in row 2, but the matrix has 2 rows");
    }

    #[test]
    fn entries_in_any_order_are_summed() {
        let entries = vec![(2, 1, 4.0), (0, 2, 1.0), (0, 0, 3.0), (2, 1, 0.5), (0, 2, 1.0)];
        let a = CsrMatrix::from_entries(3, 3, entries).unwrap();
        assert_eq!(a.offsets(), [0, 2, 2, 3]);
        assert_eq!(a.column_indices(), [0, 2, 1]);
        assert_eq!(a.values(), [3.0, 2.0, 4.5]);
        assert_eq!(a.empty_row(), Some(1));
        assert_eq!(a.diagonal(), [3.0, 0.0, 0.0]);
        assert_eq!(a.times(&[1.0, 10.0, 100.0]), [203.0, 0.0, 45.0]);
    }

    #[test]
    fn rows_are_assembled_in_parallel_and_sorted() {
        let n = 10_000;
        let length = |r| if r == 7 { 0 } else { 3 };
        let a = CsrMatrix::from_rows(n, n + 2, length, |r, columns, values| {
            for k in 0..columns.len() {
                columns[k] = (r + 2 - k) as u32;
                values[k] = (r * 10 + k) as f64;
            }
        })
        .unwrap();
        assert_eq!(a.entries(), 3 * (n - 1));
        for r in (0..n).filter(|r| *r != 7) {
            let want: Vec<_> = (0..3).map(|k| (r + k, (r * 10 + 2 - k) as f64)).collect();
            assert_eq!(a.row(r).collect::<Vec<_>>(), want);
        }
        assert_eq!(a.empty_row(), Some(7));
        let twice = CsrMatrix::from_rows(1, 1, |_| 2, |_, _, _: &mut [f64]| {}).unwrap_err();
        assert_eq!(twice, LinearError::Duplicate { row: 0, column: 0 });
    }

    #[test]
    fn transposing_twice_gives_the_matrix_back() {
        let entries = vec![(0, 3, 1.0), (1, 0, 2.0), (1, 3, 3.0), (2, 2, 4.0), (2, 0, 5.0)];
        let a = CsrMatrix::from_entries(3, 4, entries).unwrap();
        let t = a.transposed();
        assert_eq!((t.rows(), t.columns()), (4, 3));
        assert_eq!(t.row(0).collect::<Vec<_>>(), [(1, 2.0), (2, 5.0)]);
        assert_eq!(t.row(3).collect::<Vec<_>>(), [(0, 1.0), (1, 3.0)]);
        assert_eq!(t.transposed(), a);
    }
}
