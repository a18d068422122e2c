//! `[[output.recirculation]]`: separation and reattachment of reversed flow.

use super::error::Problem;
use super::output_parts::{ends, points, unique_name};
use super::value::Maybe;
use serde::Deserialize;
use toml::Spanned;

/// A line along which separation and reattachment of reversed flow are found.
#[derive(Clone, Debug, PartialEq)]
pub struct Recirculation {
    /// Letters, digits, `_` and `-`; no other recirculation has it.
    pub name: String,
    /// First point, at the body.
    pub from: [f64; 3],
    /// Last point, downstream.
    pub to: [f64; 3],
    /// Number of points, ends included; default 1001.
    pub points: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecirculationFile {
    name: Maybe<String>,
    from: Maybe<Vec<f64>>,
    to: Maybe<Vec<f64>>,
    points: Maybe<usize>,
}

pub(crate) fn check(files: &[Spanned<RecirculationFile>]) -> Result<Vec<Recirculation>, Problem> {
    let mut recirculations: Vec<Recirculation> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        let used = recirculations.iter().map(|known| known.name.as_str());
        let name = unique_name(&keys.name, "recirculation", &span, used)?;
        let (from, to) = ends(&keys.from, &keys.to, &format!("recirculation `{name}`"), &span)?;
        let points = points(&keys.points, 1001)?;
        recirculations.push(Recirculation { name, from, to, points });
    }
    Ok(recirculations)
}
