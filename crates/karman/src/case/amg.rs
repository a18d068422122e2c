//! `[linear_solver.amg]`: parameters of algebraic multigrid.

use super::error::Problem;
use super::value::{Maybe, Sign, number};
use karman_macros::Keyword;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;
use toml::Spanned;

/// Parameters of algebraic multigrid.
#[derive(Clone, Debug, PartialEq)]
pub struct AmgParameters {
    /// Selection of coarse unknowns; default `pmis`.
    pub coarsening: Coarsening,
    /// Passes of pairwise matching for the first coarse level (`pmis`) or every level
    /// (`aggregation`). Each pass halves the unknowns: 0 to 4; default 1 in 3D, 0 in 2D, 3 with
    /// `aggregation`.
    pub pairwise_passes: Option<usize>,
    /// θ: j is strong for i where −a_ij ≥ θ max_k(−a_ik); 0 to 1, default 0.25.
    pub strength: f64,
    /// Couplings of coarse matrices below this fraction of the largest in their row are added to the
    /// diagonals; below 1, 0 drops none, default 0.1.
    pub drop_tolerance: f64,
    /// Maximum number of levels, at least 1; default 25.
    pub max_levels: usize,
    /// α > 0: weight of boundary unknowns in Ruge–Stüben coarsening; default 1.
    pub boundary_weight: f64,
    /// Dropping of weak couplings of coarse matrices; default none.
    pub sparsification: Option<Sparsification>,
    /// The smoother; default `l1_jacobi`.
    pub smoother: Smoother,
    /// Sweeps before and after the coarse correction; default 1 and 1.
    pub sweeps: [usize; 2],
    /// The cycle; default `v`.
    pub cycle: Cycle,
    /// Precision of the stored hierarchy and of the recurrence of conjugate gradients with it;
    /// default `f32`.
    pub hierarchy_precision: HierarchyPrecision,
}

/// Dropping of couplings weaker than β times the average of their row, β growing by level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparsification {
    /// β on the first coarse level; default 1.
    pub beta: f64,
    /// Increase of β on each further level; default 1.
    pub increment: f64,
    /// Whether a pair of couplings is dropped only if both are weak, so that the matrix stays
    /// symmetric; default false.
    pub symmetric: bool,
}

impl Default for AmgParameters {
    fn default() -> Self {
        Self {
            coarsening: Coarsening::Pmis,
            pairwise_passes: None,
            strength: 0.25,
            drop_tolerance: 0.1,
            max_levels: 25,
            boundary_weight: 1.0,
            sparsification: None,
            smoother: Smoother::L1Jacobi,
            sweeps: [1, 1],
            cycle: Cycle::V,
            hierarchy_precision: HierarchyPrecision::F32,
        }
    }
}

/// Selection of coarse unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Coarsening {
    /// Parallel maximal independent set.
    Pmis,
    /// First pass of Ruge and Stüben.
    RugeStuben,
    /// Aggregation.
    Aggregation,
}

/// Smoothers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Smoother {
    /// Jacobi with the ℓ1 norms of rows.
    L1Jacobi,
    /// Chebyshev polynomial.
    Chebyshev,
    /// Multicolour Gauss–Seidel.
    GaussSeidel,
}

/// Cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Cycle {
    /// One coarse correction.
    V,
    /// Two coarse corrections.
    W,
    /// A W cycle, then a V cycle.
    F,
    /// Coarse corrections accelerated by a Krylov method.
    K,
}

/// Precision of the stored hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum HierarchyPrecision {
    /// 64 bits.
    F64,
    /// 32 bits.
    F32,
    /// 16 bits.
    F16,
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
    hierarchy_precision: Option<HierarchyPrecision>,
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

pub(crate) fn check(file: Option<&Spanned<AmgFile>>) -> Result<AmgParameters, Problem> {
    let defaults = AmgParameters::default();
    let Some(file) = file else { return Ok(defaults) };
    let keys = file.get_ref();
    if keys.hierarchy_precision == Some(HierarchyPrecision::F16) {
        let message = "a hierarchy in 16 bits is not available in this version";
        return Err(Problem::at(file.span(), message).note("use hierarchy_precision = \"f32\""));
    }
    let strength = number(&keys.strength, defaults.strength, "strength", Sign::NotNegative)?;
    if let Some(file) = keys.strength.as_ref().filter(|_| strength > 1.0) {
        let message = format!("`strength` must be from 0 to 1, not {strength}");
        return Err(Problem::at(file.span(), message));
    }
    let coarsening = keys.coarsening.unwrap_or(defaults.coarsening);
    let pairwise_passes = match &keys.pairwise_passes {
        None => None,
        Some(file) if *file.get_ref() <= 4 => Some(*file.get_ref()),
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
        Some(SparsificationFile::Table(table)) => Some(Sparsification {
            beta: number(&table.beta, 1.0, "beta", Sign::NotNegative)?,
            increment: number(&table.increment, 1.0, "increment", Sign::NotNegative)?,
            symmetric: table.symmetric.unwrap_or(false),
        }),
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
    Ok(AmgParameters {
        coarsening,
        pairwise_passes,
        strength,
        drop_tolerance,
        max_levels,
        boundary_weight: number(
            &keys.boundary_weight,
            defaults.boundary_weight,
            "boundary_weight",
            Sign::Positive,
        )?,
        sparsification,
        smoother: keys.smoother.unwrap_or(defaults.smoother),
        sweeps,
        cycle: keys.cycle.unwrap_or(defaults.cycle),
        hierarchy_precision: keys.hierarchy_precision.unwrap_or(defaults.hierarchy_precision),
    })
}
