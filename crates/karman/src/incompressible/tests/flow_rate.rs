//! Inlets of prescribed flow rate.

use super::real_meshes::constant;
use super::*;
use crate::backend::testing::everywhere;
use crate::mesh::testing::{built, gmsh};
use crate::real::Real;

/// Q(t) of the tests.
fn flow_rate() -> Arc<dyn Prescribed> {
    Arc::new(Function(|_: [f64; 3], t: f64| 0.3 + 0.2 * (3.0 * t).sin()))
}

/// Fluid enters through the patch `into` at the rate Q(t) and leaves through the patch `out_of`.
fn problem(mesh: &Mesh, into: &str, (out_of, outlet): (&str, FlowCondition)) -> Problem {
    from_rest(mesh, 0.05, |name| match name {
        _ if name == into => FlowCondition::FlowRateInlet(flow_rate()),
        _ if name == out_of => outlet.clone(),
        _ => FlowCondition::Velocity(nothing()),
    })
}

/// Σ F of a patch.
fn through<F: Real>(
    backend: &Backend,
    flow: &IncompressibleSolver<F>,
    (mesh, patch): (&Mesh, &str),
) -> f64 {
    let flux = backend.read(flow.flux()).unwrap();
    let patch = mesh.patches.iter().find(|p| p.name == patch).unwrap();
    flux[patch.faces.clone()].iter().map(|f| Into::<f64>::into(*f)).sum()
}

fn check<F: Real>(
    what: &str,
    (mesh, geometry): (&Mesh, &Geometry),
    problem: &Problem,
    numerics: &Numerics,
    (into, tolerance): (&str, f64),
) {
    let backend = Backend::host(2).unwrap();
    backend.install(|| {
        let mut flow =
            IncompressibleSolver::<F>::new(&backend, mesh, geometry, problem, numerics).unwrap();
        for step in [0.0, 0.01, 0.02, 0.02] {
            if step > 0.0 {
                let report = flow.step(step).unwrap();
                assert_eq!(report.non_finite, 0, "{what}");
            }
            let (t, _) = flow.clock();
            let mut rate = [0.0];
            flow_rate().sample(&[0.0; 3], t, &mut rate);
            let found = through(&backend, &flow, (mesh, into));
            let error = (found + rate[0]).abs() / rate[0];
            assert!(error < tolerance, "{what}, t = {t}: {found} for {}", rate[0]);
        }
    });
}

#[test]
fn a_flow_rate_is_exact_on_ducts_of_gmsh() {
    for (name, into, out_of) in [
        ("pipe_medium", "inlet", "outlet"),
        // Two outlets of one patch.
        ("tee", "inlet", "outlet"),
        // A patch in several directions.
        ("tee", "outlet", "inlet"),
        ("step", "inlet", "outlet"),
        ("ring_coarse", "inner", "outer"),
    ] {
        let (mesh, geometry) = built(gmsh(name));
        for scheme in [TimeScheme::Bdf2, TimeScheme::Ab2Cn, TimeScheme::Rk3] {
            for outlet in
                [FlowCondition::PressureOutlet(constant(0.0)), FlowCondition::ConvectiveOutlet]
            {
                let place = (&mesh, &geometry);
                let problem = problem(&mesh, into, (out_of, outlet));
                let numerics = numerics(Convection::LinearUpwind, scheme);
                check::<f64>(name, place, &problem, &numerics, (into, 1e-13));
                let mut numerics = numerics;
                numerics.pressure.relative_tolerance = 1e-5;
                numerics.momentum.relative_tolerance = 1e-5;
                check::<f32>(name, place, &problem, &numerics, (into, 1e-6));
            }
        }
    }
}

