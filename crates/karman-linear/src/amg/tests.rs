//! Solves with multigrid on every backend.

use super::*;
use crate::testing::{
    diamond, neumann_2d, norm, poisson_2d, poisson_3d, residual_of, scattered_symmetric, solved,
    solver, with,
};
use crate::{CsrMatrix, Method, Nullspace, Params, PreconditionerKind};
use karman_backend::testing::{devices, everywhere, hosts, values};

fn amg(params: AmgParams) -> PreconditionerKind {
    PreconditionerKind::Amg(params)
}

/// Defaults with a coarsest level small enough for the meshes of these tests.
fn small() -> AmgParams {
    AmgParams { coarse_rows: 40, ..AmgParams::default() }
}

const CYCLE: CycleParams = CycleParams::DEFAULT;

/// As [`small`], with another cycle.
fn cycling(cycling: CycleParams) -> AmgParams {
    AmgParams { cycling, ..small() }
}

fn iterations(backend: &Backend, a: &CsrMatrix<f64>, method: Method, params: AmgParams) -> usize {
    let b = values(a.rows(), 11);
    let (outcome, x) = solved::<f64>(backend, a, &b, &with(method, amg(params)));
    assert!(outcome.is_converged(), "{backend:?} {params:?} {outcome}");
    assert!(residual_of(a, &b, &x) <= 1.01e-8, "{outcome}");
    outcome.iterations
}

#[test]
fn iterations_hardly_grow_with_the_size() {
    let host = Backend::host(2).unwrap();
    for coarsening in [Coarsening::Pmis, Coarsening::Aggregation] {
        let params = AmgParams { coarsening, ..small() };
        let counts: Vec<usize> = [8, 14, 24]
            .map(|m| iterations(&host, &diamond(m), Method::ConjugateGradient, params))
            .into();
        assert!(counts[2] <= counts[0] + 4 && counts[2] <= 18, "{coarsening:?} {counts:?}");
    }
}

#[test]
fn every_smoother_and_cycle_converges_everywhere_alike() {
    let a = diamond(9);
    let cg = Method::ConjugateGradient;
    let flexible = Method::FlexibleConjugateGradient;
    let cases = [
        (cg, small(), 16),
        (cg, cycling(CycleParams { smoother: Smoother::Chebyshev { degree: 2 }, ..CYCLE }), 12),
        (cg, cycling(CycleParams { smoother: Smoother::Chebyshev { degree: 4 }, ..CYCLE }), 10),
        (cg, cycling(CycleParams { smoother: Smoother::GaussSeidel, ..CYCLE }), 13),
        (cg, cycling(CycleParams { sweeps: [2, 2], ..CYCLE }), 13),
        (cg, cycling(CycleParams { cycle: Cycle::W, ..CYCLE }), 15),
        (flexible, cycling(CycleParams { cycle: Cycle::F, ..CYCLE }), 15),
        (flexible, cycling(CycleParams { cycle: Cycle::K, ..CYCLE }), 15),
        (flexible, cycling(CycleParams { sweeps: [0, 1], ..CYCLE }), 27),
        (cg, AmgParams { precision: HierarchyPrecision::Same, ..small() }, 16),
        (cg, AmgParams { coarsening: Coarsening::RugeStuben, ..small() }, 20),
        (cg, AmgParams { coarsening: Coarsening::Aggregation, pairwise_passes: 2, ..small() }, 20),
        (cg, AmgParams { pairwise_passes: 0, ..small() }, 16),
    ];
    for (method, params, most) in cases {
        let counts: Vec<usize> =
            everywhere().iter().map(|backend| iterations(backend, &a, method, params)).collect();
        let (least, largest) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(largest - least <= 1 && *largest <= most, "{params:?} {counts:?}");
    }
}

#[test]
fn a_solve_has_the_same_bits_for_any_number_of_threads() {
    let a = diamond(18);
    let b = values(a.rows(), 12);
    let params = with(Method::ConjugateGradient, amg(small()));
    let mut all: Vec<_> = hosts().iter().map(|h| solved::<f64>(h, &a, &b, &params)).collect();
    all.dedup();
    assert_eq!(all.len(), 1);
    for device in devices() {
        let [one, two] = [0, 1].map(|_| solved::<f64>(&device, &a, &b, &params));
        assert_eq!(one, two, "{device:?}");
    }
}

