//! Algebraic multigrid: levels made from the matrix alone, with a cycle as preconditioner.
//!
//! The set-up runs in double precision: on the host's threads, with the same bits for any number of
//! threads, or by kernels on the matrix's device. Cycles run on the matrix's backend, in single precision
//! by default. The default coarsening is one pass of pairwise aggregation, then PMIS with extended+i
//! interpolation and dropping of weak couplings of coarse matrices; see
//! `docs/decisions/0006-default-multigrid.md`. Kamakolanu's AMG is [`Coarsening::RugeStuben`] with the
//! parameters of his thesis.
//!
//! Positive off-diagonal entries are never strong: interpolation adds them to the diagonal. Unknowns
//! without strong couplings are corrected by the smoother alone. A component without a Dirichlet boundary
//! is detected by its vanishing diagonal on a coarse level and set to zero there.
//!
//! Several ranks share the finest levels, of which each keeps its rows; of those below each has all. By kernels each computes its
//! rows, from rows that it fetches. On the host the ranks share the loops over rows, and each makes the whole hierarchy of the
//! rows of all. The hierarchy and its cycles have the bits of one rank.

mod aggregates;
mod coarse;
mod cycle;
mod device;
mod difference_form;
mod distribution;
mod galerkin;
mod hashing;
mod hierarchy;
mod interpolation;
mod krylov_cycle;
mod matching;
mod parallel;
mod params;
mod pattern;
mod pmis;
mod rank_levels;
mod report;
mod ruge_stuben;
mod saved;
mod smoothing;
mod sparsify;
mod strength;
mod transfer;
mod views;

pub use params::{
    AMG_PARAMETERS, AmgParameter, AmgParams, Coarsening, Cycle, CycleParams, HierarchyPrecision,
    ParameterKind, Range, Smoother, Sparsification,
};
pub use pattern::Pattern;
pub use report::{HierarchyReport, HierarchySource, LevelReport};
pub use saved::{SavedInterpolation, SavedInterpolations};

use super::residual_update::ResidualUpdate;
use super::{LinearError, Matrix, Preconditioner, SinglePrecision};
use coarse::null_share;
use cycle::Levels;
use device::{DeviceHierarchy, Finest};
use difference_form::DifferenceForm;
use hierarchy::Hierarchy;
use karman_backend::group::gather_lists;
use karman_backend::real::Real;
use karman_backend::{Backend, Buffer, Halo, Partials};
use parallel::Loops;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A cycle of algebraic multigrid as an approximate inverse, its hierarchy stored in `S`.
pub struct Amg<S> {
    backend: Backend,
    params: AmgParams,
    rows: usize,
    setup: Setup,
    levels: Levels<S>,
    report: HierarchyReport,
}

/// The levels of the set-up.
enum Setup {
    Host(Hierarchy),
    Device(DeviceHierarchy),
}

/// The input of a set-up besides the matrix.
enum SetupInput {
    /// Nothing, or flags of the weighted boundary unknowns.
    Matrix(Option<Vec<bool>>),
    Interpolations(Vec<SavedInterpolation>),
}

impl<S: Real> Amg<S> {
    /// The hierarchy of `matrix`: by kernels for a matrix on a device, on the host's threads otherwise or
    /// where coarsening or smoother require the host ([`Coarsening::Aggregation`],
    /// [`Coarsening::RugeStuben`], [`Smoother::GaussSeidel`], [`Sparsification`]).
    ///
    /// # Errors
    /// [`LinearError::Parameter`] where a parameter is out of range; [`LinearError::NotSquare`],
    /// [`LinearError::EmptyRow`] or [`LinearError::PositiveDiagonal`] where the matrix does not suit;
    /// [`LinearError::Backend`] where the device failed.
    pub fn new<T: Real>(matrix: &Matrix<T>, params: &AmgParams) -> Result<Self, LinearError> {
        Self::with_boundary(matrix, params, None)
    }

