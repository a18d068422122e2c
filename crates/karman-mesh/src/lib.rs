//! Unstructured meshes: connectivity, geometry, numbering, generators, checks and files. All on the host.

pub mod adjacency;
pub mod cell_shape;
pub mod check;
pub mod components;
mod connectivity;
pub mod edges;
mod entity_set;
pub mod error;
pub mod files;
pub mod generate;
pub mod geometry;
pub mod gradient_stencil;
pub mod graph_partition;
mod half_faces;
pub mod partition;
mod periodic;
pub mod permutation;
pub(crate) mod plane;
pub mod quadrature;
pub mod quality;
pub mod raw;
pub mod reorder;
pub mod testing;
mod validate;

pub use adjacency::{Adjacency, SIGN_BIT, index_of, sign_of};
pub use cell_shape::CellShape;
pub use check::MeshReport;
pub use components::ConnectedComponents;
pub use edges::EdgeTopology;
pub use error::{CellName, MeshError, MeshWarning, Place};
pub use geometry::Geometry;
pub use periodic::{PeriodicPair, PeriodicPairs};
pub use permutation::Permutation;
pub use raw::{Elements, RawMesh};
pub use reorder::Renumbering;

use connectivity::Faces;
use rayon::prelude::*;
use reorder::Numbered;
use std::ops::Range;

/// Options of [`Mesh::new`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshOptions {
    /// Factor on every coordinate. Default 1.
    pub scale: f64,
    /// Numbering of the cells. Default `Auto`.
    pub renumber: Renumbering,
}

impl Default for MeshOptions {
    fn default() -> Self {
        MeshOptions { scale: 1.0, renumber: Renumbering::Auto }
    }
}

/// Numbers of owned and of ghost entities of a part of a mesh; reductions run over the owned entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntityCount {
    /// Entities of this part.
    pub owned: usize,
    /// Copies of entities of other parts.
    pub ghost: usize,
}

impl EntityCount {
    /// Owned and ghost together.
    pub fn total(self) -> usize {
        self.owned + self.ghost
    }
}

/// A named group of boundary faces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Its name.
    pub name: String,
    /// Its faces.
    pub faces: Range<usize>,
}

/// A mesh in the solver's numbering.
///
/// Faces are numbered interior first, sorted by (left, right) cell, then boundary by patch. The
/// left cell of a face has the lower number and owns it; the face's nodes turn by the right-hand
/// rule about the normal from left to right, outward at a boundary. In 2D a face a→b has its left
/// cell on the left of the direction of travel and the normal (dy, −dx).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// 2 or 3.
    pub dimension: usize,
    /// Coordinates: `[n_nodes]`.
    pub points: Vec<[f64; 3]>,
    /// Cells: shapes, nodes (`cell_to_nodes`) and regions (`groups`).
    pub cells: Elements,
    /// Nodes of each face, in order.
    pub face_to_nodes: Adjacency,
    /// Cell the normal comes from: `[n_faces]`.
    pub face_left: Vec<u32>,
    /// Cell the normal goes to: `[n_interior_faces]`.
    pub face_right: Vec<u32>,
    /// Faces of each cell, ascending, in a part by their numbers in the whole mesh; [`SIGN_BIT`] set where the normal points
    /// into the cell.
    pub cell_to_faces: Adjacency,
    /// Groups of boundary faces, in the order of their faces; none is empty.
    pub patches: Vec<Patch>,
    /// Periodic pairs of patches, whose faces are interior faces.
    pub periodic_pairs: PeriodicPairs,
    /// Names of the regions that `cells.groups` index.
    pub regions: Vec<String>,
    /// Solver cell → file cell.
    pub original_cell: Vec<u32>,
    /// Solver node → file node.
    pub original_node: Vec<u32>,
    /// File nodes that no cell uses; they have no solver number.
    pub orphan_nodes: Vec<u32>,
    /// Cells of this part, then of others.
    pub cell_count: EntityCount,
    /// Faces of this part and of others. Ghost faces, which lie between an owned and a ghost cell
    /// and are owned by the other part, are the last of the interior faces, so that `face_right`
    /// stays one array.
    pub face_count: EntityCount,
    /// Nodes of this part, then of others.
    pub node_count: EntityCount,
    /// First cell of each part and the number of cells, `[parts + 1]`, of a mesh whose cells are in the order of parts
    /// ([`Mesh::in_parts`]); else empty.
    pub part_starts: Vec<usize>,
    /// Irregularities that do not prevent the use of the mesh.
    pub warnings: Vec<MeshWarning>,
}

