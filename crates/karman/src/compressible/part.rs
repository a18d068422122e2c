//! The part of a compressible flow that one of several ranks computes.
//!
//! Around its own cells a rank has a layer, the cells across their faces, whose polynomials and traces it computes as their owners do;
//! what their stencils need are ghosts too. So the means are all that ranks exchange, once a stage, and in cells that are computed again the levels. A flux
//! through a face between two parts is computed by both, from equal numbers.
//!
//! A rank makes its part from the whole mesh: stencils, initial means and conditions of these cells alone.

use super::error::CompressibleError;
use super::node_limiter::{NodeBounds, NodeCells};
use super::problem::{CompressibleNumerics, CompressibleProblem};
use super::reconstruction::stencil::Stencils;
use super::solver::{CompressibleSolver, State};
use super::state::VARIABLES;
use super::whole_mesh::{LocalMesh, PartNumbers, WholeMesh};
use crate::backend::group::Group;
use crate::backend::{Backend, Halo};
use crate::mesh::partition::Ranges;
use crate::mesh::quadrature::CellMoments;
use crate::operators::FaceCells;
use crate::real::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// The progress of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time.
    pub time: f64,
    /// Number of steps.
    pub steps: usize,
    /// The largest rate λ.
    pub largest_rate: f64,
}

/// The moments of some cells.
fn restricted(moments: &CellMoments, cells: &[u32]) -> CellMoments {
    CellMoments {
        volume: cells.par_iter().map(|cell| moments.volume[*cell as usize]).collect(),
        centre: cells.par_iter().map(|cell| moments.centre[*cell as usize]).collect(),
        second: cells.par_iter().map(|cell| moments.second[*cell as usize]).collect(),
    }
}

impl<F: Real> CompressibleSolver<F> {
    /// The part of a flow at time 0 that the rank of a group computes on `backend`: the cells of `ranges`, parts of the mesh `whole`. All
    /// ranks call it at the same time.
    ///
    /// # Errors
    /// As [`CompressibleSolver::new`], or where a rank failed.
    pub fn of_rank(
        backend: &Backend,
        group: &Arc<dyn Group>,
        (whole, ranges): (&WholeMesh<'_>, &Ranges<'_>),
        problem: &CompressibleProblem,
        numerics: &CompressibleNumerics,
    ) -> Result<(Self, PartNumbers), CompressibleError> {
        let WholeMesh { mesh, geometry, moments, nodes, .. } = whole;
        let own = ranges.cells(group.rank());
        let layer = ranges.layer(group.rank());
        let computed: Vec<u32> =
            (own.start as u32..own.end as u32).chain(layer.iter().copied()).collect();
        let of_computed = (computed.len(), |k: usize| computed[k] as usize);
        let degree = numerics.reconstruction;
        let stencils = Stencils::of_cells(mesh, geometry, moments, degree, of_computed);
        let around_nodes = |cell: &u32| nodes.as_ref().map_or(vec![], |of| of.cells_around(*cell));
        let beside_nodes = computed.par_iter().flat_map_iter(around_nodes);
        let read = stencils.cells.par_iter().copied().chain(beside_nodes);
        let beyond: Vec<u32> = read.filter(|cell| !own.contains(&(*cell as usize))).collect();
        let sub = ranges.extract_with_layer(group.rank(), &layer, &beyond);
        drop(beyond);
        let n_interior = sub.mesh.n_interior_faces();
        let boundary_faces = sub.global_face[n_interior..].to_vec();
        let numbers = PartNumbers { cells: sub.global_cell.clone(), boundary_faces, n_interior };
        let ghosts = sub.global_cell[sub.mesh.cell_count.owned..].to_vec();
        let halo = Arc::new(Halo::new(group.clone(), &ranges.starts, ghosts)?.on(backend)?);
        let local = |cell: u32| match halo.local(cell as usize) {
            Some(cell) => cell as u32,
            None => unreachable!("cell {cell} is neither own nor a ghost"),
        };
        let computed: Vec<u32> = computed.par_iter().map(|cell| local(*cell)).collect();
        let of_nodes = nodes.as_ref().map(|nodes| {
            let part = NodeCells { cells: &sub.global_cell, computed: &computed };
            NodeBounds::of_part(backend, (mesh, moments), nodes, part, local)
        });
        let part = LocalMesh {
            mesh: &sub.mesh,
            geometry: &sub.geometry(geometry),
            moments: &restricted(moments, &sub.global_cell),
            stencils: stencils.renumbered(sub.global_cell.len(), &computed, local),
            computed: &computed,
            nodes: of_nodes,
            cells: Arc::new(FaceCells::of_rank(backend, &sub.mesh, halo.clone())),
            numbers: Some(&numbers),
        };
        let solver = Self::of_local(backend, whole, part, problem, numerics)?;
        Ok((solver, numbers))
    }

    /// The progress of this flow, equal on all ranks.
    pub fn progress(&self) -> Progress {
        let State { time, steps, largest_rate, .. } = self.state;
        Progress { time, steps, largest_rate }
    }

    /// The means of own cells, `[5][n_cells]`.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn own_means(&self) -> Result<Vec<F>, CompressibleError> {
        let (means, own) = (self.backend.read(&self.state.now)?, self.n_cells());
        let n = means.len() / VARIABLES;
        Ok((0..VARIABLES).flat_map(|v| means[v * n..][..own].iter().copied()).collect())
    }
}
