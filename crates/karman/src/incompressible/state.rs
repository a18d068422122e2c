//! State of a flow for checkpoints.

use super::pressure::MidpointPressure;
use super::{IncompressibleError, IncompressibleSolver, Scheme};
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
    "pressure_shown",
    "pressure_shown_at_boundary",
];

/// Names of the arrays of the initial guess of ψ, besides ψ.
const GUESS: [&str; 3] = ["pressure_increment_before", "divergence", "divergence_before"];

impl<F: Real> IncompressibleSolver<F> {
    /// The arrays the next step depends on, without those recomputed from them.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn state(&self) -> Result<State<F>, IncompressibleError> {
        let mut arrays = vec![];
        for (k, component) in self.components.iter().enumerate() {
            for (name, buffer) in [
                ("velocity", &component.now),
                ("velocity_before", &component.before),
                ("increment", &component.increment),
                ("carried_before", &component.convection_before),
            ] {
                arrays.push((format!("{name}_{k}"), self.backend.read(buffer)?));
            }
            // Values at slip walls depend on gradients of an earlier level.
            let prescribed = self.momentum.quantities[k].prescribed.value();
            arrays.push((format!("held_{k}"), self.backend.read(prescribed)?));
        }
        for (name, buffer) in [
            ("pressure", &self.pressure.value),
            ("pressure_increment", &self.pressure.psi),
            ("flux", &self.flux),
            ("excess_before", &self.rhie_chow_correction_before),
        ] {
            arrays.push((name.to_owned(), self.backend.read(buffer)?));
        }
        if let Some(guess) = &self.pressure.guess {
            let [last, _] = &guess.right_hand_sides;
            let buffers = [&guess.previous_solution, &self.pressure.right_hand_side, last];
            for (name, buffer) in GUESS.iter().zip(buffers) {
                arrays.push(((*name).to_owned(), self.backend.read(buffer)?));
            }
        }
        if let Some(midpoint) = &self.pressure.midpoint {
            for (name, buffer) in
                MIDPOINT.iter().zip(midpoint.before.iter().chain(&midpoint.at_end))
            {
                arrays.push(((*name).to_owned(), self.backend.read(buffer)?));
            }
        }
        if let Some(thermal) = &self.thermal {
            let field = &thermal.field;
            for (name, buffer) in [
                ("temperature", &field.now),
                ("temperature_before", &field.before),
                ("temperature_increment", &field.increment),
                ("temperature_carried_before", &field.convection_before),
            ] {
                arrays.push((name.to_owned(), self.backend.read(buffer)?));
            }
        }
        if let Some(staggered) = &self.staggered {
            arrays.push(("flux_before".to_owned(), self.backend.read(&staggered.before)?));
            arrays.push(("flux_increment".to_owned(), self.backend.read(&staggered.increment)?));
        }
        if let Some(exact) = &self.exact {
            arrays.push(("flux_base".to_owned(), self.backend.read(&exact.base)?));
            arrays.push(("potential".to_owned(), self.backend.read(&exact.value)?));
            arrays.push(("potential_increment".to_owned(), self.backend.read(&exact.increment)?));
        }
        for (k, value) in self.outflow.value.iter().enumerate() {
            arrays.push((format!("outflow_{k}"), self.backend.read(value)?));
        }
        let clock = [self.time, self.steps as f64, self.step_before.unwrap_or(0.0)];
        Ok(State { arrays, clock })
    }

    /// Restores a state of [`IncompressibleSolver::state`]; `read` finds an array by name and length.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a prescribed value is not finite or the device failed.
    pub fn restore(
        &mut self,
        mut read: impl FnMut(&str, usize) -> Vec<F>,
        [time, steps, step_before]: [f64; 3],
    ) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let (n, n_faces) = (self.volume.len(), self.flux.len());
        let mut convection_before = vec![];
        for (k, component) in self.components.iter_mut().enumerate() {
            backend.write(&mut component.now, &read(&format!("velocity_{k}"), n));
            backend.write(&mut component.before, &read(&format!("velocity_before_{k}"), n));
            backend.write(&mut component.increment, &read(&format!("increment_{k}"), n));
            convection_before.push(read(&format!("carried_before_{k}"), n));
        }
        let mut temperature_convection_before = None;
        if let Some(thermal) = &mut self.thermal {
            let field = &mut thermal.field;
            backend.write(&mut field.now, &read("temperature", n));
            backend.write(&mut field.before, &read("temperature_before", n));
            backend.write(&mut field.increment, &read("temperature_increment", n));
            temperature_convection_before = Some(read("temperature_carried_before", n));
            thermal.diffusion.set_mean_time([time, time])?;
        }
        backend.write(&mut self.pressure.value, &read("pressure", n));
        backend.write(&mut self.pressure.psi, &read("pressure_increment", n));
        if let Some(guess) = &mut self.pressure.guess {
            guess.is_new = steps == 0.0;
            let [last, _] = &mut guess.right_hand_sides;
            let buffers = [&mut guess.previous_solution, &mut self.pressure.right_hand_side, last];
            for (name, buffer) in GUESS.iter().zip(buffers) {
                backend.write(buffer, &read(name, n));
            }
        }
        backend.write(&mut self.flux, &read("flux", n_faces));
        (self.time, self.steps) = (time, steps as usize);
        self.step_before = (step_before > 0.0).then_some(step_before);
        if let Some(staggered) = &mut self.staggered {
            backend.write(&mut staggered.before, &read("flux_before", n_faces));
            backend.write(&mut staggered.increment, &read("flux_increment", n_faces));
        }
        if let Some(exact) = &mut self.exact {
            for (name, buffer) in [
                ("flux_base", &mut exact.base),
                ("potential", &mut exact.value),
                ("potential_increment", &mut exact.increment),
            ] {
                let len = buffer.len();
                backend.write(buffer, &read(name, len));
            }
        }
        for (k, value) in self.outflow.value.iter_mut().enumerate() {
            let len = value.len();
            backend.write(value, &read(&format!("outflow_{k}"), len));
        }
        self.momentum.set_mean_time([time, time])?;
        let is_midpoint = self.numerics.scheme == Scheme::Ab2Cn;
        self.pressure.set_mean_time([if is_midpoint { time - step_before } else { time }, time])?;
        for (k, quantity) in self.momentum.quantities.iter_mut().enumerate() {
            let prescribed = quantity.prescribed.value_mut();
            let values = read(&format!("held_{k}"), prescribed.len());
            backend.write(prescribed, &values);
        }
        self.refresh()?;
        if let Some(MidpointPressure { before, at_end }) = &mut self.pressure.midpoint {
            for (name, buffer) in MIDPOINT.iter().zip(before.iter_mut().chain(at_end)) {
                let len = buffer.len();
                backend.write(buffer, &read(name, len));
            }
        }
        backend.write(&mut self.rhie_chow_correction_before, &read("excess_before", n_faces));
        for (component, values) in self.components.iter_mut().zip(convection_before) {
            backend.write(&mut component.convection_before, &values);
        }
        if let (Some(thermal), Some(values)) = (&mut self.thermal, temperature_convection_before) {
            backend.write(&mut thermal.field.convection_before, &values);
        }
        self.mass_correction.schedule_check(time);
        Ok(())
    }
}
