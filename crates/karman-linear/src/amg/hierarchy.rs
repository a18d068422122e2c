//! Set-up of a hierarchy on the host in double precision.

use super::aggregates::{Aggregates, is_constant};
use super::galerkin::{between_aggregates, triple_product};
use super::interpolation::{direct, extended_i, smoothed};
use super::matching::aggregates;
use super::parallel::{Loops, each};
use super::params::{AmgParams, Coarsening};
use super::pmis::pmis;
use super::report::LevelReport;
use super::ruge_stuben::{rows_with_nonzero_sum, ruge_stuben};
use super::saved::SavedInterpolation;
use super::sparsify::{sparsified, without_weak_couplings};
use super::strength::thresholds;
use crate::{CsrMatrix, LinearError};
use std::ops::Range;

/// Coarsening stalls where a coarse level has more than this share of the unknowns.
pub(super) const STALLED: f64 = 0.9;
/// Diagonals below this share of the terms they are the sum of are zero up to round-off.
pub(super) const VANISHING: f64 = 1e-10;

/// One level.
#[derive(Clone, Debug)]
pub(super) struct HostLevel {
    /// Its matrix.
    pub matrix: CsrMatrix<f64>,
    /// Interpolation from the next level and its transpose; none on the coarsest.
    pub transfer: Option<Transfer>,
    /// Divisor of the next level's matrix.
    pub over_correction: f64,
    /// Σ of squared interpolation weights times the fine diagonals: the size of the terms each
    /// diagonal is the sum of.
    pub scale: Vec<f64>,
    /// Flags of boundary unknowns.
    boundary: Option<Vec<bool>>,
}

/// The transfer operators between two levels.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    /// P.
    pub interpolation: CsrMatrix<f64>,
    /// Pᵀ.
    pub restriction: CsrMatrix<f64>,
}

/// All levels, the finest first.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    pub levels: Vec<HostLevel>,
    params: AmgParams,
    loops: Loops,
}

impl Hierarchy {
    /// The hierarchy of a square matrix. `boundary` flags the unknowns that Ruge & Stüben's coarsening
    /// weights; default: rows whose entries do not sum to zero.
    pub(super) fn new(
        loops: Loops,
        matrix: CsrMatrix<f64>,
        params: &AmgParams,
        boundary: Option<Vec<bool>>,
    ) -> Result<Hierarchy, LinearError> {
        let mut hierarchy = Hierarchy::finest(loops, matrix, params, boundary)?;
        while hierarchy.add_level()? {}
        Ok(hierarchy)
    }

    /// The hierarchy of a square matrix with given interpolations.
    pub(super) fn from_interpolations(
        loops: Loops,
        matrix: CsrMatrix<f64>,
        params: &AmgParams,
        interpolations: Vec<SavedInterpolation>,
    ) -> Result<Hierarchy, LinearError> {
        let mut hierarchy = Hierarchy::finest(loops, matrix, params, None)?;
        for saved in interpolations {
            hierarchy.push_level(match saved {
                SavedInterpolation::Aggregates { of, count } => {
                    Aggregates { of, count }.piecewise_constant()
                }
                SavedInterpolation::Weighted(p) => p,
            })?;
        }
        Ok(hierarchy)
    }

    /// The interpolations, the finest first.
    pub(super) fn interpolations(&self) -> Vec<SavedInterpolation> {
        let transfers = self.levels.iter().filter_map(|level| level.transfer.as_ref());
        let of_transfer = |transfer: &Transfer| {
            let p = &transfer.interpolation;
            match is_constant(p) {
                true => {
                    let (of, count) = (p.column_indices().to_vec(), p.columns());
                    SavedInterpolation::Aggregates { of, count }
                }
                false => SavedInterpolation::Weighted(p.clone()),
            }
        };
        transfers.map(of_transfer).collect()
    }

