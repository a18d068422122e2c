//! Force of a flow on a patch and flow through it.
//!
//! The force of the fluid on a body behind faces whose normals n point out of the fluid is, per unit of
//! density,
//!
//! F = Σ ((p − ε) n − (ν ∂u/∂n − ε n)) |S|        collocated,
//! F = Σ (p S − ν Σ_e ± Γ_e (x_e − x_f))        staggered,
//!
//! with the error ε of the normal viscous stress ([`super::wall_pressure`]). The sum of both parts, and the viscous
//! part of the staggered schemes, is the momentum flux of the scheme, so that forces balance the momentum of the fluid. Γ_e is the integral of the vorticity along edge e of the face: the inner sum is ω × S, the sum of
//! the viscous terms ν M C W (Cᵀ M U + boundary) for a uniform test velocity. At walls at rest ω × n = ∂u/∂n
//! is the whole viscous stress; at others its transposed part sums to zero over a closed surface.
//! [`IncompressibleSolver::wall_traction`] has the stress of each face.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::IncompressibleSolver;
use super::error::IncompressibleError;
use super::flow::Flow;
use super::staggered::{DualSegments, Staggered};
use super::surface_divergence::{SurfaceDivergenceView, normal_stress_error};
use super::transported_field::boundary_values;
use crate::backend::{Backend, Buffer, Components, Partials, View};
use crate::finite_volume::{DiffusiveFaces, FaceView, Vectors, VelocityField};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// The force on a patch by its parts, per unit of density, and the outward volume flux.
#[device]
#[derive(Clone, Copy, Debug, Default, PartialEq, Components)]
pub struct Load<F: Real> {
    /// Σ p S_x, p of [`super::wall_pressure`] where the arrangement is collocated.
    pub pressure_x: F,
    /// Σ p S_y.
    pub pressure_y: F,
    /// Σ p S_z.
    pub pressure_z: F,
    /// −Σ ν ∂u/∂n |S|, the normal derivative of the normal velocity by ∇·u = 0.
    pub viscous_x: F,
    /// −Σ ν ∂v/∂n |S|, the normal derivative of the normal velocity by ∇·u = 0.
    pub viscous_y: F,
    /// −Σ ν ∂w/∂n |S|, the normal derivative of the normal velocity by ∇·u = 0.
    pub viscous_z: F,
    /// Σ F, outward.
    pub flow: F,
}

/// A group of boundary faces for [`IncompressibleSolver::load`].
pub struct LoadedFaces {
    pub(super) faces: Buffer<u32>,
    partials: Partials,
    load: Buffer<f64>,
}

impl LoadedFaces {
    /// A group of faces of a mesh.
    pub fn new(backend: &Backend, faces: Vec<u32>) -> Self {
        LoadedFaces {
            partials: Partials::new(backend, faces.len(), <Load<f64> as Components>::COUNT),
            load: backend.zeros(<Load<f64> as Components>::COUNT),
            faces: backend.upload(faces),
        }
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// The load on faces of the boundary. Without prescribed pressure its level is that of the solver.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn load(&mut self, group: &mut LoadedFaces) -> Result<Load<f64>, IncompressibleError> {
        let clock = self.clock();
        match self.stepper.staggered_mut() {
            None => sum_differences(&self.flow, group),
            Some(staggered) => sum_circulations(&self.flow, staggered, clock, group),
        }
        let backend = &self.flow.backend;
        total_load(backend, &group.partials, &mut group.load);
        Ok(Load::of_components(&backend.read(&group.load)?))
    }
}

/// The terms of the load, staggered.
fn sum_circulations<F: Real>(
    flow: &Flow<F>,
    staggered: &mut Staggered<F>,
    clock: (f64, usize),
    group: &mut LoadedFaces,
) {
    let at_boundary = boundary_values(&flow.components);
    let (vorticity, segments) = staggered.vorticity(clock, &flow.flux, &at_boundary);
    let [_, pressure_at_boundary] = flow.pressure.at_end();
    rotational_face_loads(
        &flow.backend,
        group.faces.len(),
        &group.faces,
        &flow.faces.view(),
        &segments.view(flow.components.len()),
        &vorticity.strength,
        &flow.flux,
        pressure_at_boundary,
        F::from_f64(flow.viscosity()),
        &mut group.partials,
    );
}

/// The terms of the load, collocated.
fn sum_differences<F: Real>(flow: &Flow<F>, group: &mut LoadedFaces) {
    let [_, pressure_at_boundary] = flow.pressure.at_end();
    face_loads(
        &flow.backend,
        group.faces.len(),
        &group.faces,
        &flow.faces.view(),
        &flow.velocity(),
        &flow.flux,
        pressure_at_boundary,
        &diffusive_faces(flow),
        &flow.boundary.divergence.view(flow.viscosity()),
        &mut group.partials,
    );
}

