//! A limiter of gradients that extrapolate to faces: the extrapolated values lie between those of the cells around.
//!
//! With the rise g·r of a quantity from the centroid of a cell to a face, and m the largest difference of its values in the
//! cells of the gradient's stencil and at its prescribed boundary faces that has the sign of the rise, the gradient is
//! multiplied by the least P(m / g·r) of the faces,
//!
//! P(y) = y − 8y²/49 − 16y³/343 below 7/4, else 1.
//!
//! As P(y) ≤ y, no face value is beyond the bounds. P has a continuous derivative, which iterations to a steady state need. On
//! regular cells y is 2 in a linear field, which is left as it is. With an end of 2 in place of 7/4, in 1D van Leer's
//! limiter, the order falls to 1.6 on quadrilaterals of a mesher; with 3/2 iterations to a steady state with a discontinuity
//! take twice as many.
//!
//! With fluxes F of ∇·u = 0, explicit convection by these values at a small Courant number makes no value outside those of the
//! previous level: −g·r of an outflow face is a combination Σ λ g·r_k, λ ≥ 0, of the other faces, for the centroid lies between
//! them. Hence faces of the boundary take part, prescribed ones with half the distance, lest y is 1 in a linear field.
//!
//! Sources: Barth & Jespersen, AIAA paper 89-0366, the bounds; Michalak & Ollivier-Gooch, J. Comput. Phys. 228 (2009) 8693,
//! §3, the
//! family of P; Barth & Ohlberger, Encyclopedia of Computational Mechanics (2004), ch. 15, §3.4, the maximum principle.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::mesh_view::{
    CellFaces, CellField, FaceView, GradientStencilView, VelocityField, store_quantities,
};
use crate::backend::{Segment, View};
use crate::mesh::SIGN_BIT;
use crate::operators::incidence::without_sign;
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Faces of the cells, and the values that bound a quantity at them.
#[derive(Group, Clone, Copy)]
pub struct BoundedCells<'a, F: Real> {
    /// Faces.
    pub faces: CellFaces<'a, F>,
    /// Stencils, whose values are the bounds.
    pub stencils: GradientStencilView<'a, F>,
    /// Not 0 at boundary faces with a prescribed value: `[n_boundary]`.
    pub dirichlet_index: View<'a, u32>,
}

/// The factor of the gradient g of one quantity in a cell.
#[device]
#[inline(always)]
fn limiter<F: Real>(
    c: usize,
    cells: &BoundedCells<'_, F>,
    faces: &FaceView<'_, F>,
    phi: &CellField<'_, F>,
    g: Vec3<F>,
) -> F {
    let own = phi.value[c];
    let zero = F::literal(0.0);
    let (mut least, mut most) = (zero, zero);
    for k in cells.stencils.offsets[c] as usize..cells.stencils.offsets[c + 1] as usize {
        let j = cells.stencils.items[k];
        let mut difference = zero;
        if is_cell(j) {
            difference = phi.value[j as usize] - own;
        } else {
            let b = without_sign(j);
            if cells.dirichlet_index[b] > 0 {
                difference = phi.at_boundary[b] - own;
            }
        }
        if difference > most {
            most = difference;
        }
        if difference < least {
            least = difference;
        }
    }
    let mut factor = F::literal(1.0);
    for k in cells.faces.offsets[c] as usize..cells.faces.offsets[c + 1] as usize {
        let item = cells.faces.items[k];
        let f = without_sign(item);
        let mut to_face = Vec3::<F>::zero();
        if f < faces.n_interior {
            let w = faces.weight[f];
            let along = if item < comptime!(SIGN_BIT) { F::literal(1.0) - w } else { -w };
            to_face = faces.delta.at(f) * along + faces.skewness.at(f);
        } else if cells.dirichlet_index[f - faces.n_interior] > 0 {
            to_face = faces.delta.at(f) * F::literal(0.5);
        } else {
            to_face = faces.delta.at(f);
        }
        let rise = g.dot(to_face);
        let bound = if rise > zero { most } else { least };
        // Both have the same sign.
        if bound * rise < F::literal(1.75) * rise * rise {
            // y = 7t/2, P = 7t/2 − 2t² − 2t³.
            let t = F::literal(2.0) * bound / (F::literal(7.0) * rise);
            let limited = t * (F::literal(3.5) - F::literal(2.0) * t * (F::literal(1.0) + t));
            if limited < factor {
                factor = limited;
            }
        }
    }
    factor
}

/// Limits the gradients of d quantities, `[3][stride]` each; those beyond their number are not touched. `phi` has values alone,
/// in cells and at the boundary.
///
/// Traffic a cell: 8 + 7d s, an item of the stencil 4, a face 4 + 7s, a boundary face 4 + d s.
#[kernel]
pub fn limit_gradients<F: Real>(
    c: usize,
    cells: &BoundedCells<F>,
    faces: &FaceView<F>,
    phi: &VelocityField<F>,
    stride: usize,
    x: &mut Segment<F>,
    y: &mut Segment<F>,
    z: &mut Segment<F>,
) {
    let g = Vec3::<F> { x: x[c], y: x[stride + c], z: x[2 * stride + c] };
    let factor = limiter::<F>(c, cells, faces, &phi.x, g);
    store_quantities::<F>(c, g * factor, stride, x, 3usize);
    if comptime!(phi.dimension > 1) {
        let g = Vec3::<F> { x: y[c], y: y[stride + c], z: y[2 * stride + c] };
        let factor = limiter::<F>(c, cells, faces, &phi.y, g);
        store_quantities::<F>(c, g * factor, stride, y, 3usize);
    }
    if comptime!(phi.dimension > 2) {
        let g = Vec3::<F> { x: z[c], y: z[stride + c], z: z[2 * stride + c] };
        let factor = limiter::<F>(c, cells, faces, &phi.z, g);
        store_quantities::<F>(c, g * factor, stride, z, 3usize);
    }
}
