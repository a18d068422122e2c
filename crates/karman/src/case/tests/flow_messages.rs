//! Messages about flow cases.

use super::*;

#[test]
fn the_equation_of_flow() {
    insta::assert_snapshot!(failure(FLOW, "viscosity = 0.01", ""), @"");
    insta::assert_snapshot!(failure(FLOW, "viscosity = 0.01", "viscosity = 0"), @"");
    insta::assert_snapshot!(failure(FLOW, "viscosity = 0.01", "viscosity = \"1 + x\""), @"");
    let add = |line: &str| failure(FLOW, "viscosity = 0.01", &format!("viscosity = 0.01\n{line}"));
    insta::assert_snapshot!(add("scheme = \"colocated\""), @"");
    insta::assert_snapshot!(add("convection = \"quick\""), @"");
    insta::assert_snapshot!(add("pressure_correction = \"rotational\""), @"");
    insta::assert_snapshot!(add("source = [1.0]"), @"");
    insta::assert_snapshot!(add("source = [0.0, \"sni(x)\"]"), @"");
    insta::assert_snapshot!(add("source = 1.0"), @"");
    insta::assert_snapshot!(add("nonorthogonal_correctors = -1"), @"");
    insta::assert_snapshot!(add("thermal = { expansion = 1.0 }"), @"");
    insta::assert_snapshot!(add("thermal = { diffusivity = -1.0 }"), @"");
    insta::assert_snapshot!(add("thermal = { diffusivity = 1.0, gravity = [0.0] }"), @"");
    insta::assert_snapshot!(add("pressure.relative_tolerance = 2.0"), @"");
    insta::assert_snapshot!(add("[linear_solver]\nmethod = \"cg\""), @"");
}

#[test]
fn the_start_of_a_flow() {
    let add = |line: &str| failure(FLOW, "[boundary]", &format!("[initial]\n{line}\n[boundary]"));
    insta::assert_snapshot!(add("velocity = [0.0]"), @"");
    insta::assert_snapshot!(add("velocity = [\"t\", 0.0]"), @"");
    insta::assert_snapshot!(add("pressure = nan"), @"");
    insta::assert_snapshot!(add("temperature = 300.0"), @"");
    insta::assert_snapshot!(add("density = 1.0"), @"");
    insta::assert_snapshot!(failure(THERMAL, "temperature = \"300 + x\"", ""), @"");
    insta::assert_snapshot!(failure(THERMAL, "[initial]\ntemperature = \"300 + x\"\n", ""), @"");
}

#[test]
fn the_time_of_a_flow() {
    insta::assert_snapshot!(failure(FLOW, "[time]\nstep = 0.1\nend = 1.0\n", ""), @"");
    let text = FLOW.replace("ymax.wall = [1.0, 0.0]", "ymax.wall = [\"sin(t)\", 0.0]");
    let error = failure(&text, "[time]\nstep = 0.1\nend = 1.0\n[output]", "[output]\nevery = 1.0");
    assert_eq!(error.matches("folder/bar.toml:").count(), 1, "{error}");
    let method = |word: &str| failure(FLOW, "step =", &format!("method = \"{word}\"\nstep ="));
    insta::assert_snapshot!(method("crank_nicolson"), @"");
    insta::assert_snapshot!(method("rk4"), @"");
    insta::assert_snapshot!(failure(UNSTEADY, "step =", "method = \"ab2_cn\"\nstep ="), @"");
    insta::assert_snapshot!(failure(FLOW, "step =", "method = 2\nstep ="), @"");
}

#[test]
fn conditions_of_flow() {
    let change = |to| failure(FLOW, "xmax = \"slip\"", to);
    insta::assert_snapshot!(change("xmax = \"slip_wall\""), @"");
    insta::assert_snapshot!(change("xmax = \"wall\""), @"");
    insta::assert_snapshot!(change("xmax = \"insulated\""), @"");
    insta::assert_snapshot!(change("xmax = {}"), @"");
    insta::assert_snapshot!(change("xmax.no_slip = false"), @"");
    insta::assert_snapshot!(change("xmax = { no_slip = true, outlet = 0 }"), @"");
    insta::assert_snapshot!(change("xmax = { symmetry = true, slip = true }"), @"");
    insta::assert_snapshot!(change("xmax.wall = [1.0]"), @"");
    insta::assert_snapshot!(change("xmax.wall = 1.0"), @"");
    insta::assert_snapshot!(change("xmax.inlet = [\"1 + q\", 0]"), @"");
    insta::assert_snapshot!(change("xmax.inlet = [0, inf]"), @"");
    insta::assert_snapshot!(change("xmax.outlet = nan"), @"");
    insta::assert_snapshot!(change("xmax.open = [0, 1]"), @"");
    insta::assert_snapshot!(change("xmax = { no_slip = true, temperature = 1 }"), @"");
    let several = change("xmax = \"slop\"\nzmin = \"none\"");
    assert_eq!(several.matches("unknown kind of boundary").count(), 2, "{several}");
}

