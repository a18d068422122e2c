//! `[adapt]`: adaptation of the mesh during the run.

use super::error::Problem;
use super::names::Names;
use super::output_parts::field;
use super::value::{Maybe, Reader, Rule, ScalarFile, Sign, Value, number, refuse};
use karman_macros::Keyword;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Adaptation of the mesh during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptCase {
    /// The metric to which the mesh is adapted.
    pub metric: MetricCase,
    /// When the mesh is adapted.
    pub interval: AdaptInterval,
    /// Adaptations to the initial fields of a run in time, after each of which they are evaluated again; default 0.
    pub initial_cycles: usize,
    /// Times of an interval whose metrics are intersected, ≥ 1; default 1, the time of the adaptation.
    pub samples: usize,
    /// Largest ratio of the sizes of neighbouring edges, > 1; default 1.5.
    pub gradation: f64,
    /// How fields come to the new mesh; default conservative.
    pub transfer: TransferKind,
    /// Regions whose cells stay as they are; default none.
    pub freeze: Vec<String>,
}

impl AdaptCase {
    /// The field whose second derivatives give the metric.
    pub fn field(&self) -> Option<&String> {
        match &self.metric {
            MetricCase::Field(metric) => Some(&metric.field),
            MetricCase::Entries(_) | MetricCase::File { .. } => None,
        }
    }

    /// The file of the metric.
    pub fn file(&self) -> Option<&Path> {
        match &self.metric {
            MetricCase::File { path, .. } => Some(path),
            MetricCase::Field(_) | MetricCase::Entries(_) => None,
        }
    }
}

/// A metric of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricCase {
    /// Of the second derivatives of a field.
    Field(FieldMetric),
    /// Its upper triangle, row by row: 3 entries in 2D, 6 in 3D.
    Entries(Vec<Value>),
    /// A field of tensors at the nodes of a file.
    File {
        /// The file, resolved.
        path: PathBuf,
        /// The field.
        name: String,
    },
}

/// The metric of the second derivatives of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldMetric {
    /// A field that can be written; of a vector its magnitude.
    pub field: String,
    /// p ≥ 1 of the Lᵖ norm of the interpolation error; default 2.
    pub norm: f64,
    /// Complexity of the metric, > 0.
    pub complexity: f64,
    /// Smallest size; default none.
    pub h_min: Option<f64>,
    /// Largest size; default none.
    pub h_max: Option<f64>,
    /// Largest ratio of the sizes at a place; default 1e3.
    pub anisotropy: f64,
}

/// When the mesh is adapted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdaptInterval {
    /// An interval of time.
    Time(f64),
    /// A number of times, after each steady solution.
    Cycles(usize),
}

/// How fields come to a new mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum TransferKind {
    /// By the intersections of old and new cells; integrals stay as they are to round-off.
    Conservative,
    /// By the values of the linear functions in the old cells at the new places.
    Interpolate,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdaptFile {
    field: Maybe<String>,
    metric: Maybe<MetricKey>,
    norm: Maybe<f64>,
    complexity: Maybe<f64>,
    every: Maybe<f64>,
    cycles: Maybe<usize>,
    initial_cycles: Maybe<usize>,
    samples: Maybe<usize>,
    gradation: Maybe<f64>,
    h_min: Maybe<f64>,
    h_max: Maybe<f64>,
    anisotropy: Maybe<f64>,
    transfer: Option<TransferKind>,
    freeze: Option<Vec<Spanned<String>>>,
}

impl AdaptFile {
    /// The regions that stay as they are, each with its place.
    pub(super) fn frozen(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.freeze.iter().flatten()
    }
}

/// The entries of a metric or its file, as written.
#[derive(Clone, Debug)]
enum MetricKey {
    Entries(Vec<Spanned<ScalarFile>>),
    File(MetricFile),
}

/// `{ file = "metric.vtu", name = "metric" }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricFile {
    file: Maybe<String>,
    name: Maybe<String>,
}

