//! Pseudo-time steps of a steady flow.

use super::super::equation::SteadyProgress;
use crate::case::SteadyCase;
use crate::incompressible::ScaledResiduals;

/// Iterations with the first Courant number at least.
const FIRST: usize = 5;

/// Least ratio of the Courant numbers of two iterations.
const RATIO: f64 = 0.7;

/// Rise of the residual over its least value that halves the bound of the Courant number.
const RISE: f64 = 3.0;

/// Iterations between two reductions of the bound.
const PATIENCE: usize = 15;

/// Least bound of the Courant number over its first value.
const LEAST_BOUND: f64 = 0.02;

/// The Courant numbers of the iteration towards a steady state.
///
/// A residual that rises lastingly halves them.
pub(super) struct PseudoTime {
    settings: SteadyCase,
    number: f64,
    bound: f64,
    /// Least residual since the last reduction of the bound.
    least: f64,
    iterations: usize,
    last_reduction: usize,
}

impl PseudoTime {
    pub(super) fn new(settings: SteadyCase) -> Self {
        PseudoTime {
            settings,
            number: settings.pseudo_cfl,
            bound: settings.pseudo_cfl,
            least: f64::INFINITY,
            iterations: 0,
            last_reduction: 0,
        }
    }

    /// The Courant number of the next step.
    pub(super) fn courant_number(&self) -> f64 {
        self.number
    }

    /// Takes note of the residuals of iteration number `step`.
    pub(super) fn record(&mut self, residuals: &ScaledResiduals, step: usize) -> SteadyProgress {
        let residual = residuals.largest();
        self.adapt(residual);
        let SteadyCase { tolerance, max_iterations, .. } = self.settings;
        SteadyProgress {
            residual,
            is_converged: residual <= tolerance,
            is_last: step >= max_iterations,
        }
    }

    /// Sets the Courant number of the next step after one of this residual.
    fn adapt(&mut self, largest: f64) {
        let first_number = self.settings.pseudo_cfl;
        self.iterations += 1;
        if self.iterations <= FIRST {
            return;
        }
        self.least = self.least.min(largest);
        if largest > RISE * self.least && self.iterations > self.last_reduction + PATIENCE {
            self.bound = (0.5 * self.bound).max(LEAST_BOUND * first_number);
            self.least = largest;
            self.last_reduction = self.iterations;
        }
        self.number = self.bound.max(RATIO * self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_courant_number_falls_as_residuals_rise() {
        let mut iteration =
            PseudoTime::new(SteadyCase { pseudo_cfl: 4.0, ..SteadyCase::default() });
        let settings = SteadyCase { max_iterations: 3, ..SteadyCase::default() };
        let of = |momentum: f64| ScaledResiduals { momentum, mass: 0.0, energy: 0.0 };
        let progress = |residual, step| PseudoTime::new(settings).record(&of(residual), step);
        let met = SteadyProgress { residual: 1e-6, is_converged: true, is_last: false };
        assert_eq!(progress(1e-6, 2), met);
        let last = SteadyProgress { residual: 1e-5, is_converged: false, is_last: true };
        assert_eq!(progress(1e-5, 3), last);
        for _ in 0..FIRST {
            iteration.record(&of(1e-2), 1);
            assert_eq!(iteration.courant_number(), 4.0);
        }
        for _ in 0..10 {
            iteration.record(&of(1e-2), 1);
        }
        assert_eq!(iteration.courant_number(), 4.0);
        // A lasting rise halves the bound again and again.
        for k in 0..100 {
            iteration.record(&of(1.0 * 1.1_f64.powi(k)), 1);
        }
        assert!(iteration.courant_number() < 0.5, "{}", iteration.courant_number());
        let nan = ScaledResiduals { momentum: 1.0, mass: f64::NAN, energy: 0.0 };
        assert!(nan.largest().is_nan());
    }
}
