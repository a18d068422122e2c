//! Sliced ELLPACK (Monakov, Lokhmotov & Avetisyan 2010): rows in slices of [`SLICE`], each slice
//! stored column by column, so that the threads of a device plane read consecutive addresses.

use super::{CsrMatrix, LinearError};
use karman_backend::real::Real;
use rayon::prelude::*;

/// Rows in a slice: a plane of an NVIDIA device.
pub const SLICE: usize = 32;

/// A matrix in sliced ELLPACK on the host. Slice s stores its rows' entries
/// `offsets[s] .. offsets[s + 1]`, entry k of the slice's row l at `offsets[s] + SLICE k + l`. A row
/// shorter than its slice is padded with zeros in the column of its last entry (its own where it is
/// empty), which costs no further read of the vector.
#[derive(Clone, Debug, PartialEq)]
pub struct SlicedEll<T> {
    /// Where slices begin: [slices + 1].
    pub offsets: Vec<u32>,
    /// Columns of the entries, padding included.
    pub columns: Vec<u32>,
    /// Values of the entries, padding included.
    pub values: Vec<T>,
}

impl<T: Real> SlicedEll<T> {
    /// Converts `matrix` in parallel.
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] where padding exceeds 32-bit offsets.
    pub fn new(matrix: &CsrMatrix<T>) -> Result<Self, LinearError> {
        let last = matrix.columns().saturating_sub(1);
        Self::padded(matrix, |row| row.min(last))
    }

    /// As [`SlicedEll::new`]; `of_empty_row` gives the column that pads a row without entries.
    pub(super) fn padded(
        matrix: &CsrMatrix<T>,
        of_empty_row: impl Fn(usize) -> usize + Sync,
    ) -> Result<Self, LinearError> {
        let rows = matrix.rows();
        let mut offsets = vec![0u32];
        let mut entries = 0;
        for first in (0..rows).step_by(SLICE) {
            let rows = first..(first + SLICE).min(rows);
            entries += SLICE * rows.map(|r| matrix.row_length(r)).max().unwrap_or(0);
            offsets.push(entries as u32);
        }
        if entries > u32::MAX as usize {
            return Err(LinearError::TooLarge { entries });
        }
        let mut columns = vec![0; entries];
        let mut values = vec![T::from_f64(0.0); entries];
        let mut slices = vec![];
        let (mut rest_columns, mut rest_values) = (&mut columns[..], &mut values[..]);
        for s in 0..offsets.len() - 1 {
            let size = (offsets[s + 1] - offsets[s]) as usize;
            let (c, more_columns) = rest_columns.split_at_mut(size);
            let (v, more_values) = rest_values.split_at_mut(size);
            slices.push((s * SLICE, c, v));
            (rest_columns, rest_values) = (more_columns, more_values);
        }
        slices.into_par_iter().with_min_len(64).for_each(|(first, columns, values)| {
            for lane in 0..SLICE.min(rows - first) {
                let row = first + lane;
                let mut column = of_empty_row(row) as u32;
                let mut entry = matrix.row(row);
                for place in (lane..columns.len()).step_by(SLICE) {
                    if let Some((c, v)) = entry.next() {
                        column = c as u32;
                        values[place] = v;
                    }
                    columns[place] = column;
                }
            }
        });
        Ok(SlicedEll { offsets, columns, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_contain_the_rows_padded_with_their_last_column() {
        let n = 70;
        let length = |r: usize| if r == 33 { 0 } else { 1 + r % 3 };
        let a = CsrMatrix::from_rows(n, n, length, |r, columns, values| {
            for k in 0..columns.len() {
                columns[k] = ((r + 11 * k) % n) as u32;
                values[k] = (r + 100 * k) as f64 + 1.0;
            }
        })
        .unwrap();
        let ell = SlicedEll::new(&a).unwrap();
        assert_eq!(ell.offsets, [0, 96, 192, 288]);
        for row in 0..n {
            let first = ell.offsets[row / SLICE] as usize + row % SLICE;
            let mut entries = a.row(row);
            let mut last = row;
            for k in 0..3 {
                let got = (ell.columns[first + k * SLICE] as usize, ell.values[first + k * SLICE]);
                let want = entries.next().unwrap_or((last, 0.0));
                last = want.0;
                assert_eq!(got, want, "row {row}, entry {k}");
            }
        }
        let none = SlicedEll::new(&CsrMatrix::<f64>::from_entries(0, 0, vec![]).unwrap()).unwrap();
        assert_eq!((none.offsets.as_slice(), none.values.len()), (&[0u32][..], 0));
    }
}
