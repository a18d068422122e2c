//! Structured blocks: coordinates, grids of quadrilaterals, extrusion to hexahedra.

use super::super::cell_shape::CellShape;
use super::super::raw::{Elements, RawMesh};
use rayon::prelude::*;
use std::ops::Range;

/// n + 1 coordinates from `start` to `start + length`, the spacing a geometric sequence whose last
/// term is `ratio` times the first.
pub(super) fn graded(start: f64, length: f64, n: usize, ratio: f64) -> Vec<f64> {
    let growth = if n > 1 { ratio.powf(1.0 / (n as f64 - 1.0)) } else { 1.0 };
    fractions(n, growth).into_iter().map(|t| start + length * t).collect()
}

/// n + 1 coordinates from `start` to `start + length`, the spacing a geometric sequence from either
/// end whose largest term, in the middle, is `ratio` times the first.
pub(super) fn graded_from_both_ends(start: f64, length: f64, n: usize, ratio: f64) -> Vec<f64> {
    let last = (n - 1) / 2;
    let growth = if last > 0 { ratio.powf(1.0 / last as f64) } else { 1.0 };
    let steps: Vec<f64> = (0..n).map(|i| growth.powi(i.min(n - 1 - i) as i32)).collect();
    let whole = steps.iter().fold(0.0, |sum, step| sum + step);
    let mut lines = vec![start; n + 1];
    let mut sum = 0.0;
    for i in 1..=n / 2 {
        sum += steps[i - 1];
        lines[i] = start + length * (sum / whole);
        lines[n - i] = start + length * (1.0 - sum / whole);
    }
    lines[n] = start + length;
    lines
}

/// n + 1 fractions from 0 to 1 whose differences grow by the factor `growth`.
pub(super) fn fractions(n: usize, growth: f64) -> Vec<f64> {
    if (growth - 1.0).abs() < 1e-9 {
        return (0..=n).map(|i| i as f64 / n as f64).collect();
    }
    let mut sums = vec![0.0];
    let (mut sum, mut step) = (0.0, 1.0);
    for _ in 0..n {
        sum += step;
        step *= growth;
        sums.push(sum);
    }
    sums.into_iter().map(|value| value / sum).collect()
}

/// The growth of a geometric sequence of n steps that starts at `first` and sums to 1, between ⅓
/// and 3.
pub(super) fn growth_from(first: f64, n: usize) -> f64 {
    let sum = |growth: f64| {
        let mut step = first;
        (0..n).fold(0.0, |sum, _| {
            let next = sum + step;
            step *= growth;
            next
        })
    };
    let (mut low, mut high) = (1.0 / 3.0, 3.0);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        if sum(middle) < 1.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// A structured grid of quadrilaterals with the indices of its nodes.
pub(super) struct Grid {
    pub(super) mesh: RawMesh,
    /// Column and row of each node.
    pub(super) places: Vec<[u32; 2]>,
}

/// The grid of quadrilaterals through the given coordinates, without the columns and rows of
/// `hole`. Patches xmin, xmax, ymin, ymax, and obstacle where there is a hole.
pub(super) fn grid(x: &[f64], y: &[f64], hole: Option<(Range<usize>, Range<usize>)>) -> Grid {
    let (nx, ny) = (x.len() - 1, y.len() - 1);
    let in_hole = |i: usize, j: usize| {
        hole.as_ref().is_some_and(|(columns, rows)| columns.contains(&i) && rows.contains(&j))
    };
    let inside_hole = |i: usize, j: usize| {
        hole.as_ref().is_some_and(|(columns, rows)| {
            i > columns.start && i < columns.end && j > rows.start && j < rows.end
        })
    };
    let mut places = Vec::with_capacity((nx + 1) * (ny + 1));
    let mut number = vec![0u32; (nx + 1) * (ny + 1)];
    for j in 0..=ny {
        for i in 0..=nx {
            if !inside_hole(i, j) {
                number[j * (nx + 1) + i] = places.len() as u32;
                places.push([i as u32, j as u32]);
            }
        }
    }
    let node = |i: usize, j: usize| number[j * (nx + 1) + i];
    let mut cells = Vec::with_capacity(4 * nx * ny);
    let mut sides: Vec<(u32, [u32; 2])> = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            if in_hole(i, j) {
                continue;
            }
            let corners = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
            cells.extend(corners);
            let beyond = [
                (j == 0, j > 0 && in_hole(i, j - 1), 2),
                (i + 1 == nx, in_hole(i + 1, j), 1),
                (j + 1 == ny, in_hole(i, j + 1), 3),
                (i == 0, i > 0 && in_hole(i - 1, j), 0),
            ];
            for (side, (edge, obstacle, patch)) in beyond.into_iter().enumerate() {
                let ends = [corners[side], corners[(side + 1) % 4]];
                if edge {
                    sides.push((patch, ends));
                } else if obstacle {
                    sides.push((4, ends));
                }
            }
        }
    }
    let mut patches = ["xmin", "xmax", "ymin", "ymax"].map(String::from).to_vec();
    patches.extend(hole.is_some().then(|| "obstacle".to_string()));
    let points = places.iter().map(|&[i, j]| [x[i as usize], y[j as usize], 0.0]).collect();
    Grid { mesh: plane(points, cells, sides, patches), places }
}

