//! Pressures that depend on the flow: inlets of total pressure, outlets with a loss.

use super::real_meshes::constant;
use super::*;
use crate::backend::testing::everywhere;
use crate::mesh::testing::{built, gmsh};
use crate::real::Real;

/// Frictionless walls, a total pressure at the patch `from`, a pressure at the patch `to`; from rest.
fn frictionless(
    mesh: &Mesh,
    viscosity: f64,
    (from, total): (&str, Arc<dyn Prescribed>),
    (to, pressure): (&str, Arc<dyn Prescribed>),
) -> Problem {
    from_rest(mesh, viscosity, |name| match name {
        _ if name == from => FlowCondition::TotalPressureInlet(total.clone()),
        _ if name == to => FlowCondition::PressureOutlet(pressure.clone()),
        _ => FlowCondition::Slip,
    })
}

/// Largest |u − (0, …, speed)| with the speed along the axis `k`.
fn deviation<F: Real>(
    backend: &Backend,
    flow: &IncompressibleSolver<F>,
    (k, speed): (usize, f64),
) -> f64 {
    let of = |component: usize| {
        let want = if component == k { speed } else { 0.0 };
        let u = backend.read(flow.velocity(component)).unwrap();
        u.into_iter().map(|u| (Into::<f64>::into(u) - want).abs()).fold(0.0, f64::max)
    };
    (0..flow.dimension()).map(of).fold(0.0, f64::max)
}

/// p₀ − p = ½ u² in a straight duct of plane walls, whatever its cells; at any Courant number.
#[test]
fn the_steady_speed_in_a_straight_duct_is_that_of_bernoulli() {
    fn run<F: Real>((name, patches, axis): (&str, [&str; 2], usize), tolerance: f64) {
        let (mesh, geometry) = built(gmsh(name));
        let [from, to] = patches;
        let (from, to) = ((from, constant(0.7)), (to, constant(0.2)));
        let problem = frictionless(&mesh, 1e-3, from, to);
        let mut numerics = steady(Convection::LinearUpwind);
        if size_of::<F>() == 4 {
            numerics.pressure.relative_tolerance = 1e-5;
            numerics.momentum.relative_tolerance = 1e-5;
        }
        for number in [2.0, 10.0, 50.0] {
            let backend = Backend::host(2).unwrap();
            backend.install(|| {
                let mut flow =
                    IncompressibleSolver::<F>::new(&backend, &mesh, &geometry, &problem, &numerics)
                        .unwrap();
                for _ in 0..600 {
                    let step = flow.pseudo_time_step(number);
                    let report = flow.step(step).unwrap();
                    assert_eq!(report.non_finite, 0, "{name}, {number}");
                    if report.residuals.unwrap().largest() < 1e-3 * tolerance {
                        break;
                    }
                }
                let error = deviation(&backend, &flow, (axis, 1.0));
                // The largest steps are stable, and converge slowly on prisms.
                let tolerance = if number > 10.0 { 1e-3 } else { tolerance };
                eprintln!("{name}, Courant number {number}: {error:.1e}");
                assert!(error < tolerance, "{name}, {number}: {error}");
            });
        }
    }
    for duct in [
        ("cube_tetrahedron_medium", ["xmin", "xmax"], 0),
        ("cube_prism_coarse", ["zmin", "zmax"], 2),
        ("channel", ["xmin", "xmax"], 0),
    ] {
        run::<f64>(duct, 1e-6);
        run::<f32>(duct, 1e-3);
    }
}

