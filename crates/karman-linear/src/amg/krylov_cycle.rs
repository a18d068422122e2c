//! The K cycle: a coarse system solved by two steps of flexible conjugate gradients, each
//! preconditioned by the cycle below (Notay & Vassilevski, Numer. Linear Algebra Appl. 15 (2008)
//! 473, algorithm 3.1, without the test that skips the second step). Scalars are stored where the
//! vectors are.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::difference_form::DifferenceForm;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Buffer, Partials, View, blas};

/// Vectors and scalars of one level.
pub(super) struct KrylovStep<S> {
    first: Buffer<S>,
    first_product: Buffer<S>,
    product: Buffer<S>,
    partials: Partials,
    /// c·Ac and c·b / c·Ac of the first step: one element each.
    curvature: Buffer<f64>,
    length: Buffer<f64>,
    /// Weights of the two directions.
    weights: [Buffer<f64>; 2],
}

impl<S: Real> KrylovStep<S> {
    /// For a level with this matrix.
    pub(super) fn new(matrix: &DifferenceForm<S>) -> Self {
        let (backend, n) = (matrix.backend(), matrix.rows());
        KrylovStep {
            first: backend.zeros(n),
            first_product: backend.zeros(n),
            product: backend.zeros(n),
            partials: Partials::new(backend, n, 3),
            curvature: backend.zeros(1),
            length: backend.zeros(1),
            weights: [backend.zeros(1), backend.zeros(1)],
        }
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        3 * self.first.bytes()
    }

    /// Takes x, whose ghosts are known, as the first direction: b becomes the residual after its step.
    pub(super) fn first(&mut self, a: &DifferenceForm<S>, x: &Buffer<S>, b: &mut Buffer<S>) {
        let (backend, n) = (a.backend(), a.rows());
        blas::copy(backend, n, x, &mut self.first);
        a.multiply(x, &mut self.first_product);
        let v = &self.first_product;
        first_products(backend, n, x, v, b, &mut self.partials);
        first_step(backend, &self.partials, &mut self.curvature, &mut self.length);
        subtract_step(backend, n, &self.length, v, b);
    }

    /// Takes x, whose ghosts are known, as the second direction: x becomes the best combination of both.
    pub(super) fn second(&mut self, a: &DifferenceForm<S>, b: &Buffer<S>, x: &mut Buffer<S>) {
        let (backend, n) = (a.backend(), a.rows());
        a.multiply(x, &mut self.product);
        let (v, w) = (&self.first_product, &self.product);
        second_products(backend, n, x, v, w, b, &mut self.partials);
        let [one, two] = &mut self.weights;
        let (partials, curvature, length) = (&self.partials, &self.curvature, &self.length);
        second_step(backend, partials, curvature, length, one, two);
        combine_directions(backend, n, &self.first, one, two, x);
    }
}

/// c·v and c·b. Traffic 3s.
#[kernel(reduce(sum, sum))]
pub(super) fn first_products<S: Real>(
    i: usize,
    c: &View<S>,
    v: &View<S>,
    b: &View<S>,
) -> (f64, f64) {
    (c[i].to_f64() * v[i].to_f64(), c[i].to_f64() * b[i].to_f64())
}

/// The curvature c·v and the step c·b / c·v, 0 where c·v is not positive.
#[kernel(combine(sum, sum), out(curvature, length))]
pub(super) fn first_step(cv: f64, cb: f64) -> (f64, f64) {
    let mut length = f64::literal(0.0);
    if cv > f64::literal(0.0) {
        length = cb / cv;
    }
    (cv, length)
}

/// b ← b − α v. Traffic 3s.
#[kernel(update(b))]
pub(super) fn subtract_step<S: Real>(i: usize, length: &View<f64>, v: &View<S>, b: S) -> S {
    b - S::from_f64(length[0]) * v[i]
}

/// d·v, d·w and d·r. Traffic 4s.
#[kernel(reduce(sum, sum, sum))]
pub(super) fn second_products<S: Real>(
    i: usize,
    d: &View<S>,
    v: &View<S>,
    w: &View<S>,
    r: &View<S>,
) -> (f64, f64, f64) {
    let d = d[i].to_f64();
    (d * v[i].to_f64(), d * w[i].to_f64(), d * r[i].to_f64())
}

/// Weights of both directions: with γ = d·v, β = d·w, ρ = β − γ²/c·v they are α − γ d·r / (ρ c·v) and
/// d·r / ρ; the second is 0 where d is parallel to c.
#[kernel(combine(sum, sum, sum), out(one, two))]
pub(super) fn second_step(
    gamma: f64,
    beta: f64,
    dr: f64,
    curvature: &View<f64>,
    length: &View<f64>,
) -> (f64, f64) {
    let mut one = length[0];
    let mut two = f64::literal(0.0);
    if curvature[0] > f64::literal(0.0) {
        let rest = beta - gamma * gamma / curvature[0];
        if rest > f64::literal(1e-12) * beta {
            two = dr / rest;
            one -= gamma * two / curvature[0];
        }
    }
    (one, two)
}

/// x ← one c + two x. Traffic 3s.
#[kernel(update(x))]
pub(super) fn combine_directions<S: Real>(
    i: usize,
    c: &View<S>,
    one: &View<f64>,
    two: &View<f64>,
    x: S,
) -> S {
    S::from_f64(one[0]) * c[i] + S::from_f64(two[0]) * x
}
