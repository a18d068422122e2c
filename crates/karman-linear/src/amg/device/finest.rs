//! The finest matrix of a hierarchy, on one of several ranks its own rows with room for those of all.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::rank_rows::{Numbers, RankNumbers, copied, ghosts_of};
use super::share::{RowRanges, widen};
use crate::{Layout, LinearError, Matrix, SLICE};
use karman_backend::group::gather_lists;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{BackendError, Buffer, Halo, View, blas};

/// The finest matrix of a hierarchy.
pub(in crate::amg) struct Finest<'a, T> {
    given: &'a Matrix<T>,
    /// Of one of several ranks its rows with room for all.
    own: Option<Matrix<T>>,
    pub(super) ranges: RowRanges,
}

impl<'a, T: Real> Finest<'a, T> {
    /// Of a square matrix. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::EmptyRow`], [`LinearError::TooLarge`]; [`LinearError::Backend`] where a rank or its device failed.
    pub(in crate::amg) fn new(matrix: &'a Matrix<T>) -> Result<Self, LinearError> {
        let (own, ranges) = match matrix.halo() {
            None => (None, RowRanges::whole(matrix.rows())),
            Some(halo) => {
                let (own, ranges) = with_room_for_all(matrix, halo)?;
                (Some(own), ranges)
            }
        };
        Ok(Finest { given: matrix, own, ranges })
    }

    /// The matrix, of which a rank has its own rows.
    pub(in crate::amg) fn matrix(&self) -> &Matrix<T> {
        self.own.as_ref().unwrap_or(self.given)
    }

    /// All rows of a vector of the finest level, of which a rank has its own.
    pub(in crate::amg) fn gathered_vector<V: Real>(&self, x: &Buffer<V>) -> Buffer<V> {
        self.ranges.gathered(self.matrix().backend(), x)
    }

    /// All rows by compressed rows. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where a rank or its device failed.
    pub(in crate::amg) fn gathered(&self) -> Result<Matrix<T>, BackendError> {
        self.ranges.gathered_matrix(self.matrix())
    }
}

/// Columns in the numbers of the whole matrix. Traffic 8, and 4 for each ghost.
#[kernel(out(columns))]
fn global_columns(place: usize, of_rank: &RankNumbers, local: &View<u32>) -> u32 {
    of_rank.global(local[place])
}

/// The rows of this rank with room for those of all ranks, whose columns have the numbers of the whole matrix; in slices where ranks have
/// whole ones, on a backend without other ranks. All ranks call it.
///
/// # Errors
/// [`LinearError::EmptyRow`], [`LinearError::TooLarge`]; [`LinearError::Backend`] where a rank or its device failed.
fn with_room_for_all<T: Real>(
    matrix: &Matrix<T>,
    halo: &Halo,
) -> Result<(Matrix<T>, RowRanges), LinearError> {
    let backend = matrix.backend();
    let starts = gather_lists(&**halo.group(), &[halo.first() as u32])?.0;
    let starts = starts.into_iter().map(|first| first as usize).chain([halo.total()]).collect();
    let ranges = RowRanges::of_ranks(backend, starts);
    let empty = matrix.empty_row().map_or(u32::MAX, |row| row as u32);
    let sizes = ranges.of_all([matrix.entries() as f64, f64::from(empty)])?;
    let first_empty = sizes.iter().map(|of| of[1] as u32).min();
    if let Some(row) = first_empty.filter(|row| *row < u32::MAX) {
        return Err(LinearError::EmptyRow { row: row as usize });
    }
    let entries = sizes.iter().map(|of| of[0]).sum::<f64>() as usize;
    if entries > u32::MAX as usize {
        return Err(LinearError::TooLarge { entries });
    }
    let ghosts = ghosts_of(backend, Some(halo));
    let of_rank = RankNumbers::of(halo, &ghosts);
    let (alone, own, n) = (backend.alone(), ranges.own(), halo.total());
    // A row of another rank in an own slice would be padded.
    let is_aligned = |row: usize| row.is_multiple_of(SLICE) || row == n;
    let has_slices = matrix.layout() == Layout::SlicedEll;
    if !(has_slices && is_aligned(own.start) && is_aligned(own.end)) {
        let own = copied(&alone, matrix, &(0..own.len()).into(), &of_rank, Numbers::Global, n)?;
        return Ok((ranges.widened(own)?, ranges));
    }
    let (of_slices, local, of_entries) = matrix.arrays();
    let places = local.len();
    let (mut columns, mut values) = (alone.scratch(places), alone.scratch(places));
    global_columns(&alone, places, &of_rank, local, &mut columns);
    blas::copy(&alone, places, of_entries, &mut values);
    let (first, count, slices) = (own.start / SLICE, own.len().div_ceil(SLICE), n.div_ceil(SLICE));
    let mut offsets = alone.scratch(slices + 1);
    widen(&alone, slices + 1, of_slices, first, count, &mut offsets);
    let matrix = Matrix::sliced(&alone, n, [n, entries], [offsets, columns], values);
    Ok((matrix, ranges))
}
