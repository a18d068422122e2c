//! Initial guesses for a sequence of systems with slowly varying right-hand sides.
//!
//! x = Σ c_k x_k of the solutions x_k of the last [`DEPTH`] right-hand sides b_k, with c that minimises
//! ‖b − Σ c_k b_k‖² + τ² Σ c_k² ‖b_k‖². A x_k = b_k up to the tolerance τ of the solves, whose errors the second term keeps from
//! growing; no product is needed. The residual is never larger than that of a zero guess. For equal steps and a smooth b, c is
//! about (4, −6, 4, −1). The Gram matrix of the b_k stays on the backend and gains a row with each system.
//!
//! Source: Fischer, Comput. Methods Appl. Mech. Engrg. 163 (1998) 193, with the norm of the residual.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Local, Partials, Segment, View, blas};

/// Right-hand sides that a guess combines.
pub const DEPTH: usize = 4;

/// A right-hand side counts as a combination of others where the remainder of its square is below this part of it.
const PARALLEL: f64 = 1e-13;

/// Four vectors: `[n]` each.
#[derive(Group, Clone, Copy)]
pub(super) struct Four<'a, F: Real> {
    /// The newest.
    v0: View<'a, F>,
    /// The second.
    v1: View<'a, F>,
    /// The third.
    v2: View<'a, F>,
    /// The oldest.
    v3: View<'a, F>,
}

impl<'a, F: Real> Four<'a, F> {
    fn of(vectors: &'a [Buffer<F>; DEPTH]) -> Self {
        let [v0, v1, v2, v3] = vectors;
        Four { v0: v0.view(), v1: v1.view(), v2: v2.view(), v3: v3.view() }
    }
}

/// c.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Coefficients<F: Real> {
    /// Of the newest.
    pub c0: F,
    /// Of the second.
    pub c1: F,
    /// Of the third.
    pub c2: F,
    /// Of the oldest.
    pub c3: F,
}

/// The last right-hand sides and the solutions before the last one.
pub struct InitialGuess<T: Real> {
    /// x₂, x₃, x₄: each `[n]`.
    pub solutions: [Buffer<T>; DEPTH - 1],
    /// b₁ … b₄: each `[n]`.
    pub right_hand_sides: [Buffer<T>; DEPTH],
    /// Whether to discard the history at the next system.
    pub is_new: bool,
    /// Whether the right-hand sides were replaced from outside.
    pub is_restored: bool,
    /// b_j·b_k: `[DEPTH][DEPTH]`.
    gram: Buffer<f64>,
    coefficients: Buffer<f64>,
    /// τ².
    noise: f64,
    sums: Partials,
}

impl<T: Real> InitialGuess<T> {
    /// For systems of `n` rows that are solved to `tolerance`, with an empty history.
    pub fn new(backend: &Backend, n: usize, tolerance: f64) -> Self {
        let zeros = || backend.zeros(n);
        InitialGuess {
            solutions: [zeros(), zeros(), zeros()],
            right_hand_sides: [zeros(), zeros(), zeros(), zeros()],
            is_new: true,
            is_restored: false,
            gram: backend.zeros(DEPTH * DEPTH),
            coefficients: backend.zeros(DEPTH),
            noise: tolerance * tolerance,
            sums: Partials::new(backend, n, DEPTH),
        }
    }

    /// Stores `b` as the right-hand side of the last solution. The contents of `b` are undefined
    /// afterwards.
    pub fn store_right_hand_side(&mut self, backend: &Backend, b: &mut Buffer<T>) {
        let InitialGuess { solutions, right_hand_sides, is_new, gram, .. } = self;
        right_hand_sides.rotate_right(1);
        std::mem::swap(&mut right_hand_sides[0], b);
        if std::mem::take(is_new) {
            for buffer in solutions.iter_mut().chain(right_hand_sides) {
                blas::fill(backend, buffer.len(), T::literal(0.0), buffer);
            }
            blas::fill(backend, gram.len(), 0.0, gram);
        }
    }

    /// x ← Σ c_k x_k for the right-hand side `b`; `x` is the last solution, x₁. `b`, `x`: `[n]`.
    pub fn extrapolate(&mut self, backend: &Backend, b: &Buffer<T>, x: &mut Buffer<T>) {
        let InitialGuess { solutions, right_hand_sides, gram, coefficients, sums, .. } = self;
        let (n, of) = (b.len(), Four::of(right_hand_sides));
        let rows = if std::mem::take(&mut self.is_restored) { DEPTH } else { 1 };
        for row in (0..rows).rev() {
            products_with_four(backend, n, &right_hand_sides[row], &of, sums);
            set_gram_row(backend, sums, row, usize::from(rows == 1), gram);
        }
        products_with_four(backend, n, b, &of, sums);
        guess_coefficients(backend, sums, gram, self.noise, coefficients);
        let [second, third, oldest] = solutions;
        combine_guesses(backend, n, coefficients, second, third, x, oldest);
        solutions.rotate_right(1);
    }
}

