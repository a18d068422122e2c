//! `karman adapt --smooth-only --rule RULE`: sweeps over the colours of the vertices.

use crate::arguments::SmoothingArguments;
use crate::console;
use crate::failure::Failure;
use karman::backend::Backend;
use karman::mesh::Mesh;
use karman::mesh::files::write_mesh;
use karman_adapt::{
    MetricField, MetricLookup, SmoothOptions, Smoothed, Smoother, smooth_by_colours,
};
use serde_json::json;
use std::path::Path;

/// The mesh to smooth and where it goes.
pub(super) struct Smoothing<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) field: &'a dyn MetricField,
    pub(super) ridge_angle_deg: f64,
    pub(super) output: &'a Path,
    /// Host threads; 0: one for each processor.
    pub(super) threads: usize,
    pub(super) json: bool,
    pub(super) quiet: bool,
}

pub(super) fn run(
    of: &Smoothing<'_>,
    rule: Smoother,
    arguments: &SmoothingArguments,
) -> Result<(), Failure> {
    let backend = Backend::new(arguments.backend, of.threads).map_err(Failure::input)?;
    let lookup = match (arguments.metric_lookup, arguments.grid_tolerance) {
        (MetricLookup::Grid { most_nodes, .. }, Some(tolerance)) => {
            MetricLookup::Grid { tolerance, most_nodes }
        }
        (MetricLookup::Walk, Some(_)) => {
            let message = "--grid-tolerance is for --metric-lookup grid";
            return Err(Failure::Input(message.to_owned()));
        }
        (lookup, None) => lookup,
    };
    let options = SmoothOptions {
        smoother: rule,
        lookup,
        sweeps: arguments.sweeps,
        ridge_angle_deg: of.ridge_angle_deg,
        ..SmoothOptions::default()
    };
    let smoothed = smooth_by_colours(&backend, of.mesh, of.field, &options);
    let Smoothed { mesh, before, after, report } = smoothed.map_err(Failure::input)?;
    write_mesh(of.output, &mesh).map_err(Failure::input)?;
    if of.json {
        let backend = backend.kind().word();
        return console::print_json(&json!({
            "before": before, "after": after, "rule": rule.word(), "metric_lookup": lookup.word(),
            "backend": backend, "smoothing": report,
        }));
    }
    let output = of.output.display();
    let text = format!("before: {before}\nafter: {after}\n{report}\nwritten to {output}");
    console::tell(of.quiet, &text)
}
