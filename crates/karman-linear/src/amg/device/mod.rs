//! Set-up on the matrix's backend: kernels make the levels of the default coarsening, so that no matrix is
//! copied to the host; a few totals are, for the sizes of buffers. The levels equal those of the host's
//! set-up up to round-off.
//!
//! Several ranks share the finest levels: each computes its rows, from rows that it fetches from the others, and has the bits of
//! one rank. Levels below [`CycleParams::replicate_rows`](super::CycleParams) are gathered and computed as a whole on each.

mod assembly;
mod coarsening;
mod finest;
mod interpolation;
mod product;
mod rank_rows;
mod share;
mod transpose;

pub(super) use assembly::{
    dense_inverse, difference_form, difference_form_of_rank, sliced, sliced_rows, smoother_weights,
};
pub(super) use finest::Finest;
pub(super) use rank_rows::{Rows, columns_beyond, rows_of_rank};

use super::distribution::{in_proportion, rounded};
use super::hierarchy::STALLED;
use super::params::{AmgParams, Coarsening, Smoother};
use super::report::LevelReport;
use super::saved::SavedInterpolation;
use super::views::CsrView;
use crate::matrix::finish_min;
use crate::{LinearError, Matrix};
use coarsening::{Numbering, follow, pairs, pmis};
use interpolation::{extended_i, on_backend, piecewise_constant};
use karman_backend::real::Real;
use karman_backend::{BackendError, Buffer, HOST_CHUNK, Partials, blas};
use product::{find_diagonal, product, scale_rows, without_weak_couplings};
use share::{RowRanges, Share, united};
use transpose::{Transfer, with_transpose};

/// One level.
pub(super) struct DeviceLevel {
    /// Its matrix, by compressed rows, of which a rank has its own; none on the finest.
    pub matrix: Option<Matrix<f64>>,
    /// Interpolation from the next level; none on the coarsest.
    pub interpolation: Option<Interpolation>,
    /// The size of the terms each diagonal is the sum of: `[rows]`.
    pub scale: Buffer<f64>,
    /// Unknowns and entries of the matrix, of all ranks.
    pub rows: usize,
    pub entries: usize,
    /// The rows that ranks share. Those of other ranks are needed that the columns of its matrix name.
    share: Share,
    /// Rows of other ranks whose values this rank reads in a cycle, ascending: those that own rows of the matrix and of the restriction
    /// name, and rows of the interpolation to this level, own ones of the level above and its ghosts.
    pub ghosts: Vec<u32>,
    /// The ranges of a level that ranks restrict, of which each then has all rows.
    restricted: Option<RowRanges>,
}

/// The interpolation of a level from the next one.
pub(super) struct Interpolation {
    transfer: Transfer,
    /// Whether P is piecewise constant on aggregates.
    pub is_constant: bool,
    /// Divisor of the next level's matrix.
    over_correction: f64,
}

impl Interpolation {
    /// P and Pᵀ.
    pub(super) fn matrices(&self) -> &[Matrix<f64>; 2] {
        &self.transfer.matrices
    }
}

/// All levels, the finest first.
pub(super) struct DeviceHierarchy {
    pub levels: Vec<DeviceLevel>,
    params: AmgParams,
    /// As of [`AmgParams::most_whole_rows`].
    most_whole_rows: usize,
}

impl DeviceHierarchy {
    /// Whether kernels can make the levels that `params` describe.
    pub(super) fn suits(params: &AmgParams) -> bool {
        params.coarsening == Coarsening::Pmis
            && params.sparsification.is_none()
            && params.cycling.smoother != Smoother::GaussSeidel
    }

    /// The hierarchy of a square matrix, made on its backend.
    pub(super) fn new<T: Real>(
        finest: &Finest<'_, T>,
        params: &AmgParams,
    ) -> Result<DeviceHierarchy, LinearError> {
        let mut hierarchy = DeviceHierarchy::finest(finest, params)?;
        while hierarchy.add_level(finest.matrix())? {}
        Ok(hierarchy)
    }

