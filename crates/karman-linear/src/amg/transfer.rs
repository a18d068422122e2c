//! Interpolation and restriction between two levels, row by row. `s` is the size of a number of the
//! hierarchy; a product's traffic is that of its matrix and s a row.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::matrix::{part_of_product, row_product};
use crate::{CsrMatrix, Layout, LinearError, Matrix};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, View, sum_of_parts};

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
                let ((offsets, columns, values), layout, parts) =
                    (r.arrays(), r.layout(), r.parts());
                restrict_rows(
                    backend, n, offsets, columns, values, residual, weights, layout, parts, b, x,
                );
            }
            Transfer::Aggregates([_, offsets, members]) => {
                restrict_groups(backend, n, offsets, members, residual, weights, b, x);
            }
        }
    }

    /// x ← x + P e.
    pub(super) fn prolong(&self, backend: &Backend, e: &Buffer<S>, x: &mut Buffer<S>) {
        let n = x.len();
        match self {
            Transfer::Weighted([p, _]) => {
                let (offsets, columns, values) = p.arrays();
                prolong_rows(backend, n, offsets, columns, values, e, x, p.layout());
            }
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
#[kernel(restrict_groups, out(b, x))]
pub(super) fn restricted_to_group<S: Real>(
    group: usize,
    offsets: &View<u32>,
    members: &View<u32>,
    residual: &View<S>,
    weights: &View<S>,
) -> (S, S) {
    let mut b = S::literal(0.0);
    for k in offsets[group] as usize..offsets[group + 1] as usize {
        b += residual[members[k] as usize];
    }
    (b, weights[group] * b)
}

/// x ← x + e of the aggregate. Traffic 4 + 2s and s an aggregate.
#[kernel(prolong_groups, update(x), unroll(2))]
pub(super) fn prolonged_from_group<S: Real>(row: usize, of: &View<u32>, e: &View<S>, x: S) -> S {
    x + e[of[row] as usize]
}

/// b_c ← Pᵀ r, x_c ← w b_c. Traffic of the product and 3s a coarse row.
#[kernel(restrict_rows, out(b, x), split_sums, specialize(layout = Layout::Csr))]
pub(super) fn restricted<S: Real>(
    row: usize,
    part: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    residual: &View<S>,
    weights: &View<S>,
    #[comptime] layout: Layout,
    #[comptime] parts: usize,
) -> (S, S) {
    let own = part_of_product::<S, S>(row, part, offsets, columns, values, residual, layout, parts);
    let b = sum_of_parts::<S>(own, parts);
    (b, weights[row] * b)
}

/// x ← x + P e. Traffic of the product and 2s.
#[kernel(prolong_rows, update(x), specialize(layout = Layout::Csr))]
pub(super) fn prolonged<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    e: &View<S>,
    x: S,
    #[comptime] layout: Layout,
) -> S {
    x + row_product::<S, S>(row, offsets, columns, values, e, layout)
}