    /// As [`Amg::new`], with flags of the boundary unknowns that Ruge & Stüben's coarsening weights:
    /// `[rows]`. Without flags these are the unknowns whose row does not sum to zero.
    ///
    /// # Errors
    /// As for [`Amg::new`]; [`LinearError::VectorLength`] for a wrong number of flags.
    pub fn with_boundary<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        boundary: Option<Vec<bool>>,
    ) -> Result<Self, LinearError> {
        if let Some(flags) = boundary.as_ref().filter(|flags| flags.len() != matrix.rows()) {
            let (expected, found) = (matrix.rows(), flags.len());
            return Err(LinearError::VectorLength { what: "list of flags", expected, found });
        }
        let boundary = match (boundary, matrix.backend().ranks()) {
            (Some(flags), Some(group)) => {
                let flags: Vec<u32> = flags.into_iter().map(u32::from).collect();
                let (all, _) = gather_lists(&**group, &flags)?;
                Some(all.into_iter().map(|flag| flag == 1).collect())
            }
            (boundary, _) => boundary,
        };
        Self::set_up(matrix, params, Instant::now(), SetupInput::Matrix(boundary))
    }

    /// The hierarchy of `matrix` with saved interpolations: without coarsening and interpolation, coarse
    /// matrices as by [`Amg::set_values`]. The interpolations of the same matrix on the same backend
    /// reproduce its hierarchy bit by bit.
    ///
    /// # Errors
    /// [`LinearError::OtherSystem`] for another sparsity pattern or another setup key; as for [`Amg::new`].
    pub fn from_interpolations<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        saved: SavedInterpolations,
    ) -> Result<Self, LinearError> {
        let start = Instant::now();
        params.check()?;
        saved.check_for(matrix, params)?;
        Self::set_up(matrix, params, start, SetupInput::Interpolations(saved.into_levels()))
    }

    fn set_up<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        start: Instant,
        input: SetupInput,
    ) -> Result<Self, LinearError> {
        let backend = matrix.backend().clone();
        if backend.ranks().is_some() && params.cycling.smoother == Smoother::GaussSeidel {
            return Err(LinearError::Ranks {
                item: "the smoother `gauss_seidel` of `amg`",
                instead: "`l1_jacobi` or `chebyshev`",
            });
        }
        let is_flagged = matches!(input, SetupInput::Matrix(Some(_)));
        let by_kernels =
            backend.device().is_some() && !is_flagged && DeviceHierarchy::suits(params);
        let source = match input {
            SetupInput::Matrix(_) => HierarchySource::Computed,
            SetupInput::Interpolations(_) => HierarchySource::Saved,
        };
        let (setup, levels) = if by_kernels {
            let finest = Finest::new(matrix)?;
            let hierarchy = match input {
                SetupInput::Matrix(_) => DeviceHierarchy::new(&finest, params)?,
                SetupInput::Interpolations(saved) => {
                    DeviceHierarchy::from_interpolations(&finest, params, saved)?
                }
            };
            let levels = levels_of_kernels(&backend, &finest, &hierarchy, params)?;
            (Setup::Device(hierarchy), levels)
        } else {
            backend.install(|| -> Result<_, LinearError> {
                let loops = Loops::of(backend.ranks());
                let all = matrix.of_all_ranks()?.into_converted::<f64>();
                let hierarchy = match input {
                    SetupInput::Matrix(boundary) => Hierarchy::new(loops, all, params, boundary)?,
                    SetupInput::Interpolations(saved) => {
                        Hierarchy::from_interpolations(loops, all, params, saved)?
                    }
                };
                let levels = levels_of(matrix, &hierarchy, params)?;
                Ok((Setup::Host(hierarchy), levels))
            })?
        };
        let (params, rows, report) = (*params, matrix.rows(), HierarchyReport::default());
        let mut amg = Amg { backend, params, rows, setup, levels, report };
        amg.update_report(start, source);
        Ok(amg)
    }

    /// Its interpolations, for [`Amg::from_interpolations`]. `matrix`, whose sparsity pattern is saved with
    /// them, is the matrix of the set-up or one of the same pattern. Boundary flags are not saved.
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
        SavedInterpolations::of_hierarchy(matrix, &self.params, levels)
    }

    /// Updates the hierarchy for new values in the same sparsity pattern: interpolations are reused, coarse
    /// matrices recomputed. Only the number of rows is checked.
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
                let finest = Finest::new(matrix)?;
                hierarchy.set_values(&finest)?;
                levels_of_kernels(backend, &finest, hierarchy, params)?
            }
            Setup::Host(hierarchy) => backend.install(|| {
                hierarchy.set_values(matrix.of_all_ranks()?.into_converted::<f64>())?;
                levels_of(matrix, hierarchy, params)
            })?,
        };
        self.update_report(start, HierarchySource::Reused);
        Ok(())
    }

    /// Updates the report and frees the data that only the set-up needs.
    fn update_report(&mut self, start: Instant, source: HierarchySource) {
        let mut levels = match &self.setup {
            Setup::Host(hierarchy) => hierarchy.report(),
            Setup::Device(hierarchy) => hierarchy.report(),
        };
        match &mut self.setup {
            Setup::Host(hierarchy) => hierarchy.drop_matrices(),
            Setup::Device(hierarchy) => hierarchy.drop_coarse_matrices(),
        }
        self.levels.complete(&mut levels);
        self.report = HierarchyReport {
            source,
            is_coarsest_direct: self.levels.is_coarsest_direct(),
            work_units: self.levels.work_units(&levels),
            levels,
            setup_seconds: start.elapsed().as_secs_f64(),
        };
    }

    /// Its levels.
    pub fn report(&self) -> &HierarchyReport {
        &self.report
    }
}

