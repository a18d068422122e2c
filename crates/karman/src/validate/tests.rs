//! Pages of small suites.

use super::plot::well_formed;
use super::*;
use crate::case::{Case, Suite, TimeStep};
use serde_json::json;
use std::path::Path;

const SUITE: &str = r#"
title = "Bars & rods"
about = "Two bars."

[[section]]
title = "Bars"
about = "Heat along a bar."
sources = ["Fourier <1822>"]
cases = [{ name = "good", halvings = 2, extrapolated = { "flow.kinetic_energy" = 0.1 } }, { name = "bad" }]
quantities = { "probe.middle.temperature" = "Temperature in the middle" }
[[section.figure]]
title = "Along the bar"
kind = "line"
coordinate = { name = "x", label = "x" }
value = { name = "temperature", label = "T" }
curves = [{ case = "good", line = "axis", label = "karman", within = 0.05, reference = { file = "t.csv", label = "exact" } }]
[[section.figure]]
title = "In time"
kind = "history"
value = { name = "residual", label = "r" }
curves = [{ case = "good" }, { case = "bad", reference = { formula = "x", label = "x" } }]
[[section.figure]]
title = "Errors"
kind = "meshes"
order = 2.0
value = { name = "errors.temperature.l2", label = "error" }
curves = [{ case = "good" }]
[[section.figure]]
title = "By case"
kind = "cases"
coordinate = { label = "case" }
value = { name = "probe.middle.temperature", label = "T" }
curves = [{ case = "good", at = 1.0 }, { case = "bad", at = 2.0 }]
reference = { band = [0.4, 0.6], label = "band" }

[[section]]
title = "Not run"
cases = [{ name = "other" }]
"#;

/// A folder with the suite and the output of runs of `good` and `bad`.
fn suite() -> (tempfile::TempDir, Suite) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    ["good.toml", "bad.toml", "other.toml"].iter().for_each(|name| write(name, ""));
    write("validation/t.csv", "# source\nx,T\n0.25,0.26\n0.5,0.5\n2,9\n");
    write("good/line_axis.csv", "s,x,temperature\n0,1,1.0\n1,0,0.0\n");
    for case in ["good", "bad"] {
        write(&format!("{case}/history.csv"), "step,time,residual\n1,0.1,0.5\n2,0.2,0.25\n");
        write(&format!("{case}/temperature.png"), "not quite a picture");
    }
    let suite = Suite::parse(SUITE, folder.path(), "suite.toml").unwrap();
    (folder, suite)
}

/// The result of a case on meshes of 64, 16 and 4 cells with errors h² and energies 1 − h²/10.
fn result(folder: &Path, name: &str, middle: f64, meshes: usize) -> CaseResult {
    let run = |k: usize| {
        let h = f64::from(1 << k);
        let summary = json!({
            "version": "0.1.0", "backend": "cpu", "device": "2 host threads", "precision": "f64",
            "mesh": { "cells": 64 >> (2 * k), "by_element": { "quadrilateral": 64 >> (2 * k) } },
            "time": { "steps": 12345, "end": 0.2 },
            "phases": { "mesh": 0.5, "solve": 1.0 },
            "probe": { "middle": { "temperature": middle } },
            "errors": { "temperature": { "l2": 1e-3 * h * h } },
            "flow": { "kinetic_energy": 1.0 - 0.1 * h * h },
            "outcome": "finished",
        });
        MeshRun { coarsening: 1 << k, summary, directory: folder.join(name) }
    };
    let expect = |path: &str, value, tolerance| Expectation { path: path.into(), value, tolerance };
    CaseResult {
        name: name.to_owned(),
        title: format!("The {name} bar"),
        expected: vec![
            expect("probe.middle.temperature", 0.5, 0.01),
            expect("errors.temperature.l2", 0.0, 0.01),
            expect("flow.kinetic_energy", 1.0, 0.2),
        ],
        picture: Some("temperature".to_owned()),
        runs: (0..meshes).map(run).collect(),
        ..CaseResult::default()
    }
}

fn checked(suite: &Suite, mut result: CaseResult) -> CaseResult {
    let section = &suite.sections[0];
    let case = section.cases.iter().find(|case| case.name == result.name).unwrap();
    match checks(section, case, &result) {
        Ok(checks) => result.checks = checks,
        Err(error) => result.error = Some(error),
    }
    result
}

#[test]
fn a_case_is_compared_with_its_values_its_curves_and_its_extrapolation() {
    let (folder, suite) = suite();
    let good = checked(&suite, result(folder.path(), "good", 0.505, 3));
    assert!(good.passes(), "{good:?}");
    let lines: Vec<String> = good.checks.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    pass  Temperature in the middle = 0.505, expected 0.5 ± 1.00e-2, off by 5.00e-3
    pass  Error of the temperature T, L² = 0.001, expected 0 ± 1.00e-2, off by 1.00e-3
    pass  Kinetic energy ½ ∫ u² dV = 0.9, expected 1 ± 2.00e-1, off by 1.00e-1
    pass  Kinetic energy ½ ∫ u² dV, against its extrapolation = 0.9, expected 1 ± 1.00e-1, off by 1.00e-1
    pass  Along the bar, karman: x = 0.25, worst of 2 points = 0.25, expected 0.26 ± 5.00e-2, off by 1.00e-2
    ");
    let bad = checked(&suite, result(folder.path(), "bad", 0.75, 1));
    assert_eq!(
        bad.checks.iter().map(|check| check.is_met).collect::<Vec<_>>(),
        [false, true, true]
    );
    assert!(!bad.passes());
}

