//! Matrices in difference form, (A x)_i = Σ_j a_ij (x_j − x_i) + s_i x_i with row sums s_i, and their products.
//! `s` is the size of a number of the hierarchy; a product's traffic is that of its matrix and 2s a row.
#![allow(missing_docs)] // on the modules that the attributes make

use super::parallel::each;
use crate::matrix::MatrixView;
use crate::{CsrMatrix, Layout, LinearError, Matrix};
use karman_backend::prelude::*;
use karman_backend::{Backend, Buffer, Halo, Partials, View, sum_of_parts};
use std::ops::Range;
use std::sync::Arc;

/// A matrix in difference form: off-diagonal entries and row sums.
pub(super) struct DifferenceForm<S> {
    /// Off-diagonal entries.
    pub couplings: Matrix<S>,
    /// Σ_j a_ij: `[rows]`.
    pub row_sums: Buffer<S>,
}

impl<S: Real> DifferenceForm<S> {
    /// Copies `a` to `backend`.
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] where padding exceeds 32-bit offsets.
    pub(super) fn new(backend: &Backend, a: &CsrMatrix<f64>) -> Result<Self, LinearError> {
        let couplings = Matrix::new(backend, without_diagonal(a, 0..a.rows()))?;
        Ok(DifferenceForm { couplings, row_sums: backend.upload(row_sums(a, 0..a.rows())) })
    }

    /// The rows of `a` that one of several ranks has, with their sums.
    ///
    /// # Errors
    /// [`LinearError::ColumnOutOfRange`] where a column is not in `halo`.
    pub(super) fn of_rank(
        backend: &Backend,
        a: &CsrMatrix<f64>,
        row_sums: Vec<S>,
        halo: &Arc<Halo>,
    ) -> Result<Self, LinearError> {
        let own = halo.first()..halo.first() + halo.owned();
        let couplings = Matrix::of_rank(backend, without_diagonal(a, own), halo.clone())?
            .with_parts_of(a.rows(), a.entries().saturating_sub(a.rows()));
        Ok(DifferenceForm { couplings, row_sums: backend.upload(row_sums) })
    }

    /// The rows of one of several ranks, whose columns have the local numbers of `halo`, of a matrix of so many rows and entries.
    pub(super) fn with_halo(self, halo: &Arc<Halo>, [rows, entries]: [usize; 2]) -> Self {
        let couplings = self.couplings.with_halo(halo);
        let couplings = couplings.with_parts_of(rows, entries.saturating_sub(rows));
        DifferenceForm { couplings, ..self }
    }

    /// The exchange of the vectors that it multiplies, on one of several ranks.
    pub(super) fn halo(&self) -> Option<&Arc<Halo>> {
        self.couplings.halo()
    }

    /// A vector that it multiplies, with zeros and room for ghosts.
    pub(super) fn vector(&self) -> Buffer<S> {
        self.couplings.vector()
    }

    /// Fetches the ghosts of a vector before a product with it.
    pub(super) fn fetch(&self, x: &mut Buffer<S>) {
        if let Some(halo) = self.halo() {
            halo.fill(x, 1);
        }
    }

    /// As [`DifferenceForm::fetch`], unless the vector has its ghosts.
    pub(super) fn fetch_unless(&self, has_ghosts: bool, x: &mut Buffer<S>) {
        if !has_ghosts {
            self.fetch(x);
        }
    }

    /// Number of unknowns.
    pub(super) fn rows(&self) -> usize {
        self.row_sums.len()
    }

    /// Its size in bytes; a product reads it once.
    pub(super) fn bytes(&self) -> usize {
        self.couplings.bytes() + self.row_sums.bytes()
    }

    /// Its backend.
    pub(super) fn backend(&self) -> &Backend {
        self.couplings.backend()
    }

    /// Threads a row.
    pub(super) fn parts(&self) -> usize {
        self.couplings.parts()
    }

    /// y ← A x.
    pub(super) fn multiply(&self, x: &Buffer<S>, y: &mut Buffer<S>) {
        let a = DifferenceFormView::of(self);
        multiply_difference_form(self.backend(), self.rows(), &a, x, self.parts(), y);
    }

    /// y ← A x with the partials of x·y.
    pub(super) fn multiply_dot(&self, x: &Buffer<S>, y: &mut Buffer<S>, partials: &mut Partials) {
        multiply_difference_form_dot(
            self.backend(),
            self.rows(),
            &DifferenceFormView::of(self),
            x,
            y,
            partials,
        );
    }
}

