//! `karman bench thesis amg | flow | cg`.

use crate::common::karman;
use serde_json::Value;

#[test]
fn bench_shows_multigrid_beside_the_tables_of_the_thesis() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    let quick = ["bench", "thesis", "amg", "--backend", "cpu", "--cells", "700,3000"];
    let (code, out, err) = run(&[&quick[..], &["--steps", "2", "--json", "amg.json"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("3000 cells: measured in "), "{err}");
    for text in
        ["relative residual 1e-8", "Table 6.2: ", "Table 6.4: ", "EXTRAPOLATED", "Table 6.17: "]
    {
        assert!(out.contains(text), "{text}: {out}");
    }
    let text = std::fs::read_to_string(folder.path().join("amg.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let grids = report["grids"].as_array().unwrap();
    assert_eq!((&grids[0]["cells"], &grids[1]["cells"]), (&Value::from(750), &Value::from(3072)));
    assert_eq!(grids[1]["variants"][3]["verdict"], "converged");
    assert_eq!(grids[1]["unsteady"][1]["steps"], 2);

    let (code, out, _) = run(&[&quick[..], &["--steps", "0", "--quiet", "--json"]].concat());
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["grids"][0]["unsteady"]), (0, &Value::Null));
}

#[test]
fn bench_shows_pressure_systems_beside_the_tables_of_the_thesis() {
    let folder = tempfile::tempdir().unwrap();
    let quick = ["bench", "thesis", "flow", "--backend", "cpu", "--scale", "1e-3", "--steps", "2"];
    let all = [&quick[..], &["--json", "flow.json"]].concat();
    let (code, out, err) = karman(folder.path(), &all);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("jet, 2698488 cells: measured in "), "{err}");
    for text in ["Table 6.7: ", "Table 6.9: ", "Table 6.13: ", "== square_cylinder, 0.001 of"] {
        assert!(out.contains(text), "{text}: {out}");
    }
    let text = std::fs::read_to_string(folder.path().join("flow.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let grids = report["grids"].as_array().unwrap();
    assert_eq!(grids.len(), 3);
    for grid in grids {
        assert_eq!(grid["default"]["verdict"], "converged");
        assert!(grid["jacobi"]["iterations"].as_u64().unwrap() > 0);
    }
    let only = ["--only", "cavity", "--all-grids", "--beta", "0", "--quiet", "--json"];
    let (code, out, _) = karman(folder.path(), &[&quick[..], &only].concat());
    let report: Value = serde_json::from_str(&out).unwrap();
    let cells: Vec<_> = report["grids"].as_array().unwrap().iter().collect();
    assert_eq!((code, cells.len()), (0, 4));
    assert_eq!(cells[3]["published_cells"], 2_620_000);
    assert_eq!(cells[3]["beta"], serde_json::json!([0.0, 1.0]));
}

#[test]
fn bench_draws_the_cost_of_an_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let command = ["bench", "thesis", "cg", "--backend", "cpu", "--cells", "800,2000"];
    let more = ["--seconds", "0.01", "--svg", "cost.svg", "--json", "cost.json"];
    let (code, out, err) = karman(folder.path(), &[&command[..], &more].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Figure 7.5: streamfunction") && out.contains("roughly 3x"), "{out}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let svg = read("cost.svg");
    assert!(svg.starts_with("<svg") && svg.contains(">streamfunction, cpu<"), "{svg}");
    let report: Value = serde_json::from_str(&read("cost.json")).unwrap();
    let points = report["points"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    assert!(points.iter().all(|p| p["seconds"].as_f64().unwrap() > 0.0), "{points:?}");
}

#[test]
fn bench_draws_the_times_of_smoothing() {
    let folder = tempfile::tempdir().unwrap();
    let command = ["bench", "thesis", "smoothing", "--backend", "cpu", "--vertices", "400,900"];
    let more = ["--threads", "1,2", "--sweeps", "3", "--svg", "s.svg", "--json", "s.json"];
    let (code, out, err) = karman(folder.path(), &[&command[..], &more].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("smoothing by edge_lengths") && out.contains("times serial"), "{out}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let svg = read("s.svg");
    for curve in [">serial, grid<", ">serial, walk<", ">2 threads, grid<", ">2 threads, walk<"] {
        assert!(svg.contains(curve), "{curve}: {svg}");
    }
    let report: Value = serde_json::from_str(&read("s.json")).unwrap();
    let points = report["points"].as_array().unwrap();
    assert_eq!(points.len(), 8);
    assert!(points.iter().all(|p| p["seconds"].as_f64().unwrap() > 0.0), "{points:?}");
}

#[test]
fn bench_refuses_commands_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (&["--thesis"][..], "unexpected argument '--thesis'"),
        (&["thesis"], "error: a command is missing"),
        (&["amg"], "unrecognized subcommand 'amg'"),
        (&["thesis", "amgg"], "unrecognized subcommand 'amgg'"),
        (&["--seconds", "1", "thesis", "amg"], "cannot be used with"),
        (&["thesis", "amg", "--only", "solver"], "unexpected argument '--only'"),
        (&["thesis", "amg", "--cells", "many"], "a whole number such as 10000 or 1e6"),
        (&["thesis", "amg", "--backend", "cpu", "--json", "none/a"], "cannot write none/a: "),
        (
            &["thesis", "amg", "--backend", "cpu", "--cells", "100", "--tolerance", "2"],
            "error: relative_tolerance = 2: it lies in [0, 1)",
        ),
        (&["thesis", "flow", "--only", "pipe"], "flows: cavity, square_cylinder, jet"),
        (&["thesis", "flow", "--scale", "0"], "error: scale = 0: it lies above 0 and up to 100"),
        (&["thesis", "flow", "--steps", "0"], "error: steps = 0: at least one step is needed"),
        (&["thesis", "flow", "--cycles", "0"], "a whole number such as 10000 or 1e6"),
        (&["thesis", "smoothing", "--rule", "best"], "rules: edge_lengths, worst_quality"),
        (&["thesis", "smoothing", "--sweeps", "1"], "1 is not in 2.."),
        (&["thesis", "smoothing", "--backend", "cpu", "--svg", "none/a"], "cannot write none/a: "),
        (&["thesis", "cg", "--backend", "cpu,abacus"], "backends: "),
        (&["thesis", "cg", "--backend", "cpu", "--svg", "none/a"], "cannot write none/a: "),
        (&["thesis", "cg", "--backend", "cpu", "--seconds", "0"], "error: seconds = 0: "),
    ] {
        let (code, _, err) = karman(folder.path(), &[&["bench"], arguments].concat());
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}
