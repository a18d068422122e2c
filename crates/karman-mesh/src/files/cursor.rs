//! A position in the bytes of a file: white-space separated words and numbers, lines, and
//! little-endian binary values. Every error has its place.

use super::error::{At, Fault, MeshFileProblem as Problem, Parsed};
use lexical_core::FromLexical;
use memchr::memmem;

/// Largest length of an unexpected word in an error message.
const SHOWN: usize = 40;

/// Reads a file's bytes from front to back.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether places are bytes rather than lines.
    binary: bool,
}

impl<'a> Cursor<'a> {
    /// At the start of a text file.
    pub(super) fn text(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0, binary: false }
    }

    /// From here on places are reported as bytes.
    pub(super) fn set_binary(&mut self, binary: bool) {
        self.binary = binary;
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Moves to an offset.
    pub(super) fn go_to(&mut self, offset: usize) {
        self.at = offset.min(self.bytes.len());
    }

    /// Bytes not yet read.
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The unread part.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The place of an offset, as this kind of file counts.
    pub(super) fn place(&self, offset: usize) -> At {
        if self.binary { At::Byte(offset) } else { At::LineOf(offset) }
    }

    /// A problem at the next byte.
    #[cold]
    pub(super) fn fault(&self, problem: Problem) -> Fault {
        Fault::new(self.place(self.at), problem)
    }

    /// A problem at an earlier offset.
    #[cold]
    pub(super) fn fault_at(&self, offset: usize, problem: Problem) -> Fault {
        Fault::new(self.place(offset), problem)
    }

    /// Passes white space, line ends included.
    #[inline]
    pub(super) fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Passes blanks within the line; whether anything but a line end follows.
    pub(super) fn more_on_line(&mut self) -> bool {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        self.bytes.get(self.at).is_some_and(|&b| b != b'\n')
    }

    /// Whether only white space is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.bytes.len()
    }

    /// The next word; `expected` describes it in the error of a truncated file.
    pub(super) fn word(&mut self, expected: &'static str) -> Parsed<&'a [u8]> {
        self.skip_space();
        let word = word_at(self.rest());
        if word.is_empty() {
            return Err(self.fault(Problem::Truncated { expected }));
        }
        self.at += word.len();
        Ok(word)
    }

    /// The rest of the line without surrounding white space; the cursor moves to the next line.
    pub(super) fn line(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|&b| b == b'\n');
        self.at += length.map_or(rest.len(), |length| length + 1);
        rest[..length.unwrap_or(rest.len())].trim_ascii()
    }

    /// The next word as an unsigned integer below 2⁶³, thus also a valid `i64`.
    #[inline]
    pub(super) fn unsigned(&mut self, expected: &'static str) -> Parsed<u64> {
        self.number(expected, |value: &i64| *value >= 0).map(|value| value as u64)
    }

    /// The next word as a signed integer.
    #[inline]
    pub(super) fn integer(&mut self, expected: &'static str) -> Parsed<i64> {
        self.number(expected, |_| true)
    }

    /// The next word as a floating-point number, correctly rounded. `nan` and `inf` are numbers here;
    /// callers refuse them.
    #[inline]
    pub(super) fn float(&mut self, expected: &'static str) -> Parsed<f64> {
        self.number(expected, |_| true)
    }

    /// The next word as a number that is `valid`; white space or the end follows it.
    #[inline]
    fn number<T: FromLexical>(
        &mut self,
        expected: &'static str,
        valid: impl Fn(&T) -> bool,
    ) -> Parsed<T> {
        self.skip_space();
        let ends = |length| self.rest().get(length).is_none_or(u8::is_ascii_whitespace);
        match lexical_core::parse_partial(self.rest()) {
            Ok((value, length)) if ends(length) && valid(&value) => {
                self.at += length;
                Ok(value)
            }
            _ => Err(self.bad_number(expected)),
        }
    }

    /// The error for a word that is not the number it should be.
    #[cold]
    fn bad_number(&self, expected: &'static str) -> Fault {
        let found = shown(word_at(self.rest()));
        self.fault(if found.is_empty() {
            Problem::Truncated { expected }
        } else {
            Problem::BadNumber { found, expected }
        })
    }

    /// The next `length` bytes.
    #[inline]
    pub(super) fn take(&mut self, length: usize, expected: &'static str) -> Parsed<&'a [u8]> {
        match self.rest().get(..length) {
            Some(taken) => {
                self.at += length;
                Ok(taken)
            }
            None => Err(self.fault(Problem::Truncated { expected })),
        }
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self, expected: &'static str) -> Parsed<[u8; N]> {
        match self.rest().first_chunk::<N>() {
            Some(taken) => {
                self.at += N;
                Ok(*taken)
            }
            None => Err(self.fault(Problem::Truncated { expected })),
        }
    }

    /// Refuses a count of items of at least `smallest` bytes each that exceeds the rest of the file. No
    /// memory is allocated from a count before this check.
    pub(super) fn checked_count(
        &self,
        count: impl TryInto<i64>,
        smallest: usize,
        what: &'static str,
    ) -> Parsed<usize> {
        let count = count.try_into().unwrap_or(i64::MAX);
        // The last item of a text needs no separator after it.
        let limit = (self.remaining() + 1) / smallest.max(1);
        match usize::try_from(count) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(self.fault(Problem::CountTooLarge { what, count, limit: limit as u64 })),
        }
    }

    /// Moves behind the next occurrence of `pattern`; `false` (and no move) without one.
    pub(super) fn skip_past(&mut self, pattern: &[u8]) -> bool {
        match memmem::find(self.rest(), pattern) {
            Some(offset) => {
                self.at += offset + pattern.len();
                true
            }
            None => false,
        }
    }
}

