//! The multi-dimensional limiting process: polynomials scaled about their means by the cells around the nodes.
//!
//! p ← q̄ + φ (p − q̄) for each conserved variable, φ the least over the nodes of the cell of f(q_max − q̄, p − q̄) where p > q̄, and of
//! f(q̄ − q_min, q̄ − p) where p < q̄; p is the value at the node, and q_min and q_max are extrema of the means of all cells around the node. A
//! discontinuity at any angle to the faces is between cells around a node, where the cells across faces may lie on one side of it.
//!
//! f is Venkatakrishnan's function (see [`limiter`](super::limiter)) with ε² = K Δ²/(1 + Δ/(K h^(3/2))), Δ = q_max − q_min, K = 5 and h relative
//! to the extent of the mesh, q to its scale: of order Δ² where the field is smooth, small beside Δ² at a discontinuity.
//!
//! All cells around a node at the boundary lie on one side of it; it has the extrema of the cells around all nodes of these cells. With those of
//! its own cells alone the march to a steady flow does not converge.
//!
//! Source: Park, Yoon & Kim, J. Comput. Phys. 229 (2010) 788, MLP-u2.
#![allow(missing_docs)] // on the modules that the attributes make

use super::limiter::{Limiter, first_factors, least_factors, lower, squared_scales, upper};
use super::reconstruction::polynomial::Polynomials;
use super::state::{Conserved, States, VARIABLES};
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::{Vectors, component_major, narrow};
use crate::mesh::geometry::subtract;
use crate::mesh::quadrature::CellMoments;
use crate::mesh::{Adjacency, Mesh};
use crate::real::Real;
use karman_backend::prelude::*;
use std::collections::BTreeMap;

/// Corners of cells: the nodes of each cell.
#[derive(Group, Clone, Copy)]
pub(super) struct CornerView<'a, F: Real> {
    /// First corner of each cell: `[n_cells + 1]`.
    pub offsets: View<'a, u32>,
    /// Nodes of the corners.
    pub nodes: View<'a, u32>,
    /// Vectors from the centroid of the cell: `[3][n_corners]`.
    pub from_centre: Vectors<'a, F>,
}

/// Extrema of the means of the cells around a node.
///
/// Traffic a node: 84; a cell 40, each array once, an item 4 (f64).
#[kernel(out(low, high))]
pub(super) fn node_extrema<F: Real>(
    node: usize,
    offsets: &View<u32>,
    cells: &View<u32>,
    q: &States<F>,
) -> (Conserved<F>, Conserved<F>) {
    let first = offsets[node] as usize;
    let mut low = q.at(cells[first] as usize);
    let mut high = low;
    for k in first + 1..offsets[node + 1] as usize {
        let other = q.at(cells[k] as usize);
        low = lower::<F>(low, other);
        high = upper::<F>(high, other);
    }
    (low, high)
}

/// K of ε².
const K: f64 = 5.0;

/// ε² of a variable whose extrema differ by `range`; `square` is (K h)³ of Venkatakrishnan's limiter times the square of its scale.
#[device]
#[inline(always)]
fn squared_epsilon<F: Real>(square: F, range: F) -> F {
    // K h^(3/2) of the variable.
    let small = (square * F::literal(1.0 / K)).sqrt().max(F::literal(1e-30));
    F::literal(K) * range * range * (small / (small + range))
}

/// ε² of each variable between extrema.
#[device]
#[inline(always)]
fn squared_epsilons<F: Real>(squares: Conserved<F>, range: Conserved<F>) -> Conserved<F> {
    Conserved::<F> {
        density: squared_epsilon::<F>(squares.density, range.density),
        momentum_x: squared_epsilon::<F>(squares.momentum_x, range.momentum_x),
        momentum_y: squared_epsilon::<F>(squares.momentum_y, range.momentum_y),
        momentum_z: squared_epsilon::<F>(squares.momentum_z, range.momentum_z),
        energy: squared_epsilon::<F>(squares.energy, range.energy),
    }
}

