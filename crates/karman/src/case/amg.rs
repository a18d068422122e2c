//! `[linear_solver.amg]`: parameters of algebraic multigrid.

use super::error::Problem;
use super::value::{Maybe, Sign, number};
use super::word::choice_or_word;
use crate::linear::AmgParams;
use crate::linear::amg::{Coarsening, Cycle, HierarchyPrecision, Smoother, Sparsification};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;
use toml::Spanned;

choice_or_word! {
    /// `hierarchy_precision`; `None`: `f16`.
    HierarchyPrecisionFile(HierarchyPrecision), HierarchyPrecision::WORDS, &["f16"]
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AmgFile {
    coarsening: Option<Coarsening>,
    pairwise_passes: Maybe<usize>,
    strength: Maybe<f64>,
    drop_tolerance: Maybe<f64>,
    max_levels: Maybe<usize>,
    boundary_weight: Maybe<f64>,
    sparsification: Option<SparsificationFile>,
    smoother: Option<Smoother>,
    sweeps: Maybe<Vec<usize>>,
    cycle: Option<Cycle>,
    hierarchy_precision: Option<HierarchyPrecisionFile>,
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
    let defaults = AmgParams::DEFAULT;
    let Some(file) = file else { return Ok((defaults, true)) };
    let keys = file.get_ref();
    let precision = match keys.hierarchy_precision {
        None => defaults.precision,
        Some(HierarchyPrecisionFile(Some(precision))) => precision,
        Some(HierarchyPrecisionFile(None)) => {
            let message = "a hierarchy in 16 bits is not available in this version";
            let problem = Problem::at(file.span(), message);
            return Err(problem.note("use hierarchy_precision = \"f32\""));
        }
    };
    let strength = number(&keys.strength, defaults.strength, "strength", Sign::NotNegative)?;
    if let Some(file) = keys.strength.as_ref().filter(|_| strength > 1.0) {
        let message = format!("`strength` must be from 0 to 1, not {strength}");
        return Err(Problem::at(file.span(), message));
    }
    let coarsening = keys.coarsening.unwrap_or(defaults.coarsening);
    let aggregates = coarsening == Coarsening::Aggregation;
    let pairwise_passes = match &keys.pairwise_passes {
        None if aggregates => 3,
        None => defaults.pairwise_passes,
        Some(file) if *file.get_ref() <= 4 => *file.get_ref(),
        Some(file) => {
            let passes = file.get_ref();
            let message = format!("`pairwise_passes` must be from 0 to 4, not {passes}");
            return Err(Problem::at(file.span(), message));
        }
    };
    let drop_tolerance =
        number(&keys.drop_tolerance, defaults.drop_tolerance, "drop_tolerance", Sign::NotNegative)?;
    if let Some(file) = keys.drop_tolerance.as_ref().filter(|_| drop_tolerance >= 1.0) {
        let message = format!("`drop_tolerance` must be below 1, not {drop_tolerance}");
        return Err(Problem::at(file.span(), message));
    }
    let max_levels = match &keys.max_levels {
        None => defaults.max_levels,
        Some(file) if *file.get_ref() > 0 => *file.get_ref(),
        Some(file) => return Err(Problem::at(file.span(), "`max_levels` must be 1 or more")),
    };
    let sparsification = match &keys.sparsification {
        None | Some(SparsificationFile::None) => None,
        Some(SparsificationFile::Table(table)) => Some(sparsification(table)?),
    };
    let sweeps = match keys.sweeps.as_ref().map(|file| (file, file.get_ref().as_slice())) {
        None => defaults.sweeps,
        Some((file, [0, 0])) => {
            return Err(Problem::at(file.span(), "`sweeps` must not be 0 on both sides"));
        }
        Some((_, &[before, after])) => [before, after],
        Some((file, given)) => {
            let message = format!("`sweeps` takes 2 whole numbers, {} given", given.len());
            return Err(Problem::at(file.span(), message));
        }
    };
    let boundary_weight =
        number(&keys.boundary_weight, defaults.boundary_weight, "boundary_weight", Sign::Positive)?;
    let params = AmgParams {
        coarsening,
        pairwise_passes,
        interpolation_entries: if aggregates { 4 } else { defaults.interpolation_entries },
        strength,
        drop_tolerance,
        max_levels,
        boundary_weight,
        sparsification,
        smoother: keys.smoother.unwrap_or(defaults.smoother),
        sweeps,
        cycle: keys.cycle.unwrap_or(defaults.cycle),
        precision,
        ..defaults
    };
    Ok((params, keys.pairwise_passes.is_none() && !aggregates))
}

fn sparsification(table: &SparsificationTableFile) -> Result<Sparsification, Problem> {
    let defaults = Sparsification::default();
    Ok(Sparsification {
        beta: number(&table.beta, defaults.beta, "beta", Sign::NotNegative)?,
        increment: number(&table.increment, defaults.increment, "increment", Sign::NotNegative)?,
        symmetric: table.symmetric.unwrap_or(defaults.symmetric),
    })
}
