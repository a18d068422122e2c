//! Checkpoints: named arrays and texts in one file from which a run continues bit for bit.
//!
//! The file is in the safetensors format, so other programs can read its arrays. Its header contains a JSON
//! text with the format version, the texts, and a CRC-32 of all content. The file is written under another
//! name and renamed once complete.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::mesh::files::write_complete;
use flate2::Crc;
use rayon::prelude::*;
use safetensors::tensor::{Dtype, Metadata, SafeTensorError, SafeTensors, TensorInfo, View};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Version of the names and meanings of the stored arrays and texts.
pub const FORMAT_VERSION: u32 = 2;

/// The entry of the safetensors header that identifies a checkpoint of karman.
const HEADER_KEY: &str = "karman_checkpoint";

/// Why a checkpoint cannot be written or used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("cannot {action} the checkpoint {}: {source}", path.display())]
    File {
        /// "read" or "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file of another kind.
    #[error("{} is not a checkpoint of karman: {reason}", path.display())]
    NotCheckpoint {
        /// The file.
        path: PathBuf,
        /// How it differs.
        reason: String,
    },
    /// Another format version.
    #[error(
        "the checkpoint {} has format version {found}, this karman reads version {FORMAT_VERSION}",
        path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error("the checkpoint {} is not whole: it has {bytes} bytes, not those its header announces",
        path.display())]
    NotWhole {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// The content changed after it was written.
    #[error("the checkpoint {} is damaged: its checksum is {found:08x}, not {stored:08x}",
        path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// CRC-32 of the content.
        found: u32,
        /// CRC-32 in the header.
        stored: u32,
    },
    /// A required array is missing.
    #[error("the checkpoint has no array `{name}`; it has {known}: it is of another case")]
    MissingArray {
        /// The array.
        name: String,
        /// The arrays of the checkpoint.
        known: String,
    },
    /// A required text is missing.
    #[error("the checkpoint has no entry `{name}`: it is of another case")]
    MissingEntry {
        /// The entry.
        name: String,
    },
    /// A text with a wrong value.
    #[error("the checkpoint's entry `{name}` is `{found}`, not `{expected}`")]
    WrongEntry {
        /// The entry.
        name: String,
        /// Its text.
        found: String,
        /// The expected text.
        expected: String,
    },
    /// An array of another shape or kind of number.
    #[error("the checkpoint's array `{name}` is {found}, the run needs {expected}")]
    WrongShape {
        /// The array.
        name: String,
        /// Its shape and kind.
        found: String,
        /// The required shape and kind.
        expected: String,
    },
    /// Arrays of the right shape and kind with inconsistent numbers.
    #[error("the checkpoint's `{name}` cannot be used: {reason}")]
    Unusable {
        /// The array, or the common prefix of several arrays.
        name: String,
        /// The inconsistency.
        reason: String,
    },
    /// The state could not be copied from or to its device.
    #[error("cannot copy the state of a checkpoint: {0}")]
    State(String),
}

/// Numbers that a thread converts at a time.
const CHUNK: usize = 1 << 16;

/// The bytes of numbers of `S` bytes, converted in parallel.
fn little_endian<T: Copy + Sync, const S: usize>(
    values: &[T],
    of: impl Fn(T) -> [u8; S] + Sync,
) -> Vec<u8> {
    let mut bytes = vec![0; S * values.len()];
    let chunks = bytes.par_chunks_mut(S * CHUNK).zip(values.par_chunks(CHUNK));
    chunks.for_each(|(bytes, values)| {
        let places = bytes.chunks_exact_mut(S).zip(values);
        places.for_each(|(place, value)| place.copy_from_slice(&of(*value)));
    });
    bytes
}

/// Numbers of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayValues {
    /// Values of fields; single precision is stored as `f64`, which is exact.
    F64(Vec<f64>),
    /// Connectivity and global numbers.
    U32(Vec<u32>),
}

