//! Viscous terms in rotational form: −ν ∇×ω, ω = W (Cᵀ M U + boundary).
//!
//! Cᵀ M U is the circulation of the velocity around an edge, along the dual segments between the centroids
//! of cells and faces around it. At the boundary the circuit is closed by the boundary dual segments from
//! the face centroids to the edge, where the velocity is known: u_b·(x_e − x_f). W maps circulations to
//! integrals of the vorticity along the edges: the inner product of the cells around the nodes, in 2D 1/A of
//! a node's cell. ν M C W Cᵀ M is symmetric and does not dissipate irrotational flow on any mesh; on
//! rectangles and rectangular hexahedra it is the usual difference. On slip walls the vorticity is normal to
//! the wall.
//!
//! Source: Perot & Subramanian, J. Comput. Phys. 224 (2007) 59; the reason in decision 9.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::StaggeredFaces;
use super::inner_product::{InnerProduct, Vector, assembled, by_rows};
use super::periodic_edges::PeriodicEdges;
use super::rank_faces::{RankFaces, RankSetUp};
use crate::backend::{Backend, Buffer, Halo, View};
use crate::finite_volume::{VectorField, Vectors, narrow};
use crate::incompressible::{FlowCondition, IncompressibleError};
use crate::linear::{CsrMatrix, Matrix};
use crate::mesh::geometry::{cross, dot, norm, subtract};
use crate::mesh::{Adjacency, EdgeTopology, Geometry, Mesh, SIGN_BIT, index_of, sign_of};
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::{EdgeIncidence, Incidence};
use crate::real::Real;
use karman_backend::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The vorticity of fluxes and its curl.
pub(in crate::incompressible) struct Rotation<F: Real> {
    /// Edges of faces and faces of edges; in 2D nodes.
    pub edges: EdgeIncidence,
    /// Edges on the host, of the whole mesh.
    pub host: Arc<PeriodicEdges>,
    /// W: `[n_edges]` squared.
    pub weights: Matrix<F>,
    /// The vorticity at nodes of the whole mesh.
    pub nodes: Arc<NodalVorticity>,
    /// Boundary dual segments by boundary faces of the whole mesh.
    pub face_segments: Arc<BoundarySegments<F>>,
    /// Boundary dual segments by boundary edges.
    edge_segments: BoundarySegments<F>,
    /// The boundary edges of their rows.
    boundary_edges: Buffer<u32>,
    /// On one of several ranks the exchanges of values at edges and at faces of the boundary.
    exchanges: Option<[Arc<Halo>; 2]>,
}

/// The vorticity at nodes from circulations: ω_n = Σ Γ_e v over the edges at the node outside slip walls, in
/// 2D over the node itself; exact for a uniform vorticity.
pub(in crate::incompressible) struct NodalVorticity {
    /// Edges of each node; rows of nodes that represent no class are empty.
    edges: Adjacency,
    /// v of each of them.
    vectors: Vec<Vector>,
    /// The row of each node of the mesh.
    row: Vec<u32>,
}

/// Boundary dual segments x_e − x_f in rows: by boundary faces, or by boundary edges.
pub(in crate::incompressible) struct BoundarySegments<F: Real> {
    /// Start of the items of each row.
    offsets: Buffer<u32>,
    /// Edges of the face, or boundary faces of the edge, counted from the first, with their sign in the curl.
    items: Buffer<u32>,
    /// `[3][items]`.
    vectors: Buffer<F>,
}

/// [`BoundarySegments`] as kernels read them.
#[derive(Group, Clone, Copy)]
pub(in crate::incompressible) struct DualSegments<'a, F: Real> {
    /// Start of the items of each row.
    pub offsets: View<'a, u32>,
    /// Edges or faces with their sign in the curl.
    pub items: View<'a, u32>,
    /// The vector of each item.
    pub vectors: Vectors<'a, F>,
    /// 2 or 3.
    #[comptime]
    pub dimension: usize,
}

impl<F: Real> BoundarySegments<F> {
    /// The segments of a mesh of `dimension`.
    pub(in crate::incompressible) fn view(&self, dimension: usize) -> DualSegments<'_, F> {
        DualSegments {
            offsets: self.offsets.view(),
            items: self.items.view(),
            vectors: Vectors::of(&self.vectors),
            dimension,
        }
    }
}

