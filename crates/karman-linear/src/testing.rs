//! Matrices and solves shared by the tests.

use super::{
    CsrMatrix, LinearError, Matrix, Method, Params, PreconditionerKind, SolveOutcome, Solver,
};
use karman_backend::Backend;
use karman_backend::real::Real;
use karman_backend::testing::values;
use std::sync::Arc;

/// The five-point Laplacian on an m × m grid with Dirichlet walls half a cell away.
pub(crate) fn poisson_2d(m: usize) -> CsrMatrix<f64> {
    grid([m, m, 1], 0.0, true)
}

/// The seven-point Laplacian on an m × m × m grid.
pub(crate) fn poisson_3d(m: usize) -> CsrMatrix<f64> {
    grid([m, m, m], 0.0, true)
}

/// The five-point Laplacian with Neumann walls: singular, constants in its null space.
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

/// A Laplacian whose rows have four neighbours, as cells of a tetrahedral mesh have: the diamond
/// lattice of 2 m³ points, Dirichlet walls half a step away.
pub(crate) fn diamond(m: usize) -> CsrMatrix<f64> {
    let steps = [0, 1, m, m * m];
    let coordinate = move |cell: usize, d: usize| cell / steps[d] % m;
    // Point 2 c is coupled to 2 c' + 1 for c' = c and the previous cell along each axis.
    let neighbour = move |row: usize, d: usize| {
        let cell = row / 2;
        match row % 2 {
            0 if d == 0 || coordinate(cell, d) > 0 => Some(2 * (cell - steps[d]) + 1),
            1 if d == 0 || coordinate(cell, d) + 1 < m => Some(2 * (cell + steps[d])),
            _ => None,
        }
    };
    let neighbours = move |row| (0..4).filter_map(move |d| neighbour(row, d));
    let length = |row| neighbours(row).count() + 1;
    let n = 2 * m * m * m;
    CsrMatrix::from_rows(n, n, length, |row, columns, values: &mut [f64]| {
        let mut diagonal = 8.0;
        for (k, other) in neighbours(row).enumerate() {
            (columns[k], values[k]) = (other as u32, -1.0);
            diagonal -= 1.0;
        }
        let last = columns.len() - 1;
        (columns[last], values[last]) = (row as u32, diagonal);
    })
    .unwrap()
}

/// A symmetric positive definite matrix with scattered entries: B + Bᵀ with a heavy diagonal.
pub(crate) fn scattered_symmetric(n: usize) -> CsrMatrix<f64> {
    let b = scattered(n);
    let mut entries = vec![];
    for r in 0..n {
        for (c, v) in b.row(r).filter(|(c, _)| *c != r) {
            entries.extend([(r as u32, c as u32, v), (c as u32, r as u32, v)]);
        }
    }
    let mut sums = vec![1.0; n];
    entries.iter().for_each(|(r, _, v): &(u32, u32, f64)| sums[*r as usize] += v.abs());
    entries.extend((0..n).map(|r| (r as u32, r as u32, sums[r])));
    CsrMatrix::from_entries(n, n, entries).unwrap()
}

/// The solution of a small system by Gaussian elimination with partial pivoting.
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

pub(crate) fn narrow<T: Real>(v: &[f64]) -> Vec<T> {
    v.iter().map(|x| T::from_f64(*x)).collect()
}

pub(crate) fn solver<T: Real>(
    backend: &Backend,
    a: &CsrMatrix<f64>,
    params: &Params,
) -> Result<Solver<T>, LinearError> {
    let matrix = Arc::new(Matrix::new(backend, a.converted::<T>())?);
    Solver::new(backend, matrix, params)
}

/// Solves A x = b from an initial guess.
pub(crate) fn solved_from<T: Real>(
    backend: &Backend,
    a: &CsrMatrix<f64>,
    b: &[f64],
    guess: &[f64],
    params: &Params,
) -> (SolveOutcome, Vec<f64>) {
    let mut solver = solver::<T>(backend, a, params).unwrap();
    let b = backend.upload(narrow::<T>(b));
    let mut x = backend.upload(narrow::<T>(guess));
    let outcome = solver.solve(&b, &mut x).unwrap();
    (outcome, backend.read(&x).unwrap().iter().map(|v| (*v).into()).collect())
}

/// Solves A x = b from zero.
pub(crate) fn solved<T: Real>(
    backend: &Backend,
    a: &CsrMatrix<f64>,
    b: &[f64],
    params: &Params,
) -> (SolveOutcome, Vec<f64>) {
    solved_from::<T>(backend, a, b, &vec![0.0; b.len()], params)
}

pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// ‖b − A x‖ / ‖b‖ on the host.
pub(crate) fn residual_of(a: &CsrMatrix<f64>, b: &[f64], x: &[f64]) -> f64 {
    let r: Vec<f64> = a.times(x).iter().zip(b).map(|(ax, b)| b - ax).collect();
    norm(&r) / norm(b)
}

pub(crate) fn with(method: Method, preconditioner: PreconditionerKind) -> Params {
    Params { method, preconditioner, ..Params::default() }
}

pub(crate) fn host() -> Backend {
    Backend::host(2).unwrap()
}