impl Mesh {
    /// Checks a mesh, numbers its cells, nodes and faces, and builds their incidence lists.
    ///
    /// # Errors
    /// Every [`MeshError`] but `ZeroArea` and `NotClosed`, which [`Geometry::new`] finds.
    pub fn new(raw: RawMesh, options: &MeshOptions) -> Result<Mesh, MeshError> {
        let mut warnings = Vec::new();
        let raw = validate::validated(raw, options.scale, &mut warnings)?;
        let numbered = reorder::renumbered(raw, options.renumber, &mut warnings)?;
        let Numbered { raw, halves, original_cell, original_node, orphan_nodes } = numbered;
        let faces = Faces::numbered(&raw, halves, &mut warnings);
        let Faces { face_to_nodes, face_left, face_right, cell_to_faces, patches } = faces;
        let all = |n: usize| EntityCount { owned: n, ghost: 0 };
        Ok(Mesh {
            dimension: raw.dimension,
            cell_count: all(raw.cells.len()),
            face_count: all(face_left.len()),
            node_count: all(raw.points.len()),
            part_starts: vec![],
            points: raw.points,
            cells: raw.cells,
            face_to_nodes,
            face_left,
            face_right,
            cell_to_faces,
            patches,
            periodic_pairs: PeriodicPairs::default(),
            regions: raw.regions,
            original_cell,
            original_node,
            orphan_nodes,
            warnings,
        })
    }

    /// Number of cells, ghosts included.
    pub fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Number of faces, ghosts included.
    pub fn n_faces(&self) -> usize {
        self.face_left.len()
    }

    /// Number of faces between two cells; the boundary faces follow them.
    pub fn n_interior_faces(&self) -> usize {
        self.face_right.len()
    }

    /// Number of nodes, ghosts included.
    pub fn n_nodes(&self) -> usize {
        self.points.len()
    }

    /// The lowest and the highest coordinates of the nodes; `None` without nodes.
    pub fn bounding_box(&self) -> Option<[[f64; 3]; 2]> {
        geometry::bounding_box(&self.points)
    }

    /// Length of the diagonal of the bounding box; 0 without nodes.
    pub fn bounding_box_diagonal(&self) -> f64 {
        self.bounding_box().map_or(0.0, |[low, high]| geometry::norm(geometry::subtract(high, low)))
    }

    /// The patch of a face; `None` for an interior face.
    pub fn patch_of(&self, face: usize) -> Option<usize> {
        self.patches.iter().position(|patch| patch.faces.contains(&face))
    }

    /// Cells around each node, ascending; built on each call.
    pub fn node_to_cells(&self) -> Adjacency {
        Adjacency { offsets: self.cells.offsets.clone(), items: self.cells.nodes.clone() }
            .transpose(self.points.len())
    }

    /// Number of edges: in 2D the faces.
    pub fn count_edges(&self) -> usize {
        if self.dimension == 2 {
            return self.n_faces();
        }
        let around = self.node_to_cells();
        let larger_ends = |node: usize| {
            let mut ends = vec![];
            for &cell in around.of(node) {
                let nodes = self.cells.nodes_of(cell as usize);
                for edge in self.cells.shapes[cell as usize].edges() {
                    let [a, b] = edge.map(|local| nodes[local as usize]);
                    if a.min(b) as usize == node {
                        ends.push(a.max(b));
                    }
                }
            }
            ends.sort_unstable();
            ends.dedup();
            ends.len()
        };
        let nodes = (0..self.n_nodes()).into_par_iter().with_min_len(adjacency::CHUNK);
        // Integers: the sum does not depend on its order.
        #[allow(clippy::disallowed_methods)]
        nodes.map(larger_ends).sum()
    }

