//! Writes VTU files: zlib-compressed blocks, appended as raw bytes after the XML.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use quick_xml::escape::escape;
use rayon::prelude::*;

use crate::files::element_types::to_vtk;
use crate::files::error::{MeshFileError, MeshFileProblem as Problem, file_error};
use crate::files::fields::FieldValues;
use crate::files::save_parts;
use crate::files::vtk_grid::{NO_GROUP, PATCH, REGION};
use crate::{Elements, RawMesh};

/// The array of the numbers of a piece's cells in the whole mesh.
pub const CELL_NUMBER: &str = "cell_number";
/// The array of the numbers of a piece's nodes in the whole mesh.
pub const NODE_NUMBER: &str = "node_number";

/// Bytes of a block before compression.
const BLOCK: usize = 1 << 17;

/// Content of a VTU file.
#[derive(Clone, Debug)]
pub struct VtuData<'a> {
    /// Coordinates: `[n_nodes]`.
    pub points: &'a [[f64; 3]],
    /// Cells; their groups are written as `region` if `regions` names them.
    pub cells: &'a Elements,
    /// Names of the regions; may be empty.
    pub regions: &'a [String],
    /// Boundary elements and names of the patches, to be stored as further cells.
    pub boundary: Option<(&'a Elements, &'a [String])>,
    /// Fields on the cells: `[n_cells]` each. On boundary elements they are written as NaN.
    pub cell_fields: Vec<(&'a str, FieldValues<'a>)>,
    /// Fields on the nodes: `[n_nodes]` each.
    pub node_fields: Vec<(&'a str, FieldValues<'a>)>,
    /// The simulated time, shown by ParaView.
    pub time: Option<f64>,
    /// Of a piece the numbers of its cells and of its nodes in the whole mesh.
    pub numbers: Option<[&'a [u32]; 2]>,
}

impl<'a> VtuData<'a> {
    /// A grid without fields, regions or boundary elements.
    pub fn new(points: &'a [[f64; 3]], cells: &'a Elements) -> Self {
        VtuData {
            points,
            cells,
            regions: &[],
            boundary: None,
            cell_fields: Vec::new(),
            node_fields: Vec::new(),
            time: None,
            numbers: None,
        }
    }

    /// A mesh with its regions and patches; read back, it is equal.
    pub fn of_mesh(mesh: &'a RawMesh) -> Self {
        VtuData {
            regions: &mesh.regions,
            boundary: Some((&mesh.boundary, &mesh.patches)),
            ..VtuData::new(&mesh.points, &mesh.cells)
        }
    }
}

/// Writes a VTU file that ParaView, VTK and meshio open. It appears under its name only when it is
/// complete.
///
/// # Errors
/// A field whose length is not that of its entities; a name with a control character; the file
/// cannot be written.
pub fn write(path: &Path, data: &VtuData<'_>) -> Result<(), MeshFileError> {
    write_on(path, &CompressedGrid::new(data), data)
}

/// Writes a VTU file as [`write()`] does, on the compressed points and cells of `data` or of earlier data with the
/// same points, cells and boundary.
///
/// # Errors
/// As [`write()`].
pub fn write_on(
    path: &Path,
    grid: &CompressedGrid,
    data: &VtuData<'_>,
) -> Result<(), MeshFileError> {
    let out = Output::new(grid, data).map_err(|problem| file_error(path, problem))?;
    save_parts(path, out.parts())
}

/// The content of the file.
#[cfg(test)]
pub(in crate::files) fn to_bytes(data: &VtuData<'_>) -> Result<Vec<u8>, Problem> {
    let grid = CompressedGrid::new(data);
    Ok(Output::new(&grid, data)?.parts().collect::<Vec<_>>().concat())
}

/// The compressed points and cells of a file, for several files of one mesh.
#[derive(Clone, Debug)]
pub struct CompressedGrid {
    points: Array,
    /// Connectivity, offsets and types of the cells, then of the boundary elements.
    cells: [Array; 3],
}

impl CompressedGrid {
    /// Compresses points, cells and boundary elements in parallel.
    pub fn new(data: &VtuData<'_>) -> Self {
        let coordinates = data.points.as_flattened();
        let points =
            Array::new("Float64", "Points", 3, coordinates.len(), |i| coordinates[i].to_le_bytes());
        let none = Elements::new();
        let (cells, boundary) = (data.cells, data.boundary.map_or(&none, |(elements, _)| elements));
        let (n, n_nodes) = (cells.len(), cells.nodes.len());
        let (n_all, n_all_nodes) = (n + boundary.len(), n_nodes + boundary.nodes.len());
        let node = |i: usize| cells.nodes.get(i).unwrap_or_else(|| &boundary.nodes[i - n_nodes]);
        let end = |i: usize| match i.checked_sub(n) {
            None => cells.offsets[i + 1] as usize,
            Some(element) => n_nodes + boundary.offsets[element + 1] as usize,
        };
        let shape = |i: usize| *cells.shapes.get(i).unwrap_or_else(|| &boundary.shapes[i - n]);
        let most = n_all_nodes.max(data.points.len());
        let cells = [
            Array::of_indices("connectivity", n_all_nodes, most, |i| *node(i) as usize),
            Array::of_indices("offsets", n_all, n_all_nodes, end),
            Array::new("UInt8", "types", 1, n_all, |i| [to_vtk(shape(i))]),
        ];
        CompressedGrid { points, cells }
    }
}

