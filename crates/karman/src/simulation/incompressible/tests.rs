//! Cases of flow through the run loop: restart, divergence, refusals.

use crate::case::Case;
use crate::simulation::{OutcomeKind, RunOptions, Simulation};
use std::path::Path;

const CAVITY: &str = r#"
[mesh.generate.box]
size = [1.0, 1.0]
cells = [8, 8]
element = "triangle"
jitter = 0.1

[incompressible]
kinematic_viscosity = 0.01

[incompressible.thermal]
diffusivity = 0.01
expansion = 1.0
gravity = [0.0, -1.0]

[initial]
temperature = "x*y"

[boundary]
xmin = { no_slip = true, temperature = 1.0 }
xmax = { no_slip = true, temperature = 0.0 }
ymin = "no_slip"
ymax.moving_wall = ["1 + 0.1*sin(t)", 0.0]

[time]
step = 0.02
end = 0.2

[output]
fields = ["velocity", "pressure", "vorticity", "q_criterion", "streamfunction", "temperature"]
[[output.probe]]
name = "centre"
at = [0.5, 0.5]
[[output.line]]
name = "middle"
from = [0.5, 0.0]
to = [0.5, 1.0]
points = 11
[[output.patch]]
name = "lid"
patches = ["ymax"]
reference = { velocity = 1.0 }
[[output.recirculation]]
name = "back"
from = [0.5, 1.0]
to = [0.5, 0.0]

[checkpoint]
every = 0.1
"#;

fn run(text: &str, folder: &Path, restart: Option<&str>) -> (OutcomeKind, String, Vec<u8>) {
    let case = Case::parse(text, folder, "cavity.toml").unwrap();
    let restart = restart.map(|file| folder.join(file));
    let mut simulation = Simulation::new(case, RunOptions { backend: None, restart }).unwrap();
    let outcome = simulation.run(&mut |_| ()).unwrap();
    let history = std::fs::read(folder.join("cavity/history.csv")).unwrap();
    (outcome.kind, outcome.message, history)
}

