//! Fluxes at the faces: order, divergence, energy.

use super::super::flow::Flow;
use super::*;
use crate::mesh::{CellShape, Elements, RawMesh};
use std::f64::consts::PI;

fn staggered(correction: PressureCorrection) -> Numerics {
    Numerics {
        arrangement: Arrangement::Staggered,
        pressure_correction: correction,
        ..numerics(Convection::Central, TimeScheme::Bdf2)
    }
}

/// √(Σ (F − u·S)² / Σ S²) over the faces, u the exact velocity at their centroids.
fn flux_error(
    backend: &Backend,
    flow: &IncompressibleSolver<f64>,
    geometry: &Geometry,
    exact: Exact,
) -> f64 {
    let (t, _) = flow.clock();
    let flux = backend.read(flow.flux()).unwrap();
    let (mut error, mut size) = (0.0, 0.0);
    for (face, flux) in flux.iter().enumerate() {
        let s = geometry.area_vector_of(face);
        let u = (exact.velocity)(geometry.face_centre_of(face), t);
        let through: f64 = (0..3).map(|k| u[k] * s[k]).sum();
        error += (flux - through).powi(2);
        size += s.iter().map(|s| s * s).sum::<f64>();
    }
    (error / size).sqrt()
}

/// Errors of fluxes, velocity and pressure of an exact flow after 0.2 s.
fn after(
    exact: Exact,
    (element, dimension, jitter): (Element, usize, f64),
    (n, steps): (usize, usize),
    numerics: &Numerics,
) -> [f64; 3] {
    let (mesh, geometry) = box_mesh(element, dimension, n, jitter);
    measured(exact, (&mesh, &geometry), steps, numerics, |backend, flow| {
        let (velocity, pressure) = errors(backend, flow, &geometry, exact);
        [flux_error(backend, flow, &geometry, exact), velocity, pressure]
    })
}

/// Orders of the last refinement, halved.
fn orders(errors: &[[f64; 3]]) -> [f64; 3] {
    let [.., coarse, fine] = errors else { unreachable!() };
    [0, 1, 2].map(|k| (coarse[k] / fine[k]).log2())
}

fn both() -> [Numerics; 2] {
    let classical = staggered(PressureCorrection::Incremental);
    [classical.clone(), Numerics { arrangement: Arrangement::Exact, ..classical }]
}

#[test]
fn fluxes_are_second_order_on_rectangles_and_rectangular_hexahedra() {
    for numerics in both() {
        for (exact, element, dimension, sizes) in [
            (TAYLOR_GREEN, Element::Quadrilateral, 2, [8, 16, 32]),
            (ETHIER_STEINMAN, Element::Hexahedron, 3, [4, 8, 16]),
        ] {
            let of = |n| after(exact, (element, dimension, 0.0), (n, 2 * n), &numerics);
            let errors = sizes.map(of);
            let [flux, velocity, pressure] = orders(&errors);
            let which = numerics.arrangement;
            eprintln!("{which:?} {element:?}: {errors:?}, {flux:.2} {velocity:.2} {pressure:.2}");
            // In 3D the order still approaches 2: 1.63, 1.75.
            let required = if dimension == 2 { 1.9 } else { 1.7 };
            assert!(flux > required && velocity > required, "{errors:?}");
        }
    }
}

#[test]
fn fluxes_are_first_order_on_any_mesh() {
    for numerics in both() {
        for (exact, element, dimension, sizes) in [
            (TAYLOR_GREEN, Element::Quadrilateral, 2, [16, 32]),
            (TAYLOR_GREEN, Element::Triangle, 2, [16, 32]),
            (TAYLOR_GREEN, Element::Mixed, 2, [16, 32]),
            (ETHIER_STEINMAN, Element::Tetrahedron, 3, [4, 8]),
        ] {
            let of = |n| after(exact, (element, dimension, 0.15), (n, n), &numerics);
            let errors = sizes.map(of);
            let [flux, velocity, pressure] = orders(&errors);
            let which = numerics.arrangement;
            eprintln!("{which:?} {element:?}: {errors:?}, {flux:.2} {velocity:.2} {pressure:.2}");
            assert!(flux > 0.9 && velocity > 0.9, "{errors:?}");
        }
    }
}

