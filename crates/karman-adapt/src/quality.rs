//! Lengths of edges and qualities of simplices in a metric; the exact test of orientation.

use crate::metric::Metric;
use crate::vector::{Point, add_scaled, cross, dot, largest, subtract};
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Shortest and longest length of an edge that has the size of the metric.
pub const LENGTH_RANGE: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::SQRT_2];

/// A simplex is flat where twice its area is at most this multiple of the square of its longest edge, or six times its volume this
/// multiple of the cube: twice the bound by which a mesh is refused, 4 ε for areas and volumes.
pub(crate) const FLAT: [f64; 2] = [16.0 * f64::EPSILON, 48.0 * f64::EPSILON];

/// A place with its metric.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// The place.
    pub point: [f64; 3],
    /// The metric there.
    pub metric: Metric,
    /// √det of the metric.
    pub density: f64,
}

impl Vertex {
    /// A vertex at `point`.
    pub fn new(point: [f64; 3], metric: Metric) -> Self {
        Vertex { point, metric, density: metric.determinant().max(0.0).sqrt() }
    }
}

/// Length of the edge ab: (l_a − l_b)/ln(l_a/l_b) with l = √(vᵀ M v) in the metrics of both ends, which is exact where the
/// size varies geometrically along the edge (Alauzet, *Finite Elements in Analysis and Design* 46, 2010).
#[inline]
pub fn edge_length(a: &Vertex, b: &Vertex) -> f64 {
    let along = subtract(b.point, a.point);
    let (first, second) =
        (a.metric.squared_length(along).sqrt(), b.metric.squared_length(along).sqrt());
    let (sum, difference) = (first + second, first - second);
    if difference.abs() <= 0.1 * sum {
        // ln((1 + x)/(1 − x)) = 2 x (1 + x²/3 + x⁴/5 + …) with x = (l_a − l_b)/(l_a + l_b); the next term is below 1e-13.
        let x = difference / sum.max(f64::MIN_POSITIVE);
        let square = x * x;
        let series = 1.0 / 7.0 + square * (1.0 / 9.0 + square / 11.0);
        return 0.5 * sum / (1.0 + square * (1.0 / 3.0 + square * (0.2 + square * series)));
    }
    if first <= 0.0 || second <= 0.0 {
        return 0.5 * sum;
    }
    difference / (first / second).ln()
}

/// Parameter of the point that halves the edge in the metric, for sizes that vary geometrically along it: 0 at `a`.
pub(crate) fn middle(a: &Vertex, b: &Vertex) -> f64 {
    let along = subtract(b.point, a.point);
    let ratio = (b.metric.squared_length(along) / a.metric.squared_length(along)).sqrt();
    if !ratio.is_finite() || (ratio - 1.0).abs() < 1e-3 {
        return 0.5;
    }
    ((0.5 * (1.0 + ratio)).ln() / ratio.ln()).clamp(0.2, 0.8)
}

/// Twice the area of the triangle abc in the plane z = 0, or six times the volume of the tetrahedron abcd; where `exact`
/// arithmetic finds no positive orientation, 0 or a negative number.
#[inline]
pub fn oriented_measure(dimension: usize, points: &[Point; 4]) -> f64 {
    let [a, b, c, d] = *points;
    let (u, v) = (subtract(b, a), subtract(c, a));
    if dimension == 2 {
        let area = u[0] * v[1] - u[1] * v[0];
        // The rounding error is below 4 ε times the product of the largest coordinates.
        if area > 1e-15 * largest(u) * largest(v) {
            return area;
        }
        let coordinate = |p: Point| Coord { x: p[0], y: p[1] };
        return area.min(orient2d(coordinate(a), coordinate(b), coordinate(c)));
    }
    let w = subtract(d, a);
    let volume = dot(cross(u, v), w);
    // Rounding error below (7 + 56 ε) ε times the permanent, which is at most 6 times the product of the largest coordinates
    // (Shewchuk, *Discrete & Computational Geometry* 18, 1997).
    if volume > 1e-14 * largest(u) * largest(v) * largest(w) {
        return volume;
    }
    let coordinate = |p: Point| Coord3D { x: p[0], y: p[1], z: p[2] };
    volume.min(-orient3d(coordinate(a), coordinate(b), coordinate(c), coordinate(d)))
}

