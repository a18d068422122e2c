//! The numbers of a VTU array: decimal text, or bytes that may be base64 text and compressed.
//!
//! Bytes are a header and data. Uncompressed: the number of bytes, then the bytes. Compressed: the
//! number of blocks, the size of a block and of the last one before compression (0: it is full),
//! the compressed size of each, then the blocks. Header and data may be separate base64 texts.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;

use super::document::{ArrayElement, Document, Storage};
use super::encoding::{Encoding, NumberType};
use crate::files::cursor::Cursor;
use crate::files::error::{At, Fault, MeshFileProblem as Problem, Parsed};
use crate::files::vtk_grid::{NamedArray, Numbers};

impl Document<'_> {
    /// The values of an array.
    pub(super) fn decode(&self, element: &ArrayElement) -> Parsed<NamedArray> {
        let ArrayElement { name, kind, components, .. } = element;
        let (values, at) = match element.storage {
            Storage::Ascii(start, end) => {
                let mut cursor = Cursor::text(&self.bytes[..end]);
                cursor.go_to(start);
                (text_numbers(cursor, *kind)?, At::LineOf(start))
            }
            Storage::Base64(start, end) => {
                let at = At::Byte(start);
                let bytes = self.decoded_text(&self.bytes[start..end], name, at)?;
                (self.payload(&bytes, element, at)?, at)
            }
            Storage::Appended(offset) => self.appended_numbers(element, offset)?,
        };
        Ok(NamedArray { name: name.clone(), components: *components, values, at })
    }

    /// The values of an array in the appended data.
    fn appended_numbers(&self, element: &ArrayElement, offset: u64) -> Parsed<(Numbers, At)> {
        let end = At::Byte(self.bytes.len());
        let Some(appended) = self.appended else {
            return Err(Fault::new(end, Problem::MissingSection { section: "AppendedData" }));
        };
        let start = usize::try_from(offset).ok().and_then(|o| o.checked_add(appended.start));
        let Some((start, data)) = start.and_then(|start| Some((start, self.bytes.get(start..)?)))
        else {
            let expected = "appended data of an array";
            return Err(Fault::new(end, Problem::Truncated { expected }));
        };
        let at = At::Byte(start);
        if !appended.base64 {
            return Ok((self.payload(data, element, at)?, at));
        }
        // The text of an array ends where that of the next begins.
        let offsets = self.arrays.iter().filter_map(|array| match array.storage {
            Storage::Appended(other) if other > offset => Some(other - offset),
            _ => None,
        });
        let length = offsets.min().map_or(data.len(), |n| data.len().min(n as usize));
        let text = &data[..length];
        let text = &text[..text.iter().position(|&b| b == b'<').unwrap_or(text.len())];
        let bytes = self.decoded_text(text, &element.name, at)?;
        Ok((self.payload(&bytes, element, at)?, at))
    }

    /// Decodes base64 text, which may be several texts in a row, each with its own padding.
    fn decoded_text(&self, text: &[u8], name: &str, at: At) -> Parsed<Vec<u8>> {
        let text: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let padding = rest.iter().position(|&b| b == b'=').unwrap_or(rest.len());
            let after =
                rest[padding..].iter().position(|&b| b != b'=').unwrap_or(rest.len() - padding);
            let (part, next) = rest.split_at(padding + after);
            STANDARD.decode_vec(part, &mut bytes).map_err(|error| {
                let (array, reason) = (name.to_owned(), format!("base64: {error}"));
                Fault::new(at, Problem::Undecodable { array, reason })
            })?;
            rest = next;
        }
        Ok(bytes)
    }

    /// The numbers in a header and the data after it.
    fn payload(&self, bytes: &[u8], element: &ArrayElement, at: At) -> Parsed<Numbers> {
        let undecodable = |reason: String| {
            Fault::new(at, Problem::Undecodable { array: element.name.clone(), reason })
        };
        let truncated = || Fault::new(at, Problem::Truncated { expected: "the data of an array" });
        // An empty text or appended part has no values.
        if bytes.is_empty() {
            return Ok(self.numbers(&[], element.kind).0);
        }
        let mut header = Header { bytes, encoding: self.encoding };
        let first = header.next().ok_or_else(truncated)?;
        let data = if self.encoding.compressed {
            let (size, last) = header.next().zip(header.next()).ok_or_else(truncated)?;
            inflate(&mut header, first, size, last).map_err(|error| match error {
                BlockError::Truncated => truncated(),
                BlockError::Damaged(reason) => undecodable(reason),
            })?
        } else {
            let length = usize::try_from(first).ok();
            length.and_then(|n| header.bytes.get(..n)).ok_or_else(truncated)?.to_vec()
        };
        let (numbers, rest) = self.numbers(&data, element.kind);
        if rest > 0 {
            let reason = format!("{} bytes are no whole number of {:?}", data.len(), element.kind);
            return Err(undecodable(reason));
        }
        Ok(numbers)
    }

    /// The numbers in `bytes`, and the number of remaining bytes.
    fn numbers(&self, bytes: &[u8], kind: NumberType) -> (Numbers, usize) {
        let big_endian = self.encoding.big_endian;
        macro_rules! of {
            ($number:ty, $variant:ident, $wide:ty) => {{
                let (chunks, rest) = bytes.as_chunks::<{ size_of::<$number>() }>();
                let convert = |&b: &[u8; size_of::<$number>()]| {
                    let value = if big_endian {
                        <$number>::from_be_bytes(b)
                    } else {
                        <$number>::from_le_bytes(b)
                    };
                    value as $wide
                };
                (Numbers::$variant(chunks.iter().map(convert).collect()), rest.len())
            }};
        }
        match kind {
            NumberType::Float32 => of!(f32, Real, f64),
            NumberType::Float64 => of!(f64, Real, f64),
            NumberType::Int8 => of!(i8, Integer, i64),
            NumberType::Int16 => of!(i16, Integer, i64),
            NumberType::Int32 => of!(i32, Integer, i64),
            NumberType::Int64 => of!(i64, Integer, i64),
            NumberType::UInt8 => of!(u8, Integer, i64),
            NumberType::UInt16 => of!(u16, Integer, i64),
            NumberType::UInt32 => of!(u32, Integer, i64),
            NumberType::UInt64 => of!(u64, Integer, i64),
        }
    }
}

