//! Roe's flux: ½(F_l + F_r) − ½ Σ_k |λ_k| α_k r_k with the waves of the linearised equations.
//!
//! Sources: Roe, J. Comput. Phys. 43 (1981) 357; the wave strengths as in Toro, Riemann Solvers and Numerical Methods for
//! Fluid Dynamics, §11.2.2; the second entropy fix of Harten & Hyman, J. Comput. Phys. 50 (1983) 235, on the acoustic waves;
//! at low Mach numbers the jump of the normal velocity is scaled by min(1, M): Rieper, J. Comput. Phys. 230 (2011) 5263.
#![allow(missing_docs)] // on the modules that the attributes make

use super::{RoeAverage, Side, subsonic_mach};
use crate::compressible::state::Conserved;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// |λ|, where a rarefaction contains the sonic point a parabola, δ = max(0, λ − λ_l, λ_r − λ).
#[device]
#[inline(always)]
fn fixed_speed<F: Real>(lambda: F, left: F, right: F) -> F {
    let zero = F::literal(0.0);
    let delta = (lambda - left).max(right - lambda).max(zero);
    let speed = lambda.abs();
    let mut fixed = speed;
    if speed < delta {
        fixed = 0.5 * (speed * speed / delta + delta);
    }
    fixed
}

/// The flux by area.
#[device]
#[inline(always)]
pub(super) fn roe_flux<F: Real>(
    l: Side<F>,
    r: Side<F>,
    n: Vec3<F>,
    gamma: F,
    #[comptime] low_mach: bool,
) -> Conserved<F> {
    let mean = RoeAverage::<F>::of(l, r, gamma);
    let c = mean.sound_speed;
    let u = mean.velocity;
    let un = u.dot(n);
    let pressure_jump = r.pressure - l.pressure;
    let mut normal_jump = r.normal_velocity - l.normal_velocity;
    let shear_jump = r.velocity - l.velocity - n * normal_jump;
    if comptime!(low_mach) {
        normal_jump *= subsonic_mach::<F>(l, r);
    }
    let slow = fixed_speed::<F>(
        un - c,
        l.normal_velocity - l.sound_speed,
        r.normal_velocity - r.sound_speed,
    );
    let fast = fixed_speed::<F>(
        un + c,
        l.normal_velocity + l.sound_speed,
        r.normal_velocity + r.sound_speed,
    );
    let linear = un.abs();
    let square = 1.0 / (c * c);
    let half = 0.5 * square;
    let a_slow = half * (pressure_jump - mean.density * c * normal_jump) * slow;
    let a_fast = half * (pressure_jump + mean.density * c * normal_jump) * fast;
    let a_entropy = (r.density - l.density - pressure_jump * square) * linear;
    let a_shear = mean.density * linear;
    let dissipation = Conserved::<F>::of(
        a_slow + a_fast + a_entropy,
        u * (a_slow + a_fast + a_entropy) + n * ((a_fast - a_slow) * c) + shear_jump * a_shear,
        (a_slow + a_fast) * mean.enthalpy
            + (a_fast - a_slow) * c * un
            + a_entropy * 0.5 * u.dot(u)
            + a_shear * u.dot(shear_jump),
    );
    let half = F::literal(0.5);
    (l.flux(n) + r.flux(n) - dissipation) * half
}
