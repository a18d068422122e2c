//! Means over cells of prescribed fields, by quadrature of degree 4.

use super::error::CompressibleError;
use super::state::{Primitive, VARIABLES};
use crate::finite_volume::{Prescribed, Term, component_major};
use crate::mesh::quadrature::{cell_rule, points_of_cell};
use crate::mesh::{Geometry, Mesh};
use crate::real::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Cells of a task.
const CHUNK: usize = 512;

/// Points `[3][n]`, weights relative to the volume of the cell, and the first point of each cell of a range.
fn rules(
    (mesh, geometry): (&Mesh, &Geometry),
    cells: std::ops::Range<usize>,
) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let (mut places, mut weights, mut offsets) = (vec![], vec![], vec![0]);
    for cell in cells {
        let rule = cell_rule(mesh, geometry, cell);
        let volume = rule.iter().map(|(_, w)| *w).fold(0.0, |a, b| a + b);
        places.extend(rule.iter().map(|(x, _)| *x));
        weights.extend(rule.iter().map(|(_, w)| w / volume));
        offsets.push(places.len());
    }
    let points = (0..3).flat_map(|k| places.iter().map(move |x| x[k])).collect();
    (points, weights, offsets)
}

/// The largest number of points of a cell of a mesh.
pub fn most_points(mesh: &Mesh) -> usize {
    (0..mesh.n_cells()).into_par_iter().map(|cell| points_of_cell(mesh, cell)).max().unwrap_or(0)
}

/// Means of conserved variables at time `t` over the first `n` cells of prescribed ρ, u_x, u_y, u_z, p: `[5][n]`.
///
/// # Errors
/// [`CompressibleError::NotPositive`] where a density or a pressure at a point of a cell is not positive.
pub fn conserved_means(
    (mesh, geometry): (&Mesh, &Geometry),
    n: usize,
    fields: &[Arc<dyn Prescribed>; VARIABLES],
    gamma: f64,
    t: f64,
) -> Result<Vec<f64>, CompressibleError> {
    let chunk = |first: usize| -> Result<Vec<[f64; VARIABLES]>, CompressibleError> {
        let cells = first..(first + CHUNK).min(n);
        let (points, weights, offsets) = rules((mesh, geometry), cells.clone());
        let mut values = vec![vec![0.0; weights.len()]; VARIABLES];
        for (field, values) in fields.iter().zip(&mut values) {
            field.sample(&points, t, values);
        }
        let mut means = vec![[0.0; VARIABLES]; cells.len()];
        for ((mean, bounds), cell) in means.iter_mut().zip(offsets.windows(2)).zip(cells) {
            for k in bounds[0]..bounds[1] {
                let [density, x, y, z, pressure] = [0, 1, 2, 3, 4].map(|v| values[v][k]);
                for (quantity, value) in [("density", density), ("pressure", pressure)] {
                    if value <= 0.0 || !value.is_finite() {
                        let place = geometry.cell_centre_of(cell);
                        return Err(CompressibleError::NotPositive { quantity, value, place });
                    }
                }
                let q = Primitive::of(density, Vec3 { x, y, z }, pressure).conserved(gamma);
                let parts = [q.density, q.momentum_x, q.momentum_y, q.momentum_z, q.energy];
                mean.iter_mut().zip(parts).for_each(|(sum, q)| *sum += weights[k] * q);
            }
        }
        Ok(means)
    };
    let firsts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let parts: Result<Vec<_>, CompressibleError> = firsts.into_par_iter().map(chunk).collect();
    let means: Vec<[f64; VARIABLES]> = parts?.into_iter().flatten().collect();
    Ok(component_major(&means))
}

/// Means of a field at time `t` over all cells: `[n_cells]`.
pub fn means((mesh, geometry): (&Mesh, &Geometry), field: &dyn Prescribed, t: f64) -> Vec<f64> {
    let n = mesh.n_cells();
    let chunk = |first: usize| {
        let (points, weights, offsets) = rules((mesh, geometry), first..(first + CHUNK).min(n));
        let mut values = vec![0.0; weights.len()];
        field.sample(&points, t, &mut values);
        let mean = |bounds: &[usize]| {
            let terms = (bounds[0]..bounds[1]).map(|k| weights[k] * values[k]);
            terms.fold(0.0, |a, b| a + b)
        };
        offsets.windows(2).map(mean).collect::<Vec<f64>>()
    };
    let firsts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    firsts.into_par_iter().flat_map_iter(chunk).collect()
}

/// Terms of the means of sources S_v over the first `n` cells, entries `v n + cell`, one term for each of the `most` points that a cell
/// may have, in the order of points. All ranks have equally many terms.
pub fn source_terms(
    (mesh, geometry): (&Mesh, &Geometry),
    (n, most): (usize, usize),
    sources: &[Arc<dyn Prescribed>; VARIABLES],
) -> Vec<Term> {
    let (points, weights, offsets) = rules((mesh, geometry), 0..n);
    let total = weights.len();
    let mut terms = vec![];
    for rank in 0..most {
        let cells: Vec<usize> =
            (0..n).filter(|cell| offsets[*cell] + rank < offsets[cell + 1]).collect();
        let places: Vec<usize> = cells.iter().map(|cell| offsets[*cell] + rank).collect();
        for (v, source) in sources.iter().enumerate() {
            terms.push(Term {
                value: source.clone(),
                entries: cells.iter().map(|cell| (v * n + cell) as u32).collect(),
                factors: places.iter().map(|k| weights[*k]).collect(),
                points: (0..3)
                    .flat_map(|d| places.iter().map(move |k| (d, *k)))
                    .map(|(d, k)| points[d * total + k])
                    .collect(),
            });
        }
    }
    terms
}