/// Reads the numbers of a header; the remaining bytes are data.
struct Header<'a> {
    bytes: &'a [u8],
    encoding: Encoding,
}

impl Iterator for Header<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let big_endian = self.encoding.big_endian;
        if self.encoding.header == NumberType::UInt64 {
            let (number, rest) = self.bytes.split_first_chunk::<8>()?;
            self.bytes = rest;
            Some(if big_endian { u64::from_be_bytes(*number) } else { u64::from_le_bytes(*number) })
        } else {
            let (number, rest) = self.bytes.split_first_chunk::<4>()?;
            self.bytes = rest;
            let number =
                if big_endian { u32::from_be_bytes(*number) } else { u32::from_le_bytes(*number) };
            Some(number.into())
        }
    }
}

/// Errors of decompression.
enum BlockError {
    Truncated,
    Damaged(String),
}

/// The data in `n_blocks` compressed blocks of `size` bytes, the last of `last`.
fn inflate(
    header: &mut Header<'_>,
    n_blocks: u64,
    size: u64,
    last: u64,
) -> Result<Vec<u8>, BlockError> {
    if n_blocks > header.bytes.len() as u64 {
        return Err(BlockError::Truncated);
    }
    let lengths: Vec<u64> = header.by_ref().take(n_blocks as usize).collect();
    if (lengths.len() as u64) < n_blocks {
        return Err(BlockError::Truncated);
    }
    let mut data = Vec::new();
    let mut rest = header.bytes;
    for (block, &length) in lengths.iter().enumerate() {
        let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let (compressed, after) = split.ok_or(BlockError::Truncated)?;
        rest = after;
        let is_last = block + 1 == lengths.len();
        let expected = if is_last && last > 0 { last } else { size };
        let before = data.len() as u64;
        // One byte more than expected shows that a block is too long.
        ZlibDecoder::new(compressed)
            .take(expected.saturating_add(1))
            .read_to_end(&mut data)
            .map_err(|error| BlockError::Damaged(format!("zlib: {error}")))?;
        let found = data.len() as u64 - before;
        if found != expected {
            let reason = format!("block {block} has {found} bytes instead of {expected}");
            return Err(BlockError::Damaged(reason));
        }
    }
    Ok(data)
}

/// All numbers of a text.
fn text_numbers(mut cursor: Cursor<'_>, kind: NumberType) -> Parsed<Numbers> {
    let (mut reals, mut integers) = (Vec::new(), Vec::new());
    while !cursor.at_end() {
        if kind.is_real() {
            reals.push(cursor.float("a number of an array")?);
        } else {
            integers.push(cursor.integer("an integer of an array")?);
        }
    }
    Ok(if kind.is_real() { Numbers::Real(reals) } else { Numbers::Integer(integers) })
}
