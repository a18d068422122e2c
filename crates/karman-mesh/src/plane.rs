//! The plane of a 2D mesh: any plane in a file, z = 0 in the solver.
//!
//! | plane | x and y of the mesh |
//! |---|---|
//! | z = constant | x, y |
//! | y = constant | x, z |
//! | x = constant | y, z |
//! | tilted | x along the projection of the first axis of the nearest of these planes, y across |
//!
//! In a tilted plane y points towards the second axis, and both start at the origin. The map is a
//! rotation: it preserves lengths and areas.

use super::error::{MeshError, MeshWarning, Place};
use super::geometry::{add_scaled, dot, face_measure, norm, subtract};
use super::raw::RawMesh;

/// Largest distance of a node from the plane over the mesh's extent: for coordinates of six digits.
const TOLERANCE: f64 = 1e-6;
/// Largest distance from z = 0 over the mesh's extent of a mesh in z = 0.
const ROUND_OFF: f64 = 1e-12;
const AXES: [&str; 3] = ["x", "y", "z"];

impl RawMesh {
    /// Rotates a 2D mesh to the plane z = 0, as [`Mesh::new`](super::Mesh::new) does; the warning describes the rotation, `None`
    /// where the mesh lies there.
    ///
    /// # Errors
    /// [`MeshError::NotPlanar`] where the nodes of the cells do not lie in one plane.
    pub fn rotate_to_xy_plane(&mut self) -> Result<Option<MeshWarning>, MeshError> {
        let mut used: Vec<u32> = self.cells.nodes.clone();
        used.sort_unstable();
        used.dedup();
        let point = |node: &u32| self.points[*node as usize];
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for point in used.iter().map(point) {
            low = [0, 1, 2].map(|k| low[k].min(point[k]));
            high = [0, 1, 2].map(|k| high[k].max(point[k]));
        }
        let extent = norm(subtract(high, low));
        let (axes, warning) =
            match [2, 1, 0].into_iter().find(|&k| high[k] - low[k] <= TOLERANCE * extent) {
                Some(k) => {
                    let level = 0.5 * (low[k] + high[k]);
                    let at = if level.abs() <= ROUND_OFF * extent { 0.0 } else { level };
                    let [first, second] = coordinates_beside(k);
                    let is_xy_plane = k == 2 && at == 0.0;
                    let warning = (!is_xy_plane).then(|| MeshWarning::CoordinatePlane {
                        axis: AXES[k],
                        at,
                        first: AXES[first],
                        second: AXES[second],
                    });
                    ([first, second].map(unit), warning)
                }
                None => {
                    let normal = normal_of(self);
                    let heights = || used.iter().map(|node| dot(normal, point(node)));
                    let level = heights().fold(0.0, |a, b| a + b) / used.len() as f64;
                    let furthest = heights()
                        .zip(&used)
                        .max_by(|a, b| (a.0 - level).abs().total_cmp(&(b.0 - level).abs()));
                    if let Some((height, &node)) = furthest
                        && (height - level).abs() > TOLERANCE * extent
                    {
                        let place = Place(point(&node));
                        let distance = (height - level).abs();
                        return Err(MeshError::NotPlanar { node: node as usize, place, distance });
                    }
                    let axes = axes_in(normal);
                    let [normal, first, second] = [normal, axes[0], axes[1]].map(without_round_off);
                    (axes, Some(MeshWarning::TiltedPlane { normal, first, second }))
                }
            };
        for point in &mut self.points {
            *point = [dot(axes[0], *point), dot(axes[1], *point), 0.0];
        }
        Ok(warning)
    }
}

/// A unit vector for a message, without components of round-off.
fn without_round_off(vector: [f64; 3]) -> Place {
    Place(vector.map(|component| if component.abs() <= ROUND_OFF { 0.0 } else { component }))
}

fn unit(k: usize) -> [f64; 3] {
    let mut axis = [0.0; 3];
    axis[k] = 1.0;
    axis
}

/// The coordinates other than `k`.
fn coordinates_beside(k: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][k]
}