#[test]
fn the_cycle_is_symmetric_and_positive() {
    let a = poisson_3d(12);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (x, y) = (values(a.rows(), 42), values(a.rows(), 43));
    let smoothers = [Smoother::L1Jacobi, Smoother::Chebyshev { degree: 3 }, Smoother::GaussSeidel];
    for smoother in smoothers {
        for cycle in [Cycle::V, Cycle::W] {
            let params = AmgParams {
                precision: HierarchyPrecision::Same,
                cycling: CycleParams { smoother, cycle, ..CYCLE },
                ..small()
            };
            for backend in [hosts().remove(1)].into_iter().chain(devices()) {
                let matrix = Matrix::new(&backend, a.clone()).unwrap();
                let mut amg = Amg::<f64>::new(&matrix, &params).unwrap();
                assert!(Preconditioner::<f64>::is_symmetric(&amg));
                let mut applied = |v: &[f64]| {
                    let mut z = backend.zeros(v.len());
                    amg.apply(&backend, &backend.upload_slice(v), &mut z);
                    backend.read(&z).unwrap()
                };
                let (mx, my) = (applied(&x), applied(&y));
                let scale = dot(&x, &mx).max(dot(&y, &my));
                assert!((dot(&x, &my) - dot(&y, &mx)).abs() < 1e-12 * scale, "{params:?}");
                assert!(dot(&x, &mx) > 0.0 && dot(&y, &my) > 0.0);
                assert_eq!(applied(&x), mx, "a cycle depends on an earlier one");
            }
        }
    }
}

#[test]
fn cycles_that_are_not_symmetric_need_a_flexible_method() {
    let a = poisson_2d(20);
    let host = Backend::host(1).unwrap();
    let sparsification = Some(Sparsification { beta: 1.0, increment: 1.0, symmetric: false });
    let cases = [
        cycling(CycleParams { cycle: Cycle::K, ..CYCLE }),
        cycling(CycleParams { cycle: Cycle::F, ..CYCLE }),
        cycling(CycleParams { sweeps: [1, 2], ..CYCLE }),
        AmgParams { sparsification, ..small() },
    ];
    for params in cases {
        let error = solver::<f64>(&host, &a, &with(Method::ConjugateGradient, amg(params)));
        let text = error.err().unwrap().to_string();
        assert!(
            text.starts_with("this preconditioner is not a fixed symmetric operator"),
            "{text}"
        );
        iterations(&host, &a, Method::Fgmres, params);
    }
}

#[test]
fn kamakolanus_amg_with_sparsification_preconditions_bicgstab() {
    let host = Backend::host(2).unwrap();
    for symmetric in [false, true] {
        let params = AmgParams {
            coarsening: Coarsening::RugeStuben,
            boundary_weight: 5.0,
            sparsification: Some(Sparsification { beta: 1.0, increment: 1.0, symmetric }),
            strength: 0.05,
            cycling: CycleParams { smoother: Smoother::GaussSeidel, sweeps: [2, 2], ..CYCLE },
            ..small()
        };
        let count = iterations(&host, &diamond(12), Method::BiCgStab, params);
        assert!(count <= 15, "{count}");
    }
}

/// `a` on the diagonal `copies` times.
fn repeated(a: &CsrMatrix<f64>, copies: usize) -> CsrMatrix<f64> {
    let n = a.rows();
    let mut entries = vec![];
    for k in 0..copies {
        for r in 0..n {
            entries.extend(a.row(r).map(|(c, v)| ((k * n + r) as u32, (k * n + c) as u32, v)));
        }
    }
    CsrMatrix::from_entries(copies * n, copies * n, entries).unwrap()
}

#[test]
fn odd_matrices_are_solved() {
    let one = CsrMatrix::from_entries(1, 1, vec![(0, 0, 4.0)]).unwrap();
    let diagonal: Vec<_> = (0..500).map(|i| (i, i, 1.0 + f64::from(i))).collect();
    let diagonal = CsrMatrix::from_entries(500, 500, diagonal).unwrap();
    // Positive couplings: B + Bᵀ has both signs.
    let scattered = scattered_symmetric(2000);
    let islands = repeated(&poisson_2d(5), 100);
    let specks = repeated(&one, 300);
    for a in [one, diagonal, scattered, islands, specks] {
        for backend in everywhere() {
            let count = iterations(&backend, &a, Method::ConjugateGradient, small());
            assert!(count <= 40, "{} rows: {count}", a.rows());
        }
    }
}

