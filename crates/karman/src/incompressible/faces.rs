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
use crate::diffusion::cell_centred::{LEAST_COSINE, limiter};
use crate::diffusion::narrow;
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use crate::operators::FaceCells;
use crate::real::Real;
use rayon::prelude::*;
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
    /// δ n + λ (d − δ n), δ = d·n: d without what momentum interpolation cannot bear of it where d is more than
    /// 70° off the normal, as the explicit part of a diffusive flux is limited. None where that is d:
    /// `[3][n_faces]`.
    limited_span: Option<Buffer<F>>,
    /// x_f − x_i of the skewness correction of interpolated velocities, less between cells more skewed than
    /// [`LARGEST_CORRECTED_SKEWNESS`]. None where that is x_f − x_i: `[3][n_faces]`.
    limited_offset: Option<Buffer<F>>,
    /// S: `[3][n_faces]`.
    pub area: Buffer<F>,
    /// Whether all offsets vanish: a linear interpolation then needs no gradient.
    pub is_straight: bool,
    /// Whether interpolations are cubic.
    pub is_cubic: bool,
    /// Whether lines between centroids are normal to their faces.
    pub is_orthogonal: bool,
    /// Cells whose Gauss gradient is not bounded by the differences of their values.
    pub skewed: SkewedCells<F>,
}

/// Cells that faces far from the lines between centroids bound, as slivers and needles are: Σ |x_f − x_i| |S| / V is
/// large, by which the Gauss gradient amplifies the gradients in its values at faces. Theirs is blended with that of
/// least squares, which is exact for linear fields too; see [`super::kernels::blended_gradient`].
pub(super) struct SkewedCells<F: Real> {
    /// Places in gradients `[3][n_cells]`.
    pub places: Buffer<u32>,
    /// Share of the Gauss gradient, [`LARGEST_SKEWNESS`] V / Σ |x_f − x_i| |S|.
    pub share: Buffer<F>,
}

/// Largest Σ |x_f − x_i| |S| / V of a cell whose Gauss gradient is taken as it is. On tetrahedra of Gmsh and Netgen
/// half of the cells have less than 1.3, nine tenths less than 2.3. Beyond 2 the interpolated gradient of
/// the pressure may point against the difference of the pressures on both sides: decision 11.
const LARGEST_SKEWNESS: f64 = 2.0;

/// Largest Σ |x_f − x_i| |S| / V of cells between which the skewness correction of an interpolated velocity is whole.
/// Slivers have up to hundreds; on meshes without them at most one cell in a hundred has more.
const LARGEST_CORRECTED_SKEWNESS: f64 = 7.0;

/// Σ |x_f − x_i| |S| / V of each cell.
fn skewness(mesh: &Mesh, geometry: &Geometry, offset: &[f64]) -> Vec<f64> {
    let n_faces = mesh.n_faces();
    let of_cell = |cell: usize| {
        let term = |item: &u32| {
            let face = index_of(*item);
            let o = [0, 1, 2].map(|k| offset[k * n_faces + face]);
            norm(o) * norm(geometry.area_vector_of(face))
        };
        let sum = mesh.cell_to_faces.of(cell).iter().map(term).fold(0.0, |a, b| a + b);
        sum / geometry.cell_volume[cell]
    };
    (0..mesh.n_cells()).into_par_iter().map(of_cell).collect()
}

impl<F: Real> SkewedCells<F> {
    fn new(backend: &Backend, skewness: &[f64]) -> Self {
        let n = skewness.len();
        let skewed: Vec<usize> = (0..n).filter(|cell| skewness[*cell] > LARGEST_SKEWNESS).collect();
        if !skewed.is_empty() {
            tracing::debug!("{} cells are too skewed for the Gauss gradient alone", skewed.len());
        }
        let places = (0..3).flat_map(|k| skewed.iter().map(move |cell| (k * n + cell) as u32));
        let share: Vec<f64> =
            skewed.iter().map(|cell| LARGEST_SKEWNESS / skewness[*cell]).collect();
        SkewedCells {
            places: backend.upload(places.collect()),
            share: narrow(backend, share.repeat(3)),
        }
    }
}

/// Largest |x_f − x_i| in distances of the cells. A face between two slivers whose centroids nearly coincide lies
/// a thousand distances away, where no gradient across them reaches; on meshes of Gmsh without slivers it is 1.2 at
/// most.
const LARGEST_OFFSET: f64 = 1.5;

/// Offsets up to this fraction of the distance of the cells are round-off.
const STRAIGHT: f64 = 1e-9;

impl<F: Real> Faces<F> {
    /// d of momentum interpolation: `[3][n_faces]`.
    pub(super) fn momentum_span(&self) -> &Buffer<F> {
        self.limited_span.as_ref().unwrap_or(&self.span)
    }

    /// x_f − x_i of the skewness correction of interpolated velocities; at a boundary d − (d·n) n.
    pub(super) fn velocity_offset(&self) -> &Buffer<F> {
        self.limited_offset.as_ref().unwrap_or(&self.offset)
    }

    /// The arrays of a mesh.
    pub(super) fn new(backend: &Backend, mesh: &Mesh, geometry: &Geometry, is_cubic: bool) -> Self {
        let (n_faces, n_interior) = (mesh.n_faces(), mesh.n_interior_faces());
        let mut weight = vec![0.0; n_interior];
        let mut offset = vec![0.0; 3 * n_faces];
        let mut span = vec![0.0; 3 * n_faces];
        let mut limited = vec![];
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
            let normal = along.max(LEAST_COSINE * norm(d));
            let tangent = [0, 1, 2].map(|k| d[k] - normal * n[k]);
            let share = limiter(tangent, normal);
            if share < 1.0 {
                limited.push((face, [0, 1, 2].map(|k| normal * n[k] + share * tangent[k])));
            }
            let excess = LARGEST_OFFSET * norm(d) / norm(o);
            for k in 0..3 {
                offset[k * n_faces + face] = o[k] * excess.min(1.0);
                span[k * n_faces + face] = d[k];
            }
        }
        let limited_span = (!limited.is_empty()).then(|| {
            let mut whole = span.clone();
            for (face, d) in &limited {
                (0..3).for_each(|k| whole[k * n_faces + face] = d[k]);
            }
            narrow(backend, whole)
        });
        let cells = Arc::new(FaceCells::new(backend, mesh));
        cells.neighbours(backend);
        let skewness = skewness(mesh, geometry, &offset);
        let limited_offset = skewness.iter().any(|s| *s > LARGEST_CORRECTED_SKEWNESS).then(|| {
            let mut limited = offset.clone();
            for face in 0..n_interior {
                let [l, r] = [mesh.face_left[face], mesh.face_right[face]];
                let larger = skewness[l as usize].max(skewness[r as usize]);
                let share = (LARGEST_CORRECTED_SKEWNESS / larger).min(1.0);
                (0..3).for_each(|k| limited[k * n_faces + face] *= share);
            }
            narrow(backend, limited)
        });
        Faces {
            skewed: SkewedCells::new(backend, &skewness),
            cells,
            limited_span,
            limited_offset,
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
