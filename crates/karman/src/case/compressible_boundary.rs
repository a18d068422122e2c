//! `[boundary]` of a compressible flow: one condition for each patch.

use super::boundary::{
    BoundaryFile, HeatCondition, KeyFile, PatchCondition, PatchFile, PatchTableFile, StateFile,
    no_condition, only_one,
};
use super::error::Problem;
use super::flow_boundary::{partners_without_entry, unpaired};
use super::value::{Maybe, Reader, Rule, Sign, Value, number, required};
use crate::compressible::{
    CompressibleBoundaryCondition as Condition, CompressibleKey, CompressibleKeyValue as KeyValue,
    PrescribedState,
};
use std::ops::Range;
use toml::Spanned;

/// The entry of a patch in `[boundary]` of a compressible flow.
#[derive(Clone, Debug, PartialEq)]
pub enum CompressibleBoundary {
    /// A boundary condition.
    Condition(Box<Condition<Value>>),
    /// Periodic with the patch named, which names this one.
    Periodic(String),
}

impl CompressibleBoundary {
    /// The condition; none of a periodic patch.
    pub fn condition(&self) -> Option<&Condition<Value>> {
        match self {
            CompressibleBoundary::Condition(condition) => Some(condition),
            CompressibleBoundary::Periodic(_) => None,
        }
    }
}

/// The keys of all conditions.
pub(crate) fn keys() -> &'static [CompressibleKey<Value>] {
    Condition::<Value>::KEYS
}

/// Kinds without a value.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    keys().iter().filter(|key| matches!(key.value, KeyValue::Flag(_))).map(|key| key.name)
}

const STATE: &str = "{ density, velocity, pressure }";

/// Kinds that need a value, each with an example.
fn valued() -> impl Iterator<Item = (&'static str, String)> {
    let keys = keys().iter().filter_map(|key| match key.value {
        KeyValue::Flag(_) => None,
        KeyValue::Scalar(value, _) | KeyValue::Vector(value, _) => Some((key.name, value)),
        KeyValue::State | KeyValue::FarField => Some((key.name, STATE)),
    });
    let keys = keys.chain([("periodic", "\"other patch\"")]);
    keys.map(|(name, value)| (name, format!("{{ {name} = {value} }}")))
}

fn valued_kinds() -> String {
    let examples: Vec<String> = valued().map(|(_, example)| example).collect();
    format!("with a value: {}", examples.join(", "))
}

/// The gas that a condition is read for: γ, and whether it is viscous.
type Gas = (f64, bool);

