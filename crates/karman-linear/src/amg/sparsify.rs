//! Sparsification of coarse matrices.

use super::parallel::{Loops, Rows};
use super::params::Sparsification;
use crate::{CsrMatrix, LinearError};

/// Least ratio of the couplings of a third unknown, to both ends, to a dropped coupling.
pub(super) const BRIDGE: f64 = 5.0;

/// Adds to the diagonals the negative couplings below `tolerance` times the largest of both their rows
/// that a third unknown bridges, and all positive couplings. Symmetry and row sums are preserved; a result
/// without negative row sums is an M-matrix, hence positive (semi)definite. Without the bridge, two regions
/// of much higher conductivity than their gap would lose all couplings across it.
///
/// # Errors
/// As for [`Loops::matrix_of`].
pub(super) fn without_weak_couplings(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    tolerance: f64,
) -> Result<CsrMatrix<f64>, LinearError> {
    let least = loops.each(a.rows(), |row| {
        let mut largest = 0.0f64;
        for (column, value) in a.row(row) {
            if column != row {
                largest = largest.max(-value);
            }
        }
        tolerance * largest
    })?;
    let write = |couplings: &mut Vec<f64>, row: usize, rows: &mut Rows| {
        a.row(row).for_each(|(column, value)| couplings[column] = -value);
        let is_weak = |column: usize, value: f64| {
            let is_small = -value < least[row] && -value < least[column];
            value > 0.0 || is_small && is_bridged(couplings, a, column, -BRIDGE * value)
        };
        lump(a, row, is_weak, rows);
        a.row(row).for_each(|(column, _)| couplings[column] = 0.0);
    };
    loops.matrix_of(a.rows(), a.columns(), || vec![0.0; a.columns()], write)
}

/// Whether a third unknown is coupled by `bar` or more to `column` and to the row of `couplings`.
#[inline(always)]
fn is_bridged(couplings: &[f64], a: &CsrMatrix<f64>, column: usize, bar: f64) -> bool {
    a.row(column).any(|(k, value)| -value >= bar && couplings[k] >= bar)
}

/// Adds row `row` of `a` to `rows`, with the couplings that `is_weak(column, value)` selects added to the
/// diagonal.
#[inline(always)]
fn lump(a: &CsrMatrix<f64>, row: usize, is_weak: impl Fn(usize, f64) -> bool, rows: &mut Rows) {
    let mut dropped = 0.0;
    let mut diagonal = None;
    for (column, value) in a.row(row) {
        if column == row {
            diagonal = Some(rows.values.len());
        } else if is_weak(column, value) {
            dropped += value;
            continue;
        }
        rows.push(column as u32, value);
    }
    if let Some(at) = diagonal {
        rows.values[at] += dropped;
    }
}

