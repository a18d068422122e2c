//! `[boundary]` as written: one condition for each patch of the mesh, its keys those that the equations list.

use super::error::Problem;
use super::value::{
    KnownKey, Maybe, Named, Reader, Rule, Value, ValueFile, VectorFile, required, spanned,
};
use crate::compressible::{CompressibleBoundaryCondition, CompressibleKeyValue};
use crate::descriptor::{ConditionKey, Form, KeyValue, Quantity, ValueTable};
use crate::finite_volume::BoundaryCondition;
use crate::incompressible::FlowBoundaryCondition;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;
use toml::Spanned;

/// The condition of one patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchCondition<C> {
    /// Name of the patch in the mesh.
    pub patch: String,
    /// Its condition.
    pub condition: C,
}

/// The thermal condition of a patch: the temperature, the heat flux density into the domain, convection to a fluid
/// outside with its heat transfer coefficient ≥ 0, or none.
pub type HeatCondition = BoundaryCondition<Value>;

pub(crate) type BoundaryFile = Named<PatchFile>;

/// An entry of `[boundary]` as written.
#[derive(Clone, Debug)]
pub(crate) enum PatchFile {
    Kind(String),
    Table(Box<PatchTableFile>),
}

/// `patch = { … }` or `[boundary.patch]`
#[derive(Clone, Debug, Default)]
pub(crate) struct PatchTableFile {
    /// The keys with a condition, each with its value.
    keys: Vec<(&'static str, Spanned<KeyFile>)>,
    pub(super) periodic: Maybe<String>,
}

/// The value of a key with a condition.
#[derive(Clone, Debug)]
pub(super) enum KeyFile {
    Flag(bool),
    Scalar(ValueFile),
    Vector(VectorFile<ValueFile>),
    Table(Named<ValueFile>),
    State(Box<StateFile>),
}

/// A state as written: by its velocity, or by its Mach number and angles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateFile {
    pub(super) density: Maybe<ValueFile>,
    pub(super) velocity: Maybe<VectorFile<ValueFile>>,
    pub(super) pressure: Maybe<ValueFile>,
    pub(super) mach: Maybe<f64>,
    pub(super) angle_of_attack_deg: Maybe<f64>,
    pub(super) side_slip_deg: Maybe<f64>,
}

pub(super) const SYMMETRY: &str = "symmetry";
const PERIODIC: &str = "periodic";

/// How the value of a key is written.
#[derive(Clone, Copy)]
enum Written {
    Form(Form),
    State,
}

/// The keys with a condition, each once, and how their values are written.
fn known_keys() -> &'static [(&'static str, Written)] {
    static KEYS: LazyLock<Vec<(&str, Written)>> = LazyLock::new(|| {
        let heat = HeatCondition::KEYS.iter().map(|key| (key.name, Written::Form(key.form())));
        let flow = FlowBoundaryCondition::<Value>::KEYS;
        let flow = flow.iter().map(|key| (key.name, Written::Form(key.form())));
        let flow = flow.filter(|(name, _)| *name != SYMMETRY);
        let compressible = CompressibleBoundaryCondition::<Value>::KEYS.iter().map(|key| {
            let written = match key.value {
                CompressibleKeyValue::Flag(_) => Written::Form(Form::Flag),
                CompressibleKeyValue::Scalar(words, _) => {
                    Written::Form(Form::Scalar(Quantity::new(words)))
                }
                CompressibleKeyValue::Vector(words, _) => {
                    Written::Form(Form::Vector(Quantity::new(words)))
                }
                CompressibleKeyValue::State | CompressibleKeyValue::FarField => Written::State,
            };
            (key.name, written)
        });
        let mut keys: Vec<(&str, Written)> = heat.collect();
        for key in
            [(SYMMETRY, Written::Form(Form::Flag))].into_iter().chain(flow).chain(compressible)
        {
            if keys.iter().all(|(name, _)| *name != key.0) {
                keys.push(key);
            }
        }
        keys
    });
    &KEYS
}

/// The keys of a table, each once.
fn table_keys() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> =
        LazyLock::new(|| known_keys().iter().map(|(name, _)| *name).chain([PERIODIC]).collect());
    &NAMES
}

