//! `[heat]`: ∂(ρc T)/∂t = ∇·(k ∇T) + S.

use super::Equation;
use super::boundary::HeatCondition;
use super::boundary::PatchCondition;
use super::equation::{EquationSection, Sections};
use super::error::Problem;
use super::heat_boundary;
use super::linear_solver::{self, LinearSolverCase};
use super::problems::Problems;
use super::region_names::{RegionNames, text_and_span};
use super::value::{ByRegion, Maybe, Named, QuantityFile, Reader, Rule, ScalarFile, Sign, Value};
use super::value::{product_of_quantities, product_of_scalars};
use super::{initial, time};
use crate::descriptor::Descriptor;
use crate::heat::{DESCRIPTOR, Discretization, TimeScheme};
use serde::Deserialize;
use std::iter::empty;
use std::ops::Range;
use toml::Spanned;

/// A checked heat conduction problem.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCase {
    /// Location of the unknowns; default `cell`, with the non-orthogonal correction.
    pub discretization: Discretization,
    /// Conductivity k(x) > 0; default 1.
    pub conductivity: ByRegion,
    /// Volumetric heat capacity ρc(x) > 0, also from density and specific heat; default 1.
    pub volumetric_heat_capacity: ByRegion,
    /// Volumetric heat source S(x, t); default 0.
    pub source: ByRegion,
    /// Temperature at t = 0; for a steady run the initial guess, default 0.
    pub initial_temperature: Value,
    /// The condition of each patch, in the order of the case file.
    pub boundary: Vec<PatchCondition<HeatCondition>>,
    /// Time scheme, of no effect on a steady case; default `crank_nicolson`.
    pub time_scheme: TimeScheme,
    /// The linear solver; tolerance 1e-8 by default.
    pub linear_solver: LinearSolverCase,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeatFile {
    discretization: Option<Discretization>,
    conductivity: Maybe<QuantityFile>,
    volumetric_heat_capacity: Maybe<QuantityFile>,
    density: Maybe<QuantityFile>,
    specific_heat: Maybe<QuantityFile>,
    source: Maybe<QuantityFile>,
    nonorthogonal_correction: Option<bool>,
    region: Option<Named<HeatRegionFile>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeatRegionFile {
    conductivity: Maybe<ScalarFile>,
    volumetric_heat_capacity: Maybe<ScalarFile>,
    density: Maybe<ScalarFile>,
    specific_heat: Maybe<ScalarFile>,
    source: Maybe<ScalarFile>,
}

const fn property(name: &'static str) -> Rule {
    Rule { name, sign: Sign::Positive, time: false }
}

const CONDUCTIVITY: Rule = property("conductivity");
const VOLUMETRIC_HEAT_CAPACITY: Rule = property("volumetric_heat_capacity");
const DENSITY: Rule = property("density");
const SPECIFIC_HEAT: Rule = property("specific_heat");
const SOURCE: Rule = Rule { name: "source", sign: Sign::Any, time: true };

impl EquationSection for Spanned<HeatFile> {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn place(&self) -> Range<usize> {
        self.span()
    }

    fn has_temperature(&self) -> bool {
        true
    }

    fn check(&self, case: Sections<'_>, problems: &mut Problems) -> Option<Equation> {
        let Sections { file, names, reader } = case;
        let initial = initial::check_heat(case);
        let boundary = heat_boundary::check(file.boundary.as_ref(), reader);
        let scheme = time::scheme(file.time.as_ref(), names, TimeScheme::from_word);
        let linear_solver = linear_solver::check(file.linear_solver.as_ref(), TOLERANCE);
        let (initial, boundary) = (problems.record(initial), problems.record_all(boundary));
        let (scheme, linear_solver) = (problems.record(scheme), problems.record(linear_solver));
        if let Some(section) = &file.steady {
            let message = "[steady] is for flow: a heat case without [time] is one solution";
            problems.add(Problem::at(section.span(), message));
        }
        let properties = problems.record(properties(self.get_ref(), reader));
        let [conductivity, volumetric_heat_capacity, source] = properties?;
        Some(Equation::Heat(HeatCase {
            discretization: discretization(self.get_ref()),
            conductivity,
            volumetric_heat_capacity,
            source,
            initial_temperature: initial?,
            boundary: boundary?,
            time_scheme: scheme?,
            linear_solver: linear_solver?,
        }))
    }

    fn regions(&self) -> RegionNames {
        let keys = self.get_ref();
        let mut regions = RegionNames::default();
        let tables = keys.region.iter().flat_map(|tables| &tables.0).map(|(name, _)| name);
        regions.named.extend(tables.map(text_and_span));
        for (name, quantity) in [
            ("conductivity", &keys.conductivity),
            ("volumetric_heat_capacity", &keys.volumetric_heat_capacity),
            ("density", &keys.density),
            ("specific_heat", &keys.specific_heat),
            ("source", &keys.source),
        ] {
            let Some(quantity) = quantity else { continue };
            if let QuantityFile::Regions(named) = quantity.get_ref() {
                let names = named.0.iter().map(|(name, _)| name);
                regions.named.extend(names.clone().map(text_and_span));
                let covered = names.chain(regions_with(keys, name));
                let covered = covered.map(|region| region.get_ref().clone()).collect();
                // The source of a region left out is 0.
                if name != "source" {
                    regions.by_region.push((name, quantity.span(), covered));
                }
            }
        }
        regions
    }
}

const TOLERANCE: f64 = 1e-8;

fn discretization(file: &HeatFile) -> Discretization {
    match file.discretization {
        Some(Discretization::Node) => Discretization::Node,
        Some(Discretization::Cell { .. }) | None => {
            Discretization::Cell { corrected: file.nonorthogonal_correction.unwrap_or(true) }
        }
    }
}

/// Conductivity, volumetric heat capacity and source.
fn properties(file: &HeatFile, reader: Reader<'_>) -> Result<[ByRegion; 3], Problem> {
    let tables = |select: fn(&HeatRegionFile) -> &Maybe<ScalarFile>| {
        let regions = file.region.iter().flat_map(|regions| &regions.0);
        regions.filter_map(move |(name, keys)| Some((name, select(keys.get_ref()).as_ref()?)))
    };
    let conductivity = tables(|keys| &keys.conductivity);
    let source = tables(|keys| &keys.source);
    Ok([
        reader.quantity(&file.conductivity, 1.0, None, CONDUCTIVITY, conductivity)?,
        volumetric_heat_capacity(file, reader)?,
        reader.quantity(&file.source, 0.0, Some(0.0), SOURCE, source)?,
    ])
}

/// ρc as `volumetric_heat_capacity`, or as the product of `density` and `specific_heat`.
fn volumetric_heat_capacity(file: &HeatFile, reader: Reader<'_>) -> Result<ByRegion, Problem> {
    let HeatFile { volumetric_heat_capacity: capacity, density, specific_heat, .. } = file;
    let product = match factors(capacity, density, specific_heat)? {
        None => None,
        Some([density, specific_heat]) => {
            reader.quantity(&file.density, 1.0, None, DENSITY, empty())?;
            reader.quantity(&file.specific_heat, 1.0, None, SPECIFIC_HEAT, empty())?;
            let product = product_of_quantities(density.get_ref(), specific_heat.get_ref());
            if matches!(&product, QuantityFile::Regions(regions) if regions.0.is_empty()) {
                let message = "`density` and `specific_heat` have no region in common";
                return Err(Problem::at(density.span(), message));
            }
            Some(Spanned::new(density.span(), product))
        }
    };
    let mut tables: Vec<(&Spanned<String>, Spanned<ScalarFile>)> = Vec::new();
    for (region, keys) in file.region.iter().flat_map(|regions| &regions.0) {
        let HeatRegionFile { volumetric_heat_capacity: capacity, density, specific_heat, .. } =
            keys.get_ref();
        if let Some([density, specific_heat]) = factors(capacity, density, specific_heat)? {
            reader.scalar(density.get_ref(), density.span(), DENSITY)?;
            reader.scalar(specific_heat.get_ref(), specific_heat.span(), SPECIFIC_HEAT)?;
            let product = product_of_scalars(density.get_ref(), specific_heat.get_ref());
            tables.push((region, Spanned::new(density.span(), product)));
        } else if let Some(capacity) = capacity {
            tables.push((region, capacity.clone()));
        }
    }
    let capacity = product.or_else(|| capacity.clone());
    let tables = tables.iter().map(|(region, value)| (*region, value));
    reader.quantity(&capacity, 1.0, None, VOLUMETRIC_HEAT_CAPACITY, tables)
}

/// Density and specific heat, given together and without the volumetric heat capacity, or neither.
fn factors<'f, T>(
    capacity: &Maybe<T>,
    density: &'f Maybe<T>,
    specific_heat: &'f Maybe<T>,
) -> Result<Option<[&'f Spanned<T>; 2]>, Problem> {
    if let (Some(factor), Some(_)) = (density.as_ref().or(specific_heat.as_ref()), capacity) {
        let message = "the heat capacity is given by `volumetric_heat_capacity` or by `density` and \
                       `specific_heat`, not both";
        return Err(Problem::at(factor.span(), message));
    }
    let alone = |given: &Spanned<T>, name: &str, missing: &str| {
        let message = format!("`{name}` needs `{missing}`: their product is the heat capacity");
        Err(Problem::at(given.span(), message))
    };
    match (density, specific_heat) {
        (Some(density), Some(specific_heat)) => Ok(Some([density, specific_heat])),
        (Some(density), None) => alone(density, "density", "specific_heat"),
        (None, Some(specific_heat)) => alone(specific_heat, "specific_heat", "density"),
        (None, None) => Ok(None),
    }
}

/// The regions whose own tables give `quantity`; a factor of the heat capacity counts as given
/// where the table has the heat capacity in either form.
fn regions_with<'f>(
    file: &'f HeatFile,
    quantity: &'static str,
) -> impl Iterator<Item = &'f Spanned<String>> {
    let regions = file.region.iter().flat_map(|regions| &regions.0);
    regions.filter_map(move |(name, keys)| {
        let keys = keys.get_ref();
        let given = match quantity {
            "conductivity" => keys.conductivity.is_some(),
            "source" => keys.source.is_some(),
            _ => keys.volumetric_heat_capacity.is_some() || keys.density.is_some(),
        };
        given.then_some(name)
    })
}
