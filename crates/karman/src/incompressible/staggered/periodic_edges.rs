//! Edges of a periodic mesh, those of periodic patches identified with their images.

use super::union_find::UnionFind;
use crate::mesh::{Adjacency, EdgeTopology, Mesh, SIGN_BIT, index_of};

/// The edges of the mesh and their classes of images.
pub(in crate::incompressible) struct PeriodicEdges {
    original: Option<EdgeTopology>,
    /// The classes as edges; their nodes are representatives of classes of nodes.
    pub topology: EdgeTopology,
    /// Class of each edge; [`SIGN_BIT`] set where its orientation is opposite.
    class: Vec<u32>,
    /// The representative of each node.
    node: Vec<u32>,
}

impl PeriodicEdges {
    pub(super) fn new(mesh: &Mesh) -> PeriodicEdges {
        let original = EdgeTopology::new(mesh);
        if mesh.periodic_pairs.is_empty() {
            let node = (0..mesh.n_nodes() as u32).collect();
            return PeriodicEdges { original: None, topology: original, class: vec![], node };
        }
        let mut nodes = UnionFind::new(mesh.n_nodes());
        for [a, b] in mesh.periodic_nodes() {
            nodes.unite(a, b, 0);
        }
        let node: Vec<u32> = (0..mesh.n_nodes() as u32).map(|n| nodes.find(n).0).collect();
        let mut edges = UnionFind::new(original.n_edges);
        if mesh.dimension == 2 {
            for [a, b] in mesh.periodic_nodes() {
                edges.unite(a, b, 0);
            }
        } else {
            for (face, images) in mesh.periodic_pairs.iter().flat_map(|pair| pair.images(mesh)) {
                let shifted = images[1..].iter().chain(&images[..1]);
                let sides = images.iter().zip(shifted);
                for (item, (a, b)) in original.face_to_edges.of(face).iter().zip(sides) {
                    let ends = [*a.min(b), *a.max(b)];
                    // Each side of a face is an edge of the mesh.
                    let Ok(image) = original.edge_to_nodes.binary_search(&ends) else { continue };
                    let opposite = if a > b { SIGN_BIT } else { 0 };
                    let edge = index_of(*item) as u32;
                    edges.unite(edge, image as u32, (item & SIGN_BIT) ^ opposite);
                }
            }
        }
        let mut number = vec![u32::MAX; original.n_edges];
        let (mut n_edges, mut edge_to_nodes) = (0, vec![]);
        let mut class = vec![];
        for edge in 0..original.n_edges as u32 {
            let (first, sign) = edges.find(edge);
            if first == edge {
                number[edge as usize] = n_edges;
                n_edges += 1;
                if let Some(ends) = original.edge_to_nodes.get(edge as usize) {
                    edge_to_nodes.push(ends.map(|end| node[end as usize]));
                }
            }
            class.push(number[first as usize] | sign);
        }
        let items = original.face_to_edges.items.iter();
        let items = items.map(|item| class[index_of(*item)] ^ (item & SIGN_BIT)).collect();
        let face_to_edges = Adjacency { offsets: original.face_to_edges.offsets.clone(), items };
        let n_edges = n_edges as usize;
        let edge_to_faces = face_to_edges.transpose(n_edges);
        let topology = EdgeTopology { n_edges, edge_to_nodes, face_to_edges, edge_to_faces };
        PeriodicEdges { original: Some(original), topology, class, node }
    }

    /// The edges of the mesh.
    pub(super) fn original(&self) -> &EdgeTopology {
        self.original.as_ref().unwrap_or(&self.topology)
    }

    /// The class of a signed edge of the mesh, with the sign relative to the class.
    pub(super) fn class_of(&self, item: u32) -> u32 {
        match self.class.get(index_of(item)) {
            None => item,
            Some(class) => class ^ (item & SIGN_BIT),
        }
    }

    /// The representative of a node.
    pub(super) fn node_of(&self, node: u32) -> usize {
        self.node[node as usize] as usize
    }

    /// The midpoint of an edge of the mesh; in 2D its node.
    pub(super) fn midpoint(&self, mesh: &Mesh, edge: usize) -> [f64; 3] {
        match self.original().edge_to_nodes.get(edge) {
            None => mesh.points[edge],
            Some([a, b]) => {
                let (a, b) = (mesh.points[*a as usize], mesh.points[*b as usize]);
                [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
            }
        }
    }
}
