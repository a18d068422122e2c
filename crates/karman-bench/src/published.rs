//! Tables of a thesis, from the CSV files in `data/`.

use karman::io::columns::Columns;
use std::path::Path;

/// The rows of a table of N columns; an empty entry is NaN.
pub(super) fn rows<const N: usize>(csv: &str) -> Vec<[f64; N]> {
    let columns = Columns::parse(csv, Path::new("data")).and_then(|table| {
        table.names().iter().map(|name| table.column(name).map(<[f64]>::to_vec)).collect()
    });
    let columns: Vec<Vec<f64>> = match columns {
        Ok(columns) => columns,
        Err(error) => unreachable!("a part of the program: {error}"),
    };
    (0..columns[0].len()).map(|row| std::array::from_fn(|k| columns[k][row])).collect()
}
