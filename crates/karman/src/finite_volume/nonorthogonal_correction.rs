//! The non-orthogonal correction K of two-point fluxes, and an operator that includes it.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::least_squares::{BoundaryRows, CellGradient, GradientStencils};
use super::mesh_view::{CellFaces, DiffusiveFaces, FaceView, Vectors};
use super::narrow;
use crate::backend::{Backend, Buffer, Halo, View};
use crate::linear::{Matrix, Operator};
use crate::operators::FaceCells;
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// The data of K: cell gradients and the coefficients of a face's flux in them.
#[derive(Clone, Debug, PartialEq)]
pub struct NonOrthogonalCorrection {
    /// Gradients of cells.
    pub stencils: GradientStencils,
    /// Flux into the left cell for a unit gradient: `[3][n_faces]`.
    pub tangential: Vec<f64>,
    /// Weight of the left cell in a face's gradient: `[n_interior]`.
    pub left_weight: Vec<f64>,
    /// Prescribed value of each boundary face (0 where none, with `row_value` 0).
    pub boundary_value: Vec<u32>,
    /// Factor of the prescribed value in a boundary face's gradient equation.
    pub row_value: Vec<f64>,
    /// Factor of the cell's value there.
    pub row_cell: Vec<f64>,
}

/// The arrays of K on a backend.
pub struct NonOrthogonalCorrectionOnBackend<F: Real> {
    cells: Arc<FaceCells>,
    gradient: CellGradient<F>,
    tangential: Buffer<F>,
    left_weight: Buffer<F>,
}

impl<F: Real> NonOrthogonalCorrectionOnBackend<F> {
    /// Uploads K of a mesh, or of a part of one, whose connectivity is `cells`.
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

    /// The fluxes of K at the boundary alone, without gradients, of a mesh whose cells ranks compute; `tangential` as in
    /// [`NonOrthogonalCorrection`].
    pub fn at_boundary(backend: &Backend, cells: Arc<FaceCells>, tangential: Buffer<F>) -> Self {
        NonOrthogonalCorrectionOnBackend {
            gradient: CellGradient::absent(backend, cells.clone()),
            cells,
            tangential,
            left_weight: backend.zeros(0),
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

    /// ∇φ of each cell with prescribed values scale v: `[3][n_cells]`.
    pub fn compute_gradient(
        &self,
        backend: &Backend,
        phi: &Buffer<F>,
        (prescribed, scale): (&Buffer<F>, F),
        gradient: &mut Buffer<F>,
    ) {
        self.gradient.apply(backend, phi, (prescribed, scale), gradient);
    }

    /// y ← y + factor times the non-orthogonal fluxes of `gradient` into each cell.
    pub fn add_fluxes(
        &self,
        backend: &Backend,
        gradient: &Buffer<F>,
        factor: F,
        y: &mut Buffer<F>,
    ) {
        let cells = &self.cells;
        add_nonorthogonal_fluxes(
            backend,
            cells.n_cells(),
            &CellFaces::of(cells, View::absent()),
            &FaceView { weight: self.left_weight.view(), ..FaceView::of_cells(cells) },
            &DiffusiveFaces {
                conductance: View::absent(),
                tangential: Vectors::of(&self.tangential),
                two_point: false,
            },
            &Vectors::of(gradient),
            factor,
            y,
        );
    }

    /// y ← y + factor K(φ, scale v); `gradient`, `[3]` times the length of φ, is scratch. On one of several ranks φ has its ghosts,
    /// and the gradients of these are fetched.
    pub fn add(
        &self,
        backend: &Backend,
        phi: &Buffer<F>,
        prescribed: (&Buffer<F>, F),
        factor: F,
        gradient: &mut Buffer<F>,
        y: &mut Buffer<F>,
    ) {
        self.compute_gradient(backend, phi, prescribed, gradient);
        self.cells.fetch(&mut [&mut *gradient]);
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
            gradient: backend.zeros(3 * matrix.columns()),
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

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.matrix.halo()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.matrix.multiply(x, y);
        let none = (&self.prescribed, F::literal(0.0));
        self.correction.add(backend, x, none, self.factor, &mut self.gradient, y);
    }
}

/// y_c ← y_c + factor Σ_f (non-orthogonal flux t·∇φ_f into c through f).
///
/// Traffic a cell: 4 + 5s, an item 4, a face 8 + 4s.
#[kernel(update(y))]
pub fn add_nonorthogonal_fluxes<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    faces: &FaceView<F>,
    diffusion: &DiffusiveFaces<F>,
    gradient: &Vectors<F>,
    factor: F,
    y: F,
) -> F {
    let mut sum = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        let f = without_sign(item);
        let mut g = gradient.at(faces.left[f] as usize);
        if f < faces.n_interior {
            let w = faces.weight[f];
            g = g * w + gradient.at(faces.right[f] as usize) * (1.0 - w);
        }
        sum += with_sign::<F>(item, g.dot(diffusion.tangential.at(f)));
    }
    y + factor * sum
}
