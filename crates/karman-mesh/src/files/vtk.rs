//! Legacy VTK files (VTK User's Guide, "VTK File Formats"), ASCII and binary, versions 1 to 5, of
//! the data set `UNSTRUCTURED_GRID`. Binary numbers are big-endian.
//!
//! Groups, and the orientation of prisms, are those of VTU files: [`super::vtu`].

#[cfg(test)]
pub(super) mod tests;

use super::cursor::{Cursor, shown};
use super::error::{At, Fault, MeshFileProblem as Problem, Parsed};
use super::fields::MeshWithFields;
use super::vtk_grid::{NamedArray, Numbers, VtkGrid};

const SIGNATURE: &[u8] = b"# vtk DataFile Version";

/// Whether the content can only be a legacy VTK file.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Data of the keywords read so far.
struct Reader<'a> {
    cursor: Cursor<'a>,
    binary: bool,
    /// Whether `CELLS` are two arrays, offsets and nodes (version 5).
    split_cells: bool,
    target: Target,
    points: Option<NamedArray>,
    offsets: Vec<i64>,
    connectivity: Option<(Vec<i64>, At)>,
    types: Option<(Vec<i64>, At)>,
    cell_arrays: Vec<NamedArray>,
    point_arrays: Vec<NamedArray>,
    field_arrays: Vec<NamedArray>,
}

/// Entities of the next arrays.
#[derive(Clone, Copy)]
enum Target {
    File,
    Cells(usize),
    Points(usize),
}

/// Reads a mesh and its fields from a file's content.
pub(super) fn parse(bytes: &[u8]) -> Parsed<MeshWithFields> {
    let mut reader = header(bytes)?;
    while !reader.cursor.at_end() {
        reader.keyword()?;
    }
    let missing = |section| Fault::whole(Problem::MissingSection { section });
    VtkGrid {
        points: reader.points.ok_or_else(|| missing("POINTS"))?,
        offsets: reader.offsets,
        connectivity: reader.connectivity.ok_or_else(|| missing("CELLS"))?,
        types: reader.types.ok_or_else(|| missing("CELL_TYPES"))?,
        cell_arrays: reader.cell_arrays,
        point_arrays: reader.point_arrays,
        field_arrays: reader.field_arrays,
    }
    .into_mesh()
}

/// The three lines before the data set.
fn header(bytes: &[u8]) -> Parsed<Reader<'_>> {
    let mut cursor = Cursor::text(bytes);
    let first = cursor.line();
    let Some(version) = first.strip_prefix(SIGNATURE) else {
        let expected = "`# vtk DataFile Version` on the first line";
        return Err(cursor.fault_at(0, Problem::Unexpected { expected, found: shown(first) }));
    };
    let split_cells = version.trim_ascii().first().is_some_and(|&major| major >= b'5');
    cursor.line();
    let start = cursor.offset();
    let expected = "ASCII or BINARY";
    let word = cursor.word(expected)?;
    let binary = word.eq_ignore_ascii_case(b"BINARY");
    if !binary && !word.eq_ignore_ascii_case(b"ASCII") {
        return Err(cursor.fault_at(start, Problem::Unexpected { expected, found: shown(word) }));
    }
    cursor.set_binary(binary);
    Ok(Reader {
        cursor,
        binary,
        split_cells,
        target: Target::File,
        points: None,
        offsets: Vec::new(),
        connectivity: None,
        types: None,
        cell_arrays: Vec::new(),
        point_arrays: Vec::new(),
        field_arrays: Vec::new(),
    })
}

