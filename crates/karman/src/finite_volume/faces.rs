//! Geometric data of faces for interpolation and momentum interpolation.
//!
//! Interpolation to a face between cells l and r is linear along d = x_r − x_l, with a skewness correction
//! from the point x_i = w x_l + (1 − w) x_r to the centroid of the face:
//!
//! φ_f = w φ_l + (1 − w) φ_r + (w ∇φ_l + (1 − w) ∇φ_r)·(x_f − x_i),  w = δ_r / (δ_l + δ_r),
//!
//! δ the normal distances of the centroids from the face (Jasak's thesis, §3.3.1; Ferziger & Perić, §9.7).
//! It is exact for linear fields on any mesh. Cubic interpolation replaces the linear part by Hermite's
//! cubic with the gradients along d,
//!
//! φ_i = w φ_l + v φ_r + w v ((w − v)(φ_l − φ_r) + (w ∇φ_l − v ∇φ_r)·d),  v = 1 − w,
//!
//! of fourth order in |d| if the gradients are of third order. At a boundary with ∂φ/∂n = 0,
//! φ_f = φ_c + ∇φ_c·(d − (d·n) n), d = x_f − x_c.

use super::cell_scheme::{LEAST_COSINE, limiter};
use super::mesh_view::{CellFaces, FaceView, Vectors};
use super::{narrow, narrow_slice};
use crate::backend::{Backend, Buffer};
use crate::mesh::check::flat_cells;
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use crate::operators::{FaceCells, Part};
use crate::real::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// Arrays of faces, component-major, and the volumes of the cells.
pub struct Faces<F: Real> {
    /// Connectivity.
    pub cells: Arc<FaceCells>,
    /// w: `[n_interior]`.
    pub weight: Buffer<F>,
    /// The skewness vector x_f − x_i; at a boundary d − (d·n) n: `[3][n_faces]`.
    pub skewness: Buffer<F>,
    /// d = x_r − x_l; at a boundary x_f − x_c: `[3][n_faces]`.
    pub delta: Buffer<F>,
    limited: LimitedLines<F>,
    /// S: `[3][n_faces]`.
    pub area: Buffer<F>,
    /// V: `[n_cells]`.
    pub volume: Buffer<F>,
    /// Whether all skewness vectors vanish: linear interpolation then needs no gradient.
    pub is_unskewed: bool,
    /// Whether interpolation is cubic.
    pub is_cubic: bool,
    /// Whether lines between centroids are normal to their faces.
    pub is_orthogonal: bool,
    /// Cells of a skewness Σ |x_f − x_i| |S| / V above `LARGEST_CELL_SKEWNESS`, ascending, with this bound over it.
    pub skewed: Vec<(u32, f64)>,
    /// [`flat_cells`], ascending.
    pub flat: Vec<usize>,
}

/// Vectors of the faces with the bounds of their explicit terms.
struct LimitedLines<F: Real> {
    /// δ n + λ (d − δ n), δ = d·n: d of momentum interpolation, limited where d is more than 70° off the
    /// normal, as the non-orthogonal correction of a diffusive flux is. None if no face is limited:
    /// `[3][n_faces]`.
    delta: Option<Buffer<F>>,
    /// x_f − x_i of the skewness correction of interpolated velocities, limited between cells of a skewness
    /// above that of [`largest_corrected_skewness()`]. None if no face is limited: `[3][n_faces]`.
    skewness: Option<Buffer<F>>,
}

/// Cells whose Gauss gradient is blended with the least-squares gradient, which is exact for linear fields too; see
/// [`blend_gradients()`](super::gradient::blend_gradients()). Cells of large skewness Σ |x_f − x_i| |S| / V, as slivers and
/// needles have: the Gauss gradient amplifies the gradients in its face values by this factor. Cells with a stencil that bounds
/// the explicit fluxes have the least-squares gradient alone.
pub struct BlendedCells<F: Real> {
    /// The cells, ascending.
    pub cells: Buffer<u32>,
    /// Weight of the Gauss gradient, 0 or `LARGEST_CELL_SKEWNESS` V / Σ |x_f − x_i| |S|.
    pub share: Buffer<F>,
}

/// Largest Σ |x_f − x_i| |S| / V of a cell with the plain Gauss gradient. On tetrahedra of Gmsh and Netgen
/// half of the cells have less than 1.3, nine tenths less than 2.3. Beyond 2 the interpolated pressure
/// gradient may oppose the pressure difference across the face: decision 11.
const LARGEST_CELL_SKEWNESS: f64 = 2.0;

