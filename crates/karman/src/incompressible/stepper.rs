//! The interface of the three arrangements of unknowns: collocated, staggered, exact.

use super::flow::Flow;
use super::kernels::convective_rate;
use super::places::{Place, UnknownPlaces};
use super::stage::{OldLevel, StageOfStep};
use super::staggered::Staggered;
use super::step::{Step, StepSolves, StepSystem};
use super::transported_field::ConvectionInput;
use super::{Arrangement, IncompressibleError};
use crate::backend::Buffer;
use crate::linear::SolveOutcome;
use crate::operators::Part;
use crate::real::Real;

/// One arrangement of the unknowns of a flow: its own unknowns and its steps.
pub(super) trait Stepper<F: Real>: Send + Sync {
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

    /// The stepper of the part of one of several ranks, and the places of its unknowns outside cells. `starts` has the first cell of each
    /// rank, then their number. All ranks call it.
    fn of_part(
        &self,
        part: &Part,
        starts: &[usize],
    ) -> Result<(Box<dyn Stepper<F>>, UnknownPlaces), IncompressibleError>;

    /// Names, places and values of the arrays of a checkpoint, besides those of the flow.
    fn arrays(&self) -> Vec<(&'static str, Place, &Buffer<F>)>;

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

/// Updates the explicit terms of the current level: gradients, data of the stepper, convection, rates, ∇p.
/// Returns max |D F| / V over max Σ|F| / 2V.
pub(super) fn refresh<F: Real>(
    flow: &mut Flow<F>,
    stepper: &mut dyn Stepper<F>,
) -> Result<f64, IncompressibleError> {
    flow.update_gradients();
    stepper.refresh(flow);
    let (backend, faces) = (&flow.backend, &flow.faces);
    let weight = stepper.convection_weight();
    let input = ConvectionInput {
        faces,
        flux: &flow.flux,
        backflow_factor: &flow.boundary.backflow_factor,
        hybrid_outflow: &flow.boundary.hybrid_outflow,
        is_unskewed: weight.is_some() || faces.is_unskewed,
        weight: weight.unwrap_or(&faces.weight),
        convection: flow.numerics.convection,
        normal_inflow: flow.pressure.conditions.of_flow.as_ref().map(|of_flow| &of_flow.faces),
    };
    let is_collocated = flow.numerics.arrangement == Arrangement::Collocated;
    let momentum = &mut flow.momentum;
    momentum.update_explicit_flux(&flow.components, &input, is_collocated);
    if let Some(thermal) = &mut flow.thermal {
        thermal.refresh(backend, &input);
    }
    let monitors = &mut flow.monitors;
    convective_rate(
        backend,
        faces.cells.n_cells(),
        &faces.of_cells(),
        &flow.flux,
        &monitors.viscous_rate,
        &mut monitors.momentum_diagonal,
        &mut monitors.statistics.rates,
    );
    faces.cells.fetch(&mut [&mut monitors.momentum_diagonal]);
    flow.pressure.update_gradients(faces);
    flow.pressure.extrapolate_to_end();
    monitors.read_rates(backend)
}
