//! `[linear_solver.amg]`: parameters of algebraic multigrid.

use super::error::Problem;
use super::value::{KnownKey, Maybe, Rule, Sign, number, spanned};
use crate::linear::AmgParams;
use crate::linear::amg::{self, AMG_PARAMETERS, AmgParameter, Coarsening, HierarchyPrecision};
use crate::linear::amg::{ParameterKind, Sparsification};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;
use toml::Spanned;

/// A word of `hierarchy_precision` that this version refuses.
const UNAVAILABLE: &str = "f16";

/// The section as written: the keys present.
#[derive(Clone, Debug)]
pub(crate) struct AmgFile(Vec<(&'static AmgParameter, Spanned<ParameterFile>)>);

/// The value of a key.
#[derive(Clone, Debug)]
enum ParameterFile {
    Word(&'static str),
    Number(f64),
    Count(usize),
    Sweeps(Vec<usize>),
    Sparsification(SparsificationFile),
}

fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> =
        LazyLock::new(|| AMG_PARAMETERS.iter().map(|parameter| parameter.name).collect());
    &NAMES
}

impl<'de> Deserialize<'de> for AmgFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("AmgFile", names(), AmgVisitor)
    }
}

struct AmgVisitor;

impl<'de> Visitor<'de> for AmgVisitor {
    type Value = AmgFile;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AmgFile, A::Error> {
        use ParameterFile::{Count, Number, Sparsification, Sweeps, Word};
        let mut file = AmgFile(Vec::new());
        while let Some(name) = map.next_key_seed(KnownKey(names()))? {
            for parameter in AMG_PARAMETERS.iter().filter(|parameter| parameter.name == name) {
                let value = match parameter.kind {
                    ParameterKind::Word { words, .. } => {
                        // The place of a wrong word is that of serde's error.
                        Spanned::new(0..0, Word(map.next_value_seed(OneOf(words))?))
                    }
                    ParameterKind::Number { .. } => spanned(map.next_value()?, Number),
                    ParameterKind::Count { .. } => spanned(map.next_value()?, Count),
                    ParameterKind::Sweeps => spanned(map.next_value()?, Sweeps),
                    ParameterKind::Sparsification => spanned(map.next_value()?, Sparsification),
                };
                file.0.push((parameter, value));
            }
        }
        Ok(file)
    }
}

/// Reads one of several words, or the word that is refused by name.
struct OneOf(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = &'static str;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of \"{}\"", self.0.join("\", \""))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<&'static str, E> {
        if word == UNAVAILABLE && self.0 == HierarchyPrecision::WORDS {
            return Ok(UNAVAILABLE);
        }
        let known = self.0.iter().find(|known| **known == word);
        known.copied().ok_or_else(|| E::unknown_variant(word, self.0))
    }
}

/// `"none"` or a table.
#[derive(Clone, Debug)]
enum SparsificationFile {
    None,
    Table(SparsificationTableFile),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SparsificationTableFile {
    beta: Maybe<f64>,
    increment: Maybe<f64>,
    symmetric: Option<bool>,
}

impl<'de> Deserialize<'de> for SparsificationFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SparsificationVisitor;
        impl<'de> Visitor<'de> for SparsificationVisitor {
            type Value = SparsificationFile;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("\"none\" or { beta, increment, symmetric }")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<SparsificationFile, E> {
                match word {
                    "none" => Ok(SparsificationFile::None),
                    _ => Err(E::unknown_variant(word, &["none"])),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SparsificationFile, A::Error> {
                let reader = de::value::MapAccessDeserializer::new(map);
                SparsificationTableFile::deserialize(reader).map(SparsificationFile::Table)
            }
        }
        deserializer.deserialize_any(SparsificationVisitor)
    }
}

/// The parameters of the section, and whether the passes of pairwise matching depend on the dimension of the mesh:
/// the defaults are those of 3D.
pub(crate) fn check(file: Option<&Spanned<AmgFile>>) -> Result<(AmgParams, bool), Problem> {
    let mut params = AmgParams::DEFAULT;
    let Some(file) = file else { return Ok((params, true)) };
    for (parameter, value) in &file.get_ref().0 {
        set(&mut params, parameter, value, file.span())?;
    }
    let is_given = |name: &str| file.get_ref().0.iter().any(|(given, _)| given.name == name);
    let passes_by_dimension = !is_given("pairwise_passes");
    if params.coarsening != Coarsening::Aggregation {
        return Ok((params, passes_by_dimension));
    }
    if passes_by_dimension {
        params.pairwise_passes = 3;
    }
    Ok((AmgParams { interpolation_entries: 4, ..params }, false))
}

/// Sets a parameter to a value of the case; `section` is the place of the section.
fn set(
    params: &mut AmgParams,
    parameter: &AmgParameter,
    file: &Spanned<ParameterFile>,
    section: Range<usize>,
) -> Result<(), Problem> {
    let name = parameter.name;
    let problem = |message: String| Err(Problem::at(file.span(), message));
    match (&parameter.kind, file.get_ref()) {
        (ParameterKind::Word { set, .. }, ParameterFile::Word(word)) => {
            if *word == UNAVAILABLE {
                let message = "a hierarchy in 16 bits is not available in this version";
                let problem = Problem::at(section, message);
                return Err(problem.note("use hierarchy_precision = \"f32\""));
            }
            set(params, word);
        }
        (ParameterKind::Number { range, set, .. }, ParameterFile::Number(value)) => {
            let sign = match range {
                amg::Range::Positive => Sign::Positive,
                amg::Range::Fraction | amg::Range::BelowOne => Sign::NotNegative,
            };
            let value = Rule { name, sign, time: false }.check_number(*value, file.span())?;
            match range {
                amg::Range::Fraction if value > 1.0 => {
                    return problem(format!("`{name}` must be from 0 to 1, not {value}"));
                }
                amg::Range::BelowOne if value >= 1.0 => {
                    return problem(format!("`{name}` must be below 1, not {value}"));
                }
                _ => set(params, value),
            }
        }
        (ParameterKind::Count { least, most, set, .. }, ParameterFile::Count(count)) => {
            if !(*least..=*most).contains(count) {
                return problem(match *most {
                    usize::MAX => format!("`{name}` must be {least} or more"),
                    most => format!("`{name}` must be from {least} to {most}, not {count}"),
                });
            }
            set(params, *count);
        }
        (_, ParameterFile::Sweeps(sweeps)) => match *sweeps.as_slice() {
            [0, 0] => return problem("`sweeps` must not be 0 on both sides".to_owned()),
            [before, after] => params.cycling.sweeps = [before, after],
            _ => {
                let count = sweeps.len();
                return problem(format!("`sweeps` takes 2 whole numbers, {count} given"));
            }
        },
        (_, ParameterFile::Sparsification(SparsificationFile::Table(table))) => {
            params.sparsification = Some(sparsification(table)?);
        }
        _ => params.sparsification = None,
    }
    Ok(())
}

fn sparsification(table: &SparsificationTableFile) -> Result<Sparsification, Problem> {
    let defaults = Sparsification::default();
    Ok(Sparsification {
        beta: number(&table.beta, defaults.beta, "beta", Sign::NotNegative)?,
        increment: number(&table.increment, defaults.increment, "increment", Sign::NotNegative)?,
        symmetric: table.symmetric.unwrap_or(defaults.symmetric),
    })
}
