//! Tests of smoothing by colours.

use super::benchmark::{square_mesh, square_metric};
use super::*;
use crate::tests::cube::cube;
use crate::{
    AdaptError, AnalyticMetric, FitReport, Metric, MetricField, NodalMetric, Vertex, size_and_shape,
};
use karman_backend::testing::{devices, hosts, values};
use karman_backend::{Backend, View};
use karman_mesh::testing::gmsh;
use karman_mesh::{Mesh, MeshOptions, RawMesh};

const SMOOTHERS: [Smoother; 2] = [Smoother::EdgeLengths, Smoother::WorstQuality];
const LOOKUPS: [MetricLookup; 2] =
    [MetricLookup::Walk, MetricLookup::Grid { tolerance: 0.02, most_nodes: 1 << 18 }];

/// A displacement of vertices by the size of rounding errors.
const ROUNDING: f64 = 3e-16;
/// Largest deviation of places after three sweeps that start [`ROUNDING`] apart: near a ridge of the lowest quality the ascent divides
/// by the square of a short gradient. Where rounding errors decide a move, places deviate by more than 1e-3.
const DEVIATION: f64 = 1e-11;

fn built(raw: RawMesh) -> Mesh {
    Mesh::new(raw, &MeshOptions::default()).unwrap()
}

/// Sizes that fall by a factor of three towards a plane across the cube.
fn towards_a_plane(p: [f64; 3]) -> Metric {
    let across = 0.08 + 0.24 * (2.0 * (p[0] + 0.5 * p[1] - 0.7)).tanh().powi(2);
    let n = [2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt(), 0.0];
    let along = 1.0 / (0.2_f64 * 0.2);
    let difference = 1.0 / (across * across) - along;
    Metric {
        xx: along + difference * n[0] * n[0],
        xy: difference * n[0] * n[1],
        yy: along + difference * n[1] * n[1],
        zz: along,
        ..Metric::ZERO
    }
}

/// A square of `vertices` vertices and a cube of tetrahedra with `cells` cells along a side, with their metrics.
fn cases(vertices: usize, cells: usize) -> Vec<(Mesh, Box<dyn MetricField>)> {
    vec![
        (built(square_mesh(vertices).unwrap()), Box::new(square_metric(vertices))),
        (cube(cells), Box::new(AnalyticMetric(towards_a_plane))),
    ]
}

/// The mesh with its vertices moved at random inside its patches, so that no two cells have the same quality.
fn jittered(mesh: &Mesh, amount: f64) -> Mesh {
    let mut raw = mesh.to_raw();
    let shifts = values(3 * raw.points.len(), 5);
    for (point, shift) in raw.points.iter_mut().zip(shifts.chunks(3)) {
        for k in 0..mesh.dimension {
            if point[k] > 0.0 && point[k] < 1.0 {
                point[k] += amount * (0.1 + shift[k]);
            }
        }
    }
    built(raw)
}

/// Lowest and mean quality of a mesh with its vertices at `points`.
fn quality_on_host(mesh: &Mesh, points: &[[f64; 3]], field: &dyn MetricField) -> MeshQuality {
    let (mut lowest, mut sum) = (1.0_f64, 0.0);
    for cell in 0..mesh.n_cells() {
        let nodes = mesh.cells.nodes_of(cell);
        let all: Vec<Vertex> = nodes
            .iter()
            .map(|&node| Vertex::new(points[node as usize], field.at(points[node as usize], 0).0))
            .collect();
        let corners = [0, 1, 2, 3].map(|k| &all[k.min(nodes.len() - 1)]);
        let quality = size_and_shape(mesh.dimension, &corners);
        assert!(quality > 0.0, "cell {cell} is not positive");
        lowest = lowest.min(quality);
        sum += quality;
    }
    MeshQuality { lowest, mean: sum / mesh.n_cells() as f64 }
}

/// Each mesh also with its vertices moved by the size of rounding errors: a walk to a node finds one of the cells of the node.
#[test]
fn qualities_are_those_of_the_host_functions() {
    let backend = Backend::host(2).unwrap();
    for (mesh, field) in cases(700, 5) {
        for amount in [0.0, ROUNDING, 1e-14] {
            let mesh = jittered(&mesh, amount);
            let options = SmoothOptions { lookup: MetricLookup::Walk, ..SmoothOptions::default() };
            let mut smoother =
                VertexSmoother::new(&backend, &mesh, field.as_ref(), &options).unwrap();
            let (own, expected) =
                (smoother.quality().unwrap(), quality_on_host(&mesh, &mesh.points, field.as_ref()));
            assert!((own.lowest - expected.lowest).abs() < 1e-11, "{own:?} {expected:?}");
            assert!((own.mean - expected.mean).abs() < 1e-11, "{own:?} {expected:?}");
            assert!(smoother.colours() > mesh.dimension && smoother.colours() < 30);
        }
    }
}

