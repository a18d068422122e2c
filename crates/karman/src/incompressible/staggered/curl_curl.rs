//! Preconditioners of the potential in space, of H = Cᵀ M C, which maps all gradients G φ to zero.
//!
//! With t the edges, w the areas of the dual faces over the lengths of the edges and N the volumes of the dual
//! cells, as sums over cells: w = Σ 3 V / (n t²), n edges a cell, N = Σ w t² / 6 over the edges of a node.
//!
//! On bricks w and N are exact and K = H + w G N⁻¹ Gᵀ w couples parallel edges alone, as the Laplacian of a
//! grid: multigrid for scalars suits it. A right-hand side b orthogonal to gradients has one solution of
//! K x = b, which solves H x = b too: from Gᵀ K x = 0 follows Gᵀ w x = 0. Source: the Hodge Laplacian, Arnold,
//! Falk & Winther, Acta Numer. 15 (2006) 1.
//!
//! Elsewhere it is an auxiliary space: z = ω d r + Σ_k Π_k L⁻¹ Π_kᵀ r, (Π_k v) at an edge from a to b being
//! ½ t_k (v_a + v_b), L = Gᵀ w G by a cycle of multigrid, d Jacobi's with the ℓ1 norms of the rows. A
//! correction in G, which Maxwell's equations want, would be lost here. Source: Hiptmair & Xu, SIAM J. Numer.
//! Anal. 45 (2007) 2483; Kolev & Vassilevski, J. Comput. Math. 27 (2009) 604.
//!
//! Potentials vanish where fluxes are held: nodes there are no unknowns of L, nor has G their columns. What
//! pieces and loops share is left to Jacobi. Of H (shift + θ ν W H) the viscous part is not seen.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::StaggeredFaces;
use super::inner_product::{Vector, by_rows};
use super::potential::Potentials;
use crate::backend::{Backend, Buffer, View, blas};
use crate::diffusion::narrow;
use crate::linear::amg::HierarchyPrecision;
use crate::linear::{
    Amg, AmgParams, HierarchyReport, Jacobi, LinearError, Matrix, Method, Params, Preconditioner,
    PreconditionerKind,
};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Adjacency, Mesh, index_of, sign_of};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// `params` for a potential in space: multigrid where it is asked for or `auto` is, else Jacobi; conjugate
/// gradients, flexible where the cycle is not symmetric.
pub(super) fn suited(params: &Params) -> Params {
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

/// Multigrid for factor Eᵀ H E, whatever the factor.
pub(super) fn multigrid<F: Real>(
    mesh: &Mesh,
    faces: &StaggeredFaces<F>,
    potentials: &Potentials<F>,
    params: &AmgParams,
) -> Result<Box<dyn Preconditioner<F>>, LinearError> {
    let edges = DualEdges::new(mesh, faces, potentials)?;
    let is_straight = faces.is_diagonal && edges.meet_at_right_angles();
    if potentials.ties.unknowns() == 0 || !is_straight && edges.is_held.iter().all(|held| *held) {
        // A layer between walls has no node for the auxiliary space.
        return Ok(Box::new(Jacobi::<F>::new(&potentials.near(1.0, false)?)?));
    }
    Ok(match (is_straight, params.precision) {
        (true, HierarchyPrecision::Single) => {
            Box::new(GaugedPotential::<F, f32>::new(&edges, potentials, params)?)
        }
        (true, HierarchyPrecision::Same) => {
            Box::new(GaugedPotential::<F, F>::new(&edges, potentials, params)?)
        }
        (false, HierarchyPrecision::Single) => {
            Box::new(NodalPotential::<F, f32>::new(&edges, potentials, params)?)
        }
        (false, HierarchyPrecision::Same) => {
            Box::new(NodalPotential::<F, F>::new(&edges, potentials, params)?)
        }
    })
}

/// How far the square of a cosine may be from 0 or 1.
const STRAIGHT: f64 = 1e-9;

/// What edges and nodes have of the cells around them, on the host.
struct DualEdges {
    /// From and to.
    ends: Vec<[u32; 2]>,
    /// t.
    along: Vec<Vector>,
    /// w.
    weights: Vec<f64>,
    /// Edges of each node.
    around: Adjacency,
    /// Whether each node is at an edge that is no unknown of its own.
    is_held: Vec<bool>,
}

impl DualEdges {
    fn new<F: Real>(
        mesh: &Mesh,
        faces: &StaggeredFaces<F>,
        potentials: &Potentials<F>,
    ) -> Result<Self, LinearError> {
        let host = &potentials.rotation.host;
        let (topology, plain) = (&host.topology, host.plain());
        let n_edges = topology.n_edges;
        let mut along = vec![[0.0; 3]; n_edges];
        for (edge, ends) in plain.edge_to_nodes.iter().enumerate() {
            let class = host.class_of(edge as u32);
            let [a, b] = ends.map(|node| mesh.points[node as usize]);
            along[index_of(class)] = subtract(b, a).map(|t| f64::from(sign_of(class)) * t);
        }
        let mut weights = vec![0.0; n_edges];
        for (cell, volume) in faces.backend().read(&faces.volume)?.into_iter().enumerate() {
            let of_face = |item: &u32| topology.face_to_edges.of(index_of(*item));
            let items = mesh.cell_to_faces.of(cell);
            // Each edge of the cell is a side of two of its faces.
            let sides: usize = items.iter().map(|item| of_face(item).len()).sum();
            let share = 3.0 * volume.to_f64() / sides as f64;
            let edges = items.iter().flat_map(of_face).map(|item| index_of(*item));
            edges.for_each(|edge| weights[edge] += share / dot(along[edge], along[edge]));
        }
        let mut is_held = vec![true; mesh.n_nodes()];
        topology.edge_to_nodes.iter().flatten().for_each(|node| is_held[*node as usize] = false);
        let mut is_free = vec![false; n_edges];
        potentials.ties.free.iter().for_each(|edge| is_free[*edge as usize] = true);
        for (ends, _) in topology.edge_to_nodes.iter().zip(&is_free).filter(|(_, free)| !**free) {
            ends.iter().for_each(|node| is_held[*node as usize] = true);
        }
        let around = topology.node_to_edges(mesh.n_nodes());
        Ok(DualEdges { ends: topology.edge_to_nodes.clone(), along, weights, around, is_held })
    }

    /// N.
    fn volume(&self, node: usize) -> f64 {
        let edges = self.around.of(node).iter().map(|item| index_of(*item));
        let parts = edges.map(|e| self.weights[e] * dot(self.along[e], self.along[e]) / 6.0);
        parts.fold(0.0, |sum, part| sum + part)
    }

    /// Whether the edges at each node are parallel or normal to each other, as those of bricks are.
    fn meet_at_right_angles(&self) -> bool {
        let is_straight = |a: Vector, b: Vector| {
            let square = dot(a, b).powi(2) / (dot(a, a) * dot(b, b));
            !(STRAIGHT..=1.0 - STRAIGHT).contains(&square)
        };
        (0..self.is_held.len()).all(|node| {
            let along = || self.around.of(node).iter().map(|item| self.along[index_of(*item)]);
            along().all(|a| along().all(|b| is_straight(a, b)))
        })
    }

    /// Whether two edges of bricks are parallel.
    fn are_parallel(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.along[a], self.along[b]);
        dot(a, b).abs() > 0.5 * norm(a) * norm(b)
    }
}

