//! Steps of a lid-driven cavity of hexahedra.

use super::{Found, Measured, RanksPlan, RanksTest, median};
use crate::BenchError;
use crate::flow::{WARM_UP, cavity, hexahedron_mesh, step_length};
use karman::backend::{Backend, HOST_CHUNK};
use karman::incompressible::{Arrangement, IncompressibleSolver};
use karman::mesh::partition::Ranges;
use std::time::Instant;

pub(super) fn measure(
    plan: &RanksPlan,
    cells: usize,
    ranks: &[usize],
) -> Result<Found, BenchError> {
    let host = Backend::new(karman::backend::BackendKind::Cpu, plan.threads)?;
    let (mesh, geometry) = hexahedron_mesh(&host, cells)?;
    let place = (&mesh, &geometry);
    let (problem, mut numerics) = cavity(&mesh, Arrangement::Collocated);
    if let Some(amg) = numerics.pressure.preconditioner.amg_mut() {
        amg.cycling.replicate_rows = plan.replicate_rows;
    }
    let mut found = vec![];
    for &count in ranks {
        let ranges = Ranges::new(&mesh, count, HOST_CHUNK);
        let whole = match count {
            1 => None,
            _ => Some(host.install(|| {
                IncompressibleSolver::<f64>::of_ranks(&host, place, &problem, &numerics, (0.0, 0))
            })?),
        };
        let measured = plan.on_ranks(count, |backend, group| {
            let mut flow = match whole.as_ref().zip(group) {
                None => IncompressibleSolver::<f64>::new(
                    backend, &mesh, &geometry, &problem, &numerics,
                )?,
                Some((whole, group)) => {
                    let place = (&mesh, &geometry, &ranges);
                    let (mut flow, _) = whole.of_rank(backend, group, place, &problem)?;
                    flow.project()?;
                    flow
                }
            };
            steps(backend, &mut flow, plan.repetitions)
        })?;
        found.push((RanksTest::Flow, mesh.n_cells(), count, measured));
    }
    Ok(found)
}

fn steps(
    backend: &Backend,
    flow: &mut IncompressibleSolver<f64>,
    repetitions: usize,
) -> Result<Measured, BenchError> {
    let step = step_length(flow);
    for _ in 0..WARM_UP {
        flow.step(step)?;
    }
    let mut times = vec![];
    let mut iterations = 0;
    for _ in 0..repetitions {
        backend.synchronize()?;
        let start = Instant::now();
        iterations = flow.step(step)?.pressure.iterations;
        backend.synchronize()?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(Measured { seconds: median(times), setup_seconds: None, iterations })
}
