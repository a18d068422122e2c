//! Valid flow cases and their parsed form.

use super::*;
use crate::finite_volume::BoundaryCondition;
use crate::incompressible::{
    Arrangement, Convection, FlowBoundaryCondition, PressureCorrection, TimeScheme,
};
use crate::linear::amg::Cycle;

/// The names that the sections of a case may use.
fn names(text: &str) -> names::Names {
    let file: CaseFile = toml::from_str(text).unwrap();
    file.equation().unwrap().names()
}

#[test]
fn defaults_of_a_small_flow() {
    let case = parse(FLOW).unwrap();
    let flow = flow(&case);
    assert_eq!(flow.numerics.arrangement, Arrangement::Collocated);
    assert_eq!((flow.kinematic_viscosity, flow.numerics.nonorthogonal_correctors), (0.01, 0));
    assert_eq!(flow.numerics.convection, Convection::LinearUpwind);
    assert_eq!(flow.numerics.pressure_correction, PressureCorrection::IncrementalRotational);
    let zeros = [0.0; 3].map(Value::Constant);
    assert_eq!((&flow.source, &flow.initial_velocity), (&zeros, &zeros));
    assert_eq!(flow.initial_pressure, Value::Constant(0.0));
    for solver in [&flow.pressure, &flow.momentum] {
        assert_eq!((solver.relative_tolerance, solver.max_iterations), (1e-6, 500));
        assert_eq!(solver.method, None);
    }
    assert_eq!(flow.thermal, None);
    let conditions: Vec<_> =
        flow.boundary.iter().map(|entry| entry.condition.condition().unwrap()).collect();
    let lid = [1.0, 0.0, 0.0].map(Value::Constant);
    assert_eq!(conditions[0], &FlowBoundaryCondition::Velocity(zeros));
    assert_eq!(conditions[1], &FlowBoundaryCondition::Slip);
    assert_eq!(conditions[3], &FlowBoundaryCondition::Velocity(lid));
    assert_eq!(flow.numerics.time_scheme, TimeScheme::Bdf2);
    assert!(!case.is_steady() && case.warnings.is_empty());
    assert_eq!(case.output.fields, ["velocity", "pressure"]);
    let group = case.output.patches[0].flow.as_ref().unwrap();
    assert!(!group.has_reference);
    assert_eq!((group.velocity, group.pressure), (1.0, 0.0));
    assert_eq!((group.drag_direction, group.lift_direction), ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]));
    let quantities = names(FLOW).patch_quantities(case.output.patches[0].flow.as_ref());
    assert_eq!((quantities[0], quantities.last()), ("area", Some(&"viscous_force_z")));
}

#[test]
fn every_condition_of_flow_in_both_spellings() {
    let text = FLOW.replace(
        "xmin = \"no_slip\"\nxmax = \"slip\"\nymin = \"no_slip\"\nymax.moving_wall = [1.0, 0.0]\n",
        "a.no_slip = true\nb = { slip = true }\nc = \"symmetry\"\nd.symmetry = true\n\
         e = \"convective_outlet\"\nf.convective_outlet = true\n\
         g.velocity_inlet = [\"y*(1 - y)*sin(t)\", 0, 2]\nh.pressure_outlet = \"-y\"\ni.opening = 3\n\
         j.periodic = \"k l\"\n\"k l\".periodic = \"j\"\n[boundary.m]\nmoving_wall = [0, 1]\n",
    );
    let case = parse(&text).unwrap();
    let boundary = &flow(&case).boundary;
    let condition = |patch: &str| {
        boundary.iter().find(|entry| entry.patch == patch).map(|entry| &entry.condition).unwrap()
    };
    let of_patch = |patch: &str| condition(patch).condition().unwrap();
    let constant =
        |velocity: [f64; 3]| FlowBoundaryCondition::Velocity(velocity.map(Value::Constant));
    assert_eq!(of_patch("a"), &constant([0.0; 3]));
    assert_eq!(of_patch("b"), &FlowBoundaryCondition::Slip);
    for patch in ["c", "d"] {
        assert_eq!(of_patch(patch), &FlowBoundaryCondition::Slip);
    }
    for patch in ["e", "f"] {
        assert_eq!(of_patch(patch), &FlowBoundaryCondition::ConvectiveOutlet);
    }
    let FlowBoundaryCondition::Velocity([u, v, w]) = of_patch("g") else { panic!() };
    assert_eq!((v, w), (&Value::Constant(0.0), &Value::Constant(2.0)));
    assert!(u.depends_on_time());
    assert!((u.at(&[0.0, 0.5, 0.0], std::f64::consts::FRAC_PI_2) - 0.25).abs() < 1e-15);
    let FlowBoundaryCondition::PressureOutlet(pressure) = of_patch("h") else { panic!() };
    assert_eq!(pressure.at(&[0.0, 2.0, 0.0], 0.0), -2.0);
    assert_eq!(of_patch("i"), &FlowBoundaryCondition::Opening(Value::Constant(3.0)));
    assert_eq!(condition("j"), &FlowBoundary::Periodic("k l".to_owned()));
    assert_eq!(condition("k l"), &FlowBoundary::Periodic("j".to_owned()));
    assert_eq!(of_patch("m"), &constant([0.0, 1.0, 0.0]));
}