/// An array of the appended data.
#[derive(Clone, Debug)]
struct Array {
    /// The opening of its XML element, without the offset.
    element: String,
    /// The header, then the compressed blocks.
    parts: Vec<Vec<u8>>,
}

impl Array {
    /// `n` scalars of `S` little-endian bytes, compressed in parallel; `components` of them are a tuple.
    fn new<const S: usize>(
        kind: &str,
        name: &str,
        components: usize,
        n: usize,
        scalar: impl Fn(usize) -> [u8; S] + Sync,
    ) -> Array {
        let of_block = BLOCK / S;
        let compressed = |block: usize| {
            let scalars = block * of_block..((block + 1) * of_block).min(n);
            let mut bytes = Vec::with_capacity(scalars.len() * S);
            scalars.for_each(|i| bytes.extend_from_slice(&scalar(i)));
            deflate(&bytes)
        };
        let n_blocks = n.div_ceil(of_block);
        let blocks: Vec<Vec<u8>> = (0..n_blocks).into_par_iter().map(compressed).collect();
        let sizes = [n_blocks, BLOCK, n * S % BLOCK];
        let header = sizes.into_iter().chain(blocks.iter().map(Vec::len));
        let header = header.flat_map(|number| (number as u64).to_le_bytes()).collect();
        let name = escape(name);
        Array {
            element: format!(
                "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\""
            ),
            parts: std::iter::once(header).chain(blocks).collect(),
        }
    }

    /// `n` integers up to `largest`, in 32 bits if they fit.
    fn of_indices(
        name: &str,
        n: usize,
        largest: usize,
        value: impl Fn(usize) -> usize + Sync,
    ) -> Array {
        if largest <= i32::MAX as usize {
            Array::new("Int32", name, 1, n, |i| (value(i) as i32).to_le_bytes())
        } else {
            Array::new("Int64", name, 1, n, |i| (value(i) as i64).to_le_bytes())
        }
    }
}

/// The XML and the data of a file.
#[derive(Default)]
struct Output<'a> {
    xml: String,
    appended: Vec<Cow<'a, [u8]>>,
    /// Bytes of `appended`.
    length: usize,
}

impl<'a> Output<'a> {
    fn new(grid: &'a CompressedGrid, data: &VtuData<'_>) -> Result<Self, Problem> {
        let mut out = Output::default();
        let n_boundary = data.boundary.map_or(0, |(elements, _)| elements.len());
        let n_cells = data.cells.len() + n_boundary;
        out.xml += "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
                    byte_order=\"LittleEndian\" header_type=\"UInt64\" \
                    compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\n";
        field_data(&mut out, data)?;
        out.xml += &format!(
            "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{n_cells}\">\n",
            data.points.len()
        );
        out.xml += "<Points>\n";
        out.lend(&grid.points);
        out.xml += "</Points>\n<Cells>\n";
        grid.cells.iter().for_each(|array| out.lend(array));
        out.xml += "</Cells>\n<PointData>\n";
        fields(&mut out, &data.node_fields, data.points.len(), 0)?;
        numbers(&mut out, NODE_NUMBER, data.numbers.map(|[_, nodes]| nodes));
        out.xml += "</PointData>\n<CellData>\n";
        fields(&mut out, &data.cell_fields, data.cells.len(), n_boundary)?;
        groups(&mut out, data);
        numbers(&mut out, CELL_NUMBER, data.numbers.map(|[cells, _]| cells));
        out.xml += "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
        Ok(out)
    }

    /// Adds an array.
    fn add(&mut self, Array { element, parts }: Array) {
        self.describe(&element, &parts);
        self.appended.extend(parts.into_iter().map(Cow::Owned));
    }

    /// Adds an array without a copy.
    fn lend(&mut self, Array { element, parts }: &'a Array) {
        self.describe(element, parts);
        self.appended.extend(parts.iter().map(|part| Cow::Borrowed(&part[..])));
    }

    fn describe(&mut self, element: &str, parts: &[Vec<u8>]) {
        self.xml += &format!("{element} format=\"appended\" offset=\"{}\"/>\n", self.length);
        self.length += parts.iter().map(Vec::len).sum::<usize>();
    }

