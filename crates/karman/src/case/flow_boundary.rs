//! `[boundary]` of a flow: one condition of flow for each patch, and with a temperature one of heat.

use super::boundary::{
    BoundaryFile, Given, HEAT_KEYS, HeatBoundary, PatchCondition, PatchFile, PatchTableFile, flag,
    no_condition, only_one, span_of, thermal, toml_key,
};
use super::error::Problem;
use super::names::Names;
use super::value::{Reader, Rule, Sign, Value};
use std::ops::Range;
use toml::Spanned;

/// What a patch does to a flow.
#[expect(clippy::large_enum_variant, reason = "a case has one for each patch")]
#[derive(Clone, Debug, PartialEq)]
pub enum FlowBoundary {
    /// The velocity is given: a wall at rest or in motion, an inlet.
    Velocity([Value; 3]),
    /// Nothing crosses and nothing drags.
    Slip,
    /// A plane of symmetry.
    Symmetry,
    /// The pressure is given; what flows back in brings no momentum.
    Outlet(Value),
    /// The pressure is given and flow may enter.
    Open(Value),
    /// The velocity is carried out at the mean speed.
    ConvectiveOutlet,
    /// What leaves here enters at the patch named, which has this one as its own.
    Periodic(String),
}

/// Conditions of all patches; those of heat only with `[incompressible.thermal]`.
#[derive(Default)]
pub(crate) struct FlowConditions {
    pub(crate) flow: Vec<PatchCondition<FlowBoundary>>,
    pub(crate) thermal: Vec<PatchCondition<HeatBoundary>>,
}

/// Kinds without a value.
pub(crate) const FLOW_KINDS: [&str; 4] = ["no_slip", "slip", "symmetry", "convective_outlet"];
/// Kinds that need a value.
const VALUED: [(&str, &str); 5] = [
    ("wall", "{ wall = [u, v, w] }"),
    ("inlet", "{ inlet = [u, v, w] }"),
    ("outlet", "{ outlet = pressure }"),
    ("open", "{ open = pressure }"),
    ("periodic", "{ periodic = \"other patch\" }"),
];

