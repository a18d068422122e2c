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
    // Lengths count more: more edges within the range of sizes that are measured.
    let share = |lengths: &str| {
        let sizes = ["--sizes", "0.2, 0.2, 0.05 + 0.3*z", "--lengths", lengths];
        let fit = report(folder.path(), &[&["cube.msh", "-o", "g.msh"], &sizes[..]].concat());
        (fit["after"]["vertices"].as_u64().unwrap(), fit["after"]["in_range"].as_f64().unwrap())
    };
    let [steep, even] = ["steep", "even"].map(share);
    assert!(even != steep && even.1 > 0.9, "{steep:?} {even:?}");
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
fn the_adapted_mesh_is_that_of_any_number_of_threads() {
    let folder = meshes();
    let files = ["1", "2"].map(|threads| {
        let output = format!("cube-{threads}.msh");
        let sizes = ["--sizes", "0.2, 0.2, 0.05 + 0.3*z", "--threads", threads];
        report(folder.path(), &[&["cube.msh", "-o", &output], &sizes[..]].concat());
        fs::read(folder.path().join(output)).unwrap()
    });
    assert!(files[0] == files[1]);
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
    // The result may lie on other elements.
    let boxes =
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [16, 16]\nelement = \"quadrilateral\"\n";
    let case =
        case.replace("[mesh]\nfile = \"square.msh\"\n", boxes).replace("\"out\"", "\"quads\"");
    fs::write(folder.path().join("quads.toml"), case).unwrap();
    let (code, _, err) = karman(folder.path(), &["run", "-q", "quads.toml"]);
    assert_eq!(code, 0, "{err}");
    let of_quads = field.replace("out/", "quads/");
    let arguments = [
        "square.msh",
        "-o",
        "a.msh",
        "--field",
        &of_quads,
        "--complexity",
        "300",
        "--h-max",
        "0.3",
    ];
    let fit = report(folder.path(), &arguments);
    assert!(fit["after"]["in_range"].as_f64().unwrap() > 0.9, "{fit}");
    let missing = field.replace("temperature", "heat");
    let (code, _, err) = karman(
        folder.path(),
        &["adapt", "square.msh", "-o", "a.msh", "--field", &missing, "--complexity", "300"],
    );
    assert!(code == 1 && err.contains("no field `heat`"), "{err}");
}

#[test]
fn prisms_and_frozen_regions_stay() {
    let folder = tempfile::tempdir().unwrap();
    let generate = [
        "mesh",
        "generate",
        "sphere_in_box",
        "--size",
        "8,8,8",
        "--centre",
        "4,4,4",
        "--diameter",
        "1",
        "--surface-size",
        "0.2",
        "--far-size",
        "2",
        "--layers",
        "2",
        "-o",
        "sphere.msh",
    ];
    let (code, _, err) = karman(folder.path(), &generate);
    assert_eq!(code, 0, "{err}");
    let elements = |file: &str| -> Value {
        let (_, text, _) = karman(folder.path(), &["mesh", "info", file, "--json"]);
        serde_json::from_str::<Value>(&text).unwrap()["by_element"].clone()
    };
    let before = elements("sphere.msh");
    let fit = report(folder.path(), &["sphere.msh", "-o", "a.msh", "--sizes", "1,1,0.4"]);
    let after = elements("a.msh");
    assert_eq!(after["prism"], before["prism"]);
    assert_ne!(after["tetrahedron"], before["tetrahedron"]);
    assert_eq!(after["tetrahedron"], fit["after"]["cells"]);
    let arguments = ["adapt", "a.msh", "-o", "b.msh", "--sizes", "1,1,1", "--freeze", "default"];
    let (code, _, err) = karman(folder.path(), &arguments);
    assert!(code == 1 && err.contains("are frozen: none is left to adapt"), "{err}");
}

