//! Matrix Market files (Boisvert, Pozo & Remington, NIST IR 5935, 1996): sparse matrices as
//! `matrix coordinate real` (`integer` too), `general` or `symmetric`; vectors as
//! `matrix array real general` of one column. Each entry has a line of its own.

use std::path::Path;

use super::cursor::{Cursor, shown};
use super::error::{MeshFileError, MeshFileProblem as Problem, Parsed};
use super::number::{push_float, push_integer};
use super::{load, save};

/// A sparse matrix as a file lists it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoordinateMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// (row, column, value), counted from 0, in the order of the file. In a symmetric matrix the
    /// transposed entry follows an entry. Repeated entries are summed.
    pub entries: Vec<(u32, u32, f64)>,
}

/// Least length of the line of a matrix entry.
const ENTRY: usize = "1 1 1\n".len();
/// Least length of the line of a vector element.
const VALUE: usize = "1\n".len();

/// Reads a matrix.
///
/// # Errors
/// The file cannot be read, is not a Matrix Market file of this kind, or an entry lies outside the
/// matrix, above the diagonal of a symmetric one, or is not finite.
pub fn read_matrix(path: &Path) -> Result<CoordinateMatrix, MeshFileError> {
    parse_matrix(path, &load(path)?)
}

/// The matrix in the content of a file; `file` names it in messages.
///
/// # Errors
/// As [`read_matrix`].
pub fn parse_matrix(file: &Path, bytes: &[u8]) -> Result<CoordinateMatrix, MeshFileError> {
    matrix(bytes).map_err(|fault| fault.locate(file, bytes))
}

/// Reads a vector.
///
/// # Errors
/// The file cannot be read, is not a Matrix Market array of one column, or an element is not finite.
pub fn read_vector(path: &Path) -> Result<Vec<f64>, MeshFileError> {
    parse_vector(path, &load(path)?)
}

/// The vector in the content of a file; `file` names it in messages.
///
/// # Errors
/// As [`read_vector`].
pub fn parse_vector(file: &Path, bytes: &[u8]) -> Result<Vec<f64>, MeshFileError> {
    vector(bytes).map_err(|fault| fault.locate(file, bytes))
}

/// Writes a matrix as `coordinate real general`; read back, it is equal to the bit. The file appears
/// under its name only when it is complete.
///
/// # Errors
/// The file cannot be written.
pub fn write_matrix(path: &Path, matrix: &CoordinateMatrix) -> Result<(), MeshFileError> {
    let CoordinateMatrix { rows, columns, entries } = matrix;
    let mut out = b"%%MatrixMarket matrix coordinate real general\n".to_vec();
    out.extend(format!("{rows} {columns} {}\n", entries.len()).bytes());
    for &(row, column, value) in entries {
        for index in [row, column] {
            push_integer(&mut out, u64::from(index) + 1);
            out.push(b' ');
        }
        push_float(&mut out, value);
        out.push(b'\n');
    }
    save(path, &out)
}

/// Writes a vector as `array real general`, as [`write_matrix`] does a matrix.
///
/// # Errors
/// The file cannot be written.
pub fn write_vector(path: &Path, vector: &[f64]) -> Result<(), MeshFileError> {
    let mut out = b"%%MatrixMarket matrix array real general\n".to_vec();
    out.extend(format!("{} 1\n", vector.len()).bytes());
    for value in vector {
        push_float(&mut out, *value);
        out.push(b'\n');
    }
    save(path, &out)
}

fn matrix(bytes: &[u8]) -> Parsed<CoordinateMatrix> {
    let mut cursor = Cursor::text(bytes);
    let is_symmetric = banner(&mut cursor, "coordinate")?;
    let rows = size(&mut cursor, "the number of rows")?;
    let columns = size(&mut cursor, "the number of columns")?;
    same_line(&mut cursor, "the number of entries")?;
    let count = cursor.integer("the number of entries")?;
    end_of_line(&mut cursor)?;
    if is_symmetric && rows != columns {
        let what = format!("a symmetric matrix of {rows} rows and {columns} columns");
        return Err(cursor.fault(Problem::Unsupported { what, remedy: "it must be square" }));
    }
    let count = cursor.checked_count(count, ENTRY, "entries")?;
    let mut entries = Vec::with_capacity(if is_symmetric { 2 * count } else { count });
    for _ in 0..count {
        cursor.skip_space();
        let start = cursor.offset();
        let row = cursor.integer("the row of an entry")?;
        same_line(&mut cursor, "the column of an entry")?;
        let column = cursor.integer("the column of an entry")?;
        same_line(&mut cursor, "the value of an entry")?;
        let value = cursor.float("the value of an entry")?;
        end_of_line(&mut cursor)?;
        let inside = |index: i64, count: usize| index >= 1 && index as u64 <= count as u64;
        let problem = if !inside(row, rows) || !inside(column, columns) {
            Problem::EntryOutOfRange { row, column, rows, columns }
        } else if is_symmetric && column > row {
            Problem::AboveDiagonal { row, column }
        } else if !value.is_finite() {
            Problem::EntryNotFinite { value }
        } else {
            let (row, column) = (row as u32 - 1, column as u32 - 1);
            entries.push((row, column, value));
            if is_symmetric && row != column {
                entries.push((column, row, value));
            }
            continue;
        };
        return Err(cursor.fault_at(start, problem));
    }
    end_of_file(&mut cursor)?;
    Ok(CoordinateMatrix { rows, columns, entries })
}

