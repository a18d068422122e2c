//! The march to a steady state: by Newton–Krylov steps (`implicit`), or by explicit stages with local steps (`local`).

pub mod implicit;
mod jacobian;
pub mod local;
pub(super) mod lu_sgs;
pub mod residual_norms;

pub use implicit::ImplicitMarch;
pub use local::LocalMarch;
pub use lu_sgs::Colours;
pub use residual_norms::ScaledResiduals;

use super::state::VARIABLES;

/// Report of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyIteration {
    /// The scaled residuals of the new state.
    pub residuals: ScaledResiduals,
    /// The Courant number of the step.
    pub courant: f64,
    /// Number of products of the Jacobian with a vector; 0 of an explicit step.
    pub products: usize,
    /// Number of cells that were computed again with a lower order, over all stages.
    pub fallback_cells: usize,
    /// Largest relative change of a variable; NaN where a cell has no positive density and pressure.
    pub change: f64,
    /// Σ V (ρ, ρu_x, ρu_y, ρu_z, ρE).
    pub totals: [f64; VARIABLES],
}
