//! Metrics of fields in files: tensors at nodes, or second derivatives of a scalar.

use crate::arguments::AdaptArguments;
use crate::failure::Failure;
use karman::mesh::Mesh;
use karman::mesh::files::{FieldLocation, read_mesh_with_fields};
use karman_adapt::{
    FieldSamples, HessianOptions, Metric, MetricField, NodalMetric, limit_gradation,
    mesh_of_result, metric_of_field, metrics_of_file,
};
use std::path::Path;

/// The file and the name of a field.
fn file_and_name<'a>(
    option: &str,
    text: &'a str,
    example: &str,
) -> Result<(&'a Path, &'a str), Failure> {
    let parts = text.rsplit_once(':').map(|(path, name)| (Path::new(path), name));
    parts.ok_or_else(|| {
        Failure::Input(format!("{option} \"{text}\": FILE:NAME is needed, as in {example}"))
    })
}

/// Limits the growth of sizes over the edges of a mesh where the options or else `default` ask for it.
fn limited(
    arguments: &AdaptArguments,
    mesh: &Mesh,
    mut metrics: Vec<Metric>,
    default: f64,
) -> Result<Box<dyn MetricField>, Failure> {
    let gradation = arguments.gradation.unwrap_or(default);
    if gradation > 0.0 {
        limit_gradation(mesh, &mut metrics, gradation).map_err(Failure::input)?;
    }
    Ok(Box::new(NodalMetric::new(mesh, &metrics)))
}

/// The metric of a field of tensors at the nodes of a file.
pub(super) fn metric_of_file(
    arguments: &AdaptArguments,
    dimension: usize,
) -> Result<Box<dyn MetricField>, Failure> {
    let text = arguments.metric_file.as_deref().unwrap_or_default();
    let (path, name) = file_and_name("--metric-file", text, "metric.vtu:metric")?;
    let (mesh, metrics) = metrics_of_file(path, name, dimension).map_err(Failure::input)?;
    limited(arguments, &mesh, metrics, 0.0)
}

/// The metric of the second derivatives of a field of a result.
pub(super) fn metric_of_derivatives(
    arguments: &AdaptArguments,
    dimension: usize,
) -> Result<Box<dyn MetricField>, Failure> {
    let text = arguments.field.as_deref().unwrap_or_default();
    let (path, name) = file_and_name("--field", text, "fields_0001.vtu:temperature")?;
    let read = read_mesh_with_fields(path).map_err(Failure::input)?;
    let (location, values) = read.scalar(path, name).map_err(Failure::input)?;
    let mesh = mesh_of_result(path, read.mesh, dimension).map_err(Failure::input)?;
    let order = match location {
        FieldLocation::Cells => &mesh.original_cell,
        FieldLocation::Nodes => &mesh.original_node,
    };
    let values: Vec<f64> = order.iter().map(|&own| values[own as usize]).collect();
    let samples = match location {
        FieldLocation::Cells => FieldSamples::Cells(&values),
        FieldLocation::Nodes => FieldSamples::Nodes(&values),
    };
    let [h_min, h_max] = HessianOptions::size_bounds(&mesh, arguments.h_min, arguments.h_max);
    let options = HessianOptions {
        norm: arguments.norm,
        complexity: arguments.complexity.unwrap_or_default(),
        h_min,
        h_max,
        anisotropy: arguments.anisotropy,
    };
    let metrics = metric_of_field(&mesh, samples, &options).map_err(Failure::input)?;
    limited(arguments, &mesh, metrics, 1.5)
}