impl Reader<'_> {
    /// Reads one keyword and its section.
    fn keyword(&mut self) -> Parsed<()> {
        self.cursor.skip_space();
        let start = self.cursor.offset();
        let word = self.cursor.word("a keyword")?;
        match word.to_ascii_uppercase().as_slice() {
            b"DATASET" => {
                let kind = self.cursor.word("the kind of data set")?;
                if !kind.eq_ignore_ascii_case(b"UNSTRUCTURED_GRID") {
                    let what = format!("data set {}", shown(kind));
                    let remedy = "convert it to an unstructured grid, with ParaView's filter \
                                  Append Datasets for example";
                    let problem = Problem::Unsupported { what, remedy };
                    return Err(self.cursor.fault_at(start, problem));
                }
                Ok(())
            }
            b"POINTS" => {
                let count = self.cursor.unsigned("the number of points")?;
                self.points = Some(self.array("POINTS", 3, count)?);
                Ok(())
            }
            b"CELLS" => self.cells(),
            b"CELL_TYPES" => {
                let count = self.cursor.unsigned("the number of cell types")?;
                self.cursor.line();
                self.types = Some(self.integers("int", count)?);
                Ok(())
            }
            b"CELL_DATA" => {
                let count = self.cursor.unsigned("the number of cells")?;
                self.target = Target::Cells(count as usize);
                Ok(())
            }
            b"POINT_DATA" => {
                let count = self.cursor.unsigned("the number of points")?;
                self.target = Target::Points(count as usize);
                Ok(())
            }
            b"FIELD" => self.field_data(),
            b"METADATA" => {
                self.skip_metadata();
                Ok(())
            }
            attribute => self.attribute(attribute, start, word),
        }
    }

    /// `SCALARS`, `VECTORS` and the like: one array on the cells or points.
    fn attribute(&mut self, keyword: &[u8], start: usize, word: &[u8]) -> Parsed<()> {
        let components = match keyword {
            b"SCALARS" | b"GLOBAL_IDS" | b"PEDIGREE_IDS" | b"EDGE_FLAGS" => 1,
            b"VECTORS" | b"NORMALS" => 3,
            b"TENSORS6" => 6,
            b"TENSORS" => 9,
            b"TEXTURE_COORDINATES" => 0,
            b"COLOR_SCALARS" => {
                self.cursor.word("the name of an array")?;
                let n_values = self.cursor.unsigned("the number of values of a colour")?;
                return self.skip_colours(n_values, self.entities());
            }
            b"LOOKUP_TABLE" => {
                self.cursor.word("the name of a table")?;
                let size = self.cursor.unsigned("the size of a table")?;
                return self.skip_colours(4, size);
            }
            _ => {
                let expected = "a keyword of an unstructured grid";
                let problem = Problem::Unexpected { expected, found: shown(word) };
                return Err(self.cursor.fault_at(start, problem));
            }
        };
        let name = decoded_name(self.cursor.word("the name of an array")?);
        let components = match components {
            0 => self.cursor.unsigned("the number of texture coordinates")?,
            1 if keyword == b"SCALARS" => return self.scalars(name),
            n => n,
        };
        let array = self.array(&name, components, self.entities())?;
        self.store(array);
        Ok(())
    }

    /// `SCALARS name type [components]`, then a line that names a table of colours.
    fn scalars(&mut self, name: String) -> Parsed<()> {
        let kind = self.cursor.word("the type of an array")?;
        let mut components = 1;
        if self.cursor.more_on_line() {
            components = self.cursor.unsigned("the number of components")?;
        }
        self.cursor.line();
        if self.cursor.rest().trim_ascii_start().starts_with(b"LOOKUP_TABLE") {
            self.cursor.skip_space();
            self.cursor.line();
        }
        let array = self.numbers(kind, &name, components, self.entities())?;
        self.store(array);
        Ok(())
    }

    /// `FIELD name n`, then n arrays of `name components tuples type`.
    fn field_data(&mut self) -> Parsed<()> {
        self.cursor.word("the name of a field")?;
        let count = self.cursor.unsigned("the number of arrays of a field")?;
        for _ in 0..count {
            let mut name = self.cursor.word("the name of an array")?;
            while name == b"METADATA" {
                self.skip_metadata();
                name = self.cursor.word("the name of an array")?;
            }
            let name = decoded_name(name);
            let components = self.cursor.unsigned("the number of components")?;
            let tuples = self.cursor.unsigned("the number of values of an array")?;
            if !matches!(self.target, Target::File) && tuples != self.entities() {
                let (found, expected) = (tuples as usize, self.entities() as usize);
                let problem = Problem::WrongLength { array: name, found, expected };
                return Err(self.cursor.fault(problem));
            }
            let array = self.array(&name, components, tuples)?;
            self.store(array);
        }
        Ok(())
    }

    /// `CELLS`: up to version 4, each cell's number of nodes and its nodes; from 5 on two arrays.
    fn cells(&mut self) -> Parsed<()> {
        let first = self.cursor.unsigned("the number of cells")?;
        let second = self.cursor.unsigned("the number of values that describe cells")?;
        self.cursor.line();
        if self.split_cells {
            self.offsets = self.labelled(b"OFFSETS", first)?.0;
            self.connectivity = Some(self.labelled(b"CONNECTIVITY", second)?);
            return Ok(());
        }
        let (values, at) = self.integers("int", second)?;
        let mut offsets = vec![0];
        let mut nodes = Vec::with_capacity(values.len());
        let mut rest = values.as_slice();
        while let Some((&count, after)) = rest.split_first() {
            let Some((cell, after)) =
                usize::try_from(count).ok().and_then(|n| after.split_at_checked(n))
            else {
                let (array, found) = ("CELLS".to_owned(), values.len());
                let expected = (values.len() - after.len()).saturating_add_signed(count as isize);
                let problem = Problem::WrongLength { array, found, expected };
                return Err(Fault::new(at, problem));
            };
            nodes.extend_from_slice(cell);
            offsets.push(nodes.len() as i64);
            rest = after;
        }
        if offsets.len() - 1 != first as usize {
            let (array, found) = ("CELLS".to_owned(), offsets.len() - 1);
            let problem = Problem::WrongLength { array, found, expected: first as usize };
            return Err(Fault::new(at, problem));
        }
        self.offsets = offsets;
        self.connectivity = Some((nodes, at));
        Ok(())
    }

    /// `LABEL type`, then integers.
    fn labelled(&mut self, label: &'static [u8], count: u64) -> Parsed<(Vec<i64>, At)> {
        let expected = "OFFSETS and CONNECTIVITY";
        let word = self.cursor.word(expected)?;
        if !word.eq_ignore_ascii_case(label) {
            return Err(self.cursor.fault(Problem::Unexpected { expected, found: shown(word) }));
        }
        let kind = self.cursor.word("the type of an array")?;
        self.cursor.line();
        match self.numbers(kind, expected, 1, count)? {
            NamedArray { values: Numbers::Integer(values), at, .. } => Ok((values, at)),
            NamedArray { at, .. } => {
                let expected = "integers";
                Err(Fault::new(at, Problem::Unexpected { expected, found: shown(kind) }))
            }
        }
    }

    /// Integers of a type that the keyword implies.
    fn integers(&mut self, kind: &str, count: u64) -> Parsed<(Vec<i64>, At)> {
        let array = self.numbers(kind.as_bytes(), kind, 1, count)?;
        match array.values {
            Numbers::Integer(values) => Ok((values, array.at)),
            Numbers::Real(_) => Ok((Vec::new(), array.at)),
        }
    }

    /// The type at the end of a line, and the numbers that follow.
    fn array(&mut self, name: &str, components: u64, tuples: u64) -> Parsed<NamedArray> {
        let kind = self.cursor.word("the type of an array")?;
        self.cursor.line();
        self.numbers(kind, name, components, tuples)
    }

    /// Numbers of a type, at the start of a line.
    fn numbers(
        &mut self,
        kind: &[u8],
        name: &str,
        components: u64,
        tuples: u64,
    ) -> Parsed<NamedArray> {
        let at = self.cursor.place(self.cursor.offset());
        let Some((size, decode)) = number_type(kind) else {
            let what = format!("array `{name}` of type {}", shown(kind));
            let remedy = "remove it, or write the mesh as .vtu";
            return Err(Fault::new(at, Problem::Unsupported { what, remedy }));
        };
        let count = components.saturating_mul(tuples);
        let smallest = if self.binary { size } else { 2 };
        let count = self.cursor.checked_count(count, smallest, "numbers of an array")?;
        let values = if self.binary {
            decode(self.cursor.take(count * size, "the numbers of an array")?)
        } else if matches!(decode(&[]), Numbers::Real(_)) {
            let read = (0..count).map(|_| self.cursor.float("a number of an array"));
            Numbers::Real(read.collect::<Parsed<_>>()?)
        } else {
            let read = (0..count).map(|_| self.cursor.integer("a number of an array"));
            Numbers::Integer(read.collect::<Parsed<_>>()?)
        };
        Ok(NamedArray { name: name.to_owned(), components: components as usize, values, at })
    }

    /// Number of entities of the next arrays.
    fn entities(&self) -> u64 {
        match self.target {
            Target::File => 0,
            Target::Cells(count) | Target::Points(count) => count as u64,
        }
    }

    fn store(&mut self, array: NamedArray) {
        match self.target {
            Target::File => self.field_arrays.push(array),
            Target::Cells(_) => self.cell_arrays.push(array),
            Target::Points(_) => self.point_arrays.push(array),
        }
    }

    /// Skips colours: bytes in a binary file, fractions in a text.
    fn skip_colours(&mut self, components: u64, entities: u64) -> Parsed<()> {
        self.cursor.line();
        let kind: &[u8] = if self.binary { b"unsigned_char" } else { b"float" };
        self.numbers(kind, "colours", components, entities).map(|_| ())
    }

    /// Skips the metadata of an array, up to an empty line.
    fn skip_metadata(&mut self) {
        self.cursor.line();
        while self.cursor.remaining() > 0 && !self.cursor.line().is_empty() {}
    }
}

