//! `[initial]`: the state at t = 0.

use super::error::Problem;
use super::names::Names;
use super::value::{Maybe, Reader, Rule, ScalarFile, Sign, Value, VectorFile, refuse};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::ops::Range;
use toml::Spanned;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InitialFile {
    temperature: Maybe<ScalarFile>,
    velocity: Maybe<VectorFile<ScalarFile>>,
    pressure: Maybe<ScalarFile>,
    density: Maybe<IgnoredAny>,
}

/// The state of a flow at t = 0; the temperature is used with `[incompressible.thermal]` only.
pub(crate) struct FlowInitial {
    pub(crate) velocity: [Value; 3],
    pub(crate) pressure: Value,
    pub(crate) temperature: Value,
}

impl Default for FlowInitial {
    fn default() -> Self {
        let zero = || Value::Constant(0.0);
        Self { velocity: [zero(), zero(), zero()], pressure: zero(), temperature: zero() }
    }
}

const fn of_place(name: &'static str) -> Rule {
    Rule { name, sign: Sign::Any, time: false }
}

/// The initial temperature of a heat case, required where the case has `[time]`.
pub(crate) fn check_heat(
    file: Option<&Spanned<InitialFile>>,
    time: Option<Range<usize>>,
    reader: Reader<'_>,
) -> Result<Value, Problem> {
    if let Some(keys) = file.map(Spanned::get_ref) {
        const FLOW: &str = "belongs to a flow case, this one is of heat";
        refuse(&keys.velocity, "velocity", FLOW)?;
        refuse(&keys.pressure, "pressure", FLOW)?;
        refuse(&keys.density, "density", FLOW)?;
    }
    temperature(file, time, reader)
}

fn temperature(
    file: Option<&Spanned<InitialFile>>,
    time: Option<Range<usize>>,
    reader: Reader<'_>,
) -> Result<Value, Problem> {
    match (file.and_then(|file| file.get_ref().temperature.as_ref()), time) {
        (Some(value), _) => reader.scalar(value.get_ref(), value.span(), of_place("temperature")),
        (None, None) => Ok(Value::Constant(0.0)),
        (None, Some(time)) => {
            let place = file.map_or(time, Spanned::span);
            let message = "an unsteady run needs an initial temperature";
            Err(Problem::at(place, message).note("add to [initial]: temperature = 300.0"))
        }
    }
}

/// The initial state of a flow; `time` is the place of `[time]`.
pub(crate) fn check_flow(
    file: Option<&Spanned<InitialFile>>,
    names: Names,
    time: Range<usize>,
    reader: Reader<'_>,
) -> Result<FlowInitial, Problem> {
    let mut initial = FlowInitial::default();
    if names.is_thermal() {
        initial.temperature = temperature(file, Some(time), reader)?;
    }
    let Some(keys) = file.map(Spanned::get_ref) else { return Ok(initial) };
    if !names.is_thermal() {
        refuse(&keys.temperature, "temperature", super::NEEDS_THERMAL)?;
    }
    refuse(&keys.density, "density", super::EULER_ONLY)?;
    initial.velocity = reader.vector_of_scalars(&keys.velocity, of_place("velocity"))?;
    if let Some(pressure) = &keys.pressure {
        initial.pressure =
            reader.scalar(pressure.get_ref(), pressure.span(), of_place("pressure"))?;
    }
    Ok(initial)
}
