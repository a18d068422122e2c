//! Measured orders of accuracy.

use super::*;

/// Errors of velocity and pressure at `end` on a box of `n` cells a side.
fn after(
    exact: Exact,
    (element, dimension): (Element, usize),
    n: usize,
    steps: usize,
    numerics: &Numerics,
) -> (f64, f64) {
    let (mesh, geometry) = box_mesh(element, dimension, n, 0.15);
    measured(exact, (&mesh, &geometry), steps, numerics, |backend, flow| {
        errors(backend, flow, &geometry, exact)
    })
}

fn orders(errors: &[(f64, f64)]) -> (f64, f64) {
    let [.., coarse, fine] = errors else { unreachable!() };
    ((coarse.0 / fine.0).log2(), (coarse.1 / fine.1).log2())
}

#[test]
fn vortices_in_2d_are_second_order_on_every_element() {
    for scheme in [TimeScheme::Bdf2, TimeScheme::Ab2Cn] {
        for element in [Element::Quadrilateral, Element::Triangle, Element::Mixed] {
            let numerics = numerics(Convection::Central, scheme);
            let errors: Vec<_> =
                [8, 16, 32].map(|n| after(TAYLOR_GREEN, (element, 2), n, n, &numerics)).into();
            let (velocity, pressure) = orders(&errors);
            eprintln!("{scheme:?} {element:?}: {errors:?}, orders {velocity:.2} {pressure:.2}");
            assert!(velocity > 1.9 && pressure > 1.0, "{element:?} {velocity} {pressure}");
        }
    }
}

#[test]
fn cubic_interpolation_is_second_order_with_smaller_errors_on_quadrilaterals() {
    for element in [Element::Quadrilateral, Element::Triangle, Element::Mixed] {
        let [linear, cubic] = [Convection::Central, Convection::Cubic].map(|convection| {
            let numerics = numerics(convection, TimeScheme::Bdf2);
            [8, 16, 32].map(|n| after(TAYLOR_GREEN, (element, 2), n, n, &numerics))
        });
        let (velocity, pressure) = orders(&cubic);
        eprintln!("{element:?}: linear {linear:?}, cubic {cubic:?}, {velocity:.2} {pressure:.2}");
        assert!(velocity > 1.9 && pressure > 1.0, "{element:?} {velocity} {pressure}");
        if element == Element::Quadrilateral {
            assert!(2.0 * cubic[2].0 < linear[2].0 && 2.0 * cubic[2].1 < linear[2].1);
        }
    }
}

#[test]
fn flow_in_3d_is_second_order_on_every_element() {
    for (element, sizes) in [
        (Element::Hexahedron, [4, 8, 16]),
        (Element::Tetrahedron, [3, 6, 12]),
        (Element::Mixed, [4, 8, 16]),
    ] {
        let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
        let errors: Vec<_> =
            sizes.map(|n| after(ETHIER_STEINMAN, (element, 3), n, n, &numerics)).into();
        let (velocity, pressure) = orders(&errors);
        eprintln!("{element:?}: {errors:?}, orders {velocity:.2} {pressure:.2}");
        assert!(velocity > 1.9 && pressure > 1.0, "{element:?} {velocity} {pressure}");
    }
}

/// Vortices between planes of symmetry, without normal velocity or shear on them.
#[test]
fn slip_walls_are_second_order() {
    let between = Exact {
        viscosity: 0.02,
        velocity: |[x, y, _], t| {
            let decay = (-2.0 * PI * PI * 0.02 * t).exp();
            let (x, y) = (PI * x, PI * y);
            [x.sin() * y.cos() * decay, -x.cos() * y.sin() * decay, 0.0]
        },
        pressure: |[x, y, _], t| {
            let decay = (-4.0 * PI * PI * 0.02 * t).exp();
            0.25 * ((2.0 * PI * x).cos() + (2.0 * PI * y).cos()) * decay
        },
    };
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let measured: Vec<_> = [8, 16, 32]
        .map(|n| {
            let (mesh, geometry) = box_mesh(Element::Triangle, 2, n, 0.15);
            let backend = Backend::host(2).unwrap();
            let slip = mesh.patches.iter().map(|_| FlowCondition::Slip).collect();
            let problem = Problem { conditions: slip, ..dirichlet_problem(&mesh, between) };
            backend.install(|| {
                let mut flow = IncompressibleSolver::<f64>::new(
                    &backend, &mesh, &geometry, &problem, &numerics,
                )
                .unwrap();
                (0..n).for_each(|_| drop(flow.step(0.2 / n as f64).unwrap()));
                errors(&backend, &flow, &geometry, between)
            })
        })
        .into();
    let (velocity, pressure) = orders(&measured);
    eprintln!("slip: {measured:?}, orders {velocity:.2} {pressure:.2}");
    assert!(velocity > 1.9 && pressure > 1.0, "{measured:?}: {velocity} {pressure}");
}

