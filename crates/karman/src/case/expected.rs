//! `[expected]`: expected numbers of a result, with tolerances.

use super::average::Average;
use super::error::Problem;
use super::exact::ExactField;
use super::names::Names;
use super::output::OutputCase;
use super::surface::Surface;
use super::value::{Maybe, Named, Sign, number, required};
use crate::descriptor::Rank;
use crate::expression::nearest_name;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// A number of `summary.json`, its expected value and tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its path in the summary, names joined by dots: `probe.centre.temperature`.
    pub path: String,
    /// The expected value.
    pub value: f64,
    /// Largest difference allowed: the maximum of `absolute` and `relative` |`value`|.
    pub tolerance: f64,
}

impl Expectation {
    /// Whether a result is within the tolerance; NaN never is.
    pub fn is_met(&self, actual: f64) -> bool {
        (actual - self.value).abs() <= self.tolerance
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectationFile {
    value: Maybe<f64>,
    absolute: Maybe<f64>,
    relative: Maybe<f64>,
}

pub(crate) type ExpectedFile = Named<ExpectationFile>;

/// Entries of the summary of each run that `[expected]` may name; each equation adds its own. `PROBE`, `PATCH`, `SURFACE`,
/// `NAME`, `FIELD` and `QUANTITY` stand for names; `errors` needs the field in `[exact]`.
pub(super) const SUMMARY_PATHS: &[&str] = &[
    "mesh.dimension",
    "mesh.nodes",
    "mesh.edges",
    "mesh.faces",
    "mesh.cells",
    "time.steps",
    "time.end",
    "linear.solves",
    "linear.iterations",
    "linear.last_iterations",
    "linear.relative_residual",
    "linear.convergence_factor",
    "probe.PROBE.FIELD",
    "patch.PATCH.QUANTITY",
    "surface.SURFACE.FIELD.mean",
    "surface.SURFACE.FIELD.min",
    "surface.SURFACE.FIELD.max",
    "fields.FIELD.mean",
    "fields.FIELD.min",
    "fields.FIELD.max",
    "errors.FIELD.l1",
    "errors.FIELD.l2",
    "errors.FIELD.linf",
];

/// The entries that the summary of a case may have.
fn paths(names: Names) -> impl Iterator<Item = &'static str> {
    SUMMARY_PATHS.iter().chain(names.summary()).copied()
}

pub(crate) fn check(
    file: Option<&Spanned<ExpectedFile>>,
    output: &OutputCase,
    exact: &[ExactField],
    names: Names,
) -> Result<Vec<Expectation>, Problem> {
    let mut expectations = Vec::new();
    for (path, entry) in file.iter().flat_map(|file| &file.get_ref().0) {
        check_path(path, output, exact, names)?;
        let (keys, span) = (entry.get_ref(), entry.span());
        required(&keys.value, "value", &span)?;
        let value = number(&keys.value, 0.0, "value", Sign::Any)?;
        let absolute = number(&keys.absolute, 0.0, "absolute", Sign::NotNegative)?;
        let relative = number(&keys.relative, 0.0, "relative", Sign::NotNegative)?;
        if keys.absolute.is_none() && keys.relative.is_none() {
            let message = "a tolerance is missing: `absolute` or `relative`";
            return Err(Problem::at(span, message));
        }
        if let (Some(relative), None, true) = (&keys.relative, &keys.absolute, value == 0.0) {
            let message = "a tolerance relative to 0 allows nothing: use `absolute`";
            return Err(Problem::at(relative.span(), message));
        }
        expectations.push(Expectation {
            path: path.get_ref().clone(),
            value,
            tolerance: absolute.max(relative * value.abs()),
        });
    }
    Ok(expectations)
}

/// Checks that a path names an entry of the summary of this case.
fn check_path(
    path: &Spanned<String>,
    output: &OutputCase,
    exact: &[ExactField],
    names: Names,
) -> Result<(), Problem> {
    let parts: Vec<&str> = path.get_ref().split('.').collect();
    if parts.len() < 2 {
        return Err(unknown_path(path, names));
    }
    let same_shape = |pattern: &&'static str| {
        let pattern: Vec<&str> = pattern.split('.').collect();
        pattern.len() == parts.len()
            && pattern
                .iter()
                .zip(&parts)
                .all(|(entry, part)| is_placeholder(entry) || entry == part)
    };
    let Some(pattern) = paths(names).find(same_shape) else {
        return Err(unknown_path(path, names));
    };
    let mut of_averages: Vec<String>;
    for (entry, part) in pattern.split('.').zip(&parts) {
        let known: Vec<&str> = match entry {
            "PROBE" => output.probes.iter().map(|probe| probe.name.as_str()).collect(),
            "PATCH" => output.patches.iter().map(|group| group.name.as_str()).collect(),
            "NAME" => output.recirculations.iter().map(|line| line.name.as_str()).collect(),
            "QUANTITY" => {
                let group = output.patches.iter().find(|group| group.name == parts[1]);
                group.map_or(Vec::new(), |group| names.patch_quantities(group.flow.as_ref()))
            }
            "SURFACE" => output.surfaces.iter().map(|surface| surface.name.as_str()).collect(),
            "FIELD" if parts[0] == "errors" => fields_with_errors(exact, names),
            "FIELD" if parts[0] == "surface" => {
                let surface = output.surfaces.iter().find(|surface| surface.name == parts[1]);
                surface.into_iter().flat_map(Surface::components).collect()
            }
            "FIELD" => {
                let averages = output.averages.iter();
                let names_of = |average: &Average| average.components(names, parts[0] == "probe");
                of_averages = averages.flat_map(names_of).collect();
                let of_averages = of_averages.iter().map(String::as_str);
                names.components().into_iter().chain(of_averages).collect()
            }
            _ => continue,
        };
        if !known.contains(part) {
            let case = names.case();
            let missing = match entry {
                "PROBE" => format!("there is no [[output.probe]] named `{part}`"),
                "PATCH" => format!("there is no [[output.patch]] named `{part}`"),
                "NAME" => format!("there is no [[output.recirculation]] named `{part}`"),
                "QUANTITY" => format!("a patch of {case} has no quantity `{part}`"),
                "SURFACE" => format!("there is no [[output.surface]] named `{part}`"),
                _ if parts[0] == "errors" => format!("[exact] has no field `{part}`"),
                _ if parts[0] == "surface" => format!("this surface has no field `{part}`"),
                _ => format!("{case} has no field `{part}`"),
            };
            let problem = Problem::at(path.span(), missing).among(part, "known", known);
            let has_remedy = !matches!(parts[0], "errors" | "surface");
            let remedy = if has_remedy { names.remedy(part) } else { None };
            return Err(remedy.into_iter().fold(problem, Problem::note));
        }
    }
    Ok(())
}

/// The fields of `[exact]`, and for the error vector of a vector field its name.
fn fields_with_errors(exact: &[ExactField], names: Names) -> Vec<&str> {
    let is_given = |name: &str| exact.iter().any(|exact| exact.field == name);
    let vectors = names.all_fields().filter(|field| {
        matches!(field.rank, Rank::Vector(_)) && field.components().iter().any(|n| is_given(n))
    });
    let fields = exact.iter().map(|exact| exact.field.as_str());
    fields.chain(vectors.map(|field| field.name)).collect()
}

fn is_placeholder(part: &str) -> bool {
    part.chars().all(|c| c.is_ascii_uppercase())
}

fn unknown_path(path: &Spanned<String>, names: Names) -> Problem {
    let span: Range<usize> = path.span();
    let mut problem =
        Problem::at(span, format!("the summary of a run has no entry `{}`", path.get_ref()));
    if let Some(nearest) = nearest_name(path.get_ref(), paths(names)) {
        problem = problem.note(format!("did you mean \"{nearest}\"?"));
    }
    problem
        .note(format!("valid entries, in quotes: {}", paths(names).collect::<Vec<_>>().join(", ")))
}
