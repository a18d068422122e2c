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
//! Cell gradients are least squares over all faces of a cell, and over further cells where its faces leave
//! a direction undetermined ([`crate::mesh::gradient_stencil`]). A face's equation is r·∇T = ΔT with
//! r = τ + (δ_l + δ_r k_l/k_r) n inside; at the boundary r = x_f − x_c for Dirichlet,
//! r = δ n and ΔT = δ q/k for Neumann, (k n + h d)·∇T = h (T∞ − T_c) for Robin conditions. So a gradient
//! is exact for linear fields under any boundary condition, and one-sided across a discontinuity of k.

use super::conditions::{BoundaryValues, Condition};
use super::discrete::{BoundaryContribution, Discrete, GradientStencils, NonOrthogonalCorrection};
use super::functional::Functional;
use super::{DiffusionError, Material};
use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::gradient_stencil::{CellFit, Purpose, fit_of_cell};
use crate::mesh::{Adjacency, Geometry, Mesh, SIGN_BIT, index_of};
use rayon::prelude::*;

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn combined(a: Vector, s: f64, b: Vector) -> Vector {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

/// Two-point data of a face, with its equations for the left and right cell's gradient.
#[derive(Clone, Copy, Default)]
struct FaceFlux {
    conductance: f64,
    tangential: Vector,
    left_weight: f64,
    left_row: Vector,
    right_row: Vector,
}

impl FaceFlux {
    /// The equation r·∇T = T_other − T_own of the left or of the right cell.
    fn row_of(&self, is_left: bool) -> Vector {
        if is_left { self.left_row } else { self.right_row.map(|x| -x) }
    }
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
    let d = minus(xr, xl);
    let length = dot(d, d).sqrt();
    if !corrected {
        let (dl, dr) = (norm(minus(x, xl)), norm(minus(xr, x)));
        let share = dl / (dl + dr);
        let resistance = length * (share / k[l] + (1.0 - share) / k[r]);
        return FaceFlux { conductance: s / resistance, ..Default::default() };
    }
    let least = LEAST_COSINE * length;
    let dl = dot(minus(x, xl), n).max(0.5 * least);
    let dr = dot(minus(xr, x), n).max(0.5 * least);
    let tangent = combined(d, -(dl + dr), n);
    let conductance = s / (dl / k[l] + dr / k[r]);
    let explicit = -conductance * limiter(tangent, dl + dr);
    FaceFlux {
        conductance,
        tangential: tangent.map(|t| explicit * t),
        left_weight: dr / (dl + dr),
        left_row: combined(tangent, dl + dr * k[l] / k[r], n),
        right_row: combined(tangent, dl * k[r] / k[l] + dr, n),
    }
}

fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// Coefficients of a boundary face with the prescribed value v: the heat flow into the cell,
/// `conductance (v − implicit T_c − τ·∇T)`, and the equation for the gradient,
/// row·∇T = `row_value` v − `row_cell` T_c.
#[derive(Clone, Copy, Default)]
struct BoundaryFlux {
    conductance: f64,
    implicit: bool,
    tangential: Vector,
    row: Vector,
    row_value: f64,
    row_cell: f64,
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
    let d = minus(geometry.face_centre_of(face), geometry.cell_centre_of(cell));
    let length = norm(d);
    let delta = if corrected { dot(d, n).max(LEAST_COSINE * length) } else { length };
    let tangent = combined(d, -delta, n);
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
                row: combined(n.map(|n| n * k * scale), h * scale, d),
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

#[derive(Clone, Copy)]
enum Kind {
    Dirichlet,
    Neumann,
    Robin(f64),
    ZeroGradient,
    Extrapolated,
}

/// Kind and index of the prescribed value of each boundary face.
pub struct BoundaryFaces {
    kinds: Vec<Kind>,
    values: Vec<u32>,
}

/// No prescribed value.
const NONE: u32 = u32::MAX;

impl BoundaryFaces {
    /// Index, among the prescribed values, of the Dirichlet value at a boundary face (counted from the
    /// first of these); none at a face of another condition.
    pub fn dirichlet_value(&self, boundary_face: usize) -> Option<u32> {
        let is_dirichlet = matches!(self.kinds[boundary_face], Kind::Dirichlet);
        is_dirichlet.then_some(self.values[boundary_face]).filter(|value| *value != NONE)
    }
}

fn boundary_faces(
    mesh: &Mesh,
    geometry: &Geometry,
    conditions: &[Condition],
    values: &mut BoundaryValues,
) -> Result<BoundaryFaces, DiffusionError> {
    let n_interior = mesh.face_right.len();
    let n = mesh.face_left.len() - n_interior;
    let mut faces = BoundaryFaces { kinds: vec![Kind::ZeroGradient; n], values: vec![NONE; n] };
    for (patch, condition) in mesh.patches.iter().zip(conditions) {
        let points: Vec<Vector> = patch.faces.clone().map(|f| geometry.face_centre_of(f)).collect();
        let (kinds, prescribed) = match condition {
            Condition::ZeroGradient => continue,
            Condition::Extrapolated => {
                for face in patch.faces.clone() {
                    faces.kinds[face - n_interior] = Kind::Extrapolated;
                }
                continue;
            }
            Condition::Dirichlet(v) => (vec![Kind::Dirichlet; points.len()], v),
            Condition::Neumann(v) => (vec![Kind::Neumann; points.len()], v),
            Condition::Robin { coefficient, ambient } => {
                let h = super::coefficients_at(coefficient.as_ref(), &points);
                super::check_coefficients(&patch.name, &h)?;
                (h.into_iter().map(Kind::Robin).collect(), ambient)
            }
        };
        let first = values.push(prescribed, &points);
        for (i, (face, kind)) in patch.faces.clone().zip(kinds).enumerate() {
            faces.kinds[face - n_interior] = kind;
            faces.values[face - n_interior] = (first + i) as u32;
        }
    }
    Ok(faces)
}

/// The fluxes of single cells and faces, computed from geometry on request: functionals after set-up need no
/// stored face coefficients.
pub struct CellScheme<'a> {
    mesh: &'a Mesh,
    geometry: &'a Geometry,
    conductivity: &'a [f64],
    boundary: &'a BoundaryFaces,
    corrected: bool,
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

    fn interior_flux(&self, face: usize, corrected: bool) -> FaceFlux {
        interior_flux(face, self.mesh, self.geometry, self.conductivity, corrected)
    }

    fn boundary_flux(&self, face: usize, corrected: bool) -> BoundaryFlux {
        let kind = self.boundary.kinds[face - self.mesh.n_interior_faces()];
        boundary_flux(face, self.mesh, self.geometry, self.conductivity, kind, corrected)
    }

    /// The temperature at a point of a cell: T_c + ∇T_c·(x − x_c).
    pub fn at_point(&self, cell: usize, point: Vector) -> Functional {
        let d = minus(point, self.geometry.cell_centre_of(cell));
        let mut functional = self.derivative(cell, d);
        functional.unknowns.push((cell as u32, 1.0));
        functional
    }

    /// The stencil of a cell's gradient: the equations of its faces and, where they do not suffice for its
    /// purpose, of further cells. These are of the cell's material, as the temperature gradient is
    /// discontinuous with the conductivity.
    fn stencil(&self, cell: usize, purpose: Purpose) -> CellStencil {
        let (mesh, k) = (self.mesh, self.conductivity);
        let inner = mesh.n_interior_faces();
        let items = mesh.cell_to_faces.of(cell);
        let row = |item: &u32| {
            let f = index_of(*item);
            if f >= inner {
                return self.boundary_flux(f, true).row;
            }
            self.interior_flux(f, true).row_of(mesh.face_left[f] as usize == cell)
        };
        let rows: Vec<Vector> = items.iter().map(row).collect();
        let region = |c: usize| mesh.cells.groups.get(c);
        let is_same_material = |other: usize| {
            let ratio = k[other] / k[cell];
            region(other) == region(cell) && ratio < 2.0 && ratio > 0.5
        };
        let fit = fit_of_cell(mesh, self.geometry, cell, &rows, purpose, is_same_material);
        let of_face = |item: &u32| {
            let f = index_of(*item);
            if f >= inner {
                return (f - inner) as u32 | SIGN_BIT;
            }
            mesh.face_left[f] ^ mesh.face_right[f] ^ cell as u32
        };
        let own = items.iter().map(of_face);
        CellStencil { items: own.chain(fit.further.iter().map(|n| n.cell)).collect(), fit }
    }

    /// ∇T_c · direction by least squares.
    fn derivative(&self, cell: usize, direction: Vector) -> Functional {
        let CellStencil { items, fit } = self.stencil(cell, Purpose::Derivative);
        let mut functional = Functional::default();
        let mut own = 0.0;
        for (item, weight) in items.iter().zip(fit.weights) {
            let weight = dot(weight, direction);
            if *item < SIGN_BIT {
                functional.unknowns.push((*item, weight));
                own -= weight;
            } else {
                let b = index_of(*item);
                let flux = self.boundary_flux(b + self.mesh.n_interior_faces(), true);
                let value = self.boundary.values[b];
                if value != NONE {
                    functional.values.push((value, weight * flux.row_value));
                }
                own -= weight * flux.row_cell;
            }
        }
        functional.unknowns.push((cell as u32, own));
        functional
    }

    /// The heat flow into the domain through a boundary face.
    pub fn heat_through(&self, face: usize) -> Functional {
        let flux = self.boundary_flux(face, self.corrected);
        let cell = self.mesh.face_left[face] as usize;
        let mut functional = Functional::default();
        let value = self.boundary.values[face - self.mesh.n_interior_faces()];
        if value != NONE {
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
    let mut values = BoundaryValues::default();
    let boundary = boundary_faces(mesh, geometry, conditions, &mut values)?;
    let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, corrected);
    let matrix = scheme.two_point_matrix()?;
    let boundary_contribution = scheme.boundary_contribution();
    let correction = corrected.then(|| scheme.correction());
    let mass = mesh_mass(geometry, &material.volumetric_heat_capacity);
    let is_dirichlet = vec![];
    let discrete =
        Discrete { matrix, mass, boundary_contribution, values, correction, is_dirichlet };
    Ok((discrete, boundary))
}

fn mesh_mass(geometry: &Geometry, volumetric_heat_capacity: &[f64]) -> Vec<f64> {
    geometry.cell_volume.iter().zip(volumetric_heat_capacity).map(|(v, c)| v * c).collect()
}

/// Face coefficients are computed where they are needed: stored, they would take 88 bytes a face.
impl CellScheme<'_> {
    /// −a for each neighbour; Σ a, boundary faces included, on the diagonal.
    fn two_point_matrix(&self) -> Result<CsrMatrix<f64>, LinearError> {
        let mesh = self.mesh;
        let (n, n_interior) = (mesh.n_cells(), mesh.n_interior_faces());
        let conductances = self.conductances();
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
        CsrMatrix::from_rows(n, n, length, |c, columns, values| {
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
        let values = self.boundary.values.iter().enumerate().filter(|(_, v)| **v != NONE);
        let entry = |(b, value): (usize, &u32)| {
            let face = n_interior + b;
            (
                self.mesh.face_left[face],
                *value,
                self.boundary_flux(face, self.corrected).conductance,
            )
        };
        BoundaryContribution::from_entries(values.map(entry).collect())
    }

    fn correction(&self) -> NonOrthogonalCorrection {
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
        left_weight.shrink_to_fit();
        let outer: Vec<BoundaryFlux> =
            (n_interior..n_faces).map(|f| self.boundary_flux(f, true)).collect();
        let values = &self.boundary.values;
        let row_value = |(f, v): (&BoundaryFlux, &u32)| if *v == NONE { 0.0 } else { f.row_value };
        NonOrthogonalCorrection {
            stencils: self.stencils(Purpose::Derivative),
            tangential,
            left_weight,
            boundary_value: values.iter().map(|v| if *v == NONE { 0 } else { *v }).collect(),
            row_value: outer.iter().zip(values).map(row_value).collect(),
            row_cell: outer.iter().map(|f| f.row_cell).collect(),
        }
    }

    /// The gradient stencils of all cells.
    fn stencils(&self, purpose: Purpose) -> GradientStencils {
        const CELLS_A_TASK: usize = 1024;
        let n = self.mesh.n_cells();
        let task = |first: usize| {
            let mut part = StencilPart::default();
            for cell in first..(first + CELLS_A_TASK).min(n) {
                part.push(self.stencil(cell, purpose));
            }
            part
        };
        let starts: Vec<usize> = (0..n).step_by(CELLS_A_TASK).collect();
        let mut parts: Vec<StencilPart> = starts.into_par_iter().map(task).collect();
        let sum = |of: fn(&StencilPart) -> usize| parts.iter().map(of).sum::<usize>();
        let mut stencils = GradientStencils {
            rows: None,
            weights: Vec::with_capacity(3 * sum(|part| part.items.len())),
            widened: sum(|part| part.widened),
            dropped: sum(|part| part.dropped),
            limited: sum(|part| part.limited),
        };
        for k in 0..3 {
            for part in &mut parts {
                stencils.weights.append(&mut std::mem::take(&mut part.weights[k]));
            }
        }
        if stencils.widened > 0 {
            let mut rows = Adjacency { offsets: vec![0], items: vec![] };
            for part in parts {
                for length in &part.lengths {
                    rows.offsets.push(rows.offsets[rows.offsets.len() - 1] + length);
                }
                rows.items.extend(part.items);
            }
            stencils.rows = Some(rows);
        }
        stencils
    }

    /// The stencils whose gradients extrapolate from upstream; none where the correction's stencils serve.
    pub fn extrapolation(&self) -> Option<GradientStencils> {
        let stencils = self.stencils(Purpose::Extrapolation);
        let of_faces = stencils.widened + stencils.limited == 0;
        (!of_faces).then_some(stencils)
    }
}

/// The stencils of consecutive cells.
#[derive(Default)]
struct StencilPart {
    /// Number of items of each cell.
    lengths: Vec<u32>,
    items: Vec<u32>,
    weights: [Vec<f64>; 3],
    widened: usize,
    dropped: usize,
    limited: usize,
}

impl StencilPart {
    fn push(&mut self, CellStencil { items, fit }: CellStencil) {
        self.lengths.push(items.len() as u32);
        self.items.extend(items);
        for (k, weights) in self.weights.iter_mut().enumerate() {
            weights.extend(fit.weights.iter().map(|w| w[k]));
        }
        self.widened += usize::from(!fit.further.is_empty());
        self.dropped += usize::from(fit.dropped > 0);
        self.limited += usize::from(fit.limiter < 1.0);
    }
}

/// The gradient of one cell, ∇T = Σ W_k (T_k − T_c). Item k is a cell, or a boundary face where it has
/// [`SIGN_BIT`].
struct CellStencil {
    items: Vec<u32>,
    fit: CellFit,
}
