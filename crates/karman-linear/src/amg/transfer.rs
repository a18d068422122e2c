//! Interpolation and restriction between two levels, row by row. `s` is the size of a number of the
//! hierarchy; a product's traffic is that of its matrix and s a row.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::views::AggregateView;
use crate::matrix::MatrixView;
use crate::{CsrMatrix, Layout, LinearError, Matrix};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, View};

/// Interpolation P and restriction Pᵀ.
#[allow(clippy::large_enum_variant)] // one a level
pub(super) enum Transfer<S> {
    /// P and Pᵀ.
    Weighted([Matrix<S>; 2]),
    /// P piecewise constant: the aggregate of each fine unknown, the offsets of the aggregates' members, and
    /// the members.
    Aggregates([Buffer<u32>; 3]),
}

impl<S: Real> Transfer<S> {
    /// Copies P and Pᵀ to `backend`.
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] where padding exceeds 32-bit offsets.
    pub(super) fn new(
        backend: &Backend,
        p: &CsrMatrix<f64>,
        r: &CsrMatrix<f64>,
    ) -> Result<Self, LinearError> {
        if is_constant(p) {
            let lists = [p.column_indices(), r.offsets(), r.column_indices()];
            return Ok(Transfer::Aggregates(lists.map(|list| backend.upload_slice(list))));
        }
        let put = |a: &CsrMatrix<f64>| Matrix::new(backend, a.converted::<S>());
        Ok(Transfer::Weighted([put(p)?, put(r)?]))
    }

    /// b_c ← Pᵀ r, x_c ← w b_c.
    pub(super) fn restrict(
        &self,
        backend: &Backend,
        residual: &Buffer<S>,
        weights: &Buffer<S>,
        b: &mut Buffer<S>,
        x: &mut Buffer<S>,
    ) {
        let n = b.len();
        match self {
            Transfer::Weighted([_, r]) => {
                restrict_rows(backend, n, &r.view(), residual, weights, r.parts(), b, x);
            }
            Transfer::Aggregates([_, offsets, members]) => {
                let (offsets, members) = (offsets.view(), members.view());
                let aggregates = AggregateView { offsets, members };
                restrict_groups(backend, n, &aggregates, residual, weights, b, x);
            }
        }
    }

    /// x ← x + P e.
    pub(super) fn prolong(&self, backend: &Backend, e: &Buffer<S>, x: &mut Buffer<S>) {
        let n = x.len();
        match self {
            Transfer::Weighted([p, _]) => prolong_rows(backend, n, &p.view(), e, x),
            Transfer::Aggregates([of, ..]) => prolong_groups(backend, n, of, e, x),
        }
    }

    /// Its size in bytes, which both products read once.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Transfer::Weighted(both) => both.iter().map(Matrix::bytes).sum(),
            Transfer::Aggregates(lists) => lists.iter().map(Buffer::bytes).sum(),
        }
    }
}

/// Whether an interpolation is piecewise constant: one entry 1 a row.
pub(super) fn is_constant(p: &CsrMatrix<f64>) -> bool {
    (0..p.rows()).all(|row| p.row_length(row) == 1) && p.values().iter().all(|value| *value == 1.0)
}

/// b_c ← Σ r over an aggregate, x_c ← w b_c. Traffic: 4 + s a fine unknown, 4 + 3s an aggregate.
#[kernel(out(b, x))]
pub(super) fn restrict_groups<S: Real>(
    c: usize,
    aggregates: &AggregateView,
    residual: &View<S>,
    weights: &View<S>,
) -> (S, S) {
    let mut b = S::literal(0.0);
    for k in aggregates.offsets[c] as usize..aggregates.offsets[c + 1] as usize {
        b += residual[aggregates.members[k] as usize];
    }
    (b, weights[c] * b)
}

/// x ← x + e of the aggregate. Traffic 4 + 2s and s an aggregate.
#[kernel(update(x), unroll(2))]
pub(super) fn prolong_groups<S: Real>(row: usize, of: &View<u32>, e: &View<S>, x: S) -> S {
    x + e[of[row] as usize]
}

/// b_c ← Pᵀ r, x_c ← w b_c. Traffic of the product and 3s a coarse row.
#[kernel(out(b, x), split_sums, specialize(restriction.layout = Layout::Csr))]
pub(super) fn restrict_rows<S: Real>(
    row: usize,
    part: usize,
    restriction: &MatrixView<S>,
    residual: &View<S>,
    weights: &View<S>,
    #[comptime] parts: usize,
) -> (S, S) {
    let b = restriction.shared_row_product::<S>(row, part, residual, parts);
    (b, weights[row] * b)
}

/// x ← x + P e. Traffic of the product and 2s.
#[kernel(update(x), specialize(interpolation.layout = Layout::Csr))]
pub(super) fn prolong_rows<S: Real>(
    row: usize,
    interpolation: &MatrixView<S>,
    e: &View<S>,
    x: S,
) -> S {
    x + interpolation.row_product::<S>(row, e)
}