/// A vorticity and its intermediate buffers.
pub(in crate::incompressible) struct Vorticity<F: Real> {
    /// M U along the dual segments: `[n_faces]`.
    line_integrals: Buffer<F>,
    /// Γ: `[n_edges]`.
    pub circulation: Buffer<F>,
    /// W Γ: `[n_edges]`.
    pub strength: Buffer<F>,
    /// The velocity at the boundary by component, with ghosts, on one of several ranks.
    at_boundary: Vec<Buffer<F>>,
}

impl<F: Real> Rotation<F> {
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        conditions: &[FlowCondition],
    ) -> Result<Self, IncompressibleError> {
        let host = PeriodicEdges::new(mesh);
        let slip = SlipNormals::new((mesh, geometry), &host, conditions);
        let (weights, nodes) = match mesh.dimension {
            2 => weights_2d((mesh, geometry), &host, &slip)?,
            _ => NodeCells::new((mesh, geometry), &host, &slip).weights(mesh)?,
        };
        let (boundary_edges, edge_segments, face_segments) =
            boundary_segments(backend, (mesh, geometry), &host);
        Ok(Rotation {
            edges: EdgeIncidence::new(backend, &host.topology),
            weights: Matrix::new(backend, weights.into_converted())?,
            nodes: Arc::new(nodes),
            face_segments: Arc::new(face_segments),
            edge_segments,
            boundary_edges,
            host: Arc::new(host),
            exchanges: None,
        })
    }

    /// The rows of one of several ranks.
    pub(super) fn of_rank(
        &self,
        backend: &Backend,
        set_up: &RankSetUp,
    ) -> Result<Self, IncompressibleError> {
        let EdgeTopology { face_to_edges, edge_to_faces, .. } = &self.host.topology;
        let RankFaces { edges, boundary, .. } = &*set_up.faces;
        let (boundary_edges, edge_segments) = self.segments_of_rank(backend, set_up);
        Ok(Rotation {
            edges: EdgeIncidence {
                face_edges: Incidence::new(backend, &set_up.rows_of_faces(face_to_edges)),
                edge_faces: Incidence::new(backend, &set_up.rows_of_edges(edge_to_faces)),
                edge_nodes: backend.upload(vec![]),
            },
            weights: self.weights.rows_of_rank(backend, edges.clone())?,
            nodes: self.nodes.clone(),
            face_segments: self.face_segments.clone(),
            edge_segments,
            boundary_edges,
            host: self.host.clone(),
            exchanges: Some([edges.clone(), boundary.clone()]),
        })
    }

    /// The boundary edges of one of several ranks, and their segments.
    fn segments_of_rank(
        &self,
        backend: &Backend,
        set_up: &RankSetUp,
    ) -> (Buffer<u32>, BoundarySegments<F>) {
        let BoundarySegments { offsets, items, vectors } = &self.edge_segments;
        let lists = [&self.boundary_edges, offsets, items];
        let [edges, offsets, items] = lists.map(|list| list.as_host().unwrap_or_default());
        let own = set_up.own_edges.clone();
        let place = |bound: usize| edges.partition_point(|edge| (*edge as usize) < bound);
        let rows = place(own.start)..place(own.end);
        let of_rows = offsets[rows.start]..offsets[rows.end];
        let local = |item: &u32| {
            let Some(face) = set_up.boundary_face(index_of(*item)) else {
                unreachable!("boundary faces around own edges are own or ghosts")
            };
            face | (item & SIGN_BIT)
        };
        let vectors = vectors.as_host().unwrap_or_default().chunks_exact(items.len().max(1));
        let range = of_rows.start as usize..of_rows.end as usize;
        let vectors = vectors.flat_map(|component| component[range.clone()].iter().copied());
        let segments = BoundarySegments {
            offsets: backend.upload(
                offsets[rows.start..=rows.end]
                    .iter()
                    .map(|offset| offset - of_rows.start)
                    .collect(),
            ),
            items: backend.upload(items[range.clone()].iter().map(local).collect()),
            vectors: backend.upload(vectors.collect()),
        };
        let first = own.start as u32;
        (backend.upload(edges[rows].iter().map(|edge| edge - first).collect()), segments)
    }

    /// Buffers for [`Rotation::curl_of_vorticity`].
    pub(super) fn scratch(&self, faces: &StaggeredFaces<F>) -> Vorticity<F> {
        let backend = faces.backend();
        let at_boundary = self
            .exchanges
            .iter()
            .flat_map(|[_, boundary]| (0..faces.dimension).map(|_| boundary.zeros(backend, 1)));
        Vorticity {
            line_integrals: faces.fluxes(),
            circulation: self.at_edges(backend),
            strength: self.at_edges(backend),
            at_boundary: at_boundary.collect(),
        }
    }

    /// Values at edges, with room for ghosts on one of several ranks.
    pub(super) fn at_edges(&self, backend: &Backend) -> Buffer<F> {
        match &self.exchanges {
            None => backend.zeros(self.edges.n_edges()),
            Some([edges, _]) => edges.zeros(backend, 1),
        }
    }

    /// Fetches the ghosts of values at edges on one of several ranks.
    pub(super) fn fetch(&self, values: &mut Buffer<F>) {
        if let Some([edges, _]) = &self.exchanges {
            edges.fill(values, 1);
        }
    }

    /// y ← C W (Cᵀ M x + boundary), the boundary term by the components of the velocity at boundary faces if given; x has its
    /// ghosts.
    pub(super) fn curl_of_vorticity(
        &self,
        faces: &StaggeredFaces<F>,
        x: &Buffer<F>,
        at_boundary: Option<&[&Buffer<F>]>,
        scratch: &mut Vorticity<F>,
        y: &mut Buffer<F>,
    ) {
        self.vorticity(faces, x, at_boundary, scratch);
        self.fetch(&mut scratch.strength);
        self.edges.curl(faces.backend(), &scratch.strength, y);
    }

    /// Γ = Cᵀ M x + boundary around the edges, and W Γ, the integrals of the vorticity along them.
    pub(in crate::incompressible) fn vorticity(
        &self,
        faces: &StaggeredFaces<F>,
        x: &Buffer<F>,
        at_boundary: Option<&[&Buffer<F>]>,
        scratch: &mut Vorticity<F>,
    ) {
        let backend = faces.backend();
        faces.mass.multiply(x, &mut scratch.line_integrals);
        faces.fetch(&mut scratch.line_integrals);
        self.edges.rotation(backend, &scratch.line_integrals, &mut scratch.circulation);
        if let Some(own) = at_boundary {
            let with_ghosts: Vec<&Buffer<F>> = match &self.exchanges {
                None => own.to_vec(),
                Some([_, boundary]) => {
                    let both = own.iter().zip(&mut scratch.at_boundary);
                    let extended = both.map(|(own, all)| {
                        boundary.extend(own, all);
                        &*all
                    });
                    extended.collect()
                }
            };
            add_dual_segments(
                backend,
                self.boundary_edges.len(),
                &self.boundary_edges,
                &self.edge_segments.view(faces.dimension),
                &VectorField::of(&with_ghosts),
                &mut scratch.circulation,
            );
        }
        self.fetch(&mut scratch.circulation);
        self.weights.multiply(&scratch.circulation, &mut scratch.strength);
    }
}

