//! Implicit convection: order in time, stability at large Courant numbers, and steady states.

use super::real_meshes::{DUCTS, constant, duct};
use super::*;
use crate::mesh::testing::{built, gmsh};

fn implicit(convection: Convection, scheme: Scheme) -> Numerics {
    Numerics { convection_treatment: ConvectionTreatment::Implicit, ..numerics(convection, scheme) }
}

fn steady(convection: Convection) -> Numerics {
    let mut numerics = Numerics { is_steady: true, ..implicit(convection, Scheme::Bdf2) };
    numerics.pressure.relative_tolerance = 0.05;
    numerics.momentum.relative_tolerance = 0.05;
    numerics
}

/// The velocity after time 1 in `steps` steps.
fn velocity_after(
    (mesh, geometry): &(Mesh, Geometry),
    problem: &Problem,
    numerics: &Numerics,
    steps: usize,
) -> (Vec<f64>, f64) {
    let backend = Backend::host(2).unwrap();
    backend.install(|| {
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, mesh, geometry, problem, numerics).unwrap();
        let mut courant = 0.0f64;
        for _ in 0..steps {
            let report = flow.step(1.0 / steps as f64).unwrap();
            assert_eq!(report.non_finite, 0);
            courant = courant.max(report.courant);
        }
        let components = (0..flow.dimension()).map(|k| backend.read(flow.velocity(k)).unwrap());
        (components.flatten().collect(), courant)
    })
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let sum = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
    (sum / a.len() as f64).sqrt()
}

/// Errors in time against many steps with the same mesh, whose error in space cancels.
#[test]
fn implicit_convection_is_second_order_in_time() {
    for (element, convection) in [
        (Element::Quadrilateral, Convection::LinearUpwind),
        (Element::Triangle, Convection::LinearUpwind),
        (Element::Triangle, Convection::Central),
    ] {
        let place = box_mesh(element, 2, 24, 0.15);
        let problem = dirichlet_problem(&place.0, TAYLOR_GREEN);
        for scheme in [Scheme::Bdf2, Scheme::Ab2Cn] {
            let numerics = implicit(convection, scheme);
            let (exact, _) = velocity_after(&place, &problem, &numerics, 640);
            let errors = [20, 40, 80].map(|steps| {
                let (found, courant) = velocity_after(&place, &problem, &numerics, steps);
                (distance(&found, &exact), courant)
            });
            let order = (errors[1].0 / errors[2].0).log2();
            eprintln!("{element:?} {convection:?} {scheme:?}: {errors:?}, order {order:.2}");
            assert!(order > 1.8, "{element:?} {convection:?} {scheme:?}: {errors:?}, {order}");
        }
    }
}

#[test]
fn implicit_convection_is_stable_at_a_courant_number_of_20_on_tetrahedra() {
    for name in DUCTS {
        let (mesh, geometry) = built(gmsh(name));
        let backend = Backend::host(2).unwrap();
        let mut numerics = implicit(Convection::LinearUpwind, Scheme::Bdf2);
        numerics.pressure.relative_tolerance = 1e-6;
        numerics.momentum.relative_tolerance = 1e-6;
        backend.install(|| {
            let problem = duct(&mesh, 0.01);
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            let (mut courant, mut energy) = (0.0f64, 0.0);
            for _ in 0..150 {
                let report = flow.step(20.0 / flow.largest_rate()).unwrap();
                assert_eq!(report.non_finite, 0, "{name}");
                (courant, energy) = (courant.max(report.courant), report.kinetic_energy);
            }
            let volume: f64 = geometry.cell_volume.iter().sum();
            eprintln!(
                "{name}: Courant number {courant:.1}, energy {energy:.3}, volume {volume:.3}"
            );
            assert!(courant > 19.0 && energy < volume, "{name}: {courant}, {energy}");
        });
    }
}

/// The residual of the last of `most` iterations, their number, and the velocity.
fn iterate(
    (mesh, geometry): &(Mesh, Geometry),
    problem: &Problem,
    courant: f64,
    most: usize,
) -> (f64, usize, Vec<f64>) {
    let backend = Backend::host(2).unwrap();
    let numerics = steady(Convection::LinearUpwind);
    backend.install(|| {
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, mesh, geometry, problem, &numerics).unwrap();
        let mut residual = f64::INFINITY;
        while flow.clock().1 < most && residual > 1e-8 {
            let report = flow.step(flow.pseudo_time_step(courant)).unwrap();
            residual = report.residuals.unwrap().largest();
        }
        let components = (0..flow.dimension()).map(|k| backend.read(flow.velocity(k)).unwrap());
        (residual, flow.clock().1, components.flatten().collect())
    })
}

/// A lid of speed 1 on a square or cube.
fn cavity(mesh: &Mesh) -> Problem {
    let lid = if mesh.dimension == 2 { "ymax" } else { "zmax" };
    let conditions = mesh.patches.iter().map(|patch| match patch.name == lid {
        true => FlowCondition::Velocity([constant(1.0), constant(0.0), constant(0.0)]),
        false => FlowCondition::Velocity(nothing()),
    });
    Problem { conditions: conditions.collect(), ..duct(mesh, 0.01) }
}

/// The steady state of the iteration is that of the march, whatever the pseudo-time step.
#[test]
fn steady_states_are_those_of_marching() {
    for place in [
        box_mesh(Element::Triangle, 2, 16, 0.15),
        box_mesh(Element::Tetrahedron, 3, 5, 0.1),
        built(gmsh("tee")),
    ] {
        let mesh = &place.0;
        let is_duct = mesh.patches.iter().any(|patch| patch.name == "inlet");
        let problem = if is_duct { duct(mesh, 0.02) } else { cavity(mesh) };
        let (residual, iterations, found) = iterate(&place, &problem, 10.0, 800);
        let (other_residual, _, other) = iterate(&place, &problem, 40.0, 800);
        eprintln!("{iterations} iterations, {residual:.1e}, {:.1e}", distance(&found, &other));
        assert!(residual < 1e-8 && other_residual < 1e-8, "{residual} {other_residual}");
        assert!(distance(&found, &other) < 1e-6, "{}", distance(&found, &other));
        let march = numerics(Convection::LinearUpwind, Scheme::Bdf2);
        let backend = Backend::host(2).unwrap();
        let marched: Vec<f64> = backend.install(|| {
            let (mesh, geometry) = &place;
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, mesh, geometry, &problem, &march)
                    .unwrap();
            let step = 0.4 / flow.largest_rate();
            let mut rate = f64::INFINITY;
            while rate > 1e-7 && flow.clock().1 < 6000 {
                rate = flow.step(step.min(0.4 / flow.largest_rate())).unwrap().rate;
            }
            let components = (0..flow.dimension()).map(|k| backend.read(flow.velocity(k)).unwrap());
            components.flatten().collect()
        });
        let apart = distance(&found, &marched);
        eprintln!("from marching: {apart:.1e}");
        assert!(apart < 1e-5, "{apart}");
    }
}
