//! The case file: from TOML text to a checked problem.
//!
//! Two types. `CaseFile` mirrors the text, every key optional and with its place. [`Case`] is
//! complete and checked: no later code reads TOML or supplies a default. A further equation is a key of `CaseFile`, an entry
//! of [`EQUATIONS`], a variant of [`Equation`] and the `EquationSection` of its section. [`Case::check_patches`]
//! and [`Case::check_regions`] compare the names of patches and regions with those of the mesh.
//!
//! [`mod@reference`] is the table of all keys from which `karman help case` and `docs/cases.md` are
//! made; [`templates`] are the cases `karman new` writes.

mod adapt;
mod amg;
mod average;
mod boundary;
mod check;
mod compressible;
mod compressible_boundary;
mod equation;
mod error;
mod exact;
mod expected;
mod field_keys;
mod flow_boundary;
mod flow_reference;
mod heat;
mod heat_boundary;
mod incompressible;
mod initial;
mod linear_solver;
mod mesh;
mod names;
mod output;
mod output_parts;
mod patch_group;
mod picture;
mod places;
mod problems;
mod recirculation;
pub mod reference;
mod region_names;
mod run;
mod steady;
mod suite;
mod surface;
mod table;
pub mod templates;
#[cfg(test)]
mod tests;
mod time;
mod value;
mod word;

pub use adapt::{AdaptCase, AdaptInterval, FieldMetric, MetricCase, TransferKind};
pub use average::Average;
pub use boundary::{HeatCondition, PatchCondition};
pub use compressible::{CompressibleCase, CompressibleSteady, FacePointsCase, SteadyMarch};
pub use compressible_boundary::CompressibleBoundary;
pub use error::{CaseError, Diagnostic};
pub use exact::ExactField;
pub use expected::Expectation;
pub use flow_boundary::FlowBoundary;
pub use flow_reference::FlowReference;
pub use heat::HeatCase;
pub use incompressible::{FlowNumericsCase, IncompressibleCase, ThermalCase};
pub use initial::InitialResult;
pub use linear_solver::LinearSolverCase;
pub use mesh::{MeshCase, MeshSource};
pub use output::{Line, OutputCase, OutputFormat, OutputInterval, Probe};
pub use patch_group::PatchGroup;
pub use picture::{Axis, Picture, Slice};
pub use recirculation::Recirculation;
pub use run::{CheckpointCase, Precision, RunCase};
pub use steady::SteadyCase;
pub use suite::{
    Curve, Figure, FigureAxis, FigureKind, MAX_HALVINGS, Reference, ReferenceData, SUITE_FILE,
    Suite, SuiteCase, SuiteSection,
};
pub use surface::{Surface, SurfaceReference};
pub use table::{TableError, TimeTable};
pub use time::{TimeCase, TimeStep};
pub use value::{ByRegion, Value};

use crate::descriptor::Descriptor;
use adapt::AdaptFile;
use boundary::BoundaryFile;
use compressible::CompressibleFile;
use equation::EquationSection;
use error::{Problem, Source};
use exact::ExactFile;
use expected::ExpectedFile;
use heat::HeatFile;
use incompressible::IncompressibleFile;
use initial::InitialFile;
use linear_solver::LinearSolverFile;
use mesh::MeshFile;
use output::OutputFile;
use places::Places;
use run::{CheckpointFile, RunFile};
use serde::Deserialize;
use std::path::Path;
use steady::SteadyFile;
use time::TimeFile;
use value::Maybe;

/// The equations that a case may have.
pub static EQUATIONS: [&Descriptor; 3] = [
    &crate::heat::DESCRIPTOR,
    &crate::incompressible::DESCRIPTOR,
    &crate::compressible::DESCRIPTOR,
];

/// The equation of a case with its data.
#[expect(clippy::large_enum_variant, reason = "a case has one")]
#[derive(Clone, Debug, PartialEq)]
pub enum Equation {
    /// Heat conduction.
    Heat(HeatCase),
    /// Incompressible flow.
    Incompressible(Box<IncompressibleCase>),
    /// Compressible flow.
    Compressible(Box<CompressibleCase>),
}

impl Equation {
    /// Its names in a case.
    pub fn descriptor(&self) -> &'static Descriptor {
        match self {
            Equation::Heat(_) => &crate::heat::DESCRIPTOR,
            Equation::Incompressible(_) => &crate::incompressible::DESCRIPTOR,
            Equation::Compressible(_) => &crate::compressible::DESCRIPTOR,
        }
    }
}

