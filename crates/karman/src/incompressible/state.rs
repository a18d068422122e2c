//! What a restart needs of a flow.

use super::pressure::Halfway;
use super::{Flow, IncompressibleError, Scheme};
use crate::real::Real;

/// The state of a flow between two steps.
pub struct State<F> {
    /// Names and values of its arrays.
    pub arrays: Vec<(String, Vec<F>)>,
    /// Time, steps taken, the length of the step before (0: none).
    pub clock: [f64; 3],
}

/// Names of the arrays of [`Halfway`].
const HALFWAY: [&str; 4] = [
    "pressure_before",
    "pressure_before_at_boundary",
    "pressure_shown",
    "pressure_shown_at_boundary",
];

/// Names of the arrays that the first guess of ψ is made of, besides ψ.
const GUESS: [&str; 3] = ["pressure_increment_before", "divergence", "divergence_before"];

impl<F: Real> Flow<F> {
    /// Everything the next step depends on that is not made anew from it.
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
                ("carried_before", &component.carried_before),
            ] {
                arrays.push((format!("{name}_{k}"), self.backend.read(buffer)?));
            }
            // Those at slip walls follow from gradients that are gone.
            let held = self.momentum.quantities[k].prescribed.value();
            arrays.push((format!("held_{k}"), self.backend.read(held)?));
        }
        for (name, buffer) in [
            ("pressure", &self.pressure.value),
            ("pressure_increment", &self.pressure.psi),
            ("flux", &self.flux),
            ("excess_before", &self.excess_before),
        ] {
            arrays.push((name.to_owned(), self.backend.read(buffer)?));
        }
        if let Some(guess) = &self.pressure.guess {
            let [last, _] = &guess.right_hand_sides;
            let buffers = [&guess.before, &self.pressure.right_hand_side, last];
            for (name, buffer) in GUESS.iter().zip(buffers) {
                arrays.push(((*name).to_owned(), self.backend.read(buffer)?));
            }
        }
        if let Some(halfway) = &self.pressure.halfway {
            for (name, buffer) in HALFWAY.iter().zip(halfway.before.iter().chain(&halfway.shown)) {
                arrays.push(((*name).to_owned(), self.backend.read(buffer)?));
            }
        }
        if let Some(thermal) = &self.thermal {
            let field = &thermal.field;
            for (name, buffer) in [
                ("temperature", &field.now),
                ("temperature_before", &field.before),
                ("temperature_increment", &field.increment),
                ("temperature_carried_before", &field.carried_before),
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

    /// Goes on from what [`Flow::state`] gave; `read` finds an array by name and length.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a prescribed value is not a number or the device failed.
    pub fn restore(
        &mut self,
        mut read: impl FnMut(&str, usize) -> Vec<F>,
        [time, steps, step_before]: [f64; 3],
    ) -> Result<(), IncompressibleError> {
        let backend = self.backend.clone();
        let (n, n_faces) = (self.volume.len(), self.flux.len());
        let mut carried_before = vec![];
        for (k, component) in self.components.iter_mut().enumerate() {
            backend.write(&mut component.now, &read(&format!("velocity_{k}"), n));
            backend.write(&mut component.before, &read(&format!("velocity_before_{k}"), n));
            backend.write(&mut component.increment, &read(&format!("increment_{k}"), n));
            carried_before.push(read(&format!("carried_before_{k}"), n));
        }
        let mut heat_before = None;
        if let Some(thermal) = &mut self.thermal {
            let field = &mut thermal.field;
            backend.write(&mut field.now, &read("temperature", n));
            backend.write(&mut field.before, &read("temperature_before", n));
            backend.write(&mut field.increment, &read("temperature_increment", n));
            heat_before = Some(read("temperature_carried_before", n));
            thermal.transport.set_mean_time([time, time])?;
        }
        backend.write(&mut self.pressure.value, &read("pressure", n));
        backend.write(&mut self.pressure.psi, &read("pressure_increment", n));
        if let Some(guess) = &mut self.pressure.guess {
            guess.is_new = steps == 0.0;
            let [last, _] = &mut guess.right_hand_sides;
            let buffers = [&mut guess.before, &mut self.pressure.right_hand_side, last];
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
        let halfway = self.numerics.scheme == Scheme::Ab2Cn;
        self.pressure.set_mean_time([if halfway { time - step_before } else { time }, time])?;
        for (k, quantity) in self.momentum.quantities.iter_mut().enumerate() {
            let held = quantity.prescribed.value_mut();
            let values = read(&format!("held_{k}"), held.len());
            backend.write(held, &values);
        }
        self.refresh()?;
        if let Some(Halfway { before, shown }) = &mut self.pressure.halfway {
            for (name, buffer) in HALFWAY.iter().zip(before.iter_mut().chain(shown)) {
                let len = buffer.len();
                backend.write(buffer, &read(name, len));
            }
        }
        backend.write(&mut self.excess_before, &read("excess_before", n_faces));
        for (component, values) in self.components.iter_mut().zip(carried_before) {
            backend.write(&mut component.carried_before, &values);
        }
        if let (Some(thermal), Some(values)) = (&mut self.thermal, heat_before) {
            backend.write(&mut thermal.field.carried_before, &values);
        }
        self.balance.check(time);
        Ok(())
    }
}
