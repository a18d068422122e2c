//! Roe's flux and that of Harten, Lax and van Leer in rotated directions: against the instability of strong shocks that lie along
//! the faces (carbuncle), and exact at contact discontinuities and in boundary layers.
//!
//! n = α₁ n₁ + α₂ n₂, n₁ along the jump of the velocity, n₂ normal to it in the plane of both; F = α₁ F_HLL(n₁) + α₂ F_Roe(n₂). Across
//! a shock the jump of the velocity is along its normal: every face there, whatever its own normal, has the dissipation of both acoustic
//! waves. Where the velocity has no jump n₂ = n.
//!
//! Sources: Nishikawa & Kitamura, J. Comput. Phys. 227 (2008) 2560; Harten, Lax & van Leer, SIAM Rev. 25 (1983) 35, with the speeds of
//! Einfeldt, SIAM J. Numer. Anal. 25 (1988) 294.
#![allow(missing_docs)] // on the modules that the attributes make

use super::roe::roe_flux;
use super::{RoeAverage, Side};
use crate::compressible::state::Conserved;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Least jump of the velocity over the speed of sound that has a direction.
const LEAST_JUMP: f64 = 1e-8;

/// A side with respect to another unit normal.
#[device]
#[inline(always)]
fn turned<F: Real>(side: Side<F>, n: Vec3<F>) -> Side<F> {
    Side::<F> {
        density: side.density,
        velocity: side.velocity,
        pressure: side.pressure,
        enthalpy: side.enthalpy,
        normal_velocity: side.velocity.dot(n),
        sound_speed: side.sound_speed,
    }
}

/// (s_r F_l − s_l F_r + s_l s_r (q_r − q_l))/(s_r − s_l), s_l ≤ 0 ≤ s_r the speeds of the acoustic waves.
#[device]
#[inline(always)]
fn hll_flux<F: Real>(l: Side<F>, r: Side<F>, n: Vec3<F>, gamma: F) -> Conserved<F> {
    let roe = RoeAverage::<F>::of(l, r, gamma);
    let un = roe.velocity.dot(n);
    let zero = F::literal(0.0);
    let slow = (l.normal_velocity - l.sound_speed).min(un - roe.sound_speed).min(zero);
    let fast = (r.normal_velocity + r.sound_speed).max(un + roe.sound_speed).max(zero);
    let jump = r.conserved() - l.conserved();
    (l.flux(n) * fast - r.flux(n) * slow + jump * (slow * fast)) * (1.0 / (fast - slow))
}

/// The flux by area.
#[device]
#[inline(always)]
pub(super) fn rotated_roe_flux<F: Real>(
    l: Side<F>,
    r: Side<F>,
    n: Vec3<F>,
    gamma: F,
) -> Conserved<F> {
    let zero = F::literal(0.0);
    let jump = r.velocity - l.velocity;
    let size = jump.dot(jump).sqrt();
    let mut along = n;
    let mut weight = zero;
    if size > F::literal(LEAST_JUMP) * (l.sound_speed + r.sound_speed) {
        along = jump * (1.0 / size);
        weight = n.dot(along);
        if weight < zero {
            along = -along;
            weight = -weight;
        }
    }
    let rest = n - along * weight;
    let other = rest.dot(rest).sqrt();
    let mut flux = Conserved::<F>::zero();
    if weight > zero {
        flux = hll_flux::<F>(turned::<F>(l, along), turned::<F>(r, along), along, gamma) * weight;
    }
    if other > F::literal(LEAST_JUMP) {
        let across = rest * (1.0 / other);
        let (left, right) = (turned::<F>(l, across), turned::<F>(r, across));
        flux += roe_flux::<F>(left, right, across, gamma, false) * other;
    }
    flux
}
