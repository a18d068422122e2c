//! Messages about flow cases.

use super::*;

#[test]
fn the_equation_of_flow() {
    insta::assert_snapshot!(failure(FLOW, "kinematic_viscosity = 0.01", ""), @"
    folder/bar.toml:4:1: `kinematic_viscosity` is missing
      |
    4 | [incompressible]
      | ^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(FLOW, "kinematic_viscosity = 0.01", "kinematic_viscosity = 0"), @r#"
    folder/bar.toml:5:23: `kinematic_viscosity` must be positive, not 0
      |
    5 | kinematic_viscosity = 0
      |                       ^
      = an inviscid flow needs `method = "rk3"` in [time]
    "#);
    assert!(
        parse(
            &FLOW
                .replace("kinematic_viscosity = 0.01", "kinematic_viscosity = 0")
                .replace("[time]", "[time]\nmethod = \"rk3\"")
        )
        .is_ok()
    );
    insta::assert_snapshot!(failure(FLOW, "kinematic_viscosity = 0.01", "kinematic_viscosity = \"1 + x\""), @r#"
    folder/bar.toml:5:23: expected a number, found string "1 + x"
      |
    5 | kinematic_viscosity = "1 + x"
      |                       ^^^^^^^
    "#);
    let add = |line: &str| {
        failure(FLOW, "kinematic_viscosity = 0.01", &format!("kinematic_viscosity = 0.01\n{line}"))
    };
    insta::assert_snapshot!(add("scheme = \"colocated\""), @r#"
    folder/bar.toml:6:10: unknown value `colocated`
      |
    6 | scheme = "colocated"
      |          ^^^^^^^^^^^
      = did you mean `collocated`?
      = valid values: collocated, staggered, exact_fractional_step
    "#);
    insta::assert_snapshot!(add("convection = \"quick\""), @r#"
    folder/bar.toml:6:14: unknown value `quick`
      |
    6 | convection = "quick"
      |              ^^^^^^^
      = valid values: linear_upwind, central, cubic, upwind, limited_linear
    "#);
    insta::assert_snapshot!(add("pressure_correction = \"rotational\""), @r#"
    folder/bar.toml:6:23: unknown value `rotational`
      |
    6 | pressure_correction = "rotational"
      |                       ^^^^^^^^^^^^
      = valid values: none, incremental, incremental_rotational
    "#);
    insta::assert_snapshot!(add("source = [1.0]"), @"
    folder/bar.toml:6:10: `source` takes 2 or 3 components, 1 given
      |
    6 | source = [1.0]
      |          ^^^^^
    ");
    insta::assert_snapshot!(add("source = [0.0, \"sni(x)\"]"), @r#"
    folder/bar.toml:6:17: in an expression: unknown name `sni` (did you mean `sin`?)
      |
    6 | source = [0.0, "sni(x)"]
      |                 ^^^
      = valid names: x, y, z, t, pi, if, sin, cos, tan, exp, log, sqrt, abs, min, max, tanh, floor
    "#);
    insta::assert_snapshot!(add("source = 1.0"), @"
    folder/bar.toml:6:10: expected a list, found number `1.0`
      |
    6 | source = 1.0
      |          ^^^
    ");
    insta::assert_snapshot!(add("nonorthogonal_correctors = -1"), @"
    folder/bar.toml:6:28: expected a whole number, 0 or more, found integer `-1`
      |
    6 | nonorthogonal_correctors = -1
      |                            ^^
    ");
    insta::assert_snapshot!(add("thermal = { expansion = 1.0 }"), @"
    folder/bar.toml:6:11: `diffusivity` is missing
      |
    6 | thermal = { expansion = 1.0 }
      |           ^^^^^^^^^^^^^^^^^^^

    folder/bar.toml:12:1: an unsteady run needs an initial temperature
       |
    12 | [time]
       | ^^^^^^
       = add to [initial]: temperature = 300.0
    ");
    insta::assert_snapshot!(add("thermal = { diffusivity = -1.0 }"), @"
    folder/bar.toml:6:27: `diffusivity` must be positive, not -1
      |
    6 | thermal = { diffusivity = -1.0 }
      |                           ^^^^

    folder/bar.toml:12:1: an unsteady run needs an initial temperature
       |
    12 | [time]
       | ^^^^^^
       = add to [initial]: temperature = 300.0
    ");
    insta::assert_snapshot!(add("thermal = { diffusivity = 1.0, gravity = [0.0] }"), @"
    folder/bar.toml:6:42: `gravity` takes 2 or 3 numbers, 1 given
      |
    6 | thermal = { diffusivity = 1.0, gravity = [0.0] }
      |                                          ^^^^^

    folder/bar.toml:12:1: an unsteady run needs an initial temperature
       |
    12 | [time]
       | ^^^^^^
       = add to [initial]: temperature = 300.0
    ");
    insta::assert_snapshot!(add("pressure.relative_tolerance = 2.0"), @"
    folder/bar.toml:6:31: `relative_tolerance` must be below 1, not 2
      |
    6 | pressure.relative_tolerance = 2.0
      |                               ^^^
    ");
    insta::assert_snapshot!(add("[linear_solver]\nmethod = \"cg\""), @"
    folder/bar.toml:6:1: [linear_solver] is for heat: a flow has two linear solvers
      |
    6 | [linear_solver]
      | ^^^^^^^^^^^^^^^
      = use [incompressible.pressure] and [incompressible.momentum], with the same keys
    ");
}

#[test]
fn the_start_of_a_flow() {
    let add = |line: &str| failure(FLOW, "[boundary]", &format!("[initial]\n{line}\n[boundary]"));
    insta::assert_snapshot!(add("velocity = [0.0]"), @"
    folder/bar.toml:7:12: `velocity` takes 2 or 3 components, 1 given
      |
    7 | velocity = [0.0]
      |            ^^^^^
    ");
    insta::assert_snapshot!(add("velocity = [\"t\", 0.0]"), @r#"
    folder/bar.toml:7:13: `velocity` may depend on x, y and z, but not on t
      |
    7 | velocity = ["t", 0.0]
      |             ^^^
    "#);
    insta::assert_snapshot!(add("pressure = nan"), @"
    folder/bar.toml:7:12: `pressure` must be finite, not NaN
      |
    7 | pressure = nan
      |            ^^^
    ");
    insta::assert_snapshot!(add("temperature = 300.0"), @"
    folder/bar.toml:7:15: `temperature` needs [incompressible.thermal]: this flow has no temperature
      |
    7 | temperature = 300.0
      |               ^^^^^
    ");
    insta::assert_snapshot!(add("density = 1.0"), @"
    folder/bar.toml:7:11: `density` belongs to a compressible flow case, this one is of flow
      |
    7 | density = 1.0
      |           ^^^
    ");
    insta::assert_snapshot!(failure(THERMAL, "temperature = \"300 + x\"", ""), @"
    folder/bar.toml:12:1: an unsteady run needs an initial temperature
       |
    12 | [initial]
       | ^^^^^^^^^
       = add to [initial]: temperature = 300.0
    ");
    insta::assert_snapshot!(failure(THERMAL, "[initial]\ntemperature = \"300 + x\"\n", ""), @"
    folder/bar.toml:17:1: an unsteady run needs an initial temperature
       |
    17 | [time]
       | ^^^^^^
       = add to [initial]: temperature = 300.0
    ");
}

#[test]
fn the_time_of_a_flow() {
    let text =
        FLOW.replace("ymax.moving_wall = [1.0, 0.0]", "ymax.moving_wall = [\"sin(t)\", 0.0]");
    let error = failure(&text, "[time]\nstep = 0.1\nend = 1.0\n[output]", "[output]\nevery = 1.0");
    assert!(error.contains("`moving_wall` depends on time and this case has no [time]"), "{error}");
    assert!(error.contains("`every` counts time and this case has no [time]"), "{error}");
    let method = |word: &str| failure(FLOW, "step =", &format!("method = \"{word}\"\nstep ="));
    insta::assert_snapshot!(method("crank_nicolson"), @r#"
    folder/bar.toml:12:10: `crank_nicolson` is a method for heat, not for flow
       |
    12 | method = "crank_nicolson"
       |          ^^^^^^^^^^^^^^^^
       = valid values: ab2_cn, bdf2, rk3
    "#);
    insta::assert_snapshot!(method("rk4"), @r#"
    folder/bar.toml:12:10: `rk4` is a method for compressible flow, not for flow
       |
    12 | method = "rk4"
       |          ^^^^^
       = did you mean `rk3`?
       = valid values: ab2_cn, bdf2, rk3
    "#);
    insta::assert_snapshot!(failure(UNSTEADY, "step =", "method = \"ab2_cn\"\nstep ="), @r#"
    folder/bar.toml:10:10: `ab2_cn` is a method for flow, not for heat
       |
    10 | method = "ab2_cn"
       |          ^^^^^^^^
       = valid values: backward_euler, crank_nicolson, bdf2
    "#);
    insta::assert_snapshot!(failure(FLOW, "step =", "method = 2\nstep ="), @"
    folder/bar.toml:12:10: expected a string in quotes, found integer `2`
       |
    12 | method = 2
       |          ^
    ");
}

#[test]
fn conditions_of_flow() {
    let change = |to| failure(FLOW, "xmax = \"slip\"", to);
    insta::assert_snapshot!(change("xmax = \"slip_wall\""), @r#"
    folder/bar.toml:8:8: unknown kind of boundary `slip_wall`
      |
    8 | xmax = "slip_wall"
      |        ^^^^^^^^^^^
      = valid kinds: no_slip, slip, symmetry, convective_outlet
      = with a value: { moving_wall = [u, v, w] }, { velocity_inlet = [u, v, w] }, { flow_rate_inlet = flow rate }, { total_pressure_inlet = total pressure }, { pressure_outlet = pressure }, { pressure_loss_outlet = { pressure, coefficient } }, { opening = pressure }, { periodic = "other patch" }
    "#);
    insta::assert_snapshot!(change("xmax = \"moving_wall\""), @r#"
    folder/bar.toml:8:8: `moving_wall` needs a value: { moving_wall = [u, v, w] }
      |
    8 | xmax = "moving_wall"
      |        ^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("xmax = \"insulated\""), @r#"
    folder/bar.toml:8:8: `insulated` is a thermal condition, not one for flow
      |
    8 | xmax = "insulated"
      |        ^^^^^^^^^^^
      = valid kinds: no_slip, slip, symmetry, convective_outlet
      = with a value: { moving_wall = [u, v, w] }, { velocity_inlet = [u, v, w] }, { flow_rate_inlet = flow rate }, { total_pressure_inlet = total pressure }, { pressure_outlet = pressure }, { pressure_loss_outlet = { pressure, coefficient } }, { opening = pressure }, { periodic = "other patch" }
    "#);
    insta::assert_snapshot!(change("xmax = {}"), @r#"
    folder/bar.toml:8:1: patch "xmax" has no condition
      |
    8 | xmax = {}
      | ^^^^
      = valid kinds: no_slip, slip, symmetry, convective_outlet
      = with a value: { moving_wall = [u, v, w] }, { velocity_inlet = [u, v, w] }, { flow_rate_inlet = flow rate }, { total_pressure_inlet = total pressure }, { pressure_outlet = pressure }, { pressure_loss_outlet = { pressure, coefficient } }, { opening = pressure }, { periodic = "other patch" }
    "#);
    insta::assert_snapshot!(change("xmax.no_slip = false"), @"
    folder/bar.toml:8:16: `no_slip = false` is no condition: leave it out
      |
    8 | xmax.no_slip = false
      |                ^^^^^
    ");
    insta::assert_snapshot!(change("xmax = { no_slip = true, pressure_outlet = 0 }"), @r#"
    folder/bar.toml:8:44: patch "xmax" has two conditions for flow, `no_slip` and `pressure_outlet`
      |
    8 | xmax = { no_slip = true, pressure_outlet = 0 }
      |                                            ^
    "#);
    insta::assert_snapshot!(change("xmax = { symmetry = true, slip = true }"), @r#"
    folder/bar.toml:8:21: patch "xmax" has two conditions for flow, `slip` and `symmetry`
      |
    8 | xmax = { symmetry = true, slip = true }
      |                     ^^^^
    "#);
    insta::assert_snapshot!(change("xmax.moving_wall = [1.0]"), @"
    folder/bar.toml:8:20: `moving_wall` takes 2 or 3 components, 1 given
      |
    8 | xmax.moving_wall = [1.0]
      |                    ^^^^^
    ");
    insta::assert_snapshot!(change("xmax.moving_wall = 1.0"), @"
    folder/bar.toml:8:20: expected a list, found number `1.0`
      |
    8 | xmax.moving_wall = 1.0
      |                    ^^^
    ");
    insta::assert_snapshot!(change("xmax.velocity_inlet = [\"1 + q\", 0]"), @r#"
    folder/bar.toml:8:29: in an expression: unknown name `q`
      |
    8 | xmax.velocity_inlet = ["1 + q", 0]
      |                             ^
      = valid names: x, y, z, t, pi, if, sin, cos, tan, exp, log, sqrt, abs, min, max, tanh, floor
    "#);
    insta::assert_snapshot!(change("xmax.velocity_inlet = [0, inf]"), @"
    folder/bar.toml:8:27: `velocity_inlet` must be finite, not inf
      |
    8 | xmax.velocity_inlet = [0, inf]
      |                           ^^^
    ");
    insta::assert_snapshot!(change("xmax.pressure_outlet = nan"), @"
    folder/bar.toml:8:24: `pressure_outlet` must be finite, not NaN
      |
    8 | xmax.pressure_outlet = nan
      |                        ^^^
    ");
    insta::assert_snapshot!(change("xmax.opening = [0, 1]"), @r#"
    folder/bar.toml:8:16: expected a number, an expression in quotes or { table = "file.csv" }, found a list
      |
    8 | xmax.opening = [0, 1]
      |                ^^^^^^
    "#);
    insta::assert_snapshot!(change("xmax = { no_slip = true, temperature = 1 }"), @"
    folder/bar.toml:8:40: `temperature` needs [incompressible.thermal]: this flow has no temperature
      |
    8 | xmax = { no_slip = true, temperature = 1 }
      |                                        ^
    ");
    let several = change("xmax = \"slop\"\nzmin = \"none\"");
    assert_eq!(several.matches("unknown kind of boundary").count(), 2, "{several}");
}

#[test]
fn conditions_of_heat_in_a_flow_and_of_flow_in_heat() {
    let change = |to| failure(THERMAL, "ymin = \"slip\"", to);
    insta::assert_snapshot!(change("ymin.temperature = 1.0"), @r#"
    folder/bar.toml:17:1: patch "ymin" has no condition for flow
       |
    17 | ymin.temperature = 1.0
       | ^^^^
       = valid kinds: no_slip, slip, symmetry, convective_outlet
       = with a value: { moving_wall = [u, v, w] }, { velocity_inlet = [u, v, w] }, { flow_rate_inlet = flow rate }, { total_pressure_inlet = total pressure }, { pressure_outlet = pressure }, { pressure_loss_outlet = { pressure, coefficient } }, { opening = pressure }, { periodic = "other patch" }
       = a table joins a condition for flow and a thermal one: { no_slip = true, temperature = 1.0 }
    "#);
    insta::assert_snapshot!(change("ymin = \"insulated\""), @r#"
    folder/bar.toml:17:8: `insulated` is a thermal condition, not one for flow
       |
    17 | ymin = "insulated"
       |        ^^^^^^^^^^^
       = valid kinds: no_slip, slip, symmetry, convective_outlet
       = a table joins a condition for flow and a thermal one: { no_slip = true, temperature = 1.0 }
    "#);
    insta::assert_snapshot!(
        change("ymin = { slip = true, temperature = 1, insulated = true }"), @r#"
    folder/bar.toml:17:52: patch "ymin" has two thermal conditions, `temperature` and `insulated`
       |
    17 | ymin = { slip = true, temperature = 1, insulated = true }
       |                                                    ^^^^
    "#);
    insta::assert_snapshot!(change("ymin = { symmetry = true, temperature = 1 }"), @"
    folder/bar.toml:17:41: `temperature` has no place on a plane of symmetry: leave it out
       |
    17 | ymin = { symmetry = true, temperature = 1 }
       |                                         ^
    ");
    insta::assert_snapshot!(change("ymin = { slip = true, insulated = false }"), @"
    folder/bar.toml:17:35: `insulated = false` is no condition: leave it out
       |
    17 | ymin = { slip = true, insulated = false }
       |                                   ^^^^^
    ");
    insta::assert_snapshot!(change("ymin = { slip = true, convection = { ambient = 1 } }"), @"
    folder/bar.toml:17:36: `coefficient` is missing
       |
    17 | ymin = { slip = true, convection = { ambient = 1 } }
       |                                    ^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(
        change("ymin = { periodic = \"b\", heat_flux = 1 }\nb.periodic = \"ymin\""), @r#"
    folder/bar.toml:17:38: `heat_flux` has no place on a periodic patch: leave it out
       |
    17 | ymin = { periodic = "b", heat_flux = 1 }
       |                                      ^
    "#);
    insta::assert_snapshot!(failure(STEADY, "xmax = \"insulated\"", "xmax.moving_wall = [1, 0]"), @"
    folder/bar.toml:9:20: `moving_wall` is a condition for flow, not for heat
      |
    9 | xmax.moving_wall = [1, 0]
      |                    ^^^^^^
      = valid kinds: insulated, symmetry
      = with a value: { temperature = … }, { heat_flux = … }, { convection = { coefficient, ambient } }
    ");
    insta::assert_snapshot!(failure(STEADY, "xmax = \"insulated\"", "xmax = \"pressure_outlet\""), @r#"
    folder/bar.toml:9:8: `pressure_outlet` is a condition for flow, not for heat
      |
    9 | xmax = "pressure_outlet"
      |        ^^^^^^^^^^^^^^^^^
      = valid kinds: insulated, symmetry
    "#);
}

#[test]
fn patches_that_are_not_periodic_with_each_other() {
    let change = |to| failure(FLOW, "xmin = \"no_slip\"\nxmax = \"slip\"", to);
    insta::assert_snapshot!(change("xmin.periodic = \"xmax\"\nxmax = \"slip\""), @r#"
    folder/bar.toml:7:17: patch "xmax" is not periodic with "xmin"
      |
    7 | xmin.periodic = "xmax"
      |                 ^^^^^^
      = both sides name each other: xmax.periodic = "xmin"
    "#);
    insta::assert_snapshot!(change("xmin.periodic = \"xmax\"\nxmax.periodic = \"ymin\""), @r#"
    folder/bar.toml:7:17: patch "xmax" is not periodic with "xmin"
      |
    7 | xmin.periodic = "xmax"
      |                 ^^^^^^
      = both sides name each other: xmax.periodic = "xmin"

    folder/bar.toml:8:17: patch "ymin" is not periodic with "xmax"
      |
    8 | xmax.periodic = "ymin"
      |                 ^^^^^^
      = both sides name each other: ymin.periodic = "xmax"
    "#);
    insta::assert_snapshot!(change("xmin.periodic = \"xmin\"\nxmax = \"slip\""), @r#"
    folder/bar.toml:7:17: patch "xmin" is periodic with itself: name the other one
      |
    7 | xmin.periodic = "xmin"
      |                 ^^^^^^
    "#);
    insta::assert_snapshot!(change("xmin.periodic = \"xmx\"\nxmax.periodic = \"xmin\""), @r#"
    folder/bar.toml:7:17: [boundary] has no patch "xmx"
      |
    7 | xmin.periodic = "xmx"
      |                 ^^^^^
      = did you mean `xmax`?
      = its patches: xmax, ymin, ymax

    folder/bar.toml:8:17: patch "xmin" is not periodic with "xmax"
      |
    8 | xmax.periodic = "xmin"
      |                 ^^^^^^
      = both sides name each other: xmin.periodic = "xmax"
    "#);
    insta::assert_snapshot!(change("xmin = \"periodic\"\nxmax = \"slip\""), @r#"
    folder/bar.toml:7:8: `periodic` needs a value: { periodic = "other patch" }
      |
    7 | xmin = "periodic"
      |        ^^^^^^^^^^
    "#);
}

#[test]
fn outputs_of_flow() {
    let change = |to: &str| failure(FLOW, "[output]", &format!("[output]\n{to}"));
    insta::assert_snapshot!(change("fields = [\"velocities\"]"), @r#"
    folder/bar.toml:15:11: a flow case has no field `velocities`
       |
    15 | fields = ["velocities"]
       |           ^^^^^^^^^^^^
       = did you mean `velocity`?
       = valid fields: velocity, pressure, vorticity, q_criterion, streamfunction
    "#);
    insta::assert_snapshot!(change("fields = [\"temperature\"]"), @r#"
    folder/bar.toml:15:11: a flow case has no field `temperature`
       |
    15 | fields = ["temperature"]
       |           ^^^^^^^^^^^^^
       = valid fields: velocity, pressure, vorticity, q_criterion, streamfunction
       = a flow has a temperature with [incompressible.thermal]
    "#);
    insta::assert_snapshot!(change("picture = { field = \"density\" }"), @r#"
    folder/bar.toml:15:21: a flow case has no field `density`
       |
    15 | picture = { field = "density" }
       |                     ^^^^^^^^^
       = valid fields: velocity, pressure, vorticity, q_criterion, streamfunction
    "#);
    let wake = "[[output.recirculation]]\nname = \"wake\"\n";
    insta::assert_snapshot!(change(&format!("{wake}from = [0, 0]")), @"
    folder/bar.toml:15:1: `to` is missing
       |
    15 | [[output.recirculation]]
       | ^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(change(&format!("{wake}from = [0, 0]\nto = [0, 0]")), @"
    folder/bar.toml:18:6: recirculation `wake` ends where it starts
       |
    18 | to = [0, 0]
       |      ^^^^^^
    ");
    insta::assert_snapshot!(change(&format!("{wake}from = [0, 0]\nto = [1, 0]\npoints = 1")), @"
    folder/bar.toml:19:10: `points` must be 2 or more
       |
    19 | points = 1
       |          ^
    ");
    let line = "from = [0, 0]\nto = [1, 0]\n";
    insta::assert_snapshot!(change(&format!("{wake}{line}{wake}{line}")), @r#"
    folder/bar.toml:20:8: there are two recirculations named `wake`
       |
    20 | name = "wake"
       |        ^^^^^^
    "#);
    let group = |line: &str| {
        failure(FLOW, "patches = [\"ymax\"]", &format!("patches = [\"ymax\"]\n{line}"))
    };
    insta::assert_snapshot!(group("drag_direction = [0.0, 0.0]"), @"
    folder/bar.toml:21:18: `drag_direction` is zero: it has no direction
       |
    21 | drag_direction = [0.0, 0.0]
       |                  ^^^^^^^^^^
    ");
    insta::assert_snapshot!(group("lift_direction = [0.0]"), @"
    folder/bar.toml:21:18: `lift_direction` takes 2 or 3 numbers, 1 given
       |
    21 | lift_direction = [0.0]
       |                  ^^^^^
    ");
    insta::assert_snapshot!(group("reference = { velocity = 0.0 }"), @"
    folder/bar.toml:21:26: `velocity` must be positive, not 0
       |
    21 | reference = { velocity = 0.0 }
       |                          ^^^
    ");
    insta::assert_snapshot!(group("reference = { speed = 1.0 }"), @"
    folder/bar.toml:21:15: unknown key `speed`
       |
    21 | reference = { speed = 1.0 }
       |               ^^^^^
       = valid keys: velocity, area, length, density, pressure, temperature_difference
    ");
}

#[test]
fn exact_solutions_of_flow() {
    let change = |line: &str| parse(&format!("{FLOW}[exact]\n{line}\n")).unwrap_err().to_string();
    insta::assert_snapshot!(change("velocity = [\"y\"]"), @r#"
    folder/bar.toml:22:12: `velocity` takes 2 or 3 components, 1 given
       |
    22 | velocity = ["y"]
       |            ^^^^^
    "#);
    insta::assert_snapshot!(change("velocity = \"y\""), @r#"
    folder/bar.toml:22:12: expected a list, found string "y"
       |
    22 | velocity = "y"
       |            ^^^
    "#);
    insta::assert_snapshot!(change("temperature = 1"), @"
    folder/bar.toml:22:15: `temperature` needs [incompressible.thermal]: this flow has no temperature
       |
    22 | temperature = 1
       |               ^
    ");
    insta::assert_snapshot!(change("density = 1"), @"
    folder/bar.toml:22:11: `density` belongs to a compressible flow case, this one is of flow
       |
    22 | density = 1
       |           ^
    ");
    insta::assert_snapshot!(failure(STEADY, "[output]", "[exact]\npressure = 1\n[output]"), @"
    folder/bar.toml:11:12: `pressure` belongs to a flow case, this one is of heat
       |
    11 | pressure = 1
       |            ^
    ");
    insta::assert_snapshot!(failure(STEADY, "[output]", "[exact]\nvorticity = 1\n[output]"), @"
    folder/bar.toml:11:13: `vorticity` belongs to a flow case, this one is of heat
       |
    11 | vorticity = 1
       |             ^
    ");
}

#[test]
fn expectations_of_flow() {
    let change = |path: &str| {
        let text = format!(
            "{FLOW}[exact]\npressure = 0\n[expected]\n\"{path}\" = {{ value = 1, absolute = 1 }}\n"
        );
        parse(&text).unwrap_err().to_string()
    };
    insta::assert_snapshot!(change("probe.middle.velocity"), @r#"
    folder/bar.toml:24:1: a flow case has no field `velocity`
       |
    24 | "probe.middle.velocity" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^
       = did you mean `velocity_x`?
       = known: velocity_x, velocity_y, velocity_z, pressure
    "#);
    insta::assert_snapshot!(change("probe.middle.temperature"), @r#"
    folder/bar.toml:24:1: a flow case has no field `temperature`
       |
    24 | "probe.middle.temperature" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
       = known: velocity_x, velocity_y, velocity_z, pressure
       = a flow has a temperature with [incompressible.thermal]
    "#);
    insta::assert_snapshot!(change("patch.lid.drag_coefficient"), @r#"
    folder/bar.toml:24:1: a patch of a flow case has no quantity `drag_coefficient`
       |
    24 | "patch.lid.drag_coefficient" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = known: area, flow_rate, force_x, force_y, force_z, pressure_force_x, pressure_force_y, pressure_force_z, viscous_force_x, viscous_force_y, viscous_force_z
       = coefficients need `reference` in their [[output.patch]]
    "#);
    insta::assert_snapshot!(change("patch.lid.heat_flux"), @r#"
    folder/bar.toml:24:1: a patch of a flow case has no quantity `heat_flux`
       |
    24 | "patch.lid.heat_flux" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^
       = known: area, flow_rate, force_x, force_y, force_z, pressure_force_x, pressure_force_y, pressure_force_z, viscous_force_x, viscous_force_y, viscous_force_z
       = a flow has a temperature with [incompressible.thermal]
    "#);
    insta::assert_snapshot!(change("errors.velocity.l2"), @r#"
    folder/bar.toml:24:1: [exact] has no field `velocity`
       |
    24 | "errors.velocity.l2" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^
       = known: pressure
    "#);
    insta::assert_snapshot!(change("recirculation.wake.reattachment"), @r#"
    folder/bar.toml:24:1: there is no [[output.recirculation]] named `wake`
       |
    24 | "recirculation.wake.reattachment" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(change("flow.energy"), @r#"
    folder/bar.toml:24:1: the summary of a run has no entry `flow.energy`
       |
    24 | "flow.energy" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^
       = valid entries, in quotes: mesh.dimension, mesh.nodes, mesh.edges, mesh.faces, mesh.cells, time.steps, time.end, linear.solves, linear.iterations, linear.last_iterations, linear.relative_residual, linear.convergence_factor, probe.PROBE.FIELD, patch.PATCH.QUANTITY, surface.SURFACE.FIELD.mean, surface.SURFACE.FIELD.min, surface.SURFACE.FIELD.max, fields.FIELD.mean, fields.FIELD.min, fields.FIELD.max, errors.FIELD.l1, errors.FIELD.l2, errors.FIELD.linf, flow.kinetic_energy, flow.divergence_max, flow.courant, flow.mean_force_x, flow.mean_force_y, flow.mean_force_z, recirculation.NAME.separation, recirculation.NAME.reattachment
    "#);
    let heat = format!("{STEADY}[expected]\n\"flow.courant\" = {{ value = 1, absolute = 1 }}\n");
    insta::assert_snapshot!(parse(&heat).unwrap_err(), @r#"
    folder/bar.toml:19:1: the summary of a run has no entry `flow.courant`
       |
    19 | "flow.courant" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^
       = valid entries, in quotes: mesh.dimension, mesh.nodes, mesh.edges, mesh.faces, mesh.cells, time.steps, time.end, linear.solves, linear.iterations, linear.last_iterations, linear.relative_residual, linear.convergence_factor, probe.PROBE.FIELD, patch.PATCH.QUANTITY, surface.SURFACE.FIELD.mean, surface.SURFACE.FIELD.min, surface.SURFACE.FIELD.max, fields.FIELD.mean, fields.FIELD.min, fields.FIELD.max, errors.FIELD.l1, errors.FIELD.l2, errors.FIELD.linf
    "#);
    let nusselt = "[expected]\n\"patch.hot.nusselt\" = { value = 1, absolute = 1 }";
    let text =
        THERMAL.replace("reference = { length = 0.5, temperature_difference = 20.0 }", nusselt);
    insta::assert_snapshot!(parse(&text).unwrap_err(), @r#"
    folder/bar.toml:26:1: a patch of a flow case has no quantity `nusselt`
       |
    26 | "patch.hot.nusselt" = { value = 1, absolute = 1 }
       | ^^^^^^^^^^^^^^^^^^^
       = known: area, flow_rate, force_x, force_y, force_z, pressure_force_x, pressure_force_y, pressure_force_z, viscous_force_x, viscous_force_y, viscous_force_z, heat_flux
       = coefficients need `reference` in their [[output.patch]]
    "#);
}

#[test]
fn text_without_quotes_is_named_with_them() {
    for (from, to, place, quoted) in [
        ("xmin = \"no_slip\"", "xmin = no_slip", "7:8", "no_slip"),
        ("xmin = \"no_slip\"", "xmin = wall # here", "7:8", "wall"),
        ("xmin = \"no_slip\"", "xmin = true_wall", "7:8", "true_wall"),
        (
            "ymax.moving_wall = [1.0, 0.0]",
            "ymax.moving_wall = [min(x,y), 0.0]",
            "10:21",
            "min(x,y)",
        ),
        ("ymax.moving_wall = [1.0, 0.0]", "ymax.moving_wall = [1.0, sin(t)]", "10:26", "sin(t)"),
        ("xmax = \"slip\"", "xmax = { slip = yes }", "8:17", "yes"),
    ] {
        let said = failure(FLOW, from, to);
        let expected = format!("folder/bar.toml:{place}: Text needs quotes: \"{quoted}\".\n");
        assert!(said.starts_with(&expected), "{said}");
    }
    // Other errors have the words of the TOML reader.
    let said = failure(FLOW, "step = 0.1", "step = 0.1.2");
    assert!(!said.contains("quotes"), "{said}");
}

#[test]
fn a_number_without_a_digit_beside_its_point_is_completed() {
    for (number, complete) in
        [(".1", "0.1"), ("-.1e-3", "-0.1e-3"), ("1.", "1.0"), ("2.e3", "2.0e3")]
    {
        let said = failure(FLOW, "step = 0.1", &format!("step = {number}"));
        let hint = format!("a number has a digit on either side of its point: {complete}");
        assert!(said.trim_end().ends_with(&hint), "{said}");
    }
}