/// φ of each variable of a cell, by the extrema around its nodes.
///
/// Traffic a cell: 12 + 40 (3 + terms), a corner 28, a node 80, each array once (f64).
#[kernel(out(factors))]
pub(super) fn node_factors<F: Real>(
    c: usize,
    q: &States<F>,
    corners: &CornerView<F>,
    low: &States<F>,
    high: &States<F>,
    polynomials: &Polynomials<F>,
    softness: &View<F>,
) -> Conserved<F> {
    let kind = comptime!(Limiter::Venkatakrishnan);
    let mean = q.at(c);
    let squares = squared_scales::<F>(mean, softness, c, kind);
    let mut phi = first_factors::<F>();
    for k in corners.offsets[c] as usize..corners.offsets[c + 1] as usize {
        let node = corners.nodes[k] as usize;
        let v = polynomials.at_offset(c, corners.from_centre.at(k));
        let least = low.at(node);
        let most = high.at(node);
        let scales = squared_epsilons::<F>(squares, most - least);
        phi = least_factors::<F>(phi, v, mean, least, most, scales, kind);
    }
    phi
}

/// The nodes of cells and the extrema around them.
pub(super) struct NodeBounds<F: Real> {
    /// First cell around each node, and the cells.
    offsets: Buffer<u32>,
    cells: Buffer<u32>,
    corner_offsets: Buffer<u32>,
    corner_nodes: Buffer<u32>,
    from_centre: Buffer<F>,
    low: Buffer<F>,
    high: Buffer<F>,
}

/// The nodes of a mesh with the cells around them, on the host. Nodes that coincide under the translations of periodic pairs are one.
pub(super) struct CellNodes {
    /// Nodes of each cell.
    corners: Adjacency,
    /// Cells around each node, at the boundary those around all nodes of these.
    around: Adjacency,
}

impl CellNodes {
    /// Those of a mesh.
    pub(super) fn new(mesh: &Mesh) -> CellNodes {
        let (numbers, n_nodes) = periodic_classes(mesh);
        let corners = Adjacency {
            offsets: mesh.cells.offsets.clone(),
            items: mesh.cells.nodes.iter().map(|node| numbers[*node as usize]).collect(),
        };
        let around = widened(mesh, &numbers, &corners, &corners.transpose(n_nodes));
        CellNodes { corners, around }
    }

    /// The cells around the nodes of a cell.
    pub(super) fn cells_around(&self, cell: u32) -> Vec<u32> {
        let nodes = self.corners.of(cell as usize).iter();
        nodes.flat_map(|node| self.around.of(*node as usize)).copied().collect()
    }
}

/// Some cells with extrema around their nodes.
pub(super) struct NodeCells<'a> {
    /// Numbers in the whole mesh of all cells of a part.
    pub cells: &'a [u32],
    /// The cells of the part with nodes, ascending; the others have none.
    pub computed: &'a [u32],
}

impl<F: Real> NodeBounds<F> {
    /// The nodes of all cells of a mesh on a backend.
    pub(super) fn new(
        backend: &Backend,
        (mesh, moments): (&Mesh, &CellMoments),
        nodes: &CellNodes,
    ) -> Self {
        let CellNodes { corners, around } = nodes;
        let cells = (0..mesh.n_cells()).flat_map(|c| mesh.cells.nodes_of(c).iter().map(move |_| c));
        let from_centre: Vec<[f64; 3]> = cells
            .zip(&mesh.cells.nodes)
            .map(|(c, node)| subtract(mesh.points[*node as usize], moments.centre[c]))
            .collect();
        let n_nodes = around.len();
        NodeBounds {
            offsets: backend.upload_slice(&around.offsets),
            cells: backend.upload_slice(&around.items),
            corner_offsets: backend.upload_slice(&corners.offsets),
            corner_nodes: backend.upload_slice(&corners.items),
            from_centre: narrow(backend, component_major(&from_centre)),
            low: backend.zeros(VARIABLES * n_nodes),
            high: backend.zeros(VARIABLES * n_nodes),
        }
    }

