//! Norms of a step, read by the host.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use crate::backend::{Backend, BackendError, Buffer, Components, Partials, blas};
use crate::real::Real;
use karman_backend::prelude::*;

/// Norms of the change in a step over all components.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct StepNorms<F: Real> {
    /// The largest |change| of a component.
    pub change: F,
    /// Σ V u²/2.
    pub energy: F,
    /// Number of non-finite values.
    pub non_finite: F,
}

/// Buffers of the reductions.
pub(super) struct Statistics {
    /// Of one component: largest change, energy, non-finite count.
    pub partials: Partials,
    norms: Buffer<f64>,
    /// Convective rate and divergence.
    pub rates: Partials,
    largest: Buffer<f64>,
}

impl Statistics {
    pub(super) fn new(backend: &Backend, n_cells: usize) -> Self {
        Statistics {
            partials: Partials::new(backend, n_cells, 3),
            norms: backend.zeros(<StepNorms<f64> as Components>::COUNT),
            rates: Partials::new(backend, n_cells, 2),
            largest: backend.zeros(2),
        }
    }

    /// Resets the accumulated norms.
    pub(super) fn clear(&mut self, backend: &Backend) {
        blas::fill(backend, self.norms.len(), 0.0, &mut self.norms);
    }

    /// Accumulates the norms of one component.
    pub(super) fn gather(&mut self, backend: &Backend) {
        gather_component(backend, &self.partials, &mut self.norms);
    }

    /// The accumulated norms.
    pub(super) fn read(&self, backend: &Backend) -> Result<StepNorms<f64>, BackendError> {
        Ok(StepNorms::of_components(&backend.read(&self.norms)?))
    }

    /// max Σ|F| / 2V and max |D F| / V.
    pub(super) fn read_rates(&mut self, backend: &Backend) -> Result<(f64, f64), BackendError> {
        largest_rates(backend, &self.rates, &mut self.largest);
        let values = backend.read(&self.largest)?;
        Ok((values[0], values[1]))
    }
}

/// Accumulates one component.
#[kernel(combine(max, sum, sum), update(norms))]
pub(super) fn gather_component(
    change: f64,
    energy: f64,
    non_finite: f64,
    norms: StepNorms<f64>,
) -> StepNorms<f64> {
    StepNorms::<f64> {
        change: norms.change.max(change),
        energy: norms.energy + energy,
        non_finite: norms.non_finite + non_finite,
    }
}

/// Largest rates of a level.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Rates<F: Real> {
    /// The largest Σ|F| / 2V.
    pub convective: F,
    /// The largest |D F| / V.
    pub divergence: F,
}

/// The maxima of both rates.
#[kernel(combine(max, max), out(rates))]
pub(super) fn largest_rates(convective: f64, divergence: f64) -> Rates<f64> {
    Rates::<f64> { convective, divergence }
}