/// The sums of some rows of `a`.
pub(super) fn row_sums<S: Real>(a: &CsrMatrix<f64>, rows: Range<usize>) -> Vec<S> {
    let sum = |row: usize| a.row(rows.start + row).map(|entry| entry.1).sum::<f64>();
    each(rows.len(), |row| S::from_f64(sum(row)))
}

/// The off-diagonal entries of some rows of `a`.
fn without_diagonal<S: Real>(a: &CsrMatrix<f64>, rows: Range<usize>) -> CsrMatrix<S> {
    let first = rows.start;
    let off_diagonal = |row: usize| a.row(first + row).filter(move |e| e.0 != first + row);
    let mut offsets = vec![0];
    offsets.extend(each(rows.len(), |row| off_diagonal(row).count() as u32));
    for row in 0..rows.len() {
        offsets[row + 1] += offsets[row];
    }
    CsrMatrix::trusted_rows(a.columns(), offsets, |row, columns, values| {
        for (k, (column, value)) in off_diagonal(row).enumerate() {
            columns[k] = column as u32;
            values[k] = S::from_f64(value);
        }
    })
}

/// A matrix in difference form: off-diagonal entries and row sums, (A x)_i = Σ_j a_ij (x_j − x_i) + s_i x_i. Single
/// precision rounds differences, so the product is exact for a constant vector on a component without a Dirichlet
/// boundary.
#[derive(Group, Clone, Copy)]
pub(super) struct DifferenceFormView<'a, S: Real> {
    /// a_ij, j ≠ i.
    pub couplings: MatrixView<'a, S>,
    /// s_i = Σ_j a_ij: `[rows]`.
    pub row_sums: View<'a, S>,
}

impl<'a, S: Real> DifferenceFormView<'a, S> {
    /// The whole matrix.
    pub(super) fn of(matrix: &'a DifferenceForm<S>) -> Self {
        let DifferenceForm { couplings, row_sums } = matrix;
        DifferenceFormView { couplings: couplings.view(), row_sums: row_sums.view() }
    }
}

#[device]
impl<S: Real> DifferenceFormView<'_, S> {
    /// (A x)_i, whose terms `parts` threads share.
    #[inline(always)]
    pub(super) fn row_product(
        &self,
        i: usize,
        part: usize,
        x: &View<S>,
        #[comptime] parts: usize,
    ) -> S {
        let (first, end) = self.couplings.row(i);
        let spacing = comptime!(parts * self.couplings.layout.spacing());
        let mut k = first + part * comptime!(self.couplings.layout.spacing());
        let own = x[i];
        let mut sum = S::literal(0.0);
        if part == 0 {
            sum = self.row_sums[i] * own;
        }
        // The loads of a long row overlap.
        while k + 7 * spacing < end {
            #[unroll]
            for m in 0..8usize {
                let at = k + m * spacing;
                sum += self.couplings.values[at] * (x[self.couplings.columns[at] as usize] - own);
            }
            k += 8 * spacing;
        }
        while k + 3 * spacing < end {
            #[unroll]
            for m in 0..4usize {
                let at = k + m * spacing;
                sum += self.couplings.values[at] * (x[self.couplings.columns[at] as usize] - own);
            }
            k += 4 * spacing;
        }
        while k < end {
            sum += self.couplings.values[k] * (x[self.couplings.columns[k] as usize] - own);
            k += spacing;
        }
        sum_of_parts::<S>(sum, parts)
    }
}

/// y ← A x. Traffic of the product and 2s.
#[kernel(out(y), split_sums, specialize(a.couplings.layout = Layout::Csr))]
fn multiply_difference_form<S: Real>(
    row: usize,
    part: usize,
    a: &DifferenceFormView<S>,
    x: &View<S>,
    #[comptime] parts: usize,
) -> S {
    a.row_product(row, part, x, parts)
}

/// y ← A x with x·y. Traffic of the product and 2s.
#[kernel(out(y), reduce(sum), specialize(a.couplings.layout = Layout::Csr))]
fn multiply_difference_form_dot<S: Real>(
    row: usize,
    a: &DifferenceFormView<S>,
    x: &View<S>,
) -> (S, f64) {
    let y = a.row_product(row, 0, x, 1usize);
    (y, x[row].to_f64() * y.to_f64())
}