/// A 2D mesh of quadrilaterals: four nodes a cell, the boundary as (patch, ends).
pub(super) fn plane(
    points: Vec<[f64; 3]>,
    cells: Vec<u32>,
    mut sides: Vec<(u32, [u32; 2])>,
    patches: Vec<String>,
) -> RawMesh {
    sides.sort_by_key(|&(patch, _)| patch);
    let groups = vec![0; cells.len() / 4];
    RawMesh {
        dimension: 2,
        points,
        cells: Elements::uniform(CellShape::Quadrilateral, cells, groups),
        boundary: Elements::uniform(
            CellShape::Segment,
            sides.iter().flat_map(|&(_, ends)| ends).collect(),
            sides.iter().map(|&(patch, _)| patch).collect(),
        ),
        regions: vec!["default".to_string()],
        patches,
    }
}

/// Hexahedra between copies of a mesh of quadrilaterals at the given z. Patches of the 2D mesh
/// become walls; the first and the last copy are the patches `low` and `high`.
pub(super) fn extruded(plane: &RawMesh, z: &[f64], low: &str, high: &str) -> RawMesh {
    let (n, layers) = (plane.points.len() as u32, z.len() - 1);
    let mut points = vec![[0.0; 3]; plane.points.len() * z.len()];
    points.par_chunks_mut(plane.points.len().max(1)).zip(z).for_each(|(copy, &z)| {
        copy.iter_mut().zip(&plane.points).for_each(|(point, p)| *point = [p[0], p[1], z]);
    });
    let mut nodes = vec![0; 2 * plane.cells.nodes.len() * layers];
    let of_layer = 2 * plane.cells.nodes.len().max(1);
    nodes.par_chunks_mut(of_layer).enumerate().for_each(|(layer, nodes)| {
        for (cell, corners) in nodes.chunks_exact_mut(8).zip(plane.cells.nodes.chunks_exact(4)) {
            for (k, &node) in corners.iter().enumerate() {
                cell[k] = layer as u32 * n + node;
                cell[4 + k] = (layer as u32 + 1) * n + node;
            }
        }
    });
    let groups = plane.cells.groups.repeat(layers);
    let mut boundary = Elements::new();
    for side in 0..plane.boundary.len() {
        let &[a, b] = plane.boundary.nodes_of(side) else { continue };
        for below in (0..layers as u32).map(|layer| layer * n) {
            let above = below + n;
            let wall = [below + a, below + b, above + b, above + a];
            boundary.push(CellShape::Quadrilateral, &wall, plane.boundary.groups[side]);
        }
    }
    let first = plane.patches.len() as u32;
    let top = layers as u32 * n;
    for cell in 0..plane.cells.len() {
        let &[a, b, c, d] = plane.cells.nodes_of(cell) else { continue };
        boundary.push(CellShape::Quadrilateral, &[a, d, c, b], first);
        let up = [a, b, c, d].map(|node| top + node);
        boundary.push(CellShape::Quadrilateral, &up, first + 1);
    }
    let mut patches = plane.patches.clone();
    patches.extend([low.to_string(), high.to_string()]);
    RawMesh {
        dimension: 3,
        points,
        cells: Elements::uniform(CellShape::Hexahedron, nodes, groups),
        boundary,
        regions: plane.regions.clone(),
        patches,
    }
}
