//! Patches and regions named in a case: their places in the text, and their check against the mesh.

use super::CaseFile;
use super::equation::EquationSection;
use super::error::{Problem, Source};
use super::{Case, CaseError, boundary, flow_boundary};
use std::ops::Range;
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
}

/// The regions that the section of an equation names.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionNames {
    /// Their names, each with its place.
    pub(crate) named: Vec<(String, Range<usize>)>,
    /// Quantities given as `{ region = number }`, which must cover all regions: key, place and the regions they name.
    pub(crate) by_region: Vec<(&'static str, Range<usize>, Vec<String>)>,
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
    pub(super) fn new(file: &CaseFile, equation: &dyn EquationSection, source: &Source) -> Self {
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
        Places {
            source: source.clone(),
            boundary: boundary.map_or(0..0, Spanned::span),
            kind: equation.descriptor().any_condition,
            patches: patches.map(|(patch, _)| text_and_span(patch)).chain(implied).collect(),
            periodic: boundary_file.into_iter().flat_map(flow_boundary::periodic_pairs).collect(),
            grouped_patches: grouped.map(text_and_span).collect(),
            regions: equation.regions(),
        }
    }
}

pub(super) fn text_and_span(name: &Spanned<String>) -> (String, Range<usize>) {
    (name.get_ref().clone(), name.span())
}
