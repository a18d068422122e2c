//! The history of a run as a picture: panels above one another over a common axis of time or steps, one for residuals
//! and rates, on a logarithmic axis, and one each for iterations, integrals over patches and probes.

use super::raster::{FINENESS, Raster};
use super::{FAINT, INK, Pen, PictureError, font, save, ticks};
use crate::io::columns::Columns;
use plotters::backend::BitMapBackend;
use plotters::drawing::IntoDrawingArea;
use plotters::element::PathElement;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};
use std::path::Path;

/// Pixels.
const WIDTH: u32 = 1160;
const LEFT: f64 = 96.0;
const LEGEND: f64 = 300.0;
const TOP: f64 = 64.0;
const PANEL: f64 = 190.0;
const GAP: f64 = 34.0;
const BOTTOM: f64 = 62.0;
const LEGEND_ROW: f64 = 20.0;
/// Letters of a legend's text.
const LETTERS: usize = 34;
/// Curves of a panel; further ones are counted.
const CURVES: usize = 8;

/// Colours distinguishable with any colour vision (M. Okabe & K. Ito, 2008), darkened, and two more.
const COLOURS: [RGBColor; CURVES] = [
    RGBColor(0, 90, 156),
    RGBColor(192, 64, 0),
    RGBColor(0, 121, 90),
    RGBColor(139, 63, 134),
    RGBColor(122, 96, 0),
    RGBColor(51, 51, 51),
    RGBColor(86, 160, 211),
    RGBColor(220, 130, 150),
];
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Curves with a common vertical axis.
struct Panel<'a> {
    title: &'static str,
    is_log: bool,
    /// Legend and values.
    curves: Vec<(&'a str, &'a [f64])>,
}

/// Writes the history of a run as PNG: `history` has the columns of `history.csv`. Nothing is written of a history
/// with fewer than two rows.
///
/// # Errors
/// [`PictureError::Draw`].
pub fn write(path: &Path, title: &str, history: &Columns) -> Result<(), PictureError> {
    let failed = |reason: String| PictureError::Draw { path: path.to_owned(), reason };
    let columns: Vec<(&str, &[f64])> = history
        .names()
        .iter()
        .filter_map(|name| Some((name.as_str(), history.column(name).ok()?)))
        .collect();
    match draw(title, &columns).map_err(failed)? {
        Some(pixels) => save(path, pixels),
        None => Ok(()),
    }
}

type Pixels = (u32, u32, Vec<u8>);

/// The pixels; none of fewer than two rows, which have no curve.
fn draw(title: &str, columns: &[(&str, &[f64])]) -> Result<Option<Pixels>, String> {
    let of =
        |name: &str| columns.iter().find(|(known, _)| *known == name).map(|(_, values)| *values);
    let (axis, x) = match (of("time"), of("step")) {
        (Some(time), _) => ("time", time),
        (None, Some(step)) => ("step", step),
        (None, None) => return Ok(None),
    };
    if x.len() < 2 {
        return Ok(None);
    }
    let panels = panels(columns);
    let n = panels.len() as f64;
    let height = (TOP + n * PANEL + (n - 1.0).max(0.0) * GAP + BOTTOM) as u32;
    let mut raster = Raster::new(WIDTH, height);
    let size = (raster.width, raster.height);
    font()?;
    let area = BitMapBackend::with_buffer(&mut raster.bytes, size).into_drawing_area();
    let pen = Pen { area: &area };
    pen.text(title, [LEFT, 16.0], 26.0, INK, (HPos::Left, VPos::Top))?;
    let along = Scale::new(x.iter().copied(), false, [LEFT, f64::from(WIDTH) - LEGEND], 0.0);
    for (index, panel) in panels.iter().enumerate() {
        let top = TOP + index as f64 * (PANEL + GAP);
        draw_panel(&pen, panel, x, &along, top)?;
    }
    let bottom = f64::from(height) - BOTTOM;
    for (value, text) in along.ticks(8) {
        let x = along.place(value);
        pen.line([x, bottom], [x, bottom + 6.0])?;
        pen.text(&text, [x, bottom + 10.0], 16.0, INK, (HPos::Center, VPos::Top))?;
    }
    let middle = (LEFT + f64::from(WIDTH) - LEGEND) / 2.0;
    pen.text(axis, [middle, bottom + 34.0], 18.0, INK, (HPos::Center, VPos::Top))?;
    area.present().map_err(|error| error.to_string())?;
    drop(area);
    Ok(Some(raster.averaged()))
}

