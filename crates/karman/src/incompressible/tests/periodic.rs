//! Periodic boxes and channels.

use super::*;
use crate::backend::testing::everywhere;

/// A box of side 2, periodic along the first `periodic` axes.
pub(super) fn periodic_box(
    (element, dimension): (Element, usize),
    n: usize,
    jitter: f64,
    periodic: usize,
) -> (Mesh, Geometry) {
    let params = BoxParams {
        size: vec![2.0; dimension],
        cells: vec![n; dimension],
        element: Some(element),
        jitter,
        ..BoxParams::default()
    };
    let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
    let pairs = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]];
    let mesh = mesh.connect_periodic(&pairs[..periodic]).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

fn periodic_problem(exact: Exact) -> Problem {
    Problem {
        viscosity: exact.viscosity,
        source: nothing(),
        conditions: vec![],
        velocity: vector(exact),
        pressure: Arc::new(Function(move |p, t| (exact.pressure)(p, t))),
        thermal: None,
    }
}

/// Vortices convected by a stream through the periodic patches.
const CONVECTED: Exact = Exact {
    viscosity: 0.02,
    velocity: |[x, y, _], t| {
        let at = [x - 0.6 * t, y + 0.4 * t, 0.0];
        let u = (TAYLOR_GREEN.velocity)(at, t);
        [u[0] + 0.6, u[1] - 0.4, 0.0]
    },
    pressure: |[x, y, _], t| (TAYLOR_GREEN.pressure)([x - 0.6 * t, y + 0.4 * t, 0.0], t),
};

#[test]
fn vortices_in_a_periodic_box_are_second_order() {
    for (element, jitter, arrangement) in [
        (Element::Quadrilateral, 0.15, Arrangement::Collocated),
        (Element::Triangle, 0.15, Arrangement::Collocated),
        (Element::Quadrilateral, 0.0, Arrangement::Staggered),
    ] {
        for (exact, what) in [(TAYLOR_GREEN, "at rest"), (CONVECTED, "convected")] {
            let numerics =
                Numerics { arrangement, ..numerics(Convection::Central, TimeScheme::Bdf2) };
            let measured = [12, 24, 48].map(|n| {
                let (mesh, geometry) = periodic_box((element, 2), n, jitter, 2);
                let backend = Backend::host(2).unwrap();
                backend.install(|| {
                    let mut flow = IncompressibleSolver::<f64>::new(
                        &backend,
                        &mesh,
                        &geometry,
                        &periodic_problem(exact),
                        &numerics,
                    )
                    .unwrap();
                    for _ in 0..n {
                        let report = flow.step(0.4 / n as f64).unwrap();
                        assert!(report.pressure.is_converged(), "{}", report.pressure);
                        assert!(report.momentum.is_converged(), "{}", report.momentum);
                        assert!(report.divergence < 1e-8, "{}", report.divergence);
                    }
                    errors(&backend, &flow, &geometry, exact)
                })
            });
            let velocity = (measured[1].0 / measured[2].0).log2();
            let pressure = (measured[1].1 / measured[2].1).log2();
            let head = format!("{element:?} {arrangement:?} {what}");
            eprintln!("{head}: {measured:?}, orders {velocity:.2} {pressure:.2}");
            assert!(velocity > 1.9 && pressure > 1.0, "{head}: {measured:?}");
        }
    }
}

#[test]
fn a_stream_through_periodic_patches_is_preserved() {
    let stream: Exact =
        Exact { viscosity: 0.1, velocity: |_, _| [0.7, -0.4, 0.3], pressure: |_, _| 0.0 };
    for (element, dimension, n, jitter, arrangement) in [
        (Element::Triangle, 2, 6, 0.15, Arrangement::Collocated),
        (Element::Mixed, 2, 6, 0.15, Arrangement::Collocated),
        (Element::Tetrahedron, 3, 4, 0.15, Arrangement::Collocated),
        (Element::Hexahedron, 3, 4, 0.15, Arrangement::Collocated),
        // Two layers: two faces between the same cells.
        (Element::Quadrilateral, 2, 2, 0.0, Arrangement::Collocated),
        (Element::Quadrilateral, 2, 5, 0.0, Arrangement::Staggered),
        (Element::Hexahedron, 3, 2, 0.0, Arrangement::Staggered),
        (Element::Triangle, 2, 5, 0.15, Arrangement::Staggered),
        (Element::Tetrahedron, 3, 4, 0.15, Arrangement::Staggered),
    ] {
        let (mesh, geometry) = periodic_box((element, dimension), n, jitter, dimension);
        let backend = Backend::host(1).unwrap();
        let numerics = Numerics { arrangement, ..numerics(Convection::Central, TimeScheme::Bdf2) };
        let mut flow = IncompressibleSolver::<f64>::new(
            &backend,
            &mesh,
            &geometry,
            &periodic_problem(stream),
            &numerics,
        )
        .unwrap();
        (0..3).for_each(|_| drop(flow.step(0.05).unwrap()));
        for (k, want) in [0.7, -0.4, 0.3].into_iter().enumerate().take(dimension) {
            for u in backend.read(flow.velocity(k)).unwrap() {
                assert!((u - want).abs() < 1e-12, "{element:?} {arrangement:?}: {u} {want}");
            }
        }
        for p in backend.read(flow.pressure()).unwrap() {
            assert!(p.abs() < 1e-11, "{element:?} {arrangement:?}: {p}");
        }
    }
}

