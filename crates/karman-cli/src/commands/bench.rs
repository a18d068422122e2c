//! `karman bench`

use crate::arguments::{BenchArguments, BenchPrecision};
use crate::console;
use crate::failure::Failure;
use karman::backend::Backend;
use karman::bench::{Bench, Group, Plan, Report, measure};
use std::fs::File;
use std::path::Path;

pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    if !(arguments.seconds > 0.0 && arguments.seconds.is_finite()) {
        let message = format!("--seconds must be above 0, not {}", arguments.seconds);
        return Err(Failure::Input(message));
    }
    let backend = Backend::new(arguments.backend, arguments.threads).map_err(Failure::input)?;
    let file = arguments.json.as_deref().filter(|path| *path != Path::new("-"));
    let output = file.map(|path| create(path).map(|output| (path, output))).transpose()?;
    let is_shown = arguments.json.is_none() || output.is_some();
    let groups =
        if arguments.only.is_empty() { Group::ALL.to_vec() } else { arguments.only.clone() };
    let plan = Plan {
        groups,
        double: arguments.precision != BenchPrecision::F32,
        single: arguments.precision != BenchPrecision::F64,
        write_system: arguments.write_system.clone(),
    };
    let mut bench = Bench::new(&backend, arguments.seconds);
    bench.copy(arguments.copy).map_err(Failure::input)?;
    if is_shown {
        console::print(&heading(&backend, &bench))?;
    }
    for &cells in &arguments.cells {
        measure(&mut bench, cells, &plan).map_err(Failure::input)?;
        if is_shown {
            console::print(&bench.table(cells))?;
        }
    }
    let report = Report { karman: env!("KARMAN_VERSION"), ..Report::new(&bench) };
    match output {
        Some((path, output)) => serde_json::to_writer_pretty(output, &report)
            .map_err(|e| Failure::Input(format!("cannot write {}: {e}", path.display()))),
        None if arguments.json.is_some() => console::print_json(&report),
        None => Ok(()),
    }
}

/// The file is made before hours are spent on what goes there.
fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|e| Failure::Input(format!("cannot write {}: {e}", path.display())))
}

fn heading(backend: &Backend, bench: &Bench) -> String {
    let copy = |precision| bench.copy_bandwidth(precision).unwrap_or(0.0) / 1e9;
    format!(
        "karman {} on {} ({}), {} host threads; copy {:.1} GB/s in f64, {:.1} GB/s in f32",
        env!("KARMAN_VERSION"),
        backend.kind().name(),
        backend.device_name(),
        backend.threads(),
        copy("f64"),
        copy("f32"),
    )
}
