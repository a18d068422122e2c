//! The levels of one of several ranks: its rows of the levels that the ranks share, the others as a whole.
//!
//! The rows of a shared level are copies of those of the whole level, which each rank has after the set-up, so that cycles have
//! the bits of one rank.

use super::coarse::{Inverse, dense_inverse, null_share};
use super::cycle::{Level, Levels};
use super::device::{
    DeviceHierarchy, DeviceLevel, Finest, Rows, dense_inverse as inverse_by_kernels,
    difference_form_of_rank, rows_of_rank, sliced_rows, smoother_weights,
};
use super::difference_form::{DifferenceForm, row_sums};
use super::distribution::{Distribution, LevelRows, starts_in_proportion};
use super::hierarchy::HostLevel;
use super::params::AmgParams;
use super::transfer::Transfer;
use crate::{LinearError, Matrix};
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Halo, RankGroup};
use std::ops::Range;
use std::sync::Arc;

/// The own rows of the matrix of a level, with the weights of a sweep.
type OwnRows<S> = (DifferenceForm<S>, Buffer<S>);

/// A hierarchy as the set-up of one rank makes it, of which a rank takes its rows.
trait WholeLevels<S: Real> {
    /// Number of unknowns of each level, the finest first.
    fn sizes(&self) -> Vec<usize>;

    /// The first rows of ranks, of which `shared` levels are shared, as of [`starts_in_proportion`]. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where a rank failed.
    fn starts(&self, shared: usize) -> Result<Vec<Vec<usize>>, LinearError>;

    /// Columns outside a range in some rows.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    fn columns_beyond(
        &self,
        rows: LevelRows<'_>,
        own: &Range<usize>,
    ) -> Result<Vec<u32>, LinearError>;

    /// The own rows of a shared level.
    ///
    /// # Errors
    /// As above.
    fn rows(
        &self,
        backend: &Backend,
        at: (&Distribution, usize),
        halo: &Arc<Halo>,
    ) -> Result<OwnRows<S>, LinearError>;

    /// The own rows of the operators between a shared level and the next one; none of the coarsest.
    ///
    /// # Errors
    /// As above.
    fn transfer(
        &self,
        backend: &Backend,
        at: (&Distribution, usize),
    ) -> Result<Option<Transfer<S>>, LinearError>;

    /// The inverse of the coarsest matrix, by rows.
    ///
    /// # Errors
    /// As above.
    fn inverse(&self, depth: usize) -> Result<Vec<f64>, LinearError>;

    /// A level that each rank has as a whole, on a backend without other ranks.
    ///
    /// # Errors
    /// As of the set-up of one rank.
    fn whole(&self, alone: &Backend, depth: usize) -> Result<Level<S>, LinearError>;
}

/// Levels that the host's threads made.
struct ByHost<'a> {
    group: &'a Arc<dyn RankGroup>,
    levels: &'a [HostLevel],
    first_row: usize,
    params: &'a AmgParams,
    null_share: f64,
}

impl ByHost<'_> {
    /// The weights of the own rows of a level.
    fn weights<S: Real>(&self, (distribution, depth): (&Distribution, usize)) -> Vec<S> {
        let (level, own) = (&self.levels[depth], distribution.own(depth));
        let weights = level.weights(own, self.params.sweep_factor(), false);
        weights.into_iter().map(S::from_f64).collect()
    }
}

