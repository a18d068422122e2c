//! `karman test`

use super::Session;
use super::run::{read, read_summary, solve};
use crate::console;
use crate::failure::Failure;
use karman::backend::BackendKind;
use karman::expected::{Comparison, compare};
use karman::simulation::RunOptions;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The result of one case.
#[derive(Serialize)]
struct CaseResult {
    case: PathBuf,
    comparisons: Vec<Comparison>,
    /// The error that prevented the run or the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl CaseResult {
    fn passes(&self) -> bool {
        self.error.is_none() && self.comparisons.iter().all(|comparison| comparison.is_met)
    }

    fn lines(&self) -> String {
        let mut lines = vec![self.case.display().to_string()];
        lines.extend(self.comparisons.iter().map(|comparison| format!("  {comparison}")));
        if let Some(error) = &self.error {
            lines.push(format!("  {}", error.replace('\n', "\n  ")));
        } else if self.comparisons.is_empty() {
            lines.push("  pass  solved; the case expects no values".to_owned());
        }
        lines.join("\n")
    }
}

pub(crate) fn run(
    cases: &[PathBuf],
    backend: Option<BackendKind>,
    json: bool,
    session: &Session,
) -> Result<(), Failure> {
    let mut results = Vec::new();
    let mut input_failed = false;
    for case in cases {
        let (comparisons, failure) = match test(case, backend, session) {
            Ok(comparisons) => (comparisons, None),
            Err(Failure::Interrupted(message)) => return Err(Failure::Interrupted(message)),
            Err(failure) => (vec![], Some(failure)),
        };
        input_failed |= matches!(failure, Some(Failure::Input(_)));
        let error = failure.map(|failure| failure.to_string());
        let result = CaseResult { case: case.clone(), comparisons, error };
        if !json {
            session.log.note(&result.lines());
            console::tell(session.quiet && result.passes(), &result.lines())?;
        }
        results.push(result);
    }
    if json {
        console::print_json(&results)?;
    }
    let failed = results.iter().filter(|result| !result.passes()).count();
    let all = console::count(cases.len() as u64, "case");
    match (failed, json) {
        (0, true) => Ok(()),
        (0, false) => console::tell(session.quiet, &format!("passed: {all}")),
        _ if input_failed => Err(Failure::Input(format!("{failed} of {all} failed"))),
        _ => Err(Failure::Solution(format!("{failed} of {all}"))),
    }
}

fn test(
    path: &Path,
    backend: Option<BackendKind>,
    session: &Session,
) -> Result<Vec<Comparison>, Failure> {
    let case = read(path, session)?;
    let (directory, expected) = (case.output.directory.clone(), case.expected.clone());
    let outcome = solve(case, RunOptions { backend, restart: None }, session)?;
    if let Some(failure) = Failure::of(&outcome) {
        return Err(failure);
    }
    compare(&expected, &read_summary(&directory)?).map_err(Failure::input)
}