#[test]
fn conditions_of_heat_in_a_flow_and_of_flow_in_heat() {
    let change = |to| failure(THERMAL, "ymin = \"slip\"", to);
    insta::assert_snapshot!(change("ymin.temperature = 1.0"), @"");
    insta::assert_snapshot!(change("ymin = \"insulated\""), @"");
    insta::assert_snapshot!(
        change("ymin = { slip = true, temperature = 1, insulated = true }"), @"");
    insta::assert_snapshot!(change("ymin = { symmetry = true, temperature = 1 }"), @"");
    insta::assert_snapshot!(change("ymin = { slip = true, insulated = false }"), @"");
    insta::assert_snapshot!(change("ymin = { slip = true, convection = { ambient = 1 } }"), @"");
    insta::assert_snapshot!(
        change("ymin = { periodic = \"b\", heat_flux = 1 }\nb.periodic = \"ymin\""), @"");
    insta::assert_snapshot!(failure(STEADY, "xmax = \"insulated\"", "xmax.wall = [1, 0]"), @"");
    insta::assert_snapshot!(failure(STEADY, "xmax = \"insulated\"", "xmax = \"outlet\""), @"");
}

#[test]
fn patches_that_are_not_periodic_with_each_other() {
    let change = |to| failure(FLOW, "xmin = \"no_slip\"\nxmax = \"slip\"", to);
    insta::assert_snapshot!(change("xmin.periodic = \"xmax\"\nxmax = \"slip\""), @"");
    insta::assert_snapshot!(change("xmin.periodic = \"xmax\"\nxmax.periodic = \"ymin\""), @"");
    insta::assert_snapshot!(change("xmin.periodic = \"xmin\"\nxmax = \"slip\""), @"");
    insta::assert_snapshot!(change("xmin.periodic = \"xmx\"\nxmax.periodic = \"xmin\""), @"");
    insta::assert_snapshot!(change("xmin = \"periodic\"\nxmax = \"slip\""), @"");
}

#[test]
fn outputs_of_flow() {
    let change = |to: &str| failure(FLOW, "[output]", &format!("[output]\n{to}"));
    insta::assert_snapshot!(change("fields = [\"velocities\"]"), @"");
    insta::assert_snapshot!(change("fields = [\"temperature\"]"), @"");
    insta::assert_snapshot!(change("picture = { field = \"density\" }"), @"");
    let wake = "[[output.recirculation]]\nname = \"wake\"\n";
    insta::assert_snapshot!(change(&format!("{wake}from = [0, 0]")), @"");
    insta::assert_snapshot!(change(&format!("{wake}from = [0, 0]\nto = [0, 0]")), @"");
    insta::assert_snapshot!(change(&format!("{wake}from = [0, 0]\nto = [1, 0]\npoints = 1")), @"");
    let line = "from = [0, 0]\nto = [1, 0]\n";
    insta::assert_snapshot!(change(&format!("{wake}{line}{wake}{line}")), @"");
    let group = |line: &str| {
        failure(FLOW, "patches = [\"ymax\"]", &format!("patches = [\"ymax\"]\n{line}"))
    };
    insta::assert_snapshot!(group("drag_direction = [0.0, 0.0]"), @"");
    insta::assert_snapshot!(group("moment_centre = [0.0]"), @"");
    insta::assert_snapshot!(group("reference = { velocity = 0.0 }"), @"");
    insta::assert_snapshot!(group("reference = { speed = 1.0 }"), @"");
}

#[test]
fn exact_solutions_of_flow() {
    let change = |line: &str| parse(&format!("{FLOW}[exact]\n{line}\n")).unwrap_err().to_string();
    insta::assert_snapshot!(change("velocity = [\"y\"]"), @"");
    insta::assert_snapshot!(change("velocity = \"y\""), @"");
    insta::assert_snapshot!(change("temperature = 1"), @"");
    insta::assert_snapshot!(change("density = 1"), @"");
    insta::assert_snapshot!(failure(STEADY, "[output]", "[exact]\npressure = 1\n[output]"), @"");
}

#[test]
fn expectations_of_flow() {
    let change = |path: &str| {
        let text = format!(
            "{FLOW}[exact]\npressure = 0\n[expected]\n\"{path}\" = {{ value = 1, absolute = 1 }}\n"
        );
        parse(&text).unwrap_err().to_string()
    };
    insta::assert_snapshot!(change("probe.middle.velocity"), @"");
    insta::assert_snapshot!(change("probe.middle.temperature"), @"");
    insta::assert_snapshot!(change("patch.lid.drag_coefficient"), @"");
    insta::assert_snapshot!(change("patch.lid.heat_flux"), @"");
    insta::assert_snapshot!(change("errors.velocity.l2"), @"");
    insta::assert_snapshot!(change("recirculation.wake.length"), @"");
    insta::assert_snapshot!(change("flow.energy"), @"");
    let heat = format!("{STEADY}[expected]\n\"flow.courant\" = {{ value = 1, absolute = 1 }}\n");
    insta::assert_snapshot!(parse(&heat).unwrap_err(), @"");
    let nusselt = "[expected]\n\"patch.hot.nusselt\" = { value = 1, absolute = 1 }";
    let text =
        THERMAL.replace("reference = { length = 0.5, temperature_difference = 20.0 }", nusselt);
    insta::assert_snapshot!(parse(&text).unwrap_err(), @"");
}
