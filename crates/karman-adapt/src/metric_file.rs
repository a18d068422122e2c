//! Metrics of a field of tensors at the nodes of a file of results.

use crate::error::AdaptError;
use crate::metric::Metric;
use crate::tensor_field::metrics_of_tensors;
use karman_mesh::files::{FieldLocation, read_mesh_with_fields};
use karman_mesh::{Mesh, MeshOptions, RawMesh};
use std::path::Path;

/// The mesh of a file of results, which has no boundary elements, for the adaptation of a mesh of `dimension`.
///
/// # Errors
/// [`AdaptError::OtherDimension`]; [`AdaptError::Mesh`] of a mesh that is invalid.
pub fn mesh_of_result(path: &Path, mut raw: RawMesh, dimension: usize) -> Result<Mesh, AdaptError> {
    if raw.dimension != dimension {
        let (path, found) = (path.to_owned(), raw.dimension);
        return Err(AdaptError::OtherDimension { path, found, dimension });
    }
    raw.close_boundary("boundary");
    Ok(Mesh::new(raw, &MeshOptions::default())?)
}

/// The field `name` of tensors at the nodes of a VTU or VTK file as metrics, one for each node of its mesh, which is returned with
/// them. Components are those of [`metrics_of_tensors`].
///
/// # Errors
/// [`AdaptError::File`]; [`AdaptError::OtherDimension`]; [`AdaptError::InCells`] of a field of cells; [`AdaptError::Tensors`] of tensors
/// that are no metrics.
pub fn metrics_of_file(
    path: &Path,
    name: &str,
    dimension: usize,
) -> Result<(Mesh, Vec<Metric>), AdaptError> {
    let read = read_mesh_with_fields(path)?;
    let (location, field) = read.field(path, name)?;
    if location == FieldLocation::Cells {
        let (path, name) = (path.to_owned(), name.to_owned());
        return Err(AdaptError::InCells { path, name });
    }
    let field = field.clone();
    let mesh = mesh_of_result(path, read.mesh, dimension)?;
    let components: Vec<Vec<f64>> = (0..field.components)
        .map(|k| {
            let values = field.component(k);
            mesh.original_node.iter().map(|&own| values[own as usize]).collect()
        })
        .collect();
    let components: Vec<&[f64]> = components.iter().map(Vec::as_slice).collect();
    let metrics = metrics_of_tensors(&mesh, &components).map_err(|error| {
        let (path, name) = (path.to_owned(), name.to_owned());
        AdaptError::Tensors { path, name, reason: Box::new(error) }
    })?;
    Ok((mesh, metrics))
}
