//! Patches and regions named in a case: their places in the text, and their check against the mesh.

use super::CaseFile;
use super::equation::EquationSection;
use super::error::{Problem, Source};
use super::output::OutputFile;
use super::region_names::{RegionNames, text_and_span};
use super::value::Needs;
use super::{Case, CaseError, MeshSource, boundary, flow_boundary};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Places of the names of patches and regions in the text, for the checks that need the mesh.
#[derive(Clone, Debug)]
pub(super) struct Places {
    source: Source,
    boundary: Range<usize>,
    /// A condition that any patch may have, for lines to paste.
    kind: &'static str,
    patches: Vec<(String, Range<usize>)>,
    /// Pairs of periodic patches, as each entry names its partner.
    periodic: Vec<[String; 2]>,
    grouped_patches: Vec<(String, Range<usize>)>,
    regions: RegionNames,
    /// Entries that a case of a 2D mesh must not have.
    only_3d: Vec<Problem>,
    /// Files of tables.
    tables: Vec<PathBuf>,
}

impl Case {
    /// Checks that `[boundary]`, `[[output.patch]]` and `[[output.surface]]` name patches of the mesh, that `[boundary]`
    /// names all of them (the partner in `periodic` counts), and that no group has periodic patches.
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
        for (patch, span) in &places.grouped_patches {
            if places.periodic.iter().flatten().any(|periodic| periodic == patch) {
                let message = format!("patch \"{patch}\" is periodic: it is no boundary");
                problems.push(Problem::at(span.clone(), message));
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
            let stanza = boundary::stanza(&missing, places.kind);
            let note = format!("add to [boundary], for example:\n{stanza}");
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
        for (region, span) in &places.regions.named {
            if !mesh_regions.contains(region) {
                let message = format!("the mesh has no region \"{region}\"");
                let problem = Problem::at(span.clone(), message);
                problems.push(problem.among(region, "regions of the mesh", in_mesh()));
            }
        }
        for (quantity, span, named) in &places.regions.by_region {
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

impl Case {
    /// Checks that a case of a 2D mesh has no formula of z, no plane of a picture, no direction with a z component and no
    /// expected z component.
    ///
    /// # Errors
    /// [`CaseError::Invalid`], at the line of each.
    pub fn check_dimension(&self, dimension: usize) -> Result<(), CaseError> {
        let problems = &self.places.only_3d;
        if dimension == 3 || problems.is_empty() {
            return Ok(());
        }
        Err(self.places.source.invalid(problems.clone()))
    }

    /// The files that a run reads, each with its key: the mesh, tables, the result of `[initial] from`, and the metric of `[adapt]`.
    pub fn input_files(&self) -> Vec<(&'static str, &Path)> {
        let mesh = match &self.mesh.source {
            MeshSource::File(path) => Some(("file", path.as_path())),
            MeshSource::Generate(_) => None,
        };
        let tables = self.places.tables.iter().map(|path| ("table", path.as_path()));
        let initial = self.initial_result.iter().map(|result| ("from", result.path.as_path()));
        let metric = self.adapt.iter().filter_map(|adapt| Some(("metric", adapt.file()?)));
        mesh.into_iter().chain(tables).chain(initial).chain(metric).collect()
    }
}

/// The problems of a case of a 2D mesh.
fn only_3d(file: &CaseFile, needs: &Needs) -> Vec<Problem> {
    let is_2d = "the mesh is 2D";
    let formulas = needs.third_coordinate.iter().map(|(name, span)| {
        Problem::at(span.clone(), format!("the formula of `{name}` has z, but {is_2d}"))
    });
    let output = file.output.as_ref().map(Spanned::get_ref);
    let slice = output.and_then(OutputFile::slice_of_picture).map(|span| {
        Problem::at(span, format!("`slice` is the plane of a picture in 3D, but {is_2d}"))
            .note("without `slice` the picture shows the whole mesh")
    });
    let groups = output.into_iter().flat_map(|output| output.patch.iter().flatten());
    let directions = groups.flat_map(|group| group.get_ref().directions());
    let directions =
        directions.filter(|(_, file)| file.get_ref().get(2).is_some_and(|z| *z != 0.0));
    let directions = directions.map(|(name, file)| {
        Problem::at(file.span(), format!("`{name}` has a z component, but {is_2d}"))
    });
    // The moment of a 2D flow is about z.
    let is_third =
        |part: &str| part.strip_suffix("_z").is_some_and(|quantity| !quantity.ends_with("moment"));
    // The second part is the name of a probe, a line or a patch group, or of a field.
    let has_third = |path: &str| {
        let is_named = !path.starts_with("fields.");
        path.split('.').enumerate().any(|(k, part)| !(is_named && k == 1) && is_third(part))
    };
    let expected = file.expected.iter().flat_map(|expected| &expected.get_ref().0);
    let expected = expected.filter(|(path, _)| has_third(path.get_ref()));
    let expected = expected.map(|(path, _)| {
        let message = format!("the result has no `{}`: {is_2d}", path.get_ref());
        Problem::at(path.span(), message)
    });
    formulas.chain(slice).chain(directions).chain(expected).collect()
}

impl Case {
    /// Pairs of patches that are periodic with each other, each pair once.
    pub fn periodic_pairs(&self) -> Vec<[&str; 2]> {
        let mut pairs: Vec<[&str; 2]> = vec![];
        for [patch, other] in &self.places.periodic {
            if !pairs.contains(&[other.as_str(), patch.as_str()]) {
                pairs.push([patch, other]);
            }
        }
        pairs
    }
}

impl Places {
    pub(super) fn new(
        file: &CaseFile,
        equation: &dyn EquationSection,
        source: &Source,
        needs: Needs,
    ) -> Self {
        let boundary = file.boundary.as_ref();
        let output = || file.output.iter().map(Spanned::get_ref);
        let groups = output().flat_map(|output| output.patch.iter().flatten());
        let groups = groups.flat_map(|group| &group.get_ref().patches);
        let surfaces = output().flat_map(|output| output.surface.iter().flatten());
        let surfaces = surfaces.flat_map(|surface| &surface.get_ref().patches);
        let grouped = groups.chain(surfaces).flat_map(Spanned::get_ref);
        let patches = boundary.iter().flat_map(|file| &file.get_ref().0);
        let boundary_file = boundary.map(Spanned::get_ref);
        let implied = boundary_file.into_iter().flat_map(flow_boundary::partners_without_entry);
        let implied = implied.map(|(_, other)| text_and_span(&other));
        let mut regions = equation.regions();
        let frozen = file.adapt.iter().flat_map(|adapt| adapt.get_ref().frozen());
        regions.named.extend(frozen.map(text_and_span));
        Places {
            source: source.clone(),
            boundary: boundary.map_or(0..0, Spanned::span),
            kind: equation.descriptor().any_condition,
            patches: patches.map(|(patch, _)| text_and_span(patch)).chain(implied).collect(),
            periodic: boundary_file.into_iter().flat_map(flow_boundary::periodic_pairs).collect(),
            grouped_patches: grouped.map(text_and_span).collect(),
            regions,
            only_3d: only_3d(file, &needs),
            tables: needs.tables,
        }
    }
}