/// Velocity and pressure of all cells at the end of `steps` steps, the pressure without its mean.
fn fields_after(
    (mesh, geometry): (&Mesh, &Geometry),
    problem: &Problem,
    (end, steps): (f64, usize),
    numerics: &Numerics,
) -> (Vec<f64>, Vec<f64>) {
    let backend = Backend::host(1).unwrap();
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, mesh, geometry, problem, numerics).unwrap();
    for k in 0..steps {
        let report = flow.step(end / steps as f64).unwrap();
        let (momentum, pressure) = (&report.momentum, &report.pressure);
        let both = momentum.is_converged() && pressure.is_converged();
        assert!(both, "step {k}: momentum {momentum}, pressure {pressure}");
    }
    let velocity = |k: usize| backend.read(flow.velocity(k)).unwrap();
    let mut pressure = backend.read(flow.pressure()).unwrap();
    if flow.pressure_is_singular() {
        let mean = flow.mean_pressure().unwrap();
        pressure.iter_mut().for_each(|p| *p -= mean);
    }
    ((0..flow.dimension()).flat_map(velocity).collect(), pressure)
}

/// Orders in time of velocity and pressure from two step lengths on one mesh, against a reference of a
/// sixteenth. At shorter steps the dependence of momentum interpolation on the step shows in the collocated
/// velocity: 4e-6 of it on 12² cells.
fn orders_in_time(
    place: (&Mesh, &Geometry),
    problem: &Problem,
    (end, coarsest): (f64, usize),
    numerics: &Numerics,
) -> (f64, f64) {
    let run = |steps: usize| fields_after(place, problem, (end, steps), numerics);
    let exact = run(16 * coarsest);
    let apart = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let errors = [1, 2].map(|k| {
        let fields = run(k * coarsest);
        (apart(&fields.0, &exact.0), apart(&fields.1, &exact.1))
    });
    eprintln!("{:?} {:?}: {errors:?}", numerics.arrangement, numerics.time_scheme);
    orders(&errors)
}

#[test]
fn orders_in_time_between_walls() {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 12, 0.0);
    for arrangement in [Arrangement::Collocated, Arrangement::Staggered, Arrangement::Exact] {
        for scheme in [TimeScheme::Bdf2, TimeScheme::Ab2Cn] {
            let numerics = Numerics { arrangement, ..numerics(Convection::Central, scheme) };
            let problem = dirichlet_problem(&mesh, TAYLOR_GREEN);
            let (velocity, pressure) =
                orders_in_time((&mesh, &geometry), &problem, (0.4, 8), &numerics);
            eprintln!("{arrangement:?} {scheme:?}: {velocity:.2} {pressure:.2}");
            assert!(velocity > 1.9 && pressure > 1.9, "{arrangement:?} {velocity} {pressure}");
        }
    }
}

#[test]
fn orders_in_time_with_an_outlet() {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 12, 0.0);
    for arrangement in [Arrangement::Collocated, Arrangement::Staggered, Arrangement::Exact] {
        for scheme in [TimeScheme::Bdf2, TimeScheme::Ab2Cn] {
            let numerics = Numerics { arrangement, ..numerics(Convection::Central, scheme) };
            let inlet = Function(|p: [f64; 3], t: f64| {
                4.0 * p[1] * (1.0 - p[1]) * (1.0 + 0.5 * (3.0 * t).sin())
            });
            let inlet: PrescribedVector = [Arc::new(inlet), Arc::new(0.0), Arc::new(0.0)];
            let condition = |name: &str| match name {
                "xmin" => FlowCondition::Velocity(inlet.clone()),
                "xmax" => FlowCondition::PressureOutlet(Arc::new(0.0)),
                _ => FlowCondition::Velocity(nothing()),
            };
            let problem = Problem {
                viscosity: 0.05,
                source: nothing(),
                conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
                velocity: inlet.clone(),
                pressure: Arc::new(Function(|p: [f64; 3], _| 0.4 * (1.0 - p[0]))),
                thermal: None,
            };
            let (velocity, pressure) =
                orders_in_time((&mesh, &geometry), &problem, (0.8, 16), &numerics);
            eprintln!("outlet {arrangement:?} {scheme:?}: {velocity:.2} {pressure:.2}");
            assert!(velocity > 1.9 && pressure > 1.6, "{arrangement:?} {velocity} {pressure}");
        }
    }
}
