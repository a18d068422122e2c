//! Sparse matrices on a backend: compressed rows (CSR) on the host, sliced ELLPACK on a device.
#![allow(missing_docs)] // on the modules the kernel attribute generates

mod of_rank;

pub(super) use super::matrix_view::{MatrixView, row_places};
use super::{CsrMatrix, LinearError, SLICE, SlicedEll};
use karman_backend::blas::finish_sum;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, HOST_CHUNK, Halo, Partials, View};
use rayon::prelude::*;
use std::sync::Arc;

/// How a matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Compressed rows, without padding: for the host.
    Csr,
    /// Sliced ELLPACK, with consecutive reads by the threads of a plane: for a device.
    SlicedEll,
}

impl Layout {
    /// The faster layout of a backend.
    pub fn of(backend: &Backend) -> Layout {
        if backend.device().is_some() { Layout::SlicedEll } else { Layout::Csr }
    }

    /// Stride from one entry of a row to the next.
    #[inline]
    pub(super) const fn spacing(self) -> usize {
        match self {
            Layout::Csr => 1,
            Layout::SlicedEll => SLICE,
        }
    }
}

/// A sparse matrix with values in `S` on one backend; multiplies vectors of any precision.
#[derive(Debug)]
pub struct Matrix<S> {
    backend: Backend,
    layout: Layout,
    rows: usize,
    columns: usize,
    entries: usize,
    empty_row: Option<usize>,
    offsets: Buffer<u32>,
    indices: Buffer<u32>,
    values: Buffer<S>,
    /// Of a rank: the exchange of the vectors that it multiplies.
    halo: Option<Arc<Halo>>,
    /// Threads that share the terms of a row.
    parts: usize,
}

/// The arrays of a matrix in its layout: numbers of rows, of columns and of entries first.
struct HostArrays<S> {
    counts: [usize; 3],
    empty_row: Option<usize>,
    offsets: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<S>,
}

impl<S: Real> Matrix<S> {
    /// The rows of one of several ranks, with columns in the numbers of the whole matrix. The order of the terms of a row is that
    /// of the whole matrix. `halo` has all columns; the rows of a matrix that is not square may be any.
    ///
    /// # Errors
    /// As for [`Matrix::new`]; [`LinearError::ColumnOutOfRange`] where a column is not in `halo`.
    pub fn of_rank(
        backend: &Backend,
        matrix: CsrMatrix<S>,
        halo: Arc<Halo>,
    ) -> Result<Self, LinearError> {
        Self::of_rank_with_layout(backend, matrix, halo, Layout::of(backend))
    }

    /// As [`Matrix::of_rank`], in a given layout.
    pub(super) fn of_rank_with_layout(
        backend: &Backend,
        matrix: CsrMatrix<S>,
        halo: Arc<Halo>,
        layout: Layout,
    ) -> Result<Self, LinearError> {
        let columns = halo.owned() + halo.ghosts();
        let unknown = |row: usize| {
            let (column, _) = matrix.row(row).find(|entry| halo.local(entry.0).is_none())?;
            Some(LinearError::ColumnOutOfRange { row, column, columns })
        };
        let first =
            || (0..matrix.rows()).into_par_iter().with_min_len(HOST_CHUNK).find_map_first(unknown);
        if let Some(error) = backend.install(first) {
            return Err(error);
        }
        // Columns ascend in the whole matrix, not in local numbers.
        let of_empty_row = |row: usize| halo.global(row.min(columns.saturating_sub(1)));
        let mut all = Self::host_arrays(backend, matrix, layout, of_empty_row)?;
        let local = |column: &mut u32| *column = halo.local(*column as usize).unwrap_or(0) as u32;
        backend.install(|| all.indices.par_iter_mut().for_each(local));
        Ok(Matrix { columns, halo: Some(halo), ..Self::uploaded(backend, layout, all) })
    }

    /// Another matrix on the backend of this one, and of the same rank of several.
    ///
    /// # Errors
    /// As for [`Matrix::of_rank`].
    pub fn similar(&self, matrix: CsrMatrix<S>) -> Result<Self, LinearError> {
        match &self.halo {
            None => Self::new(&self.backend, matrix),
            Some(halo) => Self::of_rank(&self.backend, matrix, halo.clone()),
        }
    }

    /// The exchange of the vectors that the rows of one of several ranks multiply.
    pub fn halo(&self) -> Option<&Arc<Halo>> {
        self.halo.as_ref()
    }

