//! The mesh that is adapted: cells, the surfaces and ridges that bound them, and the metric at each vertex.

use crate::change::Operation;
use crate::complex::{Complex, NONE};
use crate::error::AdaptError;
use crate::field::MetricField;
use crate::kept::{KEPT_FACE, Kept};
use crate::quality::{Vertex, edge_length, mean_ratio};
use crate::simplices::simplex_of;
use crate::surface::Surface;
use crate::vector::{Point, cross, dot, norm, subtract};
use karman_mesh::{CellShape, Elements, Mesh, Place, RawMesh};
use std::collections::BTreeMap;

/// The vertex that an operation adds, before it has a number.
pub(crate) const NEW: u32 = NONE - 1;

/// How a vertex may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum VertexKind {
    /// Not at all.
    Corner,
    /// Along a ridge, where surfaces meet at an angle or patches meet.
    Ridge,
    /// In a surface.
    Surface,
    /// Everywhere.
    Interior,
}

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
    pub(crate) faces: Complex,
    pub(crate) ridges: Complex,
    pub(crate) field: &'a dyn MetricField,
    /// The surface of the mesh given.
    surface: Option<Surface>,
    /// Cells that stay as they are.
    pub(crate) kept: Kept,
}

impl<'a> AdaptiveMesh<'a> {
    /// The mesh of a file with the metric of `field`; surfaces that meet at more than `ridge_angle_deg` have a ridge.
    pub(crate) fn new(
        mesh: &Mesh,
        field: &'a dyn MetricField,
        ridge_angle_deg: f64,
    ) -> Result<Self, AdaptError> {
        AdaptiveMesh::around_frozen(mesh, field, ridge_angle_deg, &[])
    }

    /// As [`AdaptiveMesh::new`], with the cells that are `frozen` kept as they are.
    pub(crate) fn around_frozen(
        mesh: &Mesh,
        field: &'a dyn MetricField,
        ridge_angle_deg: f64,
        frozen: &[bool],
    ) -> Result<Self, AdaptError> {
        let dimension = mesh.dimension;
        let kept = Kept::of(mesh, frozen)?;
        if mesh.periodic_pairs.iter().next().is_some() {
            return Err(AdaptError::Periodic);
        }
        let n = mesh.points.len();
        let mut vertices = Vec::with_capacity(n);
        let mut hints = Vec::with_capacity(n);
        let mut hint = 0;
        for &point in &mesh.points {
            let (metric, next) = field.at(point, hint);
            if !metric.is_positive_definite() {
                let eigenvalues = metric.eigen().values;
                return Err(AdaptError::NotPositive { place: Place(point), eigenvalues });
            }
            hint = next;
            hints.push(hint);
            vertices.push(Vertex::new(point, metric));
        }
        let mut cells = Complex::new(dimension + 1, n);
        for cell in (0..mesh.n_cells()).filter(|&cell| !kept.is_kept[cell]) {
            cells.insert(padded(mesh.cells.nodes_of(cell)), mesh.cells.groups[cell]);
        }
        let mut faces = Complex::new(dimension, n);
        for (patch, group) in mesh.patches.iter().enumerate() {
            let is_kept = |face: usize| kept.is_kept[mesh.face_left[face] as usize];
            for face in group.faces.clone().filter(|&face| !is_kept(face)) {
                faces.insert(padded(mesh.face_to_nodes.of(face)), patch as u32);
            }
        }
        insert_interfaces(mesh, &kept, &mut faces);
        let mut result = AdaptiveMesh {
            dimension,
            vertices,
            kinds: vec![VertexKind::Interior; n],
            hints,
            free_vertices: vec![],
            changed: vec![1; n],
            sweeps: 1,
            last_sweep: [0; Operation::COUNT],
            cells,
            faces,
            ridges: Complex::new(2, n),
            field,
            surface: None,
            kept,
        };
        result.classify(ridge_angle_deg.to_radians().cos());
        result.surface = Some(Surface::new(&result));
        Ok(result)
    }

    /// Finds ridges, then the kind of each vertex; `cosine` is that of the angle of ridges.
    fn classify(&mut self, cosine: f64) {
        if self.dimension == 3 {
            for [a, b] in self.surface_edges() {
                let around: Vec<u32> = self.faces.around_edge(a, b).collect();
                let is_smooth = around.len() == 2
                    && self.faces.tag(around[0]) == self.faces.tag(around[1])
                    && {
                        let (m, n) =
                            (self.normal_over(around[0], a, b), self.normal_over(around[1], b, a));
                        dot(m, n) >= cosine * norm(m) * norm(n)
                    };
                if !is_smooth {
                    self.ridges.insert([a, b, NONE, NONE], 0);
                }
            }
        }
        for vertex in 0..self.vertices.len() as u32 {
            self.kinds[vertex as usize] = match self.kept.is_fixed(vertex) {
                true => VertexKind::Corner,
                false => self.kind_of(vertex, cosine),
            };
        }
    }

