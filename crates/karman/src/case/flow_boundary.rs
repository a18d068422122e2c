//! `[boundary]` of a flow: one flow condition for each patch, and with a temperature one thermal condition.

use super::boundary::{
    BoundaryFile, Given, HeatCondition, PatchCondition, PatchFile, PatchTableFile, kinds,
    no_condition, only_one, toml_key, valued, with_values,
};
use super::error::Problem;
use super::names::Names;
use super::value::{Reader, Value};
use crate::descriptor::{ConditionKey, KeyValue};
use crate::finite_volume::BoundaryCondition;
use crate::incompressible::FlowBoundaryCondition;
use std::ops::Range;
use toml::Spanned;

/// The entry of a patch in `[boundary]` of a flow.
#[expect(clippy::large_enum_variant, reason = "a case has one for each patch")]
#[derive(Clone, Debug, PartialEq)]
pub enum FlowBoundary {
    /// A boundary condition.
    Condition(FlowBoundaryCondition<Value>),
    /// Periodic with the patch named, which names this one.
    Periodic(String),
}

impl FlowBoundary {
    /// The condition; none of a periodic patch.
    pub fn condition(&self) -> Option<&FlowBoundaryCondition<Value>> {
        match self {
            FlowBoundary::Condition(condition) => Some(condition),
            FlowBoundary::Periodic(_) => None,
        }
    }
}

/// Conditions of all patches; those of heat only with `[incompressible.thermal]`.
#[derive(Default)]
pub(crate) struct FlowConditions {
    pub(crate) flow: Vec<PatchCondition<FlowBoundary>>,
    pub(crate) thermal: Vec<PatchCondition<HeatCondition>>,
}

const KEYS: &[ConditionKey<Value, FlowBoundaryCondition<Value>>] = FlowBoundaryCondition::KEYS;

/// Kinds without a value.
pub(crate) fn flow_kinds() -> impl Iterator<Item = &'static str> {
    kinds(KEYS)
}

/// Kinds that need a value, each with an example.
fn flow_valued() -> impl Iterator<Item = (&'static str, String)> {
    valued(KEYS).chain([("periodic", "{ periodic = \"other patch\" }".to_owned())])
}

fn valued_kinds() -> String {
    with_values(flow_valued())
}

