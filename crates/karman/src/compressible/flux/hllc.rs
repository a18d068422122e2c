//! The flux of Harten, Lax and van Leer with the contact wave restored.
//!
//! Sources: Toro, Spruce & Speares, Shock Waves 4 (1994) 25; wave speeds of Einfeldt, SIAM J. Numer. Anal. 25 (1988) 294, with
//! Roe's average; at low Mach numbers the normal velocities of both sides are drawn together by 1 − min(1, M): Thornber et al.,
//! J. Comput. Phys. 227 (2008) 4873.
#![allow(missing_docs)] // on the modules that the attributes make

use super::{RoeAverage, Side, subsonic_mach};
use crate::compressible::state::Conserved;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// The flux of one side between its acoustic wave of speed s and the contact of speed s*:
/// F* = (s* (s U − F) + s p* (0, n, s*)) / (s − s*), p* = p + ρ (s − u_n)(s* − u_n) (Toro, Riemann Solvers, 2009, section 10.4.2).
#[device]
#[inline(always)]
fn star_flux<F: Real>(side: Side<F>, n: Vec3<F>, s: F, contact: F) -> Conserved<F> {
    let un = side.normal_velocity;
    let pressure = side.pressure + side.density * (s - un) * (contact - un);
    let acoustic = s * pressure;
    let of_pressure = Conserved::<F>::of(F::literal(0.0), n * acoustic, acoustic * contact);
    let difference = side.conserved() * s - side.flux(n);
    (difference * contact + of_pressure) * (1.0 / (s - contact))
}

/// A side with another normal velocity, of equal density and pressure.
#[device]
#[inline(always)]
fn with_normal_velocity<F: Real>(side: Side<F>, n: Vec3<F>, un: F) -> Side<F> {
    let velocity = side.velocity + n * (un - side.normal_velocity);
    let kinetic = 0.5 * (velocity.dot(velocity) - side.velocity.dot(side.velocity));
    Side::<F> {
        density: side.density,
        velocity,
        pressure: side.pressure,
        enthalpy: side.enthalpy + kinetic,
        normal_velocity: un,
        sound_speed: side.sound_speed,
    }
}

/// The flux by area.
#[device]
#[inline(always)]
pub(super) fn hllc_flux<F: Real>(
    left: Side<F>,
    right: Side<F>,
    n: Vec3<F>,
    gamma: F,
    #[comptime] low_mach: bool,
) -> Conserved<F> {
    let mut l = left;
    let mut r = right;
    if comptime!(low_mach) {
        let half = F::literal(0.5);
        let mean = half * (left.normal_velocity + right.normal_velocity);
        let jump =
            half * subsonic_mach::<F>(left, right) * (right.normal_velocity - left.normal_velocity);
        l = with_normal_velocity::<F>(left, n, mean - jump);
        r = with_normal_velocity::<F>(right, n, mean + jump);
    }
    let roe = RoeAverage::<F>::of(l, r, gamma);
    let un = roe.velocity.dot(n);
    let slow = (l.normal_velocity - l.sound_speed).min(un - roe.sound_speed);
    let fast = (r.normal_velocity + r.sound_speed).max(un + roe.sound_speed);
    let mass_l = l.density * (slow - l.normal_velocity);
    let mass_r = r.density * (fast - r.normal_velocity);
    let contact = (r.pressure - l.pressure + mass_l * l.normal_velocity
        - mass_r * r.normal_velocity)
        / (mass_l - mass_r);
    let zero = F::literal(0.0);
    let mut flux = l.flux(n);
    if slow < zero {
        if contact >= zero {
            flux = star_flux::<F>(l, n, slow, contact);
        } else if fast > zero {
            flux = star_flux::<F>(r, n, fast, contact);
        } else {
            flux = r.flux(n);
        }
    }
    flux
}
