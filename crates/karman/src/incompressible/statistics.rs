//! The few numbers of a step that the host looks at.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use crate::backend::{Backend, BackendError, Buffer, Components, Partials, blas};
use crate::real::Real;
use karman_backend::prelude::*;

/// What the components of a step have in common.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Taken<F: Real> {
    /// The largest |change| of a component.
    pub change: F,
    /// Σ V u²/2.
    pub energy: F,
    /// Number of values that are not finite.
    pub faults: F,
}

/// The buffers they are reduced in.
pub(super) struct Statistics {
    /// Of one component: the largest change, the energy, the faults.
    pub partials: Partials,
    taken: Buffer<f64>,
    /// The largest rates of exchange and of divergence.
    pub rates: Partials,
    largest: Buffer<f64>,
}

impl Statistics {
    pub(super) fn new(backend: &Backend, n_cells: usize) -> Self {
        Statistics {
            partials: Partials::new(backend, n_cells, 3),
            taken: backend.zeros(<Taken<f64> as Components>::COUNT),
            rates: Partials::new(backend, n_cells, 2),
            largest: backend.zeros(2),
        }
    }

    /// Forgets what was gathered.
    pub(super) fn clear(&mut self, backend: &Backend) {
        blas::fill(backend, self.taken.len(), 0.0, &mut self.taken);
    }

    /// Adds one component.
    pub(super) fn gather(&mut self, backend: &Backend) {
        gather_component(backend, &self.partials, &mut self.taken);
    }

    /// What was gathered.
    pub(super) fn read(&self, backend: &Backend) -> Result<Taken<f64>, BackendError> {
        let values = backend.read(&self.taken)?;
        Ok(Taken { change: values[0], energy: values[1], faults: values[2] })
    }

    /// The largest rates.
    pub(super) fn read_rates(&mut self, backend: &Backend) -> Result<(f64, f64), BackendError> {
        largest_rates(backend, &self.rates, &mut self.largest);
        let values = backend.read(&self.largest)?;
        Ok((values[0], values[1]))
    }
}

/// One component more.
#[kernel(gather_component, combine(max, sum, sum), update(taken))]
pub(super) fn gathered(change: f64, energy: f64, faults: f64, taken: Taken<f64>) -> Taken<f64> {
    Taken::<f64> {
        change: taken.change.max(change),
        energy: taken.energy + energy,
        faults: taken.faults + faults,
    }
}

/// Two numbers side by side.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Rates<F: Real> {
    /// The largest Σ|F| / 2V.
    pub exchange: F,
    /// The largest |D F| / V.
    pub divergence: F,
}

/// The largest rates.
#[kernel(largest_rates, combine(max, max), out(rates))]
pub(super) fn rates_of(exchange: f64, divergence: f64) -> Rates<f64> {
    Rates::<f64> { exchange, divergence }
}