impl NodalVorticity {
    /// The vorticity at each node of the mesh from the circulations around the edges.
    pub(in crate::incompressible) fn of(&self, circulation: &[f64]) -> Vec<Vector> {
        let of_row = |row: usize| {
            let items = self.edges.offsets[row] as usize..self.edges.offsets[row + 1] as usize;
            items.fold([0.0; 3], |sum: Vector, k| {
                let around = circulation[self.edges.items[k] as usize];
                [0, 1, 2].map(|i| sum[i] + around * self.vectors[k][i])
            })
        };
        self.row.par_iter().map(|row| of_row(*row as usize)).collect()
    }
}

/// The boundary edges, the segments by these edges, and by boundary faces.
fn boundary_segments<F: Real>(
    backend: &Backend,
    (mesh, geometry): (&Mesh, &Geometry),
    host: &PeriodicEdges,
) -> (Buffer<u32>, BoundarySegments<F>, BoundarySegments<F>) {
    let inner = mesh.n_interior_faces();
    let mut segments: Vec<(u32, u32, Vector)> = vec![];
    let (mut face_offsets, mut face_items) = (vec![0u32], vec![]);
    for face in inner..mesh.n_faces() {
        let centre = geometry.face_centre_of(face);
        for item in host.original().face_to_edges.of(face) {
            let class = host.class_of(*item);
            let vector = subtract(host.midpoint(mesh, index_of(*item)), centre);
            let signed = (face - inner) as u32 | (class & SIGN_BIT);
            segments.push((index_of(class) as u32, signed, vector));
            face_items.push(class);
        }
        face_offsets.push(face_items.len() as u32);
    }
    let components = |segments: &[(u32, u32, Vector)]| -> Vec<f64> {
        (0..3).flat_map(|k| segments.iter().map(move |(.., vector)| vector[k])).collect()
    };
    let by_faces = BoundarySegments {
        offsets: backend.upload(face_offsets),
        items: backend.upload(face_items),
        vectors: narrow(backend, components(&segments)),
    };
    segments.sort_by_key(|(edge, ..)| *edge);
    let (mut edges, mut offsets) = (vec![], vec![0u32]);
    for segment in segments.chunk_by(|a, b| a.0 == b.0) {
        edges.push(segment[0].0);
        offsets.push(offsets[offsets.len() - 1] + segment.len() as u32);
    }
    let by_edges = BoundarySegments {
        offsets: backend.upload(offsets),
        items: backend.upload(segments.iter().map(|(_, item, _)| *item).collect()),
        vectors: narrow(backend, components(&segments)),
    };
    (backend.upload(edges), by_edges, by_faces)
}