    /// Edges of the faces, each once with its lower vertex first, ascending.
    fn surface_edges(&self) -> Vec<[u32; 2]> {
        let mut edges = vec![];
        for face in self.faces.elements() {
            let [a, b, c, _] = self.faces.padded(face);
            edges.extend([[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)]));
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Normal of a triangle as seen with its edge from a to b and the third vertex on its left.
    fn normal_over(&self, face: u32, a: u32, b: u32) -> Point {
        let third = self.faces.nodes_of(face).iter().copied().find(|&v| v != a && v != b);
        let [p, q, r] = [a, b, third.unwrap_or(a)].map(|v| self.point(v));
        cross(subtract(q, p), subtract(r, p))
    }

    fn kind_of(&self, vertex: u32, cosine: f64) -> VertexKind {
        if !self.faces.touches(vertex) {
            return VertexKind::Interior;
        }
        let (lines, smooth) = if self.dimension == 2 {
            (&self.faces, VertexKind::Surface)
        } else {
            (&self.ridges, VertexKind::Ridge)
        };
        let around: Vec<u32> = lines.around(vertex).collect();
        if self.dimension == 3 && around.is_empty() {
            return VertexKind::Surface;
        }
        let [first, second] = around[..] else { return VertexKind::Corner };
        let along = |line: u32| {
            let nodes = lines.nodes_of(line);
            let other = if nodes[0] == vertex { nodes[1] } else { nodes[0] };
            (other, subtract(self.point(other), self.point(vertex)))
        };
        let ((p, u), (q, v)) = (along(first), along(second));
        let tags = |other: u32| {
            let mut tags: Vec<u32> =
                self.faces.around_edge(vertex, other).map(|face| self.faces.tag(face)).collect();
            tags.sort_unstable();
            tags
        };
        let is_straight = -dot(u, v) >= cosine * norm(u) * norm(v);
        if is_straight && tags(p) == tags(q) { smooth } else { VertexKind::Corner }
    }

    /// The adapted mesh in the form of a file, vertices and cells in the order of their numbers.
    pub(crate) fn to_raw(&self) -> RawMesh {
        let mut number = vec![NONE; self.vertices.len()];
        let mut points = vec![];
        for (vertex, own) in number.iter_mut().enumerate() {
            if self.cells.touches(vertex as u32) || self.kept.is_fixed(vertex as u32) {
                *own = points.len() as u32;
                points.push(self.vertices[vertex].point);
            }
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

    /// Mean ratio of the simplex `nodes`, of which `trial` replaces its vertex.
    #[inline]
    pub(crate) fn quality_with(&self, nodes: [u32; 4], trial: (u32, &Vertex)) -> f64 {
        let vertex = |node: u32| {
            if node == trial.0 {
                trial.1
            } else {
                &self.vertices[(node as usize).min(self.vertices.len() - 1)]
            }
        };
        mean_ratio(self.dimension, &nodes.map(vertex))
    }

    /// Mean ratio of the simplex `nodes`.
    #[inline]
    pub(crate) fn quality(&self, nodes: [u32; 4]) -> f64 {
        let last = self.vertices.len() - 1;
        mean_ratio(self.dimension, &nodes.map(|node| &self.vertices[(node as usize).min(last)]))
    }

    /// Neighbours of a vertex, ascending.
    pub(crate) fn neighbours(&self, vertex: u32, list: &mut Vec<u32>) {
        list.clear();
        for cell in self.cells.around(vertex) {
            list.extend(self.cells.nodes_of(cell).iter().filter(|&&node| node != vertex));
        }
        list.sort_unstable();
        list.dedup();
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

/// Checks that fields can be transferred from or to a mesh, as adaptation during a run does.
///
/// # Errors
/// [`AdaptError::Shapes`] of other cells than simplices, [`AdaptError::Periodic`] of periodic patches.
pub fn check_mesh(mesh: &Mesh) -> Result<(), AdaptError> {
    let (shape, simplices) = simplex_of(mesh.dimension);
    let count = mesh.cells.shapes.iter().filter(|&&other| other != shape).count();
    if count > 0 {
        return Err(AdaptError::Shapes { count, simplices });
    }
    if mesh.periodic_pairs.iter().next().is_some() {
        return Err(AdaptError::Periodic);
    }
    Ok(())
}

/// Vertices of a simplex, filled with [`NONE`].
pub(crate) fn padded(nodes: &[u32]) -> [u32; 4] {
    let mut result = [NONE; 4];
    result[..nodes.len()].copy_from_slice(nodes);
    result
}

/// Adds the faces to cells that are kept, and those between cells of two regions, with one tag for each pair of regions behind
/// those of the patches and a normal towards the region of the higher number.
fn insert_interfaces(mesh: &Mesh, kept: &Kept, faces: &mut Complex) {
    for nodes in kept.interface(mesh) {
        faces.insert(padded(&nodes), KEPT_FACE);
    }
    let mut tags: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for face in 0..mesh.n_interior_faces() {
        let cells = [mesh.face_left[face], mesh.face_right[face]].map(|cell| cell as usize);
        let [a, b] = cells.map(|cell| mesh.cells.groups[cell]);
        if a != b && !cells.iter().any(|&cell| kept.is_kept[cell]) {
            let next = (mesh.patches.len() + tags.len()) as u32;
            let tag = *tags.entry([a.min(b), a.max(b)]).or_insert(next);
            let mut nodes = mesh.face_to_nodes.of(face).to_vec();
            if a > b {
                nodes.reverse();
            }
            faces.insert(padded(&nodes), tag);
        }
    }
}
