//! Entity functions of heat conduction.
//!
//! Traffic counts each array once, scalars of `s` bytes, indices of 4.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::View;
use crate::real::Real;
use karman_backend::prelude::*;

/// r_i ← r_i + factor m_i (T_i − T_previous,i): the history term of BDF2.
///
/// Traffic 5s.
#[kernel(update(r))]
pub fn add_history<F: Real>(
    i: usize,
    mass: &View<F>,
    factor: F,
    temperature: &View<F>,
    previous: &View<F>,
    r: F,
) -> F {
    r + factor * mass[i] * (temperature[i] - previous[i])
}

/// T_previous ← T, T ← T + δ; max |δ| is reduced, for the rate of change.
///
/// Traffic 5s.
#[kernel(update(temperature), out(previous), reduce(max))]
pub fn advance<F: Real>(i: usize, increment: &View<F>, temperature: F) -> (F, F, F) {
    let d = increment[i];
    (temperature + d, temperature, d.abs())
}

/// The largest change.
#[kernel(combine(max), out(change))]
pub fn largest_change(largest: f64) -> f64 {
    largest
}