/// The panels that have curves.
fn panels<'a>(columns: &[(&'a str, &'a [f64])]) -> Vec<Panel<'a>> {
    let select = |title, is_log, is: &dyn Fn(&str) -> bool| {
        let curves = columns.iter().copied().filter(|(name, _)| is(name));
        Panel { title, is_log, curves: curves.collect() }
    };
    let is_coefficient = |name: &str| name.starts_with("patch_") && name.ends_with("_coefficient");
    let has_coefficients = columns.iter().any(|(name, _)| is_coefficient(name));
    let is_integral = |name: &str| match has_coefficients {
        true => is_coefficient(name) || name.ends_with("_nusselt"),
        false => {
            name.starts_with("patch_")
                && ["pressure_force_", "viscous_force_"].iter().all(|part| !name.contains(part))
                && !name.ends_with("_area")
        }
    };
    // An iteration towards a steady state has scaled residuals.
    let is_scaled = columns.iter().any(|(name, _)| name.ends_with("_residual"));
    let is_residual = |name: &str| match is_scaled {
        true => name.ends_with("_residual"),
        false => ["residual", "rate", "divergence_max"].contains(&name),
    };
    let of_residuals = if is_scaled { "scaled residuals" } else { "residual and rate of change" };
    // Where each solve has its iterations, the column of the last solve repeats one of them.
    let has_solves = columns.iter().any(|(name, _)| name.ends_with("_iterations"));
    let is_count = |name: &str| match has_solves {
        true => name.ends_with("_iterations"),
        false => name == "iterations",
    };
    let all = [
        select(of_residuals, true, &is_residual),
        select("iterations", false, &is_count),
        select("integrals over patches", false, &is_integral),
        select("probes", false, &|name| name.starts_with("probe_")),
    ];
    all.into_iter().filter(|panel| !panel.curves.is_empty()).collect()
}

fn draw_panel(
    pen: &Pen<'_, '_>,
    panel: &Panel<'_>,
    x: &[f64],
    along: &Scale,
    top: f64,
) -> Result<(), String> {
    let (left, right, bottom) = (LEFT, f64::from(WIDTH) - LEGEND, top + PANEL);
    let shown = &panel.curves[..panel.curves.len().min(CURVES)];
    let values = shown.iter().flat_map(|(_, values)| values.iter().copied());
    let up = Scale::new(values, panel.is_log, [bottom, top], 0.05);
    for (value, text) in up.ticks(5) {
        let y = up.place(value);
        colour_line(pen, &[[left, y], [right, y]], GRID, 1.0)?;
        pen.line([left - 6.0, y], [left, y])?;
        pen.text(&text, [left - 12.0, y], 16.0, INK, (HPos::Right, VPos::Center))?;
    }
    for ((_, values), colour) in shown.iter().zip(COLOURS) {
        for piece in polylines(x, values, along, &up) {
            colour_line(pen, &piece, colour, 1.6)?;
        }
    }
    pen.frame([left, top], [right, bottom])?;
    let legend = right + 22.0;
    pen.text(panel.title, [legend, top - 4.0], 16.0, FAINT, (HPos::Left, VPos::Top))?;
    let first = top + 28.0;
    for (row, ((name, _), colour)) in shown.iter().zip(COLOURS).enumerate() {
        let y = first + LEGEND_ROW * row as f64;
        colour_line(pen, &[[legend, y], [legend + 22.0, y]], colour, 3.0)?;
        pen.text(&shortened(name), [legend + 30.0, y], 14.0, INK, (HPos::Left, VPos::Center))?;
    }
    let further = panel.curves.len() - shown.len();
    if further > 0 {
        let text = format!("and {further} more in history.csv");
        let y = first + LEGEND_ROW * shown.len() as f64;
        pen.text(&text, [legend, y - 8.0], 13.0, FAINT, (HPos::Left, VPos::Top))?;
    }
    Ok(())
}

