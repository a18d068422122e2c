//! The state of a solver as a run reads it, keeps it in a checkpoint and sets it.

use super::error::CompressibleError;
use super::reconstruction::Reconstruction;
use super::solver::{CompressibleSolver, Means};
use super::state::VARIABLES;
use crate::backend::Buffer;
use crate::real::Real;

impl<F: Real> CompressibleSolver<F> {
    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.mesh.n_cells()
    }

    /// γ.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Whether cells have gradients: the reconstruction is not constant.
    pub fn has_gradients(&self) -> bool {
        self.numerics.reconstruction != Reconstruction::Constant
    }

    /// Σ V (ρ, ρu_x, ρu_y, ρu_z, ρE).
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn totals(&mut self) -> Result<[f64; VARIABLES], CompressibleError> {
        Ok(self.finish_step(false)?.totals())
    }

    /// Sets the means, `[5][n_cells]`, with their time and number of steps.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn restore(&mut self, means: Vec<F>, clock: (f64, usize)) -> Result<(), CompressibleError> {
        self.backend.write(&mut self.state.now, &means);
        (self.state.time, self.state.steps) = clock;
        self.finish_step(false)?;
        Ok(())
    }

    /// Sets polynomials and states outside the boundary to those of the current time, which points and loads are of.
    ///
    /// # Errors
    /// [`CompressibleError`] where a prescribed value is not a number or the backend failed.
    pub fn refresh(&mut self) -> Result<(), CompressibleError> {
        let time = self.state.time;
        self.boundary.set_time(&self.backend, time)?;
        self.reconstruct(Means::Now);
        Ok(())
    }

    /// The values of a buffer in double precision.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn read(&self, buffer: &Buffer<F>) -> Result<Vec<f64>, CompressibleError> {
        Ok(crate::finite_volume::widen(&self.backend, buffer)?)
    }
}