/// Central differences of the quality of a cell.
#[test]
fn gradients_are_those_of_central_differences() {
    use super::cavity::{CavityView, width};
    use karman_backend::Segment;
    use karman_backend::real::{Sym3, Vec3};
    let backend = Backend::host(1).unwrap();
    let metric = [30.0, 4.0, 2.0, 12.0, -3.0, 9.0];
    let own = Sym3::<f64> { xx: 30.0, xy: 4.0, xz: 2.0, yy: 12.0, yz: -3.0, zz: 9.0 };
    for dimension in [2, 3] {
        // Facets that have the vertex on their positive side; the scale passes the size of the metric.
        for scale in [0.05, 0.4, 3.0] {
            let corners = [[1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.2, 1.1]];
            let mut state = vec![0.0; 3 * width(dimension)];
            for (node, corner) in corners.iter().enumerate() {
                let record = &mut state[node * width(dimension)..];
                (0..dimension).for_each(|k| record[k] = scale * corner[k]);
                if dimension == 2 {
                    record[2..5].copy_from_slice(&[30.0, 4.0, 12.0]);
                } else {
                    record[3..9].copy_from_slice(&metric);
                }
            }
            let mut state = backend.upload(state);
            let state = Segment::on_host(state.writer());
            let facets: Vec<u32> = if dimension == 2 { vec![0, 1] } else { vec![0, 2, 1] };
            let view = CavityView {
                dimension,
                first_cell: View::absent(),
                cell_count: View::absent(),
                facets: View::of(&facets),
                n_items: 1,
                first_neighbour: View::absent(),
                neighbour_count: View::absent(),
                neighbours: View::absent(),
                spacing: 1,
                constraint: View::absent(),
                directions: View::absent(),
                filter: 1e-14,
            };
            let own = if dimension == 2 { Sym3 { xz: 0.0, yz: 0.0, zz: 1.0, ..own } } else { own };
            let at = |d: [f64; 3]| {
                let z = if dimension == 2 { 0.0 } else { 0.05 + d[2] };
                view.quality(
                    0,
                    Vec3 { x: 0.02 * scale + d[0], y: -0.03 * scale + d[1], z },
                    own,
                    &state,
                )
            };
            let here = at([0.0; 3]);
            assert!(here.value > 0.0 && here.value < 1.0);
            let h = 1e-6 * scale;
            let gradient = [here.gradient.x, here.gradient.y, here.gradient.z];
            for axis in 0..dimension {
                let mut d = [0.0; 3];
                d[axis] = h;
                let (ahead, behind) = (at(d).value, at(d.map(|x| -x)).value);
                let difference = (ahead - behind) / (2.0 * h);
                let size = 1e-6 * (1.0 + here.value / scale);
                assert!((gradient[axis] - difference).abs() < size, "{gradient:?} {difference}");
            }
        }
    }
}

#[test]
fn the_worst_quality_never_falls_and_the_mean_is_higher_at_equilibrium() {
    let backend = Backend::host(2).unwrap();
    for (mesh, field) in cases(400, 4) {
        for smoother in SMOOTHERS {
            for lookup in LOOKUPS {
                let options = SmoothOptions { smoother, lookup, ..SmoothOptions::default() };
                let mut run =
                    VertexSmoother::new(&backend, &mesh, field.as_ref(), &options).unwrap();
                let start = run.quality().unwrap();
                let (mut last, mut sweeps, mut moved) = (start, 0, mesh.n_nodes());
                while moved * 100 > mesh.n_nodes() && sweeps < 800 {
                    moved = run.sweep().unwrap();
                    sweeps += 1;
                    let now = run.quality().unwrap();
                    assert!(now.lowest >= last.lowest * (1.0 - 1e-14), "{now:?} {last:?}");
                    last = now;
                }
                let context =
                    format!("{smoother:?} {lookup:?} {}D: {start:?} {last:?}", mesh.dimension);
                assert!(sweeps < 800, "no equilibrium: {context}");
                assert!(last.lowest > start.lowest && last.mean >= start.mean, "{context}");
                // In the metric of the field itself, and with positive cells.
                let exact = quality_on_host(&mesh, &run.points().unwrap(), field.as_ref());
                assert!((exact.mean - last.mean).abs() < 0.05, "{exact:?} {context}");
                assert!(exact.lowest > start.lowest, "{exact:?} {context}");
            }
        }
    }
}