/// p₀ − p = ½ (1 + K) u² with an outlet of loss coefficient K, and the same with the flow reversed: air is drawn through the outlet by a
/// lower total pressure at the other end, u < 0.
#[test]
fn the_speed_through_an_outlet_with_a_loss_is_that_of_its_coefficient() {
    for (name, patches, axis) in [
        ("cube_tetrahedron_medium", ["xmin", "xmax"], 0),
        ("cube_prism_coarse", ["zmin", "zmax"], 2),
        ("channel", ["xmin", "xmax"], 0),
    ] {
        let (mesh, geometry) = built(gmsh(name));
        let [from, to] = patches;
        for (at_inlet, speed) in [(0.2 + 0.5 * 4.0, 1.0), (0.2 - 0.5 * 4.0, -1.0)] {
            let inlet = (from, constant(at_inlet));
            let mut problem = frictionless(&mesh, 1e-3, inlet, (to, constant(0.2)));
            for (patch, condition) in mesh.patches.iter().zip(&mut problem.conditions) {
                let loss = |pressure, k| FlowCondition::PressureLossOutlet([pressure, constant(k)]);
                if patch.name == to {
                    *condition = loss(constant(0.2), 3.0);
                } else if patch.name == from && speed < 0.0 {
                    *condition = FlowCondition::Opening(constant(at_inlet));
                }
            }
            let numerics = steady(Convection::LinearUpwind);
            let backend = Backend::host(2).unwrap();
            backend.install(|| {
                let mut flow = IncompressibleSolver::<f64>::new(
                    &backend, &mesh, &geometry, &problem, &numerics,
                )
                .unwrap();
                for _ in 0..600 {
                    let step = flow.pseudo_time_step(5.0);
                    let report = flow.step(step).unwrap();
                    assert_eq!(report.non_finite, 0, "{name}, {speed}");
                    if report.residuals.unwrap().largest() < 1e-9 {
                        break;
                    }
                }
                let error = deviation(&backend, &flow, (axis, speed));
                eprintln!("{name}, speed {speed}: {error:.1e}");
                assert!(error < 1e-6, "{name}, {speed}: {error}");
            });
        }
    }
}

/// From rest u = tanh(t/2L) for p₀ − p = ½. On orthogonal meshes, where the projections of fluxes and velocities agree, a straight
/// duct has it to the order of the time scheme.
#[test]
fn the_start_of_a_duct_has_the_order_of_the_time_scheme() {
    for (element, dimension, scheme, arrangement, order) in [
        (Element::Quadrilateral, 2, TimeScheme::Bdf2, Arrangement::Collocated, 1.8),
        (Element::Hexahedron, 3, TimeScheme::Ab2Cn, Arrangement::Collocated, 1.8),
        (Element::Quadrilateral, 2, TimeScheme::Rk3, Arrangement::Collocated, 1.8),
        (Element::Quadrilateral, 2, TimeScheme::Bdf2, Arrangement::Staggered, 1.8),
        (Element::Hexahedron, 3, TimeScheme::Ab2Cn, Arrangement::Staggered, 1.8),
        (Element::Quadrilateral, 2, TimeScheme::Bdf2, Arrangement::Exact, 1.8),
        (Element::Quadrilateral, 2, TimeScheme::Ab2Cn, Arrangement::Exact, 1.8),
    ] {
        let (mesh, geometry) = box_mesh(element, dimension, 4, 0.0);
        let (from, to) = (("xmin", constant(0.5)), ("xmax", constant(0.0)));
        let problem = frictionless(&mesh, 0.01, from, to);
        let numerics = Numerics { arrangement, ..numerics(Convection::LinearUpwind, scheme) };
        let backend = Backend::host(2).unwrap();
        let errors = [20, 40, 80].map(|steps| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            (0..steps).for_each(|_| drop(flow.step(2.0 / steps as f64).unwrap()));
            deviation(&backend, &flow, (0, 1f64.tanh()))
        });
        let found = (errors[1] / errors[2]).log2();
        eprintln!("{element:?} {scheme:?} {arrangement:?}: {errors:?}, order {found:.2}");
        let is_exact = errors[2] < 1e-9;
        assert!(is_exact || found > order, "{element:?} {scheme:?} {arrangement:?}: {errors:?}");
    }
}

/// Bernoulli's equation along a nozzle that halves the height of a channel: the mean speed at the outlet is √(2 (p₀ − p)) = 1, that
/// at the inlet ½, with an error that falls with the spacing.
#[test]
fn the_flow_rate_of_a_nozzle_converges_to_that_of_bernoulli() {
    let errors = ["coarse", "medium", "fine"].map(|size| {
        let (mesh, geometry) = built(gmsh(&format!("nozzle_{size}")));
        let (from, to) = (("inlet", constant(0.5)), ("outlet", constant(0.0)));
        let problem = frictionless(&mesh, 1e-6, from, to);
        let numerics = steady(Convection::LinearUpwind);
        let backend = Backend::host(2).unwrap();
        backend.install(|| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            let mut residual = 1.0;
            for _ in 0..400 {
                let step = flow.pseudo_time_step(5.0);
                residual = flow.step(step).unwrap().residuals.unwrap().largest();
                if residual < 1e-7 {
                    break;
                }
            }
            let patch = mesh.patches.iter().find(|p| p.name == "outlet").unwrap();
            let flux = backend.read(flow.flux()).unwrap();
            let rate: f64 = flux[patch.faces.clone()].iter().sum();
            eprintln!("nozzle_{size}: speed {}, residual {residual:.1e}", rate / 0.5);
            assert!(residual < 1e-5, "nozzle_{size}: {residual}");
            (rate / 0.5 - 1.0).abs()
        })
    });
    assert!(
        errors[0] < 0.1 && errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1],
        "{errors:?}"
    );
}

