//! Viscosity and heat conduction of a gas, and their fluxes through faces.
//!
//! F·n = −(0, τn, u·τn + λ∇T·n), τ = μ(∇u + ∇uᵀ − ⅔ (∇·u) I), λ∇T = μ γ/((γ − 1) Pr) ∇θ, θ = p/ρ. The gradient at a point of a face is
//! the mean of those of both polynomials, plus a jump that damps modes from cell to cell, α (φ_r − φ_l) n / (d·n), d between the
//! centroids and α = 4/3; it is exact where the polynomials are. At a wall φ_r is the value of the wall and d ends there.
//!
//! Source: Nishikawa, AIAA paper 2011-3044.
#![allow(missing_docs)] // on the modules that the attributes make

use super::boundary::{ISOTHERMAL, NO_SLIP, PRESCRIBED, REFLECTED, at_wall, has_friction};
use super::reconstruction::polynomial::StateGradient;
use super::state::{Conserved, Primitive};
use crate::backend::{Backend, Buffer, View};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use rayon::prelude::*;

/// The dynamic viscosity μ, Pa s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Viscosity {
    /// Equal everywhere.
    Constant(f64),
    /// Sutherland's law, μ = μ_r (T/T_r)^(3/2) (T_r + S)/(T + S).
    Sutherland {
        /// μ_r, Pa s.
        reference: f64,
        /// T_r, K.
        temperature: f64,
        /// S, K.
        constant: f64,
    },
}

/// Viscous terms of a perfect gas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViscousGas {
    /// μ.
    pub viscosity: Viscosity,
    /// Pr = μ c_p / λ.
    pub prandtl: f64,
    /// R = p/(ρT), J/(kg K).
    pub gas_constant: f64,
}

/// How the viscosity follows from the temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ViscosityLaw {
    /// No viscous terms.
    Inviscid,
    /// μ is constant.
    Constant,
    /// Sutherland's law.
    Sutherland,
}

/// Viscous data of a gas, with temperatures as θ = RT.
#[derive(Group, Clone, Copy)]
pub(super) struct ViscousView<'a, F: Real> {
    /// μ, of Sutherland's law μ_r.
    pub viscosity: F,
    /// R T_r.
    pub reference: F,
    /// R S.
    pub constant: F,
    /// γ/((γ − 1) Pr).
    pub conduction: F,
    /// R.
    pub gas_constant: F,
    /// d·n from the left to the right centroid, at a boundary from the cell to the face: `[n_faces]`.
    pub spacing: View<'a, F>,
    /// The law.
    #[comptime]
    pub law: ViscosityLaw,
}

/// The viscous terms of a flow on a backend.
pub(super) struct ViscousData<F: Real> {
    gas: Option<ViscousGas>,
    gamma: f64,
    spacing: Buffer<F>,
}

impl ViscousGas {
    /// μ at a temperature, Pa s.
    pub fn viscosity_at(&self, temperature: f64) -> f64 {
        match self.viscosity {
            Viscosity::Constant(value) => value,
            Viscosity::Sutherland { reference, temperature: at, constant } => {
                reference * (temperature / at).powf(1.5) * (at + constant)
                    / (temperature + constant)
            }
        }
    }
}

