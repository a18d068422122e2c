//! Local pseudo-time steps of a steady flow: Δτ_c = s_c Δτ, 1 ≤ s_c ≤ 10.
//!
//! s is the inverse of the convective rate Σ|F|/2V over that of the fastest cell, smoothed over neighbours. The momentum
//! equation has the inertia V/s; the projection, whose matrix has the conductances a (s_l + s_r)/2, changes velocities by
//! s ∇ψ, fluxes by a (s_l + s_r)/2 (ψ_r − ψ_l). s and the matrix change in iterations 5, 10, 20, 40 …, on the host.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::IncompressibleError;
use crate::backend::group::gather_lists;
use crate::backend::{Backend, BackendError, Buffer, View, blas};
use crate::finite_volume::{Faces, narrow, widen};
use crate::linear::{CsrMatrix, LinearError};
use crate::operators::FaceCells;
use crate::real::Real;
use karman_backend::prelude::*;

/// Largest s.
const LARGEST: f64 = 10.0;

/// Mean |Δ ln s| below which s stays.
const LEAST_CHANGE: f64 = 0.1;

/// The first iteration after which s is updated.
const FIRST: usize = 5;

/// Passes that smooth s.
const SMOOTHING: usize = 3;

/// Row sums of the matrix below this share of their terms are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Steps of the cells over that of the fastest, and what depends on them.
pub(super) struct LocalSteps<F: Real> {
    /// A of uniform steps, with the columns of the whole mesh. One of several ranks has its own rows.
    matrix: CsrMatrix<f64>,
    /// a: `[n_faces]`.
    conductance: Buffer<F>,
    /// s: `[n_cells]`.
    pub relative: Buffer<F>,
    /// V / s: `[n_cells]`.
    pub inertia: Buffer<F>,
    /// s of the whole mesh on the host.
    values: Vec<f64>,
    iterations: usize,
}

/// y ← s y, y a vector field `[3][n_cells]`. Traffic a component 3s.
#[kernel(update(y))]
pub fn scale_vectors<F: Real>(i: usize, s: &View<F>, n_cells: usize, y: F) -> F {
    s[i % n_cells] * y
}

/// a (s_l + s_r)/2, at the boundary a s_l. Traffic a face 8 + 2s, a cell s.
#[kernel(out(scaled))]
pub fn scale_conductance<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    n_interior: usize,
    s: &View<F>,
    conductance: &View<F>,
) -> F {
    let mut mean = s[left[f] as usize];
    if f < n_interior {
        mean = F::literal(0.5) * (mean + s[right[f] as usize]);
    }
    conductance[f] * mean
}

impl<F: Real> LocalSteps<F> {
    /// Uniform steps.
    pub(super) fn new(
        backend: &Backend,
        faces: &Faces<F>,
        matrix: CsrMatrix<f64>,
        conductance: &Buffer<F>,
    ) -> Self {
        let copy = |from: &Buffer<F>| {
            let mut copy = backend.scratch(from.len());
            blas::copy(backend, from.len(), from, &mut copy);
            copy
        };
        let n = faces.volume.len();
        LocalSteps {
            matrix,
            conductance: copy(conductance),
            relative: narrow(backend, vec![1.0; n]),
            inertia: copy(&faces.volume),
            values: vec![1.0; faces.cells.n_total()],
            iterations: 0,
        }
    }

    /// Counts an iteration; whether [`LocalSteps::update`] is due after it.
    pub(super) fn is_due(&mut self) -> bool {
        self.iterations += 1;
        let periods = self.iterations / FIRST;
        self.iterations.is_multiple_of(FIRST) && periods.is_power_of_two()
    }