/// On the set-up of Rokos and Gorman the optimisation smoother ends with a better worst cell than the linear system does.
#[test]
fn the_set_up_of_the_source_converges() {
    let backend = Backend::host(2).unwrap();
    let mesh = built(square_mesh(1000).unwrap());
    let field = square_metric(mesh.n_nodes());
    let ends = SMOOTHERS.map(|smoother| {
        let options =
            SmoothOptions { smoother, sweeps: 1000, equilibrium: 0.02, ..SmoothOptions::default() };
        let mut run = VertexSmoother::new(&backend, &mesh, &field, &options).unwrap();
        let start = run.quality().unwrap();
        assert!(run.to_equilibrium().unwrap().1, "{smoother:?} has no equilibrium");
        let end = run.quality().unwrap();
        assert!(end.lowest > 10.0 * start.lowest && end.mean > start.mean, "{start:?} {end:?}");
        end
    });
    assert!(ends[1].lowest > 0.3 && ends[1].mean > ends[0].mean, "{ends:?}");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for (mesh, field) in cases(12_000, 6) {
        for smoother in SMOOTHERS {
            let options = SmoothOptions { smoother, ..SmoothOptions::default() };
            let results = hosts().into_iter().map(|backend| {
                let mut run =
                    VertexSmoother::new(&backend, &mesh, field.as_ref(), &options).unwrap();
                (0..3).for_each(|_| run.submit_sweep());
                run.points().unwrap()
            });
            let results: Vec<_> = results.collect();
            assert_ne!(results[0], mesh.points);
            assert!(results.iter().all(|points| *points == results[0]));
        }
    }
}

/// Regular meshes, where many cells have the same quality, and irregular ones, in metrics that vary and in uniform metrics.
fn regular_and_irregular() -> Vec<(Mesh, Box<dyn MetricField>)> {
    let uniform = |size: f64, dimension| {
        Box::new(AnalyticMetric(move |_| Metric::isotropic(size, dimension)))
            as Box<dyn MetricField>
    };
    let mut all = cases(3000, 5);
    all.push((built(square_mesh(3000).unwrap()), uniform(0.025, 2)));
    all.push((cube(5), uniform(0.18, 3)));
    for (mesh, field) in cases(3000, 5) {
        let spacing = (mesh.n_nodes() as f64).powf(-1.0 / mesh.dimension as f64);
        all.push((jittered(&mesh, 0.1 * spacing), field));
    }
    all
}

/// Numbers of moves of three sweeps, and the quality and the places after them.
fn three_sweeps(
    backend: &Backend,
    mesh: &Mesh,
    field: &dyn MetricField,
    options: &SmoothOptions,
) -> ([usize; 3], MeshQuality, Vec<[f64; 3]>) {
    let mut run = VertexSmoother::new(backend, mesh, field, options).unwrap();
    let moved = [0; 3].map(|_| run.sweep().unwrap());
    (moved, run.quality().unwrap(), run.points().unwrap())
}

/// Checks that `run` repeats the results of the host up to rounding: the same numbers of moves, and places that deviate by at most
/// [`DEVIATION`].
fn check_repeats(
    mut run: impl FnMut(
        &Mesh,
        &dyn MetricField,
        &SmoothOptions,
    ) -> ([usize; 3], MeshQuality, Vec<[f64; 3]>),
) {
    let host = Backend::host(2).unwrap();
    for (mesh, field) in regular_and_irregular() {
        for smoother in SMOOTHERS {
            for lookup in LOOKUPS {
                let options = SmoothOptions { smoother, lookup, ..SmoothOptions::default() };
                let (moved, quality, points) = three_sweeps(&host, &mesh, field.as_ref(), &options);
                let other = run(&mesh, field.as_ref(), &options);
                let context = format!("{smoother:?} {lookup:?} {}D", mesh.dimension);
                assert_eq!(moved, other.0, "{context}");
                let pairs = points.iter().flatten().zip(other.2.iter().flatten());
                let deviation = pairs.fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs()));
                assert!(deviation <= DEVIATION, "{deviation} {context}");
                let difference = (quality.lowest - other.1.lowest)
                    .abs()
                    .max((quality.mean - other.1.mean).abs());
                assert!(difference <= 100.0 * DEVIATION, "{difference} {context}");
            }
        }
    }
}

#[test]
fn a_device_moves_the_vertices_as_the_host_does() {
    for device in devices() {
        check_repeats(|mesh, field, options| three_sweeps(&device, mesh, field, options));
    }
}

/// Vertices displaced by the size of rounding errors move as those of the mesh given do.
#[test]
fn rounding_errors_decide_no_move() {
    let host = Backend::host(2).unwrap();
    check_repeats(|mesh, field, options| {
        three_sweeps(&host, &jittered(mesh, ROUNDING), field, options)
    });
}

