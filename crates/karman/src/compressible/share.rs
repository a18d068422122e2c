//! Shares of the work of a cell: all its variables in one thread, or two threads, one with three variables and one with two.
//!
//! Five variables of nine coefficients are 45 sums in double precision, ninety registers of a thread of a device: few threads are active
//! and few of their loads in flight. Halves have 54 and 36 registers of sums. The planes of both halves of 32 cells follow each other,
//! so that weights come from memory once. Three and five threads a cell are slower: weights pass the caches as often
//! (docs/performance/log.md, section 34).
#![allow(missing_docs)] // on the modules that the attributes make

use super::state::VARIABLES;
use crate::linear::SLICE;
use karman_backend::prelude::*;

/// The threads of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Share {
    /// One.
    Cell,
    /// Two, which load the items of a stencil one by one.
    Half,
    /// Two, which load two items of a stencil together.
    HalfPairs,
}

/// Variables of a thread, and the items of a stencil that it loads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub first: usize,
    pub count: usize,
    pub batch: usize,
}

/// Most items of a stencil that a thread loads together; the lengths of slices are multiples of it.
pub(super) const BATCH: usize = 2;

/// Differences of all variables of these items.
pub(super) const MOST_DIFFERENCES: usize = BATCH * VARIABLES;

impl Share {
    /// Part number `k`.
    pub(super) const fn part(self, k: usize) -> Part {
        match (self, k) {
            (Share::Cell, _) => Part { first: 0, count: VARIABLES, batch: 1 },
            (Share::Half, 0) => Part { first: 0, count: 3, batch: 1 },
            (Share::Half, _) => Part { first: 3, count: 2, batch: 1 },
            (Share::HalfPairs, 0) => Part { first: 0, count: 3, batch: BATCH },
            (Share::HalfPairs, _) => Part { first: 3, count: 2, batch: BATCH },
        }
    }

    /// Number of parts of a cell.
    pub(super) const fn parts(self) -> usize {
        match self {
            Share::Cell => 1,
            Share::Half | Share::HalfPairs => 2,
        }
    }

    /// Number of threads for `n` cells.
    pub(super) fn threads(self, n: usize) -> usize {
        match self {
            Share::Cell => n,
            _ => n.div_ceil(SLICE) * SLICE * self.parts(),
        }
    }
}

/// Cell and part of thread `i`; in the last planes beyond the last cell.
#[device]
#[inline(always)]
pub(super) fn share_of(i: usize, #[comptime] share: Share) -> (usize, usize) {
    let mut cell = i;
    let mut part = 0usize;
    if comptime!(share != Share::Cell) {
        let plane = i / comptime!(SLICE);
        let parts = comptime!(share.parts());
        cell = plane / parts * comptime!(SLICE) + i % comptime!(SLICE);
        part = plane % parts;
    }
    (cell, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_every_cell_has_one_thread() {
        for share in [Share::Cell, Share::Half, Share::HalfPairs] {
            for n in [1, 31, 32, 33, 1000] {
                let mut found = vec![0; VARIABLES * n];
                for i in 0..share.threads(n) {
                    let (cell, k) = share_of(i, share);
                    let Part { first, count, .. } = share.part(k);
                    if cell < n {
                        (first..first + count).for_each(|v| found[VARIABLES * cell + v] += 1);
                    }
                }
                assert_eq!(found, vec![1; VARIABLES * n], "{share:?}");
            }
        }
    }
}