    /// The hierarchy of a square matrix with given interpolations.
    pub(super) fn from_interpolations<T: Real>(
        finest: &Finest<'_, T>,
        params: &AmgParams,
        interpolations: Vec<SavedInterpolation>,
    ) -> Result<DeviceHierarchy, LinearError> {
        let matrix = finest.matrix();
        let backend = matrix.backend();
        let mut hierarchy = DeviceHierarchy::finest(finest, params)?;
        for (depth, saved) in interpolations.into_iter().enumerate() {
            let share = &hierarchy.levels[depth].share;
            let [_, count] = saved.shape();
            let starts = in_proportion(share.ranges().starts(), count, 1);
            let coarse = hierarchy.coarse_ranges(share, starts);
            let (p, is_constant) = match saved {
                SavedInterpolation::Aggregates { of, count } => {
                    let of = backend.upload(of);
                    (piecewise_constant(backend, share.ranges(), of, count)?, true)
                }
                SavedInterpolation::Weighted(p) => (on_backend(backend, share.ranges(), p)?, false),
            };
            let transfer = with_transpose(p, share, &coarse)?;
            let over_correction = params.over_correction_at(depth);
            let interpolation = Interpolation { transfer, is_constant, over_correction };
            hierarchy.push_level(matrix, interpolation, coarse)?;
        }
        Ok(hierarchy)
    }

    /// The interpolations, the finest first. All ranks call it.
    pub(super) fn interpolations(&self) -> Result<Vec<SavedInterpolation>, LinearError> {
        let mut all = vec![];
        for level in &self.levels {
            let Some(interpolation) = &level.interpolation else { break };
            let [p, _] = interpolation.matrices();
            let gathered = match level.share.ranges().is_shared() {
                true => Some(level.share.ranges().gathered_matrix(p)?),
                false => None,
            };
            let p = gathered.as_ref().unwrap_or(p);
            all.push(match interpolation.is_constant {
                true => {
                    let (of, count) = (p.backend().read(p.arrays().1)?, p.columns());
                    SavedInterpolation::Aggregates { of, count }
                }
                false => SavedInterpolation::Weighted(p.backend().install(|| p.to_csr())?),
            });
        }
        Ok(all)
    }

    /// First row of each rank in the levels that ranks share, and the number of rows; then in the level below, of which each rank
    /// restricts some rows. Empty on one rank.
    pub(super) fn starts(&self) -> Vec<Vec<usize>> {
        let of_level = |level: &DeviceLevel| {
            let ranges = level.restricted.as_ref().unwrap_or(level.share.ranges());
            ranges.is_shared().then(|| ranges.starts().to_vec())
        };
        self.levels.iter().map_while(of_level).collect()
    }

    /// The finest level alone.
    fn finest<T: Real>(
        finest: &Finest<'_, T>,
        params: &AmgParams,
    ) -> Result<DeviceHierarchy, LinearError> {
        params.check()?;
        let (matrix, ranges) = (finest.matrix(), finest.ranges.clone());
        let scale = checked_diagonal(matrix, &ranges)?;
        let share = Share::of_level(ranges, matrix, vec![])?;
        let finest = DeviceLevel {
            matrix: None,
            interpolation: None,
            scale,
            rows: matrix.rows(),
            entries: matrix.entries(),
            ghosts: share.needed().to_vec(),
            share,
            restricted: None,
        };
        let most_whole_rows = params.most_whole_rows(matrix.backend());
        Ok(DeviceHierarchy { levels: vec![finest], params: *params, most_whole_rows })
    }

    /// Adds a coarser level unless the last one is the coarsest.
    fn add_level<T: Real>(&mut self, finest: &Matrix<T>) -> Result<bool, LinearError> {
        let depth = self.levels.len() - 1;
        let level = &self.levels[depth];
        if self.params.is_coarsest(level.rows, depth) {
            return Ok(false);
        }
        let interpolation = match &level.matrix {
            None => self.interpolation(finest, depth)?,
            Some(matrix) => self.interpolation(matrix, depth)?,
        };
        let Some((interpolation, coarse)) = interpolation else { return Ok(false) };
        self.push_level(finest, interpolation, coarse)?;
        Ok(true)
    }

    /// The interpolation to the last level, of the matrix `a`, from the next one, and the ranges of the next one; none where
    /// coarsening stalls.
    fn interpolation<T: Real>(
        &self,
        a: &Matrix<T>,
        depth: usize,
    ) -> Result<Option<(Interpolation, RowRanges)>, LinearError> {
        let (params, share) = (&self.params, &self.levels[depth].share);
        let stalls = |count: usize| count == 0 || count as f64 > STALLED * a.rows() as f64;
        let is_constant = depth == 0 && params.pairwise_passes > 0;
        let (p, starts) = if is_constant {
            let aggregates = aggregates(a, share, params.strength, params.pairwise_passes)?;
            let count = aggregates.count();
            if stalls(count) {
                return Ok(None);
            }
            let p = piecewise_constant(a.backend(), share.ranges(), aggregates.of, count)?;
            (p, aggregates.starts)
        } else {
            let (set, thresholds) = pmis(a, share, params.strength)?;
            if stalls(set.count()) {
                return Ok(None);
            }
            (extended_i(a, share, &thresholds, &set, params.interpolation_entries)?, set.starts)
        };
        let coarse = self.coarse_ranges(share, starts);
        let transfer = with_transpose(p, share, &coarse)?;
        let over_correction = params.over_correction_at(depth);
        Ok(Some((Interpolation { transfer, is_constant, over_correction }, coarse)))
    }

