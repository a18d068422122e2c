//! Signals, two runs in one folder, the quiet option and the content of the log.

use crate::common::{BAR, karman};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A case with many steps.
const LONG: &str = r#"
title = "Long"
[mesh.generate.box]
size = [1.0, 1.0]
cells = [16, 16]
[heat]
[initial]
temperature = "x"
[boundary]
xmin.temperature = 0.0
xmax.temperature = 1.0
ymin = "insulated"
ymax = "insulated"
[time]
step = 1e-4
end = 1e3
[run]
threads = 1
"#;

fn started(folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karman"));
    command.current_dir(folder).env("XDG_RUNTIME_DIR", folder).args(["run", "long.toml"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the history has rows.
fn wait_for_steps(folder: &Path) {
    let history = folder.join("long/history.csv");
    let begun = Instant::now();
    while !fs::read_to_string(&history).is_ok_and(|text| text.lines().count() > 3) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no step is taken");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the first linear solve of a run is under way.
fn wait_for_solve(folder: &Path) {
    let begun = Instant::now();
    while !folder.join("long/history.csv").exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no run begins");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_with_all_that_a_restart_needs() {
    for name in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("long.toml"), LONG).unwrap();
        let child = started(folder.path());
        wait_for_steps(folder.path());

        // Another run must not write there meanwhile.
        let (code, out, err) = karman(folder.path(), &["run", "long.toml"]);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        let expected = format!("error: another run, process {}, writes to long: wait", child.id());
        assert!(err.contains(&expected), "{err}");

        // As `timeout` of coreutils does, to the process and to its group.
        signal(&child, name);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{err}");
        assert!(output.stdout.is_empty());
        assert!(
            err.contains("warning: stopping after this step or iteration, with all output written"),
            "{err}"
        );
        let last = err.lines().last().unwrap();
        assert!(last.starts_with("interrupted: stopped at t = "), "{err}");
        let (_, checkpoint) = last.split_once("; go on with --restart ").unwrap();
        let results = folder.path().join("long");
        for file in ["fields_0000.vtu", "fields.pvd", "summary.json"] {
            assert!(results.join(file).is_file(), "{file}");
        }
        let log = fs::read_to_string(results.join("log.txt")).unwrap();
        assert!(log.contains("stopping after this step") && log.contains(last), "{log}");
        let text = fs::read_to_string(results.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(summary["outcome"], "interrupted");

        let end = summary["time"]["end"].as_f64().unwrap() + 1e-3;
        let shorter = LONG.replace("end = 1e3", &format!("end = {end}"));
        fs::write(folder.path().join("long.toml"), shorter).unwrap();
        let (code, out, err) =
            karman(folder.path(), &["run", "long.toml", "--restart", checkpoint]);
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with("finished: reached t = "), "{out}");
        let (code, out, err) = karman(folder.path(), &["run", "long.toml"]);
        assert_eq!(code, 0, "{err}");
        let removed = "long contained results of an earlier run: ";
        assert!(err.contains(removed) && !out.is_empty(), "{err}");
        assert!(!results.join(checkpoint.trim_start_matches("long/")).exists());
    }
}

#[cfg(unix)]
#[test]
fn a_second_signal_ends_a_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // One step of this solves for seconds.
    let slow = LONG
        .replace("[16, 16]", "[400, 400]")
        .replace("1e-4", "1e3")
        .replace("end = 1e3", "end = 1e6")
        + "[linear_solver]\nrelative_tolerance = 0.0\nmax_iterations = 1000000\n\
           preconditioner = \"none\"\n";
    fs::write(folder.path().join("long.toml"), slow).unwrap();
    let child = started(folder.path());
    wait_for_solve(folder.path());
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-INT");
    let sent = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(5));
    assert!(!folder.path().join("long/summary.json").exists());
}

