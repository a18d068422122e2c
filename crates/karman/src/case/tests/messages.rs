//! Messages about the text, its keys and its values.

use super::*;

#[test]
fn unknown_keys_and_words() {
    insta::assert_snapshot!(failure(STEADY, "conductivity", "conductvity"), @"
    folder/bar.toml:6:1: unknown key `conductvity`
      |
    6 | conductvity = 2.0
      | ^^^^^^^^^^^
      = did you mean `conductivity`?
      = valid keys: discretization, conductivity, volumetric_heat_capacity, density, specific_heat, source, nonorthogonal_correction, region
    ");
    insta::assert_snapshot!(failure(STEADY, "[boundary]", "[bondary]"), @"
    folder/bar.toml:7:2: unknown key `bondary`
      |
    7 | [bondary]
      |  ^^^^^^^
      = did you mean `boundary`?
      = valid keys: title, mesh, heat, incompressible, compressible, initial, boundary, time, steady, linear_solver, adapt, output, run, checkpoint, exact, expected
    ");
    insta::assert_snapshot!(failure(STEADY, "size", "sise"), @"
    folder/bar.toml:3:1: unknown key `sise`
      |
    3 | sise = [1.0, 0.1]
      | ^^^^
      = did you mean `size`?
      = valid keys: origin, size, cells, element, jitter, seed, grading, wall_grading
    ");
    insta::assert_snapshot!(failure(STEADY, "xmin.temperature", "xmin.tempersture"), @"
    folder/bar.toml:8:6: unknown key `tempersture`
      |
    8 | xmin.tempersture = 300.0
      |      ^^^^^^^^^^^
      = did you mean `temperature`?
      = valid keys: temperature, heat_flux, convection, insulated, symmetry, no_slip, slip, convective_outlet, moving_wall, velocity_inlet, flow_rate_inlet, total_pressure_inlet, pressure_outlet, pressure_loss_outlet, opening, slip_wall, isothermal, supersonic_outlet, inflow, exact, farfield, periodic
    ");
    insta::assert_snapshot!(
        failure(STEADY, "[heat]", "[heat]\ndiscretization = \"cells\""), @r#"
    folder/bar.toml:6:18: unknown value `cells`
      |
    6 | discretization = "cells"
      |                  ^^^^^^^
      = did you mean `cell`?
      = valid values: cell, node
    "#);
    insta::assert_snapshot!(
        failure(UNSTEADY, "step =", "method = \"rk4\"\nstep ="), @r#"
    folder/bar.toml:10:10: `rk4` is a method for compressible flow, not for heat
       |
    10 | method = "rk4"
       |          ^^^^^
       = valid values: backward_euler, crank_nicolson, bdf2
    "#);
    insta::assert_snapshot!(failure(STEADY, "title = \"bar\"", "titel = \"`odd`\""), @r#"
    folder/bar.toml:1:1: unknown key `titel`
      |
    1 | titel = "`odd`"
      | ^^^^^
      = did you mean `title`?
      = valid keys: title, mesh, heat, incompressible, compressible, initial, boundary, time, steady, linear_solver, adapt, output, run, checkpoint, exact, expected
    "#);
    insta::assert_snapshot!(
        failure(STEADY, "[output]", "[linear_solver]\namg = { sparsification = \"some\" }\n[output]"),
        @r#"
    folder/bar.toml:11:26: unknown value `some`
       |
    11 | amg = { sparsification = "some" }
       |                          ^^^^^^
       = valid values: none
    "#);
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(failure(STEADY, "conductivity = 2.0", "conductivity = true"), @"
    folder/bar.toml:6:16: expected a number, an expression in quotes or { region = number }, found boolean `true`
      |
    6 | conductivity = true
      |                ^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "xmax = \"insulated\"", "xmax = 3.5"), @r#"
    folder/bar.toml:9:8: expected a kind such as "insulated" or a table such as { temperature = 300.0 }, found number `3.5`
      |
    9 | xmax = 3.5
      |        ^^^
    "#);
    insta::assert_snapshot!(failure(STEADY, "size = [1.0, 0.1]", "size = \"large\""), @r#"
    folder/bar.toml:3:8: expected a list, found string "large"
      |
    3 | size = "large"
      |        ^^^^^^^
    "#);
    insta::assert_snapshot!(failure(STEADY, "cells = [10, 1]", "cells = [10, -1]"), @"
    folder/bar.toml:4:14: expected a whole number, 0 or more, found integer `-1`
      |
    4 | cells = [10, -1]
      |              ^^
    ");
    insta::assert_snapshot!(failure(UNSTEADY, "end = 1.0", "end = \"late\""), @r#"
    folder/bar.toml:11:7: expected a number, found string "late"
       |
    11 | end = "late"
       |       ^^^^^^
    "#);
    insta::assert_snapshot!(failure(UNSTEADY, "[heat]", "[heat.region]\na = 3"), @"
    folder/bar.toml:5:5: expected a table, found integer `3`
      |
    5 | a = 3
      |     ^
    ");
    insta::assert_snapshot!(
        failure(STEADY, "[heat]", "[heat]\nnonorthogonal_correction = \"yes\""), @r#"
    folder/bar.toml:6:28: expected true or false, found string "yes"
      |
    6 | nonorthogonal_correction = "yes"
      |                            ^^^^^
    "#);
    insta::assert_snapshot!(failure(STEADY, "xmin.temperature = 300.0", "xmin.temperature = [1]"),
        @r#"
    folder/bar.toml:8:20: expected a number, an expression in quotes or { table = "file.csv" }, found a list
      |
    8 | xmin.temperature = [1]
      |                    ^^^
    "#);
    insta::assert_snapshot!(failure(STEADY, "[output]", "[run]\nbackend = 1\n[output]"), @r#"
    folder/bar.toml:11:11: expected one of "auto", "cpu", "cuda", "vulkan", "wgpu", "hip", found integer `1`
       |
    11 | backend = 1
       |           ^
    "#);
    insta::assert_snapshot!(failure(STEADY, "[output]", "[run]\nranks = 0\n[output]"), @"
    folder/bar.toml:11:9: `ranks` is at least 1
       |
    11 | ranks = 0
       |         ^
    ");
}

#[test]
fn broken_toml() {
    insta::assert_snapshot!(failure(STEADY, "conductivity = 2.0", "conductivity = "), @"
    folder/bar.toml:6:16: string values must be quoted, expected literal string
      |
    6 | conductivity =
      |                ^
    ");
    insta::assert_snapshot!(failure(STEADY, "conductivity", "conductivity = 1.0\nconductivity"),
        @"
    folder/bar.toml:7:1: duplicate key
      |
    7 | conductivity = 2.0
      | ^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(failure(STEADY, "title = \"bar\"", "title = \"bar"), @r#"
    folder/bar.toml:1:13: invalid basic string, expected `"`
      |
    1 | title = "bar
      |             ^
    "#);
}

#[test]
fn expressions_point_inside_the_string() {
    insta::assert_snapshot!(
        failure(STEADY, "conductivity = 2.0", "conductivity = \"1 + sni(x)\""), @r#"
    folder/bar.toml:6:21: in an expression: unknown name `sni` (did you mean `sin`?)
      |
    6 | conductivity = "1 + sni(x)"
      |                     ^^^
      = valid names: x, y, z, t, pi, if, sin, cos, tan, exp, log, sqrt, abs, min, max, tanh, floor
    "#);
    insta::assert_snapshot!(
        failure(STEADY, "conductivity = 2.0", "conductivity = '''\n1 + 2x'''"), @"
    folder/bar.toml:7:6: in an expression: expected an operator (a product is written with `*`), found `x`
      |
    7 | 1 + 2x'''
      |      ^
    ");
    insta::assert_snapshot!(
        failure(STEADY, "conductivity = 2.0", "conductivity = \"1 +\\t(x\""), @r#"
    folder/bar.toml:6:16: in an expression: expected an operator or `)`, found the end of the expression
      |
    6 | conductivity = "1 +\t(x"
      |                ^^^^^^^^^
    "#);
    insta::assert_snapshot!(
        failure(STEADY, "conductivity = 2.0", "conductivity = \"1 + t\""), @r#"
    folder/bar.toml:6:16: `conductivity` may depend on x, y and z, but not on t
      |
    6 | conductivity = "1 + t"
      |                ^^^^^^^
    "#);
    insta::assert_snapshot!(failure(STEADY, "xmin.temperature = 300.0", "xmin.temperature = \"\""),
        @r#"
    folder/bar.toml:8:20: in an expression: the expression is empty
      |
    8 | xmin.temperature = ""
      |                    ^^
    "#);
    insta::assert_snapshot!(
        failure(STEADY, "xmin.temperature = 300.0", "xmin.temperature = \"1/0\""), @r#"
    folder/bar.toml:8:20: `temperature` must be finite, not inf
      |
    8 | xmin.temperature = "1/0"
      |                    ^^^^^
    "#);
}

#[test]
fn several_problems_at_once() {
    let text = STEADY
        .replace("conductivity = 2.0", "conductivity = -2.0")
        .replace("\"insulated\"", "\"insulted\"")
        .replace("directory = \"out\"", "every = 1.0");
    let error = parse(&text).unwrap_err();
    assert_eq!(error.diagnostics().len(), 3);
    insta::assert_snapshot!(error, @r#"
    folder/bar.toml:6:16: `conductivity` must be positive, not -2
      |
    6 | conductivity = -2.0
      |                ^^^^

    folder/bar.toml:9:8: unknown kind of boundary `insulted`
      |
    9 | xmax = "insulted"
      |        ^^^^^^^^^^
      = did you mean `insulated`?
      = valid kinds: insulated, symmetry
      = with a value: { temperature = … }, { heat_flux = … }, { convection = { coefficient, ambient } }

    folder/bar.toml:11:9: `every` counts time and this case has no [time]
       |
    11 | every = 1.0
       |         ^^^
       = a steady case writes at its end
    "#);
}

#[test]
fn unreadable_files() {
    let error = Case::read(Path::new("does/not/exist.toml")).unwrap_err();
    assert!(error.diagnostics().is_empty());
    let message = error.to_string();
    assert!(message.starts_with("cannot read the case does/not/exist.toml: "), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes.toml");
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert!(Case::read(&path).unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn carets_stand_under_the_place_whatever_precedes_it() {
    insta::assert_snapshot!(
        failure(STEADY, "conductivity = 2.0", "\tconductivity = { \"größe\" = -1 }"), @r#"
    folder/bar.toml:6:29: `conductivity` must be positive, not -1
      |
    6 |  conductivity = { "größe" = -1 }
      |                             ^^
    "#);
    let windows = STEADY.replace('\n', "\r\n");
    insta::assert_snapshot!(failure(&windows, "conductivity = 2.0", "conductivity = 0"), @"
    folder/bar.toml:6:16: `conductivity` must be positive, not 0
      |
    6 | conductivity = 0
      |                ^
    ");
}
