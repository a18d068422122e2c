//! Writes Gmsh meshes: boundary elements first, then cells, each in the mesh's order.

use std::ops::Range;
use std::path::Path;

use crate::files::element_types::to_gmsh;
use crate::files::error::{MeshFileError, MeshFileProblem as Problem, file_error};
use crate::files::number::{push_float, push_integer};
use crate::files::save;
use crate::{Elements, RawMesh};

/// The layouts of Gmsh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GmshFormat {
    /// Format 2.2 as text, which nearly every program reads.
    Ascii22,
    /// Format 2.2 in binary.
    Binary22,
    /// Format 4.1 as text.
    Ascii41,
    /// Format 4.1 in binary: the smallest and the fastest.
    Binary41,
}

/// Writes a mesh; regions and patches become physical groups, numbered from 1.
///
/// # Errors
/// A group name with a double quote or a control character; more nodes or elements than format 2.2
/// can number; the file cannot be written.
pub fn write(path: &Path, mesh: &RawMesh, format: GmshFormat) -> Result<(), MeshFileError> {
    save(path, &content(path, mesh, format)?)
}

/// The content of the file of [`write()`]; `file` is the path in messages.
///
/// # Errors
/// As [`write()`], except for writing the file.
pub fn content(file: &Path, mesh: &RawMesh, format: GmshFormat) -> Result<Vec<u8>, MeshFileError> {
    to_bytes(mesh, format).map_err(|problem| file_error(file, problem))
}

/// The content of the file.
pub(in crate::files) fn to_bytes(mesh: &RawMesh, format: GmshFormat) -> Result<Vec<u8>, Problem> {
    let (version, binary) = match format {
        GmshFormat::Ascii22 => ("2.2", false),
        GmshFormat::Binary22 => ("2.2", true),
        GmshFormat::Ascii41 => ("4.1", false),
        GmshFormat::Binary41 => ("4.1", true),
    };
    let mut out = Output { bytes: Vec::new(), binary };
    out.text(&format!("$MeshFormat\n{version} {} 8\n", u8::from(binary)));
    if binary {
        out.bytes.extend_from_slice(&1_i32.to_le_bytes());
        out.text("\n");
    }
    out.text("$EndMeshFormat\n");
    physical_names(&mut out, mesh)?;
    if version == "2.2" {
        let largest = mesh.points.len().max(mesh.cells.len() + mesh.boundary.len());
        if largest > i32::MAX as usize {
            return Err(Problem::TooLarge { what: "nodes or elements", count: largest });
        }
        nodes_2(&mut out, mesh);
        elements_2(&mut out, mesh);
    } else {
        entities(&mut out, mesh);
        nodes_4(&mut out, mesh);
        elements_4(&mut out, mesh);
    }
    Ok(out.bytes)
}

/// Bytes of a file, numbers as text or binary.
struct Output {
    bytes: Vec<u8>,
    binary: bool,
}

impl Output {
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A number that is text in every file, and a line end.
    fn count(&mut self, count: usize) {
        push_integer(&mut self.bytes, count as u64);
        self.text("\n");
    }

    fn int(&mut self, value: usize) {
        if self.binary {
            self.bytes.extend_from_slice(&(value as i32).to_le_bytes());
        } else {
            push_integer(&mut self.bytes, value as u64);
            self.bytes.push(b' ');
        }
    }

    fn size(&mut self, value: usize) {
        if self.binary {
            self.bytes.extend_from_slice(&(value as u64).to_le_bytes());
        } else {
            self.int(value);
        }
    }

    fn point(&mut self, point: &[f64; 3]) {
        for &value in point {
            if self.binary {
                self.bytes.extend_from_slice(&value.to_le_bytes());
            } else {
                push_float(&mut self.bytes, value);
                self.bytes.push(b' ');
            }
        }
    }

    /// Ends a line of text; binary data have no lines.
    fn end_line(&mut self) {
        if !self.binary {
            if self.bytes.last() == Some(&b' ') {
                self.bytes.pop();
            }
            self.bytes.push(b'\n');
        }
    }

    /// Ends a section.
    fn end(&mut self, name: &str) {
        if self.binary {
            self.bytes.push(b'\n');
        }
        self.text(&format!("$End{name}\n"));
    }
}

/// Boundary elements and cells with their dimension.
fn lists(mesh: &RawMesh) -> [(usize, &Elements); 2] {
    [(mesh.dimension - 1, &mesh.boundary), (mesh.dimension, &mesh.cells)]
}

