//! The rows of a hierarchy that each of several ranks has. The ranks share the finest levels; those below are whole on each of
//! them.
//!
//! A row is computed by one rank from copies of what the others have: its terms are those of one rank, in the same order.

use crate::LinearError;
use karman_backend::group::gather_lists;
use karman_backend::{Backend, Gather, HOST_CHUNK, Halo, RankGroup};
use std::ops::Range;
use std::sync::Arc;

/// Some rows of an operator of the level of this depth.
pub(super) enum LevelRows<'a> {
    /// Of its matrix.
    Matrix(usize, Range<usize>),
    /// Of the restriction from it.
    Restriction(usize, Range<usize>),
    /// Of the interpolation to it, then those of ghosts.
    Interpolation(usize, Range<usize>, &'a [u32]),
}

/// The rows of each level that this rank has.
pub(super) struct Distribution {
    group: Arc<dyn RankGroup>,
    /// The exchange of the vectors of each shared level, the finest first.
    shared: Vec<Arc<Halo>>,
    /// First row of each rank in each shared level; then in the level below, the rows that a rank restricts.
    starts: Vec<Vec<usize>>,
}

impl Distribution {
    /// The distribution of so many levels, of which ranks share `shared`, for vectors of `backend`. `starts` as of
    /// [`starts_in_proportion`]. `columns_beyond` as of [`super::rank_levels`]. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where a rank failed.
    pub(super) fn new(
        backend: &Backend,
        group: &Arc<dyn RankGroup>,
        starts: Vec<Vec<usize>>,
        [levels, shared]: [usize; 2],
        columns_beyond: impl Fn(LevelRows<'_>, &Range<usize>) -> Result<Vec<u32>, LinearError>,
    ) -> Result<Distribution, LinearError> {
        let mut distribution = Distribution { group: group.clone(), shared: vec![], starts };
        for depth in 0..shared {
            let mut ghosts = vec![];
            for rows in distribution.rows_that_read(depth, levels) {
                ghosts.extend(columns_beyond(rows, &distribution.own(depth))?);
            }
            // Of a few ascending lists.
            ghosts.sort();
            ghosts.dedup();
            let halo =
                Halo::new(group.clone(), &distribution.starts[depth], ghosts)?.on(backend)?;
            distribution.shared.push(Arc::new(halo));
        }
        Ok(distribution)
    }

    /// The exchange of the vectors of a shared level; none of a level that is whole on each rank.
    pub(super) fn shared(&self, depth: usize) -> Option<&Arc<Halo>> {
        self.shared.get(depth)
    }

    /// The rows of a level that this rank has, or of the first whole level that it restricts.
    pub(super) fn own(&self, depth: usize) -> Range<usize> {
        let rank = self.group.rank();
        self.starts[depth][rank]..self.starts[depth][rank + 1]
    }

    /// Gathers the rows of [`Distribution::own`].
    pub(super) fn gather(&self, depth: usize, backend: &Backend) -> Gather {
        Gather::new(self.group.clone(), self.starts[depth].clone()).on(backend)
    }

    /// The rows that read vectors of a level of a hierarchy of so many: own ones of its matrix and of the restriction from it, those of
    /// the interpolation to the level above, of which a rank computes ghosts too.
    fn rows_that_read(&self, depth: usize, levels: usize) -> Vec<LevelRows<'_>> {
        let mut all = vec![LevelRows::Matrix(depth, self.own(depth))];
        if depth + 1 < levels {
            all.push(LevelRows::Restriction(depth, self.own(depth + 1)));
        }
        if let Some(above) = depth.checked_sub(1) {
            let ghosts = self.shared[above].ghost_numbers();
            all.push(LevelRows::Interpolation(above, self.own(above), ghosts));
        }
        all
    }
}

/// First row of each rank in the levels that ranks share, and the number of rows; then in the level below, of which each rank
/// restricts some rows. `rows`: of each level, the finest first, of which this rank has those from `first` on, and `shared` of
/// which ranks share. The ranges of a coarse one are in proportion to those of the finest, at multiples of the chunk of
/// sums. All ranks call it.
///
/// # Errors
/// [`LinearError::Backend`] where a rank failed.
pub(super) fn starts_in_proportion(
    group: &dyn RankGroup,
    (rows, first): (&[usize], usize),
    shared: usize,
) -> Result<Vec<Vec<usize>>, LinearError> {
    let (firsts, _) = gather_lists(group, &[first as u32])?;
    let mut finest: Vec<usize> = firsts.into_iter().map(|first| first as usize).collect();
    finest.push(rows[0]);
    let mut starts = vec![finest];
    for (depth, rows) in rows.iter().enumerate().take(shared + 1).skip(1) {
        let multiple = if depth < shared { HOST_CHUNK } else { 1 };
        starts.push(in_proportion(&starts[0], *rows, multiple));
    }
    Ok(starts)
}

/// Starts of ranges, rounded to a multiple but for the last, the number of rows.
pub(super) fn rounded(starts: &[usize], multiple: usize) -> Vec<usize> {
    let rows = starts[starts.len() - 1];
    let round = |start: &usize| ((start + multiple / 2) / multiple * multiple).min(rows);
    let mut rounded: Vec<usize> = starts.iter().map(round).collect();
    rounded[starts.len() - 1] = rows;
    rounded
}

/// Starts of ranges of `rows` rows in proportion to those of `starts`, rounded to a multiple.
pub(super) fn in_proportion(starts: &[usize], rows: usize, multiple: usize) -> Vec<usize> {
    let total = starts[starts.len() - 1].max(1) as u128;
    let rounded = |start: &usize| {
        let exact = *start as u128 * rows as u128;
        let step = total * multiple as u128;
        (((exact + step / 2) / step) as usize * multiple).min(rows)
    };
    let mut scaled: Vec<usize> = starts.iter().map(rounded).collect();
    scaled[starts.len() - 1] = rows;
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_ranges_follow_the_finest_at_multiples_of_a_chunk() {
        let starts = [0, 8192, 16_384, 30_000];
        assert_eq!(in_proportion(&starts, 15_000, 4096), [0, 4096, 8192, 15_000]);
        assert_eq!(in_proportion(&starts, 15_000, 1), [0, 4096, 8192, 15_000]);
        assert_eq!(in_proportion(&starts, 3000, 4096), [0, 0, 0, 3000]);
        assert_eq!(in_proportion(&starts, 3000, 1), [0, 819, 1638, 3000]);
        assert_eq!(in_proportion(&[0, 0], 5, 1), [0, 5]);
        assert_eq!(rounded(&[0, 2000, 7000, 13_000, 14_500], 4096), [0, 0, 8192, 12_288, 14_500]);
        assert_eq!(rounded(&[0, 2047, 2049], 4096), [0, 0, 2049]);
    }
}
