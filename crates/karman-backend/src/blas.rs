//! Vector updates and reductions: the streaming primitives every solver is made of.
//!
//! Traffic is given per entity for scalars of `s` bytes. Vectors have at least `n` elements; where
//! they have more (ghost entities), the rest is left alone.

#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::{Backend, BackendError, Buffer, Element, Partials, Segment, View};
use crate::prelude::*;
use crate::real::Real;

/// y ← x. Traffic 2s.
#[kernel(out(y), unroll(4))]
pub fn copy<F: Element>(i: usize, x: &View<F>) -> F {
    x[i]
}

/// y_i ← x_(first + i). Traffic 2s.
#[kernel(out(y), unroll(4))]
pub fn copy_from_range<F: Element>(i: usize, x: &View<F>, first: usize) -> F {
    x[first + i]
}

/// y_(first + i) ← x_i. Traffic 2s.
#[kernel]
pub fn copy_to_range<F: Element>(i: usize, x: &View<F>, first: usize, y: &mut Segment<F>) {
    y[first + i] = x[i];
}

/// y_(to + i) ← x_(from + e_i) for entries e. Traffic 4 + 2s.
#[kernel]
pub fn copy_entries_to_range<F: Element>(
    i: usize,
    x: &View<F>,
    from: usize,
    entries: &View<u32>,
    to: usize,
    y: &mut Segment<F>,
) {
    y[to + i] = x[from + entries[i] as usize];
}

/// y ← a, the same everywhere. Traffic s.
#[kernel(out(y), unroll(4))]
pub fn fill<F: Element>(_i: usize, a: F) -> F {
    a
}

/// y ← a y. Traffic 2s.
#[kernel(update(y), unroll(4))]
pub fn scale<F: Real>(_i: usize, a: F, y: F) -> F {
    a * y
}

/// y ← a x + b y. Traffic 3s.
#[kernel(update(y), unroll(4))]
pub fn axpby<F: Real>(i: usize, a: F, x: &View<F>, b: F, y: F) -> F {
    a * x[i] + b * y
}

/// y ← y + a x. Traffic 3s.
#[kernel(update(y), unroll(4))]
pub fn axpy<F: Real>(i: usize, a: F, x: &View<F>, y: F) -> F {
    y + a * x[i]
}

/// z ← a x + b y + c z. Traffic 4s.
#[kernel(update(z), unroll(4))]
pub fn axpbypcz<F: Real>(i: usize, a: F, x: &View<F>, b: F, y: &View<F>, c: F, z: F) -> F {
    a * x[i] + b * y[i] + c * z
}

/// z ← x y, entity by entity. Traffic 3s.
#[kernel(out(z), unroll(4))]
pub fn multiply<F: Real>(i: usize, x: &View<F>, y: &View<F>) -> F {
    x[i] * y[i]
}

/// Block results of Σ x y. Traffic 2s.
#[kernel(reduce(sum), unroll(8))]
pub fn dot_partials<F: Real>(i: usize, x: &View<F>, y: &View<F>) -> F {
    x[i] * y[i]
}

/// Block results of Σ x. Traffic s.
#[kernel(reduce(sum), unroll(8))]
pub fn sum_partials<F: Real>(i: usize, x: &View<F>) -> F {
    x[i]
}

/// Block results of min x and max x. Traffic s.
#[kernel(reduce(min, max), unroll(8))]
pub fn range_partials<F: Real>(i: usize, x: &View<F>) -> (F, F) {
    (x[i], x[i])
}

/// The finished sum.
#[kernel(combine(sum), out(result))]
pub fn finish_sum(total: f64) -> f64 {
    total
}

/// The finished smallest and largest value.
#[kernel(combine(min, max), out(smallest, largest))]
pub fn finish_range(smallest: f64, largest: f64) -> (f64, f64) {
    (smallest, largest)
}

/// Σ x y over the first `n` entities, read back to the host.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn dot<F: Real>(
    backend: &Backend,
    n: usize,
    x: &Buffer<F>,
    y: &Buffer<F>,
) -> Result<f64, BackendError> {
    let mut partials = Partials::new(backend, n, 1);
    dot_partials(backend, n, x, y, &mut partials);
    let mut result = backend.zeros(1);
    finish_sum(backend, &partials, &mut result);
    Ok(backend.read(&result)?[0])
}

/// Σ x over the first `n` entities, read back to the host.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn sum<F: Real>(backend: &Backend, n: usize, x: &Buffer<F>) -> Result<f64, BackendError> {
    let mut partials = Partials::new(backend, n, 1);
    sum_partials(backend, n, x, &mut partials);
    let mut result = backend.zeros(1);
    finish_sum(backend, &partials, &mut result);
    Ok(backend.read(&result)?[0])
}

