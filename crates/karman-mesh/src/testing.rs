//! Meshes that are difficult for a scheme, for the tests of every crate.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test fails where a file is missing

use super::generate::{BoxParams, Element};
use super::geometry::{add_scaled, face_measure, mean_point, norm, subtract};
use super::quality::mean_ratio;
use super::{Adjacency, CellShape, Elements, Geometry, Mesh, MeshOptions, RawMesh};
use crate::files::read_mesh;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of the meshes that `scripts/test_meshes.py` makes with Gmsh.
pub fn gmsh_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meshes")
}

/// File of the mesh `name` in [`gmsh_folder`].
pub fn gmsh_file(name: &str) -> PathBuf {
    gmsh_folder().join(name).with_extension("msh")
}

/// The mesh `name` in [`gmsh_folder`].
pub fn gmsh(name: &str) -> RawMesh {
    read_mesh(&gmsh_file(name)).unwrap()
}

/// Content of a large mesh file beside the repository; `None`, with a note, where it is missing.
pub fn shared_mesh(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/meshes").join(name);
    let bytes = std::fs::read(path).ok();
    if bytes.is_none() {
        eprintln!("skipped: ../shared/meshes/{name} is not there");
    }
    bytes
}

/// The mesh and its geometry, with default options.
pub fn built(raw: RawMesh) -> (Mesh, Geometry) {
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

/// A mesh of tetrahedra with a sliver of mean ratio `quality`, made by moving one interior node, and
/// the number of the sliver. The mean ratio of its neighbours stays above 0.05.
pub fn with_sliver(raw: &RawMesh, quality: f64) -> (RawMesh, usize) {
    let cells = &raw.cells;
    let lists = Adjacency { offsets: cells.offsets.clone(), items: cells.nodes.clone() };
    let at_node = lists.transpose(raw.points.len());
    let mut is_outer = vec![false; raw.points.len()];
    raw.boundary.nodes.iter().for_each(|&node| is_outer[node as usize] = true);
    let ratio = |cell: usize, points: &[[f64; 3]]| {
        mean_ratio(cells.shapes[cell], cells.nodes_of(cell), points)
    };
    for cell in 0..cells.len() {
        for &node in cells.nodes_of(cell).iter().filter(|&&node| !is_outer[node as usize]) {
            let base: Vec<u32> =
                cells.nodes_of(cell).iter().copied().filter(|&other| other != node).collect();
            let (from, to) = (raw.points[node as usize], mean_point(&base, &raw.points));
            let mut points = raw.points.clone();
            // The quality falls with the height: bisection.
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let share = 0.5 * (low + high);
                points[node as usize] = add_scaled(from, share, subtract(to, from));
                if ratio(cell, &points) > quality { low = share } else { high = share }
            }
            points[node as usize] = add_scaled(from, low, subtract(to, from));
            let others = at_node.of(node as usize).iter().map(|&other| other as usize);
            if others.filter(|&other| other != cell).all(|other| ratio(other, &points) > 0.05) {
                return (RawMesh { points, ..raw.clone() }, cell);
            }
        }
    }
    panic!("no tetrahedron of this mesh can be made a sliver")
}

/// A unit box of n blocks in each direction, sheared to a non-orthogonality of `angle_deg` at most of
/// its faces.
pub fn sheared_box(element: Element, dimension: usize, n: usize, angle_deg: f64) -> RawMesh {
    let params = BoxParams {
        size: vec![1.0; dimension],
        cells: vec![n; dimension],
        element: Some(element),
        ..BoxParams::default()
    };
    let mut raw = params.generate().unwrap();
    let shear = angle_deg.to_radians().tan();
    raw.points.iter_mut().for_each(|point| point[0] += shear * point[dimension - 1]);
    raw
}

/// A channel of length 4 and height 1 with one layer of blocks between the patches `ymin` and `ymax`.
pub fn one_layer_channel(element: Element, dimension: usize) -> RawMesh {
    let params = BoxParams {
        size: vec![4.0, 1.0, 1.0][..dimension].to_vec(),
        cells: vec![6, 1, 3][..dimension].to_vec(),
        element: Some(element),
        ..BoxParams::default()
    };
    params.generate().unwrap()
}

