//! `karman run` and `karman test`

use crate::common::{BAR, karman};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_run_reports_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bar.toml"), BAR).unwrap();
    let (code, out, err) = karman(folder.path(), &["run", "bar.toml"]);
    assert_eq!((code, err.as_str()), (0, "Bar\n"));
    assert!(out.starts_with("converged in "), "{out}");
    for part in ["20 cells, 33 nodes; ", "probe middle: temperature 0.5", "results in bar\n"] {
        assert!(out.contains(part), "{out}");
    }
    let results = folder.path().join("bar");
    for file in ["fields_0000.vtu", "fields.pvd", "history.csv", "summary.json", "log.txt"] {
        assert!(results.join(file).is_file(), "{file}");
    }
    assert!(fs::read_to_string(results.join("log.txt")).unwrap().contains("INFO Bar"));
    let partial = fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(partial.into_iter().all(|name| !name.to_string_lossy().contains("partial")));

    let (code, out, err) = karman(folder.path(), &["run", "bar.toml", "--json", "-q"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let printed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(printed, json(&results.join("summary.json")));
    assert_eq!((&printed["case"], &printed["outcome"]), (&"bar".into(), &"converged".into()));
}

#[test]
fn the_command_line_replaces_final_time_folder_and_threads() {
    let folder = tempfile::tempdir().unwrap();
    let unsteady = BAR
        .replace("[heat]", "[time]\nstep = 0.1\nend = 5.0\n[initial]\ntemperature = 0.0\n[heat]");
    fs::write(folder.path().join("bar.toml"), &unsteady).unwrap();
    let options = ["run", "bar.toml", "--end", "0.3", "--output", "some/where", "--threads", "1"];
    let (code, out, err) = karman(folder.path(), &options);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("reached t = 0.3") && out.contains("results in some/where"), "{out}");
    assert!(out.contains("3 steps, ") && out.contains(" on 1 host thread\n"), "{out}");
    assert!(!folder.path().join("bar").exists(), "the folder of the case is not made");
    let summary = json(&folder.path().join("some/where/summary.json"));
    assert_eq!((&summary["time"]["end"], &summary["threads"]), (&0.3.into(), &1.into()));

    let (code, out, err) = karman(folder.path(), &["run", "-q", "bar.toml", "--end", "0.1"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""), "quiet");
    for end in ["0", "-1", "soon", "inf"] {
        let (code, _, err) = karman(folder.path(), &["run", "bar.toml", &format!("--end={end}")]);
        assert!(code != 0 && err.contains("the final time is a positive number"), "{code} {err}");
    }
    fs::write(folder.path().join("bar.toml"), BAR).unwrap();
    let (code, _, err) = karman(folder.path(), &["run", "bar.toml", "--end", "1"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("--end: bar.toml has no [time], it is steady"), "{err}");
}

#[test]
fn the_command_line_replaces_the_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bar.toml"), BAR).unwrap();
    let run = |ranks: &str| karman(folder.path(), &["run", "bar.toml", "--ranks", ranks]);
    let (code, _, err) = run("2");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("ranks = 2: of 20 cells a part has fewer than the 4096"), "{err}");
    assert_eq!(json(&folder.path().join("bar/summary.json"))["ranks"], 2);
    let (code, _, err) = run("21");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("ranks = 21: the mesh has only 20 cells; set ranks = 1"), "{err}");
    for ranks in ["0", "two"] {
        let (code, _, err) = run(ranks);
        assert!(code != 0 && err.contains("a whole number, at least 1"), "{code} {err}");
    }
}

