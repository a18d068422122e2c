//! Preconditioners of the 3D potential, for H = Cᵀ M C, whose nullspace contains all gradients G φ.
//!
//! With t the edges, w the dual face areas over the edge lengths and N the dual cell volumes, as sums over
//! cells: w = Σ 3 V / (n t²), n edges per cell, N = Σ w t² / 6 over the edges of a node.
//!
//! On rectangular hexahedra w and N are exact and K = H + w G N⁻¹ Gᵀ w couples parallel edges only, as a
//! grid Laplacian, for which scalar multigrid works. If b is orthogonal to gradients the solution of K x = b
//! also solves H x = b: Gᵀ K x = 0 implies Gᵀ w x = 0. Source: the Hodge Laplacian, Arnold, Falk & Winther,
//! Acta Numer. 15 (2006) 1.
//!
//! On other meshes an auxiliary-space preconditioner: z = ω d r + Σ_k Π_k L⁻¹ Π_kᵀ r, (Π_k v) at an edge
//! from a to b being ½ t_k (v_a + v_b), L = Gᵀ w G by a multigrid cycle, d the ℓ1-Jacobi smoother. The
//! correction in the range of G of the Maxwell case is not needed, as H G = 0. Source: Hiptmair & Xu, SIAM
//! J. Numer. Anal. 45 (2007) 2483; Kolev & Vassilevski, J. Comput. Math. 27 (2009) 604.
//!
//! Potentials vanish where fluxes are prescribed: nodes there are no unknowns of L, and G has no columns for
//! them. Generators are left to Jacobi. The viscous part of H (shift + θ ν W H) is ignored.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::StaggeredFaces;
use super::inner_product::{Vector, by_rows};
use super::potential::Potentials;
use super::rank_faces::outside;
use crate::backend::{Backend, Buffer, HOST_CHUNK, Halo, View, blas};
use crate::finite_volume::{VectorField, Vectors, narrow, narrow_slice};
use crate::linear::amg::HierarchyPrecision;
use crate::linear::{
    Amg, AmgParams, CsrMatrix, HierarchyReport, Jacobi, LinearError, Matrix, Method, Params,
    Preconditioner, PreconditionerKind,
};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::partition::range_starts;
use crate::mesh::{Adjacency, Mesh, index_of, sign_of};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// `params` for a 3D potential: multigrid if requested or `auto`, else Jacobi; conjugate gradients, flexible
/// if the cycle is not symmetric.
pub(super) fn solver_params(params: &Params) -> Params {
    let preconditioner = match params.preconditioner {
        PreconditionerKind::Auto { amg, .. } | PreconditionerKind::Amg(amg) => {
            PreconditionerKind::Amg(amg)
        }
        _ => PreconditionerKind::Jacobi,
    };
    let varies = matches!(preconditioner, PreconditionerKind::Amg(amg) if !amg.is_symmetric());
    let method = match params.method {
        _ if varies => Method::FlexibleConjugateGradient,
        Method::SingleReduction | Method::FlexibleConjugateGradient => params.method,
        _ => Method::ConjugateGradient,
    };
    Params { method, preconditioner, ..params.clone() }
}

/// The matrices of multigrid for factor Eᵀ H E, whatever the factor, on the whole mesh.
pub(super) enum PotentialMultigrid {
    /// No multigrid: Jacobi.
    Jacobi,
    Gauged(GaugedMatrix),
    Nodal(NodalMatrix),
}

impl PotentialMultigrid {
    /// Of potentials of the whole mesh.
    pub(super) fn new<F: Real>(
        mesh: &Mesh,
        faces: &StaggeredFaces<F>,
        potentials: &Potentials<F>,
    ) -> Result<Self, LinearError> {
        let edges = DualEdges::new(mesh, faces, potentials)?;
        let is_rectangular = faces.is_diagonal && edges.are_orthogonal();
        Ok(
            if potentials.constraints.unknowns() == 0
                || !is_rectangular && edges.is_constrained.iter().all(|constrained| *constrained)
            {
                // A layer of one cell between walls has no interior node for the auxiliary space.
                PotentialMultigrid::Jacobi
            } else if is_rectangular {
                PotentialMultigrid::Gauged(GaugedMatrix::new(&edges, potentials)?)
            } else {
                PotentialMultigrid::Nodal(NodalMatrix::new(&edges, potentials)?)
            },
        )
    }

