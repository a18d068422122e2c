//! Smoothers of a cycle, row by row. `s` is the size of a number of the hierarchy;
//! a product's traffic is that of its matrix and s a row.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::difference_form::{DifferenceForm, DifferenceFormView};
use super::views::DenseView;
use crate::Layout;
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Buffer, Partials, Segment, View, sum_of_parts};

/// b ← r in the hierarchy's precision, x ← w b: the first sweep from zero. Traffic 8 + 3s.
#[kernel(out(b, x))]
pub(super) fn begin_cycle<T: Real, S: Real>(i: usize, r: &View<T>, weights: &View<S>) -> (S, S) {
    let b = convert::<T, S>(r[i]);
    (b, weights[i] * b)
}

/// z ← x in the precision of the solver. Traffic 8 + s.
#[kernel(out(z), unroll(4))]
pub(super) fn end_cycle<S: Real, T: Real>(i: usize, x: &View<S>) -> T {
    convert::<S, T>(x[i])
}

/// r ← b − A x. Traffic of the product and 2s.
#[kernel(out(residual), split_sums, specialize(a.couplings.layout = Layout::Csr))]
pub(super) fn subtract_difference_form<S: Real>(
    row: usize,
    part: usize,
    a: &DifferenceFormView<S>,
    x: &View<S>,
    b: &View<S>,
    #[comptime] parts: usize,
) -> S {
    b[row] - a.row_product(row, part, x, parts)
}

/// y ← x + w (b − A x) in any precision. Traffic of the product, 2s and that of y.
#[kernel(out(y), split_sums, specialize(a.couplings.layout = Layout::Csr))]
pub(super) fn jacobi_rows<S: Real, T: Real>(
    row: usize,
    part: usize,
    a: &DifferenceFormView<S>,
    x: &View<S>,
    b: &View<S>,
    weights: &View<S>,
    #[comptime] parts: usize,
) -> T {
    let residual = b[row] - a.row_product(row, part, x, parts);
    convert::<S, T>(x[row] + weights[row] * residual)
}

/// y ← x + w (b − A x) with b·y, b·b and y·q. Traffic of the product and 5s.
#[kernel(out(y), reduce(sum, sum, sum), specialize(a.couplings.layout = Layout::Csr))]
pub(super) fn relax_dots<S: Real>(
    row: usize,
    a: &DifferenceFormView<S>,
    x: &View<S>,
    b: &View<S>,
    weights: &View<S>,
    q: &View<S>,
) -> (S, f64, f64, f64) {
    let own = b[row];
    let residual = own - a.row_product(row, 0, x, 1usize);
    let y = x[row] + weights[row] * residual;
    let (wide_b, wide_y) = (own.to_f64(), y.to_f64());
    (y, wide_b * wide_y, wide_b * wide_b, wide_y * q[row].to_f64())
}

/// The first step of a polynomial from zero: d ← c w b, x ← β d. Traffic 4s.
#[kernel(out(d, x))]
pub(super) fn start_polynomial<S: Real>(
    i: usize,
    b: &View<S>,
    weights: &View<S>,
    c: S,
    beta: S,
) -> (S, S) {
    let d = c * weights[i] * b[i];
    (d, beta * d)
}

/// The first step from x, whose residual is known: d ← c w r, x ← x + β d. Traffic 5s.
#[kernel(out(d), update(x))]
pub(super) fn restart_polynomial<S: Real>(
    i: usize,
    residual: &View<S>,
    weights: &View<S>,
    c: S,
    beta: S,
    x: S,
) -> (S, S) {
    let d = c * weights[i] * residual[i];
    (x + beta * d, d)
}

/// A Chebyshev smoother between two steps of its polynomial.
#[derive(Group, Clone, Copy)]
pub(super) struct ChebyshevView<'a, S: Real> {
    /// A.
    pub matrix: DifferenceFormView<'a, S>,
    /// w: `[rows]`.
    pub weights: View<'a, S>,
    /// r: `[rows]`.
    pub residual: View<'a, S>,
    /// d: `[rows]`.
    pub direction: View<'a, S>,
}

