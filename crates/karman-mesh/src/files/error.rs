//! Errors of mesh files and matrix files: the file, the place in it, and the values found there.
//!
//! Readers work on bytes and report a [`Fault`] (an offset and a problem); the entry points convert it
//! to a [`MeshFileError`] with the file's name and a line or a byte.

use crate::MeshError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Error in reading or writing a mesh file or a Matrix Market file.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}: {problem}", file.display())]
pub struct MeshFileError {
    /// Path of the file.
    pub file: PathBuf,
    /// Place in the file.
    pub place: Place,
    /// The problem.
    pub problem: MeshFileProblem,
}

/// A place in a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, counted from 1.
    Line(usize),
    /// A byte of a binary file, counted from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(out, ", line {line}"),
            Place::Byte(byte) => write!(out, ", byte {byte}"),
        }
    }
}

/// Problem of a mesh file or a matrix file. Elements and nodes are counted from 0 unless called a tag.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileProblem {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Neither the content nor the extension names a format.
    #[error(
        "not a known mesh format (extension `{extension}`): expected .msh (Gmsh), .su2, .vtu or \
         .vtk (legacy VTK)"
    )]
    UnknownFormat {
        /// The file name's extension.
        extension: String,
    },
    /// The format is known and cannot be written.
    #[error("cannot write `.{extension}` files: write .msh (Gmsh), .su2 or .vtu")]
    UnwritableFormat {
        /// The file name's extension.
        extension: String,
    },
    /// The content is not that of the format.
    #[error("expected {expected}, found `{found}`")]
    Unexpected {
        /// The text expected.
        expected: &'static str,
        /// The text found.
        found: String,
    },
    /// The file ends too early.
    #[error("the file ends where {expected} should follow: it is truncated")]
    Truncated {
        /// The text expected.
        expected: &'static str,
    },
    /// A part of the file that must exist does not.
    #[error("missing section `{section}`")]
    MissingSection {
        /// The section's name as the format writes it.
        section: &'static str,
    },
    /// Text that is not the number it should be.
    #[error("`{found}` is not a number that can stand for {expected}")]
    BadNumber {
        /// The text found.
        found: String,
        /// The quantity expected.
        expected: &'static str,
    },
    /// A coordinate is NaN or infinite.
    #[error("node {node} has a coordinate that is not finite: {value}")]
    NotFinite {
        /// Index or tag of the node.
        node: i64,
        /// The coordinate.
        value: f64,
    },
    /// An entry of a matrix or a vector is NaN or infinite.
    #[error("the entry is not finite: {value}")]
    EntryNotFinite {
        /// The entry.
        value: f64,
    },
    /// An entry lies outside its matrix.
    #[error(
        "the entry in row {row}, column {column} lies outside the matrix of {rows} rows and \
         {columns} columns (counted from 1)"
    )]
    EntryOutOfRange {
        /// Row of the entry, counted from 1.
        row: i64,
        /// Column of the entry, counted from 1.
        column: i64,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// An entry of a symmetric matrix lies in the upper triangle.
    #[error(
        "the entry in row {row}, column {column} lies above the diagonal: a symmetric file lists \
         the lower triangle alone"
    )]
    AboveDiagonal {
        /// Row of the entry, counted from 1.
        row: i64,
        /// Column of the entry, counted from 1.
        column: i64,
    },
    /// An element names a node that does not exist.
    #[error(
        "element {element} names node {node}, which does not exist (the file has {n_nodes} nodes)"
    )]
    NodeOutOfRange {
        /// Index or tag of the element.
        element: i64,
        /// Index or tag of the node.
        node: i64,
        /// Number of nodes.
        n_nodes: usize,
    },
    /// Two nodes have one tag.
    #[error("node tag {tag} is given twice")]
    DuplicateNode {
        /// The tag.
        tag: i64,
    },
    /// A number that stands for no element type of the format.
    #[error("unknown element type {element_type} ({format})")]
    UnknownElementType {
        /// The number in the file.
        element_type: i64,
        /// The numbering it belongs to.
        format: &'static str,
    },
    /// An element with nodes inside its edges.
    #[error("element type {element_type} is a {name}: only linear elements are read; {remedy}")]
    HigherOrder {
        /// The number in the file.
        element_type: i64,
        /// The type in words.
        name: &'static str,
        /// How to make the mesh linear.
        remedy: &'static str,
    },
    /// An element with a wrong number of nodes.
    #[error("element {element}, a {shape}, has {found} nodes instead of {expected}")]
    WrongNodeCount {
        /// Index of the element.
        element: i64,
        /// The element's shape.
        shape: &'static str,
        /// Nodes given.
        found: i64,
        /// Nodes needed.
        expected: usize,
    },
    /// A binary file written on a machine with the other byte order.
    #[error(
        "binary file of the other endianness: the integer 1 at its start reads as {found}; convert \
         it on the machine that wrote it (ASCII has no byte order)"
    )]
    WrongEndianness {
        /// The integer that should have been 1.
        found: i32,
    },
    /// A count that exceeds the rest of the file.
    #[error("{count} {what} announced, but the rest of the file can hold at most {limit}")]
    CountTooLarge {
        /// The items counted.
        what: &'static str,
        /// The number in the file.
        count: i64,
        /// The largest possible count.
        limit: u64,
    },
    /// More nodes than 32-bit numbers can name.
    #[error("the mesh is too large: {count} {what}, at most {} are supported", u32::MAX - 1)]
    TooLarge {
        /// The items counted.
        what: &'static str,
        /// Its number.
        count: usize,
    },
    /// A valid file with a feature that karman does not read.
    #[error("{what} cannot be read: {remedy}")]
    Unsupported {
        /// The feature.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A 2D mesh that is not planar, for a format with two coordinates.
    #[error("cannot be written with two coordinates: {0}")]
    NotPlanar(Box<MeshError>),
    /// Elements of one entity in several groups.
    #[error(
        "{kind} {entity} is in the physical groups \"{}\": a {} belongs to one {}; leave the {kind} in \
         one of these groups", groups.join("\" and \""),
        if *are_cells { "cell" } else { "boundary face" },
        if *are_cells { "region" } else { "patch" }
    )]
    GroupsOverlap {
        /// "curve", "surface" or "volume".
        kind: &'static str,
        /// Tag of the entity.
        entity: i64,
        /// Names of the groups.
        groups: Vec<String>,
        /// Whether the elements are cells; else they are boundary faces.
        are_cells: bool,
    },
    /// No element of two or three dimensions.
    #[error(
        "the mesh has no cells: neither 3D elements nor 2D ones ({n_nodes} nodes read). Name the surface or \
         volume in a physical group too."
    )]
    NoCells {
        /// Number of nodes in the file.
        n_nodes: usize,
    },
    /// An array whose length does not match other arrays.
    #[error("array `{array}` has {found} values instead of {expected}")]
    WrongLength {
        /// The array's name.
        array: String,
        /// Values found.
        found: usize,
        /// Values needed.
        expected: usize,
    },
    /// A block of encoded or compressed data is damaged.
    #[error("array `{array}` cannot be decoded: {reason}")]
    Undecodable {
        /// The array's name.
        array: String,
        /// Message of the decoder.
        reason: String,
    },
    /// The XML itself is malformed.
    #[error("malformed XML: {reason}")]
    Xml {
        /// Message of the parser.
        reason: String,
    },
    /// A name that the format cannot represent.
    #[error("the name `{name}` cannot be written: {reason}")]
    UnwritableName {
        /// The patch, region or field.
        name: String,
        /// The rule of the format.
        reason: &'static str,
    },
    /// A field of the case that the file does not have.
    #[error("no field `{name}`; the file has: {available}")]
    NoSuchField {
        /// The requested field.
        name: String,
        /// The names in the file.
        available: String,
    },
}

