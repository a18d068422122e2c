//! What faces know of the cells they join, for interpolation and momentum interpolation.
//!
//! Interpolation to a face between the cells l and r is linear along the line that joins their
//! centroids and carried from its foot point x_i = w x_l + (1 − w) x_r to the centroid of the face:
//!
//! φ_f = w φ_l + (1 − w) φ_r + (w ∇φ_l + (1 − w) ∇φ_r)·(x_f − x_i),  w = δ_r / (δ_l + δ_r),
//!
//! δ the normal distances of the centroids from the face (Jasak's thesis, §3.3.1; Ferziger & Perić,
//! §9.7), which is exact for linear fields on any mesh. Where it is cubic the line through both values gives
//! way to Hermite's cubic, which has the gradients along d = x_r − x_l too,
//!
//! φ_i = w φ_l + v φ_r + w v ((w − v)(φ_l − φ_r) + (w ∇φ_l − v ∇φ_r)·d),  v = 1 − w,
//!
//! with an error of the fourth order of |d| where the gradients' is of the third. At a boundary where φ has
//! no gradient along the normal φ_f = φ_c + ∇φ_c·(d − (d·n) n), d = x_f − x_c.

use crate::backend::{Backend, Buffer};
use crate::diffusion::narrow;
use crate::mesh::geometry::{dot, subtract};
use crate::mesh::{Geometry, Mesh};
use crate::operators::FaceCells;
use crate::real::Real;
use std::sync::Arc;

/// The arrays of faces, component-major.
pub(super) struct Faces<F: Real> {
    /// Connectivity.
    pub cells: Arc<FaceCells>,
    /// w: `[n_interior]`.
    pub weight: Buffer<F>,
    /// x_f − x_i; at a boundary d − (d·n) n: `[3][n_faces]`.
    pub offset: Buffer<F>,
    /// x_r − x_l; at a boundary x_f − x_c: `[3][n_faces]`.
    pub span: Buffer<F>,
    /// S: `[3][n_faces]`.
    pub area: Buffer<F>,
    /// Whether all offsets vanish: a linear interpolation then needs no gradient.
    pub is_straight: bool,
    /// Whether interpolations are cubic.
    pub is_cubic: bool,
    /// Whether lines between centroids are normal to their faces.
    pub is_orthogonal: bool,
}

/// Offsets up to this fraction of the distance of the cells are round-off.
const STRAIGHT: f64 = 1e-9;

impl<F: Real> Faces<F> {
    /// The arrays of a mesh.
    pub(super) fn new(backend: &Backend, mesh: &Mesh, geometry: &Geometry, is_cubic: bool) -> Self {
        let (n_faces, n_interior) = (mesh.n_faces(), mesh.n_interior_faces());
        let mut weight = vec![0.0; n_interior];
        let mut offset = vec![0.0; 3 * n_faces];
        let mut span = vec![0.0; 3 * n_faces];
        let (mut is_straight, mut is_orthogonal) = (true, true);
        for face in 0..n_faces {
            let area = geometry.area_vector_of(face);
            let s = dot(area, area).sqrt();
            let n = area.map(|a| a / s);
            let (x, xl) = (
                geometry.face_centre_of(face),
                geometry.cell_centre_of(mesh.face_left[face] as usize),
            );
            let from_left = subtract(x, xl);
            let (d, o) = if face < n_interior {
                let xr = geometry.right_centre_of(mesh, face);
                let (dl, dr) = (dot(from_left, n).max(0.0), dot(subtract(xr, x), n).max(0.0));
                let w = if dl + dr > 0.0 { dr / (dl + dr) } else { 0.5 };
                weight[face] = w;
                let foot = [0, 1, 2].map(|k| w * xl[k] + (1.0 - w) * xr[k]);
                (subtract(xr, xl), subtract(x, foot))
            } else {
                let along = dot(from_left, n);
                (from_left, [0, 1, 2].map(|k| from_left[k] - along * n[k]))
            };
            let along = dot(d, n);
            let least = STRAIGHT * STRAIGHT * dot(d, d);
            is_straight &= dot(o, o) <= least;
            is_orthogonal &= dot(d, d) - along * along <= least.max(8.0 * f64::EPSILON * dot(d, d));
            for k in 0..3 {
                offset[k * n_faces + face] = o[k];
                span[k * n_faces + face] = d[k];
            }
        }
        let cells = Arc::new(FaceCells::new(backend, mesh));
        cells.neighbours(backend);
        Faces {
            cells,
            weight: narrow(backend, weight),
            offset: narrow(backend, offset),
            span: narrow(backend, span),
            area: narrow(backend, geometry.face_area_vector.clone()),
            is_straight,
            is_cubic,
            is_orthogonal,
        }
    }
}