fn vector(bytes: &[u8]) -> Parsed<Vec<f64>> {
    let mut cursor = Cursor::text(bytes);
    if banner(&mut cursor, "array")? {
        let what = "a symmetric array".to_owned();
        return Err(cursor.fault(Problem::Unsupported { what, remedy: "a vector is general" }));
    }
    let rows = size(&mut cursor, "the number of elements")?;
    same_line(&mut cursor, "the number of columns")?;
    let columns = cursor.integer("the number of columns")?;
    if columns != 1 {
        let what = format!("an array of {columns} columns");
        return Err(cursor.fault(Problem::Unsupported { what, remedy: "a vector has one" }));
    }
    end_of_line(&mut cursor)?;
    let rows = cursor.checked_count(rows as u64, VALUE, "elements")?;
    let mut values = Vec::with_capacity(rows);
    for _ in 0..rows {
        cursor.skip_space();
        let start = cursor.offset();
        let value = cursor.float("an element of the vector")?;
        if !value.is_finite() {
            return Err(cursor.fault_at(start, Problem::EntryNotFinite { value }));
        }
        end_of_line(&mut cursor)?;
        values.push(value);
    }
    end_of_file(&mut cursor)?;
    Ok(values)
}

/// Reads the first line and the comments; returns whether the matrix is symmetric.
fn banner(cursor: &mut Cursor<'_>, format: &'static str) -> Parsed<bool> {
    let line = String::from_utf8_lossy(cursor.line()).to_lowercase();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let remedy = "write it as `coordinate real general` or `symmetric`, a vector as `array real \
                  general`";
    let first_line = |problem| cursor.fault_at(0, problem);
    let ["%%matrixmarket", object, found, field, symmetry] = words[..] else {
        let found = shown(line.as_bytes());
        let expected = "`%%MatrixMarket matrix …` with format, field and symmetry";
        return Err(first_line(Problem::Unexpected { expected, found }));
    };
    for (word, known) in [
        (object, &["matrix"][..]),
        (found, &[format]),
        (field, &["real", "integer", "double"]),
        (symmetry, &["general", "symmetric"]),
    ] {
        if !known.contains(&word) {
            let what = format!("Matrix Market `{}` here", shown(word.as_bytes()));
            return Err(first_line(Problem::Unsupported { what, remedy }));
        }
    }
    let is_symmetric = symmetry == "symmetric";
    cursor.skip_space();
    while cursor.rest().first() == Some(&b'%') {
        cursor.line();
        cursor.skip_space();
    }
    Ok(is_symmetric)
}

