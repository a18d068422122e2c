//! Rows that one of several ranks has of a whole matrix.

use super::{HostArrays, Layout, Matrix};
use crate::{CsrMatrix, LinearError};
use karman_backend::real::Real;
use karman_backend::{Backend, Halo};
use rayon::prelude::*;
use std::sync::Arc;

impl CsrMatrix<f64> {
    /// The rows of one of several ranks, whose columns are entries of vectors of `halo`, with the columns of the whole matrix.
    ///
    /// # Errors
    /// [`LinearError`] where the matrix does not fit 32-bit indices.
    pub fn in_global_columns(&self, halo: &Halo) -> Result<Self, LinearError> {
        let length = |row: usize| self.row_length(row);
        CsrMatrix::from_rows(self.rows(), halo.total(), length, |row, columns, values| {
            for (k, (column, value)) in self.row(row).enumerate() {
                (columns[k], values[k]) = (halo.global(column) as u32, value);
            }
        })
    }
}

impl<S: Real> Matrix<S> {
    /// The rows that one of several ranks has of this matrix, which is in compressed rows on the host, on the backend of that
    /// rank. `halo` has all their columns.
    ///
    /// # Errors
    /// As for [`Matrix::of_rank`].
    pub fn rows_of_rank(&self, backend: &Backend, halo: Arc<Halo>) -> Result<Self, LinearError> {
        let offsets = self.offsets.as_host().unwrap_or_default();
        let offsets = &offsets[halo.first()..=halo.first() + halo.owned()];
        let (first, end) = (offsets[0], offsets[offsets.len() - 1]);
        let entries = first as usize..end as usize;
        let indices = &self.indices.as_host().unwrap_or_default()[entries.clone()];
        let values = &self.values.as_host().unwrap_or_default()[entries];
        let rows = CsrMatrix::new(
            self.columns,
            offsets.par_iter().map(|offset| offset - first).collect(),
            indices.par_iter().copied().collect(),
            values.par_iter().copied().collect(),
        )?;
        Self::of_rank(backend, rows, halo)
    }

    /// The rows `list` of this matrix, which is in compressed rows on the host, on the backend of one of several ranks, whose vectors
    /// have entries in an order of their own: `local` is the entry of each column in vectors of `halo`. The order of the terms of
    /// a row stays.
    ///
    /// # Errors
    /// As for [`Matrix::new`]; [`LinearError::ColumnOutOfRange`] where a column is not in vectors of `halo`.
    pub fn listed_rows(
        &self,
        backend: &Backend,
        list: &[u32],
        halo: Arc<Halo>,
        local: &dyn Fn(u32) -> Option<u32>,
    ) -> Result<Self, LinearError> {
        let (offsets, columns) = (self.offsets.as_host(), self.indices.as_host());
        let (offsets, columns) = (offsets.unwrap_or_default(), columns.unwrap_or_default());
        let values = self.values.as_host().unwrap_or_default();
        let mut all = HostArrays {
            counts: [list.len(), halo.owned() + halo.ghosts(), 0],
            empty_row: None,
            offsets: vec![0],
            indices: vec![],
            values: vec![],
        };
        for (row, of_whole) in list.iter().enumerate() {
            let entries =
                offsets[*of_whole as usize] as usize..offsets[*of_whole as usize + 1] as usize;
            for column in &columns[entries.clone()] {
                let Some(local) = local(*column) else {
                    let (column, columns) = (*column as usize, all.counts[1]);
                    return Err(LinearError::ColumnOutOfRange { row, column, columns });
                };
                all.indices.push(local);
            }
            all.values.extend_from_slice(&values[entries]);
            all.offsets.push(all.indices.len() as u32);
        }
        all.counts[2] = all.indices.len();
        Ok(Matrix { halo: Some(halo), ..Self::uploaded(backend, Layout::Csr, all) })
    }

    /// Columns of a row of this matrix, which is in compressed rows on the host.
    pub fn columns_of_row(&self, row: usize) -> &[u32] {
        let offsets = self.offsets.as_host().unwrap_or_default();
        let columns = self.indices.as_host().unwrap_or_default();
        &columns[offsets[row] as usize..offsets[row + 1] as usize]
    }

    /// Columns outside `rows` in these rows of this matrix, which is in compressed rows on the host; ascending.
    pub fn columns_beyond(&self, rows: std::ops::Range<usize>) -> Vec<u32> {
        let offsets = self.offsets.as_host().unwrap_or_default();
        let entries = offsets[rows.start] as usize..offsets[rows.end] as usize;
        let columns = self.indices.as_host().unwrap_or_default()[entries].iter().copied();
        let mut beyond: Vec<u32> =
            columns.filter(|column| !rows.contains(&(*column as usize))).collect();
        beyond.sort_unstable();
        beyond.dedup();
        beyond
    }
}
