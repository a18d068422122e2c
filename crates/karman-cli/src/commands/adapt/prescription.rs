//! The metric that the options of `karman adapt` prescribe.

use super::fields::{metric_of_derivatives, metric_of_file};
use crate::arguments::{AdaptArguments, Frame};
use crate::failure::Failure;
use karman::expression::{Expression, Variables};
use karman::mesh::Mesh;
use karman_adapt::{AnalyticMetric, Eigen, Metric, MetricField, NodalMetric, limit_gradation};

/// Coordinates, and the radius and angle about the z axis.
const CYLINDRICAL: Variables = Variables { point: &["x", "y", "z", "r", "t"], time: None };

/// The metric that the options prescribe.
pub(super) fn prescribed(
    arguments: &AdaptArguments,
    mesh: &Mesh,
) -> Result<Box<dyn MetricField>, Failure> {
    let dimension = mesh.dimension;
    let field: Box<dyn MetricField> = if let Some(text) = &arguments.metric {
        let names = if dimension == 2 { "m11,m12,m22" } else { "m11,m12,m13,m22,m23,m33" };
        let entries =
            expressions("--metric", text, names, Variables { time: None, ..Variables::CARTESIAN })?;
        Box::new(AnalyticMetric(move |point: [f64; 3]| {
            Metric::of_upper_triangle(dimension, |entry| entries[entry].evaluate(&point, 0.0))
        }))
    } else if let Some(text) = &arguments.sizes {
        let names = if dimension == 2 { "h1,h2" } else { "h1,h2,h3" };
        let sizes = expressions("--sizes", text, names, CYLINDRICAL)?;
        let frame = arguments.frame;
        Box::new(AnalyticMetric(move |point: [f64; 3]| sized(dimension, frame, &sizes, point)))
    } else if arguments.metric_file.is_some() {
        return metric_of_file(arguments, dimension);
    } else {
        return metric_of_derivatives(arguments, dimension);
    };
    let Some(gradation) = arguments.gradation.filter(|&gradation| gradation > 0.0) else {
        return Ok(field);
    };
    let mut metrics: Vec<Metric> = mesh.points.iter().map(|&point| field.at(point, 0).0).collect();
    if let Some(node) = metrics.iter().position(|metric| !metric.is_positive_definite()) {
        let place = karman::mesh::Place(mesh.points[node]);
        return Err(Failure::Input(format!("the metric at {place} is not positive definite")));
    }
    limit_gradation(mesh, &mut metrics, gradation).map_err(Failure::input)?;
    Ok(Box::new(NodalMetric::new(mesh, &metrics)))
}

/// The metric of sizes along x, y, z or along r, t, z.
fn sized(dimension: usize, frame: Frame, sizes: &[Expression], [x, y, z]: [f64; 3]) -> Metric {
    let (r, t) = (x.hypot(y), y.atan2(x));
    let value = |axis: usize| {
        let h = sizes.get(axis).map_or(1.0, |size| size.evaluate(&[x, y, z, r, t], 0.0));
        // A size that is not positive gives a metric that is refused with its place.
        if h > 0.0 { 1.0 / (h * h) } else { -1.0 }
    };
    let (cosine, sine) = match frame {
        Frame::Cylindrical if r > 0.0 => (x / r, y / r),
        _ => (1.0, 0.0),
    };
    let third = if dimension == 2 { 1.0 } else { value(2) };
    let vectors = [[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]];
    Metric::from_eigen(&Eigen { values: [value(0), value(1), third], vectors })
}

/// The expressions of a list, as many as `names` has.
fn expressions(
    option: &str,
    text: &str,
    names: &str,
    variables: Variables,
) -> Result<Vec<Expression>, Failure> {
    let parts = split_at_commas(text);
    let expected = names.split(',').count();
    if parts.len() != expected {
        let message = format!(
            "{option} \"{text}\" has {} entries; {expected} are needed: {names}",
            parts.len()
        );
        return Err(Failure::Input(message));
    }
    let parse = |part: &&str| {
        Expression::parse(part.trim(), variables)
            .map_err(|error| Failure::Input(format!("{option} \"{}\": {error}", part.trim())))
    };
    parts.iter().map(parse).collect()
}

/// The parts of a list between commas that are not inside parentheses.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (vec![], 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_of_parentheses() {
        assert_eq!(
            split_at_commas("max(x, 0.1),0,min(1,max(y,2))"),
            ["max(x, 0.1)", "0", "min(1,max(y,2))"]
        );
        assert_eq!(split_at_commas(""), [""]);
    }
}