/// x·v of four vectors v. Traffic 5s.
#[kernel(reduce(sum, sum, sum, sum), unroll(2))]
pub(super) fn products_with_four<F: Real>(
    i: usize,
    x: &View<F>,
    of: &Four<F>,
) -> (f64, f64, f64, f64) {
    let x = x[i].to_f64();
    (x * of.v0[i].to_f64(), x * of.v1[i].to_f64(), x * of.v2[i].to_f64(), x * of.v3[i].to_f64())
}

/// The row and the column `row` of the Gram matrix; before, with `shift` 1 and not 0, the others move on by one.
#[kernel(combine(sum, sum, sum, sum))]
pub(super) fn set_gram_row(
    p0: f64,
    p1: f64,
    p2: f64,
    p3: f64,
    row: usize,
    shift: usize,
    gram: &mut Segment<f64>,
) {
    if shift == 1 {
        for k in 0..3usize {
            let i = 3usize - k;
            for l in 0..3usize {
                let j = 3usize - l;
                gram[i * 4 + j] = gram[(i - 1) * 4 + j - 1];
            }
        }
    }
    gram[row * 4] = p0;
    gram[row * 4 + 1] = p1;
    gram[row * 4 + 2] = p2;
    gram[row * 4 + 3] = p3;
    for k in 0..4usize {
        gram[k * 4 + row] = gram[row * 4 + k];
    }
}

/// c from the products b·b_k: LDLᵀ of the Gram matrix with a diagonal larger by the factor 1 + `noise`; 0 for a vector that
/// is nearly a combination of newer ones.
#[kernel(combine(sum, sum, sum, sum), out(coefficients))]
pub(super) fn guess_coefficients(
    p0: f64,
    p1: f64,
    p2: f64,
    p3: f64,
    gram: &View<f64>,
    noise: f64,
) -> Coefficients<f64> {
    let zero = f64::literal(0.0);
    let mut lower = Local::<f64, 16>::zeros();
    let mut inverse = Local::<f64, 4>::zeros();
    let mut y = Local::<f64, 4>::zeros();
    y[0] = p0;
    y[1] = p1;
    y[2] = p2;
    y[3] = p3;
    for i in 0..4usize {
        for j in 0..i {
            // L_ij d_j; then L_ij.
            let mut value = gram[i * 4 + j];
            for k in 0..j {
                value -= lower[i * 4 + k] * lower[j * 4 + k];
            }
            lower[i * 4 + j] = value * inverse[j];
        }
        let own = gram[i * 4 + i];
        let mut pivot = own + noise * own;
        for k in 0..i {
            pivot -= lower[i * 4 + k] * lower[i * 4 + k];
        }
        // The root of 1/d: L √d in place of L.
        let mut root = zero;
        if pivot > f64::literal(PARALLEL) * own {
            root = f64::literal(1.0) / pivot.sqrt();
        }
        inverse[i] = root;
        let mut value = y[i];
        for k in 0..i {
            value -= lower[i * 4 + k] * y[k];
        }
        y[i] = value * root;
    }
    for k in 0..4usize {
        let i = 3usize - k;
        let mut value = y[i];
        for j in i + 1..4usize {
            value -= lower[j * 4 + i] * y[j];
        }
        y[i] = value * inverse[i];
    }
    Coefficients::<f64> { c0: y[0], c1: y[1], c2: y[2], c3: y[3] }
}

