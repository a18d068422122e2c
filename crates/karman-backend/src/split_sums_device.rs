//! Sums of parts over the threads of a block.
#![allow(missing_docs)] // on the modules CubeCL generates

use super::THREADS_PER_BLOCK;
use crate::real::Real;
use cubecl::prelude::*;

/// The sum of what the threads of an entity of a kernel with `split_sums` have each added up, in the order of
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
