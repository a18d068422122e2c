//! Rows of one of several ranks, between the numbers of the whole level and those of the rank, and the columns that they need of
//! other ranks. The order of the entries of a row stays, so that sums have the bits of one rank.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use crate::Matrix;
use crate::matrix::MatrixView;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::scan::{compact, offsets_of};
use karman_backend::{Backend, BackendError, Buffer, Element, Halo, Segment, View, sort};
use std::ops::Range;

/// Numbers of the rows or columns of one of several ranks: its own ones are consecutive, ghosts stand behind them, ascending.
#[derive(Group, Clone, Copy)]
pub(super) struct RankNumbers<'a> {
    /// First own one in the whole matrix.
    first: u32,
    /// Number of own ones.
    owned: u32,
    /// Numbers of the ghosts in the whole matrix.
    ghosts: View<'a, u32>,
    /// Number of ghosts.
    n_ghosts: u32,
}

/// Rows of a matrix: own ones of a rank, then ghosts.
#[derive(Clone)]
pub(in crate::amg) struct Rows<'a> {
    pub own: Range<usize>,
    /// Ascending.
    pub ghosts: &'a [u32],
}

impl From<Range<usize>> for Rows<'_> {
    fn from(own: Range<usize>) -> Self {
        Rows { own, ghosts: &[] }
    }
}

impl Rows<'_> {
    pub(super) fn len(&self) -> usize {
        self.own.len() + self.ghosts.len()
    }

    /// The numbers of the ghosts for [`Rows::numbers`].
    pub(super) fn upload_ghosts(&self, backend: &Backend) -> Buffer<u32> {
        list_of(backend, self.ghosts)
    }

    pub(super) fn numbers<'a>(&self, ghosts: &'a Buffer<u32>) -> RankNumbers<'a> {
        let (first, owned) = (self.own.start as u32, self.own.len() as u32);
        RankNumbers { first, owned, ghosts: ghosts.view(), n_ghosts: self.ghosts.len() as u32 }
    }
}

impl<'a> RankNumbers<'a> {
    /// The columns of `halo`, whose ghosts have these numbers.
    pub(super) fn of(halo: &Halo, ghosts: &'a Buffer<u32>) -> Self {
        RankNumbers {
            first: halo.first() as u32,
            owned: halo.owned() as u32,
            ghosts: ghosts.view(),
            n_ghosts: halo.ghosts() as u32,
        }
    }

    /// So many columns of one rank; `ghosts` is not read.
    pub(super) fn of_all(columns: usize, ghosts: &'a Buffer<u32>) -> Self {
        RankNumbers { first: 0, owned: columns as u32, ghosts: ghosts.view(), n_ghosts: 0 }
    }
}

#[device]
impl RankNumbers<'_> {
    /// The number of a local row or column in the whole matrix.
    #[inline(always)]
    pub(super) fn global(&self, local: u32) -> u32 {
        let mut number = self.first + local;
        if local >= self.owned {
            number = self.ghosts[(local - self.owned) as usize];
        }
        number
    }

    /// The local number of a row or column, which is an own one or a ghost.
    #[inline(always)]
    pub(super) fn local(&self, global: u32) -> u32 {
        let mut number = self.owned;
        if global >= self.first {
            number = global - self.first;
        }
        if number >= self.owned {
            let mut low = 0u32;
            let mut high = self.n_ghosts;
            while low < high {
                let middle = (low + high) / 2;
                if self.ghosts[middle as usize] < global {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            number = self.owned + low;
        }
        number
    }
}

/// Which numbers of columns a copy of rows has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Numbers {
    /// Local numbers become those of the whole matrix.
    Global,
    /// Numbers of the whole matrix become local ones.
    Local,
}

