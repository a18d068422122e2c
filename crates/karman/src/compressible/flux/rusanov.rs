//! Rusanov's flux: ½(F_l + F_r) − ½ max(|u_n| + c) (q_r − q_l).
//!
//! Source: Rusanov, USSR Comput. Math. Math. Phys. 1 (1961) 267.
#![allow(missing_docs)] // on the modules that the attributes make

use super::Side;
use crate::compressible::state::Conserved;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// The flux by area.
#[device]
#[inline(always)]
pub(super) fn rusanov_flux<F: Real>(l: Side<F>, r: Side<F>, n: Vec3<F>) -> Conserved<F> {
    let left = l.normal_velocity.abs() + l.sound_speed;
    let right = r.normal_velocity.abs() + r.sound_speed;
    let speed = left.max(right);
    let half = F::literal(0.5);
    (l.flux(n) + r.flux(n) - (r.conserved() - l.conserved()) * speed) * half
}
