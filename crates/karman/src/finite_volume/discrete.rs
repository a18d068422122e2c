//! A diffusion problem discretised in space, on the host:
//! M dT/dt = s + C v(t) − A T − K(T, v), with A symmetric, C the boundary contribution of the
//! prescribed values v and K the non-orthogonal correction of two-point fluxes.

use super::boundary::BoundaryValues;
use super::boundary_contribution::BoundaryContribution;
use super::nonorthogonal_correction::NonOrthogonalCorrection;
use crate::linear::CsrMatrix;

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
