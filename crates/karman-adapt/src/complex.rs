//! A set of simplices with the lists of those around each vertex, for insertion and removal in constant time.

/// No vertex, no element.
pub(crate) const NONE: u32 = u32::MAX;

/// Simplices of `size` vertices. The simplices around a vertex are a linked list through their corners: an item is
/// 4 × element + corner.
#[derive(Clone, Debug)]
pub(crate) struct Complex {
    /// Vertices of a simplex: 2, 3 or 4.
    size: usize,
    /// Vertices of each simplex; the entries behind `size` and those of removed simplices are [`NONE`].
    nodes: Vec<[u32; 4]>,
    /// Region, patch or curve of each simplex.
    tags: Vec<u32>,
    /// Item that follows each corner in the list of its vertex.
    next: Vec<[u32; 4]>,
    /// First item of each vertex.
    first: Vec<u32>,
    /// Removed simplices, whose numbers are given again.
    free: Vec<u32>,
}

impl Complex {
    pub(crate) fn new(size: usize, n_vertices: usize) -> Self {
        let first = vec![NONE; n_vertices];
        Complex { size, nodes: vec![], tags: vec![], next: vec![], first, free: vec![] }
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
    pub(crate) fn around(&self, vertex: u32) -> Around<'_> {
        Around { complex: self, item: self.first[vertex as usize] }
    }

    /// Simplices around an edge.
    #[inline]
    pub(crate) fn around_edge(&self, a: u32, b: u32) -> impl Iterator<Item = u32> + '_ {
        self.around(a).filter(move |&element| self.nodes_of(element).contains(&b))
    }

    /// Whether the vertex has simplices.
    #[inline]
    pub(crate) fn touches(&self, vertex: u32) -> bool {
        self.first[vertex as usize] != NONE
    }

    /// Makes room for one more vertex.
    pub(crate) fn add_vertex(&mut self) {
        self.first.push(NONE);
    }

    pub(crate) fn insert(&mut self, nodes: [u32; 4], tag: u32) -> u32 {
        let element = match self.free.pop() {
            Some(element) => element,
            None => {
                self.nodes.push([NONE; 4]);
                self.tags.push(0);
                self.next.push([NONE; 4]);
                (self.nodes.len() - 1) as u32
            }
        };
        self.nodes[element as usize] = nodes;
        self.tags[element as usize] = tag;
        for (corner, &vertex) in nodes[..self.size].iter().enumerate() {
            let first = &mut self.first[vertex as usize];
            self.next[element as usize][corner] = *first;
            *first = 4 * element + corner as u32;
        }
        element
    }

    pub(crate) fn remove(&mut self, element: u32) {
        let nodes = self.nodes[element as usize];
        for (corner, &vertex) in nodes[..self.size].iter().enumerate() {
            let own = 4 * element + corner as u32;
            let after = self.next[element as usize][corner];
            let mut item = self.first[vertex as usize];
            if item == own {
                self.first[vertex as usize] = after;
                continue;
            }
            loop {
                let next = &mut self.next[(item >> 2) as usize][(item & 3) as usize];
                if *next == own {
                    *next = after;
                    break;
                }
                item = *next;
            }
        }
        self.nodes[element as usize] = [NONE; 4];
        self.free.push(element);
    }
}

/// Iterator over the simplices around a vertex.
pub(crate) struct Around<'a> {
    complex: &'a Complex,
    item: u32,
}

impl Iterator for Around<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.item == NONE {
            return None;
        }
        let (element, corner) = (self.item >> 2, self.item & 3);
        self.item = self.complex.next[element as usize][corner as usize];
        Some(element)
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
        let mut around: Vec<u32> = complex.around(2).collect();
        around.sort_unstable();
        assert_eq!(around, [first, second, third]);
        assert_eq!(complex.around_edge(2, 1).count(), 2);
        complex.remove(second);
        assert_eq!(complex.around_edge(2, 1).collect::<Vec<_>>(), [first]);
        assert_eq!((complex.len(), complex.capacity()), (2, 3));
        assert_eq!(complex.insert([1, 3, 4, NONE], 1), second);
        assert_eq!(complex.tag(second), 1);
        assert_eq!(complex.around(4).count(), 2);
        assert!(complex.touches(0) && complex.elements().count() == 3);
    }
}
