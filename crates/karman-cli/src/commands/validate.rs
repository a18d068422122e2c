//! `karman validate`

use super::Session;
use super::run::{read, read_summary, solve};
use crate::arguments::ValidateArguments;
use crate::console;
use crate::failure::Failure;
use karman::case::{Case, SUITE_FILE, Suite, SuiteCase, SuiteSection};
use karman::expected::Comparison;
use karman::simulation::RunOptions;
use karman::validate::{About, CaseResult, MeshRun, checks, coarsen_case, date, page, processor};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A copy of the case in the folder of its results, which tells whether they can be reused.
const SOLVED_CASE: &str = "solved.toml";

pub(crate) fn run(arguments: &ValidateArguments, session: &Session) -> Result<(), Failure> {
    let suite = find(arguments)?;
    let chosen = choose(&suite, arguments)?;
    let output = arguments.output.clone().unwrap_or_else(|| default_output(&suite.folder));
    let file = output.join("index.html");
    let mut results = Vec::new();
    let mut input_failed = false;
    for (section, case) in chosen {
        let mut result = CaseResult { name: case.name.clone(), ..CaseResult::default() };
        let runner = Runner { arguments, folder: &suite.folder, output: &output, session };
        let solved = runner.solve_on_all_meshes(case, &mut result).and_then(|()| {
            result.checks = checks(section, case, &result).map_err(Failure::Input)?;
            Ok(())
        });
        if let Err(failure) = solved {
            if matches!(failure, Failure::Interrupted(_)) {
                return Err(failure);
            }
            input_failed |= matches!(failure, Failure::Input(_));
            result.error = Some(failure.to_string());
        }
        console::tell(session.quiet && result.passes(), &lines(&result))?;
        results.push(result);
        // After each case, so that an interrupted run leaves a page of the cases it solved.
        write(&file, page(&suite, &results, &about()))?;
    }
    console::tell(session.quiet, &format!("page: {}", file.display()))?;
    let failed = results.iter().filter(|result| !result.passes()).count();
    let all = console::count(results.len() as u64, "case");
    match failed {
        0 => console::tell(session.quiet, &format!("passed: {all}")),
        _ if input_failed => Err(Failure::Input(format!("{failed} of {all} failed"))),
        _ => Err(Failure::Solution(format!("{failed} of {all}"))),
    }
}

/// The path and the content of a file of a suite.
type SuiteFile = (&'static str, &'static [u8]);

/// Built-in suites: name, and paths and contents of their files.
const BUILT_IN: &[(&str, &[SuiteFile])] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// The suite of a folder, of the folder of this name below `cases`, or the built-in suite of this name, whose
/// files are written beside the results.
fn find(arguments: &ValidateArguments) -> Result<Suite, Failure> {
    let name = &arguments.suite;
    let places = [name.clone(), Path::new("cases").join(name)];
    if let Some(folder) = places.iter().find(|folder| folder.join(SUITE_FILE).is_file()) {
        return Suite::read(folder).map_err(Failure::input);
    }
    let built_in = BUILT_IN.iter().find(|(known, _)| Path::new(known) == name);
    if let Some((known, files)) = built_in {
        let output = arguments.output.clone().unwrap_or_else(|| default_output(name));
        let folder = output.join("cases").join(known);
        files.iter().try_for_each(|(path, text)| write(&folder.join(path), text))?;
        tracing::info!("cases of the suite that karman came with: {}", folder.display());
        return Suite::read(&folder).map_err(Failure::input);
    }
    let [here, below] = places.each_ref().map(|folder| folder.join(SUITE_FILE));
    Err(Failure::Input(format!(
        "there is neither {} nor {}{}",
        here.display(),
        below.display(),
        known_suites()
    )))
}

/// Suites below `cases` and built-in suites, for a message.
fn known_suites() -> String {
    let entries = std::fs::read_dir("cases").into_iter().flatten().flatten();
    let suites = entries.filter(|entry| entry.path().join(SUITE_FILE).is_file());
    let mut names: Vec<String> =
        suites.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.extend(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()));
    names.sort();
    names.dedup();
    format!("; suites: {}", names.join(", "))
}

