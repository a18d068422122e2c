//! `[boundary]`: one condition for each patch of the mesh. The text form, and the conditions of heat.

use super::compressible_boundary::{self, StateFile};
use super::error::Problem;
use super::value::{
    KnownKey, Maybe, Named, Reader, Rule, Sign, Value, ValueFile, VectorFile, required, spanned,
};
use crate::compressible::{CompressibleKey, CompressibleKeyValue};
use crate::finite_volume::BoundaryCondition;
use crate::incompressible::{ConditionKey, FlowBoundaryCondition, KeyValue};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;
use toml::Spanned;

/// The thermal condition of a patch: the temperature, the heat flux density into the domain, convection to a fluid
/// outside with its heat transfer coefficient ≥ 0, or none.
pub type HeatCondition = BoundaryCondition<Value>;

/// The condition of one patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchCondition<C> {
    /// Name of the patch in the mesh.
    pub patch: String,
    /// Its condition.
    pub condition: C,
}

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
    temperature: Maybe<ValueFile>,
    heat_flux: Maybe<ValueFile>,
    convection: Maybe<ConvectionFile>,
    insulated: Maybe<bool>,
    /// The keys of flow conditions in the order of [`FlowBoundaryCondition::KEYS`], each with the place of its value;
    /// `symmetry` is one of heat too.
    pub(super) flow: Vec<(&'static FlowKey, Spanned<FlowFile>)>,
    /// Those keys that compressible flow alone has.
    compressible: Vec<(&'static str, CompressibleFile)>,
    pub(super) periodic: Maybe<String>,
}

/// The key of a flow condition.
pub(crate) type FlowKey = ConditionKey<Value>;

/// The value of the key of a flow condition.
#[derive(Clone, Debug)]
pub(crate) enum FlowFile {
    Flag(bool),
    Scalar(ValueFile),
    Vector(VectorFile<ValueFile>),
}

/// The value of a key that compressible flow alone has.
#[derive(Clone, Debug)]
enum CompressibleFile {
    Simple(Spanned<FlowFile>),
    State(Box<Spanned<StateFile>>),
}

impl CompressibleFile {
    fn span(&self) -> Range<usize> {
        match self {
            CompressibleFile::Simple(file) => file.span(),
            CompressibleFile::State(file) => file.span(),
        }
    }
}

const SYMMETRY: &str = "symmetry";
const HEAT_TABLE: [&str; 5] = ["temperature", "heat_flux", "convection", "insulated", SYMMETRY];
const PERIODIC: &str = "periodic";

/// The keys that compressible flow alone has.
fn compressible_keys() -> impl Iterator<Item = &'static CompressibleKey<Value>> {
    let flow = FlowBoundaryCondition::<Value>::KEYS;
    let is_of_flow = |name: &str| flow.iter().any(|key| key.name == name);
    compressible_boundary::keys().iter().filter(move |key| !is_of_flow(key.name))
}

/// The keys of a table, each once.
fn table_keys() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let flow = FlowBoundaryCondition::<Value>::KEYS.iter().map(|key| key.name);
        let flow = flow.filter(|name| *name != SYMMETRY);
        let compressible = compressible_keys().map(|key| key.name);
        HEAT_TABLE.into_iter().chain(flow).chain(compressible).chain([PERIODIC]).collect()
    });
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
        let keys = FlowBoundaryCondition::<Value>::KEYS;
        while let Some(name) = map.next_key_seed(KnownKey(table_keys()))? {
            match name {
                "temperature" => table.temperature = Some(map.next_value()?),
                "heat_flux" => table.heat_flux = Some(map.next_value()?),
                "convection" => table.convection = Some(map.next_value()?),
                "insulated" => table.insulated = Some(map.next_value()?),
                PERIODIC => table.periodic = Some(map.next_value()?),
                _ => match keys.iter().find(|key| key.name == name) {
                    None => {
                        if let Some(key) = compressible_keys().find(|key| key.name == name) {
                            let value = compressible_value(&mut map, key)?;
                            table.compressible.push((key.name, value));
                        }
                    }
                    Some(key) => {
                        let value = match key.value {
                            KeyValue::Flag(_) => spanned(map.next_value()?, FlowFile::Flag),
                            KeyValue::Scalar(..) | KeyValue::Uniform(..) => {
                                spanned(map.next_value()?, FlowFile::Scalar)
                            }
                            KeyValue::Vector(..) => spanned(map.next_value()?, FlowFile::Vector),
                        };
                        table.flow.push((key, value));
                    }
                },
            }
        }
        let place = |name| keys.iter().position(|key| key.name == name);
        table.flow.sort_by_key(|(key, _)| place(key.name));
        Ok(table)
    }
}