impl ArrayValues {
    fn len(&self) -> usize {
        match self {
            ArrayValues::F64(values) => values.len(),
            ArrayValues::U32(values) => values.len(),
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            ArrayValues::F64(_) => Dtype::F64,
            ArrayValues::U32(_) => Dtype::U32,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            ArrayValues::F64(values) => little_endian(values, |v| v.to_le_bytes()),
            ArrayValues::U32(values) => little_endian(values, |v| v.to_le_bytes()),
        }
    }

    /// CRC-32 of the bytes: of chunks in parallel, combined in order.
    fn checksum(&self) -> Crc {
        let bytes = self.bytes();
        let of_chunk = |chunk: &[u8]| {
            let mut crc = Crc::new();
            crc.update(chunk);
            crc
        };
        let parts: Vec<Crc> = bytes.par_chunks(8 * CHUNK).map(of_chunk).collect();
        let mut whole = Crc::new();
        parts.iter().for_each(|part| whole.combine(part));
        whole
    }
}

/// An array with its name and shape.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArray {
    /// Name, unique in a checkpoint: the owner's prefix, a dot, the array: `heat.temperature`.
    pub name: String,
    /// Extents, the slowest first; their product is the number of values.
    pub shape: Vec<usize>,
    /// The numbers.
    pub values: ArrayValues,
}

impl NamedArray {
    /// A list of reals.
    pub fn reals(name: impl Into<String>, values: Vec<f64>) -> Self {
        let shape = vec![values.len()];
        NamedArray { name: name.into(), shape, values: ArrayValues::F64(values) }
    }

    /// A list of indices.
    pub fn indices(name: impl Into<String>, values: Vec<u32>) -> Self {
        let shape = vec![values.len()];
        NamedArray { name: name.into(), shape, values: ArrayValues::U32(values) }
    }

    fn describe(&self) -> String {
        let kind = match self.values {
            ArrayValues::F64(_) => "reals",
            ArrayValues::U32(_) => "indices",
        };
        format!("{:?} {kind}", self.shape)
    }
}

/// A state that can be stored in a checkpoint and restored from it.
pub trait Checkpointed {
    /// The arrays that a restart needs and set-up does not compute, under unique names.
    ///
    /// # Errors
    /// [`CheckpointError::State`] where a device fails.
    fn arrays(&self) -> Result<Vec<NamedArray>, CheckpointError>;

    /// Restores its arrays; on an error the state may be partly replaced.
    ///
    /// # Errors
    /// An array is missing or of another shape; a device fails.
    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError>;
}

/// The content of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    arrays: BTreeMap<String, NamedArray>,
    entries: BTreeMap<String, String>,
}

/// The text in the safetensors header.
#[derive(Serialize, Deserialize)]
struct Header {
    format_version: u32,
    checksum: u32,
    entries: BTreeMap<String, String>,
}

/// The version alone, which is read before all that depends on it.
#[derive(Deserialize)]
struct VersionOnly {
    format_version: u32,
}

/// An array in the interface of the safetensors crate.
struct Stored<'a>(&'a NamedArray);

impl View for Stored<'_> {
    fn dtype(&self) -> Dtype {
        self.0.values.dtype()
    }
    fn shape(&self) -> &[usize] {
        &self.0.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.0.values.bytes())
    }
    fn data_len(&self) -> usize {
        match &self.0.values {
            ArrayValues::F64(values) => size_of_val(values.as_slice()),
            ArrayValues::U32(values) => size_of_val(values.as_slice()),
        }
    }
}

impl Checkpoint {
    /// An empty checkpoint.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an array; it replaces an array of equal name.
    pub fn insert(&mut self, array: NamedArray) {
        debug_assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
        self.arrays.insert(array.name.clone(), array);
    }

