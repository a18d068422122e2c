//! The cells and nodes that an adaptation kept as they were.

use crate::complex::NONE;
use karman_mesh::Mesh;

/// For each cell and node of an adapted mesh the one of the mesh before that it is; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptParts {
    /// [`NONE`] of cells that were adapted; cells beyond the end of the list too.
    cells: Vec<u32>,
    /// [`NONE`] of nodes that belong to no kept cell.
    nodes: Vec<u32>,
}

impl KeptParts {
    pub(crate) fn new(cells: Vec<u32>, nodes: Vec<u32>) -> Self {
        KeptParts { cells, nodes }
    }

    /// The same parts by the numbers of the mesh that was built of the adapted one.
    pub fn numbered_as(&self, mesh: &Mesh) -> KeptParts {
        let of = |list: &[u32], original: &[u32]| {
            let before = |own: &u32| list.get(*own as usize).copied().unwrap_or(NONE);
            original.iter().map(before).collect()
        };
        KeptParts {
            cells: of(&self.cells, &mesh.original_cell),
            nodes: of(&self.nodes, &mesh.original_node),
        }
    }

    /// The cell of the mesh before that a cell is.
    #[inline]
    pub fn cell(&self, cell: usize) -> Option<usize> {
        entry(&self.cells, cell)
    }

    /// The node of the mesh before that a node of a kept cell is.
    #[inline]
    pub fn node(&self, node: usize) -> Option<usize> {
        entry(&self.nodes, node)
    }

    /// Whether each of `n` cells of the mesh before was kept.
    pub(crate) fn cells_before(&self, n: usize) -> Vec<bool> {
        let mut is_kept = vec![false; n];
        let kept = self.cells.iter().filter(|&&cell| cell != NONE);
        kept.for_each(|&cell| is_kept[cell as usize] = true);
        is_kept
    }
}

fn entry(list: &[u32], at: usize) -> Option<usize> {
    list.get(at).filter(|&&before| before != NONE).map(|&before| before as usize)
}
