//! A metric on a regular grid.

use crate::error::AdaptError;
use crate::field::MetricField;
use crate::metric::Metric;
use crate::vector::Point;
use karman_mesh::Place;
use rayon::prelude::*;

/// Intervals along each axis of the first grid.
const FIRST_INTERVALS: usize = 8;

/// The tensors of sizes H = M^(−1/2) of a metric at the nodes of a regular grid over a box, interpolated multilinearly between them.
#[derive(Clone, Debug)]
pub struct MetricGrid {
    dimension: usize,
    low: Point,
    high: Point,
    intervals: [usize; 3],
    /// Upper triangles, x fastest: `[nodes][3]` in 2D, `[nodes][6]` in 3D.
    sizes: Vec<f64>,
    error: f64,
}

/// The nodes of a grid or the middles of its edges along an axis.
struct Lattice<'a> {
    grid: &'a MetricGrid,
    /// Axis along which the places lie between nodes.
    between: Option<usize>,
}

impl Lattice<'_> {
    fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| {
            let nodes = self.grid.intervals[axis] + usize::from(self.grid.intervals[axis] > 0);
            (nodes - usize::from(self.between == Some(axis))).max(1)
        })
    }

    fn place(&self, at: [usize; 3]) -> Point {
        let grid = self.grid;
        [0, 1, 2].map(|axis| {
            let shift = if self.between == Some(axis) { 0.5 } else { 0.0 };
            let share = (at[axis] as f64 + shift) / grid.intervals[axis].max(1) as f64;
            grid.low[axis] + share * (grid.high[axis] - grid.low[axis])
        })
    }

    /// The metric at all places, by rows along x.
    fn sample<T: Send>(
        &self,
        field: &dyn MetricField,
        of: impl Fn([usize; 3], Metric) -> T + Sync,
    ) -> Result<Vec<T>, AdaptError> {
        let [nx, ny, nz] = self.counts();
        let row = |row: usize| -> Result<Vec<T>, AdaptError> {
            let mut hint = 0;
            let mut values = Vec::with_capacity(nx);
            for i in 0..nx {
                let at = [i, row % ny, row / ny];
                let place = self.place(at);
                let (metric, next) = field.at(place, hint);
                hint = next;
                if !metric.is_positive_definite() {
                    let eigenvalues = metric.eigen().values;
                    return Err(AdaptError::NotPositive { place: Place(place), eigenvalues });
                }
                values.push(of(at, metric));
            }
            Ok(values)
        };
        let rows: Vec<Result<Vec<T>, AdaptError>> = (0..ny * nz).into_par_iter().map(row).collect();
        let rows: Result<Vec<Vec<T>>, AdaptError> = rows.into_iter().collect();
        Ok(rows?.into_iter().flatten().collect())
    }
}

impl MetricGrid {
    /// A grid over the box from `low` to `high` on which the lengths of vectors deviate by at most the share `tolerance` from those in
    /// the metric of `field`, or the last with at most `most_nodes` nodes.
    ///
    /// The deviation is estimated by the sum over the axes of the largest deviation in the middles of the edges along the axis:
    /// the interpolation error is h²/8 |∂²H| there, and that of a cell is at most the sum over its axes. Intervals are halved along
    /// the axes whose part exceeds tolerance/dimension. [`MetricGrid::error`] is the estimate of the grid returned.
    ///
    /// # Errors
    /// [`AdaptError::NotPositive`] where the metric at a place of the box is not positive definite.
    pub fn new(
        field: &dyn MetricField,
        dimension: usize,
        [low, high]: [[f64; 3]; 2],
        tolerance: f64,
        most_nodes: usize,
    ) -> Result<MetricGrid, AdaptError> {
        let mut intervals = [FIRST_INTERVALS; 3];
        intervals[dimension..].fill(0);
        loop {
            let mut grid =
                MetricGrid { dimension, low, high, intervals, sizes: vec![], error: 0.0 };
            let tensors = Lattice { grid: &grid, between: None }
                .sample(field, |_, metric| metric.map(|value| 1.0 / value.sqrt()))?;
            grid.sizes = tensors.iter().flat_map(|h| components(dimension, h)).collect();
            let mut finer = intervals;
            for (axis, count) in finer[..dimension].iter_mut().enumerate() {
                let deviations = Lattice { grid: &grid, between: Some(axis) }
                    .sample(field, |at, metric| grid.deviation(at, axis, &metric))?;
                let largest = deviations.into_iter().fold(0.0, f64::max);
                grid.error += largest;
                if largest > tolerance / dimension as f64 {
                    *count *= 2;
                }
            }
            let nodes =
                finer[..dimension].iter().fold(1.0, |nodes, &count| nodes * (count as f64 + 1.0));
            if finer == intervals || nodes > most_nodes as f64 {
                return Ok(grid);
            }
            intervals = finer;
        }
    }

    /// Largest |l/l₀ − 1| of a length l in the middle of the edge along `axis` from node `at`; l₀ is the length in `exact`.
    fn deviation(&self, at: [usize; 3], axis: usize, exact: &Metric) -> f64 {
        let mut next = at;
        next[axis] += 1;
        let mean = self.tensor(at).add(&self.tensor(next)).scale(0.5);
        let inverse_root = exact.map(|value| 1.0 / value.sqrt());
        let reduced = inverse_root.congruence(&metric_of_sizes(&mean));
        reduced.eigen().values.into_iter().fold(0.0, |largest, value| {
            let deviation = (value.max(0.0).sqrt() - 1.0).abs();
            // Not a number: as large as can be.
            if deviation >= 0.0 { f64::max(largest, deviation) } else { f64::INFINITY }
        })
    }

