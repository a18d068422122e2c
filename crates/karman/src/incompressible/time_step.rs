//! Lengths of steps from the state of a flow.

use super::{IncompressibleError, IncompressibleSolver};
use crate::backend::Buffer;
use crate::finite_volume::widen;
use crate::real::Real;

/// Relative growth of the rate in a step above which it is extrapolated, as from rest.
const FAST: f64 = 0.2;

/// Largest pseudo-time step of a flow at rest over that of the diffusive rate.
const SLOWEST: f64 = 100.0;

impl<F: Real> IncompressibleSolver<F> {
    /// The longest step up to `longest` of Courant number `number` by the current fluxes and, for a flow at
    /// rest, by body forces, buoyancy and prescribed pressures (`step_bounds.rs`). Where the rate Σ|F| / 2V
    /// grows fast from `rate_before` at the previous level, the Courant number is that at the end of the
    /// step.
    pub fn longest_step(&self, number: f64, longest: f64, rate_before: Option<f64>) -> f64 {
        let rate = self.largest_rate();
        let rise = match (rate_before, self.flow.clock.step_before) {
            (Some(rate_before), Some(step)) => {
                (self.flow.monitors.convective_rate - rate_before).max(0.0) / step
            }
            _ => 0.0,
        };
        let mut step = if rate > 0.0 { longest.min(number / rate) } else { longest };
        if rise * step > FAST * rate {
            // rise Δt² + rate Δt = C
            step = step.min(2.0 * number / (rate + (rate * rate + 4.0 * number * rise).sqrt()));
        }
        let is_first = self.flow.clock.steps == 0;
        let state =
            (is_first || self.flow.monitors.convective_rate == 0.0, is_first && rate == 0.0);
        self.flow.monitors.step_bounds.longest_step(number, (self.flow.clock.time, step), state)
    }

    /// The pseudo-time step of Courant number `number` of a steady flow; at rest that of [`Self::longest_step`], at most
    /// 100 times the step of the diffusive rate.
    pub fn pseudo_time_step(&self, number: f64) -> f64 {
        let rate = self.largest_rate();
        if rate > 0.0 {
            return number / rate;
        }
        let diffusion = self.flow.monitors.step_bounds.diffusion();
        self.longest_step(number, SLOWEST * number / diffusion, None)
    }

    /// The global values of [`StepReport`](super::StepReport) without a step: Σ V u²/2, the Courant number
    /// of the previous step, max |D F| / V over max Σ|F| / 2V.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn diagnostics(&self) -> Result<[f64; 3], IncompressibleError> {
        let volume: Vec<f64> = self.read_f64(&self.flow.faces.volume)?;
        let mut energy = 0.0;
        for component in &self.flow.components {
            let u = self.read_f64(&component.now)?;
            energy = u.iter().zip(&volume).fold(energy, |sum, (u, v)| sum + 0.5 * v * u * u);
        }
        Ok([
            energy,
            self.flow.monitors.convective_rate * self.flow.clock.step_before.unwrap_or(0.0),
            self.flow.monitors.divergence,
        ])
    }

    /// A buffer read back in double precision.
    pub(super) fn read_f64(&self, buffer: &Buffer<F>) -> Result<Vec<f64>, IncompressibleError> {
        Ok(widen(&self.flow.backend, buffer)?)
    }

    /// max Σ|F| / 2V of the current level.
    pub fn convective_rate(&self) -> f64 {
        self.flow.monitors.convective_rate
    }

    /// The length of the previous step.
    pub fn step_before(&self) -> Option<f64> {
        self.flow.clock.step_before
    }
}