    /// The preconditioner of potentials of the whole mesh, or of the own ones of one of several ranks, which all call it.
    pub(super) fn preconditioner<F: Real>(
        &self,
        potentials: &Potentials<F>,
        params: &AmgParams,
    ) -> Result<Box<dyn Preconditioner<F>>, LinearError> {
        Ok(match (self, params.precision) {
            (PotentialMultigrid::Jacobi, _) => {
                Box::new(Jacobi::<F>::new(&potentials.preconditioning_matrix(1.0, false)?)?)
            }
            (PotentialMultigrid::Gauged(of), HierarchyPrecision::Single) => {
                Box::new(GaugedPotential::<F, f32>::new(of, potentials, params)?)
            }
            (PotentialMultigrid::Gauged(of), HierarchyPrecision::Same) => {
                Box::new(GaugedPotential::<F, F>::new(of, potentials, params)?)
            }
            (PotentialMultigrid::Nodal(of), HierarchyPrecision::Single) => {
                Box::new(NodalPotential::<F, f32>::new(of, potentials, params)?)
            }
            (PotentialMultigrid::Nodal(of), HierarchyPrecision::Same) => {
                Box::new(NodalPotential::<F, F>::new(of, potentials, params)?)
            }
        })
    }
}

/// Tolerance of cos² from 0 or 1.
const RIGHT_ANGLE: f64 = 1e-9;

/// Dual mesh quantities of edges and nodes, on the host.
struct DualEdges {
    /// Start and end nodes.
    ends: Vec<[u32; 2]>,
    /// t.
    along: Vec<Vector>,
    /// w.
    weights: Vec<f64>,
    /// Edges of each node.
    around: Adjacency,
    /// Whether each node is at a constrained edge.
    is_constrained: Vec<bool>,
}

impl DualEdges {
    fn new<F: Real>(
        mesh: &Mesh,
        faces: &StaggeredFaces<F>,
        potentials: &Potentials<F>,
    ) -> Result<Self, LinearError> {
        let host = &potentials.rotation.host;
        let (topology, original) = (&host.topology, host.original());
        let n_edges = topology.n_edges;
        let mut along = vec![[0.0; 3]; n_edges];
        for (edge, ends) in original.edge_to_nodes.iter().enumerate() {
            let class = host.class_of(edge as u32);
            let [a, b] = ends.map(|node| mesh.points[node as usize]);
            along[index_of(class)] = subtract(b, a).map(|t| f64::from(sign_of(class)) * t);
        }
        let mut weights = vec![0.0; n_edges];
        for (cell, volume) in faces.backend().read(&faces.volume)?.into_iter().enumerate() {
            let of_face = |item: &u32| topology.face_to_edges.of(index_of(*item));
            let items = mesh.cell_to_faces.of(cell);
            // Each edge of the cell belongs to two of its faces.
            let sides: usize = items.iter().map(|item| of_face(item).len()).sum();
            let share = 3.0 * volume.to_f64() / sides as f64;
            let edges = items.iter().flat_map(of_face).map(|item| index_of(*item));
            edges.for_each(|edge| weights[edge] += share / dot(along[edge], along[edge]));
        }
        let mut is_constrained = vec![true; mesh.n_nodes()];
        topology
            .edge_to_nodes
            .iter()
            .flatten()
            .for_each(|node| is_constrained[*node as usize] = false);
        let mut is_free = vec![false; n_edges];
        potentials.constraints.free.iter().for_each(|edge| is_free[*edge as usize] = true);
        for (ends, _) in topology.edge_to_nodes.iter().zip(&is_free).filter(|(_, free)| !**free) {
            ends.iter().for_each(|node| is_constrained[*node as usize] = true);
        }
        let around = topology.node_to_edges(mesh.n_nodes());
        Ok(DualEdges {
            ends: topology.edge_to_nodes.clone(),
            along,
            weights,
            around,
            is_constrained,
        })
    }

    /// N.
    fn volume(&self, node: usize) -> f64 {
        let edges = self.around.of(node).iter().map(|item| index_of(*item));
        let parts = edges.map(|e| self.weights[e] * dot(self.along[e], self.along[e]) / 6.0);
        parts.fold(0.0, |sum, part| sum + part)
    }

