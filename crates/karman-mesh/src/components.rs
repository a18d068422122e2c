//! Connected components of a mesh, by shared faces or by shared nodes.

use super::adjacency::{CHUNK, fill_rows, offsets_of};
use super::error::CellName;
use super::{Mesh, cell_name};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Connected components of the cells of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectedComponents {
    /// Component of each cell: `[n_cells]`.
    pub of_cell: Vec<u32>,
    /// Number of cells of each component: `[n_components]`.
    pub cells: Vec<usize>,
}

impl ConnectedComponents {
    /// Components of the graph of cells that share a face, faces of periodic patches included.
    pub fn by_faces(mesh: &Mesh) -> ConnectedComponents {
        let sets = DisjointSets::new(mesh.n_cells());
        let faces = mesh.face_left.par_iter().zip(&mesh.face_right).with_min_len(CHUNK);
        faces.for_each(|(&left, &right)| sets.unite(left, right));
        sets.components()
    }

    /// Components of the graph of cells that share a node or its periodic image.
    pub fn by_nodes(mesh: &Mesh) -> ConnectedComponents {
        let around = mesh.node_to_cells();
        let sets = DisjointSets::new(mesh.n_cells());
        (0..mesh.n_nodes()).into_par_iter().with_min_len(CHUNK).for_each(|node| {
            around.of(node).windows(2).for_each(|pair| sets.unite(pair[0], pair[1]));
        });
        for [a, b] in mesh.periodic_nodes() {
            sets.unite(around.of(a as usize)[0], around.of(b as usize)[0]);
        }
        sets.components()
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Components by ascending number of cells, then by their first cell in the file.
    pub fn smallest_first(&self, mesh: &Mesh) -> Vec<usize> {
        let first = self.first_cells(mesh);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&component| {
            (self.cells[component], mesh.original_cell[first[component]])
        });
        order
    }

    /// First cell of each component in the file's order: `[n_components]`.
    fn first_cells(&self, mesh: &Mesh) -> Vec<usize> {
        let mut first = vec![usize::MAX; self.len()];
        for (cell, &component) in self.of_cell.iter().enumerate() {
            let known = &mut first[component as usize];
            if *known == usize::MAX || mesh.original_cell[cell] < mesh.original_cell[*known] {
                *known = cell;
            }
        }
        first
    }

    /// Name, for messages, of the first cell of a component in the file's order.
    pub fn name_of(&self, mesh: &Mesh, component: usize) -> CellName {
        cell_name(mesh, self.first_cells(mesh)[component])
    }

    /// Whether each component has a face of a patch that `is_selected` accepts: `[n_components]`.
    pub fn touch_patches(&self, mesh: &Mesh, is_selected: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut touches = vec![false; self.len()];
        for (_, patch) in mesh.patches.iter().enumerate().filter(|(index, _)| is_selected(*index)) {
            for face in patch.faces.clone() {
                touches[self.of_cell[mesh.face_left[face] as usize] as usize] = true;
            }
        }
        touches
    }
}

/// Disjoint sets of cells that threads unite concurrently: trees whose root is the first cell of its set, so
/// that they do not depend on the order of unions.
struct DisjointSets {
    /// A cell of the same set before the cell, the cell itself at a root: `[n_cells]`.
    parent: Vec<AtomicU32>,
}

impl DisjointSets {
    /// Each cell in a set of its own.
    fn new(n_cells: usize) -> Self {
        let parent = (0..n_cells as u32).into_par_iter().with_min_len(CHUNK).map(AtomicU32::new);
        DisjointSets { parent: parent.collect() }
    }

    /// The root of a cell; halves the path to it.
    fn root(&self, mut cell: u32) -> u32 {
        loop {
            let parent = self.parent[cell as usize].load(Relaxed);
            if parent == cell {
                return cell;
            }
            let next = self.parent[parent as usize].load(Relaxed);
            // A concurrent union may have moved the cell further down; the minimum keeps that.
            if next != parent {
                self.parent[cell as usize].fetch_min(next, Relaxed);
            }
            cell = next;
        }
    }

    /// Unites the sets of two cells: the root of higher number gets the other as its parent.
    fn unite(&self, a: u32, b: u32) {
        let (mut a, mut b) = (self.root(a), self.root(b));
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            let root = &self.parent[high as usize];
            if root.compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return;
            }
            // Another thread gave `high` a parent meanwhile.
            (a, b) = (self.root(low), self.root(high));
        }
    }

    /// The sets, numbered by their first cells.
    fn components(self) -> ConnectedComponents {
        let n = self.parent.len();
        let chunks = n.div_ceil(CHUNK);
        let cells = |chunk: usize| (chunk * CHUNK) as u32..((chunk + 1) * CHUNK).min(n) as u32;
        let is_root = |cell: &u32| self.parent[*cell as usize].load(Relaxed) == *cell;
        let starts = offsets_of(chunks, |chunk| cells(chunk).filter(is_root).count());
        let mut roots = vec![0; starts[chunks] as usize];
        fill_rows(&starts, &mut roots, |chunk, row| {
            cells(chunk).filter(is_root).zip(row).for_each(|(root, entry)| *entry = root);
        });
        let component = |cell: u32| roots.partition_point(|&root| root < self.root(cell)) as u32;
        let of_cell: Vec<u32> =
            (0..n as u32).into_par_iter().with_min_len(CHUNK).map(component).collect();
        let mut cells = vec![0; roots.len()];
        of_cell.iter().for_each(|&component| cells[component as usize] += 1);
        ConnectedComponents { of_cell, cells }
    }
}