    /// The finest level alone.
    fn finest(
        loops: Loops,
        matrix: CsrMatrix<f64>,
        params: &AmgParams,
        boundary: Option<Vec<bool>>,
    ) -> Result<Hierarchy, LinearError> {
        params.check()?;
        let scale = checked_diagonal(&matrix)?;
        let boundary = match params.coarsening {
            Coarsening::RugeStuben => {
                Some(boundary.unwrap_or_else(|| rows_with_nonzero_sum(&matrix)))
            }
            _ => None,
        };
        let finest = HostLevel { matrix, transfer: None, over_correction: 1.0, scale, boundary };
        Ok(Hierarchy { levels: vec![finest], params: *params, loops })
    }

    /// Adds a coarser level unless the last one is the coarsest.
    fn add_level(&mut self) -> Result<bool, LinearError> {
        let depth = self.levels.len() - 1;
        let params = &self.params;
        let Some(level) = self.levels.last() else { return Ok(false) };
        let rows = level.matrix.rows();
        if params.is_coarsest(rows, depth) {
            return Ok(false);
        }
        let interpolation = interpolation(&self.loops, level, depth, params)?;
        let count = interpolation.columns();
        if count == 0 || count as f64 > STALLED * rows as f64 {
            return Ok(false);
        }
        self.push_level(interpolation)?;
        Ok(true)
    }

    /// Adds the level below the last one.
    fn push_level(&mut self, interpolation: CsrMatrix<f64>) -> Result<(), LinearError> {
        let depth = self.levels.len() - 1;
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        let restriction = interpolation.transposed();
        level.over_correction = self.params.over_correction_at(depth);
        level.transfer = Some(Transfer { interpolation, restriction });
        let coarse = coarse_level(&self.loops, level, depth, &self.params)?;
        self.levels.push(coarse);
        Ok(())
    }

    /// Updates the levels for another matrix of the same pattern: interpolations stay.
    pub(super) fn set_values(&mut self, matrix: CsrMatrix<f64>) -> Result<(), LinearError> {
        let scale = checked_diagonal(&matrix)?;
        let Some(finest) = self.levels.first_mut() else { return Ok(()) };
        finest.scale = scale;
        finest.matrix = matrix;
        for depth in 1..self.levels.len() {
            let fine = &self.levels[depth - 1];
            let coarse = coarse_level(&self.loops, fine, depth - 1, &self.params)?;
            let transfer = self.levels[depth].transfer.take();
            let over_correction = self.levels[depth].over_correction;
            self.levels[depth] = HostLevel { transfer, over_correction, ..coarse };
        }
        Ok(())
    }

    /// Frees the matrices; new values recompute them. Cycles have copies.
    pub(super) fn drop_matrices(&mut self) {
        for level in &mut self.levels {
            level.matrix = CsrMatrix::trusted(0, vec![0], vec![], vec![]);
            level.scale = vec![];
        }
    }

    /// The rows of the report.
    pub(super) fn report(&self) -> Vec<LevelReport> {
        let of_level = |level: &HostLevel| LevelReport {
            rows: level.matrix.rows(),
            entries: level.matrix.entries(),
            interpolation_entries: level
                .transfer
                .as_ref()
                .map_or(0, |transfer| transfer.interpolation.entries()),
            boundary: level.boundary.as_ref().map(|flags| flags.iter().filter(|b| **b).count()),
            ..LevelReport::default()
        };
        self.levels.iter().map(of_level).collect()
    }
}

impl HostLevel {
    /// Weights of the residuals of some rows in a sweep: `relaxation` over the ℓ1 norm of the row, or over its diagonal; 0
    /// where that is zero up to round-off (a component without a Dirichlet boundary).
    pub(super) fn weights(
        &self,
        rows: Range<usize>,
        relaxation: f64,
        diagonal_alone: bool,
    ) -> Vec<f64> {
        each(rows.len(), |row| {
            let row = rows.start + row;
            let mut size = 0.0;
            for (column, value) in self.matrix.row(row) {
                if column == row || !diagonal_alone {
                    size += value.abs();
                }
            }
            if size > VANISHING * self.scale[row] { relaxation / size } else { 0.0 }
        })
    }
}

