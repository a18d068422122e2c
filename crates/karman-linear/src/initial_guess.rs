//! Initial guesses for a sequence of systems with slowly varying right-hand sides.
//!
//! x = c₁ x₁ + c₂ x₂ of the solutions x₁, x₂ of the last two right-hand sides b₁, b₂, with c₁, c₂ that
//! minimise ‖b − c₁ b₁ − c₂ b₂‖. The residual is never larger than that of a zero guess. A x_k = b_k, so no
//! product is needed. For equal time steps and a smooth b, c is about (2, −1).
//!
//! Source: Fischer, Comput. Methods Appl. Mech. Engrg. 163 (1998) 193, with two vectors and the norm of the
//! residual.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::operator::five_dots;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Partials, blas};

/// Right-hand sides count as parallel where the squared sine of their angle is below this.
const PARALLEL: f64 = 1e-9;

/// The last two right-hand sides and the solution before the last one.
pub struct InitialGuess<T: Real> {
    /// x₂: `[n]`.
    pub previous_solution: Buffer<T>,
    /// b₁, b₂: each `[n]`.
    pub right_hand_sides: [Buffer<T>; 2],
    /// Whether to discard the history at the next system.
    pub is_new: bool,
    sums: Partials,
}

impl<T: Real> InitialGuess<T> {
    /// For systems of `n` rows, with an empty history.
    pub fn new(backend: &Backend, n: usize) -> Self {
        InitialGuess {
            previous_solution: backend.zeros(n),
            right_hand_sides: [backend.zeros(n), backend.zeros(n)],
            is_new: true,
            sums: Partials::new(backend, n, 5),
        }
    }

    /// Stores `b` as the right-hand side of the last solution. The contents of `b` are undefined
    /// afterwards.
    pub fn store_right_hand_side(&mut self, backend: &Backend, b: &mut Buffer<T>) {
        let InitialGuess { previous_solution, right_hand_sides: [last, earlier], is_new, .. } =
            self;
        std::mem::swap(last, earlier);
        std::mem::swap(last, b);
        if std::mem::take(is_new) {
            for buffer in [previous_solution, last, earlier] {
                blas::fill(backend, buffer.len(), T::literal(0.0), buffer);
            }
        }
    }

    /// x ← c₁ x + c₂ x₂ for the right-hand side `b`; `x` is the last solution, x₁. `b`, `x`: `[n]`.
    pub fn extrapolate(&mut self, backend: &Backend, b: &Buffer<T>, x: &mut Buffer<T>) {
        let InitialGuess { previous_solution, right_hand_sides: [last, earlier], sums, .. } = self;
        let n = b.len();
        five_dots(backend, n, b, last, earlier, sums);
        combine_guesses(backend, n, sums, x, previous_solution);
    }
}

/// c₁ and c₂.
#[device]
#[derive(Clone, Copy)]
pub(super) struct Coefficients {
    last: f64,
    previous: f64,
}

/// min ‖b − c₁ b₁ − c₂ b₂‖ from b·b₂, b·b₁, b₁·b₁, b₁·b₂, b₂·b₂; c₂ = 0 where b₁ and b₂ are nearly parallel.
#[device]
fn least_squares(b2: f64, b1: f64, s11: f64, s12: f64, s22: f64) -> Coefficients {
    let zero = f64::literal(0.0);
    let mut coefficients = Coefficients { last: zero, previous: zero };
    if s11 > zero {
        coefficients.last = b1 / s11;
    }
    let determinant = s11 * s22 - s12 * s12;
    if determinant > f64::literal(PARALLEL) * s11 * s22 {
        coefficients.last = (b1 * s22 - b2 * s12) / determinant;
        coefficients.previous = (b2 * s11 - b1 * s12) / determinant;
    }
    coefficients
}

/// x ← c₁ x + c₂ x₂, x₂ ← x. Traffic 4s.
#[kernel(scalar(c = least_squares(5)), update(x, previous), unroll(2))]
pub(super) fn combine_guesses<F: Real>(_i: usize, c: Coefficients, x: F, previous: F) -> (F, F) {
    (F::from_f64(c.last) * x + F::from_f64(c.previous) * previous, x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use karman_backend::testing::{everywhere, values};

    fn norm(v: impl Iterator<Item = f64>) -> f64 {
        v.map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The guesses for the right-hand sides of `at`, each solved by x = b / 2.
    fn guesses(backend: &Backend, at: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let n = at[0].len();
        let mut guess = InitialGuess::<f64>::new(backend, n);
        let (mut b, mut x) = (backend.zeros(n), backend.zeros(n));
        let guessed = at.iter().map(|now| {
            guess.store_right_hand_side(backend, &mut b);
            backend.write(&mut b, now);
            backend.install(|| guess.extrapolate(backend, &b, &mut x));
            let guessed = backend.read(&x).unwrap();
            backend.write(&mut x, &now.iter().map(|v| 0.5 * v).collect::<Vec<_>>());
            guessed
        });
        guessed.collect()
    }

    #[test]
    fn linear_changes_are_extrapolated_exactly_and_the_first_guess_is_zero() {
        let (u, v) = (values(500, 1), values(500, 2));
        let at = |t: f64| u.iter().zip(&v).map(|(u, v)| u + t * v).collect::<Vec<_>>();
        for backend in everywhere() {
            let all = guesses(&backend, &[at(0.0), at(1.0), at(2.0), at(3.5), at(0.2)]);
            assert!(all[0].iter().all(|x| *x == 0.0));
            for (guess, t) in all[2..].iter().zip([2.0, 3.5, 0.2]) {
                let far = norm(guess.iter().zip(at(t)).map(|(g, b)| g - 0.5 * b));
                assert!(far < 1e-12 * norm(at(t).into_iter()), "{backend:?} {t}: {far}");
            }
        }
    }

    #[test]
    fn no_guess_is_worse_than_zero() {
        let some: Vec<Vec<f64>> = (1..6).map(|seed| values(300, seed)).collect();
        let same = vec![some[0].clone(), some[0].clone(), some[0].clone(), vec![0.0; 300]];
        for backend in everywhere() {
            for at in [&some, &same] {
                for (guess, b) in guesses(&backend, at).iter().zip(at) {
                    let far = norm(guess.iter().zip(b).map(|(g, b)| 2.0 * g - b));
                    let bound = norm(b.iter().copied());
                    assert!(far <= bound * (1.0 + 1e-12), "{backend:?} {far} {bound}");
                }
            }
        }
    }

    #[test]
    fn a_discarded_history_gives_a_zero_guess() {
        for backend in everywhere() {
            let mut guess = InitialGuess::<f64>::new(&backend, 50);
            for seed in 1..4 {
                let mut b = backend.upload(values(50, seed));
                guess.store_right_hand_side(&backend, &mut b);
            }
            guess.is_new = true;
            let mut last = backend.upload(values(50, 4));
            guess.store_right_hand_side(&backend, &mut last);
            let (b, mut x) = (backend.upload(values(50, 5)), backend.zeros(50));
            guess.extrapolate(&backend, &b, &mut x);
            assert!(backend.read(&x).unwrap().iter().all(|x| *x == 0.0));
        }
    }
}
