//! What `auto` picks: algebraic multigrid where the system is large and its rows are tied to their
//! neighbours, something cheaper elsewhere.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::matrix::row_places;
use super::{Layout, LinearError, Matrix, PreconditionerKind};
use crate::backend::{Backend, Partials, View, blas};
use crate::real::Real;
use cubecl::prelude::*;
use karman_macros::kernel;

/// Fewer unknowns are solved faster by conjugate gradients with Jacobi: two threads of a server took
/// 0.09 s for 1e5 tetrahedra where multigrid took 0.11 s, and 0.72 s for 5e5 where it took 0.54 s.
const LEAST_ROWS: usize = 100_000;
/// The same for a corrected system, whose iterations cost three times as much.
const LEAST_CORRECTED_ROWS: usize = 50_000;
/// A row whose sum is below this share of its diagonal is tied to its neighbours.
const TIED: f64 = 0.01;
/// The share of tied rows above which errors are smooth over many of them.
const LEAST_TIED: f64 = 0.1;

/// What was picked for a matrix, and why.
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
        return Ok(Choice { kind, reason: "as asked for".to_owned() });
    };
    let cheap = if polynomial {
        PreconditionerKind::Chebyshev { degree: 4, ratio: 30.0 }
    } else {
        PreconditionerKind::Jacobi
    };
    let rows = matrix.rows();
    if backend.device().is_some() {
        let reason = "levels are made on the host, which takes longer than a solve here".to_owned();
        return Ok(Choice { kind: cheap, reason });
    }
    let least = if polynomial { LEAST_CORRECTED_ROWS } else { LEAST_ROWS };
    if rows < least {
        let reason = format!("{rows} unknowns are fewer than {least}");
        return Ok(Choice { kind: cheap, reason });
    }
    let tied = tied_rows(matrix)? / rows as f64;
    let share =
        format!("of {rows} rows {:.0} % sum to less than 1 % of their diagonal", 100.0 * tied);
    let kind = if tied >= LEAST_TIED { PreconditionerKind::Amg(amg) } else { cheap };
    Ok(Choice { kind, reason: share })
}

/// 1 where the entries of a row sum to a small share of its diagonal. Traffic of the matrix.
#[kernel(count_tied, reduce(sum))]
pub(super) fn is_tied<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    #[comptime] layout: Layout,
) -> f64 {
    let (first, end) = row_places(row, offsets, layout);
    let mut sum = f64::literal(0.0);
    let mut diagonal = f64::literal(0.0);
    let mut k = first;
    while k < end {
        let value = S::widen(values[k]);
        sum += value;
        if columns[k] as usize == row {
            diagonal += value;
        }
        k += comptime!(layout.spacing());
    }
    let mut tied = f64::literal(0.0);
    if f64::absolute(sum) < f64::literal(TIED) * diagonal {
        tied = f64::literal(1.0);
    }
    tied
}

fn tied_rows<T: Real>(matrix: &Matrix<T>) -> Result<f64, LinearError> {
    let (backend, n) = (matrix.backend(), matrix.rows());
    let (offsets, columns, values) = matrix.arrays();
    let mut partials = Partials::new(backend, n, 1);
    let mut sum = backend.zeros(1);
    backend.install(|| {
        count_tied(backend, n, offsets, columns, values, matrix.layout(), &mut partials);
        blas::finish_sum(backend, &partials, &mut sum);
    });
    Ok(backend.read(&sum)?[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::devices;
    use crate::linear::testing::{diamond, poisson_2d};
    use crate::linear::{AmgParams, CsrMatrix};

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
            assert!(reason.starts_with("levels are made on the host"), "{reason}");
        }
    }
}
