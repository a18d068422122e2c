//! Entity functions of diffusion.
//!
//! Traffic counts each array once, scalars of `s` bytes, indices of 4.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::View;
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// b_i ← b_i + Σ C_ij v_j for the unknowns next to prescribed values.
///
/// Traffic a row: 8 + 2s, an entry 4 + 2s.
#[kernel(add_boundary_contribution, update(b), indexed)]
pub fn with_boundary_contribution<F: Real>(
    row: usize,
    _unknown: usize,
    offsets: &View<u32>,
    values: &View<u32>,
    coefficients: &View<F>,
    prescribed: &View<F>,
    b: F,
) -> F {
    let mut sum = b;
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        sum += coefficients[k] * prescribed[values[k] as usize];
    }
    sum
}

/// The least-squares gradient of a cell from precomputed weights, `[3][items]`. `scale` is 1 for
/// the affine gradient and 0 for its linear part, without prescribed values.
///
/// Traffic a cell: 4 + 4s, an item 4 + 3s, a boundary face 4 + 3s.
#[kernel(cell_gradient, out(gradient))]
pub fn gradient_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    neighbours: &View<u32>,
    weights: &View<F>,
    boundary_value: &View<u32>,
    row_value: &View<F>,
    row_cell: &View<F>,
    prescribed: &View<F>,
    scale: F,
    n_items: usize,
    temperature: &View<F>,
) -> Vec3<F> {
    let own = temperature[c];
    let mut g = Vec3::<F>::zero();
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let j = neighbours[k];
        let difference = if is_cell(j) {
            temperature[j as usize] - own
        } else {
            let b = without_sign(j);
            let value = prescribed[boundary_value[b] as usize];
            scale * row_value[b] * value - row_cell[b] * own
        };
        g.x += weights[k] * difference;
        g.y += weights[n_items + k] * difference;
        g.z += weights[2 * n_items + k] * difference;
    }
    g
}

/// y_c ← y_c + factor Σ_f (non-orthogonal flux into c through f).
///
/// Traffic a cell: 4 + 5s, an item 4, a face 8 + 4s.
#[kernel(add_correction, update(y))]
pub fn with_correction<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    left: &View<u32>,
    right: &View<u32>,
    tangential: &View<F>,
    left_weight: &View<F>,
    gradient: &View<F>,
    factor: F,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    y: F,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let item = faces[k];
        let f = without_sign(item);
        let l = left[f] as usize;
        let mut g = Vec3::<F>::at(gradient, l, n_cells);
        if f < n_interior {
            let w = left_weight[f];
            let other = Vec3::<F>::at(gradient, right[f] as usize, n_cells);
            g = g * w + other * (F::literal(1.0) - w);
        }
        sum += with_sign::<F>(item, g.dot(Vec3::<F>::at(tangential, f, n_faces)));
    }
    y + factor * sum
}