/// The outlet pressure rises above the total pressure and falls again: L du/dt = p₀ − ½ max(u, 0)² − p(t), outflow through the inlet
/// for part of the time.
#[test]
fn outflow_through_an_inlet_of_total_pressure_is_bounded() {
    let pressure = |t: f64| 0.9 * (2.0 * t).sin();
    for (element, dimension, scheme, arrangement) in [
        (Element::Triangle, 2, TimeScheme::Bdf2, Arrangement::Collocated),
        (Element::Tetrahedron, 3, TimeScheme::Bdf2, Arrangement::Collocated),
        (Element::Triangle, 2, TimeScheme::Rk3, Arrangement::Collocated),
        (Element::Quadrilateral, 2, TimeScheme::Ab2Cn, Arrangement::Staggered),
        (Element::Quadrilateral, 2, TimeScheme::Bdf2, Arrangement::Exact),
    ] {
        let (mesh, geometry) = box_mesh(element, dimension, 5, 0.0);
        let value = Function(move |_: [f64; 3], t: f64| pressure(t));
        let (from, to) =
            (("xmin", constant(0.1)), ("xmax", Arc::new(value) as Arc<dyn Prescribed>));
        let mut problem = frictionless(&mesh, 0.01, from, to);
        for condition in &mut problem.conditions {
            if let FlowCondition::PressureOutlet(pressure) = condition {
                *condition = FlowCondition::Opening(pressure.clone());
            }
        }
        let numerics = Numerics { arrangement, ..numerics(Convection::LinearUpwind, scheme) };
        let backend = Backend::host(2).unwrap();
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                .unwrap();
        // Euler's method with small steps.
        let (mut exact, mut t, small) = (0.0f64, 0.0, 1e-5);
        let (mut least, mut most) = (0.0f64, 0.0f64);
        let step = 0.01;
        for k in 1..=600 {
            flow.step(step).unwrap();
            while t < step * f64::from(k) - 0.5 * small {
                let inflow = exact.max(0.0);
                exact += small * (0.1 - 0.5 * inflow * inflow - pressure(t));
                t += small;
            }
            (least, most) = (least.min(exact), most.max(exact));
            let error = deviation(&backend, &flow, (0, exact));
            assert!(error < 0.02, "{element:?} {scheme:?} {arrangement:?}, t = {t}: {error}");
        }
        assert!(least < -0.3 && most > 0.2, "{least} {most}");
    }
}

/// Viscous walls and a reversed flow on tetrahedra, where backflow is no plug.
#[test]
fn a_duct_of_tetrahedra_is_stable_with_reversing_total_pressure() {
    let (mesh, geometry) = built(gmsh("pipe_medium"));
    let total = Function(|_: [f64; 3], t: f64| 0.5 * (2.0 * t).cos());
    let from = ("inlet", Arc::new(total) as Arc<dyn Prescribed>);
    let mut problem = frictionless(&mesh, 0.01, from, ("outlet", constant(0.0)));
    for (patch, condition) in mesh.patches.iter().zip(&mut problem.conditions) {
        if patch.name == "wall" {
            *condition = FlowCondition::Velocity(nothing());
        }
    }
    for treatment in [ConvectionTreatment::Explicit, ConvectionTreatment::Implicit] {
        let mut numerics = numerics(Convection::LinearUpwind, TimeScheme::Bdf2);
        numerics.convection_treatment = treatment;
        let (steps, step) = match treatment {
            ConvectionTreatment::Explicit => (400, 0.02),
            ConvectionTreatment::Implicit => (80, 0.1),
        };
        let backend = Backend::host(2).unwrap();
        backend.install(|| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            let (mut largest, mut courant) = (0.0f64, 0.0f64);
            for _ in 0..steps {
                let report = flow.step(step).unwrap();
                assert_eq!(report.non_finite, 0, "{treatment:?}");
                largest = largest.max(report.kinetic_energy);
                courant = courant.max(report.courant);
            }
            let volume: f64 = geometry.cell_volume.iter().sum();
            eprintln!("{treatment:?}: ½u² ≤ {:.3}, Courant number {courant:.1}", largest / volume);
            // Bernoulli's speed √(2 · 0.5) would be ½.
            assert!(largest < 0.5 * volume, "{treatment:?}: {largest}");
        });
    }
}

