//! Vectors of three coordinates.

/// A point or vector.
pub(crate) type Point = [f64; 3];

#[inline]
pub(crate) fn subtract(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(crate) fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline]
pub(crate) fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// a + w b.
#[inline]
pub(crate) fn add_scaled(a: Point, w: f64, b: Point) -> Point {
    [a[0] + w * b[0], a[1] + w * b[1], a[2] + w * b[2]]
}

/// (1 − t) a + t b, exact where both coordinates agree.
#[inline]
pub(crate) fn between(a: Point, b: Point, t: f64) -> Point {
    add_scaled(a, t, subtract(b, a))
}

/// The largest absolute coordinate.
#[inline]
pub(crate) fn largest(a: Point) -> f64 {
    a[0].abs().max(a[1].abs()).max(a[2].abs())
}
