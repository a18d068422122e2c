//! The case file: from TOML text to a checked problem.
//!
//! Two types. `CaseFile` mirrors the text, every key optional and with its place. [`Case`] is
//! complete and checked: nothing that comes after it reads TOML or supplies a default. What only
//! the mesh can tell, the names of patches and regions, is checked by [`Case::check_patches`]
//! and [`Case::check_regions`].
//!
//! [`mod@reference`] is the table of all keys from which `karman help case` and `docs/cases.md` are
//! made; [`templates`] are the cases `karman new` writes.

mod amg;
mod boundary;
mod error;
mod expected;
mod file;
mod heat;
mod keyword;
mod linear_solver;
mod mesh;
mod output;
pub mod reference;
mod run;
mod table;
pub mod templates;
#[cfg(test)]
mod tests;
mod time;
mod value;

pub use amg::{AmgParameters, Coarsening, Cycle, HierarchyPrecision, Smoother, Sparsification};
pub use boundary::{HeatBoundary, PatchCondition};
pub use error::{CaseError, Diagnostic};
pub use expected::{ExactField, Expectation, SUMMARY_PATHS};
pub use heat::{Discretization, HEAT_FIELDS, HEAT_PATCH_QUANTITIES, HeatCase};
pub use linear_solver::{LinearSolverCase, Preconditioner, SolverMethod};
pub use mesh::{MeshCase, MeshSource};
pub use output::{
    Axis, FieldFormat, Line, OutputCase, OutputInterval, PatchGroup, Picture, Probe, Slice,
};
pub use run::{BackendChoice, CheckpointCase, Precision, RunCase};
pub use table::{TableError, TimeTable};
pub use time::{HeatTimeMethod, TimeCase, TimeStep};
pub use value::{ByRegion, Value};

use error::{Problem, Source};
use file::CaseFile;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use value::{QuantityFile, Reader};

/// A checked case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the case: its file without folder and extension.
    pub name: String,
    /// One line about it; default: its name.
    pub title: String,
    /// The mesh.
    pub mesh: MeshCase,
    /// What is solved on it.
    pub equation: Equation,
    /// The march in time; `None` for a steady case.
    pub time: Option<TimeCase>,
    /// The solver of linear systems.
    pub linear_solver: LinearSolverCase,
    /// What is written.
    pub output: OutputCase,
    /// Backend, precision, threads.
    pub run: RunCase,
    /// When the state is saved.
    pub checkpoint: Option<CheckpointCase>,
    /// Exact solutions to compare with.
    pub exact: Vec<ExactField>,
    /// What the result is held to.
    pub expected: Vec<Expectation>,
    /// Settings that have no effect.
    pub warnings: Vec<Diagnostic>,
    places: Places,
}

/// The equation of a case with its data.
#[derive(Clone, Debug, PartialEq)]
pub enum Equation {
    /// Conduction of heat.
    Heat(HeatCase),
}

/// Where names of the mesh stand in the text, for the checks that need the mesh.
#[derive(Clone, Debug)]
struct Places {
    source: Source,
    boundary: Range<usize>,
    patches: Vec<(String, Range<usize>)>,
    grouped_patches: Vec<(String, Range<usize>)>,
    regions: Vec<(String, Range<usize>)>,
    /// Quantities given as `{ region = number }`: key, place and the regions they name.
    by_region: Vec<(&'static str, Range<usize>, Vec<String>)>,
}

impl Case {
    /// Reads and checks a case file. Paths in it start at its folder.
    ///
    /// # Errors
    /// [`CaseError`], with every place where the first look finds something wrong.
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
            .map_err(|error| source.invalid(vec![Problem::from_toml(&error)]))?;
        check(&file, folder, &source).map_err(|problems| source.invalid(problems))
    }

    /// Whether the case has a march in time.
    pub fn is_steady(&self) -> bool {
        self.time.is_none()
    }