fn valued_kinds() -> String {
    let examples: Vec<&str> = VALUED.iter().map(|(_, example)| *example).collect();
    format!("with a value: {}", examples.join(", "))
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
            PatchFile::Kind(kind) => {
                of_word(kind, entry.span(), names).map(|flow| (flow, HeatBoundary::Insulated))
            }
            PatchFile::Table(table) => of_table(table, patch, names, reader),
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
    // An entry that is wrong in itself would only be reported twice.
    if problems.is_empty() {
        problems = file.iter().flat_map(|file| unpaired(file.get_ref())).collect();
    }
    for (patch, other) in file.iter().flat_map(|file| named_alone(file.get_ref())) {
        let back = FlowBoundary::Periodic(patch);
        let heat = HeatBoundary::Insulated;
        let other = other.get_ref();
        conditions.flow.push(PatchCondition { patch: other.clone(), condition: back });
        conditions.thermal.push(PatchCondition { patch: other.clone(), condition: heat });
    }
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

fn of_word(kind: &str, span: Range<usize>, names: Names) -> Result<FlowBoundary, Problem> {
    match kind {
        "no_slip" => return Ok(at_rest()),
        "slip" => return Ok(FlowBoundary::Slip),
        "symmetry" => return Ok(FlowBoundary::Symmetry),
        "convective_outlet" => return Ok(FlowBoundary::ConvectiveOutlet),
        _ => {}
    }
    if let Some((_, example)) = VALUED.iter().find(|(name, _)| *name == kind) {
        return Err(Problem::at(span, format!("`{kind}` needs a value: {example}")));
    }
    if kind == "insulated" || HEAT_KEYS.contains(&kind) {
        let message = format!("`{kind}` is a thermal condition, not one for flow");
        let problem = Problem::at(span, message).among("", "valid kinds", FLOW_KINDS);
        return Err(match names.is_thermal() {
            true => problem.note(TOGETHER),
            false => problem.note(valued_kinds()),
        });
    }
    let problem = Problem::at(span, format!("unknown kind of boundary `{kind}`"));
    Err(problem.among(kind, "valid kinds", FLOW_KINDS).note(valued_kinds()))
}

const TOGETHER: &str =
    "a table joins a condition for flow and a thermal one: { no_slip = true, temperature = 1.0 }";

fn at_rest() -> FlowBoundary {
    FlowBoundary::Velocity([0.0; 3].map(Value::Constant))
}

fn of_table(
    table: &PatchTableFile,
    patch: &Spanned<String>,
    names: Names,
    reader: Reader<'_>,
) -> Result<(FlowBoundary, HeatBoundary), Problem> {
    let mut of_flow = table.flow();
    of_flow.extend(span_of(&table.symmetry).map(|span| ("symmetry", span)));
    let of_heat = table.thermal();
    if let (false, Some((kind, span))) = (names.is_thermal(), of_heat.first()) {
        let message = format!("`{kind}` {}", super::NEEDS_THERMAL);
        return Err(Problem::at(span.clone(), message));
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
        let problem = problem.among("", "valid kinds", FLOW_KINDS).note(valued_kinds());
        return Err(if of_heat.is_empty() { problem } else { problem.note(TOGETHER) });
    };
    no_thermal_condition_on(&flow, &of_heat)?;
    Ok((flow, thermal(table, reader)?.unwrap_or(HeatBoundary::Insulated)))
}

/// Where the condition for flow says all about the temperature as well.
fn no_thermal_condition_on(flow: &FlowBoundary, of_heat: &[Given]) -> Result<(), Problem> {
    let what = match flow {
        FlowBoundary::Symmetry => "plane of symmetry",
        FlowBoundary::Periodic(_) => "periodic patch",
        _ => return Ok(()),
    };
    match of_heat {
        [(kind, span), ..] if *kind != "insulated" || what == "periodic patch" => {
            let message = format!("`{kind}` has no place on a {what}: leave it out");
            Err(Problem::at(span.clone(), message))
        }
        _ => Ok(()),
    }
}

/// The condition for flow of a table, if it has one.
fn flow(table: &PatchTableFile, reader: Reader<'_>) -> Result<Option<FlowBoundary>, Problem> {
    let rule = |name| Rule { name, sign: Sign::Any, time: true };
    if let Some(wall) = &table.wall {
        return reader.vector(wall, rule("wall")).map(|v| Some(FlowBoundary::Velocity(v)));
    }
    if let Some(inlet) = &table.inlet {
        return reader.vector(inlet, rule("inlet")).map(|v| Some(FlowBoundary::Velocity(v)));
    }
    if let Some(pressure) = &table.outlet {
        return reader.value(pressure, rule("outlet")).map(|p| Some(FlowBoundary::Outlet(p)));
    }
    if let Some(pressure) = &table.open {
        return reader.value(pressure, rule("open")).map(|p| Some(FlowBoundary::Open(p)));
    }
    if let Some(other) = &table.periodic {
        return Ok(Some(FlowBoundary::Periodic(other.get_ref().clone())));
    }
    let flags = [
        (&table.no_slip, at_rest(), "no_slip"),
        (&table.slip, FlowBoundary::Slip, "slip"),
        (&table.symmetry, FlowBoundary::Symmetry, "symmetry"),
        (&table.convective_outlet, FlowBoundary::ConvectiveOutlet, "convective_outlet"),
    ];
    for (file, condition, name) in flags {
        if flag(file, name)? {
            return Ok(Some(condition));
        }
    }
    Ok(None)
}

fn partner(entry: &PatchFile) -> Option<Spanned<String>> {
    match entry {
        PatchFile::Table(table) => table.periodic.clone(),
        PatchFile::Kind(_) => None,
    }
}

/// Periodic patches and the partners they name.
pub(super) fn pairs(file: &BoundaryFile) -> impl Iterator<Item = [String; 2]> {
    file.0.iter().filter_map(|(patch, entry)| {
        let other = partner(entry.get_ref())?;
        Some([patch.get_ref().clone(), other.get_ref().clone()])
    })
}

/// Periodic patches with a partner that has no entry of its own, which is then the same pair told by one
/// side.
pub(super) fn named_alone(file: &BoundaryFile) -> impl Iterator<Item = (String, Spanned<String>)> {
    let has_entry = |name: &str| file.0.iter().any(|(patch, _)| patch.get_ref() == name);
    file.0.iter().filter_map(move |(patch, entry)| {
        let other = partner(entry.get_ref())?;
        (!has_entry(other.get_ref())).then(|| (patch.get_ref().clone(), other))
    })
}

/// Periodic patches whose partner says something else. One without an entry is named by one side alone;
/// where another patch claims either of the two it is a name mistaken.
fn unpaired(file: &BoundaryFile) -> Vec<Problem> {
    let of_patch = |name: &str| file.0.iter().find(|(patch, _)| patch.get_ref() == name);
    let is_claimed = |by_another_than: &str, names: [&str; 2]| {
        file.0.iter().any(|(patch, entry)| {
            let claimed = partner(entry.get_ref());
            patch.get_ref() != by_another_than
                && claimed.is_some_and(|claimed| names.contains(&claimed.get_ref().as_str()))
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
            if !is_claimed(patch, [patch, other]) {
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
