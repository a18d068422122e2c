//! Curves and points as SVG: axes with round ticks, a legend above, readable without colours.

use super::markup::escaped;
use crate::io::picture::ticks;
use std::fmt::Write;

const WIDTH: f64 = 560.0;
/// Height of the plot area.
const DEPTH: f64 = 320.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const BELOW: f64 = 46.0;
const LEGEND_ROW: f64 = 19.0;
/// Length of a sample of a line in the legend.
const SAMPLE: f64 = 30.0;
/// Approximate width of a letter.
const LETTER: f64 = 7.2;
/// Approximate limit of the points of a drawn curve.
const MOST_POINTS: usize = 1500;

/// Colours distinguishable with any colour vision (M. Okabe & K. Ito, 2008), darkened.
const COLOURS: [&str; 6] = ["#005a9c", "#c04000", "#00795a", "#8b3f86", "#7a6000", "#333333"];
/// Dashes that distinguish the lines in black and white.
const DASHES: [&str; 6] = ["", "9 4", "3 3", "10 3 2 3", "14 4", "6 2 2 2 2 2"];

/// An axis of a plot.
#[derive(Clone, Debug, Default)]
pub(super) struct PlotAxis {
    pub(super) label: String,
    pub(super) log: bool,
    pub(super) from: Option<f64>,
    pub(super) to: Option<f64>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// A line.
    Line,
    /// A line through filled markers.
    MarkedLine,
    /// Filled markers.
    Markers,
    /// Hollow markers.
    Hollow,
    /// A thin dark line of dots.
    Dotted,
}

/// The curve or points of an entry of the legend.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// Empty where another series has the text.
    pub(super) label: String,
    pub(super) style: Style,
    /// Index of colour, dashes and marker.
    pub(super) variant: usize,
    /// Horizontal and vertical values.
    pub(super) points: Vec<[f64; 2]>,
}

/// A plot.
#[derive(Clone, Debug, Default)]
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) x: PlotAxis,
    pub(super) y: PlotAxis,
    pub(super) series: Vec<Series>,
    /// Label, lowest and highest y.
    pub(super) bands: Vec<(String, [f64; 2])>,
}

/// An axis: its range of values and the coordinates of its ends on the drawing.
struct Scale {
    log: bool,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// The requested range, or that of `values` with a margin.
    fn new(axis: &PlotAxis, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Scale {
        let usable = |v: &f64| v.is_finite() && (!axis.log || *v > 0.0);
        let (low, high) = values
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 2.0) };
        let (mut low, mut high) = if axis.log { (low.log10(), high.log10()) } else { (low, high) };
        if high - low <= 1e-12 * low.abs().max(high.abs()) {
            let half = if axis.log { 0.5 } else { (0.1 * high.abs()).max(1e-6) };
            (low, high) = (low - half, high + half);
        }
        let room = 0.04 * (high - low);
        let requested = |end: Option<f64>| end.map(|v| if axis.log { v.log10() } else { v });
        let (from, to) = (requested(axis.from), requested(axis.to));
        let scale = |low, high| Scale { log: axis.log, low, high, start, end };
        scale(from.unwrap_or(low - room), to.unwrap_or(high + room))
    }

    fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)
    }

    /// About `count` ticks with their labels.
    fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if !self.log {
            return ticks(self.low, self.high, count);
        }
        let decades = (self.low.floor() as i32, self.high.ceil() as i32);
        let factors: &[f64] = match self.high - self.low {
            ..1.0 => &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0],
            1.0..2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let powers = (decades.0..=decades.1).flat_map(|k| factors.iter().map(move |f| (k, *f)));
        powers
            .map(|(k, factor)| (factor * 10f64.powi(k), power_text(k, factor)))
            .filter(|(v, _)| (self.low - 1e-9..=self.high + 1e-9).contains(&v.log10()))
            .collect()
    }
}

/// `factor`·10ᵏ, in decimal notation where that is short.
fn power_text(k: i32, factor: f64) -> String {
    if (-4..4).contains(&k) {
        let places = (-k).max(0) as usize;
        return format!("{:.places$}", factor * 10f64.powi(k));
    }
    let exponent = k.to_string().replace('-', "\u{2212}");
    let factor = if factor == 1.0 { String::new() } else { format!("{factor}·") };
    format!("{factor}10<tspan dy=\"-5\" font-size=\"9\">{exponent}</tspan>")
}

