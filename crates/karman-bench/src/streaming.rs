//! Vector updates and reductions.

use super::{Bench, precision, values};
use karman::backend::{BackendError, Partials, blas};
use karman::real::Real;

/// Times the streaming kernels on vectors of `n` entities.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn streaming<F: Real>(bench: &mut Bench, n: usize) -> Result<(), BackendError> {
    let backend = bench.backend;
    let s = size_of::<F>() as f64;
    let precision = precision::<F>();
    let bytes = |vectors: f64| vectors * s * n as f64;
    let x = backend.upload(values::<F>(n));
    let mut y = backend.upload(values::<F>(n));
    let mut z = backend.upload(values::<F>(n));
    let (a, b, c) = (F::literal(0.5), F::literal(0.25), F::literal(0.25));
    bench.time("copy", precision, n, bytes(2.0), |k| blas::copy(k, n, &x, &mut y))?;
    bench.time("axpy", precision, n, bytes(3.0), |k| blas::axpy(k, n, c, &x, &mut y))?;
    bench.time("axpby", precision, n, bytes(3.0), |k| blas::axpby(k, n, a, &x, b, &mut y))?;
    bench.time("axpbypcz", precision, n, bytes(4.0), |k| {
        blas::axpbypcz(k, n, a, &x, b, &y, c, &mut z)
    })?;
    bench.time("multiply", precision, n, bytes(3.0), |k| blas::multiply(k, n, &x, &y, &mut z))?;
    let mut partials = Partials::new(backend, n, 2);
    let (mut low, mut high) = (backend.zeros(1), backend.zeros(1));
    bench.time("dot", precision, n, bytes(2.0), |k| {
        blas::dot_partials(k, n, &x, &z, &mut partials);
        blas::finish_sum(k, &partials, &mut low);
    })?;
    bench.time("sum", precision, n, bytes(1.0), |k| {
        blas::sum_partials(k, n, &x, &mut partials);
        blas::finish_sum(k, &partials, &mut low);
    })?;
    bench.time("min, max", precision, n, bytes(1.0), |k| {
        blas::range_partials(k, n, &x, &mut partials);
        blas::finish_range(k, &partials, &mut low, &mut high);
    })
}
