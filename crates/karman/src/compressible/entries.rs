//! Means and polynomials of the cells from which states at points are computed. Of several ranks those that own the cells hand
//! over these alone.

use super::error::CompressibleError;
use super::reconstruction::polynomial::place_of;
use super::solver::CompressibleSolver;
use super::state::VARIABLES;
use crate::backend::{Buffer, blas};
use crate::linear::Layout;
use crate::real::Real;

/// Entries of cells in the means and in the coefficients of a flow, cell by cell.
pub struct CellEntries([Vec<u32>; 2]);

/// Cells that a part hands over, on its backend.
pub struct PackedCells<F: Real> {
    /// Their entries in the means and in the coefficients of the part.
    entries: [Buffer<u32>; 2],
    packed: Buffer<F>,
}

impl<F: Real> CompressibleSolver<F> {
    /// The cell of each of some boundary faces; the flow is on the host.
    pub fn cells_of_faces(&self, faces: &[u32]) -> Vec<u32> {
        let left = self.mesh.cells.left.as_host().unwrap_or_default();
        faces.iter().map(|face| left[*face as usize]).collect()
    }

    /// The entries of cells.
    pub fn entries_of(&self, cells: &[u32]) -> CellEntries {
        let stride = self.state.now.len() / VARIABLES;
        let means = |cell: &u32| {
            let cell = *cell as usize;
            (0..VARIABLES).map(move |v| (v * stride + cell) as u32)
        };
        let (terms, layout) = (self.polynomials.stencils.terms(), Layout::of(&self.backend));
        let coefficients = if terms == 0 { 0 } else { 1 + terms };
        let of_polynomial = |cell: &u32| {
            let cell = *cell as usize;
            (0..coefficients).flat_map(move |m| {
                let (first, step) = place_of(cell, m, stride, terms, layout);
                (0..VARIABLES).map(move |v| (first + v * step) as u32)
            })
        };
        let means = cells.iter().flat_map(means).collect();
        CellEntries([means, cells.iter().flat_map(of_polynomial).collect()])
    }

    /// Own cells of this part to be handed over.
    pub fn packed_cells(&self, cells: &[u32]) -> PackedCells<F> {
        let entries = self.entries_of(cells).0.map(|entries| self.backend.upload(entries));
        let count = entries.iter().map(Buffer::len).sum();
        PackedCells { entries, packed: self.backend.zeros(count) }
    }

    /// The means and the polynomials of cells at the current time.
    ///
    /// # Errors
    /// As [`CompressibleSolver::refresh`].
    pub fn hand_over(&mut self, cells: &mut PackedCells<F>) -> Result<Vec<F>, CompressibleError> {
        self.refresh()?;
        let PackedCells { entries: [means, coefficients], packed } = cells;
        let (backend, count) = (&self.backend, means.len());
        blas::copy_entries_to_range(backend, count, &self.state.now, 0, means, 0, packed);
        let of_polynomials = &self.polynomials.coefficients;
        let n = coefficients.len();
        blas::copy_entries_to_range(backend, n, of_polynomials, 0, coefficients, count, packed);
        Ok(backend.read(packed)?)
    }

    /// Takes over what a part has handed over of cells with these entries in the whole mesh, which is on the host.
    pub fn take_over(&mut self, CellEntries(entries): &CellEntries, values: &[F]) {
        let (means, coefficients) = values.split_at(entries[0].len());
        let arrays = [&mut self.state.now, &mut self.polynomials.coefficients];
        for ((entries, values), array) in entries.iter().zip([means, coefficients]).zip(arrays) {
            let Some(array) = array.as_host_mut() else { continue };
            entries.iter().zip(values).for_each(|(entry, value)| array[*entry as usize] = *value);
        }
    }

    /// Makes means and polynomials of the whole mesh NaN, so that one which was not handed over shows where it is read. For builds with
    /// debug assertions.
    pub fn poison(&mut self) {
        for array in [&mut self.state.now, &mut self.polynomials.coefficients] {
            array.as_host_mut().into_iter().for_each(|array| array.fill(F::from_f64(f64::NAN)));
        }
    }
}
