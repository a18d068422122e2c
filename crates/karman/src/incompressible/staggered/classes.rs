//! Classes of signed things that are joined two by two.

use crate::mesh::{SIGN_BIT, index_of};

/// Of each thing another of its class, itself where it is the lowest; [`SIGN_BIT`] set where that runs the other
/// way.
pub(super) struct Classes(Vec<u32>);

impl Classes {
    /// Each a class of its own.
    pub(super) fn new(n: usize) -> Classes {
        Classes((0..n as u32).collect())
    }

    /// The lowest of a class, and [`SIGN_BIT`] where it runs the other way. Paths are halved.
    pub(super) fn find(&mut self, of: u32) -> (u32, u32) {
        let mut item = of;
        loop {
            let own = index_of(item);
            let next = self.0[own];
            let beyond = self.0[index_of(next)] ^ (next & SIGN_BIT);
            self.0[own] = beyond;
            if index_of(beyond) == own {
                return (own as u32, item & SIGN_BIT);
            }
            item = beyond ^ (item & SIGN_BIT);
        }
    }

    /// Makes one class of those of `a` and `b`, which run against each other where `turn` is [`SIGN_BIT`];
    /// whether they were two.
    pub(super) fn join(&mut self, a: u32, b: u32, turn: u32) -> bool {
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
    fn the_lowest_names_its_class_with_the_sign_along_the_way() {
        let mut classes = Classes::new(7);
        assert!(classes.join(5, 6, SIGN_BIT));
        assert!(classes.join(4, 5, 0));
        assert!(classes.join(6, 2, 0));
        assert!(classes.join(3, 1, SIGN_BIT));
        assert!(!classes.join(4, 6, SIGN_BIT));
        let found = [0, 1, 2, 3, 4, 5, 6].map(|of| classes.find(of));
        let against = SIGN_BIT;
        assert_eq!(
            found,
            [(0, 0), (1, 0), (2, 0), (1, against), (2, against), (2, against), (2, 0)]
        );
    }
}
