//! The case file: from TOML text to a checked problem.
//!
//! Two types. `CaseFile` mirrors the text, every key optional and with its place. [`Case`] is
//! complete and checked: no later code reads TOML or supplies a default. [`Case::check_patches`]
//! and [`Case::check_regions`] compare the names of patches and regions with those of the mesh.
//!
//! [`mod@reference`] is the table of all keys from which `karman help case` and `docs/cases.md` are
//! made; [`templates`] are the cases `karman new` writes.

mod amg;
mod average;
mod boundary;
mod check;
mod equation;
mod error;
mod exact;
mod expected;
mod field_keys;
mod file;
mod flow_boundary;
mod flow_output;
mod heat;
mod incompressible;
mod initial;
mod linear_solver;
mod mesh;
mod names;
mod output;
mod picture;
mod places;
pub mod reference;
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

pub use average::Average;
pub use boundary::{HeatCondition, PatchCondition};
pub use equation::{EQUATIONS, Equation};
pub use error::{CaseError, Diagnostic};
pub use exact::ExactField;
pub use expected::Expectation;
pub use flow_boundary::FlowBoundary;
pub use flow_output::{FlowReference, Recirculation};
pub use heat::HeatCase;
pub use incompressible::{FlowNumericsCase, IncompressibleCase, ThermalCase};
pub use initial::InitialResult;
pub use linear_solver::LinearSolverCase;
pub use mesh::{MeshCase, MeshSource};
pub use output::{Line, OutputCase, OutputInterval, PatchGroup, Probe};
pub use picture::{Axis, Picture, Slice};
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

use error::{Problem, Source};
use file::CaseFile;
use places::Places;
use std::path::Path;

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
    /// Output.
    pub output: OutputCase,
    /// Backend, precision, threads, checkpoints.
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