    /// The ranges of a coarse level whose first unknowns of ranks are `starts`; of a level that ranks share at multiples of the
    /// chunk of sums.
    fn coarse_ranges(&self, fine: &Share, starts: Vec<usize>) -> RowRanges {
        let is_shared = starts.last().is_some_and(|rows| *rows > self.most_whole_rows);
        fine.ranges().with_starts(match is_shared {
            true => rounded(&starts, HOST_CHUNK),
            false => starts,
        })
    }

    /// Adds the level below the last one, of ranges `coarse`.
    fn push_level<T: Real>(
        &mut self,
        finest: &Matrix<T>,
        interpolation: Interpolation,
        coarse: RowRanges,
    ) -> Result<(), LinearError> {
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        interpolation.transfer.share.fill(&mut level.scale);
        if level.share.ranges().is_shared() {
            let [_, r] = interpolation.matrices();
            let restricted = columns_beyond(r, coarse.own(), &level.share.ranges().own())?;
            level.ghosts = united(std::mem::take(&mut level.ghosts), &restricted);
        }
        level.interpolation = Some(interpolation);
        let depth = self.levels.len() - 1;
        self.levels.push(self.coarser(finest, depth, coarse)?);
        Ok(())
    }

    /// The level below a level, of ranges `coarse`; `finest` is the finest matrix.
    fn coarser<T: Real>(
        &self,
        finest: &Matrix<T>,
        depth: usize,
        coarse: RowRanges,
    ) -> Result<DeviceLevel, LinearError> {
        match &self.levels[depth].matrix {
            None => self.coarse_level(finest, depth, coarse),
            Some(own) => self.coarse_level(own, depth, coarse),
        }
    }

    /// The level below that of `a`.
    fn coarse_level<T: Real>(
        &self,
        a: &Matrix<T>,
        depth: usize,
        coarse: RowRanges,
    ) -> Result<DeviceLevel, LinearError> {
        let (backend, fine) = (a.backend(), &self.levels[depth]);
        let Some(interpolation) = &fine.interpolation else { unreachable!("a coarser level") };
        let Transfer { matrices: [p, r], share } = &interpolation.transfer;
        let factor = 1.0 / interpolation.over_correction;
        let ap = share.extended(product(a, p, 1.0, fine.share.ranges())?)?;
        let matrix = product(r, &ap, factor, &coarse)?;
        drop(ap);
        let mut scale = backend.scratch(matrix.rows());
        scale_rows(backend, r.rows(), &CsrView::of(r), &fine.scale, factor, &mut scale);
        let is_shared = coarse.is_shared() && matrix.rows() > self.most_whole_rows;
        let mut ghosts = vec![];
        let (matrix, scale, share, restricted) = if is_shared {
            let rows = Rows { own: fine.share.ranges().own(), ghosts: &fine.ghosts };
            let interpolated = columns_beyond(p, rows, &coarse.own())?;
            let share = Share::of_level(coarse, &matrix, vec![])?;
            ghosts = united(interpolated, share.needed());
            (matrix, scale, share, None)
        } else if coarse.is_shared() {
            let share = Share::whole(matrix.rows());
            (
                coarse.gathered_matrix(&matrix)?,
                coarse.gathered(backend, &scale),
                share,
                Some(coarse),
            )
        } else {
            let share = Share::whole(matrix.rows());
            (matrix, scale, share, None)
        };
        let matrix = match self.params.drop_tolerance {
            tolerance if tolerance > 0.0 && !interpolation.is_constant => {
                without_weak_couplings(&matrix, &share, tolerance)?
            }
            _ => matrix,
        };
        let (rows, entries) = (matrix.rows(), matrix.entries());
        Ok(DeviceLevel {
            matrix: Some(matrix),
            interpolation: None,
            scale,
            rows,
            entries,
            share,
            ghosts,
            restricted,
        })
    }

