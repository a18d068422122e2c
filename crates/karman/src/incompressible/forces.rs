//! What a flow does to a patch: the force on it and the flow through it.
//!
//! The force of the fluid on a body behind faces whose normals n point out of the fluid is, per unit of density,
//!
//! F = Σ (p n − ν ∂u/∂n) |S|        collocated,
//! F = Σ (p S − ν Σ_e ± Γ_e (x_e − x_f))        with fluxes at the faces,
//!
//! the viscous part each time the momentum that the scheme itself takes through the face, so that forces balance
//! the momentum of the fluid. Γ_e is the integral of the vorticity along edge e of the face: the inner sum is
//! ω × S, and what the viscous terms ν M C W (Cᵀ M U + legs) add up to for a uniform test velocity. At walls at
//! rest ω × n = ∂u/∂n is the whole viscous stress; on others the transposed part of it adds up to zero over a
//! closed surface. [`Flow::wall_traction`] has the stress of each face.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::Flow;
use super::error::IncompressibleError;
use super::flow::three;
use super::staggered::{FaceLegs, Staggered};
use crate::backend::{Backend, Buffer, Components, Partials, View};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// The force on a patch by its parts, per unit of density, and the volume that leaves through it.
#[device]
#[derive(Clone, Copy, Debug, Default, PartialEq, Components)]
pub struct Load<F: Real> {
    /// Σ p S_x.
    pub pressure_x: F,
    /// Σ p S_y.
    pub pressure_y: F,
    /// Σ p S_z.
    pub pressure_z: F,
    /// −Σ ν ∂u/∂n |S|.
    pub viscous_x: F,
    /// −Σ ν ∂v/∂n |S|.
    pub viscous_y: F,
    /// −Σ ν ∂w/∂n |S|.
    pub viscous_z: F,
    /// Σ F, outward.
    pub flow: F,
}

/// A group of boundary faces whose load is wanted.
pub struct LoadedFaces {
    faces: Buffer<u32>,
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

impl<F: Real> Flow<F> {
    /// The load on faces of the boundary. The level of the pressure is the solver's where nothing fixes it.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn load(&mut self, group: &mut LoadedFaces) -> Result<Load<f64>, IncompressibleError> {
        match self.staggered.take() {
            None => self.sum_differences(group),
            Some(mut staggered) => {
                self.sum_circulations(&mut staggered, group);
                self.staggered = Some(staggered);
            }
        }
        let backend = &self.backend;
        total_load(backend, &group.partials, &mut group.load);
        let sums = backend.read(&group.load)?;
        Ok(Load {
            pressure_x: sums[0],
            pressure_y: sums[1],
            pressure_z: sums[2],
            viscous_x: sums[3],
            viscous_y: sums[4],
            viscous_z: sums[5],
            flow: sums[6],
        })
    }

    /// The terms of the load with fluxes at the faces.
    fn sum_circulations(&self, staggered: &mut Staggered<F>, group: &mut LoadedFaces) {
        let cells = &self.faces.cells;
        let at_boundary = three(&self.components, |c| &c.at_boundary);
        let (vorticity, legs) = staggered.vorticity(self.clock(), &self.flux, at_boundary);
        let FaceLegs { offsets, items, arms } = legs;
        let [_, pressure_at_boundary] = self.pressure.shown();
        rotational_face_loads(
            &self.backend,
            group.faces.len(),
            &group.faces,
            offsets,
            items,
            arms,
            &vorticity.strength,
            &self.flux,
            pressure_at_boundary,
            &self.faces.area,
            F::from_f64(self.viscosity),
            cells.n_interior(),
            cells.n_faces(),
            items.len(),
            self.dimension,
            &mut group.partials,
        );
    }

