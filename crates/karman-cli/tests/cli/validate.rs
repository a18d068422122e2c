//! `karman validate`

use crate::common::{BAR, karman, repository};
use std::fs;
use std::path::Path;

const SUITE: &str = r#"
title = "Bars"
[[section]]
title = "Two bars"
cases = [{ name = "good", quick = true, halvings = 1 }, { name = "bad" }]
quantities = { "probe.middle.temperature" = "Temperature in the middle" }
[[section.figure]]
title = "Along the axis"
kind = "line"
value = { name = "temperature", label = "T" }
curves = [{ case = "good", line = "axis", within = 1e-3, reference = { formula = "x", label = "exact" } }]
"#;

/// A folder `cases/bars` with a suite of a case that passes and one that fails.
fn suite(folder: &Path) {
    let bars = folder.join("cases/bars");
    fs::create_dir_all(&bars).unwrap();
    let line = "[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.1]\nto = [1.0, 0.1]\n";
    let write = |name: &str, text: &str| fs::write(bars.join(name), text).unwrap();
    write("good.toml", &(BAR.to_owned() + line));
    write("bad.toml", &BAR.replace("value = 0.5, absolute", "value = 0.6, absolute"));
    fs::create_dir(bars.join("validation")).unwrap();
    write("validation/suite.toml", SUITE);
}

#[test]
fn a_suite_becomes_a_page_and_a_failure_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path());
    let (code, out, err) = karman(folder.path(), &["validate", "bars", "-q"]);
    assert_eq!((code, err.as_str()), (2, "failed: 1 of 2 cases\n"), "{out}");
    // With -q only failures are printed.
    assert!(out.starts_with("bad\n  FAIL  Temperature in the middle = 0.5"), "{out}");
    let page = fs::read_to_string(folder.path().join("validation-bars/index.html")).unwrap();
    for text in ["<h1>Bars</h1>", "1 of 2 cases failed", "<svg", "5 cells", "<tr class=\"failed\">"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    // Results are beside the page, not beside the cases.
    assert!(folder.path().join("validation-bars/good_coarser_2/summary.json").is_file());
    assert_eq!(
        fs::read_dir(folder.path().join("cases/bars")).unwrap().count(),
        3,
        "the cases and the suite"
    );

    let quick = ["validate", "cases/bars", "--quick", "-o", "page", "--backend", "cpu"];
    let (code, out, err) = karman(folder.path(), &quick);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("good\n  pass  Temperature in the middle = 0.5"), "{out}");
    assert!(out.ends_with("page: page/index.html\npassed: 1 case\n"), "{out}");

    // A named case beside the quick ones is not dropped in silence; a pattern may also match others.
    let (code, _, err) = karman(folder.path(), &[&quick[..], &["good", "bad"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("warning: `bad` is left out: with --quick only cases of seconds are solved\n"),
        "{err}"
    );
    let (code, _, err) = karman(folder.path(), &[&quick[..], &["*"]].concat());
    assert!(code == 0 && !err.contains("left out"), "{err}");
}

#[test]
fn runs_that_begin_at_once_in_one_folder_read_whole_cases() {
    let folder = tempfile::tempdir().unwrap();
    let start = |case: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_karman"));
        command.current_dir(folder.path()).env("XDG_RUNTIME_DIR", folder.path());
        command.args(["validate", "incompressible", case, "-q"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    // None of these names is a case: each process writes the built-in suite and ends.
    let children: Vec<_> = (0..12).map(|k| start(&format!("none_{k}"))).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.starts_with("error: the suite has no case `none_"), "{err}");
    }
    let cases = folder.path().join("validation-incompressible/cases/incompressible");
    let left = fs::read_dir(cases).unwrap().flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));
}

#[test]
fn results_are_reused_where_case_and_version_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path());
    let run = || karman(folder.path(), &["validate", "bars", "good", "-q", "--reuse"]);
    let (code, out, _) = run();
    assert_eq!(code, 0, "{out}");
    let summary = folder.path().join("validation-bars/good/summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    let marked = text.replace("\"outcome\": \"converged\"", "\"outcome\": \"reused\"");
    assert_ne!(text, marked);
    fs::write(&summary, &marked).unwrap();
    assert_eq!(run().0, 0);
    assert_eq!(fs::read_to_string(&summary).unwrap(), marked, "solved again");
    let case = folder.path().join("cases/bars/good.toml");
    fs::write(&case, fs::read_to_string(&case).unwrap() + "# changed\n").unwrap();
    assert_eq!(run().0, 0);
    assert_ne!(fs::read_to_string(&summary).unwrap(), marked, "not solved again");
}

#[test]
fn an_unknown_suite_or_case_is_refused_with_the_known_names() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path());
    for (arguments, expected) in [
        (
            &["bar"][..],
            "there is neither bar/validation/suite.toml nor cases/bar/validation/suite.toml; suites: bars, compressible, incompressible",
        ),
        (&["bars", "god"], "the suite has no case `god`; its cases: good, bad"),
        (&["bars", "go*", "x*"], "the suite has no case `x*`; its cases: good, bad"),
        (&["bars", "bad", "--quick"], "none of the cases takes seconds; those that do: good"),
    ] {
        let (code, out, err) = karman(folder.path(), &[&["validate"], arguments].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {err}");
        assert_eq!(err, format!("error: {expected}\n"));
    }
    let broken = folder.path().join("cases/bars/validation/suite.toml");
    fs::write(&broken, SUITE.replace("kind = \"line\"", "kind = \"curve\"")).unwrap();
    let (code, _, err) = karman(folder.path(), &["validate", "bars"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("unknown value `curve`") && err.contains("line, surface, history"),
        "{err}"
    );
    fs::write(&broken, SUITE.replace("halvings = 1", "halvings = 2")).unwrap();
    let (code, out, _) = karman(folder.path(), &["validate", "bars", "good", "-q"]);
    assert_eq!(code, 1);
    assert!(out.contains("10 cells are not a multiple of 4"), "{out}");
}

#[test]
fn an_installed_program_brings_its_suite() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        karman(folder.path(), &[&["validate", "incompressible"], arguments].concat())
    };
    let (code, _, err) = run(&["no_such_case"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("the suite has no case `no_such_case`; its cases: taylor_green, "),
        "{err}"
    );
    let cases = folder.path().join("validation-incompressible/cases/incompressible");
    for file in ["cavity_100.toml", "validation/suite.toml", "validation/cavity_u.csv"] {
        let written = fs::read_to_string(cases.join(file)).unwrap();
        let original = repository().join("cases/incompressible").join(file);
        assert_eq!(written, fs::read_to_string(original).unwrap());
    }
    let (code, out, err) = run(&["taylor_green_periodic"]);
    assert_eq!(code, 0, "{out} {err}");
    assert!(out.contains("page: validation-incompressible/index.html\npassed: 1 case\n"), "{out}");
}
