//! The numbers of a Gmsh file, written as decimal text or as little-endian binary.

use crate::files::cursor::Cursor;
use crate::files::error::{MeshFileProblem as Problem, Parsed};

/// Reads numbers, text or binary.
pub(super) struct Values<'a> {
    /// Where the next number starts.
    pub(super) cursor: Cursor<'a>,
    /// Whether numbers are binary.
    pub(super) binary: bool,
}

impl Values<'_> {
    /// Skips the line end before binary data; does nothing in text.
    pub(super) fn begin_data(&mut self) -> Parsed<()> {
        if !self.binary {
            return Ok(());
        }
        let expected = "a line end before binary data";
        let start = self.cursor.offset();
        match self.cursor.array::<1>(expected)? {
            [b'\n'] => Ok(()),
            [b'\r'] if self.cursor.array::<1>(expected)? == [b'\n'] => Ok(()),
            [other] => {
                let found = format!("byte {other}");
                Err(self.cursor.fault_at(start, Problem::Unexpected { expected, found }))
            }
        }
    }

    /// A C `int`.
    #[inline]
    pub(super) fn int(&mut self, expected: &'static str) -> Parsed<i64> {
        if self.binary {
            Ok(i32::from_le_bytes(self.cursor.array(expected)?).into())
        } else {
            self.cursor.integer(expected)
        }
    }

    /// A C `size_t`.
    #[inline]
    pub(super) fn size(&mut self, expected: &'static str) -> Parsed<i64> {
        if self.binary {
            let start = self.cursor.offset();
            let value = u64::from_le_bytes(self.cursor.array(expected)?);
            i64::try_from(value).map_err(|_| {
                let found = value.to_string();
                self.cursor.fault_at(start, Problem::BadNumber { found, expected })
            })
        } else {
            Ok(self.cursor.unsigned(expected)? as i64)
        }
    }

    /// A C `double`.
    #[inline]
    pub(super) fn real(&mut self, expected: &'static str) -> Parsed<f64> {
        if self.binary {
            Ok(f64::from_le_bytes(self.cursor.array(expected)?))
        } else {
            self.cursor.float(expected)
        }
    }

    /// The coordinates of the node with this tag or index.
    #[inline]
    pub(super) fn point(&mut self, node: i64) -> Parsed<[f64; 3]> {
        let mut point = [0.0; 3];
        for coordinate in &mut point {
            let start = self.cursor.offset();
            *coordinate = self.real("a node's coordinate")?;
            if !coordinate.is_finite() {
                let problem = Problem::NotFinite { node, value: *coordinate };
                // White space before the number may contain a line end: the place is after it.
                let place = if self.binary { start } else { self.cursor.offset() };
                return Err(self.cursor.fault_at(place, problem));
            }
        }
        Ok(point)
    }
}
