//! The thesis' tables of pressure systems with karman's columns beside them.

use super::{FlowCase, PressureGrid, PressurePlan, Published};
use crate::Machine;
use crate::table::{Table, plain, seconds};
use crate::thesis_amg::report::{KAMAKOLANU, shown};
use crate::thesis_amg::{COLUMNS, Solved};
use karman::backend::Backend;
use serde::Serialize;
use std::fmt;

/// Measurements on all grids, with machine and version. Its display is the tables.
#[derive(Clone, Debug, Serialize)]
pub struct PressureReport {
    /// Machine and version.
    #[serde(flatten)]
    pub machine: Machine,
    /// Target of ‖b − A x‖ / ‖b‖.
    pub tolerance: f64,
    /// Time steps up to the system.
    pub steps: usize,
    /// Allowed cycles of Kamakolanu's AMG.
    pub cycles: usize,
    /// Cells over those of the thesis.
    pub scale: f64,
    /// The grids.
    pub grids: Vec<PressureGrid>,
}

impl PressureReport {
    /// The report of `grids`, measured on `backend` by `plan`.
    pub fn new(backend: &Backend, plan: &PressurePlan, grids: Vec<PressureGrid>) -> PressureReport {
        PressureReport {
            machine: Machine::new(backend),
            tolerance: plan.tolerance,
            steps: plan.steps,
            cycles: plan.cycles,
            scale: plan.scale,
            grids,
        }
    }

    /// Figures of the thesis for a grid; none where the plan scales its cells.
    fn published(&self, grid: &PressureGrid) -> Option<Published> {
        let known = grid.case.published().into_iter().find(|row| row.cells == grid.published_cells);
        known.filter(|_| self.scale == 1.0)
    }

    fn parameters(&self, grids: &[&PressureGrid], number: &str) -> Table {
        let mut table = Table::new(
            &format!("Table {number}: parameters, and the grids measured here"),
            &["thesis", "cells", "boundary", "theta", "levels", "alpha", "beta", "Re", "step [s]"],
        );
        for grid in grids {
            let [beta, increment] = grid.beta;
            let beta = if increment > 0.0 { format!("{beta} + {increment}") } else { plain(beta) };
            table.rows.push(vec![
                grid.published_cells.to_string(),
                grid.cells.to_string(),
                grid.boundary_cells.to_string(),
                grid.strength.to_string(),
                grid.levels.to_string(),
                plain(grid.boundary_weight),
                beta,
                plain(grid.reynolds),
                seconds(grid.step_seconds),
            ]);
        }
        table
    }

    fn work_units(&self, grids: &[&PressureGrid], number: &str) -> Table {
        let mut table = Table::new(
            &format!(
                "Table {number}: work units, and iterations of conjugate gradients. Without multigrid the \
                 thesis has Gauss-Seidel"
            ),
            &[
                "grid",
                "thesis",
                "| thesis MG",
                KAMAKOLANU,
                "cycles",
                "without A_c",
                "cycles",
                "| default",
                "its",
                "| CG + Jacobi, its",
            ],
        );
        for grid in grids {
            let known = self.published(grid).map(|row| row.work_units);
            let of = |k: usize| known.map_or("-".to_owned(), |units| plain(units[k]));
            let units = |s: &Solved| shown(s.verdict, || plain(s.work_units));
            table.rows.push(vec![
                grid.published_cells.to_string(),
                of(0),
                of(1),
                units(&grid.kamakolanu),
                grid.kamakolanu.iterations.to_string(),
                units(&grid.untransformed),
                grid.untransformed.iterations.to_string(),
                units(&grid.default),
                grid.default.iterations.to_string(),
                shown(grid.jacobi.verdict, || grid.jacobi.iterations.to_string()),
            ]);
        }
        table
    }

    fn times(&self, grids: &[&PressureGrid], number: &str) -> Table {
        let mut header = vec!["grid"];
        header.extend(COLUMNS);
        header.extend(["| CG + Jacobi", KAMAKOLANU, "without A_c", "default"]);
        header.extend(["| set-up: Kamakolanu's AMG", "default"]);
        let title = format!(
            "Table {number}: seconds of a pressure Poisson solve without set-up, right of the bar by {} \
             with {} host threads; then seconds of set-up",
            self.machine.backend, self.machine.threads
        );
        let mut table = Table::new(&title, &header);
        for grid in grids {
            let mut row = vec![grid.published_cells.to_string()];
            let known = self.published(grid).map(|row| row.seconds);
            row.extend((0..4).map(|k| known.map_or("-".to_owned(), |s| seconds(s[k]))));
            let here = [&grid.jacobi, &grid.kamakolanu, &grid.untransformed, &grid.default];
            row.extend(here.map(|s| shown(s.verdict, || seconds(s.seconds))));
            row.extend([&grid.kamakolanu, &grid.default].map(|s| seconds(s.setup_seconds)));
            table.rows.push(row);
        }
        table
    }
}

impl fmt::Display for PressureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}; the pressure system of step {} solved to a relative residual of {:e} from a zero initial \
             guess;\nthe thesis names neither.\nThesis: Xeon X3430, one thread, and Kepler K20Xm; \
             Gauss-Seidel and Kamakolanu's AMG: stationary cycles, here at most {};\nwithout A_c: coarse \
             matrices without transformation. Default: conjugate gradients with karman's AMG.",
            self.machine, self.steps, self.tolerance, self.cycles
        )?;
        for case in FlowCase::ALL {
            let grids: Vec<&PressureGrid> = self.grids.iter().filter(|g| g.case == case).collect();
            if grids.is_empty() {
                continue;
            }
            let [parameters, work_units, times] = case.tables();
            let scale = match self.scale {
                1.0 => String::new(),
                scale => format!(", {scale} of the thesis' cells"),
            };
            writeln!(f, "\n== {}{scale}", case.word())?;
            self.parameters(&grids, parameters).fmt(f)?;
            self.work_units(&grids, work_units).fmt(f)?;
            self.times(&grids, times).fmt(f)?;
        }
        Ok(())
    }
}
