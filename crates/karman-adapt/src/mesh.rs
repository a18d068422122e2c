//! The mesh that is adapted: cells, the surfaces and ridges that bound them, and the metric at each vertex.

use crate::complex::{Complex, NONE};
use crate::energy::{CellPenalty, LeastGain, LengthPenalty};
use crate::error::AdaptError;
use crate::field::MetricField;
use crate::kept::Kept;
use crate::kept_parts::KeptParts;
use crate::node_set::NodeSet;
use crate::operation::Operation;
use crate::quality::{Vertex, distortion, edge_length, mean_ratio};
use crate::simplices::simplex_of;
use crate::surface::Surface;
use crate::vector::Point;
use crate::vertex_kind::VertexKind;
use karman_mesh::{CellShape, Elements, Mesh, RawMesh};
use rayon::prelude::*;

/// The vertex that an operation adds, before it has a number.
pub(crate) const NEW: u32 = NONE - 1;

/// A mesh of simplices under adaptation.
///
/// `faces` are the boundary faces and the faces between regions (edges in 2D), `ridges` the edges where they meet at an angle or
/// under different tags (3D alone). A tag of a face below the number of patches is its patch.
pub(crate) struct AdaptiveMesh<'a> {
    pub(crate) dimension: usize,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) kinds: Vec<VertexKind>,
    /// Hints of the metric field.
    pub(crate) hints: Vec<u32>,
    pub(crate) free_vertices: Vec<u32>,
    /// Number of the sweep that last changed a cell of each vertex; sweeps are counted by `sweeps`.
    pub(crate) changed: Vec<u32>,
    pub(crate) sweeps: u32,
    /// Number of the last sweep of each [`Operation`].
    pub(crate) last_sweep: [u32; Operation::COUNT],
    pub(crate) cells: Complex,
    /// Distortion of each cell, by its number.
    pub(crate) distortions: Vec<f64>,
    pub(crate) faces: Complex,
    pub(crate) ridges: Complex,
    pub(crate) field: &'a dyn MetricField,
    /// The surface of the mesh given.
    pub(crate) surface: Option<Surface>,
    /// Cells that stay as they are.
    pub(crate) kept: Kept,
    /// The penalty of edge lengths in the energy.
    pub(crate) lengths: LengthPenalty,
    /// The energy of cells.
    pub(crate) cell_penalty: CellPenalty,
    /// The decrease of the energy that an operation must reach.
    pub(crate) least_gain: LeastGain,
}