impl Plot {
    /// The drawing as an element of a page; `id` is unique in the page.
    pub(super) fn svg(&self, id: &str) -> String {
        let rows = self.legend_rows();
        let top = LEGEND_ROW * rows.len() as f64 + 10.0;
        let height = top + DEPTH + BELOW;
        let values = |axis: usize| {
            self.series.iter().flat_map(move |series| series.points.iter().map(move |p| p[axis]))
        };
        let banded = self.bands.iter().flat_map(|(_, band)| *band);
        let x = Scale::new(&self.x, values(0), LEFT, WIDTH - RIGHT);
        let y = Scale::new(&self.y, values(1).chain(banded), top + DEPTH, top);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
             aria-label=\"{}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\" \
             fill=\"#222\">\n",
            escaped(&self.title)
        );
        self.axes(&mut svg, (&x, &y), top);
        let frame = format!(
            "x=\"{LEFT}\" y=\"{top}\" width=\"{:.1}\" height=\"{DEPTH}\"",
            WIDTH - RIGHT - LEFT
        );
        // Writing to a String cannot fail.
        let _ = writeln!(svg, "<clipPath id=\"{id}\"><rect {frame}/></clipPath>");
        let _ = writeln!(svg, "<g clip-path=\"url(#{id})\">");
        for (_, band) in &self.bands {
            let (low, high) = (y.place(band[0]), y.place(band[1]));
            let (width, depth) = (WIDTH - RIGHT - LEFT, low - high);
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{high:.2}\" width=\"{width:.1}\" height=\"{depth:.2}\" {BAND}/>"
            );
        }
        for series in &self.series {
            let place = |p: &[f64; 2]| [x.place(p[0]), y.place(p[1])];
            let placed: Vec<[f64; 2]> = series.points.iter().map(place).collect();
            draw(&mut svg, series, &thinned(&placed));
        }
        svg += "</g>\n";
        let _ = writeln!(svg, "<rect {frame} fill=\"none\" stroke=\"#444\"/>");
        self.legend(&mut svg, &rows);
        svg + "</svg>\n"
    }

    fn axes(&self, svg: &mut String, (x, y): (&Scale, &Scale), top: f64) {
        let bottom = top + DEPTH;
        let right = WIDTH - RIGHT;
        for (value, text) in x.ticks(6) {
            let at = x.place(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/><path d=\"M{at:.1} {bottom}v5\" \
                 stroke=\"#444\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                bottom + 18.0
            );
        }
        for (value, text) in y.ticks(6) {
            let at = y.place(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/><path d=\"M{LEFT} {at:.1}h-5\" \
                 stroke=\"#444\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                LEFT - 8.0,
                at + 4.0
            );
        }
        let (middle, height) = (0.5 * (LEFT + right), 0.5 * (top + bottom));
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"13\">{}</text>",
            bottom + 38.0,
            escaped(&self.x.label)
        );
        let _ = writeln!(
            svg,
            "<text x=\"14\" y=\"{height:.1}\" text-anchor=\"middle\" font-size=\"13\" \
             transform=\"rotate(-90 14 {height:.1})\">{}</text>",
            escaped(&self.y.label)
        );
    }

    /// Entries of the legend in rows. Series of equal label share an entry.
    fn legend_rows(&self) -> Vec<Vec<Entry<'_>>> {
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for series in self.series.iter().filter(|series| !series.label.is_empty()) {
            let known = entries.iter_mut().find(|entry| entry.label == series.label);
            match known {
                Some(entry) => entry.series.push(series),
                None => entries.push(Entry { label: &series.label, series: vec![series] }),
            }
        }
        entries.extend(self.bands.iter().map(|(label, _)| Entry { label, series: vec![] }));
        let mut rows: Vec<Vec<Entry<'_>>> = Vec::new();
        let mut left = 0.0;
        for entry in entries {
            if rows.is_empty() || entry.width() > left {
                rows.push(Vec::new());
                left = WIDTH - LEFT;
            }
            left -= entry.width();
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        rows
    }

    fn legend(&self, svg: &mut String, rows: &[Vec<Entry<'_>>]) {
        for (number, row) in rows.iter().enumerate() {
            let (mut x, y) = (LEFT, 14.0 + LEGEND_ROW * number as f64);
            for entry in row {
                let sample = entry.sample_width();
                if entry.series.is_empty() {
                    let _ = writeln!(
                        svg,
                        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{SAMPLE}\" height=\"10\" {BAND}/>",
                        y - 5.0
                    );
                }
                for (k, series) in entry.series.iter().enumerate() {
                    let points = match series.style {
                        Style::Line | Style::Dotted => vec![[x, y], [x + SAMPLE, y]],
                        Style::MarkedLine => {
                            vec![[x, y], [x + 0.5 * SAMPLE, y], [x + SAMPLE, y]]
                        }
                        Style::Markers | Style::Hollow => vec![[x + 8.0 + 13.0 * k as f64, y]],
                    };
                    draw(svg, series, &points);
                }
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x + sample + 8.0,
                    y + 4.0,
                    escaped(entry.label)
                );
                x += entry.width();
            }
        }
    }
}