#[test]
fn systems_without_a_boundary_are_solved() {
    let whole = neumann_2d(40);
    let params =
        Params { nullspace: Nullspace::Constant, ..with(Method::ConjugateGradient, amg(small())) };
    let mut b = values(whole.rows(), 3);
    let mean = b.iter().sum::<f64>() / b.len() as f64;
    b.iter_mut().for_each(|value| *value -= mean);
    for backend in everywhere() {
        let (outcome, x) = solved::<f64>(&backend, &whole, &b, &params);
        assert!(outcome.is_converged() && outcome.iterations <= 20, "{backend:?} {outcome}");
        assert!(residual_of(&whole, &b, &x) <= 1.01e-8);
    }
    // Many components, each with a right-hand side that sums to zero; constants are not projected out.
    let islands = repeated(&neumann_2d(7), 60);
    let b = islands.times(&values(islands.rows(), 4));
    let params = with(Method::ConjugateGradient, amg(small()));
    for backend in everywhere() {
        let (outcome, x) = solved::<f64>(&backend, &islands, &b, &params);
        assert!(outcome.is_converged() && outcome.iterations <= 25, "{backend:?} {outcome}");
        assert!(norm(&x).is_finite());
    }
}

/// The diamond lattice with its couplings multiplied by `factor(row, column)`.
fn varied(m: usize, factor: impl Fn(usize, usize) -> f64) -> CsrMatrix<f64> {
    let a = diamond(m);
    let mut entries = vec![];
    for r in 0..a.rows() {
        let mut diagonal = a.row(r).map(|e| e.1).sum::<f64>();
        for (c, v) in a.row(r).filter(|(c, _)| *c != r) {
            let v = v * factor(r.min(c), r.max(c));
            diagonal -= v;
            entries.push((r as u32, c as u32, v));
        }
        entries.push((r as u32, r as u32, diagonal));
    }
    CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
}

#[test]
fn discontinuities_and_anisotropy_hardly_cost_iterations() {
    let host = Backend::host(2).unwrap();
    // A checkerboard of cubes with four cells a side and conductivities 1 and `ratio`.
    let cubes = |m: usize, ratio: f64| {
        let is_conductor = |row: usize| {
            let cell = row / 2;
            (cell % m / 4 + cell / m % m / 4 + cell / (m * m) / 4).is_multiple_of(2)
        };
        let conductivity = |row: usize| if is_conductor(row) { ratio } else { 1.0 };
        varied(m, |r: usize, c: usize| {
            let (a, b) = (conductivity(r), conductivity(c));
            2.0 * a * b / (a + b)
        })
    };
    let with_jacobi = |a: &CsrMatrix<f64>| {
        let jacobi = Params {
            max_iterations: 5000,
            ..with(Method::ConjugateGradient, PreconditionerKind::Jacobi)
        };
        solved::<f64>(&host, a, &values(a.rows(), 11), &jacobi).0.iterations
    };
    for (m, ratio) in [(14, 1e2), (14, 1e6), (24, 1e6)] {
        let count = iterations(&host, &cubes(m, ratio), Method::ConjugateGradient, small());
        assert!(count <= 20, "{m} {ratio:e}: {count}");
    }
    let m = 14;
    let along = |r: usize, c: usize| if c - r > 2 * m { 1e3 } else { 1.0 };
    let a = varied(m, along);
    let stretched = iterations(&host, &a, Method::ConjugateGradient, small());
    assert!(2 * stretched < with_jacobi(&a), "{stretched}, with Jacobi {}", with_jacobi(&a));
}

#[test]
fn new_values_update_the_cycle() {
    let a = diamond(10);
    let n = a.rows();
    let shifted = {
        let values =
            (0..n).flat_map(|r| a.row(r).map(move |(c, v)| if c == r { v + 0.3 } else { 1.1 * v }));
        let values: Vec<f64> = values.collect();
        CsrMatrix::new(n, a.offsets().to_vec(), a.column_indices().to_vec(), values).unwrap()
    };
    for backend in everywhere() {
        let matrix = Matrix::new(&backend, a.clone()).unwrap();
        let mut reused = Amg::<f32>::new(&matrix, &small()).unwrap();
        let operator = std::sync::Arc::new(Matrix::new(&backend, shifted.clone()).unwrap());
        reused.set_values(&operator).unwrap();
        let params = Params::default();
        let mut solver = crate::Solver::with_preconditioner(
            &backend,
            Box::new(operator),
            Box::new(reused),
            &params,
        )
        .unwrap();
        let mut x = backend.zeros(n);
        let b = backend.upload(values(n, 9));
        let outcome = solver.solve(&b, &mut x).unwrap();
        assert!(outcome.is_converged() && outcome.iterations <= 18, "{outcome}");
        let report = solver.hierarchy().unwrap();
        assert!(report.levels.len() >= 3 && report.bytes() > 0);
    }
    for backend in everywhere() {
        let on = |a| Matrix::new(&backend, a).unwrap();
        let mut reused = Amg::<f32>::new(&on(a.clone()), &small()).unwrap();
        let text = reused.set_values(&on(diamond(9))).unwrap_err().to_string();
        assert_eq!(text, "the matrix has 1458 rows, but 2000 are expected");
    }
}

