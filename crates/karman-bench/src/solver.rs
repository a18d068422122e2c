//! Sparse products, and conjugate gradients for the two-point heat equation: one face of the cube at 600,
//! the others at 300.

use super::mesh::TetrahedronMesh;
use super::system::{HOT, System};
use super::{Bench, BenchError, precision, values};
use karman::backend::{Backend, Buffer, blas};
use karman::finite_volume::Laplacian;
use karman::linear::amg::HierarchyPrecision;
use karman::linear::{
    AmgParams, CsrMatrix, Layout, LinearError, Matrix, Operator, Params, PreconditionerKind, SLICE,
    Solver,
};
use karman::mesh::files::matrix_market::{CoordinateMatrix, write_matrix, write_vector};
use karman::operators::FaceCells;
use karman::real::Real;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Iterations of two solves; an iteration takes the difference of their times over that of these numbers.
pub(super) const ITERATIONS: [usize; 2] = [100, 300];

/// Times assembly, products in both layouts and precisions, an iteration of conjugate gradients with
/// Jacobi (assembled and matrix-free) and a solve to 1e-8 from zero. Writes the system to the folder
/// `written_to`, if given, under the requested number of cells.
///
/// # Errors
/// [`BenchError`] where the matrix does not fit, the solve did not converge, the device failed or the
/// system could not be written.
pub fn solver(
    bench: &mut Bench,
    m: &TetrahedronMesh,
    written_to: Option<&Path>,
) -> Result<(), BenchError> {
    let n = m.mesh.n_cells();
    let system = bench.once("heat: assembly", n, || System::new(m))?;
    let right_side = system.right_side(HOT);
    let System { matrix, conductances, .. } = system;
    if let Some(folder) = written_to {
        let file = |end: &str| folder.join(format!("system-{}{end}.mtx", bench.cells));
        write_matrix(&file(""), &coordinates(&matrix))?;
        write_vector(&file("-rhs"), &right_side)?;
    }
    for layout in [Layout::Csr, Layout::SlicedEll] {
        product(bench, matrix.clone(), layout)?;
        product(bench, matrix.converted::<f32>(), layout)?;
    }
    let backend = bench.backend;
    let entries = matrix.entries() as f64;
    let matrix = Arc::new(Matrix::new(backend, matrix)?);
    let b = backend.upload(right_side);
    // Vectors besides the product, 11 in all: r, q and the diagonal read, r written; x, p, r and the
    // diagonal read, x and p written.
    let vectors = 88.0 * n as f64;
    let bytes = 12.0 * entries + 16.0 * n as f64 + vectors;
    let fixed = ITERATIONS.map(|n| Params {
        relative_tolerance: 0.0,
        max_iterations: n,
        ..Params::default()
    });
    let assembled = |params: &Params| Solver::new(backend, Arc::clone(&matrix), params);
    iteration(bench, "CG + Jacobi, an iteration", &fixed, assembled, &b, bytes)?;
    let cells = Arc::new(FaceCells::new(backend, &m.mesh));
    let (faces, inner) = (m.mesh.n_faces() as f64, m.mesh.n_interior_faces() as f64);
    let items = m.mesh.cell_to_faces.items.len() as f64;
    let free = |params: &Params| {
        let conductance = backend.upload_slice(&conductances);
        let operator: Box<dyn Operator<f64>> =
            Box::new(Laplacian::new(backend, Arc::clone(&cells), conductance));
        Solver::with_operator(backend, operator, Some(Arc::clone(&matrix)), params)
    };
    let bytes_free = 20.0 * n as f64 + 4.0 * items + 8.0 * inner + 8.0 * faces + vectors;
    iteration(bench, "CG + Jacobi, matrix-free", &fixed, free, &b, bytes_free)?;
    let params = Params { max_iterations: 100_000, ..Params::default() };
    let mut solver = Solver::new(backend, Arc::clone(&matrix), &params)?;
    converged(bench, "CG + Jacobi to 1e-8", &mut solver, &b, bytes)?;
    drop(solver);
    let hierarchies = [
        (HierarchyPrecision::Single, "multigrid: set-up", "CG + multigrid to 1e-8"),
        (HierarchyPrecision::Same, "multigrid in f64: set-up", "CG + multigrid in f64 to 1e-8"),
    ];
    for (precision, set_up_name, name) in hierarchies {
        let amg = AmgParams { precision, ..AmgParams::default() };
        let params = Params { preconditioner: PreconditionerKind::Amg(amg), ..Params::default() };
        let make = || Solver::new(backend, Arc::clone(&matrix), &params);
        let mut solver = set_up(bench, set_up_name, n, make)?;
        let bytes = solver.bytes_per_iteration((12.0 * entries) as usize + 16 * n) as f64;
        converged(bench, name, &mut solver, &b, bytes)?;
    }
    Ok(())
}

