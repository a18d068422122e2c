//! The residual without stored coefficients.
//!
//! Its stages are the traces of cells at the points of their faces, the fluxes between traces, and the sums in cells. Where a cell has
//! no more points than coefficients, the weights of coefficients and the basis at a point are contracted once: one row of weights a
//! point, w_pj = Σ_m w_mj (φ_m(x_p) − mean of φ_m). With more points the coefficients stay in registers.
//!
//! Cells with equally many rows are a class, with a list of its cells and stencils of its own.

mod kernels;

use super::face_points::{FacePointsOnBackend, FaceRule};
use super::limiter::Limiter;
use super::on_backend::{MeshOnBackend, PolynomialsOnBackend};
use super::problem::{CompressibleNumerics, ResidualForm};
use super::reconstruction::polynomial::{AnyStencils, WeightPrecision};
use super::reconstruction::stencil::Stencils;
use super::residual::GasView;
use super::share::Share;
use super::state::{States, VARIABLES};
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::Vectors;
use crate::mesh::adjacency::{fill_rows, fill_wide_rows, offsets_of};
use crate::mesh::quadrature::{CellMoments, points_of_face};
use crate::mesh::{Mesh, index_of, sign_of};
use crate::real::Real;
use kernels::{
    CellSides, MOST_ROWS, TracePlaces, TraceView, boundary_face_flux, interior_flux,
    traces_by_polynomials, traces_by_rows,
};
use rayon::prelude::*;

type Vector = [f64; 3];

/// Cells within which those of equally long rows are put together.
const WINDOW: usize = 4096;

/// Cells with equally many rows of weights.
struct RowClass<F: Real> {
    rows: usize,
    cells: Buffer<u32>,
    stencils: AnyStencils<F>,
    /// Number of items of the stencils.
    items: usize,
}

/// Data of the fused residual.
pub(super) struct FusedResidual<F: Real> {
    /// Classes of cells with rows of weights; none: all cells have polynomials.
    classes: Vec<RowClass<F>>,
    /// Shares of the area vectors of interior faces in the order of places.
    area: Buffer<F>,
    traces: Buffer<F>,
    boundary_faces: Buffer<u32>,
    n_interior: usize,
    n_faces: usize,
}

impl<F: Real> FusedResidual<F> {
    /// The data of a mesh whose faces have the points of `rule`, with rows of weights of the cells `with_rows`.
    pub(super) fn new(
        backend: &Backend,
        (mesh, rule): (&Mesh, &FaceRule),
        (moments, stencils): (&CellMoments, &Stencils),
        with_rows: &[u32],
        precision: WeightPrecision,
    ) -> Self {
        let rows = RowWeights { mesh, rule, moments, stencils };
        let (n_faces, n_interior) = (mesh.n_faces(), mesh.n_interior_faces());
        let per_face = rule.per_face();
        let total = rule.at.len();
        let inner = rule.offsets[n_interior] as usize;
        // In the order of points, of equally many of each face by faces; 0 at the boundary.
        let share = |place: usize, d: usize| {
            let point = match per_face {
                0 => place,
                _ => place % n_faces * per_face + place / n_faces,
            };
            F::from_f64(if point < inner { rule.area[point][d] } else { 0.0 })
        };
        let places = (0..3 * total).into_par_iter();
        let area: Vec<F> = places.map(|place| share(place % total, place / total)).collect();
        let boundary = n_interior as u32..n_faces as u32;
        FusedResidual {
            classes: rows.classes(backend, with_rows, precision),
            area: backend.upload(area),
            traces: backend.zeros(2 * VARIABLES * total),
            boundary_faces: backend.upload(boundary.collect()),
            n_interior,
            n_faces,
        }
    }

    /// Σ rows over the items of stencils; none without rows.
    pub(super) fn row_count(&self) -> Option<usize> {
        let count = self.classes.iter().map(|class| class.rows * class.items).sum();
        (!self.classes.is_empty()).then_some(count)
    }