/// The levels of a hierarchy of `matrix` on its backend, on one of several ranks the rows of that rank.
fn levels_of<T: Real, S: Real>(
    matrix: &Matrix<T>,
    hierarchy: &Hierarchy,
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    let backend = matrix.backend();
    let Some(group) = backend.ranks() else {
        return Levels::new(backend, hierarchy, (params, null_share::<T>()));
    };
    rank_levels::of_host(matrix, group, &hierarchy.levels, params)
}

/// The levels of a hierarchy that kernels made for `finest`. All ranks call it.
fn levels_of_kernels<T: Real, S: Real>(
    backend: &Backend,
    finest: &Finest<'_, T>,
    hierarchy: &DeviceHierarchy,
    params: &AmgParams,
) -> Result<Levels<S>, LinearError> {
    let levels = match backend.ranks() {
        None => Levels::of_device(finest.matrix(), hierarchy, params)?,
        Some(group) => rank_levels::of_kernels(backend, group, (finest, hierarchy), params)?,
    };
    backend.synchronize()?;
    Ok(levels)
}

impl SinglePrecision for Amg<f32> {
    fn halo(&self) -> Option<&Arc<Halo>> {
        self.levels.finest().and_then(DifferenceForm::halo)
    }

    fn multiply_dot(&self, x: &Buffer<f32>, y: &mut Buffer<f32>, partials: &mut Partials) {
        if let Some(finest) = self.levels.finest() {
            finest.multiply_dot(x, y, partials);
        }
    }

    fn precondition(&mut self, r: &Buffer<f32>, z: &mut Buffer<f32>) {
        self.levels.apply(r, z);
    }

    fn update_residual(&mut self, update: ResidualUpdate<'_>) {
        self.levels.update_residual(update);
    }

    fn matrix_bytes(&self) -> usize {
        self.levels.finest().map_or(0, DifferenceForm::bytes)
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

    fn update_values(&mut self, matrix: &Matrix<T>) -> Result<bool, LinearError> {
        self.set_values(matrix).map(|()| true)
    }

    fn single(&mut self) -> Option<&mut dyn SinglePrecision> {
        let single = (self as &mut dyn Any).downcast_mut::<Amg<f32>>()?;
        single.levels.finest().is_some().then_some(single as &mut dyn SinglePrecision)
    }
}

#[cfg(test)]
mod rank_tests;
#[cfg(test)]
mod tests;