/// First and median seconds of `work`, repeated within the budget at most `most` times, and its last
/// result; each result is dropped before the next repetition.
pub(super) fn repeated<R>(
    budget: f64,
    most: usize,
    mut work: impl FnMut() -> Result<(f64, R), BenchError>,
) -> Result<([f64; 2], R), BenchError> {
    let (first, mut result) = work()?;
    let repetitions = (budget / first).clamp(1.0, most as f64) as usize;
    let mut times = Vec::with_capacity(repetitions);
    for _ in 0..repetitions {
        drop(result);
        let (seconds, next) = work()?;
        times.push(seconds);
        result = next;
    }
    times.sort_by(f64::total_cmp);
    Ok(([first, times[repetitions / 2]], result))
}

/// Times the set-up of a solver and adds its line.
fn set_up(
    bench: &mut Bench,
    name: &str,
    n: usize,
    make: impl Fn() -> Result<Solver<f64>, LinearError> + Sync,
) -> Result<Solver<f64>, BenchError> {
    let backend = bench.backend;
    let (seconds, solver) = repeated(bench.budget, 20, || {
        let start = Instant::now();
        let solver = super::on_threads(backend, &make)?;
        backend.synchronize()?;
        Ok((start.elapsed().as_secs_f64(), solver))
    })?;
    bench.add(name, "f64", n, 0.0, seconds);
    Ok(solver)
}

fn coordinates(matrix: &CsrMatrix<f64>) -> CoordinateMatrix {
    let rows = 0..matrix.rows();
    let of_row = |r| matrix.row(r).map(move |(c, value)| (r as u32, c as u32, value));
    let entries = rows.flat_map(of_row).collect();
    CoordinateMatrix { rows: matrix.rows(), columns: matrix.columns(), entries }
}

fn product<F: Real>(
    bench: &mut Bench,
    matrix: CsrMatrix<F>,
    layout: Layout,
) -> Result<(), BenchError> {
    let n = matrix.rows();
    let s = size_of::<F>() as f64;
    let (name, offsets) = match layout {
        Layout::Csr => ("matrix product, CSR", n),
        Layout::SlicedEll => ("matrix product, sliced ELL", n.div_ceil(SLICE)),
    };
    let bytes = 4.0 * offsets as f64 + (4.0 + s) * matrix.entries() as f64 + 2.0 * s * n as f64;
    let matrix = Matrix::with_layout(bench.backend, matrix, layout)?;
    let x = bench.backend.upload(values::<F>(n));
    let mut y = bench.backend.zeros(n);
    Ok(bench.time(name, precision::<F>(), n, bytes, |_| matrix.multiply(&x, &mut y))?)
}

/// Seconds of a solve from zero, and its iterations.
pub(super) fn solved(
    backend: &Backend,
    solver: &mut Solver<f64>,
    b: &Buffer<f64>,
    x: &mut Buffer<f64>,
) -> Result<(f64, karman::linear::SolveOutcome), BenchError> {
    super::on_threads(backend, || blas::fill(backend, b.len(), 0.0, x));
    backend.synchronize()?;
    let start = Instant::now();
    let outcome = solver.solve(b, x)?;
    backend.synchronize()?;
    Ok((start.elapsed().as_secs_f64(), outcome))
}

/// First and median seconds of a solve, repeated within the budget, and the last outcome.
fn timed(
    bench: &Bench,
    solver: &mut Solver<f64>,
    b: &Buffer<f64>,
) -> Result<([f64; 2], karman::linear::SolveOutcome), BenchError> {
    let mut x = bench.backend.zeros(b.len());
    repeated(bench.budget, 50, || solved(bench.backend, solver, b, &mut x))
}

/// Adds the line of an iteration, from solves of two lengths; the first seconds are those of the short one.
fn iteration(
    bench: &mut Bench,
    name: &str,
    lengths: &[Params; 2],
    solver: impl Fn(&Params) -> Result<Solver<f64>, LinearError>,
    b: &Buffer<f64>,
    bytes: f64,
) -> Result<(), BenchError> {
    let mut seconds = [[0.0; 2]; 2];
    let mut iterations = [0.0; 2];
    for (k, params) in lengths.iter().enumerate() {
        let (time, outcome) = timed(bench, &mut solver(params)?, b)?;
        (seconds[k], iterations[k]) = (time, outcome.iterations as f64);
    }
    // A small system is solved to round-off before the longer solve ends.
    let (longer, more) = (seconds[1][1] - seconds[0][1], iterations[1] - iterations[0]);
    let each = match more > 0.0 && longer > 0.0 {
        true => longer / more,
        false => seconds[1][1] / iterations[1].max(1.0),
    };
    bench.add(name, "f64", b.len(), bytes, [seconds[0][0] / iterations[0].max(1.0), each]);
    Ok(())
}