/// The coefficients of the viscous flux in the predictor.
pub(super) fn diffusive_faces<F: Real>(flow: &Flow<F>) -> DiffusiveFaces<'_, F> {
    let (conductance, tangential) = flow.momentum.face_coefficients();
    DiffusiveFaces {
        conductance: conductance.view(),
        tangential: Vectors::of(tangential),
        two_point: !flow.has_gradients(),
    }
}

/// ν ∂u/∂n |S| at boundary face `f`, number `b` of these, of cell `c`: a (u_b − u_c) + t·∇u_c.
#[device]
pub(super) fn viscous_difference<F: Real>(
    f: usize,
    c: usize,
    b: usize,
    velocity: &VelocityField<F>,
    diffusion: &DiffusiveFaces<F>,
) -> Vec3<F> {
    let mut viscous = (velocity.at_boundary(b) - velocity.at(c)) * diffusion.conductance[f];
    if comptime!(!diffusion.two_point) {
        viscous += velocity.derivative(c, diffusion.tangential.at(f));
    }
    viscous
}

/// The terms of [`Load`] of one face; the viscous one is ν ∂u/∂n |S| = a (u_b − u_c) + t·∇u_c, without t·∇u if
/// `two_point`, with the error of its normal component moved to the pressure. Traffic 16 + (10 + 2d)s, 3d s more unless
/// `two_point`; an item of the surface divergence 4 + (3 + d)s.
#[kernel(indexed, reduce(sum, sum, sum, sum, sum, sum, sum))]
pub fn face_loads<F: Real>(
    _i: usize,
    f: usize,
    faces: &FaceView<F>,
    velocity: &VelocityField<F>,
    flux: &View<F>,
    pressure_at_boundary: &View<F>,
    diffusion: &DiffusiveFaces<F>,
    divergence: &SurfaceDivergenceView<F>,
) -> (F, F, F, F, F, F, F) {
    let c = faces.left[f] as usize;
    let b = f - faces.n_interior;
    let s = faces.area.at(f);
    let difference = viscous_difference::<F>(f, c, b, velocity, diffusion);
    let error = normal_stress_error::<F>(f, faces, velocity, divergence, difference);
    let moved = s * (error / s.dot(s).sqrt());
    let pressure = s * pressure_at_boundary[b] - moved;
    let viscous = difference - moved;
    (pressure.x, pressure.y, pressure.z, -viscous.x, -viscous.y, -viscous.z, flux[f])
}

/// Σ_e ± Γ_e (x_e − x_f) over the edges of boundary face `b`.
#[device]
pub(super) fn circulation<F: Real>(
    b: usize,
    segments: &DualSegments<F>,
    strength: &View<F>,
) -> Vec3<F> {
    let mut x = F::literal(0.0);
    let mut y = F::literal(0.0);
    let mut z = F::literal(0.0);
    for k in segments.offsets[b] as usize..segments.offsets[b + 1] as usize {
        let item = segments.items[k];
        let along = with_sign::<F>(item, strength[without_sign(item)]);
        let vector = segments.vectors.at(k);
        x += along * vector.x;
        y += along * vector.y;
        if comptime!(segments.dimension == 3) {
            z += along * vector.z;
        }
    }
    Vec3::<F> { x, y, z }
}

/// The terms of [`Load`] of one face, staggered. Traffic 12 + (2 + d)s, an edge of the face 4 + (1 + d)s.
#[kernel(indexed, reduce(sum, sum, sum, sum, sum, sum, sum))]
pub fn rotational_face_loads<F: Real>(
    _i: usize,
    f: usize,
    faces: &FaceView<F>,
    segments: &DualSegments<F>,
    strength: &View<F>,
    flux: &View<F>,
    pressure_at_boundary: &View<F>,
    viscosity: F,
) -> (F, F, F, F, F, F, F) {
    let b = f - faces.n_interior;
    let s = faces.area.at(f);
    let p = pressure_at_boundary[b];
    let viscous = circulation::<F>(b, segments, strength) * -viscosity;
    (p * s.x, p * s.y, p * s.z, viscous.x, viscous.y, viscous.z, flux[f])
}

/// The sums of the terms.
#[kernel(combine(sum, sum, sum, sum, sum, sum, sum), out(load))]
pub fn total_load(
    pressure_x: f64,
    pressure_y: f64,
    pressure_z: f64,
    viscous_x: f64,
    viscous_y: f64,
    viscous_z: f64,
    flow: f64,
) -> Load<f64> {
    Load::<f64> { pressure_x, pressure_y, pressure_z, viscous_x, viscous_y, viscous_z, flow }
}
