//! The parts of a stage one by one, with their least traffic and their operations, for measurements.

use super::problem::ResidualForm;
use super::reconstruction::polynomial::AnyStencils;
use super::solver::{CompressibleSolver, Means, StepLength};
use crate::real::Real;
use crate::time::RungeKutta;

/// A part of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePart {
    /// Coefficients of the polynomials of all cells.
    Coefficients,
    /// Fluxes of stored polynomials through all faces.
    PolynomialFluxes,
    /// Traces of cells at the points of their faces, without stored coefficients.
    Traces,
    /// Fluxes between traces through all faces.
    TraceFluxes,
    /// Sums of fluxes in cells and the new means.
    Sums,
}

impl StagePart {
    /// The parts of a stage of a form.
    pub fn of(form: ResidualForm) -> &'static [StagePart] {
        match form {
            ResidualForm::Stages => {
                &[StagePart::Coefficients, StagePart::PolynomialFluxes, StagePart::Sums]
            }
            _ => &[StagePart::Traces, StagePart::TraceFluxes, StagePart::Sums],
        }
    }
}

/// What a part must do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Least bytes to move: each array once.
    pub bytes: f64,
    /// Floating-point operations, a root or a division as one.
    pub operations: f64,
}

/// Operations of Roe's flux at a point from conserved variables on both sides.
const OF_ROE: f64 = 214.0;

/// Operations that evaluate a quadratic basis function by function.
const OF_BASIS: f64 = 12.0;

impl<F: Real> CompressibleSolver<F> {
    /// Runs one part on the present state. Parts are in the order of [`StagePart::of`] the stage of the explicit Euler method, which
    /// leaves the state as it is.
    pub fn run_part(&mut self, part: StagePart) {
        match part {
            StagePart::Coefficients => self.reconstruct(Means::Now),
            StagePart::PolynomialFluxes => self.compute_fluxes(Means::Now),
            StagePart::Traces => self.set_traces(Means::Now),
            StagePart::TraceFluxes => self.compute_trace_fluxes(),
            StagePart::Sums => {
                let step = StepLength::Uniform(self.step_of(0.5));
                self.sum_fluxes(&RungeKutta::Euler.stages()[0], true, step);
            }
        }
    }

    /// The work of a part. Interior faces alone have a flux between states, which is counted as Roe's.
    pub fn work_of(&self, part: StagePart) -> Work {
        let real = size_of::<F>() as f64;
        let weight = match self.polynomials.stencils {
            AnyStencils::Same(_) => real,
            AnyStencils::Single(_) => 4.0,
        };
        let n = self.mesh.n_cells() as f64;
        let faces = self.mesh.cells.n_faces() as f64;
        let interior = self.mesh.cells.n_interior() as f64;
        let [points, sides] = self.mesh.points.counts().map(|count| count as f64);
        let inner = sides - points;
        let terms = self.polynomials.stencils.terms() as f64;
        let is_quadratic = terms > 3.0;
        let items: usize =
            self.stencil_sizes().iter().enumerate().map(|(size, count)| size * count).sum();
        let items = items as f64;
        let moments = if is_quadratic { 6.0 * real * n } else { 0.0 };
        let connectivity = 4.0 * n + 4.0 * (faces + interior);
        let state = 5.0 * real;
        let [bytes, operations] = match part {
            StagePart::Coefficients => [
                4.0 * n + items * (4.0 + weight * terms) + moments + state * n * (2.0 + terms),
                items * (5.0 + 10.0 * terms),
            ],
            StagePart::PolynomialFluxes => [
                4.0 * (faces + interior)
                    + state * faces
                    + 3.0 * real * (points + sides)
                    + state * n * (1.0 + terms),
                sides * (10.0 * terms + OF_BASIS) + inner * OF_ROE,
            ],
            StagePart::Traces => {
                let rows = self.row_count().map(|rows| rows as f64);
                let common = 4.0 * n + connectivity + state * (n + sides);
                match rows {
                    // One row a side of a point: Σ items · rows of cells of equal size.
                    Some(row_items) => [
                        4.0 * n + common + 4.0 * items + weight * row_items,
                        5.0 * items + 10.0 * row_items,
                    ],
                    None => [
                        common + items * (4.0 + weight * terms) + moments + 3.0 * real * sides,
                        items * (5.0 + 10.0 * terms) + sides * (10.0 * terms + OF_BASIS),
                    ],
                }
            }
            StagePart::TraceFluxes => {
                [state * (sides + faces) + 3.0 * real * points, inner * OF_ROE]
            }
            StagePart::Sums => [
                connectivity + state * faces + n * (real + 2.0 * state),
                10.0 * (faces + interior) + 27.0 * n,
            ],
        };
        Work { bytes, operations }
    }
}