    fn places<'a>(&self, points: &'a FacePointsOnBackend<F>) -> TracePlaces<'a, F> {
        let stride = self.traces.len() / (2 * VARIABLES);
        TracePlaces { points: points.view(), n_faces: self.n_faces, stride }
    }

    /// Traces of the polynomials of means.
    pub(super) fn set_traces(
        &mut self,
        backend: &Backend,
        mesh: &MeshOnBackend<F>,
        polynomials: &PolynomialsOnBackend<F>,
        means: &Buffer<F>,
        (gamma, numerics): (f64, &CompressibleNumerics),
    ) {
        let cell_faces = mesh.cell_faces();
        let sides = CellSides {
            offsets: cell_faces.offsets,
            items: cell_faces.items,
            places: self.places(&mesh.points),
            second: polynomials.second.view(),
            softness: match numerics.limiter {
                Limiter::Venkatakrishnan => polynomials.softness.view(),
                _ => View::absent(),
            },
            gamma: F::from_f64(gamma),
            limiter: numerics.limiter,
            bounds_traces: numerics.bounds_traces,
        };
        let q = States::of(means);
        let traces = &mut self.traces;
        if self.classes.is_empty() {
            let n = mesh.n_polynomials();
            match &polynomials.stencils {
                AnyStencils::Same(s) => {
                    traces_by_polynomials(backend, n, &s.view(), &q, &sides, traces);
                }
                AnyStencils::Single(s) => {
                    traces_by_polynomials(backend, n, &s.view(), &q, &sides, traces);
                }
            }
        }
        for RowClass { rows, cells, stencils, .. } in &self.classes {
            let n = cells.len();
            // Bounds need all variables in one thread.
            let share = match (backend.device(), sides.bounds_traces, stencils) {
                (None, ..) | (_, true, _) => Share::Cell,
                (_, _, AnyStencils::Same(_)) if *rows < MOST_ROWS => Share::Half,
                _ => Share::HalfPairs,
            };
            let threads = share.threads(n);
            match stencils {
                AnyStencils::Same(s) => {
                    let rows = s.view();
                    traces_by_rows(backend, threads, n, cells, &rows, &q, &sides, share, traces);
                }
                AnyStencils::Single(s) => {
                    let rows = s.view();
                    traces_by_rows(backend, threads, n, cells, &rows, &q, &sides, share, traces);
                }
            }
        }
    }

    /// Fluxes between the traces.
    pub(super) fn compute_fluxes(
        &self,
        backend: &Backend,
        points: &FacePointsOnBackend<F>,
        gas: &GasView<'_, F>,
        flux: &mut Buffer<F>,
    ) {
        let traces = TraceView {
            values: self.traces.view(),
            area: Vectors::of(&self.area),
            places: self.places(points),
        };
        interior_flux(backend, self.n_interior, &traces, gas.gamma, gas.form, flux);
        let faces = &self.boundary_faces;
        boundary_face_flux(backend, faces.len(), faces, &traces, gas, flux);
    }
}

/// Whether all cells of a mesh have rows of weights: no cell has too many points, and faces have equally many.
pub(super) fn has_rows(mesh: &Mesh, terms: usize, numerics: &CompressibleNumerics) -> bool {
    let limit = match numerics.residual {
        ResidualForm::Fused => terms,
        _ => MOST_ROWS,
    };
    let points = |face| points_of_face(mesh.face_to_nodes.of(face).len(), numerics.degree());
    let per_face = points(0);
    // The numbers of rows that kernels are compiled for.
    let exist = |rows: usize| rows <= limit && matches!(rows, 3..=6 | MOST_ROWS);
    (1..mesh.n_faces()).all(|face| points(face) == per_face)
        && (0..mesh.n_cells()).all(|cell| exist(mesh.cell_to_faces.of(cell).len() * per_face))
}

/// Rows of weights of values at the points of faces.
struct RowWeights<'a> {
    mesh: &'a Mesh,
    rule: &'a FaceRule,
    moments: &'a CellMoments,
    stencils: &'a Stencils,
}

