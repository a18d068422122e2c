//! Figures of a suite: curves of the cases and reference values.

use super::super::error::Problem;
use super::super::value::{Maybe, Reader, Rule, ScalarFile, Sign, Value, required};
use crate::io::columns::Columns;
use karman_macros::Keyword;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// A figure and the comparison it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Heading.
    pub title: String,
    /// The kind of its curves.
    pub kind: FigureKind,
    /// The abscissa: a coordinate, the time, a parameter of the cases; of [`FigureKind::Meshes`] the spacing.
    pub coordinate: Axis,
    /// The ordinate: the computed quantity.
    pub value: Axis,
    /// Whether the coordinate is the vertical axis.
    pub upright: bool,
    /// Order of the reference line beside the curves of [`FigureKind::Meshes`].
    pub order: Option<f64>,
    /// The curves; of [`FigureKind::Cases`] one point each.
    pub curves: Vec<Curve>,
    /// Reference values for all curves.
    pub reference: Option<Reference>,
}

/// Kinds of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum FigureKind {
    /// Columns of `line_NAME.csv`.
    Line,
    /// Columns of `surface_NAME.csv`, a point a face.
    Surface,
    /// Columns of `history.csv`.
    History,
    /// Entries of `summary.json`, a point a case.
    Cases,
    /// Entries of `summary.json` over the spacing, a point a mesh.
    Meshes,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Column of a table, or path in the summary; empty where the kind of figure gives it.
    pub name: String,
    /// Its label.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Least value shown.
    pub from: Option<f64>,
    /// Largest value shown.
    pub to: Option<f64>,
}

/// A curve of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the case.
    pub case: String,
    /// Text of the legend.
    pub label: String,
    /// Name of the line or surface, of [`FigureKind::Line`] and [`FigureKind::Surface`]; else empty.
    pub line: String,
    /// Column or path.
    pub value: String,
    /// Its abscissa, of [`FigureKind::Cases`]; else 0.
    pub at: f64,
    /// Its reference values.
    pub reference: Option<Reference>,
    /// Largest difference from the reference allowed.
    pub within: Option<f64>,
}

/// Reference values.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Text of the legend.
    pub label: String,
    /// The values.
    pub data: ReferenceData,
}

impl Reference {
    /// Whether it has a value at each abscissa, and not a band.
    fn has_values(&self) -> bool {
        !matches!(self.data, ReferenceData::Band(_))
    }
}

