//! The flow of a run, on one rank or on several.

use super::super::SimulationError;
use super::super::averages::Averages;
use super::super::equation::{Advance, Monitored};
use super::march::{Domain, March};
use super::monitors::Monitors;
use super::ranks::{Ranks, Selection, Step};
use crate::backend::Backend;
use crate::case::CompressibleCase;
use crate::compressible::{CellQuantity, CompressibleSolver, WholeMesh};
use crate::real::Real;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A flow that advances.
pub(super) struct Computation<F: Real> {
    form: Mutex<Form<F>>,
    /// Courant number of the last step.
    pub(super) courant: f64,
}

enum Form<F: Real> {
    /// One rank.
    One(Box<March<F>>),
    /// Several ranks. Monitors, output and checkpoints use the flow on the whole mesh, to which the ranks hand over their means when they are
    /// needed.
    Several {
        ranks: Ranks<F>,
        whole: Box<CompressibleSolver<F>>,
        /// Whether the means of `whole` are those of the ranks.
        is_current: bool,
        /// The cells and faces that monitors read.
        monitored: Selection,
    },
}

impl<F: Real> Form<F> {
    /// The flow, of several ranks that on the whole mesh with its progress; its means may be those of an earlier step.
    fn flow(&mut self) -> &mut CompressibleSolver<F> {
        match self {
            Form::One(march) => march.flow_mut(),
            Form::Several { whole, .. } => whole,
        }
    }
}

impl<F: Real> Computation<F> {
    /// The flow on `ranks` ranks; of several it is on the host, and `backend` is that of the ranks.
    ///
    /// # Errors
    /// As [`March::new`] and [`Ranks::new`].
    pub(super) fn new(
        ranks: usize,
        backend: &Backend,
        case: &CompressibleCase,
        mesh: WholeMesh<'_>,
        mut flow: CompressibleSolver<F>,
        monitors: &mut Monitors<F>,
    ) -> Result<Self, SimulationError> {
        let domain = Domain::new(case, mesh)?;
        let form = if ranks == 1 {
            Form::One(Box::new(March::new(case, backend, domain, flow)?))
        } else {
            let ranks = Ranks::new(ranks, backend, case, (mesh, &domain), &flow)?;
            flow.follow(ranks.progress()?);
            let monitored = ranks.select(&flow, monitors)?;
            Form::Several { ranks, whole: Box::new(flow), is_current: true, monitored }
        };
        Ok(Computation { form: Mutex::new(form), courant: 0.0 })
    }

    fn form(&self) -> MutexGuard<'_, Form<F>> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of `read` on the flow with its progress; its means may be those of an earlier step.
    pub(super) fn with_progress<R>(&self, read: impl FnOnce(&CompressibleSolver<F>) -> R) -> R {
        read(self.form().flow())
    }

    /// The result of `read` on the flow with its means, which stay as they are.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn with_flow<R>(
        &self,
        read: impl FnOnce(&mut CompressibleSolver<F>) -> R,
    ) -> Result<R, SimulationError> {
        let mut form = self.form();
        if let Form::Several { ranks, whole, is_current, .. } = &mut *form
            && !*is_current
        {
            ranks.gather(whole)?;
            *is_current = true;
        }
        Ok(read(form.flow()))
    }

    /// Leaves averages over time to several ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn leave_averages_to_ranks(
        &self,
        averages: &mut Averages<F>,
    ) -> Result<(), SimulationError> {
        match &*self.form() {
            Form::One(_) => Ok(()),
            Form::Several { ranks, .. } => ranks.take_averages(averages),
        }
    }

    /// The values of monitors at the current time.
    ///
    /// # Errors
    /// [`SimulationError`] where a prescribed value is not a number, or a rank failed.
    pub(super) fn monitored(
        &self,
        monitors: &mut Monitors<F>,
    ) -> Result<Monitored, SimulationError> {
        let mut form = self.form();
        let loads = match &mut *form {
            Form::Several { ranks, whole, monitored, .. } => {
                ranks.gather_monitored(monitored, whole, monitors)?
            }
            Form::One(march) => {
                let flow = march.flow_mut();
                flow.refresh()?;
                let loads = monitors.groups().map(|group| flow.loads(group));
                loads.collect::<Result<Vec<_>, _>>()?
            }
        };
        monitors.evaluate(form.flow(), &loads)
    }

    /// A quantity of all cells.
    ///
    /// # Errors
    /// [`SimulationError`] where the backend or a rank failed.
    pub(super) fn quantity(
        &self,
        backend: &Backend,
        quantity: CellQuantity,
        gas_constant: f64,
    ) -> Result<Vec<f64>, SimulationError> {
        let mut form = self.form();
        if let Form::Several { ranks, .. } = &*form {
            return ranks.quantity(quantity);
        }
        let flow = form.flow();
        let mut values = backend.zeros(flow.n_cells());
        flow.cell_quantity(quantity, gas_constant, &mut values);
        Ok(flow.read(&values)?)
    }

    /// One step of length `step`, or an iteration.
    ///
    /// # Errors
    /// As [`March::advance`].
    pub(super) fn advance(&mut self, step: Option<f64>) -> Result<Advance, SimulationError> {
        let form = self.form.get_mut().unwrap_or_else(PoisonError::into_inner);
        match form {
            Form::One(march) => {
                let advance = march.advance(step)?;
                self.courant = march.courant;
                Ok(advance)
            }
            Form::Several { ranks, whole, is_current, .. } => {
                *is_current = false;
                let Step { advance, progress, courant } = ranks.advance(step)?;
                whole.follow(progress);
                if cfg!(debug_assertions) {
                    whole.poison();
                }
                self.courant = courant;
                Ok(advance)
            }
        }
    }

    /// Sets the means, of the whole mesh, with their time and number of steps.
    ///
    /// # Errors
    /// [`SimulationError`] where the backend or a rank failed.
    pub(super) fn restore(
        &mut self,
        means: Vec<F>,
        clock: (f64, usize),
    ) -> Result<(), SimulationError> {
        let form = self.form.get_mut().unwrap_or_else(PoisonError::into_inner);
        match form {
            Form::One(march) => march.restore(means, clock),
            Form::Several { ranks, whole, is_current, .. } => {
                whole.restore(means.clone(), clock)?;
                *is_current = true;
                ranks.restore(means, clock)
            }
        }
    }
}
