//! Samples against linear fields on every element.

use super::super::FaceGroup;
use super::*;
use crate::mesh::{CellShape, MeshOptions, RawMesh};

/// The value at each point, NaN outside the mesh; `field: [n_cells]` or `[n_nodes]`.
fn sample(sampler: &Sampler, field: &[f64]) -> Vec<f64> {
    let value = |point: usize| {
        let outside = if sampler.is_outside(point) { f64::NAN } else { 0.0 };
        sampler.row(point).fold(outside, |sum, (item, weight)| sum + weight * field[item as usize])
    };
    (0..sampler.len()).map(value).collect()
}

/// A box of n × n × m unit hexahedra, its upper half in x another region; with patches `low` and `high` at
/// the ends of x, and `rest`.
fn hexahedra(n: u32, m: u32) -> (Mesh, Geometry) {
    let mut raw = RawMesh { dimension: 3, ..RawMesh::default() };
    raw.cells.offsets = vec![0];
    raw.boundary.offsets = vec![0];
    raw.regions = vec!["left".into(), "right".into()];
    raw.patches = vec!["low".into(), "high".into(), "rest".into()];
    let at = |i: u32, j: u32, k: u32| i + (n + 1) * (j + (n + 1) * k);
    for k in 0..=m {
        for (j, i) in (0..=n).flat_map(|j| (0..=n).map(move |i| (j, i))) {
            let bend = 0.05 * f64::from(i % 2) * f64::from(j % 2) * f64::from(k % 2);
            raw.points.push([f64::from(i) + bend, f64::from(j) - bend, f64::from(k) + bend]);
        }
    }
    let cells = || (0..m).flat_map(|k| (0..n).flat_map(move |j| (0..n).map(move |i| (i, j, k))));
    for (i, j, k) in cells() {
        let low = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)];
        let high = low.map(|node| node + (n + 1) * (n + 1));
        let nodes = [low, high].concat();
        raw.cells.push(CellShape::Hexahedron, &nodes, u32::from(2 * i >= n));
        for (face, is_outer, patch) in [
            (0, k == 0, 2),
            (1, k == m - 1, 2),
            (2, j == 0, 2),
            (3, i == n - 1, 1),
            (4, j == n - 1, 2),
            (5, i == 0, 0),
        ] {
            if is_outer {
                let local = CellShape::Hexahedron.faces()[face];
                let corners: Vec<u32> = local.iter().map(|node| nodes[*node as usize]).collect();
                raw.boundary.push(CellShape::Quadrilateral, &corners, patch);
            }
        }
    }
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

const POINTS: [[f64; 3]; 5] =
    [[0.0, 0.0, 0.0], [1.3, 2.2, 1.7], [3.9, 0.1, 2.5], [2.0, 2.0, 2.0], [4.0, 4.0, 3.0]];

#[test]
fn linear_fields_are_exact_on_cells_and_nodes() {
    let (mesh, geometry) = hexahedra(4, 3);
    let field = |p: [f64; 3]| 1.0 + 2.0 * p[0] - 3.0 * p[1] + 0.5 * p[2];
    let cells: Vec<f64> = (0..mesh.n_cells()).map(|c| field(geometry.cell_centre_of(c))).collect();
    let nodes: Vec<f64> = mesh.points.iter().map(|p| field(*p)).collect();
    let by_cells = sample(&Sampler::of_cells(&mesh, &geometry, &POINTS), &cells);
    let by_nodes = sample(&Sampler::of_nodes(&mesh, &POINTS), &nodes);
    for (point, (a, b)) in POINTS.iter().zip(by_cells.iter().zip(&by_nodes)) {
        let exact = field(*point);
        assert!((a - exact).abs() < 1e-12 && (b - exact).abs() < 1e-12, "{point:?}: {a} {b}");
    }
}