/// The value of a key that compressible flow alone has.
fn compressible_value<'de, A: MapAccess<'de>>(
    map: &mut A,
    key: &CompressibleKey<Value>,
) -> Result<CompressibleFile, A::Error> {
    Ok(match key.value {
        CompressibleKeyValue::Flag(_) => {
            CompressibleFile::Simple(spanned(map.next_value()?, FlowFile::Flag))
        }
        CompressibleKeyValue::Scalar(..) => {
            CompressibleFile::Simple(spanned(map.next_value()?, FlowFile::Scalar))
        }
        CompressibleKeyValue::Vector(..) => {
            CompressibleFile::Simple(spanned(map.next_value()?, FlowFile::Vector))
        }
        CompressibleKeyValue::State | CompressibleKeyValue::FarField => {
            CompressibleFile::State(Box::new(map.next_value()?))
        }
    })
}

/// A key that is present, and the place of its value.
pub(super) type Given = (&'static str, Range<usize>);

/// The keys of the list that are present.
pub(super) fn given<const N: usize>(keys: [(&'static str, Option<Range<usize>>); N]) -> Vec<Given> {
    keys.into_iter().filter_map(|(name, span)| span.map(|span| (name, span))).collect()
}

/// The span of a key's value.
pub(super) fn span_of<T>(key: &Maybe<T>) -> Option<Range<usize>> {
    key.as_ref().map(Spanned::span)
}

impl PatchTableFile {
    /// The thermal conditions present.
    pub(super) fn thermal(&self) -> Vec<Given> {
        given([
            ("temperature", span_of(&self.temperature)),
            ("heat_flux", span_of(&self.heat_flux)),
            ("convection", span_of(&self.convection)),
            ("insulated", span_of(&self.insulated)),
        ])
    }

    /// The flow conditions present.
    pub(super) fn flow(&self) -> Vec<Given> {
        let keys = self.flow.iter().map(|(key, file)| (key.name, file.span()));
        let keys = keys.chain(self.compressible.iter().map(|(name, file)| (*name, file.span())));
        keys.chain(span_of(&self.periodic).map(|span| (PERIODIC, span))).collect()
    }

    /// The first key that compressible flow alone has.
    pub(super) fn of_compressible_flow(&self) -> Option<Given> {
        self.compressible.first().map(|(name, file)| (*name, file.span()))
    }

    /// The value of a key of a compressible flow that is no state.
    pub(super) fn simple(&self, name: &str) -> Option<&Spanned<FlowFile>> {
        let of_flow = self.flow.iter().find(|(key, _)| key.name == name).map(|(_, file)| file);
        of_flow.or_else(|| {
            self.compressible.iter().find_map(|(known, file)| match file {
                CompressibleFile::Simple(file) if *known == name => Some(file),
                _ => None,
            })
        })
    }

    /// The state of a key.
    pub(super) fn state(&self, name: &str) -> Option<&Spanned<StateFile>> {
        self.compressible.iter().find_map(|(known, file)| match file {
            CompressibleFile::State(file) if *known == name => Some(file.as_ref()),
            _ => None,
        })
    }

    /// `symmetry`, which heat and flow have.
    fn symmetry(&self) -> Option<&Spanned<FlowFile>> {
        self.flow.iter().find(|(key, _)| key.name == SYMMETRY).map(|(_, file)| file)
    }
}

/// `convection = { coefficient, ambient }`
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConvectionFile {
    coefficient: Maybe<ValueFile>,
    ambient: Maybe<ValueFile>,
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

/// Kinds without a value.
pub(crate) const HEAT_KINDS: [&str; 2] = ["insulated", "symmetry"];
/// Kinds that need a value.
pub(super) const HEAT_KEYS: [&str; 3] = ["temperature", "heat_flux", "convection"];
/// Whether a kind is one of flow alone.
fn is_flow_kind(kind: &str) -> bool {
    let is_key = FlowBoundaryCondition::<Value>::KEYS.iter().any(|key| key.name == kind);
    let is_compressible = compressible_keys().any(|key| key.name == kind);
    kind != SYMMETRY && (is_key || is_compressible || kind == PERIODIC)
}

pub(crate) fn check_heat(
    file: Option<&Spanned<BoundaryFile>>,
    reader: Reader<'_>,
) -> Result<Vec<PatchCondition<HeatCondition>>, Vec<Problem>> {
    let mut conditions = Vec::new();
    let mut problems = Vec::new();
    for (patch, entry) in file.iter().flat_map(|file| &file.get_ref().0) {
        let checked = match entry.get_ref() {
            PatchFile::Kind(kind) => heat_kind(kind, entry.span()),
            PatchFile::Table(table) => heat_table(table, patch, reader),
        };
        match checked {
            Ok(condition) => {
                conditions.push(PatchCondition { patch: patch.get_ref().clone(), condition });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

fn heat_kind(kind: &str, span: Range<usize>) -> Result<HeatCondition, Problem> {
    match kind {
        "insulated" | SYMMETRY => return Ok(BoundaryCondition::ZeroGradient),
        _ => {}
    }
    if HEAT_KEYS.contains(&kind) {
        let message = format!("`{kind}` needs a value: {{ {kind} = … }}");
        return Err(Problem::at(span, message));
    }
    if is_flow_kind(kind) {
        let problem = Problem::at(span, format!("`{kind}` is a condition for flow, not for heat"));
        return Err(problem.among("", "valid kinds", HEAT_KINDS));
    }
    let problem = Problem::at(span, format!("unknown kind of boundary `{kind}`"));
    Err(problem.among(kind, "valid kinds", HEAT_KINDS).note(VALUED_KINDS))
}

const VALUED_KINDS: &str = "with a value: { temperature = … }, { heat_flux = … }, { convection = { coefficient, ambient } }";

fn heat_table(
    table: &PatchTableFile,
    patch: &Spanned<String>,
    reader: Reader<'_>,
) -> Result<HeatCondition, Problem> {
    let of_flow = table.flow().into_iter().find(|(kind, _)| *kind != SYMMETRY);
    if let Some((kind, span)) = of_flow {
        let message = format!("`{kind}` is a condition for flow, not for heat");
        let problem = Problem::at(span, message).among("", "valid kinds", HEAT_KINDS);
        return Err(problem.note(VALUED_KINDS));
    }
    let mut given = table.thermal();
    given.extend(table.symmetry().map(|file| (SYMMETRY, file.span())));
    only_one(&given, patch, "thermal conditions")?;
    match thermal(table, reader)? {
        Some(condition) => Ok(condition),
        None if table.symmetry().map_or(Ok(false), |file| is_set(file, SYMMETRY))? => {
            Ok(BoundaryCondition::ZeroGradient)
        }
        None => Err(Problem::at(patch.span(), no_condition(patch))
            .among("", "valid kinds", HEAT_KINDS)
            .note(VALUED_KINDS)),
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

/// A kind without a value, spelled `kind = true`.
fn flag(file: &Maybe<bool>, name: &str) -> Result<bool, Problem> {
    match file {
        None => Ok(false),
        Some(flag) => is_set(&Spanned::new(flag.span(), FlowFile::Flag(*flag.get_ref())), name),
    }
}

/// Refuses `kind = false`.
pub(super) fn is_set(file: &Spanned<FlowFile>, name: &str) -> Result<bool, Problem> {
    match file.get_ref() {
        FlowFile::Flag(false) => {
            let message = format!("`{name} = false` is no condition: leave it out");
            Err(Problem::at(file.span(), message))
        }
        _ => Ok(true),
    }
}

/// The thermal condition of a table, if it has one.
pub(super) fn thermal(
    table: &PatchTableFile,
    reader: Reader<'_>,
) -> Result<Option<HeatCondition>, Problem> {
    let rule = |name, sign| Rule { name, sign, time: true };
    if let Some(value) = &table.temperature {
        let value = reader.value(value, rule("temperature", Sign::Any))?;
        return Ok(Some(BoundaryCondition::Dirichlet(value)));
    }
    if let Some(value) = &table.heat_flux {
        let value = reader.value(value, rule("heat_flux", Sign::Any))?;
        return Ok(Some(BoundaryCondition::Neumann(value)));
    }
    if let Some(convection) = &table.convection {
        let (entries, span) = (convection.get_ref(), convection.span());
        let coefficient = required(&entries.coefficient, "coefficient", &span)?;
        let ambient = required(&entries.ambient, "ambient", &span)?;
        return Ok(Some(BoundaryCondition::Robin {
            coefficient: reader.value(coefficient, rule("coefficient", Sign::NotNegative))?,
            ambient: reader.value(ambient, rule("ambient", Sign::Any))?,
        }));
    }
    Ok(flag(&table.insulated, "insulated")?.then_some(BoundaryCondition::ZeroGradient))
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
