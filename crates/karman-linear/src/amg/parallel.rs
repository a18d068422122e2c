//! Loops over rows on the host's threads. No row depends on the result of another, so results do not
//! depend on the distribution of rows among threads.

use crate::{CsrMatrix, LinearError};
use karman_backend::HOST_CHUNK;
use rayon::prelude::*;
use std::ops::Range;

/// [f(0), …, f(n − 1)].
pub(super) fn each<T: Send + Clone + Default>(
    n: usize,
    f: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    let mut values = vec![T::default(); n];
    values.par_chunks_mut(HOST_CHUNK).enumerate().for_each(|(chunk, values)| {
        for (k, value) in values.iter_mut().enumerate() {
            *value = f(chunk * HOST_CHUNK + k);
        }
    });
    values
}

/// Rows below `n` in a few ranges a thread: scratch of the size of a level is allocated once a range.
fn ranges(n: usize) -> Vec<Range<usize>> {
    let pieces = (4 * rayon::current_num_threads()).min(n.div_ceil(512)).max(1);
    (0..pieces).map(|k| k * n / pieces..(k + 1) * n / pieces).collect()
}

/// Entries of rows one after another.
#[derive(Default)]
pub(super) struct Rows {
    /// Columns.
    pub columns: Vec<u32>,
    /// Values.
    pub values: Vec<f64>,
    /// Where rows end.
    ends: Vec<u32>,
}

impl Rows {
    /// Forgets all entries.
    pub(super) fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
    }

    /// Adds an entry to the current row.
    #[inline(always)]
    pub(super) fn push(&mut self, column: u32, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }
}

/// The matrix whose row r `write(scratch, r, rows)` adds to `rows`, columns ascending. Scratch is allocated
/// once a range of rows.
///
/// # Errors
/// [`LinearError::TooLarge`] where the entries are too many for 32-bit offsets.
pub(super) fn matrix_of<S>(
    row_count: usize,
    column_count: usize,
    scratch: impl Fn() -> S + Sync + Send,
    write: impl Fn(&mut S, usize, &mut Rows) + Sync + Send,
) -> Result<CsrMatrix<f64>, LinearError> {
    let parts: Vec<(Range<usize>, Rows)> = ranges(row_count)
        .into_par_iter()
        .with_max_len(1)
        .map(|range| {
            let mut scratch = scratch();
            let mut rows = Rows::default();
            rows.ends.reserve_exact(range.len());
            for row in range.clone() {
                write(&mut scratch, row, &mut rows);
                rows.ends.push(rows.columns.len() as u32);
            }
            (range, rows)
        })
        .collect();
    let entries: usize = parts.iter().map(|p| p.1.columns.len()).sum();
    if entries > u32::MAX as usize {
        return Err(LinearError::TooLarge { entries });
    }
    let mut offsets = vec![0u32; row_count + 1];
    let (mut columns, mut values) = (vec![0u32; entries], vec![0.0; entries]);
    let mut pieces = vec![];
    let (mut o, mut c, mut v) = (&mut offsets[1..], &mut columns[..], &mut values[..]);
    let mut first = 0u32;
    for (range, rows) in &parts {
        let (ends, more) = std::mem::take(&mut o).split_at_mut(range.len());
        o = more;
        let (own_columns, more) = std::mem::take(&mut c).split_at_mut(rows.columns.len());
        c = more;
        let (own_values, more) = std::mem::take(&mut v).split_at_mut(rows.columns.len());
        v = more;
        pieces.push((first, rows, ends, own_columns, own_values));
        first += rows.columns.len() as u32;
    }
    pieces.into_par_iter().with_max_len(1).for_each(|(first, rows, ends, columns, values)| {
        ends.iter_mut().zip(&rows.ends).for_each(|(to, end)| *to = first + end);
        columns.copy_from_slice(&rows.columns);
        values.copy_from_slice(&rows.values);
    });
    Ok(CsrMatrix::trusted(column_count, offsets, columns, values))
}

/// Accumulator of a sparse row whose columns come in any order and more than once.
pub(super) struct SparseAccumulator {
    /// The sum of each column of the row, 0 elsewhere.
    sums: Vec<f64>,
    is_there: Vec<bool>,
    /// The columns of the row, and one place more.
    columns: Vec<u32>,
    count: usize,
}

impl SparseAccumulator {
    /// For columns below `column_count`.
    pub(super) fn new(column_count: usize) -> SparseAccumulator {
        let (sums, is_there) = (vec![0.0; column_count], vec![false; column_count]);
        SparseAccumulator { sums, is_there, columns: vec![0; column_count + 1], count: 0 }
    }

    /// Adds `value` in `column`, without an unpredictable branch for new columns.
    #[inline(always)]
    pub(super) fn add(&mut self, column: u32, value: f64) {
        let at = column as usize;
        self.columns[self.count] = column;
        self.count += usize::from(!self.is_there[at]);
        self.is_there[at] = true;
        self.sums[at] += value;
    }

    /// Whether something was added in `column`.
    #[inline(always)]
    pub(super) fn has(&self, column: u32) -> bool {
        self.is_there[column as usize]
    }

    /// Sorts the columns, which are otherwise in the order of their first entries.
    #[inline(always)]
    pub(super) fn sort(&mut self) {
        self.columns[..self.count].sort_unstable();
    }

    /// Completes the row: adds it to `rows`.
    #[inline(always)]
    pub(super) fn finish(&mut self, rows: &mut Rows) {
        for column in &self.columns[..self.count] {
            let at = *column as usize;
            rows.push(*column, std::mem::take(&mut self.sums[at]));
            self.is_there[at] = false;
        }
        self.count = 0;
    }
}

/// Sorts the row that began at `start` by column.
pub(super) fn sort_last_row(rows: &mut Rows, start: usize) {
    let (columns, values) = (&mut rows.columns[start..], &mut rows.values[start..]);
    for k in 1..columns.len() {
        let (column, value) = (columns[k], values[k]);
        let mut at = k;
        while at > 0 && columns[at - 1] > column {
            columns[at] = columns[at - 1];
            values[at] = values[at - 1];
            at -= 1;
        }
        columns[at] = column;
        values[at] = value;
    }
}
