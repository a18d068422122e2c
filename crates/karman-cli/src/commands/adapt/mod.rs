//! `karman adapt`

mod fields;
mod prescription;
mod smoothing;

use crate::arguments::AdaptArguments;
use crate::console;
use crate::failure::Failure;
use karman::backend::Backend;
use karman::mesh::files::{read_mesh, write_mesh};
use karman::mesh::{Mesh, MeshOptions, RawMesh};
use karman_adapt::{AdaptOptions, Adapted, MetricField, adapt_around_frozen};
use serde_json::json;
use smoothing::Smoothing;

pub(crate) fn run(arguments: &AdaptArguments, quiet: bool) -> Result<(), Failure> {
    let mut mesh = build(read_mesh(&arguments.input).map_err(Failure::input)?)?;
    let field = prescription::prescribed(arguments, &mesh)?;
    if let Some(rule) = arguments.smoothing.rule {
        let smoothing = Smoothing {
            mesh: &mesh,
            field: field.as_ref(),
            ridge_angle_deg: arguments.ridge_angle,
            output: &arguments.output,
            threads: arguments.threads,
            json: arguments.json,
            quiet,
        };
        return smoothing::run(&smoothing, rule, &arguments.smoothing);
    }
    let options = AdaptOptions {
        ridge_angle_deg: arguments.ridge_angle,
        smooth_only: arguments.smooth_only,
        lengths: arguments.lengths,
        ..AdaptOptions::default()
    };
    let host = Backend::host(arguments.threads).map_err(Failure::input)?;
    let (before, Adapted { mesh, after, .. }) = host.install(|| -> Result<_, Failure> {
        let mut first = None;
        for _ in 1..arguments.cycles {
            let adapted = adapted(arguments, &mesh, field.as_ref(), &options)?;
            first.get_or_insert(adapted.before);
            mesh = build(adapted.mesh)?;
        }
        let last = adapted(arguments, &mesh, field.as_ref(), &options)?;
        Ok((first.unwrap_or_else(|| last.before.clone()), last))
    })?;
    write_mesh(&arguments.output, &mesh).map_err(Failure::input)?;
    if arguments.json {
        return console::print_json(
            &json!({ "before": before, "after": after, "cycles": arguments.cycles }),
        );
    }
    let output = arguments.output.display();
    console::tell(quiet, &format!("before: {before}\nafter: {after}\nwritten to {output}"))
}

/// One cycle.
fn adapted(
    arguments: &AdaptArguments,
    mesh: &Mesh,
    field: &dyn MetricField,
    options: &AdaptOptions,
) -> Result<Adapted, Failure> {
    let frozen = frozen(arguments, mesh)?;
    adapt_around_frozen(mesh, field, options, &frozen).map_err(Failure::input)
}

fn build(raw: RawMesh) -> Result<Mesh, Failure> {
    Mesh::new(raw, &MeshOptions::default()).map_err(Failure::input)
}

/// Whether each cell of the mesh is in a region that stays as it is.
fn frozen(arguments: &AdaptArguments, mesh: &Mesh) -> Result<Vec<bool>, Failure> {
    if let Some(unknown) = arguments.freeze.iter().find(|name| !mesh.regions.contains(name)) {
        let known = mesh.regions.join(", ");
        let message = format!("--freeze: there is no region `{unknown}`; the mesh has: {known}");
        return Err(Failure::Input(message));
    }
    let is_frozen = |&group: &u32| arguments.freeze.contains(&mesh.regions[group as usize]);
    Ok(mesh.cells.groups.iter().map(is_frozen).collect())
}
