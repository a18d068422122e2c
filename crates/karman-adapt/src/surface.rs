//! The surface that the faces of the given mesh approximate, on which new and moved vertices lie.
//!
//! Each face has the cubic patch of its corners and their normals (Vlachos et al., *Curved PN Triangles*, I3D 2001), each ridge
//! the cubic curve of its ends and their tangents. A normal is the mean over the faces around a vertex that no ridge separates, with the weights
//! of Max (*Journal of Graphics Tools* 4, 1999), which are exact on spheres. Where the normals of a face are its own, the face is flat
//! and the place of a vertex is not touched: plane faces keep their plane to round-off.

use crate::complex::{Complex, NONE};
use crate::mesh::{AdaptiveMesh, VertexKind};
use crate::vector::{Point, add_scaled, cross, dot, norm, subtract};

/// Sine of the angle between two normals below which a face is flat.
const FLAT: f64 = 1e-7;

/// A face with its corner normals, or a ridge with its end tangents.
struct Patch {
    /// Corners; those of a line are two, the second repeated.
    corners: [Point; 3],
    /// Normals at the corners; tangents at the ends of a ridge.
    directions: [Point; 3],
    tag: u32,
    is_flat: bool,
}

/// Faces or ridges of the given mesh with a grid to find the nearest.
struct Patches {
    /// Whether they are lines.
    are_lines: bool,
    /// Whether `directions` are tangents.
    have_tangents: bool,
    patches: Vec<Patch>,
    /// Tags of curved patches, ascending.
    curved: Vec<u32>,
    grid: Grid,
}

/// The surface of the given mesh.
pub(crate) struct Surface {
    faces: Patches,
    ridges: Patches,
}

impl Surface {
    pub(crate) fn new(mesh: &AdaptiveMesh<'_>) -> Self {
        let are_lines = mesh.dimension == 2;
        let mut faces = vec![];
        for face in mesh.faces.elements() {
            let nodes = corners(&mesh.faces, face);
            let own = normal(mesh, &mesh.faces, face);
            let directions = nodes.map(|node| vertex_normal(mesh, face, node));
            let turned = |&n: &Point| norm(cross(n, own)) > FLAT * norm(own);
            let is_flat = !directions.iter().any(turned);
            let corners = nodes.map(|node| mesh.point(node));
            faces.push(Patch { corners, directions, tag: mesh.faces.tag(face), is_flat });
        }
        let mut ridges = vec![];
        for ridge in mesh.ridges.elements() {
            let nodes = corners(&mesh.ridges, ridge);
            let own = subtract(mesh.point(nodes[1]), mesh.point(nodes[0]));
            let directions = nodes.map(|node| tangent(mesh, ridge, node));
            let turned = |&t: &Point| norm(cross(t, own)) > FLAT * norm(own);
            let is_flat = !directions.iter().any(turned);
            let corners = nodes.map(|node| mesh.point(node));
            ridges.push(Patch { corners, directions, tag: 0, is_flat });
        }
        let of = |patches: Vec<Patch>, are_lines, have_tangents| {
            let grid = Grid::new(&patches);
            let tags = patches.iter().filter(|patch| !patch.is_flat).map(|patch| patch.tag);
            let mut curved: Vec<u32> = tags.collect();
            curved.sort_unstable();
            curved.dedup();
            Patches { are_lines, have_tangents, patches, curved, grid }
        };
        Surface { faces: of(faces, are_lines, false), ridges: of(ridges, true, true) }
    }

    /// The place on the surface of `tag` (or the ridge) nearest to `point`, as the patch of the nearest face has it; `point` itself where that
    /// face is flat.
    pub(crate) fn place(&self, kind: VertexKind, tag: u32, point: Point) -> Point {
        let (patches, tag) = match kind {
            VertexKind::Ridge => (&self.ridges, 0),
            VertexKind::Surface => (&self.faces, tag),
            VertexKind::Corner | VertexKind::Interior => return point,
        };
        if patches.curved.binary_search(&tag).is_err() {
            return point;
        }
        match patches.nearest(point, tag) {
            Some((patch, shares)) if !patch.is_flat => patch.at(patches, shares),
            _ => point,
        }
    }
}