    /// Whether the edges at each node are parallel or orthogonal, as on rectangular hexahedra.
    fn are_orthogonal(&self) -> bool {
        let is_orthogonal = |a: Vector, b: Vector| {
            let square = dot(a, b).powi(2) / (dot(a, a) * dot(b, b));
            !(RIGHT_ANGLE..=1.0 - RIGHT_ANGLE).contains(&square)
        };
        (0..self.is_constrained.len()).all(|node| {
            let along = || self.around.of(node).iter().map(|item| self.along[index_of(*item)]);
            along().all(|a| along().all(|b| is_orthogonal(a, b)))
        })
    }

    /// Whether two edges of rectangular hexahedra are parallel.
    fn are_parallel(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.along[a], self.along[b]);
        dot(a, b).abs() > 0.5 * norm(a) * norm(b)
    }
}

/// T K T and T: T scales potentials to their mean along the edge, with a common orientation of parallel edges.
pub(super) struct GaugedMatrix {
    matrix: CsrMatrix<f64>,
    scale: Vec<f64>,
}

/// z = T B T r, B a multigrid cycle for T K T.
struct GaugedPotential<F: Real, S: Real> {
    amg: Amg<S>,
    /// T: `[unknowns]`.
    scale: Buffer<F>,
    scaled: Buffer<F>,
    corrected: Buffer<F>,
}

/// Reference direction for the common orientation of parallel edges; generic, so normal to none.
const REFERENCE_DIRECTION: Vector = [0.8315, 0.4457, 0.3319];

impl GaugedMatrix {
    fn new<F: Real>(edges: &DualEdges, potentials: &Potentials<F>) -> Result<Self, LinearError> {
        let constraints = &potentials.constraints;
        let stiffness = potentials.whole_stiffness()?;
        let diagonal = potentials
            .preconditioning_matrix(1.0, false)?
            .to_csr()?
            .into_converted::<f64>()
            .diagonal();
        let unknowns = constraints.unknowns();
        let mut unknown_of = vec![u32::MAX; edges.ends.len()];
        for (unknown, edge) in constraints.free.iter().enumerate() {
            unknown_of[*edge as usize] = unknown as u32;
        }
        let scale_of = |edge: usize| {
            let t = edges.along[edge];
            norm(t).copysign(dot(t, REFERENCE_DIRECTION))
        };
        let matrix = by_rows(0..unknowns, unknowns, |row, entries| {
            let Some(edge) = constraints.free.get(row).map(|edge| *edge as usize) else {
                entries.push((row as u32, diagonal[row]));
                return;
            };
            let mut add = |other: usize, value: f64| {
                if unknown_of[other] != u32::MAX && edges.are_parallel(edge, other) {
                    let scaled = scale_of(edge) * scale_of(other) * value;
                    entries.push((unknown_of[other], scaled));
                }
            };
            stiffness.row(edge).for_each(|(other, value)| add(other, value));
            for (end, sign) in edges.ends[edge].into_iter().zip([-1.0, 1.0]) {
                let node = end as usize;
                if edges.is_constrained[node] {
                    continue;
                }
                let factor = sign * edges.weights[edge] / edges.volume(node);
                for item in edges.around.of(node) {
                    let other = index_of(*item);
                    add(other, factor * f64::from(sign_of(*item)) * edges.weights[other]);
                }
            }
        })?;
        let mut scale: Vec<f64> =
            constraints.free.iter().map(|edge| scale_of(*edge as usize)).collect();
        scale.resize(unknowns, 1.0);
        Ok(GaugedMatrix { matrix, scale })
    }
}

impl<F: Real, S: Real> GaugedPotential<F, S> {
    fn new(
        of: &GaugedMatrix,
        potentials: &Potentials<F>,
        params: &AmgParams,
    ) -> Result<Self, LinearError> {
        let (backend, own) = (&potentials.backend, potentials.own());
        let matrix = potentials.matrix(of.matrix.rows_of(own.clone()))?;
        Ok(GaugedPotential {
            amg: Amg::new(&matrix, params)?,
            scaled: backend.zeros(own.len()),
            corrected: backend.zeros(own.len()),
            scale: narrow_slice(backend, &of.scale[own]),
        })
    }
}

