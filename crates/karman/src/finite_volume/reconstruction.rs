//! Interpolation of face fluxes to cell vectors, and integration of cell vectors to faces.
//!
//! Both are built on Σ_f σ_cf (x_f − x_c) S_fᵀ = V_c I, so the interpolation is exact for constant
//! fields on planar faces, and integration is its transpose in the V-weighted product. Source: Perot,
//! J. Comput. Phys. 159 (2000) 58, eqs. 12–16; Menon's thesis, §7.2.
//!
//! Traffic counts each array once, scalars of `s` bytes; where faces are periodic an interior face adds 3s.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::mesh_view::{CellFaces, CentroidView, FaceView, Vectors};
use super::narrow_slice;
use crate::backend::{Backend, Buffer, View};
use crate::mesh::{Geometry, Mesh, SIGN_BIT, index_of};
use crate::operators::incidence::{Rows, with_sign, without_sign};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Centroids and volumes of a mesh in the precision of a computation.
#[derive(Debug)]
pub struct Centroids<F: Real> {
    /// V: `[n_cells]`.
    pub volume: Buffer<F>,
    /// x_c: `[3][n_cells]`.
    cell: Buffer<F>,
    /// x_f: `[3][n_faces]`.
    face: Buffer<F>,
    /// Translation of the right cell of an interior face to the face: `[3][n_interior]`, empty where no face is periodic.
    shift: Buffer<F>,
    is_periodic: bool,
}

impl<F: Real> Centroids<F> {
    /// Uploads the centroids of `mesh`, rounded to `F`.
    pub fn new(backend: &Backend, mesh: &Mesh, geometry: &Geometry) -> Centroids<F> {
        let inner = mesh.n_interior_faces();
        let is_periodic = !mesh.periodic_pairs.is_empty();
        let mut shift = vec![0.0; if is_periodic { 3 * inner } else { 0 }];
        for item in mesh.periodic_pairs.iter().flat_map(|pair| &pair.faces) {
            let face = index_of(*item);
            let of_face = mesh.periodic_offset(face);
            (0..3).for_each(|k| shift[k * inner + face] = of_face[k]);
        }
        let upload = |values: &[f64]| narrow_slice(backend, values);
        Centroids {
            volume: upload(&geometry.cell_volume),
            cell: upload(&geometry.cell_centre),
            face: upload(&geometry.face_centre),
            shift: upload(&shift),
            is_periodic,
        }
    }

    /// The centroids as kernels read them.
    pub fn view(&self) -> CentroidView<'_, F> {
        let shift = if self.is_periodic { Vectors::of(&self.shift) } else { Vectors::absent() };
        let (cell, face) = (Vectors::of(&self.cell), Vectors::of(&self.face));
        CentroidView { cell, face, shift, is_periodic: self.is_periodic }
    }
}

/// σ_cf U_f (x_f − x_c) of one face.
#[device]
#[inline(always)]
fn flux_moment<F: Real>(
    item: u32,
    flux: &View<F>,
    centroids: &CentroidView<'_, F>,
    x: Vec3<F>,
) -> Vec3<F> {
    let f = without_sign(item);
    let outward = with_sign::<F>(item, flux[f]);
    let mut to_face = centroids.face.at(f) - x;
    if comptime!(centroids.is_periodic) {
        // Where the normal points into it the cell is the right one.
        if item >= comptime!(SIGN_BIT) {
            to_face -= centroids.shift.at(f);
        }
    }
    to_face * outward
}

/// u_c = (1/V_c) Σ_f σ_cf U_f (x_f − x_c), U_f the flux through the face, area included.
///
/// Traffic a cell: 7s, and 4 with compressed rows; an item 4, a face 4s.
#[kernel(out(u))]
pub fn interpolate<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    centroids: &CentroidView<F>,
    flux: &View<F>,
    #[comptime] rows: Rows,
) -> Vec3<F> {
    let x = centroids.cell.at(c);
    let mut u = Vec3::<F>::zero();
    let length = comptime!(rows.length());
    if comptime!(length > 0) {
        #[unroll]
        for k in 0..length {
            let item = cells.items[c * length + k];
            u += flux_moment::<F>(item, flux, centroids, x);
        }
    } else {
        for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
            let item = cells.items[k];
            u += flux_moment::<F>(item, flux, centroids, x);
        }
    }
    u * (F::literal(1.0) / cells.volume[c])
}

/// v_f = Σ_c σ_cf (x_f − x_c)·v_c over the one or two cells of a face.
///
/// Traffic a face: 8 + 4s, a cell 6s.
#[kernel(out(v))]
pub fn integrate<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    centroids: &CentroidView<F>,
    u: &Vectors<F>,
) -> F {
    let x = centroids.face.at(f);
    let l = faces.left[f] as usize;
    let from_left = x - centroids.cell.at(l);
    let mut v = from_left.dot(u.at(l));
    if f < faces.n_interior {
        let r = faces.right[f] as usize;
        let mut from_right = x - centroids.cell.at(r);
        if comptime!(centroids.is_periodic) {
            from_right -= centroids.shift.at(f);
        }
        v -= from_right.dot(u.at(r));
    }
    v
}
