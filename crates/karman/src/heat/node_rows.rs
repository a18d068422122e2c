//! A node-centred problem on several ranks, each of which has the rows of consecutive nodes.
//!
//! Each rank assembles its rows from the whole mesh: they have the bits of one rank, whatever cells surround the nodes.

use super::node_boundary::NodeBoundary;
use super::problem::BoundaryKinds;
use super::system::{HeatBoundary, HeatSystem};
use super::{Heat, HeatError, HeatScheme};
use crate::backend::group::Group;
use crate::backend::{Backend, BackendError, Buffer, Halo};
use crate::real::Real;
use std::ops::Range;
use std::sync::Arc;

impl<F: Real> Heat<F> {
    /// The rows of this problem, which is on the host and has them, that the rank of a group computes on `backend`; `starts`,
    /// `[ranks + 1]`, has the first node of each rank. All ranks call it at the same time.
    ///
    /// # Errors
    /// [`HeatError`] where a rank failed.
    pub fn of_nodes(
        &self,
        backend: &Backend,
        group: &Arc<dyn Group>,
        starts: &[usize],
    ) -> Result<Heat<F>, HeatError> {
        let own = starts[group.rank()]..starts[group.rank() + 1];
        let HeatSystem { mass, matrix, is_singular } = &self.system;
        let halo = Halo::new(group.clone(), starts, matrix.columns_beyond(own.clone()))?;
        let halo = Arc::new(halo.on(backend)?);
        let rows: Vec<u32> = (own.start as u32..own.end as u32).collect();
        let (contribution, values) = self.boundary.contribution.of_rows(backend, own.clone());
        let kinds =
            NodeBoundary { patches: vec![], dirichlet_nodes: vec![], dirichlet_mass: vec![] };
        Ok(Heat {
            backend: backend.clone(),
            system: HeatSystem {
                mass: backend.upload(host_rows(mass, &own).to_vec()),
                matrix: Arc::new(matrix.rows_of_rank(backend, halo.clone())?),
                is_singular: *is_singular,
            },
            correction: None,
            temperature: halo.vector(backend, host_rows(&self.temperature, &own)),
            boundary: HeatBoundary {
                contribution,
                prescribed: self.boundary.prescribed.of_rank(backend, &values),
                dirichlet_nodes: self.boundary.dirichlet_nodes.of_rows(backend, own),
            },
            source: self.source.of_rank(backend, &rows),
            times: self.times,
            // Functionals are those of the whole mesh.
            scheme: HeatScheme {
                kinds: BoundaryKinds::Nodes(kinds),
                conductivity: vec![],
                discretization: self.scheme.discretization,
            },
            setup: None,
            setups: 0,
        })
    }

    /// dT/dt at the Dirichlet nodes in the last step.
    ///
    /// # Errors
    /// [`BackendError`] where the backend failed.
    pub fn dirichlet_rate(&self) -> Result<Vec<F>, BackendError> {
        self.backend.read(self.boundary.dirichlet_nodes.rate())
    }
}

/// The entries of some rows.
fn host_rows<'a, F: Real>(vector: &'a Buffer<F>, own: &Range<usize>) -> &'a [F] {
    &vector.as_host().unwrap_or_default()[own.clone()]
}
