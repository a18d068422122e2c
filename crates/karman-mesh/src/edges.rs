//! Entities of codimension 2 and their incidence with faces and nodes, for curl, rotation and nodal
//! gradient.
//!
//! In 3D they are the lines between nodes, pointing from the node of lower to that of higher
//! number. In 2D each node stands for a line along +z. The curl maps circulations s along edges to
//! fluxes through faces, U_f = Σ_e ± s_e around f by the right-hand rule about the face's normal;
//! in 2D that is U = s_b − s_a for the face a→b. Divergence of curl is zero in integers.

use super::Mesh;
use super::adjacency::{Adjacency, CHUNK, SIGN_BIT, accumulate, fill_rows};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Edges of a mesh and their signed incidence, built on request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeTopology {
    /// Number of edges; in 2D of nodes.
    pub n_edges: usize,
    /// From and to: `[n_edges]`, ascending; the nodal gradient is `φ[to] − φ[from]`. Empty in 2D,
    /// where an edge is its node.
    pub edge_to_nodes: Vec<[u32; 2]>,
    /// Edges around each face in the order of the face's nodes; [`SIGN_BIT`] set where the edge
    /// runs against the turn about the face's normal.
    pub face_to_edges: Adjacency,
    /// Faces around each edge, ascending, with the same signs: the transpose.
    pub edge_to_faces: Adjacency,
}

impl EdgeTopology {
    /// Finds the edges of a mesh.
    pub fn new(mesh: &Mesh) -> EdgeTopology {
        let (n_edges, edge_to_nodes, face_to_edges) = if mesh.dimension == 2 {
            (mesh.points.len(), Vec::new(), nodes_as_edges(mesh))
        } else {
            let lines = Lines::new(mesh);
            (lines.upper.len(), lines.pairs(), lines.around_faces(mesh))
        };
        let edge_to_faces = face_to_edges.transpose(n_edges);
        EdgeTopology { n_edges, edge_to_nodes, face_to_edges, edge_to_faces }
    }

    /// Edges at each of `n_nodes` nodes, ascending; [`SIGN_BIT`] set where the edge leaves the
    /// node: the transpose of the nodal gradient. Empty rows in 2D.
    pub fn node_to_edges(&self, n_nodes: usize) -> Adjacency {
        let offsets = (0..=self.edge_to_nodes.len() as u32).map(|edge| 2 * edge).collect();
        let items =
            self.edge_to_nodes.iter().flat_map(|&[from, to]| [from | SIGN_BIT, to]).collect();
        Adjacency { offsets, items }.transpose(n_nodes)
    }
}

fn nodes_as_edges(mesh: &Mesh) -> Adjacency {
    let mut edges = mesh.face_to_nodes.clone();
    edges.items.chunks_exact_mut(2).for_each(|ends| ends[0] |= SIGN_BIT);
    edges
}

/// Lines by their lower node.
struct Lines {
    /// Start of the lines of each lower node: `[n_nodes + 1]`.
    offsets: Vec<u32>,
    /// Upper node of each line, ascending for each lower node.
    upper: Vec<u32>,
}

/// The sides of a face, as (from, to) in the order of its nodes.
fn sides(nodes: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let turned = nodes[1..].iter().chain(&nodes[..1]);
    nodes.iter().copied().zip(turned.copied())
}

/// Visits the sides of all faces as (lower, higher) node, in parallel.
fn each_side(mesh: &Mesh, visit: impl Fn(u32, u32) + Sync) {
    (0..mesh.n_faces()).into_par_iter().with_min_len(CHUNK).for_each(|face| {
        for (a, b) in sides(mesh.face_to_nodes.of(face)) {
            visit(a.min(b), a.max(b));
        }
    });
}

impl Lines {
    /// Sorts the sides of all faces into buckets by lower node and removes duplicates.
    fn new(mesh: &Mesh) -> Lines {
        let n = mesh.points.len();
        let ends: Vec<AtomicU32> = (0..=n).map(|_| AtomicU32::new(0)).collect();
        each_side(mesh, |low, _| {
            ends[low as usize].fetch_add(1, Relaxed);
        });
        let mut sum = 0;
        for end in &ends {
            sum += end.load(Relaxed);
            end.store(sum, Relaxed);
        }
        let items: Vec<AtomicU32> = (0..sum).map(|_| AtomicU32::new(0)).collect();
        each_side(mesh, |low, high| {
            let place = ends[low as usize].fetch_sub(1, Relaxed) - 1;
            items[place as usize].store(high, Relaxed);
        });
        let starts: Vec<u32> = ends.into_iter().map(AtomicU32::into_inner).collect();
        let mut items: Vec<u32> = items.into_iter().map(AtomicU32::into_inner).collect();
        // Sorting undoes the order in which threads arrived.
        fill_rows(&starts, &mut items, |_, row| row.sort_unstable());
        let mut offsets = vec![0u32; n + 1];
        offsets[1..].par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(node, count)| {
            let row = &items[starts[node] as usize..starts[node + 1] as usize];
            *count = row.chunk_by(|a, b| a == b).count() as u32;
        });
        accumulate(&mut offsets);
        let mut upper = vec![0; offsets[n] as usize];
        fill_rows(&offsets, &mut upper, |node, row| {
            let sorted = &items[starts[node] as usize..starts[node + 1] as usize];
            let runs = sorted.chunk_by(|a, b| a == b);
            row.iter_mut().zip(runs).for_each(|(item, run)| *item = run[0]);
        });
        Lines { offsets, upper }
    }

    fn pairs(&self) -> Vec<[u32; 2]> {
        let mut pairs = vec![[0; 2]; self.upper.len()];
        fill_rows(&self.offsets, &mut pairs, |node, row| {
            let uppers = &self.upper[self.offsets[node] as usize..];
            row.iter_mut().zip(uppers).for_each(|(pair, &upper)| *pair = [node as u32, upper]);
        });
        pairs
    }

    /// Number of the line between two consecutive nodes of a face.
    fn number(&self, low: u32, high: u32) -> u32 {
        let start = self.offsets[low as usize];
        let row = &self.upper[start as usize..self.offsets[low as usize + 1] as usize];
        start + row.partition_point(|&upper| upper < high) as u32
    }

    fn around_faces(&self, mesh: &Mesh) -> Adjacency {
        let offsets = mesh.face_to_nodes.offsets.clone();
        let mut items = vec![0; mesh.face_to_nodes.items.len()];
        fill_rows(&offsets, &mut items, |face, row| {
            for (item, (a, b)) in row.iter_mut().zip(sides(mesh.face_to_nodes.of(face))) {
                let against = if a > b { SIGN_BIT } else { 0 };
                *item = self.number(a.min(b), a.max(b)) | against;
            }
        });
        Adjacency { offsets, items }
    }
}
