//! States outside the boundary, as functions of the state inside and the unit normal n, out of the domain.
#![allow(missing_docs)] // on the modules that the attributes make

use super::state::Primitive;
use crate::backend::functions::power;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// The state outside a boundary face, by its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExteriorState {
    /// The state inside, reflected: no flow through the wall, no friction.
    Reflected = 0,
    /// The state inside, reflected, in the convective flux; friction, by the viscous flux, at the velocity of the wall.
    NoSlip = 1,
    /// As [`ExteriorState::NoSlip`], with a prescribed temperature of the wall in the viscous flux.
    Isothermal = 5,
    /// Prescribed density, velocity and pressure.
    Prescribed = 2,
    /// The state inside: supersonic outflow.
    Extrapolated = 3,
    /// A prescribed pressure where fluid leaves below the speed of sound.
    Pressure = 4,
}

pub(super) const REFLECTED: u32 = ExteriorState::Reflected as u32;
pub(super) const NO_SLIP: u32 = ExteriorState::NoSlip as u32;
pub(super) const ISOTHERMAL: u32 = ExteriorState::Isothermal as u32;
pub(super) const PRESCRIBED: u32 = ExteriorState::Prescribed as u32;
pub(super) const PRESSURE: u32 = ExteriorState::Pressure as u32;

/// Whether a condition is that of a wall with friction.
#[device]
#[inline(always)]
pub(super) fn has_friction(kind: u32) -> bool {
    kind == NO_SLIP || kind == ISOTHERMAL
}

/// Whether a condition is that of a wall: no mass passes.
#[device]
#[inline(always)]
pub(super) fn is_wall(kind: u32) -> bool {
    kind == REFLECTED || has_friction(kind)
}

/// u − 2 (u·n) n with equal density and pressure.
#[device]
#[inline(always)]
pub fn reflected<F: Real>(inside: Primitive<F>, n: Vec3<F>) -> Primitive<F> {
    let u = inside.velocity();
    Primitive::<F>::of(inside.density, u - n * (2.0 * u.dot(n)), inside.pressure)
}

/// The state at a wall with friction, u_w − (u_w·n) n for its velocity u_w.
#[device]
#[inline(always)]
pub(super) fn at_wall<F: Real>(wall: Primitive<F>, n: Vec3<F>) -> Primitive<F> {
    let u = wall.velocity();
    Primitive::<F>::of(wall.density, u - n * u.dot(n), wall.pressure)
}

/// The state of a prescribed pressure p_b behind an isentropic outgoing wave: ρ_b = ρ (p_b/p)^(1/γ),
/// u_b = u + 2/(γ − 1) (c − c_b) n. Where the flow leaves faster than sound, the state inside.
///
/// Source: Thompson, J. Comput. Phys. 68 (1987) 1, for the characteristic variables.
#[device]
#[inline(always)]
pub fn at_pressure<F: Real>(
    inside: Primitive<F>,
    pressure: F,
    n: Vec3<F>,
    gamma: F,
) -> Primitive<F> {
    let c = inside.sound_speed(gamma);
    let u = inside.velocity();
    let mut outside = inside;
    if u.dot(n) < c {
        let density = inside.density * power::<F>(pressure / inside.pressure, 1.0 / gamma);
        let speed = (gamma * pressure / density).sqrt();
        let velocity = u + n * (2.0 / (gamma - 1.0) * (c - speed));
        outside = Primitive::<F>::of(density, velocity, pressure);
    }
    outside
}

/// The state outside.
#[device]
#[inline(always)]
pub fn exterior<F: Real>(
    kind: u32,
    inside: Primitive<F>,
    prescribed: Primitive<F>,
    n: Vec3<F>,
    gamma: F,
) -> Primitive<F> {
    let mut outside = inside;
    if is_wall(kind) {
        outside = reflected::<F>(inside, n);
    } else if kind == PRESCRIBED {
        outside = prescribed;
    } else if kind == PRESSURE {
        outside = at_pressure::<F>(inside, prescribed.pressure, n, gamma);
    }
    outside
}
