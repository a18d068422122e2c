//! What `auto` picks: algebraic multigrid where the system is large and its rows are tied to their
//! neighbours, something cheaper elsewhere.

use super::{LinearError, Matrix, PreconditionerKind};
use karman_backend::Backend;
use karman_backend::real::Real;

/// Fewer unknowns are solved faster by conjugate gradients with Jacobi: two threads of a server took
/// 0.09 s for 1e5 tetrahedra where multigrid took 0.11 s, and 0.72 s for 5e5 where it took 0.54 s.
const LEAST_ROWS: usize = 100_000;
/// The same for a corrected system, whose iterations cost three times as much.
const LEAST_CORRECTED_ROWS: usize = 50_000;
/// On a device, whose iterations are cheaper: one H200 took 74 ms for 2.3e6 tetrahedra and 1080 for 2e7 where
/// multigrid took 33 and 185 to set up, 7 and 45 to solve, and 170 to load its kernels.
const LEAST_DEVICE_ROWS: usize = 5_000_000;
/// The same for a corrected system.
const LEAST_CORRECTED_DEVICE_ROWS: usize = 2_000_000;
/// A row whose sum is below this share of its diagonal is tied to its neighbours.
const TIED: f64 = 0.01;
/// The share of tied rows above which errors are smooth over many of them.
const LEAST_TIED: f64 = 0.1;

/// What was picked for a matrix, and why; nothing where there was no choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) kind: PreconditionerKind,
    pub(super) reason: String,
}

/// Resolves [`PreconditionerKind::Auto`] for a matrix.
pub(super) fn choose<T: Real>(
    backend: &Backend,
    matrix: &Matrix<T>,
    kind: PreconditionerKind,
) -> Result<Choice, LinearError> {
    let PreconditionerKind::Auto { amg, polynomial } = kind else {
        return Ok(Choice { kind, reason: String::new() });
    };
    let cheap = if polynomial {
        PreconditionerKind::Chebyshev { degree: 4, ratio: 30.0 }
    } else {
        PreconditionerKind::Jacobi
    };
    let rows = matrix.rows();
    let least = match (backend.device().is_some(), polynomial) {
        (false, false) => LEAST_ROWS,
        (false, true) => LEAST_CORRECTED_ROWS,
        (true, false) => LEAST_DEVICE_ROWS,
        (true, true) => LEAST_CORRECTED_DEVICE_ROWS,
    };
    if rows < least {
        let reason = format!("{rows} unknowns are fewer than {least}");
        return Ok(Choice { kind: cheap, reason });
    }
    let tied = matrix.tied_rows(TIED)? as f64 / rows as f64;
    let share =
        format!("of {rows} rows {:.0} % sum to less than 1 % of their diagonal", 100.0 * tied);
    let kind = if tied >= LEAST_TIED { PreconditionerKind::Amg(amg) } else { cheap };
    Ok(Choice { kind, reason: share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{diamond, poisson_2d};
    use crate::{AmgParams, CsrMatrix};
    use karman_backend::testing::devices;

    fn chosen(backend: &Backend, a: CsrMatrix<f64>, polynomial: bool) -> (&'static str, String) {
        let matrix = Matrix::new(backend, a).unwrap();
        let kind = PreconditionerKind::Auto { amg: AmgParams::default(), polynomial };
        let choice = choose(backend, &matrix, kind).unwrap();
        (choice.kind.name(), choice.reason)
    }

    #[test]
    fn large_systems_tied_to_their_neighbours_get_multigrid() {
        let host = Backend::host(2).unwrap();
        let small = chosen(&host, poisson_2d(20), false);
        assert_eq!(small, ("jacobi", "400 unknowns are fewer than 100000".to_owned()));
        assert_eq!(chosen(&host, poisson_2d(20), true).0, "chebyshev");
        let large = diamond(37);
        let (name, reason) = chosen(&host, large.clone(), false);
        assert_eq!(name, "amg");
        assert!(reason.starts_with("of 101306 rows 9"), "{reason}");
        let heavy = large.values().iter().map(|v| if *v > 0.0 { v + 1.0 } else { *v });
        let (offsets, columns) = (large.offsets().to_vec(), large.column_indices().to_vec());
        let heavy = CsrMatrix::new(large.columns(), offsets, columns, heavy.collect()).unwrap();
        let (name, reason) = chosen(&host, heavy, false);
        assert_eq!(name, "jacobi");
        assert_eq!(reason, "of 101306 rows 0 % sum to less than 1 % of their diagonal");
        for device in devices() {
            let (name, reason) = chosen(&device, large.clone(), false);
            assert_eq!(name, "jacobi");
            assert_eq!(reason, "101306 unknowns are fewer than 5000000");
        }
    }
}
