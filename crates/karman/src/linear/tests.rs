//! Solves by every method, on every backend, that end in every way.

use super::testing::{poisson_2d, poisson_3d};
use super::*;
use crate::backend::Backend;
use crate::backend::testing::{everywhere, values};
use crate::real::Real;
use std::sync::Arc;

fn narrow<T: Real>(v: &[f64]) -> Vec<T> {
    v.iter().map(|x| T::narrow(*x)).collect()
}

/// Solves A x = b from zero.
fn solved<T: Real>(
    backend: &Backend,
    a: &CsrMatrix<f64>,
    b: &[f64],
    params: &Params,
) -> (SolveOutcome, Vec<f64>) {
    let matrix = Arc::new(Matrix::new(backend, a.converted::<T>()).unwrap());
    let mut solver = Solver::new(backend, matrix, params).unwrap();
    let b = backend.upload(narrow::<T>(b));
    let mut x = backend.zeros(b.len());
    let outcome = solver.solve(&b, &mut x).unwrap();
    (outcome, backend.read(&x).unwrap().iter().map(|v| (*v).into()).collect())
}

/// ‖b − A x‖ / ‖b‖ on the host.
fn residual_of(a: &CsrMatrix<f64>, b: &[f64], x: &[f64]) -> f64 {
    let square = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>();
    let rr = square(&mut a.times(x).iter().zip(b).map(|(ax, b)| b - ax));
    (rr / square(&mut b.iter().copied())).sqrt()
}

fn with(method: Method, preconditioner: PreconditionerKind) -> Params {
    Params { method, preconditioner, ..Params::default() }
}

#[test]
fn conjugate_gradients_take_the_expected_iterations_everywhere() {
    let none = PreconditionerKind::None;
    let jacobi = PreconditionerKind::Jacobi;
    let cases = [
        (poisson_2d(40), none, 124),
        (poisson_2d(40), jacobi, 124),
        (poisson_3d(12), none, 46),
        (poisson_3d(12), jacobi, 45),
    ];
    for (a, preconditioner, expected) in cases {
        let b = values(a.rows(), 11);
        let params =
            Params { record_history: true, ..with(Method::ConjugateGradient, preconditioner) };
        for backend in everywhere() {
            let (outcome, x) = solved::<f64>(&backend, &a, &b, &params);
            assert!(outcome.is_converged());
            assert!(residual_of(&a, &b, &x) <= 1e-8);
            assert_eq!(outcome.history.len(), outcome.iterations + 1);
            assert!(outcome.iterations.abs_diff(expected) <= 1, "{backend:?} {outcome}");
        }
    }
}
