//! Scaling as tables and as a drawing.

use super::{RanksPlan, RanksPoint, RanksTest, Scaling};
use crate::published;
use crate::report::processor;
use crate::table::{Table, seconds};
use karman::backend::Backend;
use karman::validate::log_log_svg;
use serde::Serialize;
use std::fmt;

/// Measurements on several ranks, with machine and version. Its display are the tables.
#[derive(Clone, Debug, Serialize)]
pub struct RanksReport {
    /// Version of karman; the program adds the commit it was built from.
    pub karman: &'static str,
    /// Kind of backend.
    pub backend: &'static str,
    /// Name of a device, or the number of host threads of all ranks.
    pub device: String,
    /// Name of the host's processor.
    pub processor: String,
    /// The measurements.
    pub points: Vec<RanksPoint>,
}

impl RanksTest {
    fn title(self) -> &'static str {
        match self {
            RanksTest::Axpy => "Vector update",
            RanksTest::Dot => "Scalar product",
            RanksTest::Jacobi => "Conjugate gradients with Jacobi, an iteration",
            RanksTest::Multigrid => "Conjugate gradients with multigrid",
            RanksTest::Flow => "Step of a cavity of hexahedra",
        }
    }

    /// The published seconds by one device and by more: whose, entities, seconds; the largest mesh.
    fn published(self) -> Option<(&'static str, usize, Vec<f64>)> {
        let last = |rows: Vec<Vec<f64>>, table: f64| {
            let row = rows.into_iter().rfind(|row| row[0] == table)?;
            let seconds = row[2..].iter().copied().filter(|seconds| seconds.is_finite()).collect();
            Some((row[1] as usize, seconds))
        };
        let menon = |table| {
            let rows = published::rows::<5>(include_str!("../../data/menon_processors.csv"));
            last(rows.into_iter().map(|row| row.to_vec()).collect(), table)
                .map(|(n, s)| ("Menon", n, s))
        };
        let kamakolanu = |table| {
            let rows = published::rows::<6>(include_str!("../../data/kamakolanu_gpus.csv"));
            last(rows.into_iter().map(|row| row.to_vec()).collect(), table)
                .map(|(n, s)| ("Kamakolanu", n, s))
        };
        match self {
            RanksTest::Axpy => menon(1.0),
            RanksTest::Dot => menon(2.0),
            RanksTest::Jacobi => kamakolanu(1.0),
            RanksTest::Multigrid => kamakolanu(2.0),
            RanksTest::Flow => None,
        }
    }
}

impl RanksReport {
    /// The report of `points`.
    pub fn new(plan: &RanksPlan, points: Vec<RanksPoint>) -> RanksReport {
        let backend = Backend::new(plan.kind, plan.threads);
        let (backend, device) = match &backend {
            Ok(backend) => (backend.kind().word(), backend.device_name()),
            Err(_) => (plan.kind.word(), String::new()),
        };
        let karman = env!("CARGO_PKG_VERSION");
        RanksReport { karman, backend, device, processor: processor(), points }
    }

    /// The measurement on one rank that a point is compared with.
    fn of_one(&self, point: &RanksPoint) -> Option<&RanksPoint> {
        let same = |of: &&RanksPoint| {
            (of.test, of.scaling, of.cells, of.ranks) == (point.test, point.scaling, point.cells, 1)
        };
        self.points.iter().find(same)
    }

    /// Speed-up over one rank, of weak scaling times the number of ranks.
    fn speed_up(&self, point: &RanksPoint) -> Option<f64> {
        let each = match point.scaling {
            Scaling::Strong => 1.0,
            Scaling::Weak => point.ranks as f64,
        };
        self.of_one(point).map(|one| each * one.seconds / point.seconds)
    }

    fn table(&self, test: RanksTest) -> Option<Table> {
        let own: Vec<&RanksPoint> = self.points.iter().filter(|p| p.test == test).collect();
        let word = match own.first()?.scaling {
            Scaling::Strong => "strong",
            Scaling::Weak => "weak",
        };
        let title = format!("{}, {word} scaling", test.title());
        let header =
            ["unknowns", "ranks", "ms", "set-up ms", "iterations", "speed-up", "efficiency"];
        let mut table = Table::new(&title, &header);
        for point in own {
            let speed_up = self.speed_up(point);
            let efficiency = speed_up.map(|factor| factor / point.ranks as f64);
            let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
            let setup = point.setup_seconds.map(|s| seconds(1e3 * s));
            table.rows.push(vec![
                point.unknowns.to_string(),
                point.ranks.to_string(),
                seconds(1e3 * point.seconds),
                setup.unwrap_or("-".to_owned()),
                point.iterations.to_string(),
                number(speed_up),
                number(efficiency),
            ]);
        }
        Some(table)
    }

    /// Speed-up over the number of ranks, logarithmic, a curve for each test and size, with the ideal one.
    pub fn svg(&self) -> String {
        let mut curves: Vec<(String, Vec<[f64; 2]>)> = vec![];
        for point in &self.points {
            let Some(speed_up) = self.speed_up(point) else { continue };
            let name = format!("{}, {}", point.test.word(), point.cells);
            let place = [point.ranks as f64, speed_up];
            match curves.iter_mut().find(|curve| curve.0 == name) {
                Some((_, points)) => points.push(place),
                None => curves.push((name, vec![place])),
            }
        }
        let most = self.points.iter().map(|point| point.ranks).max().unwrap_or(1);
        let ideal = (1..=most).map(|ranks| [ranks as f64; 2]).collect();
        curves.push(("ideal".to_owned(), ideal));
        log_log_svg("Speed-up over one rank", ["ranks", "speed-up"], curves)
    }
}

impl fmt::Display for RanksReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RanksReport { karman, backend, device, processor, .. } = self;
        writeln!(f, "karman {karman} on {backend} ({device}), {processor}")?;
        for test in RanksTest::ALL {
            let Some(table) = self.table(test) else { continue };
            table.fmt(f)?;
            if let Some((author, entities, times)) = test.published() {
                let counts: Vec<String> = (2..=times.len()).map(|n| n.to_string()).collect();
                let factors: Vec<String> =
                    times[1..].iter().map(|time| format!("{:.2}", times[0] / time)).collect();
                let unit = if author == "Menon" { "entities" } else { "cells" };
                writeln!(
                    f,
                    "{author}, {entities} {unit}: {} times as fast by {} devices",
                    factors.join(" "),
                    counts.join(", ")
                )?;
            }
        }
        Ok(())
    }
}
