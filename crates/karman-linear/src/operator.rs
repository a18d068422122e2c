//! Linear operators y = A x: a matrix, a matrix-free operator, a matrix with a correction.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::Matrix;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Halo, Partials, View, blas};
use std::any::Any;
use std::sync::Arc;

/// A linear operator on vectors of `T`. Its `apply…` functions only call dispatch functions, because they
/// may be captured in a device graph; scratch is allocated at construction.
pub trait Operator<T: Real>: Any + Send + Sync {
    /// Number of unknowns: the length of `x` and of `y`; on one of several ranks the own ones, and `x` has ghosts behind them.
    fn unknowns(&self) -> usize;

    /// Number of unknowns of all ranks.
    fn total_unknowns(&self) -> usize {
        self.exchange().map_or(self.unknowns(), |halo| halo.total())
    }

    /// The exchange of `x` on one of several ranks. Solvers fetch its ghosts before they call an `apply…` function.
    fn exchange(&self) -> Option<&Arc<Halo>> {
        None
    }

    /// The matrix it applies, if it is one in precision `T`.
    fn matrix(&self) -> Option<&Matrix<T>> {
        None
    }

    /// y ← A x.
    fn apply(&mut self, backend: &Backend, x: &Buffer<T>, y: &mut Buffer<T>);

    /// y ← A x with the partials of x·y, in one kernel if possible.
    fn apply_dot(
        &mut self,
        backend: &Backend,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
        partials: &mut Partials,
    ) {
        self.apply(backend, x, y);
        blas::dot_partials(backend, self.unknowns(), x, y, partials);
    }

    /// y ← A x with the partials of x·y, x·r, r·r, r·y and y·y, in one kernel if possible.
    fn apply_dots(
        &mut self,
        backend: &Backend,
        x: &Buffer<T>,
        r: &Buffer<T>,
        y: &mut Buffer<T>,
        partials: &mut Partials,
    ) {
        self.apply(backend, x, y);
        five_dots(backend, self.unknowns(), x, r, y, partials);
    }
}

impl<T: Real, S: Real> Operator<T> for Arc<Matrix<S>> {
    fn unknowns(&self) -> usize {
        self.rows()
    }

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.halo()
    }

    fn matrix(&self) -> Option<&Matrix<T>> {
        (self as &dyn Any).downcast_ref::<Arc<Matrix<T>>>().map(|matrix| &**matrix)
    }

    fn apply(&mut self, _: &Backend, x: &Buffer<T>, y: &mut Buffer<T>) {
        self.multiply(x, y);
    }

    fn apply_dot(
        &mut self,
        _: &Backend,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
        partials: &mut Partials,
    ) {
        self.multiply_dot(x, y, partials);
    }

    fn apply_dots(
        &mut self,
        _: &Backend,
        x: &Buffer<T>,
        r: &Buffer<T>,
        y: &mut Buffer<T>,
        partials: &mut Partials,
    ) {
        self.multiply_dots(x, r, y, partials);
    }
}

/// x·y, x·r, r·r, r·y, y·y. Traffic 3s.
#[kernel(reduce(sum, sum, sum, sum, sum))]
pub(super) fn five_dots<F: Real>(
    i: usize,
    x: &View<F>,
    r: &View<F>,
    y: &View<F>,
) -> (f64, f64, f64, f64, f64) {
    let x = x[i].to_f64();
    let r = r[i].to_f64();
    let y = y[i].to_f64();
    (x * y, x * r, r * r, r * y, y * y)
}
