//! Errors of a case file: the line, a caret under the place, the message and the remedy.

use crate::expression::nearest_name;
use std::ops::Range;
use std::path::PathBuf;
use thiserror::Error;

/// Why a case cannot be run.
#[derive(Debug, Error)]
pub enum CaseError {
    /// The file is missing, unreadable or not UTF-8 text.
    #[error("cannot read the case {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        source: std::io::Error,
    },
    /// The text is not a valid case. At least one entry, in the order of the text.
    #[error("{}", join(diagnostics))]
    Invalid {
        /// The problems, each with its place.
        diagnostics: Vec<Diagnostic>,
    },
}

impl CaseError {
    /// The problems; none for a file that could not be read.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            CaseError::Unreadable { .. } => &[],
            CaseError::Invalid { diagnostics } => diagnostics,
        }
    }
}

fn join(diagnostics: &[Diagnostic]) -> String {
    let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    texts.join("\n\n")
}

/// An error or a warning at one place of a case file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the case file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line's text.
    pub text: String,
    /// Number of characters the carets cover, at least 1.
    pub width: usize,
    /// The message.
    pub message: String,
    /// Remedies: the nearest name, the valid keys, lines to paste.
    pub notes: Vec<String>,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gutter = self.line.to_string().len();
        writeln!(formatter, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(formatter, "{:gutter$} |", "")?;
        let text = self.text.replace('\t', " ");
        writeln!(formatter, "{} | {}", self.line, text.trim_end())?;
        write!(formatter, "{:gutter$} | ", "")?;
        write!(formatter, "{}{}", " ".repeat(self.column - 1), "^".repeat(self.width))?;
        for note in &self.notes {
            let indented = note.replace('\n', &format!("\n{:gutter$}   ", ""));
            write!(formatter, "\n{:gutter$} = {indented}", "")?;
        }
        Ok(())
    }
}

/// The text of a case and the name to show for it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// The diagnostic of a problem, its place counted in lines and characters.
    pub(crate) fn diagnose(&self, problem: Problem) -> Diagnostic {
        let floor = |index: usize| {
            let mut index = index.min(self.text.len());
            while !self.text.is_char_boundary(index) {
                index -= 1;
            }
            index
        };
        let start = floor(problem.span.start);
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let rest = &self.text[line_start..];
        let text = rest.split('\n').next().unwrap_or("").trim_end_matches('\r');
        let end = floor(problem.span.end.clamp(start, (line_start + text.len()).max(start)));
        Diagnostic {
            file: self.name.clone(),
            line: 1 + self.text[..start].matches('\n').count(),
            column: 1 + self.text[line_start..start].chars().count(),
            text: text.to_owned(),
            width: self.text[start..end].chars().count().max(1),
            message: problem.message,
            notes: problem.notes,
        }
    }

    /// The error of several problems, in the order of the text.
    pub(crate) fn invalid(&self, mut problems: Vec<Problem>) -> CaseError {
        problems.sort_by_key(|problem| problem.span.start);
        let diagnostics = problems.into_iter().map(|problem| self.diagnose(problem)).collect();
        CaseError::Invalid { diagnostics }
    }
}

/// A message about a byte range of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) notes: Vec<String>,
}

