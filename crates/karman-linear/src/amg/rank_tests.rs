//! Multigrid on several ranks: hierarchies, iterations and solutions with the bits of one rank.

use super::*;
use crate::rank_tests::{Failed, compare, compare_on, params, part, solution_of_ranks, starts};
use crate::testing::{convection_2d, diamond, host, neumann_2d, poisson_2d};
use crate::{CsrMatrix, Method, Nullspace, Params, PreconditionerKind, Solver};
use karman_backend::BackendKind;
use karman_backend::RankGroup;
use karman_backend::group::{ThreadGroup, run_ranks};
use karman_backend::testing::{devices, values};

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];
const CG: Method = Method::ConjugateGradient;

/// Levels of more than 400 unknowns are shared: two or three of the matrices of these tests.
fn shared() -> AmgParams {
    cycling(CycleParams::DEFAULT)
}

fn cycling(cycling: CycleParams) -> AmgParams {
    let cycling = CycleParams { replicate_rows: Some(400), ..cycling };
    AmgParams { cycling, ..AmgParams::DEFAULT }
}

fn with(method: Method, amg: AmgParams) -> Params {
    params(method, PreconditionerKind::Amg(amg))
}

/// Nine chunks of rows with four neighbours.
fn matrix() -> CsrMatrix<f64> {
    diamond(13)
}

#[test]
fn preconditioned_methods_have_the_bits_of_one_rank() {
    let a = matrix();
    compare::<f64>(&a, &with(CG, shared()), &RANKS);
    compare::<f32>(&a, &with(CG, shared()), &[3]);
    let double = AmgParams { precision: HierarchyPrecision::Same, ..shared() };
    compare::<f64>(&a, &with(CG, double), &[3]);
    for method in [Method::SingleReduction, Method::FlexibleConjugateGradient] {
        compare::<f64>(&a, &with(method, shared()), &[2]);
    }
    compare::<f64>(&a, &with(Method::Stationary, shared()), &RANKS);
    let unsymmetric = convection_2d(64, 0.4);
    for method in [Method::BiCgStab, Method::Fgmres] {
        compare::<f64>(&unsymmetric, &with(method, shared()), &[2, 7]);
    }
}

#[test]
fn every_cycle_and_smoother_has_the_bits_of_one_rank() {
    let a = matrix();
    let default = CycleParams::DEFAULT;
    for cycle in [Cycle::W, Cycle::F, Cycle::K] {
        compare::<f64>(
            &a,
            &with(Method::Fgmres, cycling(CycleParams { cycle, ..default })),
            &RANKS,
        );
    }
    for (smoother, sweeps) in [
        (Smoother::Chebyshev { degree: 1 }, [1, 1]),
        (Smoother::Chebyshev { degree: 3 }, [2, 2]),
        (Smoother::L1Jacobi, [3, 3]),
        (Smoother::L1Jacobi, [0, 1]),
        (Smoother::L1Jacobi, [2, 0]),
    ] {
        let amg = cycling(CycleParams { smoother, sweeps, ..default });
        let method = if amg.is_symmetric() { CG } else { Method::Fgmres };
        compare::<f64>(&a, &with(method, amg), &[3, 7]);
    }
}

#[test]
fn every_coarsening_has_the_bits_of_one_rank() {
    let sparsification = Some(Sparsification { beta: 1.0, increment: 0.5, symmetric: true });
    for amg in [
        AmgParams { pairwise_passes: 0, ..shared() },
        AmgParams { pairwise_passes: 2, ..shared() },
        AmgParams { coarsening: Coarsening::Aggregation, ..shared() },
        AmgParams { coarsening: Coarsening::RugeStuben, sparsification, ..shared() },
        // Smoothing alone on the coarsest level, which is shared.
        AmgParams { max_levels: 2, ..shared() },
        AmgParams { max_levels: 1, ..shared() },
    ] {
        compare::<f64>(&matrix(), &with(CG, amg), &[2, 7]);
        compare::<f64>(&poisson_2d(54), &with(CG, amg), &[3]);
    }
}