    /// Updates s from the rates of the cells, and `conductance`; the new matrix, None where s stays.
    pub(super) fn update(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        [momentum_diagonal, viscous_rate]: [&Buffer<F>; 2],
        conductance: &mut Buffer<F>,
    ) -> Result<Option<CsrMatrix<f64>>, IncompressibleError> {
        let (sum, viscous) = (widen(backend, momentum_diagonal)?, widen(backend, viscous_rate)?);
        let rates: Vec<f64> = sum.iter().zip(&viscous).map(|(a, b)| (a - b).max(0.0)).collect();
        let halo = faces.cells.halo();
        let first = halo.map_or(0, |halo| halo.first());
        let of_all = |own: Vec<f64>| -> Result<Vec<f64>, BackendError> {
            let Some(halo) = halo else { return Ok(own) };
            Ok(gather_lists(&**halo.group(), &own)?.0)
        };
        let Some(s) = relative_steps((&self.matrix, first), &of_all(rates)?, of_all)? else {
            return Ok(None);
        };
        let changes = s.iter().zip(&self.values).map(|(new, old)| (new / old).ln().abs());
        if changes.sum::<f64>() < LEAST_CHANGE * s.len() as f64 {
            return Ok(None);
        }
        let matrix = scaled_matrix(&self.matrix, &s, first)?;
        let of_cell = |cell: usize| s[halo.map_or(cell, |halo| halo.global(cell))];
        let relative: Vec<f64> = (0..faces.cells.n_local()).map(of_cell).collect();
        let inertia: Vec<f64> =
            widen(backend, &faces.volume)?.iter().zip(&relative).map(|(v, s)| v / s).collect();
        self.inertia = narrow(backend, inertia);
        self.relative = narrow(backend, relative);
        self.values = s;
        self.scale_faces(backend, &faces.cells, &self.conductance, conductance);
        Ok(Some(matrix))
    }

    /// (s_l + s_r)/2 times a quantity of faces, at the boundary s_l times it.
    pub(super) fn scale_faces(
        &self,
        backend: &Backend,
        cells: &FaceCells,
        of_faces: &Buffer<F>,
        scaled: &mut Buffer<F>,
    ) {
        scale_conductance(
            backend,
            cells.n_faces(),
            &cells.left,
            &cells.right,
            cells.n_interior(),
            &self.relative,
            of_faces,
            scaled,
        );
    }
}

/// s of the rates of all cells, which are neighbours in the matrix, of which this rank has the rows from `first` on; `of_all` joins
/// what ranks compute of their cells. None of a fluid at rest.
fn relative_steps(
    (matrix, first): (&CsrMatrix<f64>, usize),
    rates: &[f64],
    of_all: impl Fn(Vec<f64>) -> Result<Vec<f64>, BackendError>,
) -> Result<Option<Vec<f64>>, BackendError> {
    let largest = rates.iter().fold(0.0f64, |a, b| a.max(*b));
    if !(largest > 0.0 && largest.is_finite()) {
        return Ok(None);
    }
    let mut steps: Vec<f64> = rates.iter().map(|r| (largest / r).min(LARGEST).ln()).collect();
    for _ in 0..SMOOTHING {
        let smoothed = |row: usize| {
            let c = first + row;
            let neighbours = matrix.row(row).filter(|(j, _)| *j != c);
            let (sum, count) = neighbours.fold((0.0, 0), |(s, n), (j, _)| (s + steps[j], n + 1));
            if count > 0 { 0.5 * (steps[c] + sum / f64::from(count)) } else { steps[c] }
        };
        steps = of_all((0..matrix.rows()).map(smoothed).collect())?;
    }
    Ok(Some(steps.into_iter().map(f64::exp).collect()))
}

