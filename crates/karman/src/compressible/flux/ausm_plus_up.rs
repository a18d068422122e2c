//! AUSM⁺-up: the flux is the mass flux times the upwind (1, u, H), plus a pressure, both split by Mach numbers.
//!
//! Source: Liou, J. Comput. Phys. 214 (2006) 137, eqs. 69–76, with K_p = 0.25, K_u = 0.75, σ = 1, β = 1/8. Without the form
//! for low Mach numbers f_a = 1; with it M_o² = min(1, max(M̄², M_c²)) and f_a = M_o (2 − M_o), the cut-off M_c = 0.05.
#![allow(missing_docs)] // on the modules that the attributes make

use super::Side;
use crate::compressible::state::Conserved;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// M⁺₍₄₎ for `sign` = 1, −M⁻₍₄₎ of −M for `sign` = −1.
#[device]
#[inline(always)]
fn split_mach<F: Real>(mach: F, sign: F) -> F {
    let one = F::literal(1.0);
    let m = sign * mach;
    let mut split = 0.5 * (m + m.abs());
    if m.abs() < one {
        let plus = 0.25 * (m + 1.0) * (m + 1.0);
        let minus = -0.25 * (m - 1.0) * (m - 1.0);
        split = plus * (1.0 - 2.0 * minus);
    }
    sign * split
}

/// P⁺₍₅₎ for `sign` = 1, P⁻₍₅₎ for `sign` = −1, with α = 3/16 (5 f_a² − 4).
#[device]
#[inline(always)]
fn split_pressure<F: Real>(mach: F, sign: F, alpha: F) -> F {
    let one = F::literal(1.0);
    let m = sign * mach;
    let mut split = F::literal(0.0);
    if m >= one {
        split = one;
    } else if m > -one {
        let plus = 0.25 * (m + 1.0) * (m + 1.0);
        let minus = -0.25 * (m - 1.0) * (m - 1.0);
        split = plus * ((2.0 - m) - 16.0 * alpha * m * minus);
    }
    split
}

/// c* of one side: ĉ = c*²/max(c*, ±u_n), c*² = 2 (γ − 1)/(γ + 1) H.
#[device]
#[inline(always)]
fn critical_speed<F: Real>(side: Side<F>, towards: F, gamma: F) -> F {
    let square = 2.0 * (gamma - 1.0) / (gamma + 1.0) * side.enthalpy;
    let speed = square.sqrt();
    square / speed.max(towards)
}

/// The flux by area.
#[device]
#[inline(always)]
pub(super) fn ausm_plus_up_flux<F: Real>(
    l: Side<F>,
    r: Side<F>,
    n: Vec3<F>,
    gamma: F,
    #[comptime] low_mach: bool,
) -> Conserved<F> {
    let one = F::literal(1.0);
    let zero = F::literal(0.0);
    let left_speed = critical_speed::<F>(l, l.normal_velocity, gamma);
    let right_speed = critical_speed::<F>(r, -r.normal_velocity, gamma);
    let c = left_speed.min(right_speed);
    let mach_l = l.normal_velocity / c;
    let mach_r = r.normal_velocity / c;
    let mean_square = 0.5 * (mach_l * mach_l + mach_r * mach_r);
    let mut scaling = one;
    if comptime!(low_mach) {
        let cut_off = F::literal(0.0025);
        let reference = mean_square.max(cut_off).min(one).sqrt();
        scaling = reference * (2.0 - reference);
    }
    let alpha = 0.1875 * (5.0 * scaling * scaling - 4.0);
    let density = 0.5 * (l.density + r.density);
    let mach = split_mach::<F>(mach_l, one) + split_mach::<F>(mach_r, -one)
        - 0.25 / scaling * (1.0 - mean_square).max(zero) * (r.pressure - l.pressure)
            / (density * c * c);
    let plus = split_pressure::<F>(mach_l, one, alpha);
    let minus = split_pressure::<F>(mach_r, -one, alpha);
    let pressure = plus * l.pressure + minus * r.pressure
        - 0.75
            * plus
            * minus
            * (l.density + r.density)
            * scaling
            * c
            * (r.normal_velocity - l.normal_velocity);
    let mut upwind_density = r.density;
    let mut velocity = r.velocity;
    let mut enthalpy = r.enthalpy;
    if mach > zero {
        upwind_density = l.density;
        velocity = l.velocity;
        enthalpy = l.enthalpy;
    }
    let mass = c * mach * upwind_density;
    Conserved::<F>::of(mass, velocity * mass + n * pressure, mass * enthalpy)
}
