//! Fields on patches, `[[output.surface]]`: the patches as a mesh of their own, and the files of it.

use super::SimulationError;
use super::location::Location;
use crate::case::Surface;
use crate::descriptor::FieldData;
use crate::finite_volume::Functional;
use crate::heat::SurfaceNode;
use crate::io::csv::{Column, write_columns};
use crate::mesh::files::FieldValues;
use crate::mesh::files::vtu::{self, VtuData};
use crate::mesh::geometry::norm;
use crate::mesh::{CellShape, Elements, Geometry, Mesh};
use crate::monitor::field_summary;
use crate::summary::{FieldSummary, NamedList};
use std::collections::BTreeMap;
use std::path::Path;

type Vector = [f64; 3];

/// Fields on the faces or nodes of patches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SurfaceSamples {
    pub location: Location,
    /// Of the faces or nodes: `[n]`.
    pub points: Vec<Vector>,
    /// Area of each face, or the part of a node: `[n]`.
    pub areas: Vec<f64>,
    /// Unit vectors out of the domain: `[n]`.
    pub normals: Vec<Vector>,
    /// Name and values, `[n]`, of each field.
    pub fields: Vec<(String, FieldData)>,
}

impl SurfaceSamples {
    /// Samples on the faces of patches, without fields.
    pub(super) fn of_faces(geometry: &Geometry, faces: &[u32]) -> Self {
        let area = |face: &u32| geometry.area_vector_of(*face as usize);
        let areas: Vec<f64> = faces.iter().map(|face| norm(area(face))).collect();
        let normals = faces.iter().zip(&areas).map(|(face, s)| area(face).map(|a| a / s));
        SurfaceSamples {
            location: Location::Cells,
            points: faces.iter().map(|f| geometry.face_centre_of(*f as usize)).collect(),
            normals: normals.collect(),
            areas,
            fields: vec![],
        }
    }

    /// Samples on nodes in the order of the mesh file, without fields, with temperature and heat of each.
    pub(super) fn of_nodes(
        mesh: &Mesh,
        nodes: &BTreeMap<u32, SurfaceNode>,
    ) -> (Self, [Vec<Functional>; 2]) {
        let mut order: Vec<(&u32, &SurfaceNode)> = nodes.iter().collect();
        order.sort_by_key(|(node, _)| mesh.original_node[**node as usize]);
        let normal = |(_, node): &(_, &SurfaceNode)| {
            let size = norm(node.area_vector);
            node.area_vector.map(|a| a / size)
        };
        let samples = SurfaceSamples {
            location: Location::Nodes,
            points: order.iter().map(|(node, _)| mesh.points[**node as usize]).collect(),
            areas: order.iter().map(|(_, node)| node.area).collect(),
            normals: order.iter().map(normal).collect(),
            fields: vec![],
        };
        let temperature = |(node, _): &(&u32, _)| Functional {
            unknowns: vec![(**node, 1.0)],
            ..Functional::default()
        };
        let temperatures = order.iter().map(temperature).collect();
        (samples, [temperatures, order.iter().map(|(_, node)| node.heat.clone()).collect()])
    }
}

/// The indices of patches in the mesh.
pub(super) fn patch_indices(mesh: &Mesh, patches: &[String]) -> Vec<usize> {
    let position = |name: &String| mesh.patches.iter().position(|patch| patch.name == *name);
    patches.iter().filter_map(position).collect()
}

/// The faces of patches: patch by patch, and in a patch in the order of their cells in the mesh file.
pub(super) fn faces_of(mesh: &Mesh, patches: &[String]) -> Vec<u32> {
    let of_patch = |patch: usize| {
        let mut faces: Vec<u32> = mesh.patches[patch].faces.clone().map(|f| f as u32).collect();
        faces.sort_by_key(|face| mesh.original_cell[mesh.face_left[*face as usize] as usize]);
        faces
    };
    patch_indices(mesh, patches).into_iter().flat_map(of_patch).collect()
}