/// An offset, with its form in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// The whole file.
    File,
    /// The line of this byte.
    LineOf(usize),
    /// This byte.
    Byte(usize),
}

/// A problem at an offset of the file's bytes. Boxed, because it travels through hot loops.
#[derive(Debug)]
pub(super) struct Fault(Box<(At, MeshFileProblem)>);

/// Result of the parsers.
pub(super) type Parsed<T> = Result<T, Fault>;

impl Fault {
    /// A problem at a place.
    #[cold]
    pub(super) fn new(at: At, problem: MeshFileProblem) -> Self {
        Fault(Box::new((at, problem)))
    }

    /// A problem of the file as a whole.
    #[cold]
    pub(super) fn whole(problem: MeshFileProblem) -> Self {
        Fault::new(At::File, problem)
    }

    /// The error with file and line; `bytes` is the content of the file.
    #[cold]
    pub(super) fn locate(self, file: &Path, bytes: &[u8]) -> MeshFileError {
        let (at, problem) = *self.0;
        let place = match at {
            At::File => Place::File,
            At::Byte(offset) => Place::Byte(offset),
            At::LineOf(offset) => {
                let before = &bytes[..offset.min(bytes.len())];
                Place::Line(1 + before.iter().filter(|&&b| b == b'\n').count())
            }
        };
        MeshFileError { file: file.to_path_buf(), place, problem }
    }
}

/// An error without a place inside the file.
pub(super) fn file_error(file: &Path, problem: impl Into<MeshFileProblem>) -> MeshFileError {
    MeshFileError { file: file.to_path_buf(), place: Place::File, problem: problem.into() }
}
