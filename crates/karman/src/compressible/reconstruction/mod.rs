//! Polynomials in cells from the means of a stencil of cells: p(x) = q̄ + Σ_m a_m (φ_m(x − x_c) − mean of φ_m), with the mean q̄.
//!
//! The coefficients a = Σ_j w_j (q̄_j − q̄) are linear in the means; [`stencil`] finds the cells j and the weights w once, by least
//! squares. [`polynomial`] has the kernels: coefficients of all cells, values at points.
//!
//! Source: Bogdanov, Gorobets & Sukov (the quadratic reconstruction and its three stages).

mod least_squares;
pub mod polynomial;
pub mod stencil;

use karman_macros::Keyword;

/// Degree of the polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum Reconstruction {
    /// The mean of the cell: first order.
    Constant,
    /// A gradient: second order.
    Linear,
    /// A gradient and second derivatives: third order.
    Quadratic,
}

impl Reconstruction {
    /// Number of coefficients without the mean.
    pub const fn terms(self, dimension: usize) -> usize {
        match (self, dimension) {
            (Reconstruction::Constant, _) => 0,
            (Reconstruction::Linear, _) => dimension,
            (Reconstruction::Quadratic, 2) => 5,
            (Reconstruction::Quadratic, _) => 9,
        }
    }
}
