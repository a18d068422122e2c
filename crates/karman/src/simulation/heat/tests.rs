//! Cases with time-dependent sources and boundary conditions, on the host and on devices.

use crate::backend::BackendKind;
use crate::backend::testing::devices;
use crate::case::Case;
use crate::simulation::{RunOptions, Simulation};
use std::path::Path;

const CASE: &str = r#"
[mesh.generate.box]
size = [1.0, 1.0, 1.0]
cells = [5, 4, 4]
element = "tetrahedron"
jitter = 0.2

[run]
precision = "f64"

[heat]
discretization = "WHERE"
source = "SOURCE"

[initial]
temperature = "sin(pi*x)"

[boundary]
xmin.temperature = "LEFT"
xmax.temperature = { table = "ramp.csv" }
ymin.heat_flux = "z*cos(5*t)"
ymax.convection = { coefficient = 2.0, ambient = "x + t" }
zmin = "insulated"
zmax = "insulated"

[time]
method = "METHOD"
step = 0.125
end = 1.0

[linear_solver]
relative_tolerance = 1e-13
"#;

struct Choice {
    place: &'static str,
    method: &'static str,
    source: &'static str,
    left: &'static str,
}

fn simulation(choice: &Choice, backend: BackendKind) -> Simulation {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ramp.csv"), "t,value\n0,0\n0.3,2\n1,1\n").unwrap();
    let text = CASE
        .replace("WHERE", choice.place)
        .replace("METHOD", choice.method)
        .replace("SOURCE", choice.source)
        .replace("LEFT", choice.left);
    let case = Case::parse(&text, folder.path(), "moving.toml").unwrap();
    let options = RunOptions { backend: Some(backend), restart: None };
    Simulation::new(case, options).unwrap()
}

fn kinds() -> Vec<BackendKind> {
    devices().iter().map(|device| device.kind()).collect()
}

const SOURCE: &str = "10*exp(-t)*sin(3*x + 2*t)*(1 + y*z)";
const LEFT: &str = "y*z*sin(4*t) + x";

#[test]
fn time_dependent_sources_and_boundaries_give_equal_fields_on_a_device() {
    for place in ["cell", "node"] {
        for method in ["backward_euler", "crank_nicolson", "bdf2"] {
            let choice = Choice { place, method, source: SOURCE, left: LEFT };
            let after_steps = |kind| {
                let mut simulation = simulation(&choice, kind);
                let start = simulation.field("temperature").unwrap();
                for _ in 0..5 {
                    let advance = simulation.step().unwrap();
                    let outcome = advance.outcome().unwrap();
                    assert!(outcome.is_converged(), "{outcome}");
                }
                let end = simulation.field("temperature").unwrap();
                let moved = start.iter().zip(&end).any(|(a, b)| (a - b).abs() > 0.1);
                assert!(moved, "{place} {method}");
                end
            };
            let host = after_steps(BackendKind::Cpu);
            for kind in kinds() {
                for (a, b) in host.iter().zip(after_steps(kind)) {
                    assert!((a - b).abs() < 1e-11, "{kind:?} {place} {method}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn a_value_that_is_not_finite_ends_the_run_and_its_time_is_reported() {
    let (cell, node) = ("cell", "node");
    for (place, source, left, message) in [
        (cell, "1/(t - 0.5)", LEFT, "the heat source is inf at t = 0.5"),
        (node, "(1 + x)/(t - 0.5)", LEFT, "the heat source is inf at t = 0.5"),
        (cell, SOURCE, "(1 + y)*sqrt(0.6 - t)", "a boundary value is NaN at t = 0.625"),
        (node, SOURCE, "log(0.5 - t)", "a boundary value is -inf at t = 0.5"),
    ] {
        for method in ["backward_euler", "crank_nicolson"] {
            let choice = Choice { place, method, source, left };
            for kind in kinds().into_iter().chain([BackendKind::Cpu]) {
                let mut simulation = simulation(&choice, kind);
                let error = (0..8).find_map(|_| simulation.step().err());
                let found = error.map(|e| e.to_string()).unwrap_or_default();
                assert!(found.ends_with(message), "{kind:?} {method}: {found}: {message}");
            }
        }
    }
}

#[test]
fn an_initial_value_that_is_not_finite_is_refused() {
    let text = CASE
        .replace("WHERE", "cell")
        .replace("METHOD", "bdf2")
        .replace("SOURCE", "0")
        .replace("LEFT", "0")
        .replace("{ table = \"ramp.csv\" }", "0.0")
        .replace("sin(pi*x)", "log(x - 2)");
    let case = Case::parse(&text, Path::new(""), "moving.toml").unwrap();
    let options = RunOptions { backend: Some(BackendKind::Cpu), restart: None };
    let Err(error) = Simulation::new(case, options) else { panic!("log(x - 2) is accepted") };
    assert!(error.to_string().contains("the initial temperature is NaN at t = 0"), "{error}");
}