/// The classical scheme is first order in time.
#[test]
fn the_classical_step_is_of_first_order_in_time() {
    let mesh = (Element::Quadrilateral, 2, 0.0);
    let numerics = staggered(PressureCorrection::None);
    let error = |steps: usize| after(TAYLOR_GREEN, mesh, (24, steps), &numerics)[0];
    let errors = [4, 8, 16].map(error);
    let order = (errors[0] / errors[1]).log2();
    eprintln!("classical step: {errors:.4?}, order {order:.2}");
    assert!(order > 0.5 && errors[1] < errors[0] && errors[2] < errors[1], "{errors:?}");
}

/// Vortices between slip walls without viscosity: the energy drifts only by the error of the time scheme,
/// which vanishes with the step.
#[test]
fn central_means_conserve_the_kinetic_energy_of_the_fluxes() {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 12, 0.0);
    let backend = Backend::host(1).unwrap();
    let velocity = |k: usize| -> Arc<dyn Prescribed> {
        Arc::new(Function(move |p: [f64; 3], _| match k {
            0 => {
                (PI * p[0]).sin() * (PI * p[1]).cos() + (2.0 * PI * p[0]).sin() * (PI * p[1]).cos()
            }
            1 => {
                -(PI * p[0]).cos() * (PI * p[1]).sin()
                    - 2.0 * (2.0 * PI * p[0]).cos() * (PI * p[1]).sin()
            }
            _ => 0.0,
        }))
    };
    let problem = Problem {
        viscosity: 1e-14,
        source: nothing(),
        conditions: mesh.patches.iter().map(|_| FlowCondition::Slip).collect(),
        velocity: [0, 1, 2].map(velocity),
        pressure: Arc::new(0.0),
        thermal: None,
    };
    let numerics = staggered(PressureCorrection::Incremental);
    let mass: Vec<f64> = (0..mesh.n_faces())
        .map(|f| {
            let s = geometry.area_vector_of(f);
            let square: f64 = s.iter().map(|s| s * s).sum();
            let cells = [Some(mesh.face_left[f]), mesh.face_right.get(f).copied()];
            let distance = |c: u32| {
                let (x, y) = (geometry.face_centre_of(f), geometry.cell_centre_of(c as usize));
                (0..3).map(|k| (x[k] - y[k]) * s[k]).sum::<f64>().abs() / square
            };
            cells.into_iter().flatten().map(distance).sum()
        })
        .collect();
    let drift = |steps: usize| {
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                .unwrap();
        let energy = |flow: &IncompressibleSolver<f64>| -> f64 {
            let flux = backend.read(flow.flux()).unwrap();
            flux.iter().zip(&mass).map(|(u, m)| 0.5 * m * u * u).sum()
        };
        let start = energy(&flow);
        (0..steps).for_each(|_| drop(flow.step(0.5 / steps as f64).unwrap()));
        ((energy(&flow) - start) / start).abs()
    };
    let drifts = [20, 40, 80].map(drift);
    let order = (drifts[1] / drifts[2]).log2();
    eprintln!("energy: {drifts:?}, order {order:.2}");
    assert!(order > 1.7 && drifts[2] < 1e-3, "{drifts:?}, {order}");
}

