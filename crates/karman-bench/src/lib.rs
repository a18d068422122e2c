//! `karman bench`: bandwidth of kernels and solvers, in bytes and in percent of a copy measured in the
//! same run.
//!
//! Bytes are the least that an operation must move: each array once, indices of four bytes, no
//! coefficient where geometry is not used. Times are medians of batches, the device idle before and
//! after each; inputs are never constant. [`measure`] runs the chosen groups on a mesh of a given size.

mod adapt;
mod compressible;
mod error;
mod flow;
mod kernels;
mod mesh;
mod operators;
mod plan;
mod published;
pub mod ranks;
mod report;
mod solver;
mod streaming;
mod system;
mod table;
pub mod thesis_amg;
pub mod thesis_cost;
pub mod thesis_pressure;
pub mod thesis_smoothing;
pub mod thesis_stages;

pub use adapt::adapt;
pub use compressible::compressible;
pub use error::BenchError;
pub use flow::flow;
pub use kernels::kernels;
pub use operators::operators;
pub use plan::{Group, Plan, measure};
pub use report::{Machine, Report};
pub use solver::solver;
pub use streaming::streaming;

use karman::backend::{Backend, BackendError};
use karman::real::Real;
use std::time::Instant;

/// One line of a benchmark.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Row {
    /// The name of its [`Group`], or `copy` for the reference of all lines.
    pub group: &'static str,
    /// Requested cells.
    pub cells: usize,
    /// Name of the operation.
    pub name: String,
    /// `f64` or `f32`.
    pub precision: &'static str,
    /// Number of entities.
    pub entities: usize,
    /// Least bytes to move; 0 where they are not counted.
    pub bytes: f64,
    /// Floating-point operations; 0 where they are not counted.
    pub operations: f64,
    /// Iterations in these bytes and seconds; none unless the line is of a solver.
    pub iterations: Option<usize>,
    /// Median seconds.
    pub seconds: f64,
    /// Seconds of the first call, with compilation and allocation.
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
    group: &'static str,
    cells: usize,
    /// Seconds to spend on each line.
    pub budget: f64,
    /// The lines so far.
    pub rows: Vec<Row>,
}

/// Batches; their median is reported.
const BATCHES: usize = 7;

