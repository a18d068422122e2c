//! Exit codes and messages of commands that solve nothing.

use crate::common::{BAR, karman, repository};
use serde_json::Value;
use std::fs;

#[test]
fn help_and_version_are_no_failure_and_a_wrong_command_line_is() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    for (arguments, expected) in [
        (&["--version"][..], "karman 0.1.0"),
        (&["--help"], "Usage: karman"),
        (&["help"], "Usage: karman"),
        (&["run", "--help"], "Usage: karman run"),
        (&["help", "run"], "Usage: karman run"),
        (&["help", "mesh", "generate"], "--element"),
        (&["help", "bench", "thesis"], "Menon's"),
        (&["help", "case"], "[mesh]"),
        (&["help", "case", "heat"], "conductivity"),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        assert!(out.contains(expected), "{arguments:?}: {out}");
    }
    for (arguments, expected) in [
        (&[][..], "error: a command is missing"),
        (&["solve-it"], "error: unrecognized subcommand 'solve-it'"),
        (&["run"], "error: the following required arguments were not provided"),
        (&["run", "a.toml", "--backend", "gpu"], "backends: auto, cpu, cuda, vulkan, wgpu, hip"),
        (&["devices", "-q", "-v"], "cannot be used with"),
        (&["help", "solve-it"], "error: there is no command `solve-it`"),
        (&["help", "case", "heating"], "error: a case has no section `heating`; sections: mesh"),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
        assert!(!err.contains("provoke-bug"), "{err}");
    }
}

#[test]
fn a_bug_is_reported_as_one_with_its_own_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = karman(folder.path(), &["provoke-bug"]);
    assert_eq!((code, out.as_str()), (3, ""));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 2, "{err}");
    assert!(
        lines[0].starts_with("this is a bug in karman, not a fault of yours: karman provoke-bug")
    );
    assert!(lines[1].starts_with("Please report it"));
}

#[test]
fn devices_lists_the_host_first() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = karman(folder.path(), &["devices"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("cpu ") && out.contains("host thread"), "{out}");
    let (code, out, _) = karman(folder.path(), &["devices", "--json"]);
    let list: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &list[0]["backend"]), (0, &Value::from("cpu")));
}

