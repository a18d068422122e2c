//! A case file as written: every key may be absent, nothing is resolved.

use super::boundary::BoundaryFile;
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
