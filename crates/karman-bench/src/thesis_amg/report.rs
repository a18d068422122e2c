//! The thesis' tables with karman's columns beside them.

use super::published::{COLUMNS, LEVELS_OF, STEPS, VARIANTS, published_for, published_levels};
use super::solve::{LevelSize, Marched, Solved, Verdict};
use super::{Grid, ThesisAmgPlan};
use crate::Machine;
use crate::table::{Table, plain, seconds};
use karman::backend::Backend;
use serde::Serialize;
use std::fmt;

/// Column of Kamakolanu's AMG.
pub(crate) const KAMAKOLANU: &str = "Kamakolanu's AMG";

/// Measurements on all grids, with machine and version. Its display is the tables.
#[derive(Clone, Debug, Serialize)]
pub struct ThesisAmgReport {
    /// Machine and version.
    #[serde(flatten)]
    pub machine: Machine,
    /// Target of ‖b − A x‖ / ‖b‖.
    pub tolerance: f64,
    /// Requested time steps.
    pub steps: usize,
    /// β on the first coarse level.
    pub beta: f64,
    /// The grids.
    pub grids: Vec<Grid>,
}

impl ThesisAmgReport {
    /// The report of `grids`, measured on `backend` by `plan`.
    pub fn new(backend: &Backend, plan: &ThesisAmgPlan, grids: Vec<Grid>) -> ThesisAmgReport {
        ThesisAmgReport {
            machine: Machine::new(backend),
            tolerance: plan.tolerance,
            steps: plan.steps,
            beta: plan.beta,
            grids,
        }
    }
}

impl fmt::Display for ThesisAmgReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}; relative residual {:e} from a zero initial guess; the thesis names neither.\n\
             Thesis: Xeon E5-2600, one thread, and Kepler K20Xm. Without multigrid: \
             Gauss-Seidel, here multicolour.\nKamakolanu's AMG: stationary cycles, alpha 5, beta {} on \
             the first coarse level and 1 more per level, two sweeps before and after.\n\
             Default: conjugate gradients with karman's AMG.",
            self.machine, self.tolerance, self.beta
        )?;
        self.parameters().fmt(f)?;
        self.work_units().fmt(f)?;
        if let Some(table) = self.at_their_residual() {
            table.fmt(f)?;
        }
        self.steady_times().fmt(f)?;
        self.set_up_times().fmt(f)?;
        if let Some(table) = self.unsteady_times() {
            table.fmt(f)?;
        }
        self.variants("6.14", "work units of", |p| p.variant_work_units, |s| plain(s.work_units))
            .fmt(f)?;
        self.variants("6.15", "seconds of", |p| p.variant_seconds, |s| seconds(s.seconds))
            .fmt(f)?;
        let Some(largest) = self.grids.iter().max_by_key(|grid| grid.cells) else { return Ok(()) };
        let count = |n: usize| n.to_string();
        let missing = || "-".to_owned();
        let [nodes, boundary_nodes] = published_levels();
        levels(largest, "Table 6.16: nodes", Some(&nodes), |l| count(l.rows)).fmt(f)?;
        levels(largest, "Table 6.17: boundary nodes", Some(&boundary_nodes), |level| {
            level.boundary.map_or_else(missing, count)
        })
        .fmt(f)?;
        levels(largest, "Figure 6.20: average degree", None, |level| plain(level.degree)).fmt(f)
    }
}

impl ThesisAmgReport {
    fn parameters(&self) -> Table {
        let title = "Table 6.1: parameters, and the grids measured here";
        let mut table = Table::new(title, &["thesis", "cells", "boundary", "theta", "levels"]);
        for grid in &self.grids {
            let counts = [grid.requested, grid.cells, grid.boundary_cells].map(|n| n.to_string());
            let more = [grid.strength.to_string(), grid.levels.to_string()];
            table.rows.push([&counts[..], &more].concat());
        }
        table
    }

    fn work_units(&self) -> Table {
        let mut table = Table::new(
            "Table 6.2: work units, steady; conjugate gradients with Jacobi: iterations",
            &["grid", "thesis", "Gauss-Seidel", "thesis MG", KAMAKOLANU, "default", "CG + Jacobi"],
        );
        for grid in &self.grids {
            let known = published_for(grid.requested).map(|row| row.work_units);
            let of = |k: usize| known.map_or("-".to_owned(), |units| plain(units[k]));
            let units = |s: &Solved| shown(s.verdict, || plain(s.work_units));
            table.rows.push(vec![
                grid.requested.to_string(),
                of(0),
                units(&grid.plain),
                of(1),
                units(&grid.variants[3]),
                units(&grid.default),
                units(&grid.jacobi),
            ]);
        }
        table
    }

