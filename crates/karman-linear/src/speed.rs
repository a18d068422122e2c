//! Times, printed by hand: `cargo test --release --lib linear::speed -- --ignored --nocapture`.

use super::testing::diamond;
use super::*;
use karman_backend::testing::values;
use karman_backend::{Backend, BackendKind, Partials};
use std::sync::Arc;
use std::time::Instant;

fn best(times: usize, mut work: impl FnMut()) -> f64 {
    work();
    let one = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..times).map(one).fold(f64::MAX, f64::min)
}

fn report(backend: &Backend, m: usize) {
    let a = diamond(m);
    let n = a.rows();
    let entries = a.entries();
    for layout in [Layout::Csr, Layout::SlicedEll] {
        let matrix = Matrix::with_layout(backend, a.clone(), layout).unwrap();
        let x = backend.upload(values(n, 1));
        let mut y = backend.zeros(n);
        let mut partials = Partials::new(backend, n, 5);
        let seconds = backend.install(|| {
            best(5, || {
                for _ in 0..10 {
                    matrix.multiply_dot(&x, &mut y, &mut partials);
                }
                backend.synchronize().unwrap();
            }) / 10.0
        });
        let bytes = (matrix.bytes() + 16 * n) as f64;
        eprintln!(
            "{backend:?} {n} rows {entries} entries {layout:?} product {:.1} us {:.1} GB/s",
            1e6 * seconds,
            1e-9 * bytes / seconds
        );
    }
    let matrix = Arc::new(Matrix::new(backend, a.clone()).unwrap());
    let b = backend.upload(a.times(&vec![1.0; n]).iter().map(|v| v + 0.5).collect());
    let cases = [
        (Method::ConjugateGradient, PreconditionerKind::Jacobi),
        (Method::SingleReduction, PreconditionerKind::Jacobi),
        (Method::ConjugateGradient, PreconditionerKind::GaussSeidel),
        (Method::ConjugateGradient, PreconditionerKind::Chebyshev { degree: 3, ratio: 30.0 }),
        (Method::BiCgStab, PreconditionerKind::Jacobi),
        (Method::Fgmres, PreconditionerKind::GaussSeidel),
    ];
    let single = StoredPrecision::Single;
    let precisions = [StoredPrecision::Same, single];
    let all = cases.into_iter().flat_map(|c| precisions.map(|p| (c.0, c.1, p)));
    for (method, preconditioner, preconditioner_precision) in all {
        let slow = matches!(method, Method::BiCgStab | Method::Fgmres);
        if slow && (n > 1_000_000 || preconditioner_precision == single) {
            continue;
        }
        let params = Params {
            method,
            preconditioner,
            preconditioner_precision,
            max_iterations: 5000,
            ..Params::default()
        };
        let start = Instant::now();
        let mut solver = Solver::new(backend, Arc::clone(&matrix), &params).unwrap();
        let setup = start.elapsed().as_secs_f64();
        let mut outcome = None;
        let seconds = best(3, || {
            let mut x = backend.zeros(n);
            outcome = Some(solver.solve(&b, &mut x).unwrap());
        });
        let outcome = outcome.unwrap();
        eprintln!(
            "{method:?} {preconditioner:?} {preconditioner_precision:?}: set-up {:.1} ms, \
             {outcome}, {:.2} ms, {:.1} us each",
            1e3 * setup,
            1e3 * seconds,
            1e6 * seconds / outcome.iterations as f64
        );
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p karman-linear --lib times_on_the_host \
            -- --ignored --nocapture"]
fn times_on_the_host() {
    for threads in [1, 2] {
        let backend = Backend::host(threads).unwrap();
        report(&backend, 37);
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p karman-linear --features cuda --lib times_on_cuda \
            -- --ignored --nocapture"]
fn times_on_cuda() {
    let backend = Backend::new(BackendKind::Cuda, 2).unwrap();
    for m in [16, 37, 105] {
        report(&backend, m);
    }
}