/// Whether a simplex of this [`oriented_measure`] is flat to rounding errors, or not positively oriented.
#[inline]
fn is_flat(dimension: usize, measure: f64, points: &[Point; 4]) -> bool {
    let [a, b, c, d] = *points;
    let (u, v) = (subtract(b, a), subtract(c, a));
    let w = if dimension == 2 { u } else { subtract(d, a) };
    // No edge is longer than 2 √3 times the largest coordinate of these three.
    let bound = 2.0 * 3.0_f64.sqrt() * largest(u).max(largest(v)).max(largest(w));
    let power = |length: f64| if dimension == 2 { length * length } else { length.powi(3) };
    let share = FLAT[dimension - 2];
    if measure > share * power(bound) {
        return false;
    }
    let edges = [u, v, w, subtract(v, u), subtract(w, u), subtract(w, v)];
    let square = edges.iter().map(|&edge| dot(edge, edge)).fold(0.0, f64::max);
    measure.is_nan() || measure <= share * power(square.sqrt())
}

/// The [`oriented_measure`] of a simplex that a single comparison finds neither flat nor of another orientation.
#[inline]
fn clear_measure(dimension: usize, points: &[Point; 4]) -> Option<f64> {
    let [a, b, c, d] = *points;
    let (u, v) = (subtract(b, a), subtract(c, a));
    let (measure, least) = if dimension == 2 {
        let longest = largest(u).max(largest(v));
        (u[0] * v[1] - u[1] * v[0], FLAT[0] * 12.0 * longest * longest)
    } else {
        let w = subtract(d, a);
        let longest = largest(u).max(largest(v)).max(largest(w));
        (dot(cross(u, v), w), FLAT[1] * 42.0 * longest * longest * longest)
    };
    // No edge is longer than 2 √3 times `longest`, and the rounding errors of both measures are below a tenth of `least`.
    (measure > least).then_some(measure)
}

/// Mean ratio of a simplex in the metric M of its vertex of largest determinant: 1 for the equilateral one, at most 0 for one
/// that is not positively oriented or flat to rounding errors.
///
/// Q = (V √det M / V₁)^{2/d} / mean over edges of vᵀ M v, with V₁ = √3/4 of the unit triangle and √2/12 of the unit tetrahedron.
#[inline]
pub fn mean_ratio(dimension: usize, vertices: &[&Vertex; 4]) -> f64 {
    match in_densest_metric(dimension, vertices) {
        Ok((measure, mean)) if dimension == 2 => measure / mean,
        Ok((measure, mean)) => measure.cbrt().powi(2) / mean,
        Err(measure) => measure,
    }
}

/// 1/Q with the [`mean_ratio`] Q, infinite where that is not positive.
#[inline]
pub(crate) fn distortion(dimension: usize, vertices: &[&Vertex; 4]) -> f64 {
    match in_densest_metric(dimension, vertices) {
        Ok((measure, mean)) if dimension == 2 => mean / measure,
        Ok((measure, mean)) => {
            let root = inverse_cube_root(measure);
            mean * root * root
        }
        Err(_) => f64::INFINITY,
    }
}

/// Measure of a simplex over that of the equilateral one and mean of vᵀ M v over its edges, in the metric M of its vertex of largest
/// determinant; the orientation, 0 or negative, of one that is not positively oriented or flat to rounding errors.
#[inline(always)]
fn in_densest_metric(dimension: usize, vertices: &[&Vertex; 4]) -> Result<(f64, f64), f64> {
    let [a, b, c, d] = *vertices;
    let points = [a.point, b.point, c.point, d.point];
    let measure = match clear_measure(dimension, &points) {
        Some(measure) => measure,
        None => {
            let measure = oriented_measure(dimension, &points);
            if is_flat(dimension, measure, &points) {
                return Err(measure.min(0.0));
            }
            measure
        }
    };
    let mut densest = a;
    for vertex in [b, c] {
        if vertex.density > densest.density {
            densest = vertex;
        }
    }
    if dimension == 3 && d.density > densest.density {
        densest = d;
    }
    let metric = &densest.metric;
    let edge = |p: &Vertex, q: &Vertex| metric.squared_length(subtract(q.point, p.point));
    let triangle = edge(a, b) + edge(b, c) + edge(c, a);
    if dimension == 2 {
        // 2 A √det M · 2/√3 is 1 for the unit triangle.
        return Ok((measure * densest.density * (2.0 / 3.0_f64.sqrt()), triangle / 3.0));
    }
    let sum = triangle + edge(a, d) + edge(b, d) + edge(c, d);
    // 6 V √det M · √2 is 1 for the unit tetrahedron.
    Ok((measure * densest.density * std::f64::consts::SQRT_2, sum / 6.0))
}