/// Largest Σ |x_f − x_i| |S| / V of cells with the full skewness correction of interpolated velocities. In 3D 7: slivers have up to
/// hundreds, and on meshes without them at most one cell in a hundred has more. In 2D 2: usual triangles and quadrilaterals of Gmsh
/// have at most 1.5, but for single cells, and skewed quadrilaterals of a boundary layer at a sharp edge 3 to 12; there the
/// full correction kept spurious velocities (decision 20).
fn largest_corrected_skewness(dimension: usize) -> f64 {
    if dimension == 2 { 2.0 } else { 7.0 }
}

/// Largest skewness with the full correction at the faces of flat cells among cells of other sizes, as beside the edges of thin
/// plates: with more, velocity and flux drift apart there (decision 32).
const FLAT_CORRECTED_SKEWNESS: f64 = 1.0;

/// Σ |x_f − x_i| |S| / V of each cell.
fn cell_skewness(mesh: &Mesh, geometry: &Geometry, skewness: &[f64]) -> Vec<f64> {
    let n_faces = mesh.n_faces();
    let of_cell = |cell: usize| {
        let term = |item: &u32| {
            let face = index_of(*item);
            let o = [0, 1, 2].map(|k| skewness[k * n_faces + face]);
            norm(o) * norm(geometry.area_vector_of(face))
        };
        let sum = mesh.cell_to_faces.of(cell).iter().map(term).fold(0.0, |a, b| a + b);
        sum / geometry.cell_volume[cell]
    };
    (0..mesh.n_cells()).into_par_iter().map(of_cell).collect()
}

impl<F: Real> BlendedCells<F> {
    /// `skewed` cells with their shares, and cells of a `bound_ratio` above 1 with a share of 0.
    pub fn new(backend: &Backend, skewed: &[(u32, f64)], bound_ratio: &[f64]) -> Self {
        let is_widened = |cell: u32| {
            bound_ratio.get(cell as usize).is_some_and(|bound_ratio| *bound_ratio > 1.0)
        };
        let widened = (0..bound_ratio.len() as u32).filter(|cell| is_widened(*cell));
        let mut blended: Vec<(u32, f64)> = widened.map(|cell| (cell, 0.0)).collect();
        blended.extend(skewed.iter().filter(|(cell, _)| !is_widened(*cell)));
        blended.sort_unstable_by_key(|(cell, _)| *cell);
        if !blended.is_empty() {
            tracing::debug!("{} cells do not have the Gauss gradient alone", blended.len());
        }
        let (cells, share) = blended.into_iter().unzip();
        BlendedCells { cells: backend.upload(cells), share: narrow(backend, share) }
    }

    /// Those of the own cells of a part.
    pub fn of_part(&self, part: &Part) -> Self {
        let cells = self.cells.as_host().unwrap_or_default().iter().zip(0u32..);
        let own = cells.filter_map(|(cell, place)| Some((part.own_cell(*cell)?, place)));
        let (cells, places): (Vec<u32>, Vec<u32>) = own.unzip();
        BlendedCells {
            cells: part.backend.upload(cells),
            share: part.of_list(&self.share, &places, self.share.len()),
        }
    }
}

/// Largest |x_f − x_i| / |d|. Between two slivers whose centroids nearly coincide it reaches 1000, beyond
/// the range of any gradient across them; on meshes of Gmsh without slivers it is 1.2 at most.
const LARGEST_FACE_SKEWNESS: f64 = 1.5;

/// |x_f − x_i| / |d| up to this is round-off.
const ROUND_OFF: f64 = 1e-9;

/// Faces of a task.
const CHUNK: usize = 4096;

type Vector = [f64; 3];

/// The components of a component-major array, in chunks of [`CHUNK`] entities.
fn component_chunks(values: &mut [f64]) -> impl IndexedParallelIterator<Item = [&mut [f64]; 3]> {
    let (x, rest) = values.split_at_mut(values.len() / 3);
    let (y, z) = rest.split_at_mut(x.len());
    let [x, y, z] = [x, y, z].map(|component| component.par_chunks_mut(CHUNK));
    x.zip(y).zip(z).map(|((x, y), z)| [x, y, z])
}

