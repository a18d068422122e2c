//! Hierarchies made by kernels: those of the host, on any number of ranks.

use super::*;
use crate::amg::CycleParams;
use crate::amg::hierarchy::Hierarchy;
use crate::amg::parallel::Loops;
use crate::rank_tests::{Failed, part, starts};
use crate::testing::{diamond, poisson_2d};
use crate::{CsrMatrix, Layout};
use karman_backend::group::{ThreadGroup, run_ranks};
use karman_backend::testing::{devices, everywhere};
use karman_backend::{Backend, BackendKind};
use std::sync::Arc;

/// A lattice whose couplings all differ, so that nothing is a tie.
fn irregular(m: usize) -> CsrMatrix<f64> {
    let a = diamond(m);
    let mut entries = vec![];
    for row in 0..a.rows() {
        for (column, value) in a.row(row) {
            let pair = (row.min(column) * 7919 + row.max(column) * 104_729) % 10_007;
            let factor = if row == column { 1.6 } else { 1.0 + 0.6 * pair as f64 / 10_007.0 };
            entries.push((row as u32, column as u32, factor * value));
        }
    }
    CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
}

fn hierarchy(matrix: &Matrix<f64>, params: &AmgParams) -> Result<DeviceHierarchy, LinearError> {
    DeviceHierarchy::new(&Finest::new(matrix)?, params)
}

fn close(got: &CsrMatrix<f64>, want: &CsrMatrix<f64>, what: &str) {
    assert_eq!(got.offsets(), want.offsets(), "{what}");
    assert_eq!(got.column_indices(), want.column_indices(), "{what}");
    for (got, want) in got.values().iter().zip(want.values()) {
        assert!((got - want).abs() <= 1e-12 * (1.0 + want.abs()), "{what} {got} {want}");
    }
}

