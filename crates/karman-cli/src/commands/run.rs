//! `karman run`

use super::Session;
use crate::arguments::RunArguments;
use crate::console;
use crate::failure::Failure;
use crate::progress::{ProgressDisplay, duration};
use karman::case::Case;
use karman::io::csv::short_number;
use karman::simulation::{Outcome, RunOptions, Simulation};
use serde_json::Value;
use std::path::Path;

pub(crate) fn run(arguments: &RunArguments, session: &Session) -> Result<(), Failure> {
    let mut case = read(&arguments.case, session)?;
    replace_settings(&mut case, arguments, session)?;
    let options = RunOptions { backend: arguments.backend, restart: arguments.restart.clone() };
    let directory = case.output.directory.clone();
    let outcome = solve(case, options, session)?;
    if !session.processes.is_first() {
        return Failure::of(&outcome).map_or(Ok(()), Err);
    }
    let summary = read_summary(&directory);
    if arguments.json {
        console::print_json(&summary.clone()?)?;
    }
    if let Some(failure) = Failure::of(&outcome) {
        return Err(failure);
    }
    let report = report(&summary?, &outcome, &directory);
    session.log.note(&report);
    console::tell(session.quiet || arguments.json, &report)
}

/// Replaces settings of the case by those of the command line.
fn replace_settings(
    case: &mut Case,
    arguments: &RunArguments,
    session: &Session,
) -> Result<(), Failure> {
    match (arguments.end, &mut case.time) {
        (None, _) => {}
        (Some(end), Some(time)) => time.end = end,
        (Some(_), None) => {
            let name = arguments.case.display();
            return Err(Failure::Input(format!("--end: {name} has no [time], it is steady")));
        }
    }
    if let Some(folder) = &arguments.output {
        case.output.directory = folder.clone();
    }
    if let Some(threads) = arguments.threads {
        case.run.threads = threads;
    }
    if case.run.threads == 0 {
        case.run.threads = session.threads;
    }
    let count = session.processes.count();
    match arguments.ranks {
        Some(ranks) if count > 1 && ranks != count => {
            return Err(Failure::Input(format!(
                "--ranks {ranks}: {count} processes were started, each of which is a rank; leave --ranks out"
            )));
        }
        Some(ranks) => case.run.ranks = ranks,
        None => {}
    }
    Ok(())
}

/// Reads a case and logs its warnings.
pub(crate) fn read(path: &Path, session: &Session) -> Result<Case, Failure> {
    session.log.begin_case();
    let case = Case::read(path).map_err(Failure::input)?;
    case.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    Ok(case)
}

/// Solves a case; its log and results go to its output directory.
pub(crate) fn solve(
    case: Case,
    options: RunOptions,
    session: &Session,
) -> Result<Outcome, Failure> {
    tracing::info!("{}", case.title);
    let (directory, resume) = (case.output.directory.clone(), options.restart.is_some());
    let processes = &session.processes;
    let mut simulation =
        Simulation::of_processes(case, options, processes).map_err(Failure::input)?;
    // The lock of the directory protects the log of another run that writes there.
    simulation.claim_output().map_err(Failure::input)?;
    if processes.is_first() {
        session.log.open(&directory, resume)?;
    }
    let _running = session.interrupt.begin();
    simulation.stop_when(session.interrupt.is_requested());
    let mut display = ProgressDisplay::new(session.log.screen.clone(), session.quiet);
    let solved = simulation.run(&mut |progress| display.update(progress));
    // A device gives memory back in its own thread, which must not outlive the process's driver.
    let backend = simulation.backend().clone();
    drop(simulation);
    backend.synchronize().map_err(Failure::input)?;
    solved.map_err(Failure::input)
}

/// The summary that a run wrote.
pub(crate) fn read_summary(directory: &Path) -> Result<Value, Failure> {
    let path = directory.join("summary.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::Input(format!("cannot read {}: {error}", path.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Input(format!("{} is damaged: {error}", path.display())))
}

/// A few lines about a run that succeeded.
fn report(summary: &Value, outcome: &Outcome, directory: &Path) -> String {
    let count = |path: &str, thing: &str| {
        console::count(summary.pointer(path).and_then(Value::as_u64).unwrap_or(0), thing)
    };
    let seconds: f64 = summary
        .get("phases")
        .and_then(Value::as_object)
        .map_or(0.0, |phases| phases.values().filter_map(Value::as_f64).sum());
    let mut lines = vec![
        outcome.to_string(),
        format!(
            "{}, {}; {}, {}; {} on {}",
            count("/mesh/cells", "cell"),
            count("/mesh/nodes", "node"),
            count("/time/steps", "step"),
            count("/linear/iterations", "iteration"),
            duration(seconds),
            summary.get("device").and_then(Value::as_str).unwrap_or("an unnamed device"),
        ),
    ];
    for (heading, key) in [("probe", "probe"), ("patch", "patch"), ("error", "errors")] {
        let groups = summary.get(key).and_then(Value::as_object).into_iter().flatten();
        for (name, quantities) in groups {
            let values = quantities.as_object().into_iter().flatten();
            let values: Vec<String> =
                values.map(|(quantity, value)| format!("{quantity} {}", plain(value))).collect();
            lines.push(format!("{heading} {name}: {}", values.join(", ")));
        }
    }
    lines.push(format!("results in {}", directory.display()));
    lines.join("\n")
}

/// A value of the summary, rounded.
fn plain(value: &Value) -> String {
    value.as_f64().map_or_else(|| "not finite".to_owned(), short_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use karman::simulation::OutcomeKind;
    use serde_json::json;

    #[test]
    fn the_report_has_the_results_and_their_folder() {
        let summary = json!({
            "device": "2 host threads",
            "mesh": { "cells": 8000, "nodes": 9261 },
            "time": { "steps": 1 },
            "linear": { "iterations": 45 },
            "phases": { "mesh": 0.5, "solve": 1.0 },
            "probe": { "centre": { "temperature": 350.0 } },
            "patch": {},
            "errors": { "temperature": { "l2": 0.5, "linf": null } },
        });
        let message = "the residual fell below 1e-8".to_owned();
        let outcome = Outcome { kind: OutcomeKind::Converged, message };
        assert_eq!(
            report(&summary, &outcome, Path::new("out/cube")),
            "converged: the residual fell below 1e-8\n\
             8000 cells, 9261 nodes; 1 step, 45 iterations; 1.50 s on 2 host threads\n\
             probe centre: temperature 350\n\
             error temperature: l2 0.5, linf not finite\n\
             results in out/cube"
        );
    }
}
