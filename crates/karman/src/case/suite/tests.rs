//! Suites that are valid, and the messages about those that are not.

use super::*;
use std::path::Path;

const SUITE: &str = r#"
title = "Flow"
about = """
Two
  lines."""

[[section]]
title = "Cavity"
sources = ["Ghia (1982)"]
cases = [{ name = "a_1", quick = true }, { name = "a_2", halvings = 2, extrapolated = { "flow.courant" = 0.02 } }]
quantities = { "flow.courant" = "Courant number" }
[[section.figure]]
title = "u"
kind = "line"
coordinate = { name = "y", label = "y / L", from = 0.0, to = 1.0 }
value = { name = "velocity_x" }
upright = true
curves = [{ case = "a_1", line = "up", within = 0.1, reference = { file = "u.csv", column = "re_2" } }]
[[section.figure]]
title = "Lengths"
kind = "cases"
value = { name = "recirculation.wake.reattachment" }
curves = [{ case = "a_1", at = 20.0 }]
reference = { formula = "2*x", label = "line" }

[[section]]
title = "Other"
cases = [{ name = "b" }]
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a_1.toml", "a_2.toml", "b.toml"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    std::fs::create_dir(folder.path().join("validation")).unwrap();
    std::fs::write(folder.path().join("validation/u.csv"), "y,re_1,re_2\n0,1,2\n1,,4\n").unwrap();
    folder
}

fn parse(text: &str) -> Result<Suite, String> {
    let folder = folder();
    Suite::parse(text, folder.path(), "suite.toml")
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

/// The message of a suite in which `from` is replaced.
fn failure(from: &str, to: &str) -> String {
    assert!(SUITE.contains(from), "{from}");
    parse(&SUITE.replacen(from, to, 1)).unwrap_err()
}

#[test]
fn a_suite_has_sections_cases_and_figures() {
    let suite = parse(SUITE).unwrap();
    assert_eq!((suite.title.as_str(), suite.about.as_str()), ("Flow", "Two lines."));
    let names: Vec<&str> = suite.cases().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["a_1", "a_2", "b"]);
    let section = &suite.sections[0];
    assert_eq!(section.cases[1].halvings, 2);
    assert_eq!(section.cases[1].extrapolated, [("flow.courant".to_owned(), 0.02)]);
    assert_eq!(section.name_of("flow.courant"), "Courant number");
    assert_eq!(section.name_of("mesh.cells"), "mesh.cells");
    let [line, lengths] = &section.figures[..] else { panic!() };
    assert!(line.upright && line.kind == FigureKind::Line);
    assert_eq!((line.value.label.as_str(), line.coordinate.to), ("velocity_x", Some(1.0)));
    let curve = &line.curves[0];
    assert_eq!((curve.label.as_str(), curve.line.as_str(), curve.within), ("a_1", "up", Some(0.1)));
    let reference = curve.reference.as_ref().unwrap();
    assert_eq!(reference.data, ReferenceData::Points(vec![[0.0, 2.0], [1.0, 4.0]]));
    let formula = lengths.reference.as_ref().unwrap();
    let ReferenceData::Formula(value) = &formula.data else { panic!() };
    assert_eq!((value.at(&[3.0], 0.0), lengths.curves[0].at), (6.0, 20.0));
}

#[test]
fn cases_are_selected_by_pattern_and_by_time() {
    let suite = parse(SUITE).unwrap();
    let chosen = |patterns: &[&str], quick| -> Result<Vec<String>, String> {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        let found = suite.choose(&patterns, quick).map_err(str::to_owned)?;
        Ok(found.into_iter().map(|case| case.name.clone()).collect())
    };
    assert_eq!(chosen(&[], false).unwrap(), ["a_1", "a_2", "b"]);
    assert_eq!(chosen(&["b", "a_?"], false).unwrap(), ["a_1", "a_2", "b"]);
    assert_eq!(chosen(&["*2"], false).unwrap(), ["a_2"]);
    assert_eq!(chosen(&["a*"], true).unwrap(), ["a_1"]);
    assert_eq!(chosen(&["b"], true).unwrap(), [""; 0]);
    assert_eq!(chosen(&["a_1", "c*"], false), Err("c*".to_owned()));
    assert_eq!(chosen(&["a"], false), Err("a".to_owned()));
}

