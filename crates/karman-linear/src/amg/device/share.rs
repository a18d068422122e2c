//! The rows of a level that a rank computes, and those of other ranks that they need.
//!
//! Vectors and matrices of a level have room for all of its rows, in the numbers of the whole level. A rank computes its own ones,
//! from copies of those of other ranks: a row has the terms of one rank in the same order, and so its bits. A matrix has entries
//! in own rows alone, or after [`Share::extended`] in those of other ranks too that own rows refer to.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::rank_rows::{columns_beyond, flag_beyond, pick_listed, rows_of_rank};
use crate::matrix::MatrixView;
use crate::{Layout, Matrix};
use karman_backend::group::gather_lists;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::scan::{compact, exclusive_scan, offsets_of};
use karman_backend::{Backend, BackendError, Buffer, Element, RankGroup, Segment, View, blas};
use std::ops::Range;
use std::sync::Arc;

/// The ranges of the rows of a level that the ranks compute; one rank computes all.
#[derive(Clone)]
pub(super) struct RowRanges {
    /// The backend of this rank, with the others; none where this rank computes all rows.
    ranks: Option<(Backend, Arc<dyn RankGroup>)>,
    /// First row of each rank, and their number.
    starts: Vec<usize>,
}

/// The rows of a level that this rank computes, with the exchange of those that other ranks need.
pub(super) struct Share {
    ranges: RowRanges,
    exchange: Option<RowExchange>,
    /// Rows of other ranks that this rank needs, ascending.
    needed: Vec<u32>,
}

/// Rows that ranks give to all others.
struct RowExchange {
    /// Those of this rank, ascending.
    given: Buffer<u32>,
    /// Those of all ranks, ascending, of which rank r gives `starts[r]..starts[r + 1]`.
    all: Buffer<u32>,
    starts: Vec<usize>,
}

/// 1 at the listed rows, of which `first` is the first that has a flag. Traffic 8.
#[kernel]
fn mark(i: usize, list: &View<u32>, first: u32, flags: &mut Segment<u32>) {
    flags[(list[i] - first) as usize] = 1u32;
}

/// The inverse of [`pick_listed`]. Traffic 4 and twice that of a number.
#[kernel]
fn put_listed<T: Element>(i: usize, list: &View<u32>, picked: &View<T>, x: &mut Segment<T>) {
    x[list[i] as usize] = picked[i];
}

/// x + `by`. Traffic 8.
#[kernel(update(x))]
fn add(_i: usize, by: u32, x: u32) -> u32 {
    x + by
}

/// Number of entries of a row of compressed rows. Traffic 12.
#[kernel(out(lengths))]
fn row_length(row: usize, offsets: &View<u32>) -> u32 {
    offsets[row + 1] - offsets[row]
}

/// The entries of a listed row of compressed rows. Traffic 12 and the row twice.
#[kernel]
fn copy_listed<T: Real>(
    i: usize,
    list: &View<u32>,
    a: &MatrixView<T>,
    offsets: &View<u32>,
    columns: &mut Segment<u32>,
    values: &mut Segment<T>,
) {
    let row = list[i] as usize;
    let from = a.offsets[row] as usize;
    let to = offsets[i] as usize;
    for k in from..a.offsets[row + 1] as usize {
        columns[to + k - from] = a.columns[k];
        values[to + k - from] = a.values[k];
    }
}

/// x_(`from` + i) at `to` + i of another list. Traffic of both.
#[kernel]
fn copy_block<T: Element>(i: usize, x: &View<T>, from: usize, to: usize, y: &mut Segment<T>) {
    y[to + i] = x[from + i];
}

/// x + `by` in rows `first..end`, 0 outside. Traffic 8.
#[kernel(update(x))]
fn keep_own(row: usize, first: usize, end: usize, by: u32, x: u32) -> u32 {
    let mut kept = 0u32;
    if row >= first && row < end {
        kept = x + by;
    }
    kept
}

/// Where a row, or a slice, of a whole level begins among the entries of so many consecutive ones from `first` on. Traffic 8.
#[kernel(out(offsets))]
pub(super) fn widen(row: usize, of_rows: &View<u32>, first: usize, rows: usize) -> u32 {
    let mut place = 0usize;
    if row > first {
        place = row - first;
    }
    if place > rows {
        place = rows;
    }
    of_rows[place]
}

impl RowRanges {
    /// Of a level of which each rank computes all rows.
    pub(super) fn whole(rows: usize) -> Self {
        RowRanges { ranks: None, starts: vec![0, rows] }
    }

