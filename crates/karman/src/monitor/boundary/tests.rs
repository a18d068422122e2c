//! Values on and near walls of Gmsh meshes.

use super::*;
use crate::mesh::testing::{built, gmsh};
use crate::monitor::{line_points, locate};

fn rows(name: &str, points: &[Vector]) -> (Mesh, Geometry, Vec<Option<BoundaryRow>>) {
    let (mesh, geometry) = built(gmsh(name));
    let located = locate(&mesh, points);
    let rows = rows_at_boundary(&mesh, &geometry, points, &located, |_| true);
    (mesh, geometry, rows)
}

fn value(row: &BoundaryRow, geometry: &Geometry, field: impl Fn(Vector) -> f64) -> f64 {
    let cells =
        row.cells.iter().map(|&(cell, w)| w * field(geometry.cell_centre_of(cell as usize)));
    let faces =
        row.faces.iter().map(|&(face, w)| w * field(geometry.face_centre_of(face as usize)));
    cells.chain(faces).fold(0.0, |a, b| a + b)
}

#[test]
fn linear_fields_are_exact_at_and_near_walls() {
    let field = |p: Vector| 1.0 + 2.0 * p[0] - 3.0 * p[1] + 0.5 * p[2];
    for (name, from, to) in [
        ("triangles_coarse", [0.31, 0.0, 0.0], [0.47, 1.0, 0.0]),
        ("ball", [0.0, 0.21, 1.9], [1.0, 0.43, 1.7]),
        ("tee", [0.5, 0.5, 0.0], [0.5, 0.5, 0.2]),
    ] {
        let (_, points) = line_points(from, to, 41);
        let (_, geometry, rows) = rows(name, &points);
        assert!(rows[0].as_ref().is_some_and(|row| row.cells.is_empty()), "{name}");
        let mut found = 0;
        for (point, row) in points.iter().zip(&rows) {
            let Some(row) = row else { continue };
            found += 1;
            let sampled = value(row, &geometry, field);
            assert!((sampled - field(*point)).abs() < 1e-11, "{name} {point:?}: {sampled}");
        }
        assert!(found > 5 && found < 42, "{name}: {found}");
    }
}

#[test]
fn points_on_a_curved_wall_have_its_value_between_and_beyond_the_facets() {
    // A pipe around the z axis with radius 0.5; its n facets lie inside by up to 0.5 (1 − cos π/n).
    let circle = |i: u32, radius: f64| {
        let angle = f64::from(i) * 0.1;
        [radius * angle.cos(), radius * angle.sin(), 0.13 + 0.011 * f64::from(i)]
    };
    let points: Vec<Vector> = (0..62).map(|i| circle(i, 0.5)).collect();
    let (mesh, geometry, rows) = rows("pipe_medium", &points);
    let wall = mesh.patches.iter().find(|patch| patch.name == "wall").unwrap();
    for (point, row) in points.iter().zip(&rows) {
        let row = row.as_ref().unwrap_or_else(|| panic!("{point:?}"));
        assert!(row.cells.is_empty(), "{point:?}");
        assert!(row.faces.iter().all(|(face, _)| wall.faces.contains(&(*face as usize))));
        assert!((value(row, &geometry, |_| 7.0) - 7.0).abs() < 1e-12);
        let height = value(row, &geometry, |p| p[2]);
        // Facets are slightly tilted: the error of z is below their distance from the wall.
        let inside = 0.5 * (1.0 - (std::f64::consts::PI / 18.0).cos());
        assert!((height - point[2]).abs() < inside, "{point:?}: {height}");
    }
    // Well inside, cells have weights.
    let inside: Vec<Vector> = (0..62).map(|i| circle(i, 0.42)).collect();
    let located = locate(&mesh, &inside);
    let rows = rows_at_boundary(&mesh, &geometry, &inside, &located, |_| true);
    assert!(rows.iter().flatten().all(|row| !row.cells.is_empty()));
}

#[test]
fn faces_without_a_prescribed_value_have_no_weight() {
    let points = [[0.0, 0.5, 0.0], [0.02, 0.5, 0.0], [0.5, 0.5, 0.0]];
    let (mesh, geometry) = built(gmsh("triangles_coarse"));
    let located = locate(&mesh, &points);
    let rows = rows_at_boundary(&mesh, &geometry, &points, &located, |_| false);
    assert_eq!(rows, [None, None, None]);
    let left = mesh.patches.iter().find(|patch| patch.name == "xmin").unwrap().faces.clone();
    let rows = rows_at_boundary(&mesh, &geometry, &points, &located, |face| left.contains(&face));
    assert!(rows[0].is_some() && rows[1].is_some() && rows[2].is_none());
    // Patches meet in the corner; a point there takes the value of a single patch.
    let corner = [[0.0, 0.0, 0.0]];
    let rows = rows_at_boundary(&mesh, &geometry, &corner, &locate(&mesh, &corner), |_| true);
    let row = rows[0].as_ref().unwrap();
    let patches = row.faces.iter().map(|(face, _)| mesh.patch_of(*face as usize));
    let patches: std::collections::BTreeSet<_> = patches.collect();
    assert_eq!((patches.len(), row.cells.len()), (1, 0));
}