/// Number of entries of a row; a repeated column is padding. Traffic: offsets and columns of the row, and 4.
#[kernel(out(counts))]
fn count_of_row<T: Real>(i: usize, a: &MatrixView<T>, rows: &RankNumbers) -> u32 {
    let (start, end) = a.row(rows.global(i as u32) as usize);
    let mut count = 0u32;
    let mut before = u32::MAX.runtime();
    let mut k = start;
    while k < end {
        let column = a.columns[k];
        if column != before {
            count += 1u32;
        }
        before = column;
        k += comptime!(a.layout.spacing());
    }
    count
}

/// A row as compressed row i with other numbers of columns. Traffic of the row twice, and a search for each ghost.
#[kernel]
fn copy_row<T: Real>(
    i: usize,
    a: &MatrixView<T>,
    rows: &RankNumbers,
    of_rank: &RankNumbers,
    #[comptime] numbers: Numbers,
    offsets: &View<u32>,
    columns: &mut Segment<u32>,
    values: &mut Segment<T>,
) {
    let (start, end) = a.row(rows.global(i as u32) as usize);
    let mut to = offsets[i] as usize;
    let mut before = u32::MAX.runtime();
    let mut k = start;
    while k < end {
        let column = a.columns[k];
        if column != before {
            if comptime!(numbers == Numbers::Global) {
                columns[to] = of_rank.global(column);
            } else {
                columns[to] = of_rank.local(column);
            }
            values[to] = a.values[k];
            to += 1;
        }
        before = column;
        k += comptime!(a.layout.spacing());
    }
}

/// Number of columns of a row outside `own..own + owned`.
#[device]
fn number_beyond<T: Real>(row: usize, a: &MatrixView<T>, own: u32, owned: u32) -> u32 {
    let (start, end) = a.row(row);
    let mut count = 0u32;
    let mut k = start;
    while k < end {
        let column = a.columns[k];
        if column < own || column >= own + owned {
            count += 1u32;
        }
        k += comptime!(a.layout.spacing());
    }
    count
}

/// Number of columns of a row outside the own ones. Traffic: offsets and columns of the row, and 4.
#[kernel(out(counts))]
fn count_beyond<T: Real>(
    i: usize,
    a: &MatrixView<T>,
    rows: &RankNumbers,
    own: u32,
    owned: u32,
) -> u32 {
    number_beyond::<T>(rows.global(i as u32) as usize, a, own, owned)
}

/// 1 for row `first` + i where it has a column outside the own ones. Traffic as of [`count_beyond`].
#[kernel(out(flags))]
pub(super) fn flag_beyond<T: Real>(
    i: usize,
    a: &MatrixView<T>,
    first: usize,
    own: u32,
    owned: u32,
) -> u32 {
    let mut flag = 0u32;
    if number_beyond::<T>(first + i, a, own, owned) > 0 {
        flag = 1u32;
    }
    flag
}

/// The columns that [`count_beyond`] counts, from `offsets[i]` on. Traffic: offsets and columns of the row, and 4 each.
#[kernel]
fn list_beyond<T: Real>(
    i: usize,
    a: &MatrixView<T>,
    rows: &RankNumbers,
    own: u32,
    owned: u32,
    offsets: &View<u32>,
    list: &mut Segment<u32>,
) {
    let (start, end) = a.row(rows.global(i as u32) as usize);
    let mut to = offsets[i] as usize;
    let mut k = start;
    while k < end {
        let column = a.columns[k];
        if column < own || column >= own + owned {
            list[to] = column;
            to += 1;
        }
        k += comptime!(a.layout.spacing());
    }
}

/// 1 where an ascending list has a number for the first time. Traffic 12.
#[kernel(out(flags))]
fn flag_first(i: usize, list: &View<u32>) -> u32 {
    let mut flag = 1u32;
    if i > 0 {
        if list[i] == list[i - 1] {
            flag = 0u32;
        }
    }
    flag
}

/// The listed numbers. Traffic 4 and twice that of a number.
#[kernel(out(picked))]
pub(super) fn pick_listed<T: Element>(i: usize, list: &View<u32>, x: &View<T>) -> T {
    x[list[i] as usize]
}