    /// Adds all arrays of a state.
    ///
    /// # Errors
    /// As [`Checkpointed::arrays`].
    pub fn insert_state(&mut self, state: &dyn Checkpointed) -> Result<(), CheckpointError> {
        state.arrays()?.into_iter().for_each(|array| self.insert(array));
        Ok(())
    }

    /// Adds a text, such as the number of steps or the name of the case.
    pub fn set(&mut self, name: &str, text: impl ToString) {
        self.entries.insert(name.to_owned(), text.to_string());
    }

    /// A text.
    ///
    /// # Errors
    /// [`CheckpointError::MissingEntry`].
    pub fn entry(&self, name: &str) -> Result<&str, CheckpointError> {
        let entry = self.entries.get(name).map(String::as_str);
        entry.ok_or_else(|| CheckpointError::MissingEntry { name: name.to_owned() })
    }

    /// Requires that the text of this name is `expected`.
    ///
    /// # Errors
    /// [`CheckpointError::MissingEntry`], [`CheckpointError::WrongEntry`].
    pub fn require(&self, name: &str, expected: &str) -> Result<(), CheckpointError> {
        let found = self.entry(name)?;
        if found == expected {
            return Ok(());
        }
        let (name, found, expected) = (name.to_owned(), found.to_owned(), expected.to_owned());
        Err(CheckpointError::WrongEntry { name, found, expected })
    }

    /// Names of the arrays, in alphabetical order.
    pub fn array_names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// Whether there is an array of this name.
    pub fn has_array(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// An array of any shape.
    ///
    /// # Errors
    /// [`CheckpointError::MissingArray`].
    pub fn array(&self, name: &str) -> Result<&NamedArray, CheckpointError> {
        self.arrays.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.array_names().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            CheckpointError::MissingArray { name: name.to_owned(), known }
        })
    }

    /// The reals of an array of this shape.
    ///
    /// # Errors
    /// [`CheckpointError::MissingArray`], [`CheckpointError::WrongShape`].
    pub fn reals(&self, name: &str, shape: &[usize]) -> Result<&[f64], CheckpointError> {
        let array = self.array(name)?;
        match &array.values {
            ArrayValues::F64(values) if array.shape == shape => Ok(values),
            _ => Err(wrong_shape(array, format!("{shape:?} reals"))),
        }
    }

    /// The reals of an array, to be changed; none where there is no such array.
    pub fn reals_mut(&mut self, name: &str) -> Option<&mut [f64]> {
        match &mut self.arrays.get_mut(name)?.values {
            ArrayValues::F64(values) => Some(values),
            ArrayValues::U32(_) => None,
        }
    }

    /// The indices of an array of this shape.
    ///
    /// # Errors
    /// [`CheckpointError::MissingArray`], [`CheckpointError::WrongShape`].
    pub fn indices(&self, name: &str, shape: &[usize]) -> Result<&[u32], CheckpointError> {
        let array = self.array(name)?;
        match &array.values {
            ArrayValues::U32(values) if array.shape == shape => Ok(values),
            _ => Err(wrong_shape(array, format!("{shape:?} indices"))),
        }
    }

    /// Writes the file, which is renamed to its name once complete.
    ///
    /// # Errors
    /// [`CheckpointError::File`].
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let write = |partial: &Path| {
            self.write_as(partial)?;
            std::fs::File::open(partial)?.sync_all()
        };
        let failed = |source| CheckpointError::File { action: "write", path: path.into(), source };
        write_complete(path, write).map_err(failed)
    }

    fn write_as(&self, path: &Path) -> std::io::Result<()> {
        let (format_version, checksum) = (FORMAT_VERSION, self.checksum());
        let header = Header { format_version, checksum, entries: self.entries.clone() };
        let texts = HashMap::from([(HEADER_KEY.to_owned(), serde_json::to_string(&header)?)]);
        let arrays = self.arrays.iter().map(|(name, array)| (name.as_str(), Stored(array)));
        safetensors::serialize_to_file(arrays, Some(texts), path).map_err(|error| match error {
            SafeTensorError::IoError(source) => source,
            other => std::io::Error::other(other.to_string()),
        })
    }

    /// CRC-32 of names, shapes, kinds, numbers and texts.
    pub(crate) fn checksum(&self) -> u32 {
        let mut crc = Crc::new();
        for array in self.arrays.values() {
            crc.update(format!("{}\0{}\0", array.name, array.describe()).as_bytes());
            crc.combine(&array.values.checksum());
        }
        for (name, text) in &self.entries {
            crc.update(format!("{name}\0{text}\0").as_bytes());
        }
        crc.sum()
    }

    /// Reads a file and verifies its checksum.
    ///
    /// # Errors
    /// [`CheckpointError`]: no such file, another kind of file, another version, incomplete, damaged.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let failed = |source| CheckpointError::File { action: "read", path: path.into(), source };
        Self::parse(path, &std::fs::read(path).map_err(failed)?)
    }

    /// Parses the bytes of a file; messages name it `path`.
    ///
    /// # Errors
    /// As [`Checkpoint::read`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (header_length, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| refusal(path, bytes, error))?;
        let not_checkpoint = |reason: &str| CheckpointError::NotCheckpoint {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        let text = metadata.metadata().as_ref().and_then(|texts| texts.get(HEADER_KEY));
        let text = text.ok_or_else(|| not_checkpoint("another program wrote its arrays"))?;
        let version: VersionOnly =
            serde_json::from_str(text).map_err(|_| not_checkpoint("its header has no version"))?;
        if version.format_version != FORMAT_VERSION {
            let found = version.format_version;
            return Err(CheckpointError::OtherVersion { path: path.to_owned(), found });
        }
        let header: Header =
            serde_json::from_str(text).map_err(|_| not_checkpoint("its header is incomplete"))?;
        let checkpoint = Checkpoint {
            arrays: arrays(&metadata, bytes.get(header_length + 8..).unwrap_or_default())
                .ok_or_else(|| {
                    not_checkpoint("it has numbers of a kind that karman never writes")
                })?,
            entries: header.entries,
        };
        let (found, stored) = (checkpoint.checksum(), header.checksum);
        if found != stored {
            return Err(CheckpointError::Checksum { path: path.to_owned(), found, stored });
        }
        Ok(checkpoint)
    }
}

