//! A mesh with its cells in another order.
//!
//! It is the mesh that [`Mesh::new`] and [`Mesh::connect_periodic`] make with the cells in this order: nodes are numbered by their first
//! use, interior faces by their cells, boundary faces by patch and cell.

use super::adjacency::{Adjacency, SIGN_BIT, fill_rows, index_of, offsets_of};
use super::periodic::{PeriodicPair, PeriodicPairs};
use super::reorder::{compose, numbered_by_first_use, permuted};
use super::{EntityCount, Mesh, Patch};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The entities of a mesh in the numbering of another, new → old.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permutation {
    /// Cells: `[n_cells]`.
    pub cells: Vec<u32>,
    /// Faces: `[n_faces]`; [`SIGN_BIT`] is set where the normals are opposite.
    pub faces: Vec<u32>,
    /// Nodes: `[n_nodes]`.
    pub nodes: Vec<u32>,
}

impl Permutation {
    /// New number of each old face, with the sign of its normal.
    fn new_faces(&self) -> Vec<u32> {
        let mut new_face = vec![0; self.faces.len()];
        for (item, new) in self.faces.iter().zip(0u32..) {
            new_face[index_of(*item)] = new | (item & SIGN_BIT);
        }
        new_face
    }
}

/// The map old → new of a map new → old.
fn inverse(map: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; map.len()];
    map.iter().zip(0..).for_each(|(old, new)| inverse[*old as usize] = new);
    inverse
}

/// A face at its new place.
struct MovedFace {
    /// New left and right cell.
    cells: [u32; 2],
    /// Whether the face is periodic.
    is_periodic: bool,
    old: u32,
}

impl Mesh {
    /// The mesh with its cells in the order `order`, new → old, and the entities of this mesh that those of the new one are. Ghosts are
    /// not allowed.
    pub fn permuted(&self, order: &[u32]) -> (Mesh, Permutation) {
        debug_assert_eq!(order.len(), self.n_cells());
        debug_assert_eq!(self.cell_count.ghost, 0, "a mesh is permuted before its partition");
        let mut cells = permuted(&self.cells, order);
        let (new_node, nodes) = numbered_by_first_use(&cells.nodes, self.n_nodes());
        cells.nodes.par_iter_mut().for_each(|node| *node = new_node[*node as usize]);
        let new_cell = inverse(order);
        let (faces, patches) = self.moved_faces(&new_cell);
        let permutation = Permutation { cells: order.to_vec(), faces, nodes };
        let mut mesh = Mesh {
            dimension: self.dimension,
            points: permutation.nodes.iter().map(|old| self.points[*old as usize]).collect(),
            cells,
            patches,
            regions: self.regions.clone(),
            original_cell: compose(order, &self.original_cell),
            original_node: compose(&permutation.nodes, &self.original_node),
            orphan_nodes: self.orphan_nodes.clone(),
            cell_count: self.cell_count,
            face_count: EntityCount { owned: self.n_faces(), ghost: 0 },
            node_count: self.node_count,
            warnings: self.warnings.clone(),
            ..Mesh::default()
        };
        self.connect_faces(&mut mesh, &permutation, &new_cell);
        mesh.face_to_nodes = self.face_nodes(&mesh, &permutation, &new_node);
        mesh.periodic_pairs = self.moved_pairs(&permutation, &new_node);
        (mesh, permutation)
    }

    /// The faces new → old with their signs, and the patches.
    fn moved_faces(&self, new_cell: &[u32]) -> (Vec<u32>, Vec<Patch>) {
        let left = |face: usize| new_cell[self.face_left[face] as usize];
        let inner = (0..self.n_interior_faces()).into_par_iter().map(|face| {
            let [a, b] = [left(face), new_cell[self.face_right[face] as usize]];
            let old = face as u32 | if a > b { SIGN_BIT } else { 0 };
            MovedFace { cells: [a.min(b), a.max(b)], is_periodic: self.is_periodic(face), old }
        });
        let mut inner: Vec<MovedFace> = inner.collect();
        inner.par_sort_unstable_by_key(|face| (face.cells, face.is_periodic, index_of(face.old)));
        let mut faces: Vec<u32> = inner.into_iter().map(|face| face.old).collect();
        let mut patches = vec![];
        for patch in &self.patches {
            let start = faces.len();
            faces.extend(patch.faces.clone().map(|face| face as u32));
            faces[start..].sort_unstable_by_key(|face| (left(*face as usize), *face));
            patches.push(Patch { name: patch.name.clone(), faces: start..faces.len() });
        }
        (faces, patches)
    }

