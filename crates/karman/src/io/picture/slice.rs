//! The section of a 3D mesh by a plane normal to an axis, as polygons; for a 2D mesh, its cells.

use crate::mesh::{CellShape, Elements};

/// Polygons in a plane. Each corner lies on an edge of the mesh, between two nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// Cell of each polygon: `[n]`.
    pub cells: Vec<u32>,
    /// Start of each polygon's corners: `[n + 1]`, the first is 0.
    pub offsets: Vec<u32>,
    /// Corners, in order around their polygon: `[offsets[n]]`.
    pub corners: Vec<Corner>,
    /// Names of the two coordinates of the plane.
    pub axes: [char; 2],
}

/// A corner: the point `(1 − share) a + share b` between the nodes a and b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Position in the plane.
    pub position: [f64; 2],
    /// The nodes a and b; equal where the corner is a node.
    pub nodes: [u32; 2],
    /// Share of b, from 0 to 1.
    pub share: f64,
}

impl Corner {
    /// The value of a field linear along the edge: `values: [n_nodes]`.
    pub fn value(&self, values: &[f64]) -> f64 {
        let [a, b] = self.nodes.map(|node| values[node as usize]);
        a + self.share * (b - a)
    }
}

impl Slice {
    /// The cells of a 2D mesh.
    pub fn of_2d_mesh(points: &[[f64; 3]], cells: &Elements) -> Self {
        let mut slice = Slice { offsets: vec![0], axes: ['x', 'y'], ..Slice::default() };
        for cell in 0..cells.len() {
            for &node in cells.nodes_of(cell) {
                let [x, y, _] = points[node as usize];
                slice.corners.push(Corner { position: [x, y], nodes: [node; 2], share: 0.0 });
            }
            slice.close(cell);
        }
        slice
    }

    /// The section of a 3D mesh where coordinate `axis` (0 to 2) is `at`. If the common face of two cells
    /// lies in the plane, one of them is shown. Empty where the plane does not intersect the mesh.
    pub fn of_3d_mesh(points: &[[f64; 3]], cells: &Elements, axis: usize, at: f64) -> Self {
        let level: Vec<f64> = points.iter().map(|point| point[axis] - at).collect();
        let slice = cut(points, cells, axis, |node| level[node as usize] >= 0.0, &level);
        if !slice.cells.is_empty() {
            return slice;
        }
        // The lowest face of the mesh may lie in the plane, and counts as above it so far.
        cut(points, cells, axis, |node| level[node as usize] > 0.0, &level)
    }

    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is no polygon.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The corners of polygon `polygon`.
    pub fn corners_of(&self, polygon: usize) -> &[Corner] {
        &self.corners[self.offsets[polygon] as usize..self.offsets[polygon + 1] as usize]
    }

    /// Lowest and highest corner of all polygons; none of an empty slice.
    pub fn bounds(&self) -> Option<[[f64; 2]; 2]> {
        let mut bounds = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        for corner in &self.corners {
            for (axis, &coordinate) in corner.position.iter().enumerate() {
                bounds[0][axis] = bounds[0][axis].min(coordinate);
                bounds[1][axis] = bounds[1][axis].max(coordinate);
            }
        }
        (!self.corners.is_empty()).then_some(bounds)
    }

    fn close(&mut self, cell: usize) {
        self.cells.push(cell as u32);
        self.offsets.push(self.corners.len() as u32);
    }
}

fn cut(
    points: &[[f64; 3]],
    cells: &Elements,
    axis: usize,
    is_above: impl Fn(u32) -> bool,
    level: &[f64],
) -> Slice {
    let plane = [[1, 2], [0, 2], [0, 1]][axis];
    let axes = plane.map(|axis| ['x', 'y', 'z'][axis]);
    let mut slice = Slice { offsets: vec![0], axes, ..Slice::default() };
    let corner = |[a, b]: [u32; 2]| {
        let [from, to] = [a, b].map(|node| level[node as usize]);
        let share = (from / (from - to)).clamp(0.0, 1.0);
        let [p, q] = [a, b].map(|node| points[node as usize]);
        let position = plane.map(|axis| p[axis] + share * (q[axis] - p[axis]));
        Corner { position, nodes: [a, b], share }
    };
    for cell in 0..cells.len() {
        let nodes = cells.nodes_of(cell);
        let above = nodes.iter().filter(|node| is_above(**node)).count();
        if above == 0 || above == nodes.len() {
            continue;
        }
        for polygon in section_of_cell(cells.shapes[cell], nodes, &is_above) {
            let mut corners: Vec<Corner> = polygon.into_iter().map(corner).collect();
            if doubled_area(&corners) < 0.0 {
                corners.reverse();
            }
            slice.corners.extend(corners);
            slice.close(cell);
        }
    }
    slice
}

