//! The computation of the temperature, on one rank or on several.

use super::super::SimulationError;
use super::super::averages::Averages;
use crate::backend::{Backend, Buffer};
use crate::finite_volume::Functionals;
use crate::heat::{Heat, HeatError, HeatScheme, March, Problem, TimeScheme};
use crate::linear::{Params, SavedInterpolations, SolveOutcome, SolverSetup, StopTest};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// The state of a computation for a restart.
pub(super) struct HeatState<F> {
    /// The temperature of each unknown.
    pub temperature: Vec<F>,
    /// Of a computation in time.
    pub march: Option<MarchState<F>>,
    /// Multigrid interpolations with the inertia of the matrix of their set-up.
    pub interpolations: Option<(SavedInterpolations, f64)>,
}

/// The state of a march besides the temperature.
pub(super) struct MarchState<F> {
    /// The increment of the last step, and the temperature before it.
    pub increment: Vec<F>,
    pub before: Vec<F>,
    /// Time, steps, and the last step (0: none).
    pub time: f64,
    pub steps: usize,
    pub step: f64,
}

/// A temperature that advances. Vectors have the unknowns of the whole mesh; buffers are on the backend of the run.
pub(super) trait Computation<F: Real>: Send {
    /// The data for functionals on the whole mesh.
    fn scheme(&self) -> &HeatScheme;
    /// Ends later steady solves once `should_stop` is true.
    fn stop_when(&mut self, should_stop: StopTest);
    /// Time and steps.
    fn clock(&self) -> (f64, usize);
    /// Goes on from this time with this number of steps.
    fn set_clock(&mut self, time: f64, steps: usize) -> Result<(), HeatError>;
    /// Advances one time step, or solves for the steady temperature: the solve, and the largest rate of change.
    fn advance(&mut self, step: Option<f64>) -> Result<(SolveOutcome, f64), HeatError>;
    /// Number of unknowns.
    fn unknowns(&self) -> usize;
    /// The temperature.
    fn temperature(&self) -> Result<Vec<F>, HeatError>;
    /// The temperature on the backend of the run.
    fn on_backend(&mut self) -> Result<&Buffer<F>, HeatError>;
    /// Evaluates functionals at the current time.
    fn evaluate<'a>(
        &mut self,
        functionals: &'a mut Functionals<F>,
    ) -> Result<&'a Buffer<F>, HeatError>;
    /// Leaves averages over time to several ranks.
    fn leave_averages_to_ranks(&self, _averages: &mut Averages<F>) -> Result<(), SimulationError> {
        Ok(())
    }
    /// See [`Heat::imbalance`].
    fn imbalance(&self) -> Result<Option<[f64; 2]>, HeatError>;
    /// See [`Heat::largest_rate`].
    fn largest_rate(&self) -> Result<f64, HeatError>;
    /// The set-up of the linear solver in use.
    fn solver_setup(&self) -> Option<&SolverSetup>;
    /// Number of set-ups.
    fn solver_setups(&self) -> u64;
    /// The state.
    fn state(&self) -> Result<HeatState<F>, HeatError>;
    /// Continues from a state.
    fn restore(&mut self, state: HeatState<F>) -> Result<(), HeatError>;
}

/// How a computation solves: the time scheme, none of a steady case, and the linear solver.
#[derive(Clone)]
pub(super) struct Settings {
    pub scheme: Option<TimeScheme>,
    pub params: Params,
}

/// The computation on one rank.
pub(super) struct OneRank<F: Real> {
    heat: Heat<F>,
    march: Option<March<F>>,
    params: Params,
    steps: usize,
    should_stop: Option<StopTest>,
}

