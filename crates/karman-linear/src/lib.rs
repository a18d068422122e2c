//! Sparse matrices, Krylov methods and preconditioners. Knows no mesh: only `backend` and `real`.
//!
//! A [`Solver`] is set up once for an [`Operator`] (a [`Matrix`] or anything else that applies
//! y = A x) and a [`Preconditioner`], then used for many right-hand sides. Scalars of a recurrence
//! live beside the vectors: a recorded iteration never waits for the host, and one that runs past
//! the end changes nothing, so counts are exact however seldom the host looks.

pub mod amg;
mod bicgstab;
mod cg;
mod chebyshev;
mod choice;
mod colouring;
mod csr_matrix;
mod error;
mod fgmres;
mod first_guess;
mod gauss_seidel;
mod inner;
mod matrix;
mod mixed_precision;
mod nullspace;
mod operator;
mod outcome;
mod params;
mod preconditioner;
mod progress;
mod setup;
mod single_reduction;
mod sliced_ell;
mod solver;
mod stationary;

pub use amg::{Amg, AmgParams, HierarchyReport, SavedInterpolations};
pub use chebyshev::{Chebyshev, largest_eigenvalue};
pub use colouring::Colouring;
pub use csr_matrix::CsrMatrix;
pub use error::LinearError;
pub use first_guess::FirstGuess;
pub use gauss_seidel::GaussSeidel;
pub use inner::InnerConjugateGradient;
pub use matrix::{Layout, Matrix};
pub use operator::Operator;
pub use outcome::{Breakdown, SolveOutcome, Status};
pub use params::{Method, Nullspace, Params, PreconditionerKind, StoredPrecision};
pub use preconditioner::{
    Diagonal, Identity, Jacobi, Preconditioner, SingleJacobi, SinglePrecision,
};
pub use setup::SolverSetup;
pub use sliced_ell::{SLICE, SlicedEll};
pub use solver::Solver;

use bicgstab::BiCgStab;
use cg::ConjugateGradient;
use fgmres::Fgmres;
pub use mixed_precision::HalfStep;
use mixed_precision::MixedPrecision;
use single_reduction::SingleReduction;
use stationary::Stationary;

#[cfg(test)]
mod endings;
#[cfg(test)]
mod speed;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
