//! The mesh under adaptation, from a mesh of a file: its faces, ridges and kinds of vertices.

use crate::complex::{Complex, NONE};
use crate::energy::{CellPenalty, LeastGain, LengthPenalty};
use crate::error::AdaptError;
use crate::field::MetricField;
use crate::kept::{KEPT_FACE, Kept};
use crate::mesh::AdaptiveMesh;
use crate::normals::surface_of;
use crate::operation::Operation;
use crate::quality::Vertex;
use crate::vector::{Point, cross, dot, norm, subtract};
use crate::vertex_kind::VertexKind;
use karman_mesh::{Mesh, Place};
use std::collections::BTreeMap;

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
            distortions: vec![],
            cells,
            faces,
            ridges: Complex::new(2, n),
            field,
            surface: None,
            kept,
            lengths: LengthPenalty::default(),
            cell_penalty: CellPenalty::default(),
            least_gain: LeastGain::OF_SMOOTHING,
        };
        result.measure_cells();
        result.classify(ridge_angle_deg.to_radians().cos());
        result.surface = Some(surface_of(&result));
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
        let around = lines.around(vertex).to_vec();
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
}

/// Vertices of a simplex, filled with [`NONE`].
fn padded(nodes: &[u32]) -> [u32; 4] {
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