impl<'a> Bench<'a> {
    /// A benchmark on a backend that spends about `budget` seconds on a line.
    pub fn new(backend: &'a Backend, budget: f64) -> Self {
        Bench { backend, group: "", cells: 0, budget, rows: vec![] }
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
        let (first, median) = on_threads(backend, || -> Result<_, BackendError> {
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
        self.add(name, precision, entities, bytes, [first, median]);
        Ok(())
    }

    /// Adds a line of which the first and the median seconds are known.
    fn add(
        &mut self,
        name: &str,
        precision: &'static str,
        entities: usize,
        bytes: f64,
        [first_seconds, seconds]: [f64; 2],
    ) {
        let (group, cells, name) = (self.group, self.cells, name.to_owned());
        self.rows.push(Row {
            group,
            cells,
            name,
            precision,
            entities,
            bytes,
            operations: 0.0,
            iterations: None,
            seconds,
            first_seconds,
        });
    }

    /// The reference copy of all lines, in both precisions, on `bytes` of memory: more than the caches.
    ///
    /// # Errors
    /// [`BackendError::Device`] where the device failed.
    pub fn copy(&mut self, bytes: usize) -> Result<(), BackendError> {
        self.group = "copy";
        self.copy_of::<f64>(bytes / 16)?;
        self.copy_of::<f32>(bytes / 8)
    }

    fn copy_of<F: Real>(&mut self, n: usize) -> Result<(), BackendError> {
        let x = self.backend.upload(values::<F>(n));
        let mut y = self.backend.zeros(n);
        let bytes = (2 * n * size_of::<F>()) as f64;
        self.time("copy", precision::<F>(), n, bytes, |k| {
            karman::backend::blas::copy(k, n, &x, &mut y);
        })
    }

    /// Sets the operations of the last line.
    fn set_operations(&mut self, operations: f64) {
        if let Some(row) = self.rows.last_mut() {
            row.operations = operations;
        }
    }

    /// Runs `work` once and adds its line; its seconds are both the first and the median.
    fn once<R: Send>(&mut self, name: &str, entities: usize, work: impl FnOnce() -> R + Send) -> R {
        let start = Instant::now();
        let result = on_threads(self.backend, work);
        let seconds = start.elapsed().as_secs_f64();
        self.add(name, "f64", entities, 0.0, [seconds; 2]);
        result
    }

    /// Times host work that is too long for batches and adds its line: the median of three runs, each on
    /// the value of `prepare`, which is not timed.
    fn few<T: Send, R: Send>(
        &mut self,
        name: &str,
        entities: usize,
        bytes: f64,
        prepare: impl Fn() -> T,
        work: impl Fn(T) -> Result<R, BenchError> + Sync,
    ) -> Result<(), BenchError> {
        let mut seconds = [0.0; 3];
        for seconds in &mut seconds {
            let prepared = prepare();
            let start = Instant::now();
            let result = self.backend.install(|| work(prepared))?;
            *seconds = start.elapsed().as_secs_f64();
            drop(result);
        }
        let first = seconds[0];
        seconds.sort_by(f64::total_cmp);
        self.add(name, "f64", entities, bytes, [first, seconds[1]]);
        Ok(())
    }

    /// Bandwidth of the first line called "copy" of this precision.
    pub fn copy_bandwidth(&self, precision: &str) -> Option<f64> {
        let copy = self.rows.iter().find(|r| r.name == "copy" && r.precision == precision);
        copy.map(Row::bandwidth)
    }

    /// The lines of a number of cells as a table, by group and precision, with percent of the copy
    /// bandwidth in double precision, operations a second and millions of entities a second.
    pub fn table(&self, cells: usize) -> String {
        let copy = self.copy_bandwidth("f64");
        let mut text = format!(
            "{:<46} {:>5} {:>10} {:>12} {:>9} {:>7} {:>8} {:>9} {:>6} {:>9}\n",
            "operation",
            "real",
            "entities",
            "time [us]",
            "GB/s",
            "% copy",
            "GFLOP/s",
            "M/s",
            "its",
            "first [s]"
        );
        let mut rows: Vec<&Row> = self.rows.iter().filter(|row| row.cells == cells).collect();
        rows.sort_by_key(|row| (Group::place(row.group), row.precision == "f32"));
        let mut group = "";
        for row in rows {
            if row.group != group {
                group = row.group;
                text += &format!("-- {group}\n");
            }
            let (mut bandwidth, mut percent) = (String::new(), String::new());
            let operations = match row.operations {
                count if count > 0.0 => format!("{:.1}", count / row.seconds / 1e9),
                _ => String::new(),
            };
            if row.bytes > 0.0 {
                bandwidth = format!("{:.1}", row.bandwidth() / 1e9);
                percent = copy.map_or(percent, |c| format!("{:.1}", 100.0 * row.bandwidth() / c));
            }
            text += &format!(
                "{:<46} {:>5} {:>10} {:>12.2} {bandwidth:>9} {percent:>7} {operations:>8} {:>9.2} {:>6} {:>9.3}\n",
                row.name,
                row.precision,
                row.entities,
                row.seconds * 1e6,
                row.entities as f64 / row.seconds / 1e6,
                row.iterations.map_or(String::new(), |n| n.to_string()),
                row.first_seconds
            );
        }
        text
    }
}

/// `f64` or `f32`.
fn precision<F: Real>() -> &'static str {
    if size_of::<F>() == 8 { "f64" } else { "f32" }
}

/// Runs `work` on the threads of a host backend, or on the calling thread for a device, whose runtime
/// orders the work of one thread only.
fn on_threads<R: Send>(backend: &Backend, work: impl FnOnce() -> R + Send) -> R {
    match backend.device() {
        None => backend.install(work),
        Some(_) => work(),
    }
}

/// Reproducible values in [0.5, 1.5) that differ from entity to entity.
pub(crate) fn values<F: Real>(n: usize) -> Vec<F> {
    use rayon::prelude::*;
    (0..n as u64)
        .into_par_iter()
        .map(|i| {
            let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
            F::from_f64(0.5 + mixed as f64 / (1u64 << 53) as f64)
        })
        .collect()
}
