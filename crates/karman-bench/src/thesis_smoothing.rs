//! The diagrams of Rokos & Gorman, *Anisotropic Mesh Adaptivity on nVIDIA's CUDA*: seconds of a sweep of smoothing over the number
//! of vertices, serial, by all threads and on a device, with the metric of moved vertices from a grid and by a walk.

use crate::report::processor;
use crate::table::Table;
use karman::backend::Backend;
use karman::validate::log_log_svg;
use karman_adapt::smoothing::benchmark::{SmoothingTimes, time_smoothing};
use karman_adapt::{AdaptError, MeshQuality, MetricLookup, SmoothOptions, Smoother};
use serde::Serialize;
use std::fmt;

/// A point of a curve.
#[derive(Clone, Debug, Serialize)]
pub struct SmoothingPoint {
    /// Number of vertices.
    pub vertices: usize,
    /// Name of the curve.
    pub curve: String,
    /// Number of colours.
    pub colours: usize,
    /// Seconds of a sweep.
    pub seconds: f64,
    /// Seconds of the set-up.
    pub setup_seconds: f64,
    /// Qualities after the sweeps.
    pub after: MeshQuality,
}

/// The backend of a curve, with its name in the drawing.
fn curve_of(backend: &Backend, lookup: MetricLookup) -> String {
    let machine = match (backend.device().is_some(), backend.threads()) {
        (true, _) => backend.kind().word().to_owned(),
        (false, 1) => "serial".to_owned(),
        (false, threads) => format!("{threads} threads"),
    };
    format!("{machine}, {}", lookup.word())
}

/// Times `sweeps` sweeps by a rule on the unit square with about so many vertices, with each lookup of the metric.
///
/// # Errors
/// [`AdaptError`]: as [`time_smoothing`].
pub fn measure_smoothing(
    backend: &Backend,
    vertices: usize,
    smoother: Smoother,
    sweeps: usize,
) -> Result<Vec<SmoothingPoint>, AdaptError> {
    let time = |lookup: MetricLookup| {
        let options = SmoothOptions { smoother, lookup, ..SmoothOptions::default() };
        let SmoothingTimes { vertices, colours, sweep_seconds, setup_seconds, after, .. } =
            time_smoothing(backend, vertices, sweeps, &options)?;
        let curve = curve_of(backend, lookup);
        Ok(SmoothingPoint {
            vertices,
            curve,
            colours,
            seconds: sweep_seconds,
            setup_seconds,
            after,
        })
    };
    MetricLookup::ALL.iter().map(|&lookup| time(lookup)).collect()
}

/// The curves, with machine and version. Its display is the table.
#[derive(Clone, Debug, Serialize)]
pub struct SmoothingReport {
    /// Version of karman; the program adds the commit it was built from.
    pub karman: &'static str,
    /// Name of the host's processor.
    pub processor: String,
    /// Names of the devices and of the host, each once.
    pub devices: Vec<String>,
    /// Word of the rule.
    pub rule: &'static str,
    /// The points, curve by curve in the order of the backends.
    pub points: Vec<SmoothingPoint>,
}

impl SmoothingReport {
    /// The report of `points`, measured by a rule on `backends`.
    pub fn new(backends: &[Backend], smoother: Smoother, points: Vec<SmoothingPoint>) -> Self {
        let mut devices: Vec<String> = backends.iter().map(Backend::device_name).collect();
        devices.dedup();
        let karman = env!("CARGO_PKG_VERSION");
        SmoothingReport { karman, processor: processor(), devices, rule: smoother.word(), points }
    }

    /// Names of the curves in the order of their first points.
    fn curves(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for point in &self.points {
            if !names.contains(&point.curve.as_str()) {
                names.push(&point.curve);
            }
        }
        names
    }

    /// Milliseconds of a sweep over vertices, logarithmic, a curve for each backend and lookup.
    pub fn svg(&self) -> String {
        let curve = |name: &str| {
            let own = self.points.iter().filter(|point| point.curve == name);
            (name.to_owned(), own.map(|p| [p.vertices as f64, 1e3 * p.seconds]).collect())
        };
        log_log_svg(
            &format!("A sweep of smoothing, {}", self.rule.replace('_', " ")),
            ["vertices", "ms a sweep"],
            self.curves().into_iter().map(curve),
        )
    }

    fn table(&self) -> Table {
        let curves = self.curves();
        let serial = |vertices: usize, name: &str| {
            let lookup = name.rsplit_once(", ").map_or("", |(_, lookup)| lookup);
            let curve = format!("serial, {lookup}");
            let found = self.points.iter().find(|p| p.vertices == vertices && p.curve == curve);
            found.map(|point| point.seconds)
        };
        let mut header = vec!["vertices".to_owned()];
        for name in &curves {
            header.extend([format!("| {name}: ms a sweep"), "times serial".to_owned()]);
        }
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut table = Table::new("Seconds of a sweep", &names);
        let mut sizes: Vec<usize> = self.points.iter().map(|point| point.vertices).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for vertices in sizes {
            let mut row = vec![vertices.to_string()];
            for name in &curves {
                let found = self.points.iter().find(|p| p.vertices == vertices && p.curve == *name);
                let Some(point) = found else {
                    row.extend(["-".to_owned(), "-".to_owned()]);
                    continue;
                };
                let faster = serial(vertices, name).map(|seconds| seconds / point.seconds);
                row.push(format!("{:.3}", 1e3 * point.seconds));
                row.push(faster.map_or("-".to_owned(), |factor| format!("{factor:.1}")));
            }
            table.rows.push(row);
        }
        table
    }
}

impl fmt::Display for SmoothingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "karman {}; sweeps of smoothing by {}, f64, unit square of triangles, on {}: {}",
            self.karman,
            self.rule,
            self.processor,
            self.devices.join(", ")
        )?;
        writeln!(
            f,
            "The source has diagrams without numbers. Its 8 threads are about 5 times as fast as its serial \
             program,\nCUDA without textures up to 68 times, with textures up to 190 times."
        )?;
        self.table().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_of_two_hosts_are_compared_with_the_serial_one() {
        let backends = [Backend::host(1).unwrap(), Backend::host(2).unwrap()];
        let mut points = vec![];
        for backend in &backends {
            for vertices in [400, 900] {
                let measured = measure_smoothing(backend, vertices, Smoother::EdgeLengths, 3);
                points.extend(measured.unwrap());
            }
        }
        assert!(points.iter().all(|p| p.seconds > 0.0 && p.colours > 2 && p.after.lowest > 0.0));
        let report = SmoothingReport::new(&backends, Smoother::EdgeLengths, points);
        let names = ["serial, grid", "serial, walk", "2 threads, grid", "2 threads, walk"];
        assert_eq!(report.curves(), names);
        let text = report.to_string();
        assert!(text.contains("by edge_lengths") && text.contains("up to 190 times"), "{text}");
        let table = report.table();
        assert_eq!((table.rows.len(), table.rows[0].len()), (2, 9));
        assert_eq!((table.rows[0][0].as_str(), table.rows[0][2].as_str()), ("400", "1.0"));
        let svg = report.svg();
        assert!(names.iter().all(|name| svg.contains(name)), "{svg}");
    }
}
