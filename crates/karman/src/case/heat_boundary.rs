//! `[boundary]` of a heat case, and the thermal conditions of a flow.

use super::boundary::{
    BoundaryFile, HeatCondition, PatchCondition, PatchFile, PatchTableFile, SYMMETRY, is_known,
    is_set, kinds, no_condition, only_one, valued, with_values,
};
use super::error::Problem;
use super::value::Reader;
use crate::finite_volume::BoundaryCondition;
use std::ops::Range;
use toml::Spanned;

/// Kinds without a value.
fn heat_kinds() -> impl Iterator<Item = &'static str> {
    kinds(HeatCondition::KEYS).chain([SYMMETRY])
}

/// Keys that need a value, with examples.
fn valued_kinds() -> String {
    with_values(valued(HeatCondition::KEYS))
}

pub(crate) fn check(
    file: Option<&Spanned<BoundaryFile>>,
    reader: Reader<'_>,
) -> Result<Vec<PatchCondition<HeatCondition>>, Vec<Problem>> {
    let mut conditions = Vec::new();
    let mut problems = Vec::new();
    for (patch, entry) in file.iter().flat_map(|file| &file.get_ref().0) {
        let checked = match entry.get_ref() {
            PatchFile::Kind(kind) => from_word(kind, entry.span()),
            PatchFile::Table(table) => from_table(table, patch, reader),
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

fn from_word(kind: &str, span: Range<usize>) -> Result<HeatCondition, Problem> {
    if heat_kinds().any(|known| known == kind) {
        return Ok(BoundaryCondition::ZeroGradient);
    }
    if let Some((_, example)) = valued(HeatCondition::KEYS).find(|(name, _)| *name == kind) {
        return Err(Problem::at(span, format!("`{kind}` needs a value: {example}")));
    }
    if is_known(kind) {
        let problem = Problem::at(span, format!("`{kind}` is a condition for flow, not for heat"));
        return Err(problem.among("", "valid kinds", heat_kinds()));
    }
    let problem = Problem::at(span, format!("unknown kind of boundary `{kind}`"));
    Err(problem.among(kind, "valid kinds", heat_kinds()).note(valued_kinds()))
}

fn from_table(
    table: &PatchTableFile,
    patch: &Spanned<String>,
    reader: Reader<'_>,
) -> Result<HeatCondition, Problem> {
    let of_flow = table.flow().into_iter().find(|(kind, _)| *kind != SYMMETRY);
    if let Some((kind, span)) = of_flow {
        let message = format!("`{kind}` is a condition for flow, not for heat");
        let problem = Problem::at(span, message).among("", "valid kinds", heat_kinds());
        return Err(problem.note(valued_kinds()));
    }
    let mut given = table.thermal();
    given.extend(table.value(SYMMETRY).map(|file| (SYMMETRY, file.span())));
    only_one(&given, patch, "thermal conditions")?;
    match table.condition(HeatCondition::KEYS, reader)? {
        Some(condition) => Ok(condition),
        None if table.value(SYMMETRY).map_or(Ok(false), |file| is_set(file, SYMMETRY))? => {
            Ok(BoundaryCondition::ZeroGradient)
        }
        None => Err(Problem::at(patch.span(), no_condition(patch))
            .among("", "valid kinds", heat_kinds())
            .note(valued_kinds())),
    }
}