pub(crate) fn check(
    file: Option<&Spanned<BoundaryFile>>,
    names: Names,
    reader: Reader<'_>,
) -> Result<FlowConditions, Vec<Problem>> {
    let mut conditions = FlowConditions::default();
    let mut problems = Vec::new();
    for (patch, entry) in file.iter().flat_map(|file| &file.get_ref().0) {
        let checked = match entry.get_ref() {
            PatchFile::Kind(kind) => from_word(kind, entry.span(), names)
                .map(|flow| (flow, BoundaryCondition::ZeroGradient)),
            PatchFile::Table(table) => from_table(table, patch, names, reader),
        };
        match checked {
            Ok((flow, heat)) => {
                let patch = patch.get_ref();
                conditions.flow.push(PatchCondition { patch: patch.clone(), condition: flow });
                conditions.thermal.push(PatchCondition { patch: patch.clone(), condition: heat });
            }
            Err(problem) => problems.push(problem),
        }
    }
    // Pairs are checked only where each entry is valid, so that no entry is reported twice.
    if problems.is_empty() {
        problems = file.iter().flat_map(|file| unpaired(file.get_ref())).collect();
    }
    for (patch, other) in file.iter().flat_map(|file| partners_without_entry(file.get_ref())) {
        let back = FlowBoundary::Periodic(patch);
        let heat = BoundaryCondition::ZeroGradient;
        let other = other.get_ref();
        conditions.flow.push(PatchCondition { patch: other.clone(), condition: back });
        conditions.thermal.push(PatchCondition { patch: other.clone(), condition: heat });
    }
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

fn from_word(kind: &str, span: Range<usize>, names: Names) -> Result<FlowBoundary, Problem> {
    let key = KEYS.iter().find(|key| key.name == kind);
    if let Some(KeyValue::Flag(condition)) = key.map(|key| &key.value) {
        return Ok(FlowBoundary::Condition(condition(Value::Constant(0.0))));
    }
    if let Some((_, example)) = flow_valued().find(|(name, _)| *name == kind) {
        return Err(Problem::at(span, format!("`{kind}` needs a value: {example}")));
    }
    if HeatCondition::KEYS.iter().any(|key| key.name == kind) {
        let message = format!("`{kind}` is a thermal condition, not one for flow");
        let problem = Problem::at(span, message).among("", "valid kinds", flow_kinds());
        return Err(match names.is_thermal() {
            true => problem.note(TOGETHER),
            false => problem.note(valued_kinds()),
        });
    }
    let problem = Problem::at(span, format!("unknown kind of boundary `{kind}`"));
    Err(problem.among(kind, "valid kinds", flow_kinds()).note(valued_kinds()))
}

const TOGETHER: &str =
    "a table joins a condition for flow and a thermal one: { no_slip = true, temperature = 1.0 }";

fn from_table(
    table: &PatchTableFile,
    patch: &Spanned<String>,
    names: Names,
    reader: Reader<'_>,
) -> Result<(FlowBoundary, HeatCondition), Problem> {
    let of_flow = table.flow();
    let of_heat = table.thermal();
    if let (false, Some((kind, span))) = (names.is_thermal(), of_heat.first()) {
        let message = format!("`{kind}` {}", super::NEEDS_THERMAL);
        return Err(Problem::at(span.clone(), message));
    }
    if let Some((kind, span)) = table.of_compressible_flow().next() {
        let message = format!("`{kind}` is a condition for compressible flow");
        let problem = Problem::at(span, message).among("", "valid kinds", flow_kinds());
        return Err(problem.note(valued_kinds()));
    }
    only_one(&of_flow, patch, "conditions for flow")?;
    only_one(&of_heat, patch, "thermal conditions")?;
    let Some(flow) = flow(table, reader)? else {
        let patch_name = patch.get_ref();
        let problem = match of_heat.is_empty() {
            true => Problem::at(patch.span(), no_condition(patch)),
            false => {
                let message = format!("patch \"{patch_name}\" has no condition for flow");
                Problem::at(patch.span(), message)
            }
        };
        let problem = problem.among("", "valid kinds", flow_kinds()).note(valued_kinds());
        return Err(if of_heat.is_empty() { problem } else { problem.note(TOGETHER) });
    };
    no_thermal_condition_on(&of_flow, &of_heat)?;
    Ok((
        flow,
        table.condition(HeatCondition::KEYS, reader)?.unwrap_or(BoundaryCondition::ZeroGradient),
    ))
}

/// Refuses a thermal condition where the flow condition determines it.
fn no_thermal_condition_on(of_flow: &[Given], of_heat: &[Given]) -> Result<(), Problem> {
    let kind_of_patch = match of_flow {
        [("symmetry", _), ..] => "plane of symmetry",
        [("periodic", _), ..] => "periodic patch",
        _ => return Ok(()),
    };
    match of_heat {
        [(kind, span), ..] if *kind != "insulated" || kind_of_patch == "periodic patch" => {
            let message = format!("`{kind}` has no place on a {kind_of_patch}: leave it out");
            Err(Problem::at(span.clone(), message))
        }
        _ => Ok(()),
    }
}

/// The condition for flow of a table, if it has one.
fn flow(table: &PatchTableFile, reader: Reader<'_>) -> Result<Option<FlowBoundary>, Problem> {
    if let Some(other) = &table.periodic {
        return Ok(Some(FlowBoundary::Periodic(other.get_ref().clone())));
    }
    Ok(table.condition(KEYS, reader)?.map(FlowBoundary::Condition))
}

fn partner(entry: &PatchFile) -> Option<Spanned<String>> {
    match entry {
        PatchFile::Table(table) => table.periodic.clone(),
        PatchFile::Kind(_) => None,
    }
}

/// Periodic patches and the partners they name.
pub(super) fn periodic_pairs(file: &BoundaryFile) -> impl Iterator<Item = [String; 2]> {
    file.0.iter().filter_map(|(patch, entry)| {
        let other = partner(entry.get_ref())?;
        Some([patch.get_ref().clone(), other.get_ref().clone()])
    })
}

/// Periodic patches and their partners where the partner has no entry of its own: the pair is given by
/// one side.
pub(super) fn partners_without_entry(
    file: &BoundaryFile,
) -> impl Iterator<Item = (String, Spanned<String>)> {
    let has_entry = |name: &str| file.0.iter().any(|(patch, _)| patch.get_ref() == name);
    file.0.iter().filter_map(move |(patch, entry)| {
        let other = partner(entry.get_ref())?;
        (!has_entry(other.get_ref())).then(|| (patch.get_ref().clone(), other))
    })
}

/// Periodic patches whose partner does not name them back. A partner without an entry is valid unless
/// another patch names either of the two.
pub(super) fn unpaired(file: &BoundaryFile) -> Vec<Problem> {
    let of_patch = |name: &str| file.0.iter().find(|(patch, _)| patch.get_ref() == name);
    let is_named_by_another = |excepted: &str, names: [&str; 2]| {
        file.0.iter().any(|(patch, entry)| {
            let named = partner(entry.get_ref());
            patch.get_ref() != excepted
                && named.is_some_and(|named| names.contains(&named.get_ref().as_str()))
        })
    };
    let mut problems = Vec::new();
    for (patch, entry) in &file.0 {
        let Some(other) = partner(entry.get_ref()) else { continue };
        let (patch, span, other) = (patch.get_ref(), other.span(), other.get_ref());
        if other == patch {
            let message = format!("patch \"{patch}\" is periodic with itself: name the other one");
            problems.push(Problem::at(span, message));
            continue;
        }
        let Some((_, found)) = of_patch(other) else {
            if !is_named_by_another(patch, [patch, other]) {
                continue;
            }
            let known = file.0.iter().map(|(name, _)| name.get_ref().as_str());
            let known = known.filter(|name| *name != patch);
            let message = format!("[boundary] has no patch \"{other}\"");
            problems.push(Problem::at(span, message).among(other, "its patches", known));
            continue;
        };
        if partner(found.get_ref()).is_none_or(|back| back.get_ref() != patch) {
            let message = format!("patch \"{other}\" is not periodic with \"{patch}\"");
            let line = format!("{}.periodic = \"{patch}\"", toml_key(other));
            let note = format!("both sides name each other: {line}");
            problems.push(Problem::at(span, message).note(note));
        }
    }
    problems
}