/// The word at the start of `text`.
fn word_at(text: &[u8]) -> &[u8] {
    let length = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    &text[..length]
}

/// Text of a file, as printed in an error message.
pub(super) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(SHOWN)]);
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::number::push_float;
    use proptest::prelude::*;

    #[test]
    fn words_and_numbers_in_turn() {
        let mut cursor = Cursor::text(b" $Nodes\r\n12 -3\t1.5e1 name of it \r\nlast");
        assert_eq!(cursor.word("a section").unwrap(), b"$Nodes");
        assert_eq!(cursor.unsigned("a count").unwrap(), 12);
        assert_eq!(cursor.integer("a tag").unwrap(), -3);
        assert_eq!(cursor.float("x").unwrap(), 15.0);
        assert!(cursor.more_on_line());
        assert_eq!(cursor.line(), b"name of it");
        assert_eq!(cursor.line(), b"last");
        assert!(cursor.at_end());
    }

    #[test]
    fn a_bad_number_is_shown_with_its_line() {
        for text in ["1\n2x", "1\n-", "1\n--2", "1\n1.5", "1\n12345678901234567890"] {
            let mut cursor = Cursor::text(text.as_bytes());
            assert_eq!(cursor.integer("a tag").unwrap(), 1);
            let error = cursor.integer("a tag").unwrap_err();
            let error = error.locate("m.msh".as_ref(), text.as_bytes());
            let message =
                format!("m.msh, line 2: `{}` is not a number that can stand for a tag", &text[2..]);
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn a_count_is_checked_against_the_rest_of_the_file() {
        let cursor = Cursor::text(b"1 2 3 4");
        assert_eq!(cursor.checked_count(4_u64, 2, "numbers").unwrap(), 4);
        for count in [5, -1, i64::MAX] {
            let error = cursor.checked_count(count, 2, "numbers").unwrap_err();
            let error = error.locate("m".as_ref(), b"1 2 3 4");
            assert!(
                matches!(error.problem, Problem::CountTooLarge { what: "numbers", limit: 4, .. }),
                "{error}"
            );
        }
        assert!(cursor.checked_count(u64::MAX, 2, "numbers").is_err());
    }

    fn read(text: &str) -> Option<f64> {
        Cursor::text(text.as_bytes()).float("x").ok()
    }

    #[test]
    fn forms_of_decimal_numbers() {
        assert_eq!(read("1.5 2"), Some(1.5));
        assert_eq!(read("-12\n"), Some(-12.0));
        assert_eq!(read("+.5e+1"), Some(5.0));
        assert_eq!(read("3."), Some(3.0));
        assert_eq!(read("1E-3"), Some(1e-3));
        assert_eq!(read("0.03333333333333344"), Some(0.03333333333333344));
        assert_eq!(read("1e999"), Some(f64::INFINITY));
        assert!(read("nan").is_some_and(f64::is_nan));
        assert!(read("-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    #[test]
    fn other_text_is_no_number() {
        for text in ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "12abc", "1,5", "0x10", "$End"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_numbers_read_back_to_the_bit(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut text = Vec::new();
            push_float(&mut text, value);
            let mut cursor = Cursor::text(&text);
            prop_assert_eq!(cursor.float("x").unwrap().to_bits(), bits);
            prop_assert_eq!(cursor.remaining(), 0);
        }

        #[test]
        fn rounds_as_the_standard_library_does(
            text in "[+-]?[0-9]{1,22}(\\.[0-9]{0,22})?(e[+-]?[0-9]{1,3})?"
        ) {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(read(&text).unwrap().to_bits(), expected.to_bits());
        }
    }
}