    /// Cells that share a face with each cell, by ascending face; built on each call.
    pub fn cell_to_cells(&self) -> Adjacency {
        let interior = |cell: usize| {
            let faces = self.cell_to_faces.of(cell).iter().map(|&item| index_of(item));
            faces.filter(|&face| face < self.face_right.len())
        };
        let offsets = adjacency::offsets_of(self.cells.len(), |cell| interior(cell).count());
        let mut items = vec![0; offsets[self.cells.len()] as usize];
        adjacency::fill_rows(&offsets, &mut items, |cell, row| {
            for (item, face) in row.iter_mut().zip(interior(cell)) {
                *item = self.face_left[face] ^ self.face_right[face] ^ cell as u32;
            }
        });
        Adjacency { offsets, items }
    }

    /// The cells in the order of the file.
    pub fn cells_in_file_order(&self) -> Vec<u32> {
        reorder::in_file_order(&self.original_cell)
    }

    /// The nodes in the order of the file.
    pub fn nodes_in_file_order(&self) -> Vec<u32> {
        reorder::in_file_order(&self.original_node)
    }

    /// The mesh in the form of a file: cells and nodes in the file's order, orphan nodes left out,
    /// boundary elements by patch, periodic patches last.
    pub fn to_raw(&self) -> RawMesh {
        let node_order = self.nodes_in_file_order();
        let mut file_node = vec![0; self.points.len()];
        node_order.iter().enumerate().for_each(|(i, &node)| file_node[node as usize] = i as u32);
        let renamed = |list: &[u32]| -> Vec<u32> {
            list.iter().map(|&node| file_node[node as usize]).collect()
        };
        let mut cells = reorder::permuted(&self.cells, &self.cells_in_file_order());
        cells.nodes.par_iter_mut().for_each(|node| *node = file_node[*node as usize]);
        let mut boundary = Elements::new();
        let mut patches: Vec<String> = vec![];
        let mut add = |nodes: &[u32], group: usize| {
            let shape = match nodes.len() {
                2 => CellShape::Segment,
                3 => CellShape::Triangle,
                _ => CellShape::Quadrilateral,
            };
            boundary.push(shape, &renamed(nodes), group as u32);
        };
        for patch in &self.patches {
            patch.faces.clone().for_each(|f| add(self.face_to_nodes.of(f), patches.len()));
            patches.push(patch.name.clone());
        }
        for pair in self.periodic_pairs.iter() {
            for (item, (face, mut images)) in pair.faces.iter().zip(pair.images(self)) {
                // Outward for the cell of the other side.
                images.reverse();
                let left = usize::from(item & SIGN_BIT != 0);
                add(self.face_to_nodes.of(face), patches.len() + left);
                add(&images, patches.len() + 1 - left);
            }
            patches.extend(pair.patches.iter().cloned());
        }
        RawMesh {
            dimension: self.dimension,
            points: node_order.par_iter().map(|&node| self.points[node as usize]).collect(),
            cells,
            boundary,
            regions: self.regions.clone(),
            patches,
        }
    }
}

/// The name of a solver cell in a message.
pub fn cell_name(mesh: &Mesh, cell: usize) -> CellName {
    CellName {
        index: mesh.original_cell[cell],
        shape: mesh.cells.shapes[cell],
        region: mesh.regions[mesh.cells.groups[cell] as usize].clone(),
        place: Place(geometry::mean_point(mesh.cells.nodes_of(cell), &mesh.points)),
    }
}

#[cfg(test)]
mod tests;
