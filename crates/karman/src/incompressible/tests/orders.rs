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
    let backend = Backend::host(2).unwrap();
    let problem = held(&mesh, exact);
    backend.install(|| {
        let mut flow = Flow::<f64>::new(&backend, &mesh, &geometry, &problem, numerics).unwrap();
        for _ in 0..steps {
            let report = flow.step(0.2 / steps as f64).unwrap();
            assert!(report.pressure.is_converged(), "{}", report.pressure);
            assert!(report.momentum.is_converged(), "{}", report.momentum);
            assert!(report.divergence < 1e-8, "{}", report.divergence);
        }
        errors(&backend, &flow, &geometry, exact)
    })
}

fn orders(errors: &[(f64, f64)]) -> (f64, f64) {
    let [.., coarse, fine] = errors else { unreachable!() };
    ((coarse.0 / fine.0).log2(), (coarse.1 / fine.1).log2())
}

#[test]
fn plane_vortices_are_second_order_on_every_element() {
    for scheme in [Scheme::Bdf2, Scheme::Ab2Cn] {
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
fn flow_in_space_is_second_order_on_every_element() {
    for (element, sizes) in [
        (Element::Hexahedron, [4, 8, 16]),
        (Element::Tetrahedron, [3, 6, 12]),
        (Element::Mixed, [4, 8, 16]),
    ] {
        let numerics = numerics(Convection::Central, Scheme::Bdf2);
        let errors: Vec<_> =
            sizes.map(|n| after(ETHIER_STEINMAN, (element, 3), n, n, &numerics)).into();
        let (velocity, pressure) = orders(&errors);
        eprintln!("{element:?}: {errors:?}, orders {velocity:.2} {pressure:.2}");
        assert!(velocity > 1.9 && pressure > 1.0, "{element:?} {velocity} {pressure}");
    }
}

/// The vortices between planes of symmetry, which cross them nowhere and do not shear on them.
#[test]
fn slip_walls_keep_the_second_order() {
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
    let numerics = numerics(Convection::Central, Scheme::Bdf2);
    let measured: Vec<_> = [8, 16, 32]
        .map(|n| {
            let (mesh, geometry) = box_mesh(Element::Triangle, 2, n, 0.15);
            let backend = Backend::host(2).unwrap();
            let slip = mesh.patches.iter().map(|_| FlowCondition::Slip).collect();
            let problem = Problem { conditions: slip, ..held(&mesh, between) };
            backend.install(|| {
                let mut flow =
                    Flow::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
                (0..n).for_each(|_| drop(flow.step(0.2 / n as f64).unwrap()));
                errors(&backend, &flow, &geometry, between)
            })
        })
        .into();
    let (velocity, pressure) = orders(&measured);
    eprintln!("slip: {measured:?}, orders {velocity:.2} {pressure:.2}");
    assert!(velocity > 1.9 && pressure > 1.0, "{measured:?}: {velocity} {pressure}");
}
