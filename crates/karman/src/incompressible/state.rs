//! State of a flow for checkpoints.

use super::flow::{Clock, Flow};
use super::places::Place;
use super::poisson_system::PressureIncrement;
use super::pressure::MidpointPressure;
use super::pressure_conditions::PressureConditions;
use super::thermal::Thermal;
use super::{IncompressibleError, IncompressibleSolver, TimeScheme};
use crate::backend::Buffer;
use crate::linear::GUESS_DEPTH;
use crate::real::Real;

/// The state of a flow between two steps.
pub struct State<F> {
    /// Names and values of its arrays.
    pub arrays: Vec<(String, Vec<F>)>,
    /// Time, steps taken, the length of the previous step (0: none).
    pub clock: [f64; 3],
}

/// Names of the arrays of [`MidpointPressure`].
const MIDPOINT: [&str; 4] = [
    "pressure_before",
    "pressure_before_at_boundary",
    "pressure_at_end",
    "pressure_at_end_at_boundary",
];

/// Names of the arrays of the initial guess of ψ, besides ψ.
const GUESS: [&str; 2 * GUESS_DEPTH - 1] = [
    "pressure_increment_before",
    "pressure_increment_before_2",
    "pressure_increment_before_3",
    "divergence",
    "divergence_before",
    "divergence_before_2",
    "divergence_before_3",
];

impl<F: Real> IncompressibleSolver<F> {
    /// The arrays the next step depends on, without those recomputed from them.
    /// A steady flow goes on from a state with uniform pseudo-time steps and without the iterations of its acceleration.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn state(&self) -> Result<State<F>, IncompressibleError> {
        let read = |(name, _, buffer)| Ok((name, self.flow.backend.read(buffer)?));
        let Clock { time, steps, step_before } = self.flow.clock;
        Ok(State {
            arrays: self
                .stored()
                .into_iter()
                .map(read)
                .collect::<Result<_, IncompressibleError>>()?,
            clock: [time, steps as f64, step_before.unwrap_or(0.0)],
        })
    }

    /// Names, places and arrays of [`IncompressibleSolver::state`].
    pub fn stored(&self) -> Vec<(String, Place, &Buffer<F>)> {
        let Flow { components, momentum, pressure, thermal, boundary, .. } = &self.flow;
        let mut arrays: Vec<(String, Place, &Buffer<F>)> = vec![];
        for (k, component) in components.iter().enumerate() {
            let named = |name: &str| format!("{name}_{k}");
            arrays.push((named("velocity"), Place::Cells, &component.now));
            arrays.push((named("velocity_before"), Place::Cells, &component.before));
            // Values at slip walls depend on gradients of an earlier level.
            let prescribed = momentum.quantities[k].prescribed.value();
            arrays.push((named("velocity_prescribed"), Place::Velocities, prescribed));
        }
        let mut push = |name: &str, place, buffer| arrays.push((name.to_owned(), place, buffer));
        let own = Place::OwnCells;
        push("velocity_explicit_flux_before", own, &momentum.explicit_flux_before);
        push("velocity_increment", own, &momentum.increment);
        push("pressure", Place::Cells, &pressure.value);
        push("pressure_increment", Place::Cells, &pressure.increment.value);
        push("flux", Place::Faces, &self.flow.flux);
        if let Some(guess) = &pressure.increment.guess {
            // The oldest right-hand side makes room for the newest.
            let right_hand_sides = [&pressure.increment.right_hand_side];
            let buffers = guess.solutions.iter().chain(right_hand_sides);
            let buffers = buffers.chain(&guess.right_hand_sides);
            GUESS.iter().zip(buffers).for_each(|(name, buffer)| push(name, own, buffer));
        }
        if pressure.conditions.of_flow.is_some() {
            // They depend on fluxes of an earlier level.
            let prescribed = pressure.conditions.prescribed.value();
            push("pressure_prescribed", Place::Pressures, prescribed);
        }
        if let Some(MidpointPressure { before, at_end, .. }) = &pressure.midpoint {
            let buffers = before.iter().chain(at_end);
            let named = MIDPOINT.iter().zip([Place::Cells, Place::Boundary].into_iter().cycle());
            named.zip(buffers).for_each(|((name, place), buffer)| push(name, place, buffer));
        }
        if let Some(Thermal { field, equation, .. }) = thermal {
            push("temperature", Place::Cells, &field.now);
            push("temperature_before", Place::Cells, &field.before);
            push("temperature_increment", own, &equation.increment);
            push("temperature_explicit_flux_before", own, &equation.explicit_flux_before);
        }
        let of_stepper = self.stepper.arrays().into_iter();
        of_stepper.for_each(|(name, place, buffer)| push(name, place, buffer));
        for (k, value) in boundary.outflow.value.iter().enumerate() {
            push(&format!("outflow_{k}"), Place::Outlets, value);
        }
        arrays
    }

    /// Restores a state of [`IncompressibleSolver::state`]; `read` finds an array by name and length.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a prescribed value is not finite or the device failed.
    pub fn restore(
        &mut self,
        mut read: impl FnMut(&str, usize) -> Vec<F>,
        clock: [f64; 3],
    ) -> Result<(), IncompressibleError> {
        let backend = self.flow.backend.clone();
        let mut restore = |name: &str, buffer: &mut Buffer<F>| {
            let len = buffer.len();
            backend.write(buffer, &read(name, len));
        };
        self.flow.restore_unknowns(clock, &mut restore)?;
        self.refresh()?;
        // The refresh has moved data of the current level to the previous one.
        self.flow.restore_history(&mut restore);
        self.stepper.arrays_mut().into_iter().for_each(|(name, buffer)| restore(name, buffer));
        self.flow.boundary.mass_correction.schedule_check(clock[0]);
        Ok(())
    }
}

