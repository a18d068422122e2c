//! Reductions whose order is fixed: block results on the way, finished by a `combine` kernel, so
//! that a reduced value may stay on the device.
//!
//! Values are accumulated in `f64` whatever the fields' precision. On the host a block is a chunk of
//! [`HOST_CHUNK`] entities; on a device a block strides over the entities with all the others, sums
//! by a tree, and the number of blocks depends on the entity count and the device alone.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::{Backend, Buffer, HOST_CHUNK, Writer};
use crate::prelude::*;

/// The operation of a reduction on two values. `Min` and `Max` ignore values that are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// a + b
    Sum,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

/// The value that changes nothing.
#[device]
pub fn identity(#[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        f64::literal(0.0)
    } else if comptime!(operation == Reduction::Min) {
        f64::literal(comptime!(f64::MAX))
    } else {
        f64::literal(comptime!(f64::MIN))
    }
}

/// One step of a reduction.
#[device]
#[inline(always)]
pub fn accumulate(a: f64, b: f64, #[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        a + b
    } else if comptime!(operation == Reduction::Min) {
        a.min(b)
    } else {
        a.max(b)
    }
}

/// Block results of a kernel's reductions, `[reduction][block]`.
pub struct Partials {
    pub(super) values: Buffer<f64>,
    pub(super) blocks: usize,
    /// Sums of many blocks.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) sums: Buffer<f64>,
}

impl Partials {
    /// Room for `reductions` reductions over at most `entities` entities.
    pub fn new(backend: &Backend, entities: usize, reductions: usize) -> Partials {
        let blocks = match backend.device() {
            None => entities.div_ceil(HOST_CHUNK).max(1),
            Some(device) => device.reduction_blocks(entities),
        };
        let values = backend.zeros(blocks * reductions);
        Partials { values, blocks, sums: backend.zeros(reductions) }
    }

    /// Results of the blocks, `[reduction][block]`.
    pub fn values(&self) -> &Buffer<f64> {
        &self.values
    }

    /// Number of blocks of the last reduction.
    pub fn block_count(&self) -> usize {
        self.blocks
    }

    /// Says how many blocks a reduction is about to fill.
    pub fn set_block_count(&mut self, blocks: usize, reductions: usize) {
        assert!(blocks * reductions <= self.values.len(), "Partials made for fewer entities");
        self.blocks = blocks;
    }

    /// Runs `entity` for each index, which adds its contribution to the `K` totals of its chunk; these
    /// begin with `identities`.
    pub fn reduce_on_host<const K: usize>(
        &mut self,
        count: usize,
        identities: [f64; K],
        entity: impl Fn(usize, &mut [f64; K]) + Sync + Send,
    ) {
        let blocks = count.div_ceil(HOST_CHUNK).max(1);
        self.set_block_count(blocks, K);
        let results: Writer<f64> = self.values.writer();
        let chunk = move |c: usize| {
            let mut totals = identities;
            for i in c * HOST_CHUNK..((c + 1) * HOST_CHUNK).min(count) {
                entity(i, &mut totals);
            }
            for (k, total) in totals.into_iter().enumerate() {
                results.set(k * blocks + c, total);
            }
        };
        match blocks {
            1 => chunk(0),
            _ => super::host::for_each_chunk(blocks, &chunk),
        }
    }

    /// The reductions themselves, combined in block order.
    pub fn combine_on_host<const K: usize>(&self, operations: [Reduction; K]) -> [f64; K] {
        let values = self.values.view();
        let mut totals = operations.map(identity);
        for k in 0..K {
            for b in 0..self.blocks {
                totals[k] = accumulate(totals[k], values[k * self.blocks + b], operations[k]);
            }
        }
        totals
    }
}

#[cfg(test)]
#[allow(missing_docs)]
mod tests {
    use super::*;
    use crate::View;
    use crate::real::Real;
    use crate::testing::{SIZES, everywhere, round_off, values};

    #[kernel(reduce(sum, sum))]
    fn square_and_one(i: usize, x: &View<f64>) -> (f64, f64) {
        (x[i] * x[i], f64::literal(1.0))
    }

    /// The mean square plus a shift.
    #[device]
    fn mean_and_shift(sum: f64, count: f64, shift: &View<f64>) -> f64 {
        sum / count + shift[0]
    }

    #[kernel(scalar(mean = mean_and_shift(2, shift)), out(y), unroll(2))]
    fn divide_by_mean(i: usize, mean: f64, shift: &View<f64>, x: &View<f64>) -> f64 {
        (x[i] + shift[0]) / mean
    }

    #[test]
    fn kernels_compute_with_finished_sums_of_few_and_of_many_blocks() {
        for n in SIZES {
            let x = values(n, 9);
            let mean = x.iter().map(|v| v * v).sum::<f64>() / n as f64 + 0.5;
            for backend in everywhere() {
                let (bx, shift) = (backend.upload_slice(&x), backend.upload(vec![0.5]));
                let mut y = backend.zeros(n);
                let mut partials = Partials::new(&backend, n, 2);
                square_and_one(&backend, n, &bx, &mut partials);
                divide_by_mean(&backend, n, &mut partials, &shift, &bx, &mut y);
                for (got, x) in backend.read(&y).unwrap().iter().zip(&x) {
                    let want = (x + 0.5) / mean;
                    assert!((got - want).abs() <= round_off(n, 4.0), "{backend:?} {got} {want}");
                }
            }
        }
    }
}
