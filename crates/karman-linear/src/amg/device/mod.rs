//! Set-up on the matrix's backend: kernels make the levels of the default coarsening, so that no matrix is
//! copied to the host; a few totals are, for the sizes of buffers. The levels equal those of the host's
//! set-up up to round-off.
//!
//! Several ranks share the finest levels: each computes its rows, from rows that it fetches from the others, and has the bits of
//! one rank. Levels below [`CycleParams::replicate_rows`](super::CycleParams) are gathered and computed as a whole on each.

mod assembly;
mod coarsening;
mod interpolation;
mod product;
mod rank_rows;
mod share;

pub(super) use assembly::{
    dense_inverse, difference_form, difference_form_of_rank, sliced, sliced_rows, smoother_weights,
};
pub(super) use rank_rows::{columns_beyond, rows_of_rank};

use super::distribution::{in_proportion, rounded};
use super::hierarchy::STALLED;
use super::params::{AmgParams, Coarsening, Smoother};
use super::report::LevelReport;
use super::saved::SavedInterpolation;
use super::views::CsrView;
use crate::matrix::finish_min;
use crate::{LinearError, Matrix};
use coarsening::{Numbering, follow, pairs, pmis};
use interpolation::{Transfer, extended_i, on_backend, piecewise_constant, with_transpose};
use karman_backend::real::Real;
use karman_backend::{BackendError, Buffer, HOST_CHUNK, Partials, blas};
use product::{find_diagonal, product, scale_rows, without_weak_couplings};
use rank_rows::with_room_for_all;
use share::{RowRanges, Share};

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
    /// The rows that ranks share. Those of other ranks are needed that the columns of its matrix name, and those of the interpolation
    /// to it.
    share: Share,
    /// The ranges of a level that ranks restrict, of which each then has all rows.
    restricted: Option<RowRanges>,
}

impl DeviceLevel {
    /// The rows of other ranks that own rows of the matrix and of the interpolation to this level refer to, ascending.
    pub(super) fn needed_rows(&self) -> &[u32] {
        self.share.needed()
    }
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

/// The finest matrix of a hierarchy.
pub(super) struct Finest<'a, T> {
    /// The matrix of one rank, or the own rows of one of several with room for all.
    matrix: Rows<'a, T>,
    ranges: RowRanges,
}

enum Rows<'a, T> {
    All(&'a Matrix<T>),
    Own(Box<Matrix<T>>),
}

impl<'a, T: Real> Finest<'a, T> {
    /// Of a square matrix. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::EmptyRow`], [`LinearError::TooLarge`]; [`LinearError::Backend`] where a rank or its device failed.
    pub(super) fn new(matrix: &'a Matrix<T>) -> Result<Self, LinearError> {
        Ok(match matrix.halo() {
            None => {
                let ranges = RowRanges::whole(matrix.rows());
                Finest { matrix: Rows::All(matrix), ranges }
            }
            Some(halo) => {
                let (own, ranges) = with_room_for_all(matrix, halo)?;
                Finest { matrix: Rows::Own(Box::new(own)), ranges }
            }
        })
    }

    /// The matrix, of which a rank has its own rows.
    pub(super) fn matrix(&self) -> &Matrix<T> {
        match &self.matrix {
            Rows::All(matrix) => matrix,
            Rows::Own(matrix) => matrix,
        }
    }

    /// All rows of a vector of the finest level, of which a rank has its own.
    pub(super) fn gathered_vector<V: Real>(&self, x: &Buffer<V>) -> Buffer<V> {
        self.ranges.gathered(self.matrix().backend(), x)
    }

    /// All rows by compressed rows. All ranks call it.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where a rank or its device failed.
    pub(super) fn gathered(&self) -> Result<Matrix<T>, BackendError> {
        self.ranges.gathered_matrix(self.matrix())
    }
}

