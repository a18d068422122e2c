//! Two-point fluxes of the cell-centred scheme, with a correction where the line between two centroids is not normal to
//! their face; the equation of each face for the gradients of its cells. [`diffusion`](super::diffusion) has the formulas.

use super::boundary::{BoundaryFaces, Kind};
use super::local_mesh::at_boundary_faces;
use crate::backend::{Backend, Buffer};
use crate::mesh::geometry::{add_scaled, dot, norm, subtract};
use crate::mesh::gradient_stencil::CorrectedFlux;
use crate::mesh::{Geometry, Mesh, index_of};
use crate::real::Real;
use rayon::prelude::*;

type Vector = [f64; 3];

/// Two-point data of a face, with its equations for the left and right cell's gradient.
#[derive(Clone, Copy, Default)]
pub(super) struct FaceFlux {
    pub conductance: f64,
    pub tangential: Vector,
    pub left_weight: f64,
    pub left_row: Vector,
    pub right_row: Vector,
}

impl FaceFlux {
    /// The equation r·∇T = T_other − T_own of the left or of the right cell.
    pub(super) fn row_of(&self, is_left: bool) -> Vector {
        if is_left { self.left_row } else { self.right_row.map(|x| -x) }
    }
}

/// The equation row·∇T = ΔT of a face for the gradient of one of its cells, and the flux through the face.
pub(super) struct FaceEquation {
    pub row: Vector,
    pub flux: CorrectedFlux,
}

/// Smallest cosine of the non-orthogonality angle: beyond 87° a face is treated as at 87°, which keeps the
/// matrix definite.
pub(crate) const LEAST_COSINE: f64 = 0.05;

/// tan 70°: beyond this non-orthogonality angle the correction of a flux is limited.
const LARGEST_TANGENT: f64 = 2.747_477_419_454_622;

/// λ = min(1, tan 70° / tan θ), θ the angle between the normal and the line between centroids. It depends on
/// geometry alone, so that the corrected operator stays linear (on values in Jasak's thesis, §3.3.1.3).
pub(crate) fn limiter(tangent: Vector, distance: f64) -> f64 {
    let (tangent, limit) = (norm(tangent), LARGEST_TANGENT * distance);
    if tangent > limit { limit / tangent } else { 1.0 }
}

/// k of the cells.
#[derive(Clone, Copy, Debug)]
pub enum Conductivity<'a> {
    /// Equal in all cells.
    Uniform(f64),
    /// Of each cell: `[n_cells]`.
    OfCells(&'a [f64]),
}

impl Conductivity<'_> {
    /// That of a cell.
    pub(super) fn of(self, cell: usize) -> f64 {
        match self {
            Conductivity::Uniform(k) => k,
            Conductivity::OfCells(k) => k[cell],
        }
    }
}

impl From<f64> for Conductivity<'_> {
    fn from(k: f64) -> Self {
        Conductivity::Uniform(k)
    }
}

impl<'a> From<&'a [f64]> for Conductivity<'a> {
    fn from(k: &'a [f64]) -> Self {
        Conductivity::OfCells(k)
    }
}

impl<'a> From<&'a Vec<f64>> for Conductivity<'a> {
    fn from(k: &'a Vec<f64>) -> Self {
        Conductivity::OfCells(k)
    }
}

fn interior_flux(
    face: usize,
    mesh: &Mesh,
    geometry: &Geometry,
    k: Conductivity<'_>,
    corrected: bool,
) -> FaceFlux {
    let (l, r) = (mesh.face_left[face] as usize, mesh.face_right[face] as usize);
    let (of_left, of_right) = (k.of(l), k.of(r));
    let area = geometry.area_vector_of(face);
    let s = dot(area, area).sqrt();
    let n = area.map(|a| a / s);
    let (xl, xr) = (geometry.cell_centre_of(l), geometry.right_centre_of(mesh, face));
    let x = geometry.face_centre_of(face);
    let d = subtract(xr, xl);
    let length = dot(d, d).sqrt();
    if !corrected {
        let (dl, dr) = (norm(subtract(x, xl)), norm(subtract(xr, x)));
        let share = dl / (dl + dr);
        let resistance = length * (share / of_left + (1.0 - share) / of_right);
        return FaceFlux { conductance: s / resistance, ..Default::default() };
    }
    let least = LEAST_COSINE * length;
    let dl = dot(subtract(x, xl), n).max(0.5 * least);
    let dr = dot(subtract(xr, x), n).max(0.5 * least);
    let tangent = add_scaled(d, -(dl + dr), n);
    let conductance = s / (dl / of_left + dr / of_right);
    let explicit = -conductance * limiter(tangent, dl + dr);
    FaceFlux {
        conductance,
        tangential: tangent.map(|t| explicit * t),
        left_weight: dr / (dl + dr),
        left_row: add_scaled(tangent, dl + dr * of_left / of_right, n),
        right_row: add_scaled(tangent, dl * of_right / of_left + dr, n),
    }
}