/// A VTU file of the unit square in n × n × 2 triangles, with tensors at its nodes.
fn write_tensors(path: &Path, n: usize, name: &str, tensor: impl Fn([f64; 2]) -> Vec<f64>) {
    let at = |i: usize| i as f64 / n as f64;
    let nodes: Vec<[f64; 2]> =
        (0..(n + 1) * (n + 1)).map(|k| [at(k % (n + 1)), at(k / (n + 1))]).collect();
    let mut triangles = vec![];
    for (j, i) in (0..n * n).map(|k| (k / n, k % n)) {
        let low = j * (n + 1) + i;
        let high = low + n + 1;
        triangles.extend([[low, low + 1, high + 1], [low, high + 1, high]]);
    }
    let join = |values: Vec<String>| values.join(" ");
    let points = join(nodes.iter().map(|[x, y]| format!("{x} {y} 0")).collect());
    let connectivity = join(triangles.iter().flatten().map(usize::to_string).collect());
    let offsets = join((1..=triangles.len()).map(|k| (3 * k).to_string()).collect());
    let types = join(triangles.iter().map(|_| "5".to_owned()).collect());
    let values: Vec<f64> = nodes.iter().flat_map(|&point| tensor(point)).collect();
    let components = values.len() / nodes.len();
    let values = join(values.iter().map(f64::to_string).collect());
    let array = |kind: &str, name: &str, components: usize, values: &str| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{values}</DataArray>"
        )
    };
    let text = format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">\
         <UnstructuredGrid><Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\
         <PointData>{}</PointData><Points>{}</Points><Cells>{}{}{}</Cells></Piece>\
         </UnstructuredGrid></VTKFile>",
        nodes.len(),
        triangles.len(),
        array("Float64", name, components, &values),
        array("Float64", "Points", 3, &points),
        array("Int64", "connectivity", 1, &connectivity),
        array("Int64", "offsets", 1, &offsets),
        array("UInt8", "types", 1, &types)
    );
    fs::write(path, text).unwrap();
}

#[test]
fn a_mesh_is_adapted_to_a_metric_of_a_file() {
    let folder = meshes();
    // log M is linear in x, so that the file and the formula prescribe the same metric.
    let entries = |[x, _]: [f64; 2]| [(100.0 * (4.0 * x).exp()), 0.0, 100.0];
    let file = folder.path().join("metric.vtu");
    write_tensors(&file, 5, "m", |p| entries(p).to_vec());
    let of_file =
        report(folder.path(), &["square.msh", "-o", "a.msh", "--metric-file", "metric.vtu:m"]);
    let of_formula =
        report(folder.path(), &["square.msh", "-o", "b.msh", "--metric", "100*exp(4*x), 0, 100"]);
    let after = |fit: &Value, key: &str| fit["after"][key].as_f64().unwrap();
    assert!(after(&of_file, "in_range") > 0.97, "{of_file}");
    let [a, b] = [&of_file, &of_formula].map(|fit| after(fit, "vertices"));
    assert!((a / b - 1.0).abs() < 0.05, "{a} {b}");
    let rows = folder.path().join("rows.vtu");
    write_tensors(&rows, 5, "m", |p| {
        let [xx, xy, yy] = entries(p);
        vec![xx, xy, 0.0, xy, yy, 0.0, 0.0, 0.0, 7.0]
    });
    let of_rows = report(
        folder.path(),
        &["square.msh", "-o", "c.msh", "--metric-file", "rows.vtu:m", "--gradation", "1.1"],
    );
    assert!(after(&of_rows, "vertices") >= a, "{of_rows}");

    let bad = folder.path().join("bad.vtu");
    write_tensors(&bad, 2, "m", |[x, y]| vec![if x * y == 0.25 { -3.0 } else { 1.0 }, 0.0, 1.0]);
    write_tensors(&folder.path().join("five.vtu"), 2, "m", |_| vec![1.0; 5]);
    write_tensors(&folder.path().join("skew.vtu"), 2, "m", |_| vec![1.0, 0.2, 0.1, 1.0]);
    for (input, metric, expected) in [
        (
            "square.msh",
            "bad.vtu:m",
            "bad.vtu, `m`: the metric at (0.5, 0.5, 0) is not positive definite: its eigenvalues \
             are -3",
        ),
        ("square.msh", "five.vtu:m", "five.vtu, `m`: a metric of 2D has 3 components"),
        ("square.msh", "skew.vtu:m", "is not symmetric: 0.2 and 0.1"),
        ("square.msh", "bad.vtu:n", "no field `n`; the file has: m"),
        ("square.msh", "bad.vtu", "FILE:NAME is needed, as in metric.vtu:metric"),
        ("cube.msh", "metric.vtu:m", "the mesh of metric.vtu is 2D, the mesh to adapt 3D"),
        ("square.msh", "none.vtu:m", "none.vtu"),
    ] {
        let arguments = ["adapt", input, "-o", "d.msh", "--metric-file", metric];
        let (code, _, err) = karman(folder.path(), &arguments);
        assert_eq!(code, 1, "{metric}: {err}");
        assert!(err.contains(expected), "{metric}: {err}");
    }
    // Two triangles have four nodes: half of the values are those of the cells.
    write_tensors(&file, 1, "m", |[_, y]| if y == 0.0 { vec![1.0, 0.0, 1.0] } else { vec![] });
    let text = fs::read_to_string(&file).unwrap();
    let of_cells =
        text.replace("PointData", "CellData").replacen("Components=\"1\"", "Components=\"3\"", 1);
    fs::write(&file, of_cells).unwrap();
    let arguments = ["adapt", "square.msh", "-o", "d.msh", "--metric-file", "metric.vtu:m"];
    let (code, _, err) = karman(folder.path(), &arguments);
    let expected = "metric.vtu: `m` has values in cells; a metric has values at nodes";
    assert!(code == 1 && err.contains(expected), "{err}");
}

