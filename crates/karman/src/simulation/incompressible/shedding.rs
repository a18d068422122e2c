//! Vortex shedding, from the history of the lift coefficient.

use crate::incompressible::descriptor::{
    DRAG_COEFFICIENT_MAX, DRAG_COEFFICIENT_MEAN, LIFT_COEFFICIENT_MAX, STROUHAL,
};
use crate::summary::NamedList;

/// Periods at the end of the history that are evaluated.
const PERIODS: usize = 6;

/// Least peak-to-peak amplitude of the lift of vortex shedding, over the largest coefficient.
const LEAST_AMPLITUDE: f64 = 1e-3;

/// History of the coefficients.
#[derive(Clone, Debug, Default)]
pub(super) struct Shedding {
    times: Vec<f64>,
    lift: Vec<f64>,
    drag: Vec<f64>,
}

impl Shedding {
    pub(super) fn record(&mut self, time: f64, lift: f64, drag: f64) {
        self.times.push(time);
        self.lift.push(lift);
        self.drag.push(drag);
    }

    /// `strouhal`, the frequency of the lift times `scale` (a length over a speed), and means and maxima over
    /// the last whole periods; empty where the lift does not oscillate for three periods.
    pub(super) fn quantities(&self, scale: f64) -> NamedList<f64> {
        let crossings = self.upward_crossings();
        let count = crossings.len();
        if count < 4 {
            return NamedList::new();
        }
        let last = &crossings[count - (PERIODS + 1).min(count)..];
        let (start, end) = (last[0], last[last.len() - 1]);
        let frequency = (last.len() - 1) as f64 / (end - start);
        let within = |values: &[f64]| -> Vec<f64> {
            let pairs = self.times.iter().zip(values);
            pairs.filter(|(t, _)| **t >= start && **t <= end).map(|(_, v)| *v).collect()
        };
        let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
        let mean = |values: &[f64]| {
            values.iter().copied().fold(0.0, |a, b| a + b) / values.len().max(1) as f64
        };
        let (lift, drag) = (within(&self.lift), within(&self.drag));
        [
            (STROUHAL, frequency * scale),
            (DRAG_COEFFICIENT_MEAN, mean(&drag)),
            (DRAG_COEFFICIENT_MAX, largest(&drag)),
            (LIFT_COEFFICIENT_MAX, largest(&lift)),
        ]
        .into_iter()
        .collect()
    }

    /// Times in the second half of the history at which the lift rises through its mid-range.
    fn upward_crossings(&self) -> Vec<f64> {
        let half = self.lift.len() / 2;
        let late = &self.lift[half..];
        let low = late.iter().copied().fold(f64::MAX, f64::min);
        let high = late.iter().copied().fold(f64::MIN, f64::max);
        let size = low.abs().max(high.abs()).max(self.drag.last().copied().unwrap_or(0.0).abs());
        if late.len() < 4 || high - low < LEAST_AMPLITUDE * size {
            return vec![];
        }
        let middle = 0.5 * (low + high);
        let mut crossings = vec![];
        for k in half + 1..self.lift.len() {
            let (previous, current) = (self.lift[k - 1] - middle, self.lift[k] - middle);
            if previous < 0.0 && current >= 0.0 {
                let fraction = previous / (previous - current);
                crossings.push(self.times[k - 1] + fraction * (self.times[k] - self.times[k - 1]));
            }
        }
        crossings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn an_oscillating_lift_has_its_frequency_and_a_steady_lift_has_none() {
        let mut shedding = Shedding::default();
        for k in 0..4000 {
            let t = 0.005 * k as f64;
            let ramp = (t / 5.0).min(1.0);
            let phase = 2.0 * PI * 1.7 * t;
            shedding.record(t, 0.02 + ramp * phase.sin(), 3.0 + 0.1 * ramp * (2.0 * phase).sin());
        }
        let quantities = shedding.quantities(0.1);
        let value = |name: &str| *quantities.get(name).unwrap();
        assert!((value("strouhal") - 0.17).abs() < 1e-4, "{}", value("strouhal"));
        assert!((value("lift_coefficient_max") - 1.02).abs() < 1e-3);
        assert!((value("drag_coefficient_max") - 3.1).abs() < 1e-3);
        assert!((value("drag_coefficient_mean") - 3.0).abs() < 2e-3);
        let mut steady = Shedding::default();
        for k in 0..100 {
            steady.record(k as f64, 0.01 + 1e-5 * (k as f64).sin(), 2.0);
        }
        assert!(steady.quantities(1.0).is_empty());
    }
}
