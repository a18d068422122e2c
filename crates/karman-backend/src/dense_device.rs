//! The inverse of a small dense matrix by one block of threads, on a device: what a launch a pivot would
//! spend on launches. These threads share memory, which an entity function's cannot; a host has a loop
//! of its own with the same result to rounding.
#![allow(missing_docs, unsafe_code)]
#![allow(clippy::disallowed_methods)] // `Array` in a kernel that never runs on the host

use super::{Buffer, Device, one_block};
use cubecl::prelude::*;

/// Room for n numbers, in steps, so that matrices of many orders share a compiled kernel.
fn capacity(n: usize) -> usize {
    n.next_power_of_two().max(128)
}

impl Device {
    /// Whether the rows and columns of two pivots fit into a block's memory.
    pub fn can_invert(&self, n: usize) -> bool {
        capacity(n) * 4 * size_of::<f64>() <= self.shared_bytes()
    }

    /// M ← M⁻¹ by Gauss–Jordan elimination along the diagonal; M: `[n × n]`, of an order that [`Device::can_invert`],
    /// by rows. A pivot at most `singular` times `scale` in size is passed over and flagged in
    /// `left_out`: `[n]`, zeros before. Traffic: 16 n² from the cache, n times.
    pub fn invert(
        &self,
        n: usize,
        scale: &Buffer<f64>,
        singular: f64,
        matrix: &mut Buffer<f64>,
        left_out: &mut Buffer<u32>,
    ) {
        let threads = self.largest_block();
        // SAFETY: entries of the matrix are tested against n².
        unsafe {
            invert_by_block::launch_unchecked(
                self.client(),
                one_block(),
                CubeDim::new_1d(threads as u32),
                scale.arg(),
                matrix.arg(),
                left_out.arg(),
                singular,
                n,
                capacity(n),
                threads,
            );
        }
    }
}

/// Entries of one thread that are on their way at the same time.
const IN_FLIGHT: usize = 4;

/// Each entry belongs to one thread throughout, which has one column of every so many rows. Whoever writes an
/// entry of the next pivot's row or column publishes it, in the half of the shared arrays that this step
/// does not read.
#[cube(launch_unchecked)]
fn invert_by_block(
    scale: &[f64],
    matrix: &mut [f64],
    left_out: &mut [u32],
    singular: f64,
    n: usize,
    #[comptime] capacity: usize,
    #[comptime] threads: usize,
) {
    let mut of_row = Shared::<[f64]>::new_slice(comptime!(2 * capacity));
    let mut of_column = Shared::<[f64]>::new_slice(comptime!(2 * capacity));
    let columns = comptime!(if threads < capacity { threads } else { capacity });
    let rows = comptime!(threads / columns);
    let first_column = UNIT_POS as usize % columns;
    let first_row = UNIT_POS as usize / columns;
    let mut j = UNIT_POS as usize;
    while j < n {
        of_row[j] = matrix[j];
        of_column[j] = matrix[j * n];
        j += threads;
    }
    sync_cube();
    let mut values = Array::<f64>::new(IN_FLIGHT);
    for k in 0..n {
        let half = (k & 1) * capacity;
        let next_half = capacity - half;
        let pivot = of_row[half + k];
        let is_kept = pivot.abs() > singular * scale[k].abs();
        if !is_kept && UNIT_POS == 0 {
            left_out[k] = 1u32;
        }
        let mut j = first_column;
        while j < n {
            let mut of_pivot_row = of_row[half + j] / pivot;
            if j == k {
                of_pivot_row = 1.0 / pivot;
            }
            let mut first = first_row;
            while first < n {
                #[unroll]
                for m in 0..IN_FLIGHT {
                    let i = first + m * rows;
                    if i < n {
                        values[m] = matrix[i * n + j];
                    }
                }
                #[unroll]
                for m in 0..IN_FLIGHT {
                    let i = first + m * rows;
                    if i < n {
                        let mut value = values[m];
                        if is_kept {
                            if j == k {
                                value = 0.0f64;
                            }
                            value -= of_column[half + i] * of_pivot_row;
                            if i == k {
                                value = of_pivot_row;
                            }
                            matrix[i * n + j] = value;
                        }
                        if i == k + 1 {
                            of_row[next_half + j] = value;
                        }
                        if j == k + 1 {
                            of_column[next_half + i] = value;
                        }
                    }
                }
                first += comptime!(IN_FLIGHT * rows);
            }
            j += columns;
        }
        sync_cube();
    }
}