fn choose<'s>(
    suite: &'s Suite,
    arguments: &ValidateArguments,
) -> Result<Vec<(&'s SuiteSection, &'s SuiteCase)>, Failure> {
    let known = || suite.cases().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ");
    let chosen = suite.choose(&arguments.cases, arguments.quick).map_err(|pattern| {
        Failure::Input(format!("the suite has no case `{pattern}`; its cases: {}", known()))
    })?;
    if chosen.is_empty() {
        let quick = suite.cases().filter(|case| case.quick).map(|case| case.name.as_str());
        let quick = quick.collect::<Vec<_>>().join(", ");
        let message = format!("none of the cases takes seconds; those that do: {quick}");
        return Err(Failure::Input(message));
    }
    for pattern in &arguments.cases {
        let one = std::slice::from_ref(pattern);
        if suite.choose(one, arguments.quick).is_ok_and(|chosen| chosen.is_empty()) {
            tracing::warn!(
                "`{pattern}` is left out: with --quick only cases of seconds are solved"
            );
        }
    }
    let all = suite.sections.iter().flat_map(|s| s.cases.iter().map(move |case| (s, case)));
    Ok(all.filter(|(_, case)| chosen.iter().any(|known| known.name == case.name)).collect())
}

fn default_output(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or("suite".into(), |name| name.to_string_lossy());
    PathBuf::from(format!("validation-{name}"))
}

fn about() -> About {
    About {
        version: env!("KARMAN_VERSION").to_owned(),
        machine: processor(),
        date: date(SystemTime::now()),
    }
}

fn lines(result: &CaseResult) -> String {
    let mut lines = vec![result.name.clone()];
    lines.extend(result.checks.iter().map(|check: &Comparison| format!("  {check}")));
    if let Some(error) = &result.error {
        lines.push(format!("  {}", error.replace('\n', "\n  ")));
    } else if result.checks.is_empty() {
        lines.push("  pass  solved; the case expects no values".to_owned());
    }
    lines.join("\n")
}

/// Writes a file in one step: another process that validates in the same folder reads the old or the new content.
fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    let failed = |error| Failure::Input(format!("cannot write {}: {error}", path.display()));
    let contents = contents.as_ref();
    if std::fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
    std::fs::write(&new, contents).and_then(|()| std::fs::rename(&new, path)).map_err(failed)
}

/// Solves the cases of a suite.
struct Runner<'a> {
    arguments: &'a ValidateArguments,
    folder: &'a Path,
    output: &'a Path,
    session: &'a Session,
}

impl Runner<'_> {
    /// Solves a case on its own mesh and on coarser meshes, or reuses earlier results.
    fn solve_on_all_meshes(
        &self,
        case: &SuiteCase,
        result: &mut CaseResult,
    ) -> Result<(), Failure> {
        let path = self.folder.join(format!("{}.toml", case.name));
        result.title.clone_from(&case.name);
        let read_case = read(&path, self.session)?;
        result.title.clone_from(&read_case.title);
        result.expected.clone_from(&read_case.expected);
        result.picture = read_case.output.picture.as_ref().map(|picture| picture.field.clone());
        let text = std::fs::read_to_string(&path).map_err(Failure::input)?;
        for halving in 0..=case.halvings {
            let coarsening = 1 << halving;
            let mut own = coarsen_case(&read_case, coarsening)
                .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
            let suffix =
                if halving == 0 { String::new() } else { format!("_coarser_{coarsening}") };
            let directory = self.output.join(format!("{}{suffix}", case.name));
            own.output.directory.clone_from(&directory);
            let summary = self.summary(own, &text)?;
            result.runs.push(MeshRun { coarsening, summary, directory });
        }
        Ok(())
    }

    fn summary(&self, case: Case, text: &str) -> Result<Value, Failure> {
        let directory = case.output.directory.clone();
        let copy = directory.join(SOLVED_CASE);
        let text = format!("# karman {}\n{text}", env!("KARMAN_VERSION"));
        if self.arguments.reuse && std::fs::read_to_string(&copy).is_ok_and(|old| old == text) {
            let summary = read_summary(&directory)?;
            let requested = self.arguments.backend.map(|backend| backend.word());
            if requested.is_none_or(|backend| summary["backend"] == backend) {
                return Ok(summary);
            }
        }
        // Results of a run that fails must not be reused as those of the earlier run.
        if copy.exists() {
            std::fs::remove_file(&copy).map_err(Failure::input)?;
        }
        let options = RunOptions { backend: self.arguments.backend, restart: None };
        let outcome = solve(case, options, self.session)?;
        if let Some(failure) = Failure::of(&outcome) {
            return Err(failure);
        }
        write(&copy, &text)?;
        read_summary(&directory)
    }
}
