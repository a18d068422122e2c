//! Free-stream preservation, global balance, independence of the step.

use super::*;
use crate::finite_volume::Condition;

const STREAM: Exact =
    Exact { viscosity: 0.1, velocity: |_, _| [0.7, -0.4, 0.3], pressure: |_, _| 0.0 };

#[test]
fn a_uniform_stream_is_preserved_on_every_element() {
    for (element, dimension) in [
        (Element::Triangle, 2),
        (Element::Mixed, 2),
        (Element::Tetrahedron, 3),
        (Element::Hexahedron, 3),
        (Element::Prism, 3),
        (Element::Pyramid, 3),
        (Element::Mixed, 3),
    ] {
        for convection in
            [Convection::Central, Convection::Upwind, Convection::LinearUpwind, Convection::Cubic]
        {
            let (mesh, geometry) = box_mesh(element, dimension, 4, 0.15);
            let backend = Backend::host(2).unwrap();
            let numerics = numerics(convection, TimeScheme::Bdf2);
            let stream = Exact {
                velocity: if dimension == 3 { STREAM.velocity } else { |_, _| [0.7, -0.4, 0.0] },
                ..STREAM
            };
            let problem = dirichlet_problem(&mesh, stream);
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            for _ in 0..4 {
                flow.step(0.05).unwrap();
            }
            let (velocity, pressure) = errors(&backend, &flow, &geometry, stream);
            assert!(velocity < 1e-12, "{element:?} {convection:?}: {velocity:e}");
            assert!(pressure < 1e-10, "{element:?} {convection:?}: {pressure:e}");
        }
    }
}

fn value(v: f64) -> Arc<dyn Prescribed> {
    Arc::new(v)
}

/// The steady flow in a cavity, reached by steps of a given length.
fn cavity(step: f64) -> Vec<f64> {
    let (mesh, geometry) = box_mesh(Element::Triangle, 2, 8, 0.15);
    let backend = Backend::host(1).unwrap();
    let wall = |name: &str| {
        let speed = if name == "ymax" { 1.0 } else { 0.0 };
        FlowCondition::Velocity([value(speed), value(0.0), value(0.0)])
    };
    let problem = Problem {
        viscosity: 0.1,
        source: nothing(),
        conditions: mesh.patches.iter().map(|patch| wall(&patch.name)).collect(),
        velocity: nothing(),
        pressure: value(0.0),
        thermal: None,
    };
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
    let mut rate = f64::MAX;
    for _ in 0..4000 {
        rate = flow.step(step).unwrap().rate;
        if rate < 1e-9 {
            break;
        }
    }
    assert!(rate < 1e-9, "{rate}");
    (0..2).flat_map(|k| backend.read(flow.velocity(k)).unwrap()).collect()
}

#[test]
fn a_steady_flow_does_not_depend_on_the_step_that_led_to_it() {
    let [long, short] = [0.05, 0.01].map(cavity);
    for (a, b) in long.iter().zip(&short) {
        assert!((a - b).abs() < 1e-7, "{a} {b}");
    }
}

#[test]
fn unbalanced_flow_and_invalid_properties_are_rejected() {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 4, 0.0);
    let backend = Backend::host(1).unwrap();
    let condition = |name: &str| {
        let speed = if name == "xmin" { 1.0 } else { 0.0 };
        FlowCondition::Velocity([value(speed), value(0.0), value(0.0)])
    };
    let mut problem = Problem {
        viscosity: 0.1,
        source: nothing(),
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        velocity: nothing(),
        pressure: value(0.0),
        thermal: None,
    };
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let message = |problem: &Problem| match IncompressibleSolver::<f64>::new(
        &backend, &mesh, &geometry, problem, &numerics,
    ) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    assert_eq!(message(&problem), "Inflow exceeds outflow by 1.0 m²/s and there is no outlet.");
    problem.viscosity = 0.0;
    assert_eq!(
        message(&problem),
        "the viscosity is 0; it must be positive and finite, or 0 with `rk3`"
    );
    problem.viscosity = 1.0;
    problem.conditions.pop();
    assert_eq!(message(&problem), "3 conditions for 4 patches");
    problem.conditions.push(FlowCondition::Slip);
    let thermal = |diffusivity: f64, count: usize| ThermalProblem {
        diffusivity,
        expansion: 0.0,
        gravity: [0.0; 3],
        reference: 0.0,
        source: value(0.0),
        conditions: vec![Condition::ZeroGradient; count],
        initial: value(0.0),
    };
    problem.thermal = Some(thermal(-1.0, 4));
    assert_eq!(message(&problem), "the diffusivity is -1; it must be positive and finite");
    problem.thermal = Some(thermal(1.0, 3));
    assert_eq!(message(&problem), "3 conditions for 4 patches");
}

