//! Tables of text.

use std::fmt;

/// Two decimals, without trailing zeros.
pub(super) fn plain(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Seconds with about three digits.
pub(super) fn seconds(s: f64) -> String {
    match s {
        s if s >= 100.0 => format!("{s:.0}"),
        s if s >= 1.0 => format!("{s:.2}"),
        s => format!("{s:.4}"),
    }
}

/// A table with columns as wide as their longest text.
pub(super) struct Table {
    title: String,
    header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(title: &str, header: &[&str]) -> Table {
        let header = header.iter().map(|name| (*name).to_owned()).collect();
        Table { title: title.to_owned(), header, rows: vec![] }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", self.title)?;
        let width = |k: usize| {
            let column = self.rows.iter().chain([&self.header]).map(|row| row[k].chars().count());
            column.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        for row in [&self.header].into_iter().chain(&self.rows) {
            let cells = row.iter().zip(&widths).map(|(text, width)| format!("{text:>width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  "))?;
        }
        Ok(())
    }
}
