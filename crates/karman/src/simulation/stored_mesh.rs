//! The mesh of an adapted run in its checkpoints.

use super::state_error;
use crate::io::checkpoint::{Checkpoint, CheckpointError, NamedArray};
use crate::mesh::{CellShape, Elements, Mesh, RawMesh};

/// The array whose presence says that a checkpoint has a mesh.
const POINTS: &str = "mesh.points";

/// Whether a checkpoint has a mesh.
pub(super) fn is_in(checkpoint: &Checkpoint) -> bool {
    checkpoint.has_array(POINTS)
}

/// Adds a mesh of simplices: `mesh.points` `[n_nodes][3]`, nodes and groups of `mesh.cells` and `mesh.boundary`, and the names of the
/// groups.
pub(super) fn insert(checkpoint: &mut Checkpoint, mesh: &Mesh) -> Result<(), CheckpointError> {
    let raw = mesh.to_raw();
    checkpoint.insert(NamedArray::reals(POINTS, raw.points.concat()));
    for (name, elements) in [("cells", &raw.cells), ("boundary", &raw.boundary)] {
        checkpoint.insert(NamedArray::indices(format!("mesh.{name}"), elements.nodes.clone()));
        let groups = NamedArray::indices(format!("mesh.{name}.groups"), elements.groups.clone());
        checkpoint.insert(groups);
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
    let elements = |name: &str, shape: CellShape, size: usize, n_groups: usize| {
        let (nodes_name, groups_name) = (format!("mesh.{name}"), format!("mesh.{name}.groups"));
        let groups = checkpoint.indices(&groups_name, &length(&groups_name)?)?;
        let nodes = checkpoint.indices(&nodes_name, &[size * groups.len()])?;
        if nodes.iter().any(|&node| node as usize >= points.len()) {
            return Err(unusable(format!("`{nodes_name}` names a node that is not there")));
        }
        if groups.iter().any(|&group| group as usize >= n_groups) {
            return Err(unusable(format!("`{groups_name}` names a group that is not there")));
        }
        let mut elements = Elements::new();
        nodes.chunks_exact(size).zip(groups).for_each(|(nodes, &group)| {
            elements.push(shape, nodes, group);
        });
        Ok(elements)
    };
    let (regions, patches) = (names("regions")?, names("patches")?);
    let (cell, face) = match dimension {
        2 => (CellShape::Triangle, CellShape::Segment),
        _ => (CellShape::Tetrahedron, CellShape::Triangle),
    };
    let cells = elements("cells", cell, dimension + 1, regions.len())?;
    let boundary = elements("boundary", face, dimension, patches.len())?;
    Ok(Some(RawMesh { dimension, points, cells, boundary, regions, patches }))
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
        for name in ["two_boxes", "triangles_coarse"] {
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
            checkpoint.insert(NamedArray::indices("mesh.cells", vec![0; 4]));
        });
        assert!(said.starts_with("the checkpoint's array `mesh.cells` is "), "{said}");
    }
}
