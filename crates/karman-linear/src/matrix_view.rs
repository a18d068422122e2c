//! Sparse matrices as kernels read them, and their rows.
#![allow(missing_docs)] // on the modules that the attributes make

use super::{Layout, SLICE};
use karman_backend::View;
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};

/// A sparse matrix with values in `S`.
#[derive(Group, Clone, Copy)]
pub(crate) struct MatrixView<'a, S: Real> {
    /// Where rows begin, or slices: `[rows + 1]`, `[slices + 1]`.
    pub offsets: View<'a, u32>,
    /// Columns of the entries, padding included.
    pub columns: View<'a, u32>,
    /// Values of the entries; 0 in padding.
    pub values: View<'a, S>,
    /// The storage layout.
    #[comptime]
    pub layout: Layout,
}

#[device]
impl<S: Real> MatrixView<'_, S> {
    /// Place of the first entry of a row, and the end of its entries.
    #[inline(always)]
    pub(crate) fn places(&self, row: usize) -> (usize, usize) {
        let layout = comptime!(self.layout);
        row_places(row, &self.offsets, layout)
    }

    /// Σ_k a_rk x_k.
    #[inline(always)]
    pub(crate) fn row_product<F: Real>(&self, row: usize, x: &View<F>) -> F {
        let layout = comptime!(self.layout);
        row_product::<F, S>(row, &self.offsets, &self.columns, &self.values, x, layout)
    }

    /// a_rc; 0 where it is absent.
    #[inline(always)]
    pub(crate) fn value(&self, row: usize, column: usize) -> f64 {
        let layout = comptime!(self.layout);
        row_value::<S>(row, column, &self.offsets, &self.columns, &self.values, layout)
    }
}

/// Place of the first entry of a row, and the end of its entries.
#[device]
#[inline(always)]
pub(super) fn row_places(
    row: usize,
    offsets: &View<u32>,
    #[comptime] layout: Layout,
) -> (usize, usize) {
    let mut group = row;
    let mut lane = 0usize;
    if comptime!(layout == Layout::SlicedEll) {
        group = row / comptime!(SLICE);
        lane = row % comptime!(SLICE);
    }
    (offsets[group] as usize + lane, offsets[group + 1] as usize)
}

/// Σ_k a_rk x_k.
#[device]
#[inline(always)]
pub(super) fn row_product<F: Real, S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    x: &View<F>,
    #[comptime] layout: Layout,
) -> F {
    part_of_product::<F, S>(row, 0usize, offsets, columns, values, x, layout, 1usize)
}

/// Partial sum number `part` of Σ_k a_rk x_k.
#[device]
#[inline(always)]
pub(super) fn part_of_product<F: Real, S: Real>(
    row: usize,
    part: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    x: &View<F>,
    #[comptime] layout: Layout,
    #[comptime] parts: usize,
) -> F {
    let (first, end) = row_places(row, offsets, layout);
    let spacing = comptime!(parts * layout.spacing());
    let mut k = first + part * comptime!(layout.spacing());
    let mut sum = F::literal(0.0);
    // The loads of a long row overlap.
    while k + 7 * spacing < end {
        sum = with_terms::<F, S>(sum, k, columns, values, x, spacing, 8usize);
        k += 8 * spacing;
    }
    while k + 3 * spacing < end {
        sum = with_terms::<F, S>(sum, k, columns, values, x, spacing, 4usize);
        k += 4 * spacing;
    }
    while k < end {
        sum = with_terms::<F, S>(sum, k, columns, values, x, spacing, 1usize);
        k += spacing;
    }
    sum
}

/// `sum` + Σ a_k x_k over `count` entries from place `first` on, added one after another.
#[device]
#[inline(always)]
fn with_terms<F: Real, S: Real>(
    sum: F,
    first: usize,
    columns: &View<u32>,
    values: &View<S>,
    x: &View<F>,
    #[comptime] spacing: usize,
    #[comptime] count: usize,
) -> F {
    let mut total = sum;
    #[unroll]
    for m in 0..count {
        let k = first + m * spacing;
        total += convert::<S, F>(values[k]) * x[columns[k] as usize];
    }
    total
}

/// a_rc; 0 where it is absent.
#[device]
#[inline(always)]
pub(super) fn row_value<S: Real>(
    row: usize,
    column: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    #[comptime] layout: Layout,
) -> f64 {
    let (first, end) = row_places(row, offsets, layout);
    let mut value = f64::literal(0.0);
    let mut k = first;
    while k < end {
        if columns[k] as usize == column {
            value = values[k].to_f64();
            k = end;
        }
        k += comptime!(layout.spacing());
    }
    value
}