/// The smallest and largest of the first `n` entities, read back to the host; none where `n` is 0.
///
/// # Errors
/// [`BackendError::Device`] where the device failed.
pub fn range<F: Real>(
    backend: &Backend,
    n: usize,
    x: &Buffer<F>,
) -> Result<Option<(f64, f64)>, BackendError> {
    if n == 0 {
        return Ok(None);
    }
    let mut partials = Partials::new(backend, n, 2);
    range_partials(backend, n, x, &mut partials);
    let (mut smallest, mut largest) = (backend.zeros(1), backend.zeros(1));
    finish_range(backend, &partials, &mut smallest, &mut largest);
    Ok(Some((backend.read(&smallest)?[0], backend.read(&largest)?[0])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SIZES, everywhere, round_off, values};

    fn narrow<F: Real>(v: &[f64]) -> Vec<F> {
        v.iter().map(|x| F::from_f64(*x)).collect()
    }

    /// Every streaming kernel in turn, so that each one's result feeds the next.
    fn chain<F: Real>(backend: &Backend, n: usize) -> Vec<F> {
        backend.install(|| {
            let x = backend.upload(narrow::<F>(&values(n, 1)));
            let mut y = backend.upload(narrow::<F>(&values(n, 2)));
            let (mut z, mut w) = (backend.zeros::<F>(n), backend.zeros::<F>(n));
            fill(backend, n, F::literal(0.25), &mut w);
            copy(backend, n, &x, &mut z);
            axpy(backend, n, F::literal(0.5), &x, &mut y);
            axpby(backend, n, F::literal(-2.0), &y, F::literal(0.125), &mut z);
            axpbypcz(
                backend,
                n,
                F::literal(3.0),
                &x,
                F::literal(0.75),
                &y,
                F::literal(-1.0),
                &mut w,
            );
            multiply(backend, n, &w, &z, &mut y);
            scale(backend, n, F::literal(0.5), &mut y);
            backend.read(&y).unwrap()
        })
    }

    #[test]
    fn listed_entries_are_copied_on_every_backend() {
        for backend in everywhere() {
            for n in SIZES {
                let x: Vec<f64> = values(n + 3, 1);
                let entries: Vec<u32> = (0..n as u32).rev().step_by(2).collect();
                let mut y = backend.zeros(entries.len() + 2);
                let (of, list) = (backend.upload(x.clone()), backend.upload(entries.clone()));
                copy_entries_to_range(&backend, entries.len(), &of, 3, &list, 1, &mut y);
                let copied = entries.iter().map(|entry| x[3 + *entry as usize]);
                let want: Vec<f64> = [0.0].into_iter().chain(copied).chain([0.0]).collect();
                assert_eq!(backend.read(&y).unwrap(), want, "{backend:?} {n}");
            }
        }
    }

    #[test]
    fn streaming_kernels_agree_on_every_backend() {
        for n in SIZES {
            let (x, y) = (values(n, 1), values(n, 2));
            let want: Vec<f64> = x
                .iter()
                .zip(&y)
                .map(|(x, y)| {
                    let y = y + 0.5 * x;
                    let z = -2.0 * y + 0.125 * x;
                    0.5 * (3.0 * x + 0.75 * y - 0.25) * z
                })
                .collect();
            for backend in everywhere() {
                for (got, want) in chain::<f64>(&backend, n).iter().zip(&want) {
                    assert!((got - want).abs() < 1e-14, "{backend:?} {got} {want}");
                }
                for (got, want) in chain::<f32>(&backend, n).iter().zip(&want) {
                    assert!((f64::from(*got) - want).abs() < 1e-5, "{backend:?} {got} {want}");
                }
            }
        }
    }

    #[test]
    fn reductions_agree_on_every_backend() {
        for n in SIZES {
            let (x, y) = (values(n, 3), values(n, 4));
            let exact: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
            let least = x.iter().copied().fold(f64::MAX, f64::min);
            let largest = x.iter().copied().fold(f64::MIN, f64::max);
            let mut bits = vec![];
            for backend in everywhere() {
                let (bx, by) = (backend.upload(x.clone()), backend.upload(y.clone()));
                let got = backend.install(|| dot(&backend, n, &bx, &by)).unwrap();
                assert!((got - exact).abs() <= round_off(n, 1.0), "{backend:?} {got} {exact}");
                let again = dot(&backend, n, &bx, &by).unwrap();
                assert_eq!(got.to_bits(), again.to_bits());
                if backend.device().is_none() {
                    bits.push(got.to_bits());
                }
                let range = range(&backend, n, &bx).unwrap();
                assert_eq!(range, (n > 0).then_some((least, largest)));
                let total: f64 = x.iter().sum();
                let got = sum(&backend, n, &bx).unwrap();
                assert!((got - total).abs() <= round_off(n, 1.0), "{backend:?} {got} {total}");
            }
            bits.dedup();
            assert_eq!(bits.len(), 1, "host reductions depend on the thread count at n = {n}");
        }
    }

    #[test]
    fn sums_of_single_precision_are_accumulated_in_double() {
        let n = 70_001;
        for backend in everywhere() {
            let x = backend.upload(vec![0.1f32; n]);
            let got = sum(&backend, n, &x).unwrap();
            assert!((got - n as f64 * f64::from(0.1f32)).abs() < 1e-9, "{backend:?} {got}");
        }
    }

    #[test]
    fn a_minimum_never_sees_what_lies_beyond_the_count() {
        for backend in everywhere() {
            let x = backend.upload(vec![3.0, 2.0, 5.0, -100.0, 100.0]);
            assert_eq!(range(&backend, 3, &x).unwrap(), Some((2.0, 5.0)));
        }
    }
}