    /// Rank r of those of `backend` computes rows `starts[r]..starts[r + 1]`.
    pub(super) fn of_ranks(backend: &Backend, starts: Vec<usize>) -> Self {
        let ranks = backend.ranks().map(|group| (backend.clone(), group.clone()));
        RowRanges { ranks, starts }
    }

    /// The same ranks with other ranges.
    pub(super) fn with_starts(&self, starts: Vec<usize>) -> Self {
        RowRanges { ranks: self.ranks.clone(), starts }
    }

    /// First row of each rank, and the number of all.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Whether several ranks share the rows.
    pub(super) fn is_shared(&self) -> bool {
        self.ranks.is_some()
    }

    /// Number of rows of all ranks.
    pub(super) fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The rows of this rank.
    pub(super) fn own(&self) -> Range<usize> {
        let rank = self.rank();
        self.starts[rank]..self.starts[rank + 1]
    }

    fn rank(&self) -> usize {
        self.ranks.as_ref().map_or(0, |(_, group)| group.rank())
    }

    /// Numbers of all ranks, by rank.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub(super) fn of_all<T: Element, const N: usize>(
        &self,
        own: [T; N],
    ) -> Result<Vec<[T; N]>, BackendError> {
        let Some((_, group)) = &self.ranks else { return Ok(vec![own]) };
        let (all, _) = gather_lists(&**group, &own)?;
        Ok(all.chunks(N).map(|of_rank| std::array::from_fn(|k| of_rank[k])).collect())
    }

    /// Matrices with the numbers of entries of all ranks, of which this rank has own rows.
    ///
    /// # Errors
    /// As above.
    pub(super) fn counted<T: Real, const N: usize>(
        &self,
        own: [Matrix<T>; N],
    ) -> Result<[Matrix<T>; N], BackendError> {
        if self.ranks.is_none() {
            return Ok(own);
        }
        let all = self.of_all(own.each_ref().map(|matrix| matrix.arrays().1.len() as f64))?;
        let mut place = 0;
        Ok(own.map(|matrix| {
            let entries = all.iter().map(|of_rank| of_rank[place]).sum::<f64>() as usize;
            place += 1;
            matrix.with_entries_of_all(entries)
        }))
    }

    /// The places of flagged own rows among the flagged rows of all ranks, `[rows + 1]`, 0 for the rows of others; and the first
    /// place of each rank with the number of all.
    ///
    /// # Errors
    /// As above; [`BackendError::Device`].
    pub(super) fn places(
        &self,
        backend: &Backend,
        flags: &mut Buffer<u32>,
    ) -> Result<(Buffer<u32>, Vec<usize>), BackendError> {
        if self.ranks.is_none() {
            let (places, count) = offsets_of(backend, flags)?;
            return Ok((places, vec![0, count]));
        }
        let Range { start, end } = self.own();
        keep_own(backend, flags.len(), start, end, 0, flags);
        let (mut places, count) = offsets_of(backend, flags)?;
        let starts = sums(self.of_all([count as u32])?);
        let first = starts[self.rank()] as u32;
        keep_own(backend, places.len(), start, end, first, &mut places);
        Ok((places, starts))
    }

    /// A vector of all rows, of which this rank has its own ones.
    pub(super) fn gathered<T: Element>(&self, backend: &Backend, x: &Buffer<T>) -> Buffer<T> {
        let own = self.own();
        let mut part = backend.scratch(own.len());
        blas::copy_from_range(backend, own.len(), x, own.start, &mut part);
        match &self.ranks {
            None => part,
            Some((backend, _)) => backend.parts_of_all_ranks(&part, &self.starts),
        }
    }

    /// All rows of a matrix by compressed rows, of which this rank has its own ones. All ranks call it.
    ///
    /// # Errors
    /// As of [`RowRanges::places`].
    pub(super) fn gathered_matrix<T: Real>(
        &self,
        a: &Matrix<T>,
    ) -> Result<Matrix<T>, BackendError> {
        let (alone, n) = (a.backend(), self.own().len());
        let own = rows_of_rank(alone, a, self.own(), None)?;
        let Some((backend, _)) = &self.ranks else { return Ok(own) };
        let (offsets, columns, values) = own.arrays();
        let mut lengths = alone.scratch(n);
        row_length(alone, n, offsets, &mut lengths);
        let starts = sums(self.of_all([columns.len() as u32])?);
        let lengths = backend.parts_of_all_ranks(&lengths, &self.starts);
        let (offsets, _) = offsets_of(alone, &lengths)?;
        let columns = backend.parts_of_all_ranks(columns, &starts);
        let values = backend.parts_of_all_ranks(values, &starts);
        Ok(Matrix::compressed(alone, a.columns(), [offsets, columns], values))
    }

    /// A matrix of the own rows alone, by compressed rows, with room for all rows. All ranks call it.
    ///
    /// # Errors
    /// As above.
    pub(super) fn widened<T: Real>(&self, own: Matrix<T>) -> Result<Matrix<T>, BackendError> {
        if !self.is_shared() {
            return Ok(own);
        }
        let (alone, n) = (own.backend().clone(), self.rows());
        let mut offsets = alone.scratch(n + 1);
        widen(&alone, n + 1, own.arrays().0, self.own().start, self.own().len(), &mut offsets);
        let [matrix] = self.counted([own.with_offsets(offsets)])?;
        Ok(matrix)
    }
}

