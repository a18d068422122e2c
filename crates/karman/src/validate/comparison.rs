//! Comparison of a case with its expected values, reference curves and Richardson extrapolations.

use super::CaseResult;
use super::data::{computed, pairs, sorted};
use super::markup::significant;
use super::richardson::extrapolation;
use super::titles::title;
use crate::case::{Curve, Figure, SuiteCase, SuiteSection};
use crate::expected::{Comparison, compare};

/// Compares the results of a case with its expected values, curves and extrapolations. Names of comparisons
/// are those of the suite.
///
/// # Errors
/// Names the missing result.
pub fn checks(
    section: &SuiteSection,
    case: &SuiteCase,
    result: &CaseResult,
) -> Result<Vec<Comparison>, String> {
    let Some(run) = result.runs.first() else { return Ok(vec![]) };
    let expected = compare(&result.expected, &run.summary).map_err(|error| error.to_string())?;
    let mut all: Vec<Comparison> = expected
        .into_iter()
        .map(|comparison| {
            let path = title(section, &comparison.path);
            Comparison { path, ..comparison }
        })
        .collect();
    for (path, relative) in &case.extrapolated {
        let found = extrapolation(result, path)
            .ok_or_else(|| format!("three meshes give no extrapolation of `{path}`"))?;
        let name = format!("{}, against its extrapolation", title(section, path));
        let tolerance = relative * found.limit.abs();
        all.push(comparison(name, found.finest, found.limit, tolerance));
    }
    for figure in &section.figures {
        for curve in figure.curves.iter().filter(|curve| curve.case == case.name) {
            all.extend(curve_check(figure, curve, result)?);
        }
    }
    Ok(all)
}

/// The largest difference of a curve from its reference, where it has a reference with a tolerance.
fn curve_check(
    figure: &Figure,
    curve: &Curve,
    result: &CaseResult,
) -> Result<Option<Comparison>, String> {
    let (Some(reference), Some(within)) = (&curve.reference, curve.within) else { return Ok(None) };
    let points = sorted(computed(figure, curve, std::slice::from_ref(result))?);
    let all = pairs(figure, &points, reference);
    let difference = |pair: &[f64; 3]| (pair[1] - pair[2]).abs();
    let worst = all.iter().max_by(|a, b| difference(a).total_cmp(&difference(b)));
    let Some([x, value, expected]) = worst else {
        return Err(format!("no point of the reference of `{}` is on the curve", figure.title));
    };
    let place = format!("{} = {}", figure.coordinate.label, significant(*x, 4));
    let points = match all.len() {
        1 => String::new(),
        n => format!(", worst of {n} points"),
    };
    let name = format!("{}, {}: {place}{points}", figure.title, curve.label);
    Ok(Some(comparison(name, *value, *expected, within)))
}

fn comparison(path: String, actual: f64, expected: f64, tolerance: f64) -> Comparison {
    let is_met = (actual - expected).abs() <= tolerance;
    Comparison { path, expected, tolerance, actual: Some(actual), is_met }
}
