//! Constants projected out of vectors, for operators that map them to zero.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, BackendError, Buffer, Components, Partials, View};

/// Mean of a vector and the share of its constant component.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct ConstantComponent<F: Real> {
    /// Σ v / n.
    pub mean: F,
    /// (Σ v)² / (n v·v), between 0 and 1.
    pub share: F,
}

/// Subtracts means; scratch for one vector at a time.
pub(super) struct ConstantProjection {
    /// Entries of a vector, and of those of all ranks.
    rows: usize,
    total: usize,
    part: Buffer<f64>,
    partials: Partials,
}

impl ConstantProjection {
    /// For vectors of `rows` entries, on one of several ranks the part of vectors of `total` entries.
    pub(super) fn new(backend: &Backend, rows: usize, total: usize) -> Self {
        ConstantProjection {
            rows,
            total,
            part: backend.zeros(<ConstantComponent<f64> as Components>::COUNT),
            partials: Partials::new(backend, rows, 2),
        }
    }

    /// v ← v − mean(v).
    pub(super) fn project<T: Real>(&mut self, backend: &Backend, v: &mut Buffer<T>) {
        sum_and_square(backend, self.rows, v, &mut self.partials);
        constant_part(backend, &self.partials, self.total as f64, &mut self.part);
        subtract_constant(backend, self.rows, &self.part, v);
    }

    /// |Σ v| / (√n ‖v‖) of the last projected vector before its projection.
    ///
    /// # Errors
    /// [`BackendError::Device`] where the device failed.
    pub(super) fn share(&self, backend: &Backend) -> Result<f64, BackendError> {
        Ok(backend.read(&self.part)?[1].max(0.0).sqrt())
    }
}

/// Σ v and Σ v². Traffic s.
#[kernel(reduce(sum, sum))]
pub(super) fn sum_and_square<F: Real>(i: usize, v: &View<F>) -> (f64, f64) {
    let v = v[i].to_f64();
    (v, v * v)
}

/// The mean and its share of the squared norm.
#[kernel(combine(sum, sum), out(part))]
pub(super) fn constant_part(sum: f64, square: f64, count: f64) -> ConstantComponent<f64> {
    let mut share = f64::literal(0.0);
    if square > f64::literal(0.0) {
        share = sum * sum / (count * square);
    }
    ConstantComponent::<f64> { mean: sum / count, share }
}

/// v ← v − mean. Traffic 2s.
#[kernel(update(v), unroll(4))]
pub(super) fn subtract_constant<F: Real>(_i: usize, part: &View<f64>, v: F) -> F {
    v - F::from_f64(part[0])
}
