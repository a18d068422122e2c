//! The page of a suite of cases: each number and curve beside its reference, passed or failed.
//!
//! The caller runs the cases and makes a [`CaseResult`] of each; [`checks`] compares it with its references
//! and [`page()`] makes one self-contained HTML file of all.

mod coarsen_case;
mod comparison;
mod curves;
mod data;
mod drawing;
mod machine;
mod markup;
mod page;
mod plot;
mod richardson;
#[cfg(test)]
mod tests;
mod titles;

pub use coarsen_case::{CoarsenError, coarsen_case};
pub use comparison::checks;
pub use curves::log_log_svg;
pub use machine::{date, processor};
pub use page::{About, page};

use crate::case::Expectation;
use crate::expected::Comparison;
use serde_json::Value;
use std::path::PathBuf;

/// A run of a case on one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshRun {
    /// Coarsening factor: cells along each direction of the case's own mesh over those of this mesh.
    pub coarsening: usize,
    /// Content of `summary.json`.
    pub summary: Value,
    /// Folder of its results.
    pub directory: PathBuf,
}

/// The result of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseResult {
    /// Its name in the suite.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its expected values.
    pub expected: Vec<Expectation>,
    /// Field of its picture.
    pub picture: Option<String>,
    /// Its runs, the run on its own mesh first; none where it could not be solved.
    pub runs: Vec<MeshRun>,
    /// Its comparisons with references.
    pub checks: Vec<Comparison>,
    /// The error that prevented its solution or comparison.
    pub error: Option<String>,
}

impl CaseResult {
    /// Whether the case was solved and all numbers are within their tolerances.
    pub fn passes(&self) -> bool {
        self.error.is_none() && self.checks.iter().all(|check| check.is_met)
    }
}