#[test]
fn a_report_shows_the_levels() {
    let host = Backend::host(2).unwrap();
    let matrix = Matrix::new(&host, diamond(20)).unwrap();
    let amg = Amg::<f32>::new(&matrix, &AmgParams::default()).unwrap();
    let report = amg.report();
    assert!(report.is_coarsest_direct);
    assert!(report.operator_complexity() < 2.4 && report.grid_complexity() < 1.8, "{report}");
    assert!(report.bytes() < 500 * 16_000, "{report}");
    let source = AmgParams {
        coarsening: Coarsening::RugeStuben,
        max_levels: 3,
        cycling: CycleParams { smoother: Smoother::GaussSeidel, sweeps: [2, 2], ..CYCLE },
        ..AmgParams::default()
    };
    let amg = Amg::<f64>::new(&matrix, &source).unwrap();
    let report = amg.report();
    assert_eq!(report.levels.len(), 3);
    assert!(!report.is_coarsest_direct);
    assert!(report.levels[0].boundary.is_some_and(|count| count > 1000));
    assert!(report.levels[0].colours.is_some_and(|count| (2..8).contains(&count)));
    let text = report.to_string();
    assert!(text.contains("coarsest by smoothing"), "{text}");
    let flags = Some(vec![true; 3]);
    let error = Amg::<f64>::with_boundary(&matrix, &source, flags).err().unwrap().to_string();
    assert_eq!(error, "the list of flags has 3 elements, but the system has 16000 unknowns");
}

#[test]
fn stand_alone_cycles_converge_and_divergence_is_detected() {
    let a = diamond(9);
    let b = values(a.rows(), 11);
    let params = AmgParams {
        over_correction: 1.0,
        cycling: CycleParams { sweeps: [2, 2], ..CYCLE },
        ..small()
    };
    for backend in everywhere() {
        let (outcome, x) = solved::<f64>(&backend, &a, &b, &with(Method::Stationary, amg(params)));
        assert!(outcome.is_converged() && outcome.iterations <= 60, "{backend:?} {outcome}");
        assert!(residual_of(&a, &b, &x) <= 1.01e-8);
        // Jacobi diverges where the spectrum of D⁻¹A reaches beyond 2.
        let strong = scattered_symmetric(300);
        let entries = (0..300).flat_map(|r| {
            strong
                .row(r)
                .map(move |(c, v)| (r as u32, c as u32, if r == c { 0.2 * v } else { v.abs() }))
        });
        let strong = CsrMatrix::from_entries(300, 300, entries.collect()).unwrap();
        let plain = Params {
            max_iterations: 10_000,
            ..with(Method::Stationary, PreconditionerKind::Jacobi)
        };
        let (outcome, _) = solved::<f64>(&backend, &strong, &values(300, 2), &plain);
        // Twenty-one steps without a smaller residual, and as many after the restart.
        assert!(!outcome.is_converged() && outcome.iterations <= 42, "{outcome}");
    }
}

#[test]
fn a_recurrence_in_single_precision_costs_hardly_an_iteration() {
    let host = Backend::host(2).unwrap();
    let m = 120;
    let a = poisson_2d(m);
    // Smooth: rounding x to single precision would leave a larger residual than the tolerance.
    let wave = |i: usize| (3.0 * i as f64 / m as f64).sin();
    let smooth: Vec<f64> = (0..m * m).map(|i| wave(i % m) * wave(i / m)).collect();
    for b in [smooth, values(m * m, 5)] {
        for (tolerance, allowed) in [(1e-3, 0), (1e-6, 1), (1e-8, 1), (1e-12, 1)] {
            let count = |precision, scale: f64| {
                let params = AmgParams { precision, ..small() };
                let params = Params {
                    relative_tolerance: tolerance,
                    ..with(Method::ConjugateGradient, amg(params))
                };
                let b: Vec<f64> = b.iter().map(|v| scale * v).collect();
                let (outcome, x) = solved::<f64>(&host, &a, &b, &params);
                assert!(outcome.is_converged(), "{outcome}");
                assert!(residual_of(&a, &b, &x) <= 1.01 * tolerance, "{outcome}");
                outcome.iterations
            };
            let double = count(HierarchyPrecision::Same, 1.0);
            let mixed = count(HierarchyPrecision::Single, 1.0);
            eprintln!("{tolerance:e}: {mixed}, in double precision {double}");
            assert!(mixed <= double + allowed, "{tolerance}: {mixed}, {double}");
            // The recurrence is scaled by ‖b‖: no number leaves the range of single precision.
            assert_eq!(count(HierarchyPrecision::Single, 2f64.powi(-300)), mixed);
            assert_eq!(count(HierarchyPrecision::Single, 2f64.powi(300)), mixed);
        }
    }
}
