//! Sums whose terms several threads share where entities are few.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::Backend;
#[cfg(not(feature = "device"))]
use crate::real::Real;

/// Threads that share the terms of an entity.
const PARTS: usize = 8;
/// Terms of an entity from which sharing them saves more than adding up the parts costs.
const MANY_TERMS: usize = 16;

impl Backend {
    /// In how many parts a kernel with `split_sums` should add up the terms of each of so many entities, which
    /// have so many terms in all: a device has one thread for each part. 1 where terms are few or entities
    /// are many, and on the host.
    pub fn split_sums(&self, entities: usize, terms: usize) -> usize {
        let is_long = terms >= MANY_TERMS * entities;
        match self.device() {
            Some(device) if is_long && entities <= device.few_entities() => PARTS,
            _ => 1,
        }
    }
}

#[cfg(feature = "device")]
pub use super::split_sums_device::sum_of_parts;

/// The sum of the parts of an entity: without devices its only part.
#[cfg(not(feature = "device"))]
#[inline(always)]
pub fn sum_of_parts<F: Real>(own: F, _: usize) -> F {
    own
}

#[cfg(test)]
#[allow(missing_docs)]
mod tests {
    use super::*;
    use crate::View;
    use crate::prelude::*;
    use crate::testing::{SIZES, everywhere, round_off, values};

    /// x plus the mean of the row of a table.
    #[kernel(update(x), split_sums)]
    fn add_means(
        row: usize,
        part: usize,
        table: &View<f64>,
        width: usize,
        x: f64,
        #[comptime] parts: usize,
    ) -> f64 {
        let mut sum = f64::literal(0.0);
        let mut k = part;
        while k < width {
            sum += table[row * width + k];
            k += parts;
        }
        x + sum_of_parts::<f64>(sum, parts) / width as f64
    }

    #[test]
    fn parts_of_rows_add_up_whatever_their_number() {
        for n in SIZES {
            for width in [1, 16, 19] {
                let (table, x) = (values(n * width, 3), values(n, 4));
                for backend in everywhere() {
                    let (from, mut to) = (backend.upload_slice(&table), backend.upload_slice(&x));
                    let parts = backend.split_sums(n, n * width);
                    add_means(&backend, n, &from, width, &mut to, parts);
                    let got = backend.read(&to).unwrap();
                    for (row, got) in got.iter().enumerate() {
                        let mean = table[row * width..][..width].iter().sum::<f64>() / width as f64;
                        let error = (got - x[row] - mean).abs();
                        assert!(error <= round_off(width, 2.0), "{backend:?} {n} {width}: {error}");
                    }
                }
            }
        }
    }
}