    /// The nodes of some cells of a part; `local` gives the number in the part of a cell of the whole mesh.
    pub(super) fn of_part(
        backend: &Backend,
        (mesh, moments): (&Mesh, &CellMoments),
        nodes: &CellNodes,
        part: NodeCells<'_>,
        local: impl Fn(u32) -> u32,
    ) -> Self {
        let mut number: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut offsets, mut cells) = (vec![0], vec![]);
        let (mut corner_offsets, mut corner_nodes, mut from_centre) = (vec![0], vec![], vec![]);
        let mut computed = part.computed.iter().peekable();
        for (cell, global) in part.cells.iter().enumerate() {
            let global = *global as usize;
            if computed.next_if(|computed| **computed as usize == cell).is_some() {
                let places = mesh.cells.nodes_of(global).iter();
                for (node, place) in nodes.corners.of(global).iter().zip(places) {
                    let next = number.len() as u32;
                    corner_nodes.push(*number.entry(*node).or_insert_with(|| {
                        let around = nodes.around.of(*node as usize);
                        cells.extend(around.iter().map(|cell| local(*cell)));
                        offsets.push(cells.len() as u32);
                        next
                    }));
                    let centre = moments.centre[global];
                    from_centre.push(subtract(mesh.points[*place as usize], centre));
                }
            }
            corner_offsets.push(corner_nodes.len() as u32);
        }
        NodeBounds {
            offsets: backend.upload(offsets),
            cells: backend.upload(cells),
            corner_offsets: backend.upload(corner_offsets),
            corner_nodes: backend.upload(corner_nodes),
            from_centre: narrow(backend, component_major(&from_centre)),
            low: backend.zeros(VARIABLES * number.len()),
            high: backend.zeros(VARIABLES * number.len()),
        }
    }

    /// Number of nodes.
    fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// φ of the polynomials of the means `q` of `n` cells.
    pub(super) fn set_factors(
        &mut self,
        backend: &Backend,
        n: usize,
        q: &States<'_, F>,
        polynomials: &Polynomials<'_, F>,
        softness: &Buffer<F>,
        factors: &mut Buffer<F>,
    ) {
        let n_nodes = self.n_nodes();
        let NodeBounds { offsets, cells, low, high, .. } = self;
        node_extrema(backend, n_nodes, offsets, cells, q, low, high);
        let corners = CornerView {
            offsets: self.corner_offsets.view(),
            nodes: self.corner_nodes.view(),
            from_centre: Vectors::of(&self.from_centre),
        };
        let (low, high) = (States::of(&self.low), States::of(&self.high));
        node_factors(backend, n, q, &corners, &low, &high, polynomials, softness, factors);
    }
}

/// The cells around each node, at the boundary those around all nodes of these.
fn widened(mesh: &Mesh, numbers: &[u32], corners: &Adjacency, around: &Adjacency) -> Adjacency {
    let mut is_at_boundary = vec![false; around.len()];
    for face in mesh.n_interior_faces()..mesh.n_faces() {
        for node in mesh.face_to_nodes.of(face) {
            is_at_boundary[numbers[*node as usize] as usize] = true;
        }
    }
    let mut wide = Adjacency { offsets: vec![0], items: Vec::with_capacity(around.items.len()) };
    let mut cells = vec![];
    for (node, is_at_boundary) in is_at_boundary.into_iter().enumerate() {
        cells.clear();
        if is_at_boundary {
            let nodes = around.of(node).iter().flat_map(|cell| corners.of(*cell as usize));
            cells.extend(nodes.flat_map(|node| around.of(*node as usize)));
            cells.sort_unstable();
            cells.dedup();
        } else {
            cells.extend(around.of(node));
        }
        wide.items.extend_from_slice(&cells);
        wide.offsets.push(wide.items.len() as u32);
    }
    wide
}

/// A number for each node, equal for nodes that coincide under the translations of periodic pairs, and how many numbers there are.
fn periodic_classes(mesh: &Mesh) -> (Vec<u32>, usize) {
    let mut least: Vec<u32> = (0..mesh.n_nodes() as u32).collect();
    let mut changes = true;
    while changes {
        changes = false;
        for pair in mesh.periodic_nodes() {
            let [a, b] = pair.map(|node| node as usize);
            let number = least[a].min(least[b]);
            changes |= least[a] != least[b];
            (least[a], least[b]) = (number, number);
        }
    }
    let mut count = 0;
    for node in 0..least.len() {
        if least[node] == node as u32 {
            least[node] = count;
            count += 1;
        } else {
            // The least node of a class has its number already.
            least[node] = least[least[node] as usize];
        }
    }
    (least, count as usize)
}
