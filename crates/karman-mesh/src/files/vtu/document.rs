//! The XML of a VTU file: its attributes and the storage of each array.

use memchr::memmem::find;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::encoding::{Encoding, NumberType};
use crate::files::cursor::shown;
use crate::files::error::{At, Fault, MeshFileProblem as Problem, Parsed};

/// Section of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Points,
    Cells,
    PointData,
    CellData,
    FieldData,
}

/// Storage of the numbers of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Storage {
    /// Decimal text between these offsets of the file.
    Ascii(usize, usize),
    /// Base64 text between these offsets.
    Base64(usize, usize),
    /// In the appended data, from this offset on.
    Appended(u64),
}

/// One `DataArray`.
#[derive(Clone, Debug)]
pub(super) struct ArrayElement {
    pub(super) section: Section,
    pub(super) name: String,
    pub(super) kind: NumberType,
    pub(super) components: usize,
    pub(super) storage: Storage,
}

/// The appended data of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Appended {
    /// Offset in the file of the first byte after the underscore.
    pub(super) start: usize,
    /// Whether the bytes are base64 text.
    pub(super) base64: bool,
}

/// Content of the XML.
pub(super) struct Document<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) encoding: Encoding,
    pub(super) n_points: u64,
    pub(super) n_cells: u64,
    pub(super) arrays: Vec<ArrayElement>,
    pub(super) appended: Option<Appended>,
}

/// State of the traversal of the XML.
struct Walk {
    section: Option<Section>,
    n_pieces: usize,
    has_root: bool,
    is_closed: bool,
    /// The open array, unless it is not read.
    open: Option<ArrayElement>,
    /// Elements inside the open array.
    depth: usize,
}

impl<'a> Document<'a> {
    /// Reads the XML, up to the appended data.
    pub(super) fn parse(bytes: &'a [u8]) -> Parsed<Self> {
        let head = find(bytes, b"<AppendedData");
        let mut document = Document {
            bytes,
            encoding: Encoding::default(),
            n_points: 0,
            n_cells: 0,
            arrays: Vec::new(),
            appended: head.map(|at| appended(bytes, at)).transpose()?,
        };
        let mut walk = Walk {
            section: None,
            n_pieces: 0,
            has_root: false,
            is_closed: false,
            open: None,
            depth: 0,
        };
        let mut reader = Reader::from_reader(&bytes[..head.unwrap_or(bytes.len())]);
        loop {
            let at = reader.buffer_position() as usize;
            match reader.read_event() {
                Err(error) => {
                    let problem = Problem::Xml { reason: error.to_string() };
                    return Err(Fault::new(At::LineOf(reader.error_position() as usize), problem));
                }
                Ok(Event::Start(element)) => document.open(&mut walk, &element, at, false)?,
                Ok(Event::Empty(element)) => document.open(&mut walk, &element, at, true)?,
                Ok(Event::End(element)) => document.close(&mut walk, element.name().as_ref()),
                Ok(Event::Text(_)) => {
                    text(&mut walk, at, reader.buffer_position() as usize, bytes);
                }
                Ok(Event::Eof) => break,
                Ok(_) => {}
            }
        }
        if !walk.has_root {
            return Err(Fault::whole(Problem::MissingSection { section: "VTKFile" }));
        }
        if !walk.is_closed && document.appended.is_none() {
            let expected = "</VTKFile>";
            return Err(Fault::new(At::LineOf(bytes.len()), Problem::Truncated { expected }));
        }
        if walk.n_pieces == 0 {
            return Err(Fault::whole(Problem::MissingSection { section: "Piece" }));
        }
        Ok(document)
    }

    /// Handles the start of an element.
    fn open(
        &mut self,
        walk: &mut Walk,
        element: &BytesStart<'_>,
        at: usize,
        empty: bool,
    ) -> Parsed<()> {
        if walk.open.is_some() {
            walk.depth += usize::from(!empty);
            return Ok(());
        }
        let section = match element.name().as_ref() {
            b"VTKFile" => {
                walk.has_root = true;
                return self.root(element, at);
            }
            b"Piece" => {
                walk.n_pieces += 1;
                if walk.n_pieces > 1 {
                    let what = "a grid of several pieces".to_owned();
                    let remedy = "merge them, with ParaView's filter Clean to Grid for example";
                    return Err(Fault::new(At::LineOf(at), Problem::Unsupported { what, remedy }));
                }
                self.n_points = number(element, "NumberOfPoints", at)?.unwrap_or(0);
                self.n_cells = number(element, "NumberOfCells", at)?.unwrap_or(0);
                return Ok(());
            }
            b"DataArray" => {
                let Some(section) = walk.section else { return Ok(()) };
                let Some(array) = array(element, section, at)? else { return Ok(()) };
                if empty || matches!(array.storage, Storage::Appended(_)) {
                    self.arrays.push(array.clone());
                }
                walk.open = (!empty).then_some(array);
                return Ok(());
            }
            b"Points" => Section::Points,
            b"Cells" => Section::Cells,
            b"PointData" => Section::PointData,
            b"CellData" => Section::CellData,
            b"FieldData" => Section::FieldData,
            _ => return Ok(()),
        };
        walk.section = (!empty).then_some(section);
        Ok(())
    }

    /// Handles the end of an element.
    fn close(&mut self, walk: &mut Walk, name: &[u8]) {
        if walk.depth > 0 {
            walk.depth -= 1;
            return;
        }
        if let Some(array) = walk.open.take() {
            if !matches!(array.storage, Storage::Appended(_)) {
                self.arrays.push(array);
            }
            return;
        }
        match name {
            b"Points" | b"Cells" | b"PointData" | b"CellData" | b"FieldData" => walk.section = None,
            b"VTKFile" => walk.is_closed = true,
            _ => {}
        }
    }

