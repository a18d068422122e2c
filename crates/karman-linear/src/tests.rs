//! Solves by every method and preconditioner, on every backend.

use super::testing::*;
use super::*;
use karman_backend::testing::{devices, everywhere, values};
use karman_backend::{Backend, Buffer, blas};
use std::sync::Arc;

const METHODS: [Method; 5] = [
    Method::ConjugateGradient,
    Method::SingleReduction,
    Method::FlexibleConjugateGradient,
    Method::BiCgStab,
    Method::Fgmres,
];

const CHEBYSHEV: PreconditionerKind = PreconditionerKind::Chebyshev { degree: 4, ratio: 30.0 };

const LINEAR: [PreconditionerKind; 4] = [
    PreconditionerKind::None,
    PreconditionerKind::Jacobi,
    PreconditionerKind::GaussSeidel,
    CHEBYSHEV,
];

#[test]
fn methods_take_the_expected_iterations_everywhere() {
    let (flat, solid, wind) = (poisson_2d(40), poisson_3d(12), convection_2d(40, 0.5));
    let cases = [
        (&flat, Method::ConjugateGradient, vec![124, 124, 62, 35]),
        (&solid, Method::ConjugateGradient, vec![46, 45, 23, 15]),
        (&flat, Method::SingleReduction, vec![124, 124, 62, 35]),
        (&flat, Method::FlexibleConjugateGradient, vec![124, 124, 62, 35]),
        (&wind, Method::BiCgStab, vec![72, 73, 36]),
        (&wind, Method::Fgmres, vec![268, 269, 110]),
    ];
    for (a, method, expected) in cases {
        let b = values(a.rows(), 11);
        for (preconditioner, expected) in LINEAR.into_iter().zip(expected) {
            let params = Params { record_history: true, ..with(method, preconditioner) };
            let mut bits = vec![];
            for backend in everywhere() {
                let (outcome, x) = solved::<f64>(&backend, a, &b, &params);
                let name = format!("{backend:?} {method:?} {preconditioner:?} {outcome}");
                assert!(outcome.is_converged(), "{name}");
                assert!(outcome.iterations.abs_diff(expected) <= 1, "{name}");
                assert!((residual_of(a, &b, &x) - outcome.relative_residual).abs() < 1e-13);
                assert_eq!(outcome.history.len(), outcome.iterations + 1);
                assert_eq!(outcome.history.last(), Some(&outcome.relative_residual));
                if backend.device().is_none() {
                    bits.push((outcome, x));
                }
            }
            bits.dedup();
            assert_eq!(bits.len(), 1, "{method:?} {preconditioner:?} depends on the threads");
        }
    }
}

