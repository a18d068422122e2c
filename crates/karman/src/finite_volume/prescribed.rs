//! Prescribed quantities, sampled at points and in time.

use crate::backend::{Backend, Buffer};
use rayon::prelude::*;

/// A quantity given at any place and time: a number, an expression, a table. Coordinates are
/// component-major, `points: [3][n]`.
pub trait Prescribed: Sync + Send {
    /// Values at `n` points at time `t` into `out: [n]`.
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]);
    /// Whether the values change in time.
    fn depends_on_time(&self) -> bool;
    /// How the values reach a backend at each new time.
    fn evaluation(&self, _backend: &Backend) -> Evaluation {
        Evaluation::OnHost
    }
}

/// How the values of a time-dependent quantity reach a backend.
pub enum Evaluation {
    /// [`Prescribed::sample`] at all points on the host; the values are then uploaded.
    OnHost,
    /// Uniform in space: [`Prescribed::sample`] at one point.
    Uniform,
    /// By kernels; only the time is uploaded.
    OnBackend(Box<dyn Evaluator>),
}

/// A quantity evaluated by kernels on a backend.
pub trait Evaluator: Send + Sync {
    /// Values at `points: [3][n]` at `time: [1]` into `out: [n]`.
    fn evaluate(
        &self,
        backend: &Backend,
        points: &Buffer<f64>,
        time: &Buffer<f64>,
        out: &mut Buffer<f64>,
    );
}

impl Prescribed for f64 {
    fn sample(&self, _: &[f64], _: f64, out: &mut [f64]) {
        out.fill(*self);
    }
    fn depends_on_time(&self) -> bool {
        false
    }
}

/// A closure of (point, time), for exact solutions and library use.
pub struct Function<F>(pub F);

impl<F: Fn([f64; 3], f64) -> f64 + Sync + Send> Prescribed for Function<F> {
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]) {
        sample_function(&|point| self.0(point, t), points, out);
    }
    fn depends_on_time(&self) -> bool {
        true
    }
}

/// Compiled once for all functions.
fn sample_function(value: &(dyn Fn([f64; 3]) -> f64 + Sync), points: &[f64], out: &mut [f64]) {
    let n = out.len();
    out.par_iter_mut().enumerate().with_min_len(1024).for_each(|(i, o)| {
        *o = value([points[i], points[n + i], points[2 * n + i]]);
    });
}
