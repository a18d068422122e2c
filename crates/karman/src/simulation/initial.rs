//! Initial fields from a result on another mesh, `[initial] from`.

use super::Transfer;
use super::initial_error::InitialError;
use super::location::Location;
use super::prescribed::shared;
use super::setup_of;
use crate::case::{Case, InitialResult, Value};
use crate::finite_volume::{Prescribed, component_major};
use crate::mesh::files::{FieldLocation, pvd, read_mesh_with_fields};
use crate::mesh::{Geometry, Mesh, MeshOptions, Renumbering};
use crate::monitor::MeshInterpolation;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The fields taken from a result, each component with its name.
#[derive(Default)]
pub(super) struct InitialFields(Vec<(&'static str, Arc<dyn Prescribed>)>);

impl InitialFields {
    /// A component, from the result or else as the case gives it.
    pub(super) fn field(&self, component: &str, given: &Value) -> Arc<dyn Prescribed> {
        let found = self.0.iter().find(|(name, _)| *name == component);
        found.map_or_else(|| shared(given), |(_, field)| field.clone())
    }

    /// Reads a result and prepares the interpolation of its fields to the mesh of a case.
    ///
    /// # Errors
    /// [`InitialError`].
    pub(super) fn read(
        case: &Case,
        result: &InitialResult,
        mesh: &Mesh,
        geometry: &Geometry,
    ) -> Result<InitialFields, InitialError> {
        let path = file_of_last_state(&result.path)?;
        let mut read = read_mesh_with_fields(&path)?;
        if read.mesh.dimension != mesh.dimension {
            let (found, expected) = (read.mesh.dimension, mesh.dimension);
            return Err(InitialError::Dimension { path, found, expected });
        }
        let of_nodes = read.node_fields.iter().map(|field| (FieldLocation::Nodes, field));
        let of_cells = read.cell_fields.iter().map(|field| (FieldLocation::Cells, field));
        let all: Vec<_> = of_nodes.chain(of_cells).collect();
        let find = |name: &str| all.iter().find(|(_, field)| field.name == name).copied();
        let missing: Vec<&str> =
            result.fields.iter().copied().filter(|name| find(name).is_none()).collect();
        if !missing.is_empty() {
            let known = all.iter().map(|(_, field)| field.name.clone()).collect();
            return Err(InitialError::NoFields { path, missing, known });
        }
        read.mesh.close_boundary("boundary");
        let options = MeshOptions { renumber: Renumbering::None, ..MeshOptions::default() };
        let failed = |error| InitialError::Mesh { path: path.clone(), reason: Box::new(error) };
        let old = Mesh::new(read.mesh, &options).map_err(failed)?;
        let old_geometry = Geometry::new(&old).map_err(failed)?;
        let interpolation = Arc::new(MeshInterpolation::new(old, old_geometry));
        require_cover(case, &path, &interpolation, (mesh, geometry))?;
        let transfers = [FieldLocation::Cells, FieldLocation::Nodes].map(|location| {
            let from = interpolation.clone();
            Transfer::new(move |values, points| from.values(location, values, points))
        });
        let mut fields = vec![];
        for name in &result.fields {
            let Some((location, array)) = find(name) else { continue };
            let components = components(case, name, mesh.dimension);
            if array.components < components.len() {
                let (found, expected) = (array.components, components.len());
                return Err(InitialError::Components { path, name, found, expected });
            }
            let old = interpolation.mesh();
            let (order, entity, transfer) = match location {
                FieldLocation::Cells => (&old.original_cell, "cell", &transfers[0]),
                FieldLocation::Nodes => (&old.original_node, "node", &transfers[1]),
            };
            for (k, component) in components.into_iter().enumerate() {
                let in_file = array.component(k);
                if let Some(number) = in_file.iter().position(|value| !value.is_finite()) {
                    let value = in_file[number];
                    return Err(InitialError::NotFinite { path, name, value, entity, number });
                }
                let values = order.iter().map(|number| in_file[*number as usize]).collect();
                fields.push((component, transfer.field(values)));
            }
        }
        Ok(InitialFields(fields))
    }
}

/// The last file of a series, or the file itself.
fn file_of_last_state(path: &Path) -> Result<PathBuf, InitialError> {
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("pvd")) {
        return Ok(path.to_owned());
    }
    match pvd::read(path)?.last() {
        Some(entry) => Ok(path.parent().unwrap_or(Path::new("")).join(&entry.file)),
        None => Err(InitialError::Empty { path: path.to_owned() }),
    }
}

/// The names of the components of a field.
fn components(case: &Case, name: &str, dimension: usize) -> Vec<&'static str> {
    let descriptor = case.equation.descriptor();
    let field = descriptor.unknowns.iter().find(|field| field.name == name);
    let components = field.map_or(&[][..], |field| field.components());
    components.iter().copied().take(dimension).collect()
}

/// Refuses a result whose mesh does not reach the unknowns of the case.
fn require_cover(
    case: &Case,
    path: &Path,
    interpolation: &MeshInterpolation,
    (mesh, geometry): (&Mesh, &Geometry),
) -> Result<(), InitialError> {
    let (far, total, what) = match setup_of(case).location() {
        Location::Nodes => {
            (interpolation.far_points(&component_major(&mesh.points)), mesh.n_nodes(), "nodes")
        }
        Location::Cells => {
            (interpolation.far_points(&geometry.cell_centre), mesh.n_cells(), "cell centres")
        }
    };
    let Some(far) = far else { return Ok(()) };
    Err(InitialError::Beyond {
        path: path.to_owned(),
        count: far.count,
        total,
        what,
        point: far.point,
        distance: far.distance,
    })
}
