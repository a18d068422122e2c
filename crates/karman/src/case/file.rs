//! A case file as written: every key may be absent, nothing is resolved.

use super::boundary::BoundaryFile;
use super::error::Problem;
use super::exact::ExactFile;
use super::expected::ExpectedFile;
use super::heat::HeatFile;
use super::incompressible::IncompressibleFile;
use super::initial::InitialFile;
use super::linear_solver::LinearSolverFile;
use super::mesh::MeshFile;
use super::output::OutputFile;
use super::run::{CheckpointFile, RunFile};
use super::steady::SteadyFile;
use super::time::TimeFile;
use super::value::Maybe;
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// The sections of a case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    pub(crate) title: Option<String>,
    pub(crate) mesh: Maybe<MeshFile>,
    pub(crate) heat: Maybe<HeatFile>,
    pub(crate) incompressible: Maybe<IncompressibleFile>,
    pub(crate) euler: Maybe<IgnoredAny>,
    pub(crate) initial: Maybe<InitialFile>,
    pub(crate) boundary: Maybe<BoundaryFile>,
    pub(crate) time: Maybe<TimeFile>,
    pub(crate) steady: Maybe<SteadyFile>,
    pub(crate) linear_solver: Maybe<LinearSolverFile>,
    pub(crate) adapt: Maybe<IgnoredAny>,
    pub(crate) output: Maybe<OutputFile>,
    pub(crate) run: Maybe<RunFile>,
    pub(crate) checkpoint: Maybe<CheckpointFile>,
    pub(crate) exact: Maybe<ExactFile>,
    pub(crate) expected: Maybe<ExpectedFile>,
}

/// The section of the equation.
#[derive(Clone, Copy)]
pub(crate) enum EquationFile<'f> {
    Heat(&'f Spanned<HeatFile>),
    Incompressible(&'f Spanned<IncompressibleFile>),
}

impl CaseFile {
    /// The equation of the case: exactly one, and available in this version.
    pub(crate) fn equation(&self) -> Result<EquationFile<'_>, Problem> {
        let given: Vec<_> = [
            ("heat", self.heat.as_ref().map(Spanned::span)),
            ("incompressible", self.incompressible.as_ref().map(Spanned::span)),
            ("euler", self.euler.as_ref().map(Spanned::span)),
        ]
        .into_iter()
        .filter_map(|(name, span)| span.map(|span| (name, span)))
        .collect();
        if let [(first, _), (second, span), ..] = given.as_slice() {
            let message = format!("a case has one equation, this one has [{first}] and [{second}]");
            return Err(Problem::at(span.clone(), message));
        }
        if let Some(problem) = unavailable(&self.euler, "euler") {
            return Err(problem);
        }
        if let Some(flow) = &self.incompressible {
            return Ok(EquationFile::Incompressible(flow));
        }
        self.heat.as_ref().map(EquationFile::Heat).ok_or_else(|| {
            let problem = Problem::at(0..0, "the case has no equation: a section is missing");
            problem.note("add [heat] or [incompressible]")
        })
    }

    /// Refuses `[adapt]`, which this version does not have.
    pub(crate) fn adaptation(&self) -> Result<(), Problem> {
        unavailable(&self.adapt, "adapt").map_or(Ok(()), Err)
    }
}

fn unavailable(section: &Maybe<IgnoredAny>, name: &str) -> Option<Problem> {
    let section = section.as_ref()?;
    let message = format!("[{name}] is not available in this version");
    let problem = Problem::at(section.span(), message);
    Some(if name == "adapt" {
        problem
    } else {
        problem.note("available: [heat], [incompressible]")
    })
}