const BAND: &str = "fill=\"#bbb\" fill-opacity=\"0.45\" stroke=\"#777\" stroke-dasharray=\"2 2\"";

/// An entry of the legend.
struct Entry<'p> {
    label: &'p str,
    /// Empty for a band.
    series: Vec<&'p Series>,
}

impl Entry<'_> {
    fn sample_width(&self) -> f64 {
        let is_line = |s: &&Series| !matches!(s.style, Style::Markers | Style::Hollow);
        match self.series.is_empty() || self.series.iter().any(is_line) {
            true => SAMPLE,
            false => 3.0 + 13.0 * self.series.len() as f64,
        }
    }

    fn width(&self) -> f64 {
        self.sample_width() + 8.0 + LETTER * self.label.chars().count() as f64 + 18.0
    }
}

/// Fewer points for the same drawing: the first, the lowest and the highest of each interval.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let interval = points.len().div_ceil(MOST_POINTS / 3);
    let mut kept = Vec::new();
    for part in points.chunks(interval) {
        let by_height = |a: &usize, b: &usize| part[*a][1].total_cmp(&part[*b][1]);
        let ends = [(0..part.len()).min_by(by_height), (0..part.len()).max_by(by_height)];
        let mut places = vec![0];
        places.extend(ends.into_iter().flatten());
        places.sort_unstable();
        places.dedup();
        kept.extend(places.into_iter().map(|k| part[k]));
    }
    kept.extend(points.last());
    kept
}

fn draw(svg: &mut String, series: &Series, points: &[[f64; 2]]) {
    let colour = COLOURS[series.variant % COLOURS.len()];
    let (line, markers) = match series.style {
        Style::Line => (true, None),
        Style::MarkedLine => (true, Some(colour)),
        Style::Markers => (false, Some(colour)),
        Style::Hollow => (false, Some("none")),
        Style::Dotted => (true, None),
    };
    if line {
        let (stroke, width, dashes) = match series.style {
            Style::Dotted => ("#111", 1.6, "2 3"),
            _ => (colour, 1.8, DASHES[series.variant % DASHES.len()]),
        };
        svg.push_str("<path d=\"");
        let mut pen = 'M';
        for [x, y] in points {
            if !(x.is_finite() && y.is_finite()) {
                pen = 'M';
                continue;
            }
            let _ = write!(svg, "{pen}{x:.2} {y:.2}");
            pen = 'L';
        }
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let _ = writeln!(
            svg,
            "\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"{dashes} stroke-linejoin=\"round\"/>"
        );
    }
    let Some(fill) = markers else { return };
    for [x, y] in points.iter().filter(|p| p.iter().all(|v| v.is_finite())) {
        let _ = writeln!(
            svg,
            "<path d=\"{}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.3\"/>",
            marker(series.variant, *x, *y)
        );
    }
}