/// Coefficients of a boundary face with the prescribed value v: the heat flow into the cell,
/// `conductance (v − implicit T_c − τ·∇T)`, and the equation for the gradient,
/// row·∇T = `row_value` v − `row_cell` T_c.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundaryFlux {
    pub conductance: f64,
    pub implicit: bool,
    pub tangential: Vector,
    pub row: Vector,
    pub row_value: f64,
    pub row_cell: f64,
}

impl BoundaryFlux {
    /// The conductance, 0 where the heat flow does not depend on the temperature of the cell.
    fn implicit_conductance(&self) -> f64 {
        if self.implicit { self.conductance } else { 0.0 }
    }
}

fn boundary_flux(
    face: usize,
    mesh: &Mesh,
    geometry: &Geometry,
    k: Conductivity<'_>,
    kind: Kind,
    corrected: bool,
) -> BoundaryFlux {
    let cell = mesh.face_left[face] as usize;
    let area = geometry.area_vector_of(face);
    let s = norm(area);
    let n = area.map(|a| a / s);
    let d = subtract(geometry.face_centre_of(face), geometry.cell_centre_of(cell));
    let length = norm(d);
    let delta = if corrected { dot(d, n).max(LEAST_COSINE * length) } else { length };
    let tangent = add_scaled(d, -delta, n);
    let limited = limiter(tangent, delta);
    let k = k.of(cell);
    match kind {
        Kind::Dirichlet => {
            let conductance = s * k / delta;
            BoundaryFlux {
                conductance,
                implicit: true,
                tangential: tangent.map(|t| -conductance * limited * t),
                row: d,
                row_value: 1.0,
                row_cell: 1.0,
            }
        }
        Kind::Robin(h) if h > 0.0 => {
            let conductance = s / (1.0 / h + delta / k);
            let scale = 1.0 / (k / delta + h);
            BoundaryFlux {
                conductance,
                implicit: true,
                tangential: tangent.map(|t| -conductance * limited * t),
                row: add_scaled(n.map(|n| n * k * scale), h * scale, d),
                row_value: h * scale,
                row_cell: h * scale,
            }
        }
        Kind::Neumann => BoundaryFlux {
            conductance: s,
            row: n.map(|n| n * delta),
            row_value: delta / k,
            ..Default::default()
        },
        Kind::Robin(_) | Kind::ZeroGradient => {
            BoundaryFlux { row: n.map(|n| n * delta), ..Default::default() }
        }
        Kind::Extrapolated => BoundaryFlux::default(),
    }
}

/// The fluxes of single cells and faces, computed from geometry on request: functionals after set-up need no
/// stored face coefficients.
pub struct CellScheme<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) geometry: &'a Geometry,
    pub(super) conductivity: Conductivity<'a>,
    pub(super) boundary: &'a BoundaryFaces,
    pub(super) corrected: bool,
}

impl<'a> CellScheme<'a> {
    /// The scheme that [`discretize`](super::diffusion::discretize) used.
    pub fn new(
        mesh: &'a Mesh,
        geometry: &'a Geometry,
        conductivity: impl Into<Conductivity<'a>>,
        boundary: &'a BoundaryFaces,
        corrected: bool,
    ) -> Self {
        CellScheme { mesh, geometry, conductivity: conductivity.into(), boundary, corrected }
    }

    /// Whether fluxes have the non-orthogonal correction.
    pub fn is_corrected(&self) -> bool {
        self.corrected
    }

