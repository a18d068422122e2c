//! A tree of boxes in which the cells near a place are found.

use crate::vector::Point;

/// Most cells of a leaf.
const LEAF: usize = 8;

/// An axis-parallel box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) low: Point,
    pub(crate) high: Point,
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// The box of points.
    pub(crate) fn of(points: impl IntoIterator<Item = Point>) -> Self {
        points
            .into_iter()
            .fold(Bounds::EMPTY, |bounds, point| bounds.union(&Bounds { low: point, high: point }))
    }

    fn union(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: [0, 1, 2].map(|axis| self.low[axis].min(other.low[axis])),
            high: [0, 1, 2].map(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    fn touches(&self, other: &Bounds) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    /// The box with a margin on each side.
    pub(crate) fn grown(&self, margin: f64) -> Bounds {
        Bounds { low: self.low.map(|x| x - margin), high: self.high.map(|x| x + margin) }
    }

    fn middle(&self, axis: usize) -> f64 {
        0.5 * (self.low[axis] + self.high[axis])
    }
}

/// A binary tree of boxes. A node covers `count` entries of `order` from `first`; an inner node has its first child behind it and
/// the second at `second`.
#[derive(Clone, Debug)]
struct Node {
    bounds: Bounds,
    first: u32,
    count: u32,
    second: u32,
}

/// The boxes of cells in a tree.
#[derive(Clone, Debug)]
pub(crate) struct BoxTree {
    nodes: Vec<Node>,
    order: Vec<u32>,
    boxes: Vec<Bounds>,
}

impl BoxTree {
    /// The tree of boxes, one for each cell.
    pub(crate) fn new(boxes: Vec<Bounds>) -> Self {
        let order = (0..boxes.len() as u32).collect();
        let mut tree = BoxTree { nodes: vec![], order, boxes };
        if !tree.boxes.is_empty() {
            tree.split(0, tree.boxes.len());
        }
        tree
    }

    /// Adds the node of the entries `first..first + count`, and those below it.
    fn split(&mut self, first: usize, count: usize) {
        let own = &mut self.order[first..first + count];
        let boxes = &self.boxes;
        let union = |bounds: Bounds, cell: &u32| bounds.union(&boxes[*cell as usize]);
        let bounds = own.iter().fold(Bounds::EMPTY, union);
        let number = self.nodes.len();
        let second = 0;
        self.nodes.push(Node { bounds, first: first as u32, count: count as u32, second });
        if count <= LEAF {
            return;
        }
        let extent = |axis: &usize| bounds.high[*axis] - bounds.low[*axis];
        let axis = (0..3).max_by(|a, b| extent(a).total_cmp(&extent(b))).unwrap_or(0);
        let key = |cell: &u32| boxes[*cell as usize].middle(axis);
        let half = count / 2;
        own.select_nth_unstable_by(half, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        self.split(first, half);
        self.nodes[number].second = self.nodes.len() as u32;
        self.split(first + half, count - half);
    }

    /// The cells whose boxes touch `bounds`, ascending.
    pub(crate) fn find(&self, bounds: &Bounds, found: &mut Vec<u32>) {
        found.clear();
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0_u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let number = stack[depth];
            let node = &self.nodes[number as usize];
            if !node.bounds.touches(bounds) {
                continue;
            }
            if node.second == 0 {
                let entries = node.first as usize..(node.first + node.count) as usize;
                let cells = self.order[entries].iter().copied();
                found.extend(cells.filter(|&cell| self.boxes[cell as usize].touches(bounds)));
            } else {
                stack[depth] = node.second;
                stack[depth + 1] = number + 1;
                depth += 2;
            }
        }
        found.sort_unstable();
    }

    /// The diagonal of all boxes.
    pub(crate) fn diagonal(&self) -> f64 {
        self.nodes.first().map_or(0.0, |root| {
            let Bounds { low, high } = root.bounds;
            crate::vector::norm(crate::vector::subtract(high, low))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_found_as_by_a_search_of_all() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut bounds = |size: f64| {
            let low = [random(), random(), random()];
            Bounds { low, high: low.map(|x| x + size * random()) }
        };
        let boxes: Vec<Bounds> = (0..700).map(|_| bounds(0.1)).collect();
        let tree = BoxTree::new(boxes.clone());
        let mut found = vec![];
        for _ in 0..100 {
            let wanted = bounds(0.2);
            tree.find(&wanted, &mut found);
            let all = (0..700).filter(|&cell: &u32| boxes[cell as usize].touches(&wanted));
            assert_eq!(found, all.collect::<Vec<_>>());
        }
        BoxTree::new(vec![]).find(&boxes[0], &mut found);
        assert!(found.is_empty());
    }
}
