//! −Δu = 1 on the unit square with u = 0 on the boundary: five-point differences, solved by conjugate
//! gradients with algebraic multigrid. `cargo run --release -p karman-linear --example poisson`
#![allow(clippy::print_stdout)] // the result of an example

use karman_backend::Backend;
use karman_linear::{
    AmgParams, CsrMatrix, LinearError, Matrix, Method, Params, PreconditionerKind, Solver,
};
use std::error::Error;
use std::sync::Arc;

/// The five-point matrix of −h²Δ on m × m interior points.
fn laplacian(m: usize) -> Result<CsrMatrix<f64>, LinearError> {
    let neighbours = move |row: usize| {
        let (i, j) = (row % m, row / m);
        let west = (i > 0).then(|| row - 1);
        let east = (i + 1 < m).then_some(row + 1);
        let south = (j > 0).then(|| row - m);
        let north = (j + 1 < m).then_some(row + m);
        [west, east, south, north].into_iter().flatten()
    };
    let length = |row: usize| neighbours(row).count() + 1;
    CsrMatrix::from_rows(m * m, m * m, length, |row, columns, values: &mut [f64]| {
        (columns[0], values[0]) = (row as u32, 4.0);
        for (k, neighbour) in neighbours(row).enumerate() {
            (columns[k + 1], values[k + 1]) = (neighbour as u32, -1.0);
        }
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let m = 511;
    let backend = Backend::host(0)?; // one thread a processor
    let matrix = Arc::new(Matrix::new(&backend, laplacian(m)?)?);
    let params = Params {
        method: Method::ConjugateGradient,
        preconditioner: PreconditionerKind::Amg(AmgParams::default()),
        relative_tolerance: 1e-10,
        ..Params::default()
    };
    let mut solver = Solver::new(&backend, matrix, &params)?;
    if let Some(hierarchy) = solver.hierarchy() {
        println!("{hierarchy}");
    }

    let h = 1.0 / (m + 1) as f64;
    let b = backend.upload(vec![h * h; m * m]);
    let mut x = backend.zeros(m * m);
    let outcome = solver.solve(&b, &mut x)?;
    let (iterations, residual) = (outcome.iterations, outcome.relative_residual);
    println!("{iterations} iterations, relative residual {residual:.2e}");

    let u = backend.read(&x)?;
    println!("u at the centre: {:.6}", u[m / 2 * m + m / 2]);
    Ok(())
}
