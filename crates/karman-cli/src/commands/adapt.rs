//! `karman adapt`

use crate::arguments::{AdaptArguments, Frame};
use crate::console;
use crate::failure::Failure;
use karman::expression::{Expression, Variables};
use karman::mesh::files::{
    FieldArray, FieldLocation, read_mesh, read_mesh_with_fields, write_mesh,
};
use karman::mesh::{Mesh, MeshOptions};
use karman_adapt::{
    AdaptOptions, Adapted, AnalyticMetric, Eigen, FieldSamples, HessianOptions, Metric,
    MetricField, NodalMetric, adapt, limit_gradation, metric_of_field,
};
use serde_json::json;
use std::path::Path;

/// Coordinates, and the radius and angle about the z axis.
const CYLINDRICAL: Variables = Variables { point: &["x", "y", "z", "r", "t"], time: None };

pub(crate) fn run(arguments: &AdaptArguments, quiet: bool) -> Result<(), Failure> {
    let mut mesh = build(read_mesh(&arguments.input).map_err(Failure::input)?)?;
    let field = metric(arguments, &mesh)?;
    let options = AdaptOptions {
        ridge_angle_deg: arguments.ridge_angle,
        smooth_only: arguments.smooth_only,
        ..AdaptOptions::default()
    };
    let mut first = None;
    let mut cycle = 1;
    let last = loop {
        let adapted = adapt(&mesh, field.as_ref(), &options).map_err(Failure::input)?;
        first.get_or_insert(adapted.before.clone());
        if cycle == arguments.cycles {
            break adapted;
        }
        mesh = build(adapted.mesh)?;
        cycle += 1;
    };
    let Adapted { mesh, after, before, .. } = last;
    write_mesh(&arguments.output, &mesh).map_err(Failure::input)?;
    let before = first.unwrap_or(before);
    if arguments.json {
        return console::print_json(
            &json!({ "before": before, "after": after, "cycles": arguments.cycles }),
        );
    }
    let output = arguments.output.display();
    console::tell(quiet, &format!("before: {before}\nafter: {after}\nwritten to {output}"))
}

fn build(raw: karman::mesh::RawMesh) -> Result<Mesh, Failure> {
    Mesh::new(raw, &MeshOptions::default()).map_err(Failure::input)
}

/// The metric that the options prescribe.
fn metric(arguments: &AdaptArguments, mesh: &Mesh) -> Result<Box<dyn MetricField>, Failure> {
    let dimension = mesh.dimension;
    let field: Box<dyn MetricField> = if let Some(text) = &arguments.metric {
        let names = if dimension == 2 { "m11,m12,m22" } else { "m11,m12,m13,m22,m23,m33" };
        let entries =
            expressions("--metric", text, names, Variables { time: None, ..Variables::CARTESIAN })?;
        Box::new(AnalyticMetric(move |point: [f64; 3]| {
            let value = |entry: usize| entries[entry].evaluate(&point, 0.0);
            if dimension == 2 {
                return Metric {
                    xx: value(0),
                    xy: value(1),
                    yy: value(2),
                    zz: 1.0,
                    ..Metric::ZERO
                };
            }
            Metric {
                xx: value(0),
                xy: value(1),
                xz: value(2),
                yy: value(3),
                yz: value(4),
                zz: value(5),
            }
        }))
    } else if let Some(text) = &arguments.sizes {
        let names = if dimension == 2 { "h1,h2" } else { "h1,h2,h3" };
        let sizes = expressions("--sizes", text, names, CYLINDRICAL)?;
        let frame = arguments.frame;
        Box::new(AnalyticMetric(move |point: [f64; 3]| sized(dimension, frame, &sizes, point)))
    } else {
        return from_field(arguments);
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

/// The metric of the second derivatives of a field in a result.
fn from_field(arguments: &AdaptArguments) -> Result<Box<dyn MetricField>, Failure> {
    let text = arguments.field.as_deref().unwrap_or_default();
    let Some((path, name)) = text.rsplit_once(':') else {
        return Err(Failure::Input(format!(
            "--field \"{text}\": FILE:NAME is needed, as in fields_0001.vtu:temperature"
        )));
    };
    let mut read = read_mesh_with_fields(Path::new(path)).map_err(Failure::input)?;
    let (location, field) = read.field(Path::new(path), name).map_err(Failure::input)?;
    let values = magnitudes(field);
    read.mesh.close_boundary("boundary");
    let mesh = build(read.mesh)?;
    let order = match location {
        FieldLocation::Cells => &mesh.original_cell,
        FieldLocation::Nodes => &mesh.original_node,
    };
    let values: Vec<f64> = order.iter().map(|&own| values[own as usize]).collect();
    let samples = match location {
        FieldLocation::Cells => FieldSamples::Cells(&values),
        FieldLocation::Nodes => FieldSamples::Nodes(&values),
    };
    let options = HessianOptions {
        norm: arguments.norm,
        complexity: arguments.complexity.unwrap_or_default(),
        h_min: arguments.h_min.unwrap_or(f64::MIN_POSITIVE.sqrt()),
        h_max: arguments.h_max.unwrap_or(mesh.bounding_box_diagonal()),
        anisotropy: arguments.anisotropy,
    };
    let mut metrics = metric_of_field(&mesh, samples, &options).map_err(Failure::input)?;
    let gradation = arguments.gradation.unwrap_or(1.5);
    if gradation > 0.0 {
        limit_gradation(&mesh, &mut metrics, gradation).map_err(Failure::input)?;
    }
    Ok(Box::new(NodalMetric::new(&mesh, &metrics)))
}

/// The values of a field; of a vector, its magnitudes.
fn magnitudes(field: &FieldArray) -> Vec<f64> {
    if field.components == 1 {
        return field.values.clone();
    }
    let magnitude = |entity: usize| {
        (0..field.components).map(|k| field.component(k)[entity]).fold(0.0_f64, f64::hypot)
    };
    (0..field.component(0).len()).map(magnitude).collect()
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
