//! `karman bench amg --paper`.

use crate::common::karman;
use serde_json::Value;

#[test]
fn bench_shows_multigrid_beside_the_tables_of_the_thesis() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    let quick = ["bench", "amg", "--paper", "--backend", "cpu", "--cells", "700,3000"];
    let (code, out, err) = run(&[&quick[..], &["--steps", "2", "--json", "paper.json"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("3000 cells: measured in "), "{err}");
    for text in
        ["relative residual 1e-8", "Table 6.2: ", "Table 6.4: ", "EXTRAPOLATED", "Table 6.17: "]
    {
        assert!(out.contains(text), "{text}: {out}");
    }
    let text = std::fs::read_to_string(folder.path().join("paper.json")).unwrap();
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
fn bench_refuses_forms_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (&["--paper"][..], "unexpected argument '--paper'"),
        (&["amg"], "--paper"),
        (&["amgg", "--paper"], "unrecognized subcommand 'amgg'"),
        (&["--seconds", "1", "amg", "--paper"], "cannot be used with"),
        (&["amg", "--paper", "--only", "solver"], "unexpected argument '--only'"),
        (&["amg", "--paper", "--cells", "many"], "a whole number such as 10000 or 1e6"),
        (&["amg", "--paper", "--backend", "cpu", "--json", "none/a"], "cannot write none/a: "),
        (
            &["amg", "--paper", "--backend", "cpu", "--cells", "100", "--tolerance", "2"],
            "error: relative_tolerance = 2: it lies in [0, 1)",
        ),
    ] {
        let (code, _, err) = karman(folder.path(), &[&["bench"], arguments].concat());
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}