/// x ← c₁ x + c₂ x₂ + c₃ x₃ + c₄ x₄, x₄ ← x. Traffic 6s.
#[kernel(update(x, oldest), unroll(2))]
pub(super) fn combine_guesses<F: Real>(
    i: usize,
    c: &View<f64>,
    second: &View<F>,
    third: &View<F>,
    x: F,
    oldest: F,
) -> (F, F) {
    let newer = F::from_f64(c[0]) * x + F::from_f64(c[1]) * second[i];
    let older = F::from_f64(c[2]) * third[i] + F::from_f64(c[3]) * oldest;
    (newer + older, x)
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
        let mut guess = InitialGuess::<f64>::new(backend, n, 0.0);
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
    fn cubic_changes_are_extrapolated_exactly_and_the_first_guess_is_zero() {
        let terms: Vec<Vec<f64>> = (1..5).map(|seed| values(500, seed)).collect();
        let at = |t: f64| -> Vec<f64> {
            (0..500)
                .map(|i| terms[0][i] + t * (terms[1][i] + t * (terms[2][i] + t * terms[3][i])))
                .collect()
        };
        let times = [0.0, 1.0, 2.0, 3.0, 4.5, 3.8, 6.0];
        for backend in everywhere() {
            let all = guesses(&backend, &times.map(at));
            assert!(all[0].iter().all(|x| *x == 0.0));
            for (guess, t) in all.iter().zip(times).skip(DEPTH) {
                let far = norm(guess.iter().zip(at(t)).map(|(g, b)| g - 0.5 * b));
                // The normal equations have the square of the condition of the right-hand sides.
                assert!(far < 1e-6 * norm(at(t).into_iter()), "{backend:?} {t}: {far}");
            }
        }
    }

    /// Errors of the solves to a relative tolerance of 1e-3 enter a guess with the factor Σ|c|, 15 without bounds.
    #[test]
    fn errors_of_the_solves_are_not_amplified() {
        let (n, u, v) = (500, values(500, 1), values(500, 2));
        for backend in everywhere() {
            let mut guess = InitialGuess::<f64>::new(&backend, n, 1e-3);
            let (mut b, mut x) = (backend.zeros(n), backend.zeros(n));
            for step in 0..9 {
                let t = 1e-4 * f64::from(step);
                let now: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u + t * v).collect();
                guess.store_right_hand_side(&backend, &mut b);
                backend.write(&mut b, &now);
                backend.install(|| guess.extrapolate(&backend, &b, &mut x));
                let guessed = backend.read(&x).unwrap();
                let far = norm(guessed.iter().zip(&now).map(|(g, b)| 2.0 * g - b));
                let size = norm(now.iter().copied());
                assert!(step == 0 || far < 1.5e-3 * size, "{backend:?} {step}: {}", far / size);
                let error = values(n, 10 + step as u64);
                let scale = 1e-3 * size / norm(error.iter().copied());
                let solved = now.iter().zip(&error).map(|(b, e)| 0.5 * (b + scale * e));
                backend.write(&mut x, &solved.collect::<Vec<_>>());
            }
        }
    }

    /// As after a restart: the Gram matrix is that of the right-hand sides written from outside.
    #[test]
    fn restored_right_hand_sides_give_the_same_guess() {
        let all: Vec<Vec<f64>> = (1..8).map(|seed| values(300, seed)).collect();
        for backend in everywhere() {
            let mut guess = InitialGuess::<f64>::new(&backend, 300, 1e-6);
            let (mut b, mut x) = (backend.zeros(300), backend.zeros(300));
            let mut step = |guess: &mut InitialGuess<f64>, b: &mut Buffer<f64>, now: &Vec<f64>| {
                guess.store_right_hand_side(&backend, b);
                backend.write(b, now);
                backend.install(|| guess.extrapolate(&backend, b, &mut x));
                let guessed = backend.read(&x).unwrap();
                backend.write(&mut x, &now.iter().map(|v| 0.5 * v).collect::<Vec<_>>());
                guessed
            };
            for now in &all[..6] {
                step(&mut guess, &mut b, now);
            }
            let mut restored = InitialGuess::<f64>::new(&backend, 300, 1e-6);
            restored.is_new = false;
            restored.is_restored = true;
            let copies = restored.solutions.iter_mut().zip(&guess.solutions);
            for (to, from) in copies {
                backend.write(to, &backend.read(from).unwrap());
            }
            let copies = restored.right_hand_sides.iter_mut().zip(&guess.right_hand_sides);
            for (to, from) in copies {
                backend.write(to, &backend.read(from).unwrap());
            }
            let mut copy = backend.upload(backend.read(&b).unwrap());
            let expected = step(&mut guess, &mut b, &all[6]);
            backend.write(&mut x, &all[5].iter().map(|v| 0.5 * v).collect::<Vec<_>>());
            restored.store_right_hand_side(&backend, &mut copy);
            backend.write(&mut copy, &all[6]);
            backend.install(|| restored.extrapolate(&backend, &copy, &mut x));
            assert_eq!(backend.read(&x).unwrap(), expected, "{backend:?}");
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
            let mut guess = InitialGuess::<f64>::new(&backend, 50, 1e-6);
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
