//! Gmsh meshes: formats 2.2 and 4.1, ASCII and binary, both read and written
//! (Gmsh reference manual, "Gmsh file formats").
//!
//! Groups are the physical groups: those of the cells become regions, those of the boundary
//! elements patches, named by `$PhysicalNames` or else `group_<tag>`. Cells without a physical
//! group are the region `default`; boundary elements without a physical group are dropped. An entity
//! of 4.1 in several physical groups is refused where its elements are cells or boundary faces, which
//! belong to one region or one patch. Format 2.2 repeats these elements; [`crate::Mesh::new`] refuses
//! them. The sign of a physical number, which is negative where Gmsh reversed the elements, is ignored.
//! Node tags may be any integers.

mod node_tags;
#[cfg(test)]
mod tests;
mod values;
mod version2;
mod version4;
mod write;

use std::collections::BTreeMap;

use super::builder::MeshBuilder;
use super::cursor::{Cursor, shown};
use super::error::{Fault, MeshFileProblem as Problem, Parsed};
use crate::RawMesh;
use node_tags::NodeTags;
use values::Values;
#[cfg(test)]
pub(super) use write::to_bytes;
pub use write::{GmshFormat, content, write};

/// Data of the sections read so far.
struct Reader<'a> {
    values: Values<'a>,
    version: Version,
    builder: MeshBuilder,
    /// `None` before `$Nodes`.
    node_tags: Option<NodeTags>,
    /// Names by dimension and tag.
    names: BTreeMap<(usize, i64), String>,
    /// Physical groups of entities (4.1), by dimension and tag.
    physical_groups: BTreeMap<(i64, i64), Vec<i64>>,
    has_elements: bool,
}

/// The layouts that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// 2.0 to 2.2.
    Two,
    /// 4.1.
    Four,
}

/// Whether the content can only be a Gmsh file.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start.starts_with(b"$MeshFormat") || start.starts_with(b"$NOD") || start.starts_with(b"$Comm")
}

/// Reads a mesh from a file's content.
pub(super) fn parse(bytes: &[u8]) -> Parsed<RawMesh> {
    let mut cursor = Cursor::text(bytes);
    find_format(&mut cursor)?;
    let (values, version) = mesh_format(cursor)?;
    let mut reader = Reader {
        values,
        version,
        builder: MeshBuilder::new(),
        node_tags: None,
        names: BTreeMap::new(),
        physical_groups: BTreeMap::new(),
        has_elements: false,
    };
    while !reader.values.cursor.at_end() {
        reader.section()?;
    }
    if reader.node_tags.is_none() {
        return Err(Fault::whole(Problem::MissingSection { section: "$Nodes" }));
    }
    if !reader.has_elements {
        return Err(Fault::whole(Problem::MissingSection { section: "$Elements" }));
    }
    let names = reader.names;
    reader.builder.finish(|dimension, tag| names.get(&(dimension, tag)).cloned())
}

/// Moves behind `$MeshFormat`, past comments.
fn find_format(cursor: &mut Cursor<'_>) -> Parsed<()> {
    loop {
        if cursor.at_end() {
            return Err(Fault::whole(Problem::MissingSection { section: "$MeshFormat" }));
        }
        let start = cursor.offset();
        match cursor.word("$MeshFormat")? {
            b"$MeshFormat" => return Ok(()),
            b"$Comments" => skip_to_end_of(cursor, b"Comments")?,
            b"$NOD" => {
                let what = "Gmsh format 1".to_owned();
                return Err(cursor.fault_at(start, Problem::Unsupported { what, remedy: SAVE_AS }));
            }
            other => {
                let problem = Problem::Unexpected { expected: "$MeshFormat", found: shown(other) };
                return Err(cursor.fault_at(start, problem));
            }
        }
    }
}

const SAVE_AS: &str = "save it from Gmsh in format 4.1 or 2.2 (Mesh.MshFileVersion)";

