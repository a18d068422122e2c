//! Speeds far beyond those that boundary, initial velocity and forces explain.

use super::*;

/// A duct with an obstacle that leaves a gap of one cell, of 1/20 of the height together, at either side.
fn duct(inlet: &str, flow: &str, time: &str) -> String {
    format!(
        "[mesh.generate.box_with_obstacle]\nsize = [2.0, 1.0]\ncells = [20, 40]\nobstacle_min = [0.9, 0.025]\n\
         obstacle_max = [1.1, 0.975]\n[incompressible]\nkinematic_viscosity = 0.1\n{flow}[boundary]\n\
         xmin.velocity_inlet = [{inlet}, 0.0]\nxmax.pressure_outlet = 0.0\nymin = \"no_slip\"\nymax = \"no_slip\"\n\
         obstacle = \"no_slip\"\n[time]\n{time}\n"
    )
}

fn grown(summary: &serde_json::Value) -> usize {
    let list = summary["warnings"].as_array().unwrap();
    list.iter().filter(|said| said.as_str().unwrap().contains("the speed has grown")).count()
}

#[test]
fn a_narrow_gap_and_a_flow_from_rest_are_expected() {
    let pressure = duct("1.0", "", "cfl = 0.4\nend = 0.01")
        .replace("xmin.velocity_inlet = [1.0, 0.0]", "xmin.total_pressure_inlet = 1.0");
    for text in [
        duct("1.0", "", "cfl = 0.4\nend = 0.01"),
        duct("\"tanh(100*t)\"", "", "cfl = 0.4\nend = 0.01"),
        pressure,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&text, folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        assert_eq!(grown(&summary), 0, "{summary}");
    }
}

#[test]
fn a_flow_that_grows_within_its_courant_number_ends_with_its_cell() {
    let folder = tempfile::tempdir().unwrap();
    for (cfl, advice) in [("1.5", ": set `cfl = 0.4`, look at"), ("0.4", ": look at the mesh")] {
        let text = format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [12, 12]\nelement = \"triangle\"\njitter = 0.2\n\
             [incompressible]\nkinematic_viscosity = 1e-9\nconvection = \"central\"\n[initial]\nvelocity = \
             [\"sin(2*pi*x)*cos(2*pi*y) + 0.7*sin(2*pi*y)\", \"-cos(2*pi*x)*sin(2*pi*y)\"]\n[boundary]\nxmin = \"slip\"\n\
             xmax = \"slip\"\nymin = \"slip\"\nymax = \"slip\"\n[time]\ncfl = {cfl}\nend = 1e4\n"
        );
        let (outcome, summary) = run(&text, folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Diverged, "{outcome}");
        let said = outcome.message;
        assert!(said.starts_with("the speed has grown to "), "{said}");
        assert!(said.contains(", a triangle of mean ratio "), "{said}");
        assert!(said.contains(advice), "{said}");
        assert_eq!(grown(&summary), 1, "{summary}");
        let largest = number(&summary, "/fields/velocity_x/max");
        assert!(largest < 2000.0, "{largest}");
    }
}

/// The expected speed of a run is that of its first step, also after a restart.
#[test]
fn a_restart_continues_the_expected_speed() {
    use crate::io::checkpoint::Checkpoint;
    let time = "step = 0.002\nend = 0.006\n[checkpoint]\nevery = 0.002";
    let text = duct("\"1.0 + 1000*t\"", "", time);
    let folder = tempfile::tempdir().unwrap();
    let path = |step: usize| folder.path().join(format!("case/checkpoint_{step:08}.safetensors"));
    let growth = |step: usize| -> Vec<f64> {
        let checkpoint = Checkpoint::read(&path(step)).unwrap();
        checkpoint.reals("speed_growth", &[4]).unwrap().to_vec()
    };
    run(&text, folder.path());
    let [first, last] = [growth(1), growth(3)];
    assert!(first[2] > 2.0 && first[2] == last[2] && last[0] > first[0], "{first:?} {last:?}");
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let options = RunOptions { restart: Some(path(1)), backend: None };
    Simulation::new(case, options).unwrap().run(&mut |_| ()).unwrap();
    let restarted = growth(3);
    assert!(restarted[2] == last[2] && restarted[0] >= last[0], "{restarted:?} {last:?}");
}