#[test]
fn a_component_of_an_inlet_may_be_a_table() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pulse.csv"), "t,value\n0,1\n2,3\n").unwrap();
    let wall = "ymax.moving_wall = [1.0, 0.0]";
    let text = FLOW.replace(wall, "ymax.velocity_inlet = [0.0, { table = \"pulse.csv\" }]");
    let path = folder.path().join("flow.toml");
    std::fs::write(&path, text).unwrap();
    let case = Case::read(&path).unwrap();
    let FlowBoundaryCondition::Velocity([_, v, _]) =
        flow(&case).boundary[3].condition.condition().unwrap()
    else {
        panic!()
    };
    assert_eq!(v.at(&[], 1.0), 2.0);
}

#[test]
fn a_table_joins_flow_and_heat() {
    let case = parse(THERMAL).unwrap();
    let flow = flow(&case);
    let thermal = flow.thermal.as_ref().unwrap();
    assert_eq!((thermal.diffusivity, thermal.expansion), (0.02, 0.1));
    assert_eq!((thermal.gravity, thermal.reference_temperature), ([0.0, -9.81, 0.0], 300.0));
    assert_eq!(thermal.source.at(&[2.0, 0.0, 0.0], 3.0), 6.0);
    assert_eq!(thermal.initial_temperature.at(&[1.0, 0.0, 0.0], 0.0), 301.0);
    let zeros = [0.0; 3].map(Value::Constant);
    assert_eq!(
        flow.boundary[0].condition.condition().unwrap(),
        &FlowBoundaryCondition::Velocity(zeros)
    );
    let heat: Vec<_> = thermal.boundary.iter().map(|entry| &entry.condition).collect();
    assert_eq!(heat[0], &BoundaryCondition::Dirichlet(Value::Constant(310.0)));
    assert_eq!(heat[1], &BoundaryCondition::Neumann(Value::Constant(-1.0)));
    assert_eq!(heat[2], &BoundaryCondition::ZeroGradient);
    assert_eq!(heat[3], &BoundaryCondition::ZeroGradient);
    let patches: Vec<_> = thermal.boundary.iter().map(|entry| entry.patch.as_str()).collect();
    assert_eq!(patches, ["xmin", "xmax", "ymin", "ymax"]);
    assert_eq!(case.output.fields, ["velocity", "pressure", "temperature"]);
    let group = &case.output.patches[0];
    let quantities = names(THERMAL).patch_quantities(group.flow.as_ref());
    assert!(quantities.ends_with(&["strouhal", "heat_flux", "nusselt"]), "{quantities:?}");
    let reference = group.flow.as_ref().unwrap();
    assert!(reference.has_reference);
    assert_eq!((reference.length, reference.temperature_difference), (0.5, 20.0));
    assert_eq!((reference.area, reference.density), (1.0, 1.0));
}