#[test]
fn every_method_finds_the_solution_of_elimination() {
    for n in [2, 33] {
        for method in METHODS {
            let general = matches!(method, Method::BiCgStab | Method::Fgmres);
            let a = if general { scattered(n) } else { scattered_symmetric(n) };
            let b = values(n, 21).iter().map(|v| v + 0.25).collect::<Vec<_>>();
            let want = dense_solution(&a, &b);
            let scale = norm(&want);
            for preconditioner in LINEAR {
                let params = Params { relative_tolerance: 1e-12, ..with(method, preconditioner) };
                let single = Params { relative_tolerance: 1e-5, ..params.clone() };
                for backend in everywhere() {
                    let (outcome, x) = solved::<f64>(&backend, &a, &b, &params);
                    let name =
                        format!("n = {n} {backend:?} {method:?} {preconditioner:?} {outcome}");
                    assert!(outcome.is_converged(), "{name}");
                    for (got, want) in x.iter().zip(&want) {
                        assert!((got - want).abs() <= 1e-10 * scale, "{name}: {got} {want}");
                    }
                    let (outcome, x) = solved::<f32>(&backend, &a, &b, &single);
                    assert!(outcome.is_converged(), "single precision, {name}: {outcome}");
                    for (got, want) in x.iter().zip(&want) {
                        assert!((got - want).abs() <= 1e-4 * scale, "{name}: {got} {want}");
                    }
                }
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_how_often_the_host_checks() {
    let a = poisson_2d(25);
    let b = values(a.rows(), 12);
    for method in METHODS {
        for backend in [Backend::host(2).unwrap()].into_iter().chain(devices()) {
            let mut seen = vec![];
            for interval in [1, 3, 16, 50] {
                let params = Params {
                    iterations_per_check: Some(interval),
                    record_history: true,
                    ..with(method, PreconditionerKind::Jacobi)
                };
                seen.push(solved::<f64>(&backend, &a, &b, &params));
                let params = Params { max_iterations: 13, relative_tolerance: 0.0, ..params };
                let (outcome, _) = solved::<f64>(&backend, &a, &b, &params);
                assert_eq!((outcome.iterations, outcome.status), (13, Status::MaxIterations));
            }
            seen.dedup();
            assert_eq!(seen.len(), 1, "{backend:?} {method:?}");
        }
    }
}

/// A + c I applied by two kernels: an operator without fused products.
struct Shifted {
    matrix: Arc<Matrix<f64>>,
    shift: f64,
}

impl Operator<f64> for Shifted {
    fn unknowns(&self) -> usize {
        self.matrix.as_ref().rows()
    }
    fn apply(&mut self, backend: &Backend, x: &Buffer<f64>, y: &mut Buffer<f64>) {
        self.matrix.multiply(x, y);
        blas::axpy(backend, x.len(), self.shift, x, y);
    }
}

#[test]
fn an_operator_is_solved_with_a_separate_preconditioning_matrix() {
    let wind = convection_2d(20, 0.3);
    let diffusion = poisson_2d(20);
    let b = values(wind.rows(), 15);
    let mut entries = vec![];
    for r in 0..wind.rows() {
        entries.extend(wind.row(r).map(|(c, v)| (r as u32, c as u32, v)));
        entries.push((r as u32, r as u32, 0.5));
    }
    let whole = CsrMatrix::from_entries(wind.rows(), wind.rows(), entries).unwrap();
    for method in [Method::BiCgStab, Method::Fgmres] {
        for preconditioner in LINEAR {
            for backend in everywhere() {
                let matrix = Arc::new(Matrix::new(&backend, wind.clone()).unwrap());
                let diffusion = Arc::new(Matrix::new(&backend, diffusion.clone()).unwrap());
                let operator = Box::new(Shifted { matrix, shift: 0.5 });
                let params = with(method, preconditioner);
                let mut solver =
                    Solver::with_operator(&backend, operator, Some(diffusion), &params).unwrap();
                let mut x = backend.zeros(b.len());
                let outcome = solver.solve(&backend.upload_slice(&b), &mut x).unwrap();
                let residual = residual_of(&whole, &b, &backend.read(&x).unwrap());
                assert!(outcome.is_converged(), "{method:?} {preconditioner:?} {outcome}");
                assert!((residual - outcome.relative_residual).abs() < 1e-13);
            }
        }
    }
    let matrix = Arc::new(Matrix::new(&host(), wind).unwrap());
    let operator = || Box::new(Shifted { matrix: Arc::clone(&matrix), shift: 0.5 });
    let params = with(Method::BiCgStab, PreconditionerKind::GaussSeidel);
    let error = Solver::with_operator(&host(), operator(), None, &params).err().unwrap();
    let want = "the preconditioner `gauss_seidel` needs a matrix, but none was given";
    assert_eq!(error.to_string(), want);
    let small = Arc::new(Matrix::new(&host(), poisson_2d(3)).unwrap());
    let error = Solver::with_operator(&host(), operator(), Some(small), &params).err().unwrap();
    assert_eq!(error.to_string(), "the matrix has 9 rows, but 400 are expected");
}

#[test]
fn a_solver_serves_many_right_hand_sides() {
    let a = poisson_2d(30);
    for method in METHODS {
        for backend in [host()].into_iter().chain(devices()) {
            let params = with(method, PreconditionerKind::Jacobi);
            let mut reused = solver::<f64>(&backend, &a, &params).unwrap();
            for seed in [31, 32, 33] {
                let mut b = values(a.rows(), seed);
                if seed == 32 {
                    b[5] = f64::NAN;
                }
                let mut x = backend.zeros(b.len());
                let outcome = reused.solve(&backend.upload_slice(&b), &mut x).unwrap();
                if seed == 32 {
                    assert_eq!(outcome.status, Status::NotANumber);
                    continue;
                }
                let (fresh, want) = solved::<f64>(&backend, &a, &b, &params);
                assert_eq!((outcome, backend.read(&x).unwrap()), (fresh, want));
            }
            reused.set_relative_tolerance(1e-3).unwrap();
            let b = backend.upload(values(a.rows(), 31));
            let outcome = reused.solve(&b, &mut backend.zeros(b.len())).unwrap();
            assert!(outcome.is_converged() && outcome.relative_residual > 1e-5, "{outcome}");
            assert!(reused.set_relative_tolerance(1.5).is_err());
        }
    }
}

#[test]
fn a_solve_that_is_stopped_returns_its_last_iterate() {
    let a = poisson_2d(40);
    let b = values(a.rows(), 11);
    let backend = Backend::host(2).unwrap();
    for method in METHODS {
        for preconditioner in [PreconditionerKind::None, CHEBYSHEV] {
            let params = Params { iterations_per_check: Some(1), ..with(method, preconditioner) };
            let matrix = Arc::new(Matrix::new(&backend, a.clone()).unwrap());
            let mut solver = Solver::<f64>::new(&backend, matrix, &params).unwrap();
            let asked = std::sync::atomic::AtomicUsize::new(0);
            let next = move || asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            solver.stop_when(Arc::new(move || next() >= 4));
            let (rhs, mut x) = (backend.upload(b.clone()), backend.zeros(b.len()));
            let outcome = solver.solve(&rhs, &mut x).unwrap();
            assert_eq!(outcome.status, Status::Interrupted, "{method:?} {outcome}");
            assert!((1..40).contains(&outcome.iterations), "{method:?} {outcome}");
            assert!(outcome.to_string().starts_with("interrupted after "), "{outcome}");
            let x = backend.read(&x).unwrap();
            let residual = residual_of(&a, &b, &x);
            assert!((residual - outcome.relative_residual).abs() < 1e-12 && residual < 1.0);
        }
    }
}
