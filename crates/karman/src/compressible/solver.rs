//! The solver of a compressible flow: state, discretisation, explicit steps. `construction.rs` makes it.

use super::boundary_data::BoundaryData;
use super::error::CompressibleError;
use super::fused::FusedResidual;
use super::on_backend::{MeshOnBackend, PolynomialsOnBackend};
use super::problem::CompressibleNumerics;
use super::residual::{GasView, spectral_rate, step_of_rate};
use super::state::{States, VARIABLES};
use super::statistics::{Statistics, StepSums, kinetic_parts, step_parts};
use super::viscous::ViscousData;
use crate::backend::{Backend, BackendError, Buffer, Partials, View, blas};
use crate::finite_volume::TimeDependentData;
use crate::real::Real;
use std::sync::Arc;

/// Report of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressibleStep {
    /// Largest relative change of a variable by time, 1/s.
    pub rate: f64,
    /// Number of cells that were computed again with a lower order, over all stages.
    pub fallback_cells: usize,
    /// Number of cells without a positive density and pressure after the step.
    pub invalid: usize,
    /// Σ V (ρ, ρu_x, ρu_y, ρu_z, ρE).
    pub totals: [f64; VARIABLES],
}

/// Solver of a compressible flow on a backend.
pub struct CompressibleSolver<F: Real> {
    pub(super) backend: Backend,
    pub(super) gamma: f64,
    pub(super) numerics: CompressibleNumerics,
    pub(super) mesh: Arc<MeshOnBackend<F>>,
    pub(super) polynomials: PolynomialsOnBackend<F>,
    pub(super) boundary: BoundaryData<F>,
    pub(super) viscous: Arc<ViscousData<F>>,
    pub(super) source: Option<TimeDependentData<F>>,
    pub(super) state: State<F>,
    pub(super) fused: Option<FusedResidual<F>>,
    /// Numbers of cells by size of their stencil.
    pub(super) stencil_sizes: Vec<usize>,
}

/// The unknowns and their time.
pub(super) struct State<F: Real> {
    /// Means: `[5][n_cells]`.
    pub(super) now: Buffer<F>,
    /// Means at the beginning of the step.
    pub(super) old: Buffer<F>,
    /// Means of a stage.
    pub(super) next: Buffer<F>,
    /// Of methods that have a sum of stages.
    pub(super) sums: StageSums<F>,
    /// Local steps; empty before the first.
    pub(super) local: Buffer<F>,
    pub(super) flux: Buffer<F>,
    rate: Buffer<F>,
    statistics: Statistics,
    /// Sums over cells one at a time: of troubled cells, of those whose level has risen, of the kinetic energy.
    pub(super) cell_sum: CellSum,
    pub(super) time: f64,
    pub(super) steps: usize,
    /// The largest rate λ.
    pub(super) largest_rate: f64,
}

/// Weighted sums of the stages of a step.
pub(super) struct StageSums<F: Real> {
    /// Of the means: `[5][n_cells]`.
    pub(super) means: Buffer<F>,
    /// Σ b F of the earlier stages: `[5][n_faces]`.
    pub(super) fluxes: Buffer<F>,
}

/// A sum over the cells.
pub(super) struct CellSum {
    pub(super) partials: Partials,
    sum: Buffer<f64>,
}

impl CellSum {
    /// The sum of the partial sums.
    pub(super) fn read(&mut self, backend: &Backend) -> Result<f64, BackendError> {
        blas::finish_sum(backend, &self.partials, &mut self.sum);
        Ok(backend.read(&self.sum)?[0])
    }
}

/// The means that polynomials are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Those of the state.
    Now,
    /// Those of a state beside it, in `next`.
    Next,
}

impl<F: Real> State<F> {
    /// The state of means at time 0, of which `own` cells are own ones and ghosts are behind them.
    pub(super) fn new(
        backend: &Backend,
        now: Buffer<F>,
        own: usize,
        n_faces: usize,
        has_sum: bool,
    ) -> Self {
        let (means, fluxes) = (now.len(), VARIABLES * n_faces);
        State {
            now,
            old: backend.zeros(means),
            next: backend.zeros(means),
            sums: StageSums {
                means: backend.zeros(if has_sum { means } else { 0 }),
                fluxes: backend.zeros(if has_sum { fluxes } else { 0 }),
            },
            local: backend.zeros(0),
            flux: backend.zeros(fluxes),
            rate: backend.zeros(own),
            statistics: Statistics::new(backend, own),
            cell_sum: CellSum { partials: Partials::new(backend, own, 1), sum: backend.zeros(1) },
            time: 0.0,
            steps: 0,
            largest_rate: 0.0,
        }
    }

    pub(super) fn means(&self, of: Means) -> &Buffer<F> {
        match of {
            Means::Now => &self.now,
            Means::Next => &self.next,
        }
    }
}

/// The length of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepLength {
    /// Δt of all cells.
    Uniform(f64),
    /// That of each cell; the time stays.
    Local,
}

impl StepLength {
    /// By how much the time advances.
    fn of_time(self) -> f64 {
        match self {
            StepLength::Uniform(step) => step,
            StepLength::Local => 0.0,
        }
    }

    /// Δt, or the factor of local steps.
    pub(super) fn factor(self) -> f64 {
        match self {
            StepLength::Uniform(step) => step,
            StepLength::Local => 1.0,
        }
    }
}

impl<F: Real> CompressibleSolver<F> {
    /// Advances by `step` and reports.
    ///
    /// # Errors
    /// [`CompressibleError`] where a prescribed value is not a number or the backend failed.
    pub fn advance(&mut self, step: f64) -> Result<CompressibleStep, CompressibleError> {
        self.advance_by(StepLength::Uniform(step))
    }

