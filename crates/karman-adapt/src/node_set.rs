//! A set of few nodes.

use crate::complex::NONE;

/// Slots of the table: a power of two.
const SLOTS: usize = 128;
/// Most nodes in the table, so that a free slot is near.
const MOST: usize = SLOTS / 2;

/// The nodes around a vertex or an edge, each once: a table on the stack, without allocation, since sets are made for each candidate of
/// an operation.
pub(crate) struct NodeSet {
    slots: [u32; SLOTS],
    /// Number of nodes in the table.
    len: usize,
    /// Nodes beyond [`MOST`].
    others: Vec<u32>,
}

impl NodeSet {
    pub(crate) fn new() -> Self {
        NodeSet { slots: [NONE; SLOTS], len: 0, others: vec![] }
    }

    /// Adds a node; returns whether it was not in the set.
    #[inline]
    pub(crate) fn insert(&mut self, node: u32) -> bool {
        // Fibonacci hashing: the upper bits of the product with 2³²/φ.
        let mut slot = (node.wrapping_mul(0x9E37_79B9) >> (32 - SLOTS.trailing_zeros())) as usize;
        loop {
            let found = self.slots[slot];
            if found == node {
                return false;
            }
            if found == NONE {
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
        if self.len < MOST {
            self.slots[slot] = node;
            self.len += 1;
            return true;
        }
        let is_new = !self.others.contains(&node);
        if is_new {
            self.others.push(node);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_in_the_set_once() {
        let mut set = NodeSet::new();
        for round in 0..3 {
            for node in 0..200 {
                assert_eq!(set.insert(7 * node), round == 0);
            }
        }
    }
}
