//! Interpolation of fields of cells to faces.
//!
//! Linear: φ_f = w φ_l + v φ_r + (w ∇φ_l + v ∇φ_r)·(x_f − x_i), v = 1 − w (Jasak's thesis, §3.3.1; Ferziger & Perić,
//! §9.7). Cubic adds w v ((w − v)(φ_l − φ_r) + (w ∇φ_l − v ∇φ_r)·d), the difference from Hermite's cubic.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::mesh_view::{CellField, FaceView, Vectors, VelocityField};
use crate::backend::View;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// φ at an interior face by linear interpolation.
#[device]
#[inline(always)]
pub fn linear_at_face<F: Real>(
    f: usize,
    l: usize,
    r: usize,
    faces: &FaceView<'_, F>,
    phi: &CellField<'_, F>,
) -> F {
    let w = faces.weight[f];
    let v = 1.0 - w;
    let mut value = w * phi.value[l] + v * phi.value[r];
    if comptime!(!faces.is_unskewed) {
        let o = faces.skewness.at(f);
        value += w * phi.gradient.at(l).dot(o) + v * phi.gradient.at(r).dot(o);
    }
    value
}

/// The difference of cubic from linear interpolation.
#[device]
#[inline(always)]
pub fn cubic_part<F: Real>(
    f: usize,
    l: usize,
    r: usize,
    faces: &FaceView<'_, F>,
    phi: &CellField<'_, F>,
) -> F {
    let w = faces.weight[f];
    let v = 1.0 - w;
    let d = faces.delta.at(f);
    let at_left = phi.gradient.at(l).dot(d);
    let at_right = phi.gradient.at(r).dot(d);
    w * v * ((w - v) * (phi.value[l] - phi.value[r]) + w * at_left - v * at_right)
}

/// φ at an interior face, linear or cubic as the faces say.
#[device]
#[inline(always)]
pub fn at_face<F: Real>(
    f: usize,
    l: usize,
    r: usize,
    faces: &FaceView<'_, F>,
    phi: &CellField<'_, F>,
) -> F {
    let mut value = linear_at_face::<F>(f, l, r, faces, phi);
    if comptime!(faces.is_cubic) {
        value += cubic_part::<F>(f, l, r, faces, phi);
    }
    value
}

/// φ at a boundary face: the Dirichlet value, or that of the cell extrapolated with ∂φ/∂n = 0.
/// `dirichlet_index` is 1 + the index of the prescribed value, 0 where there is none.
///
/// Traffic a boundary face: 8 + 6s.
#[kernel(out(at_boundary))]
pub fn boundary_value<F: Real>(
    b: usize,
    faces: &FaceView<F>,
    dirichlet_index: &View<u32>,
    prescribed: &View<F>,
    phi: &View<F>,
    gradient: &Vectors<F>,
) -> F {
    let mut value = 0.0;
    if dirichlet_index[b] > 0 {
        value = prescribed[(dirichlet_index[b] - 1) as usize];
    } else {
        let f = faces.n_interior + b;
        let c = faces.left[f] as usize;
        value = phi[c];
        if comptime!(!faces.is_unskewed) {
            value += gradient.at(c).dot(faces.skewness.at(f));
        }
    }
    value
}

/// The flux of an interpolated velocity through a face, u_f·S.
///
/// Traffic an interior face: 8 + 5s (3s more where skewed, 3s where cubic), a boundary face (4 + d)s, a cell d s (4d s).
#[kernel(out(flux))]
pub fn interpolated_flux<F: Real>(f: usize, faces: &FaceView<F>, velocity: &VelocityField<F>) -> F {
    let mut value = Vec3::<F>::zero();
    if f < faces.n_interior {
        let (l, r) = (faces.left[f] as usize, faces.right[f] as usize);
        value.x = at_face::<F>(f, l, r, faces, &velocity.x);
        value.y = at_face::<F>(f, l, r, faces, &velocity.y);
        if comptime!(velocity.dimension == 3) {
            value.z = at_face::<F>(f, l, r, faces, &velocity.z);
        }
    } else {
        value = velocity.at_boundary(f - faces.n_interior);
    }
    value.dot(faces.area.at(f))
}