/// The sums of the numbers before each, and of all.
fn sums(numbers: Vec<[u32; 1]>) -> Vec<usize> {
    let mut sums = vec![0];
    for [number] in numbers {
        sums.push(sums[sums.len() - 1] + number as usize);
    }
    sums
}

/// The numbers of two ascending lists, each once, ascending.
pub(super) fn united(mut one: Vec<u32>, other: &[u32]) -> Vec<u32> {
    if !other.is_empty() {
        one.extend_from_slice(other);
        // Of two ascending runs.
        one.sort();
        one.dedup();
    }
    one
}

impl Share {
    /// All rows.
    pub(super) fn whole(rows: usize) -> Self {
        Share::alone(RowRanges::whole(rows))
    }

    fn alone(ranges: RowRanges) -> Self {
        Share { ranges, exchange: None, needed: vec![] }
    }

    /// The own rows of a level with the square matrix `a`. The others needed are those that its columns name, and those in `also`.
    /// Each rank gives the rows that others need, and those of its own that refer to others. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed, [`BackendError::Device`].
    pub(super) fn of_level<T: Real>(
        ranges: RowRanges,
        a: &Matrix<T>,
        also: Vec<u32>,
    ) -> Result<Self, BackendError> {
        let Some((_, group)) = &ranges.ranks else { return Ok(Share::alone(ranges)) };
        let own = ranges.own();
        let needed = united(columns_beyond(a, own.clone(), &own)?, &also);
        let (mut of_all, _) = gather_lists(&**group, &needed)?;
        of_all.retain(|row| own.contains(&(*row as usize)));
        // A row that several ranks need is marked once.
        of_all.sort();
        of_all.dedup();
        let share = Self::giving(ranges, &a.backend().upload(of_all), a, &own)?;
        Ok(Share { needed, ..share })
    }

    /// As this share, of which each rank gives the rows of `a` too that refer to columns outside `own`. All ranks call it.
    ///
    /// # Errors
    /// As of [`Share::of_level`].
    pub(super) fn with_rows_beyond(
        &self,
        a: &Matrix<f64>,
        own: &Range<usize>,
    ) -> Result<Self, BackendError> {
        let ranges = self.ranges.clone();
        match &self.exchange {
            None => Ok(Share::alone(ranges)),
            Some(exchange) => Self::giving(ranges, &exchange.given, a, own),
        }
    }

    /// Gives the listed own rows and those of `a` that refer to columns outside `columns`.
    fn giving<T: Real>(
        ranges: RowRanges,
        listed: &Buffer<u32>,
        a: &Matrix<T>,
        columns: &Range<usize>,
    ) -> Result<Self, BackendError> {
        let Some((backend, _)) = &ranges.ranks else { return Ok(Share::alone(ranges)) };
        let (alone, own) = (a.backend(), ranges.own());
        let mut flags = alone.scratch(own.len());
        let (first, owned) = (columns.start as u32, columns.len() as u32);
        flag_beyond(alone, own.len(), &a.pattern_view(), own.start, first, owned, &mut flags);
        mark(alone, listed.len(), listed, own.start as u32, &mut flags);
        let mut given = compact(alone, &flags)?;
        let starts = sums(ranges.of_all([given.len() as u32])?);
        add(alone, given.len(), own.start as u32, &mut given);
        let all = backend.parts_of_all_ranks(&given, &starts);
        let exchange = Some(RowExchange { given, all, starts });
        Ok(Share { ranges, exchange, needed: vec![] })
    }

