//! Three explicit stages: order in time, energy without viscosity, rejected input.

use super::periodic::periodic_box;
use super::*;

fn explicit(arrangement: Arrangement) -> Numerics {
    let mut numerics = Numerics { arrangement, ..numerics(Convection::Central, TimeScheme::Rk3) };
    numerics.pressure.relative_tolerance = 1e-12;
    numerics
}

/// A pseudo-random number between −1 and 1 for each point.
fn scattered(p: [f64; 3], seed: f64) -> f64 {
    let mixed = (12.9898 * p[0] + 78.233 * p[1] + 37.719 * p[2] + seed).sin() * 43758.5453;
    2.0 * (mixed - mixed.floor()) - 1.0
}

fn stir(viscosity: f64) -> Problem {
    let component =
        |seed: f64| -> Arc<dyn Prescribed> { Arc::new(Function(move |p, _| scattered(p, seed))) };
    Problem {
        viscosity,
        source: nothing(),
        conditions: vec![],
        velocity: [1.0, 2.0, 3.0].map(component),
        pressure: Arc::new(0.0),
        thermal: None,
    }
}

/// A random divergence-free field in a periodic box without viscosity: central means conserve ½ Uᵀ M U, so
/// that the energy drifts by the third-order error of the stages only.
#[test]
fn without_viscosity_the_energy_is_conserved_to_third_order() {
    for (element, dimension, n) in [(Element::Quadrilateral, 2, 8), (Element::Hexahedron, 3, 4)] {
        let (mesh, geometry) = periodic_box((element, dimension), n, 0.0, dimension);
        let backend = Backend::host(1).unwrap();
        let numerics = explicit(Arrangement::Staggered);
        // L/A, uniform on cubes.
        let size = 2.0 / n as f64;
        let mass = size / size.powi(dimension as i32 - 1);
        let drift = |steps: usize| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &stir(0.0), &numerics)
                    .unwrap();
            let energy = |flow: &IncompressibleSolver<f64>| -> f64 {
                backend.read(flow.flux()).unwrap().iter().map(|u| 0.5 * mass * u * u).sum()
            };
            let start = energy(&flow);
            for _ in 0..steps {
                let report = flow.step(0.5 / steps as f64).unwrap();
                assert!(report.divergence < 1e-10, "{}", report.divergence);
            }
            (energy(&flow) - start) / start
        };
        let drifts = [10, 20, 40, 80].map(drift);
        let order = (drifts[2] / drifts[3]).log2();
        eprintln!("energy in {dimension}D: {drifts:?}, order {order:.2}");
        assert!((order - 3.0).abs() < 0.15 && drifts[3].abs() < 1e-8, "{drifts:?}, {order}");
    }
}

/// Orders of velocity (with the temperature) and pressure by the differences between runs of 20, 40 and 80
/// steps on one mesh.
fn orders_in_time(
    mesh: &Mesh,
    geometry: &Geometry,
    problem: &Problem,
    numerics: &Numerics,
) -> (f64, f64) {
    let backend = Backend::host(2).unwrap();
    let end = |steps: usize| -> [Vec<f64>; 2] {
        backend.install(|| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, mesh, geometry, problem, numerics)
                    .unwrap();
            (0..steps).for_each(|_| drop(flow.step(0.4 / steps as f64).unwrap()));
            let of_cells = (0..2).map(|k| backend.read(flow.velocity(k)).unwrap());
            let temperature = flow.temperature().map(|t| backend.read(t).unwrap());
            let transported = of_cells.chain(temperature).flatten().collect();
            let mean = flow.mean_pressure().unwrap();
            let pressure = backend.read(flow.pressure()).unwrap();
            [transported, pressure.into_iter().map(|p| p - mean).collect()]
        })
    };
    let runs = [20, 40, 80].map(end);
    let apart = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    };
    let [velocity, pressure] = [0, 1].map(|k| {
        let (coarse, fine) = (apart(&runs[0][k], &runs[1][k]), apart(&runs[1][k], &runs[2][k]));
        eprintln!("{:?} {k}: {coarse:.3e} {fine:.3e}", numerics.arrangement);
        (coarse / fine).log2()
    });
    eprintln!("orders in time {velocity:.2} {pressure:.2}");
    (velocity, pressure)
}

