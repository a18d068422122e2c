//! `[boundary]` of a flow: one flow condition for each patch, and with a temperature one thermal condition.

use super::boundary::{
    BoundaryFile, Given, HEAT_KEYS, HeatBoundary, PatchCondition, PatchFile, PatchTableFile, flag,
    no_condition, only_one, span_of, thermal, toml_key,
};
use super::error::Problem;
use super::names::Names;
use super::value::{Reader, Rule, Sign, Value};
use std::ops::Range;
use toml::Spanned;

/// Boundary conditions of a flow.
#[expect(clippy::large_enum_variant, reason = "a case has one for each patch")]
#[derive(Clone, Debug, PartialEq)]
pub enum FlowBoundary {
    /// Dirichlet: prescribed velocity of a wall at rest or in motion, or of an inlet.
    Velocity([Value; 3]),
    /// u·n = 0, no shear stress.
    Slip,
    /// A plane of symmetry: u·n = 0, no shear stress.
    Symmetry,
    /// Prescribed pressure; backflow has zero velocity.
    PressureOutlet(Value),
    /// Prescribed pressure; backflow has the velocity of the cell.
    Opening(Value),
    /// ∂u/∂t + u_m ∂u/∂n = 0, u_m the mean normal velocity of the patch.
    ConvectiveOutlet,
    /// Periodic with the patch named, which names this one.
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
    ("moving_wall", "{ moving_wall = [u, v, w] }"),
    ("velocity_inlet", "{ velocity_inlet = [u, v, w] }"),
    ("pressure_outlet", "{ pressure_outlet = pressure }"),
    ("opening", "{ opening = pressure }"),
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
                from_word(kind, entry.span(), names).map(|flow| (flow, HeatBoundary::Insulated))
            }
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
        let heat = HeatBoundary::Insulated;
        let other = other.get_ref();
        conditions.flow.push(PatchCondition { patch: other.clone(), condition: back });
        conditions.thermal.push(PatchCondition { patch: other.clone(), condition: heat });
    }
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

fn from_word(kind: &str, span: Range<usize>, names: Names) -> Result<FlowBoundary, Problem> {
    match kind {
        "no_slip" => return Ok(no_slip()),
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

fn no_slip() -> FlowBoundary {
    FlowBoundary::Velocity([0.0; 3].map(Value::Constant))
}

fn from_table(
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

/// Refuses a thermal condition where the flow condition determines it.
fn no_thermal_condition_on(flow: &FlowBoundary, of_heat: &[Given]) -> Result<(), Problem> {
    let kind_of_patch = match flow {
        FlowBoundary::Symmetry => "plane of symmetry",
        FlowBoundary::Periodic(_) => "periodic patch",
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
    let rule = |name| Rule { name, sign: Sign::Any, time: true };
    let velocities =
        [(&table.moving_wall, "moving_wall"), (&table.velocity_inlet, "velocity_inlet")];
    for (file, name) in velocities {
        if let Some(velocity) = file {
            let velocity = reader.vector(velocity, rule(name))?;
            return Ok(Some(FlowBoundary::Velocity(velocity)));
        }
    }
    if let Some(pressure) = &table.pressure_outlet {
        let pressure = reader.value(pressure, rule("pressure_outlet"))?;
        return Ok(Some(FlowBoundary::PressureOutlet(pressure)));
    }
    if let Some(pressure) = &table.opening {
        let pressure = reader.value(pressure, rule("opening"))?;
        return Ok(Some(FlowBoundary::Opening(pressure)));
    }
    if let Some(other) = &table.periodic {
        return Ok(Some(FlowBoundary::Periodic(other.get_ref().clone())));
    }
    let flags = [
        (&table.no_slip, no_slip(), "no_slip"),
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
fn unpaired(file: &BoundaryFile) -> Vec<Problem> {
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
