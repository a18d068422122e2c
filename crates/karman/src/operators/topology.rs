//! The arrays of a mesh that operators read, on a backend.

use super::incidence::{LANES, NO_ITEM, Rows};
use crate::backend::{Backend, Buffer};
use crate::mesh::{Adjacency, EdgeTopology, Geometry, Mesh};
use crate::real::Real;

/// Which cells a face joins and which faces a cell has.
#[derive(Debug)]
pub struct FaceCells {
    /// Left cell of each face: `[n_faces]`.
    pub left: Buffer<u32>,
    /// Right cell of each interior face: `[n_interior]`.
    pub right: Buffer<u32>,
    /// Start of each cell's faces: `[n_cells + 1]`.
    pub offsets: Buffer<u32>,
    /// Faces of each cell with the sign bit where the normal points in.
    pub faces: Buffer<u32>,
    /// Whether all cells have as many faces.
    pub rows: Rows,
}

impl FaceCells {
    /// Uploads the connectivity of `mesh`.
    pub fn new(backend: &Backend, mesh: &Mesh) -> FaceCells {
        FaceCells {
            left: backend.upload_slice(&mesh.face_left),
            right: backend.upload_slice(&mesh.face_right),
            offsets: backend.upload_slice(&mesh.cell_to_faces.offsets),
            faces: backend.upload_slice(&mesh.cell_to_faces.items),
            rows: equal_length(&mesh.cell_to_faces).map_or(Rows::Compressed, Rows::Equal),
        }
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of faces.
    pub fn n_faces(&self) -> usize {
        self.left.len()
    }

    /// Number of faces between two cells.
    pub fn n_interior(&self) -> usize {
        self.right.len()
    }
}

/// The rows of a map between entities, laid out as a backend reads them best.
#[derive(Debug)]
pub struct Incidence {
    /// How `offsets` and `items` are read.
    pub rows: Rows,
    /// Where rows or slices begin.
    pub offsets: Buffer<u32>,
    /// Signed items.
    pub items: Buffer<u32>,
    /// Number of rows.
    pub len: usize,
}

impl Incidence {
    /// Uploads a map: as it is where its rows have one length or on the host, else in slices.
    pub fn new(backend: &Backend, map: &Adjacency) -> Incidence {
        let rows = match equal_length(map) {
            Some(length) => Rows::Equal(length),
            None if backend.device().is_some() => Rows::Slices,
            None => Rows::Compressed,
        };
        let len = map.len();
        if rows != Rows::Slices {
            let offsets = backend.upload_slice(&map.offsets);
            return Incidence { rows, offsets, items: backend.upload_slice(&map.items), len };
        }
        let (mut offsets, mut items) = (vec![0], vec![]);
        for first in (0..len).step_by(LANES) {
            let slice = first..(first + LANES).min(len);
            let longest = slice.clone().map(|row| map.of(row).len()).max().unwrap_or(0);
            let start = items.len();
            items.resize(start + LANES * longest, NO_ITEM);
            for row in slice {
                for (rank, item) in map.of(row).iter().enumerate() {
                    items[start + LANES * rank + row - first] = *item;
                }
            }
            offsets.push(items.len() as u32);
        }
        Incidence { rows, offsets: backend.upload(offsets), items: backend.upload(items), len }
    }
}

/// The length of all rows of a map, where they have one.
fn equal_length(map: &Adjacency) -> Option<usize> {
    let mut lengths = map.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let first = lengths.next().filter(|first| *first > 0)?;
    lengths.all(|length| length == first).then_some(first as usize)
}

/// Which edges bound a face, which faces meet at an edge, which nodes an edge joins.
#[derive(Debug)]
pub struct EdgeIncidence {
    /// Edges of each face.
    pub face_edges: Incidence,
    /// Faces of each edge.
    pub edge_faces: Incidence,
    /// Start and end node of each edge side by side; empty in two dimensions, where an edge is a
    /// node.
    pub edge_nodes: Buffer<u32>,
}

impl EdgeIncidence {
    /// Uploads the edges of a mesh.
    pub fn new(backend: &Backend, edges: &EdgeTopology) -> EdgeIncidence {
        EdgeIncidence {
            face_edges: Incidence::new(backend, &edges.face_to_edges),
            edge_faces: Incidence::new(backend, &edges.edge_to_faces),
            edge_nodes: backend.upload_slice(edges.edge_to_nodes.as_flattened()),
        }
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.edge_faces.len
    }
}

/// Sizes and centres of a mesh in the precision of a computation, component-major.
#[derive(Debug)]
pub struct MeshGeometry<F: Real> {
    /// `[n_cells]`
    pub volume: Buffer<F>,
    /// `[3][n_cells]`
    pub cell_centre: Buffer<F>,
    /// `[3][n_faces]`
    pub face_centre: Buffer<F>,
    /// `[3][n_faces]`
    pub area: Buffer<F>,
}

impl<F: Real> MeshGeometry<F> {
    /// Uploads the geometry, rounded to `F`.
    pub fn new(backend: &Backend, geometry: &Geometry) -> MeshGeometry<F> {
        let upload =
            |values: &[f64]| backend.upload(values.iter().map(|v| F::narrow(*v)).collect());
        MeshGeometry {
            volume: upload(&geometry.cell_volume),
            cell_centre: upload(&geometry.cell_centre),
            face_centre: upload(&geometry.face_centre),
            area: upload(&geometry.face_area_vector),
        }
    }
}