    /// Number of the first row in the whole matrix, 0 but on one of several ranks.
    pub fn first_row(&self) -> usize {
        self.halo.as_ref().map_or(0, |halo| halo.first())
    }

    /// Number of rows of all ranks.
    pub fn total_rows(&self) -> usize {
        self.halo.as_ref().map_or(self.rows, |halo| halo.total())
    }

    /// A vector that it multiplies, with zeros and room for ghosts.
    pub(super) fn vector<T: Real>(&self) -> Buffer<T> {
        match &self.halo {
            None => self.backend.zeros(self.columns),
            Some(halo) => halo.zeros(&self.backend, 1),
        }
    }

    /// The matrix in the layout that suits `backend`; on the host the arrays are moved.
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] where padding exceeds 32-bit offsets.
    pub fn new(backend: &Backend, matrix: CsrMatrix<S>) -> Result<Self, LinearError> {
        Self::with_layout(backend, matrix, Layout::of(backend))
    }

    /// The matrix in a given layout.
    ///
    /// # Errors
    /// As for [`Matrix::new`].
    pub fn with_layout(
        backend: &Backend,
        matrix: CsrMatrix<S>,
        layout: Layout,
    ) -> Result<Self, LinearError> {
        let last = matrix.columns().saturating_sub(1);
        Self::padded(backend, matrix, layout, |row| row.min(last))
    }

    /// As [`Matrix::with_layout`]; `of_empty_row` gives the column that pads a row without entries.
    pub(super) fn padded(
        backend: &Backend,
        matrix: CsrMatrix<S>,
        layout: Layout,
        of_empty_row: impl Fn(usize) -> usize + Sync + Send,
    ) -> Result<Self, LinearError> {
        let all = Self::host_arrays(backend, matrix, layout, of_empty_row)?;
        Ok(Self::uploaded(backend, layout, all))
    }

    fn host_arrays(
        backend: &Backend,
        matrix: CsrMatrix<S>,
        layout: Layout,
        of_empty_row: impl Fn(usize) -> usize + Sync + Send,
    ) -> Result<HostArrays<S>, LinearError> {
        let counts = [matrix.rows(), matrix.columns(), matrix.entries()];
        let empty_row = matrix.empty_row();
        let (offsets, indices, values) = match layout {
            Layout::Csr => matrix.into_parts(),
            Layout::SlicedEll => {
                let ell = backend.install(|| SlicedEll::padded(&matrix, of_empty_row))?;
                (ell.offsets, ell.columns, ell.values)
            }
        };
        Ok(HostArrays { counts, empty_row, offsets, indices, values })
    }

    fn uploaded(backend: &Backend, layout: Layout, all: HostArrays<S>) -> Self {
        let lists = [all.offsets, all.indices].map(|list| backend.upload(list));
        let values = backend.upload(all.values);
        let matrix = Self::of_buffers(backend, layout, all.counts, lists, values);
        Matrix { empty_row: all.empty_row, ..matrix }
    }

    /// The matrix of compressed rows already on `backend`: `[offsets, columns]` and values.
    pub(super) fn compressed(
        backend: &Backend,
        columns: usize,
        [offsets, indices]: [Buffer<u32>; 2],
        values: Buffer<S>,
    ) -> Self {
        let counts = [offsets.len() - 1, columns, values.len()];
        Self::of_buffers(backend, Layout::Csr, counts, [offsets, indices], values)
    }

    /// The matrix of slices already on `backend`: numbers of rows, of columns and of entries, `[offsets,
    /// columns]` and values.
    pub(super) fn sliced(
        backend: &Backend,
        rows: usize,
        [columns, entries]: [usize; 2],
        [offsets, indices]: [Buffer<u32>; 2],
        values: Buffer<S>,
    ) -> Self {
        let counts = [rows, columns, entries];
        Self::of_buffers(backend, Layout::SlicedEll, counts, [offsets, indices], values)
    }

    /// The matrix of buffers of `backend`, without empty rows and not of one of several ranks: numbers of rows, of columns and
    /// of entries, `[offsets, columns]` and values.
    fn of_buffers(
        backend: &Backend,
        layout: Layout,
        [rows, columns, entries]: [usize; 3],
        [offsets, indices]: [Buffer<u32>; 2],
        values: Buffer<S>,
    ) -> Self {
        Matrix {
            backend: backend.clone(),
            layout,
            rows,
            columns,
            entries,
            empty_row: None,
            offsets,
            indices,
            values,
            halo: None,
            parts: backend.split_sums(rows, entries),
        }
    }

    /// Shares the terms of a row among threads as in a matrix of so many rows and entries, of which these are the rows of one
    /// of several ranks: sums then have the bits of that matrix.
    pub(super) fn with_parts_of(self, rows: usize, entries: usize) -> Self {
        Matrix { parts: self.backend.split_sums(rows, entries), ..self }
    }

    /// Its entries are some of so many, those of the rows that other ranks have counted.
    pub(super) fn with_entries_of_all(self, entries: usize) -> Self {
        Matrix { entries, ..self }
    }

    /// Other rows by compressed rows, `[rows + 1]`, of the same entries.
    pub(super) fn with_offsets(self, offsets: Buffer<u32>) -> Self {
        Matrix { rows: offsets.len() - 1, offsets, ..self }
    }

    /// The rows of one of several ranks, whose columns have the local numbers of `halo`.
    pub(super) fn with_halo(self, halo: &Arc<Halo>) -> Self {
        Matrix { halo: Some(halo.clone()), ..self }
    }

    /// Replaces the values; the sparsity pattern stays. Not for one of several ranks.
    ///
    /// # Errors
    /// [`LinearError::Length`] or [`LinearError::Pattern`] where the pattern of `matrix` differs,
    /// [`LinearError::Backend`] where the old pattern could not be read.
    pub fn set_values(&mut self, matrix: CsrMatrix<S>) -> Result<(), LinearError> {
        let found = match self.layout {
            Layout::Csr => None,
            Layout::SlicedEll => Some(self.backend.install(|| SlicedEll::new(&matrix))?),
        };
        let (offsets, indices) = match &found {
            None => (matrix.offsets(), matrix.column_indices()),
            Some(ell) => (&ell.offsets[..], &ell.columns[..]),
        };
        let same = self.backend.read(&self.offsets)? == offsets
            && self.backend.read(&self.indices)? == indices;
        if !same {
            let different = self.to_csr()?.check_pattern(&matrix).err();
            return Err(different.unwrap_or(LinearError::Pattern { row: 0 }));
        }
        let values = found.map_or_else(|| matrix.into_parts().2, |ell| ell.values);
        self.backend.write(&mut self.values, &values);
        Ok(())
    }

    /// A copy of the matrix on the host, on one of several ranks its rows with columns of the whole matrix. From slices of a
    /// matrix with empty rows, a row with a single explicit zero on the diagonal comes back empty too: it equals padding.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    pub fn to_csr(&self) -> Result<CsrMatrix<S>, LinearError> {
        let offsets = self.backend.read(&self.offsets)?;
        let indices = self.backend.read(&self.indices)?;
        let values = self.backend.read(&self.values)?;
        let columns = self.halo.as_ref().map_or(self.columns, |halo| halo.total());
        let global = |column: u32| match &self.halo {
            None => column,
            Some(halo) => halo.global(column as usize) as u32,
        };
        if self.layout == Layout::Csr {
            let indices = indices.into_iter().map(global).collect();
            return CsrMatrix::new(columns, offsets, indices, values);
        }
        let slice = SLICE;
        let place = |r: usize, k: usize| offsets[r / slice] as usize + r % slice + k * slice;
        let width = |r: usize| (offsets[r / slice + 1] - offsets[r / slice]) as usize / slice;
        let distinct = |r: usize| {
            let repeated = |k: &usize| indices[place(r, *k)] == indices[place(r, k - 1)];
            (1..width(r)).find(repeated).unwrap_or(width(r))
        };
        let has_empty_rows = (0..self.rows).map(distinct).sum::<usize>() > self.entries;
        let length = |r: usize| {
            let length = distinct(r);
            let is_padding = has_empty_rows
                && length == 1
                && indices[place(r, 0)] as usize == r
                && values[place(r, 0)] == S::from_f64(0.0);
            if is_padding { 0 } else { length }
        };
        self.backend.install(|| {
            CsrMatrix::from_rows(self.rows, columns, length, |r, columns, row_values| {
                for k in 0..columns.len() {
                    columns[k] = global(indices[place(r, k)]);
                    row_values[k] = values[place(r, k)];
                }
            })
        })
    }

    /// The rows of all ranks on the host, with columns of the whole matrix. All ranks call it.
    ///
    /// # Errors
    /// As for [`Matrix::to_csr`] and [`CsrMatrix::of_all_ranks`].
    pub(super) fn of_all_ranks(&self) -> Result<CsrMatrix<S>, LinearError> {
        let own = self.to_csr()?;
        let Some(group) = self.backend.ranks() else { return Ok(own) };
        own.of_all_ranks(&**group)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, on one of several ranks those of own entries and of ghosts.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries, padding not counted.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Its storage layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The first row without entries, by its number in the whole matrix.
    pub fn empty_row(&self) -> Option<usize> {
        self.empty_row.map(|row| self.first_row() + row)
    }

    /// Its size in bytes; a product reads it once.
    pub fn bytes(&self) -> usize {
        self.offsets.bytes() + self.indices.bytes() + self.values.bytes()
    }

    /// Its backend.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Offsets and columns.
    pub(super) fn into_pattern(self) -> [Buffer<u32>; 2] {
        [self.offsets, self.indices]
    }

    pub(super) fn arrays(&self) -> (&Buffer<u32>, &Buffer<u32>, &Buffer<S>) {
        (&self.offsets, &self.indices, &self.values)
    }

    /// The matrix as kernels read it.
    pub(super) fn view(&self) -> MatrixView<'_, S> {
        MatrixView {
            offsets: self.offsets.view(),
            columns: self.indices.view(),
            values: self.values.view(),
            layout: self.layout,
        }
    }

    /// The sparsity pattern, for kernels that do not read values.
    pub(super) fn pattern_view(&self) -> MatrixView<'_, S> {
        MatrixView { values: View::absent(), ..self.view() }
    }

    /// Threads that share the terms of a row, in kernels that split rows.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// y ← A x. `x`: `[columns]`, `y`: `[rows]`.
    pub fn multiply<F: Real>(&self, x: &Buffer<F>, y: &mut Buffer<F>) {
        multiply(&self.backend, self.rows, &self.view(), x, y);
    }

    /// y ← A x with the partials of x·y. Square matrices only.
    pub fn multiply_dot<F: Real>(&self, x: &Buffer<F>, y: &mut Buffer<F>, partials: &mut Partials) {
        multiply_dot(&self.backend, self.rows, &self.view(), x, y, partials);
    }

    /// y ← A x with the partials of x·y, x·r, r·r, r·y and y·y. Square matrices only.
    pub fn multiply_dots<F: Real>(
        &self,
        x: &Buffer<F>,
        r: &Buffer<F>,
        y: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        multiply_dots(&self.backend, self.rows, &self.view(), x, r, y, partials);
    }

    /// Number of rows, of all ranks, that sum to less than `share` of their diagonal.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    pub(super) fn weakly_dominant_rows(&self, share: f64) -> Result<usize, LinearError> {
        let backend = &self.backend;
        let mut partials = Partials::new(backend, self.rows, 1);
        let mut count = backend.zeros(1);
        backend.install(|| {
            count_tied(backend, self.rows, &self.view(), share, &mut partials);
            finish_sum(backend, &partials, &mut count);
        });
        Ok(backend.read(&count)?[0] as usize)
    }

    /// The diagonal, 0 where it is absent: `[rows]`.
    pub fn diagonal(&self) -> Buffer<S> {
        let mut diagonal = self.backend.scratch(self.rows);
        let copy = || copy_diagonal(&self.backend, self.rows, &self.view(), &mut diagonal);
        self.backend.install(copy);
        diagonal
    }

    /// The inverse of the diagonal: `[rows]`, stored in any precision.
    ///
    /// # Errors
    /// [`LinearError::Diagonal`] for the first row whose diagonal is zero or absent, or has an
    /// inverse that is not finite.
    pub fn inverse_diagonal<D: Real>(&self) -> Result<Buffer<D>, LinearError> {
        let (backend, n) = (&self.backend, self.rows);
        let mut inverse = backend.zeros(n);
        let mut partials = Partials::of_own(backend, n, 1);
        let mut first = backend.zeros(1);
        backend.install(|| {
            invert_diagonal(backend, n, &self.view(), &mut inverse, &mut partials);
            finish_min(backend, &partials, &mut first);
        });
        let first = backend.read(&first)?[0];
        if first < n as f64 {
            let own = first as usize;
            let row = self.first_row() + own;
            let value = self.to_csr()?.row(own).find(|e| e.0 == row).map_or(0.0, |e| e.1.into());
            return Err(LinearError::Diagonal { row, value });
        }
        Ok(inverse)
    }
}

