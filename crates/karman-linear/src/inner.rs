//! Steps of conjugate gradients as a preconditioner for the flexible methods.

use super::progress::{Krylov, System};
use super::{ConjugateGradient, Jacobi, LinearError, Matrix, Preconditioner};
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, blas};
use std::sync::Arc;

/// `steps` steps of conjugate gradients with Jacobi on a symmetric matrix near the operator, from
/// zero. Not one linear map: the polynomial depends on the vector.
pub struct InnerConjugateGradient<T: Real> {
    system: System<T>,
    method: ConjugateGradient<T>,
    steps: usize,
    bytes: usize,
}

impl<T: Real> InnerConjugateGradient<T> {
    /// The steps on `matrix`.
    ///
    /// # Errors
    /// [`LinearError::Diagonal`] where the diagonal has no inverse; [`LinearError::Backend`].
    pub fn new(matrix: Arc<Matrix<T>>, steps: usize) -> Result<Self, LinearError> {
        let backend = matrix.backend().clone();
        let jacobi = Box::new(Jacobi::<T>::new(&matrix)?);
        let bytes = matrix.bytes();
        let system = System::new(&backend, Box::new(matrix), jacobi);
        let method = ConjugateGradient::new(&backend, &system, false);
        Ok(InnerConjugateGradient { system, method, steps, bytes })
    }
}

impl<T: Real> Preconditioner<T> for InnerConjugateGradient<T> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        let InnerConjugateGradient { system, method, .. } = self;
        system.begin_at_zero(backend, r, self.steps as f64);
        method.start(backend, system);
        for k in 0..self.steps {
            method.step(k, backend, system);
        }
        blas::copy(backend, r.len(), &system.iterate, z);
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize {
        let n = self.system.rows();
        let vector = n * size_of::<T>();
        self.steps * (self.bytes + n * self.method.vectors_moved()) + 12 * vector
    }
}
