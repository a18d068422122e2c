//! Metrics of fields in files: tensors at nodes, or second derivatives of a scalar.

use super::build;
use crate::arguments::AdaptArguments;
use crate::failure::Failure;
use karman::mesh::Mesh;
use karman::mesh::files::{FieldLocation, MeshWithFields, read_mesh_with_fields};
use karman_adapt::{
    FieldSamples, HessianOptions, Metric, MetricField, NodalMetric, limit_gradation,
    metric_of_field, metrics_of_tensors,
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

fn read(path: &Path) -> Result<MeshWithFields, Failure> {
    read_mesh_with_fields(path).map_err(Failure::input)
}

/// The mesh of a file of results, which has no boundary elements.
fn mesh_of(path: &Path, read: MeshWithFields, dimension: usize) -> Result<Mesh, Failure> {
    let mut raw = read.mesh;
    if raw.dimension != dimension {
        let (path, own) = (path.display(), raw.dimension);
        let message = format!("the mesh of {path} is {own}D, the mesh to adapt {dimension}D");
        return Err(Failure::Input(message));
    }
    raw.close_boundary("boundary");
    build(raw)
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
    let read = read(path)?;
    let (location, field) = read.field(path, name).map_err(Failure::input)?;
    if location == FieldLocation::Cells {
        let path = path.display();
        let message = format!("{path}: `{name}` has values in cells; a metric has values at nodes");
        return Err(Failure::Input(message));
    }
    let field = field.clone();
    let mesh = mesh_of(path, read, dimension)?;
    let components: Vec<Vec<f64>> = (0..field.components)
        .map(|k| {
            let values = field.component(k);
            mesh.original_node.iter().map(|&own| values[own as usize]).collect()
        })
        .collect();
    let components: Vec<&[f64]> = components.iter().map(Vec::as_slice).collect();
    let metrics = metrics_of_tensors(&mesh, &components)
        .map_err(|error| Failure::Input(format!("{}, `{name}`: {error}", path.display())))?;
    limited(arguments, &mesh, metrics, 0.0)
}

/// The metric of the second derivatives of a field of a result.
pub(super) fn metric_of_derivatives(
    arguments: &AdaptArguments,
    dimension: usize,
) -> Result<Box<dyn MetricField>, Failure> {
    let text = arguments.field.as_deref().unwrap_or_default();
    let (path, name) = file_and_name("--field", text, "fields_0001.vtu:temperature")?;
    let read = read(path)?;
    let (location, values) = read.scalar(path, name).map_err(Failure::input)?;
    let mesh = mesh_of(path, read, dimension)?;
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