/// Reads the version, the file type and, in a binary file, the integer 1 that shows the byte order.
fn mesh_format(mut cursor: Cursor<'_>) -> Parsed<(Values<'_>, Version)> {
    cursor.skip_space();
    let start = cursor.offset();
    let version = match cursor.word("the format's version")? {
        b"2" | b"2.0" | b"2.1" | b"2.2" => Version::Two,
        b"4.1" => Version::Four,
        other => {
            let what = format!("Gmsh format {}", shown(other));
            return Err(cursor.fault_at(start, Problem::Unsupported { what, remedy: SAVE_AS }));
        }
    };
    let binary = match cursor.integer("the file type (0 ASCII, 1 binary)")? {
        0 => false,
        1 => true,
        other => {
            let expected = "the file type (0 ASCII, 1 binary)";
            return Err(cursor.fault(Problem::Unexpected { expected, found: other.to_string() }));
        }
    };
    let size = cursor.integer("the size of a number")?;
    if size != 8 {
        let expected = "the size of a number, 8";
        return Err(cursor.fault(Problem::Unexpected { expected, found: size.to_string() }));
    }
    cursor.set_binary(binary);
    let mut values = Values { cursor, binary };
    values.begin_data()?;
    if binary {
        let start = values.cursor.offset();
        let found = i32::from_le_bytes(values.cursor.array("the integer 1")?);
        if found != 1 {
            return Err(values.cursor.fault_at(start, Problem::WrongEndianness { found }));
        }
    }
    expect(&mut values.cursor, "$EndMeshFormat")?;
    Ok((values, version))
}

/// Skips the word `expected`.
fn expect(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<()> {
    cursor.skip_space();
    let start = cursor.offset();
    let word = cursor.word(expected)?;
    if word == expected.as_bytes() {
        return Ok(());
    }
    Err(cursor.fault_at(start, Problem::Unexpected { expected, found: shown(word) }))
}

/// Skips a section that is not read.
fn skip_to_end_of(cursor: &mut Cursor<'_>, name: &[u8]) -> Parsed<()> {
    let end = [b"$End", name].concat();
    if cursor.skip_past(&end) {
        return Ok(());
    }
    Err(cursor.fault(Problem::Truncated { expected: "the end of the section that starts here" }))
}

impl Reader<'_> {
    /// Reads one section from its `$Name` to its `$EndName`.
    fn section(&mut self) -> Parsed<()> {
        let cursor = &mut self.values.cursor;
        cursor.skip_space();
        let start = cursor.offset();
        let word = cursor.word("a section")?;
        let end = match (word, self.version) {
            (b"$PhysicalNames", _) => {
                self.physical_names()?;
                "$EndPhysicalNames"
            }
            (b"$Nodes", version) if self.node_tags.is_none() => {
                let nodes = match version {
                    Version::Two => self.nodes_2()?,
                    Version::Four => self.nodes_4()?,
                };
                self.node_tags = Some(nodes);
                "$EndNodes"
            }
            (b"$Elements", version) => {
                let Some(tags) = self.node_tags.take() else {
                    let missing = Problem::MissingSection { section: "$Nodes" };
                    return Err(cursor.fault_at(start, missing));
                };
                match version {
                    Version::Two => self.elements_2(&tags)?,
                    Version::Four => self.elements_4(&tags)?,
                }
                self.node_tags = Some(tags);
                self.has_elements = true;
                "$EndElements"
            }
            (b"$Entities", Version::Four) => {
                self.entities()?;
                "$EndEntities"
            }
            (b"$PartitionedEntities", Version::Four) => {
                self.partitioned_entities()?;
                "$EndPartitionedEntities"
            }
            ([b'$', name @ ..], _)
                if !name.is_empty() && !name.starts_with(b"End") && name != b"Nodes" =>
            {
                return skip_to_end_of(cursor, name);
            }
            (other, _) => {
                let expected = "the start of another section";
                let problem = Problem::Unexpected { expected, found: shown(other) };
                return Err(cursor.fault_at(start, problem));
            }
        };
        expect(&mut self.values.cursor, end)
    }

    /// `$PhysicalNames`: lines of dimension, tag and quoted name.
    fn physical_names(&mut self) -> Parsed<()> {
        let cursor = &mut self.values.cursor;
        let count = cursor.unsigned("the number of physical names")?;
        let count = cursor.checked_count(count, 7, "physical names")?;
        for _ in 0..count {
            let dimension = cursor.unsigned("the dimension of a physical group")?;
            let tag = cursor.integer("the tag of a physical group")?;
            if !cursor.more_on_line() && cursor.rest().is_empty() {
                let expected = "the name of a physical group";
                return Err(cursor.fault(Problem::Truncated { expected }));
            }
            let start = cursor.offset();
            let line = cursor.line();
            let Some(name) = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")) else {
                let expected = "a name in double quotes";
                let problem = Problem::Unexpected { expected, found: shown(line) };
                return Err(cursor.fault_at(start, problem));
            };
            let name = String::from_utf8_lossy(name).into_owned();
            self.names.insert((dimension as usize, tag.abs()), name);
        }
        Ok(())
    }
}
