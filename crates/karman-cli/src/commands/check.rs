//! `karman check`

use crate::console;
use crate::failure::Failure;
use karman::case::{Case, CaseError, Diagnostic, Equation};
use karman::mesh::{Geometry, Mesh};
use karman::mesh_source;
use karman::monitor::Sampler;
use serde::Serialize;
use std::path::Path;

/// What `karman check --json` prints.
#[derive(Default, Serialize)]
struct CheckReport {
    ok: bool,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// A fault and its place, where it has one.
#[derive(Serialize)]
struct Finding {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    notes: Vec<String>,
}

impl Finding {
    fn plain(message: impl ToString) -> Finding {
        Finding { message: message.to_string(), line: None, column: None, notes: vec![] }
    }

    fn at_place(diagnostic: &Diagnostic) -> Finding {
        Finding {
            message: diagnostic.message.clone(),
            line: Some(diagnostic.line),
            column: Some(diagnostic.column),
            notes: diagnostic.notes.clone(),
        }
    }

    fn of_case(error: &CaseError) -> Vec<Finding> {
        match error.diagnostics() {
            [] => vec![Finding::plain(error)],
            diagnostics => diagnostics.iter().map(Finding::at_place).collect(),
        }
    }
}

pub(crate) fn run(path: &Path, json: bool) -> Result<(), Failure> {
    let checked = check(path);
    if json {
        let report = match &checked {
            Ok((case, mesh)) => CheckReport {
                ok: true,
                errors: vec![],
                warnings: (case.warnings.iter().map(Finding::at_place))
                    .chain(mesh.warnings.iter().map(Finding::plain))
                    .collect(),
            },
            Err(Fault::Case(error)) => {
                CheckReport { errors: Finding::of_case(error), ..CheckReport::default() }
            }
            Err(Fault::Other(message)) => {
                CheckReport { errors: vec![Finding::plain(message)], ..CheckReport::default() }
            }
        };
        console::print_json(&report)?;
    }
    let (case, mesh) = checked.map_err(|fault| match fault {
        Fault::Case(error) => Failure::input(error),
        Fault::Other(message) => Failure::Input(message),
    })?;
    if json {
        return Ok(());
    }
    case.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    mesh.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let equation = match case.equation {
        Equation::Heat(_) => "heat conduction",
        Equation::Incompressible(_) => "incompressible flow",
    };
    let kind = if case.is_steady() { "steady" } else { "in time" };
    console::print(&format!(
        "{} is in order: {equation}, {kind}, {} cells",
        path.display(),
        mesh.n_cells()
    ))
}

/// What is wrong with a case: with the text, or with what it refers to.
enum Fault {
    Case(CaseError),
    Other(String),
}

impl Fault {
    fn other(error: impl ToString) -> Fault {
        Fault::Other(error.to_string())
    }
}

/// Everything that can be found out without solving.
fn check(path: &Path) -> Result<(Case, Mesh), Fault> {
    let case = Case::read(path).map_err(Fault::Case)?;
    let raw = mesh_source::raw_mesh(&case.mesh).map_err(Fault::other)?;
    case.check_patches(&raw.patches).map_err(Fault::Case)?;
    case.check_regions(&raw.regions).map_err(Fault::Case)?;
    let mesh = Mesh::new(raw, &mesh_source::options(&case.mesh)).map_err(Fault::other)?;
    let mesh = mesh.join_periodic(&case.periodic_pairs()).map_err(Fault::other)?;
    Geometry::new(&mesh).map_err(Fault::other)?;
    let probes = &case.output.probes;
    let names: Vec<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
    let points: Vec<[f64; 3]> = probes.iter().map(|probe| probe.at).collect();
    let sampler = Sampler::of_nodes(&mesh, &points);
    sampler.require_inside(&mesh, &names, &points).map_err(Fault::other)?;
    Ok((case, mesh))
}