#[test]
fn a_summary_and_a_detailed_log_tell_of_the_levels_of_multigrid() {
    let folder = tempfile::tempdir().unwrap();
    let finer = BAR.replace("cells = [10, 2]", "cells = [40, 20]");
    assert_ne!(finer, BAR);
    let text = finer + "[linear_solver]\npreconditioner = \"amg\"\n";
    fs::write(folder.path().join("bar.toml"), text).unwrap();
    let (code, _, err) = karman(folder.path(), &["run", "-v", "bar.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("with amg, set up in "), "{err}");
    let results = folder.path().join("bar");
    assert!(fs::read_to_string(results.join("log.txt")).unwrap().contains("operator complexity "));
    let linear = &json(&results.join("summary.json"))["linear"];
    assert_eq!(linear["preconditioner"], "amg");
    assert!(linear["levels"].as_u64().unwrap() > 1, "{linear}");
    for (key, least) in
        [("operator_complexity", 1.0), ("grid_complexity", 1.0), ("work_units", 2.0)]
    {
        let value = linear[key].as_f64().unwrap();
        assert!(value > least && value < 20.0, "{key}: {linear}");
    }
    assert!(linear["setup_seconds"].as_f64().unwrap() > 0.0, "{linear}");
}

#[test]
fn a_solution_that_fails_has_its_own_exit_code_and_leaves_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = BAR.to_owned() + "[linear_solver]\nmax_iterations = 1\n";
    fs::write(folder.path().join("bar.toml"), text).unwrap();
    for command in [&["run", "bar.toml"][..], &["run", "bar.toml", "--json"]] {
        let (code, out, err) = karman(folder.path(), command);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("failed: not converged: step 1: "), "{err}");
        assert_eq!(out.is_empty(), !command.contains(&"--json"));
    }
    let results = folder.path().join("bar");
    let summary = json(&results.join("summary.json"));
    assert_eq!(summary["outcome"], "not converged");
    assert!(summary["message"].as_str().unwrap().starts_with("step 1: "));
    let history = fs::read_to_string(results.join("history.csv")).unwrap();
    assert_eq!(history.lines().count(), 2);
    let (code, out, err) = karman(folder.path(), &["test", "-q", "bar.toml"]);
    assert_eq!((code, err.as_str()), (2, "failed: 1 of 1 case\n"));
    assert!(out.starts_with("bar.toml\n  failed: not converged: "), "{out}");
}

#[test]
fn faults_of_the_case_or_a_file_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("bar.toml", BAR);
    write("typo.toml", &BAR.replace("[heat]", "[heet]"));
    write("patch.toml", &BAR.replace("xmin.temperature", "left.temperature"));
    write("probe.toml", &BAR.replace("at = [0.5, 0.1]", "at = [5.0, 0.1]"));
    write("file", "a file where a folder should be");
    write(
        "output.toml",
        &BAR.replace("[[output.probe]]", "[output]\ndirectory = \"file\"\n[[output.probe]]"),
    );
    for (arguments, expected) in [
        (&["none.toml"][..], "error: cannot read the case none.toml: "),
        (&["typo.toml"], "error: typo.toml:8:2: unknown key `heet`"),
        (&["patch.toml"], "the mesh has no patch \"left\""),
        (&["probe.toml"], "error: probe \"middle\" at (5, 0.1, 0) is outside the mesh"),
        (&["output.toml"], "error: cannot write file: "),
        (&["bar.toml", "--restart", "none.safetensors"], "error: cannot read the checkpoint none"),
        (&["bar.toml", "--restart", "bar.toml"], "error: bar.toml is not a checkpoint of karman"),
    ] {
        let (code, out, err) = karman(folder.path(), &[&["run", "-q"], arguments].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
}

#[test]
fn test_compares_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("good.toml", BAR);
    write("bad.toml", &BAR.replace("value = 0.5, absolute", "value = 0.6, absolute"));
    write("bare.toml", &BAR[..BAR.find("[expected]").unwrap()]);
    write("wrong.toml", &BAR.replace("probe.middle.t", "probe.midle.t"));
    let run = |cases: &[&str]| karman(folder.path(), &[&["test"], cases].concat());
    let (code, out, err) = run(&["good.toml", "bare.toml"]);
    assert_eq!((code, err.as_str()), (0, "Bar\nBar\n"));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "good.toml");
    assert!(lines[1].starts_with("  pass  probe.middle.temperature = 0.5"), "{out}");
    assert_eq!(lines[3], "  pass  solved; the case expects no values");
    assert_eq!(lines[4], "passed: 2 cases");

    let (code, out, err) = run(&["bad.toml", "good.toml"]);
    assert_eq!(code, 2);
    assert!(err.ends_with("\nfailed: 1 of 2 cases\n"), "{err}");
    assert!(out.contains("  FAIL  probe.middle.temperature = 0.5"), "{out}");

    let (code, out, err) = run(&["bad.toml", "wrong.toml", "good.toml"]);
    assert_eq!(code, 1);
    assert!(err.ends_with("\nerror: 2 of 3 cases failed\n"), "{err}");
    assert!(out.contains("  error: wrong.toml:") && out.contains("did you mean"), "{out}");

    let (code, out, _) = run(&["good.toml", "bad.toml", "--json"]);
    let results: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 2);
    assert_eq!(results[0]["comparisons"][0]["is_met"], true);
    assert_eq!(results[1]["comparisons"][0]["is_met"], false);
}

