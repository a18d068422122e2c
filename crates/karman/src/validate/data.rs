//! The numbers of a figure, from the output of runs.

use super::{CaseResult, MeshRun};
use crate::case::{Curve, Figure, FigureKind, Reference, ReferenceData};
use crate::expected::number_at;
use crate::io::columns::Columns;
use serde_json::Value;

/// Intervals at whose ends a formula is drawn.
const SAMPLES: usize = 200;

/// The points of a curve, coordinate and value, in the order of the output; none where its case was not run.
pub(super) fn computed(
    figure: &Figure,
    curve: &Curve,
    results: &[CaseResult],
) -> Result<Vec<[f64; 2]>, String> {
    let result = results.iter().find(|result| result.name == curve.case);
    let Some((run, runs)) = result.and_then(|result| Some((result.runs.first()?, &result.runs)))
    else {
        return Ok(vec![]);
    };
    let table = |file: String| {
        let table = Columns::read(&run.directory.join(file));
        let pairs = table.and_then(|table| table.pairs(&figure.coordinate.name, &curve.value));
        pairs.map_err(|error| error.to_string())
    };
    match figure.kind {
        FigureKind::Line => table(format!("line_{}.csv", curve.line)),
        FigureKind::Surface => table(format!("surface_{}.csv", curve.line)),
        FigureKind::History => table("history.csv".to_owned()),
        FigureKind::Cases => Ok(vec![[curve.at, entry(&run.summary, &curve.value)?]]),
        FigureKind::Meshes => runs
            .iter()
            .map(|run| Ok([run.coarsening as f64, entry(&run.summary, &curve.value)?]))
            .collect(),
    }
}

fn entry(summary: &Value, path: &str) -> Result<f64, String> {
    number_at(summary, path).ok_or_else(|| format!("the summary has no number `{path}`"))
}

/// The value at `x` of `curve`, sorted by its coordinate, by linear interpolation; none outside.
pub(super) fn value_at(curve: &[[f64; 2]], x: f64) -> Option<f64> {
    let next = curve.partition_point(|point| point[0] < x);
    let after = curve.get(next)?;
    if after[0] == x {
        return Some(after[1]);
    }
    let before = curve.get(next.checked_sub(1)?)?;
    Some(before[1] + (after[1] - before[1]) * (x - before[0]) / (after[0] - before[0]))
}

/// A curve sorted by its coordinate.
pub(super) fn sorted(mut curve: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    curve.sort_by(|a, b| a[0].total_cmp(&b[0]));
    curve
}

/// Values of a formula from `from` to `to`.
pub(super) fn sampled(formula: &crate::case::Value, from: f64, to: f64) -> Vec<[f64; 2]> {
    let place = |k: usize| from + (to - from) * k as f64 / SAMPLES as f64;
    (0..=SAMPLES).map(|k| [place(k), formula.at(&[place(k)], 0.0)]).collect()
}

/// Coordinate, computed and reference value: at the points of the reference within the curve, or for a
/// formula at the points of the curve. `computed` is sorted.
pub(super) fn pairs(
    figure: &Figure,
    computed: &[[f64; 2]],
    reference: &Reference,
) -> Vec<[f64; 3]> {
    let (from, to) = (figure.coordinate.from, figure.coordinate.to);
    let in_range = |x: f64| from.is_none_or(|from| x >= from) && to.is_none_or(|to| x <= to);
    match &reference.data {
        ReferenceData::Points(points) => points
            .iter()
            .filter(|point| in_range(point[0]))
            .filter_map(|[x, value]| Some([*x, value_at(computed, *x)?, *value]))
            .collect(),
        ReferenceData::Formula(formula) => computed
            .iter()
            .filter(|point| in_range(point[0]))
            .map(|[x, value]| [*x, *value, formula.at(&[*x], 0.0)])
            .collect(),
        ReferenceData::Band(_) => vec![],
    }
}

/// Cells of a run.
pub(super) fn cells(run: &MeshRun) -> u64 {
    run.summary.pointer("/mesh/cells").and_then(Value::as_u64).unwrap_or(0)
}