impl Patch {
    /// The place of barycentric coordinates on the cubic patch.
    fn at(&self, of: &Patches, shares: [f64; 3]) -> Point {
        // The control point on the side from i to j next to i: a third of the way, in the tangent plane of i.
        let control = |i: usize, j: usize| {
            let along = subtract(self.corners[j], self.corners[i]);
            let direction = self.directions[i];
            let in_plane = match of.have_tangents {
                true => direction.map(|coordinate| coordinate * dot(along, direction)),
                false => add_scaled(along, -dot(along, direction), direction),
            };
            add_scaled(self.corners[i], 1.0 / 3.0, in_plane)
        };
        let [u, v, w] = shares;
        let mut place = [0.0; 3];
        let mut add = |weight: f64, point: Point| place = add_scaled(place, weight, point);
        add(u * u * u, self.corners[0]);
        add(v * v * v, self.corners[1]);
        add(3.0 * u * u * v, control(0, 1));
        add(3.0 * u * v * v, control(1, 0));
        if of.are_lines {
            return place;
        }
        add(w * w * w, self.corners[2]);
        let sides = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)].map(|(i, j)| control(i, j));
        add(3.0 * v * v * w, sides[2]);
        add(3.0 * v * w * w, sides[3]);
        add(3.0 * w * w * u, sides[4]);
        add(3.0 * w * u * u, sides[5]);
        let mut centre = [0.0; 3];
        for side in sides {
            centre = add_scaled(centre, 1.5 / 6.0, side);
        }
        for corner in self.corners {
            centre = add_scaled(centre, -0.5 / 3.0, corner);
        }
        add(6.0 * u * v * w, centre);
        place
    }

    /// Barycentric coordinates of the nearest point of the flat face or line, and its distance squared.
    fn nearest(&self, is_line: bool, point: Point) -> ([f64; 3], f64) {
        let [a, b, c] = self.corners;
        if is_line {
            return nearest_on_side(a, b, point, [0, 1]);
        }
        let (u, v, p) = (subtract(b, a), subtract(c, a), subtract(point, a));
        let (uu, uv, vv, up, vp) = (dot(u, u), dot(u, v), dot(v, v), dot(u, p), dot(v, p));
        let scale = uu * vv - uv * uv;
        let (second, third) = ((vv * up - uv * vp) / scale, (uu * vp - uv * up) / scale);
        let first = 1.0 - second - third;
        if first >= 0.0 && second >= 0.0 && third >= 0.0 {
            let foot = add_scaled(add_scaled(a, second, u), third, v);
            let away = subtract(point, foot);
            return ([first, second, third], dot(away, away));
        }
        let sides = [(a, b, [0, 1]), (b, c, [1, 2]), (c, a, [2, 0])];
        let all = sides.map(|(from, to, at)| nearest_on_side(from, to, point, at));
        all.into_iter().min_by(|p, q| p.1.total_cmp(&q.1)).unwrap_or(all[0])
    }
}

/// Barycentric coordinates, in the corners `at`, of the point of a side nearest to `point`, and its distance squared.
fn nearest_on_side(from: Point, to: Point, point: Point, at: [usize; 2]) -> ([f64; 3], f64) {
    let along = subtract(to, from);
    let share = (dot(subtract(point, from), along) / dot(along, along)).clamp(0.0, 1.0);
    let away = subtract(point, add_scaled(from, share, along));
    let mut shares = [0.0; 3];
    shares[at[0]] = 1.0 - share;
    shares[at[1]] = share;
    (shares, dot(away, away))
}

impl Patches {
    /// The patch of `tag` nearest to `point` and the barycentric coordinates of the nearest point.
    fn nearest(&self, point: Point, tag: u32) -> Option<(&Patch, [f64; 3])> {
        let mut best: Option<(f64, usize, [f64; 3])> = None;
        self.grid.search(point, &mut |number: u32| {
            let patch = &self.patches[number as usize];
            if patch.tag == tag {
                let (shares, distance) = patch.nearest(self.are_lines, point);
                if best
                    .is_none_or(|(least, lowest, _)| (distance, number as usize) < (least, lowest))
                {
                    best = Some((distance, number as usize, shares));
                }
            }
            best.map_or(f64::INFINITY, |(least, _, _)| least.sqrt())
        });
        best.map(|(_, number, shares)| (&self.patches[number], shares))
    }
}

/// Corners of a simplex; of a line its second twice.
fn corners(complex: &Complex, element: u32) -> [u32; 3] {
    let [a, b, c, _] = complex.padded(element);
    [a, b, if c == NONE { b } else { c }]
}

/// Unit normal of a face.
fn normal(mesh: &AdaptiveMesh<'_>, faces: &Complex, face: u32) -> Point {
    let [a, b, c] = corners(faces, face).map(|node| mesh.point(node));
    let along = subtract(b, a);
    let normal =
        if mesh.dimension == 2 { [along[1], -along[0], 0.0] } else { cross(along, subtract(c, a)) };
    unit(normal)
}

