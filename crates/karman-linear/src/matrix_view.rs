//! Sparse matrices as kernels read them, and their rows.
#![allow(missing_docs)] // on the modules that the attributes make

use super::{Layout, SLICE};
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{View, sum_of_parts};

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
    /// Place of the first entry of a row, and the end of its entries, which are `layout.spacing()` apart.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> (usize, usize) {
        row_places(row, &self.offsets, comptime!(self.layout))
    }

    /// Σ_k a_rk x_k.
    #[inline(always)]
    pub(crate) fn row_product<F: Real>(&self, row: usize, x: &View<F>) -> F {
        self.part_of_product::<F>(row, 0usize, x, 1usize)
    }

    /// Σ_k a_rk x_k, whose terms `parts` threads share.
    #[inline(always)]
    pub(crate) fn shared_row_product<F: Real>(
        &self,
        row: usize,
        part: usize,
        x: &View<F>,
        #[comptime] parts: usize,
    ) -> F {
        let own = self.part_of_product::<F>(row, part, x, parts);
        sum_of_parts::<F>(own, parts)
    }

    /// Partial sum number `part` of Σ_k a_rk x_k.
    #[inline(always)]
    pub(crate) fn part_of_product<F: Real>(
        &self,
        row: usize,
        part: usize,
        x: &View<F>,
        #[comptime] parts: usize,
    ) -> F {
        let (first, end) = self.row(row);
        let spacing = comptime!(parts * self.layout.spacing());
        let mut k = first + part * comptime!(self.layout.spacing());
        let mut sum = F::literal(0.0);
        // The loads of a long row overlap.
        while k + 7 * spacing < end {
            sum = self.with_terms::<F>(sum, k, x, spacing, 8usize);
            k += 8 * spacing;
        }
        while k + 3 * spacing < end {
            sum = self.with_terms::<F>(sum, k, x, spacing, 4usize);
            k += 4 * spacing;
        }
        while k < end {
            sum = self.with_terms::<F>(sum, k, x, spacing, 1usize);
            k += spacing;
        }
        sum
    }

    /// `sum` + Σ a_k x_k over `count` entries from place `first` on, added one after another.
    #[inline(always)]
    fn with_terms<F: Real>(
        &self,
        sum: F,
        first: usize,
        x: &View<F>,
        #[comptime] spacing: usize,
        #[comptime] count: usize,
    ) -> F {
        let mut total = sum;
        #[unroll]
        for m in 0..count {
            let k = first + m * spacing;
            total += convert::<S, F>(self.values[k]) * x[self.columns[k] as usize];
        }
        total
    }

    /// a_rc; 0 where it is absent.
    #[inline(always)]
    pub(crate) fn value(&self, row: usize, column: usize) -> f64 {
        let (first, end) = self.row(row);
        let mut value = f64::literal(0.0);
        let mut k = first;
        while k < end {
            if self.columns[k] as usize == column {
                value = self.values[k].to_f64();
                k = end;
            }
            k += comptime!(self.layout.spacing());
        }
        value
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