    /// Work units to the residual after the thesis' number of Gauss–Seidel sweeps.
    fn at_their_residual(&self) -> Option<Table> {
        let mut table = Table::new(
            "Table 6.2 stopped at the residual that the thesis' number of Gauss-Seidel sweeps leaves \
             here: work units of Kamakolanu's AMG",
            &["grid", "sweeps", "residual", "thesis MG", KAMAKOLANU, "without A_c transformation"],
        );
        for grid in &self.grids {
            let Some(known) = published_for(grid.requested) else { continue };
            let [sweeps, units] = known.work_units;
            let Some(residual) = grid.plain.residual_after(sweeps) else { continue };
            let to = |s: &Solved| s.work_units_to(residual).map_or("diverging".to_owned(), plain);
            table.rows.push(vec![
                grid.requested.to_string(),
                plain(sweeps),
                format!("{residual:.1e}"),
                plain(units),
                to(&grid.variants[3]),
                to(&grid.variants[1]),
            ]);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    fn steady_times(&self) -> Table {
        let mut header = vec!["grid"];
        header.extend(COLUMNS);
        header.extend(["| Gauss-Seidel", KAMAKOLANU, "default", "CG + Jacobi"]);
        let here = format!("{} with {} host threads", self.machine.backend, self.machine.threads);
        let title = format!("Table 6.3: seconds of the steady solve, right of the bar by {here}");
        let mut table = Table::new(&title, &header);
        for grid in &self.grids {
            let mut row = vec![grid.requested.to_string()];
            let known = published_for(grid.requested).map(|row| row.steady_seconds);
            row.extend((0..4).map(|k| known.map_or("-".to_owned(), |s| seconds(s[k]))));
            let here = [&grid.plain, &grid.variants[3], &grid.default, &grid.jacobi];
            row.extend(here.map(|s| shown(s.verdict, || seconds(s.seconds))));
            table.rows.push(row);
        }
        table
    }

    fn set_up_times(&self) -> Table {
        let title = "Seconds of set-up, which table 6.3 leaves out";
        let mut table =
            Table::new(title, &["grid", "Gauss-Seidel", KAMAKOLANU, "default", "CG + Jacobi"]);
        for grid in &self.grids {
            let here = [&grid.plain, &grid.variants[3], &grid.default, &grid.jacobi];
            let mut row = vec![grid.requested.to_string()];
            row.extend(here.map(|s| seconds(s.setup_seconds)));
            table.rows.push(row);
        }
        table
    }

    fn unsteady_times(&self) -> Option<Table> {
        let mut header = vec!["grid"];
        header.extend(COLUMNS);
        header.extend(["| Gauss-Seidel", KAMAKOLANU, "default", "CG + Jacobi", "| work units"]);
        header.extend([KAMAKOLANU, "default", "CG + Jacobi"]);
        let title = format!(
            "Table 6.4: seconds of {STEPS} steps of 0.01 from 300; right of the bar EXTRAPOLATED from \
             the first {} steps, then their work units a step",
            self.steps
        );
        let mut table = Table::new(&title, &header);
        for grid in &self.grids {
            let [plain_march, kamakolanu, jacobi, default] = grid.unsteady.as_ref()?;
            let here = [plain_march, kamakolanu, default, jacobi];
            let mut row = vec![grid.requested.to_string()];
            let known = published_for(grid.requested).map(|row| row.unsteady_seconds);
            row.extend((0..4).map(|k| known.map_or("-".to_owned(), |s| seconds(s[k]))));
            row.extend(here.map(|m: &Marched| shown(m.verdict, || seconds(m.extrapolated()))));
            row.extend(here.map(|m: &Marched| plain(m.work_units)));
            table.rows.push(row);
        }
        Some(table)
    }

    /// Original and improved coarsening, with and without the transformation of A_c.
    fn variants(
        &self,
        number: &str,
        what: &str,
        known: impl Fn(super::Published) -> [Option<f64>; 4],
        here: impl Fn(&Solved) -> String,
    ) -> Table {
        let title = format!(
            "Table {number}: {what} Kamakolanu's AMG, steady; in pairs thesis, karman; A_c: transformed"
        );
        let mut header = vec!["grid"];
        header.extend(VARIANTS.iter().flat_map(|name| [*name, "here"]));
        let mut table = Table::new(&title, &header);
        for grid in &self.grids {
            let mut row = vec![grid.requested.to_string()];
            let published = published_for(grid.requested).map(&known);
            for (k, solved) in grid.variants.iter().enumerate() {
                row.push(match published {
                    None => "-".to_owned(),
                    Some(figures) => figures[k].map_or("diverging".to_owned(), plain),
                });
                row.push(shown(solved.verdict, || here(solved)));
            }
            table.rows.push(row);
        }
        table
    }
}

/// A quantity of each level of all variants on one grid.
fn levels(
    grid: &Grid,
    title: &str,
    known: Option<&[[f64; 4]]>,
    of: impl Fn(&LevelSize) -> String,
) -> Table {
    let title = format!("{title} per level, {} cells; in pairs thesis, karman", grid.cells);
    let mut header = vec!["level"];
    header.extend(VARIANTS.iter().flat_map(|name| [*name, "here"]));
    let mut table = Table::new(&title, &header);
    let known = known.filter(|_| grid.requested == LEVELS_OF);
    let depth = grid.variants.iter().map(|s| s.levels.len()).max().unwrap_or(0);
    for level in 0..depth.max(known.map_or(0, |k| k.len())) {
        let mut row = vec![(level + 1).to_string()];
        for (k, solved) in grid.variants.iter().enumerate() {
            let published = known.and_then(|rows| rows.get(level)).map(|row| row[k].to_string());
            row.push(published.unwrap_or("-".to_owned()));
            row.push(solved.levels.get(level).map_or("-".to_owned(), &of));
        }
        table.rows.push(row);
    }
    table
}

/// A figure, or the reason for its absence.
pub(crate) fn shown(verdict: Verdict, figure: impl FnOnce() -> String) -> String {
    match verdict {
        Verdict::Converged => figure(),
        Verdict::Diverging => "diverging".to_owned(),
        Verdict::Unfinished => "unfinished".to_owned(),
    }
}
