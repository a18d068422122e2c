//! Connected components of a mesh, by shared faces or by shared nodes.

use super::adjacency::index_of;
use super::error::CellName;
use super::{Mesh, cell_name};

/// Component of a cell that was not visited.
const NONE: u32 = u32::MAX;

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
        ConnectedComponents::search(mesh.n_cells(), |cell, visit| {
            let faces = mesh.cell_to_faces.of(cell).iter().map(|&item| index_of(item));
            for face in faces.filter(|&face| face < mesh.n_interior_faces()) {
                visit((mesh.face_left[face] ^ mesh.face_right[face]) as usize ^ cell);
            }
        })
    }

    /// Components of the graph of cells that share a node or its periodic image.
    pub fn by_nodes(mesh: &Mesh) -> ConnectedComponents {
        let around = mesh.node_to_cells();
        let mut images =
            vec![vec![]; if mesh.periodic_pairs.is_empty() { 0 } else { mesh.n_nodes() }];
        for [a, b] in mesh.periodic_nodes() {
            images[a as usize].push(b);
            images[b as usize].push(a);
        }
        ConnectedComponents::search(mesh.n_cells(), |cell, visit| {
            for &node in mesh.cells.nodes_of(cell) {
                let others = images.get(node as usize).into_iter().flatten();
                for &node in std::iter::once(&node).chain(others) {
                    around.of(node as usize).iter().for_each(|&other| visit(other as usize));
                }
            }
        })
    }

    /// Depth-first search; `neighbours` visits the cells adjacent to a cell.
    fn search(
        n_cells: usize,
        neighbours: impl Fn(usize, &mut dyn FnMut(usize)),
    ) -> ConnectedComponents {
        let mut components = ConnectedComponents { of_cell: vec![NONE; n_cells], cells: vec![] };
        let mut stack = vec![];
        for start in 0..n_cells {
            if components.of_cell[start] != NONE {
                continue;
            }
            let component = components.cells.len() as u32;
            let mut count = 1;
            components.of_cell[start] = component;
            stack.push(start);
            while let Some(cell) = stack.pop() {
                neighbours(cell, &mut |other| {
                    if components.of_cell[other] == NONE {
                        components.of_cell[other] = component;
                        count += 1;
                        stack.push(other);
                    }
                });
            }
            components.cells.push(count);
        }
        components
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