/// A further step: r' ← r − A d, d' ← a d + c w r', x ← x + β d'. Traffic of the product and 6s.
#[kernel(
    update(x),
    out(new_residual, new_direction),
    split_sums,
    specialize(smoother.matrix.couplings.layout = Layout::Csr)
)]
pub(super) fn step_polynomial<S: Real>(
    row: usize,
    part: usize,
    smoother: &ChebyshevView<S>,
    a: S,
    c: S,
    beta: S,
    x: S,
    #[comptime] parts: usize,
) -> (S, S, S) {
    let d = &smoother.direction;
    let residual = smoother.residual[row] - smoother.matrix.row_product(row, part, d, parts);
    let direction = a * d[row] + c * smoother.weights[row] * residual;
    (x + beta * direction, residual, direction)
}

/// x_r ← x_r + w_r (b_r − Σ a_rk x_k) for the rows of one colour, which begin at `first`.
/// Traffic of all colours: the product and 3s.
#[kernel(specialize(a.couplings.layout = Layout::Csr))]
pub(super) fn sweep_colour<S: Real>(
    i: usize,
    first: usize,
    a: &DifferenceFormView<S>,
    b: &View<S>,
    weights: &View<S>,
    x: &mut Segment<S>,
) {
    let row = first + i;
    let (start, end) = a.couplings.row(row);
    let mut k = start;
    let own = x[row];
    let mut residual = b[row] - a.row_sums[row] * own;
    while k < end {
        residual -= a.couplings.values[k] * (x[a.couplings.columns[k] as usize] - own);
        k += comptime!(a.couplings.layout.spacing());
    }
    x[row] = own + weights[row] * residual;
}

/// r by colours: b_i ← r at the old position of i, x ← 0. Traffic 12 + 2s.
#[kernel(out(b, x))]
pub(super) fn begin_by_colour<T: Real, S: Real>(
    i: usize,
    r: &View<T>,
    old_place: &View<u32>,
) -> (S, S) {
    (convert::<T, S>(r[old_place[i] as usize]), S::literal(0.0))
}

/// z at its old position. Traffic 12 + s.
#[kernel(out(z))]
pub(super) fn end_by_colour<S: Real, T: Real>(i: usize, x: &View<S>, new_place: &View<u32>) -> T {
    convert::<S, T>(x[new_place[i] as usize])
}

/// x ← M b for a dense matrix M of order n. Traffic s n a row.
#[kernel(out(x), split_sums)]
pub(super) fn multiply_dense<S: Real>(
    i: usize,
    part: usize,
    matrix: &DenseView<S>,
    b: &View<S>,
    #[comptime] parts: usize,
) -> S {
    let n = matrix.order;
    let mut sum = S::literal(0.0);
    let mut j = part;
    let mut k = i * matrix.row_stride + part * matrix.column_stride;
    let step = parts * matrix.column_stride;
    // Rows and thus threads are few: 32 loads of each overlap.
    while j + comptime!(31 * parts) < n {
        #[unroll]
        for m in 0..32usize {
            sum += matrix.values[k + m * step] * b[j + m * parts];
        }
        j += comptime!(32 * parts);
        k += 32 * step;
    }
    while j < n {
        sum += matrix.values[k] * b[j];
        j += parts;
        k += step;
    }
    sum_of_parts::<S>(sum, parts)
}

/// r ← b − A x. The ghosts of x are known, here and below.
pub(super) fn residual<S: Real>(
    a: &DifferenceForm<S>,
    x: &Buffer<S>,
    b: &Buffer<S>,
    residual: &mut Buffer<S>,
) {
    subtract_difference_form(
        a.backend(),
        a.rows(),
        &DifferenceFormView::of(a),
        x,
        b,
        a.parts(),
        residual,
    );
}

/// y ← x + w (b − A x).
pub(super) fn jacobi<S: Real, T: Real>(
    a: &DifferenceForm<S>,
    x: &Buffer<S>,
    b: &Buffer<S>,
    weights: &Buffer<S>,
    y: &mut Buffer<T>,
) {
    jacobi_rows(a.backend(), a.rows(), &DifferenceFormView::of(a), x, b, weights, a.parts(), y);
}