impl<S: Real> WholeLevels<S> for ByHost<'_> {
    fn sizes(&self) -> Vec<usize> {
        self.levels.iter().map(|level| level.matrix.rows()).collect()
    }

    fn starts(&self, shared: usize) -> Result<Vec<Vec<usize>>, LinearError> {
        let sizes = WholeLevels::<S>::sizes(self);
        starts_in_proportion(&**self.group, (&sizes, self.first_row), shared)
    }

    fn columns_beyond(
        &self,
        rows: LevelRows<'_>,
        own: &Range<usize>,
    ) -> Result<Vec<u32>, LinearError> {
        let transfer = |depth: usize| self.levels[depth].transfer.as_ref();
        let (matrix, rows, ghosts): (_, _, &[u32]) = match rows {
            LevelRows::Matrix(depth, rows) => (Some(&self.levels[depth].matrix), rows, &[]),
            LevelRows::Restriction(depth, rows) => {
                (transfer(depth).map(|t| &t.restriction), rows, &[])
            }
            LevelRows::Interpolation(depth, rows, ghosts) => {
                (transfer(depth).map(|t| &t.interpolation), rows, ghosts)
            }
        };
        let Some(matrix) = matrix else { return Ok(vec![]) };
        let offsets = matrix.offsets();
        let entries = |rows: Range<usize>| offsets[rows.start] as usize..offsets[rows.end] as usize;
        let of_ghosts = ghosts.iter().flat_map(|row| entries(*row as usize..*row as usize + 1));
        let columns = entries(rows).chain(of_ghosts).map(|entry| matrix.column_indices()[entry]);
        Ok(columns.filter(|column| !own.contains(&(*column as usize))).collect())
    }

    fn rows(
        &self,
        backend: &Backend,
        at: (&Distribution, usize),
        halo: &Arc<Halo>,
    ) -> Result<OwnRows<S>, LinearError> {
        let matrix = &self.levels[at.1].matrix;
        let sums = row_sums(matrix, at.0.own(at.1));
        let form = DifferenceForm::of_rank(backend, matrix, sums, halo)?;
        Ok((form, backend.upload(self.weights(at))))
    }

    fn transfer(
        &self,
        backend: &Backend,
        (distribution, depth): (&Distribution, usize),
    ) -> Result<Option<Transfer<S>>, LinearError> {
        let Some(t) = &self.levels[depth].transfer else { return Ok(None) };
        let at = (distribution, depth);
        let transfer = Transfer::of_rank(backend, [&t.interpolation, &t.restriction], at)?;
        let next_weights = || backend.upload(self.weights((distribution, depth + 1)));
        Ok(Some(transfer.gathered(backend, at, next_weights)))
    }

    fn inverse(&self, depth: usize) -> Result<Vec<f64>, LinearError> {
        let level = &self.levels[depth];
        Ok(dense_inverse(&level.matrix, &level.scale, self.null_share))
    }

    fn whole(&self, alone: &Backend, depth: usize) -> Result<Level<S>, LinearError> {
        let params = (self.params, self.null_share);
        Level::new(alone, &self.levels[depth], depth, [None; 2], params)
    }
}

/// Levels that kernels made of the own rows of `finest`, and of fetched rows.
struct ByKernels<'a, T> {
    backend: &'a Backend,
    finest: &'a Finest<'a, T>,
    hierarchy: &'a DeviceHierarchy,
    params: &'a AmgParams,
}

impl<T: Real> ByKernels<'_, T> {
    fn level(&self, depth: usize) -> &DeviceLevel {
        &self.hierarchy.levels[depth]
    }

    /// The finest matrix.
    fn matrix(&self) -> &Matrix<T> {
        self.finest.matrix()
    }

    /// The weights of the own rows of a level.
    fn weights<S: Real>(
        &self,
        backend: &Backend,
        (distribution, depth): (&Distribution, usize),
    ) -> Buffer<S> {
        let (level, factor) = (self.level(depth), self.params.sweep_factor());
        let (own, scale) = (distribution.own(depth), &level.scale);
        match &level.matrix {
            None => smoother_weights(backend, self.matrix(), own, scale, factor),
            Some(matrix) => smoother_weights(backend, matrix, own, scale, factor),
        }
    }
}