impl<'de> Deserialize<'de> for MetricKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetricVisitor;
        impl<'de> Visitor<'de> for MetricVisitor {
            type Value = MetricKey;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of numbers and expressions or { file, name }")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<MetricKey, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list))
                    .map(MetricKey::Entries)
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<MetricKey, A::Error> {
                let file = de::value::MapAccessDeserializer::new(map);
                MetricFile::deserialize(file).map(MetricKey::File)
            }
        }
        deserializer.deserialize_any(MetricVisitor)
    }
}

/// Checks the section; `time` is the place of `[time]` of a run in time.
pub(crate) fn check(
    file: Option<&Spanned<AdaptFile>>,
    time: Option<&Range<usize>>,
    names: Names,
    reader: Reader<'_>,
) -> Result<Option<AdaptCase>, Problem> {
    let Some(file) = file else { return Ok(None) };
    let keys = file.get_ref();
    let metric = match (&keys.field, &keys.metric) {
        (Some(name), None) => MetricCase::Field(of_field(file, name, names)?),
        (None, Some(metric)) => of_metric(keys, metric, reader)?,
        (Some(_), Some(metric)) => {
            let message = "`field` and `metric` both give the metric: keep one";
            return Err(Problem::at(metric.span(), message));
        }
        (None, None) => return Err(Problem::at(file.span(), "`field` or `metric` is missing")),
    };
    let gradation = at_least(&keys.gradation, 1.5, "gradation", 1.0)?;
    if gradation == 1.0 {
        let place = keys.gradation.as_ref().map_or(file.span(), Spanned::span);
        return Err(Problem::at(place, "`gradation` must be above 1, not 1"));
    }
    Ok(Some(AdaptCase {
        interval: interval(file, time)?,
        initial_cycles: initial_cycles(keys, time)?,
        samples: samples(keys, &metric, time)?,
        metric,
        gradation,
        transfer: keys.transfer.unwrap_or(TransferKind::Conservative),
        freeze: keys.frozen().map(|region| region.get_ref().clone()).collect(),
    }))
}

fn of_field(
    file: &Spanned<AdaptFile>,
    name: &Spanned<String>,
    names: Names,
) -> Result<FieldMetric, Problem> {
    let keys = file.get_ref();
    super::value::required(&keys.complexity, "complexity", &file.span())?;
    let size = |file: &Maybe<f64>, name| match file {
        None => Ok(None),
        Some(_) => number(file, 0.0, name, Sign::Positive).map(Some),
    };
    let (h_min, h_max) = (size(&keys.h_min, "h_min")?, size(&keys.h_max, "h_max")?);
    if let (Some(least), Some(most), Some(place)) = (h_min, h_max, &keys.h_max)
        && most < least
    {
        let message = format!("`h_max` must be at least `h_min`, {least}, not {most}");
        return Err(Problem::at(place.span(), message));
    }
    Ok(FieldMetric {
        field: field(name, names)?,
        norm: at_least(&keys.norm, 2.0, "norm", 1.0)?,
        complexity: number(&keys.complexity, 0.0, "complexity", Sign::Positive)?,
        h_min,
        h_max,
        anisotropy: at_least(&keys.anisotropy, 1e3, "anisotropy", 1.0)?,
    })
}

fn of_metric(
    keys: &AdaptFile,
    metric: &Spanned<MetricKey>,
    reader: Reader<'_>,
) -> Result<MetricCase, Problem> {
    let why = "has no effect: `metric` gives the sizes";
    for (key, name) in [
        (&keys.norm, "norm"),
        (&keys.complexity, "complexity"),
        (&keys.h_min, "h_min"),
        (&keys.h_max, "h_max"),
        (&keys.anisotropy, "anisotropy"),
    ] {
        refuse(key, name, why)?;
    }
    let list = match metric.get_ref() {
        MetricKey::Entries(list) => list,
        MetricKey::File(MetricFile { file, name }) => {
            let text = |key: &Maybe<String>, name| match super::value::required(
                key,
                name,
                &metric.span(),
            )? {
                text if text.get_ref().is_empty() => {
                    Err(Problem::at(text.span(), format!("`{name}` is empty")))
                }
                text => Ok(text.get_ref().clone()),
            };
            let path = reader.folder.join(text(file, "file")?);
            return Ok(MetricCase::File { path, name: text(name, "name")? });
        }
    };
    if !matches!(list.len(), 3 | 6) {
        let message = format!("`metric` takes 3 entries in 2D, 6 in 3D, {} given", list.len());
        let problem = Problem::at(metric.span(), message);
        return Err(problem.note("its upper triangle, row by row: m11, m12, m22"));
    }
    let rule = Rule { name: "metric", sign: Sign::Any, time: true };
    let entry = |entry: &Spanned<ScalarFile>| reader.scalar(entry.get_ref(), entry.span(), rule);
    Ok(MetricCase::Entries(list.iter().map(entry).collect::<Result<_, _>>()?))
}