/// x^{−1/3} of a positive x, without a division: a first value by the bits of x, which are nearly its logarithm, then twice the series
/// r (1 − e)^{−1/3} = r (1 + e/3 + 2 e²/9 + 14 e³/81 + …), e = 1 − x r³.
#[inline]
fn inverse_cube_root(x: f64) -> f64 {
    // The bits of r are 4/3 of those of 1 less a third of those of x; with 0.066 of an exponent less e lies between −0.11 and 0.11.
    const FIRST: u64 = 0x5540_0000_0000_0000 - 0x0001_1000_0000_0000;
    if !(1e-200..1e200).contains(&x) {
        return 1.0 / x.cbrt();
    }
    let mut root = f64::from_bits(FIRST - x.to_bits() / 3);
    for _ in 0..2 {
        let e = 1.0 - x * root * root * root;
        root *= 1.0 + e * (1.0 / 3.0 + e * (2.0 / 9.0 + e * (14.0 / 81.0)));
    }
    root
}

/// Quality of Vasilevskii and Lipnikov of a simplex in the mean metric of its vertices (*Computational Mathematics and
/// Mathematical Physics* 39, 1999): 12√3 A/p² F(p/3) of a triangle, 6⁴√2 V/p³ F(p/6) of a tetrahedron, with area A, volume V and
/// sum of edge lengths p in the metric and F(x) = (m(2 − m))³, m = min(x, 1/x). It is 1 for unit equilateral simplices alone.
pub fn size_and_shape(dimension: usize, vertices: &[&Vertex; 4]) -> f64 {
    let count = dimension + 1;
    let points = vertices.map(|vertex| vertex.point);
    let measure = oriented_measure(dimension, &points);
    if is_flat(dimension, measure, &points) {
        return measure.min(0.0);
    }
    let mut metric = Metric::ZERO;
    vertices[..count].iter().for_each(|vertex| metric = metric.add(&vertex.metric));
    let metric = metric.scale(1.0 / count as f64);
    let mut perimeter = 0.0;
    for i in 0..count {
        for j in i + 1..count {
            perimeter += metric.squared_length(subtract(points[j], points[i])).sqrt();
        }
    }
    let measure = measure * metric.determinant().max(0.0).sqrt();
    let size = |x: f64| {
        let m = x.min(1.0 / x);
        let factor = m * (2.0 - m);
        factor * factor * factor
    };
    if dimension == 2 {
        // `measure` is 2 A.
        6.0 * 3.0_f64.sqrt() * measure / (perimeter * perimeter) * size(perimeter / 3.0)
    } else {
        // `measure` is 6 V.
        216.0 * std::f64::consts::SQRT_2 * measure / (perimeter * perimeter * perimeter)
            * size(perimeter / 6.0)
    }
}

/// The apex of the unit equilateral simplex on the facet opposite to `apex`, in the metric at `apex`: the centre of the facet
/// moved along M⁻¹ n by the height √3/2 or √(2/3).
pub(crate) fn ideal_apex(dimension: usize, apex: &Vertex, facet: [Point; 3]) -> Option<Point> {
    let [a, b, c] = facet;
    let (normal, centre, height) = if dimension == 2 {
        let along = subtract(b, a);
        ([-along[1], along[0], 0.0], between_points(&[a, b]), 3.0_f64.sqrt() / 2.0)
    } else {
        let normal = cross(subtract(b, a), subtract(c, a));
        (normal, between_points(&[a, b, c]), (2.0_f64 / 3.0).sqrt())
    };
    let direction = apex.metric.inverse().apply(normal);
    let length = apex.metric.squared_length(direction).sqrt();
    if !(length.is_finite() && length > 0.0) {
        return None;
    }
    Some(add_scaled(centre, height / length, direction))
}