/// Every key of a flow in one file.
#[test]
fn the_full_example_of_a_flow() {
    let text = r#"
title = "Channel"

[mesh.generate.cylinder_in_channel]
length = 2.2
height = 0.41
centre = [0.2, 0.2]
diameter = 0.1
cells_around = 64
cells_radial = 16
cells_wake = 80

[incompressible]
scheme = "staggered"
kinematic_viscosity = 1e-3
convection = "cubic"
pressure_correction = "none"
source = [0.0, "sin(t)", "x"]
nonorthogonal_correctors = 2

[incompressible.pressure]
method = "cg"
preconditioner = "amg"
relative_tolerance = 1e-9

[incompressible.pressure.amg]
cycle = "w"

[incompressible.momentum]
method = "bicgstab"
max_iterations = 50

[initial]
velocity = ["y", 1.0]
pressure = "-x"

[boundary]
inlet.velocity_inlet = ["4*0.3*y*(0.41-y)/0.41^2", 0.0, 0.0]
outlet = "convective_outlet"
top = "no_slip"
bottom = "no_slip"
cylinder = "no_slip"

[time]
method = "ab2_cn"
cfl = 0.5
end = 10.0
steady_tolerance = 1e-7

[output]
fields = ["velocity", "pressure", "vorticity", "q_criterion", "streamfunction"]
picture = { field = "vorticity" }

[[output.probe]]
name = "wake"
at = [0.5, 0.2]

[[output.patch]]
name = "cylinder"
patches = ["cylinder"]
reference = { velocity = 0.2, area = 0.1, length = 0.1, density = 1.0, pressure = 2.0 }
drag_direction = [3.0, 4.0]
lift_direction = [0.0, 0.0, -2e200]

[[output.recirculation]]
name = "wake"
from = [0.25, 0.2]
to = [2.2, 0.2]

[[output.recirculation]]
name = "near"
from = [0.25, 0.2]
to = [1.0, 0.2]
points = 11

[checkpoint]
every = 1.0

[exact]
velocity = ["y*t", 0.0]
pressure = "-x*t"
vorticity = "-t"

[expected]
"probe.wake.velocity_z" = { value = 0.0, absolute = 1e-12 }
"probe.wake.pressure" = { value = 0.0, absolute = 1.0 }
"patch.cylinder.drag_coefficient" = { value = 5.58, relative = 1e-2 }
"patch.cylinder.viscous_force_x" = { value = 5.58, relative = 1e-2 }
"recirculation.near.reattachment" = { value = 0.085, relative = 1e-2 }
"fields.velocity_x.max" = { value = 0.3, relative = 1e-2 }
"errors.velocity.l2" = { value = 0.0, absolute = 1e-2 }
"errors.velocity_y.linf" = { value = 0.0, absolute = 1e-2 }
"errors.pressure.l1" = { value = 0.0, absolute = 1e-2 }
"errors.vorticity.l2" = { value = 0.0, absolute = 1e-2 }
"flow.kinetic_energy" = { value = 0.0, absolute = 1e-2 }
"flow.divergence_max" = { value = 0.0, absolute = 1e-2 }
"flow.courant" = { value = 0.5, absolute = 1e-2 }
"linear.iterations" = { value = 5, absolute = 5 }
"#;
    let case = parse(text).unwrap();
    let flow = flow(&case);
    assert_eq!(flow.numerics.arrangement, Arrangement::Staggered);
    assert_eq!(flow.numerics.convection, Convection::Cubic);
    assert_eq!(flow.numerics.pressure_correction, PressureCorrection::None);
    assert_eq!(flow.numerics.nonorthogonal_correctors, 2);
    assert_eq!(flow.source[2].at(&[7.0, 0.0, 0.0], 0.0), 7.0);
    assert_eq!(flow.initial_velocity[0].at(&[0.0, 5.0, 0.0], 0.0), 5.0);
    assert_eq!(flow.initial_velocity[2], Value::Constant(0.0));
    assert_eq!(flow.pressure.relative_tolerance, 1e-9);
    let mut preconditioner = flow.pressure.preconditioner;
    assert_eq!(preconditioner.amg_mut().unwrap().cycling.cycle, Cycle::W);
    assert_eq!((flow.momentum.max_iterations, flow.momentum.relative_tolerance), (50, 1e-6));
    let time = case.time.as_ref().unwrap();
    assert_eq!(flow.numerics.time_scheme, TimeScheme::Ab2Cn);
    assert_eq!((time.step, time.steady_tolerance), (TimeStep::Cfl(0.5), Some(1e-7)));
    assert_eq!(case.output.picture.as_ref().unwrap().field, "vorticity");
    let reference = case.output.patches[0].flow.as_ref().unwrap();
    assert_eq!((reference.velocity, reference.pressure), (0.2, 2.0));
    let [x, y, z] = reference.drag_direction;
    assert!((x - 0.6).abs() < 1e-15 && (y - 0.8).abs() < 1e-15 && z == 0.0);
    assert_eq!(reference.lift_direction, [0.0, 0.0, -1.0]);
    let points: Vec<_> = case.output.recirculations.iter().map(|line| line.points).collect();
    assert_eq!(points, [1001, 11]);
    assert_eq!(case.output.recirculations[0].to, [2.2, 0.2, 0.0]);
    let exact: Vec<_> = case.exact.iter().map(|exact| exact.field.as_str()).collect();
    assert_eq!(exact, ["velocity_x", "velocity_y", "velocity_z", "pressure", "vorticity"]);
    assert_eq!(case.exact[0].value.at(&[0.0, 2.0, 0.0], 3.0), 6.0);
    assert_eq!(case.expected.len(), 14);
    assert_eq!(case.run.checkpoint, Some(CheckpointCase { every: 1.0 }));
}

#[test]
fn settings_of_a_flow_without_effect() {
    let text = FLOW.replace("[boundary]", "[incompressible.momentum]\npreconditioner = \"jacobi\"\n[incompressible.momentum.amg]\n[boundary]")
        + "drag_direction = [1.0, 0.0]\n";
    let case = parse(&text).unwrap();
    let warnings: Vec<String> = case.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n\n"), @r#"
    folder/bar.toml:8:1: [incompressible.momentum.amg] has no effect: the preconditioner is "jacobi"
      |
    8 | [incompressible.momentum.amg]
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    folder/bar.toml:24:18: `drag_direction` has no effect without `reference`
       |
    24 | drag_direction = [1.0, 0.0]
       |                  ^^^^^^^^^^
    "#);
}
