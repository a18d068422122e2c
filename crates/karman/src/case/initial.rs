//! `[initial]`: the state at t = 0.

use super::equation::Sections;
use super::error::Problem;
use super::field_keys::{FieldKeys, Initial};
use super::names::Names;
use super::value::{Rule, Sign, Value};
use crate::compressible::PrescribedState;
use crate::compressible::descriptor::DENSITY;
use crate::descriptor::VELOCITY;
use crate::incompressible::descriptor::{PRESSURE, TEMPERATURE};
use std::path::{Path, PathBuf};
use toml::Spanned;

pub(crate) type InitialFile = FieldKeys<Initial>;

/// A result from which fields at t = 0 are taken.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialResult {
    /// The file, resolved: a series (PVD), whose last state is taken, or a file of fields.
    pub path: PathBuf,
    /// The fields solved for that `[initial]` does not give.
    pub fields: Vec<&'static str>,
}

/// The result that `[initial]` names.
pub(crate) fn check_from(
    file: Option<&Spanned<InitialFile>>,
    folder: &Path,
    names: Names,
) -> Result<Option<InitialResult>, Problem> {
    let Some(keys) = file.map(Spanned::get_ref) else { return Ok(None) };
    let Some(from) = &keys.from else { return Ok(None) };
    if from.get_ref().is_empty() {
        return Err(Problem::at(from.span(), "`from` is empty"));
    }
    let mut fields = names.default_fields();
    fields.retain(|field| !keys.has(field));
    if fields.is_empty() {
        let message = "`from` has no effect: [initial] gives all fields";
        return Err(Problem::at(from.span(), message));
    }
    Ok(Some(InitialResult { path: folder.join(from.get_ref()), fields }))
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
pub(crate) fn check_heat(case: Sections<'_>) -> Result<Value, Problem> {
    let initial = case.file.initial.as_ref();
    initial.map_or(Ok(()), |initial| initial.get_ref().check(case.names))?;
    temperature(case)
}

fn temperature(case: Sections<'_>) -> Result<Value, Problem> {
    let (initial, time) = (case.file.initial.as_ref(), case.file.time.as_ref());
    match (initial.and_then(|keys| keys.get_ref().scalar(TEMPERATURE)), time) {
        (Some(value), _) => {
            case.reader.scalar(value.get_ref(), value.span(), of_place(TEMPERATURE))
        }
        (None, None) => Ok(Value::Constant(0.0)),
        (None, Some(_)) if initial.is_some_and(|keys| keys.get_ref().from.is_some()) => {
            Ok(Value::Constant(0.0))
        }
        (None, Some(time)) => {
            let place = initial.map_or(time.span(), Spanned::span);
            let message = "an unsteady run needs an initial temperature";
            Err(Problem::at(place, message).note("add to [initial]: temperature = 300.0"))
        }
    }
}

/// The initial state of a flow.
pub(crate) fn check_flow(case: Sections<'_>) -> Result<FlowInitial, Problem> {
    let Sections { file, names, reader } = case;
    let mut initial = FlowInitial::default();
    if names.is_thermal() {
        initial.temperature = temperature(case)?;
    }
    let Some(keys) = file.initial.as_ref().map(Spanned::get_ref) else { return Ok(initial) };
    keys.check(names)?;
    initial.velocity = reader.vector_of_scalars(&keys.vector(VELOCITY), of_place(VELOCITY))?;
    if let Some(pressure) = keys.scalar(PRESSURE) {
        initial.pressure =
            reader.scalar(pressure.get_ref(), pressure.span(), of_place(PRESSURE))?;
    }
    Ok(initial)
}

/// The initial state of a compressible flow.
pub(crate) fn check_compressible(case: Sections<'_>) -> Result<PrescribedState<Value>, Problem> {
    let Sections { file, names, reader } = case;
    let Some(section) = &file.initial else {
        let message = "a compressible flow needs [initial] with `density` and `pressure`";
        return Err(Problem::at(0..0, message));
    };
    let keys = section.get_ref();
    keys.check(names)?;
    let positive = |name: &'static str| -> Result<Value, Problem> {
        let rule = Rule { name, sign: Sign::Positive, time: false };
        match keys.scalar(name) {
            Some(value) => reader.scalar(value.get_ref(), value.span(), rule),
            None if keys.from.is_some() => Ok(Value::Constant(1.0)),
            None => Err(Problem::at(section.span(), format!("`{name}` is missing"))),
        }
    };
    Ok(PrescribedState {
        density: positive(DENSITY)?,
        velocity: reader.vector_of_scalars(&keys.vector(VELOCITY), of_place(VELOCITY))?,
        pressure: positive(PRESSURE)?,
    })
}
