//! `karman check`

use crate::console;
use crate::failure::Failure;
use karman::case::{Case, CaseError, Diagnostic};
use karman::simulation::{RunOptions, Simulation, SimulationError};
use serde::Serialize;
use std::path::Path;

/// The output of `karman check --json`.
#[derive(Default, Serialize)]
struct CheckReport {
    ok: bool,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// A fault with its place in the case file, if any.
#[derive(Serialize)]
struct Finding {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    notes: Vec<String>,
}

impl Finding {
    fn plain(message: impl ToString) -> Finding {
        Finding { message: message.to_string(), line: None, column: None, notes: vec![] }
    }

    fn at_place(diagnostic: &Diagnostic) -> Finding {
        Finding {
            message: diagnostic.message.clone(),
            line: Some(diagnostic.line),
            column: Some(diagnostic.column),
            notes: diagnostic.notes.clone(),
        }
    }

    fn of_case(error: &CaseError) -> Vec<Finding> {
        match error.diagnostics() {
            [] => vec![Finding::plain(error)],
            diagnostics => diagnostics.iter().map(Finding::at_place).collect(),
        }
    }
}

pub(crate) fn run(path: &Path, json: bool, quiet: bool) -> Result<(), Failure> {
    let checked = check(path);
    if json {
        let report = match &checked {
            Ok(simulation) => {
                CheckReport { ok: true, errors: vec![], warnings: of_simulation(simulation) }
            }
            Err(SimulationError::Case(error)) => {
                CheckReport { errors: Finding::of_case(error), ..CheckReport::default() }
            }
            Err(error) => {
                CheckReport { errors: vec![Finding::plain(error)], ..CheckReport::default() }
            }
        };
        console::print_json(&report)?;
    }
    let simulation = checked.map_err(Failure::input)?;
    let case = simulation.case();
    let equation = case.equation.descriptor().name;
    let kind = if case.is_steady() { "steady" } else { "in time" };
    let cells = console::count(simulation.mesh().n_cells() as u64, "cell");
    let text = format!("{} is in order: {equation}, {kind}, {cells}", path.display());
    console::tell(quiet || json, &text)
}

/// Warnings of the case with their places, then the others.
fn of_simulation(simulation: &Simulation) -> Vec<Finding> {
    let of_case = &simulation.case().warnings;
    let others = simulation.warnings()[of_case.len()..].iter().map(Finding::plain);
    of_case.iter().map(Finding::at_place).chain(others).collect()
}

/// The set-up of `karman run` before its first step.
fn check(path: &Path) -> Result<Simulation, SimulationError> {
    let case = Case::read(path)?;
    case.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    Simulation::new(case, RunOptions::default())
}
