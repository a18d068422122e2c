//! `karman mesh`

use crate::common::karman;
use serde_json::Value;
use std::fs;

#[test]
fn a_generated_mesh_is_counted_and_converted_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let (code, out, err) = karman(folder.path(), arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    let generate =
        ["mesh", "generate", "box", "--cells", "3,3,3", "--element", "tetrahedron", "-o", "a.msh"];
    let wrote = run(&generate);
    assert!(wrote.starts_with("wrote a.msh: "), "{wrote}");
    let info: Value = serde_json::from_str(&run(&["mesh", "info", "a.msh", "--json"])).unwrap();
    assert_eq!((&info["dimension"], &info["nodes"]), (&3.into(), &64.into()));
    assert_eq!(info["by_element"]["tetrahedron"], info["cells"]);
    assert_eq!(info["regions"]["default"], info["cells"]);
    assert_eq!(info["bounds"][1][2], 1.0);
    for (from, to, form) in [
        ("a.msh", "b.vtu", "2.2"),
        ("b.vtu", "c.su2", "2.2"),
        ("c.su2", "d.msh", "2.2-binary"),
        ("d.msh", "e.msh", "4.1"),
        ("e.msh", "f.msh", "4.1-binary"),
    ] {
        run(&["mesh", "convert", from, to, "--gmsh", form]);
        let text = run(&["mesh", "info", to, "--json"]);
        let same: Value = serde_json::from_str(&text).unwrap();
        for key in ["cells", "nodes", "edges", "faces", "by_element", "patches"] {
            assert_eq!(same[key], info[key], "{to}: {key}");
        }
    }
    let text = run(&["mesh", "info", "f.msh"]);
    assert!(text.contains("dimension  3") && text.contains("xmin (18)"), "{text}");
}

#[test]
fn meshes_are_generated_from_files_and_options_alike() {
    let folder = tempfile::tempdir().unwrap();
    let generators = [
        (
            "annulus",
            "inner = 0.5\nouter = 1.0\ncells = [3, 16]\n",
            vec!["--inner", "0.5", "--outer", "1.0", "--cells", "3,16"],
        ),
        (
            "box",
            "origin = [-1.0, 0.0]\nsize = [1.0, 1.0]\ncells = [3, 2]\njitter = 0.1\n",
            vec!["--origin", "-1.0,0.0", "--cells", "3,2", "--jitter", "0.1"],
        ),
        (
            "box_with_obstacle",
            "size = [1.0, 1.0]\ncells = [10, 10]\nobstacle_min = [0.4, 0.4]\nobstacle_max = [0.6, 0.6]\n",
            vec!["--cells", "10,10", "--obstacle-min", "0.4,0.4", "--obstacle-max", "0.6,0.6"],
        ),
    ];
    for (name, section, options) in generators {
        fs::write(folder.path().join("m.toml"), format!("[mesh.generate.{name}]\n{section}"))
            .unwrap();
        let run = |arguments: &[&str]| {
            let (code, _, err) = karman(folder.path(), arguments);
            assert_eq!(code, 0, "{name}: {err}");
        };
        run(&["mesh", "generate", "m.toml", "-o", "file.su2"]);
        run(&[&["mesh", "generate", name, "-o", "options.su2"][..], &options[..]].concat());
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(read("file.su2"), read("options.su2"), "{name}");
    }
}

#[test]
fn a_scale_in_the_file_scales_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[mesh]\nscale = 2.0\n[mesh.generate.box]\nsize = [1.0, 3.0]\ncells = [2, 2]\n";
    fs::write(folder.path().join("m.toml"), text).unwrap();
    karman(folder.path(), &["mesh", "generate", "m.toml", "-o", "m.msh"]);
    for file in ["m.toml", "m.msh"] {
        let (_, out, err) = karman(folder.path(), &["mesh", "info", file, "--json"]);
        let info: Value = serde_json::from_str(&out).expect(&err);
        assert_eq!(info["bounds"][1][1], 6.0, "{file}");
    }
}