    /// The terms of the load with velocities in the cells.
    fn sum_differences(&self, group: &mut LoadedFaces) {
        let backend = &self.backend;
        let cells = &self.faces.cells;
        let [u, v, w] = three(&self.components, |c| &c.now);
        let [du, dv, dw] = three(&self.components, |c| &c.gradient);
        let [bu, bv, bw] = three(&self.components, |c| &c.at_boundary);
        let (conductance, tangential) = self.momentum.of_faces();
        let [_, pressure_at_boundary] = self.pressure.shown();
        face_loads(
            backend,
            group.faces.len(),
            &group.faces,
            &cells.left,
            &self.flux,
            pressure_at_boundary,
            &self.faces.area,
            conductance,
            tangential,
            u,
            v,
            w,
            du,
            dv,
            dw,
            bu,
            bv,
            bw,
            cells.n_interior(),
            cells.n_faces(),
            u.len(),
            self.dimension,
            !self.has_gradients(),
            &mut group.partials,
        );
    }
}

/// What a component carries through a boundary face into its cell, ν ∂u/∂n |S|.
#[device]
#[inline(always)]
fn drag<F: Real>(
    a: F,
    t: Vec3<F>,
    own: F,
    at_face: F,
    gradient: &View<F>,
    c: usize,
    n_cells: usize,
    #[comptime] plain: bool,
) -> F {
    let mut carried = a * (at_face - own);
    if comptime!(!plain) {
        carried += t.dot(Vec3::<F>::at(gradient, c, n_cells));
    }
    carried
}

/// The terms of [`Load`] of one face. Traffic 8 + (10 + 2d)s, 3d s more where not plain.
#[kernel(face_loads, indexed, reduce(sum, sum, sum, sum, sum, sum, sum))]
pub fn load_of_face<F: Real>(
    _i: usize,
    f: usize,
    left: &View<u32>,
    flux: &View<F>,
    pressure_at_boundary: &View<F>,
    area: &View<F>,
    conductance: &View<F>,
    tangential: &View<F>,
    u: &View<F>,
    v: &View<F>,
    w: &View<F>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    at_boundary_x: &View<F>,
    at_boundary_y: &View<F>,
    at_boundary_z: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] plain: bool,
) -> (F, F, F, F, F, F, F) {
    let c = left[f] as usize;
    let b = f - n_interior;
    let s = Vec3::<F>::at(area, f, n_faces);
    let p = pressure_at_boundary[b];
    let a = conductance[f];
    let mut t = Vec3::<F>::zero();
    if comptime!(!plain) {
        t = Vec3::<F>::at(tangential, f, n_faces);
    }
    let x = drag::<F>(a, t, u[c], at_boundary_x[b], du, c, n_cells, plain);
    let y = drag::<F>(a, t, v[c], at_boundary_y[b], dv, c, n_cells, plain);
    let mut z = F::literal(0.0);
    if comptime!(dimension == 3) {
        z = drag::<F>(a, t, w[c], at_boundary_z[b], dw, c, n_cells, plain);
    }
    (p * s.x, p * s.y, p * s.z, -x, -y, -z, flux[f])
}

/// The same with fluxes at the faces. Traffic 12 + (2 + d)s, an edge of the face 4 + (1 + d)s.
#[kernel(rotational_face_loads, indexed, reduce(sum, sum, sum, sum, sum, sum, sum))]
pub fn rotational_load_of_face<F: Real>(
    _i: usize,
    f: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    arms: &View<F>,
    strength: &View<F>,
    flux: &View<F>,
    pressure_at_boundary: &View<F>,
    area: &View<F>,
    viscosity: F,
    n_interior: usize,
    n_faces: usize,
    n_items: usize,
    #[comptime] dimension: usize,
) -> (F, F, F, F, F, F, F) {
    let b = f - n_interior;
    let s = Vec3::<F>::at(area, f, n_faces);
    let p = pressure_at_boundary[b];
    let mut x = F::literal(0.0);
    let mut y = F::literal(0.0);
    let mut z = F::literal(0.0);
    for k in offsets[b] as usize..offsets[b + 1] as usize {
        let item = items[k];
        let along = with_sign::<F>(item, strength[without_sign(item)]);
        let arm = Vec3::<F>::at(arms, k, n_items);
        x += along * arm.x;
        y += along * arm.y;
        if comptime!(dimension == 3) {
            z += along * arm.z;
        }
    }
    let scale = -viscosity;
    (p * s.x, p * s.y, p * s.z, scale * x, scale * y, scale * z, flux[f])
}

/// Their sums.
#[kernel(total_load, combine(sum, sum, sum, sum, sum, sum, sum), out(load))]
pub fn load_of_faces(
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
