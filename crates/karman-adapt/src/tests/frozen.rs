//! Cells that adaptation keeps: those of other shapes beside simplices, and frozen ones.

use super::measures;
use crate::smoothing::{MetricLookup, SmoothOptions, smooth_by_colours};
use crate::{
    AdaptOptions, AnalyticMetric, Metric, MetricField, NodalMetric, adapt, adapt_around_frozen,
};
use karman_backend::Backend;
use karman_mesh::generate::SphereInBoxParams;
use karman_mesh::testing::gmsh;
use karman_mesh::{CellShape, Mesh, MeshOptions, RawMesh};

fn built(raw: RawMesh) -> Mesh {
    Mesh::new(raw, &MeshOptions::default()).unwrap()
}

/// Prisms around a sphere, tetrahedra beyond them.
fn sphere() -> Mesh {
    let params = SphereInBoxParams {
        size: [6.0; 3],
        surface_size: 0.2,
        far_size: 1.5,
        layers: 2,
        ..SphereInBoxParams::default()
    };
    built(params.generate().unwrap())
}

/// The cells that are kept, as the coordinates of their nodes, ascending.
fn coordinates(mesh: &Mesh, is_kept: impl Fn(usize) -> bool) -> Vec<Vec<[f64; 3]>> {
    let of_cell = |cell: usize| -> Vec<[f64; 3]> {
        mesh.cells.nodes_of(cell).iter().map(|&node| mesh.points[node as usize]).collect()
    };
    let mut all: Vec<_> = (0..mesh.n_cells()).filter(|&c| is_kept(c)).map(of_cell).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

fn is_simplex(mesh: &Mesh, cell: usize) -> bool {
    matches!(mesh.cells.shapes[cell], CellShape::Triangle | CellShape::Tetrahedron)
}

fn check_measures(mesh: &Mesh, after: &Mesh, tolerance: f64) {
    assert_eq!(after.patches.len(), mesh.patches.len());
    let (then, now) = (measures(mesh), measures(after));
    for (a, b) in then.0.iter().chain(&then.1).zip(now.0.iter().chain(&now.1)) {
        assert!((a / b - 1.0).abs() < tolerance, "{a} {b}");
    }
}

#[test]
fn layers_of_other_elements_stay_as_they_are() {
    let wake = |p: [f64; 3]| Metric {
        yy: 1.0 / (0.15 + 0.3 * (p[1] - 0.2).abs()).powi(2),
        ..Metric::isotropic(0.5, 3)
    };
    let airfoil = |p: [f64; 3]| Metric::isotropic(0.05 + 0.2 * (p[0] - 1.2).abs(), 2);
    for (mesh, field) in [
        (sphere(), &AnalyticMetric(wake) as &dyn MetricField),
        (built(gmsh("airfoil")), &AnalyticMetric(airfoil)),
    ] {
        let adapted = adapt(&mesh, field, &AdaptOptions::default()).unwrap();
        let after = built(adapted.mesh);
        assert_ne!(after.n_cells(), mesh.n_cells());
        // Edges of the layers stay, far shorter or longer than the metric has them.
        assert!(
            adapted.after.in_range > 0.85 && adapted.after.lowest_quality > 0.1,
            "{}",
            adapted.after
        );
        assert!(adapted.before.in_range < 0.6, "{}", adapted.before);
        let others = |mesh: &Mesh| coordinates(mesh, |cell| !is_simplex(mesh, cell));
        assert!(!others(&mesh).is_empty());
        assert_eq!(others(&after), others(&mesh));
        check_measures(&mesh, &after, 1e-12);
    }
}

#[test]
fn frozen_regions_stay_as_they_are() {
    let mut raw = super::box_mesh(4);
    raw.regions = vec!["left".into(), "right".into()];
    for cell in 0..raw.cells.len() {
        let nodes = raw.cells.nodes_of(cell);
        let x = nodes.iter().map(|&node| raw.points[node as usize][0]).fold(0.0, |a, b| a + b);
        raw.cells.groups[cell] = u32::from(x / 4.0 > 0.5);
    }
    let mesh = built(raw);
    let field = AnalyticMetric(|p: [f64; 3]| Metric::isotropic(0.08 + 0.3 * p[0], 3));
    let in_right = |mesh: &Mesh| -> Vec<bool> {
        mesh.cells.groups.iter().map(|&group| mesh.regions[group as usize] == "right").collect()
    };
    let frozen = in_right(&mesh);
    let adapted = adapt_around_frozen(&mesh, &field, &AdaptOptions::default(), &frozen).unwrap();
    let after = built(adapted.mesh);
    let frozen_after = in_right(&after);
    assert_eq!(
        coordinates(&after, |cell| frozen_after[cell]),
        coordinates(&mesh, |cell| frozen[cell])
    );
    assert!(after.n_cells() > 2 * mesh.n_cells());
    check_measures(&mesh, &after, 1e-12);

    let all = vec![true; mesh.n_cells()];
    let error = adapt_around_frozen(&mesh, &field, &AdaptOptions::default(), &all).unwrap_err();
    assert_eq!(
        error.to_string(),
        "0 cells are no tetrahedra and 384 are frozen: none is left to adapt"
    );
}

/// The metric at the nodes of a mesh of prisms and tetrahedra, and smoothing of its tetrahedra alone.
#[test]
fn tetrahedra_beside_prisms_are_smoothed_in_a_metric_of_nodes() {
    let mesh = sphere();
    let exact = |p: [f64; 3]| Metric {
        xx: (1.0 + 0.3 * p[0]).exp(),
        yy: (2.0 - 0.2 * p[1]).exp(),
        zz: (0.4 * p[2] + 0.1 * p[0]).exp(),
        ..Metric::ZERO
    };
    let metrics: Vec<Metric> = mesh.points.iter().map(|&point| exact(point)).collect();
    let field = NodalMetric::new(&mesh, &metrics);
    // The logarithm is linear, so that every simplex reproduces it.
    for p in [[0.61, 0.1, 0.05], [-1.2, 0.9, 2.0], [2.9, -2.9, 2.9]] {
        let (found, _) = field.at(p, 0);
        for (a, b) in found.entries().into_iter().zip(exact(p).entries()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
    let backend = Backend::host(2).unwrap();
    let options = SmoothOptions { lookup: MetricLookup::Walk, sweeps: 20, ..Default::default() };
    let smoothed = smooth_by_colours(&backend, &mesh, &field, &options).unwrap();
    let after = built(smoothed.mesh);
    let prisms = |mesh: &Mesh| coordinates(mesh, |cell| !is_simplex(mesh, cell));
    assert_eq!(prisms(&after), prisms(&mesh));
    assert_eq!(after.n_cells(), mesh.n_cells());
    assert!(smoothed.report.after.lowest >= smoothed.report.before.lowest);
    assert!(smoothed.report.after.mean > smoothed.report.before.mean);
    check_measures(&mesh, &after, 1e-12);
}
