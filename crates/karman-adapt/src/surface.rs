//! The surface that the faces of the given mesh approximate, on which new and moved vertices lie.
//!
//! Each face has the cubic patch of its corners and their normals (Vlachos et al., *Curved PN Triangles*, I3D 2001), each ridge
//! the cubic curve of its ends and their tangents. Where the normals of a face are its own,
//! the face is flat and the place of a vertex is not touched: plane faces keep their plane to round-off.

use crate::vector::{Point, add_scaled, dot, norm, subtract};
use crate::vertex_kind::VertexKind;

/// A face with its corner normals, or a ridge with its end tangents.
pub(crate) struct Patch {
    /// Corners; those of a line are two, the second repeated.
    pub(crate) corners: [Point; 3],
    /// Normals at the corners; tangents at the ends of a ridge.
    pub(crate) directions: [Point; 3],
    pub(crate) tag: u32,
    pub(crate) is_flat: bool,
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
    /// The surface of the patches of faces and ridges; `are_lines` of the faces of a mesh in 2D.
    pub(crate) fn new(faces: Vec<Patch>, ridges: Vec<Patch>, are_lines: bool) -> Self {
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
