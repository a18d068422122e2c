//! The unstructured grid of both VTK file formats, and its conversion to a mesh.
//!
//! VTK has cells of any dimension in one list, integer arrays and free field data, but no regions or
//! patches. karman's convention, also in [`super::vtu::write`]:
//! - boundary elements are additional cells of one dimension less, after the cells of the mesh;
//! - the integer cell array `region` is the region of a cell and −1 on a boundary element, the
//!   array `patch` the patch of a boundary element and −1 on a cell;
//! - the field data are one integer array of one value for each name: `region:steel` = 0,
//!   `patch:wall` = 2.
//!
//! Other programs write groups as a cell array `gmsh:physical` (meshio, Gmsh; 0 is no group) or
//! `CellEntityIds` (VTK, VMTK): read as groups named `group_<number>`.

use std::collections::BTreeMap;

use super::builder::{MeshBuilder, oriented_prism};
use super::element_types::{ElementKind, from_vtk};
use super::error::{At, Fault, MeshFileProblem as Problem, Parsed};
use super::fields::{FieldArray, MeshWithFields};
use crate::CellShape;

/// Cell arrays of group numbers of other programs, and the lowest number of a group.
const FOREIGN_GROUPS: [(&str, i64); 2] = [("gmsh:physical", 1), ("CellEntityIds", 0)];
/// karman's own arrays.
pub(super) const REGION: &str = "region";
pub(super) const PATCH: &str = "patch";
/// Number of a cell in no group.
pub(super) const NO_GROUP: i32 = -1;

/// Numbers of a file, by type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    Real(Vec<f64>),
    Integer(Vec<i64>),
}

impl Numbers {
    pub(super) fn len(&self) -> usize {
        match self {
            Numbers::Real(values) => values.len(),
            Numbers::Integer(values) => values.len(),
        }
    }

    pub(super) fn into_real(self) -> Vec<f64> {
        match self {
            Numbers::Real(values) => values,
            Numbers::Integer(values) => values.into_iter().map(|value| value as f64).collect(),
        }
    }

    fn integers(&self) -> Option<&[i64]> {
        match self {
            Numbers::Integer(values) => Some(values),
            Numbers::Real(_) => None,
        }
    }
}

/// An array with its name and its place in the file.
#[derive(Clone, Debug)]
pub(super) struct NamedArray {
    pub(super) name: String,
    pub(super) components: usize,
    /// Values, entity-major.
    pub(super) values: Numbers,
    pub(super) at: At,
}

impl NamedArray {
    /// Refuses a length other than the number of entities times that of components.
    fn check_length(&self, entities: usize) -> Parsed<()> {
        let expected = entities.saturating_mul(self.components);
        let found = self.values.len();
        if found == expected && self.components > 0 {
            return Ok(());
        }
        let array = self.name.clone();
        Err(Fault::new(self.at, Problem::WrongLength { array, found, expected }))
    }
}

/// The content of a file.
pub(super) struct VtkGrid {
    /// Coordinates, three a point.
    pub(super) points: NamedArray,
    /// Start of each cell's nodes, and the end of the last: `[n_cells + 1]`.
    pub(super) offsets: Vec<i64>,
    /// Nodes of the cells, and their place in the file.
    pub(super) connectivity: (Vec<i64>, At),
    /// Numbers of the cell types, and their place in the file.
    pub(super) types: (Vec<i64>, At),
    pub(super) cell_arrays: Vec<NamedArray>,
    pub(super) point_arrays: Vec<NamedArray>,
    pub(super) field_arrays: Vec<NamedArray>,
}

impl VtkGrid {
    /// The mesh and its fields. Prisms of either orientation are accepted: VTK's documentation draws
    /// them against its own parametric coordinates, so files of both kinds exist.
    pub(super) fn into_mesh(self) -> Parsed<MeshWithFields> {
        let n_cells = self.types.0.len();
        if self.offsets.len() != n_cells + 1 {
            let (array, found) = ("offsets".to_owned(), self.offsets.len());
            let problem = Problem::WrongLength { array, found, expected: n_cells + 1 };
            return Err(Fault::new(self.connectivity.1, problem));
        }
        self.cell_arrays.iter().try_for_each(|array| array.check_length(n_cells))?;
        let mut builder = MeshBuilder::with_points(points(&self.points)?);
        self.point_arrays.iter().try_for_each(|array| array.check_length(builder.points.len()))?;
        let groups = Groups::of(&self.cell_arrays, &self.field_arrays);
        let mut dimensions = Vec::with_capacity(n_cells);
        for cell in 0..n_cells {
            let shape = self.add_cell(&mut builder, cell, &groups)?;
            dimensions.push(shape.map_or(0, CellShape::dimension));
        }
        let dimension = builder.dimension().unwrap_or(0);
        let is_cell: Vec<bool> = dimensions.into_iter().map(|d| d == dimension).collect();
        let mesh = builder.finish(|of, tag| groups.name(of == dimension, tag))?;
        let n_points = mesh.points.len();
        let is_field = |array: &NamedArray| !groups.arrays.contains(&array.name.as_str());
        let cell_fields = self.cell_arrays.iter().filter(|array| is_field(array));
        let cell_fields = cell_fields.map(|array| field(array.clone(), &is_cell)).collect();
        let all = vec![true; n_points];
        let node_fields = self.point_arrays.into_iter().map(|array| field(array, &all)).collect();
        let time = self.field_arrays.into_iter().find(|array| {
            matches!(array.name.as_str(), "TimeValue" | "TIME") && array.values.len() == 1
        });
        let time = time.and_then(|array| array.values.into_real().first().copied());
        Ok(MeshWithFields { mesh, cell_fields, node_fields, time })
    }

