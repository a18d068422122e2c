//! `karman adapt`

use crate::common::karman;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A folder with the squares and cubes that the tests adapt.
fn meshes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, element, cells) in [
        ("square", "triangle", "8,8"),
        ("cube", "tetrahedron", "3,3,3"),
        ("cuboids", "hexahedron", "2,2,2"),
    ] {
        let file = format!("{name}.msh");
        let arguments =
            ["mesh", "generate", "box", "--cells", cells, "--element", element, "-o", &file];
        assert_eq!(karman(folder.path(), &arguments).0, 0);
    }
    folder
}

fn report(folder: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = karman(folder, &[&["adapt"], arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn meshes_are_adapted_to_sizes_and_to_a_metric_alike() {
    let folder = meshes();
    for (input, output, prescription) in [
        ("square.msh", "a.vtu", vec!["--sizes", "0.02 + 0.2*abs(x - 0.5), 0.1"]),
        ("square.msh", "b.su2", vec!["--metric", "1/(0.02 + 0.2*abs(x - 0.5))^2, 0, 100"]),
        (
            "square.msh",
            "c.msh",
            vec!["--sizes", "max(0.05, 0.2*abs(r - 0.5)), 0.1", "--frame", "cylindrical"],
        ),
        (
            "cube.msh",
            "d.msh",
            vec!["--sizes", "0.2, 0.2, 0.05 + 0.3*z", "--gradation", "1.5", "--cycles", "2"],
        ),
    ] {
        let fit = report(folder.path(), &[&[input, "-o", output], &prescription[..]].concat());
        let share = fit["after"]["in_range"].as_f64().unwrap();
        assert!(
            share > 0.95 && share > fit["before"]["in_range"].as_f64().unwrap(),
            "{output}: {share}"
        );
        let (code, text, err) = karman(folder.path(), &["mesh", "info", output, "--json"]);
        assert_eq!(code, 0, "{err}");
        let info: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(info["cells"], fit["after"]["cells"], "{output}");
    }
    let moved = report(
        folder.path(),
        &["cube.msh", "-o", "e.msh", "--sizes", "0.3, 0.3, 0.1", "--smooth-only"],
    );
    assert_eq!(moved["after"]["cells"], moved["before"]["cells"]);
    let (code, text, err) =
        karman(folder.path(), &["adapt", "cube.msh", "-o", "f.msh", "--sizes", "0.3, 0.3, 0.3"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        text.contains("before:") && text.contains("% in [0.707, 1.414]") && text.contains("f.msh"),
        "{text}"
    );
}

#[test]
fn a_mesh_is_adapted_to_a_field_of_a_result() {
    let folder = meshes();
    let case = r#"
[mesh]
file = "square.msh"
[heat]
source = "if(abs(x - 0.5) < 0.05, 1000.0, 0.0)"
[boundary]
xmin.temperature = 0.0
xmax.temperature = 0.0
ymin = "insulated"
ymax = "insulated"
[output]
directory = "out"
"#;
    fs::write(folder.path().join("case.toml"), case).unwrap();
    let (code, _, err) = karman(folder.path(), &["run", "-q", "case.toml"]);
    assert_eq!(code, 0, "{err}");
    let file = fs::read_dir(folder.path().join("out")).unwrap().find_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.ends_with(".vtu").then_some(name)
    });
    let field = format!("out/{}:temperature", file.unwrap());
    let arguments =
        ["square.msh", "-o", "a.msh", "--field", &field, "--complexity", "300", "--h-max", "0.3"];
    let fit = report(folder.path(), &arguments);
    let vertices = fit["after"]["vertices"].as_u64().unwrap();
    assert!((200..900).contains(&vertices), "{vertices}");
    assert!(fit["after"]["in_range"].as_f64().unwrap() > 0.9, "{fit}");
    let missing = field.replace("temperature", "heat");
    let (code, _, err) = karman(
        folder.path(),
        &["adapt", "square.msh", "-o", "a.msh", "--field", &missing, "--complexity", "300"],
    );
    assert!(code == 1 && err.contains("no field `heat`"), "{err}");
}

#[test]
fn wrong_prescriptions_are_refused_by_name() {
    let folder = meshes();
    for (arguments, expected) in [
        (vec!["square.msh", "-o", "a.msh"], "--metric"),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "0.1, 0.1, 0.1"],
            "has 3 entries; 2 are needed: h1,h2",
        ),
        (
            vec!["cube.msh", "-o", "a.msh", "--metric", "1,0,1"],
            "has 3 entries; 6 are needed: m11,m12",
        ),
        (vec!["square.msh", "-o", "a.msh", "--sizes", "0.1, 0.1*q"], "--sizes \"0.1*q\""),
        (vec!["square.msh", "-o", "a.msh", "--sizes", "0.1, x - 0.5"], "is not positive definite"),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "0.1, x - 0.5", "--gradation", "1.5"],
            "is not positive definite",
        ),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "1,1", "--gradation", "0.9"],
            "a number above 1, or none",
        ),
        (vec!["square.msh", "-o", "a.msh", "--field", "a.vtu:t"], "--complexity"),
        (
            vec!["square.msh", "-o", "a.msh", "--field", "a.vtu", "--complexity", "10"],
            "FILE:NAME is needed",
        ),
        (vec!["cuboids.msh", "-o", "a.msh", "--sizes", "1,1,1"], "8 cells are no tetrahedra"),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "1,1", "--ridge-angle", "0"],
            "ridge_angle_deg = 0",
        ),
        (vec!["square.msh", "-o", "a.stl", "--sizes", "1,1"], "stl"),
    ] {
        let (code, _, err) = karman(folder.path(), &[&["adapt"], &arguments[..]].concat());
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
}
