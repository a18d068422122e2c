//! `[[output.average]]`: means of fields over time and their fluctuations.

use super::error::Problem;
use super::names::Names;
use super::output_parts::{field, plain_name};
use super::time::TimeCase;
use super::value::{Maybe, Sign, number, required};
use crate::descriptor::{Field, Rank};
use crate::incompressible::{Arrangement, DerivedField};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// Means of fields over time, weighted by the time step, and on request their fluctuations.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// Letters, digits, `_` and `-`, part of the names of its results; no other average of the same field has it.
    pub name: Option<String>,
    /// Names of the fields.
    pub fields: Vec<String>,
    /// Time ≥ 0 from which fields are averaged; default 0.
    pub start: f64,
    /// Whether the root mean square of the fluctuations is computed; default false.
    pub rms: bool,
}

impl Average {
    /// The name of a result of a field: `velocity_mean`, with a name `velocity_NAME_mean`.
    pub fn name_of(&self, field: &str, statistic: &str) -> String {
        match &self.name {
            None => format!("{field}_{statistic}"),
            Some(name) => format!("{field}_{name}_{statistic}"),
        }
    }

    /// The statistics it computes.
    pub fn statistics(&self) -> &'static [&'static str] {
        if self.rms { &["mean", "rms"] } else { &["mean"] }
    }

    /// Whether one of its results has this name.
    pub fn has_result(&self, name: &str) -> bool {
        let is_of = |field: &String| {
            self.statistics().iter().any(|statistic| self.name_of(field, statistic) == name)
        };
        self.fields.iter().any(is_of)
    }

    /// The names of the components of its results in the summary; `of_probes` leaves out derived fields.
    pub(crate) fn components(&self, names: Names, of_probes: bool) -> Vec<String> {
        let mut components = vec![];
        let known = names.all_fields().filter(|known| self.fields.iter().any(|f| f == known.name));
        for Field { name, rank, .. } in known {
            if of_probes && !names.default_fields().contains(name) {
                continue;
            }
            // An axial field has one component in 2D, three in 3D.
            let suffixes: &[&str] = match rank {
                Rank::Scalar => &[""],
                Rank::Vector(_) => &["_x", "_y", "_z"],
                Rank::Axial => &["", "_x", "_y", "_z"],
            };
            for statistic in self.statistics() {
                let of_field = self.name_of(name, statistic);
                components.extend(suffixes.iter().map(|suffix| format!("{of_field}{suffix}")));
            }
        }
        components
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AverageFile {
    name: Maybe<String>,
    pub(super) fields: Maybe<Vec<Spanned<String>>>,
    start: Maybe<f64>,
    rms: Option<bool>,
}

/// `time` is the place of `[time]`.
pub(crate) fn check(
    files: &[Spanned<AverageFile>],
    time: Option<&Range<usize>>,
    names: Names,
) -> Result<Vec<Average>, Problem> {
    let mut averages: Vec<Average> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        if time.is_none() {
            let message =
                "[[output.average]] needs [time]: a steady case has no averages over time";
            return Err(Problem::at(span, message));
        }
        let name = keys.name.as_ref().map(|name| plain_name(name, "average")).transpose()?;
        let fields = required(&keys.fields, "fields", &span)?;
        if fields.get_ref().is_empty() {
            return Err(Problem::at(fields.span(), "`fields` names no field"));
        }
        let start = number(&keys.start, 0.0, "start", Sign::NotNegative)?;
        let rms = keys.rms.unwrap_or(false);
        let mut average = Average { name, fields: Vec::new(), start, rms };
        for file in fields.get_ref() {
            let text = field(file, names)?;
            if rms && DerivedField::from_word(&text) == Some(DerivedField::Streamfunction) {
                return Err(without_fluctuations(file));
            }
            let is_same = |other: &Average| other.name == average.name;
            if averages.iter().filter(|other| is_same(other)).any(|o| o.fields.contains(&text)) {
                let message = format!("two averages of `{text}` have one name");
                let note = "give one of them a `name`, for example: name = \"late\"";
                return Err(Problem::at(file.span(), message).note(note));
            }
            if average.fields.contains(&text) {
                let message = format!("field `{text}` is named twice");
                return Err(Problem::at(file.span(), message));
            }
            average.fields.push(text);
        }
        averages.push(average);
    }
    Ok(averages)
}

/// Checks that averages start before the end of the run.
pub(crate) fn check_start(
    files: &[Spanned<AverageFile>],
    time: Option<&TimeCase>,
) -> Result<(), Problem> {
    let Some(time) = time else { return Ok(()) };
    for start in files.iter().filter_map(|file| file.get_ref().start.as_ref()) {
        if *start.get_ref() >= time.end {
            let message = format!(
                "the average starts at t = {}, but the run ends at t = {}",
                start.get_ref(),
                time.end
            );
            return Err(Problem::at(start.span(), message));
        }
    }
    Ok(())
}

/// A field that is evaluated for the means of fluxes.
fn without_fluctuations(field: &Spanned<String>) -> Problem {
    let message =
        format!("`{}` has no `rms`: it follows from the mean of the fluxes", field.get_ref());
    Problem::at(field.span(), message).note("average it without `rms`, under another `name`")
}

/// Checks that Q, and fluctuations of the vorticity, which follow from gradients of the velocity, are asked for in a
/// collocated flow alone.
pub(crate) fn check_scheme(
    files: &[Spanned<AverageFile>],
    arrangement: Arrangement,
) -> Result<(), Problem> {
    if arrangement == Arrangement::Collocated {
        return Ok(());
    }
    for keys in files.iter().map(Spanned::get_ref) {
        for field in keys.fields.iter().flat_map(Spanned::get_ref) {
            match DerivedField::from_word(field.get_ref()) {
                Some(DerivedField::Vorticity) if keys.rms.unwrap_or(false) => {
                    return Err(without_fluctuations(field));
                }
                Some(DerivedField::QCriterion) => {
                    let (text, scheme) = (field.get_ref(), arrangement.word());
                    let message = format!("`{text}` of the scheme `{scheme}` cannot be averaged");
                    let note = "it is recovered from the fluxes on the host, at output alone, and is no linear \
                                function of them; average the velocity or the vorticity";
                    return Err(Problem::at(field.span(), message).note(note));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
