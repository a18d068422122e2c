//! `karman solve`: output, files and every refusal.

use crate::common::karman;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// −u″ on n points with Dirichlet ends: tridiagonal, as a symmetric file.
fn line(n: usize) -> String {
    let mut text =
        format!("%%MatrixMarket matrix coordinate real symmetric\n% -u''\n{n} {n} {}\n", 2 * n - 1);
    for i in 1..=n {
        text += &format!("{i} {i} 2.0\n");
        if i > 1 {
            text += &format!("{i} {} -1.0\n", i - 1);
        }
    }
    text
}

const COLUMN: &str = "%%MatrixMarket matrix array real general\n";

fn values(path: &Path) -> Vec<f64> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(2).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn a_system_is_solved_by_every_method_in_both_precisions() {
    let folder = tempfile::tempdir().unwrap();
    let n = 40;
    fs::write(folder.path().join("a.mtx"), line(n)).unwrap();
    // A x for x_i = i is zero but in the last row.
    let b: String = (1..=n).map(|i| if i == n { "41.0\n" } else { "0.0\n" }).collect();
    fs::write(folder.path().join("b.mtx"), format!("{COLUMN}{n} 1\n{b}")).unwrap();
    let system = ["solve", "a.mtx", "--rhs", "b.mtx", "--backend", "cpu", "--output", "x.mtx"];
    let run = |more: &[&str]| karman(folder.path(), &[&system[..], more].concat());
    for method in ["cg", "single_reduction_cg", "flexible_cg", "bicgstab", "multigrid", "fgmres"] {
        for precision in ["f64", "f32"] {
            let (code, out, err) = run(&["--method", method, "--precision", precision]);
            assert_eq!((code, err.as_str()), (0, ""), "{method} {precision}: {out}");
            let lines: Vec<&str> = out.lines().collect();
            assert!(lines[0].starts_with("a.mtx: 40 rows, 118 entries, symmetric, read in "));
            assert!(lines[1].starts_with(&format!("{method} with ")), "{out}");
            assert!(lines.last().unwrap().starts_with("converged in "), "{out}");
            let x = values(&folder.path().join("x.mtx"));
            let tolerance = if precision == "f64" { 1e-4 } else { 0.5 };
            assert!(
                x.len() == n
                    && x.iter().zip(1..).all(|(x, i)| (x - f64::from(i)).abs() < tolerance)
            );
        }
    }
    for name in ["none", "jacobi", "gauss_seidel", "chebyshev", "amg"] {
        let (code, out, err) = run(&["--preconditioner", name, "--tolerance", "1e-10"]);
        assert_eq!((code, err.as_str()), (0, ""), "{name}: {out}");
        assert!(out.contains(&format!("\ncg with {name}, set up in ")), "{out}");
        assert_eq!(out.contains("operator complexity"), name == "amg", "{out}");
    }
    let (code, out, _) = run(&["--json", "--tolerance", "1e-10"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["converged"]), (0, &Value::from(true)));
    assert_eq!((&report["rows"], &report["entries"]), (&Value::from(40), &Value::from(118)));
    assert!(report["relative_residual"].as_f64().unwrap() <= 1e-10);
}

#[test]
fn the_default_right_hand_side_is_one_and_unsymmetric_matrices_have_their_method() {
    let folder = tempfile::tempdir().unwrap();
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 1\n2 2 1\n2 2 3\n";
    fs::write(folder.path().join("a.mtx"), text).unwrap();
    let (code, out, err) =
        karman(folder.path(), &["solve", "a.mtx", "-o", "x.mtx", "--backend", "cpu"]);
    assert_eq!((code, err.as_str()), (0, ""));
    // Two entries of equal row and column are added.
    assert!(out.contains("2 rows, 3 entries, not symmetric") && out.contains("\nbicgstab with "));
    let x = values(&folder.path().join("x.mtx"));
    assert!((x[0] - 0.375).abs() < 1e-7 && (x[1] - 0.25).abs() < 1e-7, "{x:?}");
}

#[test]
fn a_solve_that_does_not_converge_says_so_and_writes_its_iterate() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mtx"), line(200)).unwrap();
    let command = ["solve", "a.mtx", "--max-iterations", "3", "-o", "x.mtx", "--backend", "cpu"];
    let (code, _, err) = karman(folder.path(), &command);
    assert_eq!(code, 2);
    assert!(err.starts_with("failed: not converged after 3 iterations"), "{err}");
    assert_eq!(values(&folder.path().join("x.mtx")).len(), 200);
}

#[test]
fn bad_files_and_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let general = "%%MatrixMarket matrix coordinate real general\n";
    write("a.mtx", &line(3));
    write("word.mtx", &format!("{general}1 1 1\n1 1 one\n"));
    write("wide.mtx", &format!("{general}1 2 2\n1 1 1\n1 2 1\n"));
    write("empty.mtx", &format!("{general}2 2 2\n1 1 1\n1 2 1\n"));
    write("large.mtx", &format!("{general}4000000000 4000000000 1\n1 1 1\n"));
    write("short.mtx", &format!("{COLUMN}2 1\n1\n1\n"));
    write("b.mtx", &format!("{COLUMN}3 1\n1\nx\n1\n"));
    for (arguments, message) in [
        (&["none.mtx"][..], "error: none.mtx: No such file"),
        (&["word.mtx"], "error: word.mtx, line 3: `one` is not a number that can stand for"),
        (&["wide.mtx"], "error: the matrix has 1 rows and 2 columns; a system must be square"),
        (&["empty.mtx"], "error: row 1 of the matrix is empty"),
        (
            &["large.mtx"],
            "error: large.mtx: 4000000000 rows with 1 entries: a system has an entry in each row",
        ),
        (
            &["a.mtx", "--rhs", "short.mtx"],
            "error: short.mtx: 2 elements, but the matrix has 3 rows",
        ),
        (&["a.mtx", "--rhs", "b.mtx"], "error: b.mtx, line 4: `x` is not a number"),
        (&["a.mtx", "--rhs", "a.mtx"], "error: a.mtx, line 1: Matrix Market `coordinate` here"),
        (&["a.mtx", "--method", "gmres"], "methods: cg, single_reduction_cg, "),
        (&["a.mtx", "--preconditioner", "ilu"], "preconditioners: none, jacobi, gauss_seidel, "),
        (&["a.mtx", "--tolerance", "2"], "error: relative_tolerance = 2: it lies in [0, 1)"),
        (&["a.mtx", "--output", "none/x.mtx"], "error: none/x.mtx: No such file"),
    ] {
        let command = [&["solve"], arguments, &["--backend", "cpu"]].concat();
        let (code, _, err) = karman(folder.path(), &command);
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}

#[test]
fn bench_writes_systems_that_solve_reads() {
    let folder = tempfile::tempdir().unwrap();
    let quick = ["--cells", "1000", "--seconds", "0.001", "--copy", "1e6", "--backend", "cpu"];
    let bench = [&["bench", "--only", "solver", "--write-system", "."], &quick[..]].concat();
    let (code, _, err) = karman(folder.path(), &bench);
    assert_eq!((code, err.as_str()), (0, ""));
    let files = ["solve", "system-1000.mtx", "--rhs", "system-1000-rhs.mtx", "--backend", "cpu"];
    let (code, out, err) = karman(folder.path(), &files);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(", symmetric, ") && out.contains("converged in "), "{out}");
}