    /// Checks that `[boundary]` and `[[output.patch]]` name the patches of the mesh, and
    /// `[boundary]` all of them.
    ///
    /// # Errors
    /// [`CaseError::Invalid`]: patches of the case that the mesh lacks, each at its line with the
    /// nearest name; and patches of the mesh without a condition, with lines to paste.
    pub fn check_patches(&self, mesh_patches: &[String]) -> Result<(), CaseError> {
        let places = &self.places;
        let in_mesh = || mesh_patches.iter().map(String::as_str);
        let mut problems = Vec::new();
        for (patch, span) in places.patches.iter().chain(&places.grouped_patches) {
            if !mesh_patches.contains(patch) {
                let message = format!("the mesh has no patch \"{patch}\"");
                let problem = Problem::at(span.clone(), message);
                problems.push(problem.among(patch, "patches of the mesh", in_mesh()));
            }
        }
        let has_condition = |patch: &str| places.patches.iter().any(|(name, _)| name == patch);
        let missing: Vec<&str> = in_mesh().filter(|patch| !has_condition(patch)).collect();
        if !missing.is_empty() {
            let names = missing.join("\", \"");
            let message = match missing.len() {
                1 => format!("patch \"{names}\" of the mesh has no condition"),
                _ => format!("patches \"{names}\" of the mesh have no condition"),
            };
            let note = format!("add to [boundary], for example:\n{}", boundary::stanza(&missing));
            problems.push(Problem::at(places.boundary.clone(), message).note(note));
        }
        if problems.is_empty() { Ok(()) } else { Err(places.source.invalid(problems)) }
    }

