//! Small dense least-squares problems, several columns at once, without allocation but the first.

/// Most columns.
pub(in crate::compressible) const MOST_COLUMNS: usize = 9;

type Square = [[f64; MOST_COLUMNS]; MOST_COLUMNS];

/// The QR factorisation of a matrix with m rows and n columns, n ≤ [`MOST_COLUMNS`], and R⁻¹: A⁺ = D R⁻¹ Qᵀ with the
/// scales D that give the columns of A unit norm.
///
/// Modified Gram–Schmidt, with a second pass where a column loses most of its norm: Björck, Linear Algebra Appl. 197 (1994) 297.
#[derive(Clone, Debug, Default)]
pub(in crate::compressible) struct LeastSquares {
    /// Columns of A, then of Q: `[n][stride]`, zeros behind the m rows.
    columns: Vec<f64>,
    m: usize,
    n: usize,
    scale: [f64; MOST_COLUMNS],
    inverse: Square,
}

/// Numbers that a loop adds at once.
const LANES: usize = 4;

/// Least share of its norm that a column keeps without a second pass.
const LEAST_SHARE: f64 = 0.3;

/// Least norm of a column that is not a combination of the others.
const LEAST_NORM: f64 = 1e-14;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        (0..LANES).for_each(|k| sums[k] += a[k] * b[k]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

impl LeastSquares {
    /// Begins a matrix of zeros with m rows and n columns.
    pub(in crate::compressible) fn begin(&mut self, m: usize, n: usize) {
        (self.m, self.n) = (m, n);
        self.columns.clear();
        self.columns.resize(n * self.stride(), 0.0);
    }

    fn stride(&self) -> usize {
        self.m.next_multiple_of(LANES)
    }

    /// Sets an entry of A.
    pub(in crate::compressible) fn set(&mut self, row: usize, column: usize, value: f64) {
        let stride = self.stride();
        self.columns[column * stride + row] = value;
    }

    /// Factorises; the condition number, in the Frobenius norm, of the matrix with columns of unit norm. None where a column vanishes
    /// or is a combination of the others.
    pub(in crate::compressible) fn factorise(&mut self) -> Option<f64> {
        let (n, stride) = (self.n, self.stride());
        let mut r: Square = Default::default();
        // k numbers columns of A, rows of R and scales alike.
        #[allow(clippy::needless_range_loop)]
        for k in 0..n {
            let (before, rest) = self.columns.split_at_mut(k * stride);
            let column = &mut rest[..stride];
            let square = dot(column, column);
            if square == 0.0 {
                return None;
            }
            self.scale[k] = 1.0 / square.sqrt();
            column.iter_mut().for_each(|x| *x *= self.scale[k]);
            let mut size = 1.0;
            for _ in 0..2 {
                for (i, other) in before.chunks_exact(stride).enumerate() {
                    let product = dot(other, column);
                    r[i][k] += product;
                    column.iter_mut().zip(other).for_each(|(x, q)| *x -= product * q);
                }
                let next = dot(column, column).sqrt();
                let kept = next / size;
                size = next;
                if kept > LEAST_SHARE || size < LEAST_NORM {
                    break;
                }
            }
            if size < LEAST_NORM {
                return None;
            }
            r[k][k] = size;
            column.iter_mut().for_each(|x| *x /= size);
        }
        self.inverse = Default::default();
        let inverse = &mut self.inverse;
        for k in 0..n {
            inverse[k][k] = 1.0 / r[k][k];
            for i in (0..k).rev() {
                let mut sum = 0.0;
                for l in i + 1..=k {
                    sum += r[i][l] * inverse[l][k];
                }
                inverse[i][k] = -sum / r[i][i];
            }
        }
        let norm = |x: &Square| {
            let squares = x.iter().take(n).flat_map(|row| row.iter().take(n)).map(|v| v * v);
            squares.fold(0.0, |sum, v| sum + v).sqrt()
        };
        Some(norm(&r) * norm(&self.inverse))
    }

    /// b D R⁻¹ of a functional b of the solution; with [`LeastSquares::row`] its weights of the right-hand side.
    pub(in crate::compressible) fn functional(&self, b: &[f64]) -> [f64; MOST_COLUMNS] {
        let mut result = [0.0; MOST_COLUMNS];
        for (k, b) in b.iter().enumerate().take(self.n) {
            let scaled = b * self.scale[k];
            (k..self.n).for_each(|l| result[l] += scaled * self.inverse[k][l]);
        }
        result
    }

    /// The weights v Qᵀ of the right-hand side in a functional, `[m]` and zeros.
    pub(in crate::compressible) fn row(&self, v: &[f64; MOST_COLUMNS], weights: &mut Vec<f64>) {
        let stride = self.stride();
        weights.clear();
        weights.resize(stride, 0.0);
        for (q, v) in self.columns.chunks_exact(stride).zip(v) {
            weights.iter_mut().zip(q).for_each(|(w, q)| *w += v * q);
        }
    }

    /// The pseudo-inverse `[n][m]`.
    pub(in crate::compressible) fn pseudo_inverse(&self) -> Vec<f64> {
        let mut weights = vec![];
        let mut result = Vec::with_capacity(self.n * self.m);
        for k in 0..self.n {
            let mut unit = [0.0; MOST_COLUMNS];
            unit[k] = 1.0;
            self.row(&self.functional(&unit), &mut weights);
            result.extend_from_slice(&weights[..self.m]);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(m: usize, n: usize, entry: impl Fn(usize, usize) -> f64) -> LeastSquares {
        let mut problem = LeastSquares::default();
        problem.begin(m, n);
        for row in 0..m {
            (0..n).for_each(|column| problem.set(row, column, entry(row, column)));
        }
        problem
    }

    #[test]
    fn the_pseudo_inverse_is_a_left_inverse_and_orthogonal_columns_have_the_least_condition() {
        let entry =
            |i: usize, j: usize| (1.0 + 0.37 * i as f64).powi(j as i32) * 10f64.powi(j as i32);
        for (m, n) in [(5, 5), (7, 3), (16, 4)] {
            let mut problem = filled(m, n, entry);
            let condition = problem.factorise().unwrap();
            assert!(condition >= n as f64, "{condition}");
            let inverse = problem.pseudo_inverse();
            for i in 0..n {
                for j in 0..n {
                    let terms = (0..m).map(|k| inverse[i * m + k] * entry(k, j));
                    let scale = 10f64.powi(j as i32 - i as i32);
                    let expected = if i == j { 1.0 } else { 0.0 };
                    let found = terms.fold(0.0, |a, b| a + b);
                    assert!((found - expected).abs() < 1e-9 * scale, "{i} {j} {found}");
                }
            }
        }
        let mut orthogonal = filled(6, 3, |i, j| if i == j { 2.0 } else { 0.0 });
        assert!((orthogonal.factorise().unwrap() - 3.0).abs() < 1e-14);
    }

    #[test]
    fn dependent_columns_have_no_inverse() {
        assert!(filled(6, 2, |i, _| 1.0 + i as f64).factorise().is_none());
        assert!(filled(6, 2, |i, j| (i * j) as f64).factorise().is_none());
    }
}
