//! Patches and regions named in a case: their places in the text, and their check against the mesh.

use super::error::{Problem, Source};
use super::file::{CaseFile, EquationFile};
use super::value::QuantityFile;
use super::{Case, CaseError, boundary, flow_boundary, heat};
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
    /// The periodic ones among `patches`.
    periodic: Vec<String>,
    grouped_patches: Vec<(String, Range<usize>)>,
    regions: Vec<(String, Range<usize>)>,
    /// Quantities given as `{ region = number }`: key, place and the regions they name.
    by_region: Vec<(&'static str, Range<usize>, Vec<String>)>,
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
            if places.periodic.contains(patch) {
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

impl Places {
    pub(super) fn new(file: &CaseFile, equation: &EquationFile<'_>, source: &Source) -> Self {
        let boundary = file.boundary.as_ref();
        let output = || file.output.iter().map(Spanned::get_ref);
        let groups = output().flat_map(|output| output.patch.iter().flatten());
        let groups = groups.flat_map(|group| &group.get_ref().patches);
        let surfaces = output().flat_map(|output| output.surface.iter().flatten());
        let surfaces = surfaces.flat_map(|surface| &surface.get_ref().patches);
        let grouped = groups.chain(surfaces).flat_map(Spanned::get_ref);
        let patches = boundary.iter().flat_map(|file| &file.get_ref().0);
        let mut places = Places {
            source: source.clone(),
            boundary: boundary.map_or(0..0, Spanned::span),
            kind: match equation {
                EquationFile::Heat(_) => "insulated",
                EquationFile::Incompressible(_) => "no_slip",
            },
            patches: patches.map(|(patch, _)| text_and_span(patch)).collect(),
            periodic: vec![],
            grouped_patches: grouped.map(text_and_span).collect(),
            regions: Vec::new(),
            by_region: Vec::new(),
        };
        match equation {
            EquationFile::Heat(heat) => places.add_regions(heat.get_ref()),
            EquationFile::Incompressible(_) => {
                let implied = boundary
                    .iter()
                    .flat_map(|file| flow_boundary::partners_without_entry(file.get_ref()));
                places.patches.extend(implied.map(|(_, other)| text_and_span(&other)));
                let pairs =
                    boundary.iter().flat_map(|file| flow_boundary::periodic_pairs(file.get_ref()));
                places.periodic = pairs.flatten().collect();
            }
        }
        places
    }

    fn add_regions(&mut self, keys: &heat::HeatFile) {
        let tables = keys.region.iter().flat_map(|tables| &tables.0).map(|(name, _)| name);
        self.regions.extend(tables.map(text_and_span));
        for (name, quantity) in [
            ("conductivity", &keys.conductivity),
            ("volumetric_heat_capacity", &keys.volumetric_heat_capacity),
            ("density", &keys.density),
            ("specific_heat", &keys.specific_heat),
            ("source", &keys.source),
        ] {
            let Some(quantity) = quantity else { continue };
            if let QuantityFile::Regions(named) = quantity.get_ref() {
                let names = named.0.iter().map(|(name, _)| name);
                self.regions.extend(names.clone().map(text_and_span));
                let covered = names.chain(heat::regions_with(keys, name));
                let covered = covered.map(|region| region.get_ref().clone()).collect();
                // The source of a region left out is 0.
                if name != "source" {
                    self.by_region.push((name, quantity.span(), covered));
                }
            }
        }
    }
}

fn text_and_span(name: &Spanned<String>) -> (String, Range<usize>) {
    (name.get_ref().clone(), name.span())
}
