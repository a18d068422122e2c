//! Gradients of fields of cells.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::interpolation::at_face;
use super::mesh_view::{CellFaces, CellField, FaceView, Vectors};
use crate::backend::View;
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// ∇p_c = (1/V_c) Σ_f σ p_f S_f, p_f interpolated with a gradient exact for linear fields; the result is exact for them
/// too. On regular meshes of any element a checkerboard has no gradient: the divergence of interpolated velocities has
/// a checkerboard part, hence also the pressure that removes it, and a gradient that does not filter it, as that of
/// least squares, would exert a force that refinement does not reduce.
///
/// Traffic a cell: 4 + 5s (8s), an item 4, an interior face 8 + 4s (3s more where skewed, 3s where cubic), a boundary face 4s.
#[kernel(out(gradient))]
pub fn pressure_gradient<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    faces: &FaceView<F>,
    p: &CellField<F>,
) -> Vec3<F> {
    let mut g = Vec3::<F>::zero();
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        let f = without_sign(item);
        let mut value = 0.0;
        if f < faces.n_interior {
            let (l, r) = (faces.left[f] as usize, faces.right[f] as usize);
            value = at_face::<F>(f, l, r, faces, p);
        } else {
            value = p.at_boundary[f - faces.n_interior];
        }
        g += faces.area.at(f) * with_sign::<F>(item, value);
    }
    g * (1.0 / cells.volume[c])
}

/// ∇φ_c ← s ∇φ_c + (1 − s) g_c of listed cells: the Gauss gradient blended with the least-squares gradient g.
///
/// Traffic a cell: 4 + 10s.
#[kernel(update(grad_phi), indexed)]
pub fn blend_gradients<F: Real>(
    i: usize,
    c: usize,
    share: &View<F>,
    lsq_gradient: &Vectors<F>,
    grad_phi: Vec3<F>,
) -> Vec3<F> {
    grad_phi * share[i] + lsq_gradient.at(c) * (1.0 - share[i])
}