const UNSTEADY: &str = r#"
[mesh.generate.box]
size = [1.0, 1.0, 1.0]
cells = [4, 4, 4]
element = "tetrahedron"
jitter = 0.2

[heat]
source = "x*t"

[initial]
temperature = "sin(pi*x)"

[boundary]
xmin.temperature = 0.0
xmax.temperature = "t"
ymin = "insulated"
ymax = "insulated"
zmin = "insulated"
zmax = "insulated"

[time]
method = "METHOD"
step = 0.01
end = 0.1

[checkpoint]
every = 0.05

[[output.probe]]
name = "p"
at = [0.4, 0.5, 0.6]
"#;

#[test]
fn a_restart_continues_bit_for_bit() {
    for method in ["backward_euler", "crank_nicolson", "bdf2"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.toml"), UNSTEADY.replace("METHOD", method)).unwrap();
        let (code, _, err) = karman(folder.path(), &["run", "-q", "a.toml"]);
        assert_eq!(code, 0, "{err}");
        let results = folder.path().join("a");
        let read = |file: &str| fs::read(results.join(file)).unwrap();
        let (fields, history) = (read("fields_0000.vtu"), read("history.csv"));
        assert_eq!(String::from_utf8(history.clone()).unwrap().lines().count(), 11);

        fs::remove_file(results.join("fields_0000.vtu")).unwrap();
        let checkpoint = "a/checkpoint_00000005.safetensors";
        let (code, _, err) =
            karman(folder.path(), &["run", "-q", "a.toml", "--restart", checkpoint]);
        assert_eq!(code, 0, "{err}");
        assert_eq!(read("history.csv"), history, "{method}");
        assert!(read("fields_0000.vtu") == fields, "{method}: the fields differ");
    }
}

#[test]
fn a_restart_reuses_the_interpolations_of_multigrid() {
    let folder = tempfile::tempdir().unwrap();
    let multigrid = "[linear_solver]\npreconditioner = \"amg\"\n";
    let case = UNSTEADY.replace("METHOD", "bdf2").replace("[4, 4, 4]", "[6, 6, 6]") + multigrid;
    let run = |case: &str, arguments: &[&str]| {
        fs::write(folder.path().join("a.toml"), case).unwrap();
        let (code, _, err) = karman(folder.path(), &[&["run", "a.toml"], arguments].concat());
        assert_eq!(code, 0, "{err}");
        err
    };
    let results = folder.path().join("a");
    let read = |file: &str| fs::read(results.join(file)).unwrap();
    // The second step of BDF2 has another matrix.
    let err = run(&case, &["-v"]);
    assert_eq!(err.matches(", interpolations of earlier values").count(), 1, "{err}");
    let (fields, history) = (read("fields_0000.vtu"), read("history.csv"));
    let levels = json(&results.join("summary.json"))["linear"]["levels"].clone();
    assert!(levels.as_u64().unwrap() > 1, "{levels}");

    let restart = ["--restart", "a/checkpoint_00000005.safetensors"];
    let err = run(&case, &restart);
    assert!(err.contains("multigrid reuses the saved interpolations\n"), "{err}");
    assert!(read("history.csv") == history && read("fields_0000.vtu") == fields);
    assert_eq!(json(&results.join("summary.json"))["linear"]["levels"], levels);
    assert!(String::from_utf8(read("log.txt")).unwrap().contains("the saved interpolations"));

    // Where they do not fit, the run continues without them and says why.
    let longer = case.replace("step = 0.01", "step = 0.05").replace("end = 0.1", "end = 0.2");
    let other = |change: &str| case.clone() + change;
    for (case, reason) in [
        (other("amg.strength = 0.5\n"), "strength is 0.5 and was 0.25"),
        (case.replace("\"amg\"", "\"jacobi\""), "jacobi"),
        (longer, "the interpolations saved are for shorter time steps: not used"),
    ] {
        let err = run(&case, &restart);
        assert!(err.contains(reason), "{reason}: {err}");
        assert!(!err.contains("multigrid reuses"), "{err}");
    }
}