pub(crate) fn check(
    file: Option<&Spanned<BoundaryFile>>,
    gas: Gas,
    reader: Reader<'_>,
) -> Result<Vec<PatchCondition<CompressibleBoundary>>, Vec<Problem>> {
    let (mut conditions, mut problems) = (Vec::new(), Vec::new());
    for (patch, entry) in file.iter().flat_map(|file| &file.get_ref().0) {
        let checked = match entry.get_ref() {
            PatchFile::Kind(kind) => from_word(kind, entry.span(), gas),
            PatchFile::Table(table) => from_table(table, patch, gas, reader),
        };
        match checked {
            Ok(condition) => {
                conditions.push(PatchCondition { patch: patch.get_ref().clone(), condition });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        problems = file.iter().flat_map(|file| unpaired(file.get_ref())).collect();
    }
    for (patch, other) in file.iter().flat_map(|file| partners_without_entry(file.get_ref())) {
        let condition = CompressibleBoundary::Periodic(patch);
        conditions.push(PatchCondition { patch: other.get_ref().clone(), condition });
    }
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

fn from_word(kind: &str, span: Range<usize>, gas: Gas) -> Result<CompressibleBoundary, Problem> {
    let key = keys().iter().find(|key| key.name == kind);
    if let Some(KeyValue::Flag(condition)) = key.map(|key| &key.value) {
        return admitted(condition(), kind, span, gas);
    }
    if let Some((_, example)) = valued().find(|(name, _)| *name == kind) {
        return Err(Problem::at(span, format!("`{kind}` needs a value: {example}")));
    }
    let message = match HeatCondition::KEYS.iter().any(|key| key.name == kind) {
        true => format!("`{kind}` is a thermal condition, not one for compressible flow"),
        false => format!("unknown kind of boundary `{kind}`"),
    };
    Err(Problem::at(span, message).among(kind, "valid kinds", kinds()).note(valued_kinds()))
}

/// Refuses walls with friction in a flow without viscosity.
fn admitted(
    condition: Condition<Value>,
    kind: &str,
    place: Range<usize>,
    (_, is_viscous): Gas,
) -> Result<CompressibleBoundary, Problem> {
    if condition.has_friction() && !is_viscous {
        let message = format!(
            "`{kind}` needs [compressible.viscous]: a gas without viscosity slips along walls"
        );
        return Err(Problem::at(place, message).note("use \"slip_wall\""));
    }
    Ok(CompressibleBoundary::Condition(Box::new(condition)))
}

fn from_table(
    table: &PatchTableFile,
    patch: &Spanned<String>,
    gas: Gas,
    reader: Reader<'_>,
) -> Result<CompressibleBoundary, Problem> {
    let given = table.flow();
    let is_known = |name: &str| name == "periodic" || keys().iter().any(|key| key.name == name);
    let foreign = given.iter().find(|(name, _)| !is_known(name));
    if let Some((name, span)) = foreign.or(table.thermal().first()) {
        let message = format!("`{name}` is not a condition for compressible flow");
        let problem = Problem::at(span.clone(), message).among("", "valid kinds", kinds());
        return Err(problem.note(valued_kinds()));
    }
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    if let Some(condition) = warm_moving_wall(table, &names, gas, reader)? {
        return admitted(condition, MOVING_WALL, given[0].1.clone(), gas);
    }
    only_one(&given, patch, "conditions")?;
    if let Some(other) = &table.periodic {
        return Ok(CompressibleBoundary::Periodic(other.get_ref().clone()));
    }
    let Some((name, span)) = given.first() else {
        let problem = Problem::at(patch.span(), no_condition(patch));
        return Err(problem.among("", "valid kinds", kinds()).note(valued_kinds()));
    };
    let condition = condition(table, name, gas, reader)?;
    admitted(condition, name, span.clone(), gas)
}

const MOVING_WALL: &str = "moving_wall";
const ISOTHERMAL: &str = "isothermal";

/// The condition of a table with the two keys that join: a moving wall and its temperature.
fn warm_moving_wall(
    table: &PatchTableFile,
    names: &[&str],
    gas: Gas,
    reader: Reader<'_>,
) -> Result<Option<Condition<Value>>, Problem> {
    let has_both = names.len() == 2 && [MOVING_WALL, ISOTHERMAL].iter().all(|n| names.contains(n));
    if !has_both {
        return Ok(None);
    }
    let wall = condition(table, MOVING_WALL, gas, reader)?;
    let temperature = condition(table, ISOTHERMAL, gas, reader)?;
    match (wall, temperature) {
        (Condition::MovingWall { velocity, .. }, Condition::Isothermal(temperature)) => {
            Ok(Some(Condition::MovingWall { velocity, temperature: Some(temperature) }))
        }
        _ => unreachable!("the keys of a moving wall and of its temperature"),
    }
}

/// The condition of the key `name`, which the table has.
fn condition(
    table: &PatchTableFile,
    name: &'static str,
    (gamma, _): Gas,
    reader: Reader<'_>,
) -> Result<Condition<Value>, Problem> {
    let rule = Rule { name, sign: Sign::Positive, time: true };
    for key in keys().iter().filter(|key| key.name == name) {
        let Some(file) = table.value(name) else { continue };
        match (&key.value, file.get_ref()) {
            (KeyValue::State | KeyValue::FarField, KeyFile::State(keys)) => {
                let allows_mach = matches!(key.value, KeyValue::FarField);
                let state = state(keys, file.span(), name, (gamma, allows_mach), reader);
                return state.map(Condition::State);
            }
            (KeyValue::Flag(condition), KeyFile::Flag(_)) => {
                super::boundary::is_set(file, name)?;
                return Ok(condition());
            }
            (KeyValue::Scalar(_, condition), KeyFile::Scalar(value)) => {
                let value = reader.value(&Spanned::new(file.span(), value.clone()), rule)?;
                return Ok(condition(value));
            }
            (KeyValue::Vector(_, condition), KeyFile::Vector(velocity)) => {
                let rule = Rule { name, sign: Sign::Any, time: true };
                let velocity = Spanned::new(file.span(), velocity.clone());
                return Ok(condition(reader.vector(&velocity, rule)?));
            }
            _ => {}
        }
    }
    unreachable!("the table has the key `{name}`")
}

fn state(
    keys: &StateFile,
    span: Range<usize>,
    name: &str,
    (gamma, allows_mach): (f64, bool),
    reader: Reader<'_>,
) -> Result<PrescribedState<Value>, Problem> {
    let rule = |name, sign| Rule { name, sign, time: true };
    let of_mach = [
        ("mach", &keys.mach),
        ("angle_of_attack_deg", &keys.angle_of_attack_deg),
        ("side_slip_deg", &keys.side_slip_deg),
    ];
    let given = of_mach.iter().find_map(|(key, file)| Some((*key, file.as_ref()?.span())));
    if let (Some((key, place)), false) = (&given, allows_mach) {
        let message = format!("`{key}` is for `farfield`; `{name}` has a `velocity`");
        return Err(Problem::at(place.clone(), message));
    }
    if let (Some((key, place)), Some(_)) = (&given, &keys.velocity) {
        let message = format!(
            "the velocity is given by `velocity` or by `mach` and angles: `{key}` is one too many"
        );
        return Err(Problem::at(place.clone(), message));
    }
    let density = reader
        .value(required(&keys.density, "density", &span)?, rule("density", Sign::Positive))?;
    let pressure = reader
        .value(required(&keys.pressure, "pressure", &span)?, rule("pressure", Sign::Positive))?;
    let velocity = match &given {
        None if allows_mach && keys.velocity.is_none() => {
            return Err(Problem::at(span, "`mach` or `velocity` is missing"));
        }
        None => {
            let velocity = required(&keys.velocity, "velocity", &span)?;
            reader.vector(velocity, rule("velocity", Sign::Any))?
        }
        Some(_) => {
            required(&keys.mach, "mach", &span)?;
            let mach = number(&keys.mach, 0.0, "mach", Sign::NotNegative)?;
            let angle = |file: &Maybe<f64>, name| number(file, 0.0, name, Sign::Any);
            let alpha = angle(&keys.angle_of_attack_deg, "angle_of_attack_deg")?.to_radians();
            let beta = angle(&keys.side_slip_deg, "side_slip_deg")?.to_radians();
            let (Some(rho), Some(p)) = (density.constant(), pressure.constant()) else {
                let message = "with `mach` the density and the pressure are numbers: the speed of sound follows from them";
                return Err(Problem::at(span, message).note("give the `velocity`"));
            };
            let speed = mach * (gamma * p / rho).sqrt();
            let direction = [alpha.cos() * beta.cos(), alpha.sin() * beta.cos(), beta.sin()];
            direction.map(|component| Value::Constant(speed * component))
        }
    };
    Ok(PrescribedState { density, velocity, pressure })
}
