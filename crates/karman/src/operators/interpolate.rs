//! Interpolation of face fluxes to cell vectors, and integration of cell vectors to faces.
//!
//! Both are built on Σ_f σ_cf (x_f − x_c) S_fᵀ = V_c I, so the interpolation is exact for constant
//! fields on planar faces, and integration is its transpose in the V-weighted product. Source: Perot,
//! J. Comput. Phys. 159 (2000) 58, eqs. 12–16; Menon's thesis, §7.2.
//!
//! Traffic counts each array once, scalars of `s` bytes; where faces are `periodic` an interior face adds 3s.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::incidence::{Rows, with_sign, without_sign};
use crate::backend::View;
use crate::mesh::SIGN_BIT;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// σ_cf U_f (x_f − x_c) of one face.
#[device]
#[inline(always)]
fn flux_moment<F: Real>(
    item: u32,
    flux: &View<F>,
    face_centre: &View<F>,
    x: Vec3<F>,
    shift: &View<F>,
    n_interior: usize,
    n_faces: usize,
    #[comptime] periodic: bool,
) -> Vec3<F> {
    let f = without_sign(item);
    let outward = with_sign::<F>(item, flux[f]);
    let mut to_face = Vec3::<F>::at(face_centre, f, n_faces) - x;
    if comptime!(periodic) {
        // Where the normal points into it the cell is the right one.
        if item >= comptime!(SIGN_BIT) {
            to_face = to_face - Vec3::<F>::at(shift, f, n_interior);
        }
    }
    to_face * outward
}

/// u_c = (1/V_c) Σ_f σ_cf U_f (x_f − x_c), U_f the flux through the face, area included.
/// `face_centre`: `[3][n_faces]`, `cell_centre`: `[3][n_cells]`.
///
/// Traffic a cell: 7s, and 4 with compressed rows; an item 4, a face 4s.
#[kernel(interpolate, out(u))]
pub fn interpolated_to_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    flux: &View<F>,
    face_centre: &View<F>,
    cell_centre: &View<F>,
    volume: &View<F>,
    shift: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] rows: Rows,
    #[comptime] periodic: bool,
) -> Vec3<F> {
    let x = Vec3::<F>::at(cell_centre, c, n_cells);
    let mut u = Vec3::<F>::zero();
    let length = comptime!(rows.length());
    if comptime!(length > 0) {
        #[unroll]
        for k in 0..length {
            let item = faces[c * length + k];
            let moment =
                flux_moment::<F>(item, flux, face_centre, x, shift, n_interior, n_faces, periodic);
            u += moment;
        }
    } else {
        for k in offsets[c] as usize..offsets[c + 1] as usize {
            let item = faces[k];
            let moment =
                flux_moment::<F>(item, flux, face_centre, x, shift, n_interior, n_faces, periodic);
            u += moment;
        }
    }
    u * (F::literal(1.0) / volume[c])
}

/// v_f = Σ_c σ_cf (x_f − x_c)·v_c over the one or two cells of a face.
///
/// Traffic a face: 8 + 4s, a cell 6s.
#[kernel(integrate, out(v))]
pub fn integrated_to_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    u: &View<F>,
    face_centre: &View<F>,
    cell_centre: &View<F>,
    shift: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] periodic: bool,
) -> F {
    let x = Vec3::<F>::at(face_centre, f, n_faces);
    let l = left[f] as usize;
    let from_left = x - Vec3::<F>::at(cell_centre, l, n_cells);
    let mut v = from_left.dot(Vec3::<F>::at(u, l, n_cells));
    if f < n_interior {
        let r = right[f] as usize;
        let mut from_right = x - Vec3::<F>::at(cell_centre, r, n_cells);
        if comptime!(periodic) {
            from_right = from_right - Vec3::<F>::at(shift, f, n_interior);
        }
        v -= from_right.dot(Vec3::<F>::at(u, r, n_cells));
    }
    v
}