#[test]
fn rows_begin_with_the_cell_of_the_point_and_know_the_boundary() {
    let (mesh, geometry) = hexahedra(4, 3);
    let points = [[1.5, 1.5, 1.5], [1.5, 1.5, 0.5]];
    let sampler = Sampler::of_cells(&mesh, &geometry, &points);
    for (point, at_boundary) in [(0, false), (1, true)] {
        let (cell, _) = sampler.row(point).next().unwrap();
        let centre = geometry.cell_centre_of(cell as usize);
        assert!((0..3).all(|axis| (centre[axis] - points[point][axis]).abs() < 0.05), "{centre:?}");
        assert_eq!(sampler.is_at_boundary(&mesh, point), at_boundary);
        assert!((sampler.row(point).map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-14);
    }
}

#[test]
fn gradients_do_not_cross_regions() {
    let (mesh, geometry) = hexahedra(4, 3);
    // A kink at x = 2, where the regions meet.
    let field = |p: [f64; 3]| if p[0] < 2.0 { p[0] } else { 2.0 + 10.0 * (p[0] - 2.0) };
    let cells: Vec<f64> = (0..mesh.n_cells()).map(|c| field(geometry.cell_centre_of(c))).collect();
    let points = [[1.9, 1.0, 1.0], [2.1, 1.0, 1.0]];
    let values = sample(&Sampler::of_cells(&mesh, &geometry, &points), &cells);
    assert!((values[0] - 1.9).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12, "{values:?}");
}

#[test]
fn a_single_layer_of_cells_has_no_gradient_across() {
    let (mesh, geometry) = hexahedra(4, 1);
    let field = |p: [f64; 3]| 1.0 + 2.0 * p[0] - 3.0 * p[1];
    let cells: Vec<f64> = (0..mesh.n_cells()).map(|c| field(geometry.cell_centre_of(c))).collect();
    let point = [1.3, 2.2, 0.9];
    let values = sample(&Sampler::of_cells(&mesh, &geometry, &[point]), &cells);
    // The displaced nodes move the centres slightly out of a common plane.
    assert!((values[0] - field(point)).abs() < 0.05, "{values:?}");
}

#[test]
fn a_point_among_cells_is_sampled_better_than_from_its_own_cell() {
    let error = |n: u32| {
        let text = format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [{n}, {n}, {n}]\n\
             element = \"tetrahedron\"\njitter = 0.2\n"
        );
        let case = crate::case::MeshCase::parse(&text, std::path::Path::new(""), "m").unwrap();
        let mesh = crate::mesh_source::mesh(&case).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let field = |p: [f64; 3]| p[0] * p[0] - 2.0 * p[1] * p[1] + p[2] * p[2] + p[0] * p[2];
        let cells: Vec<f64> =
            (0..mesh.n_cells()).map(|c| field(geometry.cell_centre_of(c))).collect();
        let points: Vec<[f64; 3]> = (1..20).map(|i| [0.47, 0.53, 0.05 * f64::from(i)]).collect();
        let values = sample(&Sampler::of_cells(&mesh, &geometry, &points), &cells);
        let errors = values.iter().zip(&points).map(|(value, point)| (value - field(*point)).abs());
        errors.fold(0.0, f64::max)
    };
    let (coarse, fine) = (error(8), error(16));
    let order = (coarse / fine).log2();
    assert!(fine < 2e-3 && order > 1.7, "{coarse} {fine}: order {order}");
}

#[test]
fn points_outside_are_nan_and_a_probe_there_is_refused() {
    let (mesh, geometry) = hexahedra(4, 3);
    let points = [[1.0, 1.0, 1.0], [1.0, 1.0, 9.0]];
    let sampler = Sampler::of_cells(&mesh, &geometry, &points);
    let values = sample(&sampler, &vec![7.0; mesh.n_cells()]);
    assert!((values[0] - 7.0).abs() < 1e-14 && values[1].is_nan());
    assert_eq!((sampler.len(), sampler.is_empty(), sampler.is_outside(1)), (2, false, true));
    let error = sampler.require_inside(&mesh, &["in", "out"], &points).unwrap_err();
    insta::assert_snapshot!(
        error,
        @r#"probe "out" at (1, 1, 9) is outside the mesh, which spans (0, 0, 0) to (4, 4, 3.05)"#
    );
    let inside = Sampler::of_nodes(&mesh, &points[..1]);
    assert!(inside.require_inside(&mesh, &["in"], &points[..1]).is_ok());
}

#[test]
fn a_line_has_equal_steps_and_both_ends() {
    let (s, points) = line_points([0.1, 0.0, 0.0], [0.1, 0.3, 0.4], 6);
    assert_eq!((s[0], s[5], points[0], points[5]), (0.0, 0.5, [0.1, 0.0, 0.0], [0.1, 0.3, 0.4]));
    assert!(s.windows(2).all(|pair| (pair[1] - pair[0] - 0.1).abs() < 1e-15));
}

#[test]
fn patches_are_integrated_together() {
    let (mesh, geometry) = hexahedra(4, 3);
    let both = ["high".to_owned(), "low".to_owned(), "high".to_owned()];
    let group = FaceGroup::new(&mesh, &geometry, "ends", &both).unwrap();
    assert!((group.area - 24.0).abs() < 1e-12, "{}", group.area);
    let error = FaceGroup::new(&mesh, &geometry, "ends", &["hot".to_owned()]).unwrap_err();
    insta::assert_snapshot!(
        error,
        @r#"group "ends" names the patch "hot", which the mesh does not have; it has low, high, rest"#
    );
}