/// The matrix, whose rows are those from `first` on, with its entries times (s_i + s_j)/2 and its row sums, the conductances of the
/// boundary, times s_i.
fn scaled_matrix(
    matrix: &CsrMatrix<f64>,
    s: &[f64],
    first: usize,
) -> Result<CsrMatrix<f64>, LinearError> {
    let length = |row: usize| matrix.row_length(row);
    CsrMatrix::from_rows(matrix.rows(), s.len(), length, |own, columns, values| {
        let row = first + own;
        let (mut row_sum, mut size, mut others, mut diagonal) = (0.0, 0.0, 0.0, 0);
        for (k, (column, a)) in matrix.row(own).enumerate() {
            columns[k] = column as u32;
            (row_sum, size) = (row_sum + a, size + a.abs());
            if column == row {
                diagonal = k;
            } else {
                values[k] = 0.5 * (s[row] + s[column]) * a;
                others += values[k];
            }
        }
        let boundary = if row_sum.abs() > ROUND_OFF * size { row_sum } else { 0.0 };
        values[diagonal] = s[row] * boundary - others;
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::{everywhere, values};

    /// A chain of three cells, the last at a boundary.
    fn chain() -> CsrMatrix<f64> {
        let rows = [vec![(0, 2.0), (1, -2.0)], vec![(0, -2.0), (1, 5.0), (2, -3.0)]];
        let last = vec![(1, -3.0), (2, 7.0)];
        let rows: Vec<Vec<(usize, f64)>> = rows.into_iter().chain([last]).collect();
        let fill = |row: usize, columns: &mut [u32], values: &mut [f64]| {
            for (k, (column, value)) in rows[row].iter().enumerate() {
                (columns[k], values[k]) = (*column as u32, *value);
            }
        };
        CsrMatrix::from_rows(3, 3, |row| rows[row].len(), fill).unwrap()
    }

    #[test]
    fn the_matrix_of_local_steps_has_mean_steps_at_faces() {
        let scaled = scaled_matrix(&chain(), &[1.0, 3.0, 5.0], 0).unwrap();
        let rows: Vec<Vec<f64>> =
            (0..3).map(|r| scaled.row(r).map(|(_, value)| value).collect()).collect();
        assert_eq!(rows, [vec![4.0, -4.0], vec![-4.0, 16.0, -12.0], vec![-12.0, 32.0]]);
    }

    #[test]
    fn steps_are_inverse_rates_smoothed_and_bounded() {
        let steps = |rates| relative_steps((&chain(), 0), rates, Ok).unwrap();
        assert_eq!(steps(&[0.0; 3]), None);
        assert_eq!(steps(&[2.0; 3]), Some(vec![1.0; 3]));
        let s = steps(&[1.0, 0.0, 0.5]).unwrap();
        assert!(s.iter().all(|s| (1.0..LARGEST).contains(s)) && s[1] > s[0], "{s:?}");
    }

    #[test]
    fn local_steps_are_updated_in_iterations_5_10_20() {
        let backend = Backend::host(1).unwrap();
        let (mesh, geometry) = crate::mesh::testing::built(crate::mesh::testing::gmsh("tee"));
        let faces = Faces::<f64>::new(&backend, &mesh, &geometry, false);
        let conductance = backend.zeros(mesh.n_faces());
        let mut steps = LocalSteps::new(&backend, &faces, chain(), &conductance);
        let due: Vec<usize> = (1..=50).filter(|_| steps.is_due()).collect();
        assert_eq!(due.len(), 4);
        assert_eq!(steps.iterations, 50);
    }

    #[test]
    fn scaling_is_the_same_on_every_backend() {
        for backend in everywhere() {
            let n = 40;
            let (s, y, a) = (values(n, 1), values(3 * n, 2), values(n, 3));
            let on_s = backend.upload(s.clone());
            let mut scaled = backend.upload(y.clone());
            scale_vectors(&backend, 3 * n, &on_s, n, &mut scaled);
            let expected: Vec<f64> = (0..3 * n).map(|i| s[i % n] * y[i]).collect();
            assert_eq!(backend.read(&scaled).unwrap(), expected);
            let left: Vec<u32> = (0..n as u32).collect();
            let right: Vec<u32> = (0..n as u32).map(|f| (f + 1) % n as u32).collect();
            let mut conductance = backend.zeros(n);
            let (l, r) = (backend.upload(left), backend.upload(right));
            let on_a = backend.upload(a.clone());
            scale_conductance(&backend, n, &l, &r, n - 2, &on_s, &on_a, &mut conductance);
            for (f, found) in backend.read(&conductance).unwrap().into_iter().enumerate() {
                let mean = if f < n - 2 { 0.5 * (s[f] + s[(f + 1) % n]) } else { s[f] };
                assert!((found - a[f] * mean).abs() < 1e-12, "{f}");
            }
        }
    }
}
