//! `karman bench`: how fast kernels and solvers run here, in bytes and in percent of a copy measured
//! in the same run.
//!
//! Bytes are the least that an operation must move: each array once, indices of four bytes, no
//! coefficient where geometry is not used. Times are medians of batches, the device idle before and
//! after each; inputs are never constant.

mod pair;
mod streaming;

pub use pair::pair;
pub use streaming::streaming;

use crate::backend::{Backend, BackendError};
use std::time::Instant;

/// One line of a benchmark.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Row {
    /// What ran.
    pub name: String,
    /// `f64` or `f32`.
    pub precision: &'static str,
    /// Number of entities.
    pub entities: usize,
    /// Least bytes to move.
    pub bytes: f64,
    /// Median seconds.
    pub seconds: f64,
    /// Seconds of the very first call: compilation and allocation too.
    pub first_seconds: f64,
}

impl Row {
    /// Least bytes a second.
    pub fn bandwidth(&self) -> f64 {
        self.bytes / self.seconds
    }
}

/// Runs kernels repeatedly and takes medians.
pub struct Bench<'a> {
    backend: &'a Backend,
    /// Seconds to spend on each line.
    pub budget: f64,
    /// The lines so far.
    pub rows: Vec<Row>,
}

/// Batches whose median is taken.
const BATCHES: usize = 7;

impl<'a> Bench<'a> {
    /// A benchmark on a backend that spends about `budget` seconds on a line.
    pub fn new(backend: &'a Backend, budget: f64) -> Self {
        Bench { backend, budget, rows: vec![] }
    }

    /// Times `work`, which moves `bytes` at least, and adds a line.
    ///
    /// # Errors
    /// [`BackendError::Device`] where the device failed.
    pub fn time(
        &mut self,
        name: &str,
        precision: &'static str,
        entities: usize,
        bytes: f64,
        mut work: impl FnMut(&Backend) + Send,
    ) -> Result<(), BackendError> {
        let backend = self.backend;
        let budget = self.budget;
        let (first, median) = backend.install(|| -> Result<_, BackendError> {
            let mut batch = |repetitions: usize| -> Result<f64, BackendError> {
                backend.synchronize()?;
                let start = Instant::now();
                for _ in 0..repetitions {
                    work(backend);
                }
                backend.synchronize()?;
                Ok(start.elapsed().as_secs_f64() / repetitions as f64)
            };
            let first = batch(1)?;
            let estimate = batch(2)?.min(batch(2)?).max(1e-7);
            let repetitions = (budget / BATCHES as f64 / estimate).clamp(1.0, 5000.0) as usize;
            let mut times = Vec::with_capacity(BATCHES);
            for _ in 0..BATCHES {
                times.push(batch(repetitions)?);
            }
            times.sort_by(f64::total_cmp);
            Ok((first, times[BATCHES / 2]))
        })?;
        self.rows.push(Row {
            name: name.to_owned(),
            precision,
            entities,
            bytes,
            seconds: median,
            first_seconds: first,
        });
        Ok(())
    }

    /// Bandwidth of the first line called "copy" of this precision.
    pub fn copy_bandwidth(&self, precision: &str) -> Option<f64> {
        let copy = self.rows.iter().find(|r| r.name == "copy" && r.precision == precision);
        copy.map(Row::bandwidth)
    }

    /// The lines as a table, with percent of the copy bandwidth.
    pub fn table(&self) -> String {
        let copy = self.copy_bandwidth("f64");
        let mut text = format!(
            "{:<34} {:>5} {:>10} {:>12} {:>9} {:>8} {:>9}\n",
            "operation", "real", "entities", "time [us]", "GB/s", "% copy", "first [s]"
        );
        for row in &self.rows {
            let percent =
                copy.map_or(String::new(), |c| format!("{:.1}", 100.0 * row.bandwidth() / c));
            text += &format!(
                "{:<34} {:>5} {:>10} {:>12.2} {:>9.1} {:>8} {:>9.3}\n",
                row.name,
                row.precision,
                row.entities,
                row.seconds * 1e6,
                row.bandwidth() / 1e9,
                percent,
                row.first_seconds
            );
        }
        text
    }
}

/// Reproducible values in [0.5, 1.5) that differ from entity to entity.
pub(crate) fn values<F: crate::real::Real>(n: usize) -> Vec<F> {
    use rayon::prelude::*;
    (0..n as u64)
        .into_par_iter()
        .map(|i| {
            let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
            F::narrow(0.5 + mixed as f64 / (1u64 << 53) as f64)
        })
        .collect()
}