/// Runs of successive elements of one shape and one group.
fn runs(elements: &Elements) -> Vec<Range<usize>> {
    let kind = |e: usize| (elements.shapes[e], elements.groups[e]);
    let mut runs: Vec<Range<usize>> = Vec::new();
    for e in 0..elements.len() {
        match runs.last_mut() {
            Some(run) if kind(run.start) == kind(e) => run.end = e + 1,
            _ => runs.push(e..e + 1),
        }
    }
    runs
}

fn physical_names(out: &mut Output, mesh: &RawMesh) -> Result<(), Problem> {
    out.text("$PhysicalNames\n");
    out.count(mesh.patches.len() + mesh.regions.len());
    for (dimension, names) in [(mesh.dimension - 1, &mesh.patches), (mesh.dimension, &mesh.regions)]
    {
        for (group, name) in names.iter().enumerate() {
            if name.contains(|c: char| c == '"' || c.is_control()) {
                let reason = "Gmsh has no way to write double quotes and control characters";
                return Err(Problem::UnwritableName { name: name.clone(), reason });
            }
            out.text(&format!("{dimension} {} \"{name}\"\n", group + 1));
        }
    }
    out.text("$EndPhysicalNames\n");
    Ok(())
}

fn nodes_2(out: &mut Output, mesh: &RawMesh) {
    out.text("$Nodes\n");
    out.count(mesh.points.len());
    for (node, point) in mesh.points.iter().enumerate() {
        out.int(node + 1);
        out.point(point);
        out.end_line();
    }
    out.end("Nodes");
}

fn elements_2(out: &mut Output, mesh: &RawMesh) {
    out.text("$Elements\n");
    out.count(mesh.boundary.len() + mesh.cells.len());
    let mut number = 0;
    for (_, elements) in lists(mesh) {
        for run in runs(elements) {
            let code = usize::from(to_gmsh(elements.shapes[run.start]));
            let group = elements.groups[run.start] as usize + 1;
            if out.binary {
                out.int(code);
                out.int(run.len());
                out.int(2);
            }
            for e in run {
                number += 1;
                out.int(number);
                if !out.binary {
                    out.int(code);
                    out.int(2);
                }
                // The group is also the elementary entity.
                out.int(group);
                out.int(group);
                elements.nodes_of(e).iter().for_each(|&node| out.int(node as usize + 1));
                out.end_line();
            }
        }
    }
    out.end("Elements");
}

/// One entity for each group, with the bounding box of the mesh.
fn entities(out: &mut Output, mesh: &RawMesh) {
    let mut low = [0.0_f64; 3];
    let mut high = [0.0_f64; 3];
    for k in 0..3 {
        let values = || mesh.points.iter().map(|p| p[k]);
        low[k] = values().reduce(f64::min).unwrap_or(0.0);
        high[k] = values().reduce(f64::max).unwrap_or(0.0);
    }
    let mut n_groups = [0; 4];
    n_groups[mesh.dimension - 1] = mesh.patches.len();
    n_groups[mesh.dimension] = mesh.regions.len();
    out.text("$Entities\n");
    n_groups.into_iter().for_each(|n| out.size(n));
    out.end_line();
    for n in n_groups {
        for group in 1..=n {
            out.int(group);
            out.point(&low);
            out.point(&high);
            out.size(1);
            out.int(group);
            out.size(0);
            out.end_line();
        }
    }
    out.end("Entities");
}

/// All nodes in one block, on the first region.
fn nodes_4(out: &mut Output, mesh: &RawMesh) {
    let n = mesh.points.len();
    out.text("$Nodes\n");
    [1, n, 1, n].into_iter().for_each(|value| out.size(value));
    out.end_line();
    [mesh.dimension, 1, 0].into_iter().for_each(|value| out.int(value));
    out.size(n);
    out.end_line();
    for tag in 1..=n {
        out.size(tag);
        out.end_line();
    }
    for point in &mesh.points {
        out.point(point);
        out.end_line();
    }
    out.end("Nodes");
}

fn elements_4(out: &mut Output, mesh: &RawMesh) {
    let n = mesh.boundary.len() + mesh.cells.len();
    let n_blocks = lists(mesh).map(|(_, elements)| runs(elements).len()).iter().sum();
    out.text("$Elements\n");
    [n_blocks, n, 1, n].into_iter().for_each(|value| out.size(value));
    out.end_line();
    let mut number = 0;
    for (dimension, elements) in lists(mesh) {
        for run in runs(elements) {
            out.int(dimension);
            out.int(elements.groups[run.start] as usize + 1);
            out.int(usize::from(to_gmsh(elements.shapes[run.start])));
            out.size(run.len());
            out.end_line();
            for e in run {
                number += 1;
                out.size(number);
                elements.nodes_of(e).iter().for_each(|&node| out.size(node as usize + 1));
                out.end_line();
            }
        }
    }
    out.end("Elements");
}
