//! CSV files: the history of a run, one row per step, and samples along a line.

use crate::mesh::files::write_complete;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a table cannot be written.
#[derive(Debug, Error)]
pub enum CsvError {
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The columns of a row differ from the heading.
    #[error(
        "{}: a row has the columns {found}, the heading has {heading}", path.display()
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// Names of the row.
        found: String,
        /// Names of the heading.
        heading: String,
    },
    /// The file to continue is not a history.
    #[error("{}, line {line}: `{found}` is not a row of a history", path.display())]
    NotHistory {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Its text.
        found: String,
    },
}

/// A number in the shortest text that reads back to the same bits, with an exponent if large or small.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e15).contains(&magnitude) || !value.is_finite() {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// A number rounded to at most nine digits.
pub fn short_number(value: f64) -> String {
    // Adding 0 turns −0 into 0.
    format!("{value:.8e}").parse().map_or_else(|_| number(value), |short: f64| number(short + 0.0))
}

/// One row of a history: names and numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    names: Vec<String>,
    values: Vec<f64>,
}

impl Row {
    /// A row that begins with the number of the step, from which a restart continues.
    pub fn of_step(step: u64) -> Self {
        let mut row = Row::default();
        row.push("step", step as f64);
        row
    }

    /// Adds a column.
    pub fn push(&mut self, name: impl Into<String>, value: f64) {
        self.names.push(name.into());
        self.values.push(value);
    }

    fn line(&self) -> String {
        let numbers: Vec<String> = self.values.iter().copied().map(number).collect();
        numbers.join(",") + "\n"
    }
}

/// Writes `history.csv`. Each row is in the file when the call returns, so a run that fails leaves the rows
/// of all its steps.
#[derive(Debug)]
pub struct HistoryWriter {
    path: PathBuf,
    file: File,
    heading: Option<Vec<String>>,
}

impl HistoryWriter {
    /// Starts an empty table; its first row fixes the columns.
    ///
    /// # Errors
    /// [`CsvError::Write`].
    pub fn create(path: &Path) -> Result<Self, CsvError> {
        let file = File::create(path).map_err(|source| refused(path, source))?;
        Ok(HistoryWriter { path: path.to_owned(), file, heading: None })
    }

    /// Continues the table of a restart after `step`: rows of later steps and an incomplete last row are
    /// dropped. Starts a table where there is no file.
    ///
    /// # Errors
    /// [`CsvError::Write`]; [`CsvError::NotHistory`] where the file is not a history.
    pub fn resume(path: &Path, step: u64) -> Result<Self, CsvError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Self::create(path);
            }
            Err(source) => return Err(refused(path, source)),
        };
        let (heading, length) = rows_up_to(path, &text, step)?;
        let open = || {
            let mut file = File::options().write(true).open(path)?;
            file.set_len(length as u64)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|source| refused(path, source))?;
        Ok(HistoryWriter { path: path.to_owned(), file, heading })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`CsvError::Columns`] where its names differ from those of the first row; [`CsvError::Write`].
    pub fn write(&mut self, row: &Row) -> Result<(), CsvError> {
        let mut text = String::new();
        match &self.heading {
            None => text = row.names.join(",") + "\n",
            Some(heading) if *heading == row.names => {}
            Some(heading) => {
                return Err(CsvError::Columns {
                    path: self.path.clone(),
                    found: row.names.join(","),
                    heading: heading.join(","),
                });
            }
        }
        text += &row.line();
        // One write per row: the file of a failed run ends with a complete row.
        self.file.write_all(text.as_bytes()).map_err(|source| refused(&self.path, source))?;
        self.heading.get_or_insert_with(|| row.names.clone());
        Ok(())
    }
}

fn refused(path: &Path, source: std::io::Error) -> CsvError {
    CsvError::Write { path: path.to_owned(), source }
}

/// The heading of a history, and the length in bytes of heading and rows up to `step`.
fn rows_up_to(
    path: &Path,
    text: &str,
    step: u64,
) -> Result<(Option<Vec<String>>, usize), CsvError> {
    let not_history = |line: usize, found: &str| CsvError::NotHistory {
        path: path.to_owned(),
        line,
        found: found.trim_end().chars().take(60).collect(),
    };
    let mut rows = text.split_inclusive('\n').filter(|row| row.ends_with('\n'));
    let Some(first) = rows.next() else { return Ok((None, 0)) };
    let heading: Vec<String> = first.trim_end().split(',').map(str::to_owned).collect();
    if heading[0] != "step" {
        return Err(not_history(1, first));
    }
    let mut length = first.len();
    for (index, row) in rows.enumerate() {
        let mut columns = row.trim_end().split(',').map(|column| column.parse::<f64>().ok());
        let (first, rest) = (columns.next().flatten(), columns.all(|number| number.is_some()));
        match first {
            Some(found) if rest && row.split(',').count() == heading.len() => {
                if found > step as f64 {
                    break;
                }
            }
            _ => return Err(not_history(index + 2, row)),
        }
        length += row.len();
    }
    Ok((Some(heading), length))
}