impl AdaptiveMesh<'_> {
    /// Vertices of cells, adapted or kept, ascending.
    fn used_vertices(&self) -> impl Iterator<Item = u32> {
        let is_used = |vertex: &u32| self.cells.touches(*vertex) || self.kept.is_fixed(*vertex);
        (0..self.vertices.len() as u32).filter(is_used)
    }

    /// The parts of the mesh of [`AdaptiveMesh::to_raw`] that are those of the mesh given.
    pub(crate) fn kept_parts(&self) -> KeptParts {
        let kept = (0..).zip(&self.kept.is_kept).filter(|(_, is_kept)| **is_kept);
        let adapted = self.cells.elements().map(|_| NONE);
        let before = |vertex| if self.kept.is_fixed(vertex) { vertex } else { NONE };
        KeptParts::new(
            adapted.chain(kept.map(|(cell, _)| cell)).collect(),
            self.used_vertices().map(before).collect(),
        )
    }

    /// The adapted mesh in the form of a file, vertices and cells in the order of their numbers.
    pub(crate) fn to_raw(&self) -> RawMesh {
        let mut number = vec![NONE; self.vertices.len()];
        let mut points = vec![];
        for vertex in self.used_vertices() {
            number[vertex as usize] = points.len() as u32;
            points.push(self.vertices[vertex as usize].point);
        }
        let (cell_shape, face_shape) = match self.dimension {
            2 => (CellShape::Triangle, CellShape::Segment),
            _ => (CellShape::Tetrahedron, CellShape::Triangle),
        };
        let renumbered = |nodes: &[u32]| -> Vec<u32> {
            nodes.iter().map(|&node| number[node as usize]).collect()
        };
        let list = |complex: &Complex, shape: CellShape, least: u32, kept: &Elements| {
            let mut elements = Elements::new();
            for element in complex.elements().filter(|&element| complex.tag(element) < least) {
                let nodes = renumbered(complex.nodes_of(element));
                elements.push(shape, &nodes, complex.tag(element));
            }
            for element in 0..kept.len() {
                let nodes = renumbered(kept.nodes_of(element));
                elements.push(kept.shapes[element], &nodes, kept.groups[element]);
            }
            elements
        };
        let cells = list(&self.cells, cell_shape, NONE, &self.kept.cells);
        let patches = &self.kept.patches;
        let boundary = list(&self.faces, face_shape, patches.len() as u32, &self.kept.boundary);
        RawMesh {
            dimension: self.dimension,
            points,
            cells,
            boundary,
            regions: self.kept.regions.clone(),
            patches: patches.clone(),
        }
    }

    #[inline]
    pub(crate) fn point(&self, vertex: u32) -> Point {
        self.vertices[vertex as usize].point
    }

    /// A vertex at a place, with the hint of its metric; `None` where the metric is not positive definite.
    pub(crate) fn vertex_at(&self, point: Point, hint: u32) -> Option<(Vertex, u32)> {
        let (metric, hint) = self.field.at(point, hint);
        metric.is_positive_definite().then(|| (Vertex::new(point, metric), hint))
    }

    /// The place on the surface of the mesh given, for a vertex of this kind on a face of `tag`.
    pub(crate) fn on_surface(&self, kind: VertexKind, tag: u32, point: Point) -> Point {
        self.surface.as_ref().map_or(point, |surface| surface.place(kind, tag, point))
    }

    /// Length of an edge in the metric.
    #[inline]
    pub(crate) fn length(&self, a: u32, b: u32) -> f64 {
        edge_length(&self.vertices[a as usize], &self.vertices[b as usize])
    }

    /// Distortion of the simplex `nodes`, of which `trial` replaces its vertex.
    #[inline]
    pub(crate) fn distortion_with(&self, nodes: [u32; 4], trial: (u32, &Vertex)) -> f64 {
        let vertex = |node: u32| {
            if node == trial.0 {
                trial.1
            } else {
                &self.vertices[(node as usize).min(self.vertices.len() - 1)]
            }
        };
        distortion(self.dimension, &nodes.map(vertex))
    }

    /// Distortion of the simplex `nodes`.
    #[inline]
    pub(crate) fn distortion(&self, nodes: [u32; 4]) -> f64 {
        let last = self.vertices.len() - 1;
        distortion(self.dimension, &nodes.map(|node| &self.vertices[(node as usize).min(last)]))
    }

    /// Largest distortion of these cells.
    pub(crate) fn highest_distortion(&self, cells: &[u32]) -> f64 {
        cells.iter().map(|&cell| self.distortions[cell as usize]).fold(0.0, f64::max)
    }

    /// Evaluates the distortion of a cell again.
    pub(crate) fn measure_cell(&mut self, cell: u32) {
        let cells = self.distortions.len().max(cell as usize + 1);
        self.distortions.resize(cells, 0.0);
        self.distortions[cell as usize] = self.distortion(self.cells.padded(cell));
    }

    /// Evaluates the distortions of all cells.
    pub(crate) fn measure_cells(&mut self) {
        let of = |cell: usize| match self.cells.is_alive(cell) {
            true => self.distortion(self.cells.padded(cell as u32)),
            false => 0.0,
        };
        self.distortions = (0..self.cells.capacity()).into_par_iter().map(of).collect();
    }

    /// Mean ratio of the simplex `nodes`.
    #[inline]
    pub(crate) fn quality(&self, nodes: [u32; 4]) -> f64 {
        let last = self.vertices.len() - 1;
        mean_ratio(self.dimension, &nodes.map(|node| &self.vertices[(node as usize).min(last)]))
    }

    /// Neighbours of a vertex, each once.
    pub(crate) fn neighbours(&self, vertex: u32, list: &mut Vec<u32>) {
        list.clear();
        let mut found = NodeSet::new();
        found.insert(vertex);
        for &cell in self.cells.around(vertex) {
            list.extend(self.cells.nodes_of(cell).iter().filter(|&&node| found.insert(node)));
        }
    }

    /// Number of vertices of cells.
    pub(crate) fn vertex_count(&self) -> usize {
        self.vertices.len() - self.free_vertices.len()
    }

    /// Whether a vertex of this kind of boundary moves along a line.
    pub(crate) fn is_line(&self, kind: VertexKind) -> bool {
        kind == VertexKind::Ridge || self.dimension == 2
    }

    /// Whether the edge lies in a ridge (3D).
    pub(crate) fn is_ridge(&self, a: u32, b: u32) -> bool {
        self.ridges.touches(a) && self.ridges.around_edge(a, b).next().is_some()
    }
}

/// Checks that a mesh can be adapted during a run.
///
/// # Errors
/// [`AdaptError::Elements`] where no cell is a simplex, [`AdaptError::Periodic`] of periodic patches.
pub fn check_mesh(mesh: &Mesh) -> Result<(), AdaptError> {
    let (shape, simplices) = simplex_of(mesh.dimension);
    if !mesh.cells.shapes.contains(&shape) {
        return Err(AdaptError::Elements { count: mesh.n_cells(), frozen: 0, simplices });
    }
    check_periodic(mesh)
}

/// # Errors
/// [`AdaptError::Periodic`] of periodic patches.
pub(crate) fn check_periodic(mesh: &Mesh) -> Result<(), AdaptError> {
    match mesh.periodic_pairs.iter().next() {
        Some(_) => Err(AdaptError::Periodic),
        None => Ok(()),
    }
}