fn wrong_shape(array: &NamedArray, expected: String) -> CheckpointError {
    CheckpointError::WrongShape { name: array.name.clone(), found: array.describe(), expected }
}

/// The meaning of a failure to read the header.
fn refusal(path: &Path, bytes: &[u8], error: SafeTensorError) -> CheckpointError {
    let path = path.to_owned();
    let begins_as_one = bytes.get(8) == Some(&b'{');
    match error {
        SafeTensorError::InvalidHeaderLength if begins_as_one => {
            CheckpointError::NotWhole { path, bytes: bytes.len() }
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            CheckpointError::NotWhole { path, bytes: bytes.len() }
        }
        other => CheckpointError::NotCheckpoint { path, reason: other.to_string() },
    }
}

/// All arrays; none where an array is of a kind that karman never writes.
fn arrays(metadata: &Metadata, data: &[u8]) -> Option<BTreeMap<String, NamedArray>> {
    let mut arrays = BTreeMap::new();
    for (name, info) in metadata.tensors() {
        let TensorInfo { dtype, shape, data_offsets: (start, end) } = info;
        let bytes = data.get(*start..*end)?;
        let values = match dtype {
            Dtype::F64 => ArrayValues::F64(numbers(bytes, f64::from_le_bytes)),
            Dtype::U32 => ArrayValues::U32(numbers(bytes, u32::from_le_bytes)),
            _ => return None,
        };
        arrays.insert(name.clone(), NamedArray { name, shape: shape.clone(), values });
    }
    Some(arrays)
}

