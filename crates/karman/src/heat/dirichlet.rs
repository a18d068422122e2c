//! Dirichlet nodes, and the heat flow through their patches as the nodal reactions
//!
//! R_i = Σ_j K_ij T_j − q_i + M_i dT_i/dt − s_i,
//!
//! the heat flow through the Dirichlet faces at node i, with q_i that through its other faces. The R_i
//! balance all other heat to the solver's tolerance, and are one order more accurate than gradients of the
//! elements at the boundary (Hughes, Engel, Mazzei & Larson, J. Comput. Phys. 163 (2000) 467). Where node i
//! lies on several Dirichlet patches, each of its Dirichlet faces gets k ∇T·∫ N_i n dS with the gradient of
//! its element, and the rest of R_i is distributed by their areas ∫ N_i dS: the heat flow of a linear field
//! through each patch is exact.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::HeatError;
use super::finite_element::{gradients_on_face, shares, stiffness, vector_shares};
use super::node_boundary::{NodeBoundary, NodePatch, corners, face_shape};
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::{Functional, Term, TimeDependentData, narrow};
use crate::mesh::Mesh;
use crate::real::Real;
use crate::time::Bdf;
use karman_backend::prelude::*;
use std::ops::Range;

/// The load M dT/dt − s of Dirichlet nodes, on a backend. Cell-centred, there are none.
pub(super) struct DirichletNodes<F: Real> {
    nodes: Buffer<u32>,
    mass: Buffer<F>,
    source: NodeSource<F>,
    rate: Buffer<F>,
    load: Buffer<F>,
}

/// The heat source at Dirichlet nodes; no equation needs it, so that it is evaluated on request.
enum NodeSource<F: Real> {
    Deferred(Vec<Term>),
    Evaluated(Box<TimeDependentData<F>>),
}

impl<F: Real> DirichletNodes<F> {
    /// Nodes, their M, and the heat source at them by position in `nodes`.
    pub(super) fn new(
        backend: &Backend,
        nodes: Vec<u32>,
        mass: Vec<f64>,
        source: Vec<Term>,
    ) -> Self {
        let n = nodes.len();
        DirichletNodes {
            nodes: backend.upload(nodes),
            mass: narrow(backend, mass),
            source: NodeSource::Deferred(source),
            rate: backend.zeros(n),
            load: backend.zeros(n),
        }
    }

    /// Those of consecutive nodes, counted from the first of these, on the backend of one of several ranks; they have no sources.
    pub(super) fn of_rows(&self, backend: &Backend, own: Range<usize>) -> Self {
        let nodes = self.nodes.as_host().unwrap_or_default();
        let place = |node: usize| nodes.partition_point(|i| (*i as usize) < node);
        let list = place(own.start)..place(own.end);
        let mass = self.mass.as_host().unwrap_or_default()[list.clone()].to_vec();
        let (n, first) = (list.len(), own.start as u32);
        DirichletNodes {
            nodes: backend.upload(nodes[list].iter().map(|node| node - first).collect()),
            mass: backend.upload(mass),
            source: NodeSource::Deferred(vec![]),
            rate: backend.zeros(n),
            load: backend.zeros(n),
        }
    }

    /// dT/dt as last set: `[dirichlet_nodes]`.
    pub(super) fn rate(&self) -> &Buffer<F> {
        &self.rate
    }

    /// Takes over dT/dt, as from several ranks.
    pub(super) fn take_rate(&mut self, backend: &Backend, rate: &[F]) {
        backend.write(&mut self.rate, rate);
    }

    /// Sets dT/dt at the end of a step from the increment, the temperature at the beginning of the step and
    /// that of the previous level: `[unknowns]`.
    pub(super) fn set_rate(
        &mut self,
        backend: &Backend,
        bdf: Bdf,
        increment: &Buffer<F>,
        (temperature, previous): (&Buffer<F>, &Buffer<F>),
    ) {
        let (shift, history) = (F::from_f64(bdf.shift), F::from_f64(bdf.history));
        let Self { nodes, rate, .. } = self;
        let n = nodes.len();
        dirichlet_rate(backend, n, nodes, shift, history, increment, temperature, previous, rate);
    }