impl<F: Real, S: Real> Preconditioner<F> for GaugedPotential<F, S> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let GaugedPotential { amg, scale, scaled, corrected } = self;
        blas::multiply(backend, scale.len(), scale, r, scaled);
        amg.apply(backend, scaled, corrected);
        blas::multiply(backend, scale.len(), scale, corrected, z);
    }

    fn is_symmetric(&self) -> bool {
        Preconditioner::<F>::is_symmetric(&self.amg)
    }

    fn hierarchy(&self) -> Option<&HierarchyReport> {
        Some(self.amg.report())
    }

    fn bytes(&self) -> usize {
        Preconditioner::<F>::bytes(&self.amg) + 6 * self.scale.bytes()
    }
}

/// ω, the bound of the spectrum of ω d H.
const RELAXATION: f64 = 1.5;

/// Marks a node that is no unknown.
const NO_NODE: u32 = u32::MAX;

/// L, and the unknowns at its nodes.
pub(super) struct NodalMatrix {
    laplacian: CsrMatrix<f64>,
    /// ω d: `[unknowns]`.
    smoother: Vec<f64>,
    /// Nodes of L at the ends of each unknown, [`NO_NODE`] where none is.
    ends: Vec<[u32; 2]>,
    /// ½ t: `[unknowns]`.
    halves: Vec<Vector>,
    /// Unknowns at the nodes of L.
    around: Adjacency,
}

/// Auxiliary-space preconditioner.
struct NodalPotential<F: Real, S: Real> {
    amg: Amg<S>,
    /// ω d: `[unknowns]`.
    smoother: Buffer<F>,
    /// Nodes of L at the ends of unknowns, [`NO_NODE`] where none is: `[2][unknowns]`.
    ends: Buffer<u32>,
    /// ½ t: `[3][unknowns]`, those of ghosts too.
    halves: Buffer<F>,
    /// Unknowns at the nodes of L.
    offsets: Buffer<u32>,
    items: Buffer<u32>,
    /// Π_kᵀ r, and its image by the multigrid cycle, with ghosts.
    at_nodes: [Buffer<F>; 3],
    corrected: [Buffer<F>; 3],
    ranks: Option<NodalRanks<F>>,
}

/// The exchanges of one of several ranks.
struct NodalRanks<F: Real> {
    /// Of unknowns at own nodes.
    unknowns: Arc<Halo>,
    /// Of nodes at own unknowns.
    nodes: Arc<Halo>,
    /// r with its ghosts.
    r: Buffer<F>,
}

impl NodalMatrix {
    fn new<F: Real>(edges: &DualEdges, potentials: &Potentials<F>) -> Result<Self, LinearError> {
        let constraints = &potentials.constraints;
        let unknowns = constraints.unknowns();
        let free: Vec<u32> = (0..edges.is_constrained.len() as u32)
            .filter(|n| !edges.is_constrained[*n as usize])
            .collect();
        let mut place = vec![NO_NODE; edges.is_constrained.len()];
        free.iter().enumerate().for_each(|(k, node)| place[*node as usize] = k as u32);
        let laplacian = by_rows(0..free.len(), free.len(), |row, entries| {
            for item in edges.around.of(free[row] as usize) {
                let edge = index_of(*item);
                let weight = edges.weights[edge];
                // One end is the node itself: the sum over both ends subtracts its weight again.
                entries.push((row as u32, 2.0 * weight));
                for end in edges.ends[edge].map(|node| place[node as usize]) {
                    if end != NO_NODE {
                        entries.push((end, -weight));
                    }
                }
            }
        })?;
        let matrix =
            potentials.preconditioning_matrix(1.0, true)?.to_csr()?.into_converted::<f64>();
        let smoother = |row: usize| {
            RELAXATION / matrix.row(row).map(|(_, value)| value.abs()).fold(0.0, |a, b| a + b)
        };
        let (mut ends, mut halves) = (vec![[NO_NODE; 2]; unknowns], vec![[0.0; 3]; unknowns]);
        let mut at_nodes: Vec<Vec<u32>> = vec![vec![]; free.len()];
        for (unknown, edge) in constraints.free.iter().enumerate() {
            let edge = *edge as usize;
            ends[unknown] = edges.ends[edge].map(|node| place[node as usize]);
            for end in ends[unknown].into_iter().filter(|end| *end != NO_NODE) {
                at_nodes[end as usize].push(unknown as u32);
            }
            halves[unknown] = edges.along[edge].map(|t| 0.5 * t);
        }
        let mut offsets = vec![0u32];
        at_nodes.iter().for_each(|at| offsets.push(offsets[offsets.len() - 1] + at.len() as u32));
        Ok(NodalMatrix {
            laplacian,
            smoother: (0..unknowns).map(smoother).collect(),
            ends,
            halves,
            around: Adjacency { offsets, items: at_nodes.concat() },
        })
    }

