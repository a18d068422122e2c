//! Breakdown, stagnation, singular systems and invalid input.

use super::convergence_state::{ConvergenceState, status};
use super::solver::check_outcome;
use super::testing::*;
use super::*;
use karman_backend::testing::{devices, everywhere, values};

const METHODS: [Method; 5] = [
    Method::ConjugateGradient,
    Method::SingleReduction,
    Method::FlexibleConjugateGradient,
    Method::BiCgStab,
    Method::Fgmres,
];

fn matrix(rows: usize, columns: usize, entries: &[(u32, u32, f64)]) -> CsrMatrix<f64> {
    CsrMatrix::from_entries(rows, columns, entries.to_vec()).unwrap()
}

#[test]
fn empty_systems_and_one_equation_are_solved() {
    for method in METHODS {
        for preconditioner in [PreconditionerKind::None, PreconditionerKind::GaussSeidel] {
            for backend in everywhere() {
                let params = with(method, preconditioner);
                let (outcome, x) = solved::<f64>(&backend, &matrix(0, 0, &[]), &[], &params);
                assert_eq!((outcome.status, outcome.iterations), (Status::Converged, 0));
                assert_eq!((outcome.relative_residual, x.len()), (0.0, 0));
                let one = matrix(1, 1, &[(0, 0, 4.0)]);
                let (outcome, x) = solved::<f64>(&backend, &one, &[3.0], &params);
                assert_eq!((outcome.status, outcome.iterations), (Status::Converged, 1));
                assert_eq!(x, [0.75], "{method:?} {preconditioner:?}");
            }
        }
    }
}

#[test]
fn a_zero_right_hand_side_gives_zero() {
    let a = poisson_2d(20);
    let zero = vec![0.0; a.rows()];
    for method in METHODS {
        for backend in everywhere() {
            let params = with(method, PreconditionerKind::Jacobi);
            let (outcome, x) = solved::<f64>(&backend, &a, &zero, &params);
            assert_eq!((outcome.status, outcome.iterations), (Status::Converged, 0));
            assert_eq!((outcome.relative_residual, &x), (0.0, &zero));
            // From another guess the first residual takes the place of b.
            let guess = values(a.rows(), 3);
            let (outcome, x) = solved_from::<f64>(&backend, &a, &zero, &guess, &params);
            assert!(outcome.is_converged() && outcome.iterations > 10, "{outcome}");
            assert!((outcome.reference - norm(&a.times(&guess))).abs() < 1e-10);
            assert!(norm(&x) < 1e-5 * norm(&guess));
        }
    }
}

#[test]
fn an_exact_guess_takes_no_iteration() {
    let a = poisson_2d(10);
    let guess: Vec<f64> = (0..a.rows()).map(|i| (i % 5) as f64).collect();
    for method in METHODS {
        for backend in everywhere() {
            let params = with(method, PreconditionerKind::None);
            let (outcome, x) = solved_from::<f64>(&backend, &a, &a.times(&guess), &guess, &params);
            assert_eq!((outcome.status, outcome.iterations), (Status::Converged, 0));
            assert_eq!(x, guess);
        }
    }
}

#[test]
fn iterations_are_as_many_as_requested() {
    let a = poisson_2d(30);
    let b = values(a.rows(), 4);
    for method in METHODS {
        // BiCGStab amplifies round-off faster than the others.
        let count = if method == Method::BiCgStab { 20 } else { 50 };
        let params = Params {
            relative_tolerance: 0.0,
            max_iterations: count,
            ..with(method, PreconditionerKind::Jacobi)
        };
        let mut first: Option<Vec<f64>> = None;
        for backend in everywhere() {
            let (outcome, x) = solved::<f64>(&backend, &a, &b, &params);
            assert_eq!((outcome.status, outcome.iterations), (Status::MaxIterations, count));
            let text = format!("not converged after {count} iterations, relative residual");
            assert!(outcome.to_string().starts_with(&text));
            let want = first.get_or_insert_with(|| x.clone());
            let scale = norm(want);
            for (got, want) in x.iter().zip(want.iter()) {
                assert!((got - want).abs() < 1e-9 * scale, "{backend:?} {method:?} {got} {want}");
            }
        }
        let none = Params { max_iterations: 0, ..params };
        let (outcome, x) = solved::<f64>(&host(), &a, &b, &none);
        assert_eq!((outcome.status, outcome.iterations), (Status::MaxIterations, 0));
        assert_eq!((outcome.relative_residual, x), (1.0, vec![0.0; a.rows()]));
    }
}

