//! A raw mesh of a file or a generator: points, cells, named boundary elements. Nothing is derived, and
//! only readers' checks were made.

use super::cell_shape::CellShape;

/// A list of elements of any shapes, node numbers in VTK order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elements {
    /// Shape of each element: `[n]`.
    pub shapes: Vec<CellShape>,
    /// Start of each element's nodes: `[n + 1]`, the first is 0.
    pub offsets: Vec<u32>,
    /// Node numbers: `[offsets[n]]`.
    pub nodes: Vec<u32>,
    /// Group of each element (a region for cells, a patch for boundary elements): `[n]`.
    pub groups: Vec<u32>,
}

impl Elements {
    /// An empty list.
    pub fn new() -> Self {
        Elements { offsets: vec![0], ..Default::default() }
    }

    /// Elements of one shape, whose nodes follow one another in `nodes`.
    pub fn uniform(shape: CellShape, nodes: Vec<u32>, groups: Vec<u32>) -> Self {
        let n = groups.len();
        let stride = shape.node_count() as u32;
        debug_assert_eq!(nodes.len(), n * stride as usize);
        let offsets = (0..=n as u32).map(|element| element * stride).collect();
        Elements { shapes: vec![shape; n], offsets, nodes, groups }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Adds one element; `nodes` has the shape's node count.
    pub fn push(&mut self, shape: CellShape, nodes: &[u32], group: u32) {
        debug_assert_eq!(nodes.len(), shape.node_count());
        self.shapes.push(shape);
        self.nodes.extend_from_slice(nodes);
        self.offsets.push(self.nodes.len() as u32);
        self.groups.push(group);
    }

    /// The nodes of element `e`.
    pub fn nodes_of(&self, e: usize) -> &[u32] {
        &self.nodes[self.offsets[e] as usize..self.offsets[e + 1] as usize]
    }
}

/// A mesh as read: the common form of all readers, generators and writers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawMesh {
    /// 2 or 3. A 2D mesh lies in any plane; [`Mesh::new`](super::Mesh::new) maps it to z = 0.
    pub dimension: usize,
    /// Coordinates: `[n_nodes]`.
    pub points: Vec<[f64; 3]>,
    /// Cells (of dimension `dimension`); `groups` index `regions`.
    pub cells: Elements,
    /// Boundary elements (of dimension `dimension - 1`); `groups` index `patches`.
    pub boundary: Elements,
    /// Names of the cell groups; a mesh without groups has the region `"default"`.
    pub regions: Vec<String>,
    /// Names of the boundary groups.
    pub patches: Vec<String>,
}