#[test]
fn devices_have_the_bits_of_one() {
    let double = AmgParams { precision: HierarchyPrecision::Same, ..shared() };
    let singular = Params { nullspace: Nullspace::Constant, ..with(CG, shared()) };
    for whole in devices() {
        // Software devices are slow: two chunks of rows there.
        let (a, of_constants, ranks) = match whole.kind() {
            BackendKind::Cuda => (matrix(), neumann_2d(64), &[2, 7][..]),
            _ => (diamond(7), neumann_2d(26), &[2][..]),
        };
        compare_on::<f64>(&whole, &a, &with(CG, shared()), ranks);
        compare_on::<f64>(&whole, &a, &with(CG, double), &[2]);
        compare_on::<f32>(&whole, &a, &with(CG, shared()), &[2]);
        compare_on::<f64>(&whole, &of_constants, &singular, &[2]);
    }
}

#[test]
fn every_hierarchy_on_devices_has_the_bits_of_one() {
    let chebyshev = Smoother::Chebyshev { degree: 2 };
    let default = CycleParams::DEFAULT;
    let cycle = cycling(CycleParams { cycle: Cycle::K, replicate_rows: Some(0), ..default });
    for params in [
        with(CG, AmgParams { pairwise_passes: 0, ..shared() }),
        with(CG, AmgParams { coarsening: Coarsening::Aggregation, ..shared() }),
        with(CG, AmgParams { max_levels: 1, ..shared() }),
        with(CG, cycling(CycleParams { smoother: chebyshev, ..default })),
        with(Method::Fgmres, cycle),
    ] {
        for whole in devices() {
            // 686 rows, two chunks: software devices are slow.
            compare_on::<f64>(&whole, &diamond(7), &params, &[2]);
        }
    }
}

#[test]
fn results_do_not_depend_on_the_levels_that_are_shared() {
    let a = matrix();
    for rows in [0, 150, 1500, usize::MAX] {
        let replicate_rows = Some(rows);
        let cycle = CycleParams { replicate_rows, cycle: Cycle::K, ..CycleParams::DEFAULT };
        compare::<f64>(&a, &with(Method::Fgmres, cycling(cycle)), &[4]);
        let amg = AmgParams { cycling: cycle, ..AmgParams::DEFAULT };
        compare::<f64>(&a, &with(Method::Fgmres, amg), &[3]);
    }
}

#[test]
fn singular_systems_and_selected_multigrid_have_the_bits_of_one_rank() {
    let singular = Params { nullspace: Nullspace::Constant, ..with(CG, shared()) };
    compare::<f64>(&neumann_2d(64), &singular, &RANKS);
    compare::<f32>(&neumann_2d(64), &singular, &[4]);
    // 52 900 rows, of which 98 % are weakly dominant.
    let auto = PreconditionerKind::Auto { amg: shared(), polynomial: true };
    let auto = params(Method::ConjugateGradient, auto);
    assert!(
        crate::testing::solver::<f64>(&host(), &poisson_2d(230), &auto)
            .unwrap()
            .hierarchy()
            .is_some()
    );
    compare::<f64>(&poisson_2d(230), &auto, &[2]);
}

