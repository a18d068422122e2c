//! Conduction of heat: ∂(ρc T)/∂t = ∇·(k ∇T) + S, steady and unsteady.
//!
//! Space: [`cell_centred`](crate::diffusion::cell_centred) or [`node_centred`], both of the form
//! M dT/dt = s + C v(t) − A T + K(T, v) (see [`discrete`](crate::diffusion::discrete)). A step solves for the increment of the
//! temperature, so that a converged state is kept to the last bit whatever the solver's tolerance.
//! Source: Menon's thesis, ch. 6; Kamakolanu's thesis, §6.2.

mod error;
pub mod finite_element;
mod held;
pub mod kernels;
pub mod march;
pub mod matrix_free;
mod monitor;
pub mod node_centred;
mod system;

pub use error::HeatError;
pub use march::{March, Scheme, StepReport};
pub use matrix_free::MatrixFree;
pub use system::{Heat, Problem, Source};

/// Where the unknowns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discretization {
    /// Finite volumes, a value in each cell; `corrected` for cells that are not orthogonal to their
    /// faces.
    Cell {
        /// Whether fluxes carry the non-orthogonal correction.
        corrected: bool,
    },
    /// A value at each node.
    Node,
}

#[cfg(test)]
mod tests;
