//! Heat conduction, ∂(ρc T)/∂t = ∇·(k ∇T) + S, steady and unsteady.
//!
//! In space cell-centred ([`diffusion`](crate::finite_volume::diffusion)) or [`node_centred`], both of the form
//! M dT/dt = s + C v(t) − A T + K(T, v) (see [`discrete`](crate::finite_volume::discrete)). A step solves for the
//! increment of the temperature, so that a steady state persists to the last bit at any solver tolerance.
//! Source: Menon's thesis, ch. 6; Kamakolanu's thesis, §6.2.

mod conditions;
mod data;
pub mod descriptor;
mod dirichlet;
mod error;
pub mod finite_element;
pub mod kernels;
pub mod march;
mod monitor;
mod node_boundary;
pub mod node_centred;
mod node_rows;
mod problem;
mod surface;
mod system;
mod whole;

pub use descriptor::DESCRIPTOR;
pub use error::HeatError;
pub use march::{March, TimeScheme};
pub use problem::{Problem, Source};
pub use surface::SurfaceNode;
pub use system::{Heat, HeatScheme};
pub use whole::WholeHeat;

use karman_macros::Keyword;

/// The location of the unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Discretization {
    /// Cell-centred finite volumes.
    #[with(corrected: true)]
    Cell {
        /// Whether fluxes have the non-orthogonal correction.
        corrected: bool,
    },
    /// Node-centred finite elements.
    Node,
}

#[cfg(test)]
mod tests;
