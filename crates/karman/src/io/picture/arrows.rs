//! Arrows of a vector field on a slice, at the points of a regular grid of the picture.

use super::slice::{Corner, Slice};
use super::{FINENESS, INK, MARGIN_LEFT, MARGIN_TOP, Pen, View};
use plotters::element::Polygon;
use plotters::style::{Color, WHITE};

/// Pixels between arrows.
const SPACING: f64 = 34.0;
/// Length in pixels of the longest arrow.
const LONGEST: f64 = 30.0;
/// Length of an arrow's head as a part of the arrow, and its half width as a part of its length.
const HEAD: [f64; 2] = [0.4, 0.38];
/// Pixels by which the halo of an arrow is wider.
const HALO: f64 = 1.2;
/// Arrows shorter than this number of pixels are left out.
const SHORTEST: f64 = 1.5;

/// Draws arrows around the points of the grid, as long as the vectors are large. Returns the size of the
/// vector of the longest arrow, [`LONGEST`] pixels.
pub(super) fn draw(
    pen: &Pen<'_, '_>,
    slice: &Slice,
    vectors: &[[f64; 2]],
    view: &View,
) -> Result<f64, String> {
    let arrows = at_grid(slice, vectors, view);
    let size = |vector: [f64; 2]| vector[0].hypot(vector[1]);
    let sizes = arrows.iter().map(|(_, vector)| size(*vector));
    let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
    for (place, vector) in arrows {
        let length = LONGEST * size(vector) / largest;
        if length > SHORTEST {
            // y of the picture points downwards.
            let along = [vector[0] / size(vector), -vector[1] / size(vector)];
            arrow(pen, place, along, length)?;
        }
    }
    Ok(largest)
}

/// Points of the grid in pixels, each with the vector of the polygon around it.
fn at_grid(slice: &Slice, vectors: &[[f64; 2]], view: &View) -> Vec<([f64; 2], [f64; 2])> {
    let frame = [f64::from(view.width), f64::from(view.height)];
    let counts = frame.map(|pixels| (pixels / SPACING).floor().max(1.0) as usize);
    let corner = [f64::from(MARGIN_LEFT), f64::from(MARGIN_TOP)];
    let place = |axis: usize, index: usize| {
        corner[axis] + frame[axis] * (index as f64 + 0.5) / counts[axis] as f64
    };
    let mut found: Vec<Option<[f64; 2]>> = vec![None; counts[0] * counts[1]];
    for polygon in 0..slice.len() {
        let corners: Vec<[f64; 2]> =
            slice.corners_of(polygon).iter().map(|c: &Corner| view.place(c.position)).collect();
        let [columns, rows] = [0, 1].map(|axis| {
            let index =
                |pixels: f64| (pixels - corner[axis]) / frame[axis] * counts[axis] as f64 - 0.5;
            let low = corners.iter().map(|c| index(c[axis])).fold(f64::INFINITY, f64::min);
            let high = corners.iter().map(|c| index(c[axis])).fold(f64::NEG_INFINITY, f64::max);
            let last = (high.floor() + 1.0).clamp(0.0, counts[axis] as f64) as usize;
            low.ceil().max(0.0) as usize..last
        });
        for row in rows {
            for column in columns.clone() {
                if contains(&corners, [place(0, column), place(1, row)]) {
                    found[row * counts[0] + column] = Some(vectors[slice.cells[polygon] as usize]);
                }
            }
        }
    }
    let point = |index: usize| [place(0, index % counts[0]), place(1, index / counts[0])];
    let entries = found.into_iter().enumerate();
    entries.filter_map(|(index, vector)| Some((point(index), vector?))).collect()
}

/// Whether a convex polygon of either orientation contains a point.
fn contains(corners: &[[f64; 2]], point: [f64; 2]) -> bool {
    let sides = corners
        .iter()
        .zip(corners.iter().cycle().skip(1))
        .map(|(a, b)| (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]));
    sides.clone().all(|side| side >= 0.0) || sides.clone().all(|side| side <= 0.0)
}

/// An arrow around a point: in white, wider, then in ink, so that it is seen on any colour.
fn arrow(pen: &Pen<'_, '_>, centre: [f64; 2], along: [f64; 2], length: f64) -> Result<(), String> {
    let across = [-along[1], along[0]];
    let at = |forth: f64, aside: f64| {
        [0, 1].map(|k| {
            let pixels = centre[k] + forth * along[k] + aside * across[k];
            (pixels * f64::from(FINENESS)).round() as i32
        })
    };
    let head = HEAD[0] * length;
    let (half, width) = (HEAD[1] * head, (0.06 * length).max(0.5));
    for (colour, wider) in [(WHITE, HALO), (INK, 0.0)] {
        let (tail, neck, tip) =
            (-0.5 * length - wider, 0.5 * length - head, 0.5 * length + 2.0 * wider);
        let outline = [
            at(tail, -width - wider),
            at(neck - wider, -width - wider),
            at(neck - wider, -half - 1.5 * wider),
            at(tip, 0.0),
            at(neck - wider, half + 1.5 * wider),
            at(neck - wider, width + wider),
            at(tail, width + wider),
        ];
        let outline: Vec<(i32, i32)> = outline.into_iter().map(|[x, y]| (x, y)).collect();
        pen.area
            .draw(&Polygon::new(outline, colour.filled()))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