/// The diagonal of a square matrix, which must be positive.
fn checked_diagonal(matrix: &CsrMatrix<f64>) -> Result<Vec<f64>, LinearError> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows != columns {
        return Err(LinearError::NotSquare { rows, columns });
    }
    if let Some(row) = matrix.empty_row() {
        return Err(LinearError::EmptyRow { row });
    }
    let diagonal = matrix.diagonal();
    match diagonal.iter().position(|value| *value <= 0.0) {
        Some(row) => Err(LinearError::PositiveDiagonal { row, value: diagonal[row] }),
        None => Ok(diagonal),
    }
}

/// The interpolation to `level` from the next one.
fn interpolation(
    loops: &Loops,
    level: &HostLevel,
    depth: usize,
    params: &AmgParams,
) -> Result<CsrMatrix<f64>, LinearError> {
    let a = &level.matrix;
    let max_entries = params.interpolation_entries;
    match params.coarsening {
        Coarsening::Pmis if depth == 0 && params.pairwise_passes > 0 => {
            let pairs = aggregates(loops, a, params.strength, params.pairwise_passes)?;
            Ok(pairs.piecewise_constant())
        }
        Coarsening::Pmis => {
            let t = thresholds(loops, a, params.strength)?;
            extended_i(loops, a, &t, &pmis(loops, a, &t)?, max_entries)
        }
        Coarsening::Aggregation => {
            let t = thresholds(loops, a, params.strength)?;
            let aggregates = aggregates(loops, a, params.strength, params.pairwise_passes.max(1))?;
            smoothed(loops, a, &t, &aggregates, max_entries)
        }
        Coarsening::RugeStuben => {
            let t = thresholds(loops, a, params.strength)?;
            let none = vec![];
            let boundary = level.boundary.as_ref().unwrap_or(&none);
            let set = ruge_stuben(a, &t, boundary, params.boundary_weight);
            direct(loops, a, &t, &set)
        }
    }
}

