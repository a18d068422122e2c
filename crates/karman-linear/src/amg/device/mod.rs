//! Set-up on the matrix's backend: kernels make the levels of the default coarsening, so that no matrix is
//! copied to the host; a few totals are, for the sizes of buffers. The levels equal those of the host's
//! set-up up to round-off.

mod assembly;
mod coarsening;
mod interpolation;
mod product;
mod rank_rows;

pub(super) use assembly::{dense_inverse, difference_form, sliced, smoother_weights};
pub(super) use rank_rows::{columns_beyond, of_all_ranks, rows_of_rank};

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
use karman_backend::{BackendError, Buffer, Partials, blas};
use product::{find_diagonal, product, scale_rows, without_weak_couplings};

/// One level.
pub(super) struct DeviceLevel {
    /// Its matrix, by compressed rows; none on the finest, whose matrix the caller has.
    pub matrix: Option<Matrix<f64>>,
    /// Interpolation from the next level; none on the coarsest.
    pub interpolation: Option<Interpolation>,
    /// The size of the terms each diagonal is the sum of: `[rows]`.
    pub scale: Buffer<f64>,
    /// Unknowns and entries of the matrix.
    pub rows: usize,
    pub entries: usize,
}

impl DeviceLevel {
    /// The level below by `interpolation`; `finest` is the finest matrix.
    fn coarser<T: Real>(
        &self,
        finest: &Matrix<T>,
        interpolation: &Interpolation,
        params: &AmgParams,
    ) -> Result<DeviceLevel, LinearError> {
        match &self.matrix {
            None => coarse_level(finest, interpolation, &self.scale, params),
            Some(own) => coarse_level(own, interpolation, &self.scale, params),
        }
    }
}

/// The interpolation of a level from the next one.
pub(super) struct Interpolation {
    /// P and Pᵀ.
    pub transfer: [Matrix<f64>; 2],
    /// Whether P is piecewise constant on aggregates.
    pub is_constant: bool,
    /// Divisor of the next level's matrix.
    over_correction: f64,
}