fn initial_cycles(keys: &AdaptFile, time: Option<&Range<usize>>) -> Result<usize, Problem> {
    match (&keys.initial_cycles, time) {
        (Some(cycles), None) => {
            let message = "`initial_cycles` are those of a run in time, and this case is steady: use `cycles`";
            Err(Problem::at(cycles.span(), message))
        }
        (cycles, _) => Ok(cycles.as_ref().map_or(0, |cycles| *cycles.get_ref())),
    }
}

fn samples(
    keys: &AdaptFile,
    metric: &MetricCase,
    time: Option<&Range<usize>>,
) -> Result<usize, Problem> {
    let Some(samples) = &keys.samples else { return Ok(1) };
    let why = match (metric, time) {
        (_, None) => Some("this case is steady"),
        (MetricCase::File { .. }, _) => Some("the metric of a file does not depend on time"),
        (MetricCase::Entries(entries), _) if !entries.iter().any(Value::depends_on_time) => {
            Some("`metric` does not depend on t")
        }
        _ => None,
    };
    match (why, *samples.get_ref()) {
        (Some(why), _) => {
            Err(Problem::at(samples.span(), format!("`samples` has no effect: {why}")))
        }
        (None, 0) => Err(Problem::at(samples.span(), "`samples` must be 1 or more")),
        (None, samples) => Ok(samples),
    }
}

fn interval(
    file: &Spanned<AdaptFile>,
    time: Option<&Range<usize>>,
) -> Result<AdaptInterval, Problem> {
    let keys = file.get_ref();
    match (&keys.every, &keys.cycles, time) {
        (Some(_), Some(cycles), _) => {
            let message = "`every` and `cycles` both say when the mesh is adapted: keep one";
            Err(Problem::at(cycles.span(), message))
        }
        (Some(_), None, Some(_)) => {
            Ok(AdaptInterval::Time(number(&keys.every, 0.0, "every", Sign::Positive)?))
        }
        (Some(every), None, None) => {
            let message = "`every` is an interval of time, and this case is steady: use `cycles`";
            Err(Problem::at(every.span(), message))
        }
        (None, Some(cycles), None) if *cycles.get_ref() > 0 => {
            Ok(AdaptInterval::Cycles(*cycles.get_ref()))
        }
        (None, Some(cycles), None) => Err(Problem::at(cycles.span(), "`cycles` must be 1 or more")),
        (None, Some(cycles), Some(_)) => {
            let message =
                "`cycles` are those of a steady case, and this one has [time]: use `every`";
            Err(Problem::at(cycles.span(), message))
        }
        (None, None, Some(_)) => Err(Problem::at(file.span(), "`every` is missing")),
        (None, None, None) => Err(Problem::at(file.span(), "`cycles` is missing")),
    }
}

/// A finite number of at least `least`.
fn at_least(
    file: &Maybe<f64>,
    default: f64,
    name: &'static str,
    least: f64,
) -> Result<f64, Problem> {
    let value = number(file, default, name, Sign::Any)?;
    match file {
        Some(file) if value < least => {
            let message = format!("`{name}` must be at least {least}, not {value}");
            Err(Problem::at(file.span(), message))
        }
        _ => Ok(value),
    }
}