    /// Heat flow through each face for a unit temperature difference, `[n_faces]`; 0 at a boundary face
    /// whose heat flow does not depend on the temperature. The matrix is assembled from them.
    pub fn conductances(&self) -> Vec<f64> {
        let inner = self.mesh.n_interior_faces();
        let of_face = |face: usize| {
            if face < inner {
                return self.interior_flux(face, self.corrected).conductance;
            }
            self.boundary_flux(face, self.corrected).implicit_conductance()
        };
        (0..self.mesh.n_faces()).into_par_iter().with_min_len(1024).map(of_face).collect()
    }

    /// The conductances of the faces of the boundary, `[n_faces]`, and their fluxes for a unit gradient, `[3][n_faces]`; 0 at other faces.
    pub fn boundary_fluxes<F: Real>(&self, backend: &Backend) -> [Buffer<F>; 2] {
        let of_face = |face: usize| self.boundary_flux(face, self.corrected);
        [
            at_boundary_faces(backend, self.mesh, |face| [of_face(face).implicit_conductance()]),
            at_boundary_faces(backend, self.mesh, |face| of_face(face).tangential),
        ]
    }

    /// The conductances of a projection in 3D, a max(1, tan θ) max(1, κ) of interior faces, θ the non-orthogonality angle and κ the
    /// larger bound ratio of the correction of both cells; None where all are a, and in 2D.
    ///
    /// A projection admits any positive conductances. On flat tetrahedra those of [`CellScheme::conductances`] are too
    /// small: a step amplifies modes of the velocity and of the pressure. Triangles have no such modes, and on triangles
    /// sheared throughout by 70° larger conductances are unstable (decision 11).
    pub fn projection_conductances(
        &self,
        conductances: &[f64],
        bound_ratio: &[f64],
    ) -> Option<Vec<f64>> {
        let of_face = |(face, conductance): (usize, &f64)| {
            if face >= self.mesh.n_interior_faces() {
                return *conductance;
            }
            let of_cells = [self.mesh.face_left[face], self.mesh.face_right[face]];
            let [left, right] = of_cells.map(|cell| bound_ratio[cell as usize]);
            conductance * self.tangent(face).max(1.0) * left.max(right).max(1.0)
        };
        if self.mesh.dimension == 2 {
            return None;
        }
        let indexed = conductances.par_iter().enumerate().with_min_len(1024);
        let scaled: Vec<f64> = indexed.map(of_face).collect();
        (scaled != conductances).then_some(scaled)
    }

    /// tan θ of an interior face, θ the angle between its normal and the line between the centroids, at most 87°.
    fn tangent(&self, face: usize) -> f64 {
        let left = self.mesh.face_left[face] as usize;
        let across = self.geometry.right_centre_of(self.mesh, face);
        let d = subtract(across, self.geometry.cell_centre_of(left));
        let area = self.geometry.area_vector_of(face);
        let n = area.map(|a| a / norm(area));
        let distance = dot(d, n).max(LEAST_COSINE * norm(d));
        norm(add_scaled(d, -distance, n)) / distance
    }

    pub(super) fn interior_flux(&self, face: usize, corrected: bool) -> FaceFlux {
        interior_flux(face, self.mesh, self.geometry, self.conductivity, corrected)
    }

    pub(super) fn boundary_flux(&self, face: usize, corrected: bool) -> BoundaryFlux {
        let kind = self.boundary.kind(face - self.mesh.n_interior_faces());
        boundary_flux(face, self.mesh, self.geometry, self.conductivity, kind, corrected)
    }

    /// The equation of a face for the gradient of one of its cells, with its flux, the share of the cell's gradient in t.
    pub(super) fn face_equation(&self, cell: usize, item: u32) -> FaceEquation {
        let face = index_of(item);
        if face >= self.mesh.n_interior_faces() {
            let flux = self.boundary_flux(face, true);
            let BoundaryFlux { row, tangential, .. } = flux;
            let conductance = flux.implicit_conductance();
            return FaceEquation { row, flux: CorrectedFlux { conductance, tangential } };
        }
        let flux = self.interior_flux(face, true);
        let is_left = self.mesh.face_left[face] as usize == cell;
        let share = if is_left { flux.left_weight } else { 1.0 - flux.left_weight };
        let tangential = flux.tangential.map(|t| share * t);
        let of_cell = CorrectedFlux { conductance: flux.conductance, tangential };
        FaceEquation { row: flux.row_of(is_left), flux: of_cell }
    }
}
