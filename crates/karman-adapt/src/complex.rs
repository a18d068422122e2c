//! A set of simplices with the lists of those around each vertex, for insertion and removal in constant time.

use crate::vertex_lists::VertexLists;

/// No vertex, no element.
pub(crate) const NONE: u32 = u32::MAX;

/// Simplices of `size` vertices.
#[derive(Clone, Debug)]
pub(crate) struct Complex {
    /// Vertices of a simplex: 2, 3 or 4.
    size: usize,
    /// Vertices of each simplex; the entries behind `size` and those of removed simplices are [`NONE`].
    nodes: Vec<[u32; 4]>,
    /// Region, patch or curve of each simplex.
    tags: Vec<u32>,
    /// Simplices around each vertex.
    around: VertexLists,
    /// Removed simplices, whose numbers are given again.
    free: Vec<u32>,
}

impl Complex {
    pub(crate) fn new(size: usize, n_vertices: usize) -> Self {
        let around = VertexLists::new(n_vertices);
        Complex { size, nodes: vec![], tags: vec![], around, free: vec![] }
    }

    /// Numbers of simplices, removed ones included, are below this.
    pub(crate) fn capacity(&self) -> usize {
        self.nodes.len()
    }

    /// Number of simplices.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    pub(crate) fn is_alive(&self, element: usize) -> bool {
        self.nodes[element][0] != NONE
    }

    /// Vertices of a simplex.
    #[inline]
    pub(crate) fn nodes_of(&self, element: u32) -> &[u32] {
        &self.nodes[element as usize][..self.size]
    }

    /// Vertices of a simplex, filled with [`NONE`].
    #[inline]
    pub(crate) fn padded(&self, element: u32) -> [u32; 4] {
        self.nodes[element as usize]
    }

    pub(crate) fn tag(&self, element: u32) -> u32 {
        self.tags[element as usize]
    }

    /// Numbers of the simplices, ascending.
    pub(crate) fn elements(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes.len())
            .filter(|&element| self.is_alive(element))
            .map(|element| element as u32)
    }

    /// Simplices around a vertex.
    #[inline]
    pub(crate) fn around(&self, vertex: u32) -> &[u32] {
        self.around.of(vertex)
    }

    /// Simplices around an edge.
    #[inline]
    pub(crate) fn around_edge(&self, a: u32, b: u32) -> impl Iterator<Item = u32> + '_ {
        self.around(a).iter().copied().filter(move |&element| self.padded(element).contains(&b))
    }

    /// Whether the vertex has simplices.
    #[inline]
    pub(crate) fn touches(&self, vertex: u32) -> bool {
        !self.around(vertex).is_empty()
    }

    /// Makes room for one more vertex.
    pub(crate) fn add_vertex(&mut self) {
        self.around.add_vertex();
    }

    pub(crate) fn insert(&mut self, nodes: [u32; 4], tag: u32) -> u32 {
        let element = match self.free.pop() {
            Some(element) => element,
            None => {
                self.nodes.push([NONE; 4]);
                self.tags.push(0);
                (self.nodes.len() - 1) as u32
            }
        };
        self.nodes[element as usize] = nodes;
        self.tags[element as usize] = tag;
        nodes[..self.size].iter().for_each(|&vertex| self.around.push(vertex, element));
        element
    }

    pub(crate) fn remove(&mut self, element: u32) {
        let nodes = self.nodes[element as usize];
        nodes[..self.size].iter().for_each(|&vertex| self.around.remove(vertex, element));
        self.nodes[element as usize] = [NONE; 4];
        self.free.push(element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_insertion_and_removal() {
        let mut complex = Complex::new(3, 5);
        let first = complex.insert([0, 1, 2, NONE], 7);
        let second = complex.insert([2, 1, 3, NONE], 8);
        let third = complex.insert([2, 3, 4, NONE], 9);
        let mut around: Vec<u32> = complex.around(2).to_vec();
        around.sort_unstable();
        assert_eq!(around, [first, second, third]);
        assert_eq!(complex.around_edge(2, 1).count(), 2);
        complex.remove(second);
        assert_eq!(complex.around_edge(2, 1).collect::<Vec<_>>(), [first]);
        assert_eq!((complex.len(), complex.capacity()), (2, 3));
        assert_eq!(complex.insert([1, 3, 4, NONE], 1), second);
        assert_eq!(complex.tag(second), 1);
        assert_eq!(complex.around(4).len(), 2);
        assert!(complex.touches(0) && complex.elements().count() == 3);
    }
}