impl<F: Real> ViscousData<F> {
    /// The terms of a gas with the ratio γ of specific heats; without a gas there are none.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        gas: Option<ViscousGas>,
        gamma: f64,
    ) -> Self {
        let along_normal = |face: usize| {
            let left = geometry.cell_centre_of(mesh.face_left[face] as usize);
            let to = match face < mesh.n_interior_faces() {
                true => geometry.right_centre_of(mesh, face),
                false => geometry.face_centre_of(face),
            };
            let (d, s) = (subtract(to, left), geometry.area_vector_of(face));
            // Of a pair of slivers d may be along the face: the jump stays bounded.
            (dot(d, s) / norm(s)).max(LEAST_COSINE * norm(d))
        };
        let spacing = match gas {
            Some(_) => {
                let faces = (0..mesh.n_faces()).into_par_iter().map(along_normal);
                faces.map(F::from_f64).collect()
            }
            None => vec![],
        };
        ViscousData { gas, gamma, spacing: backend.upload(spacing) }
    }

    /// The terms as kernels read them.
    pub(super) fn view(&self) -> ViscousView<'_, F> {
        let zero = F::literal(0.0);
        let Some(gas) = &self.gas else {
            return ViscousView {
                viscosity: zero,
                reference: zero,
                constant: zero,
                conduction: zero,
                gas_constant: zero,
                spacing: View::absent(),
                law: ViscosityLaw::Inviscid,
            };
        };
        let (law, [viscosity, reference, constant]) = match gas.viscosity {
            Viscosity::Constant(value) => (ViscosityLaw::Constant, [value, 1.0, 0.0]),
            Viscosity::Sutherland { reference, temperature, constant } => {
                (ViscosityLaw::Sutherland, [reference, temperature, constant])
            }
        };
        let r = gas.gas_constant;
        ViscousView {
            viscosity: F::from_f64(viscosity),
            reference: F::from_f64(r * reference),
            constant: F::from_f64(r * constant),
            conduction: F::from_f64(self.gamma / ((self.gamma - 1.0) * gas.prandtl)),
            gas_constant: F::from_f64(r),
            spacing: self.spacing.view(),
            law,
        }
    }
}

/// Least d·n / |d| of the jumps.
const LEAST_COSINE: f64 = 0.2;

#[device]
impl<F: Real> ViscousView<'_, F> {
    /// μ(θ).
    #[inline(always)]
    pub(super) fn viscosity_at(&self, theta: F) -> F {
        let mut mu = self.viscosity;
        if comptime!(self.law == ViscosityLaw::Sutherland) {
            let ratio = theta / self.reference;
            mu *= ratio * ratio.sqrt() * (self.reference + self.constant) / (theta + self.constant);
        }
        mu
    }

    /// ν' = max(4/3, γ/Pr) μ/ρ, the largest diffusivity of a state.
    #[inline(always)]
    pub(super) fn diffusivity(&self, state: Primitive<F>, gamma: F) -> F {
        let of_heat = self.conduction * (gamma - 1.0);
        let largest = of_heat.max(F::literal(4.0) / 3.0);
        largest * self.viscosity_at(theta::<F>(state)) / state.density
    }
}

/// Gradients of the velocity components and of θ.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Linear)]
pub(super) struct PrimitiveGradient<F: Real> {
    pub u: Vec3<F>,
    pub v: Vec3<F>,
    pub w: Vec3<F>,
    pub theta: Vec3<F>,
}

#[device]
impl<F: Real> PrimitiveGradient<F> {
    /// Of a state and its gradient.
    #[inline(always)]
    pub(super) fn of(
        q: Conserved<F>,
        gradient: StateGradient<F>,
        gamma: F,
    ) -> PrimitiveGradient<F> {
        let scale = 1.0 / q.density;
        let velocity = q.momentum() * scale;
        let energy = q.energy * scale;
        let StateGradient::<F> { x, y, z } = gradient;
        let density = Vec3::<F> { x: x.density, y: y.density, z: z.density };
        let along_x = Vec3::<F> { x: x.momentum_x, y: y.momentum_x, z: z.momentum_x };
        let along_y = Vec3::<F> { x: x.momentum_y, y: y.momentum_y, z: z.momentum_y };
        let along_z = Vec3::<F> { x: x.momentum_z, y: y.momentum_z, z: z.momentum_z };
        let of_energy = Vec3::<F> { x: x.energy, y: y.energy, z: z.energy };
        let u = (along_x - density * velocity.x) * scale;
        let v = (along_y - density * velocity.y) * scale;
        let w = (along_z - density * velocity.z) * scale;
        let internal = (of_energy - density * energy) * scale
            - u * velocity.x
            - v * velocity.y
            - w * velocity.z;
        PrimitiveGradient::<F> { u, v, w, theta: internal * (gamma - 1.0) }
    }

    /// The gradient with jumps of the velocity and of θ across the normal, α Δφ n / (d·n).
    #[inline(always)]
    pub(super) fn with_jump(
        self,
        velocity: Vec3<F>,
        theta: F,
        n: Vec3<F>,
        spacing: F,
    ) -> PrimitiveGradient<F> {
        let scale = F::literal(4.0) / (3.0 * spacing);
        PrimitiveGradient::<F> {
            u: self.u + n * (scale * velocity.x),
            v: self.v + n * (scale * velocity.y),
            w: self.w + n * (scale * velocity.z),
            theta: self.theta + n * (scale * theta),
        }
    }

