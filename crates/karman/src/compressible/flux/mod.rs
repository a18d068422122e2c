//! Fluxes of the Euler equations through faces. A numerical flux is a function of the states on both sides and of the unit
//! normal n, from left to right; each has a file.
#![allow(missing_docs)] // on the modules that the attributes make

mod ausm_plus_up;
mod hllc;
mod roe;
mod rotated_roe;
mod rusanov;

use super::state::{Conserved, Primitive};
use crate::real::{Real, Vec3};
use ausm_plus_up::ausm_plus_up_flux;
use hllc::hllc_flux;
use karman_backend::prelude::*;
use karman_macros::Keyword;
use roe::roe_flux;
use rotated_roe::rotated_roe_flux;
use rusanov::rusanov_flux;

/// A numerical flux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum NumericalFlux {
    /// Roe's linearisation with the entropy fix of Harten and Hyman.
    Roe,
    /// Three waves, exact at contact discontinuities.
    Hllc,
    /// Roe's flux, with the dissipation of both acoustic waves along the jump of the velocity: for strong shocks, which are unstable
    /// with `roe` and `hllc` (carbuncle).
    RotatedRoe,
    /// The fastest wave in every variable: robust and dissipative.
    Rusanov,
    /// Splitting of the mass flux and the pressure by Mach numbers.
    AusmPlusUp,
}

impl NumericalFlux {
    /// Whether it has a form for low Mach numbers.
    pub fn has_low_mach_form(self) -> bool {
        self != NumericalFlux::Rusanov && self != NumericalFlux::RotatedRoe
    }
}

/// A numerical flux with its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FluxForm {
    /// The flux.
    pub flux: NumericalFlux,
    /// Whether dissipation scales with the velocity at low Mach numbers.
    pub low_mach: bool,
}

/// The state on one side of a face.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side<F: Real> {
    /// ρ.
    pub density: F,
    /// u.
    pub velocity: Vec3<F>,
    /// p.
    pub pressure: F,
    /// H = E + p/ρ.
    pub enthalpy: F,
    /// u·n.
    pub normal_velocity: F,
    /// c.
    pub sound_speed: F,
}

#[device]
impl<F: Real> Side<F> {
    /// The side of density, velocity and pressure.
    #[inline(always)]
    pub fn of(q: Primitive<F>, n: Vec3<F>, gamma: F) -> Side<F> {
        let velocity = q.velocity();
        let c2 = gamma * q.pressure / q.density;
        Side::<F> {
            density: q.density,
            velocity,
            pressure: q.pressure,
            enthalpy: c2 / (gamma - 1.0) + 0.5 * velocity.dot(velocity),
            normal_velocity: velocity.dot(n),
            sound_speed: c2.sqrt(),
        }
    }

    /// The side of conserved variables, with one division by the density.
    #[inline(always)]
    pub fn of_conserved(q: Conserved<F>, n: Vec3<F>, gamma: F) -> Side<F> {
        let volume = 1.0 / q.density;
        let velocity = q.momentum() * volume;
        let kinetic = 0.5 * velocity.dot(velocity);
        let pressure = (gamma - 1.0) * (q.energy - q.density * kinetic);
        Side::<F> {
            density: q.density,
            velocity,
            pressure,
            enthalpy: (q.energy + pressure) * volume,
            normal_velocity: velocity.dot(n),
            sound_speed: (gamma * pressure * volume).sqrt(),
        }
    }

    /// ρ, ρu, ρE.
    #[inline(always)]
    pub fn conserved(self) -> Conserved<F> {
        let energy = self.density * self.enthalpy - self.pressure;
        Conserved::<F>::of(self.density, self.velocity * self.density, energy)
    }

    /// The flux F·n of the Euler equations by area: ρu_n, ρu_n u + p n, ρu_n H.
    #[inline(always)]
    pub fn flux(self, n: Vec3<F>) -> Conserved<F> {
        let mass = self.density * self.normal_velocity;
        let momentum = self.velocity * mass + n * self.pressure;
        Conserved::<F>::of(mass, momentum, mass * self.enthalpy)
    }
}

/// The flux by area from the left to the right state.
#[device]
#[inline(always)]
pub fn numerical_flux<F: Real>(
    left: Primitive<F>,
    right: Primitive<F>,
    n: Vec3<F>,
    gamma: F,
    #[comptime] form: FluxForm,
) -> Conserved<F> {
    let l = Side::<F>::of(left, n, gamma);
    let r = Side::<F>::of(right, n, gamma);
    flux_between::<F>(l, r, n, gamma, form)
}

/// The flux by area from the left to the right side.
#[device]
#[inline(always)]
pub fn flux_between<F: Real>(
    l: Side<F>,
    r: Side<F>,
    n: Vec3<F>,
    gamma: F,
    #[comptime] form: FluxForm,
) -> Conserved<F> {
    let mut flux = Conserved::<F>::zero();
    if comptime!(form.flux == NumericalFlux::Roe) {
        flux = roe_flux::<F>(l, r, n, gamma, comptime!(form.low_mach));
    }
    if comptime!(form.flux == NumericalFlux::Hllc) {
        flux = hllc_flux::<F>(l, r, n, gamma, comptime!(form.low_mach));
    }
    if comptime!(form.flux == NumericalFlux::RotatedRoe) {
        flux = rotated_roe_flux::<F>(l, r, n, gamma);
    }
    if comptime!(form.flux == NumericalFlux::Rusanov) {
        flux = rusanov_flux::<F>(l, r, n);
    }
    if comptime!(form.flux == NumericalFlux::AusmPlusUp) {
        flux = ausm_plus_up_flux::<F>(l, r, n, gamma, comptime!(form.low_mach));
    }
    flux
}

/// The average of both sides with the weights √ρ.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoeAverage<F: Real> {
    /// √(ρ_l ρ_r).
    pub density: F,
    /// u.
    pub velocity: Vec3<F>,
    /// H.
    pub enthalpy: F,
    /// c, c² = (γ − 1)(H − ½|u|²).
    pub sound_speed: F,
}

#[device]
impl<F: Real> RoeAverage<F> {
    /// The average of Roe, J. Comput. Phys. 43 (1981) 357.
    #[inline(always)]
    pub(super) fn of(l: Side<F>, r: Side<F>, gamma: F) -> RoeAverage<F> {
        let weight_l = l.density.sqrt();
        let weight_r = r.density.sqrt();
        let scale = 1.0 / (weight_l + weight_r);
        let velocity = (l.velocity * weight_l + r.velocity * weight_r) * scale;
        let enthalpy = (l.enthalpy * weight_l + r.enthalpy * weight_r) * scale;
        let c2 = (gamma - 1.0) * (enthalpy - 0.5 * velocity.dot(velocity));
        RoeAverage::<F> { density: weight_l * weight_r, velocity, enthalpy, sound_speed: c2.sqrt() }
    }
}

/// min(1, M), M the larger Mach number of both sides.
#[device]
#[inline(always)]
pub(super) fn subsonic_mach<F: Real>(l: Side<F>, r: Side<F>) -> F {
    let left = l.velocity.dot(l.velocity).sqrt() / l.sound_speed;
    let right = r.velocity.dot(r.velocity).sqrt() / r.sound_speed;
    let one = F::literal(1.0);
    left.max(right).min(one)
}

#[cfg(test)]
mod tests;
