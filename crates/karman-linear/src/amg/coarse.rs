//! The dense inverse of the coarsest matrix.

use super::distribution::Distribution;
use super::smoothing::multiply_dense;
use super::views::DenseView;
use crate::CsrMatrix;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Gather};

/// The inverse of the coarsest matrix on a backend; of one of several ranks that share this level its rows.
pub(super) struct Inverse<S> {
    values: Buffer<S>,
    order: usize,
    /// The right-hand side of all ranks.
    gathered: Option<(Gather, Buffer<S>)>,
}

impl<S: Real> Inverse<S> {
    /// The inverse of these values of `[order²]`, by rows on the host, by columns on a device.
    pub(super) fn new(values: Buffer<S>, order: usize) -> Self {
        Inverse { values, order, gathered: None }
    }

    /// The rows of one of several ranks of an inverse by rows, `[order²]`, of the only level, which they share.
    pub(super) fn of_rank(
        backend: &Backend,
        inverse: &[f64],
        order: usize,
        distribution: &Distribution,
    ) -> Self {
        let own = distribution.own(0);
        let rows = &inverse[own.start * order..own.end * order];
        let values = backend.upload(rows.iter().map(|value| S::from_f64(*value)).collect());
        Inverse {
            values,
            order,
            gathered: Some((distribution.gather(0, backend), backend.zeros(order))),
        }
    }

    /// x ← A⁻¹ b.
    pub(super) fn apply(&mut self, backend: &Backend, b: &Buffer<S>, x: &mut Buffer<S>) {
        let (n, rows) = (self.order, b.len());
        let by_columns = backend.device().is_some() && self.gathered.is_none();
        let (row_stride, column_stride) = if by_columns { (1, n) } else { (n, 1) };
        let b = match &mut self.gathered {
            None => b,
            Some((gather, all)) => {
                gather.gather(b, all);
                all
            }
        };
        let values = self.values.view();
        let inverse = DenseView { values, order: n, row_stride, column_stride };
        multiply_dense(backend, rows, &inverse, b, backend.split_sums(n, n * n), x);
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.values.bytes()
    }
}

/// Pivots below this share of the diagonal's terms belong to the null space, of a hierarchy whose finest matrix has elements
/// `T`: above the rounding of its elements, which Galerkin products carry to the coarsest matrix.
pub(super) fn null_share<T>() -> f64 {
    if size_of::<T>() == 4 { 1e-6 } else { 1e-10 }
}

/// A⁻¹ by rows, by Gauss–Jordan elimination along the diagonal. An unknown whose pivot is below `null_share` times its
/// `scale` is set to zero: one a component without a Dirichlet boundary, which gives a solution of every
/// consistent system. `scale`: `[n]`, the result `[n × n]`.
pub(super) fn dense_inverse(a: &CsrMatrix<f64>, scale: &[f64], null_share: f64) -> Vec<f64> {
    let n = a.rows();
    let mut m = vec![0.0; n * n];
    for row in 0..n {
        for (column, value) in a.row(row) {
            m[row * n + column] = value;
        }
    }
    let mut pivot_row = vec![0.0; n];
    let mut left_out = vec![];
    for k in 0..n {
        let pivot = m[k * n + k];
        if pivot.is_nan() || pivot.abs() <= null_share * scale[k].abs() {
            left_out.push(k);
            continue;
        }
        pivot_row.copy_from_slice(&m[k * n..(k + 1) * n]);
        pivot_row.iter_mut().for_each(|value| *value /= pivot);
        pivot_row[k] = 1.0 / pivot;
        for (i, row) in m.chunks_exact_mut(n).enumerate() {
            let factor = row[k];
            if i == k || factor == 0.0 {
                continue;
            }
            row[k] = 0.0;
            for (value, of_pivot) in row.iter_mut().zip(&pivot_row) {
                *value -= factor * of_pivot;
            }
        }
        m[k * n..(k + 1) * n].copy_from_slice(&pivot_row);
    }
    for k in left_out {
        m[k * n..(k + 1) * n].fill(0.0);
        (0..n).for_each(|i| m[i * n + k] = 0.0);
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{neumann_2d, scattered, scattered_symmetric};
    use karman_backend::testing::values;

    fn times(m: &[f64], x: &[f64]) -> Vec<f64> {
        m.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    #[test]
    fn the_inverse_undoes_the_matrix() {
        for n in [1, 2, 60] {
            for a in [scattered(n), scattered_symmetric(n)] {
                let x = values(n, 6);
                let inverse = dense_inverse(&a, &a.diagonal(), null_share::<f64>());
                for (got, want) in times(&inverse, &a.times(&x)).iter().zip(&x) {
                    assert!((got - want).abs() < 1e-12, "{got} {want}");
                }
            }
        }
    }

    #[test]
    fn consistent_singular_systems_are_solved() {
        // Two grids with Neumann walls.
        let one = neumann_2d(6);
        let n = one.rows();
        let mut entries = vec![];
        for r in 0..n {
            for (c, v) in one.row(r) {
                let (r, c, n) = (r as u32, c as u32, n as u32);
                entries.extend([(r, c, v), (n + r, n + c, v)]);
            }
        }
        let a = CsrMatrix::from_entries(2 * n, 2 * n, entries).unwrap();
        let b = a.times(&values(2 * n, 7));
        let inverse = dense_inverse(&a, &a.diagonal(), null_share::<f64>());
        let x = times(&inverse, &b);
        for (got, want) in a.times(&x).iter().zip(&b) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        for i in 0..2 * n {
            for j in 0..i {
                assert!((inverse[i * 2 * n + j] - inverse[j * 2 * n + i]).abs() < 1e-12);
            }
        }
    }
}
