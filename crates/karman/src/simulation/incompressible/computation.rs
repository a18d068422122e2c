//! The flow of a run, on one rank or on several.

use super::ranks::Ranks;
use crate::backend::Backend;
use crate::incompressible::{IncompressibleError, IncompressibleSolver, State, StepReport};
use crate::mesh::Mesh;
use crate::real::Real;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A flow that advances. Monitors, output and checkpoints use the flow on the whole mesh, whose fields the ranks hand over when they
/// are needed.
pub(super) struct Computation<F: Real> {
    whole: Mutex<IncompressibleSolver<F>>,
    /// Whether the fields of `whole` are those of the ranks.
    is_current: AtomicBool,
    /// None of a run on one rank.
    ranks: Option<Ranks<F>>,
    /// That of the run; `whole` is on its host threads where there are ranks.
    backend: Backend,
}

impl<F: Real> Computation<F> {
    /// A flow on `ranks` ranks, as [`Ranks::new`].
    ///
    /// # Errors
    /// [`IncompressibleError`] where a linear solver does not run on several ranks, or a rank fails.
    pub(super) fn new(
        ranks: usize,
        backend: &Backend,
        mesh: &Mesh,
        mut whole: IncompressibleSolver<F>,
    ) -> Result<Self, IncompressibleError> {
        let ranks = match ranks {
            1 => None,
            ranks => Some(Ranks::new(ranks, backend, mesh, &whole)?),
        };
        if let Some(ranks) = &ranks {
            whole.follow(&ranks.progress()?);
        }
        let is_current = AtomicBool::new(ranks.is_none());
        Ok(Computation { whole: Mutex::new(whole), is_current, ranks, backend: backend.clone() })
    }

    /// The backend of the run.
    pub(super) fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The flow on the whole mesh; its fields may be those of an earlier step.
    pub(super) fn data(&self) -> MutexGuard<'_, IncompressibleSolver<F>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The flow on the whole mesh with its fields.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn fields(
        &self,
    ) -> Result<MutexGuard<'_, IncompressibleSolver<F>>, IncompressibleError> {
        let mut whole = self.data();
        if let Some(ranks) = &self.ranks
            && !self.is_current.load(Ordering::Relaxed)
        {
            ranks.gather_fields(&mut whole)?;
            self.is_current.store(true, Ordering::Relaxed);
        }
        Ok(whole)
    }

    /// Advances by a step.
    ///
    /// # Errors
    /// As [`IncompressibleSolver::step`].
    pub(super) fn step(&mut self, step: f64) -> Result<StepReport, IncompressibleError> {
        let whole = self.whole.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(ranks) = &self.ranks else { return whole.step(step) };
        self.is_current.store(false, Ordering::Relaxed);
        let (report, progress) = ranks.step(step)?;
        whole.follow(&progress);
        Ok(report)
    }

    /// The state for a checkpoint.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn state(&self) -> Result<State<F>, IncompressibleError> {
        let whole = self.data();
        match &self.ranks {
            None => whole.state(),
            Some(ranks) => ranks.state(&whole),
        }
    }

    /// Continues from a state, as [`IncompressibleSolver::restore`].
    ///
    /// # Errors
    /// As there.
    pub(super) fn restore(
        &mut self,
        read: impl FnMut(&str, usize) -> Vec<F>,
        clock: [f64; 3],
    ) -> Result<(), IncompressibleError> {
        let whole = self.whole.get_mut().unwrap_or_else(PoisonError::into_inner);
        whole.restore(read, clock)?;
        self.is_current.store(true, Ordering::Relaxed);
        self.ranks.as_ref().map_or(Ok(()), |ranks| ranks.restore(whole))
    }

    /// Sets the force that keeps the mean velocity.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn set_mean_force(&mut self, force: [f64; 3]) -> Result<(), IncompressibleError> {
        self.data().set_mean_force(force);
        self.ranks.as_ref().map_or(Ok(()), |ranks| ranks.set_mean_force(force))
    }
}
