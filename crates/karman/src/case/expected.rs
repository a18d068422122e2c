//! `[exact]` and `[expected]`: what a result is compared with.

use super::error::Problem;
use super::heat::{HEAT_FIELDS, HEAT_PATCH_QUANTITIES};
use super::output::OutputCase;
use super::value::{Maybe, Named, Reader, Rule, ScalarFile, Sign, Value, number, refuse, required};
use crate::expression::nearest_name;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::ops::Range;
use toml::Spanned;

/// A field and the formula its result is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactField {
    /// The field.
    pub field: String,
    /// The exact solution, of place and time.
    pub value: Value,
}

/// A number of `summary.json` and what it is held to.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its place in the summary, names joined by dots: `probe.centre.temperature`.
    pub path: String,
    /// What it should be.
    pub value: f64,
    /// Largest difference allowed: the larger of `absolute` and `relative` |`value`|.
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
pub(crate) struct ExactFile {
    temperature: Maybe<ScalarFile>,
    velocity: Maybe<IgnoredAny>,
    pressure: Maybe<IgnoredAny>,
    density: Maybe<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectationFile {
    value: Maybe<f64>,
    absolute: Maybe<f64>,
    relative: Maybe<f64>,
}

pub(crate) type ExpectedFile = Named<ExpectationFile>;

pub(crate) fn check_exact(
    file: Option<&Spanned<ExactFile>>,
    reader: Reader<'_>,
) -> Result<Vec<ExactField>, Problem> {
    let Some(file) = file else {
        return Ok(Vec::new());
    };
    let keys = file.get_ref();
    const FLOW: &str = "belongs to a flow case, this one is of heat";
    refuse(&keys.velocity, "velocity", FLOW)?;
    refuse(&keys.pressure, "pressure", FLOW)?;
    refuse(&keys.density, "density", FLOW)?;
    let Some(temperature) = &keys.temperature else {
        return Ok(Vec::new());
    };
    let rule = Rule { name: "temperature", sign: Sign::Any, time: true };
    let value = reader.scalar(temperature.get_ref(), temperature.span(), rule)?;
    Ok(vec![ExactField { field: "temperature".to_owned(), value }])
}

/// Entries of the summary that a case may be held to. `PROBE`, `PATCH`, `FIELD` and `QUANTITY`
/// stand for names; `errors` needs the field in `[exact]`.
pub const SUMMARY_PATHS: &[&str] = &[
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
    "fields.FIELD.mean",
    "fields.FIELD.min",
    "fields.FIELD.max",
    "errors.FIELD.l1",
    "errors.FIELD.l2",
    "errors.FIELD.linf",
];

pub(crate) fn check(
    file: Option<&Spanned<ExpectedFile>>,
    output: &OutputCase,
    exact: &[ExactField],
) -> Result<Vec<Expectation>, Problem> {
    let mut expectations = Vec::new();
    for (path, entry) in file.iter().flat_map(|file| &file.get_ref().0) {
        check_path(path, output, exact)?;
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

/// Whether a path names an entry that the summary of this case will have.
fn check_path(
    path: &Spanned<String>,
    output: &OutputCase,
    exact: &[ExactField],
) -> Result<(), Problem> {
    let parts: Vec<&str> = path.get_ref().split('.').collect();
    if parts.len() < 2 {
        return Err(unknown_path(path));
    }
    let same_shape = |pattern: &&str| {
        let pattern: Vec<&str> = pattern.split('.').collect();
        pattern.len() == parts.len()
            && pattern
                .iter()
                .zip(&parts)
                .all(|(wanted, part)| is_placeholder(wanted) || wanted == part)
    };
    let Some(pattern) = SUMMARY_PATHS.iter().copied().find(same_shape) else {
        return Err(unknown_path(path));
    };
    for (wanted, part) in pattern.split('.').zip(&parts) {
        let known: Vec<&str> = match wanted {
            "PROBE" => output.probes.iter().map(|probe| probe.name.as_str()).collect(),
            "PATCH" => output.patches.iter().map(|group| group.name.as_str()).collect(),
            "QUANTITY" => HEAT_PATCH_QUANTITIES.to_vec(),
            "FIELD" if parts[0] == "errors" => {
                exact.iter().map(|exact| exact.field.as_str()).collect()
            }
            "FIELD" => HEAT_FIELDS.to_vec(),
            _ => continue,
        };
        if !known.contains(part) {
            let missing = match wanted {
                "PROBE" => format!("there is no [[output.probe]] named `{part}`"),
                "PATCH" => format!("there is no [[output.patch]] named `{part}`"),
                "QUANTITY" => format!("a patch of a heat case has no quantity `{part}`"),
                _ if parts[0] == "errors" => format!("[exact] has no field `{part}`"),
                _ => format!("a heat case has no field `{part}`"),
            };
            return Err(Problem::at(path.span(), missing).among(part, "known", known));
        }
    }
    Ok(())
}

fn is_placeholder(part: &str) -> bool {
    part.chars().all(|c| c.is_ascii_uppercase())
}

fn unknown_path(path: &Spanned<String>) -> Problem {
    let span: Range<usize> = path.span();
    let mut problem =
        Problem::at(span, format!("the summary of a run has no entry `{}`", path.get_ref()));
    if let Some(nearest) = nearest_name(path.get_ref(), SUMMARY_PATHS.iter().copied()) {
        problem = problem.note(format!("did you mean \"{nearest}\"?"));
    }
    problem.note(format!("valid entries, in quotes: {}", SUMMARY_PATHS.join(", ")))
}
