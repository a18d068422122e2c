//! Interpolation and restriction between two levels, row by row. `s` is the size of a number of the
//! hierarchy; a product's traffic is that of its matrix and s a row.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::aggregates::is_constant;
use super::distribution::Distribution;
use super::views::AggregateView;
use crate::matrix::MatrixView;
use crate::{CsrMatrix, Layout, LinearError, Matrix};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Gather, View, blas};

/// Interpolation P and restriction Pᵀ; of one of several ranks its rows of both.
pub(super) struct Transfer<S> {
    operators: Operators<S>,
    /// Where each rank has the next level as a whole.
    gathered: Option<Gathered<S>>,
}

#[allow(clippy::large_enum_variant)] // one a level
enum Operators<S> {
    /// P and Pᵀ.
    Weighted([Matrix<S>; 2]),
    /// P piecewise constant: the aggregate of each fine unknown, the offsets of the aggregates' members, and
    /// the members.
    Aggregates([Buffer<u32>; 3]),
}

/// The rows of a coarse level that one of several ranks restricts, all of which are then gathered.
struct Gathered<S> {
    gather: Gather,
    /// Weights of the first sweep, and results of its rows.
    weights: Buffer<S>,
    b: Buffer<S>,
    x: Buffer<S>,
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
            return Ok(Self::of_aggregates(lists.map(|list| backend.upload_slice(list))));
        }
        let put = |a: &CsrMatrix<f64>| Matrix::new(backend, a.converted::<S>());
        Ok(Self::weighted([put(p)?, put(r)?]))
    }

    /// The transfer of P and Pᵀ.
    pub(super) fn weighted(both: [Matrix<S>; 2]) -> Self {
        Transfer { operators: Operators::Weighted(both), gathered: None }
    }

    /// The transfer of aggregates: the aggregate of each fine unknown, the offsets of the aggregates' members, and the
    /// members.
    pub(super) fn of_aggregates(lists: [Buffer<u32>; 3]) -> Self {
        Transfer { operators: Operators::Aggregates(lists), gathered: None }
    }

    /// The rows of one of several ranks: those of P are its rows of the finer level and ghosts of it, those of Pᵀ its rows of the next
    /// one.
    ///
    /// # Errors
    /// [`LinearError::ColumnOutOfRange`] where a column is not in the exchange of its level.
    pub(super) fn of_rank(
        backend: &Backend,
        [p, r]: [&CsrMatrix<f64>; 2],
        (distribution, depth): (&Distribution, usize),
    ) -> Result<Self, LinearError> {
        let is_constant = is_constant(p);
        let layout = if is_constant { Layout::Csr } else { Layout::of(backend) };
        let ghosts = distribution.shared(depth).map_or(&[][..], |halo| halo.ghost_numbers());
        let rows = [
            p.rows_of(distribution.own(depth)).followed_by(p, ghosts),
            r.rows_of(distribution.own(depth + 1)),
        ];
        let put = |a: &CsrMatrix<f64>, from: usize, rows: CsrMatrix<f64>| {
            let rows = rows.into_converted::<S>();
            let matrix = match distribution.shared(from) {
                None => Matrix::with_layout(backend, rows, layout)?,
                Some(halo) => Matrix::of_rank_with_layout(backend, rows, halo.clone(), layout)?,
            };
            Ok::<_, LinearError>(matrix.with_parts_of(a.rows(), a.entries()))
        };
        let [of_p, of_r] = rows;
        let both = [put(p, depth + 1, of_p)?, put(r, depth, of_r)?];
        Ok(match is_constant {
            false => Self::weighted(both),
            true => {
                let [[_, of], [offsets, members]] = both.map(Matrix::into_pattern);
                Self::of_aggregates([of, offsets, members])
            }
        })
    }

    /// This transfer from the shared level of a depth, of one of several ranks. A next level that is whole on each rank is gathered;
    /// `next_weights` are the weights of a sweep of the rows of it that this rank restricts.
    pub(super) fn gathered(
        self,
        backend: &Backend,
        (distribution, depth): (&Distribution, usize),
        next_weights: impl FnOnce() -> Buffer<S>,
    ) -> Self {
        if distribution.shared(depth + 1).is_some() {
            return self;
        }
        let n = distribution.own(depth + 1).len();
        let (b, x) = (backend.zeros(n), backend.zeros(n));
        let gather = distribution.gather(depth + 1, backend);
        let gathered = Some(Gathered { gather, weights: next_weights(), b, x });
        Transfer { gathered, ..self }
    }

    /// b_c ← Pᵀ r, x_c ← w b_c.
    pub(super) fn restrict(
        &mut self,
        backend: &Backend,
        residual: &Buffer<S>,
        weights: &Buffer<S>,
        b: &mut Buffer<S>,
        x: &mut Buffer<S>,
    ) {
        match &mut self.gathered {
            None => self.operators.restrict(backend, residual, weights, b, x),
            Some(Gathered { gather, weights: own, b: part, x: first_sweep }) => {
                self.operators.restrict(backend, residual, own, part, first_sweep);
                gather.gather(part, b);
                blas::multiply(backend, b.len(), weights, b, x);
            }
        }
    }

    /// x ← x + P e, on one of several ranks in ghosts too.
    pub(super) fn prolong(&self, backend: &Backend, e: &Buffer<S>, x: &mut Buffer<S>) {
        match &self.operators {
            Operators::Weighted([p, _]) => prolong_rows(backend, p.rows(), &p.view(), e, x),
            Operators::Aggregates([of, ..]) => prolong_groups(backend, of.len(), of, e, x),
        }
    }

    /// Its size in bytes, which both products read once.
    pub(super) fn bytes(&self) -> usize {
        match &self.operators {
            Operators::Weighted(both) => both.iter().map(Matrix::bytes).sum(),
            Operators::Aggregates(lists) => lists.iter().map(Buffer::bytes).sum(),
        }
    }
}

impl<S: Real> Operators<S> {
    /// b_c ← Pᵀ r, x_c ← w b_c.
    fn restrict(
        &self,
        backend: &Backend,
        residual: &Buffer<S>,
        weights: &Buffer<S>,
        b: &mut Buffer<S>,
        x: &mut Buffer<S>,
    ) {
        let n = b.len();
        match self {
            Operators::Weighted([_, r]) => {
                restrict_rows(backend, n, &r.view(), residual, weights, r.parts(), b, x);
            }
            Operators::Aggregates([_, offsets, members]) => {
                let (offsets, members) = (offsets.view(), members.view());
                let aggregates = AggregateView { offsets, members };
                restrict_groups(backend, n, &aggregates, residual, weights, b, x);
            }
        }
    }
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