/// y ← A x. Traffic a row: 4 + 8s from compressed rows, 2s from slices; and 4 + s an entry, padding
/// included.
#[kernel(out(y), specialize(a.layout = Layout::Csr))]
pub(super) fn multiply<F: Real, S: Real>(row: usize, a: &MatrixView<S>, x: &View<F>) -> F {
    a.row_product::<F>(row, x)
}

/// y ← A x with x·y. Traffic of the product alone: x_row has been read.
#[kernel(out(y), reduce(sum), specialize(a.layout = Layout::Csr))]
pub(super) fn multiply_dot<F: Real, S: Real>(
    row: usize,
    a: &MatrixView<S>,
    x: &View<F>,
) -> (F, f64) {
    let y = a.row_product::<F>(row, x);
    (y, x[row].to_f64() * y.to_f64())
}

/// y ← A x with x·y, x·r, r·r, r·y, y·y. Traffic of the product and s a row.
#[kernel(out(y), reduce(sum, sum, sum, sum, sum), specialize(a.layout = Layout::Csr))]
pub(super) fn multiply_dots<F: Real, S: Real>(
    row: usize,
    a: &MatrixView<S>,
    x: &View<F>,
    r: &View<F>,
) -> (F, f64, f64, f64, f64, f64) {
    let own = a.row_product::<F>(row, x);
    let x = x[row].to_f64();
    let r = r[row].to_f64();
    let y = own.to_f64();
    (own, x * y, x * r, r * r, r * y, y * y)
}