/// The unit normal of the cells: the sum of their area vectors, each with the sign of its projection on
/// the largest.
fn normal_of(raw: &RawMesh) -> [f64; 3] {
    let area = |cell: usize| face_measure(raw.cells.nodes_of(cell), &raw.points).0;
    let cells = 0..raw.cells.len();
    let larger = |a: &[f64; 3], b: &[f64; 3]| norm(*a).total_cmp(&norm(*b));
    let largest = cells.clone().map(area).max_by(larger).unwrap_or_default();
    let sum = cells.map(area).fold([0.0; 3], |sum, area| {
        add_scaled(sum, if dot(area, largest) < 0.0 { -1.0 } else { 1.0 }, area)
    });
    let length = norm(sum);
    if length > 0.0 { sum.map(|component| component / length) } else { unit(2) }
}

/// The axes of a plane that is no coordinate plane.
fn axes_in(normal: [f64; 3]) -> [[f64; 3]; 2] {
    let steepest = (0..3).max_by(|&a, &b| normal[a].abs().total_cmp(&normal[b].abs()));
    let [first, second] = coordinates_beside(steepest.unwrap_or(2)).map(unit);
    let unit_of = |v: [f64; 3]| v.map(|component| component / norm(v));
    let first = unit_of(add_scaled(first, -dot(first, normal), normal));
    let second = add_scaled(second, -dot(second, normal), normal);
    [first, unit_of(add_scaled(second, -dot(second, first), first))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{BoxParams, Element};
    use crate::{CellShape, Geometry, Mesh, MeshOptions};

    /// A rectangle of 2 × 1, mapped to 3D by `place`.
    fn rectangle(element: Element, place: impl Fn(f64, f64) -> [f64; 3]) -> RawMesh {
        let params = BoxParams {
            size: vec![2.0, 1.0],
            cells: vec![4, 3],
            element: Some(element),
            ..BoxParams::default()
        };
        let mut raw = params.generate().unwrap();
        raw.points.iter_mut().for_each(|point| *point = place(point[0], point[1]));
        raw
    }

    fn read(raw: RawMesh) -> (Mesh, Vec<String>) {
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let warnings = mesh.warnings.iter().map(ToString::to_string).collect();
        (mesh, warnings)
    }

    #[test]
    fn coordinate_planes_keep_their_coordinates() {
        for element in [Element::Triangle, Element::Quadrilateral, Element::Mixed] {
            let flat = read(rectangle(element, |x, y| [x, y, 0.0])).0;
            for (place, expected) in [
                (
                    (|x, y| [x, y, 5.0]) as fn(f64, f64) -> [f64; 3],
                    "z = 5: x and y of the case and of \
                  the results are x and y of the file",
                ),
                (
                    |x, y| [x, 0.25, y],
                    "y = 0.25: x and y of the case and of the results are x and z of \
                  the file",
                ),
                (
                    |x, y| [-3.0, x, y],
                    "x = -3: x and y of the case and of the results are y and z of \
                  the file",
                ),
            ] {
                let (mesh, warnings) = read(rectangle(element, place));
                assert_eq!(warnings, [format!("the 2D mesh lies in the plane {expected}")]);
                assert_eq!((&mesh.points, &mesh.cells), (&flat.points, &flat.cells));
            }
            assert!(flat.warnings.is_empty());
        }
    }

    #[test]
    fn rotating_a_tilted_plane_preserves_areas_and_orientation() {
        // Rotated by 30° about x: the plane is nearest to z = 0.
        let (c, s) = (0.75f64.sqrt(), 0.5);
        let (mesh, warnings) = read(rectangle(Element::Triangle, |x, y| [x, c * y, s * y + 1.0]));
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("with the normal (0, -0.5, 0.866025)")
                && warnings[0].contains("along (1, 0, 0) and (0, 0.866025, 0.5) of the file"),
            "{warnings:?}"
        );
        let geometry = Geometry::new(&mesh).unwrap();
        let area = geometry.cell_volume.iter().fold(0.0, |sum, volume| sum + volume);
        assert!((area - 2.0).abs() < 1e-14, "{area}");
        let height = mesh.points.iter().map(|p| p[1]).fold(f64::NEG_INFINITY, f64::max);
        assert!((height - (1.0 + s)).abs() < 1e-14, "y is counted from the origin: {height}");
        // Rotated by 45° about (1, 1, 1)/√3, with coordinates of six digits.
        let rotated = |x: f64, y: f64| {
            let (cos, sin, third) = (0.5f64.sqrt(), 0.5f64.sqrt(), 1.0 / 3.0);
            let sum = (x + y) * third * (1.0 - cos);
            let k = sin / 3.0f64.sqrt();
            [x * cos + k * -y + sum, y * cos + k * x + sum, k * (y - x) + sum]
                .map(|v: f64| format!("{v:.6}").parse().unwrap())
        };
        let (mesh, _) = read(rectangle(Element::Mixed, rotated));
        let geometry = Geometry::new(&mesh).unwrap();
        let area = geometry.cell_volume.iter().fold(0.0, |sum, volume| sum + volume);
        assert!((area - 2.0).abs() < 1e-5, "{area}");
    }

    #[test]
    fn a_tilted_plane_is_described_without_round_off() {
        let (_, warnings) = read(rectangle(Element::Triangle, |x, y| [0.6 * x, y, 0.8 * x]));
        let expected = "the 2D mesh lies in the plane with the normal (-0.8, 0, 0.6): x and y of the case and of the \
                        results run along (0, 1, 0) and (0.6, 0, 0.8) of the file, from its origin";
        assert_eq!(warnings[0], expected);
        let place = without_round_off([1.4e-17, -0.5, -2e-13]);
        assert_eq!(place.0, [0.0, -0.5, 0.0]);
    }

    #[test]
    fn a_2d_mesh_that_is_not_planar_is_refused() {
        let raw = rectangle(Element::Triangle, |x, y| [x, y, 0.1 * x * x]);
        let error = Mesh::new(raw, &MeshOptions::default()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, MeshError::NotPlanar { .. }), "{text}");
        assert!(text.starts_with("the 2D mesh is not planar: node ") && text.contains("volume"));
    }

    #[test]
    fn orphan_nodes_may_lie_off_the_plane() {
        let mut raw = rectangle(Element::Triangle, |x, y| [x, y, 0.0]);
        raw.points.push([0.5, 0.5, 7.0]);
        let (mesh, warnings) = read(raw);
        assert_eq!((mesh.orphan_nodes.len(), warnings.len()), (1, 1));
    }

    #[test]
    fn a_clockwise_2d_mesh_is_reversed_whole() {
        // One quadrilateral among triangles; mirrored, the whole mesh is clockwise.
        let mut raw = rectangle(Element::Triangle, |x, y| [x, y, 0.0]);
        raw.points.push([3.0, 0.0, 0.0]);
        raw.points.push([3.0, 1.0 / 3.0, 0.0]);
        let n = raw.points.len() as u32;
        raw.cells.push(CellShape::Quadrilateral, &[4, n - 2, n - 1, 9], 0);
        let open = [[4, n - 2], [n - 2, n - 1], [n - 1, 9]];
        let side = raw.patches.iter().position(|name| name == "xmax").unwrap() as u32;
        let others: Vec<usize> = (0..raw.boundary.len())
            .filter(|&e| raw.boundary.nodes_of(e) != [4, 9] && raw.boundary.nodes_of(e) != [9, 4])
            .collect();
        let mut boundary = crate::Elements::new();
        for e in others {
            boundary.push(CellShape::Segment, raw.boundary.nodes_of(e), raw.boundary.groups[e]);
        }
        open.iter().for_each(|nodes| boundary.push(CellShape::Segment, nodes, side));
        raw.boundary = boundary;
        let volumes = |raw: RawMesh| Geometry::new(&read(raw).0).unwrap().cell_volume;
        let upright = volumes(raw.clone());
        raw.points.iter_mut().for_each(|point| point[0] = -point[0]);
        let mirrored = volumes(raw);
        let total = |v: &[f64]| v.iter().fold(0.0, |a, b| a + b);
        assert!((total(&upright) - total(&mirrored)).abs() < 1e-13);
    }
}