    /// The exchanges of unknowns and of nodes of one of several ranks, which all call it; none of one rank.
    fn halos<F: Real>(
        &self,
        potentials: &Potentials<F>,
    ) -> Result<Option<[Arc<Halo>; 2]>, LinearError> {
        let Some(group) = potentials.halo().map(|halo| halo.group()) else { return Ok(None) };
        let (rank, own) = (group.rank(), potentials.own());
        let starts = range_starts(self.around.len(), group.size(), HOST_CHUNK);
        let own_nodes = starts[rank]..starts[rank + 1];
        let at = own_nodes.clone().flat_map(|node| self.around.of(node).iter().copied());
        let Some(unknowns) = potentials.halo_of(at)? else { return Ok(None) };
        let of_own = self.ends[own].iter().flatten();
        let columns = self.laplacian.rows_of(own_nodes.clone());
        let columns = columns.column_indices().iter();
        let needed = of_own.filter(|node| **node != NO_NODE).chain(columns).copied();
        let ghosts = outside(&own_nodes, needed);
        let nodes = Halo::new(group.clone(), &starts, ghosts)?.on(&potentials.backend)?;
        Ok(Some([unknowns, Arc::new(nodes)]))
    }
}

impl<F: Real, S: Real> NodalPotential<F, S> {
    fn new(
        of: &NodalMatrix,
        potentials: &Potentials<F>,
        params: &AmgParams,
    ) -> Result<Self, LinearError> {
        let (backend, own) = (&potentials.backend, potentials.own());
        let halos = of.halos(potentials)?;
        let (nodes, entries): (Range<usize>, Vec<usize>) = match &halos {
            None => (0..of.around.len(), own.clone().collect()),
            Some([unknowns, nodes]) => {
                let all = unknowns.owned() + unknowns.ghosts();
                let own_nodes = nodes.first()..nodes.first() + nodes.owned();
                (own_nodes, (0..all).map(|entry| unknowns.global(entry)).collect())
            }
        };
        // Entities of the exchanges by their numbers in the whole mesh.
        let entry_of = |halo: Option<&Arc<Halo>>, number: u32| match halo {
            None => number,
            Some(halo) => match halo.local(number as usize) {
                Some(local) => local as u32,
                None => unreachable!("what own rows name is own or a ghost"),
            },
        };
        let [of_unknowns, of_nodes] = [0, 1].map(|k| halos.as_ref().map(|halos| &halos[k]));
        let end = |entry: &usize, side: usize| match of.ends[*entry][side] {
            // No own row reads the ends of a ghost.
            _ if !own.contains(entry) => NO_NODE,
            NO_NODE => NO_NODE,
            node => entry_of(of_nodes, node),
        };
        let both_ends: [Vec<u32>; 2] =
            [0, 1].map(|side| entries.iter().map(|entry| end(entry, side)).collect());
        let components = |k: usize| entries.iter().map(move |entry| of.halves[*entry][k]);
        let halves: Vec<f64> = (0..3).flat_map(components).collect();
        let rows = nodes.clone().map(|node| of.around.of(node));
        let mut offsets = vec![0u32];
        rows.clone().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len() as u32));
        let items = rows.flatten().map(|unknown| entry_of(of_unknowns, *unknown));
        let rows_of_rank = of.laplacian.rows_of(nodes.clone()).into_converted::<F>();
        let laplacian = match of_nodes {
            None => Matrix::new(backend, rows_of_rank)?,
            Some(halo) => Matrix::of_rank(backend, rows_of_rank, halo.clone())?,
        };
        let zeros = || {
            [0; 3].map(|_| match of_nodes {
                None => backend.zeros(nodes.len()),
                Some(halo) => halo.zeros(backend, 1),
            })
        };
        Ok(NodalPotential {
            amg: Amg::new(&laplacian, params)?,
            smoother: narrow_slice(backend, &of.smoother[own.clone()]),
            ends: backend.upload(both_ends.concat()),
            halves: narrow(backend, halves),
            offsets: backend.upload(offsets),
            items: backend.upload(items.collect()),
            at_nodes: zeros(),
            corrected: zeros(),
            ranks: halos.map(|[unknowns, nodes]| {
                let r = unknowns.zeros(backend, 1);
                NodalRanks { unknowns, nodes, r }
            }),
        })
    }
}