/// A number of rows or columns.
fn size(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<usize> {
    let count = cursor.unsigned(expected)?;
    match u32::try_from(count) {
        Ok(size) if size < u32::MAX => Ok(size as usize),
        _ => {
            let (what, limit) = ("rows or columns", u64::from(u32::MAX) - 1);
            Err(cursor.fault(Problem::CountTooLarge { what, count: count as i64, limit }))
        }
    }
}

fn same_line(cursor: &mut Cursor<'_>, expected: &'static str) -> Parsed<()> {
    if cursor.more_on_line() {
        return Ok(());
    }
    Err(cursor.fault(Problem::Unexpected { expected, found: "end of the line".to_owned() }))
}

fn end_of_line(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if !cursor.more_on_line() {
        return Ok(());
    }
    let (place, found) = (cursor.offset(), shown(cursor.line()));
    Err(cursor.fault_at(place, Problem::Unexpected { expected: "the end of the line", found }))
}

fn end_of_file(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if cursor.at_end() {
        return Ok(());
    }
    let (place, found) = (cursor.offset(), shown(cursor.line()));
    let expected = "the end of the file after as many entries as were announced";
    Err(cursor.fault_at(place, Problem::Unexpected { expected, found }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";
    const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
    const ARRAY: &str = "%%MatrixMarket matrix array real general\n";

    fn of(text: &str) -> Result<CoordinateMatrix, String> {
        parse_matrix("a.mtx".as_ref(), text.as_bytes()).map_err(|error| error.to_string())
    }

    fn vector_of(text: &str) -> Result<Vec<f64>, String> {
        parse_vector("b.mtx".as_ref(), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn matrices_and_vectors_of_other_programs_are_read() {
        let text = "%%matrixmarket MATRIX Coordinate Real Symmetric\r\n% a comment\n%\n\n \
                    2 2 2\r\n1 1 4.0\n\n 2\t1 -1e0 \n";
        let read = of(text).unwrap();
        assert_eq!((read.rows, read.columns), (2, 2));
        assert_eq!(read.entries, [(0, 0, 4.0), (1, 0, -1.0), (0, 1, -1.0)]);
        let text = "%%MatrixMarket matrix coordinate integer general\n1 3 2\n1 3 -7\n1 3 2";
        assert_eq!(of(text).unwrap().entries, [(0, 2, -7.0), (0, 2, 2.0)]);
        assert_eq!(vector_of(&format!("{ARRAY}% b\n2 1\n1.5\n-2")).unwrap(), [1.5, -2.0]);
        assert_eq!(of(&format!("{GENERAL}0 0 0\n")).unwrap(), CoordinateMatrix::default());
    }

    #[test]
    fn faults_of_a_matrix_have_their_line() {
        let remedy = "cannot be read: write it as `coordinate real general` or `symmetric`, a \
                      vector as `array real general`";
        let truncated = |what| format!("the file ends where {what} should follow: it is truncated");
        for (text, line, problem) in [
            (
                "1 1 1\n".to_owned(),
                1,
                "expected `%%MatrixMarket matrix …` with format, field and symmetry, found `1 1 1`"
                    .to_owned(),
            ),
            (
                "%%MatrixMarket matrix coordinate complex general\n1 1 0\n".to_owned(),
                1,
                format!("Matrix Market `complex` here {remedy}"),
            ),
            (
                "%%MatrixMarket matrix coordinate pattern symmetric\n1 1 0\n".to_owned(),
                1,
                format!("Matrix Market `pattern` here {remedy}"),
            ),
            (
                "%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n".to_owned(),
                1,
                format!("Matrix Market `skew-symmetric` here {remedy}"),
            ),
            (format!("{ARRAY}1 1\n1\n"), 1, format!("Matrix Market `array` here {remedy}")),
            (GENERAL.to_owned(), 2, truncated("the number of rows")),
            (
                format!("{GENERAL}2 x 1\n"),
                2,
                "`x` is not a number that can stand for the number of columns".to_owned(),
            ),
            (
                format!("{GENERAL}2 2\n1 1 1.0\n"),
                2,
                "expected the number of entries, found `end of the line`".to_owned(),
            ),
            (
                format!("{GENERAL}2 2 1 4\n1 1 1.0\n"),
                2,
                "expected the end of the line, found `4`".to_owned(),
            ),
            (
                format!("{GENERAL}4294967295 2 0\n"),
                2,
                "4294967295 rows or columns announced, but the rest of the file can hold at most \
                 4294967294"
                    .to_owned(),
            ),
            (
                format!("{GENERAL}2 2 1000\n1 1 1.0\n"),
                2,
                "1000 entries announced, but the rest of the file can hold at most 1".to_owned(),
            ),
            (
                format!("{GENERAL}2 2 -1\n"),
                2,
                "-1 entries announced, but the rest of the file can hold at most 0".to_owned(),
            ),
            (
                format!("{SYMMETRIC}2 3 0\n"),
                2,
                "a symmetric matrix of 2 rows and 3 columns cannot be read: it must be square"
                    .to_owned(),
            ),
            (
                format!("{GENERAL}2 2 1\n1 2\n"),
                3,
                "expected the value of an entry, found `end of the line`".to_owned(),
            ),
            (
                format!("{GENERAL}2 2 1\n1 2 one\n"),
                3,
                "`one` is not a number that can stand for the value of an entry".to_owned(),
            ),
            (
                format!("{GENERAL}2 2 1\n1 2 3 4\n"),
                3,
                "expected the end of the line, found `4`".to_owned(),
            ),
            (
                format!("{GENERAL}2 2 2\n1 2 1.0\n0 1 1.0\n"),
                4,
                "the entry in row 0, column 1 lies outside the matrix of 2 rows and 2 columns \
                 (counted from 1)"
                    .to_owned(),
            ),
            (
                format!("{GENERAL}2 2 1\n1 3 1.0\n"),
                3,
                "the entry in row 1, column 3 lies outside the matrix of 2 rows and 2 columns \
                 (counted from 1)"
                    .to_owned(),
            ),
            (
                format!("{SYMMETRIC}2 2 1\n1 2 1.0\n"),
                3,
                "the entry in row 1, column 2 lies above the diagonal: a symmetric file lists the \
                 lower triangle alone"
                    .to_owned(),
            ),
            (format!("{GENERAL}2 2 1\n1 1 nan\n"), 3, "the entry is not finite: NaN".to_owned()),
            (format!("{GENERAL}2 2 2\n1 1 1.000\n"), 4, truncated("the row of an entry")),
            (
                format!("{GENERAL}2 2 1\n1 1 1.0\n2 2 1.0\n"),
                4,
                "expected the end of the file after as many entries as were announced, found \
                 `2 2 1.0`"
                    .to_owned(),
            ),
        ] {
            assert_eq!(of(&text), Err(format!("a.mtx, line {line}: {problem}")), "{text}");
        }
    }

    #[test]
    fn faults_of_a_vector_have_their_line() {
        for (text, line, problem) in [
            (
                format!("{ARRAY}2 2\n1\n2\n3\n4\n"),
                2,
                "an array of 2 columns cannot be read: a vector has one",
            ),
            (
                "%%MatrixMarket matrix array real symmetric\n1 1\n1\n".to_owned(),
                2,
                "a symmetric array cannot be read: a vector is general",
            ),
            (format!("{ARRAY}2 1\n1\ninf\n"), 4, "the entry is not finite: inf"),
            (format!("{ARRAY}2 1\n1.25 2\n"), 3, "expected the end of the line, found `2`"),
            (
                format!("{ARRAY}9 1\n1\n"),
                2,
                "9 elements announced, but the rest of the file can hold at most 2",
            ),
            (
                format!("{ARRAY}1 1\n1\n2\n"),
                4,
                "expected the end of the file after as many entries as were announced, found `2`",
            ),
        ] {
            assert_eq!(vector_of(&text), Err(format!("b.mtx, line {line}: {problem}")), "{text}");
        }
    }

    #[test]
    fn missing_files_are_named() {
        let error = read_matrix("no/such.mtx".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("no/such.mtx: No such file"), "{error}");
        assert!(read_vector("no/such.mtx".as_ref()).is_err());
        assert!(write_vector("no/such.mtx".as_ref(), &[1.0]).is_err());
    }

    proptest! {
        #[test]
        fn written_matrices_and_vectors_read_back(
            rows in 1_u32..40,
            columns in 1_u32..40,
            places in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u64>()), 0..60),
        ) {
            let entries: Vec<_> = places
                .into_iter()
                .map(|(row, column, bits)| (row % rows, column % columns, f64::from_bits(bits)))
                .filter(|(.., value)| value.is_finite())
                .collect();
            let vector: Vec<f64> = entries.iter().map(|(.., value)| *value).collect();
            let matrix =
                CoordinateMatrix { rows: rows as usize, columns: columns as usize, entries };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("m.mtx");
            write_matrix(&path, &matrix).unwrap();
            prop_assert_eq!(read_matrix(&path).unwrap(), matrix);
            write_vector(&path, &vector).unwrap();
            prop_assert_eq!(read_vector(&path).unwrap(), vector);
        }

        #[test]
        fn changed_files_give_a_matrix_or_an_error(
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let text = format!("{SYMMETRIC}% c\n3 3 4\n1 1 2.0\n2 1 -1\n2 2 2.0\n3 3 1e-3\n");
            let mut bytes = text.into_bytes();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(cut.index(bytes.len() + 1));
            if let Ok(read) = parse_matrix("m.mtx".as_ref(), &bytes) {
                let inside = |&(row, column, value): &(u32, u32, f64)| {
                    (row as usize) < read.rows
                        && (column as usize) < read.columns
                        && value.is_finite()
                };
                prop_assert!(read.entries.iter().all(inside));
            }
            let _ = parse_vector("m.mtx".as_ref(), &bytes);
        }
    }
}
