//! The cell-centred finite-volume discretisation of ∇·(k∇T): two-point fluxes, with a correction where the
//! line between two centroids is not normal to their face.
//!
//! Across a face of area vector S = s n between cells l and r, with d = x_r − x_l, δ the normal
//! distances from the centroids to the face and τ = d − (δ_l + δ_r) n, the heat flow from r to l is
//!
//! q s = a (T_r − T_l − τ·∇T_f),  a = s / (δ_l/k_l + δ_r/k_r),
//!
//! which is exact for a field that is linear on either side of a planar discontinuity of k, since its
//! tangential gradient is continuous. With uniform k it is the over-relaxed correction
//! a = k|S|²/(S·d). A Dirichlet or Robin boundary has δ_r = 0 (and 1/h in series).
//! Without the correction a = s / (d_l/k_l + d_r/k_r) with |x_r − x_l| = d_l + d_r, the form of
//! Menon's thesis (ch. 6), which does not converge on skewed cells.
//!
//! Where the angle θ between d and n exceeds 70° the correction τ·∇T is multiplied by tan 70° / tan θ.
//!
//! The gradient ∇T is that of [`super::least_squares`]: a face's equation is r·∇T = ΔT with
//! r = τ + (δ_l + δ_r k_l/k_r) n inside; at the boundary r = x_f − x_c for Dirichlet,
//! r = δ n and ΔT = δ q/k for Neumann, (k n + h d)·∇T = h (T∞ − T_c) for Robin conditions. So a gradient
//! is exact for linear fields under any boundary condition, and one-sided across a discontinuity of k.

use super::DiffusionError;
use super::boundary::{BoundaryFaces, BoundaryValues, Condition, Kind};
use super::boundary_contribution::BoundaryContribution;
use super::discrete::Discrete;
use super::functional::Functional;
use super::least_squares::{GradientStencils, Use};
use super::nonorthogonal_correction::NonOrthogonalCorrection;
use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::geometry::{add_scaled, dot, norm, subtract};
use crate::mesh::gradient_stencil::CorrectedFlux;
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;

type Vector = [f64; 3];

/// Properties of each cell, in the order of the mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// k > 0: `[n_cells]`.
    pub conductivity: Vec<f64>,
    /// ρc > 0: `[n_cells]`.
    pub volumetric_heat_capacity: Vec<f64>,
}

impl Material {
    /// Properties that are uniform in space.
    pub fn uniform(n_cells: usize, conductivity: f64, volumetric_heat_capacity: f64) -> Material {
        Material {
            conductivity: vec![conductivity; n_cells],
            volumetric_heat_capacity: vec![volumetric_heat_capacity; n_cells],
        }
    }

    /// Checks that all properties are positive and finite.
    ///
    /// # Errors
    /// [`DiffusionError::Property`].
    pub fn check(&self) -> Result<(), DiffusionError> {
        for (name, values) in [
            ("conductivity", &self.conductivity),
            ("volumetric_heat_capacity", &self.volumetric_heat_capacity),
        ] {
            let bad = values.iter().position(|v| !(*v > 0.0 && v.is_finite()));
            if let Some(cell) = bad {
                return Err(DiffusionError::Property { name, cell, value: values[cell] });
            }
        }
        Ok(())
    }
}

/// Two-point data of a face, with its equations for the left and right cell's gradient.
#[derive(Clone, Copy, Default)]
pub(super) struct FaceFlux {
    conductance: f64,
    tangential: Vector,
    left_weight: f64,
    left_row: Vector,
    right_row: Vector,
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

fn interior_flux(
    face: usize,
    mesh: &Mesh,
    geometry: &Geometry,
    k: &[f64],
    corrected: bool,
) -> FaceFlux {
    let (l, r) = (mesh.face_left[face] as usize, mesh.face_right[face] as usize);
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
        let resistance = length * (share / k[l] + (1.0 - share) / k[r]);
        return FaceFlux { conductance: s / resistance, ..Default::default() };
    }
    let least = LEAST_COSINE * length;
    let dl = dot(subtract(x, xl), n).max(0.5 * least);
    let dr = dot(subtract(xr, x), n).max(0.5 * least);
    let tangent = add_scaled(d, -(dl + dr), n);
    let conductance = s / (dl / k[l] + dr / k[r]);
    let explicit = -conductance * limiter(tangent, dl + dr);
    FaceFlux {
        conductance,
        tangential: tangent.map(|t| explicit * t),
        left_weight: dr / (dl + dr),
        left_row: add_scaled(tangent, dl + dr * k[l] / k[r], n),
        right_row: add_scaled(tangent, dl * k[r] / k[l] + dr, n),
    }
}

/// Coefficients of a boundary face with the prescribed value v: the heat flow into the cell,
/// `conductance (v − implicit T_c − τ·∇T)`, and the equation for the gradient,
/// row·∇T = `row_value` v − `row_cell` T_c.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundaryFlux {
    conductance: f64,
    implicit: bool,
    tangential: Vector,
    pub row: Vector,
    pub row_value: f64,
    pub row_cell: f64,
}