/// y ← x + w (b − A x) with the partials of b·y, b·b and y·q.
pub(super) fn jacobi_dots<S: Real>(
    a: &DifferenceForm<S>,
    (x, b, weights): (&Buffer<S>, &Buffer<S>, &Buffer<S>),
    q: &Buffer<S>,
    y: &mut Buffer<S>,
    sums: &mut Partials,
) {
    relax_dots(a.backend(), a.rows(), &DifferenceFormView::of(a), x, b, weights, q, y, sums);
}

/// Gauss–Seidel over the colours, forwards or backwards; w is 1 over the diagonal.
pub(super) fn sweep<S: Real>(
    a: &DifferenceForm<S>,
    colours: &[usize],
    backwards: bool,
    b: &Buffer<S>,
    weights: &Buffer<S>,
    x: &mut Buffer<S>,
) {
    let view = DifferenceFormView::of(a);
    let mut one = |colour: usize| {
        let (first, count) = (colours[colour], colours[colour + 1] - colours[colour]);
        sweep_colour(a.backend(), count, first, &view, b, weights, x);
    };
    let count = colours.len() - 1;
    match backwards {
        false => (0..count).for_each(&mut one),
        true => (0..count).rev().for_each(&mut one),
    }
}

/// Scratch of a polynomial smoother.
pub(super) struct Polynomial<S> {
    residual: Buffer<S>,
    new_residual: Buffer<S>,
    direction: Buffer<S>,
    new_direction: Buffer<S>,
}

/// Weights β of the optimal polynomials of degree 1 to 4 (Lottes, Numer. Linear Algebra Appl. 30
/// (2023) e2518, table 1).
const OPTIMAL: [&[f64]; 4] = [
    &[1.125],
    &[1.023_872_875_703_13, 1.264_089_053_710_85],
    &[1.008_425_447_820_28, 1.088_678_392_087_30, 1.337_531_259_096_18],
    &[1.003_913_104_272_85, 1.040_358_111_885_93, 1.148_634_985_462_54, 1.382_688_692_410_00],
];

impl<S: Real> Polynomial<S> {
    /// For a level with this matrix.
    pub(super) fn new(matrix: &DifferenceForm<S>) -> Self {
        let (backend, n) = (matrix.backend(), matrix.rows());
        Polynomial {
            residual: backend.zeros(n),
            new_residual: backend.zeros(n),
            direction: matrix.vector(),
            new_direction: matrix.vector(),
        }
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        4 * self.residual.bytes()
    }

    /// One sweep of `degree` steps, from zero or from x; the spectrum of w A is bounded by 1.
    pub(super) fn sweep(
        &mut self,
        a: &DifferenceForm<S>,
        degree: usize,
        is_zero: bool,
        (b, weights): (&Buffer<S>, &Buffer<S>),
        x: &mut Buffer<S>,
    ) {
        let (backend, n) = (a.backend(), a.rows());
        let betas = OPTIMAL[degree.clamp(1, 4) - 1];
        let (c, beta) = (S::from_f64(4.0 / 3.0), S::from_f64(betas[0]));
        if is_zero {
            start_polynomial(backend, n, b, weights, c, beta, &mut self.direction, x);
        } else {
            a.fetch(x);
            residual(a, x, b, &mut self.residual);
            let (r, d) = (&self.residual, &mut self.direction);
            restart_polynomial(backend, n, r, weights, c, beta, x, d);
        }
        for (k, beta) in betas.iter().enumerate().skip(1) {
            let step = (k + 1) as f64;
            let old = S::from_f64((2.0 * step - 3.0) / (2.0 * step + 1.0));
            let new = S::from_f64((8.0 * step - 4.0) / (2.0 * step + 1.0));
            let beta = S::from_f64(*beta);
            a.fetch(&mut self.direction);
            let r = if is_zero && k == 1 { b } else { &self.residual };
            let smoother = ChebyshevView {
                matrix: DifferenceFormView::of(a),
                weights: weights.view(),
                residual: r.view(),
                direction: self.direction.view(),
            };
            let (next_r, next_d) = (&mut self.new_residual, &mut self.new_direction);
            step_polynomial(backend, n, &smoother, old, new, beta, x, a.parts(), next_r, next_d);
            std::mem::swap(&mut self.residual, &mut self.new_residual);
            std::mem::swap(&mut self.direction, &mut self.new_direction);
        }
    }
}