    fn tensor(&self, [i, j, k]: [usize; 3]) -> Metric {
        let row = self.intervals[0] + 1;
        let node = (k * (self.intervals[1] + 1) + j) * row + i;
        if self.dimension == 2 {
            let e = &self.sizes[3 * node..3 * node + 3];
            return Metric { xx: e[0], xy: e[1], yy: e[2], zz: 1.0, ..Metric::ZERO };
        }
        let e = &self.sizes[6 * node..6 * node + 6];
        Metric::from_entries([e[0], e[1], e[2], e[3], e[4], e[5]])
    }

    /// Estimate of the largest deviation of a length, as a share.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Number of intervals along each axis; 0 along z in 2D.
    pub fn intervals(&self) -> [usize; 3] {
        self.intervals
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.sizes.len() / if self.dimension == 2 { 3 } else { 6 }
    }

    /// The corner of the box with the lowest coordinates.
    pub(super) fn low(&self) -> Point {
        self.low
    }

    /// Intervals per length along each axis.
    pub(super) fn per_length(&self) -> Point {
        [0, 1, 2].map(|axis| {
            self.intervals[axis] as f64 / (self.high[axis] - self.low[axis]).max(f64::MIN_POSITIVE)
        })
    }

    /// The tensors of the nodes.
    pub(super) fn sizes(&self) -> &[f64] {
        &self.sizes
    }
}

impl MetricField for MetricGrid {
    fn at(&self, point: [f64; 3], hint: u32) -> (Metric, u32) {
        let per_length = self.per_length();
        let (mut first, mut shares) = ([0; 3], [0.0; 3]);
        for axis in 0..self.dimension {
            let x = (point[axis] - self.low[axis]) * per_length[axis];
            let x = x.clamp(0.0, self.intervals[axis] as f64);
            first[axis] = (x as usize).min(self.intervals[axis] - 1);
            shares[axis] = x - first[axis] as f64;
        }
        let mut sum = Metric::ZERO;
        for corner in 0..1_usize << self.dimension {
            let (mut at, mut weight) = (first, 1.0);
            for axis in 0..self.dimension {
                let is_second = corner >> axis & 1;
                at[axis] += is_second;
                weight *= if is_second == 1 { shares[axis] } else { 1.0 - shares[axis] };
            }
            sum = sum.add(&self.tensor(at).scale(weight));
        }
        (metric_of_sizes(&sum), hint)
    }
}

/// H⁻² of a tensor of sizes.
fn metric_of_sizes(h: &Metric) -> Metric {
    h.inverse().congruence(&Metric::IDENTITY)
}

/// Upper triangle of a tensor of the plane or of space.
pub(super) fn components(dimension: usize, h: &Metric) -> Vec<f64> {
    if dimension == 2 { vec![h.xx, h.xy, h.yy] } else { h.entries().to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnalyticMetric;
    use crate::tests::cube::{linear, polar};

    const UNIT: [Point; 2] = [[0.0; 3], [1.0; 3]];

    #[test]
    fn sizes_that_vary_linearly_are_exact_on_the_coarsest_grid() {
        let field = AnalyticMetric(linear);
        let grid = MetricGrid::new(&field, 3, UNIT, 1e-3, 1 << 20).unwrap();
        assert_eq!(grid.intervals(), [8, 8, 8]);
        assert!(grid.error() < 1e-12, "{}", grid.error());
        let place = [0.31, 0.77, 0.613];
        let (found, exact) = (grid.at(place, 0).0, linear(place));
        for (a, b) in found.entries().into_iter().zip(exact.entries()) {
            assert!((a - b).abs() < 1e-9 * exact.zz, "{a} {b}");
        }
    }

    #[test]
    fn the_deviation_stays_below_the_tolerance_at_random_places_and_flat_axes_stay_coarse() {
        let field = AnalyticMetric(polar);
        for tolerance in [0.9, 0.45] {
            let grid = MetricGrid::new(&field, 3, UNIT, tolerance, 4 << 20).unwrap();
            assert!(
                grid.error() <= tolerance && grid.intervals()[2] == 8,
                "{:?}",
                grid.intervals()
            );
            let mut x = 0.5;
            for _ in 0..2000 {
                // A Weyl sequence.
                x = (x + 0.618_033_988_749_895_f64).fract();
                let place = [x, (x * 97.0).fract(), (x * 31.0).fract()];
                let inverse_root = polar(place).map(|value| 1.0 / value.sqrt());
                let values = inverse_root.congruence(&grid.at(place, 0).0).eigen().values;
                let deviation = values.iter().fold(0.0_f64, |d, v| d.max((v.sqrt() - 1.0).abs()));
                assert!(deviation <= grid.error(), "{deviation} {} at {place:?}", grid.error());
            }
        }
    }

    #[test]
    fn a_grid_of_few_nodes_says_what_it_misses() {
        let field = AnalyticMetric(polar);
        let grid = MetricGrid::new(&field, 3, UNIT, 1e-6, 20_000).unwrap();
        assert!(grid.nodes() <= 20_000 && grid.error() > 1e-3);
    }

    #[test]
    fn a_metric_that_is_not_positive_in_the_box_is_refused_with_its_place() {
        let field = AnalyticMetric(|p: Point| Metric { xx: 0.7 - p[0], ..Metric::IDENTITY });
        let error = MetricGrid::new(&field, 2, UNIT, 0.1, 1000).unwrap_err().to_string();
        assert!(error.contains("is not positive definite"), "{error}");
    }
}