#[test]
fn wrong_files_and_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("empty.toml", "title = \"nothing\"\n");
    write("box.toml", "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [2, 2]\n");
    write("file.toml", "[mesh]\nfile = \"some.msh\"\n");
    write("some.msh", "$MeshFormat\nnonsense\n");
    for (arguments, expected) in [
        (&["info", "none.msh"][..], "error: none.msh: "),
        (&["info", "some.msh"], "error: some.msh"),
        (&["info", "empty.toml"], "empty.toml:1:1: there is no mesh"),
        (&["check", "none.toml"], "error: cannot read the case none.toml: "),
        (&["convert", "box.toml", "b.stl"], "error: b.stl: "),
        (&["generate", "box.toml", "--cells", "3,3", "-o", "b.msh"], "error: --cells does not go"),
        (
            &["generate", "file.toml", "-o", "b.msh"],
            "file.toml names the file some.msh, no generator",
        ),
        (&["generate", "ball", "-o", "b.msh"], "unknown key `ball`"),
        (&["generate", "box", "-o", "b.msh"], "is missing"),
        (&["generate", "box", "--cells", "2,2", "--element", "prisn", "-o", "b.msh"], "`prism`?"),
        (
            &["generate", "box", "--cells", "2,2", "--inner", "1.0", "-o", "b.msh"],
            "unknown key `inner`",
        ),
    ] {
        let (code, out, err) = karman(folder.path(), &[&["mesh"], arguments].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
    assert!(!folder.path().join("b.msh").exists());
}

#[test]
fn check_reports_a_mesh_and_fails_where_it_is_bad() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    run(&["mesh", "generate", "box", "--cells", "3,3", "--element", "triangle", "-o", "a.su2"]);
    let (code, out, err) = run(&["mesh", "check", "a.su2"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("Quality") && out.contains("[boundary]\n"), "{out}");
    assert!(out.contains("xmin = \"insulated\""), "{out}");
    let (code, out, _) = run(&["mesh", "check", "a.su2", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["cells"], &report["error"]), (0, &18.into(), &Value::Null));

    assert_eq!(run(&["mesh", "check", "a.su2", "-q"]), (0, String::new(), String::new()));

    // One cell twice.
    let text = fs::read_to_string(folder.path().join("a.su2")).unwrap();
    let first = text.lines().find(|line| line.starts_with("5 ")).unwrap();
    let bad =
        text.replace("NELEM= 18", "NELEM= 19").replacen(first, &format!("{first}\n{first}"), 1);
    fs::write(folder.path().join("bad.su2"), bad).unwrap();
    let (code, out, err) = run(&["mesh", "check", "bad.su2"]);
    assert_eq!(code, 1);
    assert!(out.contains("Duplicate cells: 1"), "{out}");
    assert!(err.starts_with("error: "), "{err}");
    let (code, out, err) = run(&["mesh", "check", "bad.su2", "-q"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: "), "{err}");
    let (code, out, _) = run(&["mesh", "check", "bad.su2", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert!(code == 1 && report["error"].is_string());
}

#[test]
fn planes_pieces_and_overlapping_groups_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| karman(folder.path(), arguments);
    let meshes = concat!(env!("CARGO_MANIFEST_DIR"), "/../karman-mesh/tests/meshes");
    let file = |name: &str| format!("{meshes}/{name}.msh");
    let (code, out, err) = run(&["mesh", "info", &file("triangles_xz")]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("the 2D mesh lies in the plane y = 0: x and y of the case"), "{err}");
    assert!(out.contains("dimension  2"), "{out}");
    let (code, out, err) = run(&["mesh", "check", &file("two_boxes")]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("Connected components, the smallest first:\n"), "{out}");
    assert!(out.contains("boundary faces lie on boundary faces of other cells"), "{out}");
    let (code, _, err) = run(&["mesh", "check", &file("overlap41")]);
    assert_eq!(code, 1);
    assert!(err.contains("curve 1 is in the physical groups \"heated\" and \"ymin\""), "{err}");
    // Both boxes have a Dirichlet wall, or neither.
    let case = |condition: &str| {
        format!("[mesh]\nfile = {:?}\n[heat]\n[boundary]\nwall{condition}\n", file("two_boxes"))
    };
    fs::write(folder.path().join("good.toml"), case(".temperature = 1.0")).unwrap();
    fs::write(folder.path().join("loose.toml"), case(" = \"insulated\"")).unwrap();
    let (code, _, err) = run(&["check", "good.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("the mesh has 2 connected components that share no face; the smallest has"),
        "{err}"
    );
    for command in ["check", "run"] {
        let (code, _, err) = run(&[command, "loose.toml"]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("nothing fixes the temperature of 2 of them: "), "{err}");
    }
}

#[test]
fn a_cylinder_in_a_channel_has_its_cells_along_z_as_an_option() {
    let folder = tempfile::tempdir().unwrap();
    let cells = |more: &[&str]| {
        let arguments = [
            &["mesh", "generate", "cylinder_in_channel", "--length", "2.2", "--height", "0.41"][..],
            &["--width", "0.4", "--centre", "0.2,0.2", "--diameter", "0.1", "--cells-around", "16"],
            &["--cells-radial", "4", "--cells-wake", "6", "-o", "a.msh"],
            more,
        ];
        let (code, out, err) = karman(folder.path(), &arguments.concat());
        assert_eq!(code, 0, "{err}");
        out
    };
    assert!(cells(&[]).starts_with("wrote a.msh: 704 cells"), "{}", cells(&[]));
    assert!(cells(&["--cells-width", "2"]).starts_with("wrote a.msh: 176 cells"));
}

#[test]
fn the_parts_of_a_mesh_are_counted_by_both_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let generate = ["mesh", "generate", "box", "--cells", "16,16,16", "--element", "tetrahedron"];
    let (code, _, err) = karman(folder.path(), &[&generate[..], &["-o", "a.msh"]].concat());
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = karman(folder.path(), &["mesh", "parts", "a.msh", "4", "--json"]);
    assert_eq!(code, 0, "{err}");
    let parts: Value = serde_json::from_str(&out).unwrap();
    let cells = |of: &Value| -> Vec<u64> {
        of["cells"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    };
    assert_eq!(
        (&parts[0]["partition"], &parts[1]["partition"]),
        (&"hilbert".into(), &"metis".into())
    );
    for of in [&parts[0], &parts[1]] {
        assert_eq!(cells(of).iter().sum::<u64>(), 6 * 16 * 16 * 16);
        assert_eq!(of["ghosts"].as_array().unwrap().len(), 4);
    }
    assert!(cells(&parts[0])[..3].iter().all(|cells| cells % 4096 == 0), "{parts}");
    assert!(cells(&parts[1]).iter().all(|cells| *cells as f64 <= 1.03 * 6144.0), "{parts}");
    let cut = [0, 1].map(|k: usize| parts[k]["faces_between_parts"].as_u64().unwrap());
    assert!(0 < cut[1] && cut[1] < cut[0], "{cut:?}");
    let (_, text, _) = karman(folder.path(), &["mesh", "parts", "a.msh", "4"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("partition  faces between parts"), "{text}");
    assert!(lines[1].starts_with(&format!("hilbert    {}", cut[0])), "{text}");
    assert!(lines[2].starts_with(&format!("metis      {}", cut[1])), "{text}");
    let refused = |count: &str| {
        let (code, _, err) = karman(folder.path(), &["mesh", "parts", "a.msh", count]);
        assert_ne!(code, 0);
        err
    };
    assert!(refused("30000").contains("30000 parts: the mesh has only 24576 cells"));
    assert!(
        refused("20000")
            .contains("METIS needs two cells a part, the mesh has 24576 cells for 20000 parts")
    );
    assert!(refused("1").contains("1 is not in 2.."));
}
