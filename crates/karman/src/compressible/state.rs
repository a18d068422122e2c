//! Conserved variables of a perfect gas, ρE = p/(γ − 1) + ½ρ|u|², and the quantities that follow from them.
#![allow(missing_docs)] // on the modules that the attributes make

use crate::backend::{Buffer, View};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Number of conserved variables.
pub const VARIABLES: usize = 5;

/// Density, momentum and total energy by volume.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components, Linear)]
pub struct Conserved<F: Real> {
    /// ρ, kg/m³.
    pub density: F,
    /// ρu_x, kg/(m² s).
    pub momentum_x: F,
    /// ρu_y.
    pub momentum_y: F,
    /// ρu_z; 0 in a 2D mesh.
    pub momentum_z: F,
    /// ρE, J/m³.
    pub energy: F,
}

/// Density, velocity and pressure.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub struct Primitive<F: Real> {
    /// ρ, kg/m³.
    pub density: F,
    /// u_x, m/s.
    pub velocity_x: F,
    /// u_y.
    pub velocity_y: F,
    /// u_z; 0 in a 2D mesh.
    pub velocity_z: F,
    /// p, Pa.
    pub pressure: F,
}

#[device]
impl<F: Real> Conserved<F> {
    /// No mass, momentum and energy.
    #[inline(always)]
    pub fn zero() -> Conserved<F> {
        Conserved::<F> {
            density: 0.0,
            momentum_x: 0.0,
            momentum_y: 0.0,
            momentum_z: 0.0,
            energy: 0.0,
        }
    }

    /// A density, a momentum and an energy.
    #[inline(always)]
    pub fn of(density: F, momentum: Vec3<F>, energy: F) -> Conserved<F> {
        Conserved::<F> {
            density,
            momentum_x: momentum.x,
            momentum_y: momentum.y,
            momentum_z: momentum.z,
            energy,
        }
    }

    /// ρu.
    #[inline(always)]
    pub fn momentum(self) -> Vec3<F> {
        Vec3::<F> { x: self.momentum_x, y: self.momentum_y, z: self.momentum_z }
    }

    /// p = (γ − 1)(ρE − ½|ρu|²/ρ).
    #[inline(always)]
    pub fn pressure(self, gamma: F) -> F {
        let momentum = self.momentum();
        (gamma - 1.0) * (self.energy - 0.5 * momentum.dot(momentum) / self.density)
    }

    /// ρ, u and p.
    #[inline(always)]
    pub fn primitive(self, gamma: F) -> Primitive<F> {
        let velocity = self.momentum() * (1.0 / self.density);
        let kinetic = 0.5 * self.density * velocity.dot(velocity);
        Primitive::<F>::of(self.density, velocity, (gamma - 1.0) * (self.energy - kinetic))
    }
}

#[device]
impl<F: Real> Primitive<F> {
    /// A density, a velocity and a pressure.
    #[inline(always)]
    pub fn of(density: F, velocity: Vec3<F>, pressure: F) -> Primitive<F> {
        Primitive::<F> {
            density,
            velocity_x: velocity.x,
            velocity_y: velocity.y,
            velocity_z: velocity.z,
            pressure,
        }
    }

    /// u.
    #[inline(always)]
    pub fn velocity(self) -> Vec3<F> {
        Vec3::<F> { x: self.velocity_x, y: self.velocity_y, z: self.velocity_z }
    }

    /// c = √(γ p/ρ).
    #[inline(always)]
    pub fn sound_speed(self, gamma: F) -> F {
        (gamma * self.pressure / self.density).sqrt()
    }

    /// ρ, ρu and ρE.
    #[inline(always)]
    pub fn conserved(self, gamma: F) -> Conserved<F> {
        let u = self.velocity();
        let energy = self.pressure / (gamma - 1.0) + 0.5 * self.density * u.dot(u);
        Conserved::<F>::of(self.density, u * self.density, energy)
    }
}

/// States of entities: `[5][stride]`.
#[derive(Group, Clone, Copy)]
pub struct States<'a, F: Real> {
    /// Conserved or primitive variables.
    pub values: View<'a, F>,
    /// Distance between the variables of an entity in the array.
    pub stride: usize,
}

#[device]
impl<F: Real> States<'_, F> {
    /// The conserved variables of entity `i`.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Conserved<F> {
        Conserved::<F>::at(&self.values, i, self.stride)
    }

    /// The primitive variables of entity `i`, where the array has these.
    #[inline(always)]
    pub fn primitive_at(&self, i: usize) -> Primitive<F> {
        Primitive::<F>::at(&self.values, i, self.stride)
    }
}

impl<'a, F: Real> States<'a, F> {
    /// The states of a buffer `[5][stride]`.
    pub fn of(buffer: &'a Buffer<F>) -> Self {
        States { values: buffer.view(), stride: buffer.len() / VARIABLES }
    }
}