/// Kamakolanu's sparsification (2014, §4.2): the couplings of a row weaker than β times the average of its
/// off-diagonal entries are dropped and their sum is spread equally over the others; the strongest always
/// stays. The result is unsymmetric; with `symmetric` a coupling is dropped only where both rows find it
/// weak and is added to the diagonals.
///
/// # Errors
/// As for [`Loops::matrix_of`].
pub(super) fn sparsified(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    beta: f64,
    how: &Sparsification,
) -> Result<CsrMatrix<f64>, LinearError> {
    // Threshold of −a_ij, at most the largest −a_ij of the row.
    let least = loops.each(a.rows(), |row| {
        let (mut sum, mut count, mut largest) = (0.0, 0usize, 0.0f64);
        for (column, value) in a.row(row) {
            if column != row {
                sum -= value;
                count += 1;
                largest = largest.max(-value);
            }
        }
        (beta * sum / count.max(1) as f64).min(largest)
    })?;
    if how.symmetric {
        let write = |_: &mut (), row: usize, rows: &mut Rows| {
            let is_weak = |column: usize, value: f64| -value < least[row] && -value < least[column];
            lump(a, row, is_weak, rows);
        };
        return loops.matrix_of(a.rows(), a.columns(), || (), write);
    }
    let write = |_: &mut (), row: usize, rows: &mut Rows| {
        let start = rows.columns.len();
        let (mut dropped, mut remaining) = (0.0, 0usize);
        for (column, value) in a.row(row) {
            if column != row && -value < least[row] {
                dropped += value;
                continue;
            }
            remaining += usize::from(column != row);
            rows.push(column as u32, value);
        }
        if remaining == 0 {
            return;
        }
        let share = dropped / remaining as f64;
        for k in start..rows.columns.len() {
            if rows.columns[k] as usize != row {
                rows.values[k] += share;
            }
        }
    };
    loops.matrix_of(a.rows(), a.columns(), || (), write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{poisson_3d, scattered_symmetric};

    fn row_sums(a: &CsrMatrix<f64>) -> Vec<f64> {
        a.times(&vec![1.0; a.columns()])
    }

    #[test]
    fn row_sums_are_preserved_and_couplings_are_dropped_symmetrically() {
        let a = scattered_symmetric(500);
        let how = |symmetric| Sparsification { beta: 1.0, increment: 1.0, symmetric };
        let cases = [
            (without_weak_couplings(&Loops::ALONE, &a, 0.3).unwrap(), true),
            (sparsified(&Loops::ALONE, &a, 1.0, &how(true)).unwrap(), true),
            (sparsified(&Loops::ALONE, &a, 1.0, &how(false)).unwrap(), false),
        ];
        for (b, is_symmetric) in cases {
            assert!(b.entries() < a.entries());
            for (got, want) in row_sums(&b).iter().zip(row_sums(&a)) {
                assert!((got - want).abs() < 1e-12 * a.entries() as f64, "{got} {want}");
            }
            assert_eq!(b.transposed() == b, is_symmetric);
        }
    }

    #[test]
    fn a_weak_coupling_is_dropped_where_a_third_unknown_bridges_it() {
        // 0 and 1 are coupled weakly to each other and strongly to 2; 3 and 4 weakly to each other and
        // strongly to 5 and 6, without a common neighbour.
        let pairs = [(0, 1, 1.0), (0, 2, 20.0), (1, 2, 30.0)];
        let apart = [(3, 4, 1.0), (3, 5, 1e6), (4, 6, 1e6)];
        let mut entries = vec![];
        for (i, j, w) in pairs.into_iter().chain(apart) {
            entries.extend([(i, j, -w), (j, i, -w), (i, i, w), (j, j, w)]);
        }
        let a = CsrMatrix::from_entries(7, 7, entries).unwrap();
        let b = without_weak_couplings(&Loops::ALONE, &a, 0.1).unwrap();
        assert_eq!(b.row(0).collect::<Vec<_>>(), [(0, 20.0), (2, -20.0)]);
        assert_eq!(b.row(1).collect::<Vec<_>>(), [(1, 30.0), (2, -30.0)]);
        for row in 2..7 {
            assert_eq!(b.row(row).collect::<Vec<_>>(), a.row(row).collect::<Vec<_>>());
        }
        let of_first = [0.0, 1.0, 20.0, 0.0, 0.0, 0.0, 0.0];
        assert!(!is_bridged(&of_first, &a, 1, 21.0) && is_bridged(&of_first, &a, 1, 20.0));
    }

    #[test]
    fn the_strongest_coupling_survives_any_beta() {
        let a = poisson_3d(5);
        for symmetric in [false, true] {
            let how = Sparsification { beta: 9.0, increment: 0.0, symmetric };
            let b = sparsified(&Loops::ALONE, &a, 9.0, &how).unwrap();
            assert_eq!(b, a, "equal couplings are all the strongest");
        }
        let entries = vec![(0, 0, 6.0), (0, 1, -3.0), (0, 2, -2.0), (0, 3, -1.0)];
        let mut all = entries;
        all.extend((1..4).map(|i| (i, i, 1.0)));
        let a = CsrMatrix::from_entries(4, 4, all).unwrap();
        let how = Sparsification { beta: 9.0, increment: 0.0, symmetric: false };
        let b = sparsified(&Loops::ALONE, &a, 9.0, &how).unwrap();
        assert_eq!(b.row(0).collect::<Vec<_>>(), [(0, 6.0), (1, -6.0)]);
        let b = sparsified(&Loops::ALONE, &a, 1.0, &how).unwrap();
        assert_eq!(b.row(0).collect::<Vec<_>>(), [(0, 6.0), (1, -3.5), (2, -2.5)]);
    }
}