impl<'de> Deserialize<'de> for PatchTableFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("PatchTableFile", table_keys(), TableVisitor)
    }
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = PatchTableFile;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PatchTableFile, A::Error> {
        let mut table = PatchTableFile::default();
        while let Some(name) = map.next_key_seed(KnownKey(table_keys()))? {
            let Some((_, written)) = known_keys().iter().find(|(known, _)| *known == name) else {
                table.periodic = Some(map.next_value()?);
                continue;
            };
            let value = match written {
                Written::Form(Form::Flag) => spanned(map.next_value()?, KeyFile::Flag),
                Written::Form(Form::Scalar(_)) => spanned(map.next_value()?, KeyFile::Scalar),
                Written::Form(Form::Vector(_)) => spanned(map.next_value()?, KeyFile::Vector),
                Written::Form(Form::Table(_)) => spanned(map.next_value()?, KeyFile::Table),
                Written::State => {
                    spanned(map.next_value()?, |state| KeyFile::State(Box::new(state)))
                }
            };
            table.keys.push((name, value));
        }
        Ok(table)
    }
}

/// Whether `[boundary]` knows a key.
pub(super) fn is_known(name: &str) -> bool {
    table_keys().contains(&name)
}

/// The keys of a list that need no value: a word in quotes is short for them.
pub(super) fn kinds<C>(
    keys: &'static [ConditionKey<Value, C>],
) -> impl Iterator<Item = &'static str> {
    keys.iter().filter(|key| matches!(key.value, KeyValue::Flag(_))).map(|key| key.name)
}

/// The keys of a list that need a value, each with an example.
pub(super) fn valued<C>(
    keys: &'static [ConditionKey<Value, C>],
) -> impl Iterator<Item = (&'static str, String)> {
    keys.iter().filter_map(|key| {
        let name = key.name;
        key.form().words().map(|words| (name, format!("{{ {name} = {words} }}")))
    })
}

