//! Invariants of adaptation: volume, patches, regions, validity, equal results for any number of threads.

use super::cube::{cube, linear};
use crate::{
    AdaptError, AdaptOptions, Adapted, AnalyticMetric, LengthPenalty, Metric, MetricField,
    NodalMetric, adapt,
};
use karman_mesh::generate::{BoxParams, Element};
use karman_mesh::geometry::{cell_measure, face_measure};
use karman_mesh::testing::gmsh;
use karman_mesh::{Mesh, MeshOptions};
use proptest::prelude::*;

const FEW: AdaptOptions = AdaptOptions {
    passes: 6,
    rounds: 2,
    ridge_angle_deg: 40.0,
    surface_tolerance: 1e-3,
    smooth_only: false,
    lengths: LengthPenalty::Steep,
};

fn built(raw: karman_mesh::RawMesh) -> Mesh {
    Mesh::new(raw, &MeshOptions::default()).unwrap()
}

/// Volume of each region and area of each patch.
pub(crate) fn measures(mesh: &Mesh) -> (Vec<f64>, Vec<f64>) {
    let mut volumes = vec![0.0; mesh.regions.len()];
    for cell in 0..mesh.n_cells() {
        let (volume, _) =
            cell_measure(mesh.cells.shapes[cell], mesh.cells.nodes_of(cell), &mesh.points);
        assert!(volume > 0.0);
        volumes[mesh.cells.groups[cell] as usize] += volume;
    }
    let area = |face| {
        let (area, _) = face_measure(mesh.face_to_nodes.of(face), &mesh.points);
        (area[0] * area[0] + area[1] * area[1] + area[2] * area[2]).sqrt()
    };
    let areas =
        mesh.patches.iter().map(|patch| patch.faces.clone().map(area).fold(0.0, |a, b| a + b));
    (volumes, areas.collect())
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{a} {b}");
    }
}

/// Sizes that vary by a factor of eight over a place.
fn around(centre: [f64; 3], dimension: usize) -> impl Fn([f64; 3]) -> Metric + Sync {
    move |p| {
        let r = (0..3).map(|k| (p[k] - centre[k]).powi(2)).fold(0.0, |a, b| a + b).sqrt();
        Metric::isotropic(0.04 + 0.28 * r.min(1.0), dimension)
    }
}

#[test]
fn planar_domains_keep_volume_and_patch_areas_to_round_off() {
    let square = BoxParams {
        size: vec![1.0; 2],
        cells: vec![6; 2],
        element: Some(Element::Triangle),
        ..BoxParams::default()
    };
    let square = built(square.generate().unwrap());
    let metric = AnalyticMetric(|p: [f64; 3]| Metric {
        xx: 1.0 / (0.01 + 0.1 * (p[0] - 0.4).abs()).powi(2),
        ..Metric::isotropic(0.1, 2)
    });
    for (mesh, field) in [
        (square, &metric as &dyn MetricField),
        (cube(3), &AnalyticMetric(around([0.2, 0.5, 0.5], 3))),
    ] {
        let adapted = adapt(&mesh, field, &AdaptOptions::default()).unwrap();
        assert!(
            adapted.after.in_range > 0.97 && adapted.after.lowest_quality > 0.3,
            "{}",
            adapted.after
        );
        let (before, after) = (measures(&mesh), measures(&built(adapted.mesh)));
        close(&after.0, &before.0, 1e-13);
        close(&after.1, &before.1, 1e-13);
    }
}

#[test]
fn meshes_of_gmsh_keep_patches_and_volumes_within_the_tolerance_of_their_surfaces() {
    for name in ["pipe_coarse", "tee", "ball", "triangles_coarse"] {
        let mesh = built(gmsh(name));
        let centre = mesh.points[mesh.points.len() / 2];
        let field = AnalyticMetric(around(centre, mesh.dimension));
        let adapted = adapt(&mesh, &field, &FEW).unwrap();
        let after = built(adapted.mesh);
        assert_eq!(after.patches.len(), mesh.patches.len(), "{name}");
        let (now, then) = (measures(&after), measures(&mesh));
        close(&now.0, &then.0, 0.02);
        close(&now.1, &then.1, 0.03);
        assert!(
            adapted.after.lowest_quality > 0.02 * adapted.before.lowest_quality,
            "{name}: {}",
            adapted.after
        );
    }
}

#[test]
fn regions_keep_their_volumes() {
    // Two regions on both sides of a plane.
    let mut raw = cube(4).to_raw();
    raw.regions = vec!["left".into(), "right".into()];
    for cell in 0..raw.cells.len() {
        let x: f64 =
            raw.cells.nodes_of(cell).iter().map(|&node| raw.points[node as usize][0]).sum();
        raw.cells.groups[cell] = u32::from(x / 4.0 > 0.5);
    }
    let mesh = built(raw);
    let adapted = adapt(&mesh, &AnalyticMetric(around([0.5, 0.2, 0.7], 3)), &FEW).unwrap();
    let after = built(adapted.mesh);
    assert_eq!(after.regions, mesh.regions);
    close(&measures(&after).0, &[0.5, 0.5], 1e-13);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mesh = cube(4);
    let run = |threads: usize| -> Adapted {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| adapt(&mesh, &AnalyticMetric(linear), &FEW).unwrap())
    };
    let one = run(1);
    for threads in [2, 7] {
        assert_eq!(run(threads).mesh, one.mesh, "{threads} threads");
    }
}