/// Normals of slip walls at their nodes.
struct SlipNormals {
    /// Unit vectors by node.
    at: Vec<Option<SlipNormal>>,
    /// Whether each boundary face is at a slip wall.
    faces: Vec<bool>,
    inner: usize,
}

#[derive(Clone, Copy)]
enum SlipNormal {
    /// A smooth wall.
    Along(Vector),
    /// An edge of walls: the vorticity vanishes.
    None,
}

/// Walls whose normals form an angle of a smaller cosine meet at an edge.
const ONE_WALL: f64 = 0.8;

impl SlipNormals {
    fn new(
        (mesh, geometry): (&Mesh, &Geometry),
        host: &PeriodicEdges,
        conditions: &[FlowCondition],
    ) -> SlipNormals {
        let inner = mesh.n_interior_faces();
        let mut slip = SlipNormals {
            at: vec![None; mesh.n_nodes()],
            faces: vec![false; mesh.n_faces() - inner],
            inner,
        };
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            if !condition.is_slip() {
                continue;
            }
            for face in patch.faces.clone() {
                slip.faces[face - inner] = true;
                let normal = unit(geometry.area_vector_of(face));
                for node in mesh.face_to_nodes.of(face) {
                    let here = &mut slip.at[host.node_of(*node)];
                    *here = Some(match here {
                        None => SlipNormal::Along(normal),
                        Some(SlipNormal::Along(other)) if dot(*other, normal) > ONE_WALL => {
                            SlipNormal::Along(unit([0, 1, 2].map(|k| other[k] + normal[k])))
                        }
                        _ => SlipNormal::None,
                    });
                }
            }
        }
        slip
    }

    /// Whether an edge with faces `around` lies in a slip wall.
    fn contains(&self, around: &[u32]) -> bool {
        around.iter().any(|item| {
            let face = index_of(*item);
            face >= self.inner && self.faces[face - self.inner]
        })
    }
}

fn unit(a: Vector) -> Vector {
    let size = norm(a);
    a.map(|x| x / size)
}