    /// Updates the levels for another matrix of the same pattern: interpolations stay.
    pub(super) fn set_values<T: Real>(
        &mut self,
        finest: &Finest<'_, T>,
    ) -> Result<(), LinearError> {
        self.levels[0].scale = checked_diagonal(finest.matrix(), &finest.ranges)?;
        for depth in 1..self.levels.len() {
            let fine = &mut self.levels[depth - 1];
            let Some(interpolation) = &fine.interpolation else { break };
            interpolation.transfer.share.fill(&mut fine.scale);
            let level = &mut self.levels[depth];
            let interpolation = level.interpolation.take();
            // They depend on the pattern alone.
            let ghosts = std::mem::take(&mut level.ghosts);
            let of_restriction = level.restricted.as_ref();
            let coarse = of_restriction.unwrap_or(level.share.ranges()).clone();
            let coarse = self.coarser(finest.matrix(), depth - 1, coarse)?;
            self.levels[depth] = DeviceLevel { interpolation, ghosts, ..coarse };
        }
        Ok(())
    }

    /// Frees the coarse matrices; new values recompute them. Cycles have copies.
    pub(super) fn drop_coarse_matrices(&mut self) {
        for level in self.levels.iter_mut().skip(1) {
            level.matrix = None;
        }
    }

    /// The rows of the report.
    pub(super) fn report(&self) -> Vec<LevelReport> {
        let of_level = |level: &DeviceLevel| LevelReport {
            rows: level.rows,
            entries: level.entries,
            interpolation_entries: level
                .interpolation
                .as_ref()
                .map_or(0, |interpolation| interpolation.matrices()[0].entries()),
            ..LevelReport::default()
        };
        self.levels.iter().map(of_level).collect()
    }
}

/// The diagonal of a square matrix, which must be positive; on a rank that of its rows. All ranks call it.
fn checked_diagonal<T: Real>(
    a: &Matrix<T>,
    ranges: &RowRanges,
) -> Result<Buffer<f64>, LinearError> {
    let (backend, n) = (a.backend(), a.rows());
    if n != a.columns() {
        return Err(LinearError::NotSquare { rows: n, columns: a.columns() });
    }
    if let Some(row) = a.empty_row() {
        return Err(LinearError::EmptyRow { row });
    }
    let own = ranges.own();
    let mut diagonal = backend.scratch(n);
    let mut partials = Partials::new(backend, n, 1);
    let mut first = backend.scratch(1);
    find_diagonal(backend, n, &a.view(), own.start, own.end, &mut diagonal, &mut partials);
    finish_min(backend, &partials, &mut first);
    let first = backend.read(&first)?[0];
    let value = match first < n as f64 {
        true => backend.read(&diagonal)?[first as usize],
        false => 0.0,
    };
    let of_all = ranges.of_all([first, value])?;
    let wrong = of_all.into_iter().min_by(|a, b| a[0].total_cmp(&b[0]));
    if let Some([row, value]) = wrong.filter(|wrong| wrong[0] < n as f64) {
        return Err(LinearError::PositiveDiagonal { row: row as usize, value });
    }
    Ok(diagonal)
}

/// Aggregates of about 2^`passes` unknowns: pairs, then pairs of the pairs' matrix, …
fn aggregates<T: Real>(
    a: &Matrix<T>,
    share: &Share,
    theta: f64,
    passes: usize,
) -> Result<Numbering, BackendError> {
    let backend = a.backend();
    let mut all = pairs(a, share, theta)?;
    for _ in 1..passes {
        let mut of = backend.scratch(all.of.len());
        blas::copy(backend, all.of.len(), &all.of, &mut of);
        let coarse = share.ranges().with_starts(all.starts.clone());
        let p = piecewise_constant(backend, share.ranges(), of, all.count())?;
        let also = match coarse.is_shared() {
            true => columns_beyond(&p, share.ranges().own(), &coarse.own())?,
            false => vec![],
        };
        let Transfer { matrices: [p, r], share: of_rows } = with_transpose(p, share, &coarse)?;
        let ap = of_rows.extended(product(a, &p, 1.0, share.ranges())?)?;
        let matrix = product(&r, &ap, 1.0, &coarse)?;
        let next = pairs(&matrix, &Share::of_level(coarse, &matrix, also)?, theta)?;
        follow(backend, all.of.len(), &next.of, &mut all.of);
        share.fill(&mut all.of);
        all.starts = next.starts;
    }
    Ok(all)
}

/// The lists of a piecewise constant interpolation: the aggregate of each unknown, the offsets of the
/// aggregates' members, and the members.
pub(super) fn aggregates_of(p: &Matrix<f64>, r: &Matrix<f64>) -> [Buffer<u32>; 3] {
    [p.arrays().1, r.arrays().0, r.arrays().1].map(|list| {
        let mut copy = p.backend().zeros(list.len());
        blas::copy(p.backend(), list.len(), list, &mut copy);
        copy
    })
}

#[cfg(test)]
mod tests;
