//! The tables of the source beside measurements.

use super::{Published, StagesPoint, published};
use crate::Row;
use crate::report::processor;
use crate::table::{Table, plain};
use serde::Serialize;
use std::fmt;

/// Measurements with machine and version. Its display is the tables.
#[derive(Clone, Debug, Serialize)]
pub struct StagesReport {
    /// Version of karman; the program adds the commit it was built from.
    pub karman: &'static str,
    /// Name of the host's processor, or its architecture where the system has no name.
    pub processor: String,
    /// The measurements.
    pub points: Vec<StagesPoint>,
}

fn milliseconds(seconds: f64) -> String {
    if seconds.is_finite() { format!("{:.3}", 1e3 * seconds) } else { "-".to_owned() }
}

impl StagesPoint {
    fn name(&self) -> String {
        let points = if self.one_point { "one point" } else { "third order" };
        let StagesPoint { backend, device, threads, form, weights, .. } = self;
        let machine = match *backend {
            "cpu" => format!("{threads} threads"),
            _ => device.clone(),
        };
        format!("{machine}, {form}, {points}, weights {weights}")
    }

    /// Time, GFLOP/s, percent of the peak and percent of the copy of a line.
    fn figures(&self, row: &Row) -> [String; 4] {
        let rate = row.operations / row.seconds;
        [
            milliseconds(row.seconds),
            format!("{:.1}", rate / 1e9),
            format!("{:.1}", 100.0 * rate / self.peak),
            format!("{:.0}", 100.0 * row.bandwidth() / self.copy),
        ]
    }
}

impl StagesReport {
    /// The report of measurements.
    pub fn new(points: Vec<StagesPoint>) -> StagesReport {
        StagesReport { karman: env!("CARGO_PKG_VERSION"), processor: processor(), points }
    }

    fn source(title: &str, of: fn(&Published) -> [f64; 3]) -> Table {
        let mut table = Table::new(title, &["device", "ms", "GFLOP/s", "% peak", "speed-up"]);
        let all = published();
        for device in &all {
            let [seconds, rate, percent] = of(device);
            let speed = of(&all[0])[0] / seconds;
            let figures = [milliseconds(seconds), plain(rate), plain(percent), plain(speed)];
            table.rows.push([vec![device.device.to_owned()], figures.into()].concat());
        }
        table
    }

    fn source_stages() -> Table {
        let title = "Source, table 3: flux stages in ms, and 4: speed-up over 6 cores";
        let header =
            ["device", "values", "flux", "sum", "coefficients, speed-up", "fluxes, speed-up"];
        let mut table = Table::new(title, &header);
        let all = published();
        for device in &all[2..] {
            let stages = device.stages.map(milliseconds);
            let of = |f: fn(&Published) -> [f64; 3]| plain(f(&all[1])[0] / f(device)[0]);
            let ratios = [of(|d| d.coefficients), of(|d| d.fluxes)];
            let name = vec![device.device.to_owned()];
            table.rows.push([name, stages.into(), ratios.into()].concat());
        }
        table
    }

    fn measured(&self) -> Table {
        let title = "Measured";
        let header =
            ["machine", "part", "ms", "GFLOP/s", "% peak", "% copy", "ns a cell", "speed-up"];
        let mut table = Table::new(title, &header);
        for point in &self.points {
            let same = |other: &&StagesPoint| {
                (other.form, other.one_point, other.weights)
                    == (point.form, point.one_point, point.weights)
            };
            let first = self.points.iter().find(same);
            for (k, row) in point.parts.iter().enumerate() {
                let mut line = vec![point.name(), row.name.trim().to_owned()];
                line.extend(point.figures(row));
                line.push(format!("{:.2}", 1e9 * row.seconds / point.cells as f64));
                let slowest = first.map_or(f64::NAN, |first| first.parts[k].seconds);
                line.push(plain(slowest / row.seconds));
                table.rows.push(line);
            }
        }
        table
    }
}

impl fmt::Display for StagesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "karman {}; stages of a residual of compressible flow, f64, on {}",
            self.karman, self.processor
        )?;
        for point in &self.points {
            if point.form == "stages" && point.one_point && point.weights == "f64" {
                writeln!(
                    f,
                    "{} ({}, {} threads): {} tetrahedra, copy {:.1} GB/s, multiplications and additions {:.1} GFLOP/s",
                    point.backend,
                    point.device,
                    point.threads,
                    point.cells,
                    point.copy / 1e9,
                    point.peak / 1e9
                )?;
            }
        }
        let title = "Source, table 1: polynomial coefficients, 679339 cells";
        Self::source(title, |device| device.coefficients).fmt(f)?;
        let title = "Source, table 2: convective fluxes, 679339 cells";
        Self::source(title, |device| device.fluxes).fmt(f)?;
        Self::source_stages().fmt(f)?;
        self.measured().fmt(f)
    }
}
