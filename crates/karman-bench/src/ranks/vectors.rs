//! Vector updates and scalar products, of which the first needs no exchange.

use super::{Found, Measured, RanksPlan, RanksTest, median};
use crate::{BenchError, values};
use karman::backend::{Backend, HOST_CHUNK, Partials, blas};
use std::time::Instant;

/// Loops of a measurement.
const LOOPS: usize = 100;

/// Seconds of an update y ← y + α x, or of a scalar product, of vectors of so many entities.
pub(super) fn measure(
    plan: &RanksPlan,
    entities: usize,
    ranks: &[usize],
    tests: &[RanksTest],
) -> Result<Found, BenchError> {
    let mut found = vec![];
    for &count in ranks {
        for &test in tests {
            let measured = plan.on_ranks(count, |backend, group| {
                let rank = group.map_or(0, |group| group.rank());
                let chunks = entities.div_ceil(HOST_CHUNK);
                let start = |rank: usize| (rank * chunks / count * HOST_CHUNK).min(entities);
                time(backend, start(rank + 1) - start(rank), test, plan.repetitions)
            })?;
            found.push((test, entities, count, measured));
        }
    }
    Ok(found)
}

fn time(
    backend: &Backend,
    n: usize,
    test: RanksTest,
    repetitions: usize,
) -> Result<Measured, BenchError> {
    let (x, mut y) = (backend.upload(values::<f64>(n)), backend.upload(values::<f64>(n)));
    let (mut partials, mut sum) = (Partials::new(backend, n, 1), backend.zeros(1));
    let mut times = vec![];
    for _ in 0..=repetitions {
        backend.synchronize()?;
        let start = Instant::now();
        for _ in 0..LOOPS {
            match test {
                RanksTest::Axpy => blas::axpy(backend, n, 0.25, &x, &mut y),
                _ => {
                    blas::dot_partials(backend, n, &x, &y, &mut partials);
                    blas::finish_sum(backend, &partials, &mut sum);
                }
            }
        }
        backend.synchronize()?;
        times.push(start.elapsed().as_secs_f64() / LOOPS as f64);
    }
    // The first compiles kernels.
    times.remove(0);
    Ok(Measured { seconds: median(times), setup_seconds: None, iterations: LOOPS })
}
