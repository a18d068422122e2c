//! The levels of one of several ranks: its rows of the levels that the ranks share, the others as a whole.
//!
//! The rows of a shared level are copies of those of the whole level, which each rank has after the set-up, so that cycles have
//! the bits of one rank.

use super::coarse::{Inverse, dense_inverse, null_share};
use super::cycle::{Level, Levels};
use super::device::{DeviceHierarchy, dense_inverse as inverse_by_kernels, difference_form};
use super::difference_form::{DifferenceForm, row_sums};
use super::distribution::Distribution;
use super::hierarchy::HostLevel;
use super::params::AmgParams;
use super::transfer::Transfer;
use crate::{LinearError, Matrix};
use karman_backend::real::Real;
use karman_backend::{Backend, Halo, RankGroup};
use std::sync::Arc;

/// The sum and the weight of a sweep of each own row of a level.
struct Rows<S> {
    sums: Vec<S>,
    weights: Vec<S>,
}

/// A hierarchy as the set-up of one rank makes it, of which a rank takes its rows.
trait WholeLevels<S: Real> {
    /// The levels, the finest first.
    fn on_host(&self) -> &[HostLevel];

    /// The own rows of a level.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    fn rows(&self, depth: usize, distribution: &Distribution) -> Result<Rows<S>, LinearError>;

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
    levels: &'a [HostLevel],
    params: &'a AmgParams,
    null_share: f64,
}

impl<S: Real> WholeLevels<S> for ByHost<'_> {
    fn on_host(&self) -> &[HostLevel] {
        self.levels
    }

    fn rows(&self, depth: usize, distribution: &Distribution) -> Result<Rows<S>, LinearError> {
        let (level, own) = (&self.levels[depth], distribution.own(depth));
        let weights = level.weights(own.clone(), self.params.sweep_factor(), false);
        let weights = weights.into_iter().map(S::from_f64).collect();
        Ok(Rows { sums: row_sums(&level.matrix, own), weights })
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

/// Levels that kernels made on the device of each rank, from all rows of `matrix`; with copies on the host.
struct ByKernels<'a, T> {
    matrix: &'a Matrix<T>,
    hierarchy: &'a DeviceHierarchy,
    levels: Vec<HostLevel>,
    params: &'a AmgParams,
}

impl<T: Real, S: Real> WholeLevels<S> for ByKernels<'_, T> {
    fn on_host(&self) -> &[HostLevel] {
        &self.levels
    }

    fn rows(&self, depth: usize, distribution: &Distribution) -> Result<Rows<S>, LinearError> {
        let (backend, level) = (self.matrix.backend(), &self.hierarchy.levels[depth]);
        let factor = self.params.sweep_factor();
        let (form, weights) = match &level.matrix {
            None => difference_form::<T, S>(self.matrix, &level.scale, factor)?,
            Some(matrix) => difference_form::<f64, S>(matrix, &level.scale, factor)?,
        };
        let own = |all: Vec<S>| all[distribution.own(depth)].to_vec();
        Ok(Rows { sums: own(backend.read(&form.row_sums)?), weights: own(backend.read(&weights)?) })
    }

    fn inverse(&self, depth: usize) -> Result<Vec<f64>, LinearError> {
        let (backend, level) = (self.matrix.backend(), &self.hierarchy.levels[depth]);
        let (scale, null_share) = (&level.scale, null_share::<T>());
        let by_columns = match &level.matrix {
            None => inverse_by_kernels::<T, S>(backend, self.matrix, scale, null_share)?,
            Some(matrix) => inverse_by_kernels::<f64, S>(backend, matrix, scale, null_share)?,
        };
        let (by_columns, n) = (backend.read(&by_columns)?, self.levels[depth].matrix.rows());
        Ok((0..n * n).map(|k| by_columns[k / n + k % n * n].to_f64()).collect())
    }

    fn whole(&self, alone: &Backend, depth: usize) -> Result<Level<S>, LinearError> {
        let (level, params) = (&self.hierarchy.levels[depth], (self.params, null_share::<T>()));
        match &level.matrix {
            None => Level::of_device(alone, self.matrix, level, depth, params),
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
    let whole = ByHost { levels, params, null_share: null_share::<T>() };
    of_rank(matrix, group, &whole, params)
}

/// The levels of a rank whose hierarchy kernels made for `all`, the rows of all ranks of `matrix`. All ranks call it.
///
/// # Errors
/// As of [`of_host`].
pub(super) fn of_kernels<T: Real, S: Real>(
    matrix: &Matrix<T>,
    group: &Arc<dyn RankGroup>,
    (all, hierarchy): (&Matrix<T>, &DeviceHierarchy),
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    let levels = hierarchy.on_host(all)?;
    of_rank(matrix, group, &ByKernels { matrix: all, hierarchy, levels, params }, params)
}

fn of_rank<T: Real, S: Real>(
    matrix: &Matrix<T>,
    group: &Arc<dyn RankGroup>,
    whole: &impl WholeLevels<S>,
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    let (backend, on_host) = (matrix.backend(), whole.on_host());
    let distribution = Distribution::new(backend, group, (on_host, matrix.first_row()), params)?;
    // Reductions over a level that each rank has as a whole are those of one rank.
    let alone = backend.alone();
    let mut all = Levels::empty(backend, params);
    for depth in 0..on_host.len() {
        all.levels.push(match distribution.shared(depth) {
            Some(halo) => shared(backend, whole, (&distribution, depth), halo, params)?,
            None => whole.whole(&alone, depth)?,
        });
    }
    Ok(all)
}

/// The own rows of a shared level.
fn shared<S: Real>(
    backend: &Backend,
    whole: &impl WholeLevels<S>,
    (distribution, depth): (&Distribution, usize),
    halo: &Arc<Halo>,
    params: &AmgParams,
) -> Result<Level<S>, LinearError> {
    let level = &whole.on_host()[depth];
    let Rows { sums, weights } = whole.rows(depth, distribution)?;
    let matrix = DifferenceForm::of_rank(backend, &level.matrix, sums, halo)?;
    let transfer = match &level.transfer {
        None => None,
        Some(t) => {
            let both = [&t.interpolation, &t.restriction];
            let next_weights = match distribution.shared(depth + 1) {
                None => whole.rows(depth + 1, distribution)?.weights,
                Some(_) => vec![],
            };
            Some(Transfer::of_rank(backend, both, (distribution, depth), next_weights)?)
        }
    };
    let order = level.matrix.rows();
    let inverse = match transfer.is_none() && order <= params.coarse_rows {
        true => Some(Inverse::of_rank(backend, &whole.inverse(depth)?, order, distribution)),
        false => None,
    };
    Ok(Level::with(matrix, backend.upload(weights), transfer, inverse, depth, params))
}