/// Circle, square, triangle, diamond, triangle upside down, hexagon.
fn marker(variant: usize, x: f64, y: f64) -> String {
    let corners: &[[f64; 2]] = match variant % 6 {
        0 => return format!("M{:.2} {y:.2}a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", x - 3.6),
        1 => &[[-3.3, -3.3], [3.3, -3.3], [3.3, 3.3], [-3.3, 3.3]],
        2 => &[[0.0, -4.4], [4.0, 2.8], [-4.0, 2.8]],
        3 => &[[0.0, -4.6], [4.2, 0.0], [0.0, 4.6], [-4.2, 0.0]],
        4 => &[[0.0, 4.4], [4.0, -2.8], [-4.0, -2.8]],
        _ => &[[-4.0, 0.0], [-2.0, -3.5], [2.0, -3.5], [4.0, 0.0], [2.0, 3.5], [-2.0, 3.5]],
    };
    let mut path = String::new();
    for (k, [dx, dy]) in corners.iter().enumerate() {
        let pen = if k == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{pen}{:.2} {:.2}", x + dx, y + dy);
    }
    path + "z"
}

/// Whether tags are balanced and texts are escaped.
#[cfg(test)]
pub(super) fn well_formed(markup: &str) -> bool {
    let mut reader = quick_xml::Reader::from_str(markup);
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<[f64; 2]>) -> Plot {
        let series = |label: &str, style, variant| Series {
            label: label.to_owned(),
            style,
            variant,
            points: points.clone(),
        };
        Plot {
            title: "u < 1".to_owned(),
            x: PlotAxis { label: "x".to_owned(), ..PlotAxis::default() },
            y: PlotAxis { label: "u & v".to_owned(), ..PlotAxis::default() },
            series: vec![
                series("computed", Style::Line, 0),
                series("reference", Style::Hollow, 0),
                series("reference", Style::Hollow, 1),
            ],
            bands: vec![("band".to_owned(), [0.25, 0.5])],
        }
    }

    #[test]
    fn a_plot_has_axes_curves_and_a_legend() {
        let svg = plot(vec![[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]).svg("p1");
        assert!(well_formed(&svg), "{svg}");
        for text in [">0.0<", ">0.2<", ">1.0<", ">x<", ">u &amp; v<", ">computed<", ">band<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches(">reference<").count(), 1, "{svg}");
        // Three points of each of two references, and their markers in the legend.
        assert_eq!(svg.matches("stroke-width=\"1.3\"").count(), 8, "{svg}");
        assert!(svg.contains("url(#p1)") && svg.contains("u &lt; 1"));
    }

    #[test]
    fn empty_curves_and_values_that_are_not_finite_draw_no_nonsense() {
        for points in
            [vec![], vec![[1.0, 2.0]], vec![[0.0, f64::NAN], [1.0, 1.0], [f64::INFINITY, 3.0]]]
        {
            let svg = plot(points).svg("p");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(well_formed(&svg));
        }
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten() {
        let mut wide = plot(vec![[1e3, 1e-5], [1e6, 1.0], [0.0, 1.0]]);
        wide.bands.clear();
        (wide.x.log, wide.y.log) = (true, true);
        let svg = wide.svg("p");
        assert!(
            svg.contains(">1000<") && svg.contains("10<tspan dy=\"-5\" font-size=\"9\">6</tspan>")
        );
        assert!(svg.contains("−5</tspan>") && svg.contains(">0.1<"), "{svg}");
        let mut narrow = plot(vec![[1.0, 1.0], [4.0, 8.0]]);
        narrow.x.log = true;
        let svg = narrow.svg("p");
        assert!(svg.contains(">1<") && svg.contains(">4<") && !svg.contains(">5<"), "{svg}");
    }

    #[test]
    fn long_histories_keep_their_peaks() {
        let points: Vec<[f64; 2]> =
            (0..100_000).map(|k| [f64::from(k), if k == 777 { 5.0 } else { 0.0 }]).collect();
        let kept = thinned(&points);
        assert!(kept.len() < 2 * MOST_POINTS && kept.contains(&[777.0, 5.0]));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
        assert!(kept.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    }

    #[test]
    fn requested_ranges_are_kept() {
        let mut plot = plot(vec![[0.0, 0.0], [10.0, 1.0]]);
        plot.x.from = Some(5.0);
        let scale = Scale::new(&plot.x, [0.0, 10.0].into_iter(), 0.0, 1.0);
        assert_eq!((scale.low, scale.high), (5.0, 10.4));
        assert!((scale.place(7.7) - 0.5).abs() < 1e-12);
    }
}
