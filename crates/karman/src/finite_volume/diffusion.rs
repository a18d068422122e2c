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
use super::boundary::{BoundaryFaces, BoundaryValues, Condition};
use super::boundary_contribution::BoundaryContribution;
use super::cell_scheme::{BoundaryFlux, CellScheme, Conductivity};
use super::discrete::Discrete;
use super::functional::Functional;
use super::least_squares::{GradientStencils, Use};
use super::nonorthogonal_correction::NonOrthogonalCorrection;
use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;

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

/// The boundary terms alone of [`discretize`] with correction, C v and the conditions: of a further quantity with conditions of the
/// same kinds on the same faces, or for conductances of one's own in A.
///
/// # Errors
/// As [`discretize`].
pub fn discretize_boundary(
    mesh: &Mesh,
    geometry: &Geometry,
    conductivity: Conductivity<'_>,
    conditions: &[Condition],
) -> Result<(BoundaryContribution, BoundaryValues, BoundaryFaces), DiffusionError> {
    let mut values = BoundaryValues::default();
    let boundary = BoundaryFaces::new(mesh, geometry, conditions, &mut values)?;
    let scheme = CellScheme::new(mesh, geometry, conductivity, &boundary, true);
    Ok((scheme.boundary_contribution(), values, boundary))
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

    /// K of these gradients.
    pub fn correction_with(&self, stencils: GradientStencils) -> NonOrthogonalCorrection {
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
