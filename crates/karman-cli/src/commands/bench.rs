//! `karman bench`

use crate::arguments::{BenchArguments, BenchPrecision};
use crate::console;
use crate::failure::Failure;
use karman::backend::{Backend, BackendError};
use karman::bench::{Bench, Row, pair, streaming};

pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    if !(arguments.seconds > 0.0 && arguments.seconds.is_finite()) {
        let message = format!("--seconds must be above 0, not {}", arguments.seconds);
        return Err(Failure::Input(message));
    }
    let backend = Backend::new(arguments.backend, arguments.threads).map_err(Failure::input)?;
    let mut rows: Vec<Row> = Vec::new();
    if !arguments.json {
        console::print(&backend.device_name())?;
    }
    for &size in &arguments.sizes {
        // A copy of the same size is what its lines are compared with.
        let mut bench = Bench::new(&backend, arguments.seconds);
        measure(&mut bench, size, arguments.precision).map_err(Failure::input)?;
        if !arguments.json {
            console::print(&bench.table())?;
        }
        rows.append(&mut bench.rows);
    }
    if arguments.json { console::print_json(&rows) } else { Ok(()) }
}

fn measure(bench: &mut Bench, size: usize, precision: BenchPrecision) -> Result<(), BackendError> {
    if precision != BenchPrecision::F32 {
        streaming::<f64>(bench, size)?;
    }
    if precision != BenchPrecision::F64 {
        streaming::<f32>(bench, size)?;
    }
    pair(bench, size)
}
