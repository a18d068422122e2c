//! Edges of a mesh whose periodic patches are joined: those of one patch are their images on the other.

use super::classes::Classes;
use crate::mesh::{Adjacency, EdgeTopology, Mesh, SIGN_BIT, index_of};

/// Edges as the mesh has them, and one of each class of images.
pub(in crate::incompressible) struct JoinedEdges {
    plain: Option<EdgeTopology>,
    /// The classes; their nodes are classes too, named by one of them.
    pub topology: EdgeTopology,
    /// Class of each edge; [`SIGN_BIT`] set where its image runs the other way.
    class: Vec<u32>,
    /// A node of the class of each node.
    node: Vec<u32>,
}

impl JoinedEdges {
    pub(super) fn new(mesh: &Mesh) -> JoinedEdges {
        let plain = EdgeTopology::new(mesh);
        if mesh.joins.is_empty() {
            let node = (0..mesh.n_nodes() as u32).collect();
            return JoinedEdges { plain: None, topology: plain, class: vec![], node };
        }
        let mut nodes = Classes::new(mesh.n_nodes());
        for [a, b] in mesh.periodic_nodes() {
            nodes.join(a, b, 0);
        }
        let node: Vec<u32> = (0..mesh.n_nodes() as u32).map(|n| nodes.find(n).0).collect();
        let mut edges = Classes::new(plain.n_edges);
        if mesh.dimension == 2 {
            for [a, b] in mesh.periodic_nodes() {
                edges.join(a, b, 0);
            }
        } else {
            for (face, images) in mesh.joins.iter().flat_map(|join| join.images(mesh)) {
                let turned = images[1..].iter().chain(&images[..1]);
                let sides = images.iter().zip(turned);
                for (item, (a, b)) in plain.face_to_edges.of(face).iter().zip(sides) {
                    let ends = [*a.min(b), *a.max(b)];
                    // A side of a face is an edge of the mesh.
                    let Ok(image) = plain.edge_to_nodes.binary_search(&ends) else { continue };
                    let against = if a > b { SIGN_BIT } else { 0 };
                    let edge = index_of(*item) as u32;
                    edges.join(edge, image as u32, (item & SIGN_BIT) ^ against);
                }
            }
        }
        let mut number = vec![u32::MAX; plain.n_edges];
        let (mut n_edges, mut edge_to_nodes) = (0, vec![]);
        let mut class = vec![];
        for edge in 0..plain.n_edges as u32 {
            let (first, sign) = edges.find(edge);
            if first == edge {
                number[edge as usize] = n_edges;
                n_edges += 1;
                if let Some(ends) = plain.edge_to_nodes.get(edge as usize) {
                    edge_to_nodes.push(ends.map(|end| node[end as usize]));
                }
            }
            class.push(number[first as usize] | sign);
        }
        let items = plain.face_to_edges.items.iter();
        let items = items.map(|item| class[index_of(*item)] ^ (item & SIGN_BIT)).collect();
        let face_to_edges = Adjacency { offsets: plain.face_to_edges.offsets.clone(), items };
        let n_edges = n_edges as usize;
        let edge_to_faces = face_to_edges.transpose(n_edges);
        let topology = EdgeTopology { n_edges, edge_to_nodes, face_to_edges, edge_to_faces };
        JoinedEdges { plain: Some(plain), topology, class, node }
    }

    /// Edges as the mesh has them.
    pub(super) fn plain(&self) -> &EdgeTopology {
        self.plain.as_ref().unwrap_or(&self.topology)
    }

    /// The class of an item of the plain edges, with the item's sign as the class sees it.
    pub(super) fn class_of(&self, item: u32) -> u32 {
        match self.class.get(index_of(item)) {
            None => item,
            Some(class) => class ^ (item & SIGN_BIT),
        }
    }

    /// A node of the class of a node.
    pub(super) fn node_of(&self, node: u32) -> usize {
        self.node[node as usize] as usize
    }

    /// The middle of an edge as the mesh has it; in a plane its node.
    pub(super) fn middle(&self, mesh: &Mesh, edge: usize) -> [f64; 3] {
        match self.plain().edge_to_nodes.get(edge) {
            None => mesh.points[edge],
            Some([a, b]) => {
                let (a, b) = (mesh.points[*a as usize], mesh.points[*b as usize]);
                [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
            }
        }
    }
}
