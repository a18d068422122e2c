//! The pressure on boundary faces where the velocity is prescribed, collocated, for output.
//!
//! By ∇·u = 0 the normal derivative of the normal velocity at such a face follows from the prescribed velocity,
//! n·∂u/∂n = −tr H with H the gradient along the boundary: 0 at walls at rest or in rigid motion. The viscous flux of the
//! scheme has the first-order error ε = ν (n·∂u/∂n + tr H) there, a normal stress. In cells without a face opposite to the
//! wall, as triangles and tetrahedra, the momentum of the fluid balances it by the pressure, which is thus off by ε. The
//! pressure on such a face is p_b − ε, p_b the pressure of the scheme, and the viscous force has −ν tr H along the normal;
//! their sum is the momentum flux of the scheme. Decision 16.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::forces::{diffusive_faces, viscous_difference};
use super::surface_divergence::{SurfaceDivergenceView, normal_stress_error};
use super::{IncompressibleError, IncompressibleSolver};
use crate::backend::View;
use crate::finite_volume::{DiffusiveFaces, FaceView, VelocityField, widen};
use crate::real::Real;
use karman_backend::prelude::*;

/// p_b − ε of each boundary face, ε = 0 where its row is empty. Traffic a face 12 + (10 + 2d)s, 3d s more unless `two_point`; an item 4 + (3 + d)s.
#[kernel(out(pressure))]
pub fn pressure_of_faces<F: Real>(
    b: usize,
    faces: &FaceView<F>,
    velocity: &VelocityField<F>,
    pressure_at_boundary: &View<F>,
    diffusion: &DiffusiveFaces<F>,
    divergence: &SurfaceDivergenceView<F>,
) -> F {
    let f = faces.n_interior + b;
    let c = faces.left[f] as usize;
    let viscous = viscous_difference::<F>(f, c, b, velocity, diffusion);
    let s = faces.area.at(f);
    let error = normal_stress_error::<F>(f, faces, velocity, divergence, viscous);
    pressure_at_boundary[b] - error / s.dot(s).sqrt()
}

impl<F: Real> IncompressibleSolver<F> {
    /// The pressure over the density on boundary faces, `[faces]`, as in the force of
    /// [`IncompressibleSolver::load`]; without prescribed pressure its level is that of the solver.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn pressure_on(&self, faces: &[u32]) -> Result<Vec<f64>, IncompressibleError> {
        let flow = &self.flow;
        let inner = flow.faces.cells.n_interior();
        let [_, at_boundary] = flow.pressure.at_end();
        let of_faces = match self.stepper.staggered() {
            Some(_) => widen(&flow.backend, at_boundary)?,
            None => {
                let mut pressure = flow.backend.zeros(at_boundary.len());
                pressure_of_faces(
                    &flow.backend,
                    at_boundary.len(),
                    &flow.faces.view(),
                    &flow.velocity(),
                    at_boundary,
                    &diffusive_faces(flow),
                    &flow.boundary.divergence.view(flow.viscosity()),
                    &mut pressure,
                );
                widen(&flow.backend, &pressure)?
            }
        };
        Ok(faces.iter().map(|face| of_faces[*face as usize - inner]).collect())
    }
}
