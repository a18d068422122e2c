//! `karman mesh`

mod parts;

use crate::arguments::{GenerateArguments, GmshForm, MeshCommand};
use crate::console;
use crate::failure::Failure;
use karman::case::{CaseError, MeshCase, MeshSource};
use karman::mesh::files::gmsh::{self, GmshFormat};
use karman::mesh::files::{read_mesh, write_mesh};
use karman::mesh::{Mesh, MeshOptions, MeshReport, RawMesh, Renumbering};
use karman::mesh_source;
use karman::summary::{MeshSummary, NamedList};
use serde::Serialize;
use std::path::Path;

pub(crate) fn run(command: &MeshCommand, quiet: bool) -> Result<(), Failure> {
    match command {
        MeshCommand::Info { file, json } => info(file, *json),
        MeshCommand::Check { file, json } => check(file, *json, quiet),
        MeshCommand::Parts { file, count, json } => parts::print(file, *count as usize, *json),
        MeshCommand::Convert { input, output, gmsh } => {
            let (raw, _) = load(input)?;
            write(output, &raw, *gmsh, quiet)
        }
        MeshCommand::Generate(arguments) => generate(arguments, quiet),
    }
}

/// The output of `karman mesh info`.
#[derive(Serialize)]
struct MeshInfo {
    #[serde(flatten)]
    counts: MeshSummary,
    /// Cells of each region.
    regions: NamedList<usize>,
    /// Lowest and highest coordinates.
    bounds: [[f64; 3]; 2],
    warnings: Vec<String>,
}

/// The mesh of a file, or of the case in a TOML file, and the options to build it with.
fn load(path: &Path) -> Result<(RawMesh, MeshOptions), Failure> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        let case = mesh_case(path)?;
        let raw = mesh_source::raw_mesh(&case).map_err(Failure::input)?;
        return Ok((raw, mesh_source::options(&case)));
    }
    let options = MeshOptions { renumber: Renumbering::None, ..MeshOptions::default() };
    Ok((read_mesh(path).map_err(Failure::input)?, options))
}