#[test]
fn a_restart_continues_the_series_of_fields() {
    let folder = tempfile::tempdir().unwrap();
    let text = UNSTEADY.replace("METHOD", "bdf2");
    let case = format!("{text}\n[output]\nevery = 0.02\n");
    fs::write(folder.path().join("a.toml"), &case).unwrap();
    let run = |arguments: &[&str]| {
        let (code, _, err) = karman(folder.path(), &[&["run", "-q", "a.toml"], arguments].concat());
        (code, err)
    };
    assert_eq!(run(&[]), (0, String::new()));
    let results = folder.path().join("a");
    let read = |file: &str| fs::read(results.join(file)).unwrap();
    let files: Vec<String> = (0..6).map(|k| format!("fields_{k:04}.vtu")).collect();
    let whole: Vec<_> = files.iter().map(|file| read(file)).collect();
    let (series, history) = (read("fields.pvd"), read("history.csv"));
    let text = String::from_utf8(series.clone()).unwrap();
    assert_eq!(text.matches("<DataSet").count(), 6, "{text}");

    // The checkpoint of step 5 follows the first three of t = 0, 0.02 … 0.1.
    for file in &files[3..] {
        fs::remove_file(results.join(file)).unwrap();
    }
    let restart = ["--restart", "a/checkpoint_00000005.safetensors"];
    assert_eq!(run(&restart), (0, String::new()));
    for (file, whole) in files.iter().zip(&whole) {
        assert!(read(file) == *whole, "{file}");
    }
    assert!(read("fields.pvd") == series && read("history.csv") == history);

    // A restart at the end writes nothing.
    let at_end = ["--restart", "a/checkpoint_00000010.safetensors"];
    assert_eq!(run(&at_end), (0, String::new()));
    assert!(read("fields.pvd") == series && !results.join("fields_0006.vtu").exists());

    // A longer run continues from there.
    fs::write(folder.path().join("a.toml"), case.replace("end = 0.1", "end = 0.13")).unwrap();
    assert_eq!(run(&at_end), (0, String::new()));
    let longer = String::from_utf8(read("fields.pvd")).unwrap();
    let earlier = text.lines().take_while(|line| !line.starts_with("</Collection"));
    assert!(longer.starts_with(&earlier.collect::<Vec<_>>().join("\n")), "{longer}");
    assert_eq!(longer.matches("<DataSet").count(), 8, "{longer}");
    assert!(longer.contains("file=\"fields_0007.vtu\""), "{longer}");

    // A missing series begins anew; a series of another program is left alone.
    fs::remove_file(results.join("fields.pvd")).unwrap();
    assert_eq!(run(&restart), (0, String::new()));
    let begun = String::from_utf8(read("fields.pvd")).unwrap();
    let first = begun.lines().find(|line| line.starts_with("<DataSet")).unwrap();
    assert!(first.starts_with("<DataSet timestep=\"0.06"), "{begun}");
    assert!(first.ends_with("file=\"fields_0000.vtu\"/>"), "{begun}");
    let other = text.replace("fields_0001", "mine_0001");
    fs::write(results.join("fields.pvd"), &other).unwrap();
    let (code, err) = run(&restart);
    assert_eq!(code, 1, "{err}");
    let message = "a/fields.pvd: entry 1 is `mine_0001.vtu`, not `fields_0001.vtu`, so a restart";
    assert!(err.contains(message), "{err}");
    assert_eq!(String::from_utf8(read("fields.pvd")).unwrap(), other);
    fs::write(results.join("fields.pvd"), "none").unwrap();
    let (code, err) = run(&restart);
    assert_eq!(
        (code, err.contains("fields.pvd: missing section `Collection`")),
        (1, true),
        "{err}"
    );
}