/// The numbers of the ghosts; one number that is not read where there are none.
pub(super) fn ghosts_of(backend: &Backend, halo: Option<&Halo>) -> Buffer<u32> {
    list_of(backend, halo.map_or(&[], Halo::ghost_numbers))
}

/// A list, or one number that is not read in place of an empty one.
fn list_of(backend: &Backend, numbers: &[u32]) -> Buffer<u32> {
    match numbers {
        [] => backend.zeros(1),
        numbers => backend.upload_slice(numbers),
    }
}

/// Columns outside `own` in `rows` of a matrix, ascending.
pub(in crate::amg) fn columns_beyond<'a, T: Real>(
    a: &Matrix<T>,
    rows: impl Into<Rows<'a>>,
    own: &Range<usize>,
) -> Result<Vec<u32>, BackendError> {
    let (backend, rows) = (a.backend(), rows.into());
    let n = rows.len();
    if n == 0 {
        return Ok(vec![]);
    }
    let ghosts = rows.upload_ghosts(backend);
    let numbers = rows.numbers(&ghosts);
    let (first, owned) = (own.start as u32, own.len() as u32);
    let mut counts = backend.scratch(n);
    count_beyond(backend, n, &a.pattern_view(), &numbers, first, owned, &mut counts);
    let (offsets, found) = offsets_of(backend, &counts)?;
    if found == 0 {
        return Ok(vec![]);
    }
    let mut list = backend.scratch(found);
    list_beyond(backend, n, &a.pattern_view(), &numbers, first, owned, &offsets, &mut list);
    let mut places = backend.scratch(found);
    sort::enumerate(backend, found, &mut places);
    let (list, _) = sort::sort_by_key(backend, list, places, a.columns() as u32);
    let mut flags = backend.scratch(found);
    flag_first(backend, found, &list, &mut flags);
    let firsts = compact(backend, &flags)?;
    let mut numbers = backend.scratch(firsts.len());
    pick_listed(backend, firsts.len(), &firsts, &list, &mut numbers);
    backend.read(&numbers)
}

/// Some rows of a matrix by compressed rows on `backend`, with the local numbers of `halo`, or those of the matrix without one.
pub(in crate::amg) fn rows_of_rank<'a, T: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    rows: impl Into<Rows<'a>>,
    halo: Option<&Halo>,
) -> Result<Matrix<T>, BackendError> {
    let ghosts = ghosts_of(backend, halo);
    let (columns, n_columns) = match halo {
        Some(halo) => (RankNumbers::of(halo, &ghosts), halo.owned() + halo.ghosts()),
        None => (RankNumbers::of_all(a.columns(), &ghosts), a.columns()),
    };
    copied(backend, a, &rows.into(), &columns, Numbers::Local, n_columns)
}

/// Some rows by compressed rows.
pub(super) fn copied<T: Real>(
    backend: &Backend,
    a: &Matrix<T>,
    rows: &Rows<'_>,
    of_rank: &RankNumbers<'_>,
    numbers: Numbers,
    n_columns: usize,
) -> Result<Matrix<T>, BackendError> {
    let n = rows.len();
    if n == 0 {
        let pattern = [backend.zeros(1), backend.upload(vec![])];
        return Ok(Matrix::compressed(backend, n_columns, pattern, backend.upload(vec![])));
    }
    let ghosts = rows.upload_ghosts(backend);
    let rows = rows.numbers(&ghosts);
    let mut counts = backend.scratch(n);
    count_of_row(backend, n, &a.pattern_view(), &rows, &mut counts);
    let (offsets, entries) = offsets_of(backend, &counts)?;
    let (mut columns, mut values) = (backend.scratch(entries), backend.scratch(entries));
    let (c, v) = (&mut columns, &mut values);
    copy_row(backend, n, &a.view(), &rows, of_rank, numbers, &offsets, c, v);
    Ok(Matrix::compressed(backend, n_columns, [offsets, columns], values))
}