/// A face and the line between the centroids at it.
struct FaceLine {
    /// w; 0 at a boundary.
    weight: f64,
    /// n.
    normal: Vector,
    /// d.
    delta: Vector,
    /// x_f − x_i; at a boundary d − (d·n) n.
    skewness: Vector,
    /// The same, at most [`LARGEST_FACE_SKEWNESS`] |d|.
    bounded_skewness: Vector,
}

impl FaceLine {
    fn new(mesh: &Mesh, geometry: &Geometry, face: usize) -> Self {
        let area = geometry.area_vector_of(face);
        let s = dot(area, area).sqrt();
        let n = area.map(|a| a / s);
        let x = geometry.face_centre_of(face);
        let xl = geometry.cell_centre_of(mesh.face_left[face] as usize);
        let from_left = subtract(x, xl);
        let (w, d, o) = if face < mesh.n_interior_faces() {
            let xr = geometry.right_centre_of(mesh, face);
            let (dl, dr) = (dot(from_left, n).max(0.0), dot(subtract(xr, x), n).max(0.0));
            let w = if dl + dr > 0.0 { dr / (dl + dr) } else { 0.5 };
            let foot = [0, 1, 2].map(|k| w * xl[k] + (1.0 - w) * xr[k]);
            (w, subtract(xr, xl), subtract(x, foot))
        } else {
            let along = dot(from_left, n);
            (0.0, from_left, [0, 1, 2].map(|k| from_left[k] - along * n[k]))
        };
        let reduction = (LARGEST_FACE_SKEWNESS * norm(d) / norm(o)).min(1.0);
        FaceLine {
            weight: w,
            normal: n,
            delta: d,
            skewness: o,
            bounded_skewness: o.map(|o| o * reduction),
        }
    }
}

/// Properties of the faces of a task.
#[derive(Default)]
struct FaceKinds {
    has_skewed: bool,
    has_nonorthogonal: bool,
    /// Faces with a limited d, and that d.
    limited: Vec<(usize, Vector)>,
}

impl FaceKinds {
    fn add(&mut self, face: usize, line: &FaceLine) {
        let FaceLine { normal: n, delta: d, skewness: o, .. } = *line;
        let along = dot(d, n);
        let least = ROUND_OFF * ROUND_OFF * dot(d, d);
        self.has_skewed |= dot(o, o) > least || dot(o, o).is_nan();
        let off = dot(d, d) - along * along;
        self.has_nonorthogonal |= off > least.max(8.0 * f64::EPSILON * dot(d, d)) || off.is_nan();
        let normal = along.max(LEAST_COSINE * norm(d));
        let tangent = [0, 1, 2].map(|k| d[k] - normal * n[k]);
        let share = limiter(tangent, normal);
        if share < 1.0 {
            self.limited.push((face, [0, 1, 2].map(|k| normal * n[k] + share * tangent[k])));
        }
    }
}

