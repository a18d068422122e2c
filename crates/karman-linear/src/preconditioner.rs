//! Approximate inverses z = M⁻¹ r.

use super::amg::SavedInterpolations;
use super::recurrence::DiagonalView;
use super::residual_update::ResidualUpdate;
use super::{HierarchyReport, LinearError, Matrix};
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Halo, Partials, View, blas};
use std::any::Any;
use std::sync::Arc;

/// An approximate inverse of an operator. `apply` only calls dispatch functions, because it may be captured
/// in a device graph; scratch is allocated at construction.
pub trait Preconditioner<T: Real>: Any + Send + Sync {
    /// z ← M⁻¹ r.
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>);

    /// M⁻¹ if it is diagonal: solvers then multiply by it inside their own kernels.
    fn diagonal(&self) -> Option<Diagonal<'_, T>> {
        None
    }

    /// Whether M is a fixed symmetric matrix, as plain conjugate gradients require.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// The multigrid levels, if any.
    fn hierarchy(&self) -> Option<&HierarchyReport> {
        None
    }

    /// The interpolations between its levels, if any. `matrix` has the sparsity pattern of the matrix it
    /// was set up with.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    fn interpolations(&self, _: &Matrix<T>) -> Result<Option<SavedInterpolations>, LinearError> {
        Ok(None)
    }

    /// Its matrix and itself in single precision, if both are stored so.
    fn single(&mut self) -> Option<&mut dyn SinglePrecision> {
        None
    }

    /// Updates the preconditioner for a matrix of the same sparsity pattern; false if a new set-up costs no
    /// more.
    ///
    /// # Errors
    /// [`LinearError`] where the matrix does not suit; the preconditioner must not be used after that.
    fn update_values(&mut self, _: &Matrix<T>) -> Result<bool, LinearError> {
        Ok(false)
    }

    /// Bytes one application moves, for reports.
    fn bytes(&self) -> usize;
}

/// A matrix A and an approximate inverse M⁻¹, both in single precision. A is applied in difference form,
/// (A x)_i = Σ_j a_ij (x_j − x_i) + s_i x_i with row sums s_i, so that rounding does not depend on the mean
/// of x.
pub trait SinglePrecision: Send + Sync {
    /// The exchange of x on one of several ranks. Callers of `multiply_dot` fetch its ghosts before.
    fn halo(&self) -> Option<&Arc<Halo>>;

    /// y ← A x with the partials of x·y.
    fn multiply_dot(&self, x: &Buffer<f32>, y: &mut Buffer<f32>, partials: &mut Partials);

    /// z ← M⁻¹ r.
    fn precondition(&mut self, r: &Buffer<f32>, z: &mut Buffer<f32>);

    /// r ← r − α q and z ← M⁻¹ r of a step of conjugate gradients, with partials of r·z, r·r and z·q.
    fn update_residual(&mut self, update: ResidualUpdate<'_>);

    /// Bytes of A, which a product reads.
    fn matrix_bytes(&self) -> usize;
}

/// A diagonal inverse.
#[derive(Clone, Copy)]
pub enum Diagonal<'a, T> {
    /// M = I.
    Identity,
    /// D⁻¹: `[n]`.
    Inverse(&'a Buffer<T>),
}

impl<'a, T: Real> Diagonal<'a, T> {
    /// The inverse as kernels read it.
    pub(super) fn view(self) -> DiagonalView<'a, T> {
        match self {
            Diagonal::Identity => DiagonalView { inverse: View::absent(), is_identity: true },
            Diagonal::Inverse(inverse) => {
                DiagonalView { inverse: inverse.view(), is_identity: false }
            }
        }
    }
}

/// No preconditioning: M = I.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// Number of unknowns.
    pub rows: usize,
}

impl<T: Real> Preconditioner<T> for Identity {
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        blas::copy(backend, self.rows, r, z);
    }

    fn diagonal(&self) -> Option<Diagonal<'_, T>> {
        Some(Diagonal::Identity)
    }

    fn bytes(&self) -> usize {
        2 * self.rows * size_of::<T>()
    }
}

/// Jacobi preconditioner: M is the diagonal of a matrix.
#[derive(Debug)]
pub struct Jacobi<S> {
    /// D⁻¹: `[n]`.
    pub inverse: Buffer<S>,
}

impl<S: Real> Jacobi<S> {
    /// From the diagonal of `matrix`.
    ///
    /// # Errors
    /// [`LinearError::Diagonal`] where it has no inverse.
    pub fn new<T: Real>(matrix: &Matrix<T>) -> Result<Self, LinearError> {
        Ok(Jacobi { inverse: matrix.inverse_diagonal()? })
    }
}

impl<T: Real> Preconditioner<T> for Jacobi<T> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        blas::multiply(backend, self.inverse.len(), &self.inverse, r, z);
    }

    fn diagonal(&self) -> Option<Diagonal<'_, T>> {
        Some(Diagonal::Inverse(&self.inverse))
    }

    fn bytes(&self) -> usize {
        3 * self.inverse.bytes()
    }
}