#[test]
fn vertices_are_smoothed_by_colours() {
    let folder = meshes();
    let sizes = ["--sizes", "0.05 + 0.2*abs(x - 0.5), 0.1", "--smooth-only"];
    let smooth = |more: &[&str]| {
        let arguments = [&["square.msh", "-o", "a.msh"], &sizes[..], more].concat();
        report(folder.path(), &arguments)
    };
    for rule in ["edge_lengths", "worst_quality"] {
        for lookup in ["grid", "walk"] {
            let fit = smooth(&["--rule", rule, "--metric-lookup", lookup, "--backend", "cpu"]);
            assert_eq!(fit["after"]["cells"], fit["before"]["cells"]);
            assert_eq!(
                [&fit["rule"], &fit["metric_lookup"], &fit["backend"]],
                [rule, lookup, "cpu"]
            );
            let of = &fit["smoothing"];
            assert_eq!(of["equilibrium"], true);
            let lowest = |end: &str| of[end]["lowest"].as_f64().unwrap();
            assert!(lowest("after") > lowest("before"), "{of}");
            assert_eq!(of["grid_error"].is_null(), lookup == "walk");
            let (code, _, err) = karman(folder.path(), &["mesh", "check", "-q", "a.msh"]);
            assert_eq!(code, 0, "{err}");
        }
    }
    let one = smooth(&["--rule", "worst_quality", "--sweeps", "1", "--grid-tolerance", "0.1"]);
    assert_eq!(
        [&one["smoothing"]["sweeps"], &one["smoothing"]["equilibrium"]],
        [&Value::from(1), &Value::from(false)]
    );
    let run = |more: &[&str]| {
        let arguments = [&["adapt", "square.msh", "-o", "a.msh"], more].concat();
        karman(folder.path(), &arguments)
    };
    let (code, out, err) = run(&[&sizes[..], &["--rule", "edge_lengths"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("sweeps to an equilibrium") && out.contains("metric on a grid"), "{out}");
    let rule = ["--rule", "edge_lengths"];
    let plain = ["--sizes", "1,1"];
    for (arguments, expected) in [
        ([&sizes[..], &["--rule", "best"]].concat(), "rules: edge_lengths, worst_quality"),
        ([&plain[..], &rule].concat(), "--smooth-only"),
        ([&sizes[..], &["--metric-lookup", "walk"]].concat(), "--rule"),
        ([&sizes[..], &["--backend", "cpu"]].concat(), "--rule"),
        ([&sizes[..], &rule, &["--backend", "gpu"]].concat(), "backends: auto, cpu"),
        ([&sizes[..], &rule, &["--metric-lookup", "tree"]].concat(), "lookups: grid, walk"),
        ([&sizes[..], &rule, &["--cycles", "2"]].concat(), "cannot be used with"),
        (
            [&sizes[..], &rule, &["--grid-tolerance", "2"]].concat(),
            "tolerance = 2: a number between 0 and 1",
        ),
        (
            [&sizes[..], &rule, &["--metric-lookup", "walk", "--grid-tolerance", "0.1"]].concat(),
            "--grid-tolerance is for --metric-lookup grid",
        ),
    ] {
        let (code, _, err) = run(&arguments);
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
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
        (
            vec!["cuboids.msh", "-o", "a.msh", "--sizes", "1,1,1"],
            "8 cells are no tetrahedra and 0 are frozen: none is left to adapt",
        ),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "1,1", "--ridge-angle", "0"],
            "ridge_angle_deg = 0",
        ),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "1,1", "--freeze", "default,solid"],
            "--freeze: there is no region `solid`; the mesh has: default",
        ),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "1,1", "--freeze", "default"],
            "0 cells are no triangles and 128 are frozen: none is left to adapt",
        ),
        (
            vec!["square.msh", "-o", "a.msh", "--sizes", "1,1", "--lengths", "soft"],
            "penalties: steep, even",
        ),
        (
            vec![
                "cube.msh",
                "-o",
                "a.msh",
                "--sizes",
                "1,1,1",
                "--lengths",
                "even",
                "--smooth-only",
                "--rule",
                "worst_quality",
            ],
            "cannot be used with",
        ),
        (vec!["square.msh", "-o", "a.stl", "--sizes", "1,1"], "stl"),
    ] {
        let (code, _, err) = karman(folder.path(), &[&["adapt"], &arguments[..]].concat());
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
}
