//! Moment of the force of a flow on a patch about a point x₀, per unit of density:
//!
//! M = Σ (x_f − x₀) × f,
//!
//! with the force f of each face as in [`super::forces`], at its centroid x_f.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::IncompressibleSolver;
use super::error::IncompressibleError;
use super::forces::{LoadedFaces, circulation, diffusive_faces, viscous_difference};
use super::staggered::DualSegments;
use super::transported_field::boundary_values;
use crate::backend::{Backend, Buffer, Components, Partials, View};
use crate::finite_volume::{
    DiffusiveFaces, FaceView, Vectors, VelocityField, component_major, narrow,
};
use crate::mesh::Geometry;
use crate::mesh::geometry::{cross, subtract};
use crate::real::Real;
use karman_backend::prelude::*;

/// A moment per unit of density.
#[device]
#[derive(Clone, Copy, Debug, Default, PartialEq, Components)]
pub struct Moment<F: Real> {
    /// About x.
    pub x: F,
    /// About y.
    pub y: F,
    /// About z.
    pub z: F,
}

/// A group of boundary faces and a point, for [`IncompressibleSolver::moment`].
pub struct MomentFaces<F: Real> {
    /// x_f − x₀: `[3][faces]`.
    arms: Buffer<F>,
    partials: Partials,
    moment: Buffer<f64>,
    /// Σ (x_f − x₀) × S, the moment of a unit pressure.
    pub of_unit_pressure: [f64; 3],
}

impl<F: Real> MomentFaces<F> {
    /// Faces of a mesh and the centre of the moment.
    pub fn new(backend: &Backend, geometry: &Geometry, faces: &[u32], centre: [f64; 3]) -> Self {
        let arm = |face: &u32| subtract(geometry.face_centre_of(*face as usize), centre);
        let arms: Vec<[f64; 3]> = faces.iter().map(arm).collect();
        let mut of_unit_pressure = [0.0; 3];
        for (face, arm) in faces.iter().zip(&arms) {
            let moment = cross(*arm, geometry.area_vector_of(*face as usize));
            (0..3).for_each(|k| of_unit_pressure[k] += moment[k]);
        }
        MomentFaces {
            arms: narrow(backend, component_major(&arms)),
            partials: Partials::new(backend, faces.len(), <Moment<f64> as Components>::COUNT),
            moment: backend.zeros(<Moment<f64> as Components>::COUNT),
            of_unit_pressure,
        }
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// The moment of pressure and viscous stress on faces of the boundary; `group` has the faces of `loaded`.
    /// Without prescribed pressure its level is that of the solver.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn moment(
        &mut self,
        loaded: &LoadedFaces,
        group: &mut MomentFaces<F>,
    ) -> Result<[f64; 3], IncompressibleError> {
        let clock = self.clock();
        let (flow, stepper) = (&self.flow, &mut self.stepper);
        let (faces, n) = (&loaded.faces, loaded.faces.len());
        let [_, pressure_at_boundary] = flow.pressure.at_end();
        let arms = Vectors::of(&group.arms);
        match stepper.staggered_mut() {
            None => face_moments(
                &flow.backend,
                n,
                faces,
                &arms,
                &flow.faces.view(),
                &flow.velocity(),
                pressure_at_boundary,
                &diffusive_faces(flow),
                &mut group.partials,
            ),
            Some(staggered) => {
                let at_boundary = boundary_values(&flow.components);
                let (vorticity, segments) = staggered.vorticity(clock, &flow.flux, &at_boundary);
                rotational_face_moments(
                    &flow.backend,
                    n,
                    faces,
                    &arms,
                    &flow.faces.view(),
                    &segments.view(flow.components.len()),
                    &vorticity.strength,
                    pressure_at_boundary,
                    F::from_f64(flow.viscosity()),
                    &mut group.partials,
                );
            }
        }
        total_moment(&flow.backend, &group.partials, &mut group.moment);
        let sums = flow.backend.read(&group.moment)?;
        Ok([sums[0], sums[1], sums[2]])
    }
}

/// The moment of one face. Traffic 8 + (12 + 2d)s, 3d s more unless `two_point`.
#[kernel(indexed, reduce(sum, sum, sum))]
pub fn face_moments<F: Real>(
    i: usize,
    f: usize,
    arms: &Vectors<F>,
    faces: &FaceView<F>,
    velocity: &VelocityField<F>,
    pressure_at_boundary: &View<F>,
    diffusion: &DiffusiveFaces<F>,
) -> (F, F, F) {
    let c = faces.left[f] as usize;
    let b = f - faces.n_interior;
    let viscous = viscous_difference::<F>(f, c, b, velocity, diffusion);
    let force = faces.area.at(f) * pressure_at_boundary[b] - viscous;
    let moment = arms.at(i).cross(force);
    (moment.x, moment.y, moment.z)
}

/// The moment of one face, staggered. Traffic 12 + (5 + d)s, an edge of the face 4 + (1 + d)s.
#[kernel(indexed, reduce(sum, sum, sum))]
pub fn rotational_face_moments<F: Real>(
    i: usize,
    f: usize,
    arms: &Vectors<F>,
    faces: &FaceView<F>,
    segments: &DualSegments<F>,
    strength: &View<F>,
    pressure_at_boundary: &View<F>,
    viscosity: F,
) -> (F, F, F) {
    let b = f - faces.n_interior;
    let viscous = circulation::<F>(b, segments, strength) * viscosity;
    let force = faces.area.at(f) * pressure_at_boundary[b] - viscous;
    let moment = arms.at(i).cross(force);
    (moment.x, moment.y, moment.z)
}

/// The sum of the moments.
#[kernel(combine(sum, sum, sum), out(moment))]
pub fn total_moment(x: f64, y: f64, z: f64) -> Moment<f64> {
    Moment::<f64> { x, y, z }
}
