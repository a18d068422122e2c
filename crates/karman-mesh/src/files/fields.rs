//! Named values on the cells and nodes of a mesh file.

use std::path::Path;

use super::error::{MeshFileError, MeshFileProblem, file_error};
use crate::RawMesh;

/// Values of a field for output.
#[derive(Clone, Copy, Debug)]
pub enum FieldValues<'a> {
    /// One value per entity: `[n]`.
    Scalar(&'a [f64]),
    /// Three components, each `[n]`.
    Vector([&'a [f64]; 3]),
}

impl<'a> FieldValues<'a> {
    /// The components, each `[n]`.
    pub fn components(&self) -> &[&'a [f64]] {
        match self {
            FieldValues::Scalar(values) => std::slice::from_ref(values),
            FieldValues::Vector(components) => components,
        }
    }
}

/// A field that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldArray {
    /// Its name in the file.
    pub name: String,
    /// Number of components.
    pub components: usize,
    /// Values, component-major: `[components][n]`.
    pub values: Vec<f64>,
}

impl FieldArray {
    /// One component: `[n]`; empty if there is no such component.
    pub fn component(&self, component: usize) -> &[f64] {
        let n = self.values.len() / self.components.max(1);
        self.values.get(component * n..(component + 1) * n).unwrap_or_default()
    }

    /// The Euclidean norm of the components at each entity, of one component its values: `[n]`.
    pub fn magnitude(&self) -> Vec<f64> {
        if self.components == 1 {
            return self.values.clone();
        }
        let norm = |entity: usize| {
            (0..self.components).map(|k| self.component(k)[entity]).fold(0.0_f64, f64::hypot)
        };
        (0..self.component(0).len()).map(norm).collect()
    }

    /// The number of the component with this suffix of a name: `x`, `y`, `z` of vectors; `xx`, `yy`, `zz`, `xy`, `yz`, `xz` of
    /// symmetric tensors of 6 components, in the order of VTK; `xx`, `xy`, … `zz` by rows of tensors of 9.
    fn component_of(&self, suffix: &str) -> Option<usize> {
        let suffixes: &[&str] = match self.components {
            2 | 3 => &["x", "y", "z"][..self.components],
            6 => &["xx", "yy", "zz", "xy", "yz", "xz"],
            9 => &["xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"],
            _ => &[],
        };
        suffixes.iter().position(|&own| own == suffix)
    }
}

/// Location of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldLocation {
    /// One value per cell.
    Cells,
    /// One value per node.
    Nodes,
}

/// A mesh and the fields of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshWithFields {
    /// The mesh.
    pub mesh: RawMesh,
    /// Fields on the cells (not on the boundary elements), in the order of `mesh.cells`.
    pub cell_fields: Vec<FieldArray>,
    /// Fields on the nodes.
    pub node_fields: Vec<FieldArray>,
    /// Simulated time of the file.
    pub time: Option<f64>,
}

impl MeshWithFields {
    /// A mesh from a format that has no fields.
    pub(super) fn without_fields(mesh: RawMesh) -> Self {
        MeshWithFields { mesh, cell_fields: Vec::new(), node_fields: Vec::new(), time: None }
    }

    /// The field of this name, on the nodes or else on the cells. `file` is the path in the message.
    ///
    /// # Errors
    /// [`MeshFileProblem::NoSuchField`]; the message lists the fields of the file.
    pub fn field(
        &self,
        file: &Path,
        name: &str,
    ) -> Result<(FieldLocation, &FieldArray), MeshFileError> {
        let nodes = self.node_fields.iter().map(|field| (FieldLocation::Nodes, field));
        let cells = self.cell_fields.iter().map(|field| (FieldLocation::Cells, field));
        let all: Vec<_> = nodes.chain(cells).collect();
        if let Some(found) = all.iter().find(|(_, field)| field.name == name) {
            return Ok(*found);
        }
        let names: Vec<&str> = all.iter().map(|(_, field)| field.name.as_str()).collect();
        let available = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(file_error(file, MeshFileProblem::NoSuchField { name: name.to_owned(), available }))
    }

    /// A scalar of this name: a field, of a field of several components the magnitude, or with a suffix one component,
    /// as `velocity_x` or `stress_xy`.
    ///
    /// # Errors
    /// As [`MeshWithFields::field`].
    pub fn scalar(
        &self,
        file: &Path,
        name: &str,
    ) -> Result<(FieldLocation, Vec<f64>), MeshFileError> {
        let unknown = match self.field(file, name) {
            Ok((location, field)) => return Ok((location, field.magnitude())),
            Err(unknown) => unknown,
        };
        let Some((vector, suffix)) = name.rsplit_once('_') else { return Err(unknown) };
        let Ok((location, field)) = self.field(file, vector) else { return Err(unknown) };
        let component = field.component_of(suffix).ok_or(unknown)?;
        Ok((location, field.component(component).to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_name_or_refused_with_the_names_in_the_file() {
        let array = |name: &str, components, values: &[f64]| FieldArray {
            name: name.into(),
            components,
            values: values.to_vec(),
        };
        let mut read = MeshWithFields::without_fields(RawMesh::default());
        let file = Path::new("f.vtu");
        let error = read.field(file, "temperature").unwrap_err();
        assert_eq!(error.to_string(), "f.vtu: no field `temperature`; the file has: none");
        read.cell_fields.push(array("velocity", 2, &[1.0, 2.0, 3.0, 4.0]));
        read.node_fields.push(array("pressure", 1, &[5.0]));
        let error = read.field(file, "temperature").unwrap_err();
        assert_eq!(
            error.to_string(),
            "f.vtu: no field `temperature`; the file has: pressure, velocity"
        );
        let (location, field) = read.field(file, "velocity").unwrap();
        assert_eq!(location, FieldLocation::Cells);
        assert_eq!(field.component(1), [3.0, 4.0]);
        assert!(field.component(2).is_empty());
        assert_eq!(read.field(file, "pressure").unwrap().0, FieldLocation::Nodes);
    }

    #[test]
    fn scalars_are_magnitudes_or_components() {
        let array = |name: &str, components, values: &[f64]| FieldArray {
            name: name.into(),
            components,
            values: values.to_vec(),
        };
        let mut read = MeshWithFields::without_fields(RawMesh::default());
        read.cell_fields.push(array("velocity", 2, &[3.0, 0.0, 4.0, 1.0]));
        read.node_fields.push(array("wall_distance", 1, &[-5.0]));
        read.node_fields.push(array("stress", 6, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        read.node_fields.push(array("gradient", 9, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]));
        let file = Path::new("f.vtu");
        let scalar = |name: &str| read.scalar(file, name);
        assert_eq!(scalar("velocity").unwrap(), (FieldLocation::Cells, vec![5.0, 1.0]));
        assert_eq!(scalar("velocity_y").unwrap(), (FieldLocation::Cells, vec![4.0, 1.0]));
        assert_eq!(scalar("wall_distance").unwrap(), (FieldLocation::Nodes, vec![-5.0]));
        assert_eq!(scalar("stress_xy").unwrap().1, [4.0]);
        assert_eq!(scalar("gradient_yx").unwrap().1, [4.0]);
        for name in ["velocity_z", "velocity_xx", "wall_distance_x", "speed", "speed_x"] {
            let message = scalar(name).unwrap_err().to_string();
            assert!(message.contains(&format!("no field `{name}`; the file has: ")), "{message}");
        }
    }
}
