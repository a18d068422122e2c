//! Symmetric Gauss–Seidel by colours: M = (D + L) D⁻¹ (D + U), where L couples a row to rows of
//! earlier colours and U to later ones. Colours run forwards, then in reverse, so M is symmetric
//! where A is, and positive definite where D is.
//!
//! Rows are renumbered by colour; L and U are stored separately. From z = 0 the forward sweep needs only L.
//! The backward sweep changes a row by −D⁻¹ U z, because its terms of L and D are unchanged. The two sweeps
//! together read the matrix once.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::matrix::MatrixView;
use super::{Colouring, CsrMatrix, Layout, LinearError, Matrix, Preconditioner};
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Backend, Buffer, Segment, View};

/// One forward and one backward sweep, with the matrix stored in `S`.
pub struct GaussSeidel<T, S> {
    /// Where colours begin among the renumbered rows: [colours + 1].
    offsets: Vec<usize>,
    /// Old number of each new row: [n].
    permutation: Buffer<u32>,
    lower: Matrix<S>,
    upper: Matrix<S>,
    /// 1 / a_rr by new rows: [n].
    inverse: Buffer<S>,
    /// z by new rows: [n].
    work: Buffer<T>,
}

impl<T: Real, S: Real> GaussSeidel<T, S> {
    /// The sweeps of `matrix`, coloured on the host.
    ///
    /// # Errors
    /// [`LinearError::Diagonal`] where a diagonal entry has no inverse; [`LinearError::Backend`].
    pub fn new(matrix: &Matrix<T>) -> Result<Self, LinearError> {
        let backend = matrix.backend();
        let inverse = backend.read(&matrix.inverse_diagonal::<S>()?)?;
        let csr = matrix.to_csr()?.into_converted::<S>();
        let Colouring { colour_of, offsets, rows } = Colouring::of(&csr);
        let mut new_number = vec![0; rows.len()];
        rows.iter().enumerate().for_each(|(new, old)| new_number[*old as usize] = new as u32);
        let half = |keep: &dyn Fn(u32, u32) -> bool| -> CsrMatrix<S> {
            csr.selected(&rows, &new_number, |r, c| keep(colour_of[r], colour_of[c]))
        };
        // Padding is multiplied by 0, but must refer to a computed value: an old NaN would spread. Row 0
        // has the first colour; in the backward sweep every row has been computed.
        let lower = half(&|row, column| column < row);
        let upper = half(&|row, column| column > row);
        Ok(GaussSeidel {
            lower: Matrix::padded(backend, lower, matrix.layout(), |_| 0)?,
            upper: Matrix::with_layout(backend, upper, matrix.layout())?,
            inverse: backend.upload(rows.iter().map(|r| inverse[*r as usize]).collect()),
            work: backend.zeros(rows.len()),
            permutation: backend.upload(rows),
            offsets,
        })
    }
}

impl<T: Real, S: Real> Preconditioner<T> for GaussSeidel<T, S> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        let GaussSeidel { offsets, permutation, inverse, work, .. } = self;
        let (lower, upper) = (self.lower.view(), self.upper.view());
        let colours = offsets.windows(2).map(|c| (c[0], c[1] - c[0]));
        for (first, count) in colours.clone() {
            if first == 0 {
                sweep_first(backend, count, permutation, inverse, r, work);
                continue;
            }
            sweep_forward(backend, count, first, permutation, &lower, inverse, r, work);
        }
        for (first, count) in colours.rev() {
            if first + count == work.len() {
                sweep_last(backend, count, first, permutation, work, z);
                continue;
            }
            sweep_backward(backend, count, first, permutation, &upper, inverse, work, z);
        }
    }

    fn bytes(&self) -> usize {
        let matrix = self.lower.bytes() + self.upper.bytes();
        matrix + 2 * (self.inverse.bytes() + self.permutation.bytes()) + 5 * self.work.bytes()
    }
}

/// [`MatrixView::row_product`] with a vector that the same kernel writes.
#[device]
#[inline(always)]
fn row_sum<F: Real, S: Real>(row: usize, a: &MatrixView<S>, z: &Segment<F>) -> F {
    let (first, end) = a.row(row);
    let mut k = first;
    let mut sum = F::literal(0.0);
    while k < end {
        sum += convert::<S, F>(a.values[k]) * z[a.columns[k] as usize];
        k += comptime!(a.layout.spacing());
    }
    sum
}

/// z_r ← r_r / a_rr for the rows of the first colour. Traffic a row: 4 + 3s.
#[kernel(out(work))]
pub(super) fn sweep_first<F: Real, S: Real>(
    row: usize,
    permutation: &View<u32>,
    inverse: &View<S>,
    r: &View<F>,
) -> F {
    r[permutation[row] as usize] * convert::<S, F>(inverse[row])
}

