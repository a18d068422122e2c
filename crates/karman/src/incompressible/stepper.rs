//! The interface of the three arrangements of unknowns: collocated, staggered, exact.

use super::flow::Flow;
use super::rk3::{OldLevel, StageOfStep};
use super::staggered::Staggered;
use super::{IncompressibleError, StepSystem};
use crate::backend::Buffer;
use crate::linear::SolveOutcome;
use crate::real::Real;
use crate::time::TimeCoefficients;

/// A step of a multistep scheme.
pub(super) struct Step {
    pub coefficients: TimeCoefficients,
    /// Begin and end.
    pub times: [f64; 2],
    /// Velocities are extrapolated to the end of the step by u + extrapolation (u − u_before).
    pub extrapolation: f64,
}

/// The solves of a step.
pub(super) struct StepSolves {
    /// The predictor: the sum of iterations over the components, the worst status.
    pub momentum: SolveOutcome,
    /// The projection, or the recovery of the pressure.
    pub pressure: SolveOutcome,
}

/// One arrangement of the unknowns of a flow: its own unknowns and its steps.
pub(super) trait Stepper<F: Real>: Send {
    /// flow.flux ← the fluxes of the initial velocity, before their projection.
    fn set_initial_flux(&mut self, flow: &mut Flow<F>) -> Result<(), IncompressibleError>;

    /// Follows the projection of the initial fluxes. Staggered: u* ← the velocities of the cells by their fluxes.
    fn finish_initial_flux(&mut self, _flow: &mut Flow<F>) {}

    /// Follows the correction of the fluxes to the mean velocity.
    fn follow_mean_velocity(&mut self, _flow: &Flow<F>) {}

    /// Makes a flux without boundary fluxes as divergence-free as the steps of this arrangement are.
    fn clean_response(&mut self, _flux: &mut Buffer<F>) {}

    /// Stores the unknowns of the current level as those of the previous one: at the start. It follows
    /// [`Stepper::refresh`].
    fn copy_to_previous_level(&mut self, flow: &Flow<F>);

    /// Advances velocity and pressure by a step.
    fn step(&mut self, flow: &mut Flow<F>, step: &Step) -> Result<StepSolves, IncompressibleError>;

    /// Advances by one explicit stage: flow.flux and u*; returns the solve of its projection.
    fn stage(
        &mut self,
        flow: &mut Flow<F>,
        old: &OldLevel<F>,
        stage: &StageOfStep,
    ) -> Result<SolveOutcome, IncompressibleError>;

    /// Updates data of the current level that follow from its velocities and fluxes.
    fn refresh(&mut self, _flow: &mut Flow<F>) {}

    /// Weight of the left cell in the interpolation of convected quantities, without skewness correction:
    /// `[n_interior]`. None: that of the faces, with the correction.
    fn convection_weight(&self) -> Option<&Buffer<F>> {
        // Unweighted means conserve the kinetic energy of the fluxes.
        self.staggered().map(|staggered| &staggered.faces.half)
    }

    /// The unknown at the faces that explicit stages advance: `[n_faces]`.
    fn unknown_at_faces<'a>(&'a self, flow: &'a Flow<F>) -> &'a Buffer<F> {
        &flow.flux
    }

    /// Names and values of the arrays of a checkpoint, besides those of the flow.
    fn arrays(&self) -> Vec<(&'static str, &Buffer<F>)>;

    /// The arrays of [`Stepper::arrays`], to be restored.
    fn arrays_mut(&mut self) -> Vec<(&'static str, &mut Buffer<F>)>;

    /// The predictor's system of the last step; none before the first, nor collocated.
    fn predictor_system(
        &self,
        _viscosity: f64,
    ) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        Ok(None)
    }

    /// Data of the staggered arrangements.
    fn staggered(&self) -> Option<&Staggered<F>> {
        None
    }

    /// Data of the staggered arrangements.
    fn staggered_mut(&mut self) -> Option<&mut Staggered<F>> {
        None
    }
}
