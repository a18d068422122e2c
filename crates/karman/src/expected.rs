//! Comparison of a run's summary with the `[expected]` values of its case.

use crate::case::Expectation;
use crate::expression::nearest_name;
use crate::io::csv::short_number;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use thiserror::Error;

/// A path that leads to no number of the summary.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("the summary has no number `{path}`{}", hint(nearest))]
pub struct UnknownEntry {
    /// The path.
    pub path: String,
    /// Numbers of the summary with the most similar paths, at most three.
    pub nearest: Vec<String>,
}

fn hint(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        _ => format!("; the nearest: {}", nearest.join(", ")),
    }
}

/// An expected value and the actual one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Path in the summary.
    pub path: String,
    /// Expected value.
    pub expected: f64,
    /// Largest difference allowed.
    pub tolerance: f64,
    /// Actual value; none where the summary has `null`, as for a number that is not finite.
    pub actual: Option<f64>,
    /// Whether the actual value is within the tolerance.
    pub is_met: bool,
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_met { "pass" } else { "FAIL" };
        write!(formatter, "{verdict}  {} = ", self.path)?;
        match self.actual {
            Some(actual) => write!(
                formatter,
                "{}, expected {} ± {:.2e}, off by {:.2e}",
                short_number(actual),
                short_number(self.expected),
                self.tolerance,
                (actual - self.expected).abs()
            ),
            None => write!(formatter, "not a finite number, expected {}", self.expected),
        }
    }
}

/// Compares the entries of a summary with the expected values of a case.
///
/// # Errors
/// [`UnknownEntry`] for the first path that leads to no number.
pub fn compare(
    expectations: &[Expectation],
    summary: &Value,
) -> Result<Vec<Comparison>, UnknownEntry> {
    let compared = expectations.iter().map(|expectation| {
        let path = expectation.path.clone();
        let actual = match find(summary, &path) {
            Some(Value::Null) => None,
            Some(Value::Number(number)) => number.as_f64(),
            _ => return Err(unknown(summary, path)),
        };
        Ok(Comparison {
            path,
            expected: expectation.value,
            tolerance: expectation.tolerance,
            actual,
            is_met: actual.is_some_and(|actual| expectation.is_met(actual)),
        })
    });
    compared.collect()
}

/// The number at a path of a summary, if there is one.
pub fn number_at(summary: &Value, path: &str) -> Option<f64> {
    find(summary, path)?.as_f64()
}

/// The value at a path of names separated by dots; a name may contain dots.
fn find<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let object = value.as_object()?;
    if let Some(found) = object.get(path) {
        return Some(found);
    }
    let dots = path.match_indices('.').map(|(dot, _)| dot);
    dots.rev().find_map(|dot| find(object.get(&path[..dot])?, &path[dot + 1..]))
}

fn unknown(summary: &Value, path: String) -> UnknownEntry {
    let mut paths = Vec::new();
    number_paths(summary, "", &mut paths);
    let mut nearest = Vec::new();
    while nearest.len() < 3 {
        let remaining =
            || paths.iter().map(String::as_str).filter(|p| !nearest.iter().any(|n| n == p));
        let Some(next) = nearest_name(&path, remaining()).map(str::to_owned) else { break };
        nearest.push(next);
    }
    UnknownEntry { path, nearest }
}

/// Paths of all numbers.
fn number_paths(value: &Value, prefix: &str, paths: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Number(_) | Value::Null => paths.push(path),
            _ => number_paths(value, &path, paths),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary() -> Value {
        json!({
            "case": "cube",
            "probe": { "centre": { "temperature": 350.5 }, "a.b": { "temperature": 1.0 } },
            "errors": { "temperature": { "l2": 0.1, "linf": null } },
            "mesh": { "cells": 8 },
        })
    }

    fn expectation(path: &str, value: f64, tolerance: f64) -> Expectation {
        Expectation { path: path.into(), value, tolerance }
    }

    #[test]
    fn each_entry_is_one_line_that_passes_or_fails() {
        let expectations = [
            expectation("probe.centre.temperature", 350.0, 1.0),
            expectation("probe.centre.temperature", 350.0, 0.25),
            expectation("probe.a.b.temperature", 1.0, 0.0),
            expectation("mesh.cells", 8.0, 0.0),
            expectation("errors.temperature.linf", 0.0, 1.0),
        ];
        let compared = compare(&expectations, &summary()).unwrap();
        let verdicts: Vec<bool> = compared.iter().map(|c| c.is_met).collect();
        assert_eq!(verdicts, [true, false, true, true, false]);
        let lines: Vec<String> = compared.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        pass  probe.centre.temperature = 350.5, expected 350 ± 1.00e0, off by 5.00e-1
        FAIL  probe.centre.temperature = 350.5, expected 350 ± 2.50e-1, off by 5.00e-1
        pass  probe.a.b.temperature = 1, expected 1 ± 0.00e0, off by 0.00e0
        pass  mesh.cells = 8, expected 8 ± 0.00e0, off by 0.00e0
        FAIL  errors.temperature.linf = not a finite number, expected 0
        ");
    }

    #[test]
    fn a_path_to_no_number_is_an_error_with_the_nearest() {
        let refused = |path: &str| {
            compare(&[expectation(path, 0.0, 1.0)], &summary()).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            refused("probe.center.temperature"),
            @"the summary has no number `probe.center.temperature`; the nearest: probe.centre.temperature, probe.a.b.temperature"
        );
        assert!(refused("probe.centre").starts_with("the summary has no number `probe.centre`"));
        assert!(refused("case").starts_with("the summary has no number `case`"));
        assert_eq!(refused("zzzzzzzz"), "the summary has no number `zzzzzzzz`");
    }
}
