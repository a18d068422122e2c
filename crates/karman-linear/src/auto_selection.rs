//! The selection of `auto`: algebraic multigrid for large systems with many rows of nearly zero sum, a
//! cheaper preconditioner otherwise.

use super::{LinearError, Matrix, PreconditionerKind};
use karman_backend::Backend;
use karman_backend::real::Real;

/// Fewer unknowns are solved faster by conjugate gradients with Jacobi: two threads of a server took
/// 0.09 s for 1e5 tetrahedra where multigrid took 0.11 s, and 0.72 s for 5e5 where it took 0.54 s.
const MIN_ROWS: usize = 100_000;
/// The minimum for a corrected system, whose iterations cost three times as much.
const MIN_CORRECTED_ROWS: usize = 50_000;
/// The minimum on a device, whose iterations are cheaper: one H200 took 74 ms for 2.3e6 tetrahedra and
/// 1080 ms for 2e7; multigrid took 33 and 185 ms to set up, 7 and 45 ms to solve, and 170 ms to load its
/// kernels.
const MIN_DEVICE_ROWS: usize = 5_000_000;
/// The minimum for a corrected system on a device.
const MIN_CORRECTED_DEVICE_ROWS: usize = 2_000_000;
/// A row is weakly dominant where its sum is below this share of its diagonal.
pub const WEAKLY_DOMINANT: f64 = 0.01;
/// The share of weakly dominant rows from which errors are smooth over many rows.
pub const LEAST_WEAKLY_DOMINANT: f64 = 0.1;

/// The number of unknowns from which [`PreconditionerKind::Auto`] uses multigrid where [`LEAST_WEAKLY_DOMINANT`] of the rows
/// are weakly dominant; `corrected`: of a system whose product has a non-orthogonal correction.
pub fn least_multigrid_rows(backend: &Backend, corrected: bool) -> usize {
    match (backend.device().is_some(), corrected) {
        (false, false) => MIN_ROWS,
        (false, true) => MIN_CORRECTED_ROWS,
        (true, false) => MIN_DEVICE_ROWS,
        (true, true) => MIN_CORRECTED_DEVICE_ROWS,
    }
}

/// The preconditioner selected for a matrix and the reason, empty where nothing was to be selected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AutoSelection {
    pub(super) kind: PreconditionerKind,
    pub(super) reason: String,
}

/// Resolves [`PreconditionerKind::Auto`] for a matrix.
pub(super) fn select<T: Real>(
    backend: &Backend,
    matrix: &Matrix<T>,
    kind: PreconditionerKind,
) -> Result<AutoSelection, LinearError> {
    let PreconditionerKind::Auto { amg, polynomial } = kind else {
        return Ok(AutoSelection { kind, reason: String::new() });
    };
    let cheap = if polynomial {
        PreconditionerKind::Chebyshev { degree: 4, ratio: 30.0 }
    } else {
        PreconditionerKind::Jacobi
    };
    let rows = matrix.total_rows();
    let least = least_multigrid_rows(backend, polynomial);
    if rows < least {
        let reason = format!("{rows} unknowns are fewer than {least}");
        return Ok(AutoSelection { kind: cheap, reason });
    }
    let share = matrix.weakly_dominant_rows(WEAKLY_DOMINANT)? as f64 / rows as f64;
    let reason =
        format!("of {rows} rows {:.0} % sum to less than 1 % of their diagonal", 100.0 * share);
    let kind = if share >= LEAST_WEAKLY_DOMINANT { PreconditionerKind::Amg(amg) } else { cheap };
    Ok(AutoSelection { kind, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{diamond, poisson_2d};
    use crate::{AmgParams, CsrMatrix};
    use karman_backend::testing::devices;

    fn selected(backend: &Backend, a: CsrMatrix<f64>, polynomial: bool) -> (&'static str, String) {
        let matrix = Matrix::new(backend, a).unwrap();
        let kind = PreconditionerKind::Auto { amg: AmgParams::default(), polynomial };
        let selection = select(backend, &matrix, kind).unwrap();
        (selection.kind.word(), selection.reason)
    }

    #[test]
    fn large_weakly_dominant_systems_get_multigrid() {
        let host = Backend::host(2).unwrap();
        let small = selected(&host, poisson_2d(20), false);
        assert_eq!(small, ("jacobi", "400 unknowns are fewer than 100000".to_owned()));
        assert_eq!(selected(&host, poisson_2d(20), true).0, "chebyshev");
        let large = diamond(37);
        let (name, reason) = selected(&host, large.clone(), false);
        assert_eq!(name, "amg");
        assert!(reason.starts_with("of 101306 rows 9"), "{reason}");
        let heavy = large.values().iter().map(|v| if *v > 0.0 { v + 1.0 } else { *v });
        let (offsets, columns) = (large.offsets().to_vec(), large.column_indices().to_vec());
        let heavy = CsrMatrix::new(large.columns(), offsets, columns, heavy.collect()).unwrap();
        let (name, reason) = selected(&host, heavy, false);
        assert_eq!(name, "jacobi");
        assert_eq!(reason, "of 101306 rows 0 % sum to less than 1 % of their diagonal");
        for device in devices() {
            let (name, reason) = selected(&device, large.clone(), false);
            assert_eq!(name, "jacobi");
            assert_eq!(reason, "101306 unknowns are fewer than 5000000");
        }
    }
}
