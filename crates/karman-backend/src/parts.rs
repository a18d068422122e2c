//! Sums whose terms several threads share where entities are few.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::{Backend, THREADS_PER_BLOCK};
use crate::real::Real;
use cubecl::prelude::*;

/// Threads that share the terms of an entity.
const PARTS: usize = 8;
/// Terms of an entity from which sharing them saves more than adding up the parts costs.
const MANY_TERMS: usize = 16;

impl Backend {
    /// In how many parts a kernel with `parts` should add up the terms of each of so many entities, which
    /// have so many terms in all: a device has one thread for each part. 1 where terms are few or entities
    /// are many, and on the host.
    pub fn parts(&self, entities: usize, terms: usize) -> usize {
        let is_long = terms >= MANY_TERMS * entities;
        match self.device() {
            Some(device) if is_long && entities <= device.few_entities() => PARTS,
            _ => 1,
        }
    }
}

/// The sum of what the threads of an entity of a kernel with `parts` have each added up, in the order of
/// their parts, by each of them; on the host the only part itself. All threads of a block must call it.
#[cube]
pub fn sum_of_parts<F: Real>(own: F, #[comptime] parts: usize) -> F {
    if comptime!(parts == 1) {
        own
    } else {
        let mut shared = Shared::<[F]>::new_slice(THREADS_PER_BLOCK);
        shared[UNIT_POS as usize] = own;
        sync_cube();
        let entities_in_block = comptime!(THREADS_PER_BLOCK / parts);
        let place = UNIT_POS as usize % entities_in_block;
        let mut sum = shared[place];
        #[unroll]
        for part in 1..parts {
            sum += shared[place + part * entities_in_block];
        }
        sum
    }
}

#[cfg(test)]
#[allow(missing_docs)]
mod tests {
    use super::*;
    use crate::View;
    use crate::testing::{SIZES, everywhere, round_off, values};
    use karman_macros::kernel;

    /// x plus the mean of the row of a table.
    #[kernel(add_means, update(x), parts)]
    fn with_mean(
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
                    let parts = backend.parts(n, n * width);
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
