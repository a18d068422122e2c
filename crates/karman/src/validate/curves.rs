//! Curves of measurements, drawn in the style of a page.

use super::plot::{Plot, PlotAxis, Series, Style};

/// An SVG of marked curves over logarithmic axes x and y, given by their labels; a curve has a name and
/// points. Values that are not positive are left out.
pub fn log_log_svg(
    title: &str,
    [x, y]: [&str; 2],
    curves: impl IntoIterator<Item = (String, Vec<[f64; 2]>)>,
) -> String {
    let axis = |label: &str| PlotAxis { label: label.to_owned(), log: true, ..PlotAxis::default() };
    let is_drawn = |point: &[f64; 2]| point.iter().all(|value| *value > 0.0);
    let curve = |(variant, (label, points)): (usize, (String, Vec<[f64; 2]>))| Series {
        label,
        style: Style::MarkedLine,
        variant,
        points: points.into_iter().filter(is_drawn).collect(),
    };
    Plot {
        title: title.to_owned(),
        x: axis(x),
        y: axis(y),
        series: curves.into_iter().enumerate().map(curve).collect(),
        ..Plot::default()
    }
    .svg("curves")
}

#[cfg(test)]
mod tests {
    use super::super::plot::well_formed;
    use super::*;

    #[test]
    fn curves_have_their_names_and_leave_out_points_without_a_logarithm() {
        let points = vec![[1e3, 10.0], [1e4, 2.0], [0.0, 1.0], [1e5, -1.0], [1e6, 0.5]];
        let curves = vec![("a & b".to_owned(), points), ("c".to_owned(), vec![])];
        let svg = log_log_svg("t", ["unknowns", "ns"], curves);
        assert!(well_formed(&svg), "{svg}");
        for text in [">a &amp; b<", ">c<", ">unknowns<", ">ns<", ">1000<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
