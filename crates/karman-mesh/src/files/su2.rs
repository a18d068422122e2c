//! SU2 meshes (SU2 documentation, "Mesh File"): text, with VTK's numbers for element types.
//!
//! Markers are patches, numbered in the order of the file; markers of equal name are one patch. The
//! format has no regions: all cells are read as the region `default`, and regions are not written.
//! Prisms of either orientation are read (see [`super::vtu`]).

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use super::builder::{MeshBuilder, oriented_prism};
use super::cursor::{Cursor, shown};
use super::element_types::{ElementKind, from_su2, to_vtk};
use super::error::{Fault, MeshFileError, MeshFileProblem as Problem, Parsed, file_error};
use super::number::{push_float, push_integer};
use super::save;
use crate::{CellShape, Elements, RawMesh};

/// Whether the content can only be an SU2 file: its first words are a keyword of the format.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::text(bytes);
    while !cursor.at_end() {
        let line = cursor.line();
        if !line.starts_with(b"%") {
            return line.starts_with(b"NDIME") || line.starts_with(b"NZONE");
        }
    }
    false
}

/// Data of the sections read so far.
struct Reader<'a> {
    cursor: Cursor<'a>,
    dimension: usize,
    points: Option<Vec<[f64; 3]>>,
    /// Cells and markers. Their nodes are checked against `n_nodes`, which is read in advance because
    /// elements may precede the points.
    elements: Vec<(CellShape, [u32; 8], Option<i64>)>,
    n_nodes: usize,
    has_cells: bool,
    markers: Vec<String>,
}

/// Reads a mesh from a file's content.
pub(super) fn parse(bytes: &[u8]) -> Parsed<RawMesh> {
    let mut reader = Reader {
        cursor: Cursor::text(bytes),
        dimension: announced(bytes, "NDIME")?,
        points: None,
        elements: Vec::new(),
        n_nodes: announced(bytes, "NPOIN")?,
        has_cells: false,
        markers: Vec::new(),
    };
    if !matches!(reader.dimension, 2 | 3) {
        let found = reader.dimension.to_string();
        return Err(Fault::whole(Problem::Unexpected { expected: "NDIME= 2 or 3", found }));
    }
    while !reader.cursor.at_end() {
        reader.section()?;
    }
    let Some(points) = reader.points else {
        return Err(Fault::whole(Problem::MissingSection { section: "NPOIN" }));
    };
    if !reader.has_cells {
        return Err(Fault::whole(Problem::MissingSection { section: "NELEM" }));
    }
    let mut builder = MeshBuilder::with_points(points);
    for (shape, nodes, marker) in reader.elements {
        let nodes = &nodes[..shape.node_count()];
        match <[u32; 6]>::try_from(nodes) {
            Ok(prism) => builder.push(shape, &oriented_prism(&builder.points, prism), marker),
            Err(_) => builder.push(shape, nodes, marker),
        }
    }
    let markers = reader.markers;
    builder.finish(|dimension, tag| {
        let of_markers = dimension + 1 == reader.dimension;
        of_markers.then(|| markers.get(tag as usize).cloned()).flatten()
    })
}

/// The number after a keyword that must exist, anywhere in the file.
fn announced(bytes: &[u8], keyword: &'static str) -> Parsed<usize> {
    let mut cursor = Cursor::text(bytes);
    while !cursor.at_end() {
        let start = cursor.offset();
        let line = cursor.line();
        if let Some((name, equals)) = assignment(line)
            && name == keyword.as_bytes()
        {
            cursor.go_to(start + equals + 1);
            return Ok(cursor.unsigned("the number after a keyword")? as usize);
        }
    }
    Err(Fault::whole(Problem::MissingSection { section: keyword }))
}

/// The keyword of a line `KEYWORD= value`, and the position of the sign.
fn assignment(line: &[u8]) -> Option<(&[u8], usize)> {
    let equals = line.iter().position(|&b| b == b'=')?;
    Some((line[..equals].trim_ascii(), equals))
}

