//! A diffusion problem discretised in space, on the host:
//! M dT/dt = s + C v(t) − A T − K(T, v), with A symmetric, C the boundary contribution of the
//! prescribed values v and K the non-orthogonal correction of two-point fluxes.

use super::boundary::BoundaryValues;
use super::boundary_contribution::BoundaryContribution;
use super::nonorthogonal_correction::NonOrthogonalCorrection;
use crate::linear::{CsrMatrix, LinearError};

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