    /// Sets the cells of the faces of `mesh` and the faces of its cells.
    fn connect_faces(&self, mesh: &mut Mesh, permutation: &Permutation, new_cell: &[u32]) {
        let Permutation { cells, faces, .. } = permutation;
        let side = |item: &u32, is_left: bool| {
            let old = index_of(*item);
            let of = match is_left == (item & SIGN_BIT == 0) {
                true => self.face_left[old],
                false => self.face_right[old],
            };
            new_cell[of as usize]
        };
        mesh.face_left = faces.par_iter().map(|item| side(item, true)).collect();
        let inner = &faces[..self.n_interior_faces()];
        mesh.face_right = inner.par_iter().map(|item| side(item, false)).collect();
        let new_face = permutation.new_faces();
        let old_row = |new: usize| self.cell_to_faces.of(cells[new] as usize);
        let offsets = offsets_of(cells.len(), |new| old_row(new).len());
        let mut items = vec![0; offsets[cells.len()] as usize];
        fill_rows(&offsets, &mut items, |new, row| {
            for (item, old) in row.iter_mut().zip(old_row(new)) {
                *item = new_face[index_of(*old)] ^ (old & SIGN_BIT);
            }
            row.sort_unstable_by_key(|item| index_of(*item));
        });
        mesh.cell_to_faces = Adjacency { offsets, items };
    }

    /// The nodes of the faces of `mesh`, in the order in which the left cell has them.
    fn face_nodes(&self, mesh: &Mesh, permutation: &Permutation, new_node: &[u32]) -> Adjacency {
        // Nodes of the other side of periodic faces.
        let pairs = self.periodic_pairs.iter();
        let images: BTreeMap<usize, Vec<u32>> = pairs.flat_map(|pair| pair.images(self)).collect();
        let old_nodes = |new: usize| {
            let item = permutation.faces[new];
            let old = index_of(item);
            let of_right = images.get(&old).filter(|_| item & SIGN_BIT != 0);
            of_right.map_or(self.face_to_nodes.of(old), Vec::as_slice)
        };
        let n = permutation.faces.len();
        let offsets = offsets_of(n, |new| old_nodes(new).len());
        let mut items = vec![0; offsets[n] as usize];
        fill_rows(&offsets, &mut items, |new, row| {
            let renamed = old_nodes(new).iter().map(|node| new_node[*node as usize]);
            row.iter_mut().zip(renamed).for_each(|(item, node)| *item = node);
            if permutation.faces[new] & SIGN_BIT != 0 {
                let cell = mesh.face_left[new] as usize;
                let (shape, nodes) = (mesh.cells.shapes[cell], mesh.cells.nodes_of(cell));
                let of_cell = (0..shape.face_count()).map(|face| shape.face_nodes(nodes, face));
                let is_it = |(corners, count): &([u32; 4], usize)| {
                    *count == row.len() && corners[..*count].iter().all(|node| row.contains(node))
                };
                if let Some((corners, count)) = of_cell.into_iter().find(is_it) {
                    row.copy_from_slice(&corners[..count]);
                }
            }
        });
        Adjacency { offsets, items }
    }

    fn moved_pairs(&self, permutation: &Permutation, new_node: &[u32]) -> PeriodicPairs {
        let new_face = permutation.new_faces();
        let moved = |pair: &PeriodicPair| {
            let renamed = |item: &u32| new_face[index_of(*item)] ^ (item & SIGN_BIT);
            let mut faces: Vec<u32> = pair.faces.iter().map(renamed).collect();
            faces.sort_unstable_by_key(|item| index_of(*item));
            let of_nodes = |nodes: &[u32; 2]| nodes.map(|node| new_node[node as usize]);
            let mut nodes: Vec<[u32; 2]> = pair.nodes.iter().map(of_nodes).collect();
            nodes.sort_unstable();
            let (patches, translation) = (pair.patches.clone(), pair.translation);
            PeriodicPair { patches, translation, faces, nodes }
        };
        PeriodicPairs::new(self.periodic_pairs.iter().map(moved).collect(), self.n_faces())
    }
}
