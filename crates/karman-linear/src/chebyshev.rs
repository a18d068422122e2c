//! A Chebyshev polynomial in D⁻¹A as a preconditioner (Saad, Iterative Methods for Sparse Linear
//! Systems, 2nd ed., algorithm 12.1, started from zero): no reduction, each step one product fused
//! with its vector updates. Symmetric in the D product, so it serves conjugate gradients.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::krylov::fill_ghosts;
use super::matrix::MatrixView;
use super::{Layout, LinearError, Matrix, Preconditioner};
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Backend, Buffer, View, blas};
use std::sync::Arc;

/// Lanczos steps of the estimate of the largest eigenvalue.
const LANCZOS_STEPS: usize = 12;
/// Safety factor: Lanczos approaches the eigenvalue from below.
const SAFETY: f64 = 1.1;

/// `degree` steps damping the eigenvalues of D⁻¹A from λ/ratio to λ, the matrix stored in `S`.
pub struct Chebyshev<T, S> {
    matrix: Arc<Matrix<S>>,
    inverse: Buffer<S>,
    /// Weights of the old direction and of the residual, for each step after the first.
    weights: Vec<(T, T)>,
    /// 1/θ: the first step.
    first: T,
    largest: f64,
    direction: Buffer<T>,
    other: Buffer<T>,
}

impl<T: Real, S: Real> Chebyshev<T, S> {
    /// The polynomial for `matrix`, whose largest eigenvalue is estimated here.
    ///
    /// # Errors
    /// [`LinearError::Diagonal`] where D has no inverse, [`LinearError::Spectrum`] where no positive
    /// eigenvalue is found, [`LinearError::Backend`].
    pub fn new(matrix: Arc<Matrix<S>>, degree: usize, ratio: f64) -> Result<Self, LinearError> {
        let backend = matrix.backend().clone();
        let n = matrix.rows();
        let (inverse, other) = (matrix.inverse_diagonal()?, matrix.vector());
        let largest = SAFETY * largest_eigenvalue(&matrix)?;
        let smallest = largest / ratio;
        let (theta, delta) = (0.5 * (largest + smallest), 0.5 * (largest - smallest));
        let sigma = theta / delta;
        let mut rho = 1.0 / sigma;
        let weights = (1..degree).map(|_| {
            let next = 1.0 / (2.0 * sigma - rho);
            let pair = (T::from_f64(next * rho), T::from_f64(2.0 * next / delta));
            rho = next;
            pair
        });
        Ok(Chebyshev {
            weights: weights.collect(),
            first: T::from_f64(1.0 / theta),
            largest,
            inverse,
            matrix,
            direction: backend.zeros(n),
            other,
        })
    }

    /// The upper end of the interval.
    pub fn largest(&self) -> f64 {
        self.largest
    }
}

impl<T: Real, S: Real> Preconditioner<T> for Chebyshev<T, S> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        let n = self.matrix.rows();
        let a = self.matrix.view();
        let (d, inverse, other) = (&mut self.direction, &self.inverse, &mut self.other);
        // The iterate changes between two vectors so that the last one is z.
        let mut into_z = self.weights.len().is_multiple_of(2);
        let start = if into_z { &mut *z } else { &mut *other };
        chebyshev_start(backend, n, r, inverse, self.first, d, start);
        for (old, new) in self.weights.iter().copied() {
            into_z = !into_z;
            let (from, to) = if into_z { (&mut *other, &mut *z) } else { (&mut *z, &mut *other) };
            fill_ghosts(self.matrix.halo(), from);
            chebyshev_step(backend, n, &a, from, r, inverse, old, new, d, to);
        }
    }

    fn bytes(&self) -> usize {
        let vector = self.direction.bytes();
        let step = self.matrix.bytes() + self.inverse.bytes() + 5 * vector;
        self.weights.len() * step + self.inverse.bytes() + 3 * vector
    }
}

/// d ← D⁻¹ r / θ, z ← d. Traffic 3s and that of D⁻¹.
#[kernel(out(d, z))]
pub(super) fn chebyshev_start<F: Real, S: Real>(
    i: usize,
    r: &View<F>,
    inverse: &View<S>,
    first: F,
) -> (F, F) {
    let d = first * convert::<S, F>(inverse[i]) * r[i];
    (d, d)
}

