//! Map from the node tags of a Gmsh file to node positions.

use std::collections::HashMap;

const UNUSED: u32 = u32::MAX;

/// Finds a node by its tag. Tags are mostly 1 … n, perhaps with gaps: tags below a multiple of n are in
/// a table, others in a hash map.
pub(super) struct NodeTags {
    table: Vec<u32>,
    others: HashMap<i64, u32>,
    n_nodes: usize,
}

impl NodeTags {
    /// For `n_nodes` nodes, a number already checked against the file's size.
    pub(super) fn for_nodes(n_nodes: usize) -> Self {
        NodeTags { table: vec![UNUSED; 2 * n_nodes + 64], others: HashMap::new(), n_nodes: 0 }
    }

    /// Number of nodes named.
    pub(super) fn len(&self) -> usize {
        self.n_nodes
    }

    /// Names the next node; `false` if the tag is taken.
    #[inline]
    pub(super) fn insert(&mut self, tag: i64) -> bool {
        let node = self.n_nodes as u32;
        self.n_nodes += 1;
        match usize::try_from(tag).ok().and_then(|tag| self.table.get_mut(tag)) {
            Some(entry) => std::mem::replace(entry, node) == UNUSED,
            None => self.others.insert(tag, node).is_none(),
        }
    }

    /// The position of the node with this tag.
    #[inline]
    pub(super) fn position(&self, tag: i64) -> Option<u32> {
        match usize::try_from(tag).ok().and_then(|tag| self.table.get(tag)) {
            Some(&node) => (node != UNUSED).then_some(node),
            None => self.others.get(&tag).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_tags_are_found_again() {
        let tags = [1, 2, 70, i64::MAX, -5, 0];
        let mut nodes = NodeTags::for_nodes(tags.len());
        for tag in tags {
            assert!(nodes.insert(tag));
        }
        for (position, tag) in tags.into_iter().enumerate() {
            assert_eq!(nodes.position(tag), Some(position as u32));
        }
        for tag in [3, 71, 1_000_000, -1] {
            assert_eq!(nodes.position(tag), None);
        }
        assert_eq!(nodes.len(), 6);
        assert!(!nodes.insert(70));
        assert!(!nodes.insert(i64::MAX));
    }
}
