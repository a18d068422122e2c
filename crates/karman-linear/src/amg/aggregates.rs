//! Aggregates of unknowns and the interpolation that is constant on them.

use crate::CsrMatrix;

/// The aggregate of each unknown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aggregates {
    /// `[rows]`, below `count`.
    pub of: Vec<u32>,
    /// Number of aggregates.
    pub count: usize,
}

impl Aggregates {
    /// Interpolation that is constant on each aggregate: one entry a row.
    pub(super) fn piecewise_constant(&self) -> CsrMatrix<f64> {
        let n = self.of.len();
        let offsets = (0..=n as u32).collect();
        CsrMatrix::trusted(self.count, offsets, self.of.clone(), vec![1.0; n])
    }
}

/// Whether an interpolation is piecewise constant: one entry 1 a row.
pub(super) fn is_constant(p: &CsrMatrix<f64>) -> bool {
    (0..p.rows()).all(|row| p.row_length(row) == 1) && p.values().iter().all(|value| *value == 1.0)
}
