//! Explicit stages with local steps towards a steady state.

use super::super::error::CompressibleError;
use super::super::solver::CompressibleSolver;
use super::SteadyIteration;
use super::residual_norms::ResidualNorms;
use crate::backend::Backend;
use crate::real::Real;

/// The march of a flow to its steady state by local steps of a fixed Courant number.
pub struct LocalMarch<F: Real> {
    flow: CompressibleSolver<F>,
    norms: ResidualNorms<F>,
    courant: f64,
}

impl<F: Real> LocalMarch<F> {
    /// The march of a flow in a domain of a volume from its present state.
    pub fn new(backend: &Backend, flow: CompressibleSolver<F>, volume: f64, courant: f64) -> Self {
        let norms = ResidualNorms::new(backend, flow.n_cells(), volume);
        LocalMarch { flow, norms, courant }
    }

    /// The flow.
    pub fn flow(&self) -> &CompressibleSolver<F> {
        &self.flow
    }

    /// The flow.
    pub fn flow_mut(&mut self) -> &mut CompressibleSolver<F> {
        &mut self.flow
    }

    /// One step of each cell.
    ///
    /// # Errors
    /// As [`CompressibleSolver::advance`].
    pub fn iterate(&mut self) -> Result<SteadyIteration, CompressibleError> {
        let step = self.flow.iterate(self.courant)?;
        let residuals = self.norms.evaluate(&mut self.flow)?;
        Ok(SteadyIteration {
            residuals,
            courant: self.courant,
            products: 0,
            fallback_cells: step.fallback_cells,
            change: if step.invalid > 0 { f64::NAN } else { step.rate },
            totals: step.totals,
        })
    }
}