impl<F: Real> Faces<F> {
    /// The faces as kernels read them.
    pub fn view(&self) -> FaceView<'_, F> {
        FaceView {
            weight: self.weight.view(),
            skewness: Vectors::of(&self.skewness),
            delta: Vectors::of(&self.delta),
            area: Vectors::of(&self.area),
            is_unskewed: self.is_unskewed,
            is_cubic: self.is_cubic,
            ..FaceView::of_cells(&self.cells)
        }
    }

    /// The faces of momentum interpolation: d limited.
    pub fn momentum_view(&self) -> FaceView<'_, F> {
        let delta = self.limited.delta.as_ref().unwrap_or(&self.delta);
        FaceView { delta: Vectors::of(delta), ..self.view() }
    }

    /// The faces of the skewness correction of interpolated velocities: x_f − x_i limited.
    pub fn velocity_view(&self) -> FaceView<'_, F> {
        let skewness = self.limited.skewness.as_ref().unwrap_or(&self.skewness);
        FaceView { skewness: Vectors::of(skewness), ..self.view() }
    }

    /// The faces of the cells with their volumes.
    pub fn of_cells(&self) -> CellFaces<'_, F> {
        CellFaces::of(&self.cells, self.volume.view())
    }

    /// The faces of a part, but for the lists of cells that only a set-up reads.
    pub fn of_part(&self, part: &Part) -> Self {
        let of_faces = |values: &Buffer<F>| part.of_faces(values);
        Faces {
            cells: part.cells.clone(),
            weight: part.of_interior_faces(&self.weight),
            skewness: of_faces(&self.skewness),
            delta: of_faces(&self.delta),
            limited: LimitedLines {
                delta: self.limited.delta.as_ref().map(of_faces),
                skewness: self.limited.skewness.as_ref().map(of_faces),
            },
            area: of_faces(&self.area),
            volume: part.of_cells(&self.volume),
            skewed: vec![],
            flat: vec![],
            ..*self
        }
    }

    /// The arrays of a mesh.
    pub fn new(backend: &Backend, mesh: &Mesh, geometry: &Geometry, is_cubic: bool) -> Self {
        let (n_faces, n_interior) = (mesh.n_faces(), mesh.n_interior_faces());
        let mut weight = vec![0.0; n_faces];
        let mut skewness = vec![0.0; 3 * n_faces];
        let mut delta = vec![0.0; 3 * n_faces];
        let chunks = component_chunks(&mut skewness)
            .zip(component_chunks(&mut delta))
            .zip(weight.par_chunks_mut(CHUNK))
            .enumerate();
        let kinds: Vec<FaceKinds> = chunks
            .map(|(chunk, ((skewness, delta), weight))| {
                let mut kinds = FaceKinds::default();
                for (k, weight) in weight.iter_mut().enumerate() {
                    let face = FaceLine::new(mesh, geometry, chunk * CHUNK + k);
                    *weight = face.weight;
                    kinds.add(chunk * CHUNK + k, &face);
                    for i in 0..3 {
                        (skewness[i][k], delta[i][k]) = (face.bounded_skewness[i], face.delta[i]);
                    }
                }
                kinds
            })
            .collect();
        weight.truncate(n_interior);
        let is_unskewed = !kinds.iter().any(|kinds| kinds.has_skewed);
        let is_orthogonal = !kinds.iter().any(|kinds| kinds.has_nonorthogonal);
        let limited: Vec<(usize, Vector)> =
            kinds.into_iter().flat_map(|kinds| kinds.limited).collect();
        let limited_delta = (!limited.is_empty()).then(|| {
            let mut whole = delta.clone();
            for (face, d) in &limited {
                (0..3).for_each(|k| whole[k * n_faces + face] = d[k]);
            }
            narrow(backend, whole)
        });
        let cells = Arc::new(FaceCells::new(backend, mesh));
        cells.neighbours(backend);
        let cell_skewness = cell_skewness(mesh, geometry, &skewness);
        let skewed = (0..).zip(&cell_skewness).filter(|(_, s)| **s > LARGEST_CELL_SKEWNESS);
        let skewed = skewed.map(|(cell, s)| (cell, LARGEST_CELL_SKEWNESS / s)).collect();
        let most_corrected = largest_corrected_skewness(mesh.dimension);
        let flat = flat_cells(mesh, geometry);
        let is_flat = |cell: usize| flat.binary_search(&cell).is_ok();
        let is_limited = !flat.is_empty() || cell_skewness.iter().any(|s| *s > most_corrected);
        let limited_skewness = is_limited.then(|| {
            let mut limited = skewness.clone();
            let faces = component_chunks(&mut limited).enumerate();
            faces.for_each(|(chunk, [x, y, z])| {
                let chunks = x.iter_mut().zip(y).zip(z).zip(chunk * CHUNK..n_interior);
                for (((x, y), z), face) in chunks {
                    let [l, r] = [mesh.face_left[face], mesh.face_right[face]].map(|c| c as usize);
                    let larger = cell_skewness[l].max(cell_skewness[r]);
                    let is_flat = is_flat(l) || is_flat(r);
                    let most = if is_flat { FLAT_CORRECTED_SKEWNESS } else { most_corrected };
                    let share = (most / larger).min(1.0);
                    [*x, *y, *z] = [*x * share, *y * share, *z * share];
                }
            });
            narrow(backend, limited)
        });
        Faces {
            skewed,
            flat,
            cells,
            limited: LimitedLines { delta: limited_delta, skewness: limited_skewness },
            weight: narrow(backend, weight),
            skewness: narrow(backend, skewness),
            delta: narrow(backend, delta),
            area: narrow_slice(backend, &geometry.face_area_vector),
            volume: narrow_slice(backend, &geometry.cell_volume),
            is_unskewed,
            is_cubic,
            is_orthogonal,
        }
    }
}
