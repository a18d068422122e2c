//! The pieces of a mesh: cells that are joined to one another by faces, or by nodes.

use super::adjacency::index_of;
use super::error::CellName;
use super::{Mesh, cell_name};

/// No piece yet.
const NONE: u32 = u32::MAX;

/// The pieces of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// The piece of each cell: `[n_cells]`.
    pub of_cell: Vec<u32>,
    /// Number of cells of each piece: `[n_pieces]`.
    pub cells: Vec<usize>,
}

impl Pieces {
    /// Cells that reach one another through faces, those across periodic patches included.
    pub fn by_faces(mesh: &Mesh) -> Pieces {
        Pieces::found(mesh.n_cells(), |cell, visit| {
            let faces = mesh.cell_to_faces.of(cell).iter().map(|&item| index_of(item));
            for face in faces.filter(|&face| face < mesh.n_interior_faces()) {
                visit((mesh.face_left[face] ^ mesh.face_right[face]) as usize ^ cell);
            }
        })
    }

    /// Cells that reach one another through nodes.
    pub fn by_nodes(mesh: &Mesh) -> Pieces {
        let around = mesh.node_to_cells();
        let mut images = vec![vec![]; if mesh.joins.is_empty() { 0 } else { mesh.n_nodes() }];
        for [a, b] in mesh.periodic_nodes() {
            images[a as usize].push(b);
            images[b as usize].push(a);
        }
        Pieces::found(mesh.n_cells(), |cell, visit| {
            for &node in mesh.cells.nodes_of(cell) {
                let others = images.get(node as usize).into_iter().flatten();
                for &node in std::iter::once(&node).chain(others) {
                    around.of(node as usize).iter().for_each(|&other| visit(other as usize));
                }
            }
        })
    }

    /// Pieces of cells of which `neighbours` visits those that are joined to one.
    fn found(n_cells: usize, neighbours: impl Fn(usize, &mut dyn FnMut(usize))) -> Pieces {
        let mut pieces = Pieces { of_cell: vec![NONE; n_cells], cells: vec![] };
        let mut waiting = vec![];
        for start in 0..n_cells {
            if pieces.of_cell[start] != NONE {
                continue;
            }
            let piece = pieces.cells.len() as u32;
            let mut count = 1;
            pieces.of_cell[start] = piece;
            waiting.push(start);
            while let Some(cell) = waiting.pop() {
                neighbours(cell, &mut |other| {
                    if pieces.of_cell[other] == NONE {
                        pieces.of_cell[other] = piece;
                        count += 1;
                        waiting.push(other);
                    }
                });
            }
            pieces.cells.push(count);
        }
        pieces
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Pieces by rising number of cells; of those that are as large, that which the file has first.
    pub fn smallest_first(&self, mesh: &Mesh) -> Vec<usize> {
        let first = self.first_cells(mesh);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&piece| (self.cells[piece], mesh.original_cell[first[piece]]));
        order
    }

    /// The cell of each piece that the file has first: `[n_pieces]`.
    fn first_cells(&self, mesh: &Mesh) -> Vec<usize> {
        let mut first = vec![usize::MAX; self.len()];
        for (cell, &piece) in self.of_cell.iter().enumerate() {
            let known = &mut first[piece as usize];
            if *known == usize::MAX || mesh.original_cell[cell] < mesh.original_cell[*known] {
                *known = cell;
            }
        }
        first
    }

    /// The cell of a piece that the file has first, as a message names it.
    pub fn name_of(&self, mesh: &Mesh, piece: usize) -> CellName {
        cell_name(mesh, self.first_cells(mesh)[piece])
    }

    /// Whether each piece has a face of one of the patches that `is_meant` tells: `[n_pieces]`.
    pub fn touch(&self, mesh: &Mesh, is_meant: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut touch = vec![false; self.len()];
        for (_, patch) in mesh.patches.iter().enumerate().filter(|(index, _)| is_meant(*index)) {
            for face in patch.faces.clone() {
                touch[self.of_cell[mesh.face_left[face] as usize] as usize] = true;
            }
        }
        touch
    }
}