/// Mean of the points.
fn between_points(points: &[Point]) -> Point {
    let sum = points.iter().fold([0.0; 3], |sum, &point| add_scaled(sum, 1.0, point));
    sum.map(|coordinate| coordinate / points.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = 0.866_025_403_784_438_6;

    fn unit(dimension: usize) -> [Vertex; 4] {
        let top = if dimension == 3 { [0.5, H / 3.0, (2.0_f64 / 3.0).sqrt()] } else { [0.0; 3] };
        [[0.0; 3], [1.0, 0.0, 0.0], [0.5, H, 0.0], top].map(|p| Vertex::new(p, Metric::IDENTITY))
    }

    #[test]
    fn the_unit_simplex_has_quality_one_in_its_metric() {
        for dimension in [2, 3] {
            let mut vertices = unit(dimension);
            for stretch in [1.0, 1e-2, 1e-4] {
                // Stretched in x and measured in the metric that undoes it.
                let metric = Metric { xx: 1.0 / (stretch * stretch), ..Metric::IDENTITY };
                vertices = unit(dimension)
                    .map(|v| Vertex::new([v.point[0] * stretch, v.point[1], v.point[2]], metric));
                let all = [0, 1, 2, 3].map(|i| &vertices[i]);
                assert!((mean_ratio(dimension, &all) - 1.0).abs() < 1e-12);
                assert!((size_and_shape(dimension, &all) - 1.0).abs() < 1e-12);
                assert!((edge_length(all[0], all[1]) - 1.0).abs() < 1e-12);
            }
            let distorted = distortion(dimension, &[0, 1, 2, 3].map(|i| &vertices[i]));
            assert!((distorted - 1.0).abs() < 1e-12);
            let mirrored = [1, 0, 2, 3].map(|i| &vertices[i]);
            assert!(mean_ratio(dimension, &mirrored) <= 0.0);
            let apex = dimension;
            let facet = [0, 1, 2].map(|i| unit(dimension)[i].point);
            let found = ideal_apex(dimension, &unit(dimension)[apex], facet).unwrap();
            let expected = if dimension == 3 { unit(3)[3].point } else { [0.5, H, 0.0] };
            assert!((0..3).all(|k| (found[k] - expected[k]).abs() < 1e-14));
        }
    }

    #[test]
    fn size_and_shape_falls_where_the_size_is_wrong_and_the_mean_ratio_does_not() {
        let vertices = unit(3).map(|v| Vertex::new(v.point.map(|x| 3.0 * x), Metric::IDENTITY));
        let all = [0, 1, 2, 3].map(|i| &vertices[i]);
        assert!((mean_ratio(3, &all) - 1.0).abs() < 1e-12);
        let m: f64 = 1.0 / 3.0;
        assert!((size_and_shape(3, &all) - (m * (2.0 - m)).powi(3)).abs() < 1e-12);
    }

    #[test]
    fn lengths_are_exact_for_sizes_that_vary_geometrically() {
        // h = exp(k s) along an edge of length L: ∫ ds/h = (1 − exp(−k L))/k.
        for k in [1e-4_f64, 0.01, 1.0, 3.0] {
            let a = Vertex::new([0.0; 3], Metric::isotropic(1.0, 3));
            let b = Vertex::new([1.0, 0.0, 0.0], Metric::isotropic(k.exp(), 3));
            let exact = -(-k).exp_m1() / k;
            assert!((edge_length(&a, &b) - exact).abs() < 1e-12, "{k}");
            let t = middle(&a, &b);
            let half = -(-k * t).exp_m1() / k;
            assert!((half - 0.5 * exact).abs() < 1e-3 || t == 0.2, "{k} {t}");
        }
    }

    #[test]
    fn inverse_cube_roots_are_exact_to_rounding() {
        for n in -4000..4000 {
            let x = (0.0873 * f64::from(n)).exp2();
            let cube = inverse_cube_root(x).powi(3) * x;
            assert!((cube - 1.0).abs() < 4e-15, "{x} {cube}");
        }
        assert_eq!(inverse_cube_root(8e-300), 0.5e100);
    }

    #[test]
    fn flat_simplices_are_not_positive() {
        let flat = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.0]];
        assert!(oriented_measure(3, &flat) <= 0.0);
        let almost = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 1e-300]];
        assert!(oriented_measure(3, &almost) > 0.0);
        let line = [[0.1, 0.1, 0.0], [0.2, 0.2, 0.0], [0.3, 0.3, 0.0], [0.0; 3]];
        assert!(oriented_measure(2, &line) <= 0.0);
    }
}
