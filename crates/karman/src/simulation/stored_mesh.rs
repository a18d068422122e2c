//! The mesh of an adapted run in its checkpoints.

use super::{SimulationError, state_error};
use crate::case::Case;
use crate::io::checkpoint::{Checkpoint, CheckpointError, NamedArray};
use crate::mesh::{CellShape, Elements, Mesh, MeshOptions, RawMesh};
use crate::mesh_source::MeshSourceError;

/// The array whose presence says that a checkpoint has a mesh.
const POINTS: &str = "mesh.points";

/// Whether a checkpoint has a mesh.
pub(super) fn is_in(checkpoint: &Checkpoint) -> bool {
    checkpoint.has_array(POINTS)
}

/// Adds a mesh: `mesh.points` `[n_nodes][3]`, nodes and groups of `mesh.cells` and `mesh.boundary`, the numbers of nodes of each element
/// where not all are simplices, and the names of the groups.
pub(super) fn insert(checkpoint: &mut Checkpoint, mesh: &Mesh) -> Result<(), CheckpointError> {
    let raw = mesh.to_raw();
    checkpoint.insert(NamedArray::reals(POINTS, raw.points.concat()));
    for (name, elements) in [("cells", &raw.cells), ("boundary", &raw.boundary)] {
        checkpoint.insert(NamedArray::indices(format!("mesh.{name}"), elements.nodes.clone()));
        let groups = NamedArray::indices(format!("mesh.{name}.groups"), elements.groups.clone());
        checkpoint.insert(groups);
        let sizes: Vec<u32> =
            elements.shapes.iter().map(|shape| shape.node_count() as u32).collect();
        let simplex = if name == "cells" { raw.dimension + 1 } else { raw.dimension };
        if sizes.iter().any(|&size| size as usize != simplex) {
            checkpoint.insert(NamedArray::indices(format!("mesh.{name}.sizes"), sizes));
        }
    }
    checkpoint.set("mesh.dimension", raw.dimension);
    for (name, list) in [("regions", &raw.regions), ("patches", &raw.patches)] {
        let text = serde_json::to_string(list).map_err(state_error)?;
        checkpoint.set(&format!("mesh.{name}"), text);
    }
    Ok(())
}

/// The mesh of a checkpoint, none where it is that of the case.
///
/// # Errors
/// [`CheckpointError`] where arrays or names are missing or do not fit each other.
pub(super) fn read(checkpoint: &Checkpoint) -> Result<Option<RawMesh>, CheckpointError> {
    if !is_in(checkpoint) {
        return Ok(None);
    }
    let unusable = |reason: String| CheckpointError::Unusable { name: "mesh".to_owned(), reason };
    let length = |name: &str| checkpoint.array(name).map(|array| array.shape.clone());
    let coordinates = checkpoint.reals(POINTS, &length(POINTS)?)?;
    let points: Vec<[f64; 3]> = coordinates.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    let dimension: usize = match checkpoint.entry("mesh.dimension")? {
        "2" => 2,
        "3" => 3,
        other => return Err(unusable(format!("its dimension is `{other}`"))),
    };
    let names = |name: &str| -> Result<Vec<String>, CheckpointError> {
        let text = checkpoint.entry(&format!("mesh.{name}"))?;
        serde_json::from_str(text).map_err(|error| unusable(format!("its {name}: {error}")))
    };
    let elements = |name: &str, shapes: &[CellShape], n_groups: usize| {
        let (nodes_name, groups_name) = (format!("mesh.{name}"), format!("mesh.{name}.groups"));
        let groups = checkpoint.indices(&groups_name, &length(&groups_name)?)?;
        let sizes_name = format!("mesh.{name}.sizes");
        let shape_of = |size: u32| {
            let shape = shapes.iter().find(|shape| shape.node_count() == size as usize);
            shape
                .copied()
                .ok_or_else(|| unusable(format!("`{sizes_name}` has an element of {size} nodes")))
        };
        let shapes: Vec<CellShape> = match checkpoint.has_array(&sizes_name) {
            true => {
                let sizes = checkpoint.indices(&sizes_name, &[groups.len()])?;
                sizes.iter().map(|&size| shape_of(size)).collect::<Result<_, _>>()?
            }
            false => vec![shapes[0]; groups.len()],
        };
        let size = shapes.iter().map(|shape| shape.node_count()).sum();
        let nodes = checkpoint.indices(&nodes_name, &[size])?;
        if nodes.iter().any(|&node| node as usize >= points.len()) {
            return Err(unusable(format!("`{nodes_name}` names a node that is not there")));
        }
        if groups.iter().any(|&group| group as usize >= n_groups) {
            return Err(unusable(format!("`{groups_name}` names a group that is not there")));
        }
        let (mut elements, mut rest) = (Elements::new(), nodes);
        for (&shape, &group) in shapes.iter().zip(groups) {
            let (own, others) = rest.split_at(shape.node_count());
            elements.push(shape, own, group);
            rest = others;
        }
        Ok(elements)
    };
    let (regions, patches) = (names("regions")?, names("patches")?);
    // The simplex first.
    let (cell, face): (&[CellShape], &[CellShape]) = match dimension {
        2 => (&[CellShape::Triangle, CellShape::Quadrilateral], &[CellShape::Segment]),
        _ => (
            &[CellShape::Tetrahedron, CellShape::Pyramid, CellShape::Prism, CellShape::Hexahedron],
            &[CellShape::Triangle, CellShape::Quadrilateral],
        ),
    };
    let cells = elements("cells", cell, regions.len())?;
    let boundary = elements("boundary", face, patches.len())?;
    Ok(Some(RawMesh { dimension, points, cells, boundary, regions, patches }))
}