#[test]
fn kernels_make_the_levels_of_the_host() {
    let all = [
        AmgParams { coarse_rows: 20, ..AmgParams::default() },
        AmgParams { pairwise_passes: 0, coarse_rows: 20, ..AmgParams::default() },
        AmgParams {
            pairwise_passes: 2,
            coarse_rows: 20,
            drop_tolerance: 0.0,
            ..AmgParams::default()
        },
        AmgParams { interpolation_entries: 5, coarse_rows: 40, ..AmgParams::default() },
    ];
    for a in [irregular(9), irregular(17)] {
        for params in all {
            let want = Hierarchy::new(Loops::ALONE, a.clone(), &params, None).unwrap();
            for backend in everywhere() {
                for layout in [Layout::Csr, Layout::SlicedEll] {
                    let matrix = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                    let got = backend.install(|| hierarchy(&matrix, &params)).unwrap();
                    let what = format!("{backend:?} {layout:?} {params:?}");
                    let rows: Vec<usize> = got.levels.iter().map(|l| l.rows).collect();
                    let want_rows: Vec<usize> = want.levels.iter().map(|l| l.scale.len()).collect();
                    assert_eq!(rows, want_rows, "{what}");
                    for (got, want) in got.levels.iter().zip(&want.levels) {
                        if let Some(matrix) = &got.matrix {
                            close(&matrix.to_csr().unwrap(), &want.matrix, &what);
                        }
                        if let Some(interpolation) = &got.interpolation {
                            let [p, r] = interpolation.matrices();
                            let transfer = want.transfer.as_ref().unwrap();
                            close(&p.to_csr().unwrap(), &transfer.interpolation, &what);
                            close(&r.to_csr().unwrap(), &transfer.restriction, &what);
                        }
                        let scale = backend.read(&got.scale).unwrap();
                        for (got, want) in scale.iter().zip(&want.scale) {
                            assert!((got - want).abs() <= 1e-12 * want.abs(), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// A matrix, P, R and the scale of a level; the first two of the levels that have them.
type LevelData = (Option<CsrMatrix<f64>>, Option<[CsrMatrix<f64>; 2]>, Vec<f64>);

/// The levels of a hierarchy with the rows of all ranks.
fn levels(of: &DeviceHierarchy) -> Result<Vec<LevelData>, Failed> {
    let mut all = vec![];
    for (depth, level) in of.levels.iter().enumerate() {
        let ranges = level.share.ranges();
        let csr = |ranges: &RowRanges, a| ranges.gathered_matrix(a)?.to_csr();
        let matrix = level.matrix.as_ref().map(|a| csr(ranges, a)).transpose()?;
        let transfer = match &level.interpolation {
            None => None,
            Some(between) => {
                let next = &of.levels[depth + 1];
                let coarse = next.restricted.as_ref().unwrap_or(next.share.ranges());
                let [p, r] = between.matrices();
                assert_eq!(p.entries(), r.entries());
                Some([csr(ranges, p)?, csr(coarse, r)?])
            }
        };
        if let Some([p, _]) = &transfer {
            assert_eq!(level.interpolation.as_ref().unwrap().matrices()[0].entries(), p.entries());
        }
        if let Some(matrix) = &matrix {
            assert_eq!((level.rows, level.entries), (matrix.rows(), matrix.entries()));
        }
        let backend = match &transfer {
            None => of.levels[of.levels.len() - 1].matrix.as_ref().unwrap().backend(),
            Some(_) => level.interpolation.as_ref().unwrap().matrices()[0].backend(),
        };
        let scale = backend.read(&ranges.gathered(backend, &level.scale))?;
        all.push((matrix, transfer, scale));
    }
    Ok(all)
}

/// `a` with its unknowns in another order, so that each rank needs rows of all others.
fn shuffled(a: &CsrMatrix<f64>) -> CsrMatrix<f64> {
    let n = a.rows();
    let place = |row: usize| row * 7919 % n;
    let mut entries = vec![];
    for row in 0..n {
        entries.extend(a.row(row).map(|(c, v)| (place(row) as u32, place(c) as u32, v)));
    }
    CsrMatrix::from_entries(n, n, entries).unwrap()
}

/// `a` without some couplings of one of two unknowns with the other.
fn one_sided(a: &CsrMatrix<f64>) -> CsrMatrix<f64> {
    let mut entries = vec![];
    for row in 0..a.rows() {
        let kept = |(c, _): &(usize, f64)| *c <= row || (row * 31 + c * 17) % 5 > 1;
        entries.extend(a.row(row).filter(kept).map(|(c, v)| (row as u32, c as u32, v)));
    }
    CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
}

#[test]
fn ranks_make_the_levels_of_one() {
    let of = |replicate_rows, coarse_rows| {
        let cycling = CycleParams { replicate_rows: Some(replicate_rows), ..CycleParams::DEFAULT };
        AmgParams { cycling, coarse_rows, ..AmgParams::DEFAULT }
    };
    let all = [
        of(300, 40),
        of(0, 40),
        of(1000, 40),
        AmgParams { pairwise_passes: 0, ..of(300, 40) },
        AmgParams { pairwise_passes: 2, drop_tolerance: 0.0, ..of(300, 40) },
        AmgParams { interpolation_entries: 5, max_levels: 3, ..of(300, 40) },
    ];
    let compare = |kind, a: &CsrMatrix<f64>, params: &[AmgParams], counts: &[usize]| {
        for (params, ranks) in params.iter().flat_map(|p| counts.iter().map(move |n| (p, *n))) {
            let one = Backend::new(kind, 1).unwrap();
            let matrix = Matrix::new(&one, a.clone()).unwrap();
            let want = levels(&hierarchy(&matrix, params).unwrap()).unwrap();
            let starts = starts(a.rows(), ranks);
            let found = run_ranks(&ThreadGroup::new(ranks), |group| -> Result<_, Failed> {
                let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
                let matrix = part::<f64>(&backend, group, a, &starts)?;
                levels(&hierarchy(&matrix, params)?)
            });
            for found in found.unwrap() {
                assert!(found == want, "{kind:?}, {ranks} ranks, {params:?}");
            }
        }
    };
    // Three chunks of rows, so that some of seven ranks have none.
    compare(BackendKind::Cpu, &irregular(9), &all, &[2, 7]);
    compare(BackendKind::Cpu, &shuffled(&irregular(7)), &all[3..5], &[2]);
    compare(BackendKind::Cpu, &one_sided(&irregular(9)), &all[..1], &[3]);
    for kind in devices().iter().map(Backend::kind) {
        // Software devices are slow.
        let params = if kind == BackendKind::Cuda { &all[..] } else { &all[3..4] };
        compare(kind, &irregular(7), params, &[2]);
    }
}

#[test]
fn kernels_refuse_what_the_host_refuses() {
    for backend in everywhere() {
        let check = |entries: Vec<(u32, u32, f64)>| {
            let a = CsrMatrix::from_entries(3, 3, entries).unwrap();
            let matrix = Matrix::new(&backend, a).unwrap();
            hierarchy(&matrix, &AmgParams::default()).map(|_| ()).unwrap_err()
        };
        let error = check(vec![(0, 0, 1.0), (1, 1, 1.0), (2, 1, -1.0)]);
        assert_eq!(error, LinearError::PositiveDiagonal { row: 2, value: 0.0 });
        let error = check(vec![(0, 0, 1.0), (1, 1, -3.0), (2, 2, -1.0)]);
        assert_eq!(error, LinearError::PositiveDiagonal { row: 1, value: -3.0 });
        let error = check(vec![(0, 0, 1.0), (2, 2, 1.0)]);
        assert_eq!(error, LinearError::EmptyRow { row: 1 });
    }
}

#[test]
fn dense_inverses_are_those_of_the_host() {
    // The last has more columns than a small device's block has threads.
    let neumann = crate::testing::neumann_2d(6);
    for a in [poisson_2d(7), neumann, poisson_2d(18)] {
        let (n, scale) = (a.rows(), a.diagonal());
        let want = crate::amg::coarse::dense_inverse(&a, &scale, 1e-10);
        for backend in everywhere() {
            let matrix = Matrix::with_layout(&backend, a.clone(), Layout::Csr).unwrap();
            let scale = backend.upload_slice(&scale);
            let got = dense_inverse::<f64, f64>(&backend, &matrix, &scale, 1e-10).unwrap();
            let got = backend.read(&got).unwrap();
            for (k, got) in got.iter().enumerate() {
                let want = want[k % n * n + k / n];
                assert!((got - want).abs() <= 1e-11 * (1.0 + want.abs()), "{got} {want}");
            }
        }
    }
}