    /// The ranges of rows.
    pub(super) fn ranges(&self) -> &RowRanges {
        &self.ranges
    }

    /// The rows of other ranks that the columns of the matrix name, and those that were needed besides, ascending.
    pub(super) fn needed(&self) -> &[u32] {
        &self.needed
    }

    /// The backend of this rank, with the others, and the rows.
    fn exchange(&self) -> Option<(&Backend, &RowExchange)> {
        let (backend, _) = self.ranges.ranks.as_ref()?;
        Some(backend).zip(self.exchange.as_ref())
    }

    /// Completes a vector by the numbers of the rows that other ranks give. All ranks call it.
    ///
    /// Traffic: what all ranks give, three times.
    pub(super) fn fill<T: Element>(&self, x: &mut Buffer<T>) {
        let Some((backend, RowExchange { given, all, starts })) = self.exchange() else { return };
        let mut part = backend.scratch(given.len());
        pick_listed(backend, given.len(), given, x, &mut part);
        let picked = backend.parts_of_all_ranks(&part, starts);
        put_listed(backend, all.len(), all, &picked, x);
    }

    /// The own rows of a matrix by compressed rows, with the rows that other ranks give; `own` has own rows alone. All ranks call it.
    ///
    /// Traffic: the matrix twice, and what all ranks give, three times.
    ///
    /// # Errors
    /// As of [`Share::of_level`].
    pub(super) fn extended<T: Real>(&self, own: Matrix<T>) -> Result<Matrix<T>, BackendError> {
        Ok(self.extension(&own)?.unwrap_or(own))
    }

    /// As [`Share::extended`]; none where no rank gives rows.
    ///
    /// # Errors
    /// As there.
    pub(super) fn extension<T: Real>(
        &self,
        own: &Matrix<T>,
    ) -> Result<Option<Matrix<T>>, BackendError> {
        let Some((backend, RowExchange { given, all, starts })) =
            self.exchange().filter(|(_, exchange)| !exchange.all.is_empty())
        else {
            return Ok(None);
        };
        if own.layout() != Layout::Csr {
            let compressed = rows_of_rank(own.backend(), own, 0..own.rows(), None)?;
            return self.extension(&compressed.with_entries_of_all(own.entries()));
        }
        let (alone, n) = (own.backend(), own.rows());
        let (offsets, columns, values) = own.arrays();
        let mut counts = alone.scratch(n);
        row_length(alone, n, offsets, &mut counts);
        let mut lengths = alone.scratch(given.len());
        pick_listed(alone, given.len(), given, &counts, &mut lengths);
        let (places, entries) = offsets_of(alone, &lengths)?;
        let (mut given_columns, mut given_values) =
            (alone.scratch(entries), alone.scratch(entries));
        let (c, v) = (&mut given_columns, &mut given_values);
        copy_listed(alone, given.len(), given, &own.view(), &places, c, v);

        let of_ranks = sums(self.ranges.of_all([entries as u32])?);
        let lengths = backend.parts_of_all_ranks(&lengths, starts);
        put_listed(alone, all.len(), all, &lengths, &mut counts);
        let mut extended = alone.scratch(n + 1);
        exclusive_scan(alone, &counts, &mut extended);
        let rank = self.ranges.rank();
        let between = (of_ranks[rank], of_ranks[rank + 1]);
        let others = backend.parts_of_all_ranks(&given_columns, &of_ranks);
        let columns = joined(alone, columns, &others, between);
        let others = backend.parts_of_all_ranks(&given_values, &of_ranks);
        let values = joined(alone, values, &others, between);
        let matrix = Matrix::compressed(alone, own.columns(), [extended, columns], values);
        Ok(Some(matrix.with_entries_of_all(own.entries())))
    }
}

/// Own entries in place of those of `others` from `between.0` to `between.1`.
fn joined<T: Element>(
    backend: &Backend,
    own: &Buffer<T>,
    others: &Buffer<T>,
    between: (usize, usize),
) -> Buffer<T> {
    let (before, after) = (between.0, others.len() - between.1);
    let mut all = backend.scratch(before + own.len() + after);
    copy_block(backend, before, others, 0, 0, &mut all);
    copy_block(backend, own.len(), own, 0, before, &mut all);
    copy_block(backend, after, others, between.1, before + own.len(), &mut all);
    all
}
