//! Fingerprints of sparsity patterns, equal for every layout on every backend.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::hashing::hash;
use crate::matrix::MatrixView;
use crate::{LinearError, Matrix};
use karman_backend::Partials;
use karman_backend::prelude::*;
use karman_backend::real::Real;

/// Fingerprint of the sparsity pattern of a matrix whose rows all have entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Number of rows.
    pub rows: usize,
    /// Number of entries, padding not counted.
    pub entries: usize,
    /// Σ over rows of a hash of the row's number and columns.
    pub hash: u64,
}

impl Pattern {
    /// The pattern of `matrix`, on several ranks that of the rows of all.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device or a rank failed.
    pub fn of<T: Real>(matrix: &Matrix<T>) -> Result<Pattern, LinearError> {
        if matrix.backend().ranks().is_some() {
            let alone = matrix.backend().alone();
            return Pattern::of(&Matrix::new(&alone, matrix.of_all_ranks()?)?);
        }
        let (backend, rows) = (matrix.backend(), matrix.rows());
        let mut partials = Partials::new(backend, rows, 2);
        let (mut low, mut high) = (backend.zeros(1), backend.zeros(1));
        backend.install(|| {
            hash_rows(backend, rows, &matrix.pattern_view(), &mut partials);
            finish_hash(backend, &partials, &mut low, &mut high);
        });
        // Whole numbers below 2⁴⁸: their sums are exact in any order.
        let [low, high] = [backend.read(&low)?[0] as u64, backend.read(&high)?[0] as u64];
        Ok(Pattern { rows, entries: matrix.entries(), hash: low.wrapping_add(high << 16) })
    }
}

/// The halves of a row's hash, chained over its columns; a repeated column is padding. Traffic: offsets and
/// columns of the matrix.
#[kernel(reduce(sum, sum))]
pub(super) fn hash_rows<S: Real>(row: usize, a: &MatrixView<S>) -> (f64, f64) {
    let (first, end) = a.row(row);
    let mut chain = hash(row as u32);
    let mut before = u32::MAX.runtime();
    let mut k = first;
    while k < end {
        let column = a.columns[k];
        if column != before {
            chain = hash(chain ^ column);
        }
        before = column;
        k += comptime!(a.layout.spacing());
    }
    ((chain & 0xffffu32) as f64, (chain >> 16u32) as f64)
}

/// The finished sums.
#[kernel(combine(sum, sum), out(low, high))]
pub(super) fn finish_hash(low: f64, high: f64) -> (f64, f64) {
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{diamond, poisson_2d};
    use crate::{CsrMatrix, Layout};
    use karman_backend::testing::everywhere;

    #[test]
    fn patterns_are_distinguished_equally_on_every_backend() {
        let a = diamond(9);
        let moved = {
            // One coupling of row 5 goes to another column.
            let mut entries: Vec<(u32, u32, f64)> = vec![];
            for row in 0..a.rows() {
                entries.extend(a.row(row).map(|(c, v)| (row as u32, c as u32, v)));
            }
            let coupled: Vec<u32> = a.row(5).map(|e| e.0 as u32).collect();
            let free = (0..a.rows() as u32).find(|c| !coupled.contains(c)).unwrap();
            entries.iter_mut().find(|e| e.0 == 5 && e.1 != 5).unwrap().1 = free;
            CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
        };
        let mut seen: Vec<[Pattern; 3]> = vec![];
        for backend in everywhere() {
            for layout in [Layout::Csr, Layout::SlicedEll] {
                let of = |a: &CsrMatrix<f64>| {
                    let matrix = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                    Pattern::of(&matrix).unwrap()
                };
                seen.push([of(&a), of(&moved), of(&poisson_2d(30))]);
                let doubled: Vec<f64> = a.values().iter().map(|v| 2.0 * v).collect();
                let (offsets, columns) = (a.offsets().to_vec(), a.column_indices().to_vec());
                let twice = CsrMatrix::new(a.columns(), offsets, columns, doubled).unwrap();
                assert_eq!(of(&twice), of(&a), "values do not count");
            }
        }
        let [one, other, _] = seen[0];
        assert_eq!((one.rows, one.entries), (a.rows(), a.entries()));
        assert_eq!((one.rows, one.entries), (other.rows, other.entries));
        assert_ne!(one.hash, other.hash);
        seen.dedup();
        assert_eq!(seen.len(), 1);
    }
}
