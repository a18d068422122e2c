//! Norms of a step, rates of the cells and the bounds of the step length that follow from them.

use super::residuals::Residuals;
use super::statistics::Statistics;
use super::step_bounds::StepBounds;
use super::{IncompressibleError, Numerics, TimeScheme};
use crate::backend::{Backend, Buffer};
use crate::operators::Part;
use crate::real::Real;

/// √3 / 1.25, so that a Courant number of √3 corresponds to Δt ν Σ a / V = 1.25, the viscous limit.
const EXPLICIT_VISCOUS: f64 = 1.4;

/// Rates of the cells, norms of a step.
pub(super) struct Monitors<F: Real> {
    /// ν Σ a / V: `[n_cells]`.
    pub viscous_rate: Buffer<F>,
    /// a_P/V = ν Σ a / V + Σ|F| / 2V, the diagonal coefficient of the momentum equation with diffusion and upwind
    /// convection, over the volume; 1/τ of Rhie & Chow: `[n_cells]`.
    pub momentum_diagonal: Buffer<F>,
    /// max Σ|F| / 2V of the current level.
    pub convective_rate: f64,
    /// max |D F| / V over it.
    pub divergence: f64,
    pub statistics: Statistics,
    /// Residuals of a steady flow; none of an unsteady one.
    pub residuals: Option<Residuals>,
    /// Bounds of the step of a flow at rest.
    pub step_bounds: StepBounds,
    /// max |u_b| |S| / V of walls and inlets at time 0.
    boundary_rate: f64,
    /// Contribution of explicit diffusion of momentum and heat to the rate that bounds the step.
    viscous_bound: f64,
}

impl<F: Real> Monitors<F> {
    /// The monitors of the cells of these diffusive rates, none where ranks compute the cells.
    pub(super) fn new(
        backend: &Backend,
        viscous_rate: Buffer<F>,
        step_bounds: StepBounds,
        numerics: &Numerics,
    ) -> Self {
        let n = viscous_rate.len();
        Monitors {
            viscous_rate,
            momentum_diagonal: backend.zeros(n),
            convective_rate: 0.0,
            divergence: 0.0,
            statistics: Statistics::new(backend, n),
            residuals: numerics.is_steady.then(|| Residuals::new(backend, n)),
            boundary_rate: step_bounds.wall_rate(0.0),
            viscous_bound: viscous_bound(numerics, step_bounds.diffusion()),
            step_bounds,
        }
    }

    /// The monitors of a part with the diffusive rates of its cells, without bounds of steps; `diffusion` is the largest rate of all
    /// cells.
    pub(super) fn of_part(
        &self,
        part: &Part,
        (viscous_rate, diffusion): (Buffer<F>, f64),
        numerics: &Numerics,
    ) -> Self {
        let (backend, n) = (&part.backend, part.own.len());
        Monitors {
            viscous_rate,
            momentum_diagonal: backend.zeros(part.cells.n_local()),
            statistics: Statistics::new(backend, n),
            residuals: numerics.is_steady.then(|| Residuals::new(backend, n)),
            step_bounds: StepBounds::of_diffusion(diffusion),
            viscous_bound: viscous_bound(numerics, diffusion),
            ..*self
        }
    }

    /// Takes over the largest diffusive rate from the ranks.
    pub(super) fn set_diffusion(&mut self, numerics: &Numerics, diffusion: f64) {
        self.step_bounds.set_diffusion(diffusion);
        self.viscous_bound = viscous_bound(numerics, diffusion);
    }

    /// Reads the largest rates of the current level; returns `divergence`.
    pub(super) fn read_rates(&mut self, backend: &Backend) -> Result<f64, IncompressibleError> {
        let (convective_rate, divergence) = self.statistics.read_rates(backend)?;
        self.convective_rate = convective_rate;
        self.divergence =
            if convective_rate > 0.0 { divergence / convective_rate } else { divergence };
        Ok(self.divergence)
    }

    /// See [`IncompressibleSolver::largest_rate`](super::IncompressibleSolver::largest_rate).
    pub(super) fn largest_rate(&self) -> f64 {
        self.convective_rate.max(self.boundary_rate) + self.viscous_bound
    }
}

/// Contribution of explicit diffusion to the rate that bounds the step, by the largest diffusive rate.
fn viscous_bound(numerics: &Numerics, diffusion: f64) -> f64 {
    if numerics.time_scheme == TimeScheme::Rk3 { EXPLICIT_VISCOUS * diffusion } else { 0.0 }
}