/// Flow past a cylinder is divergence-free with loose solver tolerances.
#[test]
fn the_exact_step_is_divergence_free_at_any_tolerance() {
    let plain = Params { relative_tolerance: 1e-3, ..Params::default() };
    let multigrid = PreconditionerKind::Amg(AmgParams::default());
    let multigrid = Params { preconditioner: multigrid, ..plain.clone() };
    let numerics = Numerics {
        arrangement: Arrangement::Exact,
        pressure: Params {
            relative_tolerance: 1e-3,
            ..numerics(Convection::Central, TimeScheme::Bdf2).pressure
        },
        ..numerics(Convection::Central, TimeScheme::Bdf2)
    };
    let backend = Backend::host(1).unwrap();
    let no_slip = || -> PrescribedVector { nothing() };
    let inlet = |pulsing: bool| -> PrescribedVector {
        let speed = Function(move |p: [f64; 3], t: f64| {
            let pulse = if pulsing { 1.0 + 0.5 * (20.0 * t).sin() } else { 1.0 };
            6.0 * p[1] * (0.41 - p[1]) / 0.41f64.powi(2) * pulse
        });
        [Arc::new(speed), Arc::new(0.0), Arc::new(0.0)]
    };
    for (dimension, pulsing, convective) in
        [(2, false, false), (2, true, false), (2, false, true), (3, false, false)]
    {
        let momentum = if pulsing { plain.clone() } else { multigrid.clone() };
        let numerics = Numerics { momentum, ..numerics.clone() };
        let channel = CylinderInChannelParams {
            cells_around: 16,
            cells_radial: 3,
            cells_wake: 8,
            width: (dimension == 3).then_some(0.2),
            cells_width: 2,
            element: (dimension == 3).then_some(Element::Tetrahedron),
            ..CylinderInChannelParams::default()
        };
        let mesh = Mesh::new(channel.generate().unwrap(), &MeshOptions::default()).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let condition = |name: &str| match name {
            "inlet" => FlowCondition::Velocity(inlet(pulsing)),
            "outlet" if convective => FlowCondition::ConvectiveOutlet,
            "outlet" => FlowCondition::PressureOutlet(Arc::new(0.0)),
            "front" | "back" => FlowCondition::Slip,
            _ => FlowCondition::Velocity(no_slip()),
        };
        let problem = Problem {
            viscosity: 5e-3,
            source: nothing(),
            conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
            velocity: inlet(false),
            pressure: Arc::new(0.0),
            thermal: None,
        };
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                .unwrap();
        let mut largest = 0.0f64;
        for _ in 0..20 {
            let report = flow.step(2e-3).unwrap();
            assert!(report.momentum.is_converged(), "{}", report.momentum);
            assert!(report.kinetic_energy.is_finite() && report.non_finite == 0);
            largest = largest.max(report.divergence);
        }
        eprintln!("exact, {dimension}D, pulsing {pulsing}, convective {convective}: {largest:.1e}");
        assert!(largest < 1e-12, "{dimension} {pulsing} {convective}: {largest:e}");
    }
}