/// The level below `level`, whose transfer is known.
fn coarse_level(
    loops: &Loops,
    level: &HostLevel,
    depth: usize,
    params: &AmgParams,
) -> Result<HostLevel, LinearError> {
    let none = CsrMatrix::trusted(0, vec![0], vec![], vec![]);
    let (p, r) = match &level.transfer {
        Some(t) => (&t.interpolation, &t.restriction),
        None => (&none, &none),
    };
    let over = level.over_correction;
    let is_constant = is_constant(p);
    let matrix = match is_constant {
        true => between_aggregates(loops, r, &level.matrix, p.column_indices(), 1.0 / over)?,
        false => triple_product(loops, r, &level.matrix, p, 1.0 / over)?,
    };
    let matrix = match params.sparsification {
        Some(how) => sparsified(loops, &matrix, how.beta + depth as f64 * how.increment, &how)?,
        None if params.drop_tolerance > 0.0 && !is_constant => {
            without_weak_couplings(loops, &matrix, params.drop_tolerance)?
        }
        None => matrix,
    };
    let scale = loops.each(matrix.rows(), |row| {
        let mut sum = 0.0;
        for (fine, weight) in r.row(row) {
            sum += weight * weight * level.scale[fine];
        }
        sum / over
    })?;
    // A coarse unknown is the fine one that it interpolates with weight 1.
    let boundary = level.boundary.as_ref().map(|flags| {
        let of_row = |row: usize| r.row(row).any(|(f, weight)| weight == 1.0 && flags[f]);
        (0..matrix.rows()).map(of_row).collect()
    });
    Ok(HostLevel { matrix, transfer: None, over_correction: 1.0, scale, boundary })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{diamond, poisson_2d, scattered_symmetric};
    use karman_backend::testing::{hosts, values};

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn coarse_matrices_are_galerkin_products_and_symmetric() {
        let exact = |coarsening| AmgParams {
            coarsening,
            drop_tolerance: 0.0,
            coarse_rows: 20,
            ..AmgParams::default()
        };
        for coarsening in [Coarsening::Pmis, Coarsening::Aggregation, Coarsening::RugeStuben] {
            for a in [poisson_2d(35), diamond(9), scattered_symmetric(900)] {
                let h = Hierarchy::new(Loops::ALONE, a, &exact(coarsening), None).unwrap();
                assert!(h.levels.len() > 1, "{coarsening:?}");
                for (fine, coarse) in h.levels.iter().zip(&h.levels[1..]) {
                    let p = &fine.transfer.as_ref().unwrap().interpolation;
                    let n = coarse.matrix.rows();
                    let (x, y) = (values(n, 4), values(n, 5));
                    let (px, py) = (p.times(&x), p.times(&y));
                    let want = dot(&py, &fine.matrix.times(&px)) / fine.over_correction;
                    let got = dot(&y, &coarse.matrix.times(&x));
                    let size = dot(&px, &px).max(dot(&py, &py)) * fine.matrix.diagonal()[0];
                    assert!((got - want).abs() < 1e-12 * size, "{coarsening:?} {got} {want}");
                    let back = dot(&x, &coarse.matrix.times(&y));
                    assert!((got - back).abs() < 1e-12 * size, "{coarsening:?} {got} {back}");
                }
            }
        }
    }

    #[test]
    fn hierarchies_have_the_same_bits_for_any_number_of_threads() {
        let a = diamond(20);
        for coarsening in [Coarsening::Pmis, Coarsening::Aggregation] {
            let params = AmgParams { coarsening, ..AmgParams::default() };
            let make = || Hierarchy::new(Loops::ALONE, a.clone(), &params, None).unwrap();
            let all: Vec<Hierarchy> = hosts().iter().map(|h| h.install(make)).collect();
            for other in &all[1..] {
                assert_eq!(other.levels.len(), all[0].levels.len());
                for (x, y) in other.levels.iter().zip(&all[0].levels) {
                    assert_eq!(x.matrix, y.matrix);
                }
            }
        }
    }

    #[test]
    fn new_values_reuse_the_levels() {
        let a = diamond(12);
        let mut h = Hierarchy::new(Loops::ALONE, a.clone(), &AmgParams::default(), None).unwrap();
        let before = h.clone();
        let doubled: Vec<f64> = a.values().iter().map(|v| 2.0 * v).collect();
        let (offsets, columns) = (a.offsets().to_vec(), a.column_indices().to_vec());
        let twice = CsrMatrix::new(a.columns(), offsets, columns, doubled).unwrap();
        h.set_values(twice).unwrap();
        for (new, old) in h.levels.iter().zip(&before.levels) {
            assert_eq!(new.matrix.column_indices(), old.matrix.column_indices());
            let pairs = new.matrix.values().iter().zip(old.matrix.values());
            pairs.for_each(|(new, old)| assert_eq!(*new, 2.0 * old));
        }
    }

    #[test]
    fn matrices_without_positive_diagonals_are_refused() {
        let check = |entries: Vec<(u32, u32, f64)>| {
            let a = CsrMatrix::from_entries(2, 2, entries).unwrap();
            Hierarchy::new(Loops::ALONE, a, &AmgParams::default(), None).unwrap_err().to_string()
        };
        assert_eq!(
            check(vec![(0, 0, 1.0), (1, 0, -1.0)]),
            "the diagonal of row 1 is 0; algebraic multigrid needs positive ones"
        );
        assert_eq!(
            check(vec![(0, 0, -2.0), (1, 1, 1.0)]),
            "the diagonal of row 0 is -2; algebraic multigrid needs positive ones"
        );
        assert_eq!(
            check(vec![(0, 0, 1.0)]),
            "row 1 of the matrix is empty: nothing determines its unknown"
        );
        let a = CsrMatrix::from_entries(1, 2, vec![(0, 0, 1.0)]).unwrap();
        let error =
            Hierarchy::new(Loops::ALONE, a, &AmgParams::default(), None).unwrap_err().to_string();
        assert_eq!(error, "the matrix has 1 rows and 2 columns; a system must be square");
    }
}