/// All levels, the finest first.
pub(super) struct DeviceHierarchy {
    pub levels: Vec<DeviceLevel>,
    params: AmgParams,
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
        matrix: &Matrix<T>,
        params: &AmgParams,
    ) -> Result<DeviceHierarchy, LinearError> {
        let mut hierarchy = DeviceHierarchy::finest(matrix, params)?;
        while hierarchy.add_level(matrix)? {}
        Ok(hierarchy)
    }

    /// The hierarchy of a square matrix with given interpolations.
    pub(super) fn from_interpolations<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        interpolations: Vec<SavedInterpolation>,
    ) -> Result<DeviceHierarchy, LinearError> {
        let backend = matrix.backend();
        let mut hierarchy = DeviceHierarchy::finest(matrix, params)?;
        for (depth, saved) in interpolations.into_iter().enumerate() {
            let (transfer, is_constant) = match saved {
                SavedInterpolation::Aggregates { of, count } => (
                    piecewise_constant(backend, Numbering { of: backend.upload(of), count })?,
                    true,
                ),
                SavedInterpolation::Weighted(p) => (on_backend(backend, p)?, false),
            };
            let over_correction = params.over_correction_at(depth);
            let interpolation = Interpolation { transfer, is_constant, over_correction };
            hierarchy.push_level(matrix, interpolation)?;
        }
        Ok(hierarchy)
    }

    /// The interpolations, the finest first.
    pub(super) fn interpolations(&self) -> Result<Vec<SavedInterpolation>, LinearError> {
        let all = self.levels.iter().filter_map(|level| level.interpolation.as_ref());
        let of_one = |Interpolation { transfer: [p, _], is_constant, .. }: &Interpolation| {
            Ok(match is_constant {
                true => {
                    let (of, count) = (p.backend().read(p.arrays().1)?, p.columns());
                    SavedInterpolation::Aggregates { of, count }
                }
                false => SavedInterpolation::Weighted(p.backend().install(|| p.to_csr())?),
            })
        };
        all.map(of_one).collect()
    }

    /// The finest level alone.
    fn finest<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
    ) -> Result<DeviceHierarchy, LinearError> {
        params.check()?;
        let finest = DeviceLevel {
            matrix: None,
            interpolation: None,
            scale: checked_diagonal(matrix)?,
            rows: matrix.rows(),
            entries: matrix.entries(),
        };
        Ok(DeviceHierarchy { levels: vec![finest], params: *params })
    }

    /// Adds a coarser level unless the last one is the coarsest.
    fn add_level<T: Real>(&mut self, finest: &Matrix<T>) -> Result<bool, LinearError> {
        let depth = self.levels.len() - 1;
        let params = &self.params;
        let level = &self.levels[depth];
        if params.is_coarsest(level.rows, depth) {
            return Ok(false);
        }
        let interpolation = match &level.matrix {
            None => interpolation(finest, depth, params)?,
            Some(matrix) => interpolation(matrix, depth, params)?,
        };
        let Some(interpolation) = interpolation else { return Ok(false) };
        self.push_level(finest, interpolation)?;
        Ok(true)
    }

    /// Adds the level below the last one.
    fn push_level<T: Real>(
        &mut self,
        finest: &Matrix<T>,
        interpolation: Interpolation,
    ) -> Result<(), LinearError> {
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        let coarse = level.coarser(finest, &interpolation, &self.params)?;
        level.interpolation = Some(interpolation);
        self.levels.push(coarse);
        Ok(())
    }

    /// Updates the levels for another matrix of the same pattern: interpolations stay.
    pub(super) fn set_values<T: Real>(&mut self, matrix: &Matrix<T>) -> Result<(), LinearError> {
        self.levels[0].scale = checked_diagonal(matrix)?;
        for depth in 1..self.levels.len() {
            let fine = &self.levels[depth - 1];
            let Some(interpolation) = &fine.interpolation else { break };
            let coarse = fine.coarser(matrix, interpolation, &self.params)?;
            let level = &mut self.levels[depth];
            let interpolation = level.interpolation.take();
            *level = DeviceLevel { interpolation, ..coarse };
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
                .map_or(0, |interpolation| interpolation.transfer[0].entries()),
            ..LevelReport::default()
        };
        self.levels.iter().map(of_level).collect()
    }
}

/// The diagonal of a square matrix, which must be positive.
fn checked_diagonal<T: Real>(a: &Matrix<T>) -> Result<Buffer<f64>, LinearError> {
    let (backend, n) = (a.backend(), a.rows());
    if n != a.columns() {
        return Err(LinearError::NotSquare { rows: n, columns: a.columns() });
    }
    if let Some(row) = a.empty_row() {
        return Err(LinearError::EmptyRow { row });
    }
    let mut diagonal = backend.scratch(n);
    let mut partials = Partials::new(backend, n, 1);
    let mut first = backend.scratch(1);
    find_diagonal(backend, n, &a.view(), &mut diagonal, &mut partials);
    finish_min(backend, &partials, &mut first);
    let first = backend.read(&first)?[0];
    if first < n as f64 {
        let row = first as usize;
        let value = backend.read(&diagonal)?[row];
        return Err(LinearError::PositiveDiagonal { row, value });
    }
    Ok(diagonal)
}