#[test]
fn new_writes_a_case_that_is_in_order_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    let (code, out, err) = run(&["new", "plate"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "wrote plate/case.toml\nsolve it: karman run plate/case.toml\n");
    let (code, out, err) = run(&["check", "plate/case.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("plate/case.toml is in order: heat conduction, steady, "), "{out}");

    let before = fs::read_to_string(folder.path().join("plate/case.toml")).unwrap();
    let (code, _, err) = run(&["new", "plate", "--template", "heat_unsteady"]);
    assert_eq!((code, err.as_str()), (1, "error: plate/case.toml exists already\n"));
    assert_eq!(fs::read_to_string(folder.path().join("plate/case.toml")).unwrap(), before);
    let (code, _, err) = run(&["new", "other", "--template", "heet"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: there is no template `heet`; templates: heat, "), "{err}");
    assert!(!folder.path().join("other").exists());
    for template in ["channel", "step"] {
        let (code, _, err) = run(&["new", template, "--template", template]);
        assert_eq!(code, 0, "{err}");
        let (code, out, err) = run(&["check", &format!("{template}/case.toml")]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("/case.toml is in order: "), "{out}");
    }
    let (_, help, _) = run(&["new", "--help"]);
    for line in
        ["Templates:\n  heat ", "\n  step           flow over a backward-facing step, from a mesh"]
    {
        assert!(help.contains(line), "{help}");
    }
}

#[test]
fn every_case_of_the_repository_is_in_order() {
    let root = repository();
    let mut cases: Vec<_> = fs::read_dir(root.join("cases/heat"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    cases.sort();
    assert!(cases.len() >= 9, "{cases:?}");
    // Large meshes are slow in a test build.
    let small = cases.iter().filter(|case| !case.ends_with("unit_cube_sinusoidal.toml"));
    for case in small {
        let (code, out, err) = karman(&root, &["check", case.to_str().unwrap()]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("is in order"), "{out}");
    }
}

#[test]
fn the_case_in_the_readme_runs() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("```toml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("readme.toml"), text).unwrap();
    let (code, out, err) = karman(folder.path(), &["run", "readme.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("converged in "), "{out}");
    for line in readme.lines().filter(|line| line.contains("](") && !line.contains("](http")) {
        let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links {
            assert!(repository().join(link).exists(), "{link}");
        }
    }
}

#[test]
fn check_finds_faults_of_text_mesh_and_probes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bar.toml");
    let check = |text: &str| {
        fs::write(&path, text).unwrap();
        let (code, out, err) = karman(folder.path(), &["check", "bar.toml"]);
        let (json_code, json, _) = karman(folder.path(), &["check", "bar.toml", "--json"]);
        assert_eq!(code, json_code);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["ok"], Value::from(code == 0));
        (code, out, err, json)
    };
    let (code, out, err, json) = check(BAR);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "bar.toml is in order: heat conduction, steady, 20 cells\n");
    assert_eq!(json["errors"], Value::Array(vec![]));

    let (code, out, err, json) = check(&BAR.replace("[heat]", "[heat]\nconductivty = 1.0"));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: bar.toml:9:1: unknown key `conductivty`"), "{err}");
    assert_eq!((&json["errors"][0]["line"], &json["errors"][0]["column"]), (&9.into(), &1.into()));

    let (code, _, err, _) = check(&BAR.replace("ymax = \"insulated\"", ""));
    assert_eq!(code, 1);
    assert!(err.contains("patch \"ymax\" of the mesh has no condition"), "{err}");

    let (code, _, err, json) = check(&BAR.replace("at = [0.5, 0.1]", "at = [0.5, 0.3]"));
    assert_eq!(code, 1);
    assert!(
        err.starts_with("error: probe \"middle\" at (0.5, 0.3, 0) is outside the mesh"),
        "{err}"
    );
    assert!(json["errors"][0]["message"].as_str().unwrap().starts_with("probe \"middle\""));

    let (code, _, err) = karman(folder.path(), &["check", "none.toml"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: cannot read the case none.toml: "), "{err}");
}

#[test]
fn bench_measures_and_refuses_wrong_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    let arguments =
        ["bench", "--backend", "cpu", "--cells", "1e3,2000", "--seconds", "0.001", "--copy", "1e6"];
    let (code, out, err) = run(&arguments);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("host threads; copy ") && out.contains(" GB/s in f64"), "{out}");
    for text in [
        "-- streaming",
        "-- mesh",
        "reading Gmsh 2.2 ASCII",
        "-- operators",
        "-- solver",
        "-- kernels",
        "CG + Jacobi to 1e-8",
    ] {
        assert_eq!(out.matches(text).count(), 2, "{text}: {out}");
    }
    let single = ["--precision", "f32", "--only", "streaming", "--json"];
    let (code, out, _) = run(&[&arguments[..], &single].concat());
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["backend"]), (0, &Value::from("cpu")));
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["name"] == "copy"
        && row["precision"] == "f32"
        && row["group"] == "streaming"
        && row["entities"] == 2000));
    assert!(rows.iter().all(|row| row["group"] == "streaming" || row["group"] == "copy"));
    let (code, out, _) = run(&[&arguments[..], &["--only", "solver", "--json", "b.json"]].concat());
    assert!(code == 0 && out.contains("-- solver") && !out.contains("-- streaming"), "{out}");
    let text = std::fs::read_to_string(folder.path().join("b.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert!(report["karman"].is_string() && report["processor"].is_string(), "{text}");
    for (wrong, message) in [
        (["--cells", "1e3,many"], "a whole number such as 10000 or 1e6"),
        (["--only", "operator"], "groups: streaming, mesh, operators, solver, kernels"),
        (["--json", "none/b.json"], "error: cannot write none/b.json: "),
        (["--cells", "3.9e9"], "error: a mesh of about 3900000000 cells: cells = "),
        (["--seconds", "0"], "error: --seconds must be above 0, not 0"),
    ] {
        let command = ["bench", "--backend", "cpu", "--copy", "1e6", "--only", "operators"];
        let (code, _, err) = run(&[&command[..], &wrong[..]].concat());
        assert_eq!(code, 1);
        assert!(err.contains(message), "{err}");
    }
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_backend_that_is_not_built_in_is_refused_with_the_way_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = karman(folder.path(), &["bench", "--backend", "cuda"]);
    assert_eq!(code, 1);
    assert!(err.contains("without the `cuda` backend") && err.contains("--features cuda"), "{err}");
}

#[test]
#[cfg(not(feature = "mpi"))]
fn a_program_without_mpi_says_so_as_one_of_several_processes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bar.toml"), BAR).unwrap();
    for (number, command, expected) in [
        ("0", "run", "error: 3 processes were started: this karman was built without MPI"),
        ("0", "check", "error: 3 processes were started: `karman run` alone runs as several"),
        // The first process alone prints.
        ("2", "run", ""),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_karman"))
            .current_dir(folder.path())
            .args([command, "bar.toml"])
            .envs([("OMPI_COMM_WORLD_SIZE", "3"), ("OMPI_COMM_WORLD_RANK", number)])
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.starts_with(expected) && err.is_empty() == expected.is_empty(), "{err}");
        assert!(!folder.path().join("bar").exists());
    }
}