/// Converts big-endian bytes to numbers.
type Decode = fn(&[u8]) -> Numbers;

/// Size in bytes and decoder of a type's name.
fn number_type(kind: &[u8]) -> Option<(usize, Decode)> {
    macro_rules! of {
        ($number:ty, $variant:ident, $wide:ty) => {{
            let decode: Decode = |bytes| {
                let items = bytes.as_chunks::<{ size_of::<$number>() }>().0.iter();
                Numbers::$variant(items.map(|&b| <$number>::from_be_bytes(b) as $wide).collect())
            };
            Some((size_of::<$number>(), decode))
        }};
    }
    match kind.to_ascii_lowercase().as_slice() {
        b"float" | b"vtktypefloat32" => of!(f32, Real, f64),
        b"double" | b"vtktypefloat64" => of!(f64, Real, f64),
        b"char" | b"signed_char" | b"vtktypeint8" => of!(i8, Integer, i64),
        b"unsigned_char" | b"vtktypeuint8" => of!(u8, Integer, i64),
        b"short" | b"vtktypeint16" => of!(i16, Integer, i64),
        b"unsigned_short" | b"vtktypeuint16" => of!(u16, Integer, i64),
        // VTK writes its identifiers as 32-bit integers here.
        b"int" | b"vtkidtype" | b"vtktypeint32" => of!(i32, Integer, i64),
        b"unsigned_int" | b"vtktypeuint32" => of!(u32, Integer, i64),
        b"long" | b"vtktypeint64" => of!(i64, Integer, i64),
        b"unsigned_long" | b"vtktypeuint64" => of!(u64, Integer, i64),
        _ => None,
    }
}

/// A name whose special characters are written as `%` and two hexadecimal digits.
fn decoded_name(word: &[u8]) -> String {
    percent_encoding::percent_decode(word).decode_utf8_lossy().into_owned()
}
