//! The data that all Krylov methods share, and a method as the solver sees it.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::convergence_state::{ConvergenceState, begin, take_residual};
use super::nullspace::ConstantProjection;
use super::{Operator, Preconditioner};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{Backend, BackendError, Buffer, Components, Halo, Partials, Segment, View};
use std::sync::Arc;

/// r ← b − A x, with r·r. Traffic 3s.
#[kernel(update(r), reduce(sum))]
pub(super) fn subtract_from<F: Real>(i: usize, b: &View<F>, r: F) -> (F, f64) {
    let own = b[i] - r;
    (own, own.to_f64() * own.to_f64())
}

/// Σ b². Traffic s.
#[kernel(reduce(sum))]
pub(super) fn square_partials<F: Real>(i: usize, b: &View<F>) -> f64 {
    b[i].to_f64() * b[i].to_f64()
}

/// Writes the residual to its place in the history; run over one entity.
#[kernel]
pub(super) fn record_history(i: usize, convergence: &View<f64>, history: &mut Segment<f64>) {
    history[i + convergence[3] as usize] = convergence[4];
}

/// The data all Krylov methods share: operator, preconditioner, iterate, residual and state.
pub(super) struct System<T> {
    pub(super) operator: Box<dyn Operator<T>>,
    pub(super) preconditioner: Box<dyn Preconditioner<T>>,
    /// The exchange of the vectors that the operator multiplies, on one of several ranks.
    pub(super) halo: Option<Arc<Halo>>,
    /// x: [n], and its ghosts.
    pub(super) iterate: Buffer<T>,
    /// r: [n], and its ghosts where M is diagonal.
    pub(super) residual: Buffer<T>,
    pub(super) convergence: Buffer<f64>,
    pub(super) partials: Partials,
    /// ‖r‖² after each iteration, if recorded.
    pub(super) history: Option<Buffer<f64>>,
}

impl<T: Real> System<T> {
    pub(super) fn new(
        backend: &Backend,
        operator: Box<dyn Operator<T>>,
        preconditioner: Box<dyn Preconditioner<T>>,
    ) -> System<T> {
        let n = operator.unknowns();
        let halo = operator.exchange().cloned();
        let of_residual = halo.as_ref().filter(|_| preconditioner.diagonal().is_some());
        System {
            residual: vector(backend, of_residual, n),
            operator,
            preconditioner,
            iterate: vector(backend, halo.as_ref(), n),
            halo,
            convergence: backend.zeros(<ConvergenceState<f64> as Components>::COUNT),
            partials: Partials::new(backend, n, 5),
            history: None,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.operator.unknowns()
    }

    /// Number of unknowns of all ranks.
    pub(super) fn total_rows(&self) -> usize {
        self.operator.total_unknowns()
    }

    /// A vector that the operator or the preconditioner multiplies, with room for ghosts.
    pub(super) fn vector(&self, backend: &Backend) -> Buffer<T> {
        vector(backend, self.halo.as_ref(), self.rows())
    }

    /// Resets the state: zero steps, reference ‖b‖.
    pub(super) fn begin(&mut self, backend: &Backend, b: &Buffer<T>, tolerance: f64, limit: f64) {
        square_partials(backend, self.rows(), b, &mut self.partials);
        begin(backend, &self.partials, tolerance * tolerance, limit, &mut self.convergence);
    }

    /// r ← b − A x without its constant component where there are `constants`, also the residual of the state.
    pub(super) fn true_residual(
        &mut self,
        backend: &Backend,
        b: &Buffer<T>,
        constants: Option<&mut ConstantProjection>,
    ) {
        let n = self.rows();
        fill_ghosts(self.halo.as_ref(), &mut self.iterate);
        self.operator.apply(backend, &self.iterate, &mut self.residual);
        subtract_from(backend, n, b, &mut self.residual, &mut self.partials);
        if let Some(constants) = constants {
            constants.project(backend, &mut self.residual);
            square_partials(backend, n, &self.residual, &mut self.partials);
        }
        take_residual(backend, &self.partials, &mut self.convergence);
        self.record(backend);
    }

    /// Records the residual of the last step.
    pub(super) fn record(&mut self, backend: &Backend) {
        if let Some(history) = &mut self.history {
            record_history(backend, 1, &self.convergence, history);
        }
    }

    /// The state, read by the host.
    pub(super) fn read_convergence(
        &self,
        backend: &Backend,
    ) -> Result<ConvergenceState<f64>, BackendError> {
        backend.check_ranks()?;
        let read;
        let v = match self.convergence.as_host() {
            Some(slice) => slice,
            None => {
                read = backend.read(&self.convergence)?;
                &read
            }
        };
        Ok(ConvergenceState {
            active: v[0],
            stepping: v[1],
            status: v[2],
            iterations: v[3],
            residual: v[4],
            reference: v[5],
            tolerance: v[6],
            limit: v[7],
            detail: v[8],
            least: v[9],
            least_at: v[10],
            replacement: v[11],
            rho: v[12],
            alpha: v[13],
        })
    }
}

/// A vector of `n` unknowns with room for the ghosts of `halo`.
pub(super) fn vector<T: Real>(backend: &Backend, halo: Option<&Arc<Halo>>, n: usize) -> Buffer<T> {
    halo.map_or_else(|| backend.zeros(n), |halo| halo.zeros(backend, 1))
}

/// Fetches the ghosts of a vector before a product with it.
pub(super) fn fill_ghosts<T: Real>(halo: Option<&Arc<Halo>>, x: &mut Buffer<T>) {
    if let Some(halo) = halo {
        halo.fill(x, 1);
    }
}

/// A Krylov method on a [`System`]. All functions but `finish` only call dispatch functions.
pub(super) trait Krylov<T: Real>: Send + Sync {
    /// Steps between restarts; `None` for methods without restarts.
    fn cycle(&self) -> Option<usize> {
        None
    }

    /// Steps after which its buffers return to their places: a recording has a multiple of them.
    fn period(&self) -> usize {
        1
    }

    /// Starts from the system's residual.
    fn start(&mut self, backend: &Backend, system: &mut System<T>);

    /// Continues with the system's residual: the true residual, which replaces a similar one of the
    /// recurrence.
    fn resume(&mut self, backend: &Backend, system: &mut System<T>) {
        self.start(backend, system);
    }

    /// Step `k` of the cycle.
    fn step(&mut self, k: usize, backend: &Backend, system: &mut System<T>);

    /// Updates the iterate after the last step.
    fn finish(&mut self, _: &Backend, _: &mut System<T>) -> Result<(), BackendError> {
        Ok(())
    }

    /// Bytes a row of vectors that a step moves, without operator and preconditioner.
    fn vectors_moved(&self) -> usize;

    /// Bytes a product moves, if it is not one with the system's operator.
    fn product_bytes(&self) -> Option<usize> {
        None
    }
}