fn mesh_case(path: &Path) -> Result<MeshCase, Failure> {
    let text = std::fs::read_to_string(path).map_err(|source| {
        Failure::input(CaseError::Unreadable { path: path.to_owned(), source })
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    MeshCase::parse(&text, folder, &path.display().to_string()).map_err(Failure::input)
}

fn info(path: &Path, json: bool) -> Result<(), Failure> {
    let (raw, options) = load(path)?;
    let mesh = Mesh::new(raw, &options).map_err(Failure::input)?;
    let info = describe(&mesh);
    if json {
        return console::print_json(&info);
    }
    info.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    console::print(&table(&info))
}

fn describe(mesh: &Mesh) -> MeshInfo {
    let mut regions: NamedList<usize> = mesh.regions.iter().map(|name| (name, 0)).collect();
    for (index, name) in mesh.regions.iter().enumerate() {
        let cells = mesh.cells.groups.iter().filter(|group| **group as usize == index);
        regions.set(name, cells.count());
    }
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for point in &mesh.points {
        bounds[0] = [0, 1, 2].map(|axis| bounds[0][axis].min(point[axis]));
        bounds[1] = [0, 1, 2].map(|axis| bounds[1][axis].max(point[axis]));
    }
    let warnings = mesh.warnings.iter().map(ToString::to_string).collect();
    MeshInfo { counts: MeshSummary::of(mesh), regions, bounds, warnings }
}

fn table(info: &MeshInfo) -> String {
    let list = |entries: &NamedList<usize>| {
        let entries: Vec<String> =
            entries.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        if entries.is_empty() { "none".to_owned() } else { entries.join(", ") }
    };
    let counts = &info.counts;
    let [low, high] = info.bounds;
    [
        format!("dimension  {}", counts.dimension),
        format!("nodes      {}", counts.nodes),
        format!("edges      {}", counts.edges),
        format!("faces      {}", counts.faces),
        format!("cells      {}", counts.cells),
        format!("elements   {}", list(&counts.by_element)),
        format!("regions    {}", list(&info.regions)),
        format!("patches    {}", list(&counts.patches)),
        format!("from       {:?}", low),
        format!("to         {:?}", high),
    ]
    .join("\n")
}

/// Prints the report of a mesh, also of an invalid one, whose fault is then the failure; with `quiet` its warnings alone.
fn check(path: &Path, json: bool, quiet: bool) -> Result<(), Failure> {
    let (raw, options) = load(path)?;
    let report = MeshReport::new(&raw, &options);
    match (json, quiet) {
        (true, _) => console::print_json(&report)?,
        (false, true) => report.warnings.iter().for_each(|warning| tracing::warn!("{warning}")),
        (false, false) => console::print(report.to_string().trim_end())?,
    }
    match report.error {
        Some(error) => Err(Failure::Input(error)),
        None => Ok(()),
    }
}

fn generate(arguments: &GenerateArguments, quiet: bool) -> Result<(), Failure> {
    let case = if arguments.what.ends_with(".toml") {
        if let [(key, _), ..] = arguments.keys()[..] {
            let option = key.replace('_', "-");
            let message = format!("--{option} does not go with a file; change it in the file");
            return Err(Failure::Input(message));
        }
        mesh_case(Path::new(&arguments.what))?
    } else {
        let text = generator_text(&arguments.what, &arguments.keys());
        let parsed = MeshCase::parse(&text, Path::new(""), "the options, as a case file");
        parsed.map_err(Failure::input)?
    };
    if let MeshSource::File(file) = &case.source {
        let message = format!("{} names the file {}, no generator", arguments.what, file.display());
        return Err(Failure::Input(message));
    }
    let mut raw = mesh_source::raw_mesh(&case).map_err(Failure::input)?;
    raw.points.iter_mut().flatten().for_each(|coordinate| *coordinate *= case.scale);
    write(&arguments.output, &raw, GmshForm::Ascii22, quiet)
}

/// The section of a case file equivalent to the options.
fn generator_text(generator: &str, keys: &[(&str, &str)]) -> String {
    let mut text = format!("[mesh.generate.{generator}]\n");
    let is_box = generator == "box" || generator == "box_with_obstacle";
    let given = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    if let (true, None, Some(cells)) = (is_box, given("size"), given("cells")) {
        let ones = vec!["1.0"; cells.split(',').count()].join(", ");
        text += &format!("size = [{ones}]\n");
    }
    for (key, value) in keys {
        let list = matches!(
            *key,
            "origin"
                | "size"
                | "cells"
                | "grading"
                | "wall_grading"
                | "obstacle_min"
                | "obstacle_max"
                | "centre"
        );
        let value = match (*key, list) {
            ("element", _) => format!("{value:?}"),
            (_, true) => format!("[{value}]"),
            _ => (*value).to_owned(),
        };
        text += &format!("{key} = {value}\n");
    }
    text
}

fn write(path: &Path, mesh: &RawMesh, form: GmshForm, quiet: bool) -> Result<(), Failure> {
    let is_gmsh = path.extension().is_some_and(|extension| extension == "msh");
    let written = if is_gmsh {
        let format = match form {
            GmshForm::Ascii22 => GmshFormat::Ascii22,
            GmshForm::Binary22 => GmshFormat::Binary22,
            GmshForm::Ascii41 => GmshFormat::Ascii41,
            GmshForm::Binary41 => GmshFormat::Binary41,
        };
        gmsh::write(path, mesh, format)
    } else {
        write_mesh(path, mesh)
    };
    written.map_err(Failure::input)?;
    let (cells, nodes, boundary) = (mesh.cells.len(), mesh.points.len(), mesh.boundary.len());
    let path = path.display();
    let text = format!("wrote {path}: {cells} cells, {nodes} nodes, {boundary} boundary elements");
    console::tell(quiet, &text)
}
