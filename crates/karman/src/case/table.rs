//! Tables in time: a CSV file with the columns t and value.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Numbers at increasing times; linear between them, constant before the first and after the
/// last.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeTable {
    times: Vec<f64>,
    values: Vec<f64>,
}

/// Why a table cannot be used.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file is missing or unreadable.
    #[error("cannot read the table {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        source: std::io::Error,
    },
    /// A line that is not two finite numbers.
    #[error("{}, line {line}: expected two numbers `t,value`, found `{found}`", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The line's text.
        found: String,
    },
    /// A time not above the one before it.
    #[error("{}, line {line}: t = {time} does not come after t = {previous}", path.display())]
    NotIncreasing {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The time of this line.
        time: f64,
        /// The time before it.
        previous: f64,
    },
    /// No line with numbers.
    #[error("{} has no rows", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl TimeTable {
    /// Reads a CSV file: `t,value` on each line; a heading, blank lines and lines that start
    /// with `#` are skipped.
    ///
    /// # Errors
    /// [`TableError`], with the line.
    pub fn read(path: &Path) -> Result<Self, TableError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| TableError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a CSV file; `path` is its name in messages.
    ///
    /// # Errors
    /// [`TableError`], with the line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, TableError> {
        let mut table = Self { times: Vec::new(), values: Vec::new() };
        let mut heading_allowed = true;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, row) in text.lines().enumerate() {
            let row = row.trim();
            if row.is_empty() || row.starts_with('#') {
                continue;
            }
            let heading = std::mem::replace(&mut heading_allowed, false)
                && row.split(',').map(str::trim).eq(["t", "value"]);
            if heading {
                continue;
            }
            let Some((time, value)) = two_numbers(row) else {
                let (path, found) = (path.to_owned(), row.chars().take(60).collect());
                return Err(TableError::Malformed { path, line: index + 1, found });
            };
            if let Some(&previous) = table.times.last().filter(|&&previous| time <= previous) {
                let path = path.to_owned();
                return Err(TableError::NotIncreasing { path, line: index + 1, time, previous });
            }
            table.times.push(time);
            table.values.push(value);
        }
        if table.times.is_empty() {
            return Err(TableError::Empty { path: path.to_owned() });
        }
        Ok(table)
    }

    /// The value at time `t`.
    pub fn at(&self, t: f64) -> f64 {
        let next = self.times.partition_point(|&time| time <= t);
        if next == 0 {
            return self.values[0];
        }
        if next == self.times.len() {
            return self.values[next - 1];
        }
        let (from, to) = (self.times[next - 1], self.times[next]);
        let fraction = (t - from) / (to - from);
        self.values[next - 1] + fraction * (self.values[next] - self.values[next - 1])
    }

    /// The times, increasing; at least one.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The value at each time.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

fn two_numbers(row: &str) -> Option<(f64, f64)> {
    let mut fields = row.split(',').map(|field| field.trim().parse::<f64>());
    let (time, value) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (fields.next().is_none() && time.is_finite() && value.is_finite()).then_some((time, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<TimeTable, String> {
        TimeTable::parse(text, Path::new("ramp.csv")).map_err(|error| error.to_string())
    }

    #[test]
    fn is_linear_between_rows_and_constant_beyond_the_ends() {
        let table = parse("t,value\n# seconds, kelvin\n0, 300\n\n10, 400\n20,200\n").unwrap();
        for (t, expected) in
            [(-5.0, 300.0), (0.0, 300.0), (5.0, 350.0), (10.0, 400.0), (15.0, 300.0), (99.0, 200.0)]
        {
            assert_eq!(table.at(t), expected);
        }
        assert_eq!(parse("\u{feff}0,1").unwrap().at(3.0), 1.0);
    }

    #[test]
    fn messages_name_the_line() {
        insta::assert_snapshot!(
            parse("t,value\n0,1\nt,2\n").unwrap_err(),
            @"ramp.csv, line 3: expected two numbers `t,value`, found `t,2`"
        );
        insta::assert_snapshot!(
            parse("0,1,2").unwrap_err(),
            @"ramp.csv, line 1: expected two numbers `t,value`, found `0,1,2`"
        );
        insta::assert_snapshot!(
            parse("0,nan").unwrap_err(),
            @"ramp.csv, line 1: expected two numbers `t,value`, found `0,nan`"
        );
        insta::assert_snapshot!(
            parse("0,1\n0,2").unwrap_err(),
            @"ramp.csv, line 2: t = 0 does not come after t = 0"
        );
        insta::assert_snapshot!(parse("t,value\n").unwrap_err(), @"ramp.csv has no rows");
        let missing = TimeTable::read(Path::new("does/not/exist.csv")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read the table does/not/exist.csv: "), "{missing}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", rows in "([-0-9.,e\n]{0,12}){0,8}", t in any::<f64>()) {
            for text in [text, rows] {
                if let Ok(table) = parse(&text) {
                    table.at(t);
                }
            }
        }
    }
}