fn unit(v: Point) -> Point {
    let length = norm(v);
    if length > 0.0 { v.map(|coordinate| coordinate / length) } else { v }
}

/// Normal at a corner of a face: mean over the faces that a path without ridges joins to it.
fn vertex_normal(mesh: &AdaptiveMesh<'_>, face: u32, vertex: u32) -> Point {
    if mesh.dimension == 2 {
        if mesh.kinds[vertex as usize] != VertexKind::Surface {
            return normal(mesh, &mesh.faces, face);
        }
        let mut sum = [0.0; 3];
        for other in mesh.faces.around(vertex) {
            let [a, b, _] = corners(&mesh.faces, other).map(|node| mesh.point(node));
            sum = add_scaled(sum, 1.0 / norm(subtract(b, a)), normal(mesh, &mesh.faces, other));
        }
        return unit(sum);
    }
    let mut joined = vec![face];
    let mut at = 0;
    while at < joined.len() {
        let nodes = mesh.faces.nodes_of(joined[at]).to_vec();
        for other in nodes.into_iter().filter(|&node| node != vertex) {
            if !mesh.is_ridge(vertex, other) {
                let next: Vec<u32> = mesh.faces.around_edge(vertex, other).collect();
                joined.extend(
                    next.iter().filter(|face| !joined.contains(face)).copied().collect::<Vec<_>>(),
                );
            }
        }
        at += 1;
    }
    let mut sum = [0.0; 3];
    for &other in &joined {
        let nodes = mesh.faces.nodes_of(other);
        let corner = nodes.iter().position(|&node| node == vertex).unwrap_or(0);
        let [p, q, r] = [0, 1, 2].map(|k| mesh.point(nodes[(corner + k) % 3]));
        let (u, v) = (subtract(q, p), subtract(r, p));
        sum = add_scaled(sum, 1.0 / (dot(u, u) * dot(v, v)), cross(u, v));
    }
    unit(sum)
}

/// Unit tangent at an end of a ridge, in its direction: mean with the other ridge of the vertex, unless it is a corner.
fn tangent(mesh: &AdaptiveMesh<'_>, ridge: u32, vertex: u32) -> Point {
    let along = |ridge: u32| {
        let nodes = mesh.ridges.nodes_of(ridge);
        subtract(mesh.point(nodes[1]), mesh.point(nodes[0]))
    };
    let own = along(ridge);
    let mut sum = own.map(|coordinate| coordinate / dot(own, own));
    if mesh.kinds[vertex as usize] == VertexKind::Ridge {
        for other in mesh.ridges.around(vertex).filter(|&other| other != ridge) {
            let next = along(other);
            sum = add_scaled(sum, dot(own, next).signum() / dot(next, next), next);
        }
    }
    unit(sum)
}

/// A regular grid of boxes with the patches that meet each.
struct Grid {
    low: Point,
    size: f64,
    boxes: [usize; 3],
    lists: Vec<Vec<u32>>,
}

