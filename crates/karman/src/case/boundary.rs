//! `[boundary]`: one condition for each patch of the mesh.

use super::error::Problem;
use super::value::{Maybe, Named, Reader, Rule, Sign, Value, ValueFile, required};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// What a patch does to the temperature.
#[derive(Clone, Debug, PartialEq)]
pub enum HeatBoundary {
    /// The temperature is held.
    Temperature(Value),
    /// −k ∂T/∂n = −q: heat flux density q into the domain.
    HeatFlux(Value),
    /// −k ∂T/∂n = h (T − T∞): a fluid outside carries heat away.
    Convection {
        /// Heat transfer coefficient h ≥ 0.
        coefficient: Value,
        /// Temperature T∞ of the fluid.
        ambient: Value,
    },
    /// No heat crosses.
    Insulated,
    /// A plane of symmetry: no heat crosses.
    Symmetry,
}

/// The condition of one patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchCondition<C> {
    /// Name of the patch in the mesh.
    pub patch: String,
    /// What holds there.
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
    symmetry: Maybe<bool>,
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
const HEAT_KEYS: [&str; 3] = ["temperature", "heat_flux", "convection"];
/// Kinds of the equations of flow, for a clearer message.
const FLOW_KINDS: [&str; 6] =
    ["no_slip", "slip", "slip_wall", "convective_outlet", "supersonic_outlet", "periodic"];

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
    let given: Vec<(&str, Range<usize>)> = [
        ("temperature", table.temperature.as_ref().map(Spanned::span)),
        ("heat_flux", table.heat_flux.as_ref().map(Spanned::span)),
        ("convection", table.convection.as_ref().map(Spanned::span)),
        ("insulated", table.insulated.as_ref().map(Spanned::span)),
        ("symmetry", table.symmetry.as_ref().map(Spanned::span)),
    ]
    .into_iter()
    .filter_map(|(name, span)| span.map(|span| (name, span)))
    .collect();
    match given.as_slice() {
        [] => {
            let message = format!("patch \"{}\" has no condition", patch.get_ref());
            return Err(Problem::at(patch.span(), message)
                .among("", "valid kinds", HEAT_KINDS)
                .note(VALUED_KINDS));
        }
        [_] => {}
        [(first, _), (second, span), ..] => {
            let message = format!(
                "patch \"{}\" has two thermal conditions, `{first}` and `{second}`",
                patch.get_ref()
            );
            return Err(Problem::at(span.clone(), message));
        }
    }
    let rule = |name, sign| Rule { name, sign, time: true };
    if let Some(value) = &table.temperature {
        return reader.value(value, rule("temperature", Sign::Any)).map(HeatBoundary::Temperature);
    }
    if let Some(value) = &table.heat_flux {
        return reader.value(value, rule("heat_flux", Sign::Any)).map(HeatBoundary::HeatFlux);
    }
    if let Some(convection) = &table.convection {
        let (entries, span) = (convection.get_ref(), convection.span());
        let coefficient = required(&entries.coefficient, "coefficient", &span)?;
        let ambient = required(&entries.ambient, "ambient", &span)?;
        return Ok(HeatBoundary::Convection {
            coefficient: reader.value(coefficient, rule("coefficient", Sign::NotNegative))?,
            ambient: reader.value(ambient, rule("ambient", Sign::Any))?,
        });
    }
    let flags = [
        (&table.insulated, HeatBoundary::Insulated, "insulated"),
        (&table.symmetry, HeatBoundary::Symmetry, "symmetry"),
    ];
    for (flag, condition, name) in flags {
        match flag {
            Some(flag) if *flag.get_ref() => return Ok(condition),
            Some(flag) => {
                let message = format!("`{name} = false` is no condition: leave it out");
                return Err(Problem::at(flag.span(), message));
            }
            None => {}
        }
    }
    Err(Problem::at(patch.span(), format!("patch \"{}\" has no condition", patch.get_ref())))
}

/// Lines to paste into `[boundary]` for patches that lack a condition.
pub(crate) fn stanza(patches: &[&str]) -> String {
    let lines: Vec<String> =
        patches.iter().map(|patch| format!("{} = \"insulated\"", toml_key(patch))).collect();
    lines.join("\n")
}

/// A key as TOML wants it: bare where it can be, else in quotes.
fn toml_key(name: &str) -> String {
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
