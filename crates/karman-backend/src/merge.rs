//! Rows of a product A B of sparse matrices, a block of threads each, on a device: the terms a_ik b_kj of a
//! row are laid out in shared memory and sorted by column, and each run of one column is added by one
//! thread in the order of A's entries. Neither atomics nor tables, and the same bits every time.
//!
//! These kernels share memory within a block, which an entity function cannot. A host merges the same
//! rows one after another, with the same result to rounding; so does a device where a row has too many
//! terms ([`Block::for_rows`]).

use super::{Buffer, Device};

/// Entries of a row of A that each thread looks up by itself.
pub(super) const ENTRIES: usize = 4;

/// The shape of a block: its threads, and bits of the number of a term, whose column has the others of a
/// word of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub(super) threads: usize,
    pub(super) bits: u32,
}

const BLOCKS: [Block; 4] = [
    Block { threads: 32, bits: 9 },
    Block { threads: 64, bits: 10 },
    Block { threads: 256, bits: 11 },
    Block { threads: 256, bits: 12 },
];

impl Block {
    /// The smallest block for rows of A with at most so many entries, whose product has so many columns and
    /// at most so many terms a row; none where they fit into no block.
    pub fn for_rows(
        device: &Device,
        entries: usize,
        terms: usize,
        columns: usize,
    ) -> Option<Block> {
        let suits = |block: &Block| {
            entries <= ENTRIES * block.threads
                && terms <= block.terms()
                && columns < 1 << (u32::BITS - block.bits)
                && block.bytes() <= device.shared_bytes()
        };
        BLOCKS.into_iter().find(suits)
    }

    /// The most terms of a row.
    fn terms(self) -> usize {
        1 << self.bits
    }

    /// Shared memory it takes.
    fn bytes(self) -> usize {
        size_of::<u32>() * (self.terms() + (2 * ENTRIES + 1) * self.threads)
    }
}

/// A matrix on a device: offsets, columns and values, its rows in slices of `slice` (1: compressed).
pub struct Rows<'a, S> {
    /// Where the rows begin.
    pub offsets: &'a Buffer<u32>,
    /// Columns of the entries.
    pub columns: &'a Buffer<u32>,
    /// Values of the entries.
    pub values: &'a Buffer<S>,
    /// Rows of a slice.
    pub slice: usize,
}