/// 1/A of the cells around nodes, 0 at slip walls.
fn weights_2d(
    (mesh, geometry): (&Mesh, &Geometry),
    host: &PeriodicEdges,
    slip: &SlipNormals,
) -> Result<(CsrMatrix<f64>, NodalVorticity), IncompressibleError> {
    let n = host.topology.n_edges;
    let (mut areas, mut slips) = (vec![0.0; n], vec![false; n]);
    for face in 0..mesh.n_faces() {
        let midpoint = geometry.face_centre_of(face);
        for item in host.original().face_to_edges.of(face) {
            let node = index_of(*item);
            let class = index_of(host.class_of(*item));
            let half = subtract(mesh.points[node], midpoint);
            for centre in centres(mesh, geometry, face).into_iter().flatten() {
                areas[class] += 0.5 * cross(half, subtract(centre, midpoint))[2].abs();
            }
            slips[class] |= slip.at[host.node_of(node as u32)].is_some();
        }
    }
    let weight = |node: usize| if slips[node] { 0.0 } else { 1.0 / areas[node] };
    let weights = by_rows(0..n, n, |node, entries| entries.push((node as u32, weight(node))))?;
    let each = (0..n as u32).collect();
    let nodes = NodalVorticity {
        edges: Adjacency { offsets: (0..=n as u32).collect(), items: each },
        vectors: (0..n).map(|node| [0.0, 0.0, weight(node)]).collect(),
        row: (0..mesh.n_nodes() as u32).map(|n| index_of(host.class_of(n)) as u32).collect(),
    };
    Ok((weights, nodes))
}

/// The centroids of the cells at a face, periodic images next to it.
fn centres(mesh: &Mesh, geometry: &Geometry, face: usize) -> [Option<Vector>; 2] {
    let right = (face < mesh.n_interior_faces()).then(|| geometry.right_centre_of(mesh, face));
    [Some(geometry.cell_centre_of(mesh.face_left[face] as usize)), right]
}

/// The cells around the nodes of a mesh in 3D: their faces are those around the edges.
struct NodeCells<'a> {
    host: &'a PeriodicEdges,
    slip: &'a SlipNormals,
    /// s: areas of the faces around edges, of triangles edge–face–cell, along the edge.
    areas: Vec<Vector>,
    /// t: the edges.
    along: Vec<Vector>,
    volumes: Vec<f64>,
    node_edges: Adjacency,
}