/// Poiseuille's flow between y = 0 and 2, driven by a force f: u = f y (2 − y) / 2ν; preserved, and on
/// rectangles reached from rest.
#[test]
fn a_force_drives_a_periodic_channel() {
    const PARABOLA: Exact = Exact {
        viscosity: 2.0,
        velocity: |[_, y, _], _| [0.2 * y * (2.0 - y), 0.0, 0.0],
        pressure: |_, _| 0.0,
    };
    for (element, jitter, arrangement) in [
        (Element::Triangle, 0.15, Arrangement::Collocated),
        (Element::Quadrilateral, 0.15, Arrangement::Collocated),
        (Element::Quadrilateral, 0.0, Arrangement::Staggered),
        // The flow rate is the generator of the upper wall.
        (Element::Quadrilateral, 0.0, Arrangement::Exact),
    ] {
        let numerics = Numerics { arrangement, ..numerics(Convection::Central, TimeScheme::Bdf2) };
        let measured = [8, 16, 32].map(|n| {
            let (mesh, geometry) = periodic_box((element, 2), n, jitter, 1);
            let backend = Backend::host(2).unwrap();
            let still = || FlowCondition::Velocity(nothing());
            let conditions = mesh.patches.iter().map(|_| still()).collect();
            let mut problem = Problem { conditions, ..periodic_problem(PARABOLA) };
            problem.source[0] = Arc::new(0.8);
            let from_rest = jitter == 0.0;
            if from_rest {
                problem.velocity = nothing();
            }
            let (steps, step) = if from_rest { (60, 0.1) } else { (n, 0.4 / n as f64) };
            backend.install(|| {
                let mut flow = IncompressibleSolver::<f64>::new(
                    &backend, &mesh, &geometry, &problem, &numerics,
                )
                .unwrap();
                (0..steps).for_each(|_| drop(flow.step(step).unwrap()));
                errors(&backend, &flow, &geometry, PARABOLA).0
            })
        });
        let order = (measured[1] / measured[2]).log2();
        eprintln!("channel {element:?} {arrangement:?}: {measured:?}, order {order:.2}");
        assert!(order > 1.9, "{element:?} {arrangement:?}: {measured:?}");
    }
}

/// A mesh without a boundary face, and one with few.
#[test]
fn a_periodic_flow_is_the_same_on_every_backend() {
    for (element, jitter, periodic, scheme, arrangement) in [
        (Element::Triangle, 0.15, 2, TimeScheme::Bdf2, Arrangement::Collocated),
        (Element::Triangle, 0.15, 1, TimeScheme::Rk3, Arrangement::Collocated),
        (Element::Quadrilateral, 0.0, 2, TimeScheme::Rk3, Arrangement::Staggered),
        (Element::Quadrilateral, 0.0, 2, TimeScheme::Ab2Cn, Arrangement::Staggered),
    ] {
        let (mesh, geometry) = periodic_box((element, 2), 5, jitter, periodic);
        let mut numerics = Numerics { arrangement, ..numerics(Convection::Central, scheme) };
        numerics.pressure.relative_tolerance = 1e-13;
        numerics.momentum.relative_tolerance = 1e-13;
        let run = |backend: &Backend| -> Vec<f64> {
            let conditions = mesh.patches.iter().map(|_| FlowCondition::Slip).collect();
            let problem = Problem { conditions, ..periodic_problem(CONVECTED) };
            let mut flow =
                IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            (0..3).for_each(|_| drop(flow.step(0.02).unwrap()));
            let all = [flow.velocity(0), flow.velocity(1), flow.pressure(), flow.flux()];
            all.into_iter().flat_map(|buffer| backend.read(buffer).unwrap()).collect()
        };
        let host = Backend::host(1).unwrap();
        let want = host.install(|| run(&host));
        for backend in everywhere() {
            let got = backend.install(|| run(&backend));
            for (got, want) in got.iter().zip(&want) {
                let error = (got - want).abs();
                assert!(error < 1e-9, "{element:?} {scheme:?} {backend:?}: {got} {want}");
            }
        }
    }
}
