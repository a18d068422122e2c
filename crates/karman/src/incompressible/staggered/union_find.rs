//! Union–find over signed items.

use crate::mesh::{SIGN_BIT, index_of};

/// The parent of each item, itself at a root, which is the lowest of its class; [`SIGN_BIT`] set where the
/// orientations differ.
pub(super) struct UnionFind(Vec<u32>);

impl UnionFind {
    /// `n` classes of one item.
    pub(super) fn new(n: usize) -> UnionFind {
        UnionFind((0..n as u32).collect())
    }

    /// The root of an item, and [`SIGN_BIT`] where its orientation differs. Halves paths.
    pub(super) fn find(&mut self, of: u32) -> (u32, u32) {
        let mut item = of;
        loop {
            let index = index_of(item);
            let parent = self.0[index];
            let grandparent = self.0[index_of(parent)] ^ (parent & SIGN_BIT);
            self.0[index] = grandparent;
            if index_of(grandparent) == index {
                return (index as u32, item & SIGN_BIT);
            }
            item = grandparent ^ (item & SIGN_BIT);
        }
    }

    /// Unites the classes of `a` and `b`, of opposite orientation where `turn` is [`SIGN_BIT`]; true if they
    /// differed.
    pub(super) fn unite(&mut self, a: u32, b: u32, turn: u32) -> bool {
        let ((a, s), (b, t)) = (self.find(a), self.find(b));
        if a != b {
            self.0[a.max(b) as usize] = a.min(b) | (s ^ t ^ turn);
        }
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_lowest_of_its_class_with_the_relative_orientation() {
        let mut classes = UnionFind::new(7);
        assert!(classes.unite(5, 6, SIGN_BIT));
        assert!(classes.unite(4, 5, 0));
        assert!(classes.unite(6, 2, 0));
        assert!(classes.unite(3, 1, SIGN_BIT));
        assert!(!classes.unite(4, 6, SIGN_BIT));
        let found = [0, 1, 2, 3, 4, 5, 6].map(|of| classes.find(of));
        let opposite = SIGN_BIT;
        assert_eq!(
            found,
            [(0, 0), (1, 0), (2, 0), (1, opposite), (2, opposite), (2, opposite), (2, 0)]
        );
    }
}