    /// Adds one cell to the mesh; returns its shape, `None` for a vertex.
    fn add_cell(
        &self,
        builder: &mut MeshBuilder,
        cell: usize,
        groups: &Groups<'_>,
    ) -> Parsed<Option<CellShape>> {
        let (types, types_at) = &self.types;
        let (connectivity, at) = &self.connectivity;
        let kind = from_vtk(types[cell]).map_err(|problem| Fault::new(*types_at, problem))?;
        let (start, end) = (self.offsets[cell], self.offsets[cell + 1]);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let Some(file_nodes) = range.and_then(|(start, end)| connectivity.get(start..end)) else {
            let (array, found) = ("connectivity".to_owned(), connectivity.len());
            let expected = end.max(start).max(0) as usize;
            return Err(Fault::new(*at, Problem::WrongLength { array, found, expected }));
        };
        let element = cell as i64;
        let (shape, order) = match kind {
            ElementKind::Shape(shape) => (shape, None),
            ElementKind::Reordered(shape, order) => (shape, Some(order)),
            ElementKind::Vertex(_) => return Ok(None),
        };
        if file_nodes.len() != shape.node_count() {
            let (shape, expected) = (shape.name(), shape.node_count());
            let found = file_nodes.len() as i64;
            let problem = Problem::WrongNodeCount { element, shape, found, expected };
            return Err(Fault::new(*at, problem));
        }
        let n_nodes = builder.points.len();
        let mut nodes = [0; 8];
        for (local, node) in nodes.iter_mut().take(file_nodes.len()).enumerate() {
            let index = file_nodes[order.map_or(local, |order| usize::from(order[local]))];
            *node = match u32::try_from(index) {
                Ok(index) if (index as usize) < n_nodes => index,
                _ => {
                    let problem = Problem::NodeOutOfRange { element, node: index, n_nodes };
                    return Err(Fault::new(*at, problem));
                }
            };
        }
        if shape == CellShape::Prism {
            let [a, b, c, d, e, f, ..] = nodes;
            nodes[..6].copy_from_slice(&oriented_prism(&builder.points, [a, b, c, d, e, f]));
        }
        builder.push(shape, &nodes[..shape.node_count()], groups.of_cell(cell));
        Ok(Some(shape))
    }
}

/// The points, finite and complete.
fn points(array: &NamedArray) -> Parsed<Vec<[f64; 3]>> {
    let values = array.values.clone().into_real();
    if array.components != 3 || !values.len().is_multiple_of(3) {
        let (name, found) = (array.name.clone(), values.len());
        let expected = found.next_multiple_of(3);
        return Err(Fault::new(array.at, Problem::WrongLength { array: name, found, expected }));
    }
    if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
        let problem = Problem::NotFinite { node: (bad / 3) as i64, value: values[bad] };
        return Err(Fault::new(array.at, problem));
    }
    Ok(values.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect())
}

/// The field on the entities that `is_selected` marks, component-major.
fn field(array: NamedArray, is_selected: &[bool]) -> FieldArray {
    let NamedArray { name, components, values, .. } = array;
    let values = values.into_real();
    let mut ordered = Vec::with_capacity(values.len());
    for component in 0..components {
        let entities = values.chunks_exact(components).zip(is_selected);
        ordered.extend(
            entities.filter(|&(_, &selected)| selected).map(|(entity, _)| entity[component]),
        );
    }
    FieldArray { name, components, values: ordered }
}

/// Numbers and names of groups.
struct Groups<'a> {
    /// Arrays of group numbers and their lowest group; the first with a group gives a cell's group.
    numbers: Vec<(&'a [i64], i64)>,
    /// Names of the cell arrays of `numbers`.
    arrays: Vec<&'a str>,
    region_names: BTreeMap<i64, String>,
    patch_names: BTreeMap<i64, String>,
}

impl<'a> Groups<'a> {
    fn of(cell_arrays: &'a [NamedArray], field_arrays: &[NamedArray]) -> Self {
        let integers = |name: &str| {
            let array = cell_arrays.iter().find(|array| array.name == name)?;
            let values = array.values.integers().filter(|_| array.components == 1)?;
            Some((array.name.as_str(), values))
        };
        let mut arrays = Vec::new();
        let mut numbers = Vec::new();
        for (name, values) in [REGION, PATCH].into_iter().filter_map(integers) {
            arrays.push(name);
            numbers.push((values, 0));
        }
        if numbers.is_empty() {
            let foreign = |&(name, lowest): &(&str, i64)| Some((integers(name)?, lowest));
            if let Some(((name, values), lowest)) = FOREIGN_GROUPS.iter().find_map(foreign) {
                arrays.push(name);
                numbers.push((values, lowest));
            }
        }
        let names = |prefix: &str| {
            let named = field_arrays.iter().filter_map(|array| {
                let name = array.name.strip_prefix(prefix)?.strip_prefix(':')?;
                let number = *array.values.integers()?.first()?;
                Some((number, name.to_owned()))
            });
            named.collect()
        };
        Groups { numbers, arrays, region_names: names(REGION), patch_names: names(PATCH) }
    }

    fn of_cell(&self, cell: usize) -> Option<i64> {
        let of_array =
            |&(values, lowest): &(&[i64], i64)| Some(values[cell]).filter(|&n| n >= lowest);
        self.numbers.iter().find_map(of_array)
    }

    fn name(&self, of_cells: bool, tag: i64) -> Option<String> {
        let names = if of_cells { &self.region_names } else { &self.patch_names };
        names.get(&tag).cloned()
    }
}