impl RowWeights<'_> {
    /// Number of points of a cell.
    fn count(&self, cell: usize) -> usize {
        let faces = self.mesh.cell_to_faces.of(cell).iter().map(|item| index_of(*item));
        faces.map(|face| (self.rule.offsets[face + 1] - self.rule.offsets[face]) as usize).sum()
    }

    /// The classes of some cells.
    fn classes<F: Real>(
        &self,
        backend: &Backend,
        cells: &[u32],
        precision: WeightPrecision,
    ) -> Vec<RowClass<F>> {
        let offsets = &self.stencils.offsets;
        let mut lists: Vec<Vec<u32>> = vec![vec![]; MOST_ROWS + 1];
        for cell in cells {
            lists[self.count(*cell as usize)].push(*cell);
        }
        let lists = lists.into_iter().enumerate().filter(|(_, cells)| !cells.is_empty());
        lists
            .map(|(rows, mut cells)| {
                if backend.device().is_some() {
                    // Slices have the length of their longest row; cells near each other stay so.
                    let length = |c: u32| offsets[c as usize + 1] - offsets[c as usize];
                    cells.chunks_mut(WINDOW).for_each(|near| near.sort_by_key(|c| length(*c)));
                }
                let stencils = self.of_class(&cells, rows);
                RowClass {
                    rows,
                    items: stencils.cells.len(),
                    stencils: AnyStencils::new(backend, &stencils, Some(&cells), precision),
                    cells: backend.upload(cells),
                }
            })
            .collect()
    }

    /// Stencils of the cells of a class with the weights of values.
    fn of_class(&self, cells: &[u32], rows: usize) -> Stencils {
        let Stencils { offsets, cells: list, weights, terms, .. } = self.stencils;
        let of = |row: usize| {
            let cell = cells[row] as usize;
            offsets[cell] as usize..offsets[cell + 1] as usize
        };
        let own = offsets_of(cells.len(), |row| of(row).len());
        let mut items = vec![0; own[cells.len()] as usize];
        fill_rows(&own, &mut items, |row, items| items.copy_from_slice(&list[of(row)]));
        let mut of_values = vec![0.0; rows * items.len()];
        fill_wide_rows(&own, rows, &mut of_values, |row, values| {
            let bases = self.bases(cells[row] as usize);
            let of_terms = weights[of(row).start * terms..of(row).end * terms].chunks(*terms);
            for (values, item) in values.chunks_mut(rows).zip(of_terms) {
                for (value, basis) in values.iter_mut().zip(&bases) {
                    let products = basis.iter().zip(item).map(|(b, w)| b * w);
                    *value = products.fold(0.0, |sum, x| sum + x);
                }
            }
        });
        Stencils {
            offsets: own,
            cells: items,
            weights: of_values,
            terms: rows,
            reduced: 0,
            levels: Default::default(),
        }
    }

    /// φ_m(x_p) − mean of φ_m at the points of a cell.
    fn bases(&self, cell: usize) -> Vec<[f64; 9]> {
        let items = self.mesh.cell_to_faces.of(cell).iter();
        let points = items.flat_map(|item| {
            let face = index_of(*item);
            let points = self.rule.offsets[face] as usize..self.rule.offsets[face + 1] as usize;
            let from =
                if sign_of(*item) < 0 { &self.rule.from_right } else { &self.rule.from_left };
            from[points].iter()
        });
        let g = self.moments.second[cell];
        points.map(|d| basis_at(*d, &g, self.stencils.terms)).collect()
    }
}

/// φ_m(d) − mean of φ_m over a cell of second moments g.
fn basis_at([x, y, z]: Vector, g: &[f64; 6], terms: usize) -> [f64; 9] {
    let second =
        [x * x - g[0], x * y - g[1], x * z - g[2], y * y - g[3], y * z - g[4], z * z - g[5]];
    let mut basis = [0.0; 9];
    match terms {
        2 | 3 => basis[..terms].copy_from_slice(&[x, y, z][..terms]),
        5 => basis[..5].copy_from_slice(&[x, y, second[0], second[1], second[3]]),
        _ => {
            basis[..3].copy_from_slice(&[x, y, z]);
            basis[3..].copy_from_slice(&second);
        }
    }
    basis
}