/// The name of a column for the legend.
fn shortened(name: &str) -> String {
    let name = name.strip_prefix("patch_").or(name.strip_prefix("probe_")).unwrap_or(name);
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// A curve as lines between its finite values, which are positive on a logarithmic axis. Of many values in a column
/// of pixels the first, the lowest, the highest and the last are drawn.
fn polylines(x: &[f64], values: &[f64], along: &Scale, up: &Scale) -> Vec<Vec<[f64; 2]>> {
    let mut pieces: Vec<Vec<[f64; 2]>> = vec![vec![]];
    // The points of one column of pixels.
    let mut column: Vec<[f64; 2]> = vec![];
    let flush = |column: &mut Vec<[f64; 2]>, piece: &mut Vec<[f64; 2]>| {
        let order = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        if let (Some(low), Some(high), Some(first), Some(last)) = (
            column.iter().min_by(order),
            column.iter().max_by(order),
            column.first(),
            column.last(),
        ) {
            piece.extend([*first, *low, *high, *last]);
            piece.dedup();
        }
        column.clear();
    };
    for (x, value) in x.iter().zip(values) {
        let Some(piece) = pieces.last_mut() else { break };
        if !up.can_show(*value) {
            flush(&mut column, piece);
            pieces.push(vec![]);
            continue;
        }
        let point = [along.place(*x), up.place(*value)];
        if column.first().is_some_and(|first| first[0].floor() != point[0].floor()) {
            flush(&mut column, piece);
        }
        column.push(point);
    }
    if let Some(piece) = pieces.last_mut() {
        flush(&mut column, piece);
    }
    // A single value is a short dash.
    for piece in &mut pieces {
        if let [[x, y]] = piece[..] {
            *piece = vec![[x - 2.0, y], [x + 2.0, y]];
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn colour_line(
    pen: &Pen<'_, '_>,
    points: &[[f64; 2]],
    colour: RGBColor,
    width: f64,
) -> Result<(), String> {
    let style = colour.stroke_width((width * f64::from(FINENESS)).round() as u32);
    // Piece by piece: the mitre of a path reaches far beyond a sharp corner.
    for ends in points.windows(2) {
        let path: Vec<(i32, i32)> =
            ends.iter().map(|[x, y]| (Pen::fine(*x), Pen::fine(*y))).collect();
        let line = PathElement::new(path, style);
        pen.area.draw(&line).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// An axis: its range, logarithms of values if `is_log`, and the pixels of its ends.
struct Scale {
    is_log: bool,
    range: [f64; 2],
    ends: [f64; 2],
}

impl Scale {
    /// The range of the values that can be shown, wider by a fraction `room` at both ends.
    fn new(values: impl Iterator<Item = f64>, is_log: bool, ends: [f64; 2], room: f64) -> Scale {
        let mut scale = Scale { is_log, range: [f64::INFINITY, f64::NEG_INFINITY], ends };
        for value in values {
            if scale.can_show(value) {
                let value = scale.coordinate(value);
                scale.range = [scale.range[0].min(value), scale.range[1].max(value)];
            }
        }
        let [low, high] = match scale.range {
            [low, high] if low > high => [0.0, 1.0],
            [low, high] if high - low <= 1e-9 * low.abs().max(high.abs()) => {
                let half = if is_log { 0.5 } else { (0.1 * high.abs()).max(1e-12) };
                [low - half, high + half]
            }
            range => range,
        };
        let margin = room * (high - low);
        scale.range = [low - margin, high + margin];
        scale
    }

    fn can_show(&self, value: f64) -> bool {
        value.is_finite() && (!self.is_log || value > 0.0)
    }

    fn coordinate(&self, value: f64) -> f64 {
        if self.is_log { value.log10() } else { value }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (self.coordinate(value) - self.range[0]) / (self.range[1] - self.range[0]);
        self.ends[0] + share * (self.ends[1] - self.ends[0])
    }

    /// About `count` values with their texts: powers of ten on a logarithmic axis of more than a decade.
    fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let [low, high] = self.range;
        if !self.is_log {
            return ticks(low, high, count);
        }
        let (first, last) = (low.ceil() as i32, high.floor() as i32);
        if last <= first {
            let inside = |(value, _): &(f64, String)| *value > 0.0;
            return ticks(10f64.powf(low), 10f64.powf(high), count)
                .into_iter()
                .filter(inside)
                .collect();
        }
        let every = ((last - first) as usize / count + 1).max(1) as i32;
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        powers.map(|k| (10f64.powi(k), format!("1e{k}").replace('-', "\u{2212}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> Columns {
        Columns::parse(text, Path::new("history.csv")).unwrap()
    }

    #[test]
    fn a_history_is_drawn_with_a_panel_for_each_kind_of_column() {
        let mut text = "step,time,dt,rate,residual,iterations,patch_a_area,patch_a_heat_flux,probe_b_temperature\n".to_owned();
        for step in 1..=200 {
            let t = f64::from(step) * 0.1;
            let (rate, residual) = ((-t).exp(), 1e-9 * (1.0 + t.sin()));
            text += &format!("{step},{t},0.1,{rate},{residual},7,1,{},{}\n", t.cos(), 300.0 + t);
        }
        let history = columns(&text);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.png");
        write(&path, "A bar", &history).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        let height = (TOP + 4.0 * PANEL + 3.0 * GAP + BOTTOM) as u32;
        let size: Vec<u8> = [WIDTH, height].iter().flat_map(|n| n.to_be_bytes()).collect();
        assert_eq!(bytes[16..24], size);

        let owned: Vec<(&str, &[f64])> =
            history.names().iter().map(|n| (n.as_str(), history.column(n).unwrap())).collect();
        let titles: Vec<&str> = panels(&owned).iter().map(|panel| panel.title).collect();
        let all = ["residual and rate of change", "iterations", "integrals over patches", "probes"];
        assert_eq!(titles, all);
        let names: Vec<&str> = panels(&owned)[2].curves.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["patch_a_heat_flux"], "an area is no history");
        let solves = ["iterations", "momentum_iterations", "pressure_iterations"];
        let solves = solves.map(|name| (name, &[4.0][..]));
        let names: Vec<&str> = panels(&solves)[0].curves.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["momentum_iterations", "pressure_iterations"]);
    }

    #[test]
    fn places_of_values_are_exact_and_gaps_stay_open() {
        let along = Scale::new([0.0, 4.0].into_iter(), false, [0.0, 400.0], 0.0);
        let up = Scale::new([1e-6, 1.0].into_iter(), true, [600.0, 0.0], 0.0);
        assert_eq!((along.place(1.0), up.place(1e-6), up.place(1.0)), (100.0, 600.0, 0.0));
        assert!((up.place(1e-2) - 200.0).abs() < 1e-9);
        let labels: Vec<String> = up.ticks(6).into_iter().map(|(_, text)| text).collect();
        assert_eq!(labels, ["1e−6", "1e−4", "1e−2", "1e0"]);
        let x = [0.0, 1.0, 2.0, 3.0, 4.0];
        let pieces = polylines(&x, &[1.0, 1.0, f64::NAN, 0.0, 1e-6], &along, &up);
        assert_eq!(pieces, [vec![[0.0, 0.0], [100.0, 0.0]], vec![[398.0, 600.0], [402.0, 600.0]]]);
        // A constant and a history without values have a range.
        assert_eq!(Scale::new([5.0].into_iter(), false, [0.0, 1.0], 0.0).range, [4.5, 5.5]);
        assert_eq!(Scale::new([].into_iter(), false, [0.0, 1.0], 0.0).range, [0.0, 1.0]);
    }

    #[test]
    fn many_rows_in_a_column_keep_their_extremes() {
        let x: Vec<f64> = (0..100_000).map(f64::from).collect();
        let values: Vec<f64> =
            x.iter().map(|x| if *x == 5000.0 { 9.0 } else { (x % 2.0) - 0.5 }).collect();
        let along = Scale::new(x.iter().copied(), false, [0.0, 500.0], 0.0);
        let up = Scale::new([-1.0, 9.0].into_iter(), false, [100.0, 0.0], 0.0);
        let pieces = polylines(&x, &values, &along, &up);
        assert!(pieces.len() == 1 && pieces[0].len() <= 4 * 501, "{}", pieces[0].len());
        assert!(pieces[0].iter().any(|[_, y]| *y == 0.0), "the peak is drawn");
    }

    #[test]
    fn curves_with_spikes_stay_inside_their_panels() {
        // Many values in each column of pixels, and a start far from the rest.
        let n = 2000;
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let spikes: Vec<f64> = (0..n)
            .map(|k| {
                if k == 0 {
                    -50.0
                } else if k % 7 == 0 {
                    7.0
                } else {
                    4.0 + 1e-3 * f64::from(k % 3)
                }
            })
            .collect();
        let all =
            [("time", &x[..]), ("iterations", &spikes[..]), ("probe_a_pressure", &spikes[..])];
        let (width, _, bytes) = draw("", &all).unwrap().unwrap();
        let is_white = |x: usize, y: usize| {
            let pixel = 3 * (y * width as usize + x);
            bytes[pixel..pixel + 3] == [255; 3]
        };
        let (left, right) = (LEFT as usize, (f64::from(WIDTH) - LEGEND) as usize);
        let bottom = (TOP + PANEL) as usize;
        for y in bottom + 4..bottom + GAP as usize - 4 {
            assert!((left + 4..right - 4).all(|x| is_white(x, y)), "between the panels, row {y}");
        }
        // Between the labels and the ticks of the axis.
        assert!((TOP as usize..bottom).all(|y| is_white(left - 8, y)));
    }

    #[test]
    fn a_history_of_fewer_than_two_rows_has_no_picture() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.png");
        for rows in ["", "1,1e-9\n"] {
            write(&path, "", &columns(&format!("step,residual\n{rows}"))).unwrap();
            assert!(!path.exists());
        }
        let two_rows = columns("step,residual\n1,1e-9\n2,1e-9\n");
        let refused = write(Path::new("no/folder/h.png"), "", &two_rows);
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("cannot draw no/folder/h.png: "), "{message}");
    }
}
