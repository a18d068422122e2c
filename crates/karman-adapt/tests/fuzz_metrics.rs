//! Fuzz targets of adaptation: any metric gives a valid mesh of the same domain, or is refused by name.
//!
//! Under `cargo test` each runs for a few seconds; a long run is
//! `cargo bolero test -p karman-adapt --test fuzz_metrics TARGET`.

#![allow(clippy::unwrap_used)]

use karman_adapt::{
    AdaptError, AdaptOptions, AnalyticMetric, Eigen, Metric, MetricField, MetricLookup,
    NodalMetric, SmoothOptions, Smoother, adapt_around_frozen, smooth_by_colours,
};
use karman_backend::Backend;
use karman_mesh::generate::{BoxParams, Element};
use karman_mesh::geometry::{cell_measure, face_measure};
use karman_mesh::{Mesh, MeshOptions, RawMesh};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// Numbers from the bytes of the fuzzer, which repeat.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        // Another number each time also where there are few bytes.
        let stir = (self.at / self.bytes.len().max(1)) as u8;
        self.bytes
            .get((self.at - 1) % self.bytes.len().max(1))
            .map_or(stir, |b| b.wrapping_add(stir))
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        f64::from(u16::from_be_bytes([self.byte(), self.byte()])) / f64::from(u16::MAX)
    }

    fn below(&mut self, count: usize) -> usize {
        self.byte() as usize % count
    }

    /// A tensor of sizes up to 1e8 apart in any directions; in 2D those of the plane.
    fn metric(&mut self, dimension: usize) -> Metric {
        let long = 0.3 + self.share();
        let values = [0, 1, 2].map(|axis| {
            let exponent = [0.0, 0.0, 8.0 * self.share(), -8.0 * self.share()][self.below(4)];
            let h = long * 10.0_f64.powf(-exponent);
            if axis == 2 && dimension == 2 { 1.0 } else { 1.0 / (h * h) }
        });
        let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let planes: &[[usize; 2]] =
            if dimension == 2 { &[[0, 1]] } else { &[[0, 1], [1, 2], [2, 0]] };
        for &[i, j] in planes {
            let (sine, cosine) = (std::f64::consts::TAU * self.share()).sin_cos();
            for vector in &mut vectors {
                let (a, b) = (vector[i], vector[j]);
                vector[i] = cosine * a - sine * b;
                vector[j] = sine * a + cosine * b;
            }
        }
        Metric::from_eigen(&Eigen { values, vectors })
    }

    /// A tensor that is no metric.
    fn no_metric(&mut self) -> Metric {
        let value = [0.0, -1.0, -1e-30, f64::NAN, f64::INFINITY, f64::NEG_INFINITY][self.below(6)];
        match self.below(3) {
            0 => Metric { xx: value, ..Metric::IDENTITY },
            1 => Metric { yy: value, ..Metric::IDENTITY },
            _ => Metric { xy: 1.0 + self.share(), ..Metric::IDENTITY },
        }
    }

    /// A metric that jumps at up to three planes.
    fn pieces(&mut self, dimension: usize) -> Pieces {
        let planes = [0, 1, 2].map(|_| {
            let normal = [0, 1, 2].map(|_| self.share() - 0.5);
            (normal, 0.5 * (normal[0] + normal[1] + normal[2]) * (0.5 + self.share()))
        });
        Pieces { planes, metrics: (0..8).map(|_| self.metric(dimension)).collect() }
    }
}

/// One metric for each combination of the sides of three planes.
struct Pieces {
    planes: [([f64; 3], f64); 3],
    metrics: Vec<Metric>,
}

impl Pieces {
    fn at(&self, p: [f64; 3]) -> Metric {
        let is_above = |(n, level): &([f64; 3], f64)| {
            usize::from(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] > *level)
        };
        let side = self.planes.iter().fold(0, |sum, plane| 2 * sum + is_above(plane));
        self.metrics[side]
    }
}

/// A unit square or cube, of which the cells with x > ½ are a region of their own.
fn mesh(dimension: usize) -> Mesh {
    let params = BoxParams {
        size: vec![1.0; dimension],
        cells: vec![if dimension == 2 { 4 } else { 2 }; dimension],
        element: Some(if dimension == 2 { Element::Triangle } else { Element::Tetrahedron }),
        ..BoxParams::default()
    };
    let mut raw = params.generate().unwrap();
    raw.regions = vec!["left".into(), "right".into()];
    for cell in 0..raw.cells.len() {
        let nodes = raw.cells.nodes_of(cell);
        let x = nodes.iter().map(|&node| raw.points[node as usize][0]).fold(0.0, |a, b| a + b);
        raw.cells.groups[cell] = u32::from(x / nodes.len() as f64 > 0.5);
    }
    built(raw)
}

fn built(raw: RawMesh) -> Mesh {
    Mesh::new(raw, &MeshOptions::default()).unwrap()
}