#[test]
fn plane_boundaries_keep_their_measures_and_curved_ones_their_vertices() {
    let backend = Backend::host(2).unwrap();
    let options = SmoothOptions { sweeps: 30, ..SmoothOptions::default() };
    for (mesh, field) in cases(400, 4) {
        let smoothed = smooth_by_colours(&backend, &mesh, field.as_ref(), &options).unwrap();
        let after = built(smoothed.mesh);
        let measures = |mesh: &Mesh| crate::tests::measures(mesh);
        let (then, now) = (measures(&mesh), measures(&after));
        for (a, b) in then.0.iter().chain(&then.1).zip(now.0.iter().chain(&now.1)) {
            assert!((a - b).abs() < 1e-13, "{a} {b}");
        }
        assert_eq!(after.patches.len(), mesh.patches.len());
        let moved = |k: usize| {
            let edge = |p: &&[f64; 3]| p[k] == 0.0 && p[(k + 1) % 2] > 0.0 && p[(k + 1) % 2] < 1.0;
            let list = |mesh: &Mesh| -> Vec<[f64; 3]> {
                mesh.points.iter().filter(edge).copied().collect()
            };
            list(&mesh) != list(&after)
        };
        assert!(moved(0) && moved(1), "no vertex of the boundary has moved");
    }
    let pipe = built(gmsh("pipe_coarse"));
    let unit = AnalyticMetric(|_| Metric::isotropic(0.3, 3));
    let mut run = VertexSmoother::new(&backend, &pipe, &unit, &options).unwrap();
    run.to_equilibrium().unwrap();
    let points = run.points().unwrap();
    let wall = pipe.patches.iter().find(|patch| patch.name == "wall").unwrap();
    for face in wall.faces.clone() {
        for &node in pipe.face_to_nodes.of(face) {
            assert_eq!(points[node as usize], pipe.points[node as usize]);
        }
    }
    assert_ne!(points, pipe.points);
}

#[test]
fn the_report_is_in_the_metric_of_the_field() {
    let backend = Backend::host(2).unwrap();
    let mesh = cube(4);
    let field = AnalyticMetric(towards_a_plane);
    let options = SmoothOptions { sweeps: 20, ..SmoothOptions::default() };
    let smoothed = smooth_by_colours(&backend, &mesh, &field, &options).unwrap();
    let FitReport { lowest_quality, mean_quality, vertices, .. } = smoothed.after;
    assert_eq!(vertices, mesh.n_nodes());
    assert!(lowest_quality > 0.0);
    assert!(mean_quality > smoothed.before.mean_quality && smoothed.report.sweeps <= 20);
}

/// A metric of sizes up to 1e8 apart, from node to node without relation, never inverts a cell.
#[test]
fn hostile_metrics_keep_every_cell_positive() {
    let backend = Backend::host(2).unwrap();
    let mesh = cube(3);
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..10 {
        let sizes: Vec<Metric> = mesh
            .points
            .iter()
            .map(|_| {
                let value = |ratio: f64| 10.0_f64.powf(16.0 * ratio - 8.0);
                Metric {
                    xx: value(random()),
                    yy: value(random()),
                    zz: value(random()),
                    ..Metric::ZERO
                }
            })
            .collect();
        let field = NodalMetric::new(&mesh, &sizes);
        for smoother in SMOOTHERS {
            let options = SmoothOptions {
                smoother,
                lookup: MetricLookup::Walk,
                sweeps: 5,
                ..SmoothOptions::default()
            };
            let mut run = VertexSmoother::new(&backend, &mesh, &field, &options).unwrap();
            run.to_equilibrium().unwrap();
            let mut raw = mesh.to_raw();
            raw.points = run.points().unwrap();
            for cell in 0..mesh.n_cells() {
                let nodes = mesh.cells.nodes_of(cell);
                let corners = [0, 1, 2, 3].map(|k| raw.points[nodes[k] as usize]);
                assert!(crate::oriented_measure(3, &corners) > 0.0);
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let backend = Backend::host(1).unwrap();
    let mesh = cube(2);
    let unit = AnalyticMetric(|_| Metric::IDENTITY);
    let grid = MetricLookup::Grid { tolerance: 0.0, most_nodes: 100 };
    for (options, key) in [
        (SmoothOptions { lookup: grid, ..SmoothOptions::default() }, "tolerance = 0"),
        (SmoothOptions { ridge_angle_deg: 200.0, ..SmoothOptions::default() }, "ridge_angle_deg"),
    ] {
        let error = VertexSmoother::new(&backend, &mesh, &unit, &options).map(|_| ()).unwrap_err();
        assert!(matches!(error, AdaptError::Value { .. }));
        assert!(error.to_string().starts_with(key), "{error}");
    }
}