/// The polygons in which a surface between the nodes above and those below intersects a cell, each as the edges through which
/// it passes in turn. Every face contributes its sides of the polygons: one between two edges, two where the nodes of a
/// quadrilateral are above and below in turn.
fn section_of_cell(
    shape: CellShape,
    nodes: &[u32],
    is_above: impl Fn(u32) -> bool,
) -> Vec<Vec<[u32; 2]>> {
    let ascending = |a: u32, b: u32| [a.min(b), a.max(b)];
    // From the edge on which a face, seen from outside, passes from below to above, to that of the return.
    let mut sides: Vec<[[u32; 2]; 2]> = vec![];
    for face in shape.faces() {
        let face: Vec<u32> = face.iter().map(|local| nodes[*local as usize]).collect();
        let n = face.len();
        for first in 0..n {
            let (below, above) = (face[first], face[(first + 1) % n]);
            if is_above(below) || !is_above(above) {
                continue;
            }
            let last = (1..n).map(|k| (first + k) % n).find(|&k| !is_above(face[(k + 1) % n]));
            let last = last.unwrap_or(first);
            let back = ascending(face[last], face[(last + 1) % n]);
            sides.push([ascending(below, above), back]);
        }
    }
    let mut polygons = vec![];
    while let Some([start, mut end]) = sides.pop() {
        let mut polygon = vec![start];
        while end != start {
            polygon.push(end);
            let Some(next) = sides.iter().position(|side| side[0] == end) else { break };
            end = sides.swap_remove(next)[1];
        }
        polygons.push(polygon);
    }
    polygons
}