/// The mesh of a run: of a restart after an adaptation that of the checkpoint.
pub(super) fn mesh_of(
    case: &Case,
    checkpoint: Option<&Checkpoint>,
) -> Result<Mesh, SimulationError> {
    let stored = checkpoint.map(read).transpose()?.flatten();
    let Some(raw) = stored else { return Ok(crate::mesh_source::mesh(&case.mesh)?) };
    let options = MeshOptions { scale: 1.0, ..crate::mesh_source::options(&case.mesh) };
    Ok(Mesh::new(raw, &options).map_err(MeshSourceError::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::MeshOptions;
    use crate::mesh::testing::gmsh;

    fn stored(name: &str) -> (Mesh, Checkpoint) {
        let mesh = Mesh::new(gmsh(name), &MeshOptions::default()).unwrap();
        let mut checkpoint = Checkpoint::new();
        insert(&mut checkpoint, &mesh).unwrap();
        (mesh, checkpoint)
    }

    #[test]
    fn the_mesh_read_is_the_mesh_stored() {
        for name in ["two_boxes", "triangles_coarse", "airfoil", "cube_prism_coarse"] {
            let (mesh, checkpoint) = stored(name);
            let raw = read(&checkpoint).unwrap().unwrap();
            assert_eq!(Mesh::new(raw, &MeshOptions::default()).unwrap(), mesh, "{name}");
        }
        assert_eq!(read(&Checkpoint::new()).unwrap(), None);
    }

    #[test]
    fn damaged_meshes_are_refused() {
        let refused = |damage: &dyn Fn(&mut Checkpoint)| {
            let (_, mut checkpoint) = stored("triangles_coarse");
            damage(&mut checkpoint);
            read(&checkpoint).unwrap_err().to_string()
        };
        let said = refused(&|checkpoint| checkpoint.set("mesh.dimension", 5));
        assert_eq!(said, "the checkpoint's `mesh` cannot be used: its dimension is `5`");
        let said = refused(&|checkpoint| checkpoint.set("mesh.patches", "none"));
        assert!(said.contains("its patches: "), "{said}");
        let said = refused(&|checkpoint| checkpoint.set("mesh.regions", "[]"));
        assert!(said.ends_with("`mesh.cells.groups` names a group that is not there"), "{said}");
        let said = refused(&|checkpoint| {
            checkpoint.insert(NamedArray::indices("mesh.cells", vec![1_000_000; 3]));
            checkpoint.insert(NamedArray::indices("mesh.cells.groups", vec![0]));
        });
        assert!(said.ends_with("`mesh.cells` names a node that is not there"), "{said}");
        let said = refused(&|checkpoint| {
            let cells = checkpoint.array("mesh.cells.groups").unwrap().shape[0];
            checkpoint.insert(NamedArray::indices("mesh.cells.sizes", vec![7; cells]));
        });
        assert!(said.ends_with("`mesh.cells.sizes` has an element of 7 nodes"), "{said}");
        let said = refused(&|checkpoint| {
            checkpoint.insert(NamedArray::indices("mesh.cells", vec![0; 4]));
        });
        assert!(said.starts_with("the checkpoint's array `mesh.cells` is "), "{said}");
    }
}
