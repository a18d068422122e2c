//! Loops over rows on the host's threads, which several ranks may share. No row depends on the result of another, so results
//! do not depend on the distribution of rows among threads and ranks.

use crate::{CsrMatrix, LinearError};
use karman_backend::group::gather_lists;
use karman_backend::{Element, HOST_CHUNK, RankGroup};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Fewer rows are computed by each rank: that takes no longer than to gather their results.
const LEAST_SHARED: usize = 2 * HOST_CHUNK;

/// The ranks that share loops over rows: each computes a part of the rows, and all gather the results of all.
#[derive(Clone)]
pub(super) struct Loops {
    ranks: Option<Arc<dyn RankGroup>>,
}

impl std::fmt::Debug for Loops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loops({} ranks)", self.ranks.as_ref().map_or(1, |group| group.size()))
    }
}

impl Loops {
    /// Loops of one rank.
    #[cfg(test)]
    pub(super) const ALONE: Loops = Loops { ranks: None };

    /// Loops that these ranks share, if any. All of them run the same loops.
    pub(super) fn of(ranks: Option<&Arc<dyn RankGroup>>) -> Loops {
        Loops { ranks: ranks.cloned() }
    }

    /// The ranks that share a loop over `n` rows, and the rows of this rank.
    fn share(&self, n: usize) -> Option<(&dyn RankGroup, Range<usize>)> {
        let group = self.ranks.as_deref().filter(|_| n >= LEAST_SHARED)?;
        let (rank, size) = (group.rank(), group.size());
        Some((group, rank * n / size..(rank + 1) * n / size))
    }

    /// [f(0), …, f(n − 1)].
    ///
    /// # Errors
    /// [`LinearError::Backend`] where a rank failed.
    pub(super) fn each<T: Element>(
        &self,
        n: usize,
        f: impl Fn(usize) -> T + Sync + Send,
    ) -> Result<Vec<T>, LinearError> {
        let Some((group, own)) = self.share(n) else { return Ok(each(n, f)) };
        let part = each(own.len(), |i| f(own.start + i));
        Ok(gather_lists(group, &part)?.0)
    }

    /// As [`matrix_of`].
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] where the entries are too many for 32-bit offsets; [`LinearError::Backend`] where a
    /// rank failed.
    pub(super) fn matrix_of<S>(
        &self,
        row_count: usize,
        column_count: usize,
        scratch: impl Fn() -> S + Sync + Send,
        write: impl Fn(&mut S, usize, &mut Rows) + Sync + Send,
    ) -> Result<CsrMatrix<f64>, LinearError> {
        match self.share(row_count) {
            None => matrix_of(0..row_count, column_count, scratch, write),
            Some((group, own)) => matrix_of(own, column_count, scratch, write)?.of_all_ranks(group),
        }
    }
}

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

/// `rows` in a few ranges a thread: scratch of the size of a level is allocated once a range.
fn ranges(rows: Range<usize>) -> Vec<Range<usize>> {
    let (first, n) = (rows.start, rows.len());
    let pieces = (4 * rayon::current_num_threads()).min(n.div_ceil(512)).max(1);
    let bound = |k: usize| first + k * n / pieces;
    (0..pieces).map(|k| bound(k)..bound(k + 1)).collect()
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

/// The matrix of some rows, of which `write(scratch, r, rows)` adds row r to `rows`, columns ascending. Scratch is allocated
/// once a range of rows.
///
/// # Errors
/// [`LinearError::TooLarge`] where the entries are too many for 32-bit offsets.
fn matrix_of<S>(
    all_rows: Range<usize>,
    column_count: usize,
    scratch: impl Fn() -> S + Sync + Send,
    write: impl Fn(&mut S, usize, &mut Rows) + Sync + Send,
) -> Result<CsrMatrix<f64>, LinearError> {
    let row_count = all_rows.len();
    let parts: Vec<(Range<usize>, Rows)> = ranges(all_rows)
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

#[cfg(test)]
mod tests {
    use super::*;
    use karman_backend::group::{ThreadGroup, run_ranks};

    #[test]
    fn loops_have_the_results_of_one_rank_on_each_of_several() {
        for n in [100, LEAST_SHARED, 3 * HOST_CHUNK + 7] {
            let value = |i: usize| (i as f64).sqrt();
            let write = |_: &mut (), row: usize, rows: &mut Rows| {
                (0..row % 4).for_each(|k| rows.push((row + k) as u32, value(row) + k as f64));
            };
            let run = |loops: &Loops| -> Result<_, LinearError> {
                Ok((loops.each(n, value)?, loops.matrix_of(n, n + 4, || (), write)?))
            };
            let want = run(&Loops::ALONE).unwrap();
            for size in [2, 3, 7] {
                let found = run_ranks(&ThreadGroup::new(size), |group| {
                    let group: Arc<dyn RankGroup> = Arc::new(group.clone());
                    run(&Loops::of(Some(&group)))
                });
                assert!(
                    found.unwrap().iter().all(|found| *found == want),
                    "{n} rows, {size} ranks"
                );
            }
        }
    }
}
