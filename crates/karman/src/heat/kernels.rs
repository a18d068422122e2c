//! Entity functions of heat conduction.
//!
//! Traffic counts each array once, scalars of `s` bytes, indices of 4.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::View;
use crate::real::Real;
use karman_backend::prelude::*;

/// r_i ← r_i + factor m_i (T_i − T_before,i): the memory of BDF2.
///
/// Traffic 5s.
#[kernel(add_memory, update(r))]
pub fn with_memory<F: Real>(
    i: usize,
    mass: &View<F>,
    factor: F,
    temperature: &View<F>,
    before: &View<F>,
    r: F,
) -> F {
    r + factor * mass[i] * (temperature[i] - before[i])
}

/// Advances a step: the old value becomes the one before, the increment is added; the largest
/// |increment| is reduced, for the rate of change.
///
/// Traffic 5s.
#[kernel(advance, update(temperature), out(before), reduce(max))]
pub fn advanced<F: Real>(i: usize, increment: &View<F>, temperature: F) -> (F, F, F) {
    let d = increment[i];
    (temperature + d, temperature, d.abs())
}

/// The largest change.
#[kernel(largest_change, combine(max), out(change))]
pub fn finished_change(largest: f64) -> f64 {
    largest
}