/// d ← a d + b D⁻¹ (r − A z), z' ← z + d. Traffic of the product, 4s and D⁻¹.
#[kernel(update(d), out(new), specialize(a.layout = Layout::Csr))]
pub(super) fn chebyshev_step<F: Real, S: Real>(
    row: usize,
    a: &MatrixView<S>,
    z: &View<F>,
    r: &View<F>,
    inverse: &View<S>,
    old_weight: F,
    new_weight: F,
    d: F,
) -> (F, F) {
    let rest = r[row] - a.row_product::<F>(row, z);
    let direction = old_weight * d + new_weight * convert::<S, F>(inverse[row]) * rest;
    (direction, z[row] + direction)
}

/// The largest eigenvalue of D⁻¹A from the Lanczos matrix that conjugate gradients with Jacobi
/// produce (Saad, §6.7.3), from a fixed start vector.
///
/// # Errors
/// [`LinearError::Diagonal`], [`LinearError::Spectrum`], [`LinearError::Backend`].
pub fn largest_eigenvalue<S: Real>(matrix: &Matrix<S>) -> Result<f64, LinearError> {
    let backend = matrix.backend();
    let inverse = matrix.inverse_diagonal::<S>()?;
    backend.install(|| {
        let (n, total) = (matrix.rows(), matrix.total_rows());
        let mut r = backend.upload(start_vector::<S>(matrix.first_row(), n));
        let (mut z, mut q) = (backend.zeros(n), backend.zeros(n));
        blas::multiply(backend, n, &inverse, &r, &mut z);
        let mut p = matrix.vector();
        blas::copy(backend, n, &z, &mut p);
        let mut rz = blas::dot(backend, n, &r, &z)?;
        let (mut diagonal, mut off_diagonal) = (vec![], vec![]);
        let (mut alpha, mut beta) = (1.0, 0.0);
        for _ in 0..LANCZOS_STEPS.min(total) {
            fill_ghosts(matrix.halo(), &mut p);
            matrix.multiply(&p, &mut q);
            let curvature = blas::dot(backend, n, &p, &q)?;
            if !(curvature.abs() > 0.0 && rz.abs() > 0.0) {
                break;
            }
            let before = alpha;
            alpha = rz / curvature;
            diagonal.push(1.0 / alpha + beta / before);
            blas::axpy(backend, n, S::from_f64(-alpha), &q, &mut r);
            blas::multiply(backend, n, &inverse, &r, &mut z);
            let next = blas::dot(backend, n, &r, &z)?;
            beta = next / rz;
            off_diagonal.push(beta.max(0.0).sqrt() / alpha);
            rz = next;
            blas::axpby(backend, n, S::literal(1.0), &z, S::from_f64(beta), &mut p);
        }
        let estimate = largest_of_tridiagonal(&diagonal, &off_diagonal);
        if estimate.is_finite() && estimate > 0.0 {
            Ok(estimate)
        } else if total == 0 {
            Ok(1.0)
        } else {
            Err(LinearError::Spectrum { estimate })
        }
    })
}

