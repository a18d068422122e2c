//! `[heat]`: ∂(ρc T)/∂t = ∇·(k ∇T) + S.

use super::boundary::{HeatBoundary, PatchCondition};
use super::error::Problem;
use super::value::{ByRegion, Maybe, Named, QuantityFile, Reader, Rule, ScalarFile, Sign, Value};
use karman_macros::Keyword;
use serde::Deserialize;
use toml::Spanned;

/// A checked heat conduction problem.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCase {
    /// Where the unknowns are; default `cell`.
    pub discretization: Discretization,
    /// Conductivity k > 0, of place; default 1.
    pub conductivity: ByRegion,
    /// Heat capacity of a unit of volume ρc > 0, of place; default 1.
    pub heat_capacity: ByRegion,
    /// Heat released in a unit of volume and time S, of place and time; default 0.
    pub source: ByRegion,
    /// Whether the flux is corrected where cells are not orthogonal to their faces; default true.
    pub nonorthogonal_correction: bool,
    /// Temperature at t = 0, of place; for a steady run the first guess, default 0.
    pub initial_temperature: Value,
    /// The condition of each patch, in the order of the case file.
    pub boundary: Vec<PatchCondition<HeatBoundary>>,
}

/// Where the unknowns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Discretization {
    /// Finite volumes, a value in each cell.
    Cell,
    /// A value at each node.
    Node,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeatFile {
    discretization: Option<Discretization>,
    pub(crate) conductivity: Maybe<QuantityFile>,
    pub(crate) heat_capacity: Maybe<QuantityFile>,
    pub(crate) source: Maybe<QuantityFile>,
    nonorthogonal_correction: Option<bool>,
    pub(crate) region: Option<Named<HeatRegionFile>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeatRegionFile {
    conductivity: Maybe<ScalarFile>,
    heat_capacity: Maybe<ScalarFile>,
    source: Maybe<ScalarFile>,
}

const CONDUCTIVITY: Rule = Rule { name: "conductivity", sign: Sign::Positive, time: false };
const HEAT_CAPACITY: Rule = Rule { name: "heat_capacity", sign: Sign::Positive, time: false };
const SOURCE: Rule = Rule { name: "source", sign: Sign::Any, time: true };

/// Everything but the boundary, which is checked on its own.
pub(crate) fn check(
    file: &HeatFile,
    initial_temperature: Value,
    boundary: Vec<PatchCondition<HeatBoundary>>,
    reader: Reader<'_>,
) -> Result<HeatCase, Problem> {
    let tables = |select: fn(&HeatRegionFile) -> &Maybe<ScalarFile>| {
        let regions = file.region.iter().flat_map(|regions| &regions.0);
        regions.filter_map(move |(name, keys)| Some((name, select(keys.get_ref()).as_ref()?)))
    };
    let conductivity = tables(|keys| &keys.conductivity);
    let heat_capacity = tables(|keys| &keys.heat_capacity);
    let source = tables(|keys| &keys.source);
    Ok(HeatCase {
        discretization: file.discretization.unwrap_or(Discretization::Cell),
        conductivity: reader.quantity(&file.conductivity, 1.0, None, CONDUCTIVITY, conductivity)?,
        heat_capacity: reader.quantity(
            &file.heat_capacity,
            1.0,
            None,
            HEAT_CAPACITY,
            heat_capacity,
        )?,
        source: reader.quantity(&file.source, 0.0, Some(0.0), SOURCE, source)?,
        nonorthogonal_correction: file.nonorthogonal_correction.unwrap_or(true),
        initial_temperature,
        boundary,
    })
}

/// The regions whose own tables give `quantity`.
pub(crate) fn regions_with<'f>(
    file: &'f HeatFile,
    quantity: &'static str,
) -> impl Iterator<Item = &'f Spanned<String>> {
    let regions = file.region.iter().flat_map(|regions| &regions.0);
    regions.filter_map(move |(name, keys)| {
        let keys = keys.get_ref();
        let given = match quantity {
            "conductivity" => &keys.conductivity,
            "heat_capacity" => &keys.heat_capacity,
            _ => &keys.source,
        };
        given.as_ref().map(|_| name)
    })
}
