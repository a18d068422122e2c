//! Galerkin coarse matrices A_c = Pᵀ A P. One writer a coarse row adds the products in the order of the
//! fine rows and sorts the columns: the same bits for any number of threads.

use super::parallel::{Loops, Rows, SparseAccumulator};
use crate::{CsrMatrix, LinearError};

/// R A P times `factor` with R = Pᵀ. About (entries of R) × (entries of A and of P a row) products.
///
/// # Errors
/// [`LinearError::TooLarge`] where it has too many entries.
pub(super) fn triple_product(
    loops: &Loops,
    r: &CsrMatrix<f64>,
    a: &CsrMatrix<f64>,
    p: &CsrMatrix<f64>,
    factor: f64,
) -> Result<CsrMatrix<f64>, LinearError> {
    let write = |sums: &mut SparseAccumulator, row: usize, rows: &mut Rows| {
        for (fine, weight) in r.row(row) {
            let weight = weight * factor;
            for (neighbour, value) in a.row(fine) {
                let product = weight * value;
                for (column, weight) in p.row(neighbour) {
                    sums.add(column as u32, product * weight);
                }
            }
        }
        sums.sort();
        sums.finish(rows);
    };
    loops.matrix_of(r.rows(), p.columns(), || SparseAccumulator::new(p.columns()), write)
}

/// R A P times `factor` for P piecewise constant on aggregates: `members` is Pᵀ, `of` the aggregate of each
/// unknown.
///
/// # Errors
/// [`LinearError::TooLarge`] where it has too many entries.
pub(super) fn between_aggregates(
    loops: &Loops,
    members: &CsrMatrix<f64>,
    a: &CsrMatrix<f64>,
    of: &[u32],
    factor: f64,
) -> Result<CsrMatrix<f64>, LinearError> {
    let n = members.rows();
    let write = |sums: &mut SparseAccumulator, row: usize, rows: &mut Rows| {
        for (fine, _) in members.row(row) {
            for (neighbour, value) in a.row(fine) {
                sums.add(of[neighbour], factor * value);
            }
        }
        sums.sort();
        sums.finish(rows);
    };
    loops.matrix_of(n, n, || SparseAccumulator::new(n), write)
}

#[cfg(test)]
mod tests {
    use super::super::matching::aggregates;
    use super::*;
    use crate::testing::{diamond, scattered, scattered_symmetric};
    use karman_backend::testing::{hosts, values};

    /// A matrix with one to four scattered entries a row.
    fn some_interpolation(rows: usize, columns: usize) -> CsrMatrix<f64> {
        let weights = values(4 * rows, 3);
        let mut entries = vec![];
        for r in 0..rows {
            for k in 0..1 + r % 4 {
                entries.push((r as u32, ((r * 7 + k * 13) % columns) as u32, weights[4 * r + k]));
            }
        }
        CsrMatrix::from_entries(rows, columns, entries).unwrap()
    }

    #[test]
    fn the_triple_product_equals_two_products() {
        for (n, m) in [(1, 1), (50, 9), (3000, 700)] {
            for a in [scattered(n), scattered_symmetric(n)] {
                let p = some_interpolation(n, m);
                let r = p.transposed();
                let product = || triple_product(&Loops::ALONE, &r, &a, &p, 0.5).unwrap();
                let mut all: Vec<_> = hosts().iter().map(|host| host.install(product)).collect();
                all.dedup();
                assert_eq!(all.len(), 1, "the product depends on the number of threads");
                let x = values(m, 8);
                let want = r.times(&a.times(&p.times(&x)));
                for (got, want) in all[0].times(&x).iter().zip(&want) {
                    assert!((got - 0.5 * want).abs() < 1e-11, "{got} {want}");
                }
            }
        }
    }

    #[test]
    fn aggregates_give_the_product_of_their_interpolation() {
        let a = diamond(9);
        let aggregates = aggregates(&Loops::ALONE, &a, 0.25, 1).unwrap();
        let p = aggregates.piecewise_constant();
        let r = p.transposed();
        let want = triple_product(&Loops::ALONE, &r, &a, &p, 0.7).unwrap();
        assert_eq!(between_aggregates(&Loops::ALONE, &r, &a, &aggregates.of, 0.7).unwrap(), want);
    }
}
