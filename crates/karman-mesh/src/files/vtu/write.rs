//! Writes VTU files: zlib-compressed blocks, appended as raw bytes after the XML.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use quick_xml::escape::escape;

use crate::files::element_types::to_vtk;
use crate::files::error::{MeshFileError, MeshFileProblem as Problem, file_error};
use crate::files::fields::FieldValues;
use crate::files::save;
use crate::files::vtk_grid::{NO_GROUP, PATCH, REGION};
use crate::{Elements, RawMesh};

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
    let bytes = to_bytes(data).map_err(|problem| file_error(path, problem))?;
    save(path, &bytes)
}

/// The content of the file.
pub(in crate::files) fn to_bytes(data: &VtuData<'_>) -> Result<Vec<u8>, Problem> {
    let mut out = Output::default();
    let n_boundary = data.boundary.map_or(0, |(elements, _)| elements.len());
    let n_cells = data.cells.len() + n_boundary;
    out.xml += "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
                byte_order=\"LittleEndian\" header_type=\"UInt64\" \
                compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\n";
    field_data(&mut out, data)?;
    out.xml +=
        &format!("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{n_cells}\">\n", data.points.len());
    out.xml += "<Points>\n";
    let coordinates = data.points.iter().flatten().flat_map(|value| value.to_le_bytes());
    out.array("Float64", "Points", 3, coordinates.collect());
    out.xml += "</Points>\n<Cells>\n";
    cells(&mut out, data);
    out.xml += "</Cells>\n<PointData>\n";
    fields(&mut out, &data.node_fields, data.points.len(), 0)?;
    out.xml += "</PointData>\n<CellData>\n";
    fields(&mut out, &data.cell_fields, data.cells.len(), n_boundary)?;
    groups(&mut out, data);
    out.xml += "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
    let mut bytes = out.xml.into_bytes();
    bytes.append(&mut out.appended);
    bytes.extend_from_slice(b"\n</AppendedData>\n</VTKFile>\n");
    Ok(bytes)
}

/// The XML and the data of a file.
#[derive(Default)]
struct Output {
    xml: String,
    appended: Vec<u8>,
}

impl Output {
    /// Adds an array whose little-endian bytes are given.
    fn array(&mut self, kind: &str, name: &str, components: usize, bytes: Vec<u8>) {
        let name = escape(name);
        self.xml += &format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{}\"/>\n",
            self.appended.len()
        );
        self.append_compressed(&bytes);
    }

    /// Adds a header and compressed blocks.
    fn append_compressed(&mut self, bytes: &[u8]) {
        let blocks: Vec<Vec<u8>> = bytes.chunks(BLOCK).map(deflate).collect();
        let sizes = [blocks.len(), BLOCK, bytes.len() % BLOCK];
        let lengths = blocks.iter().map(Vec::len);
        let header = sizes.into_iter().chain(lengths);
        self.appended.extend(header.flat_map(|number| (number as u64).to_le_bytes()));
        blocks.iter().for_each(|block| self.appended.extend_from_slice(block));
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
fn field_data(out: &mut Output, data: &VtuData<'_>) -> Result<(), Problem> {
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

/// Connectivity, offsets and types of the cells, then of the boundary elements.
fn cells(out: &mut Output, data: &VtuData<'_>) {
    let lists = || std::iter::once(data.cells).chain(data.boundary.map(|(elements, _)| elements));
    let total: usize = lists().map(|elements| elements.nodes.len()).sum();
    let mut ends = Vec::new();
    let mut before = 0;
    for elements in lists() {
        ends.extend(elements.offsets.iter().skip(1).map(|&end| before + end as usize));
        before += elements.nodes.len();
    }
    let nodes = lists().flat_map(|elements| elements.nodes.iter().map(|&node| node as usize));
    out.indices("connectivity", nodes, total.max(data.points.len()));
    out.indices("offsets", ends.into_iter(), total);
    let shapes = lists().flat_map(|elements| elements.shapes.iter());
    out.array("UInt8", "types", 1, shapes.map(|&shape| to_vtk(shape)).collect());
}

impl Output {
    /// Adds integers up to `largest`, in 32 bits if they fit.
    fn indices(&mut self, name: &str, values: impl Iterator<Item = usize>, largest: usize) {
        if largest <= i32::MAX as usize {
            let bytes = values.flat_map(|value| (value as i32).to_le_bytes());
            self.array("Int32", name, 1, bytes.collect());
        } else {
            let bytes = values.flat_map(|value| (value as i64).to_le_bytes());
            self.array("Int64", name, 1, bytes.collect());
        }
    }
}

/// Fields of `n` values, entity-major as in VTK, and NaN for `n_missing` further entities.
fn fields(
    out: &mut Output,
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
        let mut bytes = Vec::with_capacity((n + n_missing) * components.len() * 8);
        for entity in 0..n {
            components.iter().for_each(|c| bytes.extend_from_slice(&c[entity].to_le_bytes()));
        }
        for _ in 0..n_missing * components.len() {
            bytes.extend_from_slice(&f64::NAN.to_le_bytes());
        }
        out.array("Float64", name, components.len(), bytes);
    }
    Ok(())
}

/// The arrays `region` and `patch`, where there are names for their numbers.
fn groups(out: &mut Output, data: &VtuData<'_>) {
    let n_cells = data.cells.len();
    let boundary = data.boundary.map_or(&[] as &[u32], |(elements, _)| &elements.groups);
    let numbers = |groups: &[u32]| groups.iter().map(|&g| g as i32).collect::<Vec<_>>();
    let bytes =
        |values: [Vec<i32>; 2]| values.concat().iter().flat_map(|v| v.to_le_bytes()).collect();
    if !data.regions.is_empty() {
        let regions = [numbers(&data.cells.groups), vec![NO_GROUP; boundary.len()]];
        out.array("Int32", REGION, 1, bytes(regions));
    }
    if data.boundary.is_some() {
        out.array("Int32", PATCH, 1, bytes([vec![NO_GROUP; n_cells], numbers(boundary)]));
    }
}