impl<F: Real> OneRank<F> {
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: Problem,
        settings: &Settings,
    ) -> Result<Self, HeatError> {
        Ok(Self::of(Heat::new(backend, mesh, geometry, problem)?, settings))
    }

    /// The computation of a problem, or of the part of one rank.
    pub(super) fn of(heat: Heat<F>, Settings { scheme, params }: &Settings) -> Self {
        let march = scheme.map(|scheme| March::new(&heat, scheme, params));
        OneRank { heat, march, params: params.clone(), steps: 0, should_stop: None }
    }

    /// See [`Heat::dirichlet_rate`].
    pub(super) fn dirichlet_rate(&self) -> Result<Vec<F>, HeatError> {
        Ok(self.heat.dirichlet_rate()?)
    }

    /// The temperature on the backend of the rank.
    pub(super) fn buffer(&self) -> &Buffer<F> {
        self.heat.temperature()
    }

    /// The temperature of some unknowns.
    pub(super) fn temperature_of(&self, unknowns: &[u32]) -> Result<Vec<F>, HeatError> {
        Ok(self.heat.temperature_of(unknowns)?)
    }

    /// Replaces the temperature.
    pub(super) fn set_temperature(&mut self, values: &[F]) {
        self.heat.set_temperature(values);
    }
}

impl<F: Real> Computation<F> for OneRank<F> {
    fn scheme(&self) -> &HeatScheme {
        self.heat.scheme()
    }

    fn stop_when(&mut self, should_stop: StopTest) {
        self.should_stop = Some(should_stop);
    }

    fn clock(&self) -> (f64, usize) {
        self.march.as_ref().map_or((0.0, self.steps), |m| (m.time, m.steps))
    }

    fn set_clock(&mut self, time: f64, steps: usize) -> Result<(), HeatError> {
        match &mut self.march {
            None => self.steps = steps,
            Some(march) => {
                (march.time, march.steps) = (time, steps);
                self.heat.set_time(time)?;
            }
        }
        Ok(())
    }

    fn advance(&mut self, step: Option<f64>) -> Result<(SolveOutcome, f64), HeatError> {
        let (Some(march), Some(step)) = (&mut self.march, step) else {
            self.steps += 1;
            let should_stop = self.should_stop.clone();
            return Ok((self.heat.solve_steady_until(&self.params, should_stop)?, 0.0));
        };
        let solved = march.step(&mut self.heat, step)?;
        // Monitors use the boundary values of the new time.
        self.heat.set_time(march.time)?;
        Ok(solved)
    }

    fn unknowns(&self) -> usize {
        self.heat.unknowns()
    }

    fn temperature(&self) -> Result<Vec<F>, HeatError> {
        Ok(self.heat.own_temperature()?)
    }

    fn on_backend(&mut self) -> Result<&Buffer<F>, HeatError> {
        Ok(self.heat.temperature())
    }

    fn evaluate<'a>(
        &mut self,
        functionals: &'a mut Functionals<F>,
    ) -> Result<&'a Buffer<F>, HeatError> {
        self.heat.evaluate(functionals)
    }

    fn imbalance(&self) -> Result<Option<[f64; 2]>, HeatError> {
        self.heat.imbalance()
    }

    fn largest_rate(&self) -> Result<f64, HeatError> {
        self.heat.largest_rate()
    }

    fn solver_setup(&self) -> Option<&SolverSetup> {
        self.heat.solver_setup()
    }

    fn solver_setups(&self) -> u64 {
        self.heat.solver_setups()
    }

    fn state(&self) -> Result<HeatState<F>, HeatError> {
        let temperature = self.temperature()?;
        let Some(march) = &self.march else {
            return Ok(HeatState { temperature, march: None, interpolations: None });
        };
        let (increment, before, step) = march.history(&self.heat)?;
        let (time, steps) = (march.time, march.steps);
        let interpolations = march.interpolations(&self.heat)?;
        let march = Some(MarchState { increment, before, time, steps, step });
        Ok(HeatState { temperature, march, interpolations })
    }

    fn restore(&mut self, state: HeatState<F>) -> Result<(), HeatError> {
        let HeatState { temperature, march: saved, interpolations } = state;
        self.heat.set_temperature(&temperature);
        let (Some(march), Some(saved)) = (&mut self.march, saved) else { return Ok(()) };
        let MarchState { increment, before, time, steps, step } = saved;
        march.restore(&self.heat, (time, steps), (&increment, &before, step));
        if let Some((saved, inertia)) = interpolations {
            march.restore_interpolations(saved, inertia);
        }
        // Monitors use the boundary values of the restart time, even without a step.
        self.heat.set_time(time)
    }
}