    /// τn / μ.
    #[inline(always)]
    pub(super) fn traction(self, n: Vec3<F>) -> Vec3<F> {
        let divergence = self.u.x + self.v.y + self.w.z;
        let along = Vec3::<F> { x: self.u.dot(n), y: self.v.dot(n), z: self.w.dot(n) };
        let transposed = self.u * n.x + self.v * n.y + self.w * n.z;
        along + transposed - n * (divergence * F::literal(2.0) / 3.0)
    }
}

/// θ = p/ρ.
#[device]
#[inline(always)]
pub(super) fn theta<F: Real>(q: Primitive<F>) -> F {
    q.pressure / q.density
}

/// The viscous flux by area between two states, of opposite sign to the stress.
#[device]
#[inline(always)]
pub(super) fn viscous_flux<F: Real>(
    left: Primitive<F>,
    right: Primitive<F>,
    mean: PrimitiveGradient<F>,
    n: Vec3<F>,
    spacing: F,
    gas: &ViscousView<'_, F>,
) -> Conserved<F> {
    let theta_l = theta::<F>(left);
    let theta_r = theta::<F>(right);
    let gradient =
        mean.with_jump(right.velocity() - left.velocity(), theta_r - theta_l, n, spacing);
    let half = F::literal(0.5);
    let mu = gas.viscosity_at(half * (theta_l + theta_r));
    let stress = gradient.traction(n) * mu;
    let velocity = (left.velocity() + right.velocity()) * half;
    let heat = mu * gas.conduction * gradient.theta.dot(n);
    Conserved::<F>::of(F::literal(0.0), -stress, -(velocity.dot(stress) + heat))
}

/// The viscous flux by area through a boundary face.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BoundaryViscousFlux<F: Real> {
    /// 0, −τn, −(u·τn + λ∇T·n).
    pub flux: Conserved<F>,
    /// λ∇T·n, the heat that enters.
    pub heat: F,
}

/// The viscous flux by area through a boundary face: at walls with the velocity of the wall and, if isothermal, its temperature, which
/// `wall` has in place of a density; without heat flux at other walls; with a prescribed state; at slip walls the normal stress alone; elsewhere that of the state inside.
#[device]
#[inline(always)]
pub(super) fn boundary_viscous_flux<F: Real>(
    kind: u32,
    inside: Primitive<F>,
    wall: Primitive<F>,
    gradient: PrimitiveGradient<F>,
    n: Vec3<F>,
    spacing: F,
    gas: &ViscousView<'_, F>,
) -> BoundaryViscousFlux<F> {
    let zero = F::literal(0.0);
    let theta_inside = theta::<F>(inside);
    let mut theta_jump = zero;
    let mut velocity_jump = Vec3::<F>::zero();
    let mut velocity = inside.velocity();
    if has_friction(kind) {
        let of_wall = at_wall::<F>(wall, n).velocity();
        velocity_jump = of_wall - velocity;
        velocity = of_wall;
    }
    if kind == PRESCRIBED {
        velocity_jump = wall.velocity() - velocity;
        theta_jump = theta::<F>(wall) - theta_inside;
        velocity = wall.velocity();
    }
    if kind == ISOTHERMAL {
        theta_jump = wall.density * gas.gas_constant - theta_inside;
    }
    let at_face = gradient.with_jump(velocity_jump, theta_jump, n, spacing);
    let mu = gas.viscosity_at(theta_inside + theta_jump);
    let mut stress = at_face.traction(n) * mu;
    let mut heat = mu * gas.conduction * at_face.theta.dot(n);
    if kind == NO_SLIP || kind == REFLECTED {
        heat = zero;
    }
    if kind == REFLECTED {
        stress = n * stress.dot(n);
        velocity = velocity - n * velocity.dot(n);
    }
    BoundaryViscousFlux::<F> {
        flux: Conserved::<F>::of(zero, -stress, -(velocity.dot(stress) + heat)),
        heat,
    }
}