/// z = T B T r, B a cycle of multigrid for T K T: T turns potentials into their mean along the edge, all
/// parallel edges counted one way.
struct GaugedPotential<F: Real, S: Real> {
    amg: Amg<S>,
    /// T: `[unknowns]`.
    scale: Buffer<F>,
    scaled: Buffer<F>,
    corrected: Buffer<F>,
}

/// Edges that are parallel count as one way by their sign along this, which is normal to none but by chance.
const ONE_WAY: Vector = [0.8315, 0.4457, 0.3319];

impl<F: Real, S: Real> GaugedPotential<F, S> {
    fn new(
        edges: &DualEdges,
        potentials: &Potentials<F>,
        params: &AmgParams,
    ) -> Result<Self, LinearError> {
        let (backend, ties) = (&potentials.backend, &potentials.ties);
        let stiffness = potentials.stiffness.to_csr()?.into_converted::<f64>();
        let diagonal = potentials.near(1.0, false)?.to_csr()?.into_converted::<f64>().diagonal();
        let unknowns = ties.unknowns();
        let mut unknown_of = vec![u32::MAX; edges.ends.len()];
        for (unknown, edge) in ties.free.iter().enumerate() {
            unknown_of[*edge as usize] = unknown as u32;
        }
        let scale_of = |edge: usize| {
            let t = edges.along[edge];
            norm(t).copysign(dot(t, ONE_WAY))
        };
        let near = by_rows(unknowns, unknowns, |row, entries| {
            let Some(edge) = ties.free.get(row).map(|edge| *edge as usize) else {
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
                if edges.is_held[node] {
                    continue;
                }
                let factor = sign * edges.weights[edge] / edges.volume(node);
                for item in edges.around.of(node) {
                    let other = index_of(*item);
                    add(other, factor * f64::from(sign_of(*item)) * edges.weights[other]);
                }
            }
        })?;
        let mut scale: Vec<f64> = ties.free.iter().map(|edge| scale_of(*edge as usize)).collect();
        scale.resize(unknowns, 1.0);
        let near = Matrix::new(backend, near.into_converted::<F>())?;
        Ok(GaugedPotential {
            amg: Amg::new(&near, params)?,
            scale: narrow(backend, scale),
            scaled: backend.zeros(unknowns),
            corrected: backend.zeros(unknowns),
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

/// What ω is: the spectrum of ω d H is bounded by it.
const RELAXATION: f64 = 1.5;

/// Stands for a node that is no unknown.
const NO_NODE: u32 = u32::MAX;

/// The auxiliary space.
struct NodalPotential<F: Real, S: Real> {
    amg: Amg<S>,
    /// ω d: `[unknowns]`.
    smoother: Buffer<F>,
    /// Nodes of L at the ends of unknowns, [`NO_NODE`] where none is: `[2][unknowns]`.
    ends: Buffer<u32>,
    /// ½ t: `[3][unknowns]`.
    halves: Buffer<F>,
    /// Unknowns at the nodes of L.
    offsets: Buffer<u32>,
    items: Buffer<u32>,
    /// Π_kᵀ r and what multigrid makes of it.
    at_nodes: [Buffer<F>; 3],
    corrected: [Buffer<F>; 3],
}

impl<F: Real, S: Real> NodalPotential<F, S> {
    fn new(
        edges: &DualEdges,
        potentials: &Potentials<F>,
        params: &AmgParams,
    ) -> Result<Self, LinearError> {
        let (backend, ties) = (&potentials.backend, &potentials.ties);
        let unknowns = ties.unknowns();
        let free: Vec<u32> =
            (0..edges.is_held.len() as u32).filter(|n| !edges.is_held[*n as usize]).collect();
        let mut place = vec![NO_NODE; edges.is_held.len()];
        free.iter().enumerate().for_each(|(k, node)| place[*node as usize] = k as u32);
        let laplacian = by_rows(free.len(), free.len(), |row, entries| {
            for item in edges.around.of(free[row] as usize) {
                let edge = index_of(*item);
                let weight = edges.weights[edge];
                // One end is the node itself, which the sum over both takes off again.
                entries.push((row as u32, 2.0 * weight));
                for end in edges.ends[edge].map(|node| place[node as usize]) {
                    if end != NO_NODE {
                        entries.push((end, -weight));
                    }
                }
            }
        })?;
        let near = potentials.near(1.0, true)?.to_csr()?.into_converted::<f64>();
        let smoother = |row: usize| {
            RELAXATION / near.row(row).map(|(_, value)| value.abs()).fold(0.0, |a, b| a + b)
        };
        let (mut ends, mut halves) = (vec![NO_NODE; 2 * unknowns], vec![0.0; 3 * unknowns]);
        let mut at_nodes: Vec<Vec<u32>> = vec![vec![]; free.len()];
        for (unknown, edge) in ties.free.iter().enumerate() {
            let edge = *edge as usize;
            for (side, node) in edges.ends[edge].into_iter().enumerate() {
                let end = place[node as usize];
                ends[side * unknowns + unknown] = end;
                if end != NO_NODE {
                    at_nodes[end as usize].push(unknown as u32);
                }
            }
            (0..3).for_each(|k| halves[k * unknowns + unknown] = 0.5 * edges.along[edge][k]);
        }
        let mut offsets = vec![0u32];
        at_nodes.iter().for_each(|at| offsets.push(offsets[offsets.len() - 1] + at.len() as u32));
        let laplacian = Matrix::new(backend, laplacian.into_converted::<F>())?;
        let zeros = || [0; 3].map(|_| backend.zeros(free.len()));
        Ok(NodalPotential {
            amg: Amg::new(&laplacian, params)?,
            smoother: narrow(backend, (0..unknowns).map(smoother).collect()),
            ends: backend.upload(ends),
            halves: narrow(backend, halves),
            offsets: backend.upload(offsets),
            items: backend.upload(at_nodes.concat()),
            at_nodes: zeros(),
            corrected: zeros(),
        })
    }
}

impl<F: Real, S: Real> Preconditioner<F> for NodalPotential<F, S> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let NodalPotential { amg, smoother, ends, halves, offsets, items, .. } = self;
        let (unknowns, nodes) = (smoother.len(), offsets.len() - 1);
        let [x, y, w] = &mut self.at_nodes;
        gather_at_nodes(backend, nodes, offsets, items, halves, r, unknowns, x, y, w);
        for (at_nodes, corrected) in self.at_nodes.iter().zip(&mut self.corrected) {
            amg.apply(backend, at_nodes, corrected);
        }
        let [x, y, w] = &self.corrected;
        smooth_and_spread(backend, unknowns, smoother, r, ends, halves, x, y, w, unknowns, z);
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
#[kernel(gather_at_nodes, out(x, y, z))]
pub(super) fn sums_at_node<F: Real>(
    node: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    halves: &View<F>,
    r: &View<F>,
    unknowns: usize,
) -> (F, F, F) {
    let mut sum_x = F::literal(0.0);
    let mut sum_y = F::literal(0.0);
    let mut sum_z = F::literal(0.0);
    for k in offsets[node] as usize..offsets[node + 1] as usize {
        let unknown = items[k] as usize;
        let half = Vec3::<F>::at(halves, unknown, unknowns);
        sum_x += half.x * r[unknown];
        sum_y += half.y * r[unknown];
        sum_z += half.z * r[unknown];
    }
    (sum_x, sum_y, sum_z)
}

/// ½ t·v of one end, 0 where no node is.
#[device]
#[inline(always)]
fn along_half<F: Real>(end: u32, half: Vec3<F>, x: &View<F>, y: &View<F>, z: &View<F>) -> F {
    let mut sum = F::literal(0.0);
    if end != comptime!(NO_NODE) {
        let node = end as usize;
        sum = half.x * x[node] + half.y * y[node] + half.z * z[node];
    }
    sum
}

/// z = ω d r + ½ t·(v_a + v_b).
///
/// Traffic an unknown: 8 + 6s, a node 3s.
#[kernel(smooth_and_spread, out(z))]
pub(super) fn smoothed_and_spread<F: Real>(
    unknown: usize,
    smoother: &View<F>,
    r: &View<F>,
    ends: &View<u32>,
    halves: &View<F>,
    vx: &View<F>,
    vy: &View<F>,
    vz: &View<F>,
    unknowns: usize,
) -> F {
    let half = Vec3::<F>::at(halves, unknown, unknowns);
    smoother[unknown] * r[unknown]
        + along_half::<F>(ends[unknown], half, vx, vy, vz)
        + along_half::<F>(ends[unknowns + unknown], half, vx, vy, vz)
}