impl Reader<'_> {
    /// Reads one `KEYWORD= value` line and its section; skips comments and unused keywords.
    fn section(&mut self) -> Parsed<()> {
        self.cursor.skip_space();
        let start = self.cursor.offset();
        let line = self.cursor.line();
        // Other lines are comments, or belong to a section that is not read.
        let Some((keyword, equals)) = assignment(line) else { return Ok(()) };
        let value = start + equals + 1;
        match keyword {
            b"NELEM" => {
                self.cursor.go_to(value);
                self.has_cells = true;
                self.elements("the number of elements", None)
            }
            b"NPOIN" if self.points.is_none() => {
                self.cursor.go_to(value);
                self.points()
            }
            b"NPOIN" => {
                let problem = Problem::Unexpected { expected: "one NPOIN", found: shown(line) };
                Err(self.cursor.fault_at(start, problem))
            }
            b"MARKER_TAG" => {
                let name = line[equals + 1..].trim_ascii();
                self.markers.push(String::from_utf8_lossy(name).into_owned());
                Ok(())
            }
            b"MARKER_ELEMS" => {
                self.cursor.go_to(value);
                let Some(marker) = self.markers.len().checked_sub(1) else {
                    let missing = Problem::MissingSection { section: "MARKER_TAG" };
                    return Err(self.cursor.fault_at(start, missing));
                };
                self.elements("the number of elements of a marker", Some(marker as i64))
            }
            b"NZONE" => {
                self.cursor.go_to(value);
                let zones = self.cursor.integer("the number of zones")?;
                if zones != 1 {
                    let what = format!("a mesh of {zones} zones");
                    let remedy = "write each zone to a file of its own";
                    return Err(self.cursor.fault(Problem::Unsupported { what, remedy }));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Lines of element type, nodes and perhaps a number of the element.
    fn elements(&mut self, what: &'static str, marker: Option<i64>) -> Parsed<()> {
        let count = self.cursor.unsigned(what)?;
        let count = self.cursor.checked_count(count, 4, "elements")?;
        self.cursor.line();
        for element in 0..count {
            skip_comments(&mut self.cursor);
            let cursor = &mut self.cursor;
            let code = cursor.integer("an element's type")?;
            let kind = from_su2(code).map_err(|problem| cursor.fault(problem))?;
            let ElementKind::Shape(shape) = kind else {
                cursor.line();
                continue;
            };
            let mut nodes = [0; 8];
            for node in &mut nodes[..shape.node_count()] {
                more_on_line(cursor, "an element's node")?;
                let index = cursor.integer("an element's node")?;
                *node = match u32::try_from(index) {
                    Ok(index) if (index as usize) < self.n_nodes => index,
                    _ => {
                        let (element, n_nodes) = (element as i64, self.n_nodes);
                        let problem = Problem::NodeOutOfRange { element, node: index, n_nodes };
                        return Err(cursor.fault(problem));
                    }
                };
            }
            cursor.line();
            self.elements.push((shape, nodes, marker));
        }
        Ok(())
    }

    /// Lines of two or three coordinates and perhaps a number of the node.
    fn points(&mut self) -> Parsed<()> {
        let cursor = &mut self.cursor;
        let count = cursor.unsigned("the number of nodes")?;
        let count = cursor.checked_count(count, 4, "nodes")?;
        cursor.line();
        let mut points = Vec::with_capacity(count);
        for node in 0..count {
            skip_comments(cursor);
            let mut point = [0.0; 3];
            for coordinate in &mut point[..self.dimension] {
                more_on_line(cursor, "a node's coordinate")?;
                *coordinate = cursor.float("a node's coordinate")?;
                if !coordinate.is_finite() {
                    let problem = Problem::NotFinite { node: node as i64, value: *coordinate };
                    return Err(cursor.fault(problem));
                }
            }
            cursor.line();
            points.push(point);
        }
        self.points = Some(points);
        Ok(())
    }
}

/// Refuses a line that ends too early: numbers of the next line do not complete it.
fn more_on_line(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<()> {
    if cursor.more_on_line() {
        return Ok(());
    }
    Err(cursor.fault(if cursor.rest().is_empty() {
        Problem::Truncated { expected }
    } else {
        Problem::Unexpected { expected, found: "end of line".to_owned() }
    }))
}

/// Skips lines that begin with `%`.
fn skip_comments(cursor: &mut Cursor<'_>) {
    cursor.skip_space();
    while cursor.rest().first() == Some(&b'%') {
        cursor.line();
        cursor.skip_space();
    }
}

/// Writes a mesh; patches become markers, regions are not written. A 2D mesh is rotated to the plane
/// z = 0.
///
/// # Errors
/// A 2D mesh that is not planar; a patch name that is empty, begins or ends in white space, or has a
/// control character; the file cannot be written.
pub fn write(path: &Path, mesh: &RawMesh) -> Result<(), MeshFileError> {
    let bytes = to_bytes(mesh).map_err(|problem| file_error(path, problem))?;
    if mesh.regions.len() > 1 {
        tracing::warn!(
            "{}: SU2 files have no regions, {} become one",
            path.display(),
            mesh.regions.join(", ")
        );
    }
    save(path, &bytes)
}

/// The content of the file.
pub(super) fn to_bytes(mesh: &RawMesh) -> Result<Vec<u8>, Problem> {
    let mut flat = Cow::Borrowed(mesh);
    if mesh.dimension == 2 {
        flat.to_mut().rotate_to_xy_plane().map_err(|error| Problem::NotPlanar(Box::new(error)))?;
    }
    let mut out = Vec::new();
    let keyword = |out: &mut Vec<u8>, name: &str, value: usize| {
        out.extend_from_slice(format!("{name}= {value}\n").as_bytes());
    };
    keyword(&mut out, "NDIME", mesh.dimension);
    keyword(&mut out, "NELEM", mesh.cells.len());
    for cell in 0..mesh.cells.len() {
        push_element(&mut out, &mesh.cells, cell);
        out.push(b' ');
        push_integer(&mut out, cell as u64);
        out.push(b'\n');
    }
    keyword(&mut out, "NPOIN", mesh.points.len());
    for (node, point) in flat.points.iter().enumerate() {
        for &coordinate in &point[..mesh.dimension] {
            push_float(&mut out, coordinate);
            out.push(b' ');
        }
        push_integer(&mut out, node as u64);
        out.push(b'\n');
    }
    keyword(&mut out, "NMARK", mesh.patches.len());
    for (patch, name) in mesh.patches.iter().enumerate() {
        if name.is_empty() || name.trim_ascii() != name || name.contains(char::is_control) {
            let reason = "SU2 ends a name at the line end and drops white space around it";
            return Err(Problem::UnwritableName { name: name.clone(), reason });
        }
        let on_patch = |&e: &usize| mesh.boundary.groups[e] as usize == patch;
        let elements: Vec<usize> = (0..mesh.boundary.len()).filter(on_patch).collect();
        out.extend_from_slice(format!("MARKER_TAG= {name}\n").as_bytes());
        keyword(&mut out, "MARKER_ELEMS", elements.len());
        for element in elements {
            push_element(&mut out, &mesh.boundary, element);
            out.push(b'\n');
        }
    }
    Ok(out)
}

/// The type and the nodes of an element.
fn push_element(out: &mut Vec<u8>, elements: &Elements, element: usize) {
    push_integer(out, to_vtk(elements.shapes[element]).into());
    for &node in elements.nodes_of(element) {
        out.push(b' ');
        push_integer(out, node.into());
    }
}
