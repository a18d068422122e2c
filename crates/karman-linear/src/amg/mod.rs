//! Algebraic multigrid: levels made from the matrix alone, cycled as a preconditioner.
//!
//! Set-up runs in double precision, on the host's threads with the same bits for any number of them,
//! or by kernels on the device that holds the matrix; cycles run where the matrix lives, in single
//! precision by default. The default couples
//! unknowns in pairs first, then coarsens by independent sets with extended+i interpolation, and
//! drops weak couplings of coarse matrices; see `docs/decisions/0006-default-multigrid.md`. The
//! algorithm of Kamakolanu's thesis is [`Coarsening::RugeStuben`] with its parameters.
//!
//! Positive off-diagonal entries are never strong: interpolation gives them to the diagonal.
//! Unknowns without strong couplings are left to the smoother. Components that nothing ties to a
//! boundary are found where their diagonals vanish, and left at zero there.

mod coarse;
mod cycle;
mod device;
mod galerkin;
mod hierarchy;
mod interpolation;
mod krylov_cycle;
mod matching;
mod numbers;
mod parallel;
mod params;
mod pattern;
mod pmis;
mod report;
mod ruge_stuben;
mod saved;
mod smoothing;
mod sparsify;
mod strength;
mod transfer;

pub use params::{AmgParams, Coarsening, Cycle, HierarchyPrecision, Smoother, Sparsification};
pub use pattern::Pattern;
pub use report::{HierarchyReport, LevelReport, Origin};
pub use saved::{SavedInterpolation, SavedInterpolations};

use super::mixed_precision::HalfStep;
use super::{LinearError, Matrix, Preconditioner, SinglePrecision};
use cycle::Levels;
use device::DeviceHierarchy;
use hierarchy::Hierarchy;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Partials};
use smoothing::Stencil;
use std::any::Any;
use std::time::Instant;

/// A cycle of algebraic multigrid as an approximate inverse, its hierarchy kept in `S`.
pub struct Amg<S> {
    backend: Backend,
    params: AmgParams,
    rows: usize,
    setup: Setup,
    levels: Levels<S>,
    report: HierarchyReport,
}

/// Levels as set-up made them.
enum Setup {
    Host(Hierarchy),
    Device(DeviceHierarchy),
}

/// What a hierarchy is made from besides its matrix.
enum Source {
    /// Nothing, or flags of the unknowns that coarsening weighs.
    Matrix(Option<Vec<bool>>),
    Interpolations(Vec<SavedInterpolation>),
}