/// Values along a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSamples {
    /// Distance from the line's start: `[n]`.
    pub distances: Vec<f64>,
    /// Coordinates: `[n]`.
    pub points: Vec<[f64; 3]>,
    /// Name and values, each `[n]`, of every column after the coordinates; a vector has three columns such
    /// as `velocity_x`. NaN outside the mesh.
    pub columns: Vec<(String, Vec<f64>)>,
}

/// Writes `line_<name>.csv`: s, x, y, z, then the fields. The file is renamed to its name once complete.
///
/// # Errors
/// [`CsvError::Write`].
pub fn write_line(path: &Path, samples: &LineSamples) -> Result<(), CsvError> {
    let LineSamples { distances, points, columns } = samples;
    let mut all: Vec<Column> = vec![("s".to_owned(), distances.clone())];
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        all.push((axis.to_owned(), points.iter().map(|point| point[k]).collect()));
    }
    all.extend(columns.iter().cloned());
    write_columns(path, &all)
}

/// Heading and values of a column.
pub type Column = (String, Vec<f64>);

/// Writes a table of columns of equal lengths. The file is renamed to its name once complete.
///
/// # Errors
/// [`CsvError::Write`].
pub fn write_columns(path: &Path, columns: &[Column]) -> Result<(), CsvError> {
    let heading: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = heading.join(",") + "\n";
    let rows = columns.iter().map(|(_, values)| values.len()).min().unwrap_or(0);
    for row in 0..rows {
        let numbers: Vec<String> = columns.iter().map(|(_, values)| number(values[row])).collect();
        text += &numbers.join(",");
        text += "\n";
    }
    write_complete(path, |partial| std::fs::write(partial, text))
        .map_err(|source| refused(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(step: u64, residual: f64) -> Row {
        let mut row = Row::of_step(step);
        row.push("time", step as f64 * 0.1);
        row.push("residual", residual);
        row
    }

    #[test]
    fn the_first_row_fixes_the_columns_and_every_row_is_in_the_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        let mut history = HistoryWriter::create(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        history.write(&row(1, 1e-9)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "step,time,residual\n1,0.1,1e-9\n");
        history.write(&row(2, f64::NAN)).unwrap();
        let expected = "step,time,residual\n1,0.1,1e-9\n2,0.2,NaN\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        let error = history.write(&Row::of_step(3)).unwrap_err().to_string();
        let message = "a row has the columns step, the heading has step,time,residual";
        assert_eq!(error, format!("{}: {message}", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn a_restart_drops_later_rows_and_an_incomplete_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        let mut history = HistoryWriter::create(&path).unwrap();
        (1..=5).for_each(|step| history.write(&row(step, 0.5)).unwrap());
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, whole.clone() + "6,0.6").unwrap();
        let mut history = HistoryWriter::resume(&path, 3).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().last(), Some("3,0.30000000000000004,0.5"));
        history.write(&row(4, 0.5)).unwrap();
        history.write(&row(5, 0.5)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        assert!(history.write(&Row::of_step(6)).is_err(), "the heading was read back");
        HistoryWriter::resume(&path, 9).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    }

    #[test]
    fn a_restart_without_a_history_starts_one_and_refuses_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        let mut history = HistoryWriter::resume(&path, 3).unwrap();
        history.write(&row(4, 1.0)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
        let name = path.display();
        for (text, line, found) in [
            ("t,value\n0,1\n", 1, "t,value"),
            ("step,time\n1,0.1\n2,abc\n", 3, "2,abc"),
            ("step,time\n1\n", 2, "1"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = HistoryWriter::resume(&path, 1).unwrap_err().to_string();
            assert_eq!(error, format!("{name}, line {line}: `{found}` is not a row of a history"));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "left alone");
        }
        let error = HistoryWriter::create(&folder.path().join("a/b.csv")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("b.csv: "), "{error}");
    }

    #[test]
    fn a_line_has_distance_place_and_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("line_axis.csv");
        let samples = LineSamples {
            distances: vec![0.0, 0.5],
            points: vec![[0.0; 3], [0.0, 0.0, 0.5]],
            columns: vec![
                ("temperature".into(), vec![300.0, 1e20]),
                ("velocity_x".into(), vec![f64::NAN, -1.25e-7]),
            ],
        };
        write_line(&path, &samples).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "s,x,y,z,temperature,velocity_x\n0,0,0,0,300,NaN\n0.5,0,0,0.5,1e20,-1.25e-7\n"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = write_line(&folder.path().join("none/l.csv"), &samples).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
    }

    #[test]
    fn short_numbers_have_at_most_nine_digits() {
        let cases = [
            (350.0018262102231, "350.001826"),
            (7.16227077646181e-12, "7.16227078e-12"),
            (48000.0, "48000"),
            (-0.0, "0"),
            (199.99999999999292, "200"),
            (f64::NAN, "NaN"),
        ];
        for (value, expected) in cases {
            assert_eq!(short_number(value), expected);
        }
    }

    proptest! {
        #[test]
        fn numbers_read_back_to_the_same_bits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let back: f64 = number(value).parse().unwrap();
            prop_assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
        }

        #[test]
        fn no_history_panics(text in "(step|[0-9,\n]){0,40}", step in 0u64..9) {
            let _ = rows_up_to(Path::new("h.csv"), &text, step);
        }
    }
}