/// The interpolation to a level from the next one; none where coarsening stalls.
fn interpolation<T: Real>(
    a: &Matrix<T>,
    depth: usize,
    params: &AmgParams,
) -> Result<Option<Interpolation>, LinearError> {
    let stalls = |count: usize| count == 0 || count as f64 > STALLED * a.rows() as f64;
    if depth == 0 && params.pairwise_passes > 0 {
        let aggregates = aggregates(a, params.strength, params.pairwise_passes)?;
        if stalls(aggregates.count) {
            return Ok(None);
        }
        let transfer = piecewise_constant(a.backend(), aggregates)?;
        let over_correction = params.over_correction_at(depth);
        return Ok(Some(Interpolation { transfer, is_constant: true, over_correction }));
    }
    let (set, thresholds) = pmis(a, params.strength)?;
    if stalls(set.count) {
        return Ok(None);
    }
    let transfer = extended_i(a, &thresholds, &set, params.interpolation_entries)?;
    let over_correction = params.over_correction_at(depth);
    Ok(Some(Interpolation { transfer, is_constant: false, over_correction }))
}

/// Aggregates of about 2^`passes` unknowns: pairs, then pairs of the pairs' matrix, …
fn aggregates<T: Real>(
    a: &Matrix<T>,
    theta: f64,
    passes: usize,
) -> Result<Numbering, BackendError> {
    let backend = a.backend();
    let mut all = pairs(a, theta)?;
    for _ in 1..passes {
        let mut of = backend.scratch(all.of.len());
        blas::copy(backend, all.of.len(), &all.of, &mut of);
        let [p, r] = piecewise_constant(backend, Numbering { of, count: all.count })?;
        let coarse = product(&r, &product(a, &p, 1.0)?, 1.0)?;
        let next = pairs(&coarse, theta)?;
        follow(backend, all.of.len(), &next.of, &mut all.of);
        all.count = next.count;
    }
    Ok(all)
}

/// The level below that of `a`; `fine_scale` is the size of the terms of its diagonals.
fn coarse_level<T: Real>(
    a: &Matrix<T>,
    interpolation: &Interpolation,
    fine_scale: &Buffer<f64>,
    params: &AmgParams,
) -> Result<DeviceLevel, LinearError> {
    let backend = a.backend();
    let [p, r] = &interpolation.transfer;
    let factor = 1.0 / interpolation.over_correction;
    let matrix = product(r, &product(a, p, 1.0)?, factor)?;
    let matrix = match params.drop_tolerance {
        tolerance if tolerance > 0.0 && !interpolation.is_constant => {
            without_weak_couplings(&matrix, tolerance)?
        }
        _ => matrix,
    };
    let mut scale = backend.scratch(matrix.rows());
    scale_rows(backend, r.rows(), &CsrView::of(r), fine_scale, factor, &mut scale);
    let (rows, entries) = (matrix.rows(), matrix.entries());
    Ok(DeviceLevel { matrix: Some(matrix), interpolation: None, scale, rows, entries })
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
    use crate::amg::hierarchy::Hierarchy;
    use crate::testing::{diamond, poisson_2d};
    use crate::{CsrMatrix, Layout};
    use karman_backend::testing::everywhere;

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
                        let got =
                            backend.install(|| DeviceHierarchy::new(&matrix, &params)).unwrap();
                        let what = format!("{backend:?} {layout:?} {params:?}");
                        let rows: Vec<usize> = got.levels.iter().map(|l| l.rows).collect();
                        let want_rows: Vec<usize> =
                            want.levels.iter().map(|l| l.scale.len()).collect();
                        assert_eq!(rows, want_rows, "{what}");
                        for (got, want) in got.levels.iter().zip(&want.levels) {
                            if let Some(matrix) = &got.matrix {
                                close(&matrix.to_csr().unwrap(), &want.matrix, &what);
                            }
                            if let Some(Interpolation { transfer: [p, r], .. }) = &got.interpolation
                            {
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

    #[test]
    fn kernels_refuse_what_the_host_refuses() {
        for backend in everywhere() {
            let check = |entries: Vec<(u32, u32, f64)>| {
                let a = CsrMatrix::from_entries(3, 3, entries).unwrap();
                let matrix = Matrix::new(&backend, a).unwrap();
                DeviceHierarchy::new(&matrix, &AmgParams::default()).map(|_| ()).unwrap_err()
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