/// A wall that moves along itself does not change the fluxes through the boundary. The exact step has nothing to project then,
/// and the flow is that beside a wall whose velocity is known to be constant.
#[test]
fn a_wall_that_moves_along_itself_needs_no_projection() {
    let (mesh, geometry) = box_mesh(Element::Triangle, 2, 12, 0.15);
    let numerics = Numerics {
        arrangement: Arrangement::Exact,
        ..numerics(Convection::Central, TimeScheme::Bdf2)
    };
    let backend = Backend::host(1).unwrap();
    let constant: Arc<dyn Prescribed> = Arc::new(1.0);
    let of_time: Arc<dyn Prescribed> = Arc::new(Function(|_, _| 1.0));
    let fluxes = [constant, of_time].map(|speed| {
        let condition = |name: &str| match name {
            "ymax" => FlowCondition::Velocity([speed.clone(), Arc::new(0.0), Arc::new(0.0)]),
            _ => FlowCondition::Velocity(nothing()),
        };
        let problem = Problem {
            viscosity: 0.01,
            source: nothing(),
            conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
            velocity: nothing(),
            pressure: Arc::new(0.0),
            thermal: None,
        };
        let mut solver =
            IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                .unwrap();
        (0..10).for_each(|_| drop(solver.step(0.02).unwrap()));
        let Flow { pressure, faces, flux, .. } = &mut solver.flow;
        assert!(!pressure.has_divergence(faces, flux).unwrap());
        let fluxes = backend.read(flux).unwrap();
        let mut other = fluxes.clone();
        other[0] += 1e-9 * largest(&fluxes);
        assert!(pressure.has_divergence(faces, &backend.upload(other)).unwrap());
        fluxes
    });
    let [one, other] = fluxes;
    let difference: Vec<f64> = one.iter().zip(&other).map(|(a, b)| a - b).collect();
    assert!(largest(&difference) < 1e-8 * largest(&one), "{:e}", largest(&difference));
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Both staggered steps solve the same equations up to the splitting error of the classical one, of second
/// order in the step.
#[test]
fn the_exact_and_the_classical_step_differ_by_the_splitting() {
    let backend = Backend::host(1).unwrap();
    let (mesh, geometry) = box_mesh(Element::Hexahedron, 3, 6, 0.0);
    let apart = |steps: usize| {
        let fluxes = both().map(|numerics| {
            let problem = dirichlet_problem(&mesh, ETHIER_STEINMAN);
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            (0..steps).for_each(|_| drop(flow.step(0.1 / steps as f64).unwrap()));
            backend.read(flow.flux()).unwrap()
        });
        let size = fluxes[0].iter().map(|u| u.abs()).fold(0.0, f64::max);
        let pairs = fluxes[0].iter().zip(&fluxes[1]);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
    };
    let differences = [5, 10, 20].map(apart);
    eprintln!("exact and classical: {differences:?}");
    assert!(differences[2] < 1e-4 && differences[1] / differences[2] > 2.5, "{differences:?}");
}

/// The error of a flow that cannot be set up.
fn rejection(mesh: &Mesh, geometry: &Geometry, numerics: &Numerics) -> String {
    let backend = Backend::host(1).unwrap();
    match IncompressibleSolver::<f64>::new(
        &backend,
        mesh,
        geometry,
        &dirichlet_problem(mesh, TAYLOR_GREEN),
        numerics,
    ) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unsupported_staggered_schemes_are_rejected() {
    let [classical, exact] = both();
    let (mesh, geometry) = box_mesh(Element::Triangle, 2, 3, 0.1);
    for numerics in [classical.clone(), exact.clone()] {
        let explicit = Numerics { time_scheme: TimeScheme::Rk3, ..numerics };
        assert_eq!(
            rejection(&mesh, &geometry, &explicit),
            "method = \"rk3\" with fluxes at faces is for scheme = \"staggered\" on rectangles or \
             rectangular hexahedra; here use method = \"bdf2\" or scheme = \"collocated\""
        );
    }
    let (mesh, geometry) = super::periodic::periodic_box((Element::Quadrilateral, 2), 4, 0.0, 2);
    assert_eq!(
        rejection(&mesh, &geometry, &exact),
        "scheme = \"exact_fractional_step\" needs a direction that is not periodic: its potential has no mean \
         flow; use scheme = \"staggered\""
    );
}

/// An arrowhead whose centroid lies below its lower side, above the one of the triangle beneath.
#[test]
fn centroids_on_the_wrong_sides_are_rejected() {
    let mut cells = Elements::new();
    cells.push(CellShape::Quadrilateral, &[0, 3, 2, 1], 0);
    cells.push(CellShape::Triangle, &[0, 4, 3], 0);
    let points = [[-1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.5], [0.0, 1.45]];
    let raw = RawMesh {
        dimension: 2,
        points: points.map(|[x, y]| [x, y, 0.0]).to_vec(),
        cells,
        boundary: Elements::uniform(
            CellShape::Segment,
            vec![0, 1, 1, 2, 2, 3, 0, 4, 4, 3],
            vec![0; 5],
        ),
        regions: vec!["default".to_owned()],
        patches: vec!["wall".to_owned()],
    };
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let said = rejection(&mesh, &geometry, &both()[0]);
    assert!(
        said.starts_with(
            "the centroids of the two cells at the face at (-0.500000, 0.750000, 0.000000) lie on the wrong \
             sides of it, -"
        ),
        "{said}"
    );
}
