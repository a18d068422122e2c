//! A raw mesh of a file or a generator: points, cells, named boundary elements. Nothing is derived, and
//! only readers' checks were made.

use super::cell_shape::CellShape;
use rayon::prelude::*;

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

impl RawMesh {
    /// Adds the faces of one cell alone that no boundary element has as elements of a new patch `name`: results are
    /// written without boundary elements. Without such a face nothing changes.
    pub fn close_boundary(&mut self, name: &str) {
        // Nodes in ascending order, then the cell and its face; boundary elements have no face.
        let mut faces: Vec<([u32; 4], u32, u32)> = vec![];
        let sorted = |nodes: &mut dyn Iterator<Item = u32>| {
            let mut key = [u32::MAX; 4];
            key.iter_mut().zip(nodes).for_each(|(entry, node)| *entry = node);
            key.sort_unstable();
            key
        };
        for cell in 0..self.cells.len() {
            let nodes = self.cells.nodes_of(cell);
            for (face, local) in self.cells.shapes[cell].faces().iter().enumerate() {
                let key = sorted(&mut local.iter().map(|node| nodes[*node as usize]));
                faces.push((key, cell as u32, face as u32));
            }
        }
        for element in 0..self.boundary.len() {
            let key = sorted(&mut self.boundary.nodes_of(element).iter().copied());
            faces.push((key, u32::MAX, u32::MAX));
        }
        faces.par_sort_unstable();
        let single: Vec<(u32, u32)> = faces
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() == 1 && same[0].1 != u32::MAX)
            .map(|same| (same[0].1, same[0].2))
            .collect();
        if single.is_empty() {
            return;
        }
        let patch = self.patches.len() as u32;
        self.patches.push(name.to_owned());
        if self.boundary.offsets.is_empty() {
            self.boundary = Elements::new();
        }
        for (cell, face) in single {
            let cell = cell as usize;
            let nodes = self.cells.nodes_of(cell);
            let local = &self.cells.shapes[cell].faces()[face as usize];
            let nodes: Vec<u32> = local.iter().map(|node| nodes[*node as usize]).collect();
            let shape = match nodes.len() {
                2 => CellShape::Segment,
                3 => CellShape::Triangle,
                _ => CellShape::Quadrilateral,
            };
            self.boundary.push(shape, &nodes, patch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gmsh;
    use crate::{Mesh, MeshOptions};

    #[test]
    fn a_mesh_without_boundary_elements_gets_them() {
        for name in ["triangles_coarse", "cube_tetrahedron_coarse", "cube_prism_coarse"] {
            let given = gmsh(name);
            let mut open = RawMesh { boundary: Elements::new(), patches: vec![], ..given.clone() };
            assert!(Mesh::new(open.clone(), &MeshOptions::default()).is_err(), "{name}");
            open.close_boundary("boundary");
            assert_eq!(open.patches, ["boundary"]);
            assert_eq!(open.boundary.len(), given.boundary.len(), "{name}");
            let closed = Mesh::new(open, &MeshOptions::default()).unwrap();
            let mesh = Mesh::new(given.clone(), &MeshOptions::default()).unwrap();
            assert_eq!(closed.n_interior_faces(), mesh.n_interior_faces());
            // A closed mesh stays as it is.
            let mut again = given.clone();
            again.close_boundary("boundary");
            assert_eq!(again, given);
        }
    }
}
