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