#[test]
fn a_system_of_the_size_of_the_coarsest_level_is_solved_by_its_inverse() {
    // Fewer rows than a chunk: one rank has all of them, or sums are added in another order.
    for n in [9, 15] {
        let a = poisson_2d(n);
        for ranks in [2, 3] {
            let starts: Vec<usize> = (0..=ranks).map(|rank| rank * a.rows() / ranks).collect();
            let b = values(a.rows(), 4);
            let parts = run_ranks(&ThreadGroup::new(ranks), |group| -> Result<_, Failed> {
                let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
                let matrix = Arc::new(part::<f64>(&backend, group, &a, &starts)?);
                let own = backend.upload_slice(&b[starts[group.rank()]..starts[group.rank() + 1]]);
                let mut x = backend.zeros(own.len());
                let mut solver =
                    Solver::new(&backend, matrix, &with(Method::Stationary, shared()))?;
                let outcome = solver.solve(&own, &mut x)?;
                assert!(outcome.is_converged() && outcome.iterations <= 3, "{outcome}");
                Ok(backend.read(&x)?)
            });
            let x: Vec<f64> = parts.unwrap().into_iter().flatten().collect();
            assert!(crate::testing::residual_of(&a, &b, &x) < 1e-8);
        }
    }
}

/// `a` with couplings and diagonals changed unevenly.
fn other_values(a: &CsrMatrix<f64>) -> CsrMatrix<f64> {
    let of_row = |r: usize| {
        a.row(r).map(move |(c, v)| {
            let uneven = 1.0 + (r.min(c) * 7 + r.max(c) * 3) as f64 % 11.0 / 20.0;
            if c == r { 1.6 * v + 0.3 } else { uneven * v }
        })
    };
    let values = (0..a.rows()).flat_map(of_row).collect();
    let (offsets, columns) = (a.offsets().to_vec(), a.column_indices().to_vec());
    CsrMatrix::new(a.columns(), offsets, columns, values).unwrap()
}

/// Solutions with an updated and with a saved hierarchy of other values, the saved interpolations, and the sources of both.
type Reuses = (Vec<f64>, Vec<f64>, SavedInterpolations, [Option<HierarchySource>; 2]);

/// `saved`: interpolations of another run in place of its own.
fn reuses(
    backend: &Backend,
    [matrix, changed]: [Matrix<f64>; 2],
    b: &[f64],
    saved: Option<&SavedInterpolations>,
) -> Result<Reuses, Failed> {
    let (matrix, changed) = (Arc::new(matrix), Arc::new(changed));
    let params = with(CG, shared());
    let solved = |solver: &mut Solver<f64>| -> Result<Vec<f64>, Failed> {
        let mut x = backend.zeros(b.len());
        solver.solve(&backend.upload_slice(b), &mut x)?;
        Ok(backend.read(&x)?)
    };
    let source = |solver: &Solver<f64>| solver.hierarchy().map(|report| report.source);
    let computed = Solver::new(backend, matrix.clone(), &params)?;
    let own = computed.interpolations(&matrix)?.unwrap();
    let mut updated = computed.update_values(Box::new(changed.clone()), &changed)?.ok().unwrap();
    let reused = saved.unwrap_or(&own).clone();
    let operator = Box::new(changed.clone());
    let mut restored =
        Solver::with_interpolations(backend, operator, Some(changed), &params, Some(reused))?;
    let sources = [source(&updated), source(&restored)];
    Ok((solved(&mut updated)?, solved(&mut restored)?, own, sources))
}

#[test]
fn hierarchies_are_reused_for_other_values_with_the_bits_of_one_rank() {
    let (a, changed) = (matrix(), other_values(&matrix()));
    let b = values(a.rows(), 4);
    let backend = host();
    let of_one = [&a, &changed].map(|a| Matrix::new(&backend, a.clone()).unwrap());
    let (updated, restored, saved, sources) = reuses(&backend, of_one, &b, None).unwrap();
    assert_eq!(sources, [Some(HierarchySource::Reused), Some(HierarchySource::Saved)]);
    assert_eq!(updated, restored);
    for ranks in RANKS {
        let starts = starts(a.rows(), ranks);
        // With their own interpolations, and with those of one rank.
        for given in [None, Some(&saved)] {
            let parts = run_ranks(&ThreadGroup::new(ranks), |group| {
                let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
                let matrix = part(&backend, group, &a, &starts)?;
                let changed = part(&backend, group, &changed, &starts)?;
                let own = &b[starts[group.rank()]..starts[group.rank() + 1]];
                reuses(&backend, [matrix, changed], own, given)
            });
            let parts = parts.unwrap();
            let joined =
                |of: fn(&Reuses) -> &Vec<f64>| parts.iter().flat_map(of).copied().collect();
            let both: [Vec<f64>; 2] = [joined(|part| &part.0), joined(|part| &part.1)];
            assert!(both[0] == updated && both[1] == updated, "{ranks} ranks");
            assert!(parts.iter().all(|part| part.2 == saved && part.3 == sources), "{ranks} ranks");
        }
    }
}

