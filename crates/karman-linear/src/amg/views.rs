//! Groups of views that kernels of multigrid take as one argument: matrices, their sparsity patterns, the strength
//! graph, the splitting into coarse and fine unknowns, aggregates.
#![allow(missing_docs)] // on the modules that the attributes make

use crate::matrix::MatrixView;
use crate::{Layout, Matrix};
use karman_backend::prelude::*;
use karman_backend::{Buffer, View};

/// A sparse matrix by compressed rows: the entries of row i lie from `offsets[i]` to `offsets[i + 1]`.
#[derive(Group, Clone, Copy)]
pub(super) struct CsrView<'a, S: Real> {
    /// `[rows + 1]`.
    pub offsets: View<'a, u32>,
    /// Columns of the entries: `[entries]`.
    pub columns: View<'a, u32>,
    /// a_ij: `[entries]`.
    pub values: View<'a, S>,
}

impl<'a, S: Real> CsrView<'a, S> {
    /// A matrix that is stored by compressed rows.
    pub(super) fn of(matrix: &'a Matrix<S>) -> Self {
        debug_assert_eq!(matrix.layout(), Layout::Csr);
        CsrView::with_values(matrix, matrix.arrays().2)
    }

    /// The pattern of `pattern`, which is stored by compressed rows, with other values: `[entries]`.
    pub(super) fn with_values<T: Real>(pattern: &'a Matrix<T>, values: &'a Buffer<S>) -> Self {
        let (offsets, columns, _) = pattern.arrays();
        CsrView { offsets: offsets.view(), columns: columns.view(), values: values.view() }
    }
}

/// The sparsity pattern of compressed rows.
#[derive(Group, Clone, Copy)]
pub(super) struct PatternView<'a> {
    /// `[rows + 1]`.
    pub offsets: View<'a, u32>,
    /// Columns of the entries: `[entries]`.
    pub columns: View<'a, u32>,
}

impl<'a> PatternView<'a> {
    /// The pattern of a matrix that is stored by compressed rows.
    pub(super) fn of<S: Real>(matrix: &'a Matrix<S>) -> Self {
        let (offsets, columns, _) = matrix.arrays();
        PatternView { offsets: offsets.view(), columns: columns.view() }
    }
}

/// The strength graph of a matrix: i depends on j ≠ i where −a_ij ≥ t_i.
#[derive(Group, Clone, Copy)]
pub(super) struct StrengthGraph<'a, S: Real> {
    /// A.
    pub matrix: MatrixView<'a, S>,
    /// t: `[rows]`.
    pub thresholds: View<'a, f64>,
}

impl<'a, S: Real> StrengthGraph<'a, S> {
    /// The graph of `matrix` for given thresholds.
    pub(super) fn of(matrix: &'a Matrix<S>, thresholds: &'a Buffer<f64>) -> Self {
        StrengthGraph { matrix: matrix.view(), thresholds: thresholds.view() }
    }
}

/// The splitting of the unknowns into coarse and fine ones (C/F splitting), on a strength graph.
#[derive(Group, Clone, Copy)]
pub(super) struct Splitting<'a, S: Real> {
    /// Matrix and strength of its couplings.
    pub graph: StrengthGraph<'a, S>,
    /// Coarse number of each unknown, [`FINE`](super::strength::FINE) for fine ones: `[rows]`.
    pub coarse: View<'a, u32>,
    /// The first row that is interpolated.
    pub first: usize,
    /// The end of these rows.
    pub end: usize,
}

/// The members of aggregates: those of aggregate g lie from `offsets[g]` to `offsets[g + 1]`.
#[derive(Group, Clone, Copy)]
pub(super) struct AggregateView<'a> {
    /// `[aggregates + 1]`.
    pub offsets: View<'a, u32>,
    /// Fine unknowns: `[unknowns]`.
    pub members: View<'a, u32>,
}

/// A dense square matrix, entry (i, j) at i `row_stride` + j `column_stride`.
#[derive(Group, Clone, Copy)]
pub(super) struct DenseView<'a, S: Real> {
    /// `[order²]`.
    pub values: View<'a, S>,
    /// Number of rows.
    pub order: usize,
    /// Distance from an entry to that below it.
    pub row_stride: usize,
    /// Distance from an entry to that at its right.
    pub column_stride: usize,
}