/// All levels, the finest first.
pub(super) struct DeviceHierarchy {
    pub levels: Vec<DeviceLevel>,
    params: AmgParams,
    /// Coarse levels of at most so many rows are whole on each rank.
    replicate_rows: usize,
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
        let finest = DeviceLevel {
            matrix: None,
            interpolation: None,
            scale,
            rows: matrix.rows(),
            entries: matrix.entries(),
            share: Share::of_level(ranges, matrix, vec![])?,
            restricted: None,
        };
        let replicate_rows =
            params.cycling.replicate_rows(matrix.backend()).max(params.coarse_rows);
        Ok(DeviceHierarchy { levels: vec![finest], params: *params, replicate_rows })
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
        let is_shared = starts.last().is_some_and(|rows| *rows > self.replicate_rows);
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
        let is_shared = coarse.is_shared() && matrix.rows() > self.replicate_rows;
        let (matrix, scale, share, restricted) = if is_shared {
            let also = columns_beyond(p, fine.share.ranges().own(), &coarse.own())?;
            let share = Share::of_level(coarse, &matrix, also)?;
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
        let matrix = Some(matrix);
        Ok(DeviceLevel { matrix, interpolation: None, scale, rows, entries, share, restricted })
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
            let of_restriction = level.restricted.as_ref();
            let coarse = of_restriction.unwrap_or(level.share.ranges()).clone();
            let coarse = self.coarser(finest.matrix(), depth - 1, coarse)?;
            self.levels[depth] = DeviceLevel { interpolation, ..coarse };
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
mod tests {
    use super::super::parallel::Loops;
    use super::*;
    use crate::amg::CycleParams;
    use crate::amg::hierarchy::Hierarchy;
    use crate::rank_tests::{Failed, part, starts};
    use crate::testing::{diamond, poisson_2d};
    use crate::{CsrMatrix, Layout};
    use karman_backend::group::{ThreadGroup, run_ranks};
    use karman_backend::testing::{devices, everywhere};
    use karman_backend::{Backend, BackendKind};
    use std::sync::Arc;

    /// A lattice whose couplings all differ, so that nothing is a tie.
    fn irregular(m: usize) -> CsrMatrix<f64> {
        let a = diamond(m);
        let mut entries = vec![];
        for row in 0..a.rows() {
            for (column, value) in a.row(row) {
                let pair = (row.min(column) * 7919 + row.max(column) * 104_729) % 10_007;
                let factor = if row == column { 1.6 } else { 1.0 + 0.6 * pair as f64 / 10_007.0 };
                entries.push((row as u32, column as u32, factor * value));
            }
        }
        CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
    }

    fn hierarchy(matrix: &Matrix<f64>, params: &AmgParams) -> Result<DeviceHierarchy, LinearError> {
        DeviceHierarchy::new(&Finest::new(matrix)?, params)
    }

    fn close(got: &CsrMatrix<f64>, want: &CsrMatrix<f64>, what: &str) {
        assert_eq!(got.offsets(), want.offsets(), "{what}");
        assert_eq!(got.column_indices(), want.column_indices(), "{what}");
        for (got, want) in got.values().iter().zip(want.values()) {
            assert!((got - want).abs() <= 1e-12 * (1.0 + want.abs()), "{what} {got} {want}");
        }
    }

    #[test]
    fn kernels_make_the_levels_of_the_host() {
        let all = [
            AmgParams { coarse_rows: 20, ..AmgParams::default() },
            AmgParams { pairwise_passes: 0, coarse_rows: 20, ..AmgParams::default() },
            AmgParams {
                pairwise_passes: 2,
                coarse_rows: 20,
                drop_tolerance: 0.0,
                ..AmgParams::default()
            },
            AmgParams { interpolation_entries: 5, coarse_rows: 40, ..AmgParams::default() },
        ];
        for a in [irregular(9), irregular(17)] {
            for params in all {
                let want = Hierarchy::new(Loops::ALONE, a.clone(), &params, None).unwrap();
                for backend in everywhere() {
                    for layout in [Layout::Csr, Layout::SlicedEll] {
                        let matrix = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                        let got = backend.install(|| hierarchy(&matrix, &params)).unwrap();
                        let what = format!("{backend:?} {layout:?} {params:?}");
                        let rows: Vec<usize> = got.levels.iter().map(|l| l.rows).collect();
                        let want_rows: Vec<usize> =
                            want.levels.iter().map(|l| l.scale.len()).collect();
                        assert_eq!(rows, want_rows, "{what}");
                        for (got, want) in got.levels.iter().zip(&want.levels) {
                            if let Some(matrix) = &got.matrix {
                                close(&matrix.to_csr().unwrap(), &want.matrix, &what);
                            }
                            if let Some(interpolation) = &got.interpolation {
                                let [p, r] = interpolation.matrices();
                                let transfer = want.transfer.as_ref().unwrap();
                                close(&p.to_csr().unwrap(), &transfer.interpolation, &what);
                                close(&r.to_csr().unwrap(), &transfer.restriction, &what);
                            }
                            let scale = backend.read(&got.scale).unwrap();
                            for (got, want) in scale.iter().zip(&want.scale) {
                                assert!((got - want).abs() <= 1e-12 * want.abs(), "{what}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// A matrix, P, R and the scale of a level; the first two of the levels that have them.
    type LevelData = (Option<CsrMatrix<f64>>, Option<[CsrMatrix<f64>; 2]>, Vec<f64>);

    /// The levels of a hierarchy with the rows of all ranks.
    fn levels(of: &DeviceHierarchy) -> Result<Vec<LevelData>, Failed> {
        let mut all = vec![];
        for (depth, level) in of.levels.iter().enumerate() {
            let ranges = level.share.ranges();
            let csr = |ranges: &RowRanges, a| ranges.gathered_matrix(a)?.to_csr();
            let matrix = level.matrix.as_ref().map(|a| csr(ranges, a)).transpose()?;
            let transfer = match &level.interpolation {
                None => None,
                Some(between) => {
                    let next = &of.levels[depth + 1];
                    let coarse = next.restricted.as_ref().unwrap_or(next.share.ranges());
                    let [p, r] = between.matrices();
                    assert_eq!(p.entries(), r.entries());
                    Some([csr(ranges, p)?, csr(coarse, r)?])
                }
            };
            if let Some([p, _]) = &transfer {
                assert_eq!(
                    level.interpolation.as_ref().unwrap().matrices()[0].entries(),
                    p.entries()
                );
            }
            if let Some(matrix) = &matrix {
                assert_eq!((level.rows, level.entries), (matrix.rows(), matrix.entries()));
            }
            let backend = match &transfer {
                None => of.levels[of.levels.len() - 1].matrix.as_ref().unwrap().backend(),
                Some(_) => level.interpolation.as_ref().unwrap().matrices()[0].backend(),
            };
            let scale = backend.read(&ranges.gathered(backend, &level.scale))?;
            all.push((matrix, transfer, scale));
        }
        Ok(all)
    }

    /// `a` with its unknowns in another order, so that each rank needs rows of all others.
    fn shuffled(a: &CsrMatrix<f64>) -> CsrMatrix<f64> {
        let n = a.rows();
        let place = |row: usize| row * 7919 % n;
        let mut entries = vec![];
        for row in 0..n {
            entries.extend(a.row(row).map(|(c, v)| (place(row) as u32, place(c) as u32, v)));
        }
        CsrMatrix::from_entries(n, n, entries).unwrap()
    }

    /// `a` without some couplings of one of two unknowns with the other.
    fn one_sided(a: &CsrMatrix<f64>) -> CsrMatrix<f64> {
        let mut entries = vec![];
        for row in 0..a.rows() {
            let kept = |(c, _): &(usize, f64)| *c <= row || (row * 31 + c * 17) % 5 > 1;
            entries.extend(a.row(row).filter(kept).map(|(c, v)| (row as u32, c as u32, v)));
        }
        CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
    }

    #[test]
    fn ranks_make_the_levels_of_one() {
        let of = |replicate_rows, coarse_rows| {
            let cycling =
                CycleParams { replicate_rows: Some(replicate_rows), ..CycleParams::DEFAULT };
            AmgParams { cycling, coarse_rows, ..AmgParams::DEFAULT }
        };
        let all = [
            of(300, 40),
            of(0, 40),
            of(6000, 40),
            AmgParams { pairwise_passes: 0, ..of(300, 40) },
            AmgParams { pairwise_passes: 2, drop_tolerance: 0.0, ..of(300, 40) },
            AmgParams { interpolation_entries: 5, max_levels: 3, ..of(300, 40) },
        ];
        let compare = |kind, a: &CsrMatrix<f64>, params: &[AmgParams], counts: &[usize]| {
            for (params, ranks) in params.iter().flat_map(|p| counts.iter().map(move |n| (p, *n))) {
                let one = Backend::new(kind, 1).unwrap();
                let matrix = Matrix::new(&one, a.clone()).unwrap();
                let want = levels(&hierarchy(&matrix, params).unwrap()).unwrap();
                let starts = starts(a.rows(), ranks);
                let found = run_ranks(&ThreadGroup::new(ranks), |group| -> Result<_, Failed> {
                    let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
                    let matrix = part::<f64>(&backend, group, a, &starts)?;
                    levels(&hierarchy(&matrix, params)?)
                });
                for found in found.unwrap() {
                    assert!(found == want, "{kind:?}, {ranks} ranks, {params:?}");
                }
            }
        };
        // Three chunks of rows, so that some of seven ranks have none.
        compare(BackendKind::Cpu, &irregular(17), &all, &[2, 7]);
        compare(BackendKind::Cpu, &shuffled(&irregular(14)), &all[3..5], &[2]);
        compare(BackendKind::Cpu, &one_sided(&irregular(17)), &all[..1], &[3]);
        for kind in devices().iter().map(Backend::kind) {
            // Software devices are slow.
            let params = if kind == BackendKind::Cuda { &all[..] } else { &all[3..4] };
            compare(kind, &irregular(14), params, &[2]);
        }
    }

    #[test]
    fn kernels_refuse_what_the_host_refuses() {
        for backend in everywhere() {
            let check = |entries: Vec<(u32, u32, f64)>| {
                let a = CsrMatrix::from_entries(3, 3, entries).unwrap();
                let matrix = Matrix::new(&backend, a).unwrap();
                hierarchy(&matrix, &AmgParams::default()).map(|_| ()).unwrap_err()
            };
            let error = check(vec![(0, 0, 1.0), (1, 1, 1.0), (2, 1, -1.0)]);
            assert_eq!(error, LinearError::PositiveDiagonal { row: 2, value: 0.0 });
            let error = check(vec![(0, 0, 1.0), (1, 1, -3.0), (2, 2, -1.0)]);
            assert_eq!(error, LinearError::PositiveDiagonal { row: 1, value: -3.0 });
            let error = check(vec![(0, 0, 1.0), (2, 2, 1.0)]);
            assert_eq!(error, LinearError::EmptyRow { row: 1 });
        }
    }

    #[test]
    fn dense_inverses_are_those_of_the_host() {
        // The last has more columns than a small device's block has threads.
        let neumann = crate::testing::neumann_2d(6);
        for a in [poisson_2d(7), neumann, poisson_2d(18)] {
            let (n, scale) = (a.rows(), a.diagonal());
            let want = super::super::coarse::dense_inverse(&a, &scale, 1e-10);
            for backend in everywhere() {
                let matrix = Matrix::with_layout(&backend, a.clone(), Layout::Csr).unwrap();
                let scale = backend.upload_slice(&scale);
                let got = dense_inverse::<f64, f64>(&backend, &matrix, &scale, 1e-10).unwrap();
                let got = backend.read(&got).unwrap();
                for (k, got) in got.iter().enumerate() {
                    let want = want[k % n * n + k / n];
                    assert!((got - want).abs() <= 1e-11 * (1.0 + want.abs()), "{got} {want}");
                }
            }
        }
    }
}
