//! Algebraic multigrid: levels made from the matrix alone, cycled as a preconditioner.
//!
//! Set-up runs on the host's threads in double precision and has the same bits for any number of
//! them; cycles run where the matrix lives, in single precision by default. The default couples
//! unknowns in pairs first, then coarsens by independent sets with extended+i interpolation, and
//! drops weak couplings of coarse matrices; see `docs/decisions/0006-default-multigrid.md`. The
//! algorithm of Kamakolanu's thesis is [`Coarsening::RugeStuben`] with its parameters.
//!
//! Positive off-diagonal entries are never strong: interpolation gives them to the diagonal.
//! Unknowns without strong couplings are left to the smoother. Components that nothing ties to a
//! boundary are found where their diagonals vanish, and left at zero there.

mod coarse;
mod cycle;
mod galerkin;
mod hierarchy;
mod interpolation;
mod krylov_cycle;
mod matching;
mod parallel;
mod params;
mod pmis;
mod report;
mod ruge_stuben;
mod smoothing;
mod sparsify;
mod strength;

pub use params::{AmgParams, Coarsening, Cycle, HierarchyPrecision, Smoother, Sparsification};
pub use report::{HierarchyReport, LevelReport};

use super::{CsrMatrix, LinearError, Matrix, Preconditioner};
use crate::backend::{Backend, Buffer};
use crate::real::Real;
use cycle::Levels;
use hierarchy::Hierarchy;
use std::time::Instant;

/// A cycle of algebraic multigrid as an approximate inverse, its hierarchy kept in `S`.
pub struct Amg<S> {
    backend: Backend,
    params: AmgParams,
    hierarchy: Hierarchy,
    levels: Levels<S>,
    report: HierarchyReport,
}

impl<S: Real> Amg<S> {
    /// The hierarchy of `matrix`, set up on the host's threads.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] where a parameter is out of range; [`LinearError::NotSquare`],
    /// [`LinearError::EmptyRow`] or [`LinearError::PositiveDiagonal`] where the matrix does not suit;
    /// [`LinearError::Backend`] where the device failed.
    pub fn new<T: Real>(matrix: &Matrix<T>, params: &AmgParams) -> Result<Self, LinearError> {
        Self::with_boundary(matrix, params, None)
    }

    /// The same with the unknowns that Ruge & Stüben's coarsening weighs flagged: `[rows]`. Without
    /// flags they are those whose row does not sum to zero.
    ///
    /// # Errors
    /// As for [`Amg::new`]; [`LinearError::VectorLength`] where there is not one flag a row.
    pub fn with_boundary<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        boundary: Option<Vec<bool>>,
    ) -> Result<Self, LinearError> {
        let backend = matrix.backend().clone();
        if let Some(flags) = boundary.as_ref().filter(|flags| flags.len() != matrix.rows()) {
            let (expected, found) = (matrix.rows(), flags.len());
            return Err(LinearError::VectorLength { what: "list of flags", expected, found });
        }
        let start = Instant::now();
        let matrix = matrix.to_csr()?.into_converted::<f64>();
        backend.clone().install(|| {
            let hierarchy = Hierarchy::new(matrix, params, boundary)?;
            let levels = Levels::new(&backend, &hierarchy, params)?;
            let mut amg = Amg {
                backend,
                params: *params,
                hierarchy,
                levels,
                report: HierarchyReport::default(),
            };
            amg.renew_report(start);
            amg.hierarchy.forget_coarse_matrices();
            Ok(amg)
        })
    }

    /// Takes the values of another matrix of the same pattern: interpolations stay what they are,
    /// coarse matrices are computed anew.
    ///
    /// # Errors
    /// As for [`CsrMatrix::check_pattern`] and [`Amg::new`].
    pub fn set_values<T: Real>(&mut self, matrix: &CsrMatrix<T>) -> Result<(), LinearError> {
        let start = Instant::now();
        let Some(old) = self.hierarchy.levels.first().map(|level| &level.matrix) else {
            return Ok(());
        };
        old.check_pattern(matrix)?;
        let backend = self.backend.clone();
        backend.install(|| {
            self.hierarchy.set_values(matrix.converted::<f64>())?;
            self.levels = Levels::new(&self.backend, &self.hierarchy, &self.params)?;
            self.renew_report(start);
            self.hierarchy.forget_coarse_matrices();
            Ok(())
        })
    }

    fn renew_report(&mut self, start: Instant) {
        let mut levels = self.hierarchy.report();
        self.levels.complete(&mut levels);
        self.report = HierarchyReport {
            levels,
            is_coarsest_direct: self.levels.is_coarsest_direct(),
            work_units: self.levels.work_units(),
            setup_seconds: start.elapsed().as_secs_f64(),
        };
    }

    /// Its levels.
    pub fn report(&self) -> &HierarchyReport {
        &self.report
    }
}

impl<T: Real, S: Real> Preconditioner<T> for Amg<S> {
    fn apply(&mut self, _: &Backend, r: &Buffer<T>, z: &mut Buffer<T>) {
        self.levels.apply(r, z);
    }

    fn is_symmetric(&self) -> bool {
        self.params.is_symmetric()
    }

    fn bytes(&self) -> usize {
        self.levels.bytes_moved()
    }

    fn hierarchy(&self) -> Option<&HierarchyReport> {
        Some(&self.report)
    }
}

#[cfg(test)]
mod tests;