#[test]
fn interpolations_of_another_system_are_recognised_by_all_ranks() {
    let a = matrix();
    let saved = {
        let smaller = Matrix::new(&host(), diamond(6)).unwrap();
        Amg::<f32>::new(&smaller, &shared()).unwrap().interpolations(&smaller).unwrap()
    };
    let starts = starts(a.rows(), 3);
    let errors = run_ranks(&ThreadGroup::new(3), |group| -> Result<_, Failed> {
        let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
        let matrix = part::<f64>(&backend, group, &a, &starts)?;
        Ok(Amg::<f32>::from_interpolations(&matrix, &shared(), saved.clone()).err().unwrap())
    });
    let want = "the saved interpolations belong to another system: the matrix has 4394 rows and 20956 entries and had 432 \
                and 1944";
    errors.unwrap().iter().for_each(|error| assert_eq!(error.to_string(), want));
}

#[test]
fn flags_of_boundary_unknowns_are_those_of_all_ranks() {
    let a = matrix();
    let params = AmgParams {
        coarsening: Coarsening::RugeStuben,
        boundary_weight: 5.0,
        max_levels: 3,
        ..shared()
    };
    let flags: Vec<bool> = (0..a.rows()).map(|row| row % 11 == 0).collect();
    let sizes = |report: &HierarchyReport| -> Vec<_> {
        let of_level = |level: &LevelReport| (level.rows, level.entries, level.boundary);
        report.levels.iter().map(of_level).collect()
    };
    let of_one = Matrix::new(&host(), a.clone()).unwrap();
    let want = Amg::<f32>::with_boundary(&of_one, &params, Some(flags.clone())).unwrap();
    let starts = starts(a.rows(), 3);
    let found = run_ranks(&ThreadGroup::new(3), |group| -> Result<_, Failed> {
        let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
        let matrix = part::<f64>(&backend, group, &a, &starts)?;
        let own = flags[starts[group.rank()]..starts[group.rank() + 1]].to_vec();
        let amg = Amg::<f32>::with_boundary(&matrix, &params, Some(own))?;
        Ok(sizes(amg.report()))
    });
    assert!(found.unwrap().iter().all(|found| *found == sizes(want.report())));
}

#[test]
fn what_one_rank_refuses_all_refuse() {
    let gauss_seidel = CycleParams { smoother: Smoother::GaussSeidel, ..CycleParams::DEFAULT };
    let said = |a: &CsrMatrix<f64>, amg: AmgParams| {
        let b = vec![1.0; a.rows()];
        solution_of_ranks::<f64>(BackendKind::Cpu, a, &b, &with(CG, amg), 2)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said(&poisson_2d(40), cycling(gauss_seidel)),
        "the smoother `gauss_seidel` of `amg` does not run on several ranks; choose `l1_jacobi` or `chebyshev`, or one rank"
    );
    let n = 10_000;
    let entries = (0..n).map(|row| (row, row, if row == 9000 { -1.0 } else { 2.0 })).collect();
    let negative = CsrMatrix::from_entries(n as usize, n as usize, entries).unwrap();
    assert_eq!(
        said(&negative, shared()),
        "the diagonal of row 9000 is -1; algebraic multigrid needs positive ones"
    );
}
