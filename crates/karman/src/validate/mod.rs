//! The page of a suite of cases: each number and curve beside its reference, passed or not.
//!
//! Whoever runs the cases gives a [`CaseResult`] of each; [`checks`] holds it to its references and [`page()`]
//! makes one HTML file of all, with nothing outside it.

mod coarser;
mod comparison;
mod curves;
mod data;
mod drawing;
mod machine;
mod markup;
mod page;
mod plot;
mod studies;
#[cfg(test)]
mod tests;
mod titles;

pub use coarser::{CoarserError, coarser};
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
    /// Cells along each direction of the case's own mesh by those of this.
    pub coarsening: usize,
    /// What `summary.json` holds.
    pub summary: Value,
    /// Folder of its results.
    pub directory: PathBuf,
}

/// What became of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseResult {
    /// Its name in the suite.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it expects.
    pub expected: Vec<Expectation>,
    /// Field of the picture it draws.
    pub picture: Option<String>,
    /// Its runs, that on its own mesh first; none where it could not be solved.
    pub runs: Vec<MeshRun>,
    /// What it was held to.
    pub checks: Vec<Comparison>,
    /// Why it could not be solved or compared.
    pub error: Option<String>,
}

impl CaseResult {
    /// Whether it was solved and all numbers are within their tolerances.
    pub fn passes(&self) -> bool {
        self.error.is_none() && self.checks.iter().all(|check| check.is_met)
    }
}