/// Values between ½ and 1½ without a pattern, the fractional parts of multiples of (√5 − 1) / 2: a vector
/// with a component along every eigenvector. The `n` entries from `first` on.
fn start_vector<S: Real>(first: usize, n: usize) -> Vec<S> {
    (first..first + n)
        .map(|i| S::from_f64(0.5 + (i as f64 * 0.618_033_988_749_894_9).fract()))
        .collect()
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection on Sturm's sign count.
fn largest_of_tridiagonal(diagonal: &[f64], off_diagonal: &[f64]) -> f64 {
    let k = diagonal.len();
    let at = |i: usize| if i + 1 < k { off_diagonal[i].abs() } else { 0.0 };
    let reach = |i: usize| at(i) + if i > 0 { at(i - 1) } else { 0.0 };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (i, d) in diagonal.iter().enumerate() {
        low = low.max(*d);
        high = high.max(d + reach(i));
    }
    // Whether every eigenvalue is below x: all pivots of T − x are negative.
    let all_below = |x: f64| {
        let mut pivot = -1.0;
        (0..k).all(|i| {
            let coupling = if i > 0 { at(i - 1) * at(i - 1) / pivot } else { 0.0 };
            pivot = diagonal[i] - x - coupling;
            pivot < 0.0
        })
    };
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if all_below(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CsrMatrix;
    use crate::testing::poisson_2d;
    use karman_backend::testing::everywhere;

    #[test]
    fn the_largest_eigenvalue_of_tridiagonal_matrices_is_exact() {
        assert!((largest_of_tridiagonal(&[3.0], &[7.0]) - 3.0).abs() < 1e-12);
        assert!((largest_of_tridiagonal(&[2.0, 2.0], &[1.0, 0.0]) - 3.0).abs() < 1e-12);
        let n = 9;
        let want = 2.0 + 2.0 * (std::f64::consts::PI / (n as f64 + 1.0)).cos();
        let got = largest_of_tridiagonal(&vec![2.0; n], &vec![-1.0; n]);
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }

    #[test]
    fn the_largest_eigenvalue_of_a_grid_is_estimated_from_below() {
        // Interior rows of D⁻¹A have radius 1 around 1: the spectrum reaches nearly 2.
        for backend in everywhere() {
            let m = Matrix::new(&backend, poisson_2d(30)).unwrap();
            let got = largest_eigenvalue(&m).unwrap();
            assert!(got > 1.8 && got < 2.0, "{backend:?} {got}");
        }
    }

    #[test]
    fn a_matrix_without_an_interval_is_refused() {
        let (tiny, large) = (1e-150, 1e200);
        let entries = vec![(0, 0, tiny), (0, 1, large), (1, 0, large), (1, 1, tiny)];
        let a = CsrMatrix::from_entries(2, 2, entries).unwrap();
        let m = Arc::new(Matrix::new(&Backend::host(1).unwrap(), a).unwrap());
        let error = Chebyshev::<f64, f64>::new(m, 3, 30.0).err().unwrap().to_string();
        assert!(error.starts_with("the Chebyshev preconditioner found no positive largest eig"));
    }

    #[test]
    fn an_eigenvector_is_damped_by_the_chebyshev_polynomial() {
        let n = 50u32;
        let entries = (0..n).flat_map(|r| {
            let off_diagonal = [(r > 0, r.wrapping_sub(1)), (r + 1 < n, r + 1)];
            let off_diagonal = off_diagonal.into_iter().filter(|(inside, _)| *inside);
            off_diagonal.map(move |(_, c)| (r, c, -1.0)).chain([(r, r, 2.0)])
        });
        let a = CsrMatrix::from_entries(n as usize, n as usize, entries.collect()).unwrap();
        for backend in everywhere() {
            for (degree, mode) in [(1, 40), (2, 3), (5, 25), (8, 50)] {
                let m = Arc::new(Matrix::new(&backend, a.clone()).unwrap());
                let mut polynomial = Chebyshev::<f64, f64>::new(m, degree, 20.0).unwrap();
                let angle = f64::from(mode) * std::f64::consts::PI / f64::from(n + 1);
                let x: Vec<f64> = (1..=n).map(|i| (f64::from(i) * angle).sin()).collect();
                let mut z = backend.zeros(x.len());
                polynomial.apply(&backend, &backend.upload(a.times(&x)), &mut z);
                let (low, high) = (polynomial.largest() / 20.0, polynomial.largest());
                let at = |lambda: f64| {
                    let t = (high + low - 2.0 * lambda) / (high - low);
                    // T_k by its recurrence, inside and outside of [-1, 1].
                    let (mut before, mut now) = (1.0, t);
                    for _ in 1..degree {
                        (before, now) = (now, 2.0 * t * now - before);
                    }
                    now
                };
                let factor = at(1.0 - angle.cos()) / at(0.0);
                for (z, x) in backend.read(&z).unwrap().iter().zip(&x) {
                    assert!((x - z - factor * x).abs() < 1e-12, "{backend:?} degree {degree}");
                }
            }
        }
    }
}
