//! The report of a step.

use super::IncompressibleError;
use super::flow::Flow;
use super::residuals::ScaledResiduals;
use super::step::StepSolves;
use crate::linear::SolveOutcome;
use crate::real::Real;

/// Report of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The solves of the predictor: the sum of their iterations, their worst status.
    pub momentum: SolveOutcome,
    /// The solve of the projection.
    pub pressure: SolveOutcome,
    /// The solve of the temperature.
    pub energy: Option<SolveOutcome>,
    /// max |∂u/∂t| and max |∂T/∂t| over the step.
    pub rate: f64,
    /// Σ V u²/2.
    pub kinetic_energy: f64,
    /// Δt max Σ|F| / 2V.
    pub courant: f64,
    /// max |D F| / V over max Σ|F| / 2V.
    pub divergence: f64,
    /// Number of non-finite values.
    pub non_finite: usize,
    /// Scaled residuals of a steady flow, before the step.
    pub residuals: Option<ScaledResiduals>,
}

impl StepReport {
    /// The report of a step from its accumulated norms.
    pub(super) fn new<F: Real>(
        flow: &Flow<F>,
        step: f64,
        StepSolves { momentum, pressure }: StepSolves,
        energy: Option<SolveOutcome>,
        divergence: f64,
    ) -> Result<StepReport, IncompressibleError> {
        let norms = flow.monitors.statistics.read(&flow.backend)?;
        Ok(StepReport {
            momentum,
            pressure,
            energy,
            rate: norms.change / step,
            kinetic_energy: norms.energy,
            courant: flow.monitors.convective_rate * step,
            divergence,
            non_finite: norms.non_finite as usize,
            residuals: flow
                .monitors
                .residuals
                .as_ref()
                .map(|residuals| residuals.read(&flow.backend))
                .transpose()?,
        })
    }
}