#[test]
fn the_velocity_is_of_third_order_in_time() {
    for arrangement in [Arrangement::Collocated, Arrangement::Staggered] {
        let numerics = explicit(arrangement);
        // Periodic with a time-dependent force; then with time-dependent Dirichlet values.
        let (mesh, geometry) = periodic_box((Element::Quadrilateral, 2), 8, 0.0, 2);
        let mut problem = Problem { conditions: vec![], ..dirichlet_problem(&mesh, TAYLOR_GREEN) };
        problem.source[0] =
            Arc::new(Function(|p: [f64; 3], t: f64| (PI * p[1]).sin() * (3.0 * t).cos()));
        let (order, pressure) = orders_in_time(&mesh, &geometry, &problem, &numerics);
        assert!((order - 3.0).abs() < 0.15, "{arrangement:?} periodic: {order}");
        assert!((pressure - 2.0).abs() < 0.15, "{arrangement:?} periodic: {pressure}");
        let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 8, 0.0);
        let problem = dirichlet_problem(&mesh, TAYLOR_GREEN);
        let (order, pressure) = orders_in_time(&mesh, &geometry, &problem, &numerics);
        assert!((order - 3.0).abs() < 0.15, "{arrangement:?} Dirichlet: {order}");
        assert!(pressure > 0.85, "{arrangement:?} Dirichlet: {pressure}");
    }
}

#[test]
fn a_temperature_with_buoyancy_is_of_third_order_in_time() {
    let (mesh, geometry) = periodic_box((Element::Quadrilateral, 2), 8, 0.0, 2);
    let thermal = ThermalProblem {
        diffusivity: 0.03,
        expansion: 1.0,
        gravity: [0.0, -1.0, 0.0],
        reference: 0.0,
        source: Arc::new(0.0),
        conditions: vec![],
        initial: Arc::new(Function(|p: [f64; 3], _| (PI * p[0]).cos())),
    };
    let mut problem = Problem {
        thermal: Some(thermal),
        conditions: vec![],
        ..dirichlet_problem(&mesh, TAYLOR_GREEN)
    };
    // A stream fast enough that no flux changes its sign, where a_P has a kink.
    for (k, speed) in [2.0, 1.5].into_iter().enumerate() {
        problem.velocity[k] =
            Arc::new(Function(move |p, t| speed + (TAYLOR_GREEN.velocity)(p, t)[k]));
    }
    for arrangement in [Arrangement::Collocated, Arrangement::Staggered] {
        let (order, _) = orders_in_time(&mesh, &geometry, &problem, &explicit(arrangement));
        assert!((order - 3.0).abs() < 0.15, "{arrangement:?}: {order}");
    }
}

#[test]
fn implicit_methods_need_a_viscosity() {
    let (mesh, geometry) = periodic_box((Element::Quadrilateral, 2), 4, 0.0, 2);
    let backend = Backend::host(1).unwrap();
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let made = IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &stir(0.0), &numerics);
    let Err(error) = made else { panic!("accepted") };
    assert_eq!(
        error.to_string(),
        "the viscosity is 0; it must be positive and finite, or 0 with `rk3`"
    );
}

/// Second order in space on jittered triangles too; the largest step by `largest_rate` is stable.
#[test]
fn explicit_stages_keep_the_order_in_space() {
    let numerics = explicit(Arrangement::Collocated);
    let measured = [8, 16, 32].map(|n| {
        let (mesh, geometry) = periodic_box((Element::Triangle, 2), n, 0.15, 2);
        let backend = Backend::host(2).unwrap();
        let problem = Problem { conditions: vec![], ..dirichlet_problem(&mesh, TAYLOR_GREEN) };
        backend.install(|| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            let steps = (0.2 * flow.largest_rate()).ceil() as usize;
            (0..steps).for_each(|_| drop(flow.step(0.2 / steps as f64).unwrap()));
            errors(&backend, &flow, &geometry, TAYLOR_GREEN)
        })
    });
    let velocity = (measured[1].0 / measured[2].0).log2();
    let pressure = (measured[1].1 / measured[2].1).log2();
    eprintln!("explicit, triangles: {measured:?}, orders {velocity:.2} {pressure:.2}");
    assert!(velocity > 1.9 && pressure > 1.0, "{measured:?}");
}
