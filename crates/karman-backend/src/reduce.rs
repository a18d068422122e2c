//! Reductions whose order is fixed: block results on the way, finished by a `combine` kernel, so
//! that a reduced value may stay on the device.
//!
//! Values are accumulated in `f64` whatever the fields' precision. On the host a block is a chunk of
//! [`HOST_CHUNK`] entities; on a device a block strides over the entities with all the others, sums
//! by a tree, and the number of blocks depends on the entity count and the device alone.

#![allow(missing_docs)] // on the modules CubeCL generates

use super::{Backend, Buffer, Device, HOST_CHUNK, THREADS_PER_BLOCK, Writer, block_size};
use cubecl::prelude::*;

/// What a reduction does with two values. `Min` and `Max` ignore what is not a number.
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
#[cube]
pub fn identity(#[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        0.0f64.runtime()
    } else if comptime!(operation == Reduction::Min) {
        comptime!(f64::MAX).runtime()
    } else {
        comptime!(f64::MIN).runtime()
    }
}

/// One step of a reduction.
#[cube]
#[inline(always)]
pub fn accumulate(a: f64, b: f64, #[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        a + b
    } else if comptime!(operation == Reduction::Min) {
        min(a, b)
    } else {
        max(a, b)
    }
}

#[cube]
fn plane_reduce(v: f64, #[comptime] operation: Reduction) -> f64 {
    if comptime!(operation == Reduction::Sum) {
        plane_sum(v)
    } else if comptime!(operation == Reduction::Min) {
        plane_min(v)
    } else {
        plane_max(v)
    }
}

/// The reduction of one value a thread over a block; valid in thread 0.
#[cube]
pub fn reduce_block(
    v: f64,
    #[comptime] operation: Reduction,
    #[comptime] threads: usize,
    #[comptime] planes: bool,
) -> f64 {
    if comptime!(planes) {
        let mut shared = Shared::<[f64]>::new_slice(32usize);
        let of_plane = plane_reduce(v, operation);
        if UNIT_POS_PLANE == 0 {
            shared[(UNIT_POS / PLANE_DIM) as usize] = of_plane;
        }
        sync_cube();
        let planes_in_block = threads as u32 / PLANE_DIM;
        let mut mine = identity(operation);
        if UNIT_POS < planes_in_block {
            mine = shared[UNIT_POS as usize];
        }
        plane_reduce(mine, operation)
    } else {
        let mut shared = Shared::<[f64]>::new_slice(threads);
        shared[UNIT_POS as usize] = v;
        sync_cube();
        let mut half = comptime!(threads as u32 / 2).runtime();
        while half > 0 {
            if UNIT_POS < half {
                shared[UNIT_POS as usize] = accumulate(
                    shared[UNIT_POS as usize],
                    shared[(UNIT_POS + half) as usize],
                    operation,
                );
            }
            sync_cube();
            half /= 2;
        }
        shared[0]
    }
}

/// The reduction of `count` block results that start at `first`, by one block.
#[cube]
pub fn combine_block(
    partials: &[f64],
    first: usize,
    count: usize,
    #[comptime] operation: Reduction,
    #[comptime] threads: usize,
    #[comptime] planes: bool,
) -> f64 {
    let mut mine = identity(operation);
    let mut i = UNIT_POS as usize;
    while i < count {
        mine = accumulate(mine, partials[first + i], operation);
        i += threads;
    }
    reduce_block(mine, operation, threads, planes)
}

/// The sum of a few block results that start at `first`, by every plane (or thread) for itself.
#[cube]
pub fn sum_of_blocks(
    partials: &[f64],
    first: usize,
    count: usize,
    #[comptime] planes: bool,
) -> f64 {
    let mut sum = 0.0f64.runtime();
    if comptime!(planes) {
        let mut i = UNIT_POS_PLANE as usize;
        while i < count {
            sum += partials[first + i];
            i += PLANE_DIM as usize;
        }
        plane_sum(sum)
    } else {
        for i in 0..count {
            sum += partials[first + i];
        }
        sum
    }
}

/// The sums of many block results, one a block.
#[cube(launch_unchecked)]
#[allow(unsafe_code)]
fn finish_sums(
    partials: &[f64],
    sums: &mut [f64],
    count: usize,
    #[comptime] threads: usize,
    #[comptime] planes: bool,
) {
    let sum = combine_block(partials, CUBE_POS * count, count, Reduction::Sum, threads, planes);
    if UNIT_POS == 0 {
        sums[CUBE_POS] = sum;
    }
}

/// Block results that a kernel which needs their sum adds for itself; more are added before.
const FEW_BLOCKS: usize = 96;

/// Block results of a kernel's reductions, `[reduction][block]`.
pub struct Partials {
    values: Buffer<f64>,
    blocks: usize,
    /// Sums of many blocks.
    sums: Buffer<f64>,
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

    /// Block results of the first `sums` reductions, or their sums where there are many, and how many
    /// results each has.
    #[allow(unsafe_code)]
    pub fn few(&mut self, device: &Device, sums: usize) -> (&Buffer<f64>, usize) {
        if self.blocks <= FEW_BLOCKS {
            return (&self.values, self.blocks);
        }
        // SAFETY: `values` holds `blocks` results of each sum, `sums` one place for each.
        unsafe {
            finish_sums::launch_unchecked(
                device.client(),
                CubeCount::Static(sums as u32, 1, 1),
                block_size(),
                self.values.arg(),
                self.sums.arg(),
                self.blocks,
                THREADS_PER_BLOCK,
                device.has_planes(),
            );
        }
        (&self.sums, 1)
    }

    /// Runs `entity` for each index, which adds what it contributes to the `K` totals of its chunk; these
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
        let chunk = |c: usize| {
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
    use karman_macros::kernel;

    #[kernel(square_and_one, reduce(sum, sum))]
    fn squared(i: usize, x: &View<f64>) -> (f64, f64) {
        (x[i] * x[i], f64::literal(1.0))
    }

    /// The mean square plus a shift.
    #[cube]
    fn mean_and_shift(sum: f64, count: f64, shift: &View<f64>) -> f64 {
        sum / count + shift[0]
    }

    #[kernel(divide_by_mean, given(mean = mean_and_shift(2, shift)), out(y), unroll(2))]
    fn divided(i: usize, mean: f64, shift: &View<f64>, x: &View<f64>) -> f64 {
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
