//! How well a mesh fits a metric.

use crate::mesh::AdaptiveMesh;
use crate::quality::LENGTH_RANGE;
use karman_mesh::Place;
use serde::Serialize;
use std::fmt;

/// Bounds of the classes of edge lengths.
const LENGTH_BOUNDS: [f64; 8] = [0.3, 0.5, LENGTH_RANGE[0], 0.9, 1.1, LENGTH_RANGE[1], 2.0, 3.0];
/// Bounds of the classes of qualities.
const QUALITY_BOUNDS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Numbers of values between bounds: below the first, between each two, above the last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// The bounds.
    pub bounds: Vec<f64>,
    /// The numbers: one more than bounds.
    pub counts: Vec<usize>,
}

impl Histogram {
    fn of(bounds: &[f64], values: &[f64]) -> Self {
        let mut counts = vec![0; bounds.len() + 1];
        for value in values {
            counts[bounds.iter().filter(|&bound| value >= bound).count()] += 1;
        }
        Histogram { bounds: bounds.to_vec(), counts }
    }
}

/// How well a mesh fits a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of cells.
    pub cells: usize,
    /// Lengths of edges in the metric.
    pub lengths: Histogram,
    /// Shortest and longest edge.
    pub length_range: [f64; 2],
    /// Share of the edges in [1/√2, √2].
    pub in_range: f64,
    /// Mean ratios of cells.
    pub qualities: Histogram,
    /// Lowest mean ratio.
    pub lowest_quality: f64,
    /// Mean of the mean ratios.
    pub mean_quality: f64,
    /// Mean of the vertices of the cell of lowest quality.
    pub worst_place: [f64; 3],
}

impl FitReport {
    pub(crate) fn of(mesh: &AdaptiveMesh<'_>) -> Self {
        let mut lengths = vec![];
        let mut list = vec![];
        for vertex in 0..mesh.vertices.len() as u32 {
            mesh.neighbours(vertex, &mut list);
            lengths.extend(
                list.iter()
                    .filter(|&&other| other > vertex)
                    .map(|&other| mesh.length(vertex, other)),
            );
        }
        let mut qualities = vec![];
        let (mut lowest, mut worst) = (f64::INFINITY, None);
        for cell in mesh.cells.elements() {
            let quality = mesh.quality(mesh.cells.padded(cell));
            if quality < lowest {
                (lowest, worst) = (quality, Some(cell));
            }
            qualities.push(quality);
        }
        let mut worst_place = [0.0; 3];
        if let Some(cell) = worst {
            let nodes = mesh.cells.nodes_of(cell);
            for &node in nodes {
                for (sum, coordinate) in worst_place.iter_mut().zip(mesh.point(node)) {
                    *sum += coordinate / nodes.len() as f64;
                }
            }
        }
        let inside =
            lengths.iter().filter(|l| (LENGTH_RANGE[0]..=LENGTH_RANGE[1]).contains(*l)).count();
        let range = lengths
            .iter()
            .fold([f64::INFINITY, 0.0_f64], |[low, high], &l| [low.min(l), high.max(l)]);
        FitReport {
            vertices: mesh.vertex_count(),
            cells: qualities.len(),
            length_range: range,
            in_range: inside as f64 / lengths.len().max(1) as f64,
            lengths: Histogram::of(&LENGTH_BOUNDS, &lengths),
            lowest_quality: lowest,
            mean_quality: qualities.iter().fold(0.0, |sum, q| sum + q)
                / qualities.len().max(1) as f64,
            qualities: Histogram::of(&QUALITY_BOUNDS, &qualities),
            worst_place,
        }
    }
}

impl fmt::Display for FitReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} vertices, {} cells", self.vertices, self.cells)?;
        let [low, high] = self.length_range;
        let share = 100.0 * self.in_range;
        writeln!(
            formatter,
            "edge lengths in the metric {low:.3} to {high:.3}, {share:.2} % in [0.707, 1.414]"
        )?;
        let (lowest, mean, place) =
            (self.lowest_quality, self.mean_quality, Place(self.worst_place));
        writeln!(formatter, "quality {lowest:.4} at {place}, mean {mean:.4}")?;
        for (name, histogram) in [("length", &self.lengths), ("quality", &self.qualities)] {
            let total: usize = histogram.counts.iter().sum();
            for (class, &count) in
                histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0)
            {
                let low =
                    class.checked_sub(1).map(|below| format!("{:.3}", histogram.bounds[below]));
                let high = histogram.bounds.get(class).map(|bound| format!("{bound:.3}"));
                let (low, high) = (low.unwrap_or_default(), high.unwrap_or_default());
                let percent = 100.0 * count as f64 / total.max(1) as f64;
                writeln!(formatter, "{name:>8} {low:>6} … {high:<6} {count:>9}  {percent:6.2} %")?;
            }
        }
        Ok(())
    }
}
