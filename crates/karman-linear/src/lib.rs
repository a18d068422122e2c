//! Sparse matrices, Krylov methods, preconditioners and algebraic multigrid, independent of any mesh.
//!
//! A [`Solver`] is set up once for an [`Operator`] (a [`Matrix`] or any other y = A x) and a
//! [`Preconditioner`], then solves for many right-hand sides. The scalars of a recurrence are stored
//! where the vectors are, so a recorded iteration never waits for the host. An iteration after the end
//! changes nothing, so counts are exact however rarely the host checks.

pub mod amg;
mod auto_selection;
mod bicgstab;
mod cg;
mod chebyshev;
mod colouring;
mod convergence_state;
mod csr_matrix;
mod error;
mod fgmres;
mod gauss_seidel;
mod initial_guess;
mod krylov;
mod matrix;
mod matrix_view;
mod mixed_precision;
mod nullspace;
mod operator;
mod outcome;
mod params;
mod preconditioner;
mod recurrence;
mod residual_update;
mod setup;
mod single_reduction;
mod sliced_ell;
mod solver;
mod stationary;

pub use amg::{Amg, AmgParams, HierarchyReport, SavedInterpolations};
pub use auto_selection::{LEAST_WEAKLY_DOMINANT, WEAKLY_DOMINANT, least_multigrid_rows};
pub use chebyshev::{Chebyshev, largest_eigenvalue};
pub use colouring::Colouring;
pub use csr_matrix::CsrMatrix;
pub use error::LinearError;
pub use gauss_seidel::GaussSeidel;
pub use initial_guess::{DEPTH as GUESS_DEPTH, InitialGuess};
pub use matrix::{Layout, Matrix};
pub use operator::Operator;
pub use outcome::{Breakdown, SolveOutcome, Status};
pub use params::{Method, Nullspace, Params, PreconditionerKind};
pub use preconditioner::{Diagonal, Identity, Jacobi, Preconditioner, SinglePrecision};
pub use residual_update::ResidualUpdate;
pub use setup::SolverSetup;
pub use sliced_ell::{SLICE, SlicedEll};
pub use solver::{Solver, StopTest};

use bicgstab::BiCgStab;
use cg::ConjugateGradient;
use fgmres::Fgmres;
use mixed_precision::MixedPrecision;
use single_reduction::SingleReduction;
use stationary::Stationary;

#[cfg(test)]
mod breakdown_tests;
#[cfg(test)]
mod rank_tests;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