impl Problem {
    pub(crate) fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), notes: Vec::new() }
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds the name of `known` closest to `name`, and the list under the heading `valid`.
    pub(crate) fn among<'a>(
        mut self,
        name: &str,
        valid: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        if let Some(nearest) = nearest_name(name, known.iter().copied()) {
            self = self.note(format!("did you mean `{nearest}`?"));
        }
        if known.is_empty() { self } else { self.note(format!("{valid}: {}", known.join(", "))) }
    }

    /// The problem that the TOML reader reports, in the words of a case file.
    pub(crate) fn from_toml(error: &toml::de::Error, text: &str) -> Self {
        let span = error.span().unwrap_or(0..0);
        let message = error.message();
        if let Some((found, known)) = split_unknown(message, "unknown field `") {
            let unquoted = known == ["value", "absolute", "relative"];
            let problem = Problem::at(span, format!("unknown key `{found}`"));
            let problem = problem.among(found, "valid keys", known);
            // TOML splits an unquoted path at its dots.
            return match unquoted {
                true => problem.note("paths stand in quotes: \"probe.NAME.FIELD\" = { … }"),
                false => problem,
            };
        }
        if let Some((found, known)) = split_unknown(message, "unknown variant `") {
            let problem = Problem::at(span, format!("unknown value `{found}`"));
            return problem.among(found, "valid values", known);
        }
        for start in ["invalid type: ", "invalid value: ", "invalid length "] {
            let parts =
                message.strip_prefix(start).and_then(|rest| rest.rsplit_once(", expected "));
            if let Some((found, expected)) = parts {
                let (found, expected) = (plain_found(found, start), plain_expected(expected));
                return Problem::at(span, format!("expected {expected}, found {found}"));
            }
        }
        if let Some(bare) = bare_text(text, span.start) {
            let quoted = text[bare.clone()].replace('"', "'");
            return Problem::at(bare, format!("Text needs quotes: \"{quoted}\"."));
        }
        let hint = hint_of_number(text, span.start);
        let problem = Problem::at(span, message.replace('\n', ", "));
        hint.into_iter().fold(problem, Problem::note)
    }
}

/// How to write a number at `place` whose point lacks a digit on one side: `.01`, `1.`.
fn hint_of_number(text: &str, place: usize) -> Option<String> {
    let is_outside = |c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c));
    let before = text.get(..place)?.split(is_outside).next_back()?;
    let number = text.get(place - before.len()..)?.split(is_outside).next()?;
    let (whole, fraction) = number.split_once('.')?;
    let lacks_digit = |part: &str, at_end: bool| {
        let digit = if at_end { part.chars().next_back() } else { part.chars().next() };
        !digit.is_some_and(|digit| digit.is_ascii_digit())
    };
    let whole = if lacks_digit(whole, true) { format!("{whole}0") } else { whole.to_owned() };
    let fraction =
        if lacks_digit(fraction, false) { format!("0{fraction}") } else { fraction.to_owned() };
    let complete = format!("{whole}.{fraction}");
    let is_number = complete != number && complete.parse::<f64>().is_ok();
    is_number.then(|| format!("a number has a digit on either side of its point: {complete}"))
}

/// The place of text without quotes around `place`, where a value is expected.
fn bare_text(text: &str, place: usize) -> Option<Range<usize>> {
    let before = text.get(..place)?;
    let first = before.rfind(['=', ',', '[', '{', '\n']).map_or(0, |k| k + 1);
    let begins_value = text[..first].ends_with(['=', ',', '[']);
    let start = first + (text[first..].len() - text[first..].trim_start_matches([' ', '\t']).len());
    let mut depth = 0;
    let mut end = text.len();
    for (k, c) in text[start..].char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if "\n\r#]}\"'=".contains(c) || c == ',' && depth <= 0 {
            end = start + k;
            break;
        }
    }
    let value = text[start..end].trim_end();
    let is_text = value.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_known = ["true", "false", "nan", "inf"].contains(&value);
    (begins_value && is_text && !is_known).then(|| start..start + value.len())
}

/// The unknown name and the known ones of serde's message.
fn split_unknown<'m>(message: &'m str, start: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let (found, list) = message.strip_prefix(start)?.rsplit_once("`, expected ")?;
    Some((found, list.split('`').skip(1).step_by(2).collect()))
}

/// serde's words for the value found, in those of a case file.
fn plain_found(found: &str, start: &str) -> String {
    match found {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        _ if start == "invalid length " => format!("{found} entries"),
        _ => match found.strip_prefix("floating point ") {
            Some(number) => format!("number {number}"),
            None => found.to_owned(),
        },
    }
}

/// serde's words for the value expected, in those of a case file.
fn plain_expected(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a string" => "a string in quotes",
        "a map" => "a table",
        "an array of length 2" => "a list of 2 entries",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}
