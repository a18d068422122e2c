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

use super::face_lines::{CHUNK, FaceLines, FaceProperties, cell_skewness, component_chunks};
use super::local_mesh::{LocalMesh, PartMesh, at_boundary_faces};
use super::mesh_view::{CellFaces, FaceView, Vectors};
use super::{narrow, narrow_slice};
use crate::backend::{Backend, Buffer};
use crate::mesh::check::flat_cells;
use crate::mesh::{Geometry, Mesh};
use crate::operators::FaceCells;
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

    /// The arrays of a mesh.
    pub fn new(backend: &Backend, mesh: &Mesh, geometry: &Geometry, is_cubic: bool) -> Self {
        let lines = FaceLines::new(mesh, geometry);
        let kinds = Kinds {
            is_unskewed: !lines.properties.has_skewed,
            is_orthogonal: !lines.properties.has_nonorthogonal,
            is_cubic,
        };
        let flat = flat_cells(mesh, geometry);
        let faces =
            Self::of_lines(backend, LocalMesh::whole(mesh, geometry), lines, (kinds, &flat));
        Faces { flat, ..faces }
    }

    /// The cells of faces, volumes, the area vectors at the boundary and the properties of all faces, of a mesh whose cells ranks compute.
    pub fn at_boundary(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        is_cubic: bool,
    ) -> Self {
        let properties = FaceProperties::of_mesh(mesh, geometry);
        let none = || backend.zeros(0);
        Faces {
            cells: Arc::new(FaceCells::sides(backend, mesh)),
            weight: none(),
            skewness: none(),
            delta: none(),
            limited: LimitedLines { delta: None, skewness: None },
            area: at_boundary_faces(backend, mesh, |face| geometry.area_vector_of(face)),
            volume: narrow_slice(backend, &geometry.cell_volume),
            is_unskewed: !properties.has_skewed,
            is_orthogonal: !properties.has_nonorthogonal,
            is_cubic,
            skewed: vec![],
            flat: flat_cells(mesh, geometry),
        }
    }

    /// Whether the arrays of interior faces are absent, as of [`Faces::at_boundary`].
    pub fn are_at_boundary(&self) -> bool {
        self.delta.is_empty()
    }

    /// The arrays of a part of this mesh, without its flat cells.
    pub fn of_part(&self, part: &PartMesh<'_>) -> Self {
        let place = LocalMesh::of_part(part);
        let lines = FaceLines::new(place.mesh, place.geometry);
        let Faces { is_unskewed, is_orthogonal, is_cubic, .. } = *self;
        let kinds = Kinds { is_unskewed, is_orthogonal, is_cubic };
        Self::of_lines(&part.numbers.backend, place, lines, (kinds, &self.flat))
    }

    /// The arrays of faces; `flat` are the [`flat_cells`] of the whole mesh.
    fn of_lines(
        backend: &Backend,
        place: LocalMesh<'_>,
        lines: FaceLines,
        (kinds, flat): (Kinds, &[usize]),
    ) -> Self {
        let LocalMesh { mesh, geometry, .. } = place;
        let (n_faces, n_interior) = (mesh.n_faces(), mesh.n_interior_faces());
        let FaceLines { mut weight, skewness, delta, properties } = lines;
        weight.truncate(n_interior);
        let limited_delta = (!properties.limited.is_empty()).then(|| {
            let mut whole = delta.clone();
            for (face, d) in &properties.limited {
                (0..3).for_each(|k| whole[k * n_faces + face] = d[k]);
            }
            narrow(backend, whole)
        });
        let cell_skewness = cell_skewness(place, &skewness);
        let own = cell_skewness.iter().take(place.owned());
        let skewed = (0..).zip(own).filter(|(_, s)| **s > LARGEST_CELL_SKEWNESS);
        let skewed = skewed.map(|(cell, s)| (cell, LARGEST_CELL_SKEWNESS / s)).collect();
        let most_corrected = largest_corrected_skewness(mesh.dimension);
        let is_flat = |cell: usize| flat.binary_search(&place.global_cell(cell)).is_ok();
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
        let Kinds { is_unskewed, is_orthogonal, is_cubic } = kinds;
        Faces {
            skewed,
            flat: vec![],
            cells: place.face_cells(backend),
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

/// Properties of the faces of the whole mesh, and of the interpolation.
struct Kinds {
    is_unskewed: bool,
    is_orthogonal: bool,
    is_cubic: bool,
}