/// The faces as elements, and their nodes in the order of the mesh file.
pub(super) fn elements_of(mesh: &Mesh, faces: &[u32]) -> (Elements, Vec<u32>) {
    let mut nodes: Vec<u32> =
        faces.iter().flat_map(|f| mesh.face_to_nodes.of(*f as usize)).copied().collect();
    let order = |node: &u32| mesh.original_node[*node as usize];
    nodes.sort_unstable_by_key(order);
    nodes.dedup();
    let mut elements = Elements::new();
    for face in faces {
        let of_face = mesh.face_to_nodes.of(*face as usize);
        let shape = match of_face.len() {
            2 => CellShape::Segment,
            3 => CellShape::Triangle,
            _ => CellShape::Quadrilateral,
        };
        let position = |node: &u32| nodes.partition_point(|other| order(other) < order(node));
        let local: Vec<u32> = of_face.iter().map(|node| position(node) as u32).collect();
        elements.push(shape, &local, 0);
    }
    (elements, nodes)
}

/// Writes the surface as VTU.
///
/// # Errors
/// [`SimulationError::Fields`].
pub(super) fn write_vtu(
    path: &Path,
    mesh: &Mesh,
    surface: &Surface,
    samples: &SurfaceSamples,
    time: f64,
) -> Result<(), SimulationError> {
    let (elements, nodes) = elements_of(mesh, &faces_of(mesh, &surface.patches));
    let points: Vec<Vector> = nodes.iter().map(|node| mesh.points[*node as usize]).collect();
    let mut data = VtuData::new(&points, &elements);
    data.time = Some(time);
    let fields = samples.fields.iter().map(|(name, field)| (name.as_str(), values_of(field)));
    match samples.location {
        Location::Cells => data.cell_fields = fields.collect(),
        Location::Nodes => data.node_fields = fields.collect(),
    }
    Ok(vtu::write(path, &data)?)
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl SurfaceSamples {
    /// The fields by component, vectors with those of the space.
    fn components(&self, dimension: usize) -> impl Iterator<Item = (String, &Vec<f64>)> {
        self.fields.iter().flat_map(move |(name, field)| match field {
            FieldData::Scalar(values) => vec![(name.clone(), values)],
            FieldData::Vector(components) => {
                let named = AXES.iter().zip(components).take(dimension);
                named.map(|(axis, values)| (format!("{name}_{axis}"), values)).collect()
            }
        })
    }

    /// Mean over the area, smallest and largest value of each component.
    pub(super) fn summary(&self, dimension: usize) -> NamedList<FieldSummary> {
        let of = |(name, values): (String, &Vec<f64>)| (name, field_summary(&self.areas, values));
        self.components(dimension).map(of).collect()
    }
}

/// Writes the surface as CSV: x, y, z, area, normal, fields; vectors with a column for each component.
///
/// # Errors
/// [`SimulationError::Csv`].
pub(super) fn write_csv(
    path: &Path,
    dimension: usize,
    samples: &SurfaceSamples,
) -> Result<(), SimulationError> {
    let along = |vectors: &[Vector], k: usize| vectors.iter().map(|v| v[k]).collect::<Vec<f64>>();
    let mut columns: Vec<Column> = vec![];
    for (k, axis) in AXES.into_iter().enumerate() {
        columns.push((axis.to_owned(), along(&samples.points, k)));
    }
    columns.push(("area".to_owned(), samples.areas.clone()));
    for (k, axis) in AXES.into_iter().enumerate().take(dimension) {
        columns.push((format!("normal_{axis}"), along(&samples.normals, k)));
    }
    columns.extend(samples.components(dimension).map(|(name, values)| (name, values.clone())));
    Ok(write_columns(path, &columns)?)
}

/// The values of a field as a field file has them.
pub(super) fn values_of(field: &FieldData) -> FieldValues<'_> {
    match field {
        FieldData::Scalar(values) => FieldValues::Scalar(values),
        FieldData::Vector([x, y, z]) => FieldValues::Vector([x, y, z]),
    }
}
