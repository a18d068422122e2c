//! Strength of coupling: j is strong for i where −a_ij ≥ θ max_k(−a_ik) (Ruge & Stüben 1987).
//!
//! One threshold a row. Whether i is strong for j is tested as −a_ij ≥ θ max_k(−a_jk), with a_ij in place
//! of a_ji: equal for symmetric matrices, and without the transpose.

use super::parallel::Loops;
use crate::{CsrMatrix, LinearError};

/// θ max_k(−a_ik) of each row, infinite where no off-diagonal entry is negative: `[rows]`.
///
/// # Errors
/// As for [`Loops::each`].
pub(super) fn thresholds(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    theta: f64,
) -> Result<Vec<f64>, LinearError> {
    loops.each(a.rows(), |row| {
        let mut largest = 0.0f64;
        for (column, value) in a.row(row) {
            if column != row {
                largest = largest.max(-value);
            }
        }
        // With θ = 0 exactly the negative couplings are strong.
        if largest > 0.0 { (theta * largest).max(f64::MIN_POSITIVE) } else { f64::INFINITY }
    })
}

/// The splitting into coarse and fine unknowns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Splitting {
    /// The coarse number of a coarse unknown, [`FINE`] of the others: `[rows]`.
    pub coarse: Vec<u32>,
    /// Number of coarse unknowns.
    pub count: usize,
}

/// An unknown that is not coarse.
pub(super) const FINE: u32 = u32::MAX;

impl Splitting {
    /// Coarse unknowns numbered in their order.
    pub(super) fn new(is_coarse: impl Iterator<Item = bool>) -> Splitting {
        let mut count = 0;
        let mut number = |is_coarse| {
            if is_coarse {
                count += 1;
                count - 1
            } else {
                FINE
            }
        };
        let coarse: Vec<u32> = is_coarse.map(&mut number).collect();
        Splitting { coarse, count: count as usize }
    }

    /// Whether an unknown is coarse.
    #[cfg(test)]
    pub(super) fn is_coarse(&self, row: usize) -> bool {
        self.coarse[row] != FINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_negative_couplings_count() {
        let entries = vec![(0, 0, 4.0), (0, 1, -2.0), (0, 2, 9.0), (1, 1, 1.0), (2, 2, 1.0)];
        let a = CsrMatrix::from_entries(3, 3, entries).unwrap();
        assert_eq!(
            thresholds(&Loops::ALONE, &a, 0.25).unwrap(),
            [0.5, f64::INFINITY, f64::INFINITY]
        );
        assert!(thresholds(&Loops::ALONE, &a, 0.0).unwrap()[0] > 0.0);
        let splitting = Splitting::new([false, true, false, true].into_iter());
        assert_eq!(splitting, Splitting { coarse: vec![FINE, 0, FINE, 1], count: 2 });
    }
}
