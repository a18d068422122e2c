//! `cfl` with a fluid at rest: the time step follows from the forces on it.

use super::*;

/// A channel between two walls; `keys` of the flow, the condition along x and the end of time.
fn channel(keys: &str, along: &str, end: f64) -> String {
    format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [10, 10]\n[incompressible]\nkinematic_viscosity = 0.1\n{keys}\n\
         [boundary]\nymin = \"no_slip\"\n{along}\n[time]\ncfl = 0.5\nend = {end}\n"
    )
}

/// The lengths and Courant numbers of the steps.
fn steps(folder: &Path) -> Vec<[f64; 2]> {
    let text = std::fs::read_to_string(folder.join("case/history.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let columns = [place("dt"), place("cfl")];
    lines
        .map(|line| {
            let values: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
            columns.map(|column| values[column])
        })
        .collect()
}

#[test]
fn a_body_force_bounds_the_first_step_and_the_channel_reaches_its_parabola() {
    let folder = tempfile::tempdir().unwrap();
    let text = channel("source = [0.8, 0.0]", "ymax = \"no_slip\"\nxmin.periodic = \"xmax\"", 20.0)
        + "[exact]\nvelocity = [\"4*y*(1-y)\", 0.0]\n";
    let (outcome, summary) = run(&text, folder.path());
    assert_eq!(outcome.to_string(), "finished: reached t = 20");
    let steps = steps(folder.path());
    // Δt² a / h = C.
    let first = (0.5 * 0.1 / 0.8f64).sqrt();
    assert!((steps[0][0] - first).abs() < 1e-12, "{:?}", steps[0]);
    assert!(steps.len() > 50, "{}", steps.len());
    assert!(steps.iter().all(|[_, cfl]| *cfl < 0.55), "{steps:?}");
    let last = steps[steps.len() - 2][1];
    assert!(last > 0.42, "the step follows the Courant number in the end: {last}");
    let error = number(&summary, "/errors/velocity/linf");
    assert!(error < 0.011, "{error}");
}

#[test]
fn buoyancy_pressures_moving_walls_and_nothing_at_all_give_a_step() {
    let closed = "ymax = \"no_slip\"\nxmin = { no_slip = true, temperature = 1.0 }\n\
                  xmax = { no_slip = true, temperature = 0.0 }";
    let thermal = |initial: &str| {
        format!(
            "[incompressible.thermal]\ndiffusivity = 1.0\nexpansion = 1.0\ngravity = [0.0, -100.0]\n\
             reference_temperature = 0.5\n[initial]\ntemperature = {initial}"
        )
    };
    let through = "ymax = \"no_slip\"\nxmin.opening = 1.0\nxmax.pressure_outlet = 0.0";
    let still = "ymax = \"no_slip\"\nxmin = \"no_slip\"\nxmax = \"no_slip\"";
    let lid = |u: &str| {
        format!("ymax.moving_wall = [\"{u}\", 0.0]\nxmin = \"no_slip\"\nxmax = \"no_slip\"")
    };
    let walls = still.to_owned();
    for (what, text, moves) in [
        ("buoyancy", channel(&thermal("\"1-x\""), closed, 0.2), true),
        ("buoyancy of fluid heated by walls", channel(&thermal("0.5"), closed, 0.2), true),
        ("pressures", channel("", through, 2.0), true),
        ("a lid that starts slowly", channel("", &lid("min(t,1)"), 3.0), true),
        ("a lid that starts late", channel("", &lid("if(t>2,1,0)"), 3.0), true),
        ("an oscillating lid", channel("", &lid("sin(10*t)"), 1.0), true),
        ("an oscillating force", channel("source = [\"10*sin(5*t)\", 0.0]", through, 1.0), true),
        (
            "a force that comes late",
            channel("source = [\"if(t>1,x*y,0)\", 0.0]", &walls, 2.0),
            true,
        ),
        ("nothing", channel("", still, 5.0), false),
        ("gravity alone", channel("source = [0.0, -9.81]", still, 5.0), false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&text, folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{what}: {outcome}");
        let steps = steps(folder.path());
        assert!(steps.len() >= 5, "{what}: {steps:?}");
        let largest = steps.iter().map(|[_, cfl]| *cfl).fold(0.0, f64::max);
        assert!(largest < 1.0, "{what}: {largest} {steps:?}");
        let energy = number(&summary, "/flow/kinetic_energy");
        assert!(energy > 1e-6 || !moves, "{what}: {energy}");
        assert!(energy < 1e-12 || moves, "{what}: {energy}");
    }
}

#[test]
fn a_restart_continues_with_the_time_step_of_the_courant_number() {
    let walls = "ymax = \"no_slip\"\nxmin.periodic = \"xmax\"";
    let text = channel("source = [0.8, 0.0]", walls, 2.0) + "[checkpoint]\nevery = 0.7\n";
    let folder = tempfile::tempdir().unwrap();
    run(&text, folder.path());
    let results = folder.path().join("case");
    let history = std::fs::read(results.join("history.csv")).unwrap();
    let mut checkpoints: Vec<_> = std::fs::read_dir(&results)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .collect();
    checkpoints.sort();
    assert!(checkpoints.len() >= 2, "{checkpoints:?}");
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let options = RunOptions { restart: Some(checkpoints[0].clone()), backend: None };
    let outcome = Simulation::new(case, options).unwrap().run(&mut |_| ()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    assert!(std::fs::read(results.join("history.csv")).unwrap() == history);
}

#[test]
fn a_pressure_difference_sets_a_pipe_of_tetrahedra_in_motion() {
    let text = gmsh("pipe_coarse")
        + "[incompressible]\nkinematic_viscosity = 0.1\n[boundary]\ninlet.opening = 1.0\noutlet.pressure_outlet = 0.0\n\
           wall = \"no_slip\"\n[time]\ncfl = 0.4\nend = 1.0\n";
    let folder = tempfile::tempdir().unwrap();
    let (outcome, summary) = run(&text, folder.path());
    assert_eq!(outcome.to_string(), "finished: reached t = 1");
    let steps = steps(folder.path());
    assert!(steps.len() > 15 && steps.len() < 100, "{}", steps.len());
    assert!(steps.iter().all(|[_, cfl]| *cfl < 0.5), "{steps:?}");
    assert!(number(&summary, "/flow/kinetic_energy") > 1e-3, "{summary}");
}
