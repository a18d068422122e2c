//! `[boundary]`: one condition for each patch of the mesh. The text form, and the conditions of heat.

use super::error::Problem;
use super::value::{Maybe, Named, Reader, Rule, Sign, Value, ValueFile, VectorFile, required};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// Thermal boundary conditions.
#[derive(Clone, Debug, PartialEq)]
pub enum HeatBoundary {
    /// Dirichlet: prescribed temperature.
    Temperature(Value),
    /// Neumann: k ∂T/∂n = q, heat flux density q into the domain.
    HeatFlux(Value),
    /// Robin: k ∂T/∂n = h (T∞ − T).
    Convection {
        /// Heat transfer coefficient h ≥ 0.
        coefficient: Value,
        /// Temperature T∞ of the fluid outside.
        ambient: Value,
    },
    /// Zero gradient.
    Insulated,
    /// A plane of symmetry: zero gradient.
    Symmetry,
}

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
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchTableFile {
    temperature: Maybe<ValueFile>,
    heat_flux: Maybe<ValueFile>,
    convection: Maybe<ConvectionFile>,
    insulated: Maybe<bool>,
    pub(super) symmetry: Maybe<bool>,
    pub(super) no_slip: Maybe<bool>,
    pub(super) slip: Maybe<bool>,
    pub(super) convective_outlet: Maybe<bool>,
    pub(super) moving_wall: Maybe<VectorFile<ValueFile>>,
    pub(super) velocity_inlet: Maybe<VectorFile<ValueFile>>,
    pub(super) pressure_outlet: Maybe<ValueFile>,
    pub(super) opening: Maybe<ValueFile>,
    pub(super) periodic: Maybe<String>,
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

    /// The flow conditions present, without `symmetry`, which heat has too.
    pub(super) fn flow(&self) -> Vec<Given> {
        given([
            ("no_slip", span_of(&self.no_slip)),
            ("slip", span_of(&self.slip)),
            ("convective_outlet", span_of(&self.convective_outlet)),
            ("moving_wall", span_of(&self.moving_wall)),
            ("velocity_inlet", span_of(&self.velocity_inlet)),
            ("pressure_outlet", span_of(&self.pressure_outlet)),
            ("opening", span_of(&self.opening)),
            ("periodic", span_of(&self.periodic)),
        ])
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
/// Kinds of flow conditions, for a clearer message.
const FLOW_KINDS: [&str; 10] = [
    "no_slip",
    "slip",
    "slip_wall",
    "convective_outlet",
    "supersonic_outlet",
    "moving_wall",
    "velocity_inlet",
    "pressure_outlet",
    "opening",
    "periodic",
];

pub(crate) fn check_heat(
    file: Option<&Spanned<BoundaryFile>>,
    reader: Reader<'_>,
) -> Result<Vec<PatchCondition<HeatBoundary>>, Vec<Problem>> {
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

fn heat_kind(kind: &str, span: Range<usize>) -> Result<HeatBoundary, Problem> {
    match kind {
        "insulated" => return Ok(HeatBoundary::Insulated),
        "symmetry" => return Ok(HeatBoundary::Symmetry),
        _ => {}
    }
    if HEAT_KEYS.contains(&kind) {
        let message = format!("`{kind}` needs a value: {{ {kind} = … }}");
        return Err(Problem::at(span, message));
    }
    if FLOW_KINDS.contains(&kind) {
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
) -> Result<HeatBoundary, Problem> {
    if let Some((kind, span)) = table.flow().into_iter().next() {
        let message = format!("`{kind}` is a condition for flow, not for heat");
        let problem = Problem::at(span, message).among("", "valid kinds", HEAT_KINDS);
        return Err(problem.note(VALUED_KINDS));
    }
    let mut given = table.thermal();
    given.extend(span_of(&table.symmetry).map(|span| ("symmetry", span)));
    only_one(&given, patch, "thermal conditions")?;
    match thermal(table, reader)? {
        Some(condition) => Ok(condition),
        None if flag(&table.symmetry, "symmetry")? => Ok(HeatBoundary::Symmetry),
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
pub(super) fn flag(file: &Maybe<bool>, name: &str) -> Result<bool, Problem> {
    match file {
        None => Ok(false),
        Some(flag) if *flag.get_ref() => Ok(true),
        Some(flag) => {
            let message = format!("`{name} = false` is no condition: leave it out");
            Err(Problem::at(flag.span(), message))
        }
    }
}

/// The thermal condition of a table, if it has one.
pub(super) fn thermal(
    table: &PatchTableFile,
    reader: Reader<'_>,
) -> Result<Option<HeatBoundary>, Problem> {
    let rule = |name, sign| Rule { name, sign, time: true };
    if let Some(value) = &table.temperature {
        let value = reader.value(value, rule("temperature", Sign::Any))?;
        return Ok(Some(HeatBoundary::Temperature(value)));
    }
    if let Some(value) = &table.heat_flux {
        let value = reader.value(value, rule("heat_flux", Sign::Any))?;
        return Ok(Some(HeatBoundary::HeatFlux(value)));
    }
    if let Some(convection) = &table.convection {
        let (entries, span) = (convection.get_ref(), convection.span());
        let coefficient = required(&entries.coefficient, "coefficient", &span)?;
        let ambient = required(&entries.ambient, "ambient", &span)?;
        return Ok(Some(HeatBoundary::Convection {
            coefficient: reader.value(coefficient, rule("coefficient", Sign::NotNegative))?,
            ambient: reader.value(ambient, rule("ambient", Sign::Any))?,
        }));
    }
    Ok(flag(&table.insulated, "insulated")?.then_some(HeatBoundary::Insulated))
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
