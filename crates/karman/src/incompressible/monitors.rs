//! Norms of a step, rates of the cells and the bounds of the step length that follow from them.

use super::residuals::Residuals;
use super::statistics::Statistics;
use super::step_bounds::StepBounds;
use super::{IncompressibleError, TimeScheme};
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
    pub(super) fn new(
        backend: &Backend,
        viscous_rate: Buffer<F>,
        step_bounds: StepBounds,
        (scheme, is_steady): (TimeScheme, bool),
    ) -> Self {
        let n = viscous_rate.len();
        let is_explicit = scheme == TimeScheme::Rk3;
        let viscous_bound =
            if is_explicit { EXPLICIT_VISCOUS * step_bounds.diffusion() } else { 0.0 };
        Monitors {
            viscous_rate,
            momentum_diagonal: backend.zeros(n),
            convective_rate: 0.0,
            divergence: 0.0,
            statistics: Statistics::new(backend, n),
            residuals: is_steady.then(|| Residuals::new(backend, n)),
            boundary_rate: step_bounds.wall_rate(0.0),
            step_bounds,
            viscous_bound,
        }
    }

    /// The monitors of a part, without bounds of steps.
    pub(super) fn of_part(&self, part: &Part) -> Self {
        let (backend, n) = (&part.backend, part.own.len());
        Monitors {
            viscous_rate: part.of_own_cells(&self.viscous_rate),
            momentum_diagonal: part.zeros_of_cells(&self.momentum_diagonal),
            statistics: Statistics::new(backend, n),
            residuals: self.residuals.as_ref().map(|_| Residuals::new(backend, n)),
            step_bounds: StepBounds::of_diffusion(self.step_bounds.diffusion()),
            ..*self
        }
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