impl<S: Real> Amg<S> {
    /// The hierarchy of `matrix`: by kernels where it lives on a device, on the host's threads where it
    /// does not, or where coarsening or smoother need the host ([`Coarsening::Aggregation`],
    /// [`Coarsening::RugeStuben`], [`Smoother::GaussSeidel`], [`Sparsification`]).
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
        if let Some(flags) = boundary.as_ref().filter(|flags| flags.len() != matrix.rows()) {
            let (expected, found) = (matrix.rows(), flags.len());
            return Err(LinearError::VectorLength { what: "list of flags", expected, found });
        }
        Self::set_up(matrix, params, Instant::now(), Source::Matrix(boundary))
    }

    /// The hierarchy of `matrix` with the interpolations of an earlier one: coarsening and
    /// interpolation are left out, coarse matrices are computed as [`Amg::set_values`] does. From the
    /// interpolations of its own matrix a hierarchy comes back bit for bit on the same backend.
    ///
    /// # Errors
    /// [`LinearError::OtherSystem`] where they were made for another pattern or with other parameters;
    /// as for [`Amg::new`].
    pub fn from_interpolations<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        saved: SavedInterpolations,
    ) -> Result<Self, LinearError> {
        let start = Instant::now();
        params.check()?;
        saved.check_for(matrix, params)?;
        Self::set_up(matrix, params, start, Source::Interpolations(saved.into_levels()))
    }

    fn set_up<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        start: Instant,
        source: Source,
    ) -> Result<Self, LinearError> {
        let backend = matrix.backend().clone();
        let is_flagged = matches!(source, Source::Matrix(Some(_)));
        let by_kernels =
            backend.device().is_some() && !is_flagged && DeviceHierarchy::suits(params);
        let origin = match source {
            Source::Matrix(_) => Origin::Made,
            Source::Interpolations(_) => Origin::Saved,
        };
        let (setup, levels) = if by_kernels {
            let hierarchy = match source {
                Source::Matrix(_) => DeviceHierarchy::new(matrix, params)?,
                Source::Interpolations(saved) => {
                    DeviceHierarchy::from_interpolations(matrix, params, saved)?
                }
            };
            let levels = Levels::of_device(matrix, &hierarchy, params)?;
            backend.synchronize()?;
            (Setup::Device(hierarchy), levels)
        } else {
            let matrix = matrix.to_csr()?.into_converted::<f64>();
            backend.install(|| -> Result<_, LinearError> {
                let hierarchy = match source {
                    Source::Matrix(boundary) => Hierarchy::new(matrix, params, boundary)?,
                    Source::Interpolations(saved) => {
                        Hierarchy::from_interpolations(matrix, params, saved)?
                    }
                };
                let levels = Levels::new(&backend, &hierarchy, params)?;
                Ok((Setup::Host(hierarchy), levels))
            })?
        };
        let (params, rows, report) = (*params, matrix.rows(), HierarchyReport::default());
        let mut amg = Amg { backend, params, rows, setup, levels, report };
        amg.renew_report(start, origin);
        Ok(amg)
    }

    /// Its interpolations, for [`Amg::from_interpolations`]. `matrix` is the one it was made from, or
    /// another of the same pattern, and serves to recognise that. Flags of the boundary are not kept.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    pub fn interpolations<T: Real>(
        &self,
        matrix: &Matrix<T>,
    ) -> Result<SavedInterpolations, LinearError> {
        let levels = match &self.setup {
            Setup::Host(hierarchy) => hierarchy.interpolations(),
            Setup::Device(hierarchy) => hierarchy.interpolations()?,
        };
        SavedInterpolations::made(matrix, &self.params, levels)
    }

    /// Takes another matrix of as many rows, meant to differ in its values alone: interpolations stay
    /// what they are, coarse matrices are computed anew.
    ///
    /// # Errors
    /// [`LinearError::Length`] where the numbers of rows differ, and as for [`Amg::new`].
    pub fn set_values<T: Real>(&mut self, matrix: &Matrix<T>) -> Result<(), LinearError> {
        let start = Instant::now();
        if matrix.rows() != self.rows {
            let (expected, found) = (self.rows, matrix.rows());
            return Err(LinearError::Length { what: "rows", expected, found });
        }
        let (backend, params) = (&self.backend, &self.params);
        self.levels = match &mut self.setup {
            Setup::Device(hierarchy) => {
                hierarchy.set_values(matrix)?;
                let levels = Levels::of_device(matrix, hierarchy, params)?;
                backend.synchronize()?;
                levels
            }
            Setup::Host(hierarchy) => {
                let matrix = matrix.to_csr()?.into_converted::<f64>();
                backend.install(|| {
                    hierarchy.set_values(matrix)?;
                    Levels::new(backend, hierarchy, params)
                })?
            }
        };
        self.renew_report(start, Origin::Kept);
        Ok(())
    }

    /// The report, and an end to what only set-up needed.
    fn renew_report(&mut self, start: Instant, origin: Origin) {
        let mut levels = match &self.setup {
            Setup::Host(hierarchy) => hierarchy.report(),
            Setup::Device(hierarchy) => hierarchy.report(),
        };
        match &mut self.setup {
            Setup::Host(hierarchy) => hierarchy.forget_coarse_matrices(),
            Setup::Device(hierarchy) => hierarchy.forget_coarse_matrices(),
        }
        self.levels.complete(&mut levels);
        self.report = HierarchyReport {
            levels,
            origin,
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

impl SinglePrecision for Amg<f32> {
    fn multiply_dot(&self, x: &Buffer<f32>, y: &mut Buffer<f32>, partials: &mut Partials) {
        if let Some(finest) = self.levels.finest() {
            finest.multiply_dot(x, y, partials);
        }
    }

    fn precondition(&mut self, r: &Buffer<f32>, z: &mut Buffer<f32>) {
        self.levels.apply(r, z);
    }

    fn reduce(&mut self, half: HalfStep<'_>) {
        self.levels.reduce(half);
    }

    fn matrix_bytes(&self) -> usize {
        self.levels.finest().map_or(0, Stencil::bytes)
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

    fn interpolations(
        &self,
        matrix: &Matrix<T>,
    ) -> Result<Option<SavedInterpolations>, LinearError> {
        Amg::interpolations(self, matrix).map(Some)
    }

    fn renew(&mut self, matrix: &Matrix<T>) -> Result<bool, LinearError> {
        self.set_values(matrix).map(|()| true)
    }

    fn single(&mut self) -> Option<&mut dyn SinglePrecision> {
        let single = (self as &mut dyn Any).downcast_mut::<Amg<f32>>()?;
        single.levels.finest().is_some().then_some(single as &mut dyn SinglePrecision)
    }
}

#[cfg(test)]
mod tests;
