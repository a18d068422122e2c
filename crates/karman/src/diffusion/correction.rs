//! The non-orthogonal correction K of two-point fluxes on a backend, and an operator that includes it.

use super::discrete::{GradientStencils, NonOrthogonalCorrection};
use super::kernels::{add_correction, cell_gradient};
use super::narrow;
use crate::backend::{Backend, Buffer};
use crate::linear::{Matrix, Operator};
use crate::operators::FaceCells;
use crate::real::Real;
use std::sync::Arc;

/// Gradients of cells by least squares, on a backend.
pub struct CellGradient<F: Real> {
    cells: Arc<FaceCells>,
    /// Offsets and items of the stencils, where they go beyond the faces of cells.
    rows: Option<[Buffer<u32>; 2]>,
    weights: Buffer<F>,
    boundary: Arc<BoundaryRows<F>>,
}

/// Equations of the boundary faces for a cell gradient.
struct BoundaryRows<F: Real> {
    value: Buffer<u32>,
    row_value: Buffer<F>,
    row_cell: Buffer<F>,
}

impl<F: Real> CellGradient<F> {
    fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        stencils: GradientStencils,
        boundary: Arc<BoundaryRows<F>>,
    ) -> Self {
        cells.neighbours(backend);
        let GradientStencils { rows, weights, widened, dropped, limited } = stencils;
        tracing::debug!(
            "gradients: {widened} stencils widened, {dropped} with a direction dropped, {limited} limited"
        );
        CellGradient {
            cells,
            rows: rows.map(|rows| [backend.upload(rows.offsets), backend.upload(rows.items)]),
            weights: narrow(backend, weights),
            boundary,
        }
    }

    /// Gradients of this field by other stencils.
    pub fn with_stencils(&self, backend: &Backend, stencils: GradientStencils) -> Self {
        CellGradient::new(backend, self.cells.clone(), stencils, self.boundary.clone())
    }

    /// ∇T of each cell with prescribed values scale v: `[3][n_cells]`.
    pub fn apply(
        &self,
        backend: &Backend,
        temperature: &Buffer<F>,
        (prescribed, scale): (&Buffer<F>, F),
        gradient: &mut Buffer<F>,
    ) {
        let (offsets, items) = match &self.rows {
            Some([offsets, items]) => (offsets, items),
            None => (&self.cells.offsets, self.cells.neighbours(backend)),
        };
        cell_gradient(
            backend,
            self.cells.n_cells(),
            offsets,
            items,
            &self.weights,
            &self.boundary.value,
            &self.boundary.row_value,
            &self.boundary.row_cell,
            prescribed,
            scale,
            items.len(),
            temperature,
            gradient,
        );
    }
}

/// The arrays of K on a backend.
pub struct NonOrthogonalCorrectionOnBackend<F: Real> {
    cells: Arc<FaceCells>,
    gradient: CellGradient<F>,
    tangential: Buffer<F>,
    left_weight: Buffer<F>,
}

impl<F: Real> NonOrthogonalCorrectionOnBackend<F> {
    /// Uploads K of a mesh whose connectivity is `cells`.
    pub fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        correction: NonOrthogonalCorrection,
    ) -> Self {
        let boundary = BoundaryRows {
            value: backend.upload(correction.boundary_value),
            row_value: narrow(backend, correction.row_value),
            row_cell: narrow(backend, correction.row_cell),
        };
        let stencils = correction.stencils;
        NonOrthogonalCorrectionOnBackend {
            gradient: CellGradient::new(backend, cells.clone(), stencils, Arc::new(boundary)),
            cells,
            tangential: narrow(backend, correction.tangential),
            left_weight: narrow(backend, correction.left_weight),
        }
    }

    /// The gradients that K is made of.
    pub fn gradient(&self) -> &CellGradient<F> {
        &self.gradient
    }

    /// Flux into the left cell of a face for a unit gradient, `[3][n_faces]`, and the weight of that cell
    /// in the face's gradient, `[n_interior]`.
    pub fn face_coefficients(&self) -> (&Buffer<F>, &Buffer<F>) {
        (&self.tangential, &self.left_weight)
    }

    /// ∇T of each cell with prescribed values scale v: `[3][n_cells]`.
    pub fn differentiate(
        &self,
        backend: &Backend,
        temperature: &Buffer<F>,
        (prescribed, scale): (&Buffer<F>, F),
        gradient: &mut Buffer<F>,
    ) {
        self.gradient.apply(backend, temperature, (prescribed, scale), gradient);
    }

    /// y ← y + factor times the non-orthogonal fluxes of `gradient` into each cell.
    pub fn add_fluxes(
        &self,
        backend: &Backend,
        gradient: &Buffer<F>,
        factor: F,
        y: &mut Buffer<F>,
    ) {
        let FaceCells { left, right, offsets, faces, .. } = &*self.cells;
        let (n, n_interior, n_faces) =
            (self.cells.n_cells(), self.cells.n_interior(), self.cells.n_faces());
        add_correction(
            backend,
            n,
            offsets,
            faces,
            left,
            right,
            &self.tangential,
            &self.left_weight,
            gradient,
            factor,
            n_interior,
            n_faces,
            n,
            y,
        );
    }

    /// y ← y + factor K(T, scale v); `gradient` is scratch.
    pub fn add(
        &self,
        backend: &Backend,
        temperature: &Buffer<F>,
        prescribed: (&Buffer<F>, F),
        factor: F,
        gradient: &mut Buffer<F>,
        y: &mut Buffer<F>,
    ) {
        self.differentiate(backend, temperature, prescribed, gradient);
        self.add_fluxes(backend, gradient, factor, y);
    }
}

/// y = B x − θ K(x, 0): a matrix with the linear part of the correction.
pub struct CorrectedOperator<F: Real> {
    matrix: Arc<Matrix<F>>,
    correction: Arc<NonOrthogonalCorrectionOnBackend<F>>,
    factor: F,
    gradient: Buffer<F>,
    prescribed: Buffer<F>,
}

impl<F: Real> CorrectedOperator<F> {
    /// The operator of a matrix, with θ times the correction over `values` prescribed values.
    pub fn new(
        backend: &Backend,
        matrix: Arc<Matrix<F>>,
        correction: Arc<NonOrthogonalCorrectionOnBackend<F>>,
        theta: f64,
        values: usize,
    ) -> Self {
        CorrectedOperator {
            gradient: backend.zeros(3 * matrix.rows()),
            prescribed: backend.zeros(values.max(1)),
            matrix,
            correction,
            factor: F::from_f64(-theta),
        }
    }
}

impl<F: Real> Operator<F> for CorrectedOperator<F> {
    fn unknowns(&self) -> usize {
        self.matrix.rows()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.matrix.multiply(x, y);
        let none = (&self.prescribed, F::literal(0.0));
        self.correction.add(backend, x, none, self.factor, &mut self.gradient, y);
    }
}
