//! Metric fields: the metric at any place of the domain.

use crate::metric::Metric;
use std::fmt;

/// The metric at any place of the domain.
///
/// A `hint` is a number that the field gave for a place near by, with which it finds the next place faster; 0 at first.
pub trait MetricField: Sync {
    /// The tensor at `point`, which is refused where it is not positive definite, and the hint for places near it.
    fn at(&self, point: [f64; 3], hint: u32) -> (Metric, u32);
}

/// A metric given by a function of the place.
pub struct AnalyticMetric<F: Fn([f64; 3]) -> Metric + Sync>(
    /// The function.
    pub F,
);

impl<F: Fn([f64; 3]) -> Metric + Sync> MetricField for AnalyticMetric<F> {
    fn at(&self, point: [f64; 3], hint: u32) -> (Metric, u32) {
        ((self.0)(point), hint)
    }
}

impl<F: Fn([f64; 3]) -> Metric + Sync> fmt::Debug for AnalyticMetric<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AnalyticMetric")
    }
}