fn boundary_flux(
    face: usize,
    mesh: &Mesh,
    geometry: &Geometry,
    k: &[f64],
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
    let k = k[cell];
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
    pub(super) conductivity: &'a [f64],
    pub(super) boundary: &'a BoundaryFaces,
    pub(super) corrected: bool,
}

impl<'a> CellScheme<'a> {
    /// The scheme that [`discretize`] used.
    pub fn new(
        mesh: &'a Mesh,
        geometry: &'a Geometry,
        conductivity: &'a [f64],
        boundary: &'a BoundaryFaces,
        corrected: bool,
    ) -> Self {
        CellScheme { mesh, geometry, conductivity, boundary, corrected }
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
            let flux = self.boundary_flux(face, self.corrected);
            if flux.implicit { flux.conductance } else { 0.0 }
        };
        (0..self.mesh.n_faces()).into_par_iter().with_min_len(1024).map(of_face).collect()
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

    /// The heat flow into the domain through a boundary face.
    pub fn heat_through(&self, face: usize) -> Functional {
        let flux = self.boundary_flux(face, self.corrected);
        let cell = self.mesh.face_left[face] as usize;
        let mut functional = Functional::default();
        if let Some(value) = self.boundary.value(face - self.mesh.n_interior_faces()) {
            functional.values.push((value, flux.conductance));
        }
        if flux.implicit {
            functional.unknowns.push((cell as u32, -flux.conductance));
            if self.corrected {
                functional.add(1.0, &self.derivative(cell, flux.tangential));
            }
        }
        functional
    }
}

/// Discretises diffusion by cell-centred finite volumes.
///
/// # Errors
/// [`DiffusionError`] for a heat transfer coefficient that is negative or not a number, or a matrix that
/// does not fit 32-bit indices.
pub fn discretize(
    mesh: &Mesh,
    geometry: &Geometry,
    material: &Material,
    conditions: &[Condition],
    corrected: bool,
) -> Result<(Discrete, BoundaryFaces), DiffusionError> {
    let stencils = |scheme: &CellScheme<'_>| corrected.then(|| scheme.stencils(Use::Derivative));
    discretize_with(mesh, geometry, material, conditions, (corrected, stencils))
}

/// As [`discretize`], with gradient stencils from elsewhere: those of a part of a mesh reach beyond the part.
pub(super) fn discretize_with(
    mesh: &Mesh,
    geometry: &Geometry,
    material: &Material,
    conditions: &[Condition],
    (corrected, stencils): (bool, impl FnOnce(&CellScheme<'_>) -> Option<GradientStencils>),
) -> Result<(Discrete, BoundaryFaces), DiffusionError> {
    let mut values = BoundaryValues::default();
    let boundary = BoundaryFaces::new(mesh, geometry, conditions, &mut values)?;
    let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, corrected);
    let matrix = scheme.two_point_matrix(&scheme.conductances())?;
    let boundary_contribution = scheme.boundary_contribution();
    let correction = stencils(&scheme).map(|stencils| scheme.correction_with(stencils));
    let mut mass = mesh_mass(geometry, &material.volumetric_heat_capacity);
    mass.truncate(mesh.cell_count.owned);
    let is_dirichlet = vec![];
    let discrete =
        Discrete { matrix, mass, boundary_contribution, values, correction, is_dirichlet };
    Ok((discrete, boundary))
}

/// The boundary terms alone of [`discretize`] with correction: of a further quantity with conditions of the same
/// kinds on the same faces, or for conductances of one's own in A. A has no rows.
///
/// # Errors
/// As [`discretize`].
pub fn discretize_boundary(
    mesh: &Mesh,
    geometry: &Geometry,
    material: &Material,
    conditions: &[Condition],
) -> Result<(Discrete, BoundaryFaces), DiffusionError> {
    let mut values = BoundaryValues::default();
    let boundary = BoundaryFaces::new(mesh, geometry, conditions, &mut values)?;
    let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, true);
    let discrete = Discrete {
        matrix: CsrMatrix::from_entries(0, 0, vec![])?,
        mass: vec![],
        boundary_contribution: scheme.boundary_contribution(),
        values,
        correction: None,
        is_dirichlet: vec![],
    };
    Ok((discrete, boundary))
}

fn mesh_mass(geometry: &Geometry, volumetric_heat_capacity: &[f64]) -> Vec<f64> {
    let volumes = geometry.cell_volume.par_iter().with_min_len(1024);
    volumes.zip(volumetric_heat_capacity).map(|(v, c)| v * c).collect()
}