/// Twice the signed area of a polygon.
pub(super) fn doubled_area(corners: &[Corner]) -> f64 {
    // Relative to a corner, since the polygon may be small and far from the origin.
    let origin = corners.first().map_or([0.0; 2], |corner| corner.position);
    let place = |corner: &Corner| [0, 1].map(|axis| corner.position[axis] - origin[axis]);
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).fold(0.0, |sum, (a, b)| {
        let ([ax, ay], [bx, by]) = (place(a), place(b));
        sum + ax * by - bx * ay
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{BoxParams, Element};
    use crate::mesh::testing::gmsh;

    fn area(slice: &Slice, polygon: usize) -> f64 {
        doubled_area(slice.corners_of(polygon)) / 2.0
    }

    fn nodes_of_reference(shape: CellShape) -> Vec<[f64; 3]> {
        let unit = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [0.0, 1.0, 1.0],
        ];
        let pick: &[usize] = match shape {
            CellShape::Tetrahedron => &[0, 1, 3, 4],
            CellShape::Pyramid => &[0, 1, 2, 3, 4],
            CellShape::Prism => &[0, 1, 3, 4, 5, 7],
            CellShape::Hexahedron => &[0, 1, 2, 3, 4, 5, 6, 7],
            _ => unreachable!(),
        };
        pick.iter().map(|node| unit[*node]).collect()
    }

    #[test]
    fn each_shape_has_its_section_and_linear_fields_are_exact() {
        // Areas of the sections at z = 1/2 of the shapes inscribed in the unit cube.
        for (shape, expected) in [
            (CellShape::Tetrahedron, 0.125),
            (CellShape::Pyramid, 0.25),
            (CellShape::Prism, 0.5),
            (CellShape::Hexahedron, 1.0),
        ] {
            let points = nodes_of_reference(shape);
            let mut cells = Elements::new();
            let all: Vec<u32> = (0..points.len() as u32).collect();
            cells.push(shape, &all, 0);
            let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.5);
            assert_eq!(slice.len(), 1);
            assert!((area(&slice, 0) - expected).abs() < 1e-15, "{shape:?}");
            let field: Vec<f64> =
                points.iter().map(|p| 1.0 + 2.0 * p[0] - p[1] + 4.0 * p[2]).collect();
            for corner in slice.corners_of(0) {
                let [x, y] = corner.position;
                assert!((corner.value(&field) - (3.0 + 2.0 * x - y)).abs() < 1e-15);
            }
            for (axis, axes) in [(0, ['y', 'z']), (1, ['x', 'z']), (2, ['x', 'y'])] {
                assert_eq!(Slice::of_3d_mesh(&points, &cells, axis, 0.25).axes, axes);
            }
        }
    }

    #[test]
    fn a_plane_through_faces_shows_one_side_of_them() {
        let mut points = vec![];
        for k in 0..3 {
            for (x, y) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
                points.push([x, y, f64::from(k)]);
            }
        }
        let mut cells = Elements::new();
        cells.push(CellShape::Hexahedron, &[0, 1, 2, 3, 4, 5, 6, 7], 0);
        cells.push(CellShape::Hexahedron, &[4, 5, 6, 7, 8, 9, 10, 11], 0);
        for (at, cell) in [(0.0, 0), (1.0, 0), (1.5, 1), (2.0, 1)] {
            let slice = Slice::of_3d_mesh(&points, &cells, 2, at);
            assert_eq!(slice.cells, [cell], "at {at}");
            assert_eq!(area(&slice, 0), 1.0);
            assert_eq!(slice.bounds(), Some([[0.0, 0.0], [1.0, 1.0]]));
        }
        let missed = Slice::of_3d_mesh(&points, &cells, 2, 2.5);
        assert!(missed.is_empty() && missed.bounds().is_none());
    }

    #[test]
    fn cells_of_a_2d_mesh_are_their_own_polygons() {
        let points = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let mut cells = Elements::new();
        cells.push(CellShape::Triangle, &[0, 1, 2], 0);
        cells.push(CellShape::Triangle, &[0, 2, 3], 0);
        let slice = Slice::of_2d_mesh(&points, &cells);
        assert_eq!((slice.len(), area(&slice, 0), area(&slice, 1)), (2, 1.0, 1.0));
        assert_eq!(slice.corners_of(1)[1].value(&[5.0, 6.0, 7.0, 8.0]), 7.0);
    }

    #[test]
    fn polygons_of_a_plane_fill_the_section_of_the_domain() {
        let jittered = BoxParams {
            size: vec![1.0; 3],
            cells: vec![4; 3],
            element: Some(Element::Hexahedron),
            jitter: 0.3,
            ..BoxParams::default()
        };
        let cube = |element: &str| gmsh(&format!("cube_{element}_coarse"));
        let jittered = jittered.generate().unwrap();
        for mesh in [cube("tetrahedron"), cube("prism"), cube("hexahedron"), jittered] {
            for (axis, at) in [(0, 0.37), (1, 0.5), (2, 0.0), (2, 0.871), (0, 1.0)] {
                let slice = Slice::of_3d_mesh(&mesh.points, &mesh.cells, axis, at);
                let areas: Vec<f64> = (0..slice.len()).map(|p| area(&slice, p)).collect();
                assert!(areas.iter().all(|area| *area >= 0.0));
                let total = areas.iter().fold(0.0, |sum, area| sum + area);
                assert!((total - 1.0).abs() < 1e-9, "{axis} {at}: {total}");
            }
        }
    }

    #[test]
    fn nodes_above_and_below_in_turn_give_two_polygons() {
        // Corners 0 and 2 of the lower face are above the plane, the upper face is below it.
        let above = [0, 2];
        let nodes: Vec<u32> = (0..8).collect();
        let polygons =
            section_of_cell(CellShape::Hexahedron, &nodes, |node: u32| above.contains(&node));
        assert_eq!(polygons.len(), 2);
        for (polygon, corner) in polygons.iter().zip([0, 2]) {
            assert_eq!(polygon.len(), 3);
            let around = polygons.iter().filter(|p| p.iter().all(|edge| edge.contains(&corner)));
            assert_eq!(around.count(), 1);
        }
    }
}