/// Copies the rows of the last colour to their old positions: the backward sweep does not change them.
/// Traffic a row: 4 + 2s.
#[kernel]
pub(super) fn sweep_last<F: Real>(
    i: usize,
    first: usize,
    permutation: &View<u32>,
    work: &View<F>,
    z: &mut Segment<F>,
) {
    let row = first + i;
    z[permutation[row] as usize] = work[row];
}

/// z_r ← (r_r − Σ_earlier a_rk z_k) / a_rr for the rows of one colour. Traffic of all colours: L, and
/// 8 + 3s a row.
#[kernel(specialize(lower.layout = Layout::Csr))]
pub(super) fn sweep_forward<F: Real, S: Real>(
    i: usize,
    first: usize,
    permutation: &View<u32>,
    lower: &MatrixView<S>,
    inverse: &View<S>,
    r: &View<F>,
    work: &mut Segment<F>,
) {
    let row = first + i;
    let sum = row_sum::<F, S>(row, lower, &*work);
    work[row] = (r[permutation[row] as usize] - sum) * convert::<S, F>(inverse[row]);
}

/// z_r ← z_r − Σ_later a_rk z_k / a_rr for the rows of one colour, written also to the old positions.
/// Traffic of all colours: U, and 8 + 4s a row.
#[kernel(specialize(upper.layout = Layout::Csr))]
pub(super) fn sweep_backward<F: Real, S: Real>(
    i: usize,
    first: usize,
    permutation: &View<u32>,
    upper: &MatrixView<S>,
    inverse: &View<S>,
    work: &mut Segment<F>,
    z: &mut Segment<F>,
) {
    let row = first + i;
    let sum = row_sum::<F, S>(row, upper, &*work);
    let own = work[row] - sum * convert::<S, F>(inverse[row]);
    work[row] = own;
    z[permutation[row] as usize] = own;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dense_solution, poisson_3d, scattered, scattered_symmetric};
    use karman_backend::testing::{everywhere, values};

    fn applied<S: Real>(backend: &Backend, a: &CsrMatrix<f64>, r: &[f64]) -> Vec<f64> {
        let matrix = Matrix::new(backend, a.clone()).unwrap();
        let mut sweeps = GaussSeidel::<f64, S>::new(&matrix).unwrap();
        let mut z = backend.zeros(r.len());
        // The result must not depend on an earlier application.
        sweeps.apply(backend, &backend.upload(vec![f64::NAN; r.len()]), &mut z);
        sweeps.apply(backend, &backend.upload_slice(r), &mut z);
        backend.read(&z).unwrap()
    }

    /// (D + U)⁻¹ D (D + L)⁻¹ r with rows ordered by colour, by elimination.
    fn expected(a: &CsrMatrix<f64>, r: &[f64]) -> Vec<f64> {
        let colour_of = Colouring::of(a).colour_of;
        let part = |keep: &dyn Fn(u32, u32) -> bool| {
            let mut entries = vec![];
            for row in 0..a.rows() {
                let selected =
                    a.row(row).filter(|(c, _)| *c == row || keep(colour_of[row], colour_of[*c]));
                entries.extend(selected.map(|(c, v)| (row as u32, c as u32, v)));
            }
            CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
        };
        let y = dense_solution(&part(&|row, column| column < row), r);
        let scaled: Vec<f64> = y.iter().zip(a.diagonal()).map(|(y, d)| y * d).collect();
        dense_solution(&part(&|row, column| column > row), &scaled)
    }

    #[test]
    fn the_two_sweeps_equal_triangular_solves() {
        for n in [1, 5, 33, 120] {
            for a in [scattered(n), scattered_symmetric(n)] {
                let r = values(n, 41);
                let want = expected(&a, &r);
                for backend in everywhere() {
                    for (got, want) in applied::<f64>(&backend, &a, &r).iter().zip(&want) {
                        assert!((got - want).abs() < 1e-13, "{backend:?} {got} {want}");
                    }
                    for (got, want) in applied::<f32>(&backend, &a, &r).iter().zip(&want) {
                        assert!((got - want).abs() < 1e-6, "{backend:?} {got} {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_preconditioner_is_symmetric_and_positive() {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for a in [poisson_3d(9), scattered_symmetric(1000)] {
            let (x, y) = (values(a.rows(), 42), values(a.rows(), 43));
            for backend in everywhere() {
                let (mx, my) = (applied::<f64>(&backend, &a, &x), applied::<f64>(&backend, &a, &y));
                let scale = dot(&x, &mx).max(dot(&y, &my));
                assert!((dot(&x, &my) - dot(&y, &mx)).abs() < 1e-13 * scale, "{backend:?}");
                assert!(dot(&x, &mx) > 0.0 && dot(&y, &my) > 0.0);
            }
        }
    }
}
