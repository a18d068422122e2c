//! `karman solve`

use crate::arguments::{Precision, SolveArguments};
use crate::console;
use crate::failure::Failure;
use karman::backend::Backend;
use karman::linear::{
    AmgParams, CsrMatrix, LinearError, Matrix, Method, Params, PreconditionerKind, SolveOutcome,
    Solver, SolverSetup,
};
use karman::mesh::files::matrix_market::{read_matrix, read_vector, write_vector};
use karman::real::Real;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The output of `karman solve --json`.
#[derive(Serialize)]
struct Report {
    rows: usize,
    entries: usize,
    symmetric: bool,
    backend: &'static str,
    method: &'static str,
    preconditioner: &'static str,
    read_seconds: f64,
    setup_seconds: f64,
    solve_seconds: f64,
    iterations: usize,
    relative_residual: f64,
    converged: bool,
}

pub(crate) fn run(arguments: &SolveArguments) -> Result<(), Failure> {
    match arguments.precision {
        Precision::F64 => solve::<f64>(arguments, 1e-8),
        Precision::F32 => solve::<f32>(arguments, 1e-5),
    }
}

fn solve<T: Real>(arguments: &SolveArguments, tolerance: f64) -> Result<(), Failure> {
    let backend = Backend::new(arguments.backend, arguments.threads).map_err(Failure::input)?;
    let start = Instant::now();
    let matrix = backend.install(|| matrix::<T>(&arguments.matrix))?;
    let (rows, entries) = (matrix.rows(), matrix.entries());
    let b = match &arguments.rhs {
        Some(path) => right_side(path, rows)?,
        None => vec![T::from_f64(1.0); rows],
    };
    let is_symmetric = backend.install(|| matrix == matrix.transposed());
    let read_seconds = start.elapsed().as_secs_f64();
    if !arguments.json {
        let kind = if is_symmetric { "symmetric" } else { "not symmetric" };
        let file = arguments.matrix.display();
        console::print(&format!(
            "{file}: {rows} rows, {entries} entries, {kind}, read in {read_seconds:.3} s"
        ))?;
    }

    let params = params(arguments, is_symmetric, tolerance);
    let start = Instant::now();
    let made = backend.install(|| -> Result<_, LinearError> {
        Solver::new(&backend, Arc::new(Matrix::new(&backend, matrix)?), &params)
    });
    let mut solver = made.map_err(Failure::input)?;
    backend.synchronize().map_err(Failure::input)?;
    let setup = SolverSetup::of(&solver, start.elapsed().as_secs_f64());
    if !arguments.json {
        console::print(&setup.to_string())?;
    }

    let b = backend.upload(b);
    let mut x = backend.zeros(rows);
    let start = Instant::now();
    let outcome = solver.solve(&b, &mut x).map_err(Failure::input)?;
    backend.synchronize().map_err(Failure::input)?;
    let solve_seconds = start.elapsed().as_secs_f64();
    if arguments.json {
        console::print_json(&Report {
            rows,
            entries,
            symmetric: is_symmetric,
            backend: backend.kind().word(),
            method: setup.method.word(),
            preconditioner: setup.preconditioner,
            read_seconds,
            setup_seconds: setup.seconds,
            solve_seconds,
            iterations: outcome.iterations,
            relative_residual: outcome.relative_residual,
            converged: outcome.is_converged(),
        })?;
    } else {
        console::print(&format!("{outcome}, in {solve_seconds:.3} s"))?;
    }
    if let Some(path) = &arguments.output {
        let x = backend.read(&x).map_err(Failure::input)?;
        let x: Vec<f64> = x.into_iter().map(Into::into).collect();
        write_vector(path, &x).map_err(Failure::input)?;
    }
    verdict(&outcome)
}

fn verdict(outcome: &SolveOutcome) -> Result<(), Failure> {
    if outcome.is_converged() { Ok(()) } else { Err(Failure::Solution(outcome.to_string())) }
}

/// The matrix of a file; entries of equal row and column are added.
fn matrix<T: Real>(path: &Path) -> Result<CsrMatrix<T>, Failure> {
    let read = read_matrix(path).map_err(Failure::input)?;
    let (rows, columns, entries) = (read.rows, read.columns, read.entries.len());
    // Guards the allocation of arrays of as many rows as the file announces.
    if entries < rows || rows == 0 {
        let message = format!(
            "{}: {rows} rows with {entries} entries: a system has an entry in each row",
            path.display()
        );
        return Err(Failure::Input(message));
    }
    let narrow = |(row, column, value)| (row, column, T::from_f64(value));
    CsrMatrix::from_entries(rows, columns, read.entries.into_iter().map(narrow).collect())
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

fn right_side<T: Real>(path: &Path, rows: usize) -> Result<Vec<T>, Failure> {
    let b = read_vector(path).map_err(Failure::input)?;
    if b.len() != rows {
        let (file, found) = (path.display(), b.len());
        let message = format!("{file}: {found} elements, but the matrix has {rows} rows");
        return Err(Failure::Input(message));
    }
    Ok(b.into_iter().map(T::from_f64).collect())
}

/// Default: conjugate gradients for symmetric matrices, BiCGStab for unsymmetric ones; multigrid for large
/// systems on the host, else Jacobi.
fn params(arguments: &SolveArguments, is_symmetric: bool, tolerance: f64) -> Params {
    let method = arguments.method.unwrap_or(match is_symmetric {
        true => Method::ConjugateGradient,
        false => Method::BiCgStab,
    });
    let amg = AmgParams::default();
    let preconditioner = arguments.preconditioner.unwrap_or(match method {
        Method::Stationary => PreconditionerKind::Amg(amg),
        _ => PreconditionerKind::Auto { amg, polynomial: false },
    });
    Params {
        method,
        preconditioner,
        relative_tolerance: arguments.tolerance.unwrap_or(tolerance),
        max_iterations: arguments.max_iterations,
        ..Params::default()
    }
}
