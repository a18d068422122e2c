//! Meshes that are hard on a scheme, for the tests of every crate.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test fails where one is missing

use super::generate::{BoxParams, Element};
use super::geometry::{add_scaled, face_measure, mean_point, norm, subtract};
use super::quality::mean_ratio;
use super::{Adjacency, Geometry, Mesh, MeshOptions, RawMesh};
use crate::files::read_mesh;
use std::path::{Path, PathBuf};

/// The folder of the meshes that `scripts/test_meshes.py` makes with Gmsh.
pub fn gmsh_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meshes")
}

/// The file of one of these meshes.
pub fn gmsh_file(name: &str) -> PathBuf {
    gmsh_folder().join(name).with_extension("msh")
}

/// One of these meshes.
pub fn gmsh(name: &str) -> RawMesh {
    read_mesh(&gmsh_file(name)).unwrap()
}

/// The real meshes beside the repository, or `None` with a note where there are none.
pub fn shared_mesh(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/meshes").join(name);
    let bytes = std::fs::read(path).ok();
    if bytes.is_none() {
        eprintln!("skipped: ../shared/meshes/{name} is not there");
    }
    bytes
}

/// The mesh and its geometry.
pub fn built(raw: RawMesh) -> (Mesh, Geometry) {
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

/// A mesh of tetrahedra in which one, away from the boundary, is pressed flat to the mean ratio
/// `quality` by moving one of its nodes, and the number of that cell. Its neighbours stay better than
/// `0.05`.
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
            // The quality falls with the height: halve the way to the base until it is met.
            let (mut near, mut far) = (0.0, 1.0);
            for _ in 0..60 {
                let share = 0.5 * (near + far);
                points[node as usize] = add_scaled(from, share, subtract(to, from));
                if ratio(cell, &points) > quality { near = share } else { far = share }
            }
            points[node as usize] = add_scaled(from, near, subtract(to, from));
            let others = at_node.of(node as usize).iter().map(|&other| other as usize);
            if others.filter(|&other| other != cell).all(|other| ratio(other, &points) > 0.05) {
                return (RawMesh { points, ..raw.clone() }, cell);
            }
        }
    }
    panic!("no tetrahedron of this mesh can be pressed flat")
}

/// A unit box of n blocks in each of two or three directions, sheared so that the line of centres of
/// neighbours is `angle_deg` off the normal of most of their faces.
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

/// The largest angle between the normal of an interior face and the line of its cells' centres.
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
    fn a_sliver_has_the_quality_asked_for_among_sound_cells() {
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
    fn a_sheared_box_has_the_angle_asked_for() {
        for (element, dimension) in [(Element::Hexahedron, 3), (Element::Quadrilateral, 2)] {
            let (mesh, geometry) = built(sheared_box(element, dimension, 4, 85.0));
            let angle = largest_angle_deg(&mesh, &geometry);
            assert!((angle - 85.0).abs() < 1e-9, "{angle}");
        }
    }

    #[test]
    fn a_channel_of_one_layer_reaches_from_wall_to_wall() {
        for (element, dimension, cells) in
            [(Element::Quadrilateral, 2, 6), (Element::Triangle, 2, 12), (Element::Prism, 3, 36)]
        {
            let raw = one_layer_channel(element, dimension);
            assert_eq!(raw.cells.len(), cells);
            built(raw);
        }
    }
}