impl<F: Real, S: Real> Preconditioner<F> for NodalPotential<F, S> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let NodalPotential { amg, smoother, ends, halves, offsets, items, ranks, .. } = self;
        let (unknowns, nodes) = (smoother.len(), offsets.len() - 1);
        let [x, y, w] = &mut self.at_nodes;
        let with_ghosts = match ranks {
            None => r,
            Some(ranks) => {
                blas::copy(backend, unknowns, r, &mut ranks.r);
                ranks.unknowns.fill(&mut ranks.r, 1);
                &ranks.r
            }
        };
        let vectors = Vectors::of(halves);
        gather_at_nodes(backend, nodes, offsets, items, &vectors, with_ghosts, x, y, w);
        for (at_nodes, corrected) in self.at_nodes.iter().zip(&mut self.corrected) {
            amg.apply(backend, at_nodes, corrected);
        }
        if let Some(ranks) = &self.ranks {
            ranks.nodes.fill_all(&mut self.corrected.each_mut());
        }
        let [x, y, w] = &self.corrected;
        let edges = EdgeHalves { ends: ends.view(), vectors: Vectors::of(halves) };
        smooth_and_spread(backend, unknowns, &edges, smoother, r, &VectorField::of(&[x, y, w]), z);
    }

    fn is_symmetric(&self) -> bool {
        Preconditioner::<F>::is_symmetric(&self.amg)
    }

    fn hierarchy(&self) -> Option<&HierarchyReport> {
        Some(self.amg.report())
    }

    fn bytes(&self) -> usize {
        let transfers = 2 * self.halves.bytes() + self.ends.bytes() + self.items.bytes();
        3 * Preconditioner::<F>::bytes(&self.amg) + transfers + 4 * self.smoother.bytes()
    }
}

/// Π_kᵀ r = Σ ½ t_k r over the unknowns at a node.
///
/// Traffic a node: 4 + 3s, an item 4; an unknown 4s.
#[kernel(out(x, y, z))]
pub(super) fn gather_at_nodes<F: Real>(
    node: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    halves: &Vectors<F>,
    r: &View<F>,
) -> (F, F, F) {
    let mut sum = Vec3::<F>::zero();
    for k in offsets[node] as usize..offsets[node + 1] as usize {
        let unknown = items[k] as usize;
        sum += halves.at(unknown) * r[unknown];
    }
    (sum.x, sum.y, sum.z)
}

/// The edges of the unknowns.
#[derive(Group, Clone, Copy)]
pub(super) struct EdgeHalves<'a, F: Real> {
    /// Nodes at their ends, [`NO_NODE`] where none is: `[2][unknowns]`.
    pub ends: View<'a, u32>,
    /// ½ t: `[unknowns]`.
    pub vectors: Vectors<'a, F>,
}

#[device]
impl<F: Real> EdgeHalves<'_, F> {
    /// ½ t·v of one end of an unknown, 0 without a node.
    #[inline(always)]
    pub(super) fn product(&self, unknown: usize, end: usize, v: &VectorField<'_, F>) -> F {
        let mut sum = F::literal(0.0);
        let node = self.ends[end * self.vectors.stride + unknown];
        if node != comptime!(NO_NODE) {
            sum = v.dot(node as usize, self.vectors.at(unknown));
        }
        sum
    }
}

/// z = ω d r + ½ t·(v_a + v_b).
///
/// Traffic an unknown: 8 + 6s, a node 3s.
#[kernel(out(z))]
pub(super) fn smooth_and_spread<F: Real>(
    unknown: usize,
    edges: &EdgeHalves<F>,
    smoother: &View<F>,
    r: &View<F>,
    v: &VectorField<F>,
) -> F {
    smoother[unknown] * r[unknown] + edges.product(unknown, 0, v) + edges.product(unknown, 1, v)
}