#[test]
fn inlets_of_total_pressure_are_the_same_on_every_backend_and_after_a_restart() {
    use ConvectionTreatment::{Explicit, Implicit};
    for (element, jitter, scheme, arrangement, convection_treatment, is_steady) in [
        (Element::Triangle, 0.15, TimeScheme::Bdf2, Arrangement::Collocated, Explicit, false),
        (Element::Quadrilateral, 0.1, TimeScheme::Ab2Cn, Arrangement::Collocated, Implicit, false),
        (Element::Tetrahedron, 0.1, TimeScheme::Bdf2, Arrangement::Collocated, Implicit, true),
        (Element::Triangle, 0.15, TimeScheme::Rk3, Arrangement::Collocated, Explicit, false),
        (Element::Hexahedron, 0.0, TimeScheme::Bdf2, Arrangement::Staggered, Explicit, false),
        (Element::Quadrilateral, 0.0, TimeScheme::Ab2Cn, Arrangement::Staggered, Explicit, false),
        (Element::Quadrilateral, 0.0, TimeScheme::Bdf2, Arrangement::Exact, Explicit, false),
    ] {
        let is_3d = matches!(element, Element::Hexahedron | Element::Tetrahedron);
        let (dimension, n) = if is_3d { (3, 3) } else { (2, 6) };
        let (mesh, geometry) = box_mesh(element, dimension, n, jitter);
        let mut numerics = Numerics {
            arrangement,
            convection_treatment,
            is_steady,
            ..numerics(Convection::LinearUpwind, scheme)
        };
        numerics.pressure.relative_tolerance = 1e-13;
        numerics.momentum.relative_tolerance = 1e-13;
        numerics.nonorthogonal_correctors = usize::from(element == Element::Triangle);
        let new = |backend: &Backend| {
            let total = Function(|p: [f64; 3], t: f64| 0.5 + 0.3 * p[1] + (9.0 * t).sin());
            let from = ("xmin", Arc::new(total) as Arc<dyn Prescribed>);
            let mut problem = frictionless(&mesh, 0.03, from, ("xmax", constant(0.1)));
            problem.velocity[0] = constant(0.3);
            for (patch, condition) in mesh.patches.iter().zip(&mut problem.conditions) {
                if patch.name == "ymin" {
                    *condition = FlowCondition::Velocity(nothing());
                }
            }
            IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)
                .unwrap()
        };
        let results = |backend: &Backend, flow: &IncompressibleSolver<f64>| -> Vec<f64> {
            let all = [flow.velocity(0), flow.velocity(1), flow.pressure(), flow.flux()];
            all.into_iter().flat_map(|buffer| backend.read(buffer).unwrap()).collect()
        };
        let steps = [0.02, 0.015, 0.01, 0.02];
        let run = |backend: &Backend| {
            let mut flow = new(backend);
            steps.iter().for_each(|step| drop(flow.step(*step).unwrap()));
            results(backend, &flow)
        };
        let host = Backend::host(1).unwrap();
        let want = host.install(|| run(&host));
        let what = format!("{element:?} {scheme:?} {arrangement:?}");
        for backend in everywhere() {
            for (got, want) in backend.install(|| run(&backend)).iter().zip(&want) {
                let error = (got - want).abs();
                assert!(error < 1e-9, "{what} {backend:?}: {error}");
            }
        }
        let mut first = new(&host);
        steps[..2].iter().for_each(|step| drop(first.step(*step).unwrap()));
        let state = first.state().unwrap();
        let mut second = new(&host);
        let read = |name: &str, _: usize| {
            state.arrays.iter().find(|(known, _)| known == name).unwrap().1.clone()
        };
        second.restore(read, state.clock).unwrap();
        steps[2..].iter().for_each(|step| drop(second.step(*step).unwrap()));
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert!(is_steady || bits(results(&host, &second)) == bits(want), "{what}");
    }
}