#[test]
fn missing_results_of_a_comparison_are_named() {
    let (folder, suite) = suite();
    let error = |result: CaseResult| checked(&suite, result).error.unwrap();
    let two = result(folder.path(), "good", 0.5, 2);
    assert_eq!(error(two), "three meshes give no extrapolation of `flow.kinetic_energy`");
    let mut unknown = result(folder.path(), "good", 0.5, 3);
    unknown.expected[0].path = "probe.end.temperature".to_owned();
    assert!(error(unknown).starts_with("the summary has no number `probe.end.temperature`"));
    let mut moved = result(folder.path(), "good", 0.5, 3);
    moved.runs[0].directory = folder.path().join("bad");
    assert!(error(moved).contains("line_axis.csv: "));
    std::fs::write(folder.path().join("good/line_axis.csv"), "x,temperature\n5,1\n6,1\n").unwrap();
    let beyond = error(result(folder.path(), "good", 0.5, 3));
    assert_eq!(beyond, "no point of the reference of `Along the bar` is on the curve");
}

#[test]
fn the_page_shows_every_case_figure_and_failure_and_needs_no_other_file() {
    let (folder, suite) = suite();
    let results = [
        checked(&suite, result(folder.path(), "good", 0.505, 3)),
        checked(&suite, result(folder.path(), "bad", 0.75, 1)),
    ];
    let about = About {
        version: "0.1.0 (abc)".to_owned(),
        machine: "Fast 3000, 2 threads".to_owned(),
        date: "2026-11-22 07:00 UTC".to_owned(),
    };
    let html = page(&suite, &results, &about);
    for text in [
        "<h1>Bars &amp; rods</h1>",
        "Fourier &lt;1822&gt;",
        "karman 0.1.0 (abc)",
        "2026-11-22 07:00 UTC · Fast 3000, 2 threads",
        "✗ FAILED</span> 1 of 2 cases failed",
        "<a href=\"#good\">The good bar</a>",
        "<article id=\"bad\">",
        "64 quadrilateral cells · 12\u{202f}345 steps to t = 0.2, finished · 1.5 s on cpu, 2 host threads, f64",
        "<td>Temperature in the middle</td><td class=\"n\">0.505</td><td class=\"n\">0.500</td>",
        "<tr class=\"failed\"><td>Temperature in the middle</td><td class=\"n\">0.750</td>",
        "<th class=\"n\">4 cells</th><th class=\"n\">16 cells</th><th class=\"n\">64 cells</th>",
        "data:image/png;base64,bm90IHF1aXRlIGEgcGljdHVyZQ==",
        ">order 2<",
        ">band<",
    ] {
        assert!(html.contains(text), "{text}\n{html}");
    }
    // Order and limit of the energy, order of the error.
    assert!(html.contains("<td class=\"n\">2</td><td class=\"n\">1</td>"), "{html}");
    assert!(html.contains("<td class=\"n\">2</td><td class=\"n\">–</td>"), "{html}");
    assert_eq!(html.matches("<figure>").count(), 4);
    assert!(!html.contains("Not run") && !html.contains("src=\"http") && !html.contains("<link"));
    let drawings = html.split("<svg").skip(1).map(|rest| rest.split("</svg>").next().unwrap());
    for drawing in drawings {
        assert!(well_formed(&format!("<svg{drawing}</svg>")), "{drawing}");
        assert!(!drawing.contains("NaN"), "{drawing}");
    }
    let alone = page(&suite, &results[..1], &about);
    assert!(alone.contains("✓ passed</span> 1 of 1 cases"), "{alone}");
}

#[test]
fn a_case_that_could_not_be_solved_has_its_reason_on_the_page() {
    let (_folder, suite) = suite();
    let diverged = CaseResult {
        name: "bad".to_owned(),
        title: "The bad bar".to_owned(),
        error: Some("failed: diverged: T > 1e30".to_owned()),
        ..CaseResult::default()
    };
    let html = page(&suite, &[diverged], &About::default());
    assert!(html.contains("<pre class=\"error\">failed: diverged: T &gt; 1e30</pre>"), "{html}");
    assert!(html.contains("1 of 1 cases failed") && !html.contains("<figure>"), "{html}");
}

const CASE: &str = "[mesh.generate.box]\nsize = [1, 1]\ncells = [8, 4]\n[heat]\n[initial]\n\
                    temperature = 0\n[boundary]\nxmin = \"insulated\"\nxmax = \"insulated\"\n\
                    ymin = \"insulated\"\nymax = \"insulated\"\n[time]\nstep = 0.1\nend = 1\n";

#[test]
fn a_coarsened_case_has_fewer_cells_and_larger_time_steps() {
    let parse = |text: &str| Case::parse(text, Path::new(""), "c.toml").unwrap();
    let case = parse(CASE);
    let half = coarsen_case(&case, 2).unwrap();
    let crate::case::MeshSource::Generate(crate::mesh::generate::Generator::Box(params)) =
        &half.mesh.source
    else {
        panic!()
    };
    assert_eq!(params.cells, [4, 2]);
    assert_eq!(half.time.unwrap().step, TimeStep::Fixed(0.2));
    let message = coarsen_case(&case, 8).unwrap_err().to_string();
    assert_eq!(message, "4 cells are not a multiple of 8");
    let channel = CASE.replace(
        "box]\nsize = [1, 1]\ncells = [8, 4]",
        "sphere_in_box]\nsize = [4, 4, 4]\ncentre = [2, 2, 2]\ndiameter = 1\nsurface_size = 0.5\nfar_size = 1",
    );
    let message = coarsen_case(&parse(&channel), 2).unwrap_err().to_string();
    let expected = "only these generated meshes can be coarsened: box, ";
    assert!(message.starts_with(expected), "{message}");
    assert!(coarsen_case(&parse(&channel), 1).is_ok());
}
