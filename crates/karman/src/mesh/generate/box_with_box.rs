//! `[mesh.generate.box_with_box]`: a rectangle with a rectangular body in it, or that extruded.

use super::super::raw::RawMesh;
use super::box_mesh::BoxParams;
use super::{Element, GenerateError};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of a box with a body cut out of it; in 3D the body spans the whole of z. Patches:
/// those of the box, and body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoxWithBoxParams {
    /// Lowest corner. Default: the origin.
    pub origin: Vec<f64>,
    /// Lengths, m. Default: the unit square.
    pub size: Vec<f64>,
    /// Blocks in each direction, those the body takes included. Default: 10.
    pub cells: Vec<usize>,
    /// Elements the blocks are cut into. Default: triangle or tetrahedron.
    pub element: Option<Element>,
    /// Largest displacement of interior nodes over the spacing; up to 0.2 no cell inverts. Default:
    /// 0.
    pub jitter: f64,
    /// Seed of the displacements. Default: 1.
    pub seed: u64,
    /// Last over first spacing in each direction, before lines move onto the body. Default: 1.
    pub grading: Vec<f64>,
    /// Regions, slabs of equally many blocks one after the other in x. Default: `default` alone.
    pub regions: Vec<String>,
    /// x and y of the body's lowest corner. Default: 0.4, 0.4.
    pub body_from: [f64; 2],
    /// x and y of the body's highest corner. Default: 0.6, 0.6.
    pub body_to: [f64; 2],
}

impl Default for BoxWithBoxParams {
    fn default() -> Self {
        let BoxParams { origin, cells, element, jitter, seed, grading, regions, .. } =
            BoxParams::default();
        BoxWithBoxParams {
            origin,
            size: vec![1.0; 2],
            cells,
            element,
            jitter,
            seed,
            grading,
            regions,
            body_from: [0.4; 2],
            body_to: [0.6; 2],
        }
    }
}

impl BoxWithBoxParams {
    /// Makes the mesh: a graded grid whose lines nearest to the body's sides are moved onto them,
    /// the others following in proportion.
    ///
    /// # Errors
    /// See [`super::Generator::generate`].
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        let outer = BoxParams {
            origin: self.origin.clone(),
            size: self.size.clone(),
            cells: self.cells.clone(),
            element: self.element,
            jitter: self.jitter,
            seed: self.seed,
            grading: self.grading.clone(),
            regions: self.regions.clone(),
        };
        let mut coordinates = outer.coordinates()?;
        let columns = fit(&mut coordinates[0], self.body_from[0], self.body_to[0])?;
        let rows = fit(&mut coordinates[1], self.body_from[1], self.body_to[1])?;
        outer.meshed(coordinates, Some((columns, rows)))
    }
}

/// Moves grid lines onto `from` and `to`; returns the cells between them.
fn fit(lines: &mut [f64], from: f64, to: f64) -> Result<Range<usize>, GenerateError> {
    let n = lines.len() - 1;
    let (low, high) = (lines[0], lines[n]);
    if n < 3 {
        let reason = "a direction with the body in it needs three cells";
        return Err(GenerateError::value("cells", n, reason));
    }
    if !(low < from && from < to && to < high) {
        let reason = format!("the body must lie inside the box, which spans {low} to {high}");
        return Err(GenerateError::value("body_from, body_to", [from, to], reason));
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