fn numbers<T, const BYTES: usize>(bytes: &[u8], number: fn([u8; BYTES]) -> T) -> Vec<T> {
    let (chunks, _) = bytes.as_chunks::<BYTES>();
    chunks.iter().map(|chunk| number(*chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> Checkpoint {
        let mut checkpoint = Checkpoint::new();
        let odd = vec![0.1, -0.0, f64::MIN_POSITIVE / 8.0, f64::INFINITY, f64::NAN, 1.0 / 3.0];
        checkpoint.insert(NamedArray {
            name: "heat.temperature".into(),
            shape: vec![2, 3],
            values: ArrayValues::F64(odd),
        });
        checkpoint.insert(NamedArray::indices("mesh.cell_ids", vec![3, 0, u32::MAX]));
        checkpoint.insert(NamedArray::reals("heat.empty", vec![]));
        checkpoint.set("step", 240);
        checkpoint.set("case", "cube \"ü\"");
        checkpoint
    }

    fn bytes_of(checkpoint: &Checkpoint) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint_0001.safetensors");
        checkpoint.write(&path).unwrap();
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "the temporary file is gone");
        std::fs::read(&path).unwrap()
    }

    fn refused(bytes: &[u8]) -> String {
        Checkpoint::parse(Path::new("c.safetensors"), bytes).unwrap_err().to_string()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn every_bit_comes_back_and_the_file_is_the_same_each_time() {
        let checkpoint = example();
        let bytes = bytes_of(&checkpoint);
        assert_eq!(bytes, bytes_of(&checkpoint));
        let read = Checkpoint::parse(Path::new("c"), &bytes).unwrap();
        let shape = [2, 3];
        assert_eq!(
            bits(read.reals("heat.temperature", &shape).unwrap()),
            bits(checkpoint.reals("heat.temperature", &shape).unwrap())
        );
        assert_eq!(read.indices("mesh.cell_ids", &[3]).unwrap(), [3, 0, u32::MAX]);
        assert!(read.reals("heat.empty", &[0]).unwrap().is_empty());
        assert_eq!(read.entry("step").unwrap(), "240");
        read.require("case", "cube \"ü\"").unwrap();
        assert_eq!(
            read.array_names().collect::<Vec<_>>(),
            ["heat.empty", "heat.temperature", "mesh.cell_ids"]
        );
    }

    #[test]
    fn a_state_is_stored_and_restored_through_the_trait() {
        struct Counter(Vec<f64>);
        impl Checkpointed for Counter {
            fn arrays(&self) -> Result<Vec<NamedArray>, CheckpointError> {
                Ok(vec![NamedArray::reals("counter.values", self.0.clone())])
            }
            fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
                let values = checkpoint.reals("counter.values", &[self.0.len()])?;
                self.0.copy_from_slice(values);
                Ok(())
            }
        }
        let mut checkpoint = Checkpoint::new();
        checkpoint.insert_state(&Counter(vec![1.5, 2.5])).unwrap();
        let mut same = Counter(vec![0.0; 2]);
        same.restore(&checkpoint).unwrap();
        assert_eq!(same.0, [1.5, 2.5]);
        let error = Counter(vec![0.0; 3]).restore(&checkpoint).unwrap_err();
        insta::assert_snapshot!(
            error,
            @"the checkpoint's array `counter.values` is [2] reals, the run needs [3] reals"
        );
    }

    #[test]
    fn files_of_another_kind_are_refused() {
        assert!(refused(b"").starts_with("c.safetensors is not a checkpoint of karman: "));
        assert!(refused(b"[mesh]\nfile = \"a.msh\"\n").contains("is not a checkpoint of karman"));
        let foreign =
            safetensors::serialize([("a", Stored(&NamedArray::reals("a", vec![1.0])))], None);
        insta::assert_snapshot!(
            refused(&foreign.unwrap()),
            @"c.safetensors is not a checkpoint of karman: another program wrote its arrays"
        );
        let with_header = |text: &str| {
            let texts = HashMap::from([(HEADER_KEY.to_owned(), text.to_owned())]);
            let arrays: [(&str, Stored<'_>); 0] = [];
            refused(&safetensors::serialize(arrays, Some(texts)).unwrap())
        };
        insta::assert_snapshot!(
            with_header("{}"),
            @"c.safetensors is not a checkpoint of karman: its header has no version"
        );
        insta::assert_snapshot!(
            with_header("{\"format_version\":2}"),
            @"c.safetensors is not a checkpoint of karman: its header is incomplete"
        );
        insta::assert_snapshot!(
            with_header("{\"format_version\":7}"),
            @"the checkpoint c.safetensors has format version 7, this karman reads version 2"
        );
    }

    #[test]
    fn a_changed_or_cut_file_is_refused() {
        let bytes = bytes_of(&example());
        for cut in 0..bytes.len() {
            let message = refused(&bytes[..cut]);
            let known = message.contains("not whole") || message.contains("not a checkpoint");
            assert!(known, "cut at {cut}: {message}");
        }
        let n = bytes.len();
        assert_eq!(
            refused(&bytes[..n - 8]),
            format!(
                "the checkpoint c.safetensors is not whole: it has {} bytes, not those its header \
                 announces",
                n - 8
            )
        );
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(refused(&longer).contains("is not whole"));
        let mut changed = bytes;
        changed[n - 1] ^= 1;
        let message = refused(&changed);
        assert!(message.contains("is damaged: its checksum is "), "{message}");
    }

    #[test]
    fn missing_and_wrong_arrays_and_entries_are_named() {
        let checkpoint = example();
        insta::assert_snapshot!(
            checkpoint.reals("heat.rate", &[6]).unwrap_err(),
            @"the checkpoint has no array `heat.rate`; it has heat.empty, heat.temperature, mesh.cell_ids: it is of another case"
        );
        insta::assert_snapshot!(
            checkpoint.reals("mesh.cell_ids", &[3]).unwrap_err(),
            @"the checkpoint's array `mesh.cell_ids` is [3] indices, the run needs [3] reals"
        );
        insta::assert_snapshot!(
            checkpoint.indices("heat.temperature", &[6]).unwrap_err(),
            @"the checkpoint's array `heat.temperature` is [2, 3] reals, the run needs [6] indices"
        );
        insta::assert_snapshot!(
            checkpoint.entry("time").unwrap_err(),
            @"the checkpoint has no entry `time`: it is of another case"
        );
        insta::assert_snapshot!(
            checkpoint.require("step", "12").unwrap_err(),
            @"the checkpoint's entry `step` is `240`, not `12`"
        );
        assert!(checkpoint.has_array("heat.empty") && !checkpoint.has_array("heat.rate"));
        let missing = Checkpoint::new().array("a").unwrap_err().to_string();
        assert!(missing.starts_with("the checkpoint has no array `a`; it has none"), "{missing}");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/c.safetensors");
        let read = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(read.starts_with("cannot read the checkpoint "), "{read}");
        let written = example().write(&path).unwrap_err().to_string();
        assert!(written.starts_with("cannot write the checkpoint "), "{written}");
        assert!(written.contains("none/c.safetensors: "), "{written}");
        let state = CheckpointError::State("the device failed".into()).to_string();
        assert_eq!(state, "cannot copy the state of a checkpoint: the device failed");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            at in 0usize..600,
            with in any::<u8>(),
        ) {
            let _ = Checkpoint::parse(Path::new("c"), &bytes);
            let mut changed = bytes_of(&example());
            let at = at % changed.len();
            changed[at] = with;
            // Padding of the header may change without effect.
            if let Ok(read) = Checkpoint::parse(Path::new("c"), &changed) {
                prop_assert_eq!(read.checksum(), example().checksum());
            }
        }
    }
}