#[test]
fn quiet_prints_nothing_and_the_log_has_the_lines_of_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bar.toml");
    fs::write(&path, BAR).unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    let nothing = (0, String::new(), String::new());
    assert_eq!(run(&["run", "-q", "bar.toml"]), nothing);
    assert_eq!(run(&["check", "-q", "bar.toml"]), nothing);
    assert_eq!(run(&["test", "-q", "bar.toml"]), nothing);
    assert_eq!(run(&["new", "-q", "plate"]), nothing);
    assert_eq!(run(&["mesh", "generate", "-q", "bar.toml", "-o", "bar.msh"]), nothing);
    assert_eq!(run(&["mesh", "convert", "-q", "bar.msh", "bar.vtu"]), nothing);

    // A setting without effect is warned of before the log can be opened.
    let idle =
        BAR.to_owned() + "[linear_solver]\npreconditioner = \"jacobi\"\namg.strength = 0.5\n";
    fs::write(&path, idle).unwrap();
    let (code, out, err) = run(&["run", "bar.toml"]);
    assert_eq!(code, 0, "{err}");
    let log = fs::read_to_string(folder.path().join("bar/log.txt")).unwrap();
    assert!(
        err.contains("warning: ") && err.contains("contained results of an earlier run"),
        "{err}"
    );
    for line in err.lines() {
        let message = line.strip_prefix("warning: ").unwrap_or(line);
        assert!(log.contains(message), "{message:?} is missing: {log}");
    }
    assert!(log.ends_with(&out), "{log}");
    let text = fs::read_to_string(folder.path().join("bar/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 1, "{summary}");
    // Quiet keeps warnings.
    let (code, out, err) = run(&["run", "-q", "bar.toml"]);
    assert!(code == 0 && out.is_empty() && err.starts_with("warning: "), "{out} {err}");

    let failing = BAR.to_owned() + "[linear_solver]\nmax_iterations = 1\n";
    fs::write(&path, failing).unwrap();
    let (code, _, err) = run(&["run", "bar.toml"]);
    assert_eq!(code, 2);
    let log = fs::read_to_string(folder.path().join("bar/log.txt")).unwrap();
    assert!(
        log.ends_with(err.lines().last().unwrap().to_owned().as_str())
            || log.contains(err.lines().last().unwrap()),
        "{log}"
    );
}

#[test]
fn check_and_run_refuse_a_case_with_equal_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.toml");
    let channel = "[mesh.generate.box]\nsize = [4.0, 1.0]\ncells = [8, 2]\n[incompressible]\n\
                   kinematic_viscosity = 0.01\n[time]\nstep = 0.05\nend = 0.1\n[boundary]\nymin = \"no_slip\"\n\
                   ymax = \"no_slip\"\n";
    let plate = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [4, 4]\n[heat]\n[boundary]\n\
                 xmin = \"insulated\"\nxmax = \"insulated\"\nymin = \"insulated\"\n";
    fs::write(folder.path().join("file"), "").unwrap();
    for text in [
        channel.to_owned() + "xmin.velocity_inlet = [1.0, 0.0]\nxmax = \"no_slip\"\n",
        channel.to_owned()
            + "xmin.velocity_inlet = [1.0, 0.0]\nxmax.velocity_inlet = [-1.0, 0.0]\n",
        channel.to_owned()
            + "xmin.velocity_inlet = [\"log(0)\", 0.0]\nxmax.pressure_outlet = 0.0\n",
        channel.to_owned()
            + "xmin.velocity_inlet = [1.0, 0.0]\nxmax.pressure_outlet = 0.0\n[[output.probe]]\nname = \"p\"\nat = [9.0, 0.0]\n",
        plate.to_owned() + "ymax.heat_flux = 1.0\n",
        plate.to_owned() + "ymax.convection = { coefficient = \"x - 2\", ambient = 0.0 }\n",
        plate.to_owned() + "ymax.temperature = 1.0\n[output]\ndirectory = \"file/out\"\n",
        plate.to_owned() + "top.temperature = 1.0\n",
        plate.to_owned().replace("[heat]", "[heat]\nconductivity = \"x - 0.5\"")
            + "ymax.temperature = 1.0\n",
    ] {
        fs::write(&path, &text).unwrap();
        let check = karman(folder.path(), &["check", "case.toml"]);
        let run = karman(folder.path(), &["run", "-q", "case.toml"]);
        assert_eq!((check.0, run.0), (1, 1), "{text} {check:?} {run:?}");
        assert_eq!(check, run, "{text}");
        let (_, json, _) = karman(folder.path(), &["check", "--json", "case.toml"]);
        let report: Value = serde_json::from_str(&json).unwrap();
        assert!(report["ok"] == false && !report["errors"].as_array().unwrap().is_empty());
        // A case that is refused leaves no folder.
        assert!(!folder.path().join("case").exists());
    }
    fs::write(
        &path,
        channel.to_owned() + "xmin.velocity_inlet = [1.0, 0.0]\nxmax.pressure_outlet = 0.0\n",
    )
    .unwrap();
    let (code, out, err) = karman(folder.path(), &["check", "case.toml"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "case.toml is in order: incompressible flow, in time, 16 cells\n");
    assert!(!folder.path().join("case").exists(), "checking writes nothing");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_steady_solve_of_heat_and_an_iteration_to_a_steady_flow() {
    // The solve takes minutes.
    let heat = LONG
        .replace("[16, 16]", "[400, 400]")
        .replace("[time]\nstep = 1e-4\nend = 1e3\n", "")
        + "[linear_solver]\nrelative_tolerance = 0.0\nmax_iterations = 1000000\npreconditioner = \"none\"\n";
    let flow = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [64, 64]\n[incompressible]\n\
        kinematic_viscosity = 0.01\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\n\
        ymax.moving_wall = [1.0, 0.0]\n[steady]\ntolerance = 1e-30\nmax_iterations = 1000000\n[run]\nthreads = 1\n";
    for (text, said) in [
        (heat.as_str(), "interrupted: the linear solve was interrupted after "),
        (flow, "interrupted: stopped after "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("long.toml"), text).unwrap();
        let child = started(folder.path());
        if text == flow {
            wait_for_steps(folder.path());
        } else {
            wait_for_solve(folder.path());
        }
        signal(&child, "-INT");
        let sent = Instant::now();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{err}");
        assert!(sent.elapsed() < Duration::from_secs(30), "{err}");
        let last = err.lines().last().unwrap();
        assert!(last.starts_with(said), "{err}");
        assert!(folder.path().join("long/summary.json").is_file());
        assert!(folder.path().join("long/fields_0000.vtu").is_file());
        if let Some((_, checkpoint)) = last.split_once("; go on with --restart ") {
            let ended = text.replace("tolerance = 1e-30", "tolerance = 1e-3");
            fs::write(folder.path().join("long.toml"), ended).unwrap();
            let (code, out, err) =
                karman(folder.path(), &["run", "long.toml", "--restart", checkpoint]);
            assert_eq!(code, 0, "{err}");
            assert!(out.starts_with("converged: steady after "), "{out}");
        } else {
            assert!(text != flow, "{err}");
        }
    }
}

#[test]
fn a_verbose_run_says_its_outcome_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bar.toml"), BAR).unwrap();
    let (code, out, err) = karman(folder.path(), &["run", "-v", "bar.toml"]);
    assert_eq!(code, 0, "{err}");
    let of_outcome = |text: &str| text.lines().filter(|line| line.starts_with("converged")).count();
    assert_eq!((of_outcome(&out), of_outcome(&err)), (1, 0), "{err}");
    let log = fs::read_to_string(folder.path().join("bar/log.txt")).unwrap();
    assert_eq!(log.matches("converged in").count(), 1, "{log}");
}

#[test]
fn a_history_of_one_step_has_no_picture() {
    let folder = tempfile::tempdir().unwrap();
    let text = BAR.split("[[output.probe]]").next().unwrap().to_owned();
    let text = text + "[output]\nhistory_plot = true\n";
    fs::write(folder.path().join("bar.toml"), text).unwrap();
    let (code, _, err) = karman(folder.path(), &["run", "bar.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(!folder.path().join("bar/history.png").exists());
}
