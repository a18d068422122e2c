//! The curves as a table and as a drawing.

use super::{CostPoint, CostSystem};
use crate::report::processor;
use crate::table::Table;
use karman::backend::Backend;
use karman::validate::log_log_svg;
use serde::Serialize;
use std::fmt;

/// A backend of the measurements.
#[derive(Clone, Debug, Serialize)]
pub struct CostBackend {
    /// Its kind.
    pub name: &'static str,
    /// Name of the device, or the number of host threads.
    pub device: String,
    /// Host threads.
    pub threads: usize,
}

/// Measurements on all sizes and backends, with machine and version. Its display is the table.
#[derive(Clone, Debug, Serialize)]
pub struct CostReport {
    /// Version of karman; the program adds the commit it was built from.
    pub karman: &'static str,
    /// Name of the host's processor, or its architecture where the system has no name.
    pub processor: String,
    /// The backends.
    pub backends: Vec<CostBackend>,
    /// The points of the curves.
    pub points: Vec<CostPoint>,
}

impl CostReport {
    /// The report of `points`, measured on `backends`.
    pub fn new(backends: &[Backend], points: Vec<CostPoint>) -> CostReport {
        let describe = |backend: &Backend| CostBackend {
            name: backend.kind().word(),
            device: backend.device_name(),
            threads: backend.threads(),
        };
        let backends = backends.iter().map(describe).collect();
        CostReport { karman: env!("CARGO_PKG_VERSION"), processor: processor(), backends, points }
    }

    /// Nanoseconds by unknown over unknowns, logarithmic, a curve for each system and backend.
    pub fn svg(&self) -> String {
        let mut curves = vec![];
        for system in CostSystem::ALL {
            for backend in &self.backends {
                let points: Vec<[f64; 2]> = self
                    .points
                    .iter()
                    .filter(|p| p.system == system && p.backend == backend.name)
                    .map(|p| [p.unknowns as f64, p.nanoseconds()])
                    .collect();
                curves.push((format!("{}, {}", system.name(), backend.name), points));
            }
        }
        log_log_svg(
            "An iteration of conjugate gradients",
            ["unknowns", "ns an iteration and unknown"],
            curves,
        )
    }

    fn table(&self, system: CostSystem) -> Table {
        let (figure, unknowns) = match system {
            CostSystem::Momentum => ("7.3", "fluxes through faces"),
            CostSystem::Pressure => ("7.4", "cells"),
            CostSystem::Streamfunction => ("7.5", "nodes"),
        };
        let title = format!("Figure {figure}: {}, unknowns: {unknowns}", system.name());
        let mut header = vec!["cells".to_owned(), "unknowns".to_owned()];
        for backend in &self.backends {
            header.push(format!("| {}: us an iteration", backend.name));
            header.push("ns an unknown".to_owned());
        }
        if self.backends.len() == 2 {
            header.push("| first over second".to_owned());
        }
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut table = Table::new(&title, &names);
        let own = || self.points.iter().filter(|p| p.system == system);
        let mut sizes: Vec<(usize, usize)> = own().map(|p| (p.cells, p.unknowns)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for (cells, unknowns) in sizes {
            let mut row = vec![cells.to_string(), unknowns.to_string()];
            let mut costs = vec![];
            for backend in &self.backends {
                match own().find(|p| p.cells == cells && p.backend == backend.name) {
                    Some(point) => {
                        row.push(format!("{:.2}", 1e6 * point.seconds));
                        row.push(format!("{:.3}", point.nanoseconds()));
                        costs.push(point.seconds);
                    }
                    None => row.extend(["-".to_owned(), "-".to_owned()]),
                }
            }
            if self.backends.len() == 2 {
                row.push(match costs[..] {
                    [first, second] => format!("{:.2}", first / second),
                    _ => "-".to_owned(),
                });
            }
            table.rows.push(row);
        }
        table
    }
}

impl fmt::Display for CostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "karman {}; an iteration of conjugate gradients with Jacobi, f64, lid-driven cavity of \
             triangles, on {}",
            self.karman, self.processor
        )?;
        for CostBackend { name, device, threads } in &self.backends {
            writeln!(f, "{name}: {device}, {threads} host threads")?;
        }
        writeln!(
            f,
            "Menon's thesis has curves without numbers (figure 7.5 over edges, which in 2D correspond to \
             the nodes)\nand says that its GPU outperforms its CPU by \"roughly 3x\"."
        )?;
        CostSystem::ALL.iter().try_for_each(|system| self.table(*system).fmt(f))
    }
}