fn converged(
    bench: &mut Bench,
    name: &str,
    solver: &mut Solver<f64>,
    b: &Buffer<f64>,
    bytes: f64,
) -> Result<(), BenchError> {
    let (seconds, outcome) = timed(bench, solver, b)?;
    if !outcome.is_converged() {
        let outcome = outcome.to_string();
        return Err(BenchError::NotConverged { cells: b.len(), outcome });
    }
    let total = bytes * outcome.iterations as f64;
    bench.add(name, "f64", b.len(), total, seconds);
    if let Some(row) = bench.rows.last_mut() {
        row.iterations = Some(outcome.iterations);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use karman::backend::BackendKind;
    use karman::linear::amg::{CycleParams, Smoother};

    /// Set-up, iterations and seconds of multigrid for several parameters.
    #[test]
    #[ignore = "a measurement: cargo test --release -p karman-bench --features cuda --lib \
                multigrid_by_parameters -- --ignored --nocapture"]
    fn multigrid_by_parameters() {
        let backend = Backend::new(BackendKind::Auto, 0).unwrap();
        const CYCLE: CycleParams = CycleParams::DEFAULT;
        let default = AmgParams::default;
        let cycling = |cycling| AmgParams { cycling, ..default() };
        let chebyshev = |degree| Smoother::Chebyshev { degree };
        let all = [
            default(),
            AmgParams { drop_tolerance: 0.05, ..default() },
            AmgParams { drop_tolerance: 0.15, ..default() },
            AmgParams { drop_tolerance: 0.2, ..default() },
            AmgParams { drop_tolerance: 0.3, ..default() },
            AmgParams { strength: 0.15, ..default() },
            AmgParams { strength: 0.4, ..default() },
            AmgParams { interpolation_entries: 2, ..default() },
            AmgParams { interpolation_entries: 4, ..default() },
            AmgParams { over_correction: 1.4, ..default() },
            AmgParams { over_correction: 1.6, ..default() },
            AmgParams { over_correction: 1.7, ..default() },
            cycling(CycleParams { relaxation: 1.5, ..CYCLE }),
            cycling(CycleParams { relaxation: 1.7, ..CYCLE }),
            AmgParams {
                drop_tolerance: 0.2,
                cycling: CycleParams { relaxation: 1.5, ..CYCLE },
                ..default()
            },
            AmgParams { pairwise_passes: 0, ..default() },
            AmgParams { pairwise_passes: 2, ..default() },
            AmgParams { pairwise_passes: 2, over_correction: 1.8, ..default() },
            AmgParams {
                pairwise_passes: 2,
                over_correction: 1.8,
                cycling: CycleParams { relaxation: 1.5, ..CYCLE },
                ..default()
            },
            AmgParams {
                pairwise_passes: 2,
                over_correction: 1.8,
                cycling: CycleParams { smoother: chebyshev(2), ..CYCLE },
                ..default()
            },
            cycling(CycleParams { smoother: chebyshev(2), ..CYCLE }),
            AmgParams { coarse_rows: 512, ..default() },
        ];
        for cells in [280_000, 2_330_000] {
            let mesh = TetrahedronMesh::new(&backend, cells).unwrap();
            let system = backend.install(|| System::new(&mesh)).unwrap();
            let b = backend.upload(system.right_side(HOT));
            let n = system.matrix.rows();
            let matrix = Arc::new(Matrix::new(&backend, system.matrix).unwrap());
            let mut x = backend.zeros(n);
            for amg in all {
                let preconditioner = PreconditionerKind::Amg(amg);
                let params = Params { preconditioner, ..Params::default() };
                let mut set_up = f64::MAX;
                let mut solver = None;
                for _ in 0..3 {
                    drop(solver.take());
                    let start = Instant::now();
                    solver = Some(Solver::new(&backend, Arc::clone(&matrix), &params).unwrap());
                    set_up = set_up.min(start.elapsed().as_secs_f64());
                }
                let mut solver = solver.unwrap();
                let mut seconds = f64::MAX;
                let mut iterations = 0;
                for _ in 0..5 {
                    let (time, outcome) = solved(&backend, &mut solver, &b, &mut x).unwrap();
                    seconds = seconds.min(time);
                    iterations = outcome.iterations;
                }
                let report = solver.hierarchy().unwrap();
                let rows: Vec<String> = report
                    .levels
                    .iter()
                    .map(|l| format!("{}/{:.1}", l.rows, l.entries as f64 / l.rows as f64))
                    .collect();
                eprintln!(
                    "{n} set-up {:.1} solve {:.2} ms {iterations} its {:.0} us complexity {:.2} \
                     pairwise_passes {} over {} strength {} keep {} drop {} relax {:.2} {:?} {}",
                    1e3 * set_up,
                    1e3 * seconds,
                    1e6 * seconds / iterations as f64,
                    report.operator_complexity(),
                    amg.pairwise_passes,
                    amg.over_correction,
                    amg.strength,
                    amg.interpolation_entries,
                    amg.drop_tolerance,
                    amg.cycling.relaxation,
                    amg.cycling.smoother,
                    rows.join(" ")
                );
            }
        }
    }
}