/// A note with examples of keys that need a value.
pub(super) fn with_values(examples: impl Iterator<Item = (&'static str, String)>) -> String {
    let examples: Vec<String> = examples.map(|(_, example)| example).collect();
    format!("with a value: {}", examples.join(", "))
}

/// A key that is present, and the place of its value.
pub(super) type Given = (&'static str, Range<usize>);

impl PatchTableFile {
    /// The value of a key.
    pub(super) fn value(&self, name: &str) -> Option<&Spanned<KeyFile>> {
        self.keys.iter().find(|(known, _)| *known == name).map(|(_, file)| file)
    }

    /// The keys of a list that are present, in its order.
    pub(super) fn given<C>(&self, keys: &[ConditionKey<Value, C>]) -> Vec<Given> {
        let present = |key: &ConditionKey<Value, C>| Some((key.name, self.value(key.name)?.span()));
        keys.iter().filter_map(present).collect()
    }

    /// The thermal conditions present.
    pub(super) fn thermal(&self) -> Vec<Given> {
        self.given(HeatCondition::KEYS)
    }

    /// The flow conditions present.
    pub(super) fn flow(&self) -> Vec<Given> {
        let mut given = self.given(FlowBoundaryCondition::<Value>::KEYS);
        given.extend(self.of_compressible_flow());
        given.extend(self.periodic.as_ref().map(|other| (PERIODIC, other.span())));
        given
    }

    /// The keys present that compressible flow alone has.
    pub(super) fn of_compressible_flow(&self) -> impl Iterator<Item = Given> {
        let is_of_others = |name: &str| {
            let flow = FlowBoundaryCondition::<Value>::KEYS.iter().map(|key| key.name);
            flow.chain(HeatCondition::KEYS.iter().map(|key| key.name)).any(|known| known == name)
        };
        let others = self.keys.iter().filter(move |(name, _)| !is_of_others(name));
        others.map(|(name, file)| (*name, file.span()))
    }

    /// The condition of that key of a list that the patch has.
    pub(super) fn condition<C>(
        &self,
        keys: &[ConditionKey<Value, C>],
        reader: Reader<'_>,
    ) -> Result<Option<C>, Problem> {
        let mut present = keys.iter().filter_map(|key| Some((key, self.value(key.name)?)));
        present.next().map(|(key, file)| condition(key, file, reader)).transpose()
    }
}

/// The condition of a key.
fn condition<C>(
    key: &ConditionKey<Value, C>,
    file: &Spanned<KeyFile>,
    reader: Reader<'_>,
) -> Result<C, Problem> {
    let (name, span) = (key.name, file.span());
    match (&key.value, file.get_ref()) {
        (KeyValue::Flag(condition), KeyFile::Flag(_)) => {
            is_set(file, name)?;
            Ok(condition(Value::Constant(0.0)))
        }
        (KeyValue::Scalar(quantity, condition), KeyFile::Scalar(value)) => {
            scalar(name, quantity, &Spanned::new(span, value.clone()), reader).map(condition)
        }
        (KeyValue::Vector(quantity, condition), KeyFile::Vector(components)) => {
            let rule = Rule { name, sign: quantity.sign, time: true };
            let vector = reader.vector(&Spanned::new(span.clone(), components.clone()), rule)?;
            for component in &vector {
                check_place(name, quantity, component, span.clone())?;
            }
            Ok(condition(vector))
        }
        (KeyValue::Table(table, condition), KeyFile::Table(entries)) => {
            values(table, entries, span, reader).map(|values| condition(&values))
        }
        _ => {
            let form = key.form().kind();
            Err(Problem::at(span, format!("`{name}` takes another value here: {form}")))
        }
    }
}

fn scalar(
    name: &'static str,
    quantity: &Quantity,
    file: &Spanned<ValueFile>,
    reader: Reader<'_>,
) -> Result<Value, Problem> {
    let value = reader.value(file, Rule { name, sign: quantity.sign, time: true })?;
    check_place(name, quantity, &value, file.span())?;
    Ok(value)
}

/// Refuses a quantity of a whole patch that depends on place.
fn check_place(
    name: &str,
    quantity: &Quantity,
    value: &Value,
    span: Range<usize>,
) -> Result<(), Problem> {
    match quantity.is_uniform && value.depends_on_place() {
        true => {
            let message = format!("`{name}` may depend on t, but not on x, y and z");
            Err(Problem::at(span, message))
        }
        false => Ok(()),
    }
}

/// The values of a table, in the order of its entries.
fn values(
    table: &ValueTable,
    file: &Named<ValueFile>,
    span: Range<usize>,
    reader: Reader<'_>,
) -> Result<Vec<Value>, Problem> {
    let names = || table.entries.iter().map(|entry| entry.name);
    for (name, _) in &file.0 {
        if names().all(|known| known != name.get_ref()) {
            let problem = Problem::at(name.span(), format!("unknown key `{}`", name.get_ref()));
            return Err(problem.among(name.get_ref(), "valid keys", names()));
        }
    }
    let mut values = Vec::new();
    for entry in table.entries {
        let given = file.0.iter().find(|(name, _)| name.get_ref() == entry.name);
        let given = given.map(|(_, value)| value.clone());
        let value = required(&given, entry.name, &span)?;
        values.push(scalar(entry.name, &entry.quantity, value, reader)?);
    }
    Ok(values)
}

impl<'de> Deserialize<'de> for PatchFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PatchVisitor;
        impl<'de> Visitor<'de> for PatchVisitor {
            type Value = PatchFile;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "a kind such as \"insulated\" or a table such as { temperature = 300.0 }",
                )
            }

            fn visit_str<E: de::Error>(self, kind: &str) -> Result<PatchFile, E> {
                Ok(PatchFile::Kind(kind.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PatchFile, A::Error> {
                let reader = de::value::MapAccessDeserializer::new(map);
                Ok(PatchFile::Table(Box::new(PatchTableFile::deserialize(reader)?)))
            }
        }
        deserializer.deserialize_any(PatchVisitor)
    }
}

pub(super) fn no_condition(patch: &Spanned<String>) -> String {
    format!("patch \"{}\" has no condition", patch.get_ref())
}

/// Refuses a second condition of a kind.
pub(super) fn only_one(
    given: &[Given],
    patch: &Spanned<String>,
    kinds: &str,
) -> Result<(), Problem> {
    let [(first, _), (second, span), ..] = given else { return Ok(()) };
    let patch = patch.get_ref();
    let message = format!("patch \"{patch}\" has two {kinds}, `{first}` and `{second}`");
    Err(Problem::at(span.clone(), message))
}

/// Refuses `kind = false`.
pub(super) fn is_set(file: &Spanned<KeyFile>, name: &str) -> Result<bool, Problem> {
    match file.get_ref() {
        KeyFile::Flag(false) => {
            let message = format!("`{name} = false` is no condition: leave it out");
            Err(Problem::at(file.span(), message))
        }
        _ => Ok(true),
    }
}

/// Lines to paste into `[boundary]` for patches that lack a condition.
pub(crate) fn stanza(patches: &[&str], kind: &str) -> String {
    let lines: Vec<String> =
        patches.iter().map(|patch| format!("{} = \"{kind}\"", toml_key(patch))).collect();
    lines.join("\n")
}

/// A TOML key: bare where possible, else in quotes.
pub(super) fn toml_key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