const STANDARD: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl<'a> NodeCells<'a> {
    fn new(
        (mesh, geometry): (&Mesh, &Geometry),
        host: &'a PeriodicEdges,
        slip: &'a SlipNormals,
    ) -> Self {
        let (topology, original) = (&host.topology, host.original());
        let mut areas: Vec<Vector> = vec![[0.0; 3]; topology.n_edges];
        let mut along: Vec<Vector> = vec![[0.0; 3]; topology.n_edges];
        let mut volumes = vec![0.0; mesh.n_nodes()];
        for face in 0..mesh.n_faces() {
            let cells = centres(mesh, geometry, face);
            for item in original.face_to_edges.of(face) {
                let (edge, class) = (index_of(*item), host.class_of(*item));
                let x = host.midpoint(mesh, edge);
                let to_face = subtract(geometry.face_centre_of(face), x);
                let [a, b] = original.edge_to_nodes[edge].map(|node| mesh.points[node as usize]);
                let runs = f64::from(sign_of(*item) * sign_of(class));
                along[index_of(class)] = subtract(b, a).map(|t| runs * t);
                for (side, centre) in cells.into_iter().enumerate() {
                    let Some(centre) = centre else { continue };
                    // The left cell is behind a face whose boundary runs along the edge: t × to_face points
                    // out of it.
                    let turn = if side == 0 { -0.5 } else { 0.5 } * f64::from(sign_of(class));
                    let part = cross(to_face, subtract(centre, x)).map(|c| turn * c);
                    (0..3).for_each(|k| areas[index_of(class)][k] += part[k]);
                }
            }
        }
        for ((ends, area), t) in topology.edge_to_nodes.iter().zip(&areas).zip(&along) {
            // The cells around both nodes contain a cone over this area.
            ends.iter().for_each(|node| volumes[*node as usize] += dot(*area, *t) / 6.0);
        }
        let node_edges = topology.node_to_edges(mesh.n_nodes());
        NodeCells { host, slip, areas, along, volumes, node_edges }
    }

    /// Whether an edge is outside slip walls.
    fn is_free(&self, edge: usize) -> bool {
        !self.slip.contains(self.host.topology.edge_to_faces.of(edge))
    }

    /// The edges at a node outside slip walls.
    fn items(&self, node: usize) -> Vec<u32> {
        let edges = self.node_edges.of(node).iter().map(|item| index_of(*item));
        edges.filter(|edge| self.is_free(*edge)).map(|edge| edge as u32).collect()
    }

    /// A basis of the admissible vorticities at a node.
    fn basis(&self, node: usize) -> Option<Vec<Vector>> {
        match self.slip.at[node] {
            None => Some(STANDARD.to_vec()),
            Some(SlipNormal::Along(normal)) => Some(vec![normal]),
            Some(SlipNormal::None) => None,
        }
    }

    fn product(&self, node: usize) -> Option<InnerProduct> {
        let basis = self.basis(node)?;
        let edges = self.items(node);
        let halves: Vec<Vector> =
            edges.iter().map(|e| self.along[*e as usize].map(|t| 0.5 * t)).collect();
        let around: Vec<Vector> = edges.iter().map(|e| self.areas[*e as usize]).collect();
        let delta = halves.iter().zip(&around).map(|(t, a)| norm(*t) / norm(*a)).collect();
        InnerProduct::new(&halves, &around, delta, self.volumes[node], &basis)
    }

    /// The inner product of the cells around nodes, and the vorticity in them.
    fn weights(
        &self,
        mesh: &Mesh,
    ) -> Result<(CsrMatrix<f64>, NodalVorticity), IncompressibleError> {
        let topology = &self.host.topology;
        let own = |edge: usize| {
            let ends = topology.edge_to_nodes[edge].map(|node| Some(node as usize));
            if self.is_free(edge) { ends } else { [None; 2] }
        };
        let items = |node: usize| self.items(node);
        let weights = assembled(topology.n_edges, own, items, |node| self.product(node))?;
        let rows: Vec<(Vec<u32>, Vec<Vector>)> =
            (0..mesh.n_nodes()).into_par_iter().map(|node| self.reconstruction(node)).collect();
        let (mut edges, mut vectors) =
            (Adjacency { offsets: vec![0], items: vec![] }, Vec::with_capacity(rows.len()));
        for (own_edges, own_vectors) in rows {
            edges.items.extend(own_edges);
            vectors.extend(own_vectors);
            edges.offsets.push(edges.items.len() as u32);
        }
        let row = (0..mesh.n_nodes() as u32).map(|node| self.host.node_of(node) as u32).collect();
        Ok((weights, NodalVorticity { edges, vectors, row }))
    }

    /// Edges at a node and the contribution of a unit circulation around each to the vorticity there.
    fn reconstruction(&self, node: usize) -> (Vec<u32>, Vec<Vector>) {
        let (Some(basis), Some(product)) = (self.basis(node), self.product(node)) else {
            return (vec![], vec![]);
        };
        let volume = self.volumes[node];
        let in_3d = |within: Vector| {
            let sum = |k: usize| {
                basis.iter().zip(within).fold(0.0, |sum, (b, c)| sum + b[k] * c) / volume
            };
            [0, 1, 2].map(sum)
        };
        (self.items(node), product.reconstruction().into_iter().map(in_3d).collect())
    }
}

/// z ← z + Σ ± u_b·(x_e − x_f) at boundary edges.
///
/// Traffic an edge: 8 + 2s; an item 4 + 3s, a boundary face 3s.
#[kernel(update(z), indexed)]
pub(super) fn add_dual_segments<F: Real>(
    i: usize,
    _edge: usize,
    segments: &DualSegments<F>,
    velocity: &VectorField<F>,
    z: F,
) -> F {
    let mut sum = z;
    for k in segments.offsets[i] as usize..segments.offsets[i + 1] as usize {
        let item = segments.items[k];
        let along = velocity.dot(without_sign(item), segments.vectors.at(k));
        sum += with_sign::<F>(item, along);
    }
    sum
}