impl Grid {
    fn new(patches: &[Patch]) -> Self {
        let points = || patches.iter().flat_map(|patch| patch.corners);
        let low = [0, 1, 2].map(|axis| points().map(|p| p[axis]).fold(f64::INFINITY, f64::min));
        let high =
            [0, 1, 2].map(|axis| points().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max));
        let mean = patches
            .iter()
            .map(|patch| norm(subtract(patch.corners[1], patch.corners[0])))
            .fold(0.0, |a, b| a + b);
        let extent = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
        let size =
            (2.0 * mean / patches.len().max(1) as f64).max(extent / 128.0).max(f64::MIN_POSITIVE);
        if patches.is_empty() {
            return Grid { low: [0.0; 3], size: 1.0, boxes: [0; 3], lists: vec![] };
        }
        let boxes = [0, 1, 2].map(|k| ((high[k] - low[k]) / size) as usize + 1);
        let mut grid =
            Grid { low, size, boxes, lists: vec![vec![]; boxes[0] * boxes[1] * boxes[2]] };
        for (number, patch) in patches.iter().enumerate() {
            let bound = |k: usize, pick: fn(f64, f64) -> f64| {
                pick(pick(patch.corners[0][k], patch.corners[1][k]), patch.corners[2][k])
            };
            let first = grid.index_of([0, 1, 2].map(|k| bound(k, f64::min)));
            let last = grid.index_of([0, 1, 2].map(|k| bound(k, f64::max)));
            for i in first[0]..=last[0] {
                for j in first[1]..=last[1] {
                    for k in first[2]..=last[2] {
                        let at = grid.list([i, j, k]);
                        grid.lists[at].push(number as u32);
                    }
                }
            }
        }
        grid
    }

    fn index_of(&self, point: Point) -> [usize; 3] {
        [0, 1, 2].map(|k| {
            (((point[k] - self.low[k]) / self.size).max(0.0) as usize).min(self.boxes[k] - 1)
        })
    }

    fn list(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.boxes[1] + j) * self.boxes[0] + i
    }

    /// Visits the patches of boxes around `point`, shell by shell, until `visit` returns a distance smaller than that of the next shell.
    fn search(&self, point: Point, visit: &mut dyn FnMut(u32) -> f64) {
        if self.lists.is_empty() {
            return;
        }
        let centre = self.index_of(point);
        let most = self.boxes.iter().copied().fold(0, usize::max);
        for shell in 0..=most {
            let mut least = f64::INFINITY;
            let range = |k: usize| {
                centre[k].saturating_sub(shell)..=(centre[k] + shell).min(self.boxes[k] - 1)
            };
            for i in range(0) {
                for j in range(1) {
                    for k in range(2) {
                        let away = [i, j, k]
                            .iter()
                            .zip(centre)
                            .map(|(&a, b)| a.abs_diff(b))
                            .fold(0, usize::max);
                        if away == shell {
                            for &number in &self.lists[self.list([i, j, k])] {
                                least = visit(number);
                            }
                        }
                    }
                }
            }
            // `visit` returns the least distance so far.
            if least <= shell as f64 * self.size {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::AnalyticMetric;
    use crate::metric::Metric;
    use karman_mesh::generate::{AnnulusParams, Element};
    use karman_mesh::testing::gmsh;
    use karman_mesh::{Mesh, MeshOptions, RawMesh};

    fn with_surface(
        raw: RawMesh,
        ridge_angle_deg: f64,
        check: impl Fn(&AdaptiveMesh<'_>, &Surface),
    ) {
        let field = AnalyticMetric(|_| Metric::IDENTITY);
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let adaptive = AdaptiveMesh::new(&mesh, &field, ridge_angle_deg).unwrap();
        let surface = Surface::new(&adaptive);
        check(&adaptive, &surface);
    }

    #[test]
    fn middles_of_faces_of_a_coarse_sphere_come_nearer_to_it() {
        with_surface(gmsh("ball"), 80.0, |mesh, surface| {
            let (mut flat, mut curved) = (0.0_f64, 0.0_f64);
            for face in mesh.faces.elements() {
                let nodes = corners(&mesh.faces, face);
                let points = nodes.map(|node| mesh.point(node));
                let radius = |p: Point| norm(subtract(p, [0.5, 0.5, 0.8]));
                if points.iter().any(|&p| (radius(p) - 0.2).abs() > 1e-6) {
                    continue;
                }
                let centre = [0, 1, 2].map(|k| (points[0][k] + points[1][k] + points[2][k]) / 3.0);
                let place = surface.place(VertexKind::Surface, mesh.faces.tag(face), centre);
                flat = flat.max((radius(centre) - 0.2).abs());
                curved = curved.max((radius(place) - 0.2).abs());
            }
            assert!(flat > 0.003 && curved < 0.4 * flat, "{flat} {curved}");
        });
    }

    #[test]
    fn middles_of_edges_of_a_circle_lie_on_it_and_planes_are_not_touched() {
        let annulus = AnnulusParams {
            inner: 1.0,
            outer: 2.0,
            cells: vec![3, 24],
            element: Some(Element::Triangle),
            ..AnnulusParams::default()
        };
        with_surface(annulus.generate().unwrap(), 40.0, |mesh, surface| {
            for face in mesh.faces.elements() {
                let [p, q, _] = corners(&mesh.faces, face).map(|node| mesh.point(node));
                let middle = [0, 1, 2].map(|k| 0.5 * (p[k] + q[k]));
                let place = surface.place(VertexKind::Surface, mesh.faces.tag(face), middle);
                let error = (norm(place) - norm(p)).abs();
                assert!(error < 0.02 * (norm(middle) - norm(p)).abs(), "{error}");
            }
        });
        with_surface(super::super::tests::box_mesh(3), 40.0, |mesh, surface| {
            for face in mesh.faces.elements() {
                let [p, q, r] = corners(&mesh.faces, face).map(|node| mesh.point(node));
                let centre = [0, 1, 2].map(|k| (p[k] + q[k] + r[k]) / 3.0);
                assert_eq!(
                    surface.place(VertexKind::Surface, mesh.faces.tag(face), centre),
                    centre
                );
            }
        });
    }
}
