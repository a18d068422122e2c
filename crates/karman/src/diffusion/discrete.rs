//! A diffusion problem discretised in space, on the host:
//! M dT/dt = s + C v(t) − A T − K(T, v), with A symmetric, C the boundary contribution of the
//! prescribed values v and K the non-orthogonal correction of two-point fluxes.

use super::conditions::BoundaryValues;
use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::Adjacency;

/// The arrays of a discretised diffusion problem.
pub struct Discrete {
    /// A: symmetric, positive (semi-)definite.
    pub matrix: CsrMatrix<f64>,
    /// Diagonal of M, ρc times the volume of each unknown: `[n]`; 0 at a Dirichlet unknown.
    pub mass: Vec<f64>,
    /// C.
    pub boundary_contribution: BoundaryContribution,
    /// v(t).
    pub values: BoundaryValues,
    /// K, if fluxes are corrected.
    pub correction: Option<NonOrthogonalCorrection>,
    /// Whether an unknown is prescribed (a Dirichlet node): `[n]`, empty where none is.
    pub is_dirichlet: Vec<bool>,
}

impl Discrete {
    /// Sets all diffusive fluxes to zero: A, C and K; the gradient stencils stay.
    ///
    /// # Errors
    /// None beyond those of A itself.
    pub fn zero_diffusion(&mut self) -> Result<(), LinearError> {
        let a = &self.matrix;
        let length = |row: usize| a.row_length(row);
        self.matrix = CsrMatrix::from_rows(a.rows(), a.columns(), length, |row, columns, _| {
            for (place, (column, _)) in columns.iter_mut().zip(a.row(row)) {
                *place = column as u32;
            }
        })?;
        self.boundary_contribution.coefficients.fill(0.0);
        if let Some(correction) = &mut self.correction {
            correction.tangential.fill(0.0);
        }
        Ok(())
    }
}

/// C by its rows that are not empty: the unknowns next to a prescribed value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryContribution {
    /// Unknown of each row, ascending.
    pub unknowns: Vec<u32>,
    /// Start of each row: `[rows + 1]`.
    pub offsets: Vec<u32>,
    /// Index of the prescribed value.
    pub values: Vec<u32>,
    /// Coefficient of the prescribed value.
    pub coefficients: Vec<f64>,
}

impl BoundaryContribution {
    /// From entries (unknown, value, coefficient) in any order; a row keeps the order of its entries.
    pub fn from_entries(mut entries: Vec<(u32, u32, f64)>) -> BoundaryContribution {
        entries.sort_by_key(|e| e.0);
        let mut contribution = BoundaryContribution { offsets: vec![0], ..Default::default() };
        for (unknown, value, coefficient) in entries {
            if contribution.unknowns.last() != Some(&unknown) {
                contribution.unknowns.push(unknown);
                contribution.offsets.push(contribution.values.len() as u32);
            }
            contribution.values.push(value);
            contribution.coefficients.push(coefficient);
            if let Some(end) = contribution.offsets.last_mut() {
                *end = contribution.values.len() as u32;
            }
        }
        contribution
    }
}

/// Gradients of cells, ∇T_c = Σ W_k (T_k − T_c).
#[derive(Clone, Debug, PartialEq)]
pub struct GradientStencils {
    /// The items of each cell: a cell, or a boundary face from the first on with
    /// [`SIGN_BIT`](crate::mesh::SIGN_BIT). None where every stencil is that of the cell's faces.
    pub rows: Option<Adjacency>,
    /// W: `[3][items]`.
    pub weights: Vec<f64>,
    /// Number of cells whose stencil goes beyond their faces.
    pub widened: usize,
    /// Number of cells whose stencil leaves a direction undetermined.
    pub dropped: usize,
    /// Number of cells with limited weights, not exact for linear fields.
    pub limited: usize,
}

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