    /// Checks that the regions the case names are regions of the mesh, and that quantities given
    /// as `{ region = number }` cover all of them.
    ///
    /// # Errors
    /// [`CaseError::Invalid`], at the line of each name or quantity.
    pub fn check_regions(&self, mesh_regions: &[String]) -> Result<(), CaseError> {
        let places = &self.places;
        let in_mesh = || mesh_regions.iter().map(String::as_str);
        let mut problems = Vec::new();
        for (region, span) in &places.regions {
            if !mesh_regions.contains(region) {
                let message = format!("the mesh has no region \"{region}\"");
                let problem = Problem::at(span.clone(), message);
                problems.push(problem.among(region, "regions of the mesh", in_mesh()));
            }
        }
        for (quantity, span, named) in &places.by_region {
            let missing: Vec<&str> =
                in_mesh().filter(|region| !named.iter().any(|name| name == region)).collect();
            if !missing.is_empty() {
                let message =
                    format!("`{quantity}` has no value in region \"{}\"", missing.join("\", \""));
                problems.push(Problem::at(span.clone(), message));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(places.source.invalid(problems)) }
    }
}

impl MeshCase {
    /// Reads `[mesh]` of a text and leaves its other sections alone: a mesh does not need a whole
    /// case. `folder` and `name` as in [`Case::parse`].
    ///
    /// # Errors
    /// [`CaseError::Invalid`].
    pub fn parse(text: &str, folder: &Path, name: &str) -> Result<Self, CaseError> {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        let invalid = |problem| source.invalid(vec![problem]);
        let file: CaseFile =
            toml::from_str(text).map_err(|error| invalid(Problem::from_toml(&error)))?;
        let Some(mesh) = &file.mesh else {
            let problem = Problem::at(0..0, "there is no mesh");
            return Err(invalid(problem.note("add [mesh] with `file` or a generator")));
        };
        mesh::check(mesh, folder).map_err(invalid)
    }
}

/// Problems of all sections, so that one look at the messages mends the whole file.
struct Problems(Vec<Problem>);

impl Problems {
    fn keep<T>(&mut self, checked: Result<T, Problem>) -> Option<T> {
        checked.map_err(|problem| self.0.push(problem)).ok()
    }
}

fn check(file: &CaseFile, folder: &Path, source: &Source) -> Result<Case, Vec<Problem>> {
    let name = Path::new(&source.name).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let reader = Reader { text: &source.text, folder, steady: file.time.is_none() };
    let time_span = file.time.as_ref().map(Spanned::span);
    let mut problems = Problems(Vec::new());

    let heat_file = problems.keep(file.equation());
    // The keys of other equations would only raise errors that follow from this one.
    let Some(heat_file) = heat_file else { return Err(problems.0) };
    let mesh = file.mesh.as_ref().ok_or_else(|| {
        Problem::at(0..0, "the case has no mesh").note("add [mesh] with `file` or a generator")
    });
    let mesh = problems.keep(mesh.and_then(|mesh| mesh::check(mesh, folder)));
    let initial = heat::check_initial(file.initial.as_ref(), time_span.clone(), reader);
    let initial = problems.keep(initial);
    let boundary = boundary::check_heat(file.boundary.as_ref(), reader)
        .map_err(|several| problems.0.extend(several))
        .ok();
    // Without these two the rest of the section can be checked all the same.
    let heat = problems.keep(heat::check(
        heat_file.get_ref(),
        initial.unwrap_or(Value::Constant(0.0)),
        boundary.unwrap_or_default(),
        reader,
    ));
    let time = problems.keep(file.time.as_ref().map(time::check).transpose());
    let linear_solver = problems.keep(linear_solver::check(file.linear_solver.as_ref()));
    problems.keep(file.adaptation());
    let output = output::check(file.output.as_ref(), folder, &name, time_span.as_ref());
    let output = problems.keep(output);
    let checkpoint = run::check_checkpoint(file.checkpoint.as_ref(), time_span.as_ref());
    let checkpoint = problems.keep(checkpoint);
    let exact = problems.keep(expected::check_exact(file.exact.as_ref(), reader));
    let expected = match (&output, &exact) {
        (Some(output), Some(exact)) => {
            problems.keep(expected::check(file.expected.as_ref(), output, exact))
        }
        _ => None,
    };
    match (mesh, heat, time, linear_solver, output, checkpoint, exact, expected) {
        (
            Some(mesh),
            Some(heat),
            Some(time),
            Some(linear_solver),
            Some(output),
            Some(checkpoint),
            Some(exact),
            Some(expected),
        ) if problems.0.is_empty() => Ok(Case {
            title: file.title.clone().unwrap_or_else(|| name.clone()),
            name,
            mesh,
            equation: Equation::Heat(heat),
            time,
            linear_solver,
            output,
            run: run::check(file.run.as_ref()),
            checkpoint,
            exact,
            expected,
            warnings: warnings(file).map(|problem| source.diagnose(problem)).collect(),
            places: places(file, heat_file, source),
        }),
        _ => Err(problems.0),
    }
}

/// Settings that are read but change nothing.
fn warnings(file: &CaseFile) -> impl Iterator<Item = Problem> {
    let keys = file.linear_solver.as_ref().map(Spanned::get_ref);
    keys.and_then(linear_solver::amg_without_effect).into_iter()
}

fn places(file: &CaseFile, heat: &Spanned<heat::HeatFile>, source: &Source) -> Places {
    let text_and_span = |name: &Spanned<String>| (name.get_ref().clone(), name.span());
    let boundary = file.boundary.as_ref();
    let groups = file.output.iter().flat_map(|output| output.get_ref().patch.iter().flatten());
    let grouped = groups.flat_map(|group| &group.get_ref().patches).flat_map(Spanned::get_ref);
    let keys = heat.get_ref();
    let mut regions: Vec<(String, Range<usize>)> = Vec::new();
    let mut by_region = Vec::new();
    let tables = keys.region.iter().flat_map(|tables| &tables.0).map(|(name, _)| name);
    regions.extend(tables.clone().map(text_and_span));
    for (name, quantity) in [
        ("conductivity", &keys.conductivity),
        ("heat_capacity", &keys.heat_capacity),
        ("source", &keys.source),
    ] {
        let Some(quantity) = quantity else { continue };
        if let QuantityFile::Regions(named) = quantity.get_ref() {
            let names = named.0.iter().map(|(name, _)| name);
            regions.extend(names.clone().map(text_and_span));
            let covered = names.chain(heat::regions_with(keys, name));
            let covered = covered.map(|region| region.get_ref().clone()).collect();
            // A region that `source` leaves out releases nothing.
            if name != "source" {
                by_region.push((name, quantity.span(), covered));
            }
        }
    }
    Places {
        source: source.clone(),
        boundary: boundary.map_or(0..0, Spanned::span),
        patches: boundary
            .iter()
            .flat_map(|file| &file.get_ref().0)
            .map(|(patch, _)| text_and_span(patch))
            .collect(),
        grouped_patches: grouped.map(text_and_span).collect(),
        regions,
        by_region,
    }
}