/// a_rr. Traffic a row: 4 + s, an entry up to the diagonal 4.
#[kernel(out(diagonal), specialize(a.layout = Layout::Csr))]
pub(super) fn copy_diagonal<S: Real>(row: usize, a: &MatrixView<S>) -> S {
    S::from_f64(a.value(row, row))
}

/// 1/a_rr in the precision it is stored in, and the row's index where that is not finite.
#[kernel(out(inverse), reduce(min), specialize(a.layout = Layout::Csr))]
pub(super) fn invert_diagonal<S: Real, D: Real>(row: usize, a: &MatrixView<S>) -> (D, f64) {
    let diagonal = a.value(row, row);
    let mut stored = D::literal(0.0);
    let mut wrong = row as f64;
    if diagonal.abs() > f64::literal(0.0) {
        stored = D::from_f64(f64::literal(1.0) / diagonal);
        // The inverse of a tiny diagonal overflows.
        if stored.to_f64().abs() <= f64::literal(f64::MAX) {
            wrong = f64::literal(f64::MAX);
        }
    }
    (stored, wrong)
}

/// 1 for a row whose sum is below `share` of its diagonal.
#[kernel(reduce(sum), specialize(a.layout = Layout::Csr))]
pub(super) fn count_tied<S: Real>(row: usize, a: &MatrixView<S>, share: f64) -> f64 {
    let (first, end) = a.row(row);
    let mut k = first;
    let mut sum = f64::literal(0.0);
    let mut diagonal = f64::literal(0.0);
    while k < end {
        let value = a.values[k].to_f64();
        sum += value;
        if a.columns[k] as usize == row {
            diagonal += value;
        }
        k += comptime!(a.layout.spacing());
    }
    let mut count = f64::literal(0.0);
    if sum.abs() < share * diagonal {
        count = f64::literal(1.0);
    }
    count
}