#[test]
fn a_tolerance_below_round_off_ends_in_stagnation() {
    let a = poisson_2d(40);
    let b = values(a.rows(), 5);
    for method in METHODS {
        for backend in [host()].into_iter().chain(devices()) {
            let params = Params {
                relative_tolerance: 0.0,
                max_iterations: 100_000,
                ..with(method, PreconditionerKind::GaussSeidel)
            };
            let (outcome, x) = solved::<f64>(&backend, &a, &b, &params);
            assert_eq!(outcome.status, Status::Stagnated, "{method:?} {outcome}");
            assert!(outcome.iterations < 1000, "{method:?} {outcome}");
            assert!(residual_of(&a, &b, &x) < 1e-14, "{method:?} {outcome}");
            let single = Params { relative_tolerance: 1e-9, ..params };
            let (outcome, _) = solved::<f32>(&backend, &a, &b, &single);
            assert_eq!(outcome.status, Status::Stagnated, "{method:?} {outcome}");
            assert!(outcome.relative_residual < 2e-6, "{method:?} {outcome}");
            assert!(outcome.to_string().starts_with("stagnated after"));
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_reported_at_once() {
    let a = poisson_2d(20);
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let mut b = values(a.rows(), 6);
        b[17] = bad;
        for method in METHODS {
            for backend in everywhere() {
                let params = with(method, PreconditionerKind::Jacobi);
                let (outcome, _) = solved::<f64>(&backend, &a, &b, &params);
                assert_eq!((outcome.status, outcome.iterations), (Status::NotANumber, 0));
                assert!(outcome.to_string().starts_with("not a number after 0 iterations"));
            }
        }
    }
}

#[test]
fn an_indefinite_matrix_breaks_conjugate_gradients_down() {
    let mut entries: Vec<_> = (0..50).map(|r| (r, r, 1.0 + f64::from(r))).collect();
    entries[20].2 = -3.0;
    let a = matrix(50, 50, &entries);
    let b = vec![1.0; 50];
    for method in &METHODS[..3] {
        for backend in everywhere() {
            let (outcome, x) =
                solved::<f64>(&backend, &a, &b, &with(*method, PreconditionerKind::None));
            let Status::Breakdown(Breakdown::Operator { curvature }) = outcome.status else {
                panic!("{method:?} {outcome}");
            };
            assert!(curvature < 0.0 && outcome.iterations < 50, "{outcome}");
            assert!(x.iter().all(|v| v.is_finite()));
            let text = outcome.to_string();
            assert!(text.starts_with("broke down (p·Ap = -"), "{text}");
            assert!(text.contains("the matrix is not positive definite"), "{text}");
            let (outcome, _) =
                solved::<f64>(&backend, &a, &b, &with(*method, PreconditionerKind::Jacobi));
            assert!(outcome.is_converged() && outcome.iterations <= 1, "{method:?} {outcome}");
        }
    }
    // The methods for any matrix solve it.
    for method in &METHODS[3..] {
        let params = with(*method, PreconditionerKind::None);
        assert!(solved::<f64>(&host(), &a, &b, &params).0.is_converged());
    }
}

#[test]
fn a_negative_preconditioner_breaks_conjugate_gradients_down() {
    let mut entries: Vec<_> = (0..50).map(|r| (r, r, -1.0)).collect();
    entries.extend((0..49).map(|r| (r, r + 1, -0.25)));
    entries.extend((0..49).map(|r| (r + 1, r, -0.25)));
    let a = matrix(50, 50, &entries);
    for method in &METHODS[..3] {
        for backend in everywhere() {
            let params = with(*method, PreconditionerKind::Jacobi);
            let (outcome, _) = solved::<f64>(&backend, &a, &[1.0; 50], &params);
            let Status::Breakdown(Breakdown::Preconditioner { product }) = outcome.status else {
                panic!("{method:?} {outcome}");
            };
            assert!(product < 0.0);
            assert_eq!(outcome.iterations, 0);
            assert!(outcome.to_string().contains("the preconditioner is not positive definite"));
        }
    }
}

#[test]
fn a_skew_matrix_breaks_bicgstab_down_and_not_gmres() {
    let a = matrix(2, 2, &[(0, 1, 1.0), (1, 0, -1.0)]);
    for backend in everywhere() {
        let params = with(Method::BiCgStab, PreconditionerKind::None);
        let (outcome, _) = solved::<f64>(&backend, &a, &[1.0, 0.0], &params);
        let shadow = Status::Breakdown(Breakdown::Shadow { product: 0.0 });
        assert_eq!((outcome.status, outcome.iterations), (shadow, 0));
        let text = "broke down (the shadow residual is orthogonal to the residual (0.000e0)) after";
        assert!(outcome.to_string().starts_with(text), "{outcome}");
        let params = with(Method::Fgmres, PreconditionerKind::None);
        let (outcome, x) = solved::<f64>(&backend, &a, &[1.0, 0.0], &params);
        assert_eq!((outcome.status, outcome.iterations), (Status::Converged, 2));
        assert!(x[0].abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
    }
}

#[test]
fn the_true_residual_decides() {
    let stop = |status, detail| ConvergenceState {
        active: 0.0,
        stepping: 0.0,
        status,
        iterations: 7.0,
        residual: 1e-20,
        reference: 1.0,
        tolerance: 1e-16,
        limit: 100.0,
        detail,
        least: 1e-20,
        least_at: 7.0,
        replacement: 0.0,
        rho: 0.0,
        alpha: 0.0,
    };
    let now = |residual| ConvergenceState { residual, ..stop(status::RUNNING, 0.0) };
    let verdict = |why, detail, residual, before| {
        check_outcome(&stop(why, detail), &now(residual), 1e-8, (before, 0), false)
    };
    assert_eq!(verdict(status::TARGET, 0.0, 1e-17, 1.0), Some(Status::Converged));
    // The recurrence has drifted from the true residual: a restart, as long as that reduces it.
    assert_eq!(verdict(status::TARGET, 0.0, 1e-15, 1.0), None);
    assert_eq!(verdict(status::TARGET, 0.0, 1e-15, 2e-15), Some(Status::Stagnated));
    assert_eq!(verdict(status::PLATEAU, 0.0, 1e-3, 1e-3), Some(Status::Stagnated));
    assert_eq!(verdict(status::OMEGA, 0.0, 1e-3, 1.0), None);
    let omega = Status::Breakdown(Breakdown::Omega { omega: 0.0 });
    assert_eq!(verdict(status::OMEGA, 0.0, 1e-3, 1e-3), Some(omega));
    assert_eq!(verdict(status::OPERATOR, f64::NAN, 1e-3, 1.0), Some(Status::NotANumber));
    assert_eq!(verdict(status::RUNNING, 0.0, 0.99, 1.0), None);
    assert_eq!(verdict(status::RUNNING, 0.0, 1.0, 1.0), Some(Status::Stagnated));
    let late = check_outcome(&stop(status::TARGET, 0.0), &now(1e-15), 1e-8, (1.0, 1000), false);
    assert_eq!(late, Some(Status::Stagnated));
    // A singular operator in round-off: a restart, then stagnation; without progress from the start a breakdown.
    let singular = |residual, before, restarts| {
        let stop = stop(status::OPERATOR, -1.0);
        check_outcome(&stop, &now(residual), 1e-8, (before, restarts), true)
    };
    assert_eq!(singular(1e-6, 1e-3, 0), None);
    assert_eq!(singular(1e-6, 1e-6, 1), Some(Status::Stagnated));
    let operator = Status::Breakdown(Breakdown::Operator { curvature: -1.0 });
    assert_eq!(singular(1.0, 1.0, 0), Some(operator));
    let text = Breakdown::Omega { omega: 0.0 }.to_string();
    assert_eq!(text, "ω = 0.000e0: the stabilisation step of BiCGStab vanishes");
}

#[test]
fn constants_are_projected_out_of_a_singular_system() {
    let a = neumann_2d(30);
    let mut b = values(a.rows(), 7);
    let mean = b.iter().sum::<f64>() / b.len() as f64;
    b.iter_mut().for_each(|v| *v -= mean);
    for method in METHODS {
        for preconditioner in [PreconditionerKind::Jacobi, PreconditionerKind::GaussSeidel] {
            let params = Params { nullspace: Nullspace::Constant, ..with(method, preconditioner) };
            for backend in everywhere() {
                let guess = vec![5.0; b.len()];
                let (outcome, x) = solved_from::<f64>(&backend, &a, &b, &guess, &params);
                assert!(outcome.is_converged() && outcome.is_compatible(), "{method:?} {outcome}");
                assert!(residual_of(&a, &b, &x) <= 1e-8);
                assert!(x.iter().sum::<f64>().abs() < 1e-9 * norm(&x), "x has a constant part");
                // A constant part of b is projected out and reported.
                let shifted: Vec<f64> = b.iter().map(|v| v + 0.5).collect();
                let (outcome, with_part) =
                    solved_from::<f64>(&backend, &a, &shifted, &guess, &params);
                assert!(outcome.is_converged() && !outcome.is_compatible(), "{outcome}");
                let share = 0.5 * (b.len() as f64).sqrt() / norm(&shifted);
                assert!((outcome.incompatibility - share).abs() < 1e-12);
                let text = outcome.to_string();
                assert!(text.contains("the right-hand side has a constant part ("), "{text}");
                let scale = norm(&x);
                let off = x.iter().zip(&with_part).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 1e-6 * scale);
            }
        }
    }
}

/// Row sums of such a matrix in single precision are round-off, of either sign.
#[test]
fn singular_systems_with_inexact_row_sums_are_solved_in_single_precision() {
    let uniform = neumann_2d(40);
    let n = uniform.rows();
    let mut entries = vec![];
    for row in 0..n {
        for (column, value) in uniform.row(row).filter(|(column, _)| *column != row) {
            let value = value * (1.0 + 0.3 * ((row + column) as f64).sin());
            let (row, column) = (row as u32, column as u32);
            entries.extend([(row, column, value), (row, row, -value)]);
        }
    }
    let a = CsrMatrix::from_entries(n, n, entries).unwrap();
    let mut b = values(n, 7);
    let mean = b.iter().sum::<f64>() / n as f64;
    b.iter_mut().for_each(|v| *v -= mean);
    let amg = PreconditionerKind::Amg(AmgParams::default());
    for preconditioner in [PreconditionerKind::Jacobi, amg] {
        let params = Params {
            nullspace: Nullspace::Constant,
            relative_tolerance: 1e-5,
            ..with(Method::ConjugateGradient, preconditioner)
        };
        for backend in everywhere() {
            let (outcome, x) = solved::<f32>(&backend, &a, &b, &params);
            assert!(outcome.is_converged(), "{preconditioner:?}, {backend:?}: {outcome}");
            assert!(residual_of(&a, &b, &x) <= 1e-4, "{preconditioner:?}, {backend:?}");
        }
    }
}

#[test]
fn a_constant_right_hand_side_of_a_singular_system_gives_zero() {
    let a = neumann_2d(8);
    let params = Params { nullspace: Nullspace::Constant, ..Params::default() };
    for backend in everywhere() {
        let (outcome, x) = solved::<f64>(&backend, &a, &[2.0; 64], &params);
        assert_eq!((outcome.status, outcome.iterations), (Status::Converged, 0));
        assert!((outcome.incompatibility - 1.0).abs() < 1e-15);
        assert_eq!(x, [0.0; 64]);
    }
}

#[test]
fn matrices_and_vectors_that_do_not_fit_are_named() {
    let refused = |a: CsrMatrix<f64>, preconditioner| {
        let params = with(Method::ConjugateGradient, preconditioner);
        solver::<f64>(&host(), &a, &params).err().unwrap().to_string()
    };
    let none = PreconditionerKind::None;
    let wide = matrix(1, 2, &[(0, 0, 1.0)]);
    assert_eq!(refused(wide, none), "the matrix has 1 rows and 2 columns; a system must be square");
    let gap = matrix(3, 3, &[(0, 0, 1.0), (2, 2, 1.0)]);
    assert_eq!(refused(gap, none), "row 1 of the matrix is empty: nothing determines its unknown");
    let hollow = [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0)];
    let chebyshev = PreconditionerKind::Chebyshev { degree: 3, ratio: 10.0 };
    for kind in [PreconditionerKind::Jacobi, PreconditionerKind::GaussSeidel, chebyshev] {
        assert_eq!(
            refused(matrix(2, 2, &hollow), kind),
            "the diagonal of row 1 is 0; this preconditioner divides by it"
        );
    }
    let params = Params { relative_tolerance: 2.0, ..Params::default() };
    let error = solver::<f64>(&host(), &poisson_2d(2), &params).err().unwrap().to_string();
    assert_eq!(error, "relative_tolerance = 2: it lies in [0, 1)");
    let backend = host();
    let mut solver = solver::<f64>(&backend, &poisson_2d(2), &Params::default()).unwrap();
    let (short, good) = (backend.zeros(3), backend.zeros(4));
    let error = solver.solve(&short, &mut backend.zeros(4)).unwrap_err().to_string();
    assert_eq!(error, "the right-hand side has 3 elements, but the system has 4 unknowns");
    let error = solver.solve(&good, &mut backend.zeros(5)).unwrap_err().to_string();
    assert_eq!(error, "the solution has 5 elements, but the system has 4 unknowns");
}

#[test]
fn a_matrix_too_large_for_its_indices_is_refused() {
    let too_long = |_| usize::MAX / 4;
    let error = CsrMatrix::<f64>::from_rows(1, 1, too_long, |_, _, _| {}).unwrap_err();
    assert!(error.to_string().ends_with("stored entries; at most 4294967295 fit"), "{error}");
}
