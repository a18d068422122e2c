//! `[mesh.generate.box_with_obstacle]`: a rectangle with a rectangular obstacle cut out, or its extrusion.

use super::super::raw::RawMesh;
use super::GenerateError;
use super::box_mesh::BoxParams;
use std::ops::Range;

/// Parameters of a box with an obstacle cut out; in 3D the obstacle spans the whole of z. Patches:
/// those of the box, and obstacle.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxWithObstacleParams {
    /// The box. Its cells include those of the obstacle; grid lines move onto the obstacle after
    /// grading. Default: the unit square.
    pub outer: BoxParams,
    /// x and y of the obstacle's lowest corner. Default: 0.4, 0.4.
    pub obstacle_min: [f64; 2],
    /// x and y of the obstacle's highest corner. Default: 0.6, 0.6.
    pub obstacle_max: [f64; 2],
}

impl Default for BoxWithObstacleParams {
    fn default() -> Self {
        let outer = BoxParams { size: vec![1.0; 2], ..BoxParams::default() };
        BoxWithObstacleParams { outer, obstacle_min: [0.4; 2], obstacle_max: [0.6; 2] }
    }
}

impl BoxWithObstacleParams {
    /// Makes the mesh: a graded grid whose lines nearest to the obstacle's sides are moved onto them;
    /// the others follow in proportion.
    ///
    /// # Errors
    /// See [`super::Generator::generate`].
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        let mut coordinates = self.outer.coordinates()?;
        let columns = fit(&mut coordinates[0], self.obstacle_min[0], self.obstacle_max[0])?;
        let rows = fit(&mut coordinates[1], self.obstacle_min[1], self.obstacle_max[1])?;
        self.outer.meshed(coordinates, Some((columns, rows)))
    }
}

/// Moves grid lines onto `from` and `to`; returns the cells between them.
fn fit(lines: &mut [f64], from: f64, to: f64) -> Result<Range<usize>, GenerateError> {
    let n = lines.len() - 1;
    let (low, high) = (lines[0], lines[n]);
    if n < 3 {
        let reason = "a direction with the obstacle needs three cells";
        return Err(GenerateError::value("cells", n, reason));
    }
    if !(low < from && from < to && to < high) {
        let reason = format!("the obstacle must lie inside the box, which spans {low} to {high}");
        return Err(GenerateError::value("obstacle_min, obstacle_max", [from, to], reason));
    }
    let nearest = |value: f64, range: Range<usize>| {
        let distance = |&i: &usize| (lines[i] - value).abs();
        let first = range.start;
        range.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(first)
    };
    let first = nearest(from, 1..n - 1);
    let last = nearest(to, first + 1..n);
    let old = lines.to_vec();
    let knots = [(0, low), (first, from), (last, to), (n, high)];
    for pair in knots.windows(2) {
        let ((i, start), (j, end)) = (pair[0], pair[1]);
        for k in i..=j {
            let fraction = (old[k] - old[i]) / (old[j] - old[i]);
            lines[k] = if k == j { end } else { start + fraction * (end - start) };
        }
    }
    Ok(first..last)
}
