//! The part of a mesh that adaptation keeps as it is: cells that are no simplices, and others by choice.

use crate::complex::NONE;
use crate::error::AdaptError;
use crate::simplices::simplex_of;
use karman_mesh::{CellShape, Elements, Mesh};

/// Tag of the faces between cells that are kept and cells that are adapted.
pub(crate) const KEPT_FACE: u32 = NONE - 2;

/// Cells that are kept, and the names of regions and patches.
pub(crate) struct Kept {
    /// Whether each cell of the mesh given is kept.
    pub(crate) is_kept: Vec<bool>,
    /// The cells, with the nodes of the mesh given.
    pub(crate) cells: Elements,
    /// Their boundary faces.
    pub(crate) boundary: Elements,
    /// Whether each node of the mesh given is one of theirs.
    is_fixed: Vec<bool>,
    /// Their edges, ascending, the lower node first.
    edges: Vec<[u32; 2]>,
    pub(crate) regions: Vec<String>,
    pub(crate) patches: Vec<String>,
}

impl Kept {
    /// The cells of `mesh` that are no simplices, and those that are `frozen` (none where the list is shorter).
    ///
    /// # Errors
    /// [`AdaptError::Elements`] where no cell is left to adapt.
    pub(crate) fn of(mesh: &Mesh, frozen: &[bool]) -> Result<Kept, AdaptError> {
        let (shape, simplices) = simplex_of(mesh.dimension);
        let is_kept: Vec<bool> = (0..mesh.n_cells())
            .map(|cell| mesh.cells.shapes[cell] != shape || frozen.get(cell) == Some(&true))
            .collect();
        if is_kept.iter().all(|kept| *kept) {
            let count = mesh.cells.shapes.iter().filter(|&&other| other != shape).count();
            let frozen = is_kept.len() - count;
            return Err(AdaptError::Elements { count, frozen, simplices });
        }
        let (mut cells, mut boundary) = (Elements::new(), Elements::new());
        let mut is_fixed = vec![false; mesh.n_nodes()];
        let mut edges = vec![];
        for cell in (0..mesh.n_cells()).filter(|&cell| is_kept[cell]) {
            let (shape, nodes) = (mesh.cells.shapes[cell], mesh.cells.nodes_of(cell));
            cells.push(shape, nodes, mesh.cells.groups[cell]);
            nodes.iter().for_each(|&node| is_fixed[node as usize] = true);
            let of_cell = shape.edges().iter().map(|edge| edge.map(|local| nodes[local as usize]));
            edges.extend(of_cell.map(|[a, b]| [a.min(b), a.max(b)]));
        }
        edges.sort_unstable();
        edges.dedup();
        for (patch, group) in mesh.patches.iter().enumerate() {
            for face in group.faces.clone().filter(|&face| is_kept[mesh.face_left[face] as usize]) {
                let nodes = mesh.face_to_nodes.of(face);
                let shape = match nodes.len() {
                    2 => CellShape::Segment,
                    3 => CellShape::Triangle,
                    _ => CellShape::Quadrilateral,
                };
                boundary.push(shape, nodes, patch as u32);
            }
        }
        Ok(Kept {
            is_kept,
            cells,
            boundary,
            is_fixed,
            edges,
            regions: mesh.regions.clone(),
            patches: mesh.patches.iter().map(|patch| patch.name.clone()).collect(),
        })
    }

    /// Whether a vertex is a node of a cell that is kept.
    pub(crate) fn is_fixed(&self, vertex: u32) -> bool {
        self.is_fixed.get(vertex as usize) == Some(&true)
    }

    /// Whether the edge ab is one of a cell that is kept.
    pub(crate) fn is_fixed_edge(&self, a: u32, b: u32) -> bool {
        self.is_fixed(a)
            && self.is_fixed(b)
            && self.edges.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }

    /// The faces between cells that are adapted and those that are kept, their normal towards the latter.
    pub(crate) fn interface(&self, mesh: &Mesh) -> Vec<Vec<u32>> {
        let mut faces = vec![];
        for face in 0..mesh.n_interior_faces() {
            let [left, right] =
                [mesh.face_left[face], mesh.face_right[face]].map(|c| self.is_kept[c as usize]);
            if left != right {
                let mut nodes = mesh.face_to_nodes.of(face).to_vec();
                if left {
                    nodes.reverse();
                }
                faces.push(nodes);
            }
        }
        faces
    }
}