#[test]
fn smoothing_moves_vertices_alone_and_improves_the_mesh() {
    let mesh = built(gmsh("pipe_coarse"));
    let field = AnalyticMetric(|_| Metric::isotropic(0.3, 3));
    let options = AdaptOptions { smooth_only: true, passes: 100, ..AdaptOptions::default() };
    let adapted = adapt(&mesh, &field, &options).unwrap();
    assert_eq!(adapted.mesh.cells.len(), mesh.n_cells());
    assert!(adapted.passes < 100, "no equilibrium");
    assert!(adapted.after.mean_quality > adapted.before.mean_quality);
    assert!(adapted.after.lowest_quality >= adapted.before.lowest_quality);
}

#[test]
fn what_cannot_be_adapted_is_refused_by_name() {
    let negative = AnalyticMetric(|p: [f64; 3]| Metric { yy: p[0] - 0.5, ..Metric::IDENTITY });
    let error = adapt(&cube(2), &negative, &FEW).unwrap_err();
    assert!(error.to_string().contains("is not positive definite: its eigenvalues are"), "{error}");
    let hexahedra = BoxParams {
        size: vec![1.0; 3],
        cells: vec![2; 3],
        element: Some(Element::Hexahedron),
        ..BoxParams::default()
    };
    let mesh = built(hexahedra.generate().unwrap());
    let unit = AnalyticMetric(|_| Metric::IDENTITY);
    let error = adapt(&mesh, &unit, &FEW).unwrap_err();
    assert!(matches!(error, AdaptError::Elements { count: 8, .. }), "{error}");
    assert!(error.to_string().starts_with("8 cells are no tetrahedra and 0 are frozen"), "{error}");
    for (options, key) in [
        (AdaptOptions { ridge_angle_deg: 0.0, ..FEW }, "ridge_angle_deg"),
        (AdaptOptions { surface_tolerance: -1.0, ..FEW }, "surface_tolerance"),
    ] {
        let error = adapt(&cube(2), &unit, &options).unwrap_err();
        assert!(error.to_string().starts_with(key), "{error}");
    }
    let periodic = cube(2).connect_periodic(&[["xmin", "xmax"]]).unwrap();
    let error = adapt(&periodic, &unit, &FEW).unwrap_err();
    assert!(error.to_string().contains("periodic patches"), "{error}");
}

/// The volume of a pipe comes nearer to that of its cylinder, and its wall lies on the cylinder.
#[test]
fn curved_surfaces_are_followed() {
    let mesh = built(gmsh("pipe_coarse"));
    let field = AnalyticMetric(|_| Metric::isotropic(0.12, 3));
    let adapted = adapt(&mesh, &field, &AdaptOptions::default()).unwrap();
    assert!(
        adapted.after.in_range > 0.97 && adapted.after.lowest_quality > 0.15,
        "{}",
        adapted.after
    );
    let after = built(adapted.mesh);
    let exact = std::f64::consts::PI * 0.25 * length_of(&mesh);
    let error = |mesh: &Mesh| (measures(mesh).0[0] / exact - 1.0).abs();
    assert!(error(&after) < 0.35 * error(&mesh), "{} {}", error(&mesh), error(&after));
    let mut farthest = 0.0_f64;
    let wall = after.patches.iter().find(|patch| patch.name == "wall").unwrap();
    for face in wall.faces.clone() {
        for &node in after.face_to_nodes.of(face) {
            let [x, y, _] = after.points[node as usize];
            farthest = farthest.max((x.hypot(y) - 0.5).abs());
        }
    }
    assert!(farthest < 2e-3, "{farthest}");
}

fn length_of(mesh: &Mesh) -> f64 {
    mesh.points.iter().map(|point| point[2]).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Random metrics, from node to node without relation, with ratios of sizes up to 1e8.
    #[test]
    fn hostile_metrics_never_make_an_invalid_mesh(seed in any::<u64>(), ratio in 0.0_f64..8.0) {
        let mesh = cube(2);
        let mut state = seed | 1;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let metrics: Vec<Metric> = mesh.points.iter().map(|_| {
            let long = 1.0 / (0.3 + random());
            let steep = long * 10.0_f64.powf(ratio * random());
            let n = [random() - 0.5, random() - 0.5, random() - 0.5];
            let square = n.iter().fold(1e-3, |sum, x| sum + x * x);
            let entry = |i: usize, j: usize| {
                (steep * steep - long * long) * n[i] * n[j] / square + if i == j { long * long } else { 0.0 }
            };
            Metric { xx: entry(0, 0), xy: entry(0, 1), xz: entry(0, 2), yy: entry(1, 1), yz: entry(1, 2), zz: entry(2, 2) }
        }).collect();
        prop_assume!(metrics.iter().all(Metric::is_positive_definite));
        // Few passes: a metric of 1e8 asks for more vertices than a test can have.
        let options = AdaptOptions { passes: 2, rounds: 1, ..FEW };
        match adapt(&mesh, &NodalMetric::new(&mesh, &metrics), &options) {
            Ok(adapted) => {
                let after = Mesh::new(adapted.mesh, &MeshOptions::default());
                prop_assert!(after.is_ok(), "{:?}", after.err());
                let (volumes, areas) = measures(&after.unwrap());
                prop_assert!((volumes[0] - 1.0).abs() < 1e-12);
                prop_assert!(areas.iter().all(|area| (area - 1.0).abs() < 1e-12));
            }
            Err(error) => prop_assert!(matches!(error, AdaptError::NotPositive { .. }), "{error}"),
        }
    }
}
