//! Time averages of a field and of its fluctuations, accumulated on the backend.
//!
//! With samples q of weight Δt, T = Σ Δt up to the last sample and f = Δt/T, mean ← mean + f (q − mean) and
//! variance ← (1 − f)(variance + f (q − mean)²), the mean before its update: Welford's recurrence with weights, divided by T
//! (West, Comm. ACM 22 (1979) 532). No sum grows with T and no difference of squares is taken, so the variance is never
//! negative. Rounding: each sample adds at most ε|mean| to an error that the later samples reduce by 1 − f each, so that
//! after N equal steps it is about ε|mean| √(N/3), and N ε|mean|/2 at most; changes f (q − mean) below ε|mean|/2 are lost.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::{Backend, BackendError, Buffer, Components, View};
use crate::finite_volume::widen;
use crate::real::Real;
use karman_backend::prelude::*;

/// Mean and variance of a value.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub struct Moments<F: Real> {
    /// The mean.
    pub mean: F,
    /// The mean square of the difference from the mean.
    pub variance: F,
}

/// mean ← mean + f (q − level − mean).
///
/// Traffic 3s.
#[kernel(update(mean), unroll(4))]
pub fn add_to_mean<F: Real>(i: usize, q: &View<F>, level: F, fraction: F, mean: F) -> F {
    mean + fraction * (q[i] - level - mean)
}

/// mean ← mean + f d, variance ← (1 − f)(variance + f d²), d = q − level − mean.
///
/// Traffic 5s.
#[kernel(update(moments))]
pub fn add_to_moments<F: Real>(
    i: usize,
    q: &View<F>,
    level: F,
    fraction: F,
    moments: Moments<F>,
) -> Moments<F> {
    let d = q[i] - level - moments.mean;
    Moments::<F> {
        mean: moments.mean + fraction * d,
        variance: (F::literal(1.0) - fraction) * (moments.variance + fraction * d * d),
    }
}

/// The time average of a field, and where requested its variance.
pub struct TimeAverage<F: Real> {
    /// `[n]`, or `[2][n]`: mean and variance.
    values: Buffer<F>,
    n: usize,
}

impl<F: Real> TimeAverage<F> {
    /// The average of a field of `n` values, without a sample.
    pub fn new(backend: &Backend, n: usize, has_variance: bool) -> Self {
        let count = if has_variance { <Moments<F> as Components>::COUNT } else { 1 };
        TimeAverage { values: backend.zeros(count * n), n }
    }

    /// Adds the sample q − level, q: `[n]`; `fraction` is its weight over the sum of all weights with its own.
    pub fn add(&mut self, backend: &Backend, q: &Buffer<F>, level: f64, fraction: f64) {
        let (level, fraction) = (F::from_f64(level), F::from_f64(fraction));
        match self.values.len() == self.n {
            true => add_to_mean(backend, self.n, q, level, fraction, &mut self.values),
            false => add_to_moments(backend, self.n, q, level, fraction, &mut self.values),
        }
    }

    /// The mean, `[n]`, and the variance, `[n]` or empty.
    ///
    /// # Errors
    /// [`BackendError`] where the device failed.
    pub fn read(&self, backend: &Backend) -> Result<[Vec<f64>; 2], BackendError> {
        let mut mean = widen(backend, &self.values)?;
        let variance = mean.split_off(self.n);
        Ok([mean, variance])
    }

    /// Number of values: n, with the variance 2 n.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Replaces the mean, followed by the variance if there is one.
    pub fn set(&mut self, backend: &Backend, values: &[f64]) {
        let values: Vec<F> = values.iter().map(|v| F::from_f64(*v)).collect();
        backend.write(&mut self.values, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::{SIZES, everywhere, values};

    /// Mean and variance of four samples of different weight about a level of 100.
    fn averaged<F: Real>(backend: &Backend, n: usize, has_variance: bool) -> [Vec<f64>; 2] {
        backend.install(|| {
            let mut average = TimeAverage::<F>::new(backend, n, has_variance);
            let mut total = 0.0;
            for (sample, weight) in [0.5, 0.25, 0.125, 1.0].into_iter().enumerate() {
                total += weight;
                let q = values(n, sample as u64 + 1);
                let q = backend.upload(q.iter().map(|v| F::from_f64(100.0 + v)).collect());
                average.add(backend, &q, 100.0, weight / total);
            }
            average.read(backend).unwrap()
        })
    }

    fn compare<F: Real>(tolerance: f64) {
        let backends = everywhere();
        for n in SIZES {
            let want = averaged::<F>(&backends[0], n, true);
            for backend in &backends {
                let found = averaged::<F>(backend, n, true);
                let [mean_alone, none] = averaged::<F>(backend, n, false);
                assert!(none.is_empty());
                let allowed = if backend.device().is_none() { 0.0 } else { tolerance };
                let pairs = [(&found[0], &want[0]), (&found[1], &want[1]), (&mean_alone, &want[0])];
                for (found, want) in pairs {
                    assert_eq!(found.len(), n);
                    let pairs = found.iter().zip(want);
                    let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(error <= allowed, "{backend:?} {n}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn backends_agree() {
        compare::<f64>(1e-14);
        compare::<f32>(1e-5);
    }

    #[test]
    fn mean_and_variance_are_those_of_the_definition() {
        let n = 33;
        let [mean, variance] = averaged::<f64>(&Backend::host(1).unwrap(), n, true);
        let weights = [0.5, 0.25, 0.125, 1.0];
        let samples: Vec<Vec<f64>> = (1..=4).map(|seed| values(n, seed)).collect();
        for i in 0..n {
            let pairs = || samples.iter().map(|s| s[i]).zip(weights);
            let m = pairs().map(|(q, w)| q * w).sum::<f64>() / 1.875;
            let v = pairs().map(|(q, w)| (q - m).powi(2) * w).sum::<f64>() / 1.875;
            assert!((mean[i] - m).abs() < 1e-13 && (variance[i] - v).abs() < 1e-13);
            assert!(variance[i] >= 0.0);
        }
    }

    /// q = 300 + cos(0.1 k), 10⁵ steps in single precision: √(N/3) ε |mean| = 3·10⁻³.
    #[test]
    fn long_averages_in_single_precision_have_the_stated_error() {
        let backend = Backend::host(1).unwrap();
        let mut average = TimeAverage::<f32>::new(&backend, 1, true);
        for step in 0..100_000 {
            let value = 300.0 + (0.1 * f64::from(step)).cos();
            let q = backend.upload(vec![value as f32]);
            average.add(&backend, &q, 0.0, 1.0 / f64::from(step + 1));
        }
        let [mean, variance] = average.read(&backend).unwrap();
        assert!((mean[0] - 300.0).abs() < 6e-3, "{mean:?}");
        assert!((variance[0] - 0.5).abs() < 1e-3, "{variance:?}");
    }
}