/// The finished minimum.
#[kernel(combine(min), out(result))]
pub(super) fn finish_min(least: f64) -> f64 {
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scattered;
    use karman_backend::testing::{SIZES, everywhere, values};

    #[test]
    fn products_agree_in_every_layout_on_every_backend() {
        for n in SIZES {
            let a = scattered(n);
            let x = values(n, 5);
            let want = a.times(&x);
            let dots = |y: &[f64], z: &[f64]| y.iter().zip(z).map(|(a, b)| a * b).sum::<f64>();
            for backend in everywhere() {
                for layout in [Layout::Csr, Layout::SlicedEll] {
                    let m = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                    assert_eq!(m.to_csr().unwrap(), a);
                    let (bx, mut y) = (backend.upload_slice(&x), backend.zeros(n));
                    let mut partials = Partials::new(&backend, n, 5);
                    m.multiply(&bx, &mut y);
                    let close = |got: &[f64]| {
                        for (g, w) in got.iter().zip(&want) {
                            assert!((g - w).abs() < 1e-13, "{backend:?} {g} {w}");
                        }
                    };
                    close(&backend.read(&y).unwrap());
                    m.multiply_dot(&bx, &mut y, &mut partials);
                    close(&backend.read(&y).unwrap());
                    let mut sum = backend.zeros(1);
                    finish_sum(&backend, &partials, &mut sum);
                    let scale = 1e-12 * n as f64;
                    let got = backend.read(&sum).unwrap()[0];
                    assert!((got - dots(&x, &want)).abs() <= scale, "{backend:?}");
                    let r = backend.upload(values(n, 6));
                    m.multiply_dots(&bx, &r, &mut y, &mut partials);
                    close(&backend.read(&y).unwrap());
                    finish_sum(&backend, &partials, &mut sum);
                    assert_eq!(backend.read(&sum).unwrap()[0], got);
                    let single = Matrix::with_layout(&backend, a.converted::<f32>(), layout);
                    single.unwrap().multiply(&bx, &mut y);
                    for (g, w) in backend.read(&y).unwrap().iter().zip(&want) {
                        assert!((g - w).abs() < 2e-6, "{backend:?} {g} {w}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_inverse_diagonal_names_the_row_it_cannot_divide_by() {
        for backend in everywhere() {
            for layout in [Layout::Csr, Layout::SlicedEll] {
                let entries: Vec<_> = (0..100u32).map(|r| (r, r, f64::from(r) - 60.5)).collect();
                let a = CsrMatrix::from_entries(100, 100, entries.clone()).unwrap();
                let m = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                assert_eq!(backend.read(&m.diagonal()).unwrap(), a.diagonal());
                let inverse = backend.read(&m.inverse_diagonal::<f64>().unwrap()).unwrap();
                for (r, value) in inverse.iter().enumerate() {
                    assert!((value * (r as f64 - 60.5) - 1.0).abs() < 1e-15);
                }
                for (value, message) in [(0.0, "0"), (1e-40, "0.0000000000000000000")] {
                    let mut entries = entries.clone();
                    entries[71].2 = value;
                    let a = CsrMatrix::from_entries(100, 100, entries).unwrap();
                    let m = Matrix::with_layout(&backend, a, layout).unwrap();
                    let error = m.inverse_diagonal::<f32>().unwrap_err();
                    assert_eq!(error, LinearError::Diagonal { row: 71, value });
                    let text = format!("the diagonal of row 71 is {message}");
                    assert!(error.to_string().starts_with(&text), "{error}");
                }
            }
        }
    }

    #[test]
    fn an_explicit_zero_on_the_diagonal_survives_where_no_row_is_empty() {
        for backend in everywhere() {
            for layout in [Layout::Csr, Layout::SlicedEll] {
                let entries: Vec<_> = (0..70u32).map(|r| (r, r, f64::from(r % 7))).collect();
                let a = CsrMatrix::from_entries(70, 70, entries).unwrap();
                let m = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                assert_eq!(m.to_csr().unwrap(), a, "{backend:?} {layout:?}");
            }
        }
    }

    #[test]
    fn values_are_replaced_only_in_the_same_pattern() {
        for backend in everywhere() {
            for layout in [Layout::Csr, Layout::SlicedEll] {
                let a = scattered(100);
                let mut m = Matrix::with_layout(&backend, a.clone(), layout).unwrap();
                let twice = a.values().iter().map(|v| 2.0 * v).collect();
                let (offsets, columns, _) = a.clone().into_parts();
                let twice = CsrMatrix::new(100, offsets, columns, twice).unwrap();
                m.set_values(twice.clone()).unwrap();
                assert_eq!(m.to_csr().unwrap(), twice);
                let error = m.set_values(scattered(99)).unwrap_err().to_string();
                assert_eq!(error, "the matrix has 99 rows, but 100 are expected");
                let entries = (0..100).map(|r| (r, r, 1.0)).collect();
                let diagonal = CsrMatrix::from_entries(100, 100, entries).unwrap();
                let error = m.set_values(diagonal).unwrap_err().to_string();
                assert_eq!(error, "the new values belong to another pattern: it differs in row 1");
            }
        }
    }
}