/// Face coefficients are computed where they are needed: stored, they would take 88 bytes a face.
impl CellScheme<'_> {
    /// −a for each neighbour; Σ a, boundary faces included, on the diagonal; of a part the rows of its own cells.
    /// `conductances`: a, `[n_faces]`.
    ///
    /// # Errors
    /// [`LinearError`] where the matrix does not fit 32-bit indices.
    pub fn two_point_matrix(&self, conductances: &[f64]) -> Result<CsrMatrix<f64>, LinearError> {
        let mesh = self.mesh;
        let (n, n_interior) = (mesh.n_cells(), mesh.n_interior_faces());
        let faces = |c: usize| mesh.cell_to_faces.of(c).iter().map(|item| index_of(*item));
        let other = |c: usize, f: usize| mesh.face_left[f] ^ mesh.face_right[f] ^ c as u32;
        // With two layers of cells between periodic patches two faces join the same cells.
        let length = |c: usize| {
            let inner = || faces(c).filter(|f| *f < n_interior);
            let again =
                |(k, f): &(usize, usize)| inner().take(*k).any(|g| other(c, g) == other(c, *f));
            let repeated = if mesh.periodic_pairs.is_empty() {
                0
            } else {
                inner().enumerate().filter(again).count()
            };
            1 + inner().count() - repeated
        };
        CsrMatrix::from_rows(mesh.cell_count.owned, n, length, |c, columns, values| {
            let mut diagonal = 0.0;
            let mut k = 1;
            for f in faces(c) {
                diagonal += conductances[f];
                if f < n_interior {
                    let column = other(c, f);
                    if let Some(place) = columns[1..k].iter().position(|known| *known == column) {
                        values[1 + place] -= conductances[f];
                        continue;
                    }
                    (columns[k], values[k]) = (column, -conductances[f]);
                    k += 1;
                }
            }
            (columns[0], values[0]) = (c as u32, diagonal);
        })
    }

    fn boundary_contribution(&self) -> BoundaryContribution {
        let n_interior = self.mesh.n_interior_faces();
        let entry = |face: usize| {
            let value = self.boundary.value(face - n_interior)?;
            let conductance = self.boundary_flux(face, self.corrected).conductance;
            Some((self.mesh.face_left[face], value, conductance))
        };
        let faces = n_interior..self.mesh.n_faces();
        BoundaryContribution::from_entries(faces.filter_map(entry).collect())
    }

    /// K.
    pub fn correction(&self) -> NonOrthogonalCorrection {
        self.correction_with(self.stencils(Use::Derivative))
    }

    /// K of gradients whose explicit fluxes the two-point fluxes bound, and their bound ratios.
    pub fn bounded_correction(&self) -> NonOrthogonalCorrection {
        self.correction_with(self.stencils(Use::Correction))
    }

    /// The equation of a face for the gradient of one of its cells, with its flux, the share of the cell's gradient in t.
    pub(super) fn face_equation(&self, cell: usize, item: u32) -> FaceEquation {
        let face = index_of(item);
        if face >= self.mesh.n_interior_faces() {
            let BoundaryFlux { row, conductance, implicit, tangential, .. } =
                self.boundary_flux(face, true);
            let conductance = if implicit { conductance } else { 0.0 };
            return FaceEquation { row, flux: CorrectedFlux { conductance, tangential } };
        }
        let flux = self.interior_flux(face, true);
        let is_left = self.mesh.face_left[face] as usize == cell;
        let share = if is_left { flux.left_weight } else { 1.0 - flux.left_weight };
        let tangential = flux.tangential.map(|t| share * t);
        let of_cell = CorrectedFlux { conductance: flux.conductance, tangential };
        FaceEquation { row: flux.row_of(is_left), flux: of_cell }
    }

    fn correction_with(&self, stencils: GradientStencils) -> NonOrthogonalCorrection {
        let (n_interior, n_faces) = (self.mesh.n_interior_faces(), self.mesh.n_faces());
        let mut tangential = vec![0.0; 3 * n_faces];
        let mut left_weight = vec![0.0; n_faces];
        let (x, rest) = tangential.split_at_mut(n_faces);
        let (y, z) = rest.split_at_mut(n_faces);
        let faces = x.par_iter_mut().zip(y).zip(z).zip(&mut left_weight).enumerate();
        faces.with_min_len(1024).for_each(|(f, (((x, y), z), weight))| {
            let tangential = if f < n_interior {
                let flux = self.interior_flux(f, true);
                *weight = flux.left_weight;
                flux.tangential
            } else {
                self.boundary_flux(f, true).tangential
            };
            [*x, *y, *z] = tangential;
        });
        left_weight.truncate(n_interior);
        let faces = n_interior..n_faces;
        let outer: Vec<BoundaryFlux> = faces.map(|f| self.boundary_flux(f, true)).collect();
        let values: Vec<Option<u32>> = (0..outer.len()).map(|b| self.boundary.value(b)).collect();
        let row_value = |(f, v): (&BoundaryFlux, &Option<u32>)| v.map_or(0.0, |_| f.row_value);
        NonOrthogonalCorrection {
            stencils,
            tangential,
            left_weight,
            boundary_value: values.iter().map(|v| v.unwrap_or(0)).collect(),
            row_value: outer.iter().zip(&values).map(row_value).collect(),
            row_cell: outer.iter().map(|f| f.row_cell).collect(),
        }
    }
}