    /// The file in pieces.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let appended = self.appended.iter().map(|part| &part[..]);
        let end: &[u8] = b"\n</AppendedData>\n</VTKFile>\n";
        std::iter::once(self.xml.as_bytes()).chain(appended).chain([end])
    }
}

/// One compressed block.
fn deflate(block: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to a vector cannot fail.
    let _ = encoder.write_all(block);
    encoder.finish().unwrap_or_default()
}

/// Refuses names that an XML attribute cannot contain.
fn check_name(name: &str) -> Result<(), Problem> {
    if name.contains(char::is_control) {
        let reason = "XML attributes have no control characters";
        return Err(Problem::UnwritableName { name: name.to_owned(), reason });
    }
    Ok(())
}

/// The time, and the names of regions and patches with their numbers.
fn field_data(out: &mut Output<'_>, data: &VtuData<'_>) -> Result<(), Problem> {
    out.xml += "<FieldData>\n";
    if let Some(time) = data.time {
        out.xml += &format!(
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" \
             format=\"ascii\">{time:?}</DataArray>\n"
        );
    }
    let patches = data.boundary.map_or(&[] as &[String], |(_, names)| names);
    for (kind, names) in [(REGION, data.regions), (PATCH, patches)] {
        for (number, name) in names.iter().enumerate() {
            check_name(name)?;
            out.xml += &format!(
                "<DataArray type=\"Int32\" Name=\"{kind}:{}\" NumberOfTuples=\"1\" \
                 format=\"ascii\">{number}</DataArray>\n",
                escape(name)
            );
        }
    }
    out.xml += "</FieldData>\n";
    Ok(())
}

/// Fields of `n` values, entity-major as in VTK, and NaN for `n_missing` further entities.
fn fields(
    out: &mut Output<'_>,
    fields: &[(&str, FieldValues<'_>)],
    n: usize,
    n_missing: usize,
) -> Result<(), Problem> {
    for (name, values) in fields {
        check_name(name)?;
        let components = values.components();
        if let Some(wrong) = components.iter().find(|values| values.len() != n) {
            let (array, found) = ((*name).to_owned(), wrong.len());
            return Err(Problem::WrongLength { array, found, expected: n });
        }
        let width = components.len();
        let value = |i: usize| components[i % width].get(i / width).unwrap_or(&f64::NAN);
        out.add(Array::new("Float64", name, width, (n + n_missing) * width, |i| {
            value(i).to_le_bytes()
        }));
    }
    Ok(())
}

/// The numbers of a piece's entities in the whole mesh.
fn numbers(out: &mut Output<'_>, name: &str, numbers: Option<&[u32]>) {
    if let Some(numbers) = numbers {
        // Entities have at most 31 bits.
        let number = |i: usize| (numbers[i] as i32).to_le_bytes();
        out.add(Array::new("Int32", name, 1, numbers.len(), number));
    }
}

/// The arrays of the nodes, of the cells, and the points of a file without boundary elements, as XML elements without their place.
pub(in crate::files) fn arrays_of(data: &VtuData<'_>) -> Result<[Vec<String>; 3], Problem> {
    let element = |kind: &str, name: &str, components: usize| {
        Array::new::<1>(kind, name, components, 0, |_| [0]).element
    };
    let of_fields = |fields: &[(&str, FieldValues<'_>)]| {
        let each = fields.iter().map(|(name, values)| {
            check_name(name)?;
            Ok(element("Float64", name, values.components().len()))
        });
        each.collect::<Result<Vec<String>, Problem>>()
    };
    let [mut nodes, mut cells] = [of_fields(&data.node_fields)?, of_fields(&data.cell_fields)?];
    if !data.regions.is_empty() {
        cells.push(element("Int32", REGION, 1));
    }
    if data.numbers.is_some() {
        nodes.push(element("Int32", NODE_NUMBER, 1));
        cells.push(element("Int32", CELL_NUMBER, 1));
    }
    Ok([nodes, cells, vec![element("Float64", "Points", 3)]])
}

/// The arrays `region` and `patch`, where there are names for their numbers.
fn groups(out: &mut Output<'_>, data: &VtuData<'_>) {
    let boundary = data.boundary.map_or(&[] as &[u32], |(elements, _)| &elements.groups);
    let (cells, n_cells) = (&data.cells.groups, data.cells.len());
    let n = n_cells + boundary.len();
    if !data.regions.is_empty() {
        let region = |i: usize| cells.get(i).map_or(NO_GROUP, |&group| group as i32);
        out.add(Array::new("Int32", REGION, 1, n, |i| region(i).to_le_bytes()));
    }
    if data.boundary.is_some() {
        let patch = |i: usize| i.checked_sub(n_cells).map_or(NO_GROUP, |k| boundary[k] as i32);
        out.add(Array::new("Int32", PATCH, 1, n, |i| patch(i).to_le_bytes()));
    }
}
