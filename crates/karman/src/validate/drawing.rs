//! A figure of a suite as a plot.

use super::CaseResult;
use super::data::{computed, sampled, sorted};
use super::plot::{Plot, PlotAxis, Series, Style};
use crate::case::{Curve, Figure, FigureAxis, FigureKind, Reference, ReferenceData};

/// Markers along a reference formula.
const MARKERS: usize = 20;

/// The plot of a figure; none where none of its cases was run.
///
/// # Errors
/// Names the missing result.
pub(super) fn drawing(figure: &Figure, results: &[CaseResult]) -> Result<Option<Plot>, String> {
    let mut drawn: Vec<(&Curve, Vec<[f64; 2]>)> = vec![];
    for curve in &figure.curves {
        let points = computed(figure, curve, results)?;
        if !points.is_empty() {
            drawn.push((curve, points));
        }
    }
    if drawn.is_empty() {
        return Ok(None);
    }
    let mut plot = Plot {
        title: figure.title.clone(),
        x: axis(&figure.coordinate),
        y: axis(&figure.value),
        ..Plot::default()
    };
    if figure.kind == FigureKind::Cases {
        let points = sorted(drawn.iter().flat_map(|(_, points)| points.clone()).collect());
        let variant = 0;
        plot.series.push(Series { label: "karman".into(), style: Style::Markers, variant, points });
    } else {
        let style = match figure.kind {
            FigureKind::Meshes => Style::MarkedLine,
            FigureKind::Surface => Style::Markers,
            _ => Style::Line,
        };
        for (variant, (curve, points)) in drawn.iter().enumerate() {
            let (label, points) = (curve.label.clone(), points.clone());
            plot.series.push(Series { label, style, variant, points });
        }
    }
    for (variant, (curve, points)) in drawn.iter().enumerate() {
        if let Some(reference) = &curve.reference {
            add_reference(&mut plot, figure, reference, variant, points);
        }
    }
    if let Some(reference) = &figure.reference {
        let all: Vec<[f64; 2]> = drawn.iter().flat_map(|(_, points)| points.clone()).collect();
        add_reference(&mut plot, figure, reference, 1, &all);
    }
    if let (Some(order), Some((_, points))) = (figure.order, drawn.first()) {
        add_order_line(&mut plot, order, points);
    }
    if figure.upright {
        std::mem::swap(&mut plot.x, &mut plot.y);
        let points = plot.series.iter_mut().flat_map(|series| &mut series.points);
        points.for_each(|point| point.swap(0, 1));
    }
    Ok(Some(plot))
}

fn axis(axis: &FigureAxis) -> PlotAxis {
    PlotAxis { label: axis.label.clone(), log: axis.log, from: axis.from, to: axis.to }
}

fn add_reference(
    plot: &mut Plot,
    figure: &Figure,
    reference: &Reference,
    variant: usize,
    computed: &[[f64; 2]],
) {
    let label = reference.label.clone();
    let mut add = |style, points| {
        plot.series.push(Series { label: label.clone(), style, variant, points });
    };
    match &reference.data {
        ReferenceData::Points(points) => add(Style::Hollow, points.clone()),
        ReferenceData::Formula(formula) => {
            let along = || computed.iter().map(|point| point[0]);
            let low = figure.coordinate.from.unwrap_or(along().fold(f64::INFINITY, f64::min));
            let high = figure.coordinate.to.unwrap_or(along().fold(f64::NEG_INFINITY, f64::max));
            let points = sampled(formula, low, high);
            if figure.kind == FigureKind::Line {
                let every = points.len() / MARKERS;
                add(Style::Hollow, points.into_iter().step_by(every).collect());
            } else {
                add(Style::Dotted, points);
            }
        }
        ReferenceData::Band(band) => plot.bands.push((label, *band)),
    }
}

/// A straight line of the given order of convergence, below the first curve.
fn add_order_line(plot: &mut Plot, order: f64, points: &[[f64; 2]]) {
    let along = || points.iter().map(|point| point[0]);
    let (low, high) =
        (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max));
    let Some([x, y]) = points.iter().copied().find(|point| point[0] == low) else { return };
    let value = |at: f64| 0.6 * y * (at / x).powf(order);
    let points = [low, high].map(|at| [at, value(at)]).to_vec();
    plot.series.push(Series {
        label: format!("order {order}"),
        style: Style::Dotted,
        variant: 5,
        points,
    });
}