/// The values of a reference.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceData {
    /// Coordinates and values.
    Points(Vec<[f64; 2]>),
    /// A formula of the coordinate x.
    Formula(Value),
    /// Lowest and highest value.
    Band([f64; 2]),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureFile {
    title: Maybe<String>,
    kind: Maybe<FigureKind>,
    coordinate: Maybe<AxisFile>,
    value: Maybe<AxisFile>,
    upright: Option<bool>,
    order: Option<f64>,
    curves: Maybe<Vec<Spanned<CurveFile>>>,
    reference: Maybe<ReferenceFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisFile {
    name: Option<String>,
    label: Option<String>,
    log: Option<bool>,
    from: Option<f64>,
    to: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CurveFile {
    case: Maybe<String>,
    label: Option<String>,
    line: Maybe<String>,
    surface: Maybe<String>,
    value: Option<String>,
    at: Maybe<f64>,
    reference: Maybe<ReferenceFile>,
    within: Maybe<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceFile {
    label: Option<String>,
    file: Maybe<String>,
    column: Maybe<String>,
    formula: Maybe<ScalarFile>,
    band: Maybe<[f64; 2]>,
}

pub(super) fn check(
    file: &FigureFile,
    span: Range<usize>,
    names: &[String],
    reader: Reader<'_>,
) -> Result<Figure, Problem> {
    let kind = *required(&file.kind, "kind", &span)?.get_ref();
    let coordinate = axis(file.coordinate.as_ref(), default_coordinate(kind), "coordinate", &span)?;
    let log = kind == FigureKind::Meshes;
    let value = axis(file.value.as_ref(), ("", "", log), "value", &span)?;
    let files = required(&file.curves, "curves", &span)?.get_ref();
    let curves = files
        .iter()
        .map(|file| curve(file.get_ref(), file.span(), (kind, &value), names, reader))
        .collect::<Result<_, _>>()?;
    Ok(Figure {
        title: required(&file.title, "title", &span)?.get_ref().clone(),
        kind,
        coordinate,
        value,
        upright: file.upright.unwrap_or(false),
        order: file.order,
        curves,
        reference: file.reference.as_ref().map(|file| reference(file, reader)).transpose()?,
    })
}

/// Name, label and whether it is logarithmic, where the suite does not say.
fn default_coordinate(kind: FigureKind) -> (&'static str, &'static str, bool) {
    match kind {
        FigureKind::Line => ("s", "", false),
        FigureKind::Surface => ("x", "x", false),
        FigureKind::History => ("time", "t", false),
        FigureKind::Cases => ("", "", false),
        FigureKind::Meshes => ("", "spacing over the finest", true),
    }
}

fn axis(
    file: Option<&Spanned<AxisFile>>,
    (name, label, log): (&str, &str, bool),
    key: &str,
    span: &Range<usize>,
) -> Result<Axis, Problem> {
    let Some(file) = file else {
        if key == "value" {
            return Err(Problem::at(span.clone(), "`value` is missing"));
        }
        let label = if label.is_empty() { name } else { label };
        return Ok(Axis { name: name.into(), label: label.into(), log, from: None, to: None });
    };
    let keys = file.get_ref();
    let name = keys.name.clone().unwrap_or_else(|| name.to_owned());
    let own_label = if label.is_empty() { name.clone() } else { label.to_owned() };
    let (from, to) = (keys.from, keys.to);
    if let (Some(from), Some(to)) = (from, to)
        && from.partial_cmp(&to) != Some(std::cmp::Ordering::Less)
    {
        let message = format!("`from` ({from}) must be below `to` ({to})");
        return Err(Problem::at(file.span(), message));
    }
    let label = keys.label.clone().unwrap_or(own_label);
    Ok(Axis { name, label, log: keys.log.unwrap_or(log), from, to })
}

fn curve(
    file: &CurveFile,
    span: Range<usize>,
    (kind, value): (FigureKind, &Axis),
    names: &[String],
    reader: Reader<'_>,
) -> Result<Curve, Problem> {
    let case_file = required(&file.case, "case", &span)?;
    let case = case_file.get_ref();
    if !names.contains(case) {
        let problem = Problem::at(case_file.span(), format!("the suite has no case `{case}`"));
        return Err(problem.among(case, "its cases", names.iter().map(String::as_str)));
    }
    let line = match (kind, &file.line) {
        (FigureKind::Line, line) => required(line, "line", &span)?.get_ref().clone(),
        (FigureKind::Surface, None) => required(&file.surface, "surface", &span)?.get_ref().clone(),
        (_, None) => String::new(),
        (_, Some(line)) => {
            let message = "`line` has a meaning in a figure of kind \"line\" alone";
            return Err(Problem::at(line.span(), message));
        }
    };
    if let (Some(surface), true) = (&file.surface, kind != FigureKind::Surface) {
        let message = "`surface` has a meaning in a figure of kind \"surface\" alone";
        return Err(Problem::at(surface.span(), message));
    }
    let at = match (kind, &file.at) {
        (FigureKind::Cases, at) => *required(at, "at", &span)?.get_ref(),
        (_, None) => 0.0,
        (_, Some(at)) => {
            let message = "`at` has a meaning in a figure of kind \"cases\" alone";
            return Err(Problem::at(at.span(), message));
        }
    };
    let own_value = file.value.clone().unwrap_or_else(|| value.name.clone());
    if own_value.is_empty() {
        return Err(Problem::at(span, "`value` is missing: a column or an entry of the summary"));
    }
    let reference =
        file.reference.as_ref().map(|file| self::reference(file, reader)).transpose()?;
    let rule = Rule { name: "within", sign: Sign::Positive, time: false };
    let within = match &file.within {
        None => None,
        Some(within) if reference.as_ref().is_some_and(Reference::has_values) => {
            Some(rule.check_number(*within.get_ref(), within.span())?)
        }
        Some(within) => {
            let message = "`within` needs a `reference` of its curve, a file or a formula";
            return Err(Problem::at(within.span(), message));
        }
    };
    let label = file.label.clone().unwrap_or_else(|| case.clone());
    Ok(Curve { case: case.clone(), label, line, value: own_value, at, reference, within })
}

fn reference(file: &Spanned<ReferenceFile>, reader: Reader<'_>) -> Result<Reference, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    let label = keys.label.clone().unwrap_or_else(|| "reference".to_owned());
    let given = [keys.file.is_some(), keys.formula.is_some(), keys.band.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        return Err(Problem::at(span, "a reference has one of `file`, `formula`, `band`"));
    }
    let rule = Rule { name: "formula", sign: Sign::Any, time: false };
    let data = match (&keys.file, &keys.formula, &keys.band) {
        (Some(name), ..) => {
            let wrong = |problem: String| Problem::at(name.span(), problem);
            let table = Columns::read(&reader.folder.join(name.get_ref()));
            let table = table.map_err(|error| wrong(error.to_string()))?;
            let [coordinate, rest @ ..] = table.names() else { return Err(wrong("empty".into())) };
            let column = match (&keys.column, rest) {
                (Some(column), _) => column.get_ref(),
                (None, [only]) => only,
                (None, _) => {
                    let problem = wrong("the table has several columns: name a `column`".into());
                    return Err(problem.note(format!("columns: {}", rest.join(", "))));
                }
            };
            let points = table.pairs(coordinate, column);
            ReferenceData::Points(points.map_err(|error| wrong(error.to_string()))?)
        }
        (_, Some(formula), _) => {
            ReferenceData::Formula(reader.scalar(formula.get_ref(), formula.span(), rule)?)
        }
        (.., Some(band)) => {
            let [low, high] = *band.get_ref();
            if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
                let message = format!("the band from {low} to {high} is empty");
                return Err(Problem::at(band.span(), message));
            }
            ReferenceData::Band([low, high])
        }
        _ => return Err(Problem::at(span, "a reference has one of `file`, `formula`, `band`")),
    };
    Ok(Reference { label, data })
}