#[test]
fn a_restart_of_a_flow_continues_bit_for_bit_and_all_output_is_there() {
    for (text, columns) in [
        (CAVITY.to_owned(), "step,time,dt,rate,residual,iterations,cfl,pressure_iterations"),
        (
            CAVITY
                .replace("kinematic_viscosity", "scheme = \"staggered\"\nkinematic_viscosity")
                .replace("triangle", "quadrilateral")
                .replace("jitter = 0.1", ""),
            "step,time,dt,rate,residual,iterations,cfl,pressure_iterations",
        ),
        (
            CAVITY.replace("xmin = { no_slip = true, temperature = 1.0 }\n", "").replace(
                "xmax = { no_slip = true, temperature = 0.0 }",
                "xmax.periodic = \"xmin\"",
            ),
            "step,time,dt,rate,residual,iterations,cfl,pressure_iterations",
        ),
        (
            CAVITY
                .replace("xmin = { no_slip = true, temperature = 1.0 }\n", "")
                .replace("xmax = { no_slip = true, temperature = 0.0 }", "xmax.periodic = \"xmin\"")
                .replace("[incompressible]", "[incompressible]\nmean_velocity = [0.3, 0.0]"),
            "step,time,dt,rate,residual,iterations,cfl,pressure_iterations",
        ),
        (
            CAVITY.replace("[time]", "[time]\nmethod = \"rk3\""),
            "step,time,dt,rate,residual,iterations,cfl,pressure_iterations",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (kind, message, history) = run(&text, folder.path(), None);
        assert_eq!(kind, OutcomeKind::Finished, "{message}");
        let heading = String::from_utf8(history.clone()).unwrap();
        assert!(heading.starts_with(columns), "{heading}");
        let summary = std::fs::read_to_string(folder.path().join("cavity/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        for path in [
            "/flow/kinetic_energy",
            "/recirculation/back/separation",
            "/recirculation/back/reattachment",
            "/patch/lid/drag_coefficient",
            "/patch/lid/viscous_force_x",
            "/patch/lid/heat_flux",
            "/patch/lid/nusselt",
            "/probe/centre/velocity_x",
            "/probe/centre/temperature",
            "/fields/pressure/mean",
        ] {
            assert!(summary.pointer(path).is_some_and(|v| v.is_number()), "{path}: {summary}");
        }
        // The fluid drags on the lid, and nothing flows through it.
        assert!(summary.pointer("/patch/lid/viscous_force_x").unwrap().as_f64().unwrap() < 0.0);
        assert!(summary.pointer("/patch/lid/flow_rate").unwrap().as_f64().unwrap().abs() < 1e-12);
        let mean = summary.pointer("/fields/pressure/mean").unwrap().as_f64().unwrap();
        assert!(mean.abs() < 1e-12, "{mean}");
        let line = std::fs::read_to_string(folder.path().join("cavity/line_middle.csv")).unwrap();
        assert!(line.starts_with("s,x,y,z,velocity_x,velocity_y,pressure,temperature"), "{line}");

        let again = run(&text, folder.path(), Some("cavity/checkpoint_00000005.safetensors"));
        assert_eq!(again.0, OutcomeKind::Finished, "{}", again.1);
        assert!(again.2 == history, "{} {heading}", String::from_utf8(again.2).unwrap());
    }
}

#[test]
fn a_flow_that_diverges_says_where_and_what_to_try() {
    let folder = tempfile::tempdir().unwrap();
    let text = CAVITY
        .replace("step = 0.02", "step = 5.0")
        .replace("end = 0.2", "end = 500.0")
        .replace("kinematic_viscosity = 0.01", "kinematic_viscosity = 1e-5")
        .replace("ymax.moving_wall = [\"1", "ymax.moving_wall = [\"50");
    let (kind, message, _) = run(&text, folder.path(), None);
    assert!(matches!(kind, OutcomeKind::Diverged | OutcomeKind::NotConverged), "{message}");
    assert!(message.contains("after step") || message.contains("step "), "{message}");
    if kind == OutcomeKind::Diverged {
        assert!(message.contains("a triangle of mean ratio 0."), "{message}");
        assert!(message.contains("shorten the step or set `cfl = 0.4`"), "{message}");
    }
    assert!(folder.path().join("cavity/summary.json").exists());
    assert!(folder.path().join("cavity/fields.pvd").exists());
}

/// Why a case cannot be set up.
fn message(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let case = Case::parse(text, folder.path(), "cavity.toml").unwrap();
    match Simulation::new(case, RunOptions::default()) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn patches_that_are_not_periodic_are_refused() {
    let walls = "xmin = { no_slip = true, temperature = 1.0 }\n\
                 xmax = { no_slip = true, temperature = 0.0 }\nymin = \"no_slip\"";
    let turned = CAVITY
        .replace(walls, "xmin.periodic = \"ymin\"\nymin.periodic = \"xmin\"\nxmax = \"no_slip\"");
    let said = message(&turned);
    assert!(
        said.starts_with("patches \"xmin\" and \"ymin\" are no periodic pair: moved by"),
        "{said}"
    );
    let grouped = CAVITY
        .replace(walls, "xmin = \"slip\"\nxmax = \"slip\"\nymin.periodic = \"ymax\"")
        .replace("ymax.moving_wall = [\"1 + 0.1*sin(t)\", 0.0]", "ymax.periodic = \"ymin\"");
    let said = message(&grouped);
    assert!(said.contains("patch \"ymax\" is periodic: it is no boundary"), "{said}");
}

#[test]
fn fields_of_2d_flows_are_refused_in_3d() {
    let text = CAVITY
        .replace("size = [1.0, 1.0]", "size = [1.0, 1.0, 1.0]")
        .replace("cells = [8, 8]", "cells = [3, 3, 3]")
        .replace("triangle", "tetrahedron")
        .replace("[time]", "zmin = \"slip\"\nzmax = \"symmetry\"\n[time]")
        .replace("end = 0.2", "end = 0.02");
    assert_eq!(
        message(&text),
        "the field `streamfunction` exists on 2D meshes only, this mesh is 3D"
    );
    let text = text.replace(", \"streamfunction\"", "") + "[exact]\nvorticity = \"x\"\n";
    assert_eq!(
        message(&text),
        "the field `vorticity` of `[exact]` exists on 2D meshes only, this mesh is 3D"
    );
}

/// Solid-body rotation, u = (−y, x), of vorticity 2, with Dirichlet conditions on all patches.
#[test]
fn the_vorticity_of_every_scheme_is_compared_with_the_exact_one() {
    for scheme in ["collocated", "staggered", "exact_fractional_step"] {
        let text = format!(
            r#"
[mesh.generate.box]
size = [1.0, 1.0]
cells = [6, 6]
element = "triangle"
jitter = 0.1
[incompressible]
kinematic_viscosity = 0.1
scheme = "{scheme}"
[initial]
velocity = ["-y", "x"]
[boundary]
xmin.moving_wall = ["-y", "x"]
xmax.velocity_inlet = ["-y", "x"]
ymin.velocity_inlet = ["-y", "x"]
ymax.velocity_inlet = ["-y", "x"]
[time]
step = 0.02
end = 0.1
[exact]
vorticity = 2.0
"#
        );
        let folder = tempfile::tempdir().unwrap();
        let (kind, message, _) = run(&text, folder.path(), None);
        assert_eq!(kind, OutcomeKind::Finished, "{message}");
        let summary = std::fs::read_to_string(folder.path().join("cavity/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let error = summary.pointer("/errors/vorticity/l2").unwrap().as_f64().unwrap();
        eprintln!("{scheme}: {error}");
        assert!(error < 0.1, "{scheme}: {error}");
    }
}

#[test]
fn seconds_of_a_flow_are_reported_by_phase() {
    for (text, energy) in [
        (CAVITY.to_owned(), true),
        (
            CAVITY.replace(
                "[incompressible]\n",
                "[incompressible]\nscheme = \"exact_fractional_step\"\n",
            ),
            true,
        ),
        (
            CAVITY
                .replace("[incompressible.thermal]\ndiffusivity", "[incompressible.pressure]\n#")
                .replace("expansion", "#")
                .replace("gravity", "#")
                .replace("temperature = \"x*y\"", "")
                .replace("{ no_slip = true, temperature = 1.0 }", "\"no_slip\"")
                .replace("{ no_slip = true, temperature = 0.0 }", "\"no_slip\"")
                .replace(", \"temperature\"]", "]"),
            false,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (kind, message, _) = run(&text, folder.path(), None);
        assert_eq!(kind, OutcomeKind::Finished, "{message}");
        let summary = std::fs::read(folder.path().join("cavity/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        let phases = summary["phases"].as_object().unwrap();
        let mut names =
            vec!["checkpoint", "discretization", "fields", "geometry", "mesh", "mesh_checks"];
        names.extend(["momentum", "other", "output", "pressure"]);
        if energy {
            names.insert(2, "energy");
        }
        let mut found: Vec<&str> = phases.keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, names);
        assert!(phases.values().all(|seconds| seconds.as_f64().unwrap() > 0.0), "{phases:?}");
        let steps: f64 = ["momentum", "pressure", "energy", "other"]
            .iter()
            .filter_map(|name| phases.get(*name)?.as_f64())
            .fold(0.0, |sum, seconds| sum + seconds);
        let setup = summary["linear"]["setup_seconds"].as_f64().unwrap();
        let solve = summary["linear"]["solve_seconds"].as_f64().unwrap();
        assert!((steps - solve).abs() <= setup + 1e-9, "{steps} {solve} {setup}");
    }
}
