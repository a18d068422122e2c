//! The intersection of two simplices as a list of simplices.

use crate::vector::{Point, add_scaled, cross, dot, subtract};

/// A half-space: dot(normal, x) ≥ offset.
#[derive(Clone, Copy, Debug)]
struct HalfSpace {
    normal: Point,
    offset: f64,
}

impl HalfSpace {
    #[inline]
    fn value(&self, point: Point) -> f64 {
        dot(self.normal, point) - self.offset
    }
}

/// A simplex whose interior is the intersection of half-spaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClipCell {
    half_spaces: [HalfSpace; 4],
    count: usize,
}

impl ClipCell {
    /// The simplex of 3 or 4 `nodes` in 2D or 3D. The planes of two cells on both sides of a facet are equal but for the sign, so
    /// that their intersections with a third cell neither overlap nor leave a gap.
    pub(crate) fn new(nodes: &[u32], points: &[Point]) -> Self {
        let none = HalfSpace { normal: [0.0; 3], offset: 0.0 };
        let mut cell = ClipCell { half_spaces: [none; 4], count: nodes.len() };
        for (apex, half_space) in cell.half_spaces.iter_mut().enumerate().take(nodes.len()) {
            let mut facet = [u32::MAX; 3];
            let others = nodes.iter().enumerate().filter(|(corner, _)| *corner != apex);
            facet.iter_mut().zip(others).for_each(|(entry, (_, node))| *entry = *node);
            facet.sort_unstable();
            let [a, b] = [facet[0], facet[1]].map(|node| points[node as usize]);
            let along = subtract(b, a);
            let normal = match nodes.len() {
                3 => [-along[1], along[0], 0.0],
                _ => cross(along, subtract(points[facet[2] as usize], a)),
            };
            let own = HalfSpace { normal, offset: dot(normal, a) };
            *half_space = if own.value(points[nodes[apex] as usize]) < 0.0 {
                HalfSpace { normal: normal.map(|x| -x), offset: -own.offset }
            } else {
                own
            };
        }
        cell
    }

    /// The intersection with the simplex `corners`, of which 2D uses three: simplices without order of their corners.
    pub(crate) fn clip(&self, corners: [Point; 4], pieces: &mut Pieces) {
        pieces.list.clear();
        let own = &self.half_spaces[..self.count];
        let is_outside = |half_space: &HalfSpace| {
            corners[..self.count].iter().all(|&corner| half_space.value(corner) <= 0.0)
        };
        if own.iter().any(is_outside) {
            return;
        }
        pieces.list.push(corners);
        for half_space in own {
            if pieces.list.is_empty() {
                return;
            }
            pieces.clipped.clear();
            for &simplex in &pieces.list {
                cut(simplex, self.count, half_space, &mut pieces.clipped);
            }
            std::mem::swap(&mut pieces.list, &mut pieces.clipped);
        }
    }
}

/// The simplices of an intersection, with space for their computation.
#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) list: Vec<[Point; 4]>,
    clipped: Vec<[Point; 4]>,
}

/// The part of a simplex of `count` corners in a half-space.
fn cut(simplex: [Point; 4], count: usize, half_space: &HalfSpace, found: &mut Vec<[Point; 4]>) {
    let mut inside = [(simplex[0], 0.0); 4];
    let mut outside = inside;
    let (mut n_inside, mut n_outside) = (0, 0);
    for &corner in &simplex[..count] {
        let value = half_space.value(corner);
        if value > 0.0 {
            inside[n_inside] = (corner, value);
            n_inside += 1;
        } else {
            outside[n_outside] = (corner, value);
            n_outside += 1;
        }
    }
    // The point of the edge from an inner to an outer corner in the plane.
    let at = |inner: usize, outer: usize| {
        let ((a, inner), (b, outer)) = (inside[inner], outside[outer]);
        add_scaled(a, inner / (inner - outer), subtract(b, a))
    };
    let corner = |inner: usize| inside[inner].0;
    match (count, n_inside) {
        (_, 0) => {}
        (_, all) if all == count => found.push(simplex),
        (3, 1) => found.push([corner(0), at(0, 0), at(0, 1), corner(0)]),
        (3, _) => {
            found.push([corner(0), corner(1), at(1, 0), corner(0)]);
            found.push([corner(0), at(1, 0), at(0, 0), corner(0)]);
        }
        (_, 1) => found.push([corner(0), at(0, 0), at(0, 1), at(0, 2)]),
        (_, 2) => prism([corner(0), at(0, 0), at(0, 1)], [corner(1), at(1, 0), at(1, 1)], found),
        _ => prism([corner(0), corner(1), corner(2)], [at(0, 0), at(1, 0), at(2, 0)], found),
    }
}

/// The three tetrahedra of a prism between two triangles.
fn prism([a, b, c]: [Point; 3], [p, q, r]: [Point; 3], found: &mut Vec<[Point; 4]>) {
    found.push([a, b, c, r]);
    found.push([a, b, r, q]);
    found.push([a, q, r, p]);
}

/// Volume of a tetrahedron, area of a triangle, without sign.
#[inline]
pub(crate) fn measure(dimension: usize, [a, b, c, d]: &[Point; 4]) -> f64 {
    let (u, v) = (subtract(*b, *a), subtract(*c, *a));
    match dimension {
        2 => 0.5 * (u[0] * v[1] - u[1] * v[0]).abs(),
        _ => dot(cross(u, v), subtract(*d, *a)).abs() / 6.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLE: [Point; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

    fn intersection(dimension: usize, a: &[Point], b: [Point; 4]) -> f64 {
        let nodes: Vec<u32> = (0..=dimension as u32).collect();
        let mut pieces = Pieces::default();
        ClipCell::new(&nodes, a).clip(b, &mut pieces);
        pieces.list.iter().fold(0.0, |sum, piece| sum + measure(dimension, piece))
    }

    #[test]
    fn triangles_intersect_in_a_square_of_known_area() {
        // The triangle x, y ≥ 0, x + y ≤ 1 and the triangle x, y ≤ 1/2, x + y ≥ 0 have a square of side 1/2 in common.
        let other = [[0.5, 0.5, 0.0], [-0.5, 0.5, 0.0], [0.5, -0.5, 0.0], [0.0; 3]];
        assert!((intersection(2, &TRIANGLE, other) - 0.25).abs() < 1e-15);
        let far = other.map(|[x, y, z]| [x + 3.0, y, z]);
        assert_eq!(intersection(2, &TRIANGLE, far), 0.0);
        let inside = [[0.1, 0.1, 0.0], [0.2, 0.1, 0.0], [0.1, 0.3, 0.0], [0.0; 3]];
        assert!((intersection(2, &TRIANGLE, inside) - 0.01).abs() < 1e-16);
    }

    #[test]
    fn tetrahedra_intersect_in_a_known_volume() {
        let corner = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert!((intersection(3, &corner, corner) - 1.0 / 6.0).abs() < 1e-15);
        // The reflected tetrahedron with its vertex at (s, s, s): the cube [0, s]³ for s ≤ 1/3.
        let reflected = |s: f64| corner.map(|point| point.map(|x| s - 2.0 * x));
        assert!((intersection(3, &corner, reflected(0.25)) - 0.25_f64.powi(3)).abs() < 1e-15);
        // For s = 1/2 the plane x + y + z = 1 cuts the corner of side 1/2 from the cube.
        let expected = 0.125 - 0.125 / 6.0;
        assert!((intersection(3, &corner, reflected(0.5)) - expected).abs() < 1e-15);
    }
}