/// T = x in a box at rest without gravity, and the heat that crosses it.
#[test]
fn a_temperature_at_rest_conducts_and_balances() {
    let (mesh, geometry) = box_mesh(Element::Triangle, 2, 6, 0.15);
    let backend = Backend::host(1).unwrap();
    let heat = |name: &str| match name {
        "xmin" => Condition::Dirichlet(value(0.0)),
        "xmax" => Condition::Dirichlet(value(1.0)),
        _ => Condition::ZeroGradient,
    };
    let still = FlowCondition::Velocity([value(0.0), value(0.0), value(0.0)]);
    let problem = Problem {
        viscosity: 0.1,
        source: nothing(),
        conditions: mesh.patches.iter().map(|_| still.clone()).collect(),
        velocity: nothing(),
        pressure: value(0.0),
        thermal: Some(ThermalProblem {
            diffusivity: 2.5,
            expansion: 1.0,
            gravity: [0.0; 3],
            reference: 0.0,
            source: value(0.0),
            conditions: mesh.patches.iter().map(|patch| heat(&patch.name)).collect(),
            initial: value(0.2),
        }),
    };
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
    (0..60).for_each(|_| drop(flow.step(0.1).unwrap()));
    let temperature = backend.read(flow.temperature().unwrap()).unwrap();
    for (c, t) in temperature.iter().enumerate() {
        assert!((t - geometry.cell_centre[c]).abs() < 1e-9, "{c}: {t}");
    }
    let patch = mesh.patches.iter().find(|patch| patch.name == "xmax").unwrap();
    let faces: Vec<u32> = patch.faces.clone().map(|f| f as u32).collect();
    let rows = flow.heat_through(&mesh, &geometry, &faces);
    let mut functionals = crate::finite_volume::Functionals::new(&backend, &rows);
    let heat: f64 =
        backend.read(flow.evaluate(Field::Temperature, &mut functionals)).unwrap().iter().sum();
    assert!((heat - 2.5).abs() < 1e-8, "{heat}");
}

/// A channel between two pressure outlets with backflow through one: it brings no momentum, and the
/// temperature of the cell.
#[test]
fn backflow_has_the_temperature_of_the_cell() {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 6, 0.0);
    let backend = Backend::host(1).unwrap();
    let condition = |name: &str| match name {
        "xmin" => FlowCondition::PressureOutlet(value(1.0)),
        "xmax" => FlowCondition::PressureOutlet(value(0.0)),
        _ => FlowCondition::Velocity([value(0.0), value(0.0), value(0.0)]),
    };
    let problem = Problem {
        viscosity: 0.1,
        source: nothing(),
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        velocity: nothing(),
        pressure: value(0.0),
        thermal: Some(ThermalProblem {
            diffusivity: 0.1,
            expansion: 0.0,
            gravity: [0.0; 3],
            reference: 0.0,
            source: value(0.0),
            conditions: vec![Condition::ZeroGradient; mesh.patches.len()],
            initial: value(300.0),
        }),
    };
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
    (0..10).for_each(|_| drop(flow.step(0.05).unwrap()));
    let speed = backend.read(flow.velocity(0)).unwrap();
    assert!(speed.iter().all(|u| *u > 0.05), "{speed:?}");
    for t in backend.read(flow.temperature().unwrap()).unwrap() {
        assert!((t - 300.0).abs() < 1e-6, "{t}");
    }
}
