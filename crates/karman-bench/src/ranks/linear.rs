//! Conjugate gradients for the heat equation on jittered tetrahedra.

use super::{Found, Measured, RanksPlan, RanksTest, median};
use crate::BenchError;
use crate::mesh::TetrahedronMesh;
use crate::solver::{ITERATIONS, solved};
use crate::system::{HOT, System};
use karman::backend::group::gather_lists;
use karman::backend::{Backend, Buffer, HOST_CHUNK, Halo, RankGroup};
use karman::linear::{AmgParams, Matrix, Params, PreconditionerKind, Solver};
use karman::mesh::partition::Ranges;
use std::sync::Arc;
use std::time::Instant;

/// The system of all ranks.
struct Whole {
    /// On the host.
    matrix: Matrix<f64>,
    right_side: Vec<f64>,
}

/// The rows of a rank.
struct Part {
    matrix: Arc<Matrix<f64>>,
    right_side: Buffer<f64>,
}

impl Whole {
    fn part(
        &self,
        backend: &Backend,
        group: Option<&Arc<dyn RankGroup>>,
        starts: &[usize],
    ) -> Result<Part, BenchError> {
        let Whole { matrix, right_side } = self;
        let Some(group) = group else {
            let matrix = Matrix::new(backend, matrix.to_csr()?)?;
            let right_side = backend.upload_slice(right_side);
            return Ok(Part { matrix: Arc::new(matrix), right_side });
        };
        let own = starts[group.rank()]..starts[group.rank() + 1];
        let ghosts = matrix.columns_beyond(own.clone());
        let halo = Arc::new(Halo::new(group.clone(), starts, ghosts)?.on(backend)?);
        let matrix = Arc::new(matrix.rows_of_rank(backend, halo)?);
        Ok(Part { matrix, right_side: backend.upload_slice(&right_side[own]) })
    }
}

/// Unknowns, ranks and seconds of each test.
pub(super) fn measure(
    plan: &RanksPlan,
    cells: usize,
    ranks: &[usize],
    tests: &[RanksTest],
) -> Result<Found, BenchError> {
    if tests.is_empty() {
        return Ok(vec![]);
    }
    let host = Backend::new(karman::backend::BackendKind::Cpu, plan.threads)?;
    let mesh = TetrahedronMesh::new(&host, cells)?;
    let system = host.install(|| System::new(&mesh))?;
    let right_side = system.right_side(HOT);
    let whole = Whole { matrix: Matrix::new(&host, system.matrix)?, right_side };
    let unknowns = whole.right_side.len();
    let mut found = vec![];
    for &ranks in ranks {
        let starts = Ranges::new(&mesh.mesh, ranks, HOST_CHUNK).starts;
        for &test in tests {
            let measured = plan.on_ranks(ranks, |backend, group| {
                let part = whole.part(backend, group, &starts)?;
                match test {
                    RanksTest::Jacobi => iteration(backend, &part, plan.repetitions),
                    _ => multigrid(backend, &part, plan),
                }
            })?;
            found.push((test, unknowns, ranks, measured));
        }
    }
    Ok(found)
}

/// Median seconds of a solve after a first one, and its iterations.
fn solves(
    backend: &Backend,
    part: &Part,
    params: &Params,
    repetitions: usize,
) -> Result<(Measured, bool), BenchError> {
    let start = Instant::now();
    let mut solver = Solver::new(backend, part.matrix.clone(), params)?;
    backend.synchronize()?;
    let mut setup = start.elapsed().as_secs_f64();
    let mut x = backend.zeros(part.right_side.len());
    let mut times = vec![];
    let mut outcome = solved(backend, &mut solver, &part.right_side, &mut x)?.1;
    for _ in 0..repetitions {
        let (seconds, next) = solved(backend, &mut solver, &part.right_side, &mut x)?;
        times.push(seconds);
        outcome = next;
    }
    if params.relative_tolerance > 0.0 {
        // The kernels of the set-up are compiled.
        drop(solver);
        // All ranks begin together.
        if let Some(group) = backend.ranks() {
            gather_lists(&**group, &[0u32])?;
        }
        let start = Instant::now();
        let again = Solver::new(backend, part.matrix.clone(), params)?;
        backend.synchronize()?;
        setup = start.elapsed().as_secs_f64();
        drop(again);
    }
    let (seconds, iterations) = (median(times), outcome.iterations);
    let measured = Measured { seconds, setup_seconds: Some(setup), iterations };
    Ok((measured, outcome.is_converged()))
}

/// An iteration of conjugate gradients with Jacobi.
fn iteration(backend: &Backend, part: &Part, repetitions: usize) -> Result<Measured, BenchError> {
    let mut seconds = [0.0; 2];
    let mut iterations = [0; 2];
    for (k, max_iterations) in ITERATIONS.into_iter().enumerate() {
        let params = Params { relative_tolerance: 0.0, max_iterations, ..Params::default() };
        let (measured, _) = solves(backend, part, &params, repetitions)?;
        (seconds[k], iterations[k]) = (measured.seconds, measured.iterations);
    }
    // A small system is solved to round-off before the longer solve ends, or its iterations take less than the scatter of both solves.
    let (more, longer) = (iterations[1] - iterations[0], seconds[1] - seconds[0]);
    let seconds = match more > 0 && longer > 0.0 {
        true => longer / more as f64,
        false => seconds[1] / iterations[1].max(1) as f64,
    };
    Ok(Measured { seconds, setup_seconds: None, iterations: iterations[1] })
}

fn multigrid(backend: &Backend, part: &Part, plan: &RanksPlan) -> Result<Measured, BenchError> {
    let mut amg = AmgParams::default();
    amg.cycling.replicate_rows = plan.replicate_rows;
    let params = Params { preconditioner: PreconditionerKind::Amg(amg), ..Params::default() };
    let (measured, is_converged) = solves(backend, part, &params, plan.repetitions)?;
    if !is_converged {
        let outcome = format!("{} iterations with multigrid", measured.iterations);
        return Err(BenchError::NotConverged { cells: part.matrix.total_rows(), outcome });
    }
    Ok(measured)
}
