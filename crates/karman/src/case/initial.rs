//! `[initial]`: the state at t = 0.

use super::error::Problem;
use super::field_keys::{FieldKeys, Initial};
use super::names::Names;
use super::value::{Reader, Rule, Sign, Value};
use crate::incompressible::descriptor::{PRESSURE, TEMPERATURE};
use std::ops::Range;
use toml::Spanned;

pub(crate) type InitialFile = FieldKeys<Initial>;

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
    names: Names,
    time: Option<Range<usize>>,
    reader: Reader<'_>,
) -> Result<Value, Problem> {
    file.map_or(Ok(()), |file| file.get_ref().check(names))?;
    temperature(file, time, reader)
}

fn temperature(
    file: Option<&Spanned<InitialFile>>,
    time: Option<Range<usize>>,
    reader: Reader<'_>,
) -> Result<Value, Problem> {
    match (file.and_then(|file| file.get_ref().scalar(TEMPERATURE)), time) {
        (Some(value), _) => reader.scalar(value.get_ref(), value.span(), of_place(TEMPERATURE)),
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
    time: Option<Range<usize>>,
    reader: Reader<'_>,
) -> Result<FlowInitial, Problem> {
    let mut initial = FlowInitial::default();
    if names.is_thermal() {
        initial.temperature = temperature(file, time, reader)?;
    }
    let Some(keys) = file.map(Spanned::get_ref) else { return Ok(initial) };
    keys.check(names)?;
    initial.velocity = reader.vector_of_scalars(&keys.vector("velocity"), of_place("velocity"))?;
    if let Some(pressure) = keys.scalar(PRESSURE) {
        initial.pressure =
            reader.scalar(pressure.get_ref(), pressure.span(), of_place(PRESSURE))?;
    }
    Ok(initial)
}
