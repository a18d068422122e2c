//! Common parts of both staggered steps, and the classical fractional step.

use super::face_unknowns::{Staggered, cell_residuals};
use crate::backend::Buffer;
use crate::incompressible::flow::Flow;
use crate::incompressible::places::{Place, UnknownPlaces};
use crate::incompressible::stage::{OldLevel, StageOfStep, stage_flux};
use crate::incompressible::step::{Step, StepSolves};
use crate::incompressible::stepper::Stepper;
use crate::incompressible::{IncompressibleError, StepSystem};
use crate::linear::SolveOutcome;
use crate::operators::Part;
use crate::real::Real;

/// The classical fractional step: predictor for the fluxes, projection.
pub(in crate::incompressible) struct StaggeredStepper<F: Real> {
    pub staggered: Staggered<F>,
}

impl<F: Real> Stepper<F> for StaggeredStepper<F> {
    fn set_initial_flux(&mut self, flow: &mut Flow<F>) -> Result<(), IncompressibleError> {
        self.staggered.prescribe_flux(flow)
    }

    fn finish_initial_flux(&mut self, flow: &mut Flow<F>) {
        self.staggered.to_cells(&flow.flux, &mut flow.components);
    }

    fn copy_to_previous_level(&mut self, flow: &Flow<F>) {
        self.staggered.copy_to_previous_level(&flow.flux);
    }

    fn step(&mut self, flow: &mut Flow<F>, step: &Step) -> Result<StepSolves, IncompressibleError> {
        let staggered = &mut self.staggered;
        let coefficients = &step.coefficients;
        staggered.prescribe_boundary_fluxes(flow, step)?;
        staggered.flux_residual(flow, step)?;
        let momentum = staggered.predict_flux(flow, coefficients)?;
        staggered.add_increment(flow);
        let shift = coefficients.bdf.shift;
        let factors = (shift, coefficients.theta);
        let pressure = flow.pressure.project_step(&flow.faces, factors, &mut flow.flux)?;
        flow.momentum.set_trapezoidal_mean([step.times[1]; 2])?;
        staggered.update_velocities(flow, shift);
        flow.advance_pressure(coefficients);
        Ok(StepSolves { momentum, pressure })
    }

    fn stage(
        &mut self,
        flow: &mut Flow<F>,
        old: &OldLevel<F>,
        stage: &StageOfStep,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let staggered = &mut self.staggered;
        cell_residuals(flow, &stage.coefficients());
        staggered.compute_rate(flow);
        let faces = staggered.faces.clone();
        stage_flux(
            &flow.backend,
            flow.n_faces(),
            &faces.is_unknown,
            &old.at_faces,
            staggered.rate(),
            F::from_f64(stage.stage.alpha),
            F::from_f64(stage.step),
            &mut flow.flux,
        );
        flow.set_stage_time(old, stage)?;
        flow.update_gradients();
        staggered.prescribe_flux(flow)?;
        let outcome = flow.project_stage(stage)?;
        staggered.to_cells(&flow.flux, &mut flow.components);
        Ok(outcome)
    }

    fn of_part(
        &self,
        part: &Part,
        starts: &[usize],
    ) -> Result<(Box<dyn Stepper<F>>, UnknownPlaces), IncompressibleError> {
        let edges = self.staggered.equal_edges(part);
        let (staggered, _, fluxes) = self.staggered.of_part(part, starts, edges, None)?;
        let places = UnknownPlaces { fluxes, ..UnknownPlaces::default() };
        Ok((Box::new(StaggeredStepper { staggered }), places))
    }

    fn arrays(&self) -> Vec<(&'static str, Place, &Buffer<F>)> {
        self.staggered.arrays()
    }

    fn arrays_mut(&mut self) -> Vec<(&'static str, &mut Buffer<F>)> {
        self.staggered.arrays_mut()
    }

    fn predictor_system(
        &self,
        viscosity: f64,
    ) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        self.staggered.system(viscosity)
    }

    fn staggered(&self) -> Option<&Staggered<F>> {
        Some(&self.staggered)
    }

    fn staggered_mut(&mut self) -> Option<&mut Staggered<F>> {
        Some(&mut self.staggered)
    }
}
