//! The flow of a run, on one rank or on several.

use super::super::SimulationError;
use super::super::averages::Averages;
use super::ranks::{Ranks, Selection};
use crate::backend::Backend;
use crate::incompressible::limits::{CellLimits, CourantLimits};
use crate::incompressible::{
    DerivedField, Entries, Field, IncompressibleError, IncompressibleSolver, Problem, State,
    StepReport,
};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A flow that advances. Monitors, output and checkpoints use the flow on the whole mesh, whose fields the ranks hand over when they
/// are needed.
pub(super) struct Computation<F: Real> {
    whole: Mutex<IncompressibleSolver<F>>,
    /// Whether the fields of `whole` are those of the ranks.
    is_current: AtomicBool,
    /// None of a run on one rank.
    ranks: Option<Ranks<F>>,
    /// Of several ranks the entries that monitors and output read.
    selections: BTreeMap<Reader, Selection>,
    /// That of the run; `whole` is on its host threads where there are ranks.
    backend: Backend,
}

/// A monitor or an output that reads some entries of the flow on the whole mesh.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reader {
    /// Probes and loads, after each step.
    Monitors,
    /// The line of a number.
    Line(usize),
    /// Separation and reattachment.
    Recirculations,
    /// The surface of a name.
    Surface(String),
    /// The check of backflow: fluxes through the boundary.
    BoundaryFluxes,
}

impl<F: Real> Computation<F> {
    /// A flow on `ranks` ranks, as [`Ranks::new`], with the entries of each reader that does not read whole fields.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a linear solver does not run on several ranks, or a rank fails.
    pub(super) fn new(
        ranks: usize,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        (mut whole, problem): (IncompressibleSolver<F>, &Problem),
        mut entries: Vec<(Reader, Entries)>,
    ) -> Result<Self, IncompressibleError> {
        let ranks = match ranks {
            1 => None,
            ranks => Some(Ranks::new(ranks, backend, (mesh, geometry), (&whole, problem))?),
        };
        let mut selections = BTreeMap::new();
        if let Some(ranks) = &ranks {
            whole.follow(&ranks.progress()?);
            whole.set_diffusive_rate(ranks.diffusive_rate()?);
            if let Some(setup) = ranks.pressure_setup()? {
                whole.set_pressure_setup(setup);
            }
            let fluxes = Entries::of_fluxes(mesh.n_interior_faces()..mesh.n_faces());
            entries.push((Reader::BoundaryFluxes, fluxes));
            for (reader, entries) in entries {
                selections.insert(reader, ranks.select(entries)?);
            }
        }
        Ok(Computation {
            whole: Mutex::new(whole),
            is_current: AtomicBool::new(ranks.is_none()),
            ranks,
            selections,
            backend: backend.clone(),
        })
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

    /// The flow on the whole mesh with the entries that a reader needs, or with its fields where it needs these.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn fields_for(
        &self,
        reader: &Reader,
    ) -> Result<MutexGuard<'_, IncompressibleSolver<F>>, IncompressibleError> {
        let selection = self.selections.get(reader);
        let (Some(ranks), Some(selection)) = (&self.ranks, selection) else { return self.fields() };
        let mut whole = self.data();
        if !self.is_current.load(Ordering::Relaxed) {
            ranks.gather(selection, &mut whole)?;
        }
        Ok(whole)
    }

    /// The values of a field in all cells.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn values(&self, field: Field) -> Result<Vec<f64>, IncompressibleError> {
        match &self.ranks {
            None => self.data().values(field),
            Some(ranks) => ranks.values(field),
        }
    }

    /// The components of a field that each of several ranks computes in its cells, with their number; none of other fields and of one
    /// rank.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn local_field_of_ranks(
        &self,
        field: DerivedField,
    ) -> Result<Option<(usize, Vec<f64>)>, IncompressibleError> {
        self.ranks.as_ref().map_or(Ok(None), |ranks| ranks.local_field(field))
    }

    /// Leaves averages over time to several ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn leave_averages_to_ranks(
        &self,
        averages: &mut Averages<F>,
    ) -> Result<(), SimulationError> {
        self.ranks.as_ref().map_or(Ok(()), |ranks| ranks.take_averages(averages))
    }

    /// The level subtracted from the pressure: its mean, where no condition fixes it.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn level(&self) -> Result<f64, IncompressibleError> {
        let whole = self.data();
        match (&self.ranks, whole.pressure_is_singular()) {
            (_, false) => Ok(0.0),
            (None, true) => whole.mean_pressure(),
            (Some(ranks), true) => ranks.mean_pressure(),
        }
    }

    /// An upper bound of the speed, see [`IncompressibleSolver::speed_bound`].
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn speed_bound(&self) -> Result<f64, IncompressibleError> {
        self.ranks.as_ref().map_or_else(|| self.data().speed_bound(), Ranks::speed_bound)
    }

    /// The least and the largest temperature.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn temperature_range(&self) -> Result<Option<(f64, f64)>, IncompressibleError> {
        self.ranks
            .as_ref()
            .map_or_else(|| self.data().temperature_range(), Ranks::temperature_range)
    }

    /// The cells beyond limits, see [`IncompressibleSolver::cell_limits`].
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn cell_limits(
        &self,
        limits: &Arc<CourantLimits>,
        step: f64,
    ) -> Result<CellLimits, IncompressibleError> {
        match &self.ranks {
            None => self.data().cell_limits(limits, step),
            Some(ranks) => ranks.cell_limits(limits, step),
        }
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
        if cfg!(debug_assertions) {
            whole.poison();
        }
        Ok(report)
    }

    /// The state for a checkpoint.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the backend failed.
    pub(super) fn state(&self) -> Result<State<F>, IncompressibleError> {
        self.ranks.as_ref().map_or_else(|| self.data().state(), Ranks::state)
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
        let Some(ranks) = &self.ranks else { return whole.restore(read, clock) };
        ranks.restore(read, clock)?;
        whole.follow(&ranks.progress()?);
        self.is_current.store(false, Ordering::Relaxed);
        Ok(())
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