impl CaseFile {
    /// The sections of equations that the case has.
    fn equations(&self) -> Vec<&dyn EquationSection> {
        let heat = self.heat.as_ref().map(|file| file as &dyn EquationSection);
        let flow = self.incompressible.as_ref().map(|file| file as &dyn EquationSection);
        let gas = self.compressible.as_ref().map(|file| file as &dyn EquationSection);
        [heat, flow, gas].into_iter().flatten().collect()
    }
}

/// The sections of a case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    pub(crate) title: Option<String>,
    pub(crate) mesh: Maybe<MeshFile>,
    pub(crate) heat: Maybe<HeatFile>,
    pub(crate) incompressible: Maybe<IncompressibleFile>,
    pub(crate) compressible: Maybe<CompressibleFile>,
    pub(crate) initial: Maybe<InitialFile>,
    pub(crate) boundary: Maybe<BoundaryFile>,
    pub(crate) time: Maybe<TimeFile>,
    pub(crate) steady: Maybe<SteadyFile>,
    pub(crate) linear_solver: Maybe<LinearSolverFile>,
    pub(crate) adapt: Maybe<AdaptFile>,
    pub(crate) output: Maybe<OutputFile>,
    pub(crate) run: Maybe<RunFile>,
    pub(crate) checkpoint: Maybe<CheckpointFile>,
    pub(crate) exact: Maybe<ExactFile>,
    pub(crate) expected: Maybe<ExpectedFile>,
}

/// A checked case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the case: its file without folder and extension.
    pub name: String,
    /// One line about it; default: its name.
    pub title: String,
    /// The mesh.
    pub mesh: MeshCase,
    /// The equation and its data.
    pub equation: Equation,
    /// The result from which the fields at t = 0 are taken, in place of values of the equation.
    pub initial_result: Option<InitialResult>,
    /// Time integration; `None` for a steady case.
    pub time: Option<TimeCase>,
    /// Adaptation of the mesh during the run.
    pub adapt: Option<AdaptCase>,
    /// Output.
    pub output: OutputCase,
    /// Backend, precision, threads, ranks, checkpoints.
    pub run: RunCase,
    /// Exact solutions to compare with.
    pub exact: Vec<ExactField>,
    /// Expected numbers of the result.
    pub expected: Vec<Expectation>,
    /// Settings that have no effect.
    pub warnings: Vec<Diagnostic>,
    places: Places,
}

/// Message for a key that needs a temperature.
const NEEDS_THERMAL: &str = "needs [incompressible.thermal]: this flow has no temperature";

impl Case {
    /// Reads and checks a case file. Paths in it start at its folder.
    ///
    /// # Errors
    /// [`CaseError`], with the place of every problem found.
    pub fn read(path: &Path) -> Result<Self, CaseError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CaseError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder, &path.display().to_string())
    }

    /// Checks the text of a case file; `folder` is where its paths start, `name` the file's name
    /// for messages, whose last part without extension names the case.
    ///
    /// # Errors
    /// As [`Case::read`].
    pub fn parse(text: &str, folder: &Path, name: &str) -> Result<Self, CaseError> {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        let file: CaseFile = toml::from_str(text)
            .map_err(|error| source.invalid(vec![Problem::from_toml(&error, text)]))?;
        check::check(&file, folder, &source).map_err(|problems| source.invalid(problems))
    }

    /// Whether the case has no `[time]`.
    pub fn is_steady(&self) -> bool {
        self.time.is_none()
    }
}

impl MeshCase {
    /// Reads `[mesh]` of a text and ignores its other sections. `folder` and `name` as in [`Case::parse`].
    ///
    /// # Errors
    /// [`CaseError::Invalid`].
    pub fn parse(text: &str, folder: &Path, name: &str) -> Result<Self, CaseError> {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        let invalid = |problem| source.invalid(vec![problem]);
        let file: CaseFile =
            toml::from_str(text).map_err(|error| invalid(Problem::from_toml(&error, text)))?;
        let Some(mesh) = &file.mesh else {
            let problem = Problem::at(0..0, "there is no mesh");
            return Err(invalid(problem.note("add [mesh] with `file` or a generator")));
        };
        mesh::check(mesh, folder).map_err(invalid)
    }
}
