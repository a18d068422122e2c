//! A benchmark with its machine and version, as `--json` writes it.

use super::{Bench, Row};
use karman::backend::Backend;
use serde::Serialize;
use std::fmt;

/// Machine and version, the head of each report.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Version of karman; the program adds the commit it was built from.
    pub karman: &'static str,
    /// Kind of backend.
    pub backend: &'static str,
    /// Name of the device, or the number of host threads.
    pub device: String,
    /// Host threads.
    pub threads: usize,
    /// Name of the host's processor, or its architecture where the system has no name.
    pub processor: String,
}

impl Machine {
    /// The machine of a backend.
    pub fn new(backend: &Backend) -> Machine {
        Machine {
            karman: env!("CARGO_PKG_VERSION"),
            backend: backend.kind().word(),
            device: backend.device_name(),
            threads: backend.threads(),
            processor: processor(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { karman, backend, device, threads, .. } = self;
        write!(f, "karman {karman} on {backend} ({device}), {threads} host threads")
    }
}

/// Machine, version and lines.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine and version.
    #[serde(flatten)]
    pub machine: Machine,
    /// Bytes a second of the reference copy in double precision.
    pub copy_bytes_per_second: Option<f64>,
    /// The lines.
    pub rows: Vec<ReportRow>,
}

/// A line with its bandwidth.
#[derive(Clone, Debug, Serialize)]
pub struct ReportRow {
    /// The line.
    #[serde(flatten)]
    pub row: Row,
    /// Least bytes a second; none where bytes are not counted.
    pub bytes_per_second: Option<f64>,
    /// The bandwidth over that of the copy in double precision.
    pub share_of_copy: Option<f64>,
}

impl Report {
    /// The report of all lines so far.
    pub fn new(bench: &Bench) -> Report {
        let copy = bench.copy_bandwidth("f64");
        let row = |row: &Row| {
            let speed = (row.bytes > 0.0).then(|| row.bandwidth());
            let share = speed.zip(copy).map(|(speed, copy)| speed / copy);
            ReportRow { row: row.clone(), bytes_per_second: speed, share_of_copy: share }
        };
        Report {
            machine: Machine::new(bench.backend),
            copy_bytes_per_second: copy,
            rows: bench.rows.iter().map(row).collect(),
        }
    }
}

pub(super) fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name = model.and_then(|rest| rest.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or(std::env::consts::ARCH).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_machine_and_version_and_compares_with_the_copy() {
        let backend = Backend::host(2).unwrap();
        let mut bench = Bench::new(&backend, 0.0);
        bench.copy(1 << 12).unwrap();
        bench.add(
            "twice as fast",
            "f64",
            10,
            2.0 * bench.rows[0].bytes,
            [1.0, bench.rows[0].seconds],
        );
        bench.add("not counted", "f64", 10, 0.0, [1.0, 2.0]);
        let report = serde_json::to_value(Report::new(&bench)).unwrap();
        assert_eq!(report["karman"], env!("CARGO_PKG_VERSION"));
        assert_eq!((&report["backend"], &report["threads"]), (&"cpu".into(), &2.into()));
        assert!(!report["processor"].as_str().unwrap().is_empty());
        assert_eq!(report["rows"][0]["share_of_copy"], 1.0);
        assert_eq!(report["rows"][1]["precision"], "f32");
        assert_eq!(report["rows"][2]["share_of_copy"], 2.0);
        assert!(report["rows"][3]["share_of_copy"].is_null());
    }
}