    /// Reads the encoding of the file.
    fn root(&mut self, element: &BytesStart<'_>, at: usize) -> Parsed<()> {
        let unsupported = |what: String, remedy| {
            Err(Fault::new(At::LineOf(at), Problem::Unsupported { what, remedy }))
        };
        let kind = attribute(element, "type", at)?.unwrap_or_default();
        if kind != "UnstructuredGrid" {
            let remedy = "save the mesh as a serial unstructured grid (.vtu)";
            return unsupported(format!("VTK file of type `{kind}`"), remedy);
        }
        self.encoding.big_endian =
            attribute(element, "byte_order", at)?.as_deref() == Some("BigEndian");
        self.encoding.header = match attribute(element, "header_type", at)?.as_deref() {
            None | Some("UInt32") => NumberType::UInt32,
            Some("UInt64") => NumberType::UInt64,
            Some(other) => {
                return unsupported(format!("header type `{other}`"), "use UInt32 or UInt64");
            }
        };
        self.encoding.compressed = match attribute(element, "compressor", at)?.as_deref() {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                let remedy = "save it with the compressor ZLib or none";
                return unsupported(format!("data compressed by `{other}`"), remedy);
            }
        };
        Ok(())
    }
}

/// Notes the position of the text of the open array.
fn text(walk: &mut Walk, start: usize, end: usize, bytes: &[u8]) {
    let blank = bytes.get(start..end).is_none_or(|text| text.trim_ascii().is_empty());
    if walk.depth > 0 || blank {
        return;
    }
    let storage = walk.open.as_mut().map(|array| &mut array.storage);
    if let Some(Storage::Ascii(from, to) | Storage::Base64(from, to)) = storage {
        (*from, *to) = (start, end);
    }
}

/// An array's attributes; `None` for an array of strings.
fn array(element: &BytesStart<'_>, section: Section, at: usize) -> Parsed<Option<ArrayElement>> {
    let name = attribute(element, "Name", at)?.unwrap_or_else(|| format!("{section:?}"));
    let kind = attribute(element, "type", at)?.unwrap_or_default();
    if kind == "String" {
        return Ok(None);
    }
    let Some(kind) = NumberType::of_name(&kind) else {
        let what = format!("array `{name}` of type `{kind}`");
        let remedy = "remove it from the file";
        return Err(Fault::new(At::LineOf(at), Problem::Unsupported { what, remedy }));
    };
    let storage = match attribute(element, "format", at)?.as_deref() {
        None | Some("ascii") => Storage::Ascii(at, at),
        Some("binary") => Storage::Base64(at, at),
        Some("appended") => Storage::Appended(number(element, "offset", at)?.unwrap_or(0)),
        Some(other) => {
            let expected = "format ascii, binary or appended";
            let problem = Problem::Unexpected { expected, found: shown(other.as_bytes()) };
            return Err(Fault::new(At::LineOf(at), problem));
        }
    };
    let components = number(element, "NumberOfComponents", at)?.unwrap_or(1).max(1);
    let components = usize::try_from(components).unwrap_or(usize::MAX);
    Ok(Some(ArrayElement { section, name, kind, components, storage }))
}

/// The value of an attribute.
fn attribute(element: &BytesStart<'_>, name: &str, at: usize) -> Parsed<Option<String>> {
    let malformed = |reason: String| Fault::new(At::LineOf(at), Problem::Xml { reason });
    let found = element.try_get_attribute(name).map_err(|error| malformed(error.to_string()))?;
    let value = found.map(|attribute| attribute.unescape_value().map(|value| value.into_owned()));
    value.transpose().map_err(|error| malformed(error.to_string()))
}

/// The value of an attribute as a number; an empty one counts as absent.
fn number(element: &BytesStart<'_>, name: &'static str, at: usize) -> Parsed<Option<u64>> {
    let Some(text) = attribute(element, name, at)?.filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    let number = text.trim().parse().map_err(|_| {
        let found = shown(text.as_bytes());
        Fault::new(At::LineOf(at), Problem::BadNumber { found, expected: name })
    })?;
    Ok(Some(number))
}

/// The appended data, given the offset of their element.
fn appended(bytes: &[u8], at: usize) -> Parsed<Appended> {
    let truncated = |expected| Fault::new(At::Byte(bytes.len()), Problem::Truncated { expected });
    let tag = find(&bytes[at..], b">").ok_or_else(|| truncated("the end of <AppendedData>"))?;
    let tag = &bytes[at..at + tag + 1];
    let underscore = bytes[at + tag.len()..].iter().position(|b| !b.is_ascii_whitespace());
    let underscore = underscore.ok_or_else(|| truncated("the underscore before appended data"))?;
    let start = at + tag.len() + underscore;
    if bytes[start] != b'_' {
        let found = shown(&bytes[start..start + 1]);
        let expected = "an underscore before appended data";
        return Err(Fault::new(At::Byte(start), Problem::Unexpected { expected, found }));
    }
    let base64 = find(tag, b"base64").is_some();
    if !base64 && find(tag, b"raw").is_none() {
        let expected = "encoding raw or base64";
        return Err(Fault::new(
            At::LineOf(at),
            Problem::Unexpected { expected, found: shown(tag) },
        ));
    }
    Ok(Appended { start: start + 1, base64 })
}
