//! Inlets of prescribed flow rate or total pressure, and mean velocities: accepted values and messages.

use super::*;
use crate::incompressible::FlowBoundaryCondition;

const INLET: &str = "xmin = \"no_slip\"";

/// The condition of the first patch of a flow.
fn condition(text: &str) -> FlowBoundaryCondition<Value> {
    let case = parse(text).unwrap();
    flow(&case).boundary[0].condition.condition().unwrap().clone()
}

#[test]
fn a_flow_rate_is_a_number_an_expression_of_time_or_a_table() {
    for (value, at_1) in [("0.25", 0.25), ("-2", -2.0), ("\"3*t\"", 3.0)] {
        let text = FLOW.replace(INLET, &format!("xmin.flow_rate_inlet = {value}"));
        let FlowBoundaryCondition::FlowRateInlet(value) = condition(&text) else { panic!() };
        assert_eq!(value.at(&[0.0; 3], 1.0), at_1);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rate.csv"), "t,value\n0,1\n2,3\n").unwrap();
    let text = FLOW.replace(INLET, "xmin.flow_rate_inlet = { table = \"rate.csv\" }");
    let path = folder.path().join("flow.toml");
    std::fs::write(&path, text).unwrap();
    let case = Case::read(&path).unwrap();
    let Some(FlowBoundaryCondition::FlowRateInlet(value)) =
        flow(&case).boundary[0].condition.condition()
    else {
        panic!()
    };
    assert_eq!(value.at(&[], 1.0), 2.0);
}

#[test]
fn a_flow_rate_that_depends_on_place_or_is_no_number() {
    let change = |to: &str| failure(FLOW, INLET, to);
    insta::assert_snapshot!(change("xmin.flow_rate_inlet = \"2*t + y\""), @r#"
    folder/bar.toml:7:24: `flow_rate_inlet` may depend on t, but not on x, y and z
      |
    7 | xmin.flow_rate_inlet = "2*t + y"
      |                        ^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("xmin.flow_rate_inlet = inf"), @"
    folder/bar.toml:7:24: `flow_rate_inlet` must be finite, not inf
      |
    7 | xmin.flow_rate_inlet = inf
      |                        ^^^
    ");
    insta::assert_snapshot!(change("xmin.flow_rate_inlet = [1, 0]"), @r#"
    folder/bar.toml:7:24: expected a number, an expression in quotes or { table = "file.csv" }, found a list
      |
    7 | xmin.flow_rate_inlet = [1, 0]
      |                        ^^^^^^
    "#);
    insta::assert_snapshot!(change("xmin = \"flow_rate_inlet\""), @"
    folder/bar.toml:7:8: `flow_rate_inlet` needs a value: { flow_rate_inlet = flow rate }
      |
    7 | xmin = \"flow_rate_inlet\"
      |        ^^^^^^^^^^^^^^^^^
    ");
    let steady = FLOW.replace("[time]\nstep = 0.1\nend = 1.0\n", "");
    insta::assert_snapshot!(failure(&steady, INLET, "xmin.flow_rate_inlet = \"t\""), @r#"
    folder/bar.toml:7:24: `flow_rate_inlet` depends on time and this case has no [time]
      |
    7 | xmin.flow_rate_inlet = "t"
      |                        ^^^
    "#);
    let inlet = FLOW.replace(INLET, "xmin.flow_rate_inlet = 1.0");
    let moment = "patches = [\"xmin\"]\nmoment_centre = [0, 0]";
    insta::assert_snapshot!(failure(&inlet, "patches = [\"ymax\"]", moment), @r#"
    folder/bar.toml:20:12: patch "xmin" has a velocity that depends on its shape
       |
    20 | patches = ["xmin"]
       |            ^^^^^^
       = `moment_centre` is for walls at rest or in uniform motion
    "#);
    let surface =
        "[[output.surface]]\nname = \"in\"\npatches = [\"xmin\"]\nfields = [\"y_plus\"]\n";
    assert!(parse(&(inlet + surface)).is_ok());
}

#[test]
fn a_total_pressure_is_a_value_of_place_and_time() {
    for (value, at_1) in [("0.25", 0.25), ("\"y - 3*t\"", -1.0)] {
        let text = FLOW.replace(INLET, &format!("xmin.total_pressure_inlet = {value}"));
        let condition = condition(&text);
        assert!(condition.prescribes_pressure() && !condition.prescribes_velocity());
        let FlowBoundaryCondition::TotalPressureInlet(value) = condition else { panic!() };
        assert_eq!(value.at(&[0.0, 2.0, 0.0], 1.0), at_1);
    }
    let change = |to: &str| failure(FLOW, INLET, to);
    insta::assert_snapshot!(change("xmin.total_pressure_inlet = nan"), @"
    folder/bar.toml:7:29: `total_pressure_inlet` must be finite, not NaN
      |
    7 | xmin.total_pressure_inlet = nan
      |                             ^^^
    ");
    insta::assert_snapshot!(change("xmin = { total_pressure_inlet = 1, opening = 1 }"), @r#"
    folder/bar.toml:7:46: patch "xmin" has two conditions for flow, `total_pressure_inlet` and `opening`
      |
    7 | xmin = { total_pressure_inlet = 1, opening = 1 }
      |                                              ^
    "#);
}

#[test]
fn an_outlet_with_a_loss_has_a_pressure_and_a_coefficient() {
    let with = |table: &str| FLOW.replace(INLET, &format!("xmin.pressure_loss_outlet = {table}"));
    let condition = condition(&with("{ pressure = \"y\", coefficient = 2 }"));
    let FlowBoundaryCondition::PressureLossOutlet([pressure, k]) = condition else { panic!() };
    assert_eq!([pressure.at(&[0.0, 3.0, 0.0], 0.0), k.at(&[0.0; 3], 0.0)], [3.0, 2.0]);
    let change = |to: &str| failure(FLOW, INLET, &format!("xmin.pressure_loss_outlet = {to}"));
    insta::assert_snapshot!(change("{ pressure = 0, coefficient = -1 }"), @"
    folder/bar.toml:7:59: `coefficient` must not be negative, not -1
      |
    7 | xmin.pressure_loss_outlet = { pressure = 0, coefficient = -1 }
      |                                                           ^^
    ");
    insta::assert_snapshot!(change("{ pressure = 0 }"), @"
    folder/bar.toml:7:29: `coefficient` is missing
      |
    7 | xmin.pressure_loss_outlet = { pressure = 0 }
      |                             ^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(change("0.5"), @"
    folder/bar.toml:7:29: expected a table, found number `0.5`
      |
    7 | xmin.pressure_loss_outlet = 0.5
      |                             ^^^
    ");
}

const PERIODIC: &str = "xmin.periodic = \"xmax\"\nxmax.periodic = \"xmin\"";
const VISCOSITY: &str = "kinematic_viscosity = 0.01";

#[test]
fn a_mean_velocity_needs_periodic_patches_and_numbers() {
    let channel = FLOW.replace("xmin = \"no_slip\"\nxmax = \"slip\"", PERIODIC);
    let with = |line: &str| format!("{VISCOSITY}\n{line}");
    let case = parse(&channel.replace(VISCOSITY, &with("mean_velocity = [1, 0.5]"))).unwrap();
    assert_eq!(flow(&case).mean_velocity, Some([1.0, 0.5, 0.0]));
    assert_eq!(flow(&parse(&channel).unwrap()).mean_velocity, None);
    insta::assert_snapshot!(failure(FLOW, VISCOSITY, &with("mean_velocity = [1, 0]")), @"
    folder/bar.toml:6:17: `mean_velocity` needs periodic patches, through which the flow returns
      |
    6 | mean_velocity = [1, 0]
      |                 ^^^^^^
    ");
    insta::assert_snapshot!(failure(&channel, VISCOSITY, &with("mean_velocity = [1]")), @"
    folder/bar.toml:6:17: `mean_velocity` takes 2 or 3 numbers, 1 given
      |
    6 | mean_velocity = [1]
      |                 ^^^
    ");
    insta::assert_snapshot!(failure(&channel, VISCOSITY, &with("mean_velocity = [1, inf]")), @"
    folder/bar.toml:6:17: `mean_velocity` must be finite, not inf
      |
    6 | mean_velocity = [1, inf]
      |                 ^^^^^^^^
    ");
    insta::assert_snapshot!(failure(&channel, VISCOSITY, &with("mean_velocity = [\"t\", 0]")), @r#"
    folder/bar.toml:6:18: expected a number, found string "t"
      |
    6 | mean_velocity = ["t", 0]
      |                  ^^^
    "#);
    let expected = "[expected]\n\"flow.mean_force_x\" = { value = 1, absolute = 1 }\n";
    insta::assert_snapshot!(failure(&channel, "[output]", &format!("{expected}[output]")), @r#"
    folder/bar.toml:15:1: `flow.mean_force_x` needs `mean_velocity` in [incompressible]
       |
    15 | "flow.mean_force_x" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^
    "#);
    let whole = channel.replace(VISCOSITY, &with("mean_velocity = [1, 0]"));
    assert!(parse(&whole.replace("[output]", &format!("{expected}[output]"))).is_ok());
}
