//! The viscous stress on walls, face by face.
//!
//! With n out of the fluid the fluid exerts −ν (∂u/∂n + (∇u)ᵀ n) on the wall, per unit of area and density.
//! With H the gradient along the wall of the prescribed velocity,
//!
//! (∇u)ᵀ n = Hᵀ n − (tr H) n,
//!
//! by ∇·u = 0; it is zero at walls at rest. Collocated, ∂u/∂n is the difference of the scheme, in cells without a face opposite
//! to the wall with −tr H as its normal component ([`super::wall_pressure`]); staggered, it is ω × n + (∇u)ᵀ n, ω a
//! least-squares fit to the vorticity at surrounding nodes.

use super::staggered::{least_squares, vorticity_at_walls};
use super::surface_divergence::{has_opposite_face, normal, wall_neighbours};
use super::{IncompressibleError, IncompressibleSolver};
use crate::mesh::geometry::{cross, dot, norm, subtract};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

type Vector = [f64; 3];

impl<F: Real> IncompressibleSolver<F> {
    /// The viscous stress on boundary faces where the velocity is prescribed, per unit of density: the force
    /// on the wall per area, `[faces]`. Collocated, its sum over a wall at rest is the viscous force of
    /// [`IncompressibleSolver::load`]; staggered, they differ by a discretisation error.
    ///
    /// # Errors
    /// [`IncompressibleError::NoWall`] at a face where no velocity is prescribed;
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn wall_traction(
        &self,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &[u32],
    ) -> Result<Vec<Vector>, IncompressibleError> {
        let inner = mesh.n_interior_faces();
        let prescribed = self.prescribed_velocities()?;
        if let Some(face) = faces.iter().find(|f| prescribed[**f as usize - inner].is_none()) {
            let place = geometry.face_centre_of(*face as usize);
            return Err(IncompressibleError::NoWall { place });
        }
        let transposed = transposed_gradients((mesh, geometry), &prescribed, faces);
        let derivatives: Vec<Vector> = match self.stepper.staggered() {
            None => {
                let derivatives = self.normal_derivatives((mesh, geometry), faces)?;
                let terms = faces.iter().zip(derivatives).zip(&transposed);
                let corrected = |((face, d), (_, trace)): ((&u32, Vector), &(Vector, f64))| {
                    if has_opposite_face(mesh, *face) {
                        return d;
                    }
                    let n = normal(geometry, *face);
                    let off = dot(d, n) + trace;
                    [0, 1, 2].map(|k| d[k] - off * n[k])
                };
                terms.map(corrected).collect()
            }
            Some(_) => {
                let nodal = self.nodal_vorticity()?;
                let vorticity = vorticity_at_walls((mesh, geometry), &nodal, faces);
                let terms = faces.iter().zip(vorticity).zip(&transposed);
                let along = |((face, w), (t, _)): ((&u32, Vector), &(Vector, f64))| {
                    let rotation = cross(w, normal(geometry, *face));
                    [0, 1, 2].map(|k| rotation[k] + t[k])
                };
                terms.map(along).collect()
            }
        };
        let stress = |(d, (t, _)): (Vector, (Vector, f64))| {
            [0, 1, 2].map(|k| -self.flow.viscosity() * (d[k] + t[k]))
        };
        Ok(derivatives.into_iter().zip(transposed).map(stress).collect())
    }

    /// ∂u/∂n of each face in the predictor.
    fn normal_derivatives(
        &self,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &[u32],
    ) -> Result<Vec<Vector>, IncompressibleError> {
        let (inner, n) = (mesh.n_interior_faces(), mesh.n_cells());
        let (conductance, tangential) = self.flow.momentum.face_coefficients();
        let (conductance, tangential) = (self.read_f64(conductance)?, self.read_f64(tangential)?);
        let n_faces = mesh.n_faces();
        let has_gradients = self.flow.has_gradients();
        let mut derivatives = vec![[0.0; 3]; faces.len()];
        for (k, component) in self.flow.components.iter().enumerate() {
            let value = self.read_f64(&component.now)?;
            let at_boundary = self.read_f64(&component.at_boundary)?;
            let gradient = self.read_f64(&component.gradient)?;
            for (derivative, face) in derivatives.iter_mut().zip(faces) {
                let face = *face as usize;
                let cell = mesh.face_left[face] as usize;
                let mut flux = conductance[face] * (at_boundary[face - inner] - value[cell]);
                if has_gradients {
                    let terms =
                        (0..3).map(|i| tangential[i * n_faces + face] * gradient[i * n + cell]);
                    flux += terms.fold(0.0, |a, b| a + b);
                }
                derivative[k] =
                    flux / (self.flow.viscosity() * norm(geometry.area_vector_of(face)));
            }
        }
        Ok(derivatives)
    }

    /// The velocity at boundary faces of prescribed velocity, without slip walls and convective outlets:
    /// `[n_boundary]`.
    pub(super) fn prescribed_velocities(&self) -> Result<Vec<Option<Vector>>, IncompressibleError> {
        let inner = self.flow.faces.cells.n_interior();
        let mut is_prescribed: Vec<bool> = self
            .flow
            .backend
            .read(&self.flow.boundary.dirichlet_index)?
            .into_iter()
            .map(|index| index > 0)
            .collect();
        for list in [&self.flow.boundary.slip.faces, &self.flow.boundary.outflow.faces] {
            for face in self.flow.backend.read(list)? {
                is_prescribed[face as usize - inner] = false;
            }
        }
        let values = self.flow.components.iter().map(|c| self.read_f64(&c.at_boundary));
        let values = values.collect::<Result<Vec<Vec<f64>>, IncompressibleError>>()?;
        let of_face = |(b, is): (usize, bool)| {
            is.then(|| [0, 1, 2].map(|k| values.get(k).map_or(0.0, |values| values[b])))
        };
        Ok(is_prescribed.into_iter().enumerate().map(of_face).collect())
    }
}

/// (∇u)ᵀ n and tr H of each face from the prescribed velocities there and at the neighbouring faces of the wall.
fn transposed_gradients(
    (mesh, geometry): (&Mesh, &Geometry),
    prescribed: &[Option<Vector>],
    faces: &[u32],
) -> Vec<(Vector, f64)> {
    let inner = mesh.n_interior_faces();
    let is_prescribed: Vec<bool> = prescribed.iter().map(Option::is_some).collect();
    let around = wall_neighbours((mesh, geometry), &is_prescribed);
    let of_face = |face: &u32| {
        let n = normal(geometry, *face);
        let neighbours = around(*face);
        let centre = geometry.face_centre_of(*face as usize);
        let size =
            norm(geometry.area_vector_of(*face as usize)).powf(1.0 / (mesh.dimension - 1) as f64);
        let row = |other: &u32| {
            let r = subtract(geometry.face_centre_of(*other as usize), centre);
            let along = dot(r, n);
            let [x, y, z] = [0, 1, 2].map(|k| (r[k] - along * n[k]) / size);
            let velocity = prescribed[*other as usize - inner].unwrap_or_default();
            ([1.0, x, y, z], velocity)
        };
        let rows: Vec<([f64; 4], Vector)> = neighbours.iter().map(row).collect();
        let [_, gradients @ ..] = least_squares(&rows);
        // gradients[i][j] = ∂u_j/∂x_i along the wall.
        let gradients = gradients.map(|gradient| gradient.map(|s| s / size));
        let trace = gradients[0][0] + gradients[1][1] + gradients[2][2];
        ([0, 1, 2].map(|i| dot(gradients[i], n) - trace * n[i]), trace)
    };
    faces.iter().map(of_face).collect()
}