#[test]
fn errors_of_a_suite_are_reported_with_their_place() {
    for (from, to, expected) in [
        ("title = \"Flow\"", "", "`title` is missing"),
        ("sources", "source", "unknown key `source`"),
        ("name = \"b\"", "name = \"a_1\"", "case `a_1` is listed twice"),
        ("name = \"b\"", "name = \"c\"", "there is no case c.toml"),
        ("cases = [{ name = \"b\" }]", "cases = []", "`cases` lists no case"),
        ("cases = [{ name = \"b\" }]", "", "`cases` is missing"),
        ("halvings = 2", "halvings = 4", "`halvings` is at most 3, not 4"),
        ("halvings = 2", "halvings = 1", "`extrapolated` takes three meshes"),
        ("= 0.02", "= -1", "`extrapolated` must be positive, not -1"),
        ("kind = \"line\"", "kind = \"lines\"", "unknown value `lines`"),
        ("kind = \"line\"", "kind = \"history\"", "`line` has a meaning in a figure of kind"),
        ("line = \"up\", ", "", "`line` is missing"),
        (
            "line = \"up\", ",
            "line = \"up\", surface = \"a\", ",
            "`surface` has a meaning in a figure of",
        ),
        ("kind = \"line\"", "kind = \"surface\"", "`line` has a meaning in a figure of kind"),
        ("from = 0.0", "from = 1.0", "`from` (1) must be below `to` (1)"),
        ("value = { name = \"velocity_x\" }", "", "`value` is missing"),
        ("{ name = \"velocity_x\" }", "{ label = \"u\" }", "`value` is missing: a column"),
        ("case = \"a_1\", line", "case = \"a1\", line", "the suite has no case `a1`"),
        (
            "within = 0.1, reference = { file = \"u.csv\", column = \"re_2\" }",
            "within = 0.1",
            "`within` needs a `reference`",
        ),
        (
            "file = \"u.csv\", column = \"re_2\"",
            "band = [0.0, 1.0]",
            "`within` needs a `reference`",
        ),
        ("within = 0.1", "within = 0", "`within` must be positive, not 0"),
        ("u.csv", "v.csv", "cannot read the table validation/v.csv"),
        (", column = \"re_2\"", "", "the table has several columns: name a `column`"),
        ("re_2\"", "re_3\"", "validation/u.csv has no column `re_3`; columns: y, re_1, re_2"),
        ("formula = \"2*x\"", "formula = \"2*q\"", "in an expression: unknown name `q`"),
        ("formula = \"2*x\"", "band = [2.0, 1.0]", "the band from 2 to 1 is empty"),
        ("formula = \"2*x\", label", "label", "a reference has one of `file`, `formula`, `band`"),
        ("at = 20.0", "label = \"Re 20\"", "`at` is missing"),
        ("line = \"up\", ", "line = \"up\", at = 1.0, ", "`at` has a meaning in a figure of kind"),
    ] {
        let message = failure(from, to);
        assert!(message.starts_with("suite.toml:"), "{message}");
        assert!(message.contains(expected), "{from} -> {to}: {message}");
    }
    assert!(parse("title = \"none\"").unwrap_err().contains("the suite has no [[section]]"));
    let message = Suite::read(Path::new("no/such")).unwrap_err().to_string();
    assert!(
        message.starts_with("cannot read the case no/such/validation/suite.toml: "),
        "{message}"
    );
}

/// The suites of the repository, with the cases and tables they name.
#[test]
fn the_suites_of_the_repository_are_valid() {
    for name in ["compressible", "incompressible"] {
        suite_is_valid(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(name));
    }
}

fn suite_is_valid(folder: &Path) {
    let suite = Suite::read(folder).unwrap_or_else(|error| panic!("{error}"));
    assert!(suite.cases().any(|case| case.quick));
    for case in suite.cases() {
        let path = folder.join(format!("{}.toml", case.name));
        let read = crate::case::Case::read(&path).unwrap_or_else(|error| panic!("{error}"));
        if case.halvings > 0 {
            let factor = 1 << case.halvings;
            crate::validate::coarsen_case(&read, factor)
                .unwrap_or_else(|e| panic!("{}: {e}", case.name));
        }
        let section = suite.sections.iter().find(|s| s.cases.contains(case)).unwrap();
        for figure in &section.figures {
            for curve in figure.curves.iter().filter(|curve| curve.case == case.name) {
                let known = match figure.kind {
                    FigureKind::Line => read.output.lines.iter().any(|l| l.name == curve.line),
                    FigureKind::Surface => {
                        read.output.surfaces.iter().any(|surface| surface.name == curve.line)
                    }
                    FigureKind::History | FigureKind::Cases | FigureKind::Meshes => true,
                };
                assert!(known, "{}: {}", case.name, curve.line);
            }
        }
    }
}