/// Volumes of the regions, then areas of the patches.
fn measures(mesh: &Mesh) -> Vec<f64> {
    let mut volumes = vec![0.0; mesh.regions.len()];
    for cell in 0..mesh.n_cells() {
        let (shape, nodes) = (mesh.cells.shapes[cell], mesh.cells.nodes_of(cell));
        let (volume, _) = cell_measure(shape, nodes, &mesh.points);
        assert!(volume > 0.0, "cell {cell} has the volume {volume}");
        volumes[mesh.cells.groups[cell] as usize] += volume;
    }
    let area = |face| {
        let ([x, y, z], _) = face_measure(mesh.face_to_nodes.of(face), &mesh.points);
        x.hypot(y).hypot(z)
    };
    let areas = mesh.patches.iter().map(|p| p.faces.clone().map(area).fold(0.0, |a, b| a + b));
    volumes.into_iter().chain(areas).collect()
}

/// The result is a valid mesh of the same regions and patches, or the metric is refused with its place where a vertex has none.
fn check(mesh: &Mesh, field: &dyn MetricField, result: Result<RawMesh, AdaptError>) {
    let is_refused = mesh.points.iter().any(|&p| !field.at(p, 0).0.is_positive_definite());
    match result {
        Ok(raw) => {
            assert!(!is_refused, "a tensor that is no metric was accepted");
            let after = built(raw);
            assert_eq!((&after.regions, after.patches.len()), (&mesh.regions, mesh.patches.len()));
            for (now, then) in measures(&after).into_iter().zip(measures(mesh)) {
                assert!((now / then - 1.0).abs() < 1e-11, "{now} {then}");
            }
        }
        Err(error) => {
            assert!(matches!(error, AdaptError::NotPositive { .. }), "{error}");
            assert!(error.to_string().contains("is not positive definite: its eigenvalues are"));
        }
    }
}

/// Few passes: a metric of 1e8 asks for more vertices than a test can have.
fn adapted(
    mesh: &Mesh,
    field: &dyn MetricField,
    freezes: bool,
    smooth_only: bool,
) -> Result<RawMesh, AdaptError> {
    let options = AdaptOptions { passes: 2, rounds: 1, smooth_only, ..AdaptOptions::default() };
    let frozen: Vec<bool> = mesh.cells.groups.iter().map(|&g| freezes && g == 1).collect();
    adapt_around_frozen(mesh, field, &options, &frozen).map(|adapted| adapted.mesh)
}

fn fuzz(of: impl Fn(&mut Numbers<'_>)) {
    let of = AssertUnwindSafe(of);
    bolero::check!()
        .with_test_time(Duration::from_secs(3))
        .for_each(|bytes: &[u8]| (*of)(&mut Numbers { bytes, at: 0 }));
}

#[test]
fn metrics_that_jump() {
    fuzz(|numbers| {
        let dimension = 2 + numbers.below(2);
        let (freezes, smooth_only) = (numbers.below(3) == 0, numbers.below(4) == 0);
        let pieces = numbers.pieces(dimension);
        let (mesh, field) = (mesh(dimension), AnalyticMetric(|p| pieces.at(p)));
        check(&mesh, &field, adapted(&mesh, &field, freezes, smooth_only));
    });
}

#[test]
fn metrics_of_nodes_without_relation() {
    fuzz(|numbers| {
        let dimension = 2 + numbers.below(2);
        let (freezes, smooth_only) = (numbers.below(3) == 0, numbers.below(4) == 0);
        let mesh = mesh(dimension);
        let metrics: Vec<Metric> = mesh.points.iter().map(|_| numbers.metric(dimension)).collect();
        // Rounding leaves some of 1e8 without a positive determinant; logarithms need one.
        if metrics.iter().all(|metric| metric.eigen().values.iter().all(|value| *value > 0.0)) {
            let field = NodalMetric::new(&mesh, &metrics);
            check(&mesh, &field, adapted(&mesh, &field, freezes, smooth_only));
        }
    });
}

#[test]
fn tensors_that_are_no_metrics() {
    fuzz(|numbers| {
        let dimension = 2 + numbers.below(2);
        let mut pieces = numbers.pieces(dimension);
        let bad = numbers.below(8);
        pieces.metrics[bad] = numbers.no_metric();
        let (mesh, field) = (mesh(dimension), AnalyticMetric(|p| pieces.at(p)));
        check(&mesh, &field, adapted(&mesh, &field, false, false));
    });
}

#[test]
fn smoothing_by_colours() {
    let backend = Backend::host(1).unwrap();
    fuzz(move |numbers| {
        let dimension = 2 + numbers.below(2);
        let smoother = [Smoother::EdgeLengths, Smoother::WorstQuality][numbers.below(2)];
        let grid = MetricLookup::Grid { tolerance: 0.1, most_nodes: 2000 };
        let lookup = [MetricLookup::Walk, grid][numbers.below(2)];
        let pieces = numbers.pieces(dimension);
        let (mesh, field) = (mesh(dimension), AnalyticMetric(|p| pieces.at(p)));
        let options = SmoothOptions { smoother, lookup, sweeps: 5, ..SmoothOptions::default() };
        let smoothed = smooth_by_colours(&backend, &mesh, &field, &options);
        check(&mesh, &field, smoothed.map(|smoothed| smoothed.mesh));
    });
}
