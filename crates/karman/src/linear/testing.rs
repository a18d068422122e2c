//! Matrices that tests of this module share.

use super::CsrMatrix;
use crate::backend::testing::values;

/// The five-point Laplacian on an m × m grid with Dirichlet walls half a cell away.
pub(crate) fn poisson_2d(m: usize) -> CsrMatrix<f64> {
    grid([m, m, 1], 0.0, true)
}

/// The seven-point Laplacian on an m × m × m grid.
pub(crate) fn poisson_3d(m: usize) -> CsrMatrix<f64> {
    grid([m, m, m], 0.0, true)
}

/// The five-point Laplacian with insulated walls: singular, constants in its null space.
pub(crate) fn neumann_2d(m: usize) -> CsrMatrix<f64> {
    grid([m, m, 1], 0.0, false)
}

/// Diffusion and central convection with cell Péclet number 2 `speed` along x and y.
pub(crate) fn convection_2d(m: usize, speed: f64) -> CsrMatrix<f64> {
    grid([m, m, 1], speed, true)
}

fn grid(m: [usize; 3], speed: f64, dirichlet: bool) -> CsrMatrix<f64> {
    let n = m[0] * m[1] * m[2];
    let steps = [1, m[0], m[0] * m[1]];
    let mut entries = vec![];
    for i in 0..n {
        let at = [i % m[0], i / m[0] % m[1], i / (m[0] * m[1])];
        let mut diagonal = 0.0;
        for d in 0..3 {
            if m[d] == 1 {
                continue;
            }
            for (inside, j, upwind) in [
                (at[d] > 0, i.wrapping_sub(steps[d]), -speed),
                (at[d] + 1 < m[d], i + steps[d], speed),
            ] {
                if inside {
                    entries.push((i as u32, j as u32, -1.0 + upwind));
                    diagonal += 1.0 - if speed != 0.0 { upwind } else { 0.0 };
                } else if dirichlet {
                    diagonal += 2.0;
                }
            }
        }
        entries.push((i as u32, i as u32, diagonal + if m == [1, 1, 1] { 1.0 } else { 0.0 }));
    }
    CsrMatrix::from_entries(n, n, entries).unwrap()
}

/// A diagonally dominant unsymmetric matrix whose rows have one to eight scattered entries.
pub(crate) fn scattered(n: usize) -> CsrMatrix<f64> {
    let coefficients = values(8 * n, 9);
    let mut entries = vec![];
    for r in 0..n {
        entries.push((r as u32, r as u32, 9.0));
        for k in 0..r % 8 {
            let c = (r * 131 + k * 977) % n;
            if c != r {
                entries.push((r as u32, c as u32, coefficients[8 * r + k]));
            }
        }
    }
    CsrMatrix::from_entries(n, n, entries).unwrap()
}

/// The solution of a small system by elimination with row exchanges.
pub(crate) fn dense_solution(a: &CsrMatrix<f64>, b: &[f64]) -> Vec<f64> {
    let n = a.rows();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|r| {
            let mut row = vec![0.0; n + 1];
            a.row(r).for_each(|(c, v)| row[c] = v);
            row[n] = b[r];
            row
        })
        .collect();
    for k in 0..n {
        let largest = |a: &usize, b: &usize| rows[*a][k].abs().total_cmp(&rows[*b][k].abs());
        let pivot = (k..n).max_by(largest).unwrap();
        rows.swap(k, pivot);
        let pivot_row = rows[k].clone();
        for row in rows.iter_mut().skip(k + 1) {
            let factor = row[k] / pivot_row[k];
            for c in k..=n {
                row[c] -= factor * pivot_row[c];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|c| rows[k][c] * x[c]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}