/// A mesh of triangles or tetrahedra with each edge halved: four triangles or eight tetrahedra for one (Bey, Computing 55 (1995) 355).
pub fn with_halved_edges(raw: &RawMesh) -> RawMesh {
    let mut points = raw.points.clone();
    let mut midpoints = BTreeMap::new();
    let mut halve = |elements: &Elements| {
        let mut children = Elements::new();
        for element in 0..elements.len() {
            let mut nodes = elements.nodes_of(element).to_vec();
            let corners = nodes.len();
            for (a, b) in (0..corners).flat_map(|a| (a + 1..corners).map(move |b| (a, b))) {
                let edge = [nodes[a].min(nodes[b]), nodes[a].max(nodes[b])];
                nodes.push(*midpoints.entry(edge).or_insert_with(|| {
                    points.push(mean_point(&edge, &raw.points));
                    points.len() as u32 - 1
                }));
            }
            let shape = elements.shapes[element];
            let places: &[&[usize]] = match shape {
                // Corners 0 1 2 3, midpoints of 01 02 03 12 13 23.
                CellShape::Tetrahedron => &[
                    &[0, 4, 5, 6],
                    &[4, 1, 7, 8],
                    &[5, 7, 2, 9],
                    &[6, 8, 9, 3],
                    &[4, 5, 6, 8],
                    &[4, 7, 5, 8],
                    &[5, 6, 8, 9],
                    &[5, 8, 7, 9],
                ],
                // Corners 0 1 2, midpoints of 01 02 12.
                CellShape::Triangle => &[&[0, 3, 4], &[3, 1, 5], &[4, 5, 2], &[3, 5, 4]],
                CellShape::Segment => &[&[0, 2], &[2, 1]],
                _ => panic!("a mesh of triangles or tetrahedra"),
            };
            for child in places {
                let child: Vec<u32> = child.iter().map(|place| nodes[*place]).collect();
                children.push(shape, &child, elements.groups[element]);
            }
        }
        children
    };
    let (cells, boundary) = (halve(&raw.cells), halve(&raw.boundary));
    RawMesh { points, cells, boundary, ..raw.clone() }
}

/// Largest non-orthogonality: angle between the normal of an interior face and its cells' line of centres.
pub fn largest_angle_deg(mesh: &Mesh, geometry: &Geometry) -> f64 {
    let angle = |face: usize| {
        let left = geometry.cell_centre_of(mesh.face_left[face] as usize);
        let line = subtract(geometry.right_centre_of(mesh, face), left);
        let (area, _) = face_measure(mesh.face_to_nodes.of(face), &mesh.points);
        let cosine = (0..3).map(|k| line[k] * area[k]).fold(0.0, |a, b| a + b);
        (cosine / (norm(line) * norm(area))).acos().to_degrees()
    };
    (0..mesh.n_interior_faces()).map(angle).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::cell_measure;

    #[test]
    fn a_sliver_has_the_requested_quality_among_good_cells() {
        for name in ["pipe_coarse", "ball", "tee"] {
            let raw = gmsh(name);
            let (flat, cell) = with_sliver(&raw, 0.01);
            let found =
                mean_ratio(flat.cells.shapes[cell], flat.cells.nodes_of(cell), &flat.points);
            assert!((found - 0.01).abs() < 1e-9, "{name}: {found}");
            let volume = |raw: &RawMesh| {
                let of_cell = |c: usize| {
                    cell_measure(raw.cells.shapes[c], raw.cells.nodes_of(c), &raw.points).0
                };
                (0..raw.cells.len()).map(of_cell).fold(0.0, |a, b| a + b)
            };
            assert!((volume(&flat) / volume(&raw) - 1.0).abs() < 1e-12);
            assert_eq!(flat.boundary.nodes, raw.boundary.nodes);
            built(flat);
        }
    }

    #[test]
    fn halved_edges_keep_volume_and_patches() {
        for (name, children) in [("triangles_coarse", 4), ("cube_tetrahedron_coarse", 8)] {
            let raw = gmsh(name);
            let fine = with_halved_edges(&raw);
            assert_eq!(fine.cells.len(), children * raw.cells.len());
            assert_eq!(fine.boundary.len() * 2, raw.boundary.len() * children);
            let ((coarse, of_coarse), (fine, of_fine)) = (built(raw), built(fine));
            assert_eq!(fine.patches.len(), coarse.patches.len());
            let volume = |geometry: &Geometry| {
                geometry.cell_volume.iter().fold(0.0, |sum, volume| sum + volume)
            };
            assert!((volume(&of_fine) / volume(&of_coarse) - 1.0).abs() < 1e-12, "{name}");
            let largest =
                |geometry: &Geometry| geometry.cell_volume.iter().copied().fold(0.0, f64::max);
            let ratio = largest(&of_coarse) / largest(&of_fine);
            assert!((ratio - children as f64).abs() < 1e-9, "{name}: {ratio}");
        }
    }

    #[test]
    fn a_sheared_box_has_the_requested_angle() {
        for (element, dimension) in [(Element::Hexahedron, 3), (Element::Quadrilateral, 2)] {
            let (mesh, geometry) = built(sheared_box(element, dimension, 4, 85.0));
            let angle = largest_angle_deg(&mesh, &geometry);
            assert!((angle - 85.0).abs() < 1e-9, "{angle}");
        }
    }

    #[test]
    fn a_channel_of_one_layer_extends_from_wall_to_wall() {
        for (element, dimension, cells) in
            [(Element::Quadrilateral, 2, 6), (Element::Triangle, 2, 12), (Element::Prism, 3, 36)]
        {
            let raw = one_layer_channel(element, dimension);
            assert_eq!(raw.cells.len(), cells);
            built(raw);
        }
    }
}