impl<T: Real, S: Real> WholeLevels<S> for ByKernels<'_, T> {
    fn sizes(&self) -> Vec<usize> {
        self.hierarchy.levels.iter().map(|level| level.rows).collect()
    }

    fn starts(&self, _: usize) -> Result<Vec<Vec<usize>>, LinearError> {
        Ok(self.hierarchy.starts())
    }

    fn columns_beyond(
        &self,
        rows: LevelRows<'_>,
        _: &Range<usize>,
    ) -> Result<Vec<u32>, LinearError> {
        Ok(match rows {
            LevelRows::Matrix(depth, _) => self.level(depth).ghosts.clone(),
            // With those that the matrix reads.
            LevelRows::Restriction(..) | LevelRows::Interpolation(..) => vec![],
        })
    }

    fn rows(
        &self,
        backend: &Backend,
        (_, depth): (&Distribution, usize),
        halo: &Arc<Halo>,
    ) -> Result<OwnRows<S>, LinearError> {
        let (level, factor) = (self.level(depth), self.params.sweep_factor());
        let scale = &level.scale;
        Ok(match &level.matrix {
            None => difference_form_of_rank(backend, self.matrix(), halo, scale, factor)?,
            Some(matrix) => difference_form_of_rank(backend, matrix, halo, scale, factor)?,
        })
    }

    fn transfer(
        &self,
        backend: &Backend,
        (distribution, depth): (&Distribution, usize),
    ) -> Result<Option<Transfer<S>>, LinearError> {
        let Some(between) = &self.level(depth).interpolation else { return Ok(None) };
        let [p, r] = between.matrices();
        let halo = |from: usize| distribution.shared(from).map(|halo| &**halo);
        // The interpolation to ghosts too.
        let to_fine = Rows {
            own: distribution.own(depth),
            ghosts: halo(depth).map_or(&[], Halo::ghost_numbers),
        };
        let to_coarse = Rows::from(distribution.own(depth + 1));
        let transfer = if between.is_constant {
            let both = [
                rows_of_rank(backend, p, to_fine, halo(depth + 1))?,
                rows_of_rank(backend, r, to_coarse, halo(depth))?,
            ];
            let [[_, of], [offsets, members]] = both.map(Matrix::into_pattern);
            Transfer::of_aggregates([of, offsets, members])
        } else {
            let put = |all: &Matrix<f64>, from: usize, rows: Rows<'_>| {
                let own: Matrix<S> = sliced_rows(backend, all, rows, halo(from), true)?;
                let own = own.with_parts_of(all.rows(), all.entries());
                Ok::<_, LinearError>(match distribution.shared(from) {
                    None => own,
                    Some(halo) => own.with_halo(halo),
                })
            };
            Transfer::weighted([put(p, depth + 1, to_fine)?, put(r, depth, to_coarse)?])
        };
        let next_weights = || self.weights(backend, (distribution, depth + 1));
        Ok(Some(transfer.gathered(backend, (distribution, depth), next_weights)))
    }

    fn inverse(&self, depth: usize) -> Result<Vec<f64>, LinearError> {
        // Ranks share the coarsest level only where it is the finest.
        let (backend, level) = (self.backend, self.level(depth));
        let (matrix, scale) = (self.finest.gathered()?, self.finest.gathered_vector(&level.scale));
        let by_columns = inverse_by_kernels::<T, S>(backend, &matrix, &scale, null_share::<T>())?;
        let (by_columns, n) = (backend.read(&by_columns)?, level.rows);
        Ok((0..n * n).map(|k| by_columns[k / n + k % n * n].to_f64()).collect())
    }

    fn whole(&self, alone: &Backend, depth: usize) -> Result<Level<S>, LinearError> {
        let (level, params) = (self.level(depth), (self.params, null_share::<T>()));
        match &level.matrix {
            None => Level::of_device(alone, self.matrix(), level, depth, params),
            Some(matrix) => Level::of_device(alone, matrix, level, depth, params),
        }
    }
}

/// The levels of a rank whose hierarchy the host's threads made for `matrix`. All ranks call it.
///
/// # Errors
/// [`LinearError::Backend`] where a rank failed, or as of the set-up of one rank.
pub(super) fn of_host<T: Real, S: Real>(
    matrix: &Matrix<T>,
    group: &Arc<dyn RankGroup>,
    levels: &[HostLevel],
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    let (first_row, null_share) = (matrix.first_row(), null_share::<T>());
    let whole = ByHost { group, levels, first_row, params, null_share };
    of_rank(matrix.backend(), group, &whole, params)
}

/// The levels of a rank whose hierarchy kernels made for `finest`, for vectors of `backend`. All ranks call it.
///
/// # Errors
/// As of [`of_host`].
pub(super) fn of_kernels<T: Real, S: Real>(
    backend: &Backend,
    group: &Arc<dyn RankGroup>,
    (finest, hierarchy): (&Finest<'_, T>, &DeviceHierarchy),
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    of_rank(backend, group, &ByKernels { backend, finest, hierarchy, params }, params)
}

fn of_rank<S: Real>(
    backend: &Backend,
    group: &Arc<dyn RankGroup>,
    whole: &impl WholeLevels<S>,
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    let (sizes, most) = (whole.sizes(), params.most_whole_rows(backend));
    let shared = 1 + sizes[1..].iter().take_while(|rows| **rows > most).count();
    let starts = whole.starts(shared)?;
    let beyond = |rows: LevelRows<'_>, own: &Range<usize>| whole.columns_beyond(rows, own);
    let distribution = Distribution::new(backend, group, starts, [sizes.len(), shared], beyond)?;
    // Reductions over a level that each rank has as a whole are those of one rank.
    let alone = backend.alone();
    let mut all = Levels::empty(backend, params);
    for (depth, order) in sizes.into_iter().enumerate() {
        let Some(halo) = distribution.shared(depth) else {
            all.levels.push(whole.whole(&alone, depth)?);
            continue;
        };
        let (rows, weights) = whole.rows(backend, (&distribution, depth), halo)?;
        let transfer = whole.transfer(backend, (&distribution, depth))?;
        let inverse = match transfer.is_none() && order <= params.coarse_rows {
            true => Some(Inverse::of_rank(backend, &whole.inverse(depth)?, order, &distribution)),
            false => None,
        };
        all.levels.push(Level::with(rows, weights, transfer, inverse, depth, params));
    }
    Ok(all)
}