    /// Updates M dT/dt − s of each Dirichlet node, the sources as the mean of two times.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a source is not a number; the backend failed.
    pub(super) fn update_load(
        &mut self,
        backend: &Backend,
        times: [f64; 2],
    ) -> Result<(), HeatError> {
        let Self { mass, source, rate, load, .. } = self;
        if let NodeSource::Deferred(terms) = source {
            let terms = std::mem::take(terms);
            let data = TimeDependentData::new(backend, "the heat source", load.len(), terms)?;
            *source = NodeSource::Evaluated(Box::new(data));
        }
        if let NodeSource::Evaluated(source) = source {
            source.set_mean(backend, times)?;
            dirichlet_load(backend, load.len(), mass, rate, source.value(), load);
        }
        Ok(())
    }

    /// M dT/dt − s as last updated: `[dirichlet_nodes]`.
    pub(super) fn load(&self) -> &Buffer<F> {
        &self.load
    }
}

/// dT/dt = shift δ_i − history (T_i − T_previous,i) at Dirichlet nodes i, stored by position.
///
/// Traffic 4 + 4s.
#[kernel(out(rate))]
pub(crate) fn dirichlet_rate<F: Real>(
    h: usize,
    nodes: &View<u32>,
    shift: F,
    history: F,
    increment: &View<F>,
    temperature: &View<F>,
    previous: &View<F>,
) -> F {
    let i = nodes[h] as usize;
    shift * increment[i] - history * (temperature[i] - previous[i])
}

/// m dT/dt − s. Traffic 4s.
#[kernel(out(load))]
pub(crate) fn dirichlet_load<F: Real>(
    h: usize,
    mass: &View<F>,
    rate: &View<F>,
    source: &View<F>,
) -> F {
    mass[h] * rate[h] - source[h]
}

