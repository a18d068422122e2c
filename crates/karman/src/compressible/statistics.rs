//! Numbers of a step that the host reads.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::state::{States, VARIABLES};
use crate::backend::{Backend, BackendError, Buffer, Components, Partials, View};
use crate::real::Real;
use karman_backend::prelude::*;

/// Reductions over all cells after a step.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct StepSums<F: Real> {
    /// Largest change of a variable, of the density relative to it, of momentum to ρ(|u| + c), of the energy to itself.
    pub change: F,
    /// Largest rate λ, Δt = CFL/λ.
    pub rate: F,
    /// Number of cells without a positive density and pressure.
    pub invalid: F,
    /// Σ V ρ.
    pub mass: F,
    /// Σ V ρu_x.
    pub momentum_x: F,
    /// Σ V ρu_y.
    pub momentum_y: F,
    /// Σ V ρu_z.
    pub momentum_z: F,
    /// Σ V ρE.
    pub energy: F,
}

impl StepSums<f64> {
    /// Σ V (ρ, ρu_x, ρu_y, ρu_z, ρE).
    pub(super) fn totals(&self) -> [f64; VARIABLES] {
        [self.mass, self.momentum_x, self.momentum_y, self.momentum_z, self.energy]
    }
}

/// Buffers of the reductions.
pub(super) struct Statistics {
    pub(super) partials: Partials,
    sums: Buffer<f64>,
}

impl Statistics {
    pub(super) fn new(backend: &Backend, n_cells: usize) -> Self {
        let count = <StepSums<f64> as Components>::COUNT;
        Statistics { partials: Partials::new(backend, n_cells, count), sums: backend.zeros(count) }
    }

    /// The finished reductions.
    pub(super) fn read(&mut self, backend: &Backend) -> Result<StepSums<f64>, BackendError> {
        finish_step(backend, &self.partials, &mut self.sums);
        Ok(StepSums::of_components(&backend.read(&self.sums)?))
    }
}

/// The parts of a cell in the reductions of a step. Traffic a cell: 96 (f64).
#[kernel(reduce(max, max, sum, sum, sum, sum, sum, sum))]
pub(super) fn step_parts<F: Real>(
    c: usize,
    old: &States<F>,
    new: &States<F>,
    rate: &View<F>,
    volume: &View<F>,
    gamma: F,
) -> (F, F, F, F, F, F, F, F) {
    let zero = F::literal(0.0);
    let q = new.at(c);
    let difference = q - old.at(c);
    let state = q.primitive(gamma);
    let u = state.velocity();
    let scale = q.density * (u.dot(u).sqrt() + state.sound_speed(gamma));
    let momentum = difference.momentum();
    let of_density = difference.density.abs() / q.density;
    let of_momentum = momentum.dot(momentum).sqrt() / scale;
    let of_energy = difference.energy.abs() / q.energy;
    let mut invalid = F::literal(1.0);
    // Comparisons with a NaN are false.
    if q.density > zero && state.pressure > zero {
        invalid = zero;
    }
    let v = volume[c];
    (
        of_density.max(of_momentum).max(of_energy),
        rate[c],
        invalid,
        v * q.density,
        v * q.momentum_x,
        v * q.momentum_y,
        v * q.momentum_z,
        v * q.energy,
    )
}

/// The kinetic energy of a cell, V ½ |ρu|²/ρ. Traffic a cell: 48 (f64).
#[kernel(reduce(sum))]
pub(super) fn kinetic_parts<F: Real>(c: usize, q: &States<F>, volume: &View<F>) -> F {
    let state = q.at(c);
    let momentum = state.momentum();
    0.5 * volume[c] * momentum.dot(momentum) / state.density
}

/// The sums and maxima of all parts.
#[kernel(combine(max, max, sum, sum, sum, sum, sum, sum), out(sums))]
#[allow(clippy::too_many_arguments)]
pub(super) fn finish_step(
    change: f64,
    rate: f64,
    invalid: f64,
    mass: f64,
    momentum_x: f64,
    momentum_y: f64,
    momentum_z: f64,
    energy: f64,
) -> StepSums<f64> {
    StepSums::<f64> { change, rate, invalid, mass, momentum_x, momentum_y, momentum_z, energy }
}