#[test]
fn a_flow_rate_is_exact_with_fluxes_at_faces_and_in_steady_flow() {
    for (element, dimension, arrangement, is_steady) in [
        (Element::Quadrilateral, 2, Arrangement::Staggered, false),
        (Element::Hexahedron, 3, Arrangement::Staggered, false),
        (Element::Triangle, 2, Arrangement::Exact, false),
        (Element::Hexahedron, 3, Arrangement::Exact, false),
        (Element::Tetrahedron, 3, Arrangement::Collocated, true),
    ] {
        let (mesh, geometry) = box_mesh(element, dimension, 5, 0.0);
        let outlet = FlowCondition::PressureOutlet(constant(0.0));
        let problem = problem(&mesh, "xmin", ("xmax", outlet));
        let numerics = Numerics {
            arrangement,
            is_steady,
            convection_treatment: match is_steady {
                true => ConvectionTreatment::Implicit,
                false => ConvectionTreatment::Explicit,
            },
            ..numerics(Convection::LinearUpwind, TimeScheme::Bdf2)
        };
        let what = format!("{element:?} {arrangement:?}");
        check::<f64>(&what, (&mesh, &geometry), &problem, &numerics, ("xmin", 1e-13));
    }
}

/// A flow rate in and one out, with a wall whose prescribed velocities balance up to quadrature: the flow rates stay, and the
/// wall is corrected.
fn closed(mesh: &Mesh, rates: [f64; 2]) -> Problem {
    let wall = |p: [f64; 3]| 0.3 * (p[0].exp() - (1f64.exp() - 1.0));
    let leaking: Arc<dyn Prescribed> = Arc::new(Function(move |p: [f64; 3], _| wall(p)));
    let condition = |name: &str| match name {
        "xmin" => FlowCondition::FlowRateInlet(constant(rates[0])),
        "xmax" => FlowCondition::FlowRateInlet(constant(rates[1])),
        "ymax" => FlowCondition::Velocity([constant(0.0), leaking.clone(), constant(0.0)]),
        _ => FlowCondition::Slip,
    };
    let conditions = mesh.patches.iter().map(|patch| condition(&patch.name)).collect();
    let outlet = ("ymin", FlowCondition::Slip);
    Problem { conditions, ..problem(mesh, "xmin", outlet) }
}

#[test]
fn two_flow_rates_and_a_wall_keep_the_flow_rates_on_every_backend() {
    for (element, dimension) in [(Element::Triangle, 2), (Element::Hexahedron, 3)] {
        let (mesh, geometry) = box_mesh(element, dimension, 6, 0.1);
        let numerics = numerics(Convection::LinearUpwind, TimeScheme::Bdf2);
        let run = |backend: &Backend| {
            let problem = closed(&mesh, [0.5, -0.5]);
            let mut flow =
                IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            for _ in 0..3 {
                assert!(flow.step(0.02).unwrap().divergence < 1e-8);
            }
            for (patch, want) in [("xmin", -0.5), ("xmax", 0.5)] {
                let found = through(backend, &flow, (&mesh, patch));
                assert!((found - want).abs() < 1e-14, "{patch}: {found}");
            }
            backend.read(flow.flux()).unwrap()
        };
        let host = Backend::host(1).unwrap();
        let want = host.install(|| run(&host));
        for backend in everywhere() {
            for (got, want) in backend.install(|| run(&backend)).iter().zip(&want) {
                assert!((got - want).abs() < 1e-9, "{element:?} {backend:?}: {got} {want}");
            }
        }
    }
}

/// Flow rates that do not balance are refused, however small the difference; rounding is no difference.
#[test]
fn flow_rates_that_do_not_balance_are_refused() {
    fn start<F: Real>(rates: [f64; 2]) -> Result<(), String> {
        let (mesh, geometry) = box_mesh(Element::Triangle, 2, 6, 0.1);
        let mut problem = closed(&mesh, rates);
        for (patch, condition) in mesh.patches.iter().zip(&mut problem.conditions) {
            if patch.name.starts_with('y') {
                *condition = FlowCondition::Velocity(nothing());
            }
        }
        let numerics = numerics(Convection::LinearUpwind, TimeScheme::Bdf2);
        let backend = Backend::host(1).unwrap();
        let flow = IncompressibleSolver::<F>::new(&backend, &mesh, &geometry, &problem, &numerics);
        flow.map(|_| ()).map_err(|error| error.to_string())
    }
    assert_eq!(start::<f64>([0.3, -0.3]), Ok(()));
    assert_eq!(start::<f32>([0.3, -0.3]), Ok(()));
    for said in [start::<f64>([0.3, -0.299]), start::<f32>([0.3, -0.299])] {
        let message = "Inflow exceeds outflow by 0.001 m²/s and there is no outlet.";
        assert_eq!(said.unwrap_err(), message);
    }
}