    /// Advances each cell by its own step, CFL/λ, towards a steady state; the rate of change is that of a step.
    ///
    /// # Errors
    /// As [`CompressibleSolver::advance`].
    pub fn iterate(&mut self, cfl: f64) -> Result<CompressibleStep, CompressibleError> {
        self.set_local_steps(cfl);
        self.advance_by(StepLength::Local)
    }

    /// Sets the local steps CFL/λ.
    pub(super) fn set_local_steps(&mut self, cfl: f64) {
        let n = self.mesh.n_cells();
        let (rate, local) = (&self.state.rate, &mut self.state.local);
        if local.is_empty() {
            *local = self.backend.zeros(n);
        }
        step_of_rate(&self.backend, n, rate, F::from_f64(cfl), local);
    }

    fn advance_by(&mut self, length: StepLength) -> Result<CompressibleStep, CompressibleError> {
        let step = length.of_time();
        let backend = self.backend.clone();
        let state = &mut self.state;
        let size = state.now.len();
        if !state.sums.means.is_empty() {
            blas::fill(&backend, size, F::literal(0.0), &mut state.sums.means);
            blas::fill(&backend, state.flux.len(), F::literal(0.0), &mut state.sums.fluxes);
        }
        let begin = state.time;
        let mut fallback_cells = 0;
        for (number, stage) in self.numerics.method.stages().iter().enumerate() {
            let is_first = number == 0;
            let time = begin + stage.time * step;
            fallback_cells += self.advance_stage(stage, is_first, length, time)?;
            let state = &mut self.state;
            if is_first {
                std::mem::swap(&mut state.old, &mut state.now);
            }
            std::mem::swap(&mut state.now, &mut state.next);
            if stage.into_sum != 0.0 {
                let weight = F::from_f64(stage.into_sum);
                blas::axpy(&backend, size, weight, &state.now, &mut state.sums.means);
            }
            if stage.of_flux != 0.0 {
                let (weight, faces) = (F::from_f64(stage.of_flux), state.flux.len());
                blas::axpy(&backend, faces, weight, &state.flux, &mut state.sums.fluxes);
            }
        }
        self.state.time = begin + step;
        self.state.steps += 1;
        let sums = self.finish_step(true)?;
        Ok(CompressibleStep {
            rate: sums.change / length.factor(),
            fallback_cells,
            invalid: sums.invalid as usize,
            totals: sums.totals(),
        })
    }

    /// Rates of the new means and the reductions over the step.
    pub(super) fn finish_step(
        &mut self,
        has_old: bool,
    ) -> Result<StepSums<f64>, CompressibleError> {
        let (n, gamma) = (self.mesh.n_cells(), F::from_f64(self.gamma));
        let (cells, faces) = (self.mesh.cell_faces(), self.mesh.faces());
        let State { now, old, rate, statistics, .. } = &mut self.state;
        let backend = &self.backend;
        let viscous = self.viscous.view();
        spectral_rate(backend, n, &cells, &faces, &States::of(now), gamma, &viscous, rate);
        let before = if has_old { &*old } else { &*now };
        let volume = &self.mesh.volume;
        let partials = &mut statistics.partials;
        step_parts(
            backend,
            n,
            &States::of(before),
            &States::of(now),
            rate,
            volume,
            gamma,
            partials,
        );
        let sums = statistics.read(backend)?;
        self.state.largest_rate = sums.rate;
        Ok(sums)
    }

    /// Σ V ½ |ρu|²/ρ.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn kinetic_energy(&mut self) -> Result<f64, CompressibleError> {
        let (n, backend) = (self.mesh.n_cells(), &self.backend);
        let State { now, cell_sum, .. } = &mut self.state;
        kinetic_parts(backend, n, &States::of(now), &self.mesh.volume, &mut cell_sum.partials);
        Ok(cell_sum.read(backend)?)
    }

    /// The sources of the conserved variables, and whether there are any.
    pub(super) fn source(&self) -> (States<'_, F>, bool) {
        source_of(&self.source)
    }

    /// The time step of a CFL number: CFL / max λ, λ = (1/2V) Σ_f (|u·S| + c|S|).
    pub fn step_of(&self, cfl: f64) -> f64 {
        cfl / self.state.largest_rate
    }

    /// Time and number of steps.
    pub fn clock(&self) -> (f64, usize) {
        (self.state.time, self.state.steps)
    }

    /// Means of ρ, ρu and ρE: `[5][n_cells]`.
    pub fn means(&self) -> &Buffer<F> {
        &self.state.now
    }

    /// Numbers of cells by size of their stencil.
    pub fn stencil_sizes(&self) -> &[usize] {
        &self.stencil_sizes
    }
}

pub(super) fn source_of<F: Real>(source: &Option<TimeDependentData<F>>) -> (States<'_, F>, bool) {
    match source {
        Some(source) => (States::of(source.value()), true),
        None => (States { values: View::absent(), stride: 0 }, false),
    }
}

pub(super) fn gas<'a, F: Real>(
    gamma: f64,
    numerics: &CompressibleNumerics,
    boundary: &'a BoundaryData<F>,
    viscous: &'a ViscousData<F>,
) -> GasView<'a, F> {
    let (boundary, viscous) = (boundary.view(), viscous.view());
    let CompressibleNumerics { form, bounds_traces, .. } = *numerics;
    GasView { gamma: F::from_f64(gamma), boundary, viscous, form, bounds_traces }
}