/// Nodes of a patch, ascending.
pub(super) fn nodes_of_patch(mesh: &Mesh, patch: usize) -> Vec<u32> {
    let faces = mesh.patches[patch].faces.clone();
    let mut nodes: Vec<u32> =
        faces.flat_map(|f| mesh.face_to_nodes.of(f).iter().copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The heat flow into the domain through a Dirichlet patch: a functional for each of its nodes, ascending.
pub(super) fn heat_through_dirichlet_patch(
    mesh: &Mesh,
    conductivity: &[f64],
    patch: usize,
    boundary: &NodeBoundary,
) -> Vec<Functional> {
    let nodes = PatchNodes::new(mesh, patch);
    let mut heat = nodes.reactions(mesh, conductivity, boundary);
    let shares = nodes.area_shares(mesh, patch, boundary);
    for (functional, share) in heat.iter_mut().zip(&shares).filter(|(_, share)| **share < 1.0) {
        *functional = functional.times(*share);
    }
    // Where patches share a node: its elements' gradients, less its share of the sum over all patches.
    for (k, described) in boundary.patches.iter().enumerate() {
        if !matches!(described, NodePatch::Dirichlet) {
            continue;
        }
        for face in mesh.patches[k].faces.clone() {
            let around = mesh.face_to_nodes.of(face);
            let is_shared = |node: &u32| nodes.position(*node).is_some_and(|p| shares[p] < 1.0);
            if !around.iter().any(is_shared) {
                continue;
            }
            let gradient = FaceGradient::new(mesh, conductivity, face);
            for (corner, node) in around.iter().enumerate() {
                let Some(p) = nodes.position(*node).filter(|p| shares[*p] < 1.0) else { continue };
                let factor = if k == patch { 1.0 - shares[p] } else { -shares[p] };
                gradient.add(factor, corner, &mut heat[p]);
            }
        }
    }
    heat
}

/// The nodes of a patch, and the position of a node of the mesh among them.
struct PatchNodes {
    nodes: Vec<u32>,
    positions: Vec<u32>,
}

/// Not a node of the patch.
const NONE: u32 = u32::MAX;

impl PatchNodes {
    fn new(mesh: &Mesh, patch: usize) -> PatchNodes {
        let nodes = nodes_of_patch(mesh, patch);
        let mut positions = vec![NONE; mesh.n_nodes()];
        for (position, node) in nodes.iter().enumerate() {
            positions[*node as usize] = position as u32;
        }
        PatchNodes { nodes, positions }
    }

    fn position(&self, node: u32) -> Option<usize> {
        Some(self.positions[node as usize]).filter(|p| *p != NONE).map(|p| p as usize)
    }

    fn touches(&self, nodes: &[u32]) -> bool {
        nodes.iter().any(|node| self.position(*node).is_some())
    }

    /// R_i of each node.
    fn reactions(
        &self,
        mesh: &Mesh,
        conductivity: &[f64],
        boundary: &NodeBoundary,
    ) -> Vec<Functional> {
        let of_node = |node: &u32| {
            let load = boundary.dirichlet_nodes.binary_search(node).map(|h| (h as u32, 1.0));
            Functional { dirichlet: load.into_iter().collect(), ..Functional::default() }
        };
        let mut reactions: Vec<Functional> = self.nodes.iter().map(of_node).collect();
        for (cell, k) in conductivity.iter().enumerate() {
            let nodes = mesh.cells.nodes_of(cell);
            if !self.touches(nodes) {
                continue;
            }
            let element = stiffness(mesh.cells.shapes[cell], &corners(mesh, cell));
            for (node, row) in nodes.iter().zip(element.chunks(nodes.len())) {
                let Some(p) = self.position(*node) else { continue };
                let entries = nodes.iter().zip(row).map(|(j, a)| (*j, k * a));
                reactions[p].unknowns.extend(entries);
            }
        }
        for (patch, described) in mesh.patches.iter().zip(&boundary.patches) {
            if matches!(described, NodePatch::ZeroGradient | NodePatch::Dirichlet) {
                continue;
            }
            let mut entry = 0;
            for face in patch.faces.clone() {
                let nodes = mesh.face_to_nodes.of(face);
                if self.touches(nodes) {
                    let areas = areas_of(mesh, face);
                    for (k, (node, area)) in nodes.iter().zip(areas).enumerate() {
                        let Some(p) = self.position(*node) else { continue };
                        reactions[p].add(-1.0, &described.heat_inflow(*node, entry + k, area));
                    }
                }
                entry += nodes.len();
            }
        }
        reactions
    }

    /// The patch's share of the Dirichlet area ∫ N_i dS at each node; 1 where no other Dirichlet patch has
    /// the node.
    fn area_shares(&self, mesh: &Mesh, patch: usize, boundary: &NodeBoundary) -> Vec<f64> {
        let (mut own, mut others) = (vec![0.0; self.nodes.len()], vec![0.0; self.nodes.len()]);
        for (k, described) in boundary.patches.iter().enumerate() {
            if !matches!(described, NodePatch::Dirichlet) {
                continue;
            }
            let areas = if k == patch { &mut own } else { &mut others };
            for face in mesh.patches[k].faces.clone() {
                let nodes = mesh.face_to_nodes.of(face);
                if self.touches(nodes) {
                    for (node, area) in nodes.iter().zip(areas_of(mesh, face)) {
                        if let Some(p) = self.position(*node) {
                            areas[p] += area;
                        }
                    }
                }
            }
        }
        own.iter().zip(&others).map(|(a, b)| a / (a + b)).collect()
    }
}

fn areas_of(mesh: &Mesh, face: usize) -> Vec<f64> {
    let nodes = mesh.face_to_nodes.of(face);
    let points: Vec<_> = nodes.iter().map(|i| mesh.points[*i as usize]).collect();
    shares(face_shape(nodes.len()), &points)
}

/// k ∇T of the element at a boundary face, and ∫ N_i n dS of the face's nodes.
struct FaceGradient<'a> {
    nodes: &'a [u32],
    /// k ∇N_j of the element's nodes j.
    gradients: Vec<[f64; 3]>,
    areas: Vec<[f64; 3]>,
}

impl<'a> FaceGradient<'a> {
    fn new(mesh: &'a Mesh, conductivity: &[f64], face: usize) -> Self {
        let cell = mesh.face_left[face] as usize;
        let nodes = mesh.cells.nodes_of(cell);
        let around = mesh.face_to_nodes.of(face);
        let local: Vec<usize> = (0..nodes.len()).filter(|k| around.contains(&nodes[*k])).collect();
        let shape = mesh.cells.shapes[cell];
        let mut gradients = gradients_on_face(shape, &corners(mesh, cell), &local);
        gradients.iter_mut().flatten().for_each(|g| *g *= conductivity[cell]);
        let points: Vec<_> = around.iter().map(|i| mesh.points[*i as usize]).collect();
        let areas = vector_shares(face_shape(around.len()), &points);
        FaceGradient { nodes, gradients, areas }
    }

    /// Adds `factor` times k ∇T·∫ N_i n dS of a node of the face.
    fn add(&self, factor: f64, corner: usize, functional: &mut Functional) {
        let area = self.areas[corner];
        functional.unknowns.extend(
            self.nodes
                .iter()
                .zip(&self.gradients)
                .map(|(j, g)| (*j, factor * (g[0] * area[0] + g[1] * area[1] + g[2] * area[2]))),
        );
    }
}
