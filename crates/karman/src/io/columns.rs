//! Tables of numbers with a heading: CSV output of a run, and reference values.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a table cannot be read.
#[derive(Debug, Error)]
pub enum ColumnsError {
    /// The file is missing or unreadable.
    #[error("cannot read the table {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A row of another length than the heading, or with an entry that is not a number.
    #[error("{}, line {line}: `{found}` is not a row of {columns} numbers", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Its text.
        found: String,
        /// Columns of the heading.
        columns: usize,
    },
    /// No heading.
    #[error("{} has no heading", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// An unknown column.
    #[error("{} has no column `{name}`; columns: {}", path.display(), known.join(", "))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The requested name.
        name: String,
        /// Names of the heading.
        known: Vec<String>,
    },
}

/// A table by columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    path: PathBuf,
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Columns {
    /// Reads a CSV file: a heading, then numbers. Blank lines and lines that start with `#` are skipped; an
    /// empty entry is NaN.
    ///
    /// # Errors
    /// [`ColumnsError`], with the line.
    pub fn read(path: &Path) -> Result<Self, ColumnsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ColumnsError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Parses the text of a CSV file; messages name it `path`.
    ///
    /// # Errors
    /// As [`Columns::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ColumnsError> {
        let path = path.to_owned();
        let is_row = |row: &&str| !row.is_empty() && !row.starts_with('#');
        let lines = text.lines().enumerate().map(|(index, row)| (index + 1, row.trim()));
        let mut rows = lines.filter(|(_, row)| is_row(row));
        let Some((_, heading)) = rows.next() else { return Err(ColumnsError::Empty { path }) };
        let names: Vec<String> = heading.split(',').map(|name| name.trim().to_owned()).collect();
        let mut values = vec![Vec::new(); names.len()];
        for (line, row) in rows {
            let numbers: Option<Vec<f64>> = row.split(',').map(entry).collect();
            let Some(numbers) = numbers.filter(|numbers| numbers.len() == names.len()) else {
                let (found, columns) = (row.chars().take(60).collect(), names.len());
                return Err(ColumnsError::Row { path, line, found, columns });
            };
            values.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        }
        Ok(Columns { path, names, values })
    }

    /// Names of the columns in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The numbers of a column: `[rows]`.
    ///
    /// # Errors
    /// [`ColumnsError::NoColumn`].
    pub fn column(&self, name: &str) -> Result<&[f64], ColumnsError> {
        match self.names.iter().position(|known| known == name) {
            Some(column) => Ok(&self.values[column]),
            None => Err(ColumnsError::NoColumn {
                path: self.path.clone(),
                name: name.to_owned(),
                known: self.names.clone(),
            }),
        }
    }

    /// Rows of two columns in which both entries are finite.
    ///
    /// # Errors
    /// [`ColumnsError::NoColumn`].
    pub fn pairs(&self, first: &str, second: &str) -> Result<Vec<[f64; 2]>, ColumnsError> {
        let rows = self.column(first)?.iter().zip(self.column(second)?);
        let pairs = rows.map(|(a, b)| [*a, *b]);
        Ok(pairs.filter(|pair| pair.iter().all(|value| value.is_finite())).collect())
    }
}

fn entry(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() { Some(f64::NAN) } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Columns, String> {
        Columns::parse(text, Path::new("u.csv")).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_have_names_and_entries_may_be_missing() {
        let table = parse("# Ghia (1982)\n y , re_100,re_400\n\n0,1,2\n0.5,,-4e-1\n").unwrap();
        assert_eq!(table.names(), ["y", "re_100", "re_400"]);
        assert_eq!(table.column("re_400").unwrap(), [2.0, -0.4]);
        assert_eq!(table.pairs("y", "re_100").unwrap(), [[0.0, 1.0]]);
        assert_eq!(table.pairs("y", "re_400").unwrap(), [[0.0, 2.0], [0.5, -0.4]]);
    }

    #[test]
    fn messages_name_the_line_and_the_columns() {
        let table = parse("y,u\n0,1\n").unwrap();
        let message = table.column("v").unwrap_err().to_string();
        assert_eq!(message, "u.csv has no column `v`; columns: y, u");
        assert_eq!(parse("# no more\n").unwrap_err(), "u.csv has no heading");
        for row in ["1", "1,2,3", "1,b"] {
            let message = parse(&format!("y,u\n0,1\n{row}\n")).unwrap_err();
            assert_eq!(message, format!("u.csv, line 3: `{row}` is not a row of 2 numbers"));
        }
        let message = Columns::read(Path::new("none.csv")).unwrap_err().to_string();
        assert!(message.starts_with("cannot read the table none.csv: "), "{message}");
    }
}
