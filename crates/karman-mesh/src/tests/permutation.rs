//! A mesh with its cells in another order is the mesh that is built in this order.

use super::*;
use crate::testing::gmsh;
use crate::{SIGN_BIT, index_of};

/// The mesh along a curve, permuted to the order by Cuthill and McKee, equals the mesh built in that order.
fn compare(name: &str, raw: &RawMesh, periodic: &[[&str; 2]]) {
    let [along_curve, by_graph] = [Renumbering::Hilbert, Renumbering::Rcm].map(|renumber| {
        let mesh = Mesh::new(raw.clone(), &options(renumber)).unwrap();
        mesh.connect_periodic(periodic).unwrap()
    });
    let place = along_curve.cells_in_file_order();
    let order: Vec<u32> = by_graph.original_cell.iter().map(|cell| place[*cell as usize]).collect();
    assert!(!order.is_sorted(), "{name}");
    let (found, permutation) = along_curve.permuted(&order);
    assert!(found == by_graph, "{name}");
    assert_eq!(permutation.cells, order);
    let [old, new] = [&along_curve, &found].map(|mesh| Geometry::new(mesh).unwrap());
    for (face, item) in permutation.faces.iter().enumerate() {
        let sign: f64 = if item & SIGN_BIT == 0 { 1.0 } else { -1.0 };
        let areas =
            [(&old, index_of(*item)), (&new, face)].map(|(of, face)| of.area_vector_of(face));
        let difference =
            (0..3).map(|k| (sign * areas[0][k] - areas[1][k]).abs()).fold(0.0, f64::max);
        let size = areas[0].iter().map(|a| a.abs()).fold(0.0, f64::max);
        assert!(difference <= 1e-14 * size, "{name}: face {face}");
    }
    for (node, before) in permutation.nodes.iter().enumerate() {
        assert_eq!(found.points[node], along_curve.points[*before as usize], "{name}");
    }
}

#[test]
fn permuted_meshes_are_those_built_in_the_order() {
    for (name, raw) in samples(0.2) {
        compare(&name, &raw, &[]);
    }
    for name in ["cube_tetrahedron_medium", "cube_prism_coarse", "airfoil", "two_boxes", "valve"] {
        compare(name, &gmsh(name), &[]);
    }
}

#[test]
fn permuted_periodic_meshes_are_those_built_in_the_order() {
    // Opposite sides of mixed elements in 3D have other faces.
    for (name, raw) in samples(0.0).into_iter().filter(|(name, _)| name != "Mixed in 3D") {
        let pairs: &[[&str; 2]] = match raw.dimension {
            2 => &[["xmin", "xmax"]],
            _ => &[["xmin", "xmax"], ["zmin", "zmax"]],
        };
        compare(&name, &raw, pairs);
    }
}