impl<F: Real> Flow<F> {
    /// Restores the arrays from which others are computed.
    fn restore_unknowns(
        &mut self,
        [time, steps, step_before]: [f64; 3],
        restore: &mut impl FnMut(&str, &mut Buffer<F>),
    ) -> Result<(), IncompressibleError> {
        for (k, component) in self.components.iter_mut().enumerate() {
            restore(&format!("velocity_{k}"), &mut component.now);
            restore(&format!("velocity_before_{k}"), &mut component.before);
        }
        restore("velocity_increment", &mut self.momentum.increment);
        if let Some(Thermal { field, equation, .. }) = &mut self.thermal {
            restore("temperature", &mut field.now);
            restore("temperature_before", &mut field.before);
            restore("temperature_increment", &mut equation.increment);
            equation.set_trapezoidal_mean([time, time])?;
        }
        restore("flux", &mut self.flux);
        restore("pressure", &mut self.pressure.value);
        let PressureIncrement { value, right_hand_side, guess, .. } = &mut self.pressure.increment;
        restore("pressure_increment", value);
        if let Some(guess) = guess {
            guess.is_new = steps == 0.0;
            guess.is_restored = true;
            let buffers = guess.solutions.iter_mut().chain([right_hand_side]);
            let buffers = buffers.chain(&mut guess.right_hand_sides);
            GUESS.iter().zip(buffers).for_each(|(name, buffer)| restore(name, buffer));
        }
        for (k, value) in self.boundary.outflow.value.iter_mut().enumerate() {
            restore(&format!("outflow_{k}"), value);
        }
        let step_before_or_none = (step_before > 0.0).then_some(step_before);
        self.clock = Clock { time, steps: steps as usize, step_before: step_before_or_none };
        self.momentum.set_trapezoidal_mean([time, time])?;
        let is_midpoint = self.numerics.time_scheme == TimeScheme::Ab2Cn;
        self.set_pressure_time([if is_midpoint { time - step_before } else { time }, time])?;
        let PressureConditions { of_flow, prescribed, .. } = &mut self.pressure.conditions;
        if of_flow.is_some() {
            restore("pressure_prescribed", prescribed.value_mut());
        }
        for (k, quantity) in self.momentum.quantities.iter_mut().enumerate() {
            restore(&format!("velocity_prescribed_{k}"), quantity.prescribed.value_mut());
        }
        Ok(())
    }

    /// Restores data of the previous level and of the end of the step.
    fn restore_history(&mut self, restore: &mut impl FnMut(&str, &mut Buffer<F>)) {
        restore("velocity_explicit_flux_before", &mut self.momentum.explicit_flux_before);
        if let Some(Thermal { equation, .. }) = &mut self.thermal {
            restore("temperature_explicit_flux_before", &mut equation.explicit_flux_before);
        }
        if let Some(MidpointPressure { before, at_end, .. }) = &mut self.pressure.midpoint {
            let buffers = before.iter_mut().chain(at_end);
            MIDPOINT.iter().zip(buffers).for_each(|(name, buffer)| restore(name, buffer));
        }
    }
}
