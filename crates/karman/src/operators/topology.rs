//! The arrays of a mesh that operators read, on a backend.

use super::incidence::Rows;
use crate::backend::{Backend, Buffer};
use crate::mesh::{EdgeTopology, Geometry, Mesh};
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
    /// How `offsets` and `faces` are read.
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
            rows: Rows::of(backend, &mesh.cell_to_faces.offsets),
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

/// Which edges bound a face, which faces meet at an edge, which nodes an edge joins.
#[derive(Debug)]
pub struct EdgeIncidence {
    /// Start of each face's edges: `[n_faces + 1]`.
    pub face_offsets: Buffer<u32>,
    /// Edges of each face, signed.
    pub face_edges: Buffer<u32>,
    /// How the edges of faces are read.
    pub face_rows: Rows,
    /// Start of each edge's faces: `[n_edges + 1]`.
    pub edge_offsets: Buffer<u32>,
    /// Faces of each edge, signed.
    pub edge_faces: Buffer<u32>,
    /// How the faces of edges are read.
    pub edge_rows: Rows,
    /// Start and end node of each edge side by side; empty in two dimensions, where an edge is a
    /// node.
    pub edge_nodes: Buffer<u32>,
}

impl EdgeIncidence {
    /// Uploads the edges of a mesh.
    pub fn new(backend: &Backend, edges: &EdgeTopology) -> EdgeIncidence {
        EdgeIncidence {
            face_offsets: backend.upload_slice(&edges.face_to_edges.offsets),
            face_edges: backend.upload_slice(&edges.face_to_edges.items),
            face_rows: Rows::of(backend, &edges.face_to_edges.offsets),
            edge_offsets: backend.upload_slice(&edges.edge_to_faces.offsets),
            edge_faces: backend.upload_slice(&edges.edge_to_faces.items),
            edge_rows: Rows::of(backend, &edges.edge_to_faces.offsets),
            edge_nodes: backend.upload_slice(edges.edge_to_nodes.as_flattened()),
        }
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.edge_offsets.len().saturating_sub(1)
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
