//! Approximate inverses z = M⁻¹ r.

use super::amg::SavedInterpolations;
use super::mixed_precision::HalfStep;
use super::{HierarchyReport, LinearError, Matrix};
use karman_backend::prelude::*;
use karman_backend::real::{Real, convert};
use karman_backend::{Backend, Buffer, Partials, View, blas};

/// An approximate inverse of an operator. Applying it does nothing but call dispatch functions (it
/// may be captured in a device graph): scratch is allocated when it is made.
pub trait Preconditioner<T: Real>: Send {
    /// z ← M⁻¹ r.
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>);

    /// The inverse where it is diagonal: solvers then multiply inside their own kernels.
    fn diagonal(&self) -> Option<Diagonal<'_, T>> {
        None
    }

    /// Whether M is one symmetric matrix: plain conjugate gradients needs that.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// The levels, where it has some.
    fn hierarchy(&self) -> Option<&HierarchyReport> {
        None
    }

    /// The interpolations between its levels, where it has some. `matrix` has the pattern of the one
    /// that it was made from.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    fn interpolations(&self, _: &Matrix<T>) -> Result<Option<SavedInterpolations>, LinearError> {
        Ok(None)
    }

    /// The matrix it was made from with itself, where both are kept in single precision.
    fn single(&mut self) -> Option<&mut dyn SinglePrecision> {
        None
    }

    /// Takes a matrix that differs from its own in values alone; false where it is no cheaper to renew
    /// than to make.
    ///
    /// # Errors
    /// [`LinearError`] where the matrix does not suit; the preconditioner is not to be used then.
    fn renew(&mut self, _: &Matrix<T>) -> Result<bool, LinearError> {
        Ok(false)
    }

    /// Bytes one application moves, for reports.
    fn bytes(&self) -> usize;
}

/// A matrix A and an approximate inverse M⁻¹ of it, both in single precision. Rows of A are held as differences,
/// (A x)_i = Σ_j a_ij (x_j − x_i) + s_i x_i, so that rounding does not see the level of x.
pub trait SinglePrecision: Send {
    /// y ← A x with the partials of x·y.
    fn multiply_dot(&self, x: &Buffer<f32>, y: &mut Buffer<f32>, partials: &mut Partials);

    /// z ← M⁻¹ r.
    fn precondition(&mut self, r: &Buffer<f32>, z: &mut Buffer<f32>);

    /// The half of a step that is M's: r ← r − α q, z ← M⁻¹ r, with partials of r·z, r·r and z·q.
    fn reduce(&mut self, half: HalfStep<'_>);

    /// Bytes of A, which a product reads.
    fn matrix_bytes(&self) -> usize;
}

/// A diagonal inverse.
#[derive(Clone, Copy)]
pub enum Diagonal<'a, T> {
    /// 1.
    Identity,
    /// In the precision of the computation.
    Same(&'a Buffer<T>),
    /// In single precision.
    Single(&'a Buffer<f32>),
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

/// Jacobi's: M is the diagonal of a matrix.
#[derive(Debug)]
pub struct Jacobi<S> {
    inverse: Buffer<S>,
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
        Some(Diagonal::Same(&self.inverse))
    }

    fn bytes(&self) -> usize {
        3 * self.inverse.bytes()
    }
}

/// Jacobi's with the inverse kept in single precision whatever `T` is.
#[derive(Debug)]
pub struct SingleJacobi(pub Jacobi<f32>);

impl<T: Real> Preconditioner<T> for SingleJacobi {
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        scale_by(backend, self.0.inverse.len(), &self.0.inverse, r, z);
    }

    fn diagonal(&self) -> Option<Diagonal<'_, T>> {
        Some(Diagonal::Single(&self.0.inverse))
    }

    fn bytes(&self) -> usize {
        self.0.inverse.len() * (4 + 2 * size_of::<T>())
    }
}

/// z ← d r with d in another precision. Traffic 2s and that of d.
#[kernel(scale_by, out(z), unroll(4))]
pub(super) fn scaled_by<F: Real, S: Real>(i: usize, d: &View<S>, r: &View<F>) -> F {
    convert::<S, F>(d[i]) * r[i]
}
